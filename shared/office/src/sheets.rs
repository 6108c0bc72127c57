//! A workbook: each sheet as a table, by `calamine`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use calamine::{DataRef, Reader, Xlsx};

use crate::{Damage, package::Package};

/// The most characters that a workbook may take (64 MiB).
const MAX: usize = 64 << 20;

/// The workbook as Markdown. Rows and columns with nothing in them are left out.
pub(crate) fn markdown(package: Package) -> Result<String, Damage> {
    let mut book: Xlsx<_> = Xlsx::new(package.checked()?).map_err(damaged)?;
    let mut out = String::new();
    for name in book.sheet_names() {
        // Chart sheets have no cells.
        let Ok(mut cells) = book.worksheet_cells_reader(&name) else { continue };
        // Cell by cell: a sheet with one in each corner would be memory for all between them.
        let mut rows: BTreeMap<u32, Vec<(u32, String)>> = BTreeMap::new();
        let (mut columns, mut taken) = (BTreeSet::new(), out.len());
        while let Some(cell) = cells.next_cell().map_err(damaged)? {
            let text = shown(cell.get_value());
            if text.is_empty() {
                continue;
            }
            let (row, column) = cell.get_position();
            taken += text.len();
            columns.insert(column);
            rows.entry(row).or_default().push((column, text));
            if taken > MAX || columns.len().saturating_mul(rows.len()) > MAX / 4 {
                return Err(Damage::TooManyCells { sheet: name });
            }
        }
        _ = write!(out, "## {}\n\n", escaped(&name));
        let columns: Vec<u32> = columns.into_iter().collect();
        for (index, cells) in rows.into_values().enumerate() {
            let mut cells = cells.into_iter().peekable();
            for column in &columns {
                out.push_str("| ");
                if let Some((_, text)) = cells.next_if(|(at, _)| at == column) {
                    out.push_str(&text);
                    out.push(' ');
                }
            }
            out.push_str("|\n");
            if index == 0 {
                out.push_str(&"| --- ".repeat(columns.len()));
                out.push_str("|\n");
            }
        }
        out.push('\n');
    }
    Ok(out)
}

fn damaged(error: calamine::XlsxError) -> Damage {
    Damage::Workbook(Box::new(error))
}

fn shown(value: &DataRef<'_>) -> String {
    match value {
        DataRef::Empty => String::new(),
        DataRef::SharedString(text) => escaped(text),
        DataRef::DateTime(moment) if moment.is_datetime() => {
            let (year, month, day, hour, minute, second, _) = moment.to_ymd_hms_milli();
            let time = format!("{hour:02}:{minute:02}:{second:02}");
            match moment.as_f64() {
                value if value < 1.0 => time,
                value if value.fract() == 0.0 => format!("{year:04}-{month:02}-{day:02}"),
                _ => format!("{year:04}-{month:02}-{day:02} {time}"),
            }
        }
        DataRef::DateTime(duration) => duration.as_f64().to_string(),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => escaped(text),
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number.to_string(),
        DataRef::Bool(value) => value.to_string(),
        DataRef::Error(error) => error.to_string(),
    }
}

/// `text` as it stands within a cell of a table.
fn escaped(text: &str) -> String {
    let text = text.trim().replace('\\', "\\\\").replace('|', "\\|");
    text.split(['\r', '\n']).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("<br>")
}
