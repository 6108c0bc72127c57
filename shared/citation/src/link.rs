//! Links to a passage of a page: text fragments (`#:~:text=`, WICG Scroll To Text Fragment).

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{chars::is_cjk, fold::visible};

/// The characters that are escaped; `-`, `,` and `&` have a meaning in a fragment.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'.').remove(b'_').remove(b'~').remove(b'\'').remove(b'(').remove(b')');
/// The length of the start and the end in a fragment, in words, and in characters of scripts without spaces.
const WORDS: usize = 6;
const CHARACTERS: usize = 16;

/// `url` with a text fragment for `passage`, a Markdown text. A page contains neither Markdown syntax nor the
/// line breaks of a passage, so a long passage is identified by its first and last words.
pub(crate) fn text_fragment(url: &str, passage: &str) -> String {
    let lines: Vec<String> = passage.lines().map(visible_text).filter(|line| !line.is_empty()).collect();
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return url.to_owned() };
    // The end is searched after the start, so the two must not overlap.
    let is_whole = lines.len() == 1 && edges(first) < 2 * most(first);
    let start = if is_whole { first } else { ends(first, false) };
    let escape = |text: &str| utf8_percent_encode(text, ESCAPED).to_string();
    let mut text = escape(start);
    if !is_whole {
        text = format!("{text},{}", escape(ends(last, true)));
    }
    // An existing text fragment is replaced.
    let url = url.split_once(":~:").map_or(url, |(url, _)| url);
    let mark = if url.contains('#') { "" } else { "#" };
    format!("{url}{mark}:~:text={text}")
}

fn is_cjk_text(text: &str) -> bool {
    text.chars().filter(|c| is_cjk(*c)).count() * 2 > text.chars().count()
}

/// The number of words, or characters of a script without spaces, at each end of `text`.
fn most(text: &str) -> usize {
    if is_cjk_text(text) { CHARACTERS } else { WORDS }
}

/// The number of positions at which `text` can be cut.
fn edges(text: &str) -> usize {
    if is_cjk_text(text) { text.chars().count() } else { text.matches(' ').count() }
}

/// The first or last words of `text`.
fn ends(text: &str, at_end: bool) -> &str {
    let is_cjk = is_cjk_text(text);
    let is_edge = |c: char| is_cjk || c == ' ';
    if at_end {
        let cut = text.char_indices().rev().filter(|(_, c)| is_edge(*c)).nth(most(text) - 1);
        cut.map_or(text, |(at, _)| text[at..].trim_start())
    } else {
        let cut = text.char_indices().filter(|(_, c)| is_edge(*c)).nth(most(text) - usize::from(!is_cjk));
        cut.map_or(text, |(at, _)| text[..at].trim_end())
    }
}

/// A line as rendered.
fn visible_text(line: &str) -> String {
    let mut out = String::new();
    visible(line, |c| out.push(c));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_is_identified_by_its_ends() {
        for (passage, fragment) in [
            ("the **moon** pulls", "the%20moon%20pulls"),
            ("- a [link](https://x.example/) - b, c", "a%20link%20b%2C%20c"),
            (
                "one two three four five six seven eight nine ten eleven twelve thirteen",
                "one%20two%20three%20four%20five%20six,eight%20nine%20ten%20eleven%20twelve%20thirteen",
            ),
            ("one two three four five six seven eight", "one%20two%20three%20four%20five%20six%20seven%20eight"),
            ("First line.\n\nLast “line”.", "First%20line.,Last%20%E2%80%9Cline%E2%80%9D."),
            ("潮の満ち引き", "%E6%BD%AE%E3%81%AE%E6%BA%80%E3%81%A1%E5%BC%95%E3%81%8D"),
        ] {
            assert_eq!(
                text_fragment("https://x.example/p", passage),
                format!("https://x.example/p#:~:text={fragment}")
            );
        }
        assert_eq!(text_fragment("https://x.example/#s:~:text=old", "new"), "https://x.example/#s:~:text=new");
        assert_eq!(text_fragment("https://x.example/", "---"), "https://x.example/");
    }
}
