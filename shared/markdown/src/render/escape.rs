//! Escaping: prevents text and code from being read as Markdown syntax.

use std::collections::HashSet;

use crate::urls;

/// The kind of block that inline content is in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Paragraph,
    Heading,
    Cell,
}

/// Appends `text` so that none of it is read as markup; `next` is the character after it in the block.
pub(super) fn escape(text: &str, next: Option<char>, in_link: bool, place: Place, out: &mut String) {
    let line_start = out.is_empty() || out.ends_with('\n');
    let continues = !out.is_empty() && !out.ends_with("\n\n");
    let mut start = 0;
    if line_start && place == Place::Paragraph {
        start = escape_line_start(text, next.is_none_or(|next| next == '\n'), continues, out);
    }
    let before = out.chars().next_back().unwrap_or(' ');
    let mut copied = start;
    let tildes = text.bytes().filter(|b| *b == b'~').count();
    let bytes = text.as_bytes();
    for at in start..bytes.len() {
        let b = bytes[at];
        if !matches!(b, b'\\' | b'`' | b'*' | b'_' | b'[' | b']' | b'<' | b'&' | b'~' | b'|' | b'#')
            && (at > 0 || before != ']' || !b.is_ascii())
        {
            continue;
        }
        let previous = text[..at].chars().next_back().unwrap_or(before);
        let tail = &text[at + 1..];
        let following = tail.chars().next().or(next).unwrap_or(' ');
        let escaped = match b {
            b'\\' => following.is_ascii_punctuation() || following == '\n' || (tail.is_empty() && next.is_none()),
            // The last two would turn a footnote's mark before them into a link.
            b'`' | b':' | b'(' => true,
            b'*' => !(previous.is_whitespace() && following.is_whitespace()),
            b'_' => {
                let within = |is: fn(char) -> bool| is(previous) && is(following);
                !within(char::is_alphanumeric) && !within(char::is_whitespace)
            }
            b'[' => in_link || (following == '^'),
            b']' => in_link || matches!(following, '(' | '[' | ':'),
            b'<' => following.is_ascii_alphabetic() || matches!(following, '/' | '!' | '?'),
            b'&' => urls::looks_like_reference(tail),
            b'~' => tildes > 1,
            b'|' => place == Place::Cell,
            b'#' => place == Place::Heading && tail.is_empty() && next.is_none(),
            _ => false,
        };
        if escaped {
            out.push_str(&text[copied..at]);
            out.push('\\');
            copied = at;
        }
    }
    out.push_str(&text[copied..]);
}

/// Escapes what would begin a block at the start of a line; returns how much of the text was written.
fn escape_line_start(text: &str, ends_line: bool, continues: bool, out: &mut String) -> usize {
    let bytes = text.as_bytes();
    let Some(&first) = bytes.first() else { return 0 };
    let blank_at = |at: usize| bytes.get(at).is_none_or(|b| *b == b' ');
    let only = |set: &[u8]| ends_line && bytes.iter().all(|b| set.contains(b));
    let marker = match first {
        b'#' => blank_at(bytes.iter().take_while(|b| **b == b'#').count()),
        b'>' => true,
        b'-' => blank_at(1) || only(b"- ") || (continues && only(b"-:| ")),
        b'+' | b'*' => blank_at(1),
        b'_' => only(b"_ "),
        b'=' => continues && only(b"= "),
        b':' | b'|' => continues && only(b"-:| "),
        b'[' => matches!(bytes.get(1..3), Some(b" ]" | b"x]" | b"X]")),
        _ => false,
    };
    if marker {
        out.extend(['\\', char::from(first)]);
        return 1;
    }
    let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    if (1..10).contains(&digits) && matches!(bytes.get(digits), Some(b'.' | b')')) && blank_at(digits + 1) {
        out.push_str(&text[..digits]);
        out.extend(['\\', char::from(bytes[digits])]);
        return digits + 1;
    }
    0
}

/// Escapes the text of an image or a title.
pub(super) fn escape_plain(text: &str, place: Place, out: &mut String) {
    let words: Vec<_> = text.split_whitespace().collect();
    let mut piece = String::new();
    escape(
        &words.join(" "),
        Some('x'),
        true,
        if place == Place::Paragraph { Place::Heading } else { place },
        &mut piece,
    );
    out.push_str(&piece);
    // A bracket or a quotation mark follows, which the backslash would escape.
    if piece.ends_with('\\') {
        out.push('\\');
    }
}

/// Appends a code span; `opened` tells whether the paragraph begins with a bracket.
pub(super) fn code_span(source: &str, in_link: bool, opened: bool, place: Place, out: &mut String) {
    let text = source.replace(['\n', '\r'], " ");
    // A pipe in a cell needs a backslash, which another backslash before it would escape; and `]:` would make the
    // paragraph a link reference definition.
    if (place == Place::Cell && text.contains("\\|")) || (opened && text.contains("]:")) {
        out.push_str("<code>");
        escape(&text, Some('<'), in_link, place, out);
        out.push_str("</code>");
        return;
    }
    let runs: HashSet<usize> = text.split(|c| c != '`').map(str::len).collect();
    let fence = (1..=runs.len() + 1).find(|length| !runs.contains(length)).unwrap_or(1);
    let spaced = text.starts_with(' ') && text.ends_with(' ') && !text.trim_matches(' ').is_empty();
    let padded = spaced || text.starts_with('`') || text.ends_with('`');
    let fence = "`".repeat(fence);
    out.push_str(&fence);
    if padded {
        out.push(' ');
    }
    if place == Place::Cell {
        out.push_str(&text.replace('|', "\\|"));
    } else {
        out.push_str(&text);
    }
    if padded {
        out.push(' ');
    }
    out.push_str(&fence);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &str, place: Place) -> String {
        let mut out = String::new();
        escape(text, None, false, place, &mut out);
        out
    }

    #[test]
    fn markup_within_a_line_is_escaped() {
        assert_eq!(
            escaped("a *b* c_d [e](f) <g> &amp; `h`", Place::Heading),
            "a \\*b\\* c_d [e\\](f) \\<g> \\&amp; \\`h\\`"
        );
        assert_eq!(escaped("a * b | c", Place::Paragraph), "a * b | c");
        assert_eq!(escaped("a | b", Place::Cell), "a \\| b");
    }

    #[test]
    fn a_backslash_at_the_end_does_not_escape_what_encloses_the_text() {
        for (text, safe) in [("a\\", "a\\\\"), ("a\\\\", "a\\\\\\\\"), ("\\a", "\\a"), ("a]", "a\\]")] {
            let mut out = String::new();
            escape_plain(text, Place::Paragraph, &mut out);
            assert_eq!(out, safe, "{text}");
        }
    }

    #[test]
    fn text_that_begins_a_block_is_escaped() {
        for (text, safe) in
            [("- a", "\\- a"), ("12) a", "12\\) a"), ("## a", "\\## a"), ("> a", "\\> a"), ("---", "\\---")]
        {
            assert_eq!(escaped(text, Place::Paragraph), safe);
        }
        for text in ["-a", "1.5 m", "#a", "1234567890. a"] {
            assert_eq!(escaped(text, Place::Paragraph), text);
        }
    }

    #[test]
    fn a_fence_is_longer_than_the_backticks_inside() {
        let code = |source: &str, place| {
            let mut out = String::new();
            code_span(source, false, false, place, &mut out);
            out
        };
        assert_eq!(code("a`b``c", Place::Paragraph), "```a`b``c```");
        assert_eq!(code("`a", Place::Paragraph), "`` `a ``");
        assert_eq!(code("a|b", Place::Cell), "`a\\|b`");
    }
}
