//! `ragmaker-list-directory`: lists the entries of a directory.

use std::{cmp::Reverse, time::SystemTime};

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{EntryKind, NOT_A_DIRECTORY, Roots, Walk, WalkResult, collect, lossy_text, rfc3339};
use ragmaker_tool::{
    Annotations, Bounded, Budget, Code, Error, Invocation, JsonSchema, Limit, Next, Offset, Tool, ToolProfile, choice,
    host,
};
use serde::{Deserialize, Serialize};

/// The order of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    /// By name.
    Name,
    /// The largest first.
    Size,
    /// The latest first.
    Modified,
}

/// List the entries of a directory, down to a depth, with type, size and time of change. To find files by name use
/// `ragmaker-find-files`. Returns paths relative to the directory, paged by next.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// directory to list; a relative path starts at the project root
    #[argh(option, default = "String::from(\".\")")]
    pub path: String,
    /// depth of the listing
    #[argh(option, default = "Bounded::new(1)")]
    pub depth: Bounded<1, 1000>,
    /// include hidden and ignored entries
    #[argh(switch)]
    pub all: bool,
    /// order: name, size or modified
    #[argh(option, default = "Sort::Name", from_str_fn(choice))]
    pub sort: Sort,
    /// number of entries to skip (from `next`)
    #[argh(option, default = "Offset::new(0)")]
    pub offset: Offset,
    /// maximum number of entries (default: as many as fit)
    #[argh(option)]
    pub limit: Option<Limit>,
}

/// The entries of a directory.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The absolute path that was used.
    pub path: String,
    /// The entries.
    pub entries: Vec<Entry>,
    /// The number of all entries.
    pub total: usize,
    /// Whether entries remain after the returned ones.
    pub truncated: bool,
    /// The arguments for the next page; null on the last page.
    pub next: Option<Next>,
    /// The entries that could not be read, with the reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}

/// One entry of a directory.
#[derive(Serialize, JsonSchema)]
pub struct Entry {
    /// Its path within the directory.
    pub name: String,
    /// Set where the name is not UTF-8: it is shown with U+FFFD and cannot be used as it is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub name_is_lossy: bool,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: EntryKind,
    /// Its size in bytes; null for anything but a file.
    pub size: Option<u64>,
    /// When it was last changed, in UTC.
    pub modified: Option<String>,
    /// The target of a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const HOST_OPTIONS: &'static [&'static str] = host::FILES;
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Files];
    const OPERANDS: &'static [&'static str] = &["--path"];
    const ERRORS: &'static [&'static [Code]] = &[
        &[NOT_A_DIRECTORY, ragmaker_tool::OFFSET_BEYOND_END, ragmaker_files::PATH_IGNORED],
        ragmaker_files::PATH_ERRORS,
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let place = Roots::discover(&invocation.host)?.place(&self.path)?;
        place.check_directory()?;
        if !self.all {
            place.check_ignored().map_err(|error| error.remedy("Use --all to list it."))?;
        }
        let base = place.path();
        let depth = usize::try_from(self.depth.get()).unwrap_or(usize::MAX);
        let options = Walk { depth: Some(depth), no_ignore: self.all, hidden: self.all, ..Walk::default() };
        let WalkResult { paths: mut found, mut unreadable } = collect(&place, options, |entry| entry.depth() > 0)?;
        let mut entries = place.entry_reader()?;
        match self.sort {
            Sort::Name => found.sort_unstable(),
            Sort::Size => found.sort_by_cached_key(|path| {
                let file = entries.metadata(path).filter(|seen| seen.kind == EntryKind::File);
                (Reverse(file.map(|seen| seen.size)), path.clone())
            }),
            Sort::Modified => found.sort_by_cached_key(|path| {
                let modified = entries.metadata(path).map(|seen| seen.modified);
                (Reverse(modified.unwrap_or(SystemTime::UNIX_EPOCH)), path.clone())
            }),
        }
        unreadable.truncate(20);
        let total = found.len();
        let answer = Answer {
            path: lossy_text(base.clone()).0,
            entries: vec![],
            total,
            truncated: false,
            next: Some(Next::WIDEST),
            unreadable,
        };
        let page = Budget::for_frame(&answer).page_of(found, total, self.offset, self.limit, |path| {
            let seen = entries.metadata(&path)?;
            let (name, name_is_lossy) = lossy_text(path.strip_prefix(&base).unwrap_or(&path).to_path_buf());
            Some(Entry {
                name,
                name_is_lossy,
                kind: seen.kind,
                size: (seen.kind == EntryKind::File).then_some(seen.size),
                modified: Some(rfc3339(seen.modified)),
                target: seen.target.map(|target| lossy_text(target).0),
            })
        })?;
        Ok(Answer { entries: page.items, truncated: page.next.is_some(), next: page.next, ..answer })
    }
}

#[cfg(test)]
mod tests {
    use std::{fs::File, path::Path, time::Duration};

    use ragmaker_files::PATH_IGNORED;
    use ragmaker_testkit::{folder, write};
    use ragmaker_tool::{HostOptions, OFFSET_BEYOND_END};

    use super::*;

    /// The answer in the project `root`, or the error.
    fn run(root: &Path, words: &[&str]) -> Result<Answer, Error> {
        let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
        Args::from_args(&["list"], words).unwrap().run(&Invocation { host, ..Invocation::default() })
    }

    /// The names of the entries.
    fn names(root: &Path, words: &[&str]) -> Vec<String> {
        run(root, words).unwrap().entries.into_iter().map(|entry| entry.name).collect()
    }

    #[test]
    fn the_largest_file_is_first_and_directories_are_last() {
        let (_holder, root) = folder("project");
        for (name, size) in [("a", 0), ("big", 9), ("dir/large", 99), ("c", 3), ("b", 3)] {
            write(&root, name, "x".repeat(size));
        }
        assert_eq!(names(&root, &["--sort", "size"]), ["big", "b", "c", "a", "dir"]);
        assert_eq!(names(&root, &["--sort", "size", "--depth", "2"])[0], "dir/large");
    }

    #[test]
    fn the_latest_is_first_and_equal_times_are_sorted_by_name() {
        let (_holder, root) = folder("project");
        for (name, seconds) in [("old", 1), ("b", 2), ("a", 2), ("new", 3)] {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            File::options().write(true).open(write(&root, name, "")).unwrap().set_modified(time).unwrap();
        }
        assert_eq!(names(&root, &["--sort", "modified"]), ["new", "a", "b", "old"]);
        let entries = run(&root, &["--sort", "modified"]).unwrap().entries;
        assert_eq!(entries[0].modified.as_deref(), Some("1970-01-01T00:00:03Z"));
    }

    #[test]
    fn a_directory_is_followed_by_its_own_entries() {
        let (_holder, root) = folder("project");
        for name in ["a/c", "a-b", "a/d/e"] {
            write(&root, name, "");
        }
        assert_eq!(names(&root, &["--depth", "2"]), ["a", "a/c", "a/d", "a-b"]);
    }

    #[test]
    fn an_ignored_directory_is_listed_on_request_alone() {
        let (_holder, root) = folder("project");
        write(&root, ".gitignore", "out/\n");
        write(&root, "out/.a", "");
        let error = run(&root, &["--path", "out"]).err().unwrap();
        assert!(error.is(PATH_IGNORED) && error.remediation().contains("--all"), "{error}");
        assert_eq!(names(&root, &["--path", "out", "--all"]), [".a"]);
    }

    #[test]
    fn a_page_starts_where_the_last_one_ended() {
        let (_holder, root) = folder("project");
        for name in ["a", "b", "c"] {
            write(&root, name, "");
        }
        let page = run(&root, &["--offset", "1", "--limit", "1"]).unwrap();
        assert_eq!((page.entries[0].name.as_str(), page.total, page.truncated), ("b", 3, true));
        assert_eq!(page.next, Some(Next { offset: 2 }));
        let last = run(&root, &["--offset", "2", "--limit", "1"]).unwrap();
        assert_eq!((last.entries[0].name.as_str(), last.next, last.truncated), ("c", None, false));
        assert!(run(&root, &["--offset", "3"]).err().unwrap().is(OFFSET_BEYOND_END));
    }
}
