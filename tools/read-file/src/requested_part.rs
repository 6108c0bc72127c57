//! The requested part of a text, in the three forms of arguments for it.

use ragmaker_tool::{ARGUMENT_ERROR, Bounded, Caller, Error};

use crate::{Args, answer::NextLines};

/// The requested part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestedPart {
    pub(crate) lines: Lines,
    /// Characters of the first line to leave out.
    pub(crate) column: u64,
    /// The author of the arguments, which decides about their spelling.
    pub(crate) caller: Caller,
}

/// The requested lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// From a line on, counted from 0, as many as a limit says or as a page takes.
    From { offset: u64, limit: Option<u64>, arguments: LineArguments },
    /// So many from the end.
    Tail(u64),
}

/// The arguments that requested the lines, and that continue them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineArguments {
    /// By `--offset` and `--limit`.
    Offset,
    /// By `--start-line`.
    StartLine,
    /// By `--start-line` or not, and `--end-line`.
    EndLine,
}

impl RequestedPart {
    pub(crate) fn new(args: &Args, caller: Caller) -> Result<Self, Error> {
        let given: Vec<&str> = [
            (args.offset.is_some(), "--offset"),
            (args.limit.is_some(), "--limit"),
            (args.start_line.is_some(), "--start-line"),
            (args.end_line.is_some(), "--end-line"),
            (args.tail.is_some(), "--tail"),
        ]
        .into_iter()
        .filter_map(|(given, name)| given.then_some(name))
        .collect();
        let conflict = |other: &str| {
            Err(ARGUMENT_ERROR
                .error(format!("{} and {other} cannot be combined", given[0]))
                .remedy("Use --offset with --limit, --start-line with --end-line, or --tail alone.")
                .detail("argument", given[0]))
        };
        let (limit, tail) = (args.limit.map(Bounded::get), args.tail.map(Bounded::get));
        let lines = match (args.offset, limit, args.start_line, args.end_line, tail) {
            (None, None, None, None, Some(tail)) => Lines::Tail(tail),
            (.., Some(_)) => return conflict("--tail"),
            (offset, limit, None, None, None) => {
                Lines::From { offset: offset.map_or(0, Bounded::get), limit, arguments: LineArguments::Offset }
            }
            (None, limit, start, None, None) => {
                let offset = start.map_or(0, |start| start.get() - 1);
                Lines::From { offset, limit, arguments: LineArguments::StartLine }
            }
            (None, None, start, Some(end), None) => {
                let start = start.map_or(1, Bounded::get);
                let Some(more) = end.get().checked_sub(start) else {
                    return Err(ARGUMENT_ERROR
                        .error(format!("--end-line {} is before --start-line {start}", end.get()))
                        .remedy("Both count from 1, and both lines are returned.")
                        .detail("argument", "--end-line"));
                };
                Lines::From {
                    offset: start - 1,
                    limit: Some(more.saturating_add(1)),
                    arguments: LineArguments::EndLine,
                }
            }
            _ => return conflict(given[given.len() - 1]),
        };
        Ok(Self { lines, column: args.column_offset.get(), caller })
    }

    /// Whether the whole text is requested.
    pub(crate) fn is_all(&self) -> bool {
        self.column == 0 && matches!(self.lines, Lines::From { offset: 0, limit: None, .. })
    }

    /// The arguments for the next page, after `shown` lines of a text of `total` lines. `within` is the number of
    /// characters of the last line that were shown, if it was cut.
    pub(crate) fn next(&self, shown: u64, total: Option<u64>, within: Option<u64>) -> NextLines {
        let whole = if within.is_some() { shown.saturating_sub(1) } else { shown };
        let column_offset = match within {
            Some(column) if whole == 0 => Some(self.column + column),
            Some(column) => Some(column),
            None => (self.column > 0).then_some(0),
        };
        let next = NextLines { column_offset, ..NextLines::default() };
        match self.lines {
            Lines::Tail(lines) => {
                let lines = total.map_or(lines, |total| lines.min(total));
                NextLines { tail: Some(lines - whole), ..next }
            }
            Lines::From { offset, arguments: LineArguments::Offset, .. } => {
                NextLines { offset: Some(offset + whole), ..next }
            }
            Lines::From { offset, limit, arguments } => {
                let start = offset + whole + 1;
                let limit = limit.filter(|_| arguments == LineArguments::EndLine);
                let end_line = limit.map(|limit| start.saturating_add(limit - 1));
                NextLines { start_line: Some(start), end_line, ..next }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn part(lines: Lines, column: u64) -> RequestedPart {
        RequestedPart { lines, column, caller: Caller::Model }
    }

    fn lines(offset: u64, limit: Option<u64>, arguments: LineArguments) -> Lines {
        Lines::From { offset, limit, arguments }
    }

    fn printed(next: NextLines) -> Value {
        serde_json::to_value(next).unwrap()
    }

    #[test]
    fn the_next_page_is_named_by_the_arguments_of_this_one() {
        for (lines, shown, expected) in [
            (lines(10, Some(5), LineArguments::Offset), 5, json!({"offset": 15})),
            (lines(9, None, LineArguments::StartLine), 5, json!({"start_line": 15})),
            (lines(9, Some(20), LineArguments::EndLine), 5, json!({"start_line": 15, "end_line": 34})),
            (Lines::Tail(50), 20, json!({"tail": 30})),
        ] {
            assert_eq!(printed(part(lines, 0).next(shown, Some(100), None)), expected, "{lines:?}");
        }
        // A text that is shorter than the tail.
        assert_eq!(printed(part(Lines::Tail(50), 0).next(2, Some(10), None)), json!({"tail": 8}));
    }

    #[test]
    fn a_line_that_was_cut_goes_on_at_its_column() {
        let first = part(lines(0, None, LineArguments::Offset), 100);
        assert_eq!(printed(first.next(1, None, Some(50))), json!({"offset": 0, "column_offset": 150}));
        assert_eq!(printed(first.next(3, None, Some(50))), json!({"offset": 2, "column_offset": 50}));
        assert_eq!(printed(first.next(3, None, None)), json!({"offset": 3, "column_offset": 0}));
    }

    #[test]
    fn arguments_are_spelled_for_the_caller() {
        let part = part(Lines::Tail(1), 0);
        let next = NextLines { start_line: Some(7), ..NextLines::default() };
        assert_eq!(next.spelled(Caller::Model), "start_line 7");
        assert_eq!(next.spelled(Caller::Person), "--start-line 7");
        let within = NextLines { end_line: Some(9), column_offset: Some(0), ..next };
        assert_eq!(within.spelled(Caller::Model), "start_line 7 end_line 9 column_offset 0");
        assert!(!part.is_all() && RequestedPart { lines: lines(0, None, LineArguments::Offset), ..part }.is_all());
    }
}
