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

use ragmaker_text::Source;
use ragmaker_tool::{ARGUMENT_ERROR, Error};

use crate::{Failure, package::input_of};

/// How a PDF starts.
pub(crate) const SIGNATURE: &[u8] = b"%PDF-";

/// The longest that a PDF may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// The most text that a PDF may give (256 MiB): what gives more was made to fill the disk.
const MAX: u64 = 256 << 20;

/// Whether `source` begins as a PDF does.
pub(crate) fn is_pdf(source: &Source) -> io::Result<bool> {
    let mut head = [0; 5];
    Ok(source.read_at(0, &mut head)? == head.len() && head == SIGNATURE)
}

/// Pages, counted from 1, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pages {
    first: u32,
    last: Option<u32>,
}

impl Pages {
    /// Reads `3`, `2-5` or `4-`.
    ///
    /// # Errors
    /// `ARGUMENT_ERROR` for `--pages`, where it is none of these.
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

/// The text of the PDF `source`; a form feed ends each page.
pub(crate) fn text(source: &Source, pages: Option<Pages>) -> Result<Source, Failure> {
    let input = input_of(source)?;
    let text = tempfile::tempfile()?;
    let mut command = Command::new("pdftotext");
    // Not -q: it would not even say that a password is missing.
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
        .map_err(Failure::PdfReaderMissing)?;
    match wait(&mut child, &text)? {
        Ended::Well => Ok(Source::file(text)?),
        Ended::Badly(said) => Err(failure(&said, pages)),
        Ended::Late => Err(Failure::PdfTooSlow),
        Ended::Large => Err(Failure::PdfTooLarge),
    }
}

/// What `pdftotext` failed with, by what it printed.
fn failure(said: &str, pages: Option<Pages>) -> Failure {
    if said.contains("password") {
        return Failure::PdfEncrypted;
    }
    // "… the first page (99) cannot be after the last page (2)."
    let total = said.split_once("last page (").and_then(|(_, rest)| rest.split(')').next()?.parse().ok());
    match (total, pages) {
        (Some(total), Some(Pages { first: page, .. })) if page > total => Failure::PageBeyondEnd { page, total },
        _ => Failure::PdfDamaged(said.lines().next_back().unwrap_or("pdftotext gave up").to_owned()),
    }
}

/// The text of a PDF, in which a form feed ends each page, as Markdown: a heading for each page, its lines as
/// they are. Only what Markdown would take for its own marks is escaped, so no character is lost.
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

enum Ended {
    Well,
    /// With what it said.
    Badly(String),
    Late,
    Large,
}

/// Waits for the end of `child`, which writes to `text`.
fn wait(child: &mut Child, text: &File) -> io::Result<Ended> {
    let mut errors = child.stderr.take();
    // Read in a thread of its own, so that a full pipe does not block the program.
    let said = thread::spawn(move || {
        let mut said = vec![];
        if let Some(errors) = &mut errors {
            let _ = errors.take(64 * 1024).read_to_end(&mut said);
            let _ = io::copy(errors, &mut io::sink());
        }
        String::from_utf8_lossy(&said).into_owned()
    });
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            let said = said.join().unwrap_or_default();
            return Ok(if status.success() { Ended::Well } else { Ended::Badly(said) });
        }
        let large = text.metadata()?.len() > MAX;
        if large || started.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Ok(if large { Ended::Large } else { Ended::Late });
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_in_what_was_printed() {
        let pages = Pages::parse("9").ok();
        let said =
            "Command Line Error: Wrong page range given: the first page (9) cannot be after the last page (2).\n";
        assert!(matches!(failure(said, pages), Failure::PageBeyondEnd { page: 9, total: 2 }));
        assert!(matches!(failure("Command Line Error: Incorrect password\n", pages), Failure::PdfEncrypted));
        assert!(
            matches!(failure("a\nSyntax Error: x\n", None), Failure::PdfDamaged(line) if line == "Syntax Error: x")
        );
    }

    #[test]
    fn no_character_of_a_page_is_lost() {
        let text = "# not a heading\n  two\n\n\n----\n- item\n\u{c}\n<b>\n\u{c}";
        let markdown = pages_as_markdown(text);
        assert_eq!(markdown, "## Page 1\n\n\\# not a heading\ntwo\n\n\\----\n- item\n\n## Page 2\n\n\\<b>\n\n");
        assert_eq!(pages_as_markdown("one\n\u{c}"), "one\n\n");
    }

    #[test]
    fn pages_are_one_or_some_or_the_rest() {
        let pages = |text: &str| Pages::parse(text).ok().map(|pages| (pages.first, pages.last));
        assert_eq!(pages("3"), Some((3, Some(3))));
        assert_eq!(pages("2-5"), Some((2, Some(5))));
        assert_eq!(pages("4-"), Some((4, None)));
        for bad in ["", "0", "-3", "5-2", "a", "1-2-3"] {
            assert_eq!(pages(bad), None, "{bad}");
        }
    }
}
