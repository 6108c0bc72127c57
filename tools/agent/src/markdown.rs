//! Markdown for a terminal, rendered line by line while the answer arrives.
//!
//! A parser of whole documents would delay an answer until its end. Here a line is shown when it is complete; only code
//! fences span lines.

use crate::sanitize::Cleaner;

const BOLD: &str = "\u{1b}[1m";
const DIM: &str = "\u{1b}[2m";
const ITALIC: &str = "\u{1b}[3m";
const CODE: &str = "\u{1b}[36m";
const PLAIN: &str = "\u{1b}[0m";

/// Renders text that arrives in pieces, without terminal controls.
#[derive(Debug, Default)]
pub(crate) struct Renderer {
    cleaner: Cleaner,
    line: String,
    in_code: bool,
}

impl Renderer {
    /// Adds a piece of text, and returns the rendered text that can be shown now.
    pub(crate) fn feed(&mut self, piece: &str) -> String {
        self.line += &self.cleaner.clean(piece);
        let mut shown = String::new();
        while let Some(end) = self.line.find('\n') {
            let line: String = self.line.drain(..=end).collect();
            shown += &self.render(line.trim_end());
            shown.push('\n');
        }
        shown
    }

    /// The rest; the next text is a new one.
    pub(crate) fn end(&mut self) -> String {
        let line = std::mem::take(&mut self.line);
        let shown = if line.is_empty() { String::new() } else { self.render(line.trim_end()) + "\n" };
        *self = Self::default();
        shown
    }

    fn render(&mut self, line: &str) -> String {
        let (indent, text) = line.split_at(line.len() - line.trim_start().len());
        if text.starts_with("```") || text.starts_with("~~~") {
            self.in_code = !self.in_code;
            return format!("{indent}{DIM}{text}{PLAIN}");
        }
        if self.in_code {
            return format!("{CODE}{line}{PLAIN}");
        }
        let hashes = text.chars().take_while(|c| *c == '#').count();
        if (1..=6).contains(&hashes)
            && let Some(title) = text[hashes..].strip_prefix(' ')
        {
            return format!("{BOLD}{}{PLAIN}", title.trim_end_matches('#').trim());
        }
        if let Some(item) = ["- ", "* ", "+ "].iter().find_map(|mark| text.strip_prefix(mark)) {
            return format!("{indent}• {}", inline(item));
        }
        if let Some(quote) = text.strip_prefix('>') {
            return format!("{indent}{DIM}│{PLAIN} {}", inline(quote.trim_start()));
        }
        if text.len() >= 3 && ["-", "*", "_"].iter().any(|mark| text.replace(mark, "").trim().is_empty()) {
            return format!("{DIM}{}{PLAIN}", "─".repeat(40));
        }
        format!("{indent}{}", inline(text))
    }
}

/// Bold, italic, code and links within a line.
fn inline(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(c) = rest.chars().next() {
        let styled = match c {
            '`' => between(rest, "`").map(|(inner, rest)| (format!("{CODE}{inner}{PLAIN}"), rest)),
            '*' | '_' if rest.starts_with("**") || rest.starts_with("__") => {
                let mark = &rest[..2];
                let at_start = !out.ends_with(char::is_alphanumeric) || c == '*';
                between(rest, mark)
                    .filter(|_| at_start)
                    .map(|(inner, rest)| (format!("{BOLD}{}{PLAIN}", plain(inner)), rest))
            }
            '*' => between(rest, "*").map(|(inner, rest)| (format!("{ITALIC}{}{PLAIN}", plain(inner)), rest)),
            '[' => link(rest),
            _ => None,
        };
        if let Some((shown, after)) = styled {
            out += &shown;
            rest = after;
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// Text in bold or italics, where code marks are not needed.
fn plain(text: &str) -> String {
    text.replace('`', "")
}

/// The text between two `mark`s at the start of `text`, without spaces at its ends, and the text after it.
fn between<'a>(text: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let inner = text.strip_prefix(mark)?;
    let end = inner.find(mark)?;
    let within = &inner[..end];
    let is_text = !within.is_empty() && (mark == "`" || within.trim() == within);
    is_text.then(|| (within, &inner[end + mark.len()..]))
}

/// A link, followed by its address, so that a person sees the target.
fn link(text: &str) -> Option<(String, &str)> {
    let (name, rest) = text.strip_prefix('[')?.split_once("](")?;
    let (address, rest) = rest.split_once(')')?;
    if name.contains(['[', ']']) || address.contains(char::is_whitespace) {
        return None;
    }
    let shown = if name == address { address.to_owned() } else { format!("{name} {DIM}({address}){PLAIN}") };
    Some((shown, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rendered(text: &str) -> String {
        let mut renderer = Renderer::default();
        renderer.feed(text) + &renderer.end()
    }

    #[test]
    fn lines_are_styled_as_they_are_complete() {
        let mut renderer = Renderer::default();
        assert_eq!(renderer.feed("# Ti"), "");
        assert_eq!(renderer.feed("des\n- **spring** ti"), "\u{1b}[1mTides\u{1b}[0m\n");
        assert_eq!(renderer.feed("des\n"), "• \u{1b}[1mspring\u{1b}[0m tides\n");
        assert_eq!(renderer.end(), "");
    }

    #[test]
    fn what_is_no_markdown_stays() {
        for text in ["2 * 3 * 4", "snake_case_name", "a [b] (c)", "#hash", "`open", "**", "a ** b **", "5 > 3"] {
            assert_eq!(rendered(text), format!("{text}\n"), "{text}");
        }
        assert_eq!(rendered("[Tides](https://a.example/t)"), "Tides \u{1b}[2m(https://a.example/t)\u{1b}[0m\n");
    }

    #[test]
    fn code_is_not_read_as_markdown() {
        let shown = rendered("```sh\n# comment **x**\n```\n# Title");
        assert!(shown.contains("# comment **x**") && shown.contains("\u{1b}[1mTitle"));
    }

    proptest! {
        #[test]
        fn any_text_is_rendered_wherever_it_is_split(text in "[#*_`~\\[\\]()> \\-a潮\n\u{1b}]{0,60}", at in 0_usize..60) {
            let at = text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
            let mut renderer = Renderer::default();
            let split = renderer.feed(&text[..at]) + &renderer.feed(&text[at..]) + &renderer.end();
            prop_assert_eq!(split, rendered(&text));
        }
    }
}
