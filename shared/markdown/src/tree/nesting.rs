//! Which elements a tag opens and closes: implied end tags and scopes of the HTML standard.

use std::ops::Range;

use super::{
    build::{Builder, Open, Sink},
    node::{Id, MAX_DEPTH, ROOT},
};
use crate::tag::Tag;

impl Builder {
    /// Opens an element, as far as the depth limit allows.
    pub(super) fn open(&mut self, id: Id, start_tag: Range<usize>) {
        self.too_deep |= self.open.len() >= MAX_DEPTH;
        if self.open.len() < MAX_DEPTH {
            self.open.push(id);
            self.start_tags.push(start_tag);
            self.open_paragraphs += usize::from(self.tree.tag(id) == Tag::P);
        }
    }

    /// Closes the innermost element.
    pub(super) fn close_top(&mut self) {
        if self.open.len() > 1
            && let Some(id) = self.open.pop()
        {
            self.start_tags.pop();
            self.tree.nodes[id].end = self.tree.nodes.len() as u32;
            self.open_paragraphs -= usize::from(self.tree.tag(id) == Tag::P);
            self.lost_formatting += usize::from(self.tree.tag(id).is_formatting());
            if self.tree.tag(id) == Tag::Svg {
                self.end_drawing(id);
            }
        }
    }

    /// Closes the innermost elements until so many are open; the root stays.
    fn close_to(&mut self, depth: usize) {
        while self.open.len() > depth.max(1) {
            self.close_top();
        }
    }

    /// Closes the elements whose end tags may be omitted before a start tag of this kind.
    pub(super) fn imply_ends(&mut self, tag: Tag) {
        if tag.ends_paragraph() && self.open_paragraphs > 0 {
            self.close_in_scope(|open| open == Tag::P, |open| open.is_table_part() || open == Tag::Button);
        }
        let list = |open: Tag| matches!(open, Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dl) || open.is_table_part();
        let rows = |open: Tag| matches!(open, Tag::Table);
        match tag {
            Tag::Li => self.close_in_scope(|open| open == Tag::Li, list),
            Tag::Dt | Tag::Dd => self.close_in_scope(|open| matches!(open, Tag::Dt | Tag::Dd), list),
            Tag::Td | Tag::Th => {
                self.close_in_scope(
                    |open| matches!(open, Tag::Td | Tag::Th | Tag::Caption),
                    |open| matches!(open, Tag::Table | Tag::Tr),
                );
            }
            Tag::Tr => self.close_in_scope(|open| matches!(open, Tag::Tr | Tag::Caption), rows),
            Tag::Tbody | Tag::Thead | Tag::Tfoot => {
                let section = |open: Tag| matches!(open, Tag::Tbody | Tag::Thead | Tag::Tfoot | Tag::Caption);
                self.close_in_scope(section, rows);
            }
            Tag::Option | Tag::Optgroup => {
                self.close_in_scope(|open| open == Tag::Option, |open| open == Tag::Select || open.is_block());
            }
            Tag::A => self.close_in_scope(|open| open == Tag::A, Tag::is_block),
            Tag::Button => self.close_in_scope(|open| open == Tag::Button, Tag::is_table_part),
            Tag::Rt | Tag::Rp => {
                self.close_in_scope(
                    |open| matches!(open, Tag::Rt | Tag::Rp),
                    |open| open == Tag::Ruby || open.is_block(),
                );
            }
            _ if tag.heading_level().is_some() && self.tree.tag(self.top()).heading_level().is_some() => {
                self.close_top();
            }
            _ => {}
        }
    }

    /// Closes the innermost open element that is `wanted`, unless a `boundary` is inside it.
    fn close_in_scope(&mut self, wanted: impl Fn(Tag) -> bool, boundary: impl Fn(Tag) -> bool) {
        for depth in (1..self.open.len()).rev() {
            let tag = self.tree.tag(self.open[depth]);
            if wanted(tag) {
                return self.close_to(depth);
            }
            if boundary(tag) {
                return;
            }
        }
    }

    /// Handles the end of the element that was opened with `open`, by an end tag called `name`. Every element
    /// that an end tag closes is reported, innermost first.
    pub(super) fn end(&mut self, open: Open, name: impl FnOnce() -> String) {
        self.unclosed -= 1;
        if matches!(open, Open::Nothing) {
            return;
        }
        self.flush();
        self.sink = Sink::None;
        let Open::Node(id) = open else { return self.end_drawn(open) };
        let (tag, ended_by) = (self.tree.tag(id), Tag::from_name(&name()));
        // An end tag in a cell closes nothing outside of the table.
        if tag.is_table_part() && !ended_by.is_table_part() {
            self.overlaps = true;
            return;
        }
        self.overlaps |= tag.is_block() && ended_by.is_formatting();
        // The standard ends a heading at the end tag of any heading: `<h2>…</h1>`.
        self.overlaps |= tag.heading_level().is_some() && tag != ended_by;
        for depth in (1..self.open.len()).rev() {
            let at = self.open[depth];
            if at == id {
                self.close_to(depth);
                self.lost_formatting -= usize::from(tag.is_formatting() && tag == ended_by);
                return;
            }
            let in_cell = matches!(self.tree.tag(at), Tag::Td | Tag::Th | Tag::Table | Tag::Caption);
            if at < id || (in_cell && !tag.is_table_part()) {
                return;
            }
        }
    }

    /// Whether a heading has no end tag, or that of another level.
    pub(super) fn is_heading_open(&self) -> bool {
        self.open.iter().any(|&id| self.tree.tag(id).heading_level().is_some())
    }

    /// Ends the page.
    pub(super) fn finish(&mut self) {
        self.flush();
        self.close_to(1);
        self.tree.nodes[ROOT].end = self.tree.nodes.len() as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::super::node::Tree;
    use super::*;

    /// The tags of a page's elements, each with its depth.
    fn depths(html: &str) -> Vec<(Tag, u8)> {
        let tree = Tree::parse_generated(html);
        let elements = (1..tree.len()).filter(|&id| tree.tag(id) != Tag::Text);
        elements.map(|id| (tree.tag(id), tree.node(id).depth)).collect()
    }

    #[test]
    fn end_tags_may_be_omitted() {
        assert_eq!(depths("<p>a<p>b<div>c"), [(Tag::P, 1), (Tag::P, 1), (Tag::Div, 1)]);
        assert_eq!(
            depths("<ul><li>a<li>b<ul><li>c"),
            [(Tag::Ul, 1), (Tag::Li, 2), (Tag::Li, 2), (Tag::Ul, 3), (Tag::Li, 4)]
        );
        assert_eq!(depths("<dl><dt>a<dd>b<dt>c"), [(Tag::Dl, 1), (Tag::Dt, 2), (Tag::Dd, 2), (Tag::Dt, 2)]);
        assert_eq!(depths("<h1>a<h2>b"), [(Tag::H1, 1), (Tag::H2, 1)]);
    }

    #[test]
    fn a_cell_has_a_row() {
        let table = [(Tag::Table, 1), (Tag::Tr, 2), (Tag::Td, 3), (Tag::Td, 3), (Tag::Tr, 2), (Tag::Td, 3)];
        assert_eq!(depths("<table><td>a<td>b<tr><td>c</table>"), table);
    }

    #[test]
    fn a_cell_is_a_scope() {
        let nested = "<p><table><tr><td></p><p>a<td>b</table>";
        let tags: Vec<Tag> = depths(nested).into_iter().map(|(tag, _)| tag).collect();
        assert_eq!(tags, [Tag::P, Tag::Table, Tag::Tr, Tag::Td, Tag::P, Tag::Td]);
    }

    #[test]
    fn the_depth_is_limited() {
        let deepest = depths(&"<div>".repeat(1000)).into_iter().map(|(_, depth)| depth).max();
        assert_eq!(deepest, Some(MAX_DEPTH as u8));
    }
}
