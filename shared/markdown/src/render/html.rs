//! Elements that stay HTML, in fragments that are converted completely.
//!
//! In a page, unknown elements are layout and are dropped. In a fragment, which was written by hand or is rendered
//! Markdown, they are kept. So are empty links, and links to addresses that renderers change.

use std::ops::Range;

use super::{Renderer, escape::Place, inline::Inline};
use crate::{
    entities::escaped,
    tag::{Attr, Tag},
    tree::{Id, ROOT},
    urls,
};

impl Renderer<'_> {
    /// The start tag and the name of an element, if it stays HTML.
    fn html(&self, id: Id) -> Option<(String, &str)> {
        if !self.everything || !self.tree.is_fragment() {
            return None;
        }
        if let Some(source) = self.tree.attr(id, Attr::Source) {
            let name = source[1..].split(|c: char| c.is_whitespace() || matches!(c, '/' | '>')).next()?;
            return Some((source.to_owned(), name));
        }
        let href = self.tree.attr(id, Attr::Href).filter(|_| self.tree.tag(id) == Tag::A && self.is_link(id))?;
        let url = urls::resolve(href, self.addresses.base)?;
        if self.has_content(id) && !url.contains(['`', '\\']) {
            return None;
        }
        let title = self.tree.attr(id, Attr::Title).map(|title| format!(" title=\"{}\"", in_quotes(title)));
        Some((format!("<a href=\"{}\"{}>", in_quotes(&url), title.unwrap_or_default()), "a"))
    }

    /// Writes an element that stays HTML within a line; returns whether it is one.
    pub(super) fn inline_html(&mut self, id: Id, inline: &mut Inline, place: Place) -> bool {
        let Some((start, name)) = self.html(id) else { return false };
        let end = format!("</{name}>");
        inline.done(&if place == Place::Cell { start.replace('|', "&#124;") } else { start });
        if self.tree.attr(id, Attr::Source).is_some() || self.has_content(id) {
            self.inline_children(id, inline, place);
        }
        inline.done(&end);
        true
    }

    /// An element that stays HTML as lines, if it is alone in its paragraph and has only text.
    pub(super) fn block_html(&self, run: Range<Id>) -> Option<String> {
        let blank = |&id: &Id| self.tree.tag(id) == Tag::Text && self.tree.text(id).trim().is_empty();
        let mut shown = self.siblings(run).filter(|id| !blank(id));
        let id = shown.next().filter(|_| shown.next().is_none())?;
        if self.tree.parent(id) != ROOT || !self.has_only_text(id) {
            return None;
        }
        let (start, name) = self.html(id).or_else(|| self.html_of_lines(id))?;
        let text = self.html_text(id);
        Some(format!("{start}\n{text}{}</{name}>", if text.is_empty() { "" } else { "\n" }))
    }

    fn has_only_text(&self, id: Id) -> bool {
        self.tree.descendants(id).all(|id| self.tree.tag(id) == Tag::Text)
    }

    /// The visible text in a node as HTML, on one line.
    pub(super) fn html_text(&self, id: Id) -> String {
        self.plain_text(id).replace('&', "&amp;").replace('<', "&lt;")
    }

    /// Whether the tags of an element stand on lines of their own, as in the HTML blocks of Markdown.
    fn is_on_lines(&self, id: Id) -> bool {
        let mut inside = self.tree.children(id);
        let first = inside.next();
        let last = inside.last().or(first);
        let [first, last] = [first, last].map(|id| id.map_or("", |id| self.tree.text(id)));
        // The end tag may be indented.
        let last = last.trim_end_matches([' ', '\t']);
        self.everything && self.tree.is_fragment() && first.starts_with('\n') && last.ends_with('\n')
    }

    /// The start tag and the name of an element within a line whose tags are on lines of their own.
    fn html_of_lines(&self, id: Id) -> Option<(String, &'static str)> {
        match self.tree.tag(id) {
            _ if !self.is_on_lines(id) => None,
            Tag::A => {
                let url = urls::resolve(self.tree.attr(id, Attr::Href)?, self.addresses.base)?;
                Some((format!("<a href=\"{}\">", in_quotes(&url)), "a"))
            }
            Tag::Del => Some(("<del>".to_owned(), "del")),
            Tag::Em => Some(("<em>".to_owned(), "em")),
            Tag::I => Some(("<i>".to_owned(), "i")),
            Tag::B => Some(("<b>".to_owned(), "b")),
            Tag::Strong => Some(("<strong>".to_owned(), "strong")),
            _ => None,
        }
    }

    /// Writes a `<div>` without attributes whose tags are on lines of their own, as an HTML block of Markdown; returns
    /// whether it is one.
    pub(super) fn html_block(&mut self, id: Id) -> bool {
        let is_bare = self.tree.attr(id, Attr::Source) == Some("<div>") && self.tree.parent(id) == ROOT;
        if !is_bare || !self.is_on_lines(id) || !self.has_content(id) {
            return false;
        }
        if self.has_only_text(id) {
            self.lines_of(&format!("<div>\n{}\n</div>", self.html_text(id)));
        } else {
            self.lines_of("<div>");
            self.blocks(id);
            self.lines_of("</div>");
        }
        true
    }

    /// Writes a table of one cell, which Markdown has no table for, as HTML; returns whether it is one.
    pub(super) fn html_table(&mut self, table: Id) -> bool {
        let mut cells = self.tree.descendants(table).filter(|&id| matches!(self.tree.tag(id), Tag::Td | Tag::Th));
        let cell = cells.next().filter(|_| cells.next().is_none());
        let Some(cell) = cell.filter(|&cell| self.is_on_lines(cell) && self.has_only_text(cell)) else { return false };
        if self.tree.parent(table) != ROOT {
            return false;
        }
        let name = if self.tree.tag(cell) == Tag::Th { "th" } else { "td" };
        let text = self.html_text(cell);
        self.lines_of(&format!("<table>\n<tr>\n<{name}>\n{text}\n</{name}>\n</tr>\n</table>"));
        true
    }
}

/// An attribute's value, on one line.
fn in_quotes(value: &str) -> String {
    escaped(value).replace('\n', "&#10;")
}

#[cfg(test)]
mod tests {
    use super::super::{rendered, rendered_content};

    #[test]
    fn unknown_elements_of_a_fragment_stay() {
        assert_eq!(rendered("<p>a <my-b>c</my-b></p>"), "a <my-b>c</my-b>\n");
        assert_eq!(rendered("<my-b>c &lt; d</my-b>"), "<my-b>\nc &lt; d\n</my-b>\n");
        assert_eq!(rendered_content("<p>a <my-b>c</my-b></p>"), "a c\n");
    }

    #[test]
    fn blocks_of_html_in_rendered_markdown_stay() {
        assert_eq!(rendered("<a href=\"x\">\n*a*\n</a>"), "<a href=\"x\">\n*a*\n</a>\n");
        assert_eq!(rendered("<del>\na\n</del>"), "<del>\na\n</del>\n");
        assert_eq!(rendered("<p>a</p><div>\n*b*\n</div>"), "a\n\n<div>\n*b*\n</div>\n");
        assert_eq!(rendered("<div>\n<p>b</p>\n</div>"), "<div>\n\nb\n\n</div>\n");
        let table = "<table>\n<tr>\n<td>\na\n</td>\n</tr>\n</table>\n";
        assert_eq!(rendered(table), table);
        assert_eq!(rendered("<table>\n  <tr>\n    <td>\n      a\n    </td>\n  </tr>\n</table>"), table);
        // What is written as part of a page.
        assert_eq!(rendered("<div class=x>\n<p>b</p>\n</div>"), "b\n");
        assert_eq!(rendered("<div><p>b</p></div>"), "b\n");
        assert_eq!(rendered_content("<div>\n<p>b</p>\n</div>"), "b\n");
        assert_eq!(rendered("<p><a href=x>\na\n</a></p>"), "[a](x)\n");
    }

    #[test]
    fn empty_links_of_a_fragment_stay() {
        assert_eq!(rendered("<p>a <a href=x title='b\nc'></a>"), "a <a href=\"x\" title=\"b&#10;c\"></a>\n");
    }
}
