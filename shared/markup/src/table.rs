//! Markdown tables.

/// Writes rows as a Markdown table with the first row as its header; nothing if there are no cells.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let mut out = String::new();
    if columns == 0 {
        return out;
    }
    for (at, row) in rows.iter().enumerate() {
        for column in 0..columns {
            out.push_str("| ");
            if let Some(cell) = row.get(column).filter(|cell| !cell.is_empty()) {
                out.push_str(&escaped(cell));
                out.push(' ');
            }
        }
        out.push_str("|\n");
        if at == 0 {
            out.push_str(&"| --- ".repeat(columns));
            out.push_str("|\n");
        }
    }
    out
}

/// Escapes a cell and joins its lines.
fn escaped(cell: &str) -> String {
    let lines: Vec<&str> = cell.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut out = String::new();
    let mut is_escaped = false;
    for c in lines.join(" ").chars() {
        if c == '|' && !is_escaped {
            out.push('\\');
        }
        out.push(c);
        is_escaped = c == '\\' && !is_escaped;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(rows: &[&[&str]]) -> String {
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect();
        table(&rows)
    }

    #[test]
    fn short_rows_are_filled_and_a_table_without_cells_is_nothing() {
        assert_eq!(shown(&[&["a"], &["b", "", "c"], &[]]), "| a | | |\n| --- | --- | --- |\n| b | | c |\n| | | |\n");
        assert_eq!((shown(&[]), shown(&[&[], &[]])), (String::new(), String::new()));
    }

    #[test]
    fn a_cell_stays_one_cell_on_one_line() {
        for (cell, expected) in [
            ("a|b", r"a\|b"),
            (r"a\|b", r"a\|b"),
            // Two backslashes are one, and escape nothing.
            (r"a\\|b", r"a\\\|b"),
            ("||", r"\|\|"),
            (" a \r\n\n  b\n", "a b"),
        ] {
            assert_eq!(escaped(cell), expected, "{cell}");
        }
    }
}
