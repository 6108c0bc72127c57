//! The kinds of lines of `AsciiDoc`.

/// The attribute list above a block, in brackets.
#[derive(Default)]
pub(super) struct Style {
    pub(super) words: Vec<String>,
}

impl Style {
    /// The first word, in lower case.
    pub(super) fn name(&self) -> String {
        let first = self.words.first().map(|word| word.split(['%', '.', '#']).next().unwrap_or_default());
        first.unwrap_or_default().to_lowercase()
    }

    pub(super) fn language(&self) -> &str {
        let named = self.words.iter().find_map(|word| word.strip_prefix("language="));
        named.or_else(|| self.words.get(1).map(String::as_str)).unwrap_or_default().trim_matches('"')
    }
}

/// The name and value of an attribute entry.
pub(super) fn attribute(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix(':')?.split_once(':')?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'!'));
    (is_name && !name.is_empty() && (value.is_empty() || value.starts_with(' '))).then_some((name, value))
}

pub(super) fn style_of(line: &str) -> Option<Style> {
    let inner = line.strip_prefix('[')?.strip_suffix(']')?;
    if inner.starts_with('[') {
        // An anchor has no output and keeps the style.
        return Some(Style::default());
    }
    let (mut words, mut word, mut quoted) = (vec![], String::new(), false);
    for c in inner.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => words.push(std::mem::take(&mut word).trim().to_owned()),
            c => word.push(c),
        }
    }
    words.push(word.trim().to_owned());
    Some(Style { words })
}

pub(super) fn heading(line: &str) -> Option<(usize, &str)> {
    let mark = line.chars().next().filter(|c| matches!(c, '=' | '#'))?;
    let level = line.chars().take_while(|c| *c == mark).count();
    let text = line[level..].strip_prefix(' ')?.trim();
    (level < 7 && !text.is_empty()).then(|| (level, text.trim_end_matches(mark).trim()))
}

/// The line that delimits a block, and the language that it names.
pub(super) fn delimiter(line: &str) -> Option<(&str, &str)> {
    if let Some(language) = line.strip_prefix("```") {
        return Some(("```", language.trim()));
    }
    let first = line.chars().next().filter(|c| matches!(c, '-' | '.' | '=' | '*' | '_' | '+'))?;
    let is_whole = line.chars().all(|c| c == first);
    (is_whole && (line.len() > 3 || line == "--")).then_some((line, ""))
}

/// The marker of a list item, and its text.
pub(super) fn item(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let (mark, text) = line.split_once(' ')?;
    let first = mark.chars().next()?;
    let is_mark = match first {
        '*' | '.' => mark.len() < 7 && mark.chars().all(|c| c == first),
        '-' => mark == "-",
        '0'..='9' => {
            mark.len() < 5 && mark.ends_with('.') && mark[..mark.len() - 1].bytes().all(|byte| byte.is_ascii_digit())
        }
        '<' => {
            mark.len() > 2
                && mark.ends_with('>')
                && mark[1..mark.len() - 1].bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        }
        _ => false,
    };
    // Explicit numbers belong to one list.
    let mark = if first.is_ascii_digit() {
        "1."
    } else if first == '<' {
        "<.>"
    } else {
        mark
    };
    is_mark.then(|| (mark, text.trim_start()))
}

pub(super) fn bullet(mark: &str) -> &'static str {
    if mark.starts_with(['*', '-']) { "- " } else { "1. " }
}

/// The term of a definition, and the text after it.
pub(super) fn term(line: &str) -> Option<(&str, &str)> {
    let marks = line.match_indices("::").map(|(at, _)| at);
    let found = marks.into_iter().find(|at| matches!(line.as_bytes().get(at + 2), None | Some(b' ')))?;
    (found > 0).then(|| (line[..found].trim_end_matches(':'), line[found + 2..].trim()))
}

/// The cells of a table row, separated by bars; `\|` is a literal bar.
pub(super) fn split_cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut before) = (vec![], String::new(), ' ');
    for c in line.chars() {
        if c == '|' && before != '\\' {
            // The format of the next cell is before its bar, after a blank.
            let end = cell.trim_end().len();
            let word = cell[..end].rfind(' ').map_or(0, |at| at + 1);
            if cell.len() == end && is_specifier(&cell[word..end]) && (word > 0 || cells.is_empty()) {
                cell.truncate(word);
            }
            cells.push(std::mem::take(&mut cell));
        } else {
            if c == '|' {
                cell.pop();
            }
            cell.push(c);
        }
        before = c;
    }
    cells.push(cell);
    cells
}

/// Whether `text` is a cell format: `2+`, `.3+`, `a`, `h`, `^.^s`.
pub(super) fn is_specifier(text: &str) -> bool {
    !text.is_empty()
        && text.len() < 8
        && text.chars().all(|c| {
            matches!(c, '0'..='9' | '.' | '+' | '*' | '<' | '>' | '^' | 'a' | 'd' | 'e' | 'h' | 'l' | 'm' | 's' | 'v')
        })
        && (text.len() == 1 || text.contains(['+', '*', '<', '>', '^', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attribute_entries_have_a_name_and_a_value() {
        assert_eq!(attribute(":toc: left"), Some(("toc", " left")));
        assert_eq!(attribute(":!toc:"), Some(("!toc", "")));
        for line in ["::", ":a b: c", ":a:b", "a: b"] {
            assert_eq!(attribute(line), None, "{line}");
        }
    }

    #[test]
    fn a_style_names_kind_and_language() {
        let style = style_of("[source%linenums,\"rust\",start=3]").unwrap();
        assert_eq!((style.name().as_str(), style.language()), ("source", "rust"));
        assert_eq!(style_of("[,language=c]").unwrap().language(), "c");
        assert_eq!(style_of("[quote, \"A, B\"]").unwrap().words, ["quote", "A, B"]);
        assert_eq!(style_of("[[anchor]]").unwrap().name(), "");
        assert!(style_of("[source").is_none());
    }

    #[test]
    fn headings_items_and_terms_are_told_from_text() {
        assert_eq!(heading("== Tides =="), Some((2, "Tides")));
        assert_eq!((heading("======= a"), heading("==a"), heading("= ")), (None, None, None));
        assert_eq!(item("** nested"), Some(("**", "nested")));
        assert_eq!(item("12. twelfth"), Some(("1.", "twelfth")));
        assert_eq!(item("<.> callout"), Some(("<.>", "callout")));
        assert_eq!((item("-- a"), item("*a")), (None, None));
        assert_eq!(bullet(".."), "1. ");
        assert_eq!(term("Ebb:: falling water"), Some(("Ebb", "falling water")));
        assert_eq!((term("std::io"), term(":: a")), (None, None));
    }

    #[test]
    fn blocks_have_delimiters() {
        assert_eq!(delimiter("----"), Some(("----", "")));
        assert_eq!(delimiter("--"), Some(("--", "")));
        assert_eq!(delimiter("```rust"), Some(("```", "rust")));
        assert_eq!((delimiter("---"), delimiter("--a-")), (None, None));
    }

    #[test]
    fn cells_are_separated_by_bars() {
        assert_eq!(split_cells("|a |b \\| c"), ["", "a ", "b | c"]);
        assert_eq!(split_cells("2+|wide a|cell"), ["", "wide ", "cell"], "formats of cells are left out");
        assert!(is_specifier("^.^s") && is_specifier("h") && !is_specifier("as") && !is_specifier(""));
    }
}
