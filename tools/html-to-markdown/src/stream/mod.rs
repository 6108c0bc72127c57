//! Many pages from one stream: `--jsonl` and `--warc`.
//!
//! A stage of a pipeline (Spark, Ray, datatrove, GNU parallel) starts one process and sends it all its pages,
//! so that a page costs no process. Each input record has one line of JSON in the output, in the same order. An
//! error of a page becomes a record with `error`. Only a damaged stream ends the process.

mod codes;
mod compression;
mod data;
mod http;
mod lines;
mod members;
mod pool;
mod record;
mod warc;

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    time::Duration,
};

use ragmaker_tool::{Bounded, Code, Error, OUTPUT_ERROR, counted, json::Charset};

pub(crate) use codes::{INVALID_RECORD, PAGE_TIMEOUT};
pub use record::Content;

use pool::Pool;
use record::{Converter, Item, OutputLine};

/// More records failed than `--max-failures` allows.
pub const TOO_MANY_FAILURES: Code =
    Code::new("TOO_MANY_FAILURES", "Look at the error of the failed records, or raise --max-failures.");
/// The input is truncated or damaged.
pub const INPUT_BROKEN: Code =
    Code::new("INPUT_BROKEN", "Check that the input is complete. The records before the damage were converted.");

/// The number of pages that are converted in parallel. Each has a thread, and up to three pages in memory.
pub type Jobs = Bounded<1, 256>;

/// The format of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputFormat {
    /// A JSON object on each line.
    JsonLines,
    /// WARC records.
    Warc {
        /// Whether responses of any HTTP status are converted, not only those with 200.
        any_status: bool,
    },
}

/// The settings of a stream.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The format of the input.
    pub form: InputFormat,
    /// The part of each page that is converted.
    pub content: Content,
    /// The number of pages that are converted in parallel.
    pub jobs: Jobs,
    /// The time limit for a page.
    pub timeout: Duration,
    /// The largest page, in bytes.
    pub max_bytes: usize,
    /// The number of failures after which the stream is aborted.
    pub max_failures: Option<usize>,
}

/// The reason why a stream ends before its input.
enum Stop {
    Input(io::Error),
    Output(io::Error),
    Failures(usize),
}

/// Converts the records of `input` and writes them to `out`, each as soon as it is done.
///
/// # Errors
///
/// [`INPUT_BROKEN`], [`TOO_MANY_FAILURES`] and [`OUTPUT_ERROR`]. A pipe that its reader has closed is not a failure.
pub fn convert(input: impl Read + Send + 'static, mut out: impl Write, settings: Settings) -> Result<(), Error> {
    let Settings { form, content, jobs, timeout, max_bytes, max_failures } = settings;
    let input = BufReader::with_capacity(1 << 16, input);
    let mut failures = 0;
    let write = |output: OutputLine| {
        out.write_all(&output.line).and_then(|()| out.flush()).map_err(Stop::Output)?;
        failures += usize::from(output.failed);
        if max_failures.is_some_and(|most| failures > most) { Err(Stop::Failures(failures)) } else { Ok(()) }
    };
    let pool = Pool { jobs: jobs.index(), timeout };
    let converter = Converter { content, max_bytes, charset: Charset::from_env() };
    let records = records(input, form, max_bytes).map_err(Stop::Input);
    match records.and_then(|records| pool.run(records, converter, write)) {
        Ok(()) => Ok(()),
        Err(Stop::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(Stop::Output(error)) => Err(OUTPUT_ERROR.error(format!("cannot write the records: {error}"))),
        Err(Stop::Input(error)) => Err(INPUT_BROKEN.error(format!("the rest of the input cannot be read: {error}"))),
        Err(Stop::Failures(failures)) => {
            Err(TOO_MANY_FAILURES.error(format!("{} failed", counted(failures, "record"))).detail("failures", failures))
        }
    }
}

/// The records of the input.
fn records(
    input: impl BufRead + Send + 'static,
    form: InputFormat,
    max_bytes: usize,
) -> io::Result<Box<dyn Iterator<Item = io::Result<Item>> + Send>> {
    Ok(match form {
        InputFormat::JsonLines => {
            let text = compression::without_bom(compression::decoded(input)?)?;
            Box::new(lines::InputLines::new(text, max_bytes))
        }
        InputFormat::Warc { any_status } => {
            let records = warc::Records::new(input, any_status, max_bytes)?;
            Box::new(records.map(|response| response.map(Item::Response)))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that cannot be written, for this reason.
    struct Unwritable(io::ErrorKind);

    impl Write for Unwritable {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn settings(form: InputFormat, max_failures: Option<usize>) -> Settings {
        let timeout = Duration::from_mins(1);
        Settings { form, content: Content::Whole, jobs: Jobs::new(1), timeout, max_bytes: 1_000, max_failures }
    }

    /// The number of lines for `input`, and the error.
    fn converted(input: &'static str, max_failures: Option<usize>) -> (usize, Option<Error>) {
        let mut out = vec![];
        let result = convert(input.as_bytes(), &mut out, settings(InputFormat::JsonLines, max_failures));
        (out.split_inclusive(|byte| *byte == b'\n').count(), result.err())
    }

    #[test]
    fn a_stream_ends_with_the_first_failure_too_many() {
        let input = "{\"html\": \"<p>a\"}\n{}\n{\"html\": \"<p>b\"}\n{}\n{}\n";
        assert_eq!(converted(input, None).0, 5);
        for (most, lines, message) in [(0, 2, "1 record failed"), (1, 4, "2 records failed")] {
            let (written, error) = converted(input, Some(most));
            let error = error.unwrap();
            // The record that failed is in the output.
            assert_eq!((written, error.message()), (lines, message));
            assert!(error.is(TOO_MANY_FAILURES) && error.details()["failures"] == most + 1, "{error}");
        }
        assert!(matches!(converted(input, Some(3)), (5, None)));
    }

    #[test]
    fn a_reader_that_leaves_is_no_failure_and_a_full_disk_is() {
        let to = |kind| {
            let settings = settings(InputFormat::JsonLines, None);
            convert(&b"{\"html\": \"<p>a\"}\n"[..], Unwritable(kind), settings)
        };
        assert!(to(io::ErrorKind::BrokenPipe).is_ok());
        assert!(to(io::ErrorKind::StorageFull).unwrap_err().is(OUTPUT_ERROR));
    }

    #[test]
    fn an_input_that_ends_at_once_is_broken_and_one_of_another_format_is_a_failed_record() {
        let to = |form, input: &'static [u8]| {
            let mut out = vec![];
            let result = convert(input, &mut out, settings(form, None));
            (String::from_utf8(out).unwrap(), result)
        };
        // The head of a compressed file, and no more.
        let (out, result) = to(InputFormat::JsonLines, b"\x1f\x8b\x08");
        assert!(out.is_empty() && result.unwrap_err().is(INPUT_BROKEN));
        let (out, result) = to(InputFormat::Warc { any_status: true }, b"{\"html\": \"<p>a\"}\n");
        assert!(result.is_ok() && out.contains(INVALID_RECORD.name()) && out.lines().count() == 1, "{out}");
    }
}
