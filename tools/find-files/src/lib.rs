//! `ragmaker-find-files`: finds files by a glob.

use std::{cmp::Reverse, time::SystemTime};

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{Glob, NO_FILES, NOT_A_DIRECTORY, Roots, Walk, WalkResult, collect, lossy_text};
use ragmaker_tool::{
    Annotations, Budget, Code, Error, Invocation, Isolation, JsonSchema, Limit, Next, Offset, Tool, ToolProfile,
    choice, host,
};
use serde::{Deserialize, Serialize};

/// The order of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    /// By path.
    Name,
    /// The latest first.
    Modified,
}

/// Find files whose path matches a glob such as **/*.md, the newest first; ignored and hidden files are left out unless
/// asked for. For text inside files use `ragmaker-search-file-content`; for one directory use
/// `ragmaker-list-directory`. Returns absolute paths, paged by next.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// glob such as **/*.md; without a slash it matches names at any depth
    #[argh(option)]
    pub glob: String,
    /// directory to look in; a relative path starts at the project root
    #[argh(option, default = "String::from(\".\")")]
    pub path: String,
    /// order: modified (the latest first) or name
    #[argh(option, default = "Sort::Modified", from_str_fn(choice))]
    pub sort: Sort,
    /// include files that an ignore file lists
    #[argh(switch)]
    pub no_ignore: bool,
    /// include files whose names begin with a dot
    #[argh(switch)]
    pub hidden: bool,
    /// number of entries to skip (from `next`)
    #[argh(option, default = "Offset::new(0)")]
    pub offset: Offset,
    /// maximum number of entries (default: as many as fit)
    #[argh(option)]
    pub limit: Option<Limit>,
}

/// The files that were found.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The absolute path of the directory that was looked in.
    pub path: String,
    /// The absolute paths of the files.
    pub paths: Vec<String>,
    /// The paths that are not UTF-8: they are shown with U+FFFD and cannot be used in this form.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lossy_paths: Vec<String>,
    /// Directories that could not be looked into, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
    /// The number of all matching files.
    pub total: usize,
    /// Whether files remain after the returned ones.
    pub truncated: bool,
    /// The arguments for the next page; null on the last page.
    pub next: Option<Next>,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const HOST_OPTIONS: &'static [&'static str] = host::FILES;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Ask, ToolProfile::Files];
    const OPERANDS: &'static [&'static str] = &["--glob", "--path"];
    const ERRORS: &'static [&'static [Code]] = &[
        &[NO_FILES, NOT_A_DIRECTORY, ragmaker_tool::OFFSET_BEYOND_END, ragmaker_files::PATH_IGNORED],
        ragmaker_files::PATH_ERRORS,
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let place = Roots::discover(&invocation.host)?.place(&self.path)?;
        place.check_directory()?;
        let base = place.path();
        let glob = Glob::new(&base, &self.glob)?;
        let options = Walk { no_ignore: self.no_ignore, hidden: self.hidden, ..Walk::default() };
        let WalkResult { paths: mut found, mut unreadable } = collect(&place, options, |entry| {
            entry.file_type().is_some_and(|kind| kind.is_file()) && glob.matches(entry.path())
        })?;
        unreadable.truncate(20);
        if found.is_empty() {
            let (glob, base) = (&self.glob, lossy_text(base).0);
            return Err(NO_FILES
                .error(format!("no file in {base} matches {glob:?}"))
                .remedy("Try a wider glob such as **/*.md, or --no-ignore and --hidden for files that are left out.")
                .detail("path", base)
                .detail("unreadable", unreadable));
        }
        let mut entries = place.entry_reader()?;
        match self.sort {
            Sort::Name => found.sort_unstable(),
            Sort::Modified => found.sort_by_cached_key(|path| {
                let modified = entries.metadata(path).map(|seen| seen.modified);
                (Reverse(modified.unwrap_or(SystemTime::UNIX_EPOCH)), path.clone())
            }),
        }
        let total = found.len();
        let answer = Answer {
            path: lossy_text(base).0,
            paths: vec![],
            lossy_paths: vec![],
            unreadable,
            total,
            truncated: false,
            next: Some(Next::WIDEST),
        };
        let mut lossy_paths = vec![];
        let page = Budget::for_frame(&answer).page_of(found, total, self.offset, self.limit, |path| {
            entries.metadata(&path)?;
            let (path, is_lossy) = lossy_text(path);
            if is_lossy {
                lossy_paths.push(path.clone());
            }
            Some(path)
        })?;
        Ok(Answer { paths: page.items, lossy_paths, truncated: page.next.is_some(), next: page.next, ..answer })
    }
}

#[cfg(test)]
mod tests {
    use std::{fs::File, path::Path, time::Duration};

    use ragmaker_testkit::{folder, write};
    use ragmaker_tool::{HostOptions, OFFSET_BEYOND_END};

    use super::*;

    /// The answer in the project `root`, or the error.
    fn run(root: &Path, words: &[&str]) -> Result<Answer, Error> {
        let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
        Args::from_args(&["find"], words).unwrap().run(&Invocation { host, ..Invocation::default() })
    }

    /// The names of the files, relative to `root`.
    fn names(root: &Path, words: &[&str]) -> Vec<String> {
        let paths = run(root, words).unwrap().paths;
        paths.iter().map(|path| Path::new(path).strip_prefix(root).unwrap().to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn files_of_one_time_are_sorted_by_path() {
        let (_holder, root) = folder("project");
        for (name, seconds) in [("a/z", 1), ("b", 1), ("a-a", 1), ("c", 2)] {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            File::options().write(true).open(write(&root, name, "")).unwrap().set_modified(time).unwrap();
        }
        assert_eq!(names(&root, &["--glob", "*"]), ["c", "a/z", "a-a", "b"]);
        assert_eq!(names(&root, &["--glob", "*", "--sort", "name"]), ["a/z", "a-a", "b", "c"]);
    }

    #[test]
    fn a_page_starts_where_the_last_one_ended() {
        let (_holder, root) = folder("project");
        for name in ["a", "b", "c"] {
            write(&root, name, "");
        }
        let words = ["--glob", "*", "--sort", "name", "--limit", "1", "--offset"];
        assert_eq!(names(&root, &[&words[..], &["1"]].concat()), ["b"]);
        let [page, last] = ["1", "2"].map(|offset| run(&root, &[&words[..], &[offset]].concat()).unwrap());
        assert_eq!((page.total, page.truncated, page.next), (3, true, Some(Next { offset: 2 })));
        assert_eq!((last.paths.len(), last.truncated, last.next), (1, false, None));
        assert!(run(&root, &[&words[..], &["3"]].concat()).err().unwrap().is(OFFSET_BEYOND_END));
    }

    #[test]
    fn a_glob_without_files_is_an_error_that_names_both() {
        let (_holder, root) = folder("project");
        write(&root, "sub/a.md", "");
        // A directory is not a file.
        let error = run(&root, &["--glob", "su*"]).err().unwrap();
        assert!(error.is(NO_FILES) && error.message().ends_with("matches \"su*\""), "{error}");
        assert_eq!(error.details()["path"], root.to_str().unwrap());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_paths_of_the_page_are_listed_as_not_utf_8() {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
        let (_holder, root) = folder("project");
        for name in [&b"a\xFF"[..], b"b", b"c\xFF"] {
            std::fs::write(root.join(OsStr::from_bytes(name)), "").unwrap();
        }
        let page = |limit| run(&root, &["--glob", "*", "--sort", "name", "--limit", limit]).unwrap();
        let first = page("2");
        assert_eq!(first.lossy_paths, [first.paths[0].as_str()]);
        assert!(first.lossy_paths[0].ends_with("a\u{fffd}"), "{:?}", first.lossy_paths);
        assert_eq!(page("3").lossy_paths.len(), 2);
    }
}
