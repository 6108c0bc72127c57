//! Blocks: headings, code, quotes, lists, tables, details.

use super::{
    Renderer,
    escape::Place,
    inline::{Inline, Mark},
    lines::Container,
};
use crate::{tag::Tag, tree::Id};

impl Renderer<'_> {
    /// Writes a block element.
    pub(super) fn block(&mut self, id: Id) {
        let tag = self.tree.tag(id);
        if let Some(label) = self.notes.notes.remove(&id) {
            self.lines.open(&Container::Note(&label));
            self.last_list = None;
            self.item(id);
            self.lines.close();
            return;
        }
        if let Some(level) = tag.heading_level() {
            return self.heading(id, level);
        }
        match tag {
            Tag::Hr => {
                self.lines.block(if self.lines.at_marker() { "___" } else { "---" });
                self.last_list = None;
            }
            Tag::Pre | Tag::Listing | Tag::Xmp | Tag::Plaintext => self.code_block(id),
            Tag::Blockquote => {
                self.last_list = None;
                self.contain(&Container::Quote, id);
            }
            Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir => self.list(id),
            // An item without a list.
            Tag::Li => self.contain(&Container::Item("- "), id),
            Tag::Dt | Tag::Summary => {
                let mut inline = Inline::new();
                inline.open(Mark::Strong);
                self.inline_children(id, &mut inline, Place::Heading);
                inline.close();
                let text = self.write(inline, Place::Paragraph);
                self.lines_of(&text);
            }
            Tag::Table => self.table(id),
            Tag::Details => self.details(id),
            Tag::Del | Tag::S | Tag::Strike if self.has_content(id) => {
                self.lines_of("<del>");
                self.blocks(id);
                self.lines_of("</del>");
            }
            Tag::A if self.link.is_none() && self.is_link(id) => {
                self.link = Some(id);
                self.blocks(id);
                self.link = None;
            }
            _ => self.blocks(id),
        }
    }

    /// Writes a disclosure element as HTML around Markdown; one without a summary or content as blocks.
    fn details(&mut self, id: Id) {
        let summary = self.children(id).find(|&child| self.tree.tag(child) == Tag::Summary && self.has_content(child));
        let has_rest = self.children(id).any(|child| Some(child) != summary && self.shows(child));
        match summary {
            Some(summary) if has_rest => {
                // Text between tags is HTML until a blank line.
                let text = self.plain_text(summary).replace('&', "&amp;").replace('<', "&lt;");
                let (inside, summary) = (self.tree.descendants(id), self.tree.subtree(summary));
                self.lines_of(&format!("<details>\n<summary>{text}</summary>"));
                self.flow(inside.start..summary.start);
                self.flow(summary.end..inside.end);
                self.lines_of("</details>");
            }
            _ => self.blocks(id),
        }
    }

    /// Writes the content of a node in a container.
    fn contain(&mut self, container: &Container<'_>, id: Id) {
        if self.everything || self.has_content(id) {
            self.lines.open(container);
            self.blocks(id);
            self.last_list = None;
            self.lines.close();
        }
    }

    fn heading(&mut self, id: Id, level: u8) {
        let text = self.inline_text(self.tree.descendants(id), Place::Heading);
        if self.everything || !text.is_empty() {
            let marks = "#".repeat(usize::from(level));
            self.lines_of(format!("{marks} {text}").trim_end());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{rendered, rendered_content};

    #[test]
    fn headings_have_levels_and_no_line_breaks() {
        assert_eq!(rendered("<h1>a<br>b</h1><h6>c #</h6>"), "# a b\n\n###### c \\#\n");
        assert_eq!((rendered("<h2></h2>").as_str(), rendered_content("<h2></h2>").as_str()), ("##\n", ""));
    }

    #[test]
    fn details_have_a_summary_and_content() {
        assert_eq!(
            rendered("<details><summary>a &amp; b</summary>c</details>"),
            "<details>\n<summary>a &amp; b</summary>\n\nc\n\n</details>\n"
        );
        assert_eq!(rendered("<details>c</details>"), "c\n");
    }

    #[test]
    fn quotes_nest() {
        assert_eq!(rendered("<blockquote>a<blockquote>b</blockquote></blockquote>"), "> a\n>\n> > b\n");
        assert_eq!(rendered_content("a<blockquote> </blockquote>"), "a\n");
    }
}
