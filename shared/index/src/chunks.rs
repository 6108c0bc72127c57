//! Chunks: splits a Markdown document at its headings into parts of whole lines.

use ragmaker_document::sections::{Heading, Headings, enter, joined};

use crate::rows::Row;

/// Sections of more bytes are cut at the next empty line outside code.
const LONG: usize = 2_000;
/// The maximum length in characters of a chunk, unless one line is longer. Code and tables up to this length stay
/// whole.
const MAX_CHUNK: usize = 8_000;

/// The chunks of the file `text`, whose first `body` bytes are front matter.
pub(crate) fn chunks(text: &str, body: usize) -> Vec<Row> {
    let mut chunks: Vec<Row> = vec![];
    let mut path: Vec<Heading> = vec![];
    let mut headings = Headings::default();
    let first = text[..body].matches('\n').count() + 1;
    let mut at = body;
    let mut open: Option<OpenChunk> = None;
    let mut before = Line { is_empty: true, is_row: false };
    for (line, piece) in (first..).zip(text[body..].split_inclusive('\n')) {
        let content = piece.trim_end_matches(['\n', '\r']);
        let was_in_code = headings.in_code();
        let heading = headings.read(content);
        let is_heading = heading.is_some();
        if let Some(heading) = heading {
            if let Some(open) = open.take() {
                // A heading directly before a deeper one is part of the following chunk's heading path.
                let is_only_heading = !open.has_body && path.last().is_some_and(|last| last.level < heading.level);
                if !is_only_heading {
                    chunks.extend(open.close(text, &path));
                }
            }
            enter(&mut path, heading);
        }
        let own = Line { is_empty: content.trim().is_empty(), is_row: content.trim_start().starts_with('|') };
        let begins_block =
            !was_in_code && !own.is_empty && (before.is_empty || headings.in_code() || own.is_row && !before.is_row);
        before = own;
        let characters = piece.chars().count();
        let is_full = |open: &mut OpenChunk| at - open.start > LONG && own.is_empty && !headings.in_code();
        if let Some(full) = open.take_if(is_full) {
            chunks.extend(full.close(text, &path));
        }
        while let Some(full) = open.take_if(|open| open.characters + characters > MAX_CHUNK) {
            let (part, rest) = if begins_block { (full, None) } else { full.cut() };
            chunks.extend(part.close(text, &path));
            open = rest;
        }
        let current = open.get_or_insert_with(|| OpenChunk::at(at, line));
        if begins_block && at > current.start {
            current.block =
                Some(Cut { at, line, end: current.end, last: current.last, characters: current.characters });
        }
        current.has_body |= !is_heading && content.contains(char::is_alphanumeric);
        current.characters += characters;
        at += piece.len();
        if !own.is_empty {
            (current.end, current.last) = (at - (piece.len() - content.len()), line);
        }
    }
    if let Some(open) = open {
        chunks.extend(open.close(text, &path));
    }
    chunks
}

/// The properties of a line that decide whether the next one begins a block.
#[derive(Clone, Copy)]
struct Line {
    is_empty: bool,
    is_row: bool,
}

/// The beginning of the last paragraph, code or table of a chunk, with the end of what is before it.
struct Cut {
    at: usize,
    line: usize,
    end: usize,
    last: usize,
    characters: usize,
}

struct OpenChunk {
    start: usize,
    end: usize,
    line: usize,
    last: usize,
    characters: usize,
    has_body: bool,
    block: Option<Cut>,
}

impl OpenChunk {
    fn at(start: usize, line: usize) -> Self {
        Self { start, end: start, line, last: line, characters: 0, has_body: false, block: None }
    }

    /// Two parts: the last block goes with what follows.
    fn cut(self) -> (Self, Option<Self>) {
        let Some(Cut { at, line, end, last, characters }) = self.block else { return (self, None) };
        let rest =
            Self { start: at, line, characters: self.characters - characters, has_body: true, block: None, ..self };
        (Self { end, last, characters, ..Self::at(self.start, self.line) }, Some(rest))
    }

    fn close(self, text: &str, path: &[Heading]) -> Option<Row> {
        let whole = &text[self.start..self.end];
        if !whole.contains(char::is_alphanumeric) {
            return None;
        }
        // Leading empty lines are dropped.
        let mut skipped = 0;
        let mut lines = 0;
        for piece in whole.split_inclusive('\n').take_while(|piece| piece.trim().is_empty()) {
            skipped += piece.len();
            lines += 1;
        }
        Some(Row {
            start: self.start + skipped,
            end: self.end,
            first_line: self.line + lines,
            last_line: self.last,
            heading: joined(path),
            slug: path.last().map(|heading| heading.slug.clone()).unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_document_is_cut_at_its_headings() {
        let text = "---\na: 1\n---\n\nBefore.\n\n# Top\n\n## `One` [link](x) {#own}\n\ntext\n\n```\n# no heading\n```\n\n## A b, c!\nx\n## A b, c!\ny\n";
        let found = chunks(text, 13);
        let seen: Vec<_> =
            found.iter().map(|c| (c.heading.as_str(), c.slug.as_str(), c.first_line, c.last_line)).collect();
        assert_eq!(
            seen,
            [
                ("", "", 5, 5),
                ("Top > One link", "own", 9, 15),
                ("Top > A b, c!", "a-b-c", 17, 18),
                ("Top > A b, c!", "a-b-c-1", 19, 20)
            ]
        );
    }

    #[test]
    fn long_sections_are_cut_and_code_is_not() {
        let text = format!("# T\n\n```\n{}```\n\n{}", "code\n\n".repeat(900), "word\n\n".repeat(900));
        let found = chunks(&text, 0);
        assert!(found[0].end - found[0].start > 5_400 && text[found[0].start..found[0].end].ends_with("```"));
        assert!(found.len() >= 3 && found.iter().all(|c| c.end - c.start <= MAX_CHUNK));
    }

    #[test]
    fn no_chunk_is_longer_than_it_may_be() {
        for text in ["a b\n".repeat(9_000), format!("```\n{}", "コード\n".repeat(9_000)), "| x |\n".repeat(9_000)] {
            let found = chunks(&text, 0);
            assert!(found.iter().all(|c| text[c.start..c.end].chars().count() <= MAX_CHUNK));
            assert!(found.len() <= text.chars().count() / (MAX_CHUNK - 10) + 1);
            assert_eq!(found.iter().map(|c| c.last_line - c.first_line + 1).sum::<usize>(), text.lines().count());
        }
    }

    fn block(kind: usize, length: usize) -> String {
        match kind {
            0 => "word ".repeat(length / 5) + "\n",
            1 => format!("```\n{}```\n", "code\n\n".repeat(length / 6)),
            2 => "| 表 | x |\n".repeat(length / 10),
            _ => "潮が引く。\n".repeat(length / 6),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn code_and_tables_stay_whole(blocks in prop::collection::vec((0..4_usize, 10..7_900_usize, any::<bool>()), 1..6)) {
            let mut text = "# T\n\n".to_owned();
            let mut whole = vec![];
            for (kind, length, is_apart) in blocks {
                let block = block(kind, length);
                if matches!(kind, 1 | 2) && (is_apart || kind == 1) {
                    whole.push(text.len()..text.len() + block.trim_end().len());
                }
                text += &block;
                if is_apart {
                    text += "\n";
                }
            }
            let found = chunks(&text, 0);
            for block in whole {
                let is_whole = found.iter().any(|c| c.start <= block.start && block.end <= c.end);
                // Two tables without anything between them are one.
                let is_one = text[..block.start].ends_with("|\n");
                prop_assert!(is_whole || is_one, "{block:?} {found:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_chunk_is_its_lines(text in "([#`~ a潮\n]|## |```\n|\n\n|\r\n){0,60}") {
            let mut last = 0;
            for chunk in chunks(&text, 0) {
                let lines: Vec<&str> = text.split_inclusive('\n').collect();
                let span = lines[chunk.first_line - 1..chunk.last_line].concat();
                prop_assert_eq!(span.trim_end_matches(['\n', '\r']), &text[chunk.start..chunk.end]);
                prop_assert!(chunk.first_line > last);
                last = chunk.last_line;
            }
        }
    }
}
