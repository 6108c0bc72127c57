//! Which paths of a line may be read without approval: those that the agent's file tools may read, except files that
//! are named like keys.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use ragmaker_files::PATH_NOT_ALLOWED;
use ragmaker_project::secrets::is_secret_file;

use crate::{Reason, Scope, word::Word};

/// The maximum number of directory entries that are read for the patterns of one line.
const MAX_ENTRIES: usize = 20_000;

/// Checks that the path `word` may be read, from each of the possible working directories `cwds`.
pub(crate) fn check(word: &Word, cwds: &[PathBuf], scope: &Scope) -> Result<(), Reason> {
    let path = word.path(scope.home()).ok_or_else(|| Reason::new("path", "there is no home"))?;
    if path.as_os_str().is_empty() || path == Path::new("/dev/null") {
        return Ok(());
    }
    for cwd in cwds {
        if word.globs.is_empty() {
            readable(&cwd.join(&path), scope)?;
        } else {
            for found in matches(word, cwd, scope)? {
                readable(&found, scope)?;
            }
        }
    }
    Ok(())
}

/// Checks an absolute path.
pub(crate) fn readable(path: &Path, scope: &Scope) -> Result<(), Reason> {
    let real = match scope.roots().place_or_missing(&path.to_string_lossy()) {
        Ok(place) => place.path(),
        Err(error) if error.is(PATH_NOT_ALLOWED) => return Err(Reason::new("path", error.message())),
        // A part of the path is missing or not a directory, so the program fails. The path as written must
        // still be inside the roots.
        Err(_) => normal(path),
    };
    let within = |path: &Path| scope.roots().all().iter().any(|root| path.starts_with(&root.path));
    if !within(&real) && scope.roots().place_or_missing(&real.to_string_lossy()).is_err() {
        return Err(Reason::new("path", format!("{} is outside the directories that may be read", real.display())));
    }
    match [path, &*real].into_iter().find(|path| is_secret(path)) {
        Some(secret) => Err(Reason::new("secret", format!("{} may hold keys or passwords", secret.display()))),
        None => Ok(()),
    }
}

/// `path` with `.` and `..` resolved lexically.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            other => normal.push(other),
        }
    }
    normal
}

/// Whether a file name is typical of files with keys and passwords.
fn is_secret(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(is_secret_file)
}

/// Checks that no pattern can expand to an option: a file may be named `-x`, also where the value of an option is
/// expected, because the pattern `-x*` may match two files.
pub(crate) fn no_options(words: &[Word], cwds: &[PathBuf]) -> Result<(), Reason> {
    let before = |word: &Word| Some(word.text[..*word.globs.first()?].split('/').next().unwrap_or_default().to_owned());
    let starts = words.iter().filter(|word| word.globs.first() == Some(&0) || word.text.starts_with('-'));
    let starts: Vec<String> = starts.filter_map(before).collect();
    let is_option =
        |name: &[u8]| name.starts_with(b"-") && starts.iter().any(|start| name.starts_with(start.as_bytes()));
    let matches = |cwd: &PathBuf| {
        let entries = fs::read_dir(cwd).into_iter().flatten().flatten();
        let mut entries = entries.enumerate();
        entries.any(|(at, entry)| at >= MAX_ENTRIES || is_option(entry.file_name().as_encoded_bytes()))
    };
    if !starts.is_empty() && cwds.iter().any(matches) {
        return Err(Reason::new("pattern", "a pattern may match a file whose name begins with -"));
    }
    Ok(())
}

/// The paths that a pattern may match from `cwd`, and possibly more: of each part, only the text before the
/// first and after the last special character is compared.
pub(crate) fn matches(word: &Word, cwd: &Path, scope: &Scope) -> Result<Vec<PathBuf>, Reason> {
    let (mut found, mut at, mut left) = (vec![cwd.to_path_buf()], 0, MAX_ENTRIES);
    let mut is_below_pattern = false;
    for part in word.text.split('/') {
        let end = at + part.len();
        let globs: Vec<usize> =
            word.globs.iter().filter(|glob| (at..end).contains(glob)).map(|glob| glob - at).collect();
        let (Some(first), Some(last)) = (globs.first(), globs.last()) else {
            if part == ".." && is_below_pattern {
                return Err(Reason::new("pattern", ".. after a pattern"));
            }
            for path in &mut found {
                *path = match (at, part) {
                    (0, "") if !word.text.is_empty() => PathBuf::from("/"),
                    (0, "~") if word.home => scope.home().map(Path::to_path_buf).unwrap_or_default(),
                    _ => path.join(part),
                };
            }
            at = end + 1;
            continue;
        };
        // `[a-z]` counts as one special character.
        let last = part[*last..].find(']').filter(|_| part[*last..].starts_with('[')).map_or(*last, |end| last + end);
        let (before, after) = (&part[..*first], &part[last + 1..]);
        let mut next = vec![];
        for folder in &found {
            readable(folder, scope)?;
            // `.*` matches the parent directory in dash, but not in Bash.
            if before.starts_with('.') && "..".starts_with(before) && "..".ends_with(after) {
                next.push(folder.join(".."));
            }
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                left = left.checked_sub(1).ok_or_else(|| Reason::new("pattern", "a pattern matches too much"))?;
                let name = entry.file_name();
                let Some(name) = name.to_str() else { continue };
                let is_hidden = name.starts_with('.') && !before.starts_with('.');
                if !is_hidden && name.starts_with(before) && name.ends_with(after) {
                    next.push(entry.path());
                }
            }
        }
        (found, is_below_pattern, at) = (next, true, end + 1);
    }
    Ok(found)
}

/// Checks that a program which follows links below `word` stays inside the readable roots.
pub(crate) fn check_links(word: &Word, cwds: &[PathBuf], scope: &Scope) -> Result<(), Reason> {
    let Some(path) = word.path(scope.home()) else { return Err(Reason::new("path", "there is no home")) };
    let mut left = MAX_ENTRIES;
    let mut folders: Vec<PathBuf> = cwds.iter().map(|cwd| cwd.join(&path)).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            left = left.checked_sub(1).ok_or_else(|| Reason::new("links", "it follows links in a large tree"))?;
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => readable(&entry.path(), scope)?,
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                _ => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_resolved_without_the_file_system() {
        for (path, expected) in [("/a/./b/../c", "/a/c"), ("/../a", "/a"), ("a/../../b", "b"), ("/a/", "/a")] {
            assert_eq!(normal(Path::new(path)), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn files_with_keys_are_known_by_their_name() {
        for name in ["a/.env", "id_rsa", "x/credentials.json"] {
            assert!(is_secret(Path::new(name)), "{name}");
        }
        assert!(!is_secret(Path::new("a/env.md")) && !is_secret(Path::new("..")));
    }

    #[test]
    fn a_pattern_that_may_become_an_option_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("--pre=sh"), "").unwrap();
        let cwds = [folder.path().to_path_buf()];
        for (line, allowed) in [
            ("rg x *", false),
            ("rg -e --p* x", false),
            ("rg ?", false),
            ("rg --[p]re=sh", false),
            ("rg x a*", true),
            ("rg x ./*", true),
            ("rg --glob=*.rs x", true),
            ("rg -e '--p*' x", true),
        ] {
            assert_eq!(no_options(&crate::word::split(line).unwrap(), &cwds).is_ok(), allowed, "{line}");
        }
    }
}
