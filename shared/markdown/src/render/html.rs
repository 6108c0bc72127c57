//! Elements that stay HTML, in fragments that are converted completely.
//!
//! In a page, unknown elements are layout and are dropped. In a fragment, which was written by hand or is rendered
//! Markdown, they are kept. So are empty links, and links to addresses that renderers change.

use std::ops::Range;

use super::{Renderer, escape::Place, inline::Inline};
use crate::{
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
        let url = urls::resolve(href, self.base)?;
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
        let only_text = self.tree.descendants(id).all(|id| self.tree.tag(id) == Tag::Text);
        if self.tree.parent(id) != ROOT || !only_text {
            return None;
        }
        let (start, name) = self.html(id)?;
        let text = self.plain_text(id).replace('&', "&amp;").replace('<', "&lt;");
        Some(format!("{start}\n{text}{}</{name}>", if text.is_empty() { "" } else { "\n" }))
    }
}

/// An attribute's value, on one line.
fn in_quotes(value: &str) -> String {
    value.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('\n', "&#10;")
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
    fn empty_links_of_a_fragment_stay() {
        assert_eq!(rendered("<p>a <a href=x title='b\nc'></a>"), "a <a href=\"x\" title=\"b&#10;c\"></a>\n");
    }
}
