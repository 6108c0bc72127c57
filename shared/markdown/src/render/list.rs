//! Lists and their items.

use std::ops::Range;

use super::{Renderer, lines::Container};
use crate::{
    tag::{Attr, Tag},
    tree::Id,
};

impl Renderer<'_> {
    /// Writes a list.
    pub(super) fn list(&mut self, id: Id) {
        if self.arranges_sections(id) {
            return self.sections(id);
        }
        let ordered = self.tree.tag(id) == Tag::Ol;
        let start = self.tree.attr(id, Attr::Start).and_then(|start| start.trim().parse().ok()).unwrap_or(1_u32);
        // Two lists in a row would run into one: the second takes the other marker.
        let second =
            matches!(self.last_list, Some((last, second)) if !second && (self.tree.tag(last) == Tag::Ol) == ordered);
        let mut number = start.min(999_999_999);
        let mut first = true;
        let mut spread = false;
        let mut ends = vec![];
        let mut rest = self.tree.descendants(id);
        while let Some(nodes) = self.next_item(rest.clone()) {
            rest.start = nodes.end;
            if !first {
                ends.push(self.lines.position());
                self.lines.tight();
            }
            let marker = match (ordered, second) {
                (true, false) => format!("{number}. "),
                (true, true) => format!("{number}) "),
                (false, false) => "- ".to_owned(),
                (false, true) => "* ".to_owned(),
            };
            let item = nodes.start;
            match self.tree.tag(item) {
                _ if self.notes.notes.contains_key(&item) => {
                    self.block(item);
                    spread = true;
                }
                // A list right inside a list belongs to the item before it.
                Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir => {
                    let indent = " ".repeat(marker.len());
                    self.lines.open(&Container::Item(if first { &marker } else { &indent }));
                    self.list(item);
                    spread |= self.lines.close();
                }
                tag => {
                    self.lines.open(&Container::Item(&marker));
                    self.last_list = None;
                    match tag {
                        Tag::Li => self.item(item),
                        _ => self.flow(nodes),
                    }
                    spread |= self.lines.close();
                    number = (number + 1).min(999_999_999);
                }
            }
            first = false;
        }
        if spread {
            self.lines.spread(&ends);
        }
        if !first {
            self.lines.blank();
            self.last_list = Some((id, second));
        }
    }

    /// Whether a list only arranges sections: most of its items begin with a heading, which begins a line of its own.
    /// Javadoc and Groovydoc name such lists, which are in each other.
    fn arranges_sections(&self, id: Id) -> bool {
        if self.everything && self.tree.is_fragment() {
            return false;
        }
        if !self.everything && self.is_block_list(id) {
            return true;
        }
        let (mut items, mut sections) = (0, 0);
        for item in self.children(id).filter(|&item| self.tree.tag(item) == Tag::Li && self.shows(item)) {
            items += 1;
            sections += usize::from(self.is_section(item));
        }
        sections * 2 > items
    }

    /// Whether Javadoc before Java 9, or Groovydoc, arranges sections with a list or an item.
    pub(super) fn is_block_list(&self, id: Id) -> bool {
        ["blockList", "blockListLast"].iter().any(|name| self.has_class(id, name))
    }

    /// Whether an item has a heading outside of the lists and quotes in it.
    fn is_section(&self, item: Id) -> bool {
        let inside = self.tree.descendants(item);
        let mut at = inside.start;
        while at < inside.end {
            let tag = self.tree.tag(at);
            if tag.heading_level().is_some() && self.visible(at) && self.has_content(at) {
                return true;
            }
            let is_apart = matches!(tag, Tag::Ul | Tag::Ol | Tag::Blockquote | Tag::Pre | Tag::Table);
            at = if is_apart || !self.visible(at) { self.tree.subtree(at).end } else { at + 1 };
        }
        false
    }

    /// Writes the items of a list as blocks.
    fn sections(&mut self, id: Id) {
        for child in self.siblings(self.tree.descendants(id)) {
            self.last_list = None;
            match self.tree.tag(child) {
                Tag::Li if !self.notes.notes.contains_key(&child) => self.blocks(child),
                _ => self.flow(self.tree.subtree(child)),
            }
        }
        self.last_list = None;
    }

    /// The next item of a list; text outside of an item makes one, with the inline elements beside it.
    fn next_item(&self, range: Range<Id>) -> Option<Range<Id>> {
        let mut item: Option<Range<Id>> = None;
        for child in self.siblings(range) {
            let breaks = self.breaks_line(child);
            match &mut item {
                Some(_) if breaks => break,
                Some(item) => item.end = self.tree.subtree(child).end,
                None if self.tree.tag(child) == Tag::Li || self.shows(child) => {
                    item = Some(self.tree.subtree(child));
                    if breaks {
                        break;
                    }
                }
                None => {}
            }
        }
        item
    }

    /// Writes the content of a list item: a list follows the text without a blank line.
    pub(super) fn item(&mut self, id: Id) {
        let start = self.lines.position();
        let inside = self.tree.descendants(id);
        let mut run = inside.clone();
        for child in self.siblings(inside.clone()) {
            if !self.breaks_line(child) {
                continue;
            }
            run.end = child;
            self.paragraph(run);
            run = self.tree.subtree(child).end..inside.end;
            let starts_at_one = self.tree.attr(child, Attr::Start).is_none_or(|start| start.trim() == "1");
            let listing = matches!(self.tree.tag(child), Tag::Ul | Tag::Ol) && starts_at_one;
            if listing && self.lines.position() > start && self.last_list.is_none() && self.begins(child) {
                self.lines.tight();
            }
            self.block(child);
        }
        self.paragraph(run);
    }

    /// Whether the first item of a list has content: a `-` alone below a text would make that a heading.
    fn begins(&self, list: Id) -> bool {
        self.children(list)
            .find(|&item| self.tree.tag(item) == Tag::Li || self.shows(item))
            .is_some_and(|item| self.shows(item))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{rendered, rendered_content};

    #[test]
    fn the_lists_of_javadoc_are_layout() {
        let page = "<ul class=blockList><li class=blockList><ul class=blockList><li class=blockList><h3>a</h3><ul \
            class=blockListLast><li class=blockList><h4>b</h4><pre>int b()</pre><p>c<ul><li>d</ul></ul></ul></ul>";
        assert_eq!(rendered_content(page), "### a\n\n#### b\n\n```java\nint b()\n```\n\nc\n\n- d\n");
    }

    #[test]
    fn a_list_of_sections_is_layout() {
        let page = "<ul><li><section><h3>a</h3>b</section><li><div><h3>c</h3><ul><li>d</ul></div></ul>";
        assert_eq!(rendered_content(page), "### a\n\nb\n\n### c\n\n- d\n");
        assert!(rendered(page).starts_with("- ### a"));
        assert_eq!(rendered_content("<ul><li>a<li>b<li><h3>c</h3></ul>"), "- a\n- b\n- ### c\n");
        let around = "<ul><li><h2>a</h2><ul><li><h3>b</h3>c</ul></ul>";
        assert_eq!(rendered_content(around), "## a\n\n### b\n\nc\n");
    }

    #[test]
    fn lists_in_a_row_have_different_markers() {
        assert_eq!(rendered("<ul><li>a</ul><ul><li>b</ul><ul><li>c</ul>"), "- a\n\n* b\n\n- c\n");
        assert_eq!(rendered("<ol><li>a</ol><ol><li>b</ol>"), "1. a\n\n1) b\n");
    }

    #[test]
    fn one_spread_item_spreads_the_list() {
        assert_eq!(rendered("<ul><li>a<li><p>b<p>c<li>d</ul>"), "- a\n\n- b\n\n  c\n\n- d\n");
    }

    #[test]
    fn content_outside_of_items_is_an_item() {
        assert_eq!(rendered("<ul>a <b>b</b><li>c<ul><li>d</ul></ul>"), "- a **b**\n- c\n  - d\n");
        assert_eq!(rendered("<ul><li>a</li><ul><li>b</ul></ul>"), "- a\n  - b\n");
    }

    #[test]
    fn numbers_begin_where_the_list_says() {
        assert_eq!(rendered("<ol start=9><li>a<li>b</ol>"), "9. a\n10. b\n");
        assert_eq!(rendered("<ol start=x><li>a</ol>"), "1. a\n");
    }
}
