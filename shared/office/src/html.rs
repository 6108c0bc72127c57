//! An HTML page, written from the paragraphs of a document.

use std::{fmt::Write, mem};

/// Adds `text` to `out` within the elements of `marks` that are set; blank text has none.
pub(crate) fn push_marked(out: &mut String, text: &str, marks: &[(bool, &str)]) {
    let is_blank = text.trim().is_empty();
    let marks = marks.iter().filter(|(is_set, _)| *is_set && !is_blank);
    marks.clone().for_each(|(_, tag)| _ = write!(out, "<{tag}>"));
    out.push_str(text);
    marks.rev().for_each(|(_, tag)| _ = write!(out, "</{tag}>"));
}

/// Text above or below the line, which without its mark would say something else: 2⁷ would be 27.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shift {
    #[default]
    None,
    Above,
    Below,
}

impl Shift {
    /// The marks for [`push_marked`].
    pub(crate) fn marks(self) -> [(bool, &'static str); 2] {
        [(self == Self::Above, "sup"), (self == Self::Below, "sub")]
    }
}

/// An HTML page that is being written.
#[derive(Default)]
pub(crate) struct Html {
    out: String,
    lists: Vec<&'static str>,
    /// Whether a block of code is open.
    in_code: bool,
}

impl Html {
    /// Adds HTML unchanged.
    pub(crate) fn raw(&mut self, html: &str) {
        self.close_lists(0);
        self.out.push_str(html);
    }

    /// Adds a block element; an empty one is ignored.
    pub(crate) fn block(&mut self, tag: &str, html: &str) {
        self.close_lists(0);
        if !html.trim().is_empty() {
            _ = writeln!(self.out, "<{tag}>{html}</{tag}>");
        }
    }

    /// Adds a list item at nesting depth `level`.
    pub(crate) fn item(&mut self, level: usize, ordered: bool, html: &str) {
        let tag = if ordered { "ol" } else { "ul" };
        let depth = level.min(8) + 1;
        self.close_lists(depth);
        if self.lists.len() == depth && self.lists[depth - 1] != tag {
            self.close_lists(depth - 1);
        }
        if self.lists.len() == depth {
            self.out.push_str("</li>\n<li>");
        }
        while self.lists.len() < depth {
            _ = write!(self.out, "<{tag}><li>");
            self.lists.push(tag);
        }
        self.out.push_str(html);
    }

    /// Continues the previous item, or adds a paragraph if there is none.
    pub(crate) fn more(&mut self, html: &str) {
        if self.lists.is_empty() {
            return self.block("p", html);
        }
        _ = write!(self.out, "<p>{html}</p>");
    }

    /// Adds a line of code; consecutive lines form one block.
    pub(crate) fn code(&mut self, line: &str) {
        if !self.in_code {
            self.close_lists(0);
            self.out.push_str("<pre><code>");
            self.in_code = true;
        }
        self.out.push_str(line);
        self.out.push('\n');
    }

    /// Adds the speaker's notes of a slide as a quotation, if there are any. They are not on the slide, and a heading
    /// above them would be one more in the outline.
    pub(crate) fn notes(&mut self, notes: Self) {
        let notes = notes.finish();
        if !notes.trim().is_empty() {
            self.block("blockquote", &format!("<p>Notes:</p>\n{notes}"));
        }
    }

    fn close_lists(&mut self, depth: usize) {
        if mem::take(&mut self.in_code) {
            self.out.push_str("</code></pre>\n");
        }
        while self.lists.len() > depth {
            let tag = self.lists.pop().unwrap_or_default();
            _ = writeln!(self.out, "</li></{tag}>");
        }
    }

    pub(crate) fn finish(mut self) -> String {
        self.close_lists(0);
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_nested_and_blank_text_has_none() {
        let mut out = String::new();
        push_marked(&mut out, "a", &[(true, "b"), (false, "i"), (true, "u")]);
        push_marked(&mut out, " ", &[(true, "b")]);
        push_marked(&mut out, "7", &Shift::Above.marks());
        assert_eq!(out, "<b><u>a</u></b> <sup>7</sup>");
    }

    #[test]
    fn items_open_and_close_the_lists_around_them() {
        let mut html = Html::default();
        html.item(0, false, "a");
        html.item(1, true, "b");
        html.item(0, false, "c");
        html.more("d");
        html.item(0, true, "e");
        html.block("p", " ");
        html.block("p", "f");
        let expected = "<ul><li>a<ol><li>b</li></ol>\n</li>\n<li>c<p>d</p></li></ul>\n<ol><li>e</li></ol>\n<p>f</p>\n";
        assert_eq!(html.finish(), expected);
    }

    #[test]
    fn lines_of_code_form_one_block() {
        let mut html = Html::default();
        html.code("a");
        html.code("b");
        html.more("c");
        assert_eq!(html.finish(), "<pre><code>a\nb\n</code></pre>\n<p>c</p>\n");
    }

    #[test]
    fn notes_without_text_are_left_out() {
        let mut html = Html::default();
        html.notes(Html::default());
        let mut notes = Html::default();
        notes.block("p", "say it");
        html.notes(notes);
        assert_eq!(html.finish(), "<blockquote><p>Notes:</p>\n<p>say it</p>\n</blockquote>\n");
    }
}
