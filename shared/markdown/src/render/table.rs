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

/// The classes of notes, or of what is around their tables.
const ADMONITIONS: [&str; 7] = ["admonition", "admonitionblock", "caution", "important", "note", "tip", "warning"];

/// The maximum number of cells of a note: a picture, a title and the text.
const MAX_ADMONITION: usize = 4;

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
        if self.rows(id).next().is_none() || self.html_table(id) {
            return;
        }
        if self.is_listing(id) {
            return self.listing(id);
        }
        if let Some((label, content)) = self.admonition(id) {
            self.label(&label);
            for cell in content {
                self.blocks(cell);
            }
            return;
        }
        if self.has_sections(id) {
            return self.sectioned_table(id);
        }
        let rows: Vec<Id> = self.rows(id).collect();
        let widest = rows.iter().map(|&row| self.cells(row).count()).max().unwrap_or(0);
        let has_header = self.tree.descendants(id).any(|id| self.keep[id] && self.tree.tag(id) == Tag::Th);
        if self.is_layout(id) || (widest <= 1 && !has_header) {
            return self.cells_as_blocks(id);
        }
        self.pipe_table(&rows);
    }

    /// Writes rows as a pipe table, unless all are empty.
    fn pipe_table(&mut self, rows: &[Id]) {
        if rows.iter().all(|&row| self.cells(row).all(|cell| self.cell(cell).is_empty())) {
            return;
        }
        self.last_list = None;
        let is_head = |&row: &Id| self.cells(row).any(|cell| self.tree.tag(cell) == Tag::Th);
        let header_first =
            is_head(&rows[0]) || self.tree.tag(self.tree.parent(rows[0])) == Tag::Thead || !rows.iter().any(is_head);
        let (width, aligned) = self.shape(rows);
        let mut columns = Columns::default();
        let (header, rows) = rows.split_at(usize::from(header_first));
        let (header, shown) = header.first().map_or(("|".to_owned(), 0), |&row| self.row(row, &mut columns));
        self.lines.line(&(header + &"  |".repeat(width - shown)));
        let mut line = "|".to_owned();
        line.extend(aligned.into_iter().map(Align::cell));
        self.lines.line(&line);
        for &row in rows {
            let (line, _) = self.row(row, &mut columns);
            // A row without content only draws a line.
            if self.everything || line.contains(|c| c != '|' && c != ' ') {
                self.lines.line(&line);
            }
        }
        self.lines.blank();
    }

    /// Whether rows that are headings divide the table, as in Doxygen's lists of members.
    fn has_sections(&self, id: Id) -> bool {
        let is_block = |inner: Id| self.keep[inner] && is_block_of_layout(self.tree.tag(inner));
        !self.everything
            && self.rows(id).any(|row| self.heading_of_row(row).is_some())
            && self.rows(id).all(|row| {
                self.heading_of_row(row).is_some()
                    || !self.tree.descendants(row).any(|inner| is_block(inner) || self.is_heading(inner))
            })
    }

    /// The cell of a row that has nothing but a heading.
    fn heading_of_row(&self, row: Id) -> Option<Id> {
        let mut cells = self.cells(row).filter(|&cell| self.has_content(cell));
        let cell = cells.next().filter(|_| cells.next().is_none())?;
        let first = self.children(cell).find(|&child| self.shows(child))?;
        self.is_heading(first).then_some(cell)
    }

    fn is_heading(&self, id: Id) -> bool {
        self.keep[id] && self.tree.tag(id).heading_level().is_some()
    }

    /// Writes the headings of a table, and the rows between them as tables.
    fn sectioned_table(&mut self, id: Id) {
        let mut rows = vec![];
        for row in self.rows(id) {
            match self.heading_of_row(row) {
                Some(heading) => {
                    self.pipe_table(&std::mem::take(&mut rows));
                    self.blocks(heading);
                }
                None => rows.push(row),
            }
        }
        self.pipe_table(&rows);
    }

    /// The label and the content of a note whose table only puts a picture or a label beside it, as AsciiDoc and
    /// DocBook write it.
    fn admonition(&self, id: Id) -> Option<(String, Vec<Id>)> {
        let around = [id, self.tree.parent(id)];
        let is_marked = |name: &str| around.iter().any(|&id| self.has_class(id, name));
        if self.everything || !ADMONITIONS.iter().any(|name| is_marked(name)) {
            return None;
        }
        let cells: Vec<Id> = self.rows(id).flat_map(|row| self.cells(row)).take(MAX_ADMONITION + 1).collect();
        let (&first, rest) = cells.split_first().filter(|(_, rest)| (1..MAX_ADMONITION).contains(&rest.len()))?;
        let image = self.tree.descendants(first).find(|&id| self.tree.tag(id) == Tag::Img);
        let alternative = image.and_then(|id| self.tree.attr(id, Attr::Alt)).unwrap_or_default();
        let text = self.plain_text(first);
        let label = if text.is_empty() { alternative.trim_matches(['[', ']', ' ']) } else { &text };
        let is_content = |&cell: &Id| self.has_content(cell) && !self.plain_text(cell).eq_ignore_ascii_case(label);
        let is_label = !label.is_empty() && label.split_whitespace().count() <= 2;
        is_label.then(|| (label.to_owned(), rest.iter().copied().filter(is_content).collect()))
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
                let tag = self.tree.tag(inner);
                let is_empty = || tag == Tag::Pre && !self.has_content(inner);
                self.is_heading(inner) || (self.keep[inner] && is_block_of_layout(tag) && !is_empty())
            })
    }

    /// How many columns the table has, and how each is aligned.
    fn shape(&self, rows: &[Id]) -> (usize, Vec<Align>) {
        let mut columns = Columns::default();
        let mut aligned = vec![];
        let mut width = 0;
        for (at, &row) in rows.iter().enumerate() {
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

/// Whether a table with such an element in it only arranges blocks.
fn is_block_of_layout(tag: Tag) -> bool {
    matches!(tag, Tag::Pre | Tag::Table | Tag::Blockquote)
}

fn is_cell(tag: Tag) -> bool {
    matches!(tag, Tag::Td | Tag::Th)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{rendered, rendered_content},
        *,
    };

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
    fn a_note_with_a_picture_beside_it_is_no_table() {
        let note = "<div class=admonitionblock><table><tr><td class=icon><div class=title>Note</div><td><p>a<p>b</table></div>";
        assert_eq!(rendered_content(note), "**Note**\n\na\n\nb\n");
        assert!(rendered(note).starts_with("| Note |"));
        let note = "<div class=note><table summary=Note><tr><td rowspan=2><img src=n.png alt='[Note]'><th>Note\
            <tr><td><p>a</table></div>";
        assert_eq!(rendered_content(note), "**Note**\n\na\n");
        let data = "<div class=note><table><tr><td>a b c<td>d</table></div>";
        assert_eq!(rendered_content(data), "| a b c | d |\n| --- | --- |\n");
    }

    #[test]
    fn headings_divide_a_table() {
        let row = |name: &str| format!("<tr><td>class<td>{name}<tr><td>&nbsp;<td>&nbsp;");
        let head = |name: &str| format!("<tr><td colspan=2><h2><a id=x></a>{name}</h2>");
        let table = format!("<table>{}{}{}{}</table>", head("a"), row("b") + &row("c"), head("d"), row("e"));
        let expected = "## a\n\n| class | b |\n| --- | --- |\n| class | c |\n\n## d\n\n| class | e |\n| --- | --- |\n";
        assert_eq!(rendered_content(&table), expected);
        assert_eq!(rendered_content("<table><tr><td><h2>a</h2><p>b<td>c</table>"), "## a\n\nb\n\nc\n");
    }

    #[test]
    fn an_empty_row_is_left_out() {
        let table = "<table><tr><th>a<th>b<tr><td>c<td>d<tr><td><td></table>";
        assert_eq!(rendered_content(table), "| a | b |\n| --- | --- |\n| c | d |\n");
        assert!(rendered(table).ends_with("|  |  |\n"));
    }

    #[test]
    fn an_empty_code_block_makes_no_layout() {
        let table = "<table><tr><th>a<th>b<tr><td>c<td><pre></pre></table>";
        assert_eq!(rendered(table), "| a | b |\n| --- | --- |\n| c |  |\n");
    }
}
