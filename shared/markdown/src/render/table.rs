//! Tables: pipes for data, blocks for layout.

use super::{
    Renderer,
    code::is_gutter,
    inline::{Inline, Place},
};
use crate::{
    tag::{Attr, Tag},
    tree::{Id, Tree},
};

/// The most columns that spans may stretch a table to.
const MAX_SPANNED: usize = 64;

impl Renderer<'_> {
    pub(super) fn table(&mut self, id: Id) {
        let rows = self.rows(id);
        let cells: Vec<Vec<Id>> = rows.iter().map(|&row| self.cells(row)).collect();
        // What stands in a table but not in a cell is shown before it, as browsers do.
        self.strays(id);
        let widest = cells.iter().map(Vec::len).max().unwrap_or(0);
        let has_header = self.tree.descendants(id).any(|id| self.keep[id] && self.tree.tag(id) == Tag::Th);
        if self.is_layout(id) || (widest <= 1 && !has_header) {
            for cell in cells.into_iter().flatten() {
                let numbers = self.is_line_number(cell) || is_gutter(&self.tree.text_content(cell));
                if !numbers && self.has_content(cell) {
                    self.blocks(cell);
                }
            }
            return;
        }
        self.last_list = None;
        let mut grid = self.grid(&cells);
        let width = grid.iter().map(Vec::len).max().unwrap_or(0);
        if grid.iter().flatten().all(String::is_empty) {
            return;
        }
        let header_first = cells[0].iter().any(|&cell| self.tree.tag(cell) == Tag::Th)
            || self.tree.tag(self.tree.parent(rows[0])) == Tag::Thead
            || !has_header;
        if !header_first {
            grid.insert(0, vec![]);
        }
        let mut header = std::mem::take(&mut grid[0]);
        header.resize(width, String::new());
        self.lines.line(&format!("| {} |", header.join(" | ")));
        let aligned = self.alignment(&cells, width);
        self.lines.line(&format!("| {} |", aligned.join(" | ")));
        for row in &grid[1..] {
            self.lines.line(&format!("| {} |", row.join(" | ")));
        }
        self.lines.blank();
    }

    fn strays(&mut self, id: Id) {
        let inside = |tree: &Tree, part: Id| {
            matches!(tree.tag(part), Tag::Table | Tag::Thead | Tag::Tbody | Tag::Tfoot | Tag::Tr)
        };
        let mut run = vec![];
        let mut at = id + 1;
        while at < self.tree.subtree(id).end {
            if inside(self.tree, at) {
                at += 1;
                continue;
            }
            let is_cell = matches!(self.tree.tag(at), Tag::Td | Tag::Th | Tag::Col | Tag::Colgroup);
            if !is_cell && self.visible(at) {
                run.push(at);
            }
            at = self.tree.subtree(at).end;
        }
        for id in run {
            if self.tree.tag(id).is_block() || self.has_block[id] { self.block(id) } else { self.paragraph(&[id]) }
        }
    }

    fn rows(&self, table: Id) -> Vec<Id> {
        let mut rows = vec![];
        for part in self.children(table) {
            match self.tree.tag(part) {
                Tag::Tr => rows.push(part),
                Tag::Thead | Tag::Tbody | Tag::Tfoot => {
                    rows.extend(self.children(part).filter(|&row| self.tree.tag(row) == Tag::Tr));
                }
                _ => {}
            }
        }
        rows
    }

    fn cells(&self, row: Id) -> Vec<Id> {
        self.children(row).filter(|&cell| matches!(self.tree.tag(cell), Tag::Td | Tag::Th)).collect()
    }

    /// Whether the table only arranges blocks.
    fn is_layout(&self, id: Id) -> bool {
        self.tree.attr(id, Attr::Role).is_some_and(|role| matches!(role, "presentation" | "none"))
            || self.tree.descendants(id).any(|inner| {
                self.keep[inner]
                    && (matches!(self.tree.tag(inner), Tag::Table | Tag::Pre | Tag::Blockquote)
                        || (self.tree.tag(inner).heading_level().is_some()))
            })
    }

    /// The text of every cell, spans filled with empty ones.
    fn grid(&mut self, cells: &[Vec<Id>]) -> Vec<Vec<String>> {
        // For every column, how many of the next rows a cell above still covers.
        let mut covered: Vec<u32> = vec![];
        let mut grid = vec![];
        for row in cells {
            let mut line = vec![];
            for &cell in row {
                while covered.get(line.len()).is_some_and(|rows| *rows > 0) {
                    covered[line.len()] -= 1;
                    line.push(String::new());
                }
                let span = |name| self.tree.attr(cell, name).and_then(|n| n.trim().parse::<u32>().ok()).unwrap_or(1);
                let (columns, rows) = (span(Attr::Colspan).max(1), span(Attr::Rowspan).max(1));
                let mut inline = Inline::new();
                self.inline_children(cell, &mut inline, Place::Cell);
                let mut text = self.write(inline, Place::Cell);
                for column in 0..columns as usize {
                    if column > 0 && line.len() >= MAX_SPANNED {
                        break;
                    }
                    if line.len() < MAX_SPANNED {
                        if covered.len() <= line.len() {
                            covered.resize(line.len() + 1, 0);
                        }
                        covered[line.len()] = rows - 1;
                    }
                    line.push(std::mem::take(&mut text));
                }
            }
            for rows in covered.iter_mut().skip(line.len()) {
                *rows = rows.saturating_sub(1);
            }
            grid.push(line);
        }
        grid
    }

    fn alignment(&self, cells: &[Vec<Id>], width: usize) -> Vec<&'static str> {
        let mut aligned: Vec<_> = cells.first().into_iter().flatten().map(|&cell| self.align(cell)).collect();
        aligned.resize(width.min(aligned.len().max(width)), "---");
        aligned
    }

    fn align(&self, cell: Id) -> &'static str {
        let style = self.tree.attr(cell, Attr::Style).and_then(|style| {
            let (_, value) = style.split_once("text-align")?;
            Some(value.trim_start_matches([' ', ':']).split([';', ' ', '!']).next().unwrap_or_default())
        });
        match self.tree.attr(cell, Attr::Align).or(style).unwrap_or_default().to_ascii_lowercase().as_str() {
            "left" => ":--",
            "right" => "--:",
            "center" => ":-:",
            _ => "---",
        }
    }
}
