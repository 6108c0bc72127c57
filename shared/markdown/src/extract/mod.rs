//! What of a page is its content.
//!
//! 1. [`blocks`] cuts the page into blocks, runs of inline content, and counts what is in them and
//!    in every element around.
//! 2. [`features`] describes each block in numbers: its text, its neighbours, the elements around
//!    it, what names and short texts hint at ([`names`]), how near it stands to the page's heading
//!    and longest text, in which repeated item, after what.
//! 3. [`words`] asks a linear model what the words in and around each block say, on a page of the kind
//!    that its own numbers make it.
//! 4. [`model`] gives every block its chance to be content, by all of this and by what the words say of
//!    the blocks around and of those built alike (stacking: Wolpert, "Stacked generalization", 1992).
//! 5. [`choose`] lets blocks that are built alike agree, and takes those whose choice has the highest
//!    expected F1, so a page is judged as a whole and no block by a fixed bar. Where little is to be expected
//!    of any choice, nothing is taken: menus and a footer around what a script was to show are no content.
//!
//! What is left is done by rule here: hidden messages, the rest of an item or a row, pictures between content,
//! code after it, the heads of tables, what the author marks as navigation or as buttons, the headings that
//! content stands under.
//!
//! `training/train.py` learns the model, and judges it by pages whose domains it has not seen.

mod blocks;
mod choose;
mod features;
mod model;
mod names;
mod words;

use foldhash::{HashMap, HashMapExt, HashSet};
use url::Url;

use self::blocks::{Blocks, NO_BLOCK};
use crate::{
    count_words,
    metadata::PageType,
    tag::{Attr, Tag},
    tree::{Id, ROOT, Tree},
};

/// A page of more nodes than one in so many bytes is no text to choose from: judging takes 150 bytes for each.
const JUDGED: usize = 32;

/// Every node that a reader can see.
pub(crate) fn visible(tree: &Tree) -> Vec<bool> {
    let shown = shown(tree);
    let length = |ids: &mut dyn Iterator<Item = Id>| ids.map(|id| tree.text(id).trim().len()).sum::<usize>();
    let everything = length(&mut (0..tree.len()));
    // A page that hides most of itself waits for a script to show it.
    if length(&mut (0..tree.len()).filter(|&id| shown[id])) * 2 < everything { vec![true; tree.len()] } else { shown }
}

/// How many words the page shows.
pub(crate) fn words_shown(tree: &Tree) -> usize {
    let shown = shown(tree);
    (0..tree.len()).filter(|&id| shown[id]).map(|id| count_words(tree.text(id))).sum()
}

/// Whether each node is shown: neither it nor what it is in is hidden.
fn shown(tree: &Tree) -> Vec<bool> {
    let mut shown = vec![true; tree.len()];
    let mut id = 0;
    while id < tree.len() {
        if (tree.node(id).hidden || is_decoration(tree, id)) && id != ROOT && !holds_formula(tree, id) {
            shown[tree.subtree(id)].fill(false);
            id = tree.subtree(id).end;
        } else {
            id += 1;
        }
    }
    shown
}

/// Whether something inline is kept from screen readers for being no text: an icon's name, the picture of a
/// formula. A link of several words to another page is, where a second one goes there too, and is text.
fn is_decoration(tree: &Tree, id: Id) -> bool {
    let node = tree.node(id);
    if !node.aria_hidden || node.tag.is_block() {
        return false;
    }
    let leaves = tree.attr(id, Attr::Href).is_some_and(|address| !address.trim_start().starts_with('#'));
    !leaves || is_label(tree, id)
}

/// Whether an element says no more than the name of an icon or of a button does.
fn is_label(tree: &Tree, id: Id) -> bool {
    tree.subtree(id).take(LABEL_NODES).map(|id| count_words(tree.text(id))).sum::<usize>() <= LABEL_WORDS
}

/// A label has no more words, or none more in its first nodes.
const LABEL_WORDS: usize = 2;
const LABEL_NODES: usize = 32;

/// Formulas hide their source for screen readers beside the picture of it.
fn holds_formula(tree: &Tree, id: Id) -> bool {
    tree.subtree(id).len() < 4096 && tree.subtree(id).any(|id| tree.tag(id) == Tag::Math)
}

/// The nodes that the caller's selector matches; none if there are none.
pub(crate) fn selected(tree: &Tree) -> Option<Vec<bool>> {
    let mut keep = vec![false; tree.len()];
    for &id in &tree.selected {
        if !keep[id] || id == ROOT {
            keep[tree.subtree(id)].fill(true);
            for ancestor in tree.ancestors(id) {
                keep[ancestor] = true;
            }
        }
    }
    (!tree.selected.is_empty()).then_some(keep)
}

/// What kind of page it is.
pub(crate) fn kind(tree: &Tree, address: Option<&Url>) -> PageType {
    if tree.is_dense(JUDGED) {
        return PageType::default();
    }
    choose::kind(tree, &Blocks::new(tree), address)
}

/// The nodes of the page's main content, and what kind of page it is.
pub(crate) fn main_content(tree: &Tree, address: Option<&Url>) -> (Vec<bool>, PageType) {
    if tree.is_dense(JUDGED) {
        return (visible(tree), PageType::default());
    }
    let blocks = Blocks::new(tree);
    let opinion = choose::opinion(tree, &blocks, address);
    let mut chosen = choose::choose(tree, &blocks.list, &opinion.chances);
    messages(tree, &blocks, &mut chosen);
    wholes(tree, &blocks, &mut chosen, is_item);
    wholes(tree, &blocks, &mut chosen, |tag| matches!(tag, Tag::Ul | Tag::Ol));
    pictures(&blocks, &mut chosen);
    code(tree, &blocks, &mut chosen);
    headings(tree, &blocks, &mut chosen);
    let mut keep = vec![false; tree.len()];
    for id in (1..tree.len()).rev() {
        let block = blocks.of_node[id];
        if block != NO_BLOCK && chosen[block as usize] && !is_invisible(tree, id) {
            keep[id] = true;
        }
        if keep[id] {
            keep[tree.parent(id)] = true;
        }
    }
    table_heads(tree, &mut keep);
    furniture(tree, &mut keep);
    // Between what is kept, line breaks and rules are part of it.
    for id in 1..tree.len() {
        if matches!(tree.tag(id), Tag::Br | Tag::Hr | Tag::Input | Tag::Wbr) && keep[tree.parent(id)] {
            keep[id] = true;
        }
        if matches!(tree.tag(id), Tag::Pre | Tag::Math) && keep[id] {
            keep[tree.subtree(id)].fill(true);
        }
    }
    (keep, opinion.kind)
}

/// Takes in the head of every table of which a later row was kept: the words that say what its columns
/// are, too few to be judged by themselves.
fn table_heads(tree: &Tree, keep: &mut [bool]) {
    // The first row of each table, where it is a head.
    let mut heads: HashMap<Id, Option<Id>> = HashMap::new();
    for row in 1..tree.len() {
        if tree.tag(row) != Tag::Tr {
            continue;
        }
        let Some(table) = tree.ancestors(row).find(|&id| tree.tag(id) == Tag::Table) else { continue };
        match heads.get(&table).copied() {
            None => {
                heads.insert(table, (is_head(tree, row) && !tree.node(row).hidden).then_some(row));
            }
            Some(Some(head)) if keep[row] => {
                keep[tree.subtree(head)].fill(true);
                for ancestor in tree.ancestors(head) {
                    keep[ancestor] = true;
                }
                heads.insert(table, None);
            }
            Some(_) => {}
        }
    }
}

/// Whether all cells of a row are head cells, and there are any.
fn is_head(tree: &Tree, row: Id) -> bool {
    let within = tree.subtree(row);
    let (mut cell, mut any) = (within.start + 1, false);
    while cell < within.end {
        match tree.tag(cell) {
            Tag::Th => any = true,
            Tag::Td => return false,
            _ => {}
        }
        cell = tree.subtree(cell).end;
    }
    any
}

/// Drops what the author marks as navigation, or as something to press and gives a short name, unless it is
/// most of what was kept, and takes in the heading that the content stands under. What says more may be
/// a question, whose answer a press unfolds.
fn furniture(tree: &Tree, keep: &mut [bool]) {
    // How much text is kept before each node, so that nested elements are not counted again and again.
    let mut before = Vec::with_capacity(tree.len() + 1);
    let mut all = 0;
    for (id, &keep) in keep.iter().enumerate() {
        before.push(all);
        all += if keep { tree.text(id).trim().len() } else { 0 };
    }
    before.push(all);
    let kept = |ids: &std::ops::Range<Id>| before[ids.end] - before[ids.start];
    let mut heading = None;
    let mut id = 1;
    while id < tree.len() {
        let within = tree.subtree(id);
        let is_button = tree.tag(id) == Tag::Button && is_label(tree, id);
        let marked = is_button || tree.tag(id) == Tag::Nav || tree.attr(id, Attr::Role) == Some("navigation");
        if marked && kept(&within) * 2 < all {
            keep[within.clone()].fill(false);
            id = within.end;
            continue;
        }
        if tree.tag(id) == Tag::H1 && heading.is_none() && !tree.node(id).hidden {
            heading = Some(id);
        }
        id += 1;
    }
    if let Some(heading) = heading.filter(|&heading| all > 0 && kept(&tree.subtree(heading)) == 0) {
        let under_content =
            tree.ancestors(heading).all(|id| !matches!(tree.tag(id), Tag::Aside | Tag::Footer | Tag::Header));
        if under_content {
            keep[tree.subtree(heading)].fill(true);
            for ancestor in tree.ancestors(heading) {
                keep[ancestor] = true;
            }
        }
    }
}

/// Inline content that only a machine reads: an icon's name, the picture of a formula.
fn is_invisible(tree: &Tree, id: Id) -> bool {
    let hides = |id: Id| is_decoration(tree, id) && !holds_formula(tree, id);
    hides(id) || (tree.tag(id) == Tag::Text && tree.ancestors(id).take(2).any(hides))
}

/// A block of pictures alone is content where the blocks on both sides are.
fn pictures(blocks: &Blocks, chosen: &mut [bool]) {
    let is_picture = |at: usize| blocks.list[at].counts.words == 0.0;
    let mut before = false;
    let mut at = 0;
    while at < chosen.len() {
        if !is_picture(at) {
            before = chosen[at];
            at += 1;
            continue;
        }
        let end = (at..chosen.len()).find(|&next| !is_picture(next)).unwrap_or(chosen.len());
        let after = chosen.get(end).copied().unwrap_or(false);
        chosen[at..end].fill(before && after);
        at = end;
    }
}

/// Code goes with the text right before it: a line of it has hardly a word to be judged by.
fn code(tree: &Tree, blocks: &Blocks, chosen: &mut [bool]) {
    for at in 1..chosen.len() {
        let [before, container] = [at - 1, at].map(|at| blocks.list[at].container);
        let follows = tree.tag(container) == Tag::Pre && tree.parent(container) == tree.parent(before);
        chosen[at] |= follows && chosen[at - 1];
    }
}

/// A hidden line by itself is a message whose occasion has not come; what a hidden panel holds is unfolded by a
/// press, and is the model's to judge.
fn messages(tree: &Tree, blocks: &Blocks, chosen: &mut [bool]) {
    let is_message = |at: usize| tree.node(blocks.list[at].container).hidden;
    let messages: Vec<usize> = (0..chosen.len()).filter(|&at| chosen[at] && is_message(at)).collect();
    if !messages.is_empty() {
        let visible = visible(tree);
        for at in messages {
            chosen[at] = visible[blocks.list[at].container];
        }
    }
}

/// Whether an author makes one thing of what is in such an element.
fn is_item(tag: Tag) -> bool {
    matches!(tag, Tag::Li | Tag::Tr | Tag::Dd | Tag::Blockquote | Tag::Figure)
}

/// Whether the author hides an element from somebody.
fn is_unseen(tree: &Tree, id: Id) -> bool {
    let node = tree.node(id);
    node.hidden || node.aria_hidden
}

/// What an author makes one thing goes together: where half of the blocks in an element that `is_whole` are
/// chosen, those in no other such element in it, the rest is as well, but for what is there to be pressed.
fn wholes(tree: &Tree, blocks: &Blocks, chosen: &mut [bool], is_whole: fn(Tag) -> bool) {
    // The innermost such element around each node, the page's own where there is none, or nobody sees the node.
    let mut around: Vec<u32> = vec![ROOT as u32; tree.len()];
    for id in 1..tree.len() {
        around[id] = match tree.tag(id) {
            _ if is_unseen(tree, id) => ROOT as u32,
            tag if is_whole(tag) => id as u32,
            _ => around[tree.parent(id)],
        };
    }
    let worded = (0..chosen.len()).filter(|&at| blocks.list[at].counts.words > 0.0);
    let within: Vec<(usize, u32)> = worded.map(|at| (at, around[blocks.list[at].container])).collect();
    let mut votes = vec![0_i32; tree.len()];
    for &(at, whole) in &within {
        votes[whole as usize] += if chosen[at] { 1 } else { -1 };
    }
    let is_button = |id: Id| tree.tag(id) == Tag::Button || tree.attr(id, Attr::Role) == Some("button");
    for (at, whole) in within {
        if !chosen[at] && whole != ROOT as u32 && votes[whole as usize] >= 0 {
            let container = blocks.list[at].container;
            let upwards = std::iter::once(container).chain(tree.ancestors(container));
            chosen[at] = !upwards.take_while(|&id| id != whole as Id).any(is_button);
        }
    }
}

/// How many of the elements around a heading may be the one that holds what it heads.
const HEADED: usize = 2;

/// A heading that nothing else says goes with the text right behind it: of a card's few words, those that say
/// what it is about.
fn headings(tree: &Tree, blocks: &Blocks, chosen: &mut [bool]) {
    let mut said: HashSet<u64> = (0..chosen.len()).filter(|&at| chosen[at]).map(|at| blocks.list[at].hash).collect();
    let worded: Vec<usize> = (0..chosen.len()).filter(|&at| blocks.list[at].counts.words > 0.0).collect();
    for pair in worded.windows(2) {
        let [at, next] = [pair[0], pair[1]];
        let [heading, behind] = [at, next].map(|at| blocks.list[at].container);
        let [is_heading, is_another] = [heading, behind].map(|id| tree.tag(id).heading_level().is_some());
        if is_heading && !is_another && chosen[next] && !chosen[at] {
            let holds = |id: Id| id != ROOT && tree.subtree(id).contains(&behind);
            let upwards = std::iter::once(heading).chain(tree.ancestors(heading));
            let mut around = upwards.take_while(|&id| !is_unseen(tree, id)).skip(1).take(HEADED);
            chosen[at] = around.any(holds) && said.insert(blocks.list[at].hash);
        }
    }
}

/// What training needs of a page.
#[cfg(feature = "training")]
pub(crate) fn examples(tree: &Tree, address: Option<&Url>) -> crate::Examples {
    let blocks = Blocks::new(tree);
    let features = features::Features::new(tree, &blocks, address);
    let mut examples =
        crate::Examples { of_page: features.of_page().len(), kin: blocks::kin(tree, &blocks), ..Default::default() };
    examples.words = words::hashes(tree, &blocks);
    examples.chances = choose::opinion(tree, &blocks, address).chances;
    for at in 0..blocks.list.len() {
        examples.texts.push(features::block_text(tree, &blocks, at).into_owned());
        features.row(at, &mut examples.features);
        for id in features.around(at) {
            let inside = tree.subtree(id);
            for end in [inside.start, inside.end] {
                examples.reach.push(blocks.list.partition_point(|block| block.first < end) as u32);
            }
        }
    }
    examples
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headed(page: &str, chosen: &[bool]) -> Vec<bool> {
        let tree = Tree::parse(page, None);
        let mut chosen = chosen.to_vec();
        headings(&tree, &Blocks::new(&tree), &mut chosen);
        chosen
    }

    #[test]
    fn an_item_goes_with_its_half() {
        let wholes = |page: &str, chosen: &[bool]| {
            let tree = Tree::parse(page, None);
            let mut chosen = chosen.to_vec();
            wholes(&tree, &Blocks::new(&tree), &mut chosen, is_item);
            chosen
        };
        let items = "<ul><li><p>a<p>b</li><li><p>c<p>d<p>e</li></ul><div><p>f<p>g</div>";
        let chosen = [true, false, true, false, false, true, false];
        assert_eq!(wholes(items, &chosen), [true, true, true, false, false, true, false]);
        // What is in an item of its own has no voice around it.
        let nested = "<ul><li><p>a<p>b<ul><li>c<li>d</ul></li></ul>";
        assert_eq!(wholes(nested, &[true, false, false, false]), [true, true, false, false]);
        let hidden = "<ul><li><p>a<p hidden>b<div aria-hidden=true>c</div></li></ul>";
        assert_eq!(wholes(hidden, &[true, false, false]), [true, false, false]);
        let button = "<ul><li><p>a<p>b<div role=button>c</div><button><div>d</div></button></li></ul>";
        assert_eq!(wholes(button, &[true, true, false, false]), [true, true, false, false]);
        let row = "<table><tr><td>a<td>b<tr><td>c<td>d</table>";
        assert_eq!(wholes(row, &[true, false, false, false]), [true, true, false, false]);
    }

    #[test]
    fn a_hidden_line_is_no_content_but_a_hidden_panel_may_be() {
        let left = |page: &str| {
            let tree = Tree::parse(page, None);
            let blocks = Blocks::new(&tree);
            let mut chosen = vec![true; blocks.list.len()];
            messages(&tree, &blocks, &mut chosen);
            chosen
        };
        assert_eq!(left("<p>high water twice a day<p hidden>Sent!<div hidden><p>Why?</div>"), [true, false, true]);
        assert_eq!(left("<div style='display: none'>high water twice a day</div>wait"), [true, true]);
    }

    #[test]
    fn a_heading_goes_with_the_text_behind_it() {
        let card = |title: &str| format!("<div class=head><h3><a href=x>{title}</a></h3></div><div><p>Text</p></div>");
        let cards = format!("<section>{}</section><section>{}</section>", card("Ebb"), card("Flood"));
        assert_eq!(headed(&cards, &[false, true, false, false]), [true, true, false, false]);
        assert_eq!(headed("<div><h3 hidden>a</h3><p>b</div>", &[false, true]), [false, true]);
        // What heads another section, or another heading, or was said already.
        assert_eq!(headed("<div><h3>a</h3></div><div><div><p>b</div></div>", &[false, true]), [false, true]);
        assert_eq!(headed("<div><h3>a</h3><h4>b</h4><p>c</div>", &[false, false, true]), [false, true, true]);
        assert_eq!(
            headed("<div><h3>a</h3><p>b<h3>a</h3><p>c</div>", &[true, true, false, true]),
            [true, true, false, true]
        );
    }
}
