//! A text file: its encoding, the lines that are wanted, the answer.

use std::{io, path::Path};

use ragmaker_files::io_error;
use ragmaker_text::{Chunks, Decode, Newline, SAMPLE, Sniffed, Source, Unicode, UnicodeDecoder, lines::Lines, sniff};
use ragmaker_tool::{Code, Error, OUTPUT_LIMIT, json};
use serde_json::{Map, Value};

use crate::{
    answer::{Answer, Content, Lossy, Range, Stream},
    page::{OFFSET_BEYOND_END, Page},
    wanted::Wanted,
};

/// The file is no text.
pub const NOT_TEXT: Code = Code::new("NOT_TEXT", "Use a program for files of this kind.");

/// Lines are counted in files up to this size (256 MiB); a larger one is read only as far as needed.
const COUNT_UP_TO: u64 = 256 << 20;

/// Characters that are kept for everything but the text.
const AROUND: usize = 1500;

/// Reads what is wanted of `source`, which is called `path`.
pub(crate) fn read(path: String, source: Source, modified: Option<String>, wanted: &Wanted) -> Result<Answer, Error> {
    let fail = |error: io::Error| io_error(&error, Path::new(&path));
    let mut head = vec![0; SAMPLE.min(usize::try_from(source.size()).unwrap_or(SAMPLE))];
    let read = source.read_at(0, &mut head).map_err(fail)?;
    head.truncate(read);
    let (unicode, begin) = identify(&path, &source, &head).map_err(fail)??;

    let lines = Lines { source: &source, begin, newline: unicode.newline() };
    let (start, span) = lines.from_start(wanted.offset, wanted.limit, COUNT_UP_TO).map_err(fail)?;
    let Some(start) = start else {
        let total = span.total.unwrap_or_default();
        return Err(OFFSET_BEYOND_END
            .error(format!("{path} has {total} lines: there is no line {} to begin at", wanted.offset + 1))
            .remedy(format!("The last line is --offset {}.", total.saturating_sub(1)))
            .detail("path", path)
            .detail("total_lines", total));
    };
    let newline = first_newline(unicode, &head[usize::try_from(begin).unwrap_or(head.len()).min(head.len())..]);
    let size = source.size();
    let decoder = decoder_of(unicode);
    let lossy = Lossy::default();

    let (content, lines_shown, cut, ends_line) = if wanted.limit.is_some() {
        let left = span.end < size;
        let shown = match (wanted.limit, span.total) {
            (Some(limit), Some(total)) => limit.min(total - wanted.offset.min(total)),
            (Some(limit), None) => limit,
            (None, _) => 0,
        };
        let stream = Stream { source, decoder, start, end: span.end, skip: wanted.column, lossy: lossy.clone() };
        (Content::Stream(stream), shown, left, true)
    } else {
        let mut chunks = Chunks::new(&source, start, span.end, wanted.column, decoder());
        let budget = OUTPUT_LIMIT - AROUND - path.chars().count() * 6;
        let page = Page::fill(&mut chunks, budget, json::Charset::from_env()).map_err(fail)?;
        lossy.set(chunks.lossy());
        let newlines = memchr_count(&page.text);
        let ends_line = page.text.ends_with('\n');
        let shown = newlines + u64::from(!ends_line && !page.text.is_empty());
        (Content::Page(page.text), shown, page.cut, ends_line)
    };
    let next = cut.then(|| next(wanted, &content, lines_shown, ends_line));
    let range =
        (lines_shown > 0).then(|| Range { start_line: wanted.offset + 1, end_line: wanted.offset + lines_shown });
    let message = message(range, span.total, next.as_ref());
    Ok(Answer {
        path,
        content,
        encoding: unicode.name().to_owned(),
        newline: newline.name(),
        lossy,
        total_lines: span.total,
        range,
        truncated: cut,
        next,
        message,
        size,
        modified,
    })
}

fn memchr_count(text: &str) -> u64 {
    text.bytes().filter(|&byte| byte == b'\n').count() as u64
}

/// The encoding of `source`, whose start is `head`, and where its text begins.
fn identify(path: &str, source: &Source, head: &[u8]) -> io::Result<Result<(Unicode, u64), Error>> {
    let _ = source;
    Ok(match sniff(head) {
        Sniffed::Unicode(unicode, mark) => Ok((unicode, mark as u64)),
        Sniffed::Other => Err(NOT_TEXT.error(format!("{path} is not text")).detail("path", path)),
    })
}

fn decoder_of(unicode: Unicode) -> fn() -> UnicodeDecoder {
    match unicode {
        Unicode::Utf8 => || UnicodeDecoder::new(Unicode::Utf8),
        Unicode::Utf16Le => || UnicodeDecoder::new(Unicode::Utf16Le),
        Unicode::Utf16Be => || UnicodeDecoder::new(Unicode::Utf16Be),
        Unicode::Utf32Le => || UnicodeDecoder::new(Unicode::Utf32Le),
        Unicode::Utf32Be => || UnicodeDecoder::new(Unicode::Utf32Be),
    }
}

fn first_newline(unicode: Unicode, head: &[u8]) -> Newline {
    let mut text = String::new();
    UnicodeDecoder::new(unicode).decode(head, false, &mut text);
    Newline::of(&text)
}

/// The arguments that continue after a page of `lines` lines, the last of them whole or not.
fn next(wanted: &Wanted, content: &Content, lines: u64, ends_line: bool) -> Map<String, Value> {
    let mut next = Map::new();
    if ends_line {
        next.insert("offset".to_owned(), (wanted.offset + lines).into());
        if wanted.column > 0 {
            next.insert("column-offset".to_owned(), 0.into());
        }
    } else if let Content::Page(text) = content {
        // A page ends within a line only if it is one line.
        next.insert("offset".to_owned(), wanted.offset.into());
        next.insert("column-offset".to_owned(), (wanted.column + text.chars().count() as u64).into());
    }
    next
}

fn message(range: Option<Range>, total: Option<u64>, next: Option<&Map<String, Value>>) -> String {
    let Some(Range { start_line, end_line }) = range else { return "There are no lines here.".to_owned() };
    let total = total.map_or_else(String::new, |total| format!(" of {total}"));
    let lines = if start_line == end_line {
        format!("Line {start_line}{total}")
    } else {
        format!("Lines {start_line}-{end_line}{total}")
    };
    match next {
        None if start_line == 1 => format!("{lines}: the whole file."),
        None => format!("{lines}: the last page."),
        Some(next) => {
            let arguments: Vec<_> = next.iter().map(|(name, value)| format!("--{name} {value}")).collect();
            format!("{lines}. Continue with {}.", arguments.join(" "))
        }
    }
}
