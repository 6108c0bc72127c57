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
