//! A PDF as text, page by page, by the program `pdftotext` of Poppler.
//!
//! Of the libraries that were tried, those that are small garbled or refused Chinese and Japanese
//! documents and fell over damaged ones, and the one that did not is twenty times this tool's size.
//! A program of its own is contained when it crashes, and is stopped when it takes too long.

use std::{
    fs::File,
    io::{self, Read, Seek},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use ragmaker_text::Source;
use ragmaker_tool::{ARGUMENT_ERROR, Code, Error};

use crate::decoded::{Decoded, input_of};

/// `pdftotext` is not installed.
pub const PDF_READER_MISSING: Code = Code::new(
    "PDF_READER_MISSING",
    "Install pdftotext (package poppler-utils or poppler), or add --as base64 to get the bytes.",
);
/// The PDF asks for a password.
pub const PDF_ENCRYPTED: Code = Code::new("PDF_ENCRYPTED", "Ask the user for a copy without a password.");
/// The PDF is damaged, or is none.
pub const PDF_UNREADABLE: Code =
    Code::new("PDF_UNREADABLE", "The file may be damaged; add --as base64 to get its bytes.");

/// The longest that a PDF may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// The most text that a PDF may give (256 MiB): what gives more was made to fill the disk.
const MAX: u64 = 256 << 20;

/// Whether `source` begins as a PDF does.
pub(crate) fn is_pdf(source: &Source) -> io::Result<bool> {
    let mut head = [0; 5];
    Ok(source.read_at(0, &mut head)? == head.len() && &head == b"%PDF-")
}

/// Pages, counted from 1, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pages {
    first: u32,
    last: Option<u32>,
}

impl Pages {
    /// Reads `3`, `2-5` or `4-`.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
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
                .error(format!("--pages can not be {text:?}"))
                .remedy("Write pages as 3, 2-5 or 4-; they count from 1.")
                .detail("argument", "--pages")
        })
    }
}

/// The text of the PDF `source`, which is called `path`; a form feed ends each page.
pub(crate) fn decode(path: &str, source: &Source, pages: Option<Pages>) -> Result<Decoded, Error> {
    let fail = |error: io::Error| ragmaker_files::IO_ERROR.error(format!("{path} can not be read: {error}"));
    let mut input = input_of(source).map_err(fail)?;
    input.rewind().map_err(fail)?;
    let text = tempfile::tempfile().map_err(fail)?;
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
        .stdout(text.try_clone().map_err(fail)?)
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| PDF_READER_MISSING.error(format!("{path} is a PDF, and pdftotext does not start: {error}")))?;
    let said = wait(&mut child, &text).map_err(fail)?;
    let error = |code: Code, what: &str| Err(code.error(format!("{path}: {what}")).detail("path", path));
    match said {
        Ended::Well => decoded(text).map_err(fail),
        Ended::Badly(said) if said.contains("password") => error(PDF_ENCRYPTED, "the PDF asks for a password"),
        Ended::Badly(said) => error(PDF_UNREADABLE, said.lines().next_back().unwrap_or("pdftotext gave up")),
        Ended::Late => error(PDF_UNREADABLE, "pdftotext took more than a minute"),
        Ended::Large => error(PDF_UNREADABLE, "it gives more than 256 MiB of text"),
    }
}

fn decoded(text: File) -> io::Result<Decoded> {
    Ok(Decoded { source: Source::file(text)?, encoding: "PDF".to_owned(), lossy: false })
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
    // A reader of its own, lest the program wait for room in the pipe.
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
