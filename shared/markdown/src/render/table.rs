//! Tables: data tables become pipe tables, layout tables become blocks.
//!
//! A table is written row by row, so a table that is most of a page takes no more memory than its text.

use std::ops::Range;

use super::{Renderer, code::is_gutter, escape::Place, inline::Inline};
use crate::{
    tag::{Attr, Tag},
    tree::Id,
};

/// The maximum number of columns that spans may stretch a table to.
const MAX_SPANNED: usize = 64;

/// How a column is aligned.
#[derive(Clone, Copy)]
enum Align {
    Not,
    Left,
    Right,
    Center,
}

impl Align {
    /// The column's cell in the line under the header.
    fn cell(self) -> &'static str {
        match self {
            Self::Not => " --- |",
            Self::Left => " :-- |",
            Self::Right => " --: |",
            Self::Center => " :-: |",
        }
    }
}

/// The columns of the cells of a row.
#[derive(Default)]
struct Columns {
    /// For every column, how many of the next rows a cell above still covers.
    covered: Vec<u32>,
    /// The column after the last cell of the row.
    end: usize,
}

impl Columns {
    /// The columns of the next cell of the row, which covers so many columns and rows.
    fn place(&mut self, (columns, rows): (usize, u32)) -> Range<usize> {
        while let Some(rows) = self.covered.get_mut(self.end).filter(|rows| **rows > 0) {
            *rows -= 1;
            self.end += 1;
        }
        let start = self.end;
        self.end = (start + columns).min(MAX_SPANNED).max(start + 1);
        if start < MAX_SPANNED && self.covered.len() < self.end {
            self.covered.resize(self.end, 0);
        }
        for covered in self.covered.iter_mut().take(self.end).skip(start) {
            *covered = rows - 1;
        }
        start..self.end
    }

    /// Ends the row; how many columns it has.
    fn end_row(&mut self) -> usize {
        for rows in self.covered.iter_mut().skip(self.end) {
            *rows = rows.saturating_sub(1);
        }
        std::mem::take(&mut self.end)
    }
}

impl<'t> Renderer<'t> {
    pub(super) fn table(&mut self, id: Id) {
        // Content outside of cells is written before the table, as browsers show it.
        self.stray_content(id);
        let Some(first) = self.rows(id).next() else { return };
        if self.html_table(id) {
            return;
        }
        if self.is_listing(id) {
            return self.listing(id);
        }
        let widest = self.rows(id).map(|row| self.cells(row).count()).max().unwrap_or(0);
        let has_header = self.tree.descendants(id).any(|id| self.keep[id] && self.tree.tag(id) == Tag::Th);
        if self.is_layout(id) || (widest <= 1 && !has_header) {
            return self.cells_as_blocks(id);
        }
        if self.rows(id).all(|row| self.cells(row).all(|cell| self.cell(cell).is_empty())) {
            return;
        }
        self.last_list = None;
        let header_first = self.cells(first).any(|cell| self.tree.tag(cell) == Tag::Th)
            || self.tree.tag(self.tree.parent(first)) == Tag::Thead
            || !has_header;
        let (width, aligned) = self.shape(id);
        let mut columns = Columns::default();
        let mut rows = self.rows(id);
        let header = if header_first { rows.next() } else { None };
        let (header, shown) = header.map_or(("|".to_owned(), 0), |row| self.row(row, &mut columns));
        self.lines.line(&(header + &"  |".repeat(width - shown)));
        let mut line = "|".to_owned();
        line.extend(aligned.into_iter().map(Align::cell));
        self.lines.line(&line);
        for row in rows {
            let (line, _) = self.row(row, &mut columns);
            self.lines.line(&line);
        }
        self.lines.blank();
    }

    /// Whether the table puts a number before each line of code.
    fn is_listing(&self, id: Id) -> bool {
        self.rows(id).all(|row| {
            let mut cells = self.cells(row);
            cells.next().is_some_and(|cell| self.is_line_number(cell)) && cells.next().is_some()
        })
    }

    fn listing(&mut self, id: Id) {
        let mut code = String::new();
        for row in self.rows(id) {
            let text: String =
                self.cells(row).filter(|&cell| !self.is_line_number(cell)).map(|cell| self.code_text(cell)).collect();
            code.extend([text.trim_matches('\n'), "\n"]);
        }
        self.fenced(code.trim_end(), &self.language(id));
    }

    fn cells_as_blocks(&mut self, id: Id) {
        for row in self.rows(id) {
            for cell in self.cells(row) {
                let numbers = self.is_line_number(cell) || is_gutter(&self.tree.text_content(cell));
                if !numbers && self.has_content(cell) {
                    self.blocks(cell);
                }
            }
        }
    }

    fn stray_content(&mut self, id: Id) {
        let mut at = id + 1;
        while at < self.tree.subtree(id).end {
            let outer = self.tree.subtree(at);
            match self.tree.tag(at) {
                Tag::Table | Tag::Thead | Tag::Tbody | Tag::Tfoot | Tag::Tr => {
                    at += 1;
                    continue;
                }
                Tag::Td | Tag::Th | Tag::Col | Tag::Colgroup => {}
                _ if self.visible(at) => self.flow(outer.clone()),
                _ => {}
            }
            at = outer.end;
        }
    }

    /// The rows that have cells.
    fn rows(&self, table: Id) -> impl Iterator<Item = Id> + use<'t> {
        let (tree, keep) = (self.tree, self.keep);
        let kept = move |id: &Id| keep[*id];
        let rows = tree.children(table).filter(kept).flat_map(move |part| {
            let inside = match tree.tag(part) {
                Tag::Tr => tree.subtree(part),
                Tag::Thead | Tag::Tbody | Tag::Tfoot => tree.descendants(part),
                _ => part..part,
            };
            tree.siblings(inside).filter(move |&row| keep[row] && tree.tag(row) == Tag::Tr)
        });
        rows.filter(move |&row| tree.children(row).any(|cell| keep[cell] && is_cell(tree.tag(cell))))
    }

    fn cells(&self, row: Id) -> impl Iterator<Item = Id> + use<'t> {
        let tree = self.tree;
        self.children(row).filter(move |&cell| is_cell(tree.tag(cell)))
    }

    /// Whether the table only arranges blocks.
    fn is_layout(&self, id: Id) -> bool {
        self.tree.attr(id, Attr::Role).is_some_and(|role| matches!(role, "presentation" | "none"))
            || self.tree.descendants(id).any(|inner| {
                self.keep[inner]
                    && match self.tree.tag(inner) {
                        Tag::Pre => self.has_content(inner),
                        tag => matches!(tag, Tag::Table | Tag::Blockquote) || tag.heading_level().is_some(),
                    }
            })
    }

    /// How many columns the table has, and how each is aligned.
    fn shape(&self, id: Id) -> (usize, Vec<Align>) {
        let mut columns = Columns::default();
        let mut aligned = vec![];
        let mut width = 0;
        for (at, row) in self.rows(id).enumerate() {
            for cell in self.cells(row) {
                let place = columns.place(self.spans(cell));
                if at == 0 {
                    aligned.resize(place.start, Align::Not);
                    aligned.resize(place.end, self.align(cell));
                }
            }
            width = width.max(columns.end_row());
        }
        aligned.resize(width, Align::Not);
        (width, aligned)
    }

    /// How many columns and rows a cell covers.
    fn spans(&self, cell: Id) -> (usize, u32) {
        let span = |name| self.tree.attr(cell, name).and_then(|n| n.trim().parse::<u32>().ok()).unwrap_or(1).max(1);
        (span(Attr::Colspan) as usize, span(Attr::Rowspan))
    }

    /// A row as a line, and how many columns it has: those that a span covers at its end are left out.
    fn row(&mut self, row: Id, columns: &mut Columns) -> (String, usize) {
        let mut line = "|".to_owned();
        let mut shown = 0;
        for cell in self.cells(row) {
            let place = columns.place(if self.lines.is_long() { (1, 1) } else { self.spans(cell) });
            let text = self.cell(cell);
            line.push_str(&"  |".repeat(place.start - shown));
            line.extend([" ", &text, " |"]);
            shown = place.start + 1;
        }
        columns.end_row();
        (line, shown)
    }

    /// The content of a cell, on one line.
    pub(super) fn cell(&mut self, cell: Id) -> String {
        let mut inline = Inline::new();
        self.inline_children(cell, &mut inline, Place::Cell);
        self.write(inline, Place::Cell)
    }

    fn align(&self, cell: Id) -> Align {
        let style = self.tree.attr(cell, Attr::Style).and_then(|style| {
            let (_, value) = style.split_once("text-align")?;
            Some(value.trim_start_matches([' ', ':']).split([';', ' ', '!']).next().unwrap_or_default())
        });
        match self.tree.attr(cell, Attr::Align).or(style).unwrap_or_default().to_ascii_lowercase().as_str() {
            "left" => Align::Left,
            "right" => Align::Right,
            "center" => Align::Center,
            _ => Align::Not,
        }
    }
}

fn is_cell(tag: Tag) -> bool {
    matches!(tag, Tag::Td | Tag::Th)
}

#[cfg(test)]
mod tests {
    use super::{super::rendered, *};

    #[test]
    fn spans_cover_columns_of_later_rows() {
        let mut columns = Columns::default();
        assert_eq!([columns.place((2, 1)), columns.place((1, 2))], [0..2, 2..3]);
        assert_eq!(columns.end_row(), 3);
        assert_eq!([columns.place((2, 1)), columns.place((1, 1))], [0..2, 3..4]);
        assert_eq!(columns.place((1000, 1)), 4..MAX_SPANNED);
    }

    #[test]
    fn a_table_with_blocks_is_layout() {
        assert_eq!(rendered("<table><tr><td><h2>a</h2><td>b</table>"), "## a\n\nb\n");
        assert_eq!(rendered("<table role=none><tr><td>a<td>b</table>"), "a\n\nb\n");
        assert_eq!(rendered("<table><tr><td>a<td>b</table>"), "| a | b |\n| --- | --- |\n");
    }

    #[test]
    fn an_empty_code_block_makes_no_layout() {
        let table = "<table><tr><th>a<th>b<tr><td>c<td><pre></pre></table>";
        assert_eq!(rendered(table), "| a | b |\n| --- | --- |\n| c |  |\n");
    }
}
