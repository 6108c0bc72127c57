//! One line of an ignore file, and what it matches.
//!
//! The rules are those of gitignore(5). Tools that walk a tree match many paths, and leave that to the
//! `ignore` crate; for one path, its regular expressions would be most of what a tool that reads one
//! file has to load. What is here agrees with that crate, which the tests show, and with git where the
//! crate does not (`[!a]` matches no slash).

/// One line of an ignore file.
pub(crate) struct Pattern {
    /// Whether it takes back what a pattern before it ignores.
    pub(crate) negated: bool,
    only_directories: bool,
    /// The names to match from the ignore file's directory on; `**` is any number of them.
    names: Vec<Vec<char>>,
}

impl Pattern {
    /// The pattern in a line; `None` for a comment or an empty one.
    pub(crate) fn parse(line: &str) -> Option<Self> {
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

    /// Whether it is about the path of `names`, seen from the directory that it speaks about.
    pub(crate) fn matches(&self, names: &[Vec<char>], is_directory: bool) -> bool {
        (is_directory || !self.only_directories) && matches_names(&self.names, names)
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
        let names: Vec<Vec<char>> = path.split('/').map(|name| name.chars().collect()).collect();
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
