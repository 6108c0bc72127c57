//! Rows of delimited fields (RFC 4180), as a table.

use csv::{ReaderBuilder, Trim};

use crate::{
    Damage,
    grid::{Grid, LimitExceeded, escaped},
};

/// The possible delimiters, the most likely first.
const DELIMITERS: [u8; 4] = *b",;\t|";

/// Converts delimited rows to one Markdown table whose first row is the header. The delimiter is detected.
///
/// # Errors
///
/// [`Damage::TooManyCells`].
pub fn delimited(text: &str) -> Result<String, Damage> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .delimiter(delimiter(text))
        .from_reader(text.as_bytes());
    let mut grid = Grid::default();
    // Reading from memory fails only for invalid UTF-8, and the input is a string.
    for (row, record) in reader.records().filter_map(Result::ok).enumerate() {
        for (column, field) in record.iter().enumerate() {
            let set = grid.set(row as u32, column as u32, escaped(field));
            set.map_err(|LimitExceeded| Damage::TooManyCells { sheet: "the table".to_owned() })?;
        }
    }
    let mut out = String::new();
    grid.write(&mut out);
    Ok(out)
}

/// The delimiter with the same count in each of the first lines, or else the most frequent one in the first
/// line.
fn delimiter(text: &str) -> u8 {
    let count = |line: &str, delimiter: u8| {
        let mut quoted = false;
        line.bytes()
            .filter(|byte| {
                quoted ^= *byte == b'"';
                !quoted && *byte == delimiter
            })
            .count()
    };
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(8).collect();
    let first = |delimiter: u8| lines.first().map_or(0, |line| count(line, delimiter));
    let agrees =
        |delimiter: &u8| first(*delimiter) > 0 && lines.iter().all(|line| count(line, *delimiter) == first(*delimiter));
    let chosen = DELIMITERS.into_iter().filter(agrees).max_by_key(|delimiter| first(*delimiter));
    // For equal counts, `max_by_key` takes the last one, so the most likely delimiter is last.
    chosen.or_else(|| DELIMITERS.into_iter().rev().max_by_key(|delimiter| first(*delimiter))).unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_detected() {
        let expected = "| a | b |\n| --- | --- |\n| 1,5 | x\\|y |\n\n";
        assert_eq!(delimited("a;b\n1,5;x|y\n").unwrap(), expected);
        assert_eq!(delimited("a,b\n\"1,5\",\"x|y\"\n").unwrap(), expected);
        assert_eq!(delimited("a\tb\r\n1,5\tx|y\r\n").unwrap(), expected);
        assert_eq!(delimited("a,b\n\"1\n\n2\",3\n4").unwrap(), "| a | b |\n| --- | --- |\n| 1<br>2 | 3 |\n| 4 | |\n\n");
        assert_eq!(delimited("").unwrap(), "\n");
    }
}
