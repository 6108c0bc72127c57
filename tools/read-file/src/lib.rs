//! `ragmaker-read-file`: a file, or a page of it, as JSON.

use std::{
    io::{self, Read},
    path::Path,
};

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{
    Asked, FILE_NOT_FOUND, IO_ERROR, IS_A_DIRECTORY, NOT_A_REGULAR_FILE, PATH_CHANGED, PATH_NOT_ALLOWED,
    PERMISSION_DENIED, ROOT_NOT_USABLE, ROOT_TOO_BROAD, Roots, SYMLINK_LOOP, io_error, rfc3339,
};
use ragmaker_text::Source;
use ragmaker_tool::{Annotations, Code, Error, JsonSchema, Tool};
use serde::Serialize;

mod answer;
mod page;
mod text;
mod wanted;

pub use answer::Answer;
pub use page::OFFSET_BEYOND_END;
pub use text::NOT_TEXT;

/// More came through standard input than is kept.
pub const INPUT_TOO_LARGE: Code =
    Code::new("INPUT_TOO_LARGE", "Save it to a file and read that: a file may have any size.");

/// The most bytes that are kept of standard input.
const MAX_INPUT: u64 = 64 << 20;

/// Read a text file of any size, or a page of it, as JSON; `next` says how to go on.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
#[serde(rename_all = "kebab-case")]
pub struct Args {
    /// file to read; a relative path starts at the project root, - is standard input
    #[argh(option)]
    pub path: String,
    /// first line to return, counted from 0
    #[argh(option)]
    pub offset: Option<u64>,
    /// number of lines to return, all of them however long; without it a page that every client takes
    #[argh(option)]
    pub limit: Option<u64>,
    /// characters of the first line to leave out, for lines longer than a page
    #[argh(option, default = "0")]
    pub column_offset: u64,
    /// directory that relative paths start at (default: the nearest project, else the working directory)
    #[argh(option)]
    pub project_root: Option<String>,
    /// another directory that may be read; may be repeated
    #[argh(option)]
    pub allow_root: Vec<String>,
    /// knowledge base that may be read, a directory with a catalog.json; may be repeated
    #[argh(option)]
    pub kb_root: Vec<String>,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations =
        Annotations { read_only_hint: true, destructive_hint: false, idempotent_hint: true, open_world_hint: false };
    const ERRORS: &'static [Code] = &[
        FILE_NOT_FOUND,
        IS_A_DIRECTORY,
        NOT_A_REGULAR_FILE,
        NOT_TEXT,
        OFFSET_BEYOND_END,
        PATH_NOT_ALLOWED,
        PATH_CHANGED,
        PERMISSION_DENIED,
        SYMLINK_LOOP,
        ROOT_NOT_USABLE,
        ROOT_TOO_BROAD,
        INPUT_TOO_LARGE,
        IO_ERROR,
    ];

    fn run(self) -> Result<Answer, Error> {
        let wanted =
            wanted::Wanted { offset: self.offset.unwrap_or_default(), limit: self.limit, column: self.column_offset };
        if self.path == "-" {
            return text::read("-".to_owned(), Source::Memory(standard_input()?), None, &wanted);
        }
        let asked =
            Asked { project_root: self.project_root.as_deref(), allow_root: &self.allow_root, kb_root: &self.kb_root };
        let place = Roots::discover(asked)?.place(&self.path)?;
        let file = place.open()?;
        let path = place.path();
        let fail = |error: io::Error| io_error(&error, &path);
        let modified = file.metadata().and_then(|metadata| metadata.modified()).map(rfc3339).ok();
        let source = Source::file(file).map_err(fail)?;
        text::read(path.to_string_lossy().into_owned(), source, modified, &wanted)
    }
}

fn standard_input() -> Result<Vec<u8>, Error> {
    let mut bytes = vec![];
    io::stdin()
        .lock()
        .take(MAX_INPUT + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| io_error(&error, Path::new("standard input")))?;
    if bytes.len() as u64 > MAX_INPUT {
        return Err(INPUT_TOO_LARGE.error(format!("standard input has more than {MAX_INPUT} bytes")));
    }
    Ok(bytes)
}
