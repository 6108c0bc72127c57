//! Words of a line as the shell sees them, without quotes. A word may contain no expansion except patterns of file
//! names and a leading `~`.

use std::path::{Path, PathBuf};

use crate::Reason;

/// A word without quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// The text.
    pub(crate) text: String,
    /// The byte offsets in `text` of unquoted `*`, `?` and `[`.
    pub(crate) globs: Vec<usize>,
    /// Whether the word begins with an unquoted `~`, alone or before a slash.
    pub(crate) home: bool,
}

impl Word {
    /// A word with the text `text`, without patterns.
    pub(crate) fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), globs: vec![], home: false }
    }

    /// The part of the word after the first `at` bytes, such as the value in `--name=value`.
    pub(crate) fn after(&self, at: usize) -> Self {
        let globs = self.globs.iter().filter_map(|glob| glob.checked_sub(at)).collect();
        Self { text: self.text[at..].to_owned(), globs, home: self.home && at == 0 }
    }

    /// The path that the word names; `~` is `home`.
    pub(crate) fn path(&self, home: Option<&Path>) -> Option<PathBuf> {
        if !self.home {
            return Some(PathBuf::from(&self.text));
        }
        let rest = self.text.strip_prefix('~')?.trim_start_matches('/');
        Some(home?.join(rest))
    }
}

/// Removes the quotes of one word of a line.
///
/// # Errors
///
/// An expansion by the shell, whose result is not known.
pub(crate) fn unquoted(raw: &str) -> Result<Word, Reason> {
    let expanded = |what: &str| Reason::new("expansion", format!("{what} in {raw:?}"));
    let mut word = Word { text: String::new(), globs: vec![], home: false };
    let (mut chars, mut brace) = (raw.char_indices().peekable(), None);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some((_, '\n')) => {}
                Some((_, c)) => word.text.push(c),
                None => return Err(expanded("a backslash at the end")),
            },
            '\'' => loop {
                match chars.next() {
                    Some((_, '\'')) => break,
                    Some((_, c)) => word.text.push(c),
                    None => return Err(expanded("a quote that is not closed")),
                }
            },
            '"' => loop {
                match chars.next() {
                    Some((_, '"')) => break,
                    Some((_, '\\')) => match chars.next() {
                        Some((_, '\n')) => {}
                        Some((_, c @ ('$' | '`' | '"' | '\\'))) => word.text.push(c),
                        Some((_, c)) => word.text.extend(['\\', c]),
                        None => return Err(expanded("a quote that is not closed")),
                    },
                    // If no name can follow, both dash and Bash take the dollar sign literally.
                    Some((_, '$')) if chars.peek().is_some_and(|(_, c)| "\" |)/,.".contains(*c)) => word.text.push('$'),
                    Some((_, '$')) => return Err(expanded("a variable or a substitution")),
                    Some((_, '`')) => return Err(expanded("a command substitution")),
                    Some((_, c)) => word.text.push(c),
                    None => return Err(expanded("a quote that is not closed")),
                }
            },
            '$' if chars.peek().is_none() => word.text.push('$'),
            '$' => return Err(expanded("a variable or a substitution")),
            '`' => return Err(expanded("a command substitution")),
            '|' | '&' | ';' | '<' | '>' | '(' | ')' => return Err(expanded("an operator")),
            c if c.is_whitespace() || c.is_control() => return Err(expanded("a blank")),
            '~' if at == 0 => {
                if !matches!(chars.peek(), None | Some((_, '/'))) {
                    return Err(expanded("the home of a user"));
                }
                word.home = true;
                word.text.push('~');
            }
            '~' if raw[..at].ends_with(['=', ':']) => return Err(expanded("a home")),
            _ => {
                if matches!(c, '*' | '?' | '[') {
                    word.globs.push(word.text.len());
                }
                match (c, brace) {
                    ('{', None) => brace = Some(at),
                    ('}', Some(start)) if raw[start..at].contains(',') || raw[start..at].contains("..") => {
                        return Err(expanded("a list in braces"));
                    }
                    _ => {}
                }
                word.text.push(c);
            }
        }
    }
    Ok(word)
}

/// Splits a text at unquoted white space, and removes the quotes.
pub(crate) fn split(text: &str) -> Result<Vec<Word>, Reason> {
    let (mut words, mut start, mut quote) = (vec![], None, None);
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if quote.is_none() && matches!(c, ' ' | '\t' | '\n') {
            if let Some(start) = start.take() {
                words.push(unquoted(&text[start..at])?);
            }
            continue;
        }
        start.get_or_insert(at);
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None | Some('"'), '\\') => drop(chars.next()),
            _ => {}
        }
    }
    if let Some(start) = start {
        words.push(unquoted(&text[start..])?);
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(raw: &str) -> Option<String> {
        unquoted(raw).ok().map(|word| word.text)
    }

    #[test]
    fn quotes_are_removed_as_by_shells() {
        for (raw, text) in [
            ("ls", "ls"),
            ("'l's", "ls"),
            (r"\l\s", "ls"),
            (r#""a b"c'd'\e"#, "a bcde"),
            (r#""a\"b\n""#, "a\"b\\n"),
            ("'a$b'", "a$b"),
            ("foo$", "foo$"),
            ("\"foo$\"", "foo$"),
            ("\"^a$|b\"", "^a$|b"),
            ("a\\\nb", "ab"),
            ("HEAD~3", "HEAD~3"),
            ("stash@{0}", "stash@{0}"),
            ("a=b", "a=b"),
        ] {
            assert_eq!(says(raw).as_deref(), Some(text), "{raw}");
        }
        for raw in [
            "$x", "\"$x\"", "`x`", "\"`x`\"", "$'a'", "$\"a\"", "{a,b}", "{1..3}", "{,{}}", "~root", "a=~/x", "'a",
            "a b",
        ] {
            assert_eq!(says(raw), None, "{raw}");
        }
    }

    #[test]
    fn unquoted_patterns_and_tildes_are_marked() {
        assert_eq!(unquoted("a*'*'?").unwrap().globs, [1, 3]);
        assert_eq!(unquoted("--x=*").unwrap().after(4).globs, [0]);
        assert!(unquoted("~/x").unwrap().home && !unquoted("'~/x'").unwrap().home);
        let path = unquoted("~/x").unwrap().path(Some(Path::new("/home/me")));
        assert_eq!(path.as_deref(), Some(Path::new("/home/me/x")));
    }
}
