//! `ragmaker-read-file`: returns a file, or a page of it, as JSON.

use std::{
    io::{self, Read},
    path::Path,
};

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{ResolvedPath, Roots, io_error, rfc3339};
use ragmaker_office::{
    DOCUMENT_UNREADABLE, OfficeDocument, OfficeFormat, PDF_ENCRYPTED, PDF_READER_MISSING, PDF_UNREADABLE, Pages,
    is_notebook_name, notebook_file,
};
use ragmaker_text::{ByteSource, INPUT_TOO_LARGE, NOT_TEXT, Prior};
use ragmaker_tool::{
    ARGUMENT_ERROR, Annotations, Bounded, Code, ContentOrigin, Error, Invocation, JsonSchema, Limit, OFFSET_BEYOND_END,
    Offset, Stdin, Tool, ToolProfile, choice, host,
};
use serde::{Deserialize, Serialize};

mod answer;
mod base64;
mod decoded;
mod media;
mod page;
mod requested_part;
mod text;

pub use answer::{Answer, Content, Data, FileKind, Lossy, Range, Stream};

use decoded::{Decoded, encoding_of};
use requested_part::RequestedPart;

/// The maximum number of bytes that are kept of standard input.
const MAX_INPUT: u64 = 64 << 20;

/// The form in which a file is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutputForm {
    /// Text as text, an image as base64.
    Auto,
    /// As text, whatever its content is.
    Text,
    /// The bytes in base64.
    Base64,
}

/// Read a file as text, whatever its size and encoding: source, Markdown, PDF, office files, notebooks; images as
/// base64. For several files use `ragmaker-read-many-files`. Returns content, paged by next.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// file to read, from the project root; - is standard input
    #[argh(option)]
    pub path: String,
    /// number of lines to skip
    #[argh(option, default = "Offset::new(0)")]
    pub offset: Offset,
    /// maximum number of lines (default: as many as fit)
    #[argh(option)]
    pub limit: Option<Limit>,
    /// number of characters of the first line to skip (from `next`)
    #[argh(option, default = "Offset::new(0)")]
    pub column_offset: Offset,
    /// first line to return, counted from 1
    #[argh(option)]
    pub start_line: Option<Bounded<1, { u64::MAX }>>,
    /// last line to return, counted from 1
    #[argh(option)]
    pub end_line: Option<Bounded<1, { u64::MAX }>>,
    /// number of lines to return from the end
    #[argh(option)]
    pub tail: Option<Bounded<1, { u64::MAX }>>,
    /// encoding, such as Shift-JIS, where detection is wrong
    #[argh(option)]
    pub encoding: Option<String>,
    /// pages of a PDF to read, counted from 1, as 3, 2-5 or 4-
    #[argh(option)]
    pub pages: Option<String>,
    /// form of the content: auto, text or base64
    #[argh(option, long = "as", default = "OutputForm::Auto", from_str_fn(choice))]
    #[serde(rename = "as")]
    pub shown_as: OutputForm,
    /// read it even if an ignore file lists it
    #[argh(switch)]
    pub no_ignore: bool,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const HOST_OPTIONS: &'static [&'static str] = host::FILES;
    const ORIGIN: ContentOrigin = ContentOrigin::Files;
    const STDIN: Option<Stdin> = Some(Stdin { argument: "path", dash: true });
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Gather, ToolProfile::Ask, ToolProfile::Files];
    const OPERANDS: &'static [&'static str] = &["--path"];
    const ERRORS: &'static [&'static [Code]] = &[
        &[
            NOT_TEXT,
            OFFSET_BEYOND_END,
            INPUT_TOO_LARGE,
            PDF_READER_MISSING,
            PDF_ENCRYPTED,
            PDF_UNREADABLE,
            DOCUMENT_UNREADABLE,
            ragmaker_files::PATH_IGNORED,
        ],
        ragmaker_files::PATH_ERRORS,
        ragmaker_files::FILE_ERRORS,
    ];

    fn lines(answer: &Answer) -> Option<u64> {
        answer.total
    }

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let wanted = RequestedPart::new(&self, invocation.caller)?;
        let ((source, answer), place) = if self.path == "-" {
            (standard_input()?, None)
        } else {
            let place = Roots::discover(&invocation.host)?.place(&self.path)?;
            (self.open(&place)?, Some(place))
        };
        let prior =
            || Prior::of_process().with_texts(&place.as_ref().map(ResolvedPath::similar_files).unwrap_or_default());
        match self.plain_text(source, &wanted, answer)? {
            Ok(answer) => Ok(answer),
            Err((source, answer)) => self.anything_else(source, &wanted, answer, &prior),
        }
    }
}

impl Args {
    /// The file, and what is known of it before it is read.
    fn open(&self, place: &ResolvedPath) -> Result<(ByteSource, Answer), Error> {
        if !self.no_ignore {
            place.check_ignored()?;
        }
        let file = place.open()?;
        let path = place.path();
        let modified = file.metadata().and_then(|metadata| metadata.modified()).map(rfc3339).ok();
        let source = ByteSource::file(file).map_err(|error| io_error(&error, &path))?;
        Ok((source, Answer::of(path.to_string_lossy().into_owned(), modified)))
    }

    /// The requested part of a text in a Unicode encoding, if the file is to be shown as text. Other sources are
    /// returned unchanged.
    fn plain_text(
        &self,
        source: ByteSource,
        wanted: &RequestedPart,
        answer: Answer,
    ) -> Result<Result<Answer, (ByteSource, Answer)>, Error> {
        let is_other = self.may_be_notebook(&answer.path) || self.is_document(&source, &answer)?;
        if self.shown_as == OutputForm::Base64 || self.pages.is_some() || is_other {
            return Ok(Err((source, answer)));
        }
        text::read(source, self.encoding.as_deref(), wanted, answer)
    }

    fn anything_else(
        &self,
        source: ByteSource,
        wanted: &RequestedPart,
        answer: Answer,
        prior: &dyn Fn() -> Prior,
    ) -> Result<Answer, Error> {
        let path = answer.path.clone();
        let answer = answer.measured(&source).map_err(|error| io_error(&error, Path::new(&path)))?;
        if self.shown_as == OutputForm::Base64 {
            if !wanted.is_all() {
                return Err(ARGUMENT_ERROR
                    .error("--as base64 shows the whole file: choose no lines")
                    .detail("argument", "--as"));
            }
            return media::read(source, true, answer);
        }
        let pages = self.pages.as_deref().map(Pages::parse).transpose()?;
        let document = if self.encoding.is_none() { OfficeDocument::open(&source) } else { Ok(None) };
        let document = document.map_err(|error| io_error(&error, Path::new(&path)))?;
        let format = document.as_ref().map(OfficeDocument::format);
        if pages.is_some() && format != Some(OfficeFormat::Pdf) {
            return Err(ARGUMENT_ERROR
                .error(format!("--pages cannot be used: {path} is not a PDF"))
                .remedy("Use --offset and --limit for lines.")
                .detail("argument", "--pages"));
        }
        let notebook = if self.may_be_notebook(&path) {
            notebook_file(Path::new(&path), &source).map_err(|error| io_error(&error, Path::new(&path)))?
        } else {
            None
        };
        if let Some(markdown) = notebook {
            let decoded = Decoded { source: markdown, encoding: "IPYNB".to_owned(), lossy: false };
            let mime_type = "application/x-ipynb+json";
            return text::read_decoded(decoded, wanted, Answer { kind: FileKind::Document, mime_type, ..answer });
        }
        if let (Some(document), Some(format)) = (document, format) {
            let text = document.convert(&source, pages).map_err(|failure| failure.at(&path))?;
            let decoded = Decoded { source: text, encoding: format.name().to_owned(), lossy: false };
            let kind = if format == OfficeFormat::Pdf { FileKind::Pdf } else { FileKind::Document };
            return text::read_decoded(decoded, wanted, Answer { kind, mime_type: format.mime_type(), ..answer });
        }
        let mut identified = encoding_of(&source, self.encoding.as_deref(), prior)?;
        if identified.is_none() && self.shown_as == OutputForm::Text {
            // Every byte is a character of windows-1252.
            identified = encoding_of(&source, Some("windows-1252"), prior)?;
        }
        match identified {
            None => media::read(source, false, answer),
            Some(identified) if identified.encoding.decodes_line_by_line() => {
                text::read_legacy(source, identified, wanted, answer)
            }
            Some(identified) => text::read_decoded(decoded::decode(&source, identified)?, wanted, answer),
        }
    }

    /// Whether the file at `path` may be a notebook, which is data around the text.
    fn may_be_notebook(&self, path: &str) -> bool {
        is_notebook_name(Path::new(path)) && self.shown_as == OutputForm::Auto && self.encoding.is_none()
    }

    /// Whether `source` may be a document that is to be converted.
    fn is_document(&self, source: &ByteSource, answer: &Answer) -> Result<bool, Error> {
        let mut head = [0; 8];
        let read = source.read_at(0, &mut head).map_err(|error| io_error(&error, Path::new(&answer.path)))?;
        Ok(self.encoding.is_none() && OfficeDocument::may_start_with(&head[..read]))
    }
}

fn standard_input() -> Result<(ByteSource, Answer), Error> {
    let mut bytes = vec![];
    io::stdin()
        .lock()
        .take(MAX_INPUT + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| io_error(&error, Path::new("standard input")))?;
    if bytes.len() as u64 > MAX_INPUT {
        return Err(INPUT_TOO_LARGE.error(format!("standard input has more than {MAX_INPUT} bytes")));
    }
    Ok((ByteSource::Memory(bytes), Answer::of("-".to_owned(), None)))
}
