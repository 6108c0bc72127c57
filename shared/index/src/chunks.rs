//! Chunks: splits a Markdown document at its headings into parts of whole lines.

use ragmaker_document::sections::{Heading, Headings, enter, joined};

use crate::rows::Row;

/// Sections longer than this are cut at the next empty line outside code.
const LONG: usize = 2_000;
/// Nothing is longer than this, unless one line is.
const LONGEST: usize = 8_000;

/// The chunks of the file `text`, whose first `body` bytes are front matter.
pub(crate) fn chunks(text: &str, body: usize) -> Vec<Row> {
    let mut chunks: Vec<Row> = vec![];
    let mut path: Vec<Heading> = vec![];
    let mut headings = Headings::default();
    let first = text[..body].matches('\n').count() + 1;
    let mut at = body;
    let mut open: Option<Open> = None;
    for (line, piece) in (first..).zip(text[body..].split_inclusive('\n')) {
        let content = piece.trim_end_matches(['\n', '\r']);
        let heading = headings.read(content);
        let is_heading = heading.is_some();
        if let Some(heading) = heading {
            if let Some(open) = open.take() {
                // A heading right before a deeper one is said by the path of what follows.
                let is_only_heading = !open.has_body && path.last().is_some_and(|last| last.level < heading.level);
                if !is_only_heading {
                    chunks.extend(open.close(text, &path));
                }
            }
            enter(&mut path, heading);
        }
        if let Some(full) = open.take_if(|open| {
            let length = at - open.start;
            (length > LONG && content.trim().is_empty() && !headings.in_code()) || length + piece.len() > LONGEST
        }) {
            chunks.extend(full.close(text, &path));
        }
        let current = open.get_or_insert(Open { start: at, end: at, line, last: line, has_body: false });
        current.has_body |= !is_heading && content.contains(char::is_alphanumeric);
        at += piece.len();
        if !content.trim().is_empty() {
            (current.end, current.last) = (at - (piece.len() - content.len()), line);
        }
    }
    if let Some(open) = open {
        chunks.extend(open.close(text, &path));
    }
    chunks
}

struct Open {
    start: usize,
    end: usize,
    line: usize,
    last: usize,
    has_body: bool,
}

impl Open {
    fn close(self, text: &str, path: &[Heading]) -> Option<Row> {
        let whole = &text[self.start..self.end];
        if !whole.contains(char::is_alphanumeric) {
            return None;
        }
        // Empty lines before the text are left out.
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
        assert!(found.len() >= 3 && found.iter().all(|c| c.end - c.start <= LONGEST));
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
