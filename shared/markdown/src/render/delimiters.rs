//! Writing inline pieces as Markdown: delimiters of emphasis, links, line breaks.
//!
//! Each delimiter is checked against the flanking rules of `CommonMark`. Emphasis that no delimiter can express, such
//! as emphasis that begins with punctuation next to a letter, becomes an HTML element.

use super::{
    escape::{Place, code_span, escape},
    inline::{Inline, Mark, Piece},
};
use crate::tree::Id;

impl Inline {
    /// The content as Markdown. Two line breaks in a row outside of any mark end the paragraph.
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
        // The start of the current paragraph in `out`.
        let mut paragraph = 0;
        // The length of `out` after the latest delimiter, to know what touches it.
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

    /// For every opening mark that does not belong to a link, in order, the index of its closing one.
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

    /// The characters around the opening mark at `open` and the closing one at `close`, for `flanks`, in four
    /// variants: GitHub looks past the tildes of a strike-through on either side of a delimiter, others do not.
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

    /// The end of the strike-through marks at `at`: after them for a `step` of 1, before them for -1.
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

/// The first character of a line break; `ends_paragraph` tells of the first of two.
fn first_of_break(place: Place, ends_paragraph: bool) -> char {
    match place {
        Place::Cell => '<',
        Place::Paragraph if !ends_paragraph => '\\',
        Place::Paragraph | Place::Heading => '\n',
    }
}
/// Whether the text of a link is its address.
fn is_autolink(text: &str, destination: &str) -> bool {
    // Backslashes do not escape here, and some renderers decode percent-encoded text.
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

#[cfg(test)]
mod tests {
    use super::{super::rendered, *};

    #[test]
    fn delimiters_flank_words() {
        assert!(flanks("*", ['a', 'b', 'c', 'd']) && !flanks("_", ['a', 'b', 'c', 'd']));
        assert!(flanks("_", [' ', 'b', 'c', '.']) && !flanks("*", ['a', '(', ')', 'd']));
    }

    #[test]
    fn emphasis_without_a_delimiter_is_html() {
        assert_eq!(rendered("a<b>(b)</b>c"), "a<strong>(b)</strong>c\n");
        assert_eq!(rendered("<i>a<i>b</i></i>"), "*a<em>b</em>*\n");
    }

    #[test]
    fn two_line_breaks_end_a_paragraph() {
        assert_eq!(rendered("a<br>b<br><br>c<br>"), "a\\\nb\n\nc\n");
        assert_eq!(rendered("<b>a<br><br>b</b>"), "**a\\\nb**\n");
    }

    #[test]
    fn a_link_that_shows_its_address_is_an_autolink() {
        assert!(is_autolink("https://a.example/b", "https://a.example/b"));
        assert!(is_autolink("a@b.example", "mailto:a@b.example"));
        assert!(!is_autolink("a@b_c", "mailto:a@b_c") && !is_autolink("https://a|b", "https://a|b"));
    }
}
