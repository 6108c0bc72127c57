//! Which ignore file lists a path, and by which pattern.
//!
//! The rules are those of gitignore(5). Tools that walk a tree leave them to the `ignore` crate;
//! for one path, its regular expressions would be most of what a tool that reads one file has to
//! load. What is here agrees with that crate, which the tests show, and with git
//! where the crate does not (`[!a]` matches no slash).

use std::{
    fs,
    path::{Path, PathBuf},
};

use ragmaker_tool::Error;

use crate::{PATH_IGNORED, Place, roots::Kind};

/// The ignore files of a directory, the one that has the last word last.
pub const IGNORE_FILES: [&str; 4] = [".gitignore", ".ignore", ".geminiignore", ".ragmakerignore"];

/// The largest ignore file that is looked at.
const MAX_SIZE: u64 = 1 << 20;

/// A pattern that lists a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// The file that it stands in.
    pub file: PathBuf,
    /// The pattern.
    pub pattern: String,
}

impl Place {
    /// The pattern that ignores this place, if one does.
    ///
    /// Only the project has ignore files: a knowledge base and a directory that was allowed by name
    /// are there to be read.
    pub fn ignored(&self) -> Option<Ignored> {
        if self.root.kind != Kind::ProjectRoot {
            return None;
        }
        let names: Vec<&str> = self.relative.iter().filter_map(|name| name.to_str()).collect();
        // What is in an ignored directory is ignored, whatever a pattern further down says.
        (1..=names.len()).find_map(|count| {
            let is_directory = count < names.len() || self.path().is_dir();
            self.listed(&names[..count], is_directory)
        })
    }

    /// Refuses a place that is ignored.
    pub fn check_ignored(&self) -> Result<(), Error> {
        let Some(Ignored { file, pattern }) = self.ignored() else { return Ok(()) };
        let path = self.path();
        Err(PATH_IGNORED
            .error(format!("{} is ignored by {pattern:?} in {}", path.display(), file.display()))
            .detail("path", path.to_string_lossy())
            .detail("ignore_file", file.to_string_lossy())
            .detail("pattern", pattern))
    }

    /// The last pattern about `names` in its directory or above, if it ignores.
    fn listed(&self, names: &[&str], is_directory: bool) -> Option<Ignored> {
        // The nearest directory has the last word, and in it the last file.
        for depth in (0..names.len()).rev() {
            let directory = names[..depth].iter().fold(self.root.path.clone(), |path, name| path.join(name));
            for name in IGNORE_FILES.iter().rev() {
                let file = directory.join(name);
                let Some(text) = read(&file) else { continue };
                let verdict = text.lines().rev().find_map(|line| {
                    let pattern = Pattern::parse(line)?;
                    pattern.matches(&names[depth..], is_directory).then(|| (line.to_owned(), pattern.negated))
                });
                match verdict {
                    Some((_, true)) => return None,
                    Some((pattern, false)) => return Some(Ignored { file, pattern: pattern.trim_end().to_owned() }),
                    None => {}
                }
            }
        }
        None
    }
}

fn read(file: &Path) -> Option<String> {
    let metadata = fs::metadata(file).ok()?;
    if !metadata.is_file() || metadata.len() > MAX_SIZE {
        return None;
    }
    let bytes = fs::read(file).ok()?;
    Some(String::from_utf8_lossy(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes)).into_owned())
}

/// One line of an ignore file.
struct Pattern {
    negated: bool,
    only_directories: bool,
    /// The names to match from the ignore file's directory on; `**` is any number of them.
    names: Vec<Vec<char>>,
}

impl Pattern {
    fn parse(line: &str) -> Option<Self> {
        if line.starts_with('#') {
            return None;
        }
        let mut text = line.trim_end_matches([' ', '\t', '\r']);
        if text.len() < line.len() && text.ends_with('\\') {
            // An escaped space stays.
            text = &line[..=text.len()];
        }
        let (negated, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        let (only_directories, text) = text.strip_suffix('/').map_or((false, text), |rest| (true, rest));
        if text.is_empty() {
            return None;
        }
        let anchored = text.contains('/');
        let mut names: Vec<Vec<char>> =
            text.strip_prefix('/').unwrap_or(text).split('/').map(|name| name.chars().collect()).collect();
        if !anchored {
            names.insert(0, vec!['*', '*']);
        }
        Some(Self { negated, only_directories, names })
    }

    fn matches(&self, names: &[&str], is_directory: bool) -> bool {
        if self.only_directories && !is_directory {
            return false;
        }
        let names: Vec<Vec<char>> = names.iter().map(|name| name.chars().collect()).collect();
        matches_names(&self.names, &names)
    }
}

fn matches_names(pattern: &[Vec<char>], names: &[Vec<char>]) -> bool {
    match pattern {
        [] => names.is_empty(),
        [any] if any == &['*', '*'] => !names.is_empty(),
        [any, rest @ ..] if any == &['*', '*'] => (0..=names.len()).any(|skip| matches_names(rest, &names[skip..])),
        [first, rest @ ..] => {
            names.first().is_some_and(|name| matches_name(first, name)) && matches_names(rest, &names[1..])
        }
    }
}

/// Whether a name matches a pattern of `*`, `?`, `[a-z]`, `[!a-z]` and escapes.
///
/// A star that fails is tried one character further on, so the time is bounded by the product of
/// the lengths.
fn matches_name(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&'*') {
            star = Some((p + 1, n));
            p += 1;
            continue;
        }
        match one(&pattern[p.min(pattern.len())..], name[n]) {
            Some(length) => {
                p += length;
                n += 1;
            }
            None => match star {
                Some((after, at)) => {
                    (p, n) = (after, at + 1);
                    star = Some((after, at + 1));
                }
                None => return false,
            },
        }
    }
    pattern[p.min(pattern.len())..].iter().all(|&c| c == '*')
}

/// How much of `pattern` matches the character `c`, if its start does.
fn one(pattern: &[char], c: char) -> Option<usize> {
    match pattern {
        ['?', ..] => Some(1),
        ['[', class @ ..] => {
            let (negated, start) = match class {
                ['!' | '^', ..] => (true, 1),
                _ => (false, 0),
            };
            let (mut at, mut found) = (start, false);
            loop {
                match class[at.min(class.len())..] {
                    [] => return None,
                    [']', ..] if at > start => return (found != negated).then_some(at + 2),
                    ['\\', low, ..] => {
                        found |= low == c;
                        at += 2;
                    }
                    [low, '-', high, ..] if high != ']' => {
                        found |= (low..=high).contains(&c);
                        at += 3;
                    }
                    [low, ..] => {
                        found |= low == c;
                        at += 1;
                    }
                }
            }
        }
        ['\\', escaped, ..] => (*escaped == c).then_some(2),
        [plain, ..] => (*plain == c).then_some(1),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ignore::gitignore::GitignoreBuilder;
    use proptest::prelude::*;

    fn matches(line: &str, path: &str, is_directory: bool) -> Option<bool> {
        let pattern = Pattern::parse(line)?;
        let names: Vec<&str> = path.split('/').collect();
        pattern.matches(&names, is_directory).then_some(!pattern.negated)
    }

    #[test]
    fn the_rules_of_git() {
        for (line, path, is_directory, expected) in [
            ("*.log", "a/b.log", false, Some(true)),
            ("/b.log", "a/b.log", false, None),
            ("a/*.log", "a/b.log", false, Some(true)),
            ("a/*", "a/b/c", false, None),
            ("a/**", "a/b/c", false, Some(true)),
            ("**/c", "a/b/c", false, Some(true)),
            ("a/**/c", "a/c", false, Some(true)),
            ("build/", "build", false, None),
            ("build/", "x/build", true, Some(true)),
            ("!keep.log", "keep.log", false, Some(false)),
            ("# note", "# note", false, None),
            ("\\#note", "#note", false, Some(true)),
            ("[!a-c].txt", "d.txt", false, Some(true)),
            ("[!a-c].txt", "b.txt", false, None),
            ("日?", "日本", false, Some(true)),
        ] {
            assert_eq!(matches(line, path, is_directory), expected, "{line} {path}");
        }
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_ignore_crate(
            line in "!?/?([ab*?]|\\*\\*/|[ab]/|\\[ab\\]|\\[!a\\]){1,5}/?", path in "[abc]{1,3}(/[abc]{1,3}){0,2}", is_directory: bool,
        ) {
            let mut builder = GitignoreBuilder::new("/");
            prop_assume!(builder.add_line(None, &line).is_ok());
            // Three stars and more mean different things to different programs.
            prop_assume!(!line.contains("***") && !line.contains("//"));
            prop_assume!(line.replace("**/", "").split('/').all(|name| !name.contains("**")));
            prop_assume!(!line.match_indices("**/").any(|(at, _)| at > 0 && !line[..at].ends_with(['/', '!'])));
            // The crate lets a negated class match a slash; git does not.
            prop_assume!(!line.contains("[!") || !path.contains('/'));
            let oracle = builder.build().unwrap();
            let matched = oracle.matched(&path, is_directory);
            let expected = if matched.is_ignore() { Some(true) } else if matched.is_whitelist() { Some(false) } else { None };
            prop_assert_eq!(matches(&line, &path, is_directory), expected, "{} {}", line, path);
        }

        #[test]
        fn no_pattern_panics(line in ".{0,12}", name in ".{0,8}") {
            let _ = matches(&line, &name, false);
        }
    }
}
