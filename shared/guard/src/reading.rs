//! What a line that runs without approval may read beside the paths that it names.

use crate::{
    Scope, git,
    grammar::{Part, parts},
    harm::names::base,
    programs, syntax,
    word::Word,
};

/// What a line reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Files that it does not name: it searches whole folders.
    pub(crate) trees: bool,
    /// A repository that tracks a file with keys. Git reports such a file as changed if it is hidden.
    pub(crate) tracked_secrets: bool,
}

/// What the line of `parts` reads.
pub(crate) fn of(parts: &[Part], scope: &Scope) -> Reading {
    let mut reading = Reading::default();
    let commands = parts.iter().filter_map(|part| match part {
        Part::Command(words) => Some(words.as_slice()),
        _ => None,
    });
    let (mut folders, mut runs_git) = (vec![scope.cwd().to_path_buf()], false);
    for command in commands {
        // `cd` and `git -C` lead to other repositories.
        folders.extend(command.iter().map(|word| scope.cwd().join(&word.text)).filter(|path| path.is_dir()));
        let command = unwrapped(command);
        let Some((first, arguments)) = command.split_first() else { continue };
        let name = base(&first.text);
        if let Some(line) = programs::shell_line(name, arguments) {
            let inner = syntax::parse(line).and_then(|tree| parts_of(line, &tree));
            let inner = inner.map_or(Reading { trees: true, tracked_secrets: false }, |parts| of(&parts, scope));
            reading.trees |= inner.trees;
            reading.tracked_secrets |= inner.tracked_secrets;
        }
        runs_git |= name == "git";
        reading.trees |= searches(name, arguments);
    }
    reading.tracked_secrets |= runs_git && folders.iter().any(|folder| git::tracks_secrets(folder));
    reading
}

fn parts_of(line: &str, tree: &tree_sitter::Tree) -> Option<Vec<Part>> {
    parts(line, tree).ok()
}

fn unwrapped(command: &[Word]) -> &[Word] {
    match command.split_first().map(|(first, arguments)| programs::unwrapped(base(&first.text), arguments)) {
        Some(Ok(Some(inner))) => unwrapped(inner),
        _ => command,
    }
}

/// Whether a program reads files below the folders that it is given.
fn searches(name: &str, arguments: &[Word]) -> bool {
    let has = |letters: &[char], long: &[&str]| {
        arguments.iter().any(|word| match word.text.strip_prefix("--") {
            Some(option) => long.iter().any(|long| option.starts_with(long)),
            None => word.text.starts_with('-') && word.text.contains(letters),
        })
    };
    match name {
        "rg" | "ag" | "ack" => true,
        "grep" | "egrep" | "fgrep" | "diff" => has(&['r', 'R', 'd'], &["rec", "deref", "dir"]),
        // Otherwise, `git grep` reads files that are tracked.
        "git" => has(&[], &["untracked", "no-index"]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_of_folders_are_recognised() {
        for (line, expected) in [
            ("grep -rn x .", true),
            ("grep -nR x .", true),
            ("grep --recursive x .", true),
            ("grep -d recurse x .", true),
            ("rg x", true),
            ("diff -r a b", true),
            ("git grep --untracked x", true),
            ("git -C a grep --no-index x", true),
            ("git -C a grep x", false),
            ("grep -n x a.md", false),
            ("git status", false),
            ("cat a", false),
        ] {
            let words = crate::word::split(line).unwrap();
            assert_eq!(searches(&words[0].text, &words[1..]), expected, "{line}");
        }
    }
}
