//! `ragmaker-read-file`: a file, or a page of it, as JSON.

use std::{
    io::{self, Read},
    path::Path,
};

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{Asked, IO_ERROR, Roots, io_error, rfc3339};
use ragmaker_text::Source;
use ragmaker_tool::{ARGUMENT_ERROR, Annotations, Code, Error, JsonSchema, OFFSET_BEYOND_END, Tool, Within, choice};
use serde::{Deserialize, Serialize};

mod answer;
mod decoded;
mod handover;
mod media;
mod office;
mod page;
mod pdf;
mod text;
mod wanted;

pub use answer::{Answer, Content, Data, Kind, Lossy, Range, Stream};
pub use handover::{DECODER_MISSING, read_here_or_there};
pub use media::NOT_TEXT;
pub use office::DOCUMENT_UNREADABLE;
pub use pdf::{PDF_ENCRYPTED, PDF_READER_MISSING, PDF_UNREADABLE};

use decoded::encoding_of;
use wanted::Wanted;

/// More came through standard input than is kept.
pub const INPUT_TOO_LARGE: Code =
    Code::new("INPUT_TOO_LARGE", "Save it to a file and read that: a file may have any size.");

/// The most bytes that are kept of standard input.
const MAX_INPUT: u64 = 64 << 20;

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
    pub limit: Option<Within<1, { u64::MAX }>>,
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
    pub tail: Option<Within<1, { u64::MAX }>>,
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
    /// knowledge base that may be read: it has a catalog.json or cache/catalog.json; may be repeated
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
        DOCUMENT_UNREADABLE,
        IO_ERROR,
    ];

    fn run(self) -> Result<Answer, Error> {
        let wanted = Wanted::new(&self)?;
        let (source, answer) = if self.path == "-" { standard_input()? } else { self.open()? };
        match self.plain_text(source, &wanted, answer)? {
            Ok(answer) => Ok(answer),
            Err((source, answer)) => self.anything_else(source, &wanted, answer),
        }
    }
}

impl Args {
    /// The file, and what is known of it before it is read.
    fn open(&self) -> Result<(Source, Answer), Error> {
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
        Ok((source, Answer::of(path.to_string_lossy().into_owned(), modified)))
    }

    /// What is wanted of a text in one of Unicode's encodings, which is to be shown as text. Gives
    /// back whatever is not that.
    fn plain_text(
        &self,
        source: Source,
        wanted: &Wanted,
        answer: Answer,
    ) -> Result<Result<Answer, (Source, Answer)>, Error> {
        if self.shown_as == As::Base64 || self.pages.is_some() || self.is_pdf(&source, &answer)? {
            return Ok(Err((source, answer)));
        }
        text::read(source, self.encoding.as_deref(), wanted, answer)
    }

    fn anything_else(&self, source: Source, wanted: &Wanted, answer: Answer) -> Result<Answer, Error> {
        let path = answer.path.clone();
        let answer = answer.measured(&source).map_err(|error| io_error(&error, Path::new(&path)))?;
        if self.shown_as == As::Base64 {
            if !wanted.is_all() {
                return Err(ARGUMENT_ERROR
                    .error("--as base64 shows the whole file: choose no lines")
                    .detail("argument", "--as"));
            }
            return media::read(source, true, answer);
        }
        let pages = self.pages.as_deref().map(pdf::Pages::parse).transpose()?;
        if self.is_pdf(&source, &answer)? {
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
        let document = if self.encoding.is_none() { office::Document::open(&source) } else { Ok(None) };
        if let Some(document) = document.map_err(|error| io_error(&error, Path::new(&path)))? {
            let answer = Answer { kind: Kind::Document, mime_type: document.format.mime_type(), ..answer };
            return text::read_decoded(document.decode(&path)?, wanted, answer);
        }
        let mut identified = encoding_of(&source, self.encoding.as_deref())?;
        if identified.is_none() && self.shown_as == As::Text {
            // Every byte is a character of windows-1252.
            identified = encoding_of(&source, Some("windows-1252"))?;
        }
        match identified {
            None => media::read(source, false, answer),
            Some(identified) if identified.encoding.has_lines_of_their_own() => {
                text::read_legacy(source, identified, wanted, answer)
            }
            Some(identified) => text::read_decoded(decoded::decode(&source, identified)?, wanted, answer),
        }
    }

    /// Whether `source` is a PDF that is to be read as one.
    fn is_pdf(&self, source: &Source, answer: &Answer) -> Result<bool, Error> {
        let found = pdf::is_pdf(source).map_err(|error| io_error(&error, Path::new(&answer.path)))?;
        Ok(found && self.encoding.is_none())
    }
}

fn standard_input() -> Result<(Source, Answer), Error> {
    let mut bytes = vec![];
    io::stdin()
        .lock()
        .take(MAX_INPUT + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| io_error(&error, Path::new("standard input")))?;
    if bytes.len() as u64 > MAX_INPUT {
        return Err(INPUT_TOO_LARGE.error(format!("standard input has more than {MAX_INPUT} bytes")));
    }
    Ok((Source::Memory(bytes), Answer::of("-".to_owned(), None)))
}
