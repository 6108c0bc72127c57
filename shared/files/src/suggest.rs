//! Suggestion of the most similar existing path for a mistyped path.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

/// The maximum number of suggested paths.
const MAX_SUGGESTIONS: usize = 3;

/// The maximum number of entries of a directory that are searched.
const ENTRIES: usize = 10_000;

/// Up to three existing paths that are like `path`, the likest first: the first name of it that is
/// missing, and those after it, are looked for among what is there. No link is followed.
pub(crate) fn paths(path: &Path) -> Vec<PathBuf> {
    let names: Vec<&OsStr> = path.iter().collect();
    let is_there = |count: &usize| names[..*count].iter().collect::<PathBuf>().is_dir();
    let there = (0..names.len()).rev().find(is_there).unwrap_or_default();
    like(&names[..there].iter().collect::<PathBuf>(), &names[there..])
}

/// Paths in `directory` that are like the path of `names`.
fn like(directory: &Path, names: &[&OsStr]) -> Vec<PathBuf> {
    let Some((first, rest)) = names.split_first() else { return vec![directory.to_path_buf()] };
    let exact = directory.join(first);
    let candidates = if exact.symlink_metadata().is_ok() { vec![exact] } else { siblings(directory, first) };
    if rest.is_empty() {
        return candidates;
    }
    let directories = candidates.into_iter().filter(|path| path.symlink_metadata().is_ok_and(|found| found.is_dir()));
    let mut found: Vec<PathBuf> = directories.flat_map(|directory| like(&directory, rest)).collect();
    found.truncate(MAX_SUGGESTIONS);
    found
}

/// The entries of `directory` with a name similar to `wanted`, the most similar first.
fn siblings(directory: &Path, wanted: &OsStr) -> Vec<PathBuf> {
    let wanted = lowercase(wanted);
    let Ok(entries) = fs::read_dir(directory) else { return vec![] };
    let mut near: Vec<(usize, PathBuf)> = vec![];
    for entry in entries.take(ENTRIES).filter_map(Result::ok) {
        let name = lowercase(&entry.file_name());
        let distance = if is_other_form(&name, &wanted) { 0 } else { strsim::osa_distance(&name, &wanted) };
        let stem = |name: &str| name.rsplit_once('.').map_or(name.len(), |(stem, _)| stem.len());
        let same_stem = name[..stem(&name)] == wanted[..stem(&wanted)];
        if same_stem || distance <= 1 + wanted.chars().count() / 4 {
            let found = (distance, entry.path());
            let at = near.partition_point(|held| *held <= found);
            near.insert(at, found);
            near.truncate(MAX_SUGGESTIONS);
        }
    }
    near.into_iter().map(|(_, path)| path).collect()
}

/// For names whose case was mistyped; beyond ASCII, a letter or two in the other case are near enough.
fn lowercase(name: &OsStr) -> String {
    name.to_string_lossy().to_ascii_lowercase()
}

/// Whether two names may be the same text in two Unicode forms, composed and decomposed. They have the same letters,
/// except that one of them has some marks as separate characters.
///
/// An exact comparison needs tables of letters and marks; a suggestion does not need to be exact.
fn is_other_form(a: &str, b: &str) -> bool {
    let (a, b) = (letters(a), letters(b));
    let composes = |one: &str, marked: &str| {
        let mut one = one.chars();
        let letter = one.next();
        one.next().is_none()
            && marked.chars().nth(1).is_some()
            && letter.is_some_and(|c| !c.is_ascii() && !marked.starts_with(c))
    };
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a == b || composes(a, b) || composes(b, a))
}

/// The letters of a name, each with the marks after it.
fn letters(name: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = name.char_indices().filter(|(_, c)| !goes_on(*c)).map(|(at, _)| at).collect();
    starts.push(name.len());
    starts.windows(2).map(|pair| &name[pair[0]..pair[1]]).collect()
}

/// Whether `c` belongs to the letter before it: accents, the marks of kana, the later parts of hangul.
fn goes_on(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}' | '\u{1161}'..='\u{11ff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_both_forms() {
        for (composed, decomposed) in [
            ("ガイド.md", "カ\u{3099}イト\u{3099}.md"),
            ("パン", "ハ\u{309a}ン"),
            ("한국어.txt", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}\u{110b}\u{1165}.txt"),
            ("résumé", "re\u{301}sume\u{301}"),
            ("ế", "e\u{302}\u{301}"),
        ] {
            assert!(is_other_form(composed, decomposed) && is_other_form(decomposed, composed), "{composed}");
        }
        for (a, b) in [("カ\u{3099}イト", "カイト"), ("resume", "re\u{301}sume\u{301}"), ("a", "b"), ("ガイド", "ガイ")]
        {
            assert!(!is_other_form(a, b), "{a} {b}");
        }
    }

    #[test]
    fn names_in_the_middle_of_a_path() {
        let temp = tempfile::TempDir::new().unwrap();
        let top = temp.path();
        for name in ["docs/guide/start.md", "docs/other/start.md", "カ\u{3099}イト\u{3099}/目次.md"] {
            fs::create_dir_all(top.join(name).parent().unwrap()).unwrap();
            fs::write(top.join(name), "").unwrap();
        }
        assert_eq!(paths(&top.join("doc/guide/start.md")), [top.join("docs/guide/start.md")]);
        assert_eq!(paths(&top.join("docs/giude/strat.md")), [top.join("docs/guide/start.md")]);
        assert_eq!(paths(&top.join("ガイド/目次.md")), [top.join("カ\u{3099}イト\u{3099}/目次.md")]);
        assert!(paths(&top.join("nothing/like/it.md")).is_empty());
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("docs", top.join("link")).unwrap();
            assert!(paths(&top.join("lnik/guide/start.md")).is_empty());
        }
    }
}
