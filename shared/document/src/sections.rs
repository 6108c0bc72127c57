//! The headings of a Markdown document, their anchors (slugs), and the sections below them.
//!
//! Search cites a section as `path#slug`, and citations are checked against the same slugs, so both use this module.
//! The slug is the same as on GitHub: lower case, without punctuation, a hyphen for each space, and a number for a
//! repeated slug. `{#id}` at the end of a heading sets the slug.

use std::collections::HashMap;

use unicode_normalization::char::is_combining_mark;

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// From 1 to 6.
    pub level: usize,
    /// Without Markdown.
    pub text: String,
    /// Its anchor.
    pub slug: String,
}

/// Reads the headings of a document line by line. Lines in fenced code are not headings.
#[derive(Debug, Default)]
pub struct Headings {
    fence: Option<(char, usize)>,
    slugs: HashMap<String, usize>,
}

impl Headings {
    /// Reads the next line, without its line break: the heading that it is, if it is one.
    pub fn read(&mut self, line: &str) -> Option<Heading> {
        let heading = if self.fence.is_none() { atx(line) } else { None };
        toggle(&mut self.fence, line);
        let (level, raw) = heading?;
        let (text, id) = anchor(raw);
        let slug = id.unwrap_or_else(|| self.numbered(slugify(&text)));
        Some(Heading { level, text, slug })
    }

    /// Whether the next line is in fenced code.
    pub fn in_code(&self) -> bool {
        self.fence.is_some()
    }

    /// `slug`, with a number where the document had it before.
    fn numbered(&mut self, slug: String) -> String {
        if let Some(count) = self.slugs.get_mut(&slug) {
            *count += 1;
            return format!("{slug}-{count}");
        }
        self.slugs.insert(slug.clone(), 0);
        slug
    }
}

/// The part of a document from one heading to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its first byte in the file.
    pub start: usize,
    /// Its first line in the file, from 1.
    pub first_line: usize,
    /// The path of headings to this section, joined with ` > `; empty before the first heading.
    pub heading: String,
    /// The anchor of the last of them; empty before the first.
    pub slug: String,
}

/// The sections of the file `text`, whose first `body` bytes are front matter. The first one starts where
/// the front matter ends.
pub fn sections(text: &str, body: usize) -> Vec<Section> {
    let first = text[..body].matches('\n').count() + 1;
    let mut sections = vec![Section { start: body, first_line: first, heading: String::new(), slug: String::new() }];
    let (mut headings, mut path, mut at) = (Headings::default(), vec![], body);
    for (line, piece) in (first..).zip(text[body..].split_inclusive('\n')) {
        if let Some(heading) = headings.read(piece.trim_end_matches(['\n', '\r'])) {
            let slug = heading.slug.clone();
            enter(&mut path, heading);
            sections.push(Section { start: at, first_line: line, heading: joined(&path), slug });
        }
        at += piece.len();
    }
    sections
}

/// Puts `heading` below those of `path` that it belongs to; the others are left.
pub fn enter(path: &mut Vec<Heading>, heading: Heading) {
    path.retain(|above| above.level < heading.level);
    path.push(heading);
}

/// The texts of `path`, joined with ` > `.
pub fn joined(path: &[Heading]) -> String {
    path.iter().map(|heading| heading.text.as_str()).collect::<Vec<_>>().join(" > ")
}

/// The level and the text of an ATX heading.
fn atx(line: &str) -> Option<(usize, &str)> {
    let trimmed = line.trim_start_matches(' ');
    if line.len() - trimmed.len() > 3 {
        return None;
    }
    let level = trimmed.len() - trimmed.trim_start_matches('#').len();
    let rest = &trimmed[level..];
    ((1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t'])))
        .then(|| (level, rest.trim().trim_end_matches('#').trim_end()))
}

/// Opens or closes a fenced code block.
fn toggle(fence: &mut Option<(char, usize)>, line: &str) {
    let trimmed = line.trim_start();
    let Some(mark) = trimmed.chars().next().filter(|c| matches!(c, '`' | '~')) else { return };
    let length = trimmed.len() - trimmed.trim_start_matches(mark).len();
    match *fence {
        None if length >= 3 && !(mark == '`' && trimmed[length..].contains('`')) => *fence = Some((mark, length)),
        Some((open, least)) if open == mark && length >= least && trimmed[length..].trim().is_empty() => *fence = None,
        _ => {}
    }
}

/// The text of a heading without Markdown, and the anchor that `{#id}` gives it.
fn anchor(raw: &str) -> (String, Option<String>) {
    let (text, id) = match raw.strip_suffix('}').and_then(|rest| rest.rsplit_once("{#")) {
        Some((text, id)) if !id.is_empty() && !id.contains(char::is_whitespace) => {
            (text.trim_end(), Some(id.to_owned()))
        }
        _ => (raw, None),
    };
    (plain(text), id)
}

/// `text` without the marks of links, emphasis and code.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let Some((label, target)) = rest[open + 1..].split_once("](") else { break };
        let Some(end) = target.find(')') else { break };
        plain.push_str(rest[..open].trim_end_matches('!'));
        plain.push_str(label);
        rest = &target[end + 1..];
    }
    plain.push_str(rest);
    plain.retain(|c| !matches!(c, '`' | '*'));
    plain.replace('\\', "").trim().to_owned()
}

/// The anchor of a heading with the text `title` as GitHub makes it, where the document has it once.
pub fn slugify(title: &str) -> String {
    let is_kept = |c: &char| c.is_alphanumeric() || is_combining_mark(*c) || matches!(c, ' ' | '-' | '_');
    let kept = title.chars().filter(is_kept);
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_those_of_github() {
        for (title, slug) in [
            ("Neap tide", "neap-tide"),
            ("A b, c!", "a-b-c"),
            ("fs::read_to_string", "fsread_to_string"),
            ("潮の満ち引き（概要）", "潮の満ち引き概要"),
            ("हिन्दी", "हिन्दी"),
        ] {
            assert_eq!(slugify(title), slug, "{title}");
        }
    }

    #[test]
    fn sections_follow_the_headings() {
        let text =
            "---\na: 1\n---\n\nBefore.\n# Top\n## `One` [link](x) {#own}\n```\n# no heading\n```\n## Two\n## Two\n";
        let found = sections(text, 13);
        let seen: Vec<_> = found.iter().map(|one| (one.heading.as_str(), one.slug.as_str(), one.first_line)).collect();
        let expected = [
            ("", "", 4),
            ("Top", "top", 6),
            ("Top > One link", "own", 7),
            ("Top > Two", "two", 11),
            ("Top > Two", "two-1", 12),
        ];
        assert_eq!(seen, expected);
        assert!(found.iter().skip(1).all(|one| text[one.start..].starts_with('#')));
    }
}
