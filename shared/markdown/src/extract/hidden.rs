//! Hidden content: what a reader cannot see is not content, unless a control on the page shows it.

use std::cell::OnceCell;

use foldhash::HashSet;

use super::names::each_word;
use crate::{
    chars::count_words,
    tag::{Attr, Tag},
    tree::{Id, Tree},
};

/// A hidden element with more words may be the rest of a text, or a folded one: that is left to the model.
const MAX_ASIDE: usize = 15;

/// A `<noscript>` with more nodes is left to the model.
const MAX_REPLACED: usize = 64;

/// The names of elements that controls show and hide.
const FOLDED: [&str; 22] = [
    "accordion",
    "answer",
    "body",
    "collapse",
    "collapsed",
    "collapsible",
    "content",
    "dropdown",
    "expand",
    "faq",
    "full",
    "item",
    "more",
    "pane",
    "panel",
    "rest",
    "slide",
    "spoiler",
    "step",
    "tab",
    "toggle",
    "truncated",
];

/// Removes from `keep` what no control shows: templates, what scripts replace, hidden microdata, hidden parts of lines,
/// and short hidden elements that neither a link nor a button names and that are not called like folded ones. A page
/// that hides most of what is kept, until a script shows it, is left as it is.
pub(super) fn drop_hidden(tree: &Tree, keep: &mut [bool]) {
    let is_hidden = |id: Id| tree.node(id).hidden;
    let hidden: Vec<Id> = (1..tree.len()).filter(|&id| keep[id] && is_hidden(id)).collect();
    if hidden.is_empty() {
        return;
    }
    let controls = Controls::new(tree);
    // What is in an absent element is absent with it.
    let mut end = 0;
    let absent = hidden.into_iter().filter(|&id| {
        if id < end || controls.evidence(id) != Evidence::Absent {
            return false;
        }
        end = tree.subtree(id).end;
        true
    });
    let absent: Vec<Id> = absent.collect();
    let words =
        |ids: std::ops::Range<Id>| ids.filter(|&id| keep[id]).map(|id| count_words(tree.text(id))).sum::<usize>();
    if absent.iter().map(|&id| words(tree.subtree(id))).sum::<usize>() * 2 > words(1..tree.len()) {
        return;
    }
    for id in absent {
        keep[tree.subtree(id)].fill(false);
    }
}

/// What a page says of a hidden element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Evidence {
    /// Nothing on the page shows it.
    Absent,
    /// A script may show it: the rest of a text, what follows a heading or a control, which may as well be a form that
    /// covers the page, or what is called like a folded element.
    Unknown,
    /// A control on the page shows it, or it is the source of a formula.
    Shown,
}

/// The controls of a page, with which hidden elements are shown.
pub(super) struct Controls<'t> {
    tree: &'t Tree,
    /// The ids that links and buttons name; found when the first hidden element is.
    named: OnceCell<HashSet<&'t str>>,
}

impl<'t> Controls<'t> {
    pub(super) fn new(tree: &'t Tree) -> Self {
        Self { tree, named: OnceCell::new() }
    }

    /// Whether a control on the page shows a hidden element, or it is the source of a formula.
    pub(super) fn show(&self, id: Id) -> bool {
        self.evidence(id) == Evidence::Shown
    }

    /// Whether a control names the element, or it is the panel of a tab.
    fn is_named(&self, id: Id) -> bool {
        let is_named = || self.tree.attr(id, Attr::Id).is_some_and(|id| self.named().contains(id));
        self.tree.attr(id, Attr::Role) == Some("tabpanel") || is_named()
    }

    fn evidence(&self, id: Id) -> Evidence {
        let tree = self.tree;
        match tree.tag(id) {
            Tag::Img | Tag::Template => return Evidence::Absent,
            Tag::Noscript if is_replaced(tree, id) => return Evidence::Absent,
            Tag::Noscript => return Evidence::Unknown,
            _ => {}
        }
        if holds_formula(tree, id) {
            return Evidence::Shown;
        }
        let words = |nodes| tree.subtree(id).take(nodes).map(|id| count_words(tree.text(id))).sum::<usize>();
        if !tree.tag(id).is_block() {
            return if words(64) <= MAX_ASIDE { Evidence::Absent } else { Evidence::Unknown };
        }
        if tree.attr(id, Attr::Itemprop).is_some() || tree.attr(id, Attr::Itemtype).is_some() {
            return Evidence::Absent;
        }
        if self.is_named(id) {
            return Evidence::Shown;
        }
        let mut names = [Attr::Class, Attr::Id].into_iter().filter_map(|name| tree.attr(id, name));
        if follows_control(tree, id) || words(256) > MAX_ASIDE || names.any(is_called_folded) {
            Evidence::Unknown
        } else {
            Evidence::Absent
        }
    }

    fn named(&self) -> &HashSet<&'t str> {
        self.named.get_or_init(|| controlled_ids(self.tree))
    }
}

/// Whether an element contains the source of a formula, which is hidden beside the rendered one.
pub(super) fn holds_formula(tree: &Tree, id: Id) -> bool {
    tree.subtree(id).len() < 4096 && tree.subtree(id).any(|id| tree.tag(id) == Tag::Math)
}

fn is_called_folded(names: &str) -> bool {
    let mut found = false;
    each_word(names, |word| found |= FOLDED.iter().any(|folded| folded.as_bytes() == word));
    found
}

/// The ids that links and buttons name.
fn controlled_ids(tree: &Tree) -> HashSet<&str> {
    const ADDRESSES: [Attr; 3] = [Attr::Href, Attr::DataTarget, Attr::DataBsTarget];
    const NAMES: [Attr; 3] = [Attr::AriaControls, Attr::Commandfor, Attr::Popovertarget];
    let of = |id: Id| {
        let places = ADDRESSES.into_iter().filter_map(move |name| tree.attr(id, name)?.trim().strip_prefix('#'));
        let lists = NAMES.into_iter().filter_map(move |name| tree.attr(id, name));
        places.chain(lists.flat_map(str::split_ascii_whitespace).map(|name| name.strip_prefix('#').unwrap_or(name)))
    };
    (1..tree.len()).filter(|&id| tree.tag(id) != Tag::Text).flat_map(of).filter(|id| !id.is_empty()).collect()
}

/// Whether a `<noscript>` has no image, or only the one before it, which a script loads. Any other image in one is the
/// only form in which the page has it.
fn is_replaced(tree: &Tree, id: Id) -> bool {
    if tree.subtree(id).len() > MAX_REPLACED {
        return false;
    }
    let mut images = tree.subtree(id).filter(|&id| tree.tag(id) == Tag::Img);
    let Some(image) = images.next() else { return true };
    let before = (1..id).rev().take(16).find(|&id| tree.tag(id) == Tag::Img);
    let own = tree.attr(image, Attr::Src).and_then(|source| source.split('?').next()).unwrap_or_default().trim();
    let names =
        [Attr::DataSrc, Attr::DataLazySrc, Attr::DataOriginal, Attr::Src, Attr::DataSrcset, Attr::Srcset].into_iter();
    let mut sources =
        before.into_iter().flat_map(|before| names.clone().filter_map(move |name| tree.attr(before, name)));
    !own.is_empty() && images.next().is_none() && sources.any(|source| source.contains(own))
}

/// Whether the element before is one that can be pressed, or heads it. A message, such as "Sent!", also follows the heading
/// or the field of its form.
fn follows_control(tree: &Tree, id: Id) -> bool {
    let Some(before) = element_before(tree, id) else { return false };
    let is_control = |id: Id| {
        let tag = tree.tag(id);
        tag.heading_level().is_some()
            || matches!(tag, Tag::Button | Tag::Dt | Tag::Summary | Tag::Label | Tag::Input)
            || (tag == Tag::A && tree.attr(id, Attr::Href).is_none_or(|href| href.starts_with(['#', 'j'])))
            || tree.attr(id, Attr::Role) == Some("button")
    };
    tree.subtree(before).take(16).any(is_control)
}

/// The element before one in the same element. It is found from the node before, because an element can have many
/// thousands of children.
fn element_before(tree: &Tree, id: Id) -> Option<Id> {
    let parent = tree.parent(id);
    let mut at = id;
    loop {
        let last = at - 1;
        if last == parent {
            return None;
        }
        at = std::iter::once(last).chain(tree.ancestors(last)).find(|&id| tree.parent(id) == parent)?;
        if tree.tag(at) != Tag::Text {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts that are left of a page of which all was kept.
    fn left(html: &str) -> Vec<String> {
        let prose = "<p>High water comes twice a day at the pier, and so does low water.</p>";
        let tree = Tree::parse(&format!("{prose}{html}"), None);
        let mut keep = vec![true; tree.len()];
        drop_hidden(&tree, &mut keep);
        let texts =
            (1..tree.len()).filter(|&id| keep[id]).map(|id| tree.text(id).trim()).filter(|text| !text.is_empty());
        texts.skip(1).map(str::to_owned).collect()
    }

    #[test]
    fn hidden_content_without_a_control_is_dropped() {
        assert_eq!(left("<p>a <span style='display:none'>b</span></p><div hidden>c</div>"), ["a"]);
        assert_eq!(left("<div itemprop=logo style='display: none' class=content>d</div>"), [""; 0]);
        assert_eq!(left("<p>a<img src=x width=1 height=1 alt=b></p>"), ["a"]);
        assert_eq!(left("<p>a</p><dialog>b</dialog><div popover>c</div><dialog open>d</dialog>"), ["a", "d"]);
    }

    #[test]
    fn hidden_content_with_a_control_is_kept() {
        assert_eq!(left("<a href=#x>a</a><p>b</p><div id=x hidden>c</div>"), ["a", "b", "c"]);
        for control in ["aria-controls='x y'", "aria-controls=#y", "popovertarget=y", "command=show-modal commandfor=y"]
        {
            for hidden in ["div hidden", "div popover", "dialog"] {
                let page = format!("<button {control}>a</button><p>b</p><{hidden} id=y>c</{hidden}>");
                assert_eq!(left(&page), ["a", "b", "c"], "{page}");
            }
        }
        assert_eq!(left("<div class=faq-answer hidden>a</div><h3>b</h3><div hidden>c</div>"), ["a", "b", "c"]);
        let rest = "word ".repeat(20);
        assert_eq!(left(&format!("<p>a</p><div hidden>{rest}</div>")).len(), 2);
        assert_eq!(left(&format!("<p>a <span hidden>{rest}</span>")).len(), 2);
    }

    #[test]
    fn what_no_browser_shows_is_dropped() {
        let rest = "word ".repeat(20);
        let shown = rest.repeat(3);
        let page = format!("<p>{shown}</p><template>{rest}</template><noscript>{rest}</noscript>");
        assert_eq!(left(&page), [shown.trim()]);
    }

    #[test]
    fn the_image_of_a_noscript_is_kept_if_the_page_has_no_other_form_of_it() {
        let images = |html: &str| {
            let tree = Tree::parse(&format!("<p>High water comes twice a day.</p>{html}"), None);
            let mut keep = vec![true; tree.len()];
            drop_hidden(&tree, &mut keep);
            (1..tree.len()).filter(|&id| keep[id] && tree.tag(id) == Tag::Img).count()
        };
        assert_eq!(images("<img src=data:, data-lazy-src='a.jpg?w=9'><noscript><img src='a.jpg?w=5'></noscript>"), 1);
        assert_eq!(images("<img src=data:,><noscript><img src=a.jpg></noscript>"), 2);
        assert_eq!(images("<noscript><img src=a.jpg></noscript>"), 1);
        assert_eq!(images("<img src=a.jpg><noscript><img src=a.jpg><img src=b.jpg></noscript>"), 3);
    }

    #[test]
    fn controls_are_found_before_texts_and_not_in_other_elements() {
        assert_eq!(left("<p><button>a</button></p> b <div hidden>c</div>"), ["a", "b", "c"]);
        assert_eq!(left("<button>a</button><section><div hidden>c</div></section>"), ["a"]);
        assert_eq!(left("<button>a</button><p>b</p><div hidden>c</div>"), ["a", "b"]);
    }

    #[test]
    fn a_page_that_hides_most_of_itself_is_left_as_it_is() {
        let text = "word ".repeat(60);
        assert_eq!(left(&format!("<div hidden><div>{text}</div></div>")).len(), 1);
    }
}
