//! A sparse table of cells, written as Markdown, for workbooks and delimited text.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

/// The maximum size in bytes of a document's tables (64 MiB).
const MAX: usize = 64 << 20;

/// The cells of one table, row by row. Only cells with content are stored, because a sheet can have one cell in
/// each corner.
#[derive(Default)]
pub(crate) struct Grid {
    rows: BTreeMap<u32, Vec<(u32, String)>>,
    columns: BTreeSet<u32>,
    taken: usize,
}

/// The table exceeds the limit.
pub(crate) struct LimitExceeded;

impl Grid {
    /// A table that is written after `out`, whose size counts towards the limit.
    pub(crate) fn after(out: &str) -> Self {
        Self { taken: out.len(), ..Self::default() }
    }

    /// Sets a cell. The cells of a row must be set from left to right. An empty text is ignored.
    pub(crate) fn set(&mut self, row: u32, column: u32, text: String) -> Result<(), LimitExceeded> {
        if text.is_empty() {
            return Ok(());
        }
        self.taken += text.len();
        self.columns.insert(column);
        self.rows.entry(row).or_default().push((column, text));
        if self.taken > MAX || self.columns.len().saturating_mul(self.rows.len()) > MAX / 4 {
            return Err(LimitExceeded);
        }
        Ok(())
    }

    /// Writes the table with the first row as its header. Empty rows and columns are omitted.
    pub(crate) fn write(self, out: &mut String) {
        for (index, cells) in self.rows.into_values().enumerate() {
            let mut cells = cells.into_iter().peekable();
            for column in &self.columns {
                out.push_str("| ");
                if let Some((_, text)) = cells.next_if(|(at, _)| at == column) {
                    out.push_str(&text);
                    out.push(' ');
                }
            }
            out.push_str("|\n");
            if index == 0 {
                out.push_str(&"| --- ".repeat(self.columns.len()));
                out.push_str("|\n");
            }
        }
        out.push('\n');
    }
}

/// Writes the heading above the table of a sheet.
pub(crate) fn heading(name: &str, out: &mut String) {
    _ = write!(out, "## {}\n\n", escaped(name));
}

/// Escapes `text` for a table cell.
pub(crate) fn escaped(text: &str) -> String {
    let text = text.trim().replace('\\', "\\\\").replace('|', "\\|");
    text.split(['\r', '\n']).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("<br>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_rows_and_columns_are_omitted() {
        let mut grid = Grid::default();
        for (row, column, text) in [(0, 3, "a"), (0, 9, "b|c"), (4, 3, "x\ny"), (5, 1_000_000, "")] {
            assert!(grid.set(row, column, escaped(text)).is_ok());
        }
        let mut out = String::new();
        grid.write(&mut out);
        assert_eq!(out, "| a | b\\|c |\n| --- | --- |\n| x<br>y | |\n\n");
    }

    #[test]
    fn a_table_over_the_limit_is_refused() {
        let mut grid = Grid::default();
        let refused = (0..10_000).any(|at| grid.set(at, at, "x".into()).is_err());
        assert!(refused);
    }
}
