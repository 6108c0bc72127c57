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
