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
    let mut before = ' ';
    for c in lines.join(" ").chars() {
        if c == '|' && before != '\\' {
            out.push('\\');
        }
        out.push(c);
        before = c;
    }
    out
}
