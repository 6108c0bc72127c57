//! Rules: corrections of the model's selection where the structure of the page decides.

use foldhash::{HashMap, HashMapExt, HashSet};

use super::{
    blocks::Blocks,
    pager::is_pager,
    tabs::Tabs,
    visible::{is_label, is_unseen, visible_at_once},
};
use crate::{
    tag::{Attr, Tag},
    tree::{Id, ROOT, Tree},
};

/// Keeps the head of every table of which a later row is kept: it has too few words for the model.
pub(super) fn keep_table_heads(tree: &Tree, keep: &mut [bool]) {
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

/// Keeps the summary of every `<details>` of which anything else is kept: it has too few words for the model.
pub(super) fn keep_summaries(tree: &Tree, keep: &mut [bool]) {
    let kept = Kept::new(tree, keep);
    for summary in (1..tree.len()).filter(|&id| tree.tag(id) == Tag::Summary && !tree.node(id).hidden) {
        let (details, within) = (tree.parent(summary), tree.subtree(summary));
        let is_left_out = tree.tag(details) == Tag::Details && kept.within(&within) == 0;
        if is_left_out && kept.within(&tree.subtree(details)) > 0 {
            keep[within].fill(true);
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

/// Whether the button `id` is all of a heading other than that of the page.
fn is_heading_of_section(tree: &Tree, id: Id) -> bool {
    let heading = tree.ancestors(id).find(|&above| tree.tag(above).heading_level().is_some_and(|level| level > 1));
    let length = |id: Id| tree.subtree(id).map(|part| tree.text(part).trim().len()).sum::<usize>();
    heading.is_some_and(|heading| length(heading) == length(id))
}

/// Removes what the author marks as navigation or as a button, and rows of links to the previous and the next page,
/// unless it is most of what is kept. A button with more words than a label may be a question that unfolds its answer,
/// and one that is all of a heading names the section that it unfolds.
pub(super) fn remove_boilerplate(tree: &Tree, keep: &mut [bool]) {
    let kept = Kept::new(tree, keep);
    let mut id = 1;
    while id < tree.len() {
        let within = tree.subtree(id);
        let is_button = tree.tag(id) == Tag::Button && is_label(tree, id) && !is_heading_of_section(tree, id);
        if (is_button || is_navigation(tree, id) || is_pager(tree, id)) && kept.within(&within) * 2 < kept.all() {
            keep[within.clone()].fill(false);
            id = within.end;
            continue;
        }
        id += 1;
    }
}

fn is_navigation(tree: &Tree, id: Id) -> bool {
    tree.tag(id) == Tag::Nav || tree.attr(id, Attr::Role) == Some("navigation")
}

/// Keeps the heading of the page, if nothing of it is kept and it is not in a part around the content. Where there are
/// several, one that is a link is the name of the site.
pub(super) fn keep_page_heading(tree: &Tree, keep: &mut [bool]) {
    let kept = Kept::new(tree, keep);
    let mut headings = vec![];
    let mut id = 1;
    while id < tree.len() && headings.len() < MAX_PAGE_HEADINGS {
        let within = tree.subtree(id);
        if is_navigation(tree, id) && kept.within(&within) * 2 < kept.all() {
            id = within.end;
            continue;
        }
        if tree.tag(id) == Tag::H1 && !tree.node(id).hidden {
            headings.push(id);
        }
        id += 1;
    }
    let is_blank = |part: Id| tree.tag(part) == Tag::Text && tree.text(part).trim().is_empty();
    let is_link = |id: Id| tree.children(id).all(|part| tree.tag(part) == Tag::A || is_blank(part));
    let Some(&heading) = headings.iter().find(|&&id| !is_link(id)).or(headings.first()) else { return };
    let around = |id: Id| matches!(tree.tag(id), Tag::Aside | Tag::Footer | Tag::Header);
    if kept.all() > 0 && kept.within(&tree.subtree(heading)) == 0 && !tree.ancestors(heading).any(around) {
        keep[tree.subtree(heading)].fill(true);
        for ancestor in tree.ancestors(heading) {
            keep[ancestor] = true;
        }
    }
}

/// The number of words from which code may be a page's content.
const MIN_LISTING: f32 = 20.0;

/// The number of headings of which the one of the page is chosen.
const MAX_PAGE_HEADINGS: usize = 2;

/// How much text is kept before each node, so that nested elements are not counted again and again.
struct Kept(Vec<usize>);

impl Kept {
    fn new(tree: &Tree, keep: &[bool]) -> Self {
        let mut before = Vec::with_capacity(tree.len() + 1);
        let mut all = 0;
        for (id, &keep) in keep.iter().enumerate() {
            before.push(all);
            let text = || tree.diagram(id).map_or(tree.text(id).trim().len(), |diagram| diagram.text.len());
            all += if keep { text() } else { 0 };
        }
        before.push(all);
        Self(before)
    }

    fn within(&self, ids: &std::ops::Range<Id>) -> usize {
        self.0[ids.end] - self.0[ids.start]
    }

    fn all(&self) -> usize {
        self.0.last().copied().unwrap_or(0)
    }
}

/// Drops a heading that ends what is chosen: what it heads is not chosen. The model is not sure of such a heading, so
/// that it would come and go with what is around the content.
pub(super) fn drop_last_heading(tree: &Tree, blocks: &Blocks, chosen: &mut [bool]) {
    let is_heading = |at: usize| tree.tag(blocks.list[at].container).heading_level().is_some_and(|level| level > 1);
    let worded = (0..chosen.len()).rev().filter(|&at| chosen[at] && blocks.list[at].counts.words > 0.0);
    let ends: Vec<usize> = worded.take(2).collect();
    if let [last, before] = ends[..]
        && is_heading(last)
        && !is_heading(before)
    {
        chosen[last] = false;
    }
}

/// Chooses blocks without words, such as images, between two chosen blocks.
pub(super) fn choose_images(blocks: &Blocks, chosen: &mut [bool]) {
    let is_image = |at: usize| blocks.list[at].counts.words == 0.0;
    let mut before = false;
    let mut at = 0;
    while at < chosen.len() {
        if !is_image(at) {
            before = chosen[at];
            at += 1;
            continue;
        }
        let end = (at..chosen.len()).find(|&next| !is_image(next)).unwrap_or(chosen.len());
        let after = chosen.get(end).copied().unwrap_or(false);
        chosen[at..end].fill(before && after);
        at = end;
    }
}

/// Chooses code right after a chosen block: a line of it has too few words for the model, and on pages that the
/// model takes for another kind than documentation it is seldom content. The innermost element that contains the code
/// and anything else holds that block as well.
pub(super) fn choose_code(tree: &Tree, blocks: &Blocks, chosen: &mut [bool]) {
    let worded = |at: &usize| blocks.list[*at].counts.words > 0.0;
    // How many blocks with words begin before each node, so that those in an element are counted at once.
    let mut before = vec![0_u32; tree.len() + 1];
    for at in (0..chosen.len()).filter(worded) {
        before[blocks.list[at].container + 1] += 1;
    }
    for id in 0..tree.len() {
        before[id + 1] += before[id];
    }
    let count = |id: Id| before[tree.subtree(id).end] - before[tree.subtree(id).start];
    let mut previous = None;
    for at in (0..chosen.len()).filter(worded) {
        let container = blocks.list[at].container;
        let mut upwards = std::iter::once(container).chain(tree.ancestors(container));
        if !chosen[at]
            && !is_unseen(tree, container)
            && let Some(previous) = previous
            && let Some(code) = upwards.find(|&id| tree.tag(id) == Tag::Pre)
        {
            let alone = count(code);
            let around = tree.ancestors(code).find(|&id| id == ROOT || count(id) > alone).unwrap_or(ROOT);
            // In the page itself, only a heading and its code belong together for certain.
            let is_headed = || tree.tag(previous).heading_level().is_some();
            chosen[at] = if around == ROOT { is_headed() } else { tree.subtree(around).contains(&previous) };
        }
        previous = chosen[at].then_some(container);
    }
}

/// Chooses the code that holds most words of a page that is written as code, such as a manual page, a listing of a
/// program or an interface: the model knows code only among text.
///
/// Returns the lowest F1 of such code: if it is content, its precision is 1, and its recall at least its share of the
/// page's words. 0 for other pages. Of 200 pages of Postfix and Agda, 190 then have a confidence of 0.95 or more, and
/// 189 of these an F1 over 0.9; without it, 159 have one under 0.2.
pub(super) fn choose_listing(tree: &Tree, blocks: &Blocks, chosen: &mut [bool]) -> f32 {
    let mut in_listing = vec![false; tree.len()];
    let mut id = 1;
    while id < tree.len() {
        if is_unseen(tree, id) {
            id = tree.subtree(id).end;
            continue;
        }
        in_listing[id] = tree.tag(id) == Tag::Pre || in_listing[tree.parent(id)];
        id += 1;
    }
    let words = |is_counted: &dyn Fn(Id) -> bool| -> f32 {
        blocks.list.iter().filter(|block| is_counted(block.container)).map(|block| block.counts.words).sum()
    };
    let (within, all) = (words(&|id| in_listing[id]), words(&|_| true));
    if within < MIN_LISTING || within * 2.0 <= all {
        return 0.0;
    }
    for (block, chosen) in blocks.list.iter().zip(chosen) {
        *chosen |= in_listing[block.container];
    }
    2.0 * within / (within + all)
}

/// Drops blocks that are hidden by themselves: messages that a script shows, such as "Sent!". Blocks inside of a
/// hidden element, such as a folded panel, are left to the model, and so is the panel of a tab.
pub(super) fn drop_messages(tree: &Tree, blocks: &Blocks, tabs: &Tabs, chosen: &mut [bool]) {
    let is_message = |at: usize| {
        let container = blocks.list[at].container;
        tree.node(container).hidden && !tabs.is_panel(container)
    };
    let messages: Vec<usize> = (0..chosen.len()).filter(|&at| chosen[at] && is_message(at)).collect();
    if !messages.is_empty() {
        let visible = visible_at_once(tree);
        for at in messages {
            chosen[at] = visible[blocks.list[at].container];
        }
    }
}

/// Whether the content of such an element belongs together.
pub(super) fn is_item(tag: Tag) -> bool {
    matches!(tag, Tag::Li | Tag::Tr | Tag::Dd | Tag::Blockquote | Tag::Figure)
}

/// Chooses the rest of an element that `is_whole` where at least half of its blocks are chosen. Blocks in nested
/// elements of the kind have no vote in the outer one; buttons are not chosen.
pub(super) fn complete(tree: &Tree, blocks: &Blocks, chosen: &mut [bool], is_whole: fn(Tag) -> bool) {
    // The innermost such element around each node; the root where there is none or the node is hidden.
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

/// How many elements around a heading may be the one that it shares with its text.
const HEADED: usize = 2;

/// Chooses the heading right before a chosen block, unless a chosen block has the same text: the title of a card
/// has too few words for the model.
pub(super) fn choose_headings(tree: &Tree, blocks: &Blocks, chosen: &mut [bool]) {
    let mut seen: HashSet<u64> = (0..chosen.len()).filter(|&at| chosen[at]).map(|at| blocks.list[at].hash).collect();
    let worded: Vec<usize> = (0..chosen.len()).filter(|&at| blocks.list[at].counts.words > 0.0).collect();
    for pair in worded.windows(2) {
        let [at, next] = [pair[0], pair[1]];
        let [heading, behind] = [at, next].map(|at| blocks.list[at].container);
        let [is_heading, is_another] = [heading, behind].map(|id| tree.tag(id).heading_level().is_some());
        if is_heading && !is_another && chosen[next] && !chosen[at] {
            let holds = |id: Id| id != ROOT && tree.subtree(id).contains(&behind);
            let upwards = std::iter::once(heading).chain(tree.ancestors(heading));
            let mut around = upwards.take_while(|&id| !is_unseen(tree, id)).skip(1).take(HEADED);
            let are_siblings = tree.parent(heading) == tree.parent(behind) && !is_unseen(tree, heading);
            chosen[at] = (are_siblings || around.any(holds)) && seen.insert(blocks.list[at].hash);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headed(page: &str, chosen: &[bool]) -> Vec<bool> {
        let tree = Tree::parse(page, None);
        let mut chosen = chosen.to_vec();
        choose_headings(&tree, &Blocks::new(&tree), &mut chosen);
        chosen
    }

    #[test]
    fn a_button_that_is_all_of_a_heading_stays() {
        let kept = |heading: &str| {
            let page = format!(
                "<main><p>Some text that is long enough.</p>{heading}<p>What it unfolds, at length.</p></main>"
            );
            let tree = Tree::parse(&page, None);
            let mut keep = vec![true; tree.len()];
            remove_boilerplate(&tree, &mut keep);
            (0..tree.len()).any(|id| keep[id] && tree.text(id).contains("Fees"))
        };
        assert!(kept("<h3><button aria-expanded=false>Fees</button></h3>"));
        assert!(kept("<h3><span><button>Fees <svg></svg></button></span></h3>"));
        assert!(!kept("<h3>Prices <button>Fees</button></h3>"));
        assert!(!kept("<p><button>Fees</button></p>"));
    }

    #[test]
    fn code_goes_with_the_text_before_it() {
        let code = |page: &str, chosen: &[bool]| {
            let tree = Tree::parse(page, None);
            let blocks = Blocks::new(&tree);
            assert_eq!(blocks.list.len(), chosen.len(), "{page}");
            let mut chosen = chosen.to_vec();
            choose_code(&tree, &blocks, &mut chosen);
            chosen
        };
        assert_eq!(code("<div><p>a</p><pre>b</pre><p>c</div>", &[true, false, false]), [true, true, false]);
        // However deep it is, as long as it is alone there.
        let wrapped = "<main><blockquote><p>a</blockquote><div class=x><div><pre>b</pre></div></div></main>";
        assert_eq!(code(wrapped, &[true, false]), [true, true]);
        assert_eq!(code("<main><p>a<pre>b</pre><pre>c</pre></main>", &[true, false, false]), [true, true, true]);
        // That of a comment that is not chosen, and what comes before the text.
        let comment = "<main><p>a<div><p>b<pre>c</pre></div></main>";
        assert_eq!(code(comment, &[true, false, false]), [true, false, false]);
        assert_eq!(code("<main><pre>a</pre><p>b</main>", &[false, true]), [false, true]);
        // Of the page itself, that of a heading.
        assert_eq!(
            code("<h2>a</h2><blockquote><pre>b</pre></blockquote><p>c", &[true, false, false]),
            [true, true, false]
        );
        assert_eq!(code("<p>a</p><pre>b</pre><p>c", &[true, false, false]), [true, false, false]);
        assert_eq!(code("<main><p>a<pre hidden>b</pre></main>", &[true, false]), [true, false]);
    }

    #[test]
    fn a_page_that_is_code_is_content() {
        let chosen = |page: &str| {
            let tree = Tree::parse(page, None);
            let blocks = Blocks::new(&tree);
            let mut chosen = vec![false; blocks.list.len()];
            let f1 = choose_listing(&tree, &blocks, &mut chosen);
            assert_eq!(f1 > 0.0, chosen.contains(&true));
            (chosen, f1)
        };
        let code = "let tide = <b>high</b>;\n".repeat(20);
        // 60 of 62 words, and 60 of 100.
        let (found, f1) = chosen(&format!("<p>a</p><pre>{code}</pre><p>b"));
        assert!(found == [false, true, false] && (f1 - 120.0 / 122.0).abs() < 0.001, "{f1}");
        let (_, f1) = chosen(&format!("<pre>{code}</pre><p>{}", "a ".repeat(40)));
        assert!((f1 - 0.75).abs() < 0.001, "{f1}");
        assert_eq!(chosen(&format!("<p>{code}</p><pre>{code}</pre><p>{code}")).0, [false; 3]);
        assert_eq!(chosen(&format!("<div hidden><pre>{code}</pre></div>")).0, [false]);
        assert_eq!(chosen("<pre>let tide;</pre>").0, [false]);
    }

    #[test]
    fn an_item_goes_with_its_half() {
        let completed = |page: &str, chosen: &[bool]| {
            let tree = Tree::parse(page, None);
            let mut chosen = chosen.to_vec();
            complete(&tree, &Blocks::new(&tree), &mut chosen, is_item);
            chosen
        };
        let items = "<ul><li><p>a<p>b</li><li><p>c<p>d<p>e</li></ul><div><p>f<p>g</div>";
        let chosen = [true, false, true, false, false, true, false];
        assert_eq!(completed(items, &chosen), [true, true, true, false, false, true, false]);
        // Blocks of a nested item have no vote in the outer one.
        let nested = "<ul><li><p>a<p>b<ul><li>c<li>d</ul></li></ul>";
        assert_eq!(completed(nested, &[true, false, false, false]), [true, true, false, false]);
        let hidden = "<ul><li><p>a<p hidden>b<div aria-hidden=true>c</div></li></ul>";
        assert_eq!(completed(hidden, &[true, false, false]), [true, false, false]);
        let button = "<ul><li><p>a<p>b<div role=button>c</div><button><div>d</div></button></li></ul>";
        assert_eq!(completed(button, &[true, true, false, false]), [true, true, false, false]);
        let row = "<table><tr><td>a<td>b<tr><td>c<td>d</table>";
        assert_eq!(completed(row, &[true, false, false, false]), [true, true, false, false]);
    }

    #[test]
    fn a_hidden_line_is_no_content_but_a_hidden_panel_may_be() {
        let left = |page: &str| {
            let tree = Tree::parse(page, None);
            let blocks = Blocks::new(&tree);
            let mut chosen = vec![true; blocks.list.len()];
            drop_messages(&tree, &blocks, &Tabs::new(&tree), &mut chosen);
            chosen
        };
        assert_eq!(left("<p>high water twice a day<p hidden>Sent!<div hidden><p>Why?</div>"), [true, false, true]);
        assert_eq!(left("<div style='display: none'>high water twice a day</div>wait"), [true, true]);
    }

    #[test]
    fn the_heading_of_the_page_is_kept_and_not_the_name_of_the_site() {
        let kept = |page: &str| {
            let tree = Tree::parse(page, None);
            let mut keep: Vec<bool> = (0..tree.len()).map(|id| tree.text(id) == "content").collect();
            keep_page_heading(&tree, &mut keep);
            (1..tree.len()).filter(|&id| keep[id]).map(|id| tree.text(id)).collect::<String>()
        };
        assert_eq!(kept("<h1><a href=/>site</a></h1><div><h1>page</h1></div><p>content"), "pagecontent");
        assert_eq!(kept("<h1><a href=/page>page</a></h1><p>content"), "pagecontent");
        assert_eq!(kept("<h1>page <b>one</b></h1><h1>two</h1><p>content"), "page onecontent");
        assert_eq!(kept("<header><h1>site</h1></header><p>content"), "content");
    }

    #[test]
    fn the_summary_of_what_is_kept_is_kept() {
        let tree =
            Tree::parse("<details><summary>a</summary>b</details><details><summary>c</summary>d</details>", None);
        let texts =
            |keep: &[bool]| -> String { (1..tree.len()).filter(|&id| keep[id]).map(|id| tree.text(id)).collect() };
        let mut keep: Vec<bool> = (0..tree.len()).map(|id| !matches!(tree.text(id), "a" | "c" | "d")).collect();
        keep_summaries(&tree, &mut keep);
        assert_eq!(texts(&keep), "ab");
    }

    #[test]
    fn a_heading_that_ends_the_content_is_dropped() {
        let ended = |page: &str| {
            let tree = Tree::parse(page, None);
            let blocks = Blocks::new(&tree);
            let mut chosen = vec![true; blocks.list.len()];
            drop_last_heading(&tree, &blocks, &mut chosen);
            chosen
        };
        assert_eq!(ended("<h1>a</h1><p>b<h3>More</h3>"), [true, true, false]);
        assert_eq!(ended("<h1>a</h1><p>b"), [true, true]);
        // A list of titles.
        assert_eq!(ended("<p>a<h3>b</h3><h3>c</h3>"), [true, true, true]);
    }

    #[test]
    fn a_heading_goes_with_the_text_behind_it() {
        let card = |title: &str| format!("<div class=head><h3><a href=x>{title}</a></h3></div><div><p>Text</p></div>");
        let cards = format!("<section>{}</section><section>{}</section>", card("Ebb"), card("Flood"));
        assert_eq!(headed(&cards, &[false, true, false, false]), [true, true, false, false]);
        assert_eq!(headed("<div><h3 hidden>a</h3><p>b</div>", &[false, true]), [false, true]);
        assert_eq!(headed("<h2>a</h2><p>b", &[false, true]), [true, true]);
        assert_eq!(headed("<h2 hidden>a</h2><p>b", &[false, true]), [false, true]);
        // What heads another section, or another heading, or was said already.
        assert_eq!(headed("<div><h3>a</h3></div><div><div><p>b</div></div>", &[false, true]), [false, true]);
        assert_eq!(headed("<div><h3>a</h3><h4>b</h4><p>c</div>", &[false, false, true]), [false, true, true]);
        assert_eq!(
            headed("<div><h3>a</h3><p>b<h3>a</h3><p>c</div>", &[true, true, false, true]),
            [true, true, false, true]
        );
    }
}
