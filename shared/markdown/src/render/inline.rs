//! The inline content of a block, collected as pieces: text, code, opening and closing marks, line breaks.
//!
//! This module collapses white space and moves it out of emphasis. [`super::delimiters`] writes the pieces.

use crate::chars::is_ideograph;

/// An element that encloses a part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Strong,
    Em,
    Del,
    Sub,
    Sup,
    /// A link, by its node.
    Link(u32),
}

/// A part of [`Inline::text`]; a paragraph can be the whole page, so that these are small.
pub(super) type Part = (u32, u32);

#[derive(Clone, Copy, Debug)]
pub(super) enum Piece {
    Text(Part),
    Open(Mark),
    Close(Mark),
    Code(Part),
    /// Finished Markdown: an image, mathematics.
    Done(Part),
    Break,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Space {
    None,
    Blank,
    LineEnd,
}

/// The inline content of one block.
pub(super) struct Inline {
    pub(super) pieces: Vec<Piece>,
    /// The text of all pieces.
    pub(super) text: String,
    /// Marks that were opened with nothing in them yet.
    waiting: Vec<Mark>,
    /// The marks that are open, waiting ones included.
    pub(super) open: Vec<Mark>,
    space: Space,
    /// The last character written; none at the start of a line.
    last: Option<char>,
}

impl Inline {
    pub(super) fn new() -> Self {
        Self { pieces: vec![], text: String::new(), waiting: vec![], open: vec![], space: Space::None, last: None }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.iter().all(|piece| matches!(piece, Piece::Break))
    }

    /// Adds the white space and the marks that wait, before a piece that begins with `next`.
    fn write_pending(&mut self, next: Option<char>) {
        let last = self.last;
        let spaced = match (self.space, last, next) {
            (Space::None, ..) | (_, None, _) => false,
            // A line break between ideographs is not a space.
            (Space::LineEnd, Some(last), Some(next)) => !(is_ideograph(last) && is_ideograph(next)),
            _ => true,
        };
        if spaced {
            self.put_text(" ");
        }
        self.space = Space::None;
        self.pieces.extend(self.waiting.drain(..).map(Piece::Open));
    }

    fn put_text(&mut self, text: &str) {
        let part = self.store(text);
        self.last = text.chars().next_back().or(self.last);
        match self.pieces.last_mut() {
            Some(Piece::Text(before)) => before.1 = part.1,
            _ => self.pieces.push(Piece::Text(part)),
        }
    }

    fn store(&mut self, text: &str) -> Part {
        let start = self.text.len() as u32;
        self.text.push_str(text);
        (start, self.text.len() as u32)
    }

    pub(super) fn part(&self, (start, end): Part) -> &str {
        &self.text[start as usize..end as usize]
    }

    /// Adds text as the source has it.
    pub(super) fn text(&mut self, source: &str) {
        let mut rest = source;
        loop {
            let word = rest.trim_start_matches(is_space);
            if word.len() < rest.len() {
                let line_end = rest[..rest.len() - word.len()].contains('\n');
                if self.space == Space::None {
                    self.space = if line_end { Space::LineEnd } else { Space::Blank };
                }
            }
            let end = run_of_words(word);
            if end == 0 {
                return;
            }
            self.write_pending(word.chars().next());
            self.put_text(&word[..end]);
            rest = &word[end..];
        }
    }

    /// Adds code; blank code is white space unless it is wanted as code.
    pub(super) fn code(&mut self, source: &str, blank: bool) {
        let lead = source.starts_with(is_space);
        if source.is_empty() || (!blank && source.trim_matches(is_space).is_empty()) {
            return self.text(source);
        }
        self.write_pending(Some(if lead { ' ' } else { 'x' }));
        self.last = Some('x');
        let part = self.store(source);
        match self.pieces.last_mut() {
            Some(Piece::Code(before)) => before.1 = part.1,
            _ => self.pieces.push(Piece::Code(part)),
        }
    }

    /// Adds finished Markdown.
    pub(super) fn done(&mut self, markdown: &str) {
        self.write_pending(Some('x'));
        self.last = Some('x');
        let part = self.store(markdown);
        self.pieces.push(Piece::Done(part));
    }

    /// Opens the marks that wait for content, although there is none.
    pub(super) fn begin_marks(&mut self) {
        if !self.waiting.is_empty() {
            self.write_pending(Some('x'));
        }
    }

    pub(super) fn line_break(&mut self) {
        self.space = Space::None;
        self.last = None;
        self.pieces.push(Piece::Break);
    }

    /// A line break unless a line has just begun.
    pub(super) fn fresh_line(&mut self) {
        if self.last.is_some() {
            self.line_break();
        }
    }

    pub(super) fn space(&mut self) {
        self.text(" ");
    }

    pub(super) fn open(&mut self, mark: Mark) {
        self.open.push(mark);
        self.waiting.push(mark);
    }

    pub(super) fn close(&mut self) {
        let Some(mark) = self.open.pop() else { return };
        if self.waiting.pop().is_some() {
            return;
        }
        let breaks = self.pieces.iter().rev().take_while(|piece| matches!(piece, Piece::Break)).count();
        self.pieces.insert(self.pieces.len() - breaks, Piece::Close(mark));
    }
}

/// White space as HTML collapses it, and the no-break space, which readers of Markdown do not need.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\n' | '\t' | '\r' | '\x0C' | '\u{A0}')
}

/// The length of the words at the start that are separated by single spaces: text that is copied as it is.
fn run_of_words(text: &str) -> usize {
    let mut after_blank = false;
    for (at, c) in text.char_indices() {
        let is_blank = c == ' ';
        if is_space(c) && (after_blank || !is_blank) {
            return at - usize::from(after_blank);
        }
        after_blank = is_blank;
    }
    text.len() - usize::from(after_blank)
}

#[cfg(test)]
mod tests {
    use super::{super::escape::Place, *};

    fn written(collect: impl Fn(&mut Inline)) -> String {
        let mut inline = Inline::new();
        collect(&mut inline);
        inline.write(Place::Paragraph, |_, out| out.push('x'))
    }

    #[test]
    fn white_space_is_collapsed_and_moved_out_of_marks() {
        let text = written(|inline| {
            inline.text("  a\n\t b");
            inline.open(Mark::Em);
            inline.text(" c ");
            inline.close();
            inline.text("d\u{A0} ");
        });
        assert_eq!(text, "a b *c* d");
    }

    #[test]
    fn a_line_end_between_ideographs_is_no_space() {
        assert_eq!(written(|inline| inline.text("高\n潮 a\nb")), "高潮 a b");
    }

    #[test]
    fn marks_without_content_are_not_written() {
        let mark = |begin: bool| {
            written(|inline| {
                inline.text("a");
                inline.open(Mark::Link(0));
                if begin {
                    inline.begin_marks();
                }
                inline.close();
            })
        };
        assert_eq!((mark(false).as_str(), mark(true).as_str()), ("a", "a[](x)"));
    }
}
