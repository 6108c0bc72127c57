//! A table of cells at positions, as Markdown: for workbooks and delimited texts.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

/// The most characters that a document's tables may take (64 MiB).
const MAX: usize = 64 << 20;

/// The cells of one table, in the order of their rows. Cell by cell: a sheet with one in each corner would be
/// memory for all between them.
#[derive(Default)]
pub(crate) struct Grid {
    rows: BTreeMap<u32, Vec<(u32, String)>>,
    columns: BTreeSet<u32>,
    taken: usize,
}

/// There are more cells than are shown.
pub(crate) struct TooMany;

impl Grid {
    /// A table after as much text as `out` has, which counts too.
    pub(crate) fn after(out: &str) -> Self {
        Self { taken: out.len(), ..Self::default() }
    }

    /// Sets a cell; of one row, from left to right. An empty one is none.
    pub(crate) fn set(&mut self, row: u32, column: u32, text: String) -> Result<(), TooMany> {
        if text.is_empty() {
            return Ok(());
        }
        self.taken += text.len();
        self.columns.insert(column);
        self.rows.entry(row).or_default().push((column, text));
        if self.taken > MAX || self.columns.len().saturating_mul(self.rows.len()) > MAX / 4 {
            return Err(TooMany);
        }
        Ok(())
    }

    /// Writes the table, the first row as its header. Rows and columns with nothing in them are left out.
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

/// The heading above the table of a sheet.
pub(crate) fn heading(name: &str, out: &mut String) {
    _ = write!(out, "## {}\n\n", escaped(name));
}

/// `text` as it stands within a cell of a table.
pub(crate) fn escaped(text: &str) -> String {
    let text = text.trim().replace('\\', "\\\\").replace('|', "\\|");
    text.split(['\r', '\n']).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("<br>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_empty_is_left_out() {
        let mut grid = Grid::default();
        for (row, column, text) in [(0, 3, "a"), (0, 9, "b|c"), (4, 3, "x\ny"), (5, 1_000_000, "")] {
            assert!(grid.set(row, column, escaped(text)).is_ok());
        }
        let mut out = String::new();
        grid.write(&mut out);
        assert_eq!(out, "| a | b\\|c |\n| --- | --- |\n| x<br>y | |\n\n");
    }

    #[test]
    fn a_table_made_to_fill_memory_is_refused() {
        let mut grid = Grid::default();
        let refused = (0..10_000).any(|at| grid.set(at, at, "x".into()).is_err());
        assert!(refused);
    }
}
