//! PDFs as text, page by page, with the program `pdftotext` of Poppler.
//!
//! Several libraries were tried. The small ones garbled or refused Chinese and Japanese documents, and crashed on
//! damaged ones. The remaining one is twenty times the size of this tool. A crash of a separate program has no effect
//! on the tool, and the program can be ended when it takes too long.

use std::{
    fmt::Write,
    fs::File,
    io::{self, Read},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use ragmaker_text::ByteSource;
use ragmaker_tool::{ARGUMENT_ERROR, Error};

use crate::{ConversionFailure, package::input_of};

/// The first bytes of a PDF.
pub(crate) const SIGNATURE: &[u8] = b"%PDF-";

/// How long the conversion of a PDF may take.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The maximum size in bytes of text of a PDF (256 MiB). More text is assumed to be an attack on the disk.
const MAX: u64 = 256 << 20;

/// Whether `source` starts with the signature of a PDF.
pub(crate) fn is_pdf(source: &ByteSource) -> io::Result<bool> {
    let mut head = [0; 5];
    Ok(source.read_at(0, &mut head)? == head.len() && head == SIGNATURE)
}

/// A range of pages, counted from 1, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pages {
    first: u32,
    last: Option<u32>,
}

impl Pages {
    /// Parses `3`, `2-5` or `4-`.
    ///
    /// # Errors
    /// `ARGUMENT_ERROR` for `--pages` with any other text.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|page| *page > 0);
        let pages = match text.split_once('-') {
            None => number(text).map(|page| Self { first: page, last: Some(page) }),
            Some((first, "")) => number(first).map(|first| Self { first, last: None }),
            Some((first, last)) => number(first)
                .zip(number(last))
                .filter(|(first, last)| first <= last)
                .map(|(first, last)| Self { first, last: Some(last) }),
        };
        pages.ok_or_else(|| {
            ARGUMENT_ERROR
                .error(format!("--pages cannot be {text:?}"))
                .remedy("Write pages as 3, 2-5 or 4-; they count from 1.")
                .detail("argument", "--pages")
        })
    }
}

/// Extracts the text of the PDF `source`, with a form feed at the end of each page.
pub(crate) fn text(source: &ByteSource, pages: Option<Pages>) -> Result<ByteSource, ConversionFailure> {
    let input = input_of(source)?;
    let text = tempfile::tempfile()?;
    let mut command = Command::new("pdftotext");
    // Not `-q`, which also hides the message about a missing password.
    command.args(["-enc", "UTF-8"]);
    if let Some(Pages { first, last }) = pages {
        command.args(["-f", &first.to_string()]);
        if let Some(last) = last {
            command.args(["-l", &last.to_string()]);
        }
    }
    let mut child = command
        .args(["-", "-"])
        .stdin(input)
        .stdout(text.try_clone()?)
        .stderr(Stdio::piped())
        .spawn()
        .map_err(ConversionFailure::PdfReaderMissing)?;
    match wait(&mut child, &text)? {
        ReaderOutcome::Success => Ok(ByteSource::file(text)?),
        ReaderOutcome::Failed(stderr) => Err(failure(&stderr, pages)),
        ReaderOutcome::TimedOut => Err(ConversionFailure::PdfTooSlow),
        ReaderOutcome::TooLarge => Err(ConversionFailure::PdfTooLarge),
    }
}

/// The failure for the error output of `pdftotext`.
fn failure(stderr: &str, pages: Option<Pages>) -> ConversionFailure {
    if stderr.contains("password") {
        return ConversionFailure::PdfEncrypted;
    }
    // "… the first page (99) cannot be after the last page (2)."
    let total = stderr.split_once("last page (").and_then(|(_, rest)| rest.split(')').next()?.parse().ok());
    match (total, pages) {
        (Some(total), Some(Pages { first: page, .. })) if page > total => {
            ConversionFailure::PageBeyondEnd { page, total }
        }
        _ => ConversionFailure::PdfDamaged(stderr.lines().next_back().unwrap_or("pdftotext gave up").to_owned()),
    }
}

/// Converts the text of a PDF, in which a form feed ends each page, to Markdown: a heading for each page, then
/// its lines. Only characters with a meaning in Markdown are escaped, so no character is lost.
pub fn pages_as_markdown(text: &str) -> String {
    let pages: Vec<&str> = text.split('\u{c}').collect();
    let (mut out, many) = (String::new(), pages.iter().filter(|page| !page.trim().is_empty()).count() > 1);
    for (index, page) in pages.into_iter().enumerate().filter(|(_, page)| !page.trim().is_empty()) {
        if many {
            _ = write!(out, "## Page {}\n\n", index + 1);
        }
        let mut blank = true;
        for line in page.trim_matches('\n').lines().map(str::trim) {
            if line.is_empty() && blank {
                continue;
            }
            blank = line.is_empty();
            let is_mark = line.starts_with(['#', '>', '|', '~', '`', '=', '<'])
                || (line.len() > 2 && line.chars().all(|c| matches!(c, '-' | '*' | '_' | ' ')));
            if is_mark {
                out.push('\\');
            }
            out.push_str(line);
            out.push('\n');
        }
        out.push('\n');
    }
    out
}

enum ReaderOutcome {
    Success,
    /// With the error output of the program.
    Failed(String),
    TimedOut,
    TooLarge,
}

/// Waits for `child`, which writes to `text`, and kills it at a limit.
fn wait(child: &mut Child, text: &File) -> io::Result<ReaderOutcome> {
    let mut errors = child.stderr.take();
    // Read in a separate thread, so that a full pipe does not block the program.
    let stderr = thread::spawn(move || {
        let mut stderr = vec![];
        if let Some(errors) = &mut errors {
            let _ = errors.take(64 * 1024).read_to_end(&mut stderr);
            let _ = io::copy(errors, &mut io::sink());
        }
        String::from_utf8_lossy(&stderr).into_owned()
    });
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            let stderr = stderr.join().unwrap_or_default();
            return Ok(if status.success() { ReaderOutcome::Success } else { ReaderOutcome::Failed(stderr) });
        }
        let large = text.metadata()?.len() > MAX;
        if large || started.elapsed() > TIMEOUT {
            child.kill()?;
            child.wait()?;
            return Ok(if large { ReaderOutcome::TooLarge } else { ReaderOutcome::TimedOut });
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_failure_is_recognised_by_the_error_output() {
        let pages = Pages::parse("9").ok();
        let stderr =
            "Command Line Error: Wrong page range given: the first page (9) cannot be after the last page (2).\n";
        assert!(matches!(failure(stderr, pages), ConversionFailure::PageBeyondEnd { page: 9, total: 2 }));
        assert!(matches!(failure("Command Line Error: Incorrect password\n", pages), ConversionFailure::PdfEncrypted));
        assert!(
            matches!(failure("a\nSyntax Error: x\n", None), ConversionFailure::PdfDamaged(line) if line == "Syntax Error: x")
        );
    }

    #[test]
    fn no_character_of_a_pdf_page_is_lost() {
        let text = "# not a heading\n  two\n\n\n----\n- item\n\u{c}\n<b>\n\u{c}";
        let markdown = pages_as_markdown(text);
        assert_eq!(markdown, "## Page 1\n\n\\# not a heading\ntwo\n\n\\----\n- item\n\n## Page 2\n\n\\<b>\n\n");
        assert_eq!(pages_as_markdown("one\n\u{c}"), "one\n\n");
    }

    #[test]
    fn page_ranges_are_parsed() {
        let pages = |text: &str| Pages::parse(text).ok().map(|pages| (pages.first, pages.last));
        assert_eq!(pages("3"), Some((3, Some(3))));
        assert_eq!(pages("2-5"), Some((2, Some(5))));
        assert_eq!(pages("4-"), Some((4, None)));
        for bad in ["", "0", "-3", "5-2", "a", "1-2-3"] {
            assert_eq!(pages(bad), None, "{bad}");
        }
    }
}
