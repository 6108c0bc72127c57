//! Files as documents of a knowledge base: selects the files that are documents, and converts each to Markdown with a
//! title.
//!
//! Folders and Git repositories use the same rules. The name of a file decides its kind; archives and PDFs are
//! recognised by their content.
//!
//! ```
//! use ragmaker_convert::{DocumentKind, convert};
//! use ragmaker_text::ByteSource;
//!
//! let name = "docs/tides.rst";
//! let kind = DocumentKind::of(name).ok_or("no document")?;
//! let document = convert(name, kind, &ByteSource::Memory(b"Tides\n=====\n\nTwo a day.\n".to_vec()), None)?;
//! assert_eq!((document.metadata.title.as_str(), document.words), ("Tides", 5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod archive;
mod kind;
mod redirect;
mod title;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use ragmaker_document::DocumentText;
use ragmaker_knowledge::{Body, ContentFormat, EMPTY_CONTENT, Fetched, decode};
use ragmaker_markdown::{Document, Metadata, links};
use ragmaker_office::{DOCUMENT_UNREADABLE, PDF_ENCRYPTED, PDF_READER_MISSING, PDF_UNREADABLE};
use ragmaker_text::{ByteSource, FILE_TOO_LARGE, NOT_TEXT, Prior, Text};
use ragmaker_tool::{Code, Error};
use url::Url;

pub use archive::{archive, is_archive};
pub use kind::DocumentKind;
pub use redirect::{redirect_error, redirect_target};

/// Not all of a PDF's text would be saved.
pub const TEXT_INCOMPLETE: Code =
    Code::new("TEXT_INCOMPLETE", "Look at the file with ragmaker-read-file, because it may contain scanned pages.");

/// The codes that a file is refused with.
pub const ERRORS: &[Code] = &[
    EMPTY_CONTENT,
    NOT_TEXT,
    FILE_TOO_LARGE,
    TEXT_INCOMPLETE,
    PDF_READER_MISSING,
    PDF_ENCRYPTED,
    PDF_UNREADABLE,
    DOCUMENT_UNREADABLE,
];

/// The maximum size in bytes of a file (64 MiB).
const MAX: u64 = 64 << 20;

/// The maximum size in bytes of a text in a markup that is converted (8 MiB).
const MAX_MARKUP: usize = 8 << 20;

/// The share of a PDF's characters that has to be saved.
const COMPLETE: f64 = 0.99;

/// The content of the file called `name`, whose relative links start from `base`.
///
/// # Errors
///
/// [`ERRORS`]; where the file cannot be read, the codes of reading files.
pub fn convert(name: &str, kind: DocumentKind, source: &ByteSource, base: Option<&Url>) -> Result<Document, Error> {
    // One file must not end a run over thousands: mail-parser 0.11 panics on messages of its own tests.
    let converted = catch_unwind(AssertUnwindSafe(|| converted(name, kind, source, base)));
    converted.unwrap_or_else(|_| {
        Err(DOCUMENT_UNREADABLE.error(format!("{name}: its converter failed")).detail("path", name))
    })
}

fn converted(name: &str, kind: DocumentKind, source: &ByteSource, base: Option<&Url>) -> Result<Document, Error> {
    if source.size() > MAX {
        let size = source.size();
        return Err(FILE_TOO_LARGE.error(format!("{name} has {size} bytes, more than {MAX}")).detail("path", name));
    }
    let broken = |error: std::io::Error| NOT_TEXT.error(format!("{name} cannot be read: {error}"));
    let opened = ragmaker_office::OfficeDocument::open(source).map_err(broken)?;
    if let Some(opened) = opened {
        let format = opened.format();
        let text = utf8(&opened.convert(source, None).map_err(|failure| failure.at(name))?).map_err(broken)?;
        if format != ragmaker_office::OfficeFormat::Pdf {
            return finished(name, &text, false);
        }
        let markdown = ragmaker_office::pages_as_markdown(&text);
        let (had, has) = (characters(&text), characters(&markdown));
        if (has as f64) < had as f64 * COMPLETE {
            return Err(TEXT_INCOMPLETE.error(format!("{name}: {has} of the PDF's {had} characters would be saved")));
        }
        let mut document = finished(name, &markdown, false)?;
        document.metadata.title = title::of_pdf(&text).unwrap_or_else(|| title::of_name(name));
        return Ok(document);
    }
    if kind == DocumentKind::Packed {
        return Err(NOT_TEXT.error(format!("{name} is not a document of a supported format, or is damaged")));
    }
    let bytes = bytes(source).map_err(broken)?;
    if kind == DocumentKind::Mail {
        let mail = ragmaker_office::mail(&bytes)
            .map_err(|damage| ragmaker_office::ConversionFailure::from(damage).at(name))?;
        return finished(name, &mail.ok_or_else(|| NOT_TEXT.error(format!("{name} is not a message")))?, false);
    }
    if kind == DocumentKind::Html {
        let url = base.map_or_else(String::new, Url::to_string);
        let (text, _) = decode(&bytes, None)?;
        let fetched = Fetched {
            url: if url.is_empty() { name } else { &url },
            base_url: base,
            format: ContentFormat::Html,
            body: Body::Text(&text),
            title: &title::of_name(name),
            selected: false,
            fetched_at: "",
            source: None,
        };
        let converted = fetched.convert();
        let words = converted.as_ref().map_or(0, |document| document.words);
        let redirect = base.and_then(|url| redirect_error(words, || links(&text, url).refresh, url));
        return redirect.map_or(converted, Err);
    }
    let text = Text::decode(bytes, &Prior::of_process).map_err(|_| NOT_TEXT.error(format!("{name} is not text")))?.text;
    let text = text.replace("\r\n", "\n");
    // Its first line of another kind of file may ask for it.
    if text.starts_with("version https://git-lfs.github.com/spec/") {
        return Err(NOT_TEXT.error(format!("{name} is a pointer of Git LFS; its content is elsewhere")));
    }
    let is_markup = matches!(kind, DocumentKind::Mdx | DocumentKind::RestructuredText | DocumentKind::AsciiDoc);
    if is_markup && text.len() > MAX_MARKUP {
        return Err(FILE_TOO_LARGE.error(format!("{name} has more than {MAX_MARKUP} bytes")).detail("path", name));
    }
    let failed = |damage| ragmaker_office::ConversionFailure::from(damage).at(name);
    match kind {
        DocumentKind::Markdown => finished(name, &text, true),
        DocumentKind::Mdx => {
            let (front, body) = title::front_matter(&text);
            with_front_matter(name, &front, &ragmaker_markup::mdx(body))
        }
        DocumentKind::RestructuredText => finished(name, &ragmaker_markup::restructured_text(&text), false),
        DocumentKind::AsciiDoc => finished(name, &ragmaker_markup::asciidoc(&text), false),
        DocumentKind::Notebook => {
            let markdown = ragmaker_office::notebook(&text);
            finished(name, &markdown.ok_or_else(|| NOT_TEXT.error(format!("{name} is not a notebook")))?, false)
        }
        DocumentKind::Delimited => finished(name, &ragmaker_office::delimited(&text).map_err(failed)?, false),
        DocumentKind::Code(language) => finished(name, &fenced(&text, language), false),
        DocumentKind::Packed | DocumentKind::Mail | DocumentKind::Html => unreachable!("these are converted above"),
    }
}

/// The document that `markdown` is.
fn finished(name: &str, markdown: &str, has_front_matter: bool) -> Result<Document, Error> {
    let (front, body) = if has_front_matter { title::front_matter(markdown) } else { (vec![], markdown) };
    with_front_matter(name, &front, body)
}

fn with_front_matter(name: &str, front: &[(String, String)], body: &str) -> Result<Document, Error> {
    if DocumentText::of(body) == DocumentText::Missing {
        return Err(EMPTY_CONTENT.error(format!("{name} has no text")).detail("path", name));
    }
    let field = |name: &str| front.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim().to_owned());
    let title = field("title").filter(|title| !title.is_empty()).or_else(|| title::of_markdown(body));
    let metadata = Metadata {
        title: title.unwrap_or_else(|| title::of_name(name)),
        author: field("author").filter(|author| !author.is_empty()),
        lang: field("lang").filter(|lang| !lang.is_empty()),
        ..Metadata::default()
    };
    let words = body.split_whitespace().count();
    let markdown = body.trim_matches('\n').trim_end().to_owned() + "\n";
    Ok(Document { metadata, markdown, words })
}

/// The number of characters of `text` that are not white space.
fn characters(text: &str) -> usize {
    text.chars().filter(|c| !c.is_whitespace()).count()
}

fn bytes(source: &ByteSource) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(source.size()).unwrap_or(usize::MAX)];
    let read = source.read_at(0, &mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}

fn utf8(source: &ByteSource) -> std::io::Result<String> {
    bytes(source).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// `text` as a block of code that no run of backticks in it can end.
fn fenced(text: &str, language: &str) -> String {
    // As highlighters call it.
    let language = match language {
        "C++" => "cpp".to_owned(),
        "C#" => "csharp".to_owned(),
        "Shell" => "sh".to_owned(),
        other => other.to_lowercase().replace(' ', "-"),
    };
    if text.trim().is_empty() {
        return String::new();
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end().trim_start_matches('\n'))
}

/// The last part of a path.
pub(crate) fn file_name(name: &str) -> &str {
    Path::new(name).file_name().and_then(|name| name.to_str()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(name: &str, text: &str) -> Result<Document, Error> {
        convert(name, DocumentKind::of(name).unwrap(), &ByteSource::Memory(text.as_bytes().to_vec()), None)
    }

    #[test]
    fn a_document_has_a_title_and_no_front_matter() {
        let document = read("a.md", "---\ntitle: T\nauthor: Ada\n---\n\n\ntext\n\n\n").unwrap();
        assert_eq!((document.metadata.title.as_str(), document.markdown.as_str()), ("T", "text\n"));
        assert_eq!(document.metadata.author.as_deref(), Some("Ada"));
        assert_eq!(read("dir/notes.txt", "a\n").unwrap().markdown, "```text\na\n```\n");
        assert_eq!(read("dir/notes.txt", "a\n").unwrap().metadata.title, "notes");
        assert_eq!(read("a.html", "<p>Some words of a page").unwrap().metadata.title, "a");
    }

    #[test]
    fn files_that_are_no_documents_are_rejected() {
        for (name, text, code) in [
            ("a.md", "", EMPTY_CONTENT),
            ("a.md", "# \n\n---\n", EMPTY_CONTENT),
            ("a.md", "---\ntitle: T\n---\n", EMPTY_CONTENT),
            ("a.docx", "text", NOT_TEXT),
            ("a.eml", "text", NOT_TEXT),
            ("a.ipynb", "text", NOT_TEXT),
            ("a.txt", "\0\u{1}\u{2}", NOT_TEXT),
            ("a.pdf", "%PDF-1.7", PDF_UNREADABLE),
            ("a.md", "version https://git-lfs.github.com/spec/v1\n", NOT_TEXT),
        ] {
            let error = read(name, text).unwrap_err();
            assert!(error.is(code), "{name}: {error}");
        }
    }

    #[test]
    fn a_page_that_only_redirects_is_no_document() {
        let at = |page: &str| {
            let base = Url::parse("file:///book/old.html").unwrap();
            let source = ByteSource::Memory(page.as_bytes().to_vec());
            convert("old.html", DocumentKind::Html, &source, Some(&base))
        };
        let error = at("<meta http-equiv=refresh content='0;url=new.html'><p>Redirecting to <a href=new.html>new</a>");
        assert_eq!(redirect_target(&error.unwrap_err()).unwrap().as_str(), "file:///book/new.html");
        assert!(at("<meta http-equiv=refresh content='30'><p>The tide is high").is_ok());
    }

    proptest! {
        #[test]
        fn any_text_is_converted_or_refused(
            name in prop_oneof![Just("a.md"), Just("a.mdx"), Just("a.rst"), Just("a.adoc"), Just("a.html"), Just("a.csv"), Just("a.eml"), Just("a.txt")],
            text in "(.|\n|---\n|\\|===\n|<A>|::\n|: ){0,60}",
        ) {
            if let Ok(document) = read(name, &text) {
                prop_assert!(!document.markdown.trim().is_empty());
                prop_assert!(!document.metadata.title.contains('\n'));
            }
        }
    }
}
