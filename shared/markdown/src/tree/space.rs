//! Spaces that a page leaves to its layout.

use super::node::{Id, Tree};
use crate::{
    chars::is_ideograph,
    tag::{Attr, Tag},
};

/// Whether a space is missing between the text before and `text`, which is in the elements `open`: no white space
/// separates them, but a reader sees two texts, because they are in different links or in elements with different
/// classes.
pub(super) fn lacks_space(tree: &Tree, open: &[Id], text: &str) -> bool {
    let Some(first) = text.chars().next().filter(|c| c.is_alphanumeric()) else { return false };
    // The outermost element that has begun since the text before, and the outermost that has ended.
    let since = |&depth: &usize| open[depth] == tree.len() + depth - open.len();
    let Some(begun) = (1..open.len()).rev().take_while(since).last() else { return false };
    let (next, around) = (open[begun], open[begun - 1]);
    // `<wbr>` allows a line break where there is no space.
    let before = if tree.tag(next - 1) == Tag::Wbr { next - 2 } else { next - 1 };
    let Some(last) = tree.text(before).chars().next_back().filter(|c| c.is_alphanumeric()) else { return false };
    let ended: Vec<Id> = tree.ancestors(before).take_while(|&id| id != around).collect();
    let Some(&former) = ended.last() else { return false };
    let is_code = |&id: &Id| matches!(tree.tag(id), Tag::Code | Tag::Pre | Tag::Math);
    if tree.is_fragment() || open.iter().any(is_code) {
        return false;
    }
    let link = |ids: &[Id]| ids.iter().find_map(|&id| tree.attr(id, Attr::Href));
    if let (Some(former), Some(next)) = (link(&ended), link(&open[begun..])) {
        return former != next;
    }
    let [former, next] = [former, next].map(|id| {
        let is_raised = matches!(tree.tag(id), Tag::Sub | Tag::Sup);
        tree.attr(id, Attr::Class).filter(|class| !is_raised && !class.trim().is_empty())
    });
    // A drop capital belongs to its word, and ideographs are written without spaces.
    let is_drop_capital = tree.text(before).trim_start().len() == last.len_utf8() && first.is_lowercase();
    former.is_some()
        && next.is_some()
        && former != next
        && !is_drop_capital
        && !is_ideograph(last)
        && !is_ideograph(first)
}

#[cfg(test)]
mod tests {
    use crate::tree::texts;

    #[test]
    fn a_missing_space_is_added_between_links() {
        assert_eq!(texts("<title>t</title><p><a href=a>b</a><a href=c>d</a>"), ["b", " d"]);
        assert_eq!(texts("<title>t</title><p><a href=a>b</a><a href=a>d</a>"), ["b", "d"]);
    }

    #[test]
    fn a_missing_space_is_added_between_elements_of_two_classes() {
        assert_eq!(texts("<title>t</title><p><b class=x>Low</b><b class=y>Water</b>"), ["Low", " Water"]);
        assert_eq!(texts("<title>t</title><p><b class=x>L</b><b class=y>ow</b>"), ["L", "ow"]);
        assert_eq!(texts("<title>t</title><p><b class=x>満</b><b class=y>潮</b>"), ["満", "潮"]);
    }
}
