//! Tables of reStructuredText: drawn with characters, written as lists, or as delimited fields.

use crate::lines::{dedented, indent, indented};

/// The maximum number of lines of a simple table.
const MAX_LINES: usize = 5000;

/// The cells of the table at line `at`, and the line after it.
pub(crate) fn table(lines: &[&str], at: usize) -> Option<(Vec<Vec<String>>, usize)> {
    let line = lines[at];
    if line.starts_with("+-") || line.starts_with("+=") {
        return grid(lines, at);
    }
    let is_border =
        |line: &str| line.contains(' ') && line.starts_with("==") && line.chars().all(|c| matches!(c, '=' | ' '));
    if is_border(line) { simple(lines, at, is_border) } else { None }
}

/// A grid table. A cell that spans several columns is put into the first of them.
fn grid(lines: &[&str], at: usize) -> Option<(Vec<Vec<String>>, usize)> {
    let count = lines[at..].iter().take_while(|line| line.starts_with(['+', '|'])).count();
    let part = &lines[at..at + count];
    // Columns are counted in characters, and a border line is ASCII.
    let edges: Vec<usize> = part[0].chars().enumerate().filter(|(_, c)| *c == '+').map(|(at, _)| at).collect();
    if count < 3 || edges.len() < 2 {
        return None;
    }
    let mut rows: Vec<Vec<String>> = vec![];
    let mut open = false;
    for line in &part[1..] {
        let is_border = line.starts_with('+') && line.chars().all(|c| matches!(c, '+' | '-' | '=' | ' '));
        if is_border {
            open = false;
            continue;
        }
        if !open {
            rows.push(vec![String::new(); edges.len() - 1]);
            open = true;
        }
        let characters: Vec<char> = line.chars().collect();
        let mut column = 0;
        let Some(row) = rows.last_mut() else { continue };
        while column + 1 < edges.len() {
            // Up to the next edge that has a vertical line in this row.
            let end = (column + 1..edges.len())
                .find(|end| characters.get(edges[*end]).is_none_or(|c| matches!(c, '|' | '+')));
            let end = end.unwrap_or(edges.len() - 1);
            let cell: String = characters.iter().skip(edges[column] + 1).take(edges[end] - edges[column] - 1).collect();
            if !row[column].is_empty() {
                row[column].push('\n');
            }
            row[column].push_str(cell.trim());
            column = end;
        }
    }
    (!rows.is_empty()).then_some((rows, at + count))
}

/// A simple table: lines above, below the header and at the end.
fn simple(lines: &[&str], at: usize, is_border: impl Fn(&str) -> bool) -> Option<(Vec<Vec<String>>, usize)> {
    let border: Vec<char> = lines[at].chars().collect();
    let starts: Vec<usize> =
        (0..border.len()).filter(|at| border[*at] == '=' && (*at == 0 || border[at - 1] == ' ')).collect();
    // The last border is the one that is followed by a blank line or the end.
    let ends = |line: usize| lines.get(line + 1).is_none_or(|next| next.trim().is_empty());
    let end = (at + 1..lines.len().min(at + MAX_LINES)).find(|line| is_border(lines[*line]) && ends(*line))?;
    let mut rows: Vec<Vec<String>> = vec![];
    for line in &lines[at + 1..end] {
        let is_rule = line.trim().chars().all(|c| matches!(c, '=' | '-' | ' ')) && !line.trim().is_empty();
        if is_rule || line.trim().is_empty() {
            continue;
        }
        let characters: Vec<char> = line.chars().collect();
        let cells: Vec<String> = starts
            .iter()
            .enumerate()
            .map(|(column, start)| {
                let end = starts.get(column + 1).copied().unwrap_or(usize::MAX);
                characters.iter().skip(*start).take(end - start).collect::<String>().trim().to_owned()
            })
            .collect();
        // A row with an empty first cell continues the previous row.
        match rows.last_mut().filter(|_| cells[0].is_empty()) {
            Some(row) => {
                for (cell, more) in row.iter_mut().zip(cells).filter(|(_, more)| !more.is_empty()) {
                    cell.push(' ');
                    cell.push_str(&more);
                }
            }
            None => rows.push(cells),
        }
    }
    (!rows.is_empty()).then_some((rows, end + 1))
}

/// The rows of a list table.
pub(crate) fn list(lines: &[&str]) -> Vec<Vec<String>> {
    items(lines)
        .into_iter()
        .map(|row| {
            let cells = items(&row.iter().map(String::as_str).collect::<Vec<_>>());
            cells
                .into_iter()
                .map(|cell| cell.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ").trim().to_owned())
                .collect()
        })
        .collect()
}

/// The items of a list, each as its dedented lines.
fn items(lines: &[&str]) -> Vec<Vec<String>> {
    let mut found = vec![];
    let mut at = 0;
    while at < lines.len() {
        let Some(columns) = indent(lines[at]) else {
            at += 1;
            continue;
        };
        let line = lines[at].trim_start();
        let Some(first) = line
            .strip_prefix("* ")
            .or_else(|| line.strip_prefix("- "))
            .or_else(|| matches!(line, "*" | "-").then_some(""))
        else {
            at += 1;
            continue;
        };
        let (rest, end) = indented(lines, at + 1, columns);
        let mut item = vec![first.to_owned()];
        item.extend(dedented(rest).into_iter().map(str::to_owned));
        found.push(item);
        at = end.max(at + 1);
    }
    found
}

/// The comma-separated fields of a line, some in quotes.
pub(crate) fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut field, mut quoted) = (vec![], String::new(), false);
    for c in line.trim().chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(std::mem::take(&mut field).trim().to_owned()),
            c => field.push(c),
        }
    }
    fields.push(field.trim().to_owned());
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_rows_of_several_lines_and_wide_cells() {
        let lines = ["+---+---+", "| a | b |", "|   | c |", "+===+===+", "| wide  |", "+---+---+", "text"];
        let (rows, end) = table(&lines, 0).unwrap();
        assert_eq!(rows, [["a\n", "b\nc"], ["wide", ""]]);
        assert_eq!(end, 6);
        assert!(table(&["+---+", "text"], 0).is_none());
    }

    #[test]
    fn a_simple_table_has_columns_below_its_border() {
        let lines = ["===  ====", "a    b", "===  ====", "1    two", "     more", "===  ====", "", "text"];
        let (rows, end) = table(&lines, 0).unwrap();
        assert_eq!(rows, [["a", "b"], ["1", "two more"]]);
        assert_eq!(end, 6);
        assert!(table(&["===  ====", "a    b"], 0).is_none(), "it has no end");
    }

    #[test]
    fn a_list_table_has_a_list_for_each_row() {
        let lines = ["* - a", "  - b", "    c", "* - d", "  -"];
        assert_eq!(list(&lines), [vec!["a", "b c"], vec!["d", ""]]);
    }

    #[test]
    fn fields_may_be_in_quotes() {
        assert_eq!(fields(" a, \"b, c\" ,"), ["a", "b, c", ""]);
    }
}
