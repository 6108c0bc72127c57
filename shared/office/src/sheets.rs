//! Workbooks: each sheet as a table, read with `calamine`.

use calamine::{DataRef, Reader, Xlsx};

use crate::{
    Damage,
    grid::{Grid, LimitExceeded, escaped, heading},
    package::Package,
};

/// Converts the workbook to Markdown. Empty rows and columns are omitted.
pub(crate) fn markdown(package: Package) -> Result<String, Damage> {
    let mut book: Xlsx<_> = Xlsx::new(package.checked()?).map_err(damaged)?;
    let mut out = String::new();
    for name in book.sheet_names() {
        // Chart sheets have no cells.
        let Ok(mut cells) = book.worksheet_cells_reader(&name) else { continue };
        let mut grid = Grid::after(&out);
        while let Some(cell) = cells.next_cell().map_err(damaged)? {
            let (row, column) = cell.get_position();
            let set = grid.set(row, column, cell_text(cell.get_value()));
            set.map_err(|LimitExceeded| Damage::TooManyCells { sheet: name.clone() })?;
        }
        heading(&name, &mut out);
        grid.write(&mut out);
    }
    Ok(out)
}

fn damaged(error: calamine::XlsxError) -> Damage {
    Damage::Workbook(Box::new(error))
}

fn cell_text(value: &DataRef<'_>) -> String {
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

#[cfg(test)]
mod tests {
    use calamine::{CellErrorType, ExcelDateTime, ExcelDateTimeType};

    use super::*;

    #[test]
    fn cells_are_shown_as_a_person_reads_them() {
        let moment = |value, kind| DataRef::DateTime(ExcelDateTime::new(value, kind, false));
        let at = |value| moment(value, ExcelDateTimeType::DateTime);
        for (value, expected) in [
            (DataRef::Empty, ""),
            (DataRef::SharedString("a|b\nc"), "a\\|b<br>c"),
            (DataRef::String("x|y".into()), "x\\|y"),
            (DataRef::Int(-3), "-3"),
            (DataRef::Float(0.1), "0.1"),
            (DataRef::Float(1e3), "1000"),
            (DataRef::Bool(true), "true"),
            (DataRef::Error(CellErrorType::Div0), "#DIV/0!"),
            (at(45_658.0), "2025-01-01"),
            (at(45_658.5), "2025-01-01 12:00:00"),
            (at(0.75), "18:00:00"),
            // A duration of more than a day is not a date.
            (moment(1.5, ExcelDateTimeType::TimeDelta), "1.5"),
        ] {
            assert_eq!(cell_text(&value), expected, "{value:?}");
        }
    }
}
