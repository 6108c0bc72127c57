//! `ragmaker-read-file`: a file, or a page of it, as JSON.

use std::{
    io::{self, Read},
    path::Path,
};

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{Asked, IO_ERROR, Roots, io_error, rfc3339};
use ragmaker_text::Source;
use ragmaker_tool::{ARGUMENT_ERROR, Annotations, Code, Error, JsonSchema, Tool, Within, choice};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

mod answer;
mod decoded;
mod media;
mod page;
mod pdf;
mod text;
mod wanted;

pub use answer::{Answer, Content, Data, Kind, Lossy, Range, Stream};
pub use decoded::DECODER_MISSING;
pub use media::NOT_TEXT;
pub use pdf::{PDF_ENCRYPTED, PDF_READER_MISSING, PDF_UNREADABLE};
pub use text::OFFSET_BEYOND_END;

/// More came through standard input than is kept.
pub const INPUT_TOO_LARGE: Code =
    Code::new("INPUT_TOO_LARGE", "Save it to a file and read that: a file may have any size.");

/// The most bytes that are kept of standard input.
const MAX_INPUT: u64 = 64 << 20;

/// The largest file of which a checksum is taken.
const MAX_CHECKED: u64 = 16 << 20;

/// How to show a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum As {
    /// Text as text, an image as base64.
    Auto,
    /// As text, whatever it is.
    Text,
    /// The bytes in base64.
    Base64,
}

/// Read a file of any size and encoding, or a page of it, as JSON; `next` says how to go on.
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
    /// first line to return, counted from 1, instead of --offset
    #[argh(option)]
    pub start_line: Option<Within<1, { u64::MAX }>>,
    /// last line to return, counted from 1, instead of --limit
    #[argh(option)]
    pub end_line: Option<Within<1, { u64::MAX }>>,
    /// number of lines to return from the end
    #[argh(option)]
    pub tail: Option<u64>,
    /// encoding of the text, such as Shift-JIS, where the one that is found is wrong
    #[argh(option)]
    pub encoding: Option<String>,
    /// pages of a PDF to read, counted from 1, as 3, 2-5 or 4-
    #[argh(option)]
    pub pages: Option<String>,
    /// how to show the file: auto, text or base64
    #[argh(option, long = "as", default = "As::Auto", from_str_fn(choice))]
    #[serde(rename = "as")]
    pub shown_as: As,
    /// directory that relative paths start at (default: the nearest project, else the working directory)
    #[argh(option)]
    pub project_root: Option<String>,
    /// another directory that may be read; may be repeated
    #[argh(option)]
    pub allow_root: Vec<String>,
    /// knowledge base that may be read, a directory with a catalog.json; may be repeated
    #[argh(option)]
    pub kb_root: Vec<String>,
    /// read the file even if an ignore file such as .gitignore lists it
    #[argh(switch)]
    pub no_ignore: bool,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations =
        Annotations { read_only_hint: true, destructive_hint: false, idempotent_hint: true, open_world_hint: false };
    const ERRORS: &'static [Code] = &[
        ragmaker_files::FILE_NOT_FOUND,
        ragmaker_files::IS_A_DIRECTORY,
        ragmaker_files::NOT_A_REGULAR_FILE,
        NOT_TEXT,
        OFFSET_BEYOND_END,
        ragmaker_files::PATH_NOT_ALLOWED,
        ragmaker_files::PATH_IGNORED,
        ragmaker_files::PATH_CHANGED,
        ragmaker_files::PERMISSION_DENIED,
        ragmaker_files::SYMLINK_LOOP,
        ragmaker_files::ROOT_NOT_USABLE,
        ragmaker_files::ROOT_TOO_BROAD,
        INPUT_TOO_LARGE,
        DECODER_MISSING,
        PDF_READER_MISSING,
        PDF_ENCRYPTED,
        PDF_UNREADABLE,
        IO_ERROR,
    ];

    fn run(self) -> Result<Answer, Error> {
        let wanted = wanted::Wanted::new(&self)?;
        if self.path == "-" {
            return self.read(Source::Memory(standard_input()?), &wanted, Answer::of("-".to_owned(), None));
        }
        let asked =
            Asked { project_root: self.project_root.as_deref(), allow_root: &self.allow_root, kb_root: &self.kb_root };
        let place = Roots::discover(asked)?.place(&self.path)?;
        if !self.no_ignore {
            place.check_ignored()?;
        }
        let file = place.open()?;
        let path = place.path();
        let modified = file.metadata().and_then(|metadata| metadata.modified()).map(rfc3339).ok();
        let source = Source::file(file).map_err(|error| io_error(&error, &path))?;
        self.read(source, &wanted, Answer::of(path.to_string_lossy().into_owned(), modified))
    }
}

impl Args {
    fn read(&self, source: Source, wanted: &wanted::Wanted, answer: Answer) -> Result<Answer, Error> {
        let sha256 = checksum(&source).map_err(|error| io_error(&error, Path::new(&answer.path)))?;
        let answer = Answer { size: source.size(), sha256, ..answer };
        if self.shown_as == As::Base64 {
            return media::read(source, true, answer);
        }
        let pages = self.pages.as_deref().map(pdf::Pages::parse).transpose()?;
        if self.encoding.is_none() && pdf::is_pdf(&source).map_err(|error| io_error(&error, Path::new(&answer.path)))? {
            let decoded = pdf::decode(&answer.path, &source, pages)?;
            let answer = Answer { kind: Kind::Pdf, mime_type: "application/pdf", ..answer };
            return text::read_decoded(decoded, wanted, answer);
        }
        if pages.is_some() {
            return Err(ARGUMENT_ERROR
                .error(format!("--pages can not be used: {} is not a PDF", answer.path))
                .remedy("Use --offset and --limit for lines.")
                .detail("argument", "--pages"));
        }
        let (source, answer) = match text::read(source, self.encoding.as_deref(), wanted, answer)? {
            Ok(answer) => return Ok(answer),
            Err(parts) => parts,
        };
        if self.shown_as == As::Text {
            // Every byte is a character of windows-1252.
            return text::read(source, Some("windows-1252"), wanted, answer)?
                .or_else(|(source, answer)| media::read(source, false, answer));
        }
        media::read(source, false, answer)
    }
}

fn checksum(source: &Source) -> io::Result<Option<String>> {
    if source.size() > MAX_CHECKED {
        return Ok(None);
    }
    let mut hash = Sha256::new();
    let mut block = vec![0; 64 * 1024];
    let mut at = 0;
    loop {
        let read = source.read_at(at, &mut block)?;
        if read == 0 {
            let digits = hash.finalize().into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
            return Ok(Some(digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()));
        }
        hash.update(&block[..read]);
        at += read as u64;
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
