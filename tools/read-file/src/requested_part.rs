//! The requested part of a text.

use ragmaker_tool::{ARGUMENT_ERROR, Bounded, Caller, Error, Next, NextWithin};

use crate::Args;

/// The requested part of a text: the lines that satisfy all of the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestedPart {
    /// The number of lines before the part, by `--offset` and `--start-line`.
    pub(crate) skip: u64,
    /// The last line, counted from 1.
    pub(crate) end: Option<u64>,
    /// The number of lines from the end.
    pub(crate) tail: Option<u64>,
    /// The maximum number of lines to return.
    pub(crate) limit: Option<u64>,
    /// Characters of the first line to leave out.
    pub(crate) column: u64,
    /// The author of the arguments, which decides about their spelling.
    pub(crate) caller: Caller,
}

impl RequestedPart {
    pub(crate) fn new(args: &Args, caller: Caller) -> Result<Self, Error> {
        let start = args.start_line.map(Bounded::get);
        let end = args.end_line.map(Bounded::get);
        for (given, name) in [(start, "--start-line"), (end, "--end-line")] {
            if given.is_some() && args.tail.is_some() {
                return Err(ARGUMENT_ERROR
                    .error(format!("--tail and {name} cannot be combined"))
                    .remedy("Use --start-line with --end-line, or --tail.")
                    .detail("argument", "--tail"));
            }
        }
        let skip = args.offset.get().max(start.map_or(0, |start| start - 1));
        if let Some(end) = end.filter(|&end| end <= skip) {
            return Err(ARGUMENT_ERROR
                .error(format!("--end-line {end} is before line {}, the first of the requested ones", skip.saturating_add(1)))
                .remedy("--start-line and --end-line count from 1, and both lines are returned. --offset is the number of lines before the first one.")
                .detail("argument", "--end-line"));
        }
        let (tail, limit) = (args.tail.map(Bounded::get), args.limit.map(Bounded::get));
        Ok(Self { skip, end, tail, limit, column: args.column_offset.get(), caller })
    }

    /// Whether the whole text is requested.
    pub(crate) fn is_all(&self) -> bool {
        *self == Self { skip: 0, end: None, tail: None, limit: None, column: 0, caller: self.caller }
    }

    /// The maximum number of lines of a part that starts after `before` lines; `None` for as many as an answer holds.
    pub(crate) fn lines_after(&self, before: u64) -> Option<u64> {
        let to_end = self.end.map(|end| end.saturating_sub(before));
        self.limit.into_iter().chain(to_end).min()
    }

    /// The arguments for the next page, after `shown` lines of a part that started after `before` lines. `within` is the
    /// number of characters of the last line that were shown, if it was cut.
    pub(crate) fn next(&self, before: u64, shown: u64, within: Option<u64>) -> NextWithin {
        let whole = if within.is_some() { shown.saturating_sub(1) } else { shown };
        let skipped = if whole == 0 { self.column } else { 0 };
        let column_offset = within.map_or(0, |column| skipped + column);
        let index = |count| usize::try_from(count).unwrap_or(usize::MAX);
        NextWithin { next: Next { offset: index(before + whole) }, column_offset: index(column_offset) }
    }

    /// `next` as its arguments are written by the caller.
    pub(crate) fn spelled(&self, next: NextWithin) -> String {
        let (offset, column) = match self.caller {
            Caller::Person => ("--offset", "--column-offset"),
            Caller::Model => ("offset", "column_offset"),
        };
        let offset = format!("{offset} {}", next.next.offset);
        // The arguments of this page stay, so that its column has to be reset.
        if next.column_offset == 0 && self.column == 0 {
            return offset;
        }
        format!("{offset} {column} {}", next.column_offset)
    }
}

#[cfg(test)]
mod tests {
    use argh::FromArgs;

    use super::*;

    /// The part that `arguments` request.
    fn part(arguments: &str) -> Result<RequestedPart, Error> {
        let arguments: Vec<&str> = ["--path", "a"].into_iter().chain(arguments.split_whitespace()).collect();
        RequestedPart::new(&Args::from_args(&["read-file"], &arguments).unwrap(), Caller::Model)
    }

    #[test]
    fn a_part_satisfies_all_arguments() {
        for (arguments, skip, limit) in [
            ("", 0, None),
            ("--offset 10 --limit 5", 10, Some(5)),
            ("--start-line 10", 9, None),
            ("--start-line 10 --end-line 12", 9, Some(3)),
            ("--end-line 12", 0, Some(12)),
            ("--start-line 10 --end-line 12 --limit 2", 9, Some(2)),
            ("--start-line 10 --end-line 12 --limit 9", 9, Some(3)),
            // A page of what `--start-line` requested, and one that starts before it.
            ("--start-line 10 --offset 11 --end-line 12", 11, Some(1)),
            ("--start-line 10 --offset 3", 9, None),
        ] {
            let part = part(arguments).unwrap();
            assert_eq!((part.skip, part.lines_after(part.skip)), (skip, limit), "{arguments}");
            assert_eq!(part.is_all(), arguments.is_empty(), "{arguments}");
        }
        let tail = part("--tail 50 --offset 60 --limit 5").unwrap();
        assert_eq!((tail.tail, tail.skip, tail.lines_after(70)), (Some(50), 60, Some(5)));
        assert!(!part("--tail 1").unwrap().is_all() && !part("--column-offset 1").unwrap().is_all());
    }

    #[test]
    fn arguments_that_no_line_satisfies_are_refused() {
        for (arguments, message) in [
            ("--start-line 3 --end-line 2", "--end-line 2 is before line 3"),
            ("--offset 2 --end-line 2", "--end-line 2 is before line 3"),
            ("--tail 1 --start-line 2", "--tail and --start-line"),
            ("--tail 1 --end-line 2", "--tail and --end-line"),
        ] {
            let error = part(arguments).unwrap_err();
            assert!(error.is(ARGUMENT_ERROR) && error.to_string().contains(message), "{arguments}: {error}");
        }
        let most = u64::MAX;
        assert!(part(&format!("--start-line {most} --end-line {most}")).is_ok());
        assert!(part(&format!("--offset {most} --end-line {most}")).is_err());
    }

    #[test]
    fn the_next_page_starts_where_this_one_ends() {
        let next = |arguments: &str, before, shown, within| {
            let next = part(arguments).unwrap().next(before, shown, within);
            (next.next.offset, next.column_offset)
        };
        assert_eq!(next("--offset 10 --limit 5", 10, 5, None), (15, 0));
        assert_eq!(next("--tail 50", 950, 20, None), (970, 0));
        // A line that was cut goes on at its column.
        let first = "--column-offset 100";
        assert_eq!(next(first, 0, 1, Some(50)), (0, 150));
        assert_eq!(next(first, 0, 3, Some(50)), (2, 50));
        assert_eq!(next(first, 0, 3, None), (3, 0));
    }

    #[test]
    fn arguments_are_spelled_for_the_caller() {
        let part = part("").unwrap();
        let next = part.next(0, 7, None);
        assert_eq!(part.spelled(next), "offset 7");
        assert_eq!(RequestedPart { caller: Caller::Person, ..part }.spelled(next), "--offset 7");
        assert_eq!(RequestedPart { column: 4, ..part }.spelled(next), "offset 7 column_offset 0");
        let within = part.next(0, 7, Some(5));
        assert_eq!(RequestedPart { caller: Caller::Person, ..part }.spelled(within), "--offset 6 --column-offset 5");
    }
}
