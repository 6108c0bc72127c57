//! Text within a block: emphasis, links, code, images, and the escapes that keep text text.
//!
//! A block's inline content is first gathered as [`Piece`]s, white space collapsed and moved out of
//! emphasis; then written, each delimiter checked against `CommonMark`'s flanking rules. Emphasis
//! that no delimiter can express, such as next to a letter with punctuation inside, stays HTML.

use std::collections::HashSet;

use crate::{tree::Id, urls};

/// What encloses a part of the text.
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
type Part = (u32, u32);

#[derive(Clone, Copy, Debug)]
enum Piece {
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

/// Where a block's inline content stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Paragraph,
    Heading,
    Cell,
}

/// The inline content of one block.
pub(super) struct Inline {
    pieces: Vec<Piece>,
    /// The text of all pieces.
    text: String,
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

    fn settle(&mut self, next: Option<char>) {
        let last = self.last;
        let spaced = match (self.space, last, next) {
            (Space::None, ..) | (_, None, _) => false,
            // Line ends between ideographs are the source's, not the text's.
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

    fn part(&self, (start, end): Part) -> &str {
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
            self.settle(word.chars().next());
            self.put_text(&word[..end]);
            rest = &word[end..];
        }
    }

    /// Adds code; what is only white space counts as such unless `blank` code is wanted.
    pub(super) fn code(&mut self, source: &str, blank: bool) {
        let lead = source.starts_with(is_space);
        if source.is_empty() || (!blank && source.trim_matches(is_space).is_empty()) {
            return self.text(source);
        }
        self.settle(Some(if lead { ' ' } else { 'x' }));
        self.last = Some('x');
        let part = self.store(source);
        match self.pieces.last_mut() {
            Some(Piece::Code(before)) => before.1 = part.1,
            _ => self.pieces.push(Piece::Code(part)),
        }
    }

    pub(super) fn done(&mut self, markdown: &str) {
        self.settle(Some('x'));
        self.last = Some('x');
        let part = self.store(markdown);
        self.pieces.push(Piece::Done(part));
    }

    /// Begins the marks that wait for content, though there is none.
    pub(super) fn begin_marks(&mut self) {
        if !self.waiting.is_empty() {
            self.settle(Some('x'));
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

    /// The content as Markdown; two line breaks in a row outside of any mark are a `\n\n`.
    pub(super) fn write(mut self, place: Place, mut link_end: impl FnMut(Id, &mut String)) -> String {
        while matches!(self.pieces.last(), Some(Piece::Break)) {
            self.pieces.pop();
        }
        let lead = self.pieces.iter().take_while(|piece| matches!(piece, Piece::Break)).count();
        self.pieces.drain(..lead);
        self.join_runs();
        let mut partners = self.partners().into_iter();
        let mut out = String::with_capacity(self.text.len() + 16);
        let mut delimiters: Vec<&'static str> = vec![];
        let mut links = 0;
        let mut link_start = 0;
        // Where the paragraph begins that is being written.
        let mut paragraph = 0;
        // The length of `out` after the latest delimiter, to see what touches it.
        let mut touched = usize::MAX;
        for (at, &piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Text(part) => {
                    let text = self.part(part);
                    let next = match self.pieces.get(at + 1) {
                        Some(Piece::Break) => {
                            let again = matches!(self.pieces.get(at + 2), Some(Piece::Break));
                            Some(first_of_break(place, again && links == 0 && delimiters.is_empty()))
                        }
                        Some(_) => Some(self.first_char(at + 1)),
                        None => None,
                    };
                    escape(text, next, links > 0, place, &mut out);
                }
                Piece::Code(part) => {
                    let opened = out[paragraph..].starts_with('[');
                    code_span(self.part(part), links > 0, opened, place, &mut out);
                }
                Piece::Done(part) => out.push_str(self.part(part)),
                Piece::Break => match place {
                    Place::Cell => out.push_str("<br>"),
                    Place::Heading => out.push(' '),
                    Place::Paragraph if links == 0 && delimiters.is_empty() && out.ends_with("\\\n") => {
                        out.truncate(out.len() - 2);
                        out.push_str("\n\n");
                        paragraph = out.len();
                    }
                    Place::Paragraph if out.ends_with('\n') => {}
                    Place::Paragraph => out.push_str("\\\n"),
                },
                Piece::Open(Mark::Link(_)) => {
                    links += 1;
                    if out.ends_with('!') {
                        out.insert(out.len() - 1, '\\');
                    }
                    link_start = out.len();
                    out.push('[');
                }
                Piece::Close(Mark::Link(id)) => {
                    links -= 1;
                    let mut end = String::new();
                    link_end(id as Id, &mut end);
                    match self.pieces[..at] {
                        [.., Piece::Open(_), Piece::Text(part)] if is_autolink(self.part(part), &end) => {
                            out.truncate(link_start);
                            out.extend(["<", self.part(part), ">"]);
                        }
                        _ => out.extend(["](", &end, ")"]),
                    }
                }
                Piece::Open(mark) => {
                    let close = partners.next().map_or(self.pieces.len(), |close| close as usize);
                    let flanked = self.flanks_of(at, close, &out);
                    let same = |delimiter: &&str| {
                        let c = delimiter.as_bytes()[0];
                        (touched == out.len() && out.as_bytes().last() == Some(&c))
                            || delimiters.iter().any(|open| mark == Mark::Em && open == delimiter)
                            || delimiters.iter().any(|open| mark == Mark::Strong && open == delimiter)
                    };
                    let choices: &[&'static str] = match mark {
                        Mark::Strong => &["**", "__"],
                        Mark::Em => &["*", "_"],
                        Mark::Del => &["~~"],
                        _ => &[],
                    };
                    let fits =
                        |delimiter: &&&str| !same(delimiter) && flanked.iter().all(|around| flanks(delimiter, *around));
                    let chosen = choices.iter().find(fits);
                    delimiters.push(chosen.copied().unwrap_or_default());
                    out.push_str(chosen.copied().unwrap_or(html_tag(mark)));
                    touched = if chosen.is_some() { out.len() } else { usize::MAX };
                }
                Piece::Close(mark) => {
                    let delimiter = delimiters.pop().unwrap_or_default();
                    if delimiter.is_empty() {
                        out.push_str("</");
                        out.push_str(&html_tag(mark)[1..]);
                    } else {
                        out.push_str(delimiter);
                        touched = out.len();
                    }
                }
            }
        }
        out
    }

    /// Joins emphasis that ends where the same begins again.
    fn join_runs(&mut self) {
        let mut kept = 0;
        for at in 0..self.pieces.len() {
            let piece = self.pieces[at];
            let before = self.pieces[..kept].last_mut();
            match (piece, before) {
                (Piece::Open(open), Some(Piece::Close(close))) if open == *close && !matches!(open, Mark::Link(_)) => {
                    kept -= 1;
                }
                // What was between them had no text.
                (Piece::Text(part), Some(Piece::Text(before))) | (Piece::Code(part), Some(Piece::Code(before)))
                    if before.1 == part.0 =>
                {
                    before.1 = part.1;
                }
                _ => {
                    self.pieces[kept] = piece;
                    kept += 1;
                }
            }
        }
        self.pieces.truncate(kept);
    }

    /// For every opening mark that is no link's, in order, the index of its closing one.
    fn partners(&self) -> Vec<u32> {
        let mut partners = vec![];
        let mut open = vec![];
        for (at, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Open(Mark::Link(_)) | Piece::Close(Mark::Link(_)) => {}
                Piece::Open(_) => {
                    open.push(partners.len());
                    partners.push(self.pieces.len() as u32);
                }
                Piece::Close(_) => {
                    if let Some(start) = open.pop() {
                        partners[start] = at as u32;
                    }
                }
                _ => {}
            }
        }
        partners
    }

    /// The characters around the opening mark at `open` and the closing one at `close`, as `flanks` takes
    /// them: on either side of a delimiter GitHub looks past the tildes of a strike-through where it takes
    /// them for one, and others never do.
    fn flanks_of(&self, open: usize, close: usize, out: &str) -> [[char; 4]; 4] {
        let last = |text: &str| text.chars().next_back().unwrap_or('\n');
        let outside = [
            (last(out), self.first_char(close + 1)),
            (last(out.trim_end_matches('~')), self.first_char(self.skip_del(close + 1, 1))),
        ];
        let inside = [
            (self.first_char(open + 1), self.last_char_before(close)),
            (self.first_char(self.skip_del(open + 1, 1)), self.last_char_before(self.skip_del(close, -1))),
        ];
        [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(out, inner)| {
            let ((before, after), (first, last)) = (outside[out], inside[inner]);
            [before, first, last, after]
        })
    }

    /// Where the marks of strike-through at `at` end: after them for a `step` of 1, before them for -1.
    fn skip_del(&self, at: usize, step: isize) -> usize {
        let mut at = at;
        loop {
            let next = if step > 0 { Some(at) } else { at.checked_sub(1) };
            match next.and_then(|next| self.pieces.get(next)) {
                Some(Piece::Open(Mark::Del) | Piece::Close(Mark::Del)) => at = at.saturating_add_signed(step),
                _ => return at,
            }
        }
    }

    fn first_char(&self, at: usize) -> char {
        match self.pieces.get(at) {
            Some(&Piece::Text(part)) => self.part(part).chars().next().unwrap_or(' '),
            Some(Piece::Open(Mark::Link(_))) => '[',
            Some(Piece::Break) | None => '\n',
            Some(_) => '*',
        }
    }

    fn last_char_before(&self, at: usize) -> char {
        match at.checked_sub(1).and_then(|at| self.pieces.get(at)) {
            Some(&Piece::Text(part)) => self.part(part).chars().next_back().unwrap_or(' '),
            Some(Piece::Break) | None => '\n',
            Some(_) => '*',
        }
    }
}

/// What a line break is written with first; whether it ends the paragraph.
fn first_of_break(place: Place, ends_paragraph: bool) -> char {
    match place {
        Place::Cell => '<',
        Place::Paragraph if !ends_paragraph => '\\',
        Place::Paragraph | Place::Heading => '\n',
    }
}

/// White space as HTML collapses it, and the no-break space, which Markdown's readers do not need.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\n' | '\t' | '\r' | '\x0C' | '\u{A0}')
}

/// Where the words end that single blanks part: what can be taken as it is.
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

/// Whether `c` belongs to a script that is written without spaces.
pub(crate) fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{312F}' | '\u{31A0}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{FF00}'..='\u{FFEF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Whether a link shows the address that it leads to, and nothing else.
fn is_autolink(text: &str, destination: &str) -> bool {
    // Escapes would be text here, and some readers decode what is shown.
    let plain = !text.contains(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '\\' | '%' | '|'));
    let web = text.starts_with("http://") || text.starts_with("https://");
    let mail = || destination.strip_prefix("mailto:") == Some(text) && is_mail(text);
    plain && ((web && text == destination) || mail())
}

fn is_mail(text: &str) -> bool {
    let name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+'))
    };
    let host = |host: &str| {
        host.split('.').all(|label| {
            label.starts_with(|c: char| c.is_ascii_alphanumeric()) && !label.ends_with('-') && label.len() < 64
        })
    };
    text.split_once('@').is_some_and(|(user, at)| name(user) && name(at) && host(at) && !at.contains(['_', '+']))
}

fn html_tag(mark: Mark) -> &'static str {
    match mark {
        Mark::Strong => "<strong>",
        Mark::Em => "<em>",
        Mark::Del => "<del>",
        Mark::Sub => "<sub>",
        Mark::Sup => "<sup>",
        Mark::Link(_) => "<a>",
    }
}

/// Whether a delimiter opens and closes emphasis among these characters: before and after its
/// opening run, before and after its closing one.
fn flanks(delimiter: &str, [before, first, last, after]: [char; 4]) -> bool {
    let punctuation = |c: char| !c.is_alphanumeric() && !c.is_whitespace();
    let left = |before: char, after: char| {
        !after.is_whitespace() && (!punctuation(after) || before.is_whitespace() || punctuation(before))
    };
    let right = |before: char, after: char| left(after, before);
    let opens = left(before, first);
    let closes = right(last, after);
    if delimiter.starts_with('_') {
        opens && closes && (!right(before, first) || punctuation(before)) && (!left(last, after) || punctuation(after))
    } else {
        opens && closes
    }
}

/// Appends `text` so that none of it is read as markup. `next` is what follows it in the block.
fn escape(text: &str, next: Option<char>, in_link: bool, place: Place, out: &mut String) {
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
            // The last two follow a footnote's mark.
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

/// Escapes what would make a line begin a block; how much of the text that took.
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
}

/// Appends code; `opened` tells whether the paragraph begins with a bracket.
fn code_span(source: &str, in_link: bool, opened: bool, place: Place, out: &mut String) {
    let text = source.replace(['\n', '\r'], " ");
    // A pipe needs a backslash in a cell, which another one before it would take away; and a bracket that
    // ends in here would make the definition of a link of the paragraph.
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
