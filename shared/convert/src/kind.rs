//! The kinds of documents, and the files that are documents.

use std::path::Path;

use ragmaker_media::language;

use crate::file_name;

/// A kind of file that is converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// HTML, of which the main content is taken.
    Html,
    /// Markdown.
    Markdown,
    /// Markdown with components.
    Mdx,
    /// The markup of Python's documentation.
    RestructuredText,
    /// `AsciiDoc`.
    AsciiDoc,
    /// A notebook of Jupyter.
    Notebook,
    /// Rows of delimited fields.
    Delimited,
    /// A message.
    Mail,
    /// An office document, a book or a PDF.
    Packed,
    /// Text that becomes a block of code in this language.
    Code(&'static str),
}

/// Texts without an ending that are documents.
const NAMES: [&str; 12] = [
    "README",
    "CHANGELOG",
    "CHANGES",
    "NEWS",
    "FAQ",
    "HACKING",
    "INSTALL",
    "CONTRIBUTING",
    "TODO",
    "AUTHORS",
    "HISTORY",
    "NOTES",
];

impl DocumentKind {
    /// The kind of document for a file name; `None` if such a file is not a document.
    pub fn of(name: &str) -> Option<Self> {
        let name = file_name(name);
        let Some((_, ending)) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) else {
            return NAMES.contains(&name).then_some(Self::Code("text"));
        };
        Some(match ending.to_ascii_lowercase().as_str() {
            "html" | "htm" | "xhtml" => Self::Html,
            "md" | "markdown" | "mdown" | "mkd" => Self::Markdown,
            "mdx" => Self::Mdx,
            "rst" | "rest" => Self::RestructuredText,
            "adoc" | "asciidoc" | "asc" => Self::AsciiDoc,
            "ipynb" => Self::Notebook,
            "csv" | "tsv" => Self::Delimited,
            "eml" => Self::Mail,
            "pdf" | "docx" | "docm" | "dotx" | "pptx" | "pptm" | "potx" | "ppsx" | "xlsx" | "xlsm" | "xltx" | "odt"
            | "ott" | "odp" | "otp" | "ods" | "ots" | "epub" => Self::Packed,
            "txt" | "text" => Self::Code("text"),
            _ => return None,
        })
    }

    /// The kind of document for a file from the web: by its name, or else by the media type that the server names.
    pub fn of_web(name: &str, media_type: &str) -> Option<Self> {
        let by_type = || {
            Some(match media_type {
                "text/html" | "application/xhtml+xml" => Self::Html,
                "text/markdown" => Self::Markdown,
                "text/plain" => Self::Code("text"),
                "text/csv" | "text/tab-separated-values" => Self::Delimited,
                "message/rfc822" => Self::Mail,
                "application/x-ipynb+json" => Self::Notebook,
                _ => return None,
            })
        };
        Self::of(name).or_else(by_type)
    }

    /// The kind of document for the name of a file that was explicitly requested: a file of another type is source
    /// code, in the language of its name.
    pub fn of_requested_file(name: &str) -> Self {
        Self::of(name).unwrap_or_else(|| Self::Code(language(Path::new(file_name(name))).unwrap_or("text")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_files_are() {
        for (name, kind) in [
            ("docs/a.MD", Some(DocumentKind::Markdown)),
            ("a.tar.html", Some(DocumentKind::Html)),
            ("README", Some(DocumentKind::Code("text"))),
            ("x/README", Some(DocumentKind::Code("text"))),
            (".md", None),
            ("a.rs", None),
            ("a", None),
            ("a.png", None),
            ("", None),
        ] {
            assert_eq!(DocumentKind::of(name), kind, "{name}");
        }
        assert_eq!(DocumentKind::of_web("report", "text/csv"), Some(DocumentKind::Delimited));
        assert_eq!(DocumentKind::of_web("report.md", "application/octet-stream"), Some(DocumentKind::Markdown));
        assert_eq!(DocumentKind::of_web("report", "application/gzip"), None);
        assert_eq!(DocumentKind::of_requested_file("src/a.rs"), DocumentKind::Code("Rust"));
        assert_eq!(DocumentKind::of_requested_file("a.md"), DocumentKind::Markdown);
        assert_eq!(DocumentKind::of_requested_file("a.unknown"), DocumentKind::Code("text"));
    }
}
