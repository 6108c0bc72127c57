//! Grids: the tables that Javadoc makes of `<div>`s.

use super::Renderer;
use crate::{
    tag::{Attr, Tag},
    tree::Id,
};

impl Renderer<'_> {
    pub(super) fn has_class(&self, id: Id, name: &str) -> bool {
        self.tree.attr(id, Attr::Class).is_some_and(|class| class.split_ascii_whitespace().any(|class| class == name))
    }

    /// Whether an element is such a grid, whose cells fit in the lines of a table.
    pub(super) fn is_grid(&self, id: Id) -> bool {
        let is_grid = ["summary-table", "details-table"].iter().any(|name| self.has_class(id, name));
        let is_too_long = |inner: Id| {
            let tag = self.tree.tag(inner);
            self.visible(inner)
                && (matches!(tag, Tag::Pre | Tag::Table | Tag::Blockquote) || tag.heading_level().is_some())
        };
        !self.everything
            && is_grid
            && self.children(id).filter(|&cell| self.begins_row(cell)).count() > 1
            && !self.tree.descendants(id).any(is_too_long)
    }

    fn begins_row(&self, cell: Id) -> bool {
        self.has_class(cell, "col-first")
    }

    /// Writes a grid as a table; its first row is the header.
    pub(super) fn grid(&mut self, id: Id) {
        let mut rows: Vec<Vec<String>> = vec![];
        for cell in self.children(id) {
            if self.tree.tag(cell) != Tag::Div {
                continue;
            }
            if rows.is_empty() || self.begins_row(cell) {
                rows.push(vec![]);
            }
            let text = self.cell(cell);
            if let Some(row) = rows.last_mut() {
                row.push(text);
            }
        }
        let width = rows.iter().map(Vec::len).max().unwrap_or(0);
        self.last_list = None;
        for (at, row) in rows.iter().enumerate() {
            self.lines.line(&format!("| {} |{}", row.join(" | "), "  |".repeat(width - row.len())));
            if at == 0 {
                self.lines.line(&format!("|{}", " --- |".repeat(width)));
            }
        }
        self.lines.blank();
    }
}

#[cfg(test)]
mod tests {
    use super::super::rendered_content;

    #[test]
    fn a_grid_is_a_table() {
        let row =
            |first: &str, second: &str| format!("<div class=col-first>{first}</div><div class=col-last>{second}</div>");
        let grid =
            |cells: &str| rendered_content(&format!("<div class='summary-table two-column-summary'>{cells}</div>"));
        let head = row("Method", "Description");
        let body = row("<code>int</code>", "<div class=block>the\n height</div>");
        assert_eq!(grid(&(head.clone() + &body)), "| Method | Description |\n| --- | --- |\n| `int` | the height |\n");
        assert_eq!(grid(&(head.clone() + &row("a", "<pre>b</pre>"))), "Method\n\nDescription\n\na\n\n```\nb\n```\n");
        assert_eq!(grid(&head), "Method\n\nDescription\n");
    }
}
