//! `ragmaker-list-directory`: what is in a directory.

use std::{cmp::Reverse, time::SystemTime};

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{Asked, EntryKind, Met, NOT_A_DIRECTORY, Page, Roots, Walk, meet, rfc3339, shown};
use ragmaker_tool::{Annotations, Code, Error, JsonSchema, Tool, Within, choice};
use serde::{Deserialize, Serialize};

/// What entries are ordered by.
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

/// List a directory as JSON.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
#[serde(rename_all = "kebab-case")]
pub struct Args {
    /// directory to list; a relative path starts at the project root
    #[argh(option, default = "String::from(\".\")")]
    pub path: String,
    /// how many levels to go down
    #[argh(option, default = "Within::new(1)")]
    pub depth: Within<1, 1000>,
    /// list hidden and ignored entries too
    #[argh(switch)]
    pub all: bool,
    /// order: name, size or modified
    #[argh(option, default = "Sort::Name", from_str_fn(choice))]
    pub sort: Sort,
    /// how many entries to leave out, as `next` says
    #[argh(option, default = "0")]
    pub offset: usize,
    /// most entries to return; without it as many as every client takes
    #[argh(option)]
    pub limit: Option<usize>,
    /// directory that relative paths start at (default: the nearest project, else the working directory)
    #[argh(option)]
    pub project_root: Option<String>,
    /// another directory that may be read; may be repeated
    #[argh(option)]
    pub allow_root: Vec<String>,
    /// knowledge base that may be read: it has a catalog.json or cache/catalog.json; may be repeated
    #[argh(option)]
    pub kb_root: Vec<String>,
}

/// What is in a directory.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The absolute path that was used.
    pub path: String,
    /// The entries.
    pub entries: Vec<Entry>,
    /// How many there are.
    pub total: usize,
    /// Whether there are more than were returned.
    pub truncated: bool,
    /// The arguments that continue; null when nothing is left.
    pub next: Option<ragmaker_files::Next>,
    /// What could not be looked at, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}

/// One entry of a directory.
#[derive(Serialize, JsonSchema)]
pub struct Entry {
    /// Its path within the directory.
    pub name: String,
    /// Set where the name is not UTF-8: it is shown with U+FFFD and can not be used as it is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub name_is_lossy: bool,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: EntryKind,
    /// Its size in bytes; null for what is no file.
    pub size: Option<u64>,
    /// When it was last changed, in UTC.
    pub modified: Option<String>,
    /// Where a link leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations =
        Annotations { read_only_hint: true, destructive_hint: false, idempotent_hint: true, open_world_hint: false };
    const ERRORS: &'static [Code] = &[
        NOT_A_DIRECTORY,
        ragmaker_tool::OFFSET_BEYOND_END,
        ragmaker_files::PATH_IGNORED,
        ragmaker_files::FILE_NOT_FOUND,
        ragmaker_files::PATH_NOT_ALLOWED,
        ragmaker_files::PERMISSION_DENIED,
        ragmaker_files::SYMLINK_LOOP,
        ragmaker_files::PATH_CHANGED,
        ragmaker_files::ROOT_NOT_USABLE,
        ragmaker_files::ROOT_TOO_BROAD,
        ragmaker_files::IO_ERROR,
    ];

    fn run(self) -> Result<Answer, Error> {
        let asked =
            Asked { project_root: self.project_root.as_deref(), allow_root: &self.allow_root, kb_root: &self.kb_root };
        let place = Roots::discover(asked)?.place(&self.path)?;
        place.check_directory()?;
        if !self.all {
            place.check_ignored().map_err(|error| error.remedy("Add --all to list it all the same."))?;
        }
        let base = place.path();
        let depth = usize::try_from(self.depth.get()).unwrap_or(usize::MAX);
        let options = Walk { depth: Some(depth), no_ignore: self.all, hidden: self.all, ..Walk::default() };
        let Met { paths: mut found, mut unreadable } = meet(&place, options, |entry| entry.depth() > 0)?;
        let mut looker = place.looker()?;
        match self.sort {
            Sort::Name => found.sort_unstable(),
            Sort::Size => found.sort_by_cached_key(|path| {
                let file = looker.look(path).filter(|seen| seen.kind == EntryKind::File);
                (Reverse(file.map(|seen| seen.size)), path.clone())
            }),
            Sort::Modified => found.sort_by_cached_key(|path| {
                let modified = looker.look(path).map(|seen| seen.modified);
                (Reverse(modified.unwrap_or(SystemTime::UNIX_EPOCH)), path.clone())
            }),
        }
        let page = Page::cut(found, self.offset, self.limit, |path| {
            let seen = looker.look(&path)?;
            let (name, name_is_lossy) = shown(path.strip_prefix(&base).unwrap_or(&path).to_path_buf());
            Some(Entry {
                name,
                name_is_lossy,
                kind: seen.kind,
                size: (seen.kind == EntryKind::File).then_some(seen.size),
                modified: Some(rfc3339(seen.modified)),
                target: seen.target.map(|target| shown(target).0),
            })
        })?;
        unreadable.truncate(20);
        Ok(Answer {
            path: shown(base).0,
            entries: page.items,
            total: page.total,
            truncated: page.next.is_some(),
            next: page.next,
            unreadable,
        })
    }
}
