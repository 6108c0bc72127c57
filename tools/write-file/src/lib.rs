//! `ragmaker-write-file`: a text file, whole or not at all.

use std::io::{self, Read};

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{ALREADY_EXISTS, Asked, Roots, io_error, shown};
use ragmaker_text::legacy::{Rewrite, UNENCODABLE};
use ragmaker_tool::{ARGUMENT_ERROR, Annotations, Code, Error, JsonSchema, Tool};
use serde::Serialize;

/// The file is larger than is changed at once.
pub const FILE_TOO_LARGE: Code =
    Code::new("FILE_TOO_LARGE", "Write another file: this one is too large to be rewritten.");

/// The largest file that is changed, and the most content that is taken (256 MiB).
const MAX: u64 = 256 << 20;

/// Write a text file, whole or not at all; one that exists keeps its encoding, newlines and permissions.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
#[serde(rename_all = "kebab-case")]
pub struct Args {
    /// file to write; a relative path starts at the project root, missing directories are made
    #[argh(option)]
    pub path: String,
    /// the text; without it, standard input
    #[argh(option)]
    pub content: Option<String>,
    /// fail if the file exists
    #[argh(switch)]
    pub create_only: bool,
    /// add the text to the end of the file
    #[argh(switch)]
    pub append: bool,
    /// directory that relative paths start at (default: the nearest project, else the working directory)
    #[argh(option)]
    pub project_root: Option<String>,
    /// another directory that may be changed, as rw=DIR; may be repeated
    #[argh(option)]
    pub allow_root: Vec<String>,
}

/// What was written.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The absolute path that was used.
    pub path: String,
    /// The size of the file now.
    pub bytes: usize,
    /// Whether the file is new.
    pub created: bool,
    /// The encoding that it is in.
    pub encoding: &'static str,
    /// How its lines end.
    pub newline: &'static str,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations =
        Annotations { read_only_hint: false, destructive_hint: true, idempotent_hint: false, open_world_hint: false };
    const ERRORS: &'static [Code] = &[
        ALREADY_EXISTS,
        UNENCODABLE,
        FILE_TOO_LARGE,
        ragmaker_files::FILE_NOT_FOUND,
        ragmaker_files::PATH_NOT_ALLOWED,
        ragmaker_files::PATH_NOT_WRITABLE,
        ragmaker_files::PERMISSION_DENIED,
        ragmaker_files::SYMLINK_LOOP,
        ragmaker_files::PATH_CHANGED,
        ragmaker_files::IS_A_DIRECTORY,
        ragmaker_files::NOT_A_REGULAR_FILE,
        ragmaker_files::ROOT_NOT_USABLE,
        ragmaker_files::ROOT_TOO_BROAD,
        ragmaker_files::IO_ERROR,
    ];

    fn run(self) -> Result<Answer, Error> {
        if self.append && self.create_only {
            return Err(ARGUMENT_ERROR
                .error("--append can not be used with --create-only")
                .remedy("A file that is new needs no --append.")
                .detail("argument", "--append"));
        }
        let asked = Asked { project_root: self.project_root.as_deref(), allow_root: &self.allow_root, kb_root: &[] };
        let roots = Roots::discover(asked)?;
        let place = roots.place_to_write(&self.path)?;
        let content = match self.content {
            Some(content) => content,
            None => standard_input()?,
        };
        let _lock = place.lock()?;
        let old = match place.open() {
            Ok(file) => {
                let mut bytes = vec![];
                let read = file.take(MAX + 1).read_to_end(&mut bytes);
                read.map_err(|error| io_error(&error, &place.path()))?;
                if bytes.len() as u64 > MAX {
                    return Err(FILE_TOO_LARGE.error(format!("{} has more than {MAX} bytes", place.path().display())));
                }
                Some(bytes)
            }
            Err(error) if error.is(ragmaker_files::FILE_NOT_FOUND) => None,
            Err(error) => return Err(error),
        };
        let rewrite = Rewrite::of(old.unwrap_or_default());
        let bytes = if self.append { rewrite.append(&content) } else { rewrite.write(&content) }?;
        let written = place.write(&bytes, self.create_only)?;
        Ok(Answer {
            path: shown(place.path()).0,
            bytes: bytes.len(),
            created: written.created,
            encoding: rewrite.encoding(),
            newline: rewrite.newline_of(&bytes).name(),
        })
    }
}

fn standard_input() -> Result<String, Error> {
    let mut content = String::new();
    let read = io::stdin().lock().take(MAX + 1).read_to_string(&mut content);
    read.map_err(|error| {
        ARGUMENT_ERROR.error(format!("standard input can not be used: {error}")).remedy("Give the text as UTF-8.")
    })?;
    if content.len() as u64 > MAX {
        return Err(FILE_TOO_LARGE.error(format!("standard input has more than {MAX} bytes")));
    }
    Ok(content)
}
