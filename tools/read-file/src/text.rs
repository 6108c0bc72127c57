//! Text files: the encoding, the requested lines, the answer.

use std::{io, path::Path};

use ragmaker_files::io_error;
use ragmaker_text::{
    ByteSource, Chunks, Decode, Identified, Newline, SAMPLE, Sniffed, Unicode, UnicodeDecoder, first_decisive_byte,
    lines::{Lines, Span},
    sniff, sniff_within,
};
use ragmaker_tool::{Budget, Error, NextWithin, OFFSET_BEYOND_END, beyond_end};

use crate::{
    answer::{Answer, Content, FileKind, Lossy, Range, Stream},
    decoded::Decoded,
    page::TextPage,
    requested_part::RequestedPart,
};

/// Lines are counted in files up to this size (256 MiB); a larger one is read only as far as needed.
const COUNT_UP_TO: u64 = 256 << 20;

/// A text with its encoding.
struct DecodedText {
    source: ByteSource,
    decoder: Box<dyn Fn() -> Box<dyn Decode>>,
    /// The bytes of a newline in this encoding.
    newline: &'static [u8],
    /// The offset of the first character, after a byte order mark.
    begin: u64,
    /// The name of the encoding; for a decoded text, that of the original.
    encoding: String,
    /// Whether decoding replaced characters.
    lossy: bool,
}

/// Reads the requested part of `source` into `answer`. Returns both unchanged if the source is not a text in
/// a Unicode encoding.
pub(crate) fn read(
    source: ByteSource,
    encoding: Option<&str>,
    wanted: &RequestedPart,
    answer: Answer,
) -> Result<Result<Answer, (ByteSource, Answer)>, Error> {
    let path = answer.path.clone();
    let fail = |error: io::Error| io_error(&error, Path::new(&path));
    let text = match identify(source, encoding).map_err(fail)? {
        Ok(text) => text,
        Err(source) => return Ok(Err((source, answer))),
    };
    let found = text.find(wanted).map_err(fail)?;
    if encoding.is_none() && text.is_legacy_after_ascii(&found.1).map_err(fail)? {
        return Ok(Err((text.source, answer)));
    }
    let answer = answer.measured(&text.source).map_err(fail)?;
    text.page(wanted, found, answer).map(Ok)
}

/// Reads the requested part of a text in the encoding `identified`, in which a line can be decoded by itself.
pub(crate) fn read_legacy(
    source: ByteSource,
    Identified { encoding, mark }: Identified,
    wanted: &RequestedPart,
    answer: Answer,
) -> Result<Answer, Error> {
    let text = DecodedText {
        source,
        decoder: Box::new(move || Box::new(encoding.decoder())),
        newline: encoding.newline(),
        begin: mark as u64,
        encoding: encoding.name().to_owned(),
        lossy: false,
    };
    let found = text.find(wanted).map_err(|error| io_error(&error, Path::new(&answer.path)))?;
    text.page(wanted, found, answer)
}

/// Reads the requested part of a decoded text.
pub(crate) fn read_decoded(decoded: Decoded, wanted: &RequestedPart, answer: Answer) -> Result<Answer, Error> {
    let text = DecodedText::from(decoded);
    let found = text.find(wanted).map_err(|error| io_error(&error, Path::new(&answer.path)))?;
    text.page(wanted, found, answer)
}

impl DecodedText {
    fn page(self, wanted: &RequestedPart, found: (Option<u64>, Span), answer: Answer) -> Result<Answer, Error> {
        let path = answer.path.clone();
        let (Some(start), span) = found else {
            let total = found.1.total.unwrap_or_default();
            return Err(OFFSET_BEYOND_END
                .error(format!("the range begins after line {total}, the last of {path}"))
                .remedy(format!(
                    "The last line is {total}, at --start-line {total} or --offset {}.",
                    total.saturating_sub(1)
                ))
                .detail("path", path)
                .detail("total", total));
        };
        let fail = |error: io::Error| io_error(&error, Path::new(&path));
        if let Some(length) = self.ends_before(wanted.column, start, span.end).map_err(fail)? {
            let error = beyond_end("--column-offset", wanted.column, length, "characters of the line");
            return Err(error.detail("path", path));
        }
        self.answer(wanted, start, &span, answer).map_err(fail)
    }

    /// The length of the line at `start` in characters, if it has fewer than `column`.
    fn ends_before(&self, column: u64, start: u64, end: u64) -> io::Result<Option<u64>> {
        let mut chunks = Chunks::new(&self.source, start, end, 0, (self.decoder)());
        let mut length = 0;
        while length < column {
            let Some(text) = chunks.next()? else { return Ok(Some(length)) };
            let line = text.split('\n').next().unwrap_or_default();
            length += line.chars().count() as u64;
            if line.len() < text.len() {
                return Ok((length < column).then_some(length));
            }
        }
        Ok(None)
    }
}

/// The encoding of `source` if it is a Unicode encoding; otherwise `source` itself.
fn identify(source: ByteSource, encoding: Option<&str>) -> io::Result<Result<DecodedText, ByteSource>> {
    let head = sample(&source, 0)?;
    let sniffed = match encoding {
        None => sniff(&head),
        Some(label) => {
            let named = Unicode::ALL.into_iter().find(|unicode| unicode.name().eq_ignore_ascii_case(label));
            named.map_or(Sniffed::Other, |unicode| {
                let marked = head.starts_with(unicode.mark());
                Sniffed::Unicode(unicode, if marked { unicode.mark().len() } else { 0 })
            })
        }
    };
    Ok(match sniffed {
        Sniffed::Unicode(unicode, mark) => {
            Ok(DecodedText::unicode(source, unicode, mark as u64, unicode.name().to_owned()))
        }
        Sniffed::Other | Sniffed::Binary => Err(source),
    })
}

fn sample(source: &ByteSource, at: u64) -> io::Result<Vec<u8>> {
    let left = usize::try_from(source.size().saturating_sub(at)).unwrap_or(SAMPLE);
    let mut sample = vec![0; SAMPLE.min(left)];
    let read = source.read_at(at, &mut sample)?;
    sample.truncate(read);
    Ok(sample)
}

impl From<Decoded> for DecodedText {
    fn from(decoded: Decoded) -> Self {
        let Decoded { source, encoding, lossy } = decoded;
        Self { lossy, ..Self::unicode(source, Unicode::Utf8, 0, encoding) }
    }
}

impl DecodedText {
    fn unicode(source: ByteSource, unicode: Unicode, begin: u64, encoding: String) -> Self {
        let decoder = Box::new(move || Box::new(UnicodeDecoder::new(unicode)) as Box<dyn Decode>);
        Self { source, decoder, newline: unicode.newline(), begin, encoding, lossy: false }
    }

    fn lines(&self) -> Lines<'_> {
        Lines { source: &self.source, begin: self.begin, newline: self.newline }
    }

    /// The number of lines and the span of the requested ones.
    fn find(&self, wanted: &RequestedPart) -> io::Result<(Option<u64>, Span)> {
        let lines = self.lines();
        let Some(tail) = wanted.tail else {
            return lines.from_start(wanted.skip, wanted.lines_after(wanted.skip), COUNT_UP_TO);
        };
        if (RequestedPart { tail: None, column: 0, ..*wanted }).is_all() {
            return lines.from_end(tail, COUNT_UP_TO).map(|span| (Some(span.start), span));
        }
        // Lines from the end and lines from the start can be compared only by their numbers.
        let before = lines.from_end(tail, u64::MAX)?.before.unwrap_or_default();
        let skip = wanted.skip.max(before);
        lines.from_start(skip, wanted.lines_after(skip), u64::MAX)
    }

    /// The number of lines before `span`. Those before a tail of a large file are counted only for this.
    fn lines_before(&self, span: &Span, tail: Option<u64>) -> io::Result<u64> {
        match (span.before, tail) {
            (None, Some(tail)) => Ok(self.lines().from_end(tail, u64::MAX)?.before.unwrap_or_default()),
            (before, _) => Ok(before.unwrap_or_default()),
        }
    }

    /// Whether the first bytes beyond ASCII, in the part that was read, belong to a legacy encoding.
    fn is_legacy_after_ascii(&self, span: &Span) -> io::Result<bool> {
        if self.encoding != "UTF-8" || self.begin > 0 {
            return Ok(false);
        }
        // Where only the end of a text was read, that end decides.
        let read_to = if span.total.is_some() { self.source.size() } else { span.end };
        let at = match span.before {
            None => span.start,
            Some(_) => first_decisive_byte(&self.source, span.ascii, read_to)?,
        };
        if at < SAMPLE as u64 || at >= read_to {
            return Ok(false);
        }
        let sample = sample(&self.source, at)?;
        Ok(!matches!(sniff_within(&sample), Sniffed::Unicode(..)))
    }

    fn answer(self, wanted: &RequestedPart, start: u64, span: &Span, answer: Answer) -> io::Result<Answer> {
        let start_of_text = self.start_of_text()?;
        let newline = Self::newline_style(&start_of_text);
        let is_whole = self.source.size() <= SAMPLE as u64;
        let mime_type = match answer.kind {
            FileKind::Text => ragmaker_media::text_type(start_of_text.as_bytes(), is_whole, Path::new(&answer.path)),
            _ => answer.mime_type,
        };
        let lossy = Lossy::new(self.lossy);
        let size = self.source.size();
        let before = span.before.unwrap_or_default();
        let (content, shown, next) = if let Some(limit) = wanted.lines_after(before) {
            let shown = span.total.map_or(limit, |total| limit.min(total.saturating_sub(before)));
            let is_left = span.end < size && wanted.end.is_none_or(|end| before + shown < end);
            let stream = Stream {
                source: self.source,
                decoder: self.decoder,
                start,
                end: span.end,
                skip: wanted.column,
                lossy: lossy.clone(),
            };
            (Content::Stream(stream), shown, is_left.then(|| wanted.next(before, shown, None)))
        } else {
            let mut chunks = Chunks::new(&self.source, start, span.end, wanted.column, (self.decoder)());
            let frame = Answer { content: Some(Content::Page(String::new())), ..Answer::widest(&answer) };
            let page = TextPage::fill(&mut chunks, Budget::for_frame(&frame))?;
            lossy.add(chunks.lossy());
            let ended = page.text.bytes().filter(|&byte| byte == b'\n').count() as u64;
            let open = !page.text.is_empty() && !page.text.ends_with('\n');
            let shown = ended + u64::from(open);
            let within = open.then(|| page.text.rsplit('\n').next().unwrap_or_default().chars().count() as u64);
            let next =
                if page.cut { Some(wanted.next(self.lines_before(span, wanted.tail)?, shown, within)) } else { None };
            (Content::Page(page.text), shown, next)
        };
        let range =
            span.before.filter(|_| shown > 0).map(|before| Range { start_line: before + 1, end_line: before + shown });
        Ok(Answer {
            content: Some(content),
            mime_type,
            encoding: Some(self.encoding),
            newline: Some(newline.name()),
            lossy: Some(lossy),
            total: span.total,
            range,
            truncated: next.is_some(),
            message: message(wanted, range, shown, span.total, next),
            next,
            ..answer
        })
    }

    /// The first sample as text.
    fn start_of_text(&self) -> io::Result<String> {
        let mut text = String::new();
        (self.decoder)().decode(&sample(&self.source, self.begin)?, false, &mut text);
        Ok(text)
    }

    /// The line endings in the first sample.
    fn newline_style(text: &str) -> Newline {
        // The sample may end between a carriage return and its newline.
        Newline::of(if text.len() + 8 < SAMPLE { text } else { text.trim_end_matches('\r') })
    }
}

fn message(
    wanted: &RequestedPart,
    range: Option<Range>,
    shown: u64,
    total: Option<u64>,
    next: Option<NextWithin>,
) -> String {
    let of_total = total.map_or_else(String::new, |total| format!(" of {total}"));
    let lines = match range {
        _ if shown == 0 => return "There are no lines here.".to_owned(),
        None => format!("{shown} lines near the end"),
        Some(Range { start_line, end_line }) if start_line == end_line => format!("Line {start_line}{of_total}"),
        Some(Range { start_line, end_line }) => format!("Lines {start_line}-{end_line}{of_total}"),
    };
    match (next, range) {
        (Some(next), _) => format!("{lines}. Continue with {}.", wanted.spelled(next)),
        (None, Some(Range { end_line, .. })) if total != Some(end_line) => format!("{lines}: all that were requested."),
        (None, Some(Range { start_line: 1, .. })) => format!("{lines}: end of file."),
        (None, _) => format!("{lines}: the last page."),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// Lines from `skip` on, as a model asks for them.
    fn from(skip: u64, limit: Option<u64>, column: u64) -> RequestedPart {
        RequestedPart { skip, limit, column, end: None, tail: None, caller: ragmaker_tool::Caller::Model }
    }

    /// The answer for bytes, as JSON; `None` if they are not text in a Unicode encoding.
    fn shown(bytes: &[u8], encoding: Option<&str>, wanted: &RequestedPart) -> Result<Option<Value>, Error> {
        let answer = Answer::of("a.md".to_owned(), None);
        let read = read(ByteSource::Memory(bytes.to_vec()), encoding, wanted, answer)?;
        Ok(read.ok().map(|answer| serde_json::to_value(answer).unwrap()))
    }

    #[test]
    fn the_lines_that_were_asked_for_are_shown_with_their_place() {
        let text = "one\r\ntwo \u{6f6e}\r\nthree".as_bytes();
        for (wanted, content, range, message) in [
            (from(0, None, 0), "one\r\ntwo \u{6f6e}\r\nthree", [1, 3], "Lines 1-3 of 3: end of file."),
            (from(1, Some(1), 0), "two \u{6f6e}\r\n", [2, 2], "Line 2 of 3. Continue with offset 2."),
            (from(2, Some(9), 0), "three", [3, 3], "Line 3 of 3: the last page."),
            (from(1, Some(1), 4), "\u{6f6e}\r\n", [2, 2], "Line 2 of 3. Continue with offset 2 column_offset 0."),
        ] {
            let answer = shown(text, None, &wanted).unwrap().unwrap();
            assert_eq!((&answer["content"], &answer["message"]), (&content.into(), &message.into()));
            assert_eq!(answer["range"], serde_json::json!({"start_line": range[0], "end_line": range[1]}));
            assert_eq!(
                (&answer["newline"], &answer["encoding"], &answer["lossy"]),
                (&"crlf".into(), &"UTF-8".into(), &false.into())
            );
        }
    }

    #[test]
    fn a_tail_is_continued_and_limited_by_line_numbers() {
        let text = b"one\ntwo\nthree\nfour\n";
        let tail = |skip, limit| RequestedPart { tail: Some(3), ..from(skip, limit, 0) };
        for (wanted, content, next) in [
            (tail(0, None), "two\nthree\nfour\n", None),
            (tail(0, Some(1)), "two\n", Some(2)),
            (tail(2, Some(1)), "three\n", Some(3)),
            (tail(3, None), "four\n", None),
        ] {
            let answer = shown(text, None, &wanted).unwrap().unwrap();
            let offset = answer["next"]["offset"].as_u64();
            assert_eq!((answer["content"].as_str().unwrap(), offset), (content, next), "{wanted:?}");
            assert_eq!(answer["truncated"], next.is_some(), "{wanted:?}");
        }
        assert!(shown(text, None, &tail(4, None)).unwrap_err().is(OFFSET_BEYOND_END));
    }

    #[test]
    fn the_lines_up_to_an_end_are_all_of_the_part() {
        let text = b"one\ntwo\nthree\nfour\n";
        let to_end = |end, limit| RequestedPart { end: Some(end), ..from(1, limit, 0) };
        for (wanted, content, message) in [
            (to_end(3, None), "two\nthree\n", "Lines 2-3 of 4: all that were requested."),
            (to_end(3, Some(1)), "two\n", "Line 2 of 4. Continue with offset 2."),
            (to_end(9, None), "two\nthree\nfour\n", "Lines 2-4 of 4: the last page."),
        ] {
            let answer = shown(text, None, &wanted).unwrap().unwrap();
            assert_eq!((&answer["content"], &answer["message"]), (&content.into(), &message.into()), "{wanted:?}");
            assert_eq!(answer["truncated"], message.contains("Continue"), "{wanted:?}");
        }
    }

    #[test]
    fn an_empty_file_has_no_lines_and_a_place_after_the_end_is_an_error() {
        let empty = shown(b"", None, &from(0, None, 0)).unwrap().unwrap();
        assert_eq!((&empty["content"], &empty["total"], &empty["range"]), (&"".into(), &0.into(), &Value::Null));
        assert_eq!(empty["message"], "There are no lines here.");
        for (wanted, total) in [(from(2, None, 0), 2), (from(0, None, 4), 3)] {
            let error = shown(b"one\ntwo\n", None, &wanted).unwrap_err();
            assert!(error.is(OFFSET_BEYOND_END), "{error}");
            assert_eq!(error.details()["total"], total, "{error}");
        }
        // At the end of a line, only its newline is left.
        assert_eq!(shown(b"one\ntwo\n", None, &from(0, Some(1), 3)).unwrap().unwrap()["content"], "\n");
    }

    #[test]
    fn other_encodings_are_left_to_be_identified() {
        let legacy = [vec![b'a'; SAMPLE + 10], b"caf\xe9 \xe9t\xe9\n".to_vec()].concat();
        for bytes in [&b"caf\xe9"[..], b"\x89PNG\r\n\x1a\n\0\0", &legacy] {
            assert!(shown(bytes, None, &from(0, None, 0)).unwrap().is_none(), "{:?}", &bytes[..4]);
        }
        let utf_16 = [&b"\xff\xfe"[..], b"a\0\n\0b\0"].concat();
        let answer = shown(&utf_16, None, &from(1, None, 0)).unwrap().unwrap();
        assert_eq!((&answer["content"], &answer["encoding"]), (&"b".into(), &"UTF-16LE".into()));
        // The encoding that the caller names is used.
        let named = shown(b"caf\xe9", Some("utf-8"), &from(0, None, 0)).unwrap().unwrap();
        assert_eq!((&named["content"], &named["lossy"]), (&"caf\u{fffd}".into(), &true.into()));
        assert!(shown(b"a", Some("latin1"), &from(0, None, 0)).unwrap().is_none());
    }

    #[test]
    fn a_page_is_cut_within_a_long_line_and_names_the_column() {
        let long = format!("short\n{}", "\u{6f6e}".repeat(200_000));
        let answer = shown(long.as_bytes(), None, &from(0, None, 0)).unwrap().unwrap();
        let (next, content) = (&answer["next"], answer["content"].as_str().unwrap());
        assert_eq!((&answer["truncated"], &next["offset"]), (&true.into(), &1.into()));
        assert_eq!(next["column_offset"], content.chars().count() - "short\n".len());
        let rest = from(1, None, next["column_offset"].as_u64().unwrap());
        let second = shown(long.as_bytes(), None, &rest).unwrap().unwrap();
        assert!(second["content"].as_str().unwrap().starts_with('\u{6f6e}'));
    }
}
