//! The renderer: a tree as GitHub-flavoured Markdown.
//!
//! `html2text` cannot escape text, fence code or write pipe tables, so this renderer replaces it. It walks the tree
//! once, in document order. The depth of a tree is bounded, so recursion is safe. Lines are not wrapped: a paragraph is
//! one line. Content that GFM cannot express is written in the most readable form.
//!
//! | file | content |
//! |---|---|
//! | [`block`], [`list`], [`code`], [`table`], [`grid`] | block elements |
//! | [`span`], [`media`] | elements within a line |
//! | [`inline`], [`delimiters`], [`escape`] | the text of a block: collected, written, escaped |
//! | [`lines`] | output: prefixes of containers, blank lines |
//! | [`notes`], [`html`] | footnotes; elements that stay HTML |

mod block;
mod boxes;
mod code;
mod delimiters;
mod escape;
mod grid;
mod html;
mod inline;
mod lines;
mod list;
mod media;
mod notes;
mod span;
mod table;

use std::ops::Range;

use foldhash::HashSet;
use url::Url;

use self::{
    escape::Place,
    inline::{Inline, Mark},
    lines::Lines,
    notes::Notes,
};
use crate::{
    extract::Labels,
    tag::{Attr, Tag},
    tree::{Id, ROOT, Tree},
    urls,
};

/// The URLs of a page.
#[derive(Clone, Copy, Default)]
pub(crate) struct Addresses<'u> {
    /// The URL that links are resolved against.
    pub(crate) base: Option<&'u Url>,
    /// The URL of the page itself, as far as it is known.
    pub(crate) page: Option<&'u Url>,
}

/// Renders the nodes of `tree` that `keep` marks; links become absolute, and elements with a label follow it. With
/// `everything`, empty blocks and links are written, too.
pub(crate) fn render(
    tree: &Tree,
    keep: &[bool],
    labels: &Labels,
    addresses: Addresses<'_>,
    everything: bool,
) -> String {
    let mut keep = keep.to_vec();
    let notes = Notes::find(tree, &mut keep);
    let keep = &*keep;
    let mut has_block = vec![false; tree.len()];
    for id in (1..tree.len()).rev() {
        if keep[id] && (has_block[id] || tree.tag(id).is_block() || labels.contains_key(&id)) {
            has_block[tree.parent(id)] = true;
        }
    }
    let mut renderer = Renderer {
        tree,
        keep,
        labels,
        addresses,
        everything,
        has_block,
        icons: if everything { HashSet::default() } else { media::icons(tree, keep) },
        notes,
        lines: Lines::new(tree.size()),
        link: None,
        last_list: None,
    };
    renderer.blocks(ROOT);
    let mut markdown = renderer.lines.finish();
    // At the end of the content a rule separates nothing.
    while !everything && markdown.ends_with("\n\n---\n") {
        markdown.truncate(markdown.len() - "\n---\n".len());
    }
    markdown
}

/// The maximum number of nodes of a paragraph: while it is written, each takes more memory than in the tree.
const MAX_PARAGRAPH: usize = 1 << 16;

struct Renderer<'t> {
    tree: &'t Tree,
    keep: &'t [bool],
    labels: &'t Labels,
    addresses: Addresses<'t>,
    /// Whether what is empty is written too.
    everything: bool,
    /// Whether a node has a block inside.
    has_block: Vec<bool>,
    /// The sources of images that are icons.
    icons: HashSet<&'t str>,
    notes: Notes,
    lines: Lines,
    /// A link around blocks: the first text in it becomes the link.
    link: Option<Id>,
    /// The list that was just written, and whether it used the second kind of marker.
    last_list: Option<(Id, bool)>,
}

impl<'t> Renderer<'t> {
    fn visible(&self, id: Id) -> bool {
        self.keep[id] && !self.tree.is_silent(id)
    }

    fn children(&self, id: Id) -> impl Iterator<Item = Id> + use<'t> {
        self.siblings(self.tree.descendants(id))
    }

    /// The visible ones of the outermost nodes in a range.
    fn siblings(&self, range: Range<Id>) -> impl Iterator<Item = Id> + use<'t> {
        let (tree, keep) = (self.tree, self.keep);
        tree.siblings(range).filter(move |&child| keep[child] && !tree.is_silent(child))
    }

    fn breaks_line(&self, id: Id) -> bool {
        self.tree.tag(id).is_block() || self.has_block[id] || self.labels.contains_key(&id)
    }

    /// Writes the content of a node as blocks.
    fn blocks(&mut self, id: Id) {
        self.flow(self.tree.descendants(id));
    }

    /// Writes a range of nodes as blocks: runs of inline nodes are paragraphs.
    fn flow(&mut self, nodes: Range<Id>) {
        let mut run = nodes.start..nodes.start;
        for child in self.siblings(nodes.clone()) {
            if child - run.start >= MAX_PARAGRAPH {
                run.end = child;
                self.paragraph(run);
                run = child..nodes.end;
            }
            if self.breaks_line(child) {
                run.end = child;
                self.paragraph(run);
                self.block(child);
                run = self.tree.subtree(child).end..nodes.end;
            }
        }
        run.end = nodes.end;
        self.paragraph(run);
    }

    /// Writes inline nodes as paragraphs.
    fn paragraph(&mut self, run: Range<Id>) {
        if let Some(html) = self.block_html(run.clone()) {
            return self.lines_of(&html);
        }
        let text = self.inline_text(run, Place::Paragraph);
        if !text.is_empty() {
            self.last_list = None;
            for paragraph in text.split("\n\n").filter(|text| !text.is_empty()) {
                self.lines.block(paragraph);
            }
        }
    }

    fn inline_text(&mut self, run: Range<Id>, place: Place) -> String {
        if self.siblings(run.clone()).next().is_none() {
            return String::new();
        }
        let mut inline = Inline::new();
        let link = self.link;
        if let Some(link) = link {
            inline.open(Mark::Link(link as u32));
        }
        for id in self.siblings(run) {
            self.inline(id, &mut inline, place);
        }
        if link.is_some() {
            inline.close();
            if !inline.is_empty() {
                self.link = None;
            }
        }
        self.write(inline, place)
    }

    fn write(&self, inline: Inline, place: Place) -> String {
        inline.write(place, |id, out| {
            let href = self.tree.attr(id, Attr::Href).unwrap_or_default();
            let url = urls::resolve(href, self.addresses.base).unwrap_or_default();
            self.lines.allow_address(&url, href);
            // Most links of an API's documentation lead to their own page, whose address the reader has.
            let shown = self.place_on_own_page(&url).unwrap_or(&url);
            urls::write_destination(shown, place == Place::Cell, out);
            self.title(id, place, out);
        })
    }

    /// The visible text in a node, on one line.
    fn plain_text(&self, id: Id) -> String {
        let mut words = vec![];
        let mut at = id + 1;
        while at < self.tree.subtree(id).end {
            if self.visible(at) {
                words.push(self.tree.text(at));
                at += 1;
            } else {
                at = self.tree.subtree(at).end;
            }
        }
        words.concat().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Writes a block of finished Markdown.
    fn lines_of(&mut self, text: &str) {
        if !text.is_empty() {
            self.last_list = None;
            self.lines.block(text);
        }
    }

    /// Whether anything in the node is shown.
    fn has_content(&self, id: Id) -> bool {
        self.shows_within(id + 1, self.tree.subtree(id).end)
    }

    /// Whether the node or anything in it is shown.
    fn shows(&self, id: Id) -> bool {
        self.shows_within(id, self.tree.subtree(id).end)
    }

    fn shows_within(&self, mut at: Id, end: Id) -> bool {
        while at < end {
            if !self.visible(at) {
                at = self.tree.subtree(at).end;
                continue;
            }
            let shows = match self.tree.tag(at) {
                Tag::Text => !self.tree.text(at).trim().is_empty(),
                Tag::Img | Tag::Hr | Tag::Math | Tag::Svg => true,
                // An empty code block is written only with everything; one with text has text inside.
                Tag::Pre => self.everything,
                Tag::Input => self.is_task(at),
                _ => false,
            };
            if shows {
                return true;
            }
            at += 1;
        }
        false
    }
}

/// A page, as a whole, as Markdown.
#[cfg(test)]
fn rendered(html: &str) -> String {
    let tree = Tree::parse(html, None);
    render(&tree, &vec![true; tree.len()], &Labels::default(), Addresses::default(), true)
}

/// The main content of a page, which is all of it, as Markdown.
#[cfg(test)]
fn rendered_content(html: &str) -> String {
    let tree = Tree::parse(html, None);
    render(&tree, &vec![true; tree.len()], &Labels::default(), Addresses::default(), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_nodes_between_blocks_are_paragraphs() {
        assert_eq!(rendered("a<div>b</div>c <b>d</b><p></p>"), "a\n\nb\n\nc **d**\n");
        assert_eq!(rendered(""), "");
    }

    #[test]
    fn only_kept_nodes_are_written() {
        let tree = Tree::parse("<p>a</p><p>b</p>", None);
        let keep: Vec<_> = (0..tree.len()).map(|id| id == ROOT || tree.subtree(3).contains(&id)).collect();
        assert_eq!(render(&tree, &keep, &Labels::default(), Addresses::default(), false), "b\n");
    }

    #[test]
    fn a_link_around_blocks_is_the_link_of_the_first_text() {
        assert_eq!(rendered("<a href=x><h2>a</h2><p>b</p></a>"), "## [a](x)\n\nb\n");
    }

    #[test]
    fn an_endless_paragraph_is_cut() {
        let text = rendered(&"<i>a</i> b ".repeat(MAX_PARAGRAPH / 2));
        assert!(text.lines().count() > 1 && text.matches('b').count() == MAX_PARAGRAPH / 2);
    }
}
