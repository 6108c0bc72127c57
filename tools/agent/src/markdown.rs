//! Markdown for a terminal, rendered while the answer arrives.
//!
//! A parser of whole documents would delay an answer until its end, and one of whole lines a long paragraph until its
//! end. Here text is shown as it comes. Only what the next characters decide is held back: the mark at the beginning of
//! a line, a heading or a fence until the end of its line, and an open code span, emphasis or link.

use crate::sanitize::Cleaner;

const BOLD: &str = "\u{1b}[1m";
const DIM: &str = "\u{1b}[2m";
const ITALIC: &str = "\u{1b}[3m";
const CODE: &str = "\u{1b}[36m";
const PLAIN: &str = "\u{1b}[0m";

/// The most bytes of a code span, an emphasis or a link. A mark whose end is further away stands for itself, so that
/// nothing is held back for long.
const LONGEST: usize = 1_000;

/// Renders text that arrives in pieces, without terminal controls.
#[derive(Debug, Default)]
pub(crate) struct Renderer {
    cleaner: Cleaner,
    /// What came of the line and is not shown yet.
    held: String,
    /// What is known of the line.
    line: Line,
    in_code: bool,
    /// The last character that was shown of the line.
    before: Option<char>,
}

/// What is known of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Line {
    /// Nothing came of it.
    #[default]
    None,
    /// Its first characters came, and do not decide yet.
    Begun,
    /// A text with styles.
    Text,
    /// A quotation, whose first characters are still blank.
    Quotation,
    /// A line of code.
    Code,
    /// A heading or a fence, shown at its end.
    Whole,
}

/// What can be shown of the beginning of a text.
enum Part<'t> {
    /// This, and the text after it.
    Shown(String, &'t str),
    /// The first character as it is.
    Itself,
    /// The next characters decide.
    Open,
}

impl Renderer {
    /// Adds a piece of text, and returns the rendered text that can be shown now.
    pub(crate) fn feed(&mut self, piece: &str) -> String {
        let mut shown = String::new();
        let cleaned = self.cleaner.clean(piece);
        let mut pieces = cleaned.split('\n');
        self.add(pieces.next().unwrap_or_default(), &mut shown);
        for piece in pieces {
            shown += &self.end_line();
            shown.push('\n');
            self.add(piece, &mut shown);
        }
        shown
    }

    /// The rest; the next text is a new one.
    pub(crate) fn end(&mut self) -> String {
        let shown = if self.line == Line::None { String::new() } else { self.end_line() + "\n" };
        *self = Self::default();
        shown
    }

    /// Adds a piece of the current line.
    fn add(&mut self, piece: &str, shown: &mut String) {
        if !piece.is_empty() {
            self.held += piece;
            if self.line == Line::None {
                self.line = Line::Begun;
            }
            self.advance(false, shown);
        }
    }

    /// Shows the rest of the line.
    fn end_line(&mut self) -> String {
        let mut shown = String::new();
        self.held.truncate(self.held.trim_end().len());
        self.advance(true, &mut shown);
        if self.line == Line::Code {
            shown += PLAIN;
        }
        (self.line, self.before) = (Line::None, None);
        self.held.clear();
        shown
    }

    /// Shows what is decided; at the end of the line, all of it.
    fn advance(&mut self, at_end: bool, shown: &mut String) {
        if matches!(self.line, Line::None | Line::Begun) {
            self.begin(at_end, shown);
        }
        if self.line == Line::Quotation {
            let text = self.held.trim_start();
            if text.is_empty() {
                return;
            }
            self.held = text.to_owned();
            self.line = Line::Text;
        }
        match self.line {
            Line::Text => self.inline(at_end, shown),
            // Blanks at the end of a line are not shown.
            Line::Code => *shown += &self.held.drain(..self.held.trim_end().len()).collect::<String>(),
            Line::Whole if at_end => {
                let line = std::mem::take(&mut self.held);
                *shown += &self.whole(&line);
            }
            _ => {}
        }
    }

    /// Decides what the line is, by its first characters, and shows its mark.
    fn begin(&mut self, at_end: bool, shown: &mut String) {
        let (indent, text) = self.held.split_at(self.held.len() - self.held.trim_start().len());
        let is_fence = text.starts_with("```") || text.starts_with("~~~");
        let may_be_fence = !text.is_empty() && ["```", "~~~"].iter().any(|fence| fence.starts_with(text));
        let only = |marks: &str| text.chars().all(|c| marks.contains(c) || c.is_whitespace());
        let (line, mark, rest) = match text.chars().next() {
            _ if is_fence => (Line::Whole, String::new(), 0),
            _ if !at_end && (text.is_empty() || may_be_fence) => return,
            _ if self.in_code => (Line::Code, CODE.to_owned(), 0),
            Some('#') if !at_end && text.trim_start_matches('#').is_empty() => return,
            Some('#') if text.trim_start_matches('#').starts_with(' ') => (Line::Whole, String::new(), 0),
            Some('>') => (Line::Quotation, format!("{indent}{DIM}│{PLAIN} "), indent.len() + 1),
            Some('-' | '*' | '+') if text[1..].starts_with(' ') && !text[1..].trim().is_empty() => {
                (Line::Text, format!("{indent}• "), indent.len() + 2)
            }
            // A rule, or the mark of an item.
            Some(c @ ('-' | '*' | '_' | '+')) if only(&c.to_string()) => {
                if !at_end {
                    return;
                }
                let is_rule = c != '+' && text.len() >= 3;
                (if is_rule { Line::Whole } else { Line::Text }, String::new(), 0)
            }
            _ => (Line::Text, String::new(), 0),
        };
        *shown += &mark;
        self.held.drain(..rest);
        self.line = line;
    }

    /// A heading, a fence or a rule.
    fn whole(&mut self, line: &str) -> String {
        let (indent, text) = line.split_at(line.len() - line.trim_start().len());
        if text.starts_with("```") || text.starts_with("~~~") {
            self.in_code = !self.in_code;
            return format!("{indent}{DIM}{text}{PLAIN}");
        }
        let title = text.trim_start_matches('#');
        if title.len() < text.len() && text.len() - title.len() <= 6 {
            return format!("{BOLD}{}{PLAIN}", title.trim_end_matches('#').trim());
        }
        if title.len() < text.len() {
            return line.to_owned();
        }
        format!("{DIM}{}{PLAIN}", "─".repeat(40))
    }

    /// Shows bold, italic, code and links within a line, as far as they are complete.
    fn inline(&mut self, at_end: bool, shown: &mut String) {
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_str();
        while let Some(c) = rest.chars().next() {
            // Blanks at the end of a line are not shown.
            if !at_end && rest.trim_start().is_empty() {
                break;
            }
            match part(rest, c, self.before, at_end) {
                Part::Open => break,
                Part::Shown(styled, after) => {
                    self.before = rest[..rest.len() - after.len()].chars().next_back();
                    *shown += &styled;
                    rest = after;
                }
                Part::Itself => {
                    shown.push(c);
                    self.before = Some(c);
                    rest = &rest[c.len_utf8()..];
                }
            }
        }
        self.held = rest.to_owned();
    }
}

/// The part at the beginning of `text`, which begins with `c`.
fn part(text: &str, c: char, before: Option<char>, at_end: bool) -> Part<'_> {
    match c {
        '`' => styled(text, "`", CODE, at_end),
        '*' | '_' if text.len() == 1 && !at_end => Part::Open,
        '_' if text.starts_with("__") && before.is_some_and(char::is_alphanumeric) => Part::Itself,
        '*' | '_' if text[1..].starts_with(c) => styled(text, &text[..2], BOLD, at_end),
        '*' => styled(text, "*", ITALIC, at_end),
        '[' => match link(text) {
            Part::Open if at_end => Part::Itself,
            part => part,
        },
        _ => Part::Itself,
    }
}

/// The text between two `mark`s at the beginning of `text`, in `style`.
fn styled<'t>(text: &'t str, mark: &str, style: &str, at_end: bool) -> Part<'t> {
    let inner = &text[mark.len()..];
    let begins_blank = mark != "`" && inner.starts_with(char::is_whitespace);
    match inner.find(mark) {
        _ if begins_blank => Part::Itself,
        Some(end) => {
            let within = &inner[..end];
            let is_text = end > 0 && end <= LONGEST && (mark == "`" || within.trim() == within);
            let shown = if mark == "`" { within.to_owned() } else { within.replace('`', "") };
            if is_text {
                Part::Shown(format!("{style}{shown}{PLAIN}"), &inner[end + mark.len()..])
            } else {
                Part::Itself
            }
        }
        // The mark may be complete with the next character.
        None if at_end || inner.len() > LONGEST + mark.len() => Part::Itself,
        None => Part::Open,
    }
}

/// A link, followed by its address, so that a person sees the target.
fn link(text: &str) -> Part<'_> {
    let inner = &text[1..];
    let open = |length: usize| if length > LONGEST { Part::Itself } else { Part::Open };
    let Some(end) = inner.find(['[', ']']) else { return open(inner.len()) };
    let after = &inner[end..];
    if after == "]" {
        return open(end);
    }
    let Some(address) = after.strip_prefix("](").filter(|_| end <= LONGEST) else { return Part::Itself };
    let Some(close) = address.find(|c: char| c == ')' || c.is_whitespace()) else { return open(address.len()) };
    if !address[close..].starts_with(')') || close > LONGEST {
        return Part::Itself;
    }
    let (name, rest) = (&inner[..end], &address[close + 1..]);
    let address = &address[..close];
    let shown = if name == address { address.to_owned() } else { format!("{name} {DIM}({address}){PLAIN}") };
    Part::Shown(shown, rest)
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
    fn text_is_shown_as_it_arrives() {
        let mut renderer = Renderer::default();
        assert_eq!(renderer.feed("# Ti"), "");
        assert_eq!(renderer.feed("des\n- **spring** ti"), "\u{1b}[1mTides\u{1b}[0m\n• \u{1b}[1mspring\u{1b}[0m ti");
        assert_eq!(renderer.feed("des"), "des");
        assert_eq!(renderer.feed(" are "), " are");
        assert_eq!(renderer.feed("`hi"), " ");
        assert_eq!(renderer.feed("gh`, **no"), "\u{1b}[36mhigh\u{1b}[0m, ");
        assert_eq!(renderer.feed("t so 2 * 3"), "");
        assert_eq!(renderer.feed("\n潮は、"), "**not so 2 * 3\n潮は、");
        assert_eq!(renderer.feed("月の"), "月の");
        assert_eq!(renderer.feed("\n```\nlet "), "\n\u{1b}[2m```\u{1b}[0m\n\u{1b}[36mlet");
        assert_eq!(renderer.feed("a"), " a");
        assert_eq!(renderer.end(), "\u{1b}[0m\n");
        // A mark without an end is held back only so long.
        assert_eq!(renderer.feed(&format!("*{}", "x".repeat(LONGEST * 2))).len(), LONGEST * 2 + 1);
    }

    #[test]
    fn non_markdown_text_is_unchanged() {
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
