//! Which ignore file lists a path, and with which pattern.

use std::{
    collections::HashMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use ragmaker_tool::Error;

use crate::{
    PATH_IGNORED, ResolvedPath,
    roots::RootKind,
    rules::{self, IgnoreFile, KINDS},
};

/// A pattern that lists a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// The ignore file that contains it.
    pub file: PathBuf,
    /// The pattern.
    pub pattern: String,
}

impl ResolvedPath {
    /// The pattern that ignores this place, if one does.
    ///
    /// Only the project has ignore files: a knowledge base and a directory that was allowed by name
    /// are there to be read.
    pub fn ignored(&self) -> Option<Ignored> {
        if self.root.kind != RootKind::ProjectRoot || self.relative.as_os_str().is_empty() {
            return None;
        }
        let path = self.path();
        let tree = IgnoredTree::about(&self.root.path, &path);
        // What is in an ignored directory is ignored, whatever a pattern further down says.
        let depth = self.relative.iter().count();
        let mut above: Vec<&Path> = path.ancestors().take(depth).collect();
        above.reverse();
        above.into_iter().find_map(|part| tree.ignoring(part, part != path || path.is_dir()))
    }

    /// Refuses a place that is ignored.
    pub fn check_ignored(&self) -> Result<(), Error> {
        let Some(Ignored { file, pattern }) = self.ignored() else { return Ok(()) };
        let path = self.path();
        Err(PATH_IGNORED
            .error(format!("{} is ignored by {pattern:?} in {}", path.display(), file.display()))
            .remedy("Use --no-ignore to include it.")
            .detail("path", path.to_string_lossy())
            .detail("ignore_file", file.to_string_lossy())
            .detail("pattern", pattern))
    }
}

/// The ignore rules of a project.
pub(crate) struct IgnoredTree {
    for_all: Option<Gitignore>,
    /// The only path to check, if there is only one.
    only: Option<String>,
    /// The directories whose ignore files were read.
    directories: RwLock<HashMap<OsString, Arc<Directory>>>,
}

/// The ignore rules of a directory and of its parents.
#[derive(Default)]
struct Directory {
    own: [Option<Gitignore>; KINDS],
    above: Option<Arc<Directory>>,
}

impl IgnoredTree {
    /// The ignore rules of the project at `root`.
    ///
    /// If the project itself is ignored, such as a project in a build folder, the rules of its parents are not used,
    /// because the person chose this project.
    pub(crate) fn new(root: &Path) -> Self {
        Self::beneath(root, None)
    }

    /// Like `new`, but only for checking `path` and its parent directories. Patterns that cannot match are not
    /// compiled, because compiling them takes longer than reading a small file.
    fn about(root: &Path, path: &Path) -> Self {
        Self::beneath(root, Some(path))
    }

    fn beneath(root: &Path, only: Option<&Path>) -> Self {
        let (top, for_all) = (rules::top(root), rules::for_all());
        let tree = Self::from(top, only, for_all.as_ref());
        let is_ignored = root
            .ancestors()
            .take_while(|directory| *directory != top)
            .any(|directory| tree.ignoring(directory, true).is_some());
        if is_ignored { Self::from(root, only, for_all.as_ref()) } else { tree }
    }

    /// The ignore rules from the directory `top` downwards, and those `for_all` repositories.
    fn from(top: &Path, only: Option<&Path>, for_all: Option<&IgnoreFile>) -> Self {
        let only = only.map(|path| path.to_string_lossy().into_owned());
        let for_all = for_all.and_then(|file| matcher(top, file, only.as_deref()));
        let start = Arc::new(Directory { own: matchers(top, only.as_deref()), above: None });
        Self { for_all, only, directories: RwLock::new(HashMap::from([(top.as_os_str().to_owned(), start)])) }
    }

    /// The pattern that ignores `path`, which is in a directory that is not ignored itself.
    pub(crate) fn ignoring(&self, path: &Path, is_directory: bool) -> Option<Ignored> {
        let directory = self.directory(path.parent()?)?;
        let by_kind = (0..KINDS).flat_map(|kind| {
            let chain = std::iter::successors(Some(&directory), |directory| directory.above.as_ref());
            chain.filter_map(move |directory| directory.own[kind].as_ref())
        });
        let found = by_kind.chain(&self.for_all).map(|matcher| matcher.matched(path, is_directory));
        match found.into_iter().find(|found| !found.is_none())? {
            Match::Ignore(glob) => {
                let file = glob.from().unwrap_or(Path::new("")).to_path_buf();
                Some(Ignored { file, pattern: glob.original().trim_end().to_owned() })
            }
            Match::Whitelist(_) | Match::None => None,
        }
    }

    fn directory(&self, path: &Path) -> Option<Arc<Directory>> {
        let known = self.directories.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(directory) = known.get(path.as_os_str()) {
            return Some(directory.clone());
        }
        drop(known);
        let above = self.directory(path.parent()?)?;
        let own = matchers(path, self.only.as_deref());
        let directory =
            if own.iter().all(Option::is_none) { above } else { Arc::new(Directory { own, above: Some(above) }) };
        let mut known = self.directories.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(path.as_os_str().to_owned(), directory.clone());
        Some(directory)
    }
}

fn matchers(directory: &Path, only: Option<&str>) -> [Option<Gitignore>; KINDS] {
    rules::of_directory(directory).map(|file| matcher(directory, &file?, only))
}

/// The rules of `file` for paths beneath `directory`, or for only one of them; `None` if it has none. Lines that are not
/// patterns are skipped.
fn matcher(directory: &Path, file: &IgnoreFile, only: Option<&str>) -> Option<Gitignore> {
    let is_pattern = |line: &&str| !line.trim().is_empty() && only.is_none_or(|path| may_match(line, path));
    let mut patterns = file.text.lines().filter(is_pattern).peekable();
    // A matcher asks the system for the number of processors, even if it has no pattern.
    patterns.peek()?;
    let mut builder = GitignoreBuilder::new(directory);
    for pattern in patterns {
        let _ = builder.add_line(Some(file.path.clone()), pattern);
    }
    builder.build().ok()
}

/// Whether the pattern in `line` may match `path` or a directory that it is in: each part of it without wildcards,
/// up to the first class or escape, has to be in the path.
fn may_match(line: &str, path: &str) -> bool {
    let plain = line.trim_end().split(['[', '\\', '{']).next().unwrap_or_default();
    plain.split(['*', '?', '/', '!']).all(|part| path.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Root;
    use proptest::prelude::*;
    use ragmaker_project::RootSource;
    use std::fs;
    use tempfile::TempDir;

    fn place(root: &Path, relative: &str) -> ResolvedPath {
        let root = Root {
            path: root.to_path_buf(),
            kind: RootKind::ProjectRoot,
            source: RootSource::Argument,
            writable: true,
        };
        ResolvedPath { root, relative: relative.into() }
    }

    fn tree(files: &[(&str, &str)]) -> (TempDir, PathBuf) {
        let temp = TempDir::new().unwrap();
        let top = ragmaker_fs::canonicalize(temp.path()).unwrap();
        for (name, text) in files {
            let path = top.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        (temp, top)
    }

    /// The paths of `paths` that are not ignored: checked one by one, and checked as a walk does.
    fn kept<'a>(root: &Path, paths: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
        let one = paths.iter().copied().filter(|path| place(root, path).ignored().is_none()).collect();
        let tree = IgnoredTree::new(root);
        let met = |path: &str| {
            let mut parts: Vec<_> = Path::new(path).ancestors().filter(|part| *part != Path::new("")).collect();
            parts.reverse();
            parts.iter().all(|part| tree.ignoring(&root.join(part), root.join(part).is_dir()).is_none())
        };
        (one, paths.iter().copied().filter(|path| met(path)).collect())
    }

    #[test]
    fn the_rules_of_git() {
        for (line, path, is_directory, expected) in [
            ("*.log", "a/b.log", false, true),
            ("/b.log", "a/b.log", false, false),
            ("a/*.log", "a/b.log", false, true),
            ("a/*", "a/b/c", false, true),
            ("a/**", "a/b/c", false, true),
            ("**/c", "a/b/c", false, true),
            ("a/**/c", "a/c", false, true),
            ("build/", "build", false, false),
            ("build/", "x/build", true, true),
            ("# note", "# note", false, false),
            ("\\#note", "#note", false, true),
            ("[!a-c].txt", "d.txt", false, true),
            ("[!a-c].txt", "b.txt", false, false),
            ("日*", "日本", false, true),
            // A question mark is one byte, in git as well.
            ("日?", "日本", false, false),
        ] {
            let (_temp, top) = tree(&[(".gitignore", line)]);
            if is_directory {
                fs::create_dir_all(top.join(path)).unwrap();
            }
            assert_eq!(place(&top, path).ignored().is_some(), expected, "{line} {path}");
        }
    }

    #[test]
    fn more_specific_ignore_rules_win() {
        let (_temp, top) = tree(&[
            (
                "repository/.git/info/exclude",
                "*.excluded
",
            ),
            (
                "repository/.gitignore",
                "*.log
/project/anchored
build/
",
            ),
            (
                "repository/project/.gitignore",
                "!keep.log
*.tmp
",
            ),
            (
                "repository/project/.ragmakerignore",
                "!mine.tmp
",
            ),
            (
                "repository/project/sub/.ignore",
                "!mine.excluded
*.md
",
            ),
            (
                "repository/project/sub/.gitignore",
                "!a.md
",
            ),
            ("repository/project/build/x", ""),
            (
                ".gitignore",
                "*
",
            ),
        ]);
        let root = top.join("repository/project");
        let paths = [
            "a.txt",
            "a.log",
            "keep.log",
            "anchored",
            "sub/anchored",
            "build/x",
            "a.tmp",
            "mine.tmp",
            "sub/mine.tmp",
            "a.excluded",
            "sub/mine.excluded",
            "sub/a.md",
        ];
        let expected = vec!["a.txt", "keep.log", "sub/anchored", "mine.tmp", "sub/mine.tmp", "sub/mine.excluded"];
        assert_eq!(kept(&root, &paths), (expected.clone(), expected));
        let by = |path| place(&root, path).ignored().unwrap();
        let gitignore = top.join("repository/.gitignore");
        assert_eq!(by("build/x"), Ignored { file: gitignore, pattern: "build/".into() });
        assert_eq!(by("a.excluded").file, top.join("repository/.git/info/exclude"));
    }

    #[test]
    fn a_project_that_is_ignored_as_a_whole_has_been_chosen() {
        let (_temp, top) = tree(&[
            (".git/x", ""),
            (
                ".gitignore",
                "/target/**
*.log
",
            ),
            (
                "target/demo/.gitignore",
                "*.tmp
",
            ),
        ]);
        let paths = ["a.md", "a.log", "a.tmp"];
        assert_eq!(kept(&top.join("target/demo"), &paths), (vec!["a.md", "a.log"], vec!["a.md", "a.log"]));
    }

    #[test]
    fn a_work_tree_has_the_excludes_of_its_repository() {
        let (_temp, top) = tree(&[
            (
                "main/.git/info/exclude",
                "*.out
",
            ),
            (
                "main/.git/worktrees/w/commondir",
                "../..
",
            ),
            (
                "main/.git/modules/m/info/exclude",
                "*.log
",
            ),
        ]);
        for (name, own) in [("w", "worktrees/w"), ("m", "modules/m")] {
            fs::create_dir(top.join(name)).unwrap();
            fs::write(
                top.join(name).join(".git"),
                format!(
                    "gitdir: ../main/.git/{own}
"
                ),
            )
            .unwrap();
        }
        let paths = ["a.out", "a.log"];
        assert_eq!(kept(&top.join("w"), &paths), (vec!["a.log"], vec!["a.log"]));
        assert_eq!(kept(&top.join("m"), &paths), (vec!["a.out"], vec!["a.out"]));
    }

    #[cfg(unix)]
    #[test]
    fn an_ignore_file_that_is_no_file_is_none() {
        let (_temp, top) = tree(&[("a", "")]);
        rustix::fs::mkfifoat(rustix::fs::CWD, top.join(".gitignore"), rustix::fs::Mode::RWXU).unwrap();
        std::os::unix::fs::symlink("/dev/zero", top.join(".ignore")).unwrap();
        fs::create_dir(top.join(".ragmakerignore")).unwrap();
        assert_eq!(kept(&top, &["a"]), (vec!["a"], vec!["a"]));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn a_walk_meets_what_one_call_may_read(
            files in prop::collection::vec(
                (0..3_usize, 0..KINDS, prop::collection::vec(r"!?/?(a|b|c|\*|a/b|\*\*/b|b/\*\*|b/\*)/?", 0..4)), 0..6,
            ),
        ) {
            let (_temp, top) = tree(&[(".git/x", ""), ("a/b/c", ""), ("a/c", ""), ("b/a/c", ""), ("b/b/a", ""), ("c", "")]);
            for (directory, kind, lines) in files {
                let name = if kind == KINDS - 1 { ".git/info/exclude" } else { rules::IGNORE_FILES[kind] };
                let path = top.join(["", "a", "b"][directory]).join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, lines.join("
    ")).unwrap();
            }
            let (one, walk) = kept(&top, &["a/b/c", "a/c", "b/a/c", "b/b/a", "c"]);
            prop_assert_eq!(one, walk);
        }
    }
}
