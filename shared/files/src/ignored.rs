//! Which ignore file lists a path, and by which pattern.

use std::{
    collections::HashMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, RwLock},
};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ragmaker_tool::Error;

use crate::{
    PATH_IGNORED, Place,
    pattern::Pattern,
    roots::Kind,
    rules::{self, IgnoreFile, KINDS},
};

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
        if self.root.kind != Kind::ProjectRoot || self.relative.as_os_str().is_empty() {
            return None;
        }
        let rules = Rules::of(&self.root.path, self.relative.parent().unwrap_or(Path::new("")));
        rules.about(&self.relative, self.path().is_dir())
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
}

/// Every ignore file that may list a path in one directory.
struct Rules {
    /// The directory from which on they count.
    top: PathBuf,
    /// The names of the directories from the top down to the project.
    above: Vec<Vec<char>>,
    /// What each directory from the top down has.
    directories: Vec<[Option<IgnoreFile>; KINDS]>,
    for_all: Option<IgnoreFile>,
}

impl Rules {
    /// What counts in the directory `relative` of the project at `root`.
    ///
    /// Who works in a project that is ignored as a whole, such as one in a build folder, has chosen it:
    /// what is above it does not count.
    fn of(root: &Path, relative: &Path) -> Self {
        let rules = Self::from(rules::top(root), root, relative);
        let is_listed = (1..=rules.above.len()).any(|count| rules.verdict(&rules.above[..count], true).is_some());
        if is_listed { Self::from(root, root, relative) } else { rules }
    }

    fn from(top: &Path, root: &Path, relative: &Path) -> Self {
        let mut directory = top.to_path_buf();
        let mut directories = vec![rules::of_directory(&directory)];
        let above = root.strip_prefix(top).unwrap_or(Path::new(""));
        for name in above.iter().chain(relative) {
            directory.push(name);
            directories.push(rules::of_directory(&directory));
        }
        Self { top: top.to_path_buf(), above: names(above), directories, for_all: rules::for_all() }
    }

    /// The pattern that ignores `relative`, which is beneath the project, or a directory that it is in:
    /// what is in an ignored directory is ignored, whatever a pattern further down says.
    fn about(&self, relative: &Path, is_directory: bool) -> Option<Ignored> {
        let names = [self.above.clone(), names(relative)].concat();
        (self.above.len() + 1..=names.len())
            .find_map(|count| self.verdict(&names[..count], is_directory || count < names.len()))
    }

    /// The pattern that ignores the path of `names`, seen from the top.
    fn verdict(&self, names: &[Vec<char>], is_directory: bool) -> Option<Ignored> {
        for kind in 0..KINDS {
            for depth in (0..names.len().min(self.directories.len())).rev() {
                let Some(file) = &self.directories[depth][kind] else { continue };
                if let Some((listed, negated)) = last_word(file, &names[depth..], is_directory) {
                    return (!negated).then_some(listed);
                }
            }
        }
        let (listed, negated) = last_word(self.for_all.as_ref()?, names, is_directory)?;
        (!negated).then_some(listed)
    }
}

/// The last pattern in `file` that is about the path of `names`, and whether it is negated.
fn last_word(file: &IgnoreFile, names: &[Vec<char>], is_directory: bool) -> Option<(Ignored, bool)> {
    for line in file.text.lines().rev() {
        if let Some(pattern) = Pattern::parse(line)
            && pattern.matches(names, is_directory)
        {
            let listed = Ignored { file: file.path.clone(), pattern: line.trim_end().to_owned() };
            return Some((listed, pattern.negated));
        }
    }
    None
}

fn names(path: &Path) -> Vec<Vec<char>> {
    path.iter().map(|name| name.to_string_lossy().chars().collect()).collect()
}

/// What is ignored in a project, for a walk, which asks about many paths.
pub(crate) struct IgnoredTree {
    for_all: Option<Gitignore>,
    /// The directories that were met.
    directories: RwLock<HashMap<OsString, Arc<Directory>>>,
}

/// What the ignore files of a directory say, and those above it.
#[derive(Default)]
struct Directory {
    own: [Option<Gitignore>; KINDS],
    above: Option<Arc<Directory>>,
}

impl IgnoredTree {
    /// What is ignored in the project at `root`.
    pub(crate) fn new(root: &Path) -> Self {
        let Rules { top, for_all, .. } = Rules::of(root, Path::new(""));
        let for_all = for_all.and_then(|file| matcher(&top, &file));
        let start = Arc::new(Directory { own: matchers(&top), above: None });
        Self { for_all, directories: RwLock::new(HashMap::from([(top.into_os_string(), start)])) }
    }

    /// Whether `path`, in a directory of the project that is not ignored itself, is.
    pub(crate) fn lists(&self, path: &Path, is_directory: bool) -> bool {
        let Some(directory) = path.parent().and_then(|parent| self.directory(parent)) else { return false };
        let by_kind = (0..KINDS).flat_map(|kind| {
            let chain = std::iter::successors(Some(&directory), |directory| directory.above.as_ref());
            chain.filter_map(move |directory| directory.own[kind].as_ref())
        });
        by_kind
            .chain(&self.for_all)
            .map(|matcher| matcher.matched(path, is_directory))
            .find(|found| !found.is_none())
            .is_some_and(|found| found.is_ignore())
    }

    fn directory(&self, path: &Path) -> Option<Arc<Directory>> {
        let known = self.directories.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(directory) = known.get(path.as_os_str()) {
            return Some(directory.clone());
        }
        drop(known);
        let above = self.directory(path.parent()?)?;
        let own = matchers(path);
        let directory =
            if own.iter().all(Option::is_none) { above } else { Arc::new(Directory { own, above: Some(above) }) };
        let mut known = self.directories.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        known.insert(path.as_os_str().to_owned(), directory.clone());
        Some(directory)
    }
}

fn matchers(directory: &Path) -> [Option<Gitignore>; KINDS] {
    rules::of_directory(directory).map(|file| matcher(directory, &file?))
}

/// What `file` says about paths beneath `directory`. A line that is no pattern says nothing.
fn matcher(directory: &Path, file: &IgnoreFile) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(directory);
    for line in file.text.lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Root, Source};
    use proptest::prelude::*;
    use std::fs;
    use tempfile::TempDir;

    fn place(root: &Path, relative: &str) -> Place {
        let root = Root { path: root.to_path_buf(), kind: Kind::ProjectRoot, source: Source::Argument, writable: true };
        Place { root, relative: relative.into() }
    }

    fn tree(files: &[(&str, &str)]) -> (TempDir, PathBuf) {
        let temp = TempDir::new().unwrap();
        let top = temp.path().canonicalize().unwrap();
        for (name, text) in files {
            let path = top.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        (temp, top)
    }

    /// Which of `paths` are not ignored: asked one by one, and as a walk asks.
    fn kept<'a>(root: &Path, paths: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
        let one = paths.iter().copied().filter(|path| place(root, path).ignored().is_none()).collect();
        let tree = IgnoredTree::new(root);
        let met = |path: &str| {
            let mut parts: Vec<_> = Path::new(path).ancestors().filter(|part| *part != Path::new("")).collect();
            parts.reverse();
            parts.iter().all(|part| !tree.lists(&root.join(part), root.join(part).is_dir()))
        };
        (one, paths.iter().copied().filter(|path| met(path)).collect())
    }

    #[test]
    fn the_more_particular_kind_has_the_last_word_and_then_the_nearer_file() {
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
