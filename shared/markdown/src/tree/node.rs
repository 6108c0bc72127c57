//! The tree: nodes in document order; every subtree is a contiguous range of nodes.
//!
//! A page can have a tag in every third byte, so a node takes only 16 bytes, and invisible elements have no node.

use std::ops::Range;

use crate::tag::{Attr, Tag};

/// The maximum number of elements that are open at the same time, as in browsers; deeper elements become siblings.
pub(crate) const MAX_DEPTH: usize = 255;

/// The longest source that is taken for a fragment, not a page, in bytes.
const MAX_FRAGMENT: usize = 256 << 10;

/// A tree of fewer nodes is never dense, however small the page.
const MIN_DENSE: usize = 20_000;

/// The index of a node.
pub(crate) type Id = usize;

/// The page's own node.
pub(crate) const ROOT: Id = 0;

/// A range of [`Tree::strings`].
pub(super) type Span = (u32, u32);

/// An element, or a run of text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) tag: Tag,
    /// The author hides it: `hidden`, `display: none`, a template, a closed dialog.
    pub(crate) hidden: bool,
    /// It is hidden from screen readers.
    pub(crate) aria_hidden: bool,
    pub(crate) depth: u8,
    pub(crate) parent: u32,
    /// Of text, where it begins; of an element, its first attribute, or [`NONE`].
    pub(super) first: u32,
    /// Of text, where it ends; of an element, the node after its subtree.
    pub(super) end: u32,
}

/// The first attribute of an element that has none.
pub(super) const NONE: u32 = u32::MAX;

/// An attribute of an element; its others follow it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attribute {
    pub(super) name: Attr,
    pub(super) is_last: bool,
    pub(super) value: Span,
}

/// The metadata of a page outside its text.
#[derive(Debug, Default)]
pub(crate) struct Head {
    pub(crate) title: String,
    pub(crate) lang: Option<String>,
    pub(crate) base: Option<String>,
    pub(crate) canonical: Option<String>,
    /// `<meta>`: lower-case name, property or itemprop, and content.
    pub(crate) metas: Vec<(String, String)>,
    /// The sources of `application/ld+json` scripts.
    pub(crate) json_ld: Vec<String>,
    /// The classes and the id of `<body>`.
    pub(crate) body_names: String,
}

/// The texts of an SVG.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Diagram<'t> {
    /// Those of one height on a line, in the order of the source.
    pub(crate) text: &'t str,
    /// How many there are.
    pub(crate) labels: usize,
}

/// Where an SVG's texts are in the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drawn {
    pub(super) svg: u32,
    pub(super) labels: u32,
    pub(super) text: Span,
}

/// A parsed page.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) strings: String,
    pub(super) attrs: Vec<Attribute>,
    /// The texts of SVGs, in order.
    pub(super) drawn: Vec<Drawn>,
    /// The nodes that the caller's selector matches, in order.
    pub(crate) selected: Vec<Id>,
    pub(crate) head: Head,
    pub(super) size: usize,
    /// Whether the source has an element of a whole page, such as `<html>` or `<title>`.
    pub(super) is_page: bool,
}

impl Tree {
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The length of the page, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    pub(crate) fn tag(&self, id: Id) -> Tag {
        self.nodes[id].tag
    }

    pub(crate) fn parent(&self, id: Id) -> Id {
        self.nodes[id].parent as Id
    }

    /// The node and everything in it.
    pub(crate) fn subtree(&self, id: Id) -> Range<Id> {
        let node = &self.nodes[id];
        id..if node.tag == Tag::Text { id + 1 } else { node.end as Id }
    }

    /// Everything in the node.
    pub(crate) fn descendants(&self, id: Id) -> Range<Id> {
        id + 1..self.subtree(id).end
    }

    pub(crate) fn children(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        self.siblings(self.descendants(id))
    }

    /// The outermost nodes in a range.
    pub(crate) fn siblings(&self, Range { start, end }: Range<Id>) -> impl Iterator<Item = Id> + '_ {
        let mut next = start;
        std::iter::from_fn(move || {
            let child = (next < end).then_some(next)?;
            next = self.subtree(child).end;
            Some(child)
        })
    }

    /// The node's ancestors, its parent first, the page itself last.
    pub(crate) fn ancestors(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        let mut at = id;
        std::iter::from_fn(move || {
            (at != ROOT).then(|| {
                at = self.parent(at);
                at
            })
        })
    }

    /// The text of a text node; nothing for an element.
    pub(crate) fn text(&self, id: Id) -> &str {
        let node = &self.nodes[id];
        if node.tag == Tag::Text { self.string((node.first, node.end)) } else { "" }
    }

    /// The value of an element's attribute.
    pub(crate) fn attr(&self, id: Id, name: Attr) -> Option<&str> {
        let node = &self.nodes[id];
        let mut at = (node.tag != Tag::Text && node.first != NONE).then_some(node.first as usize)?;
        loop {
            let attribute = &self.attrs[at];
            if attribute.name == name {
                return Some(self.string(attribute.value));
            }
            if attribute.is_last {
                return None;
            }
            at += 1;
        }
    }

    pub(super) fn string(&self, (start, end): Span) -> &str {
        &self.strings[start as usize..end as usize]
    }

    /// The text inside a node, as it stands in the source.
    pub(crate) fn text_content(&self, id: Id) -> String {
        self.subtree(id).map(|id| self.text(id)).collect()
    }

    /// Whether this is a part of a page, such as rendered Markdown.
    pub(crate) fn is_fragment(&self) -> bool {
        !self.is_page && self.size <= MAX_FRAGMENT
    }

    /// Whether the page has more than one node in so many bytes, and more than any page of usual size. What
    /// takes memory for every node would then take too much for the size of the page.
    pub(crate) fn is_dense(&self, bytes_a_node: usize) -> bool {
        self.len() > MIN_DENSE + self.size / bytes_a_node
    }
}

impl Tree {
    /// The SVGs that draw texts.
    pub(crate) fn diagrams(&self) -> impl Iterator<Item = (Id, Diagram<'_>)> {
        self.drawn.iter().map(|drawn| (drawn.svg as Id, self.drawn_text(drawn)))
    }

    /// The texts that the SVG `id` draws, if it draws any.
    pub(crate) fn diagram(&self, id: Id) -> Option<Diagram<'_>> {
        let at = self.drawn.binary_search_by_key(&(id as u32), |drawn| drawn.svg).ok()?;
        Some(self.drawn_text(&self.drawn[at]))
    }

    fn drawn_text(&self, drawn: &Drawn) -> Diagram<'_> {
        Diagram { text: self.string(drawn.text), labels: drawn.labels as usize }
    }

    /// Whether nothing in a node is ever part of a page's text.
    pub(crate) fn is_silent(&self, id: Id) -> bool {
        self.tag(id).is_silent() && self.diagram(id).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_sixteen_bytes() {
        assert_eq!(size_of::<Node>(), 16);
    }

    #[test]
    fn a_tree_is_walked_in_every_direction() {
        let tree = Tree::parse("<div id=a class=c>x<p>y<b>z</b></p></div><hr>", None);
        let tags = |ids: &mut dyn Iterator<Item = Id>| ids.map(|id| tree.tag(id)).collect::<Vec<_>>();
        assert_eq!(tags(&mut tree.children(ROOT)), [Tag::Div, Tag::Hr]);
        let b = (1..tree.len()).find(|&id| tree.tag(id) == Tag::B).unwrap();
        assert_eq!(tags(&mut tree.ancestors(b)), [Tag::P, Tag::Div, Tag::Root]);
        assert_eq!(tree.node(b).depth, 3);
        assert_eq!(tags(&mut tree.descendants(b)), [Tag::Text]);
        assert_eq!((tree.text_content(1).as_str(), tree.text(b)), ("xyz", ""));
        assert_eq!(
            (tree.attr(1, Attr::Class), tree.attr(1, Attr::Href), tree.attr(b, Attr::Id)),
            (Some("c"), None, None)
        );
    }

    #[test]
    fn a_fragment_is_no_page() {
        assert!(Tree::parse("<p>x", None).is_fragment());
        assert!(!Tree::parse("<title>t</title><p>x", None).is_fragment());
        assert!(!Tree::parse(&"x ".repeat(MAX_FRAGMENT), None).is_fragment());
    }

    #[test]
    fn a_page_of_little_but_tags_is_dense() {
        let dense = Tree::parse(&"<p>a".repeat(MIN_DENSE), None);
        assert!(dense.is_dense(32) && !dense.is_dense(1));
        assert!(!Tree::parse(&"<p>a".repeat(100), None).is_dense(32));
    }
}
