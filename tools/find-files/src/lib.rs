//! `ragmaker-find-files`: files by a glob.

use std::{cmp::Reverse, time::SystemTime};

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{Asked, Glob, Met, NOT_A_DIRECTORY, Next, Page, Roots, Walk, meet, shown};
use ragmaker_tool::{Annotations, Code, Error, JsonSchema, Tool, choice};
use serde::{Deserialize, Serialize};

/// Nothing matches.
pub const NO_FILES: Code =
    Code::new("NO_FILES", "Try a wider glob such as **/*.md, or --no-ignore and --hidden for files that are left out.");

/// What files are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    /// By path.
    Name,
    /// The latest first.
    Modified,
}

/// Find files by a glob; directories that ignore files list are left out.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
#[serde(rename_all = "kebab-case")]
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
    /// find files that an ignore file lists, too
    #[argh(switch)]
    pub no_ignore: bool,
    /// find files whose names begin with a dot, too
    #[argh(switch)]
    pub hidden: bool,
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

/// The files that were found.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The absolute path of the directory that was looked in.
    pub path: String,
    /// The absolute paths of the files.
    pub paths: Vec<String>,
    /// Those of them that are not UTF-8: they are shown with U+FFFD and can not be used as they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lossy_paths: Vec<String>,
    /// Directories that could not be looked into, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
    /// How many there are.
    pub total: usize,
    /// Whether there are more than were returned.
    pub truncated: bool,
    /// The arguments that continue; null when nothing is left.
    pub next: Option<Next>,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations =
        Annotations { read_only_hint: true, destructive_hint: false, idempotent_hint: true, open_world_hint: false };
    const ERRORS: &'static [Code] = &[
        NO_FILES,
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
        let base = place.path();
        let glob = Glob::new(&base, &self.glob)?;
        let options = Walk { no_ignore: self.no_ignore, hidden: self.hidden, ..Walk::default() };
        let Met { paths: mut found, mut unreadable } = meet(&place, options, |entry| {
            entry.file_type().is_some_and(|kind| kind.is_file()) && glob.matches(entry.path())
        })?;
        unreadable.truncate(20);
        if found.is_empty() {
            let (glob, base) = (&self.glob, shown(base).0);
            return Err(NO_FILES
                .error(format!("no file in {base} matches {glob:?}"))
                .detail("path", base)
                .detail("unreadable", unreadable));
        }
        let mut looker = place.looker()?;
        match self.sort {
            Sort::Name => found.sort_unstable(),
            Sort::Modified => found.sort_by_cached_key(|path| {
                let modified = looker.look(path).map(|seen| seen.modified);
                (Reverse(modified.unwrap_or(SystemTime::UNIX_EPOCH)), path.clone())
            }),
        }
        let mut lossy_paths = vec![];
        let page = Page::cut(found, self.offset, self.limit, |path| {
            looker.look(&path)?;
            let (path, is_lossy) = shown(path);
            if is_lossy {
                lossy_paths.push(path.clone());
            }
            Some(path)
        })?;
        Ok(Answer {
            path: shown(base).0,
            paths: page.items,
            lossy_paths,
            unreadable,
            total: page.total,
            truncated: page.next.is_some(),
            next: page.next,
        })
    }
}
