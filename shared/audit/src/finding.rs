//! Findings: their kinds, and the advice for each kind.

use ragmaker_tool::JsonSchema;
use serde::Serialize;

/// A kind of finding; its name in the report is in snake case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The catalog lists no document.
    NoDocuments,
    /// The knowledge base has no title.
    TitleMissing,
    /// The knowledge base has no summary.
    SummaryMissing,
    /// An entry has no URL.
    UrlMissing,
    /// An entry has no title.
    DocumentTitleMissing,
    /// An entry has no summary.
    DocumentSummaryMissing,
    /// An entry names no file.
    PathMissing,
    /// An entry names a file outside of the knowledge base.
    PathOutside,
    /// The file that an entry names does not exist.
    FileMissing,
    /// The file cannot be read as text.
    NotReadable,
    /// The file does not begin with valid front matter.
    FrontMatterInvalid,
    /// The front matter names a different page than the entry.
    SourceMismatch,
    /// The extraction was not confident that it chose the main content, or the document has only headings.
    DoubtfulContent,
    /// The document has no text.
    EmptyDocument,
    /// A bot challenge was saved instead of the page.
    ChallengePage,
    /// An error page was saved instead of the page.
    ErrorPage,
    /// A sign-in form was saved instead of the page.
    LoginPage,
    /// Two entries have the same URL.
    DuplicateUrl,
    /// Two entries have the same file.
    DuplicatePath,
    /// Two documents have the same text.
    DuplicateContent,
    /// A document that the catalog does not list.
    Orphan,
    /// A temporary file of an interrupted write.
    Leftover,
}

impl FindingKind {
    /// The advice for this kind.
    fn remedy(self) -> &'static str {
        match self {
            Self::NoDocuments => "Save pages in this knowledge base with ragmaker-browser-extract.",
            Self::TitleMissing => "Set the title with ragmaker-entry-discovery --title.",
            Self::SummaryMissing => "Set the summary with ragmaker-entry-discovery --summary.",
            Self::UrlMissing => "Extract the page again, or remove this entry from the catalog.",
            Self::DocumentTitleMissing => "Set the title with ragmaker-enrich-discovery --updates.",
            Self::DocumentSummaryMissing => "Set the summary with ragmaker-enrich-discovery --updates.",
            Self::PathMissing | Self::FileMissing => {
                "Extract the url again with ragmaker-browser-extract, or remove this entry from the catalog."
            }
            Self::PathOutside => {
                "Move the file into the knowledge base and correct the path, or extract the url again with ragmaker-browser-extract."
            }
            Self::NotReadable => "Replace it by a regular file with UTF-8 text, or extract the url again.",
            Self::FrontMatterInvalid => "Extract the url again, or repair the lines between the two --- by hand.",
            Self::SourceMismatch => "Extract both addresses again: the entry and the file belong to different pages.",
            Self::EmptyDocument => {
                "Extract the url again with ragmaker-browser-extract --wait-for (or ragmaker-browser-extract --selector); if the page has no text, delete the file and remove its entry."
            }
            Self::DoubtfulContent => {
                "Compare it with the page; if it is wrong, extract the url again with ragmaker-browser-extract --selector (or ragmaker-browser-extract --wait-for)."
            }
            Self::ChallengePage => {
                "Extract the url again with ragmaker-browser-extract --no-headless and let a person solve the challenge, or delete the file and remove its entry."
            }
            Self::LoginPage => {
                "Run ragmaker-browser-open --no-headless, let a person sign in at the url, and extract it again; or delete the file and remove its entry."
            }
            Self::ErrorPage => "Check the url; if the page is gone, delete the file and remove its entry.",
            Self::DuplicateUrl => "Keep one of the entries and remove the others from the catalog.",
            Self::DuplicatePath => "Extract each url again: two entries share one file.",
            Self::DuplicateContent => "Keep one of the two: delete the other file and remove its entry.",
            Self::Orphan => "List its path and title with ragmaker-enrich-discovery --updates, or delete the file.",
            Self::Leftover => "Delete the file: a write was interrupted.",
        }
    }
}

/// A problem or a possible improvement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// The kind.
    pub kind: FindingKind,
    /// The path of the document's file: as in the catalog, or relative to the catalog if it is not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The document's URL as in the catalog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The description of the problem.
    pub message: String,
    /// How to solve it.
    pub remedy: String,
}

impl Finding {
    pub(crate) fn new(kind: FindingKind, message: impl Into<String>) -> Self {
        Self { kind, path: None, url: None, message: short(&message.into()), remedy: kind.remedy().to_owned() }
    }

    pub(crate) fn at(mut self, path: Option<&str>, url: Option<&str>) -> Self {
        self.path = path.map(short);
        self.url = url.map(short);
        self
    }
}

/// The longest text in a finding, in bytes. Texts of a damaged catalog can have any length.
const MAX_TEXT: usize = 300;

fn short(text: &str) -> String {
    if text.len() <= MAX_TEXT {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(MAX_TEXT)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_damaged_catalog_are_cut_at_a_character() {
        let long = "潮".repeat(200);
        let finding = Finding::new(FindingKind::Orphan, &long).at(Some(&long), None);
        for text in [&finding.message, finding.path.as_ref().unwrap()] {
            assert!(text.len() <= MAX_TEXT + "…".len() && text.ends_with("潮…"), "{text}");
        }
        assert_eq!(short("tides.md"), "tides.md");
    }

    #[test]
    fn a_finding_has_the_advice_of_its_kind() {
        let finding = Finding::new(FindingKind::LoginPage, "a form").at(None, Some("http://a"));
        assert_eq!((finding.path, finding.url.as_deref()), (None, Some("http://a")));
        assert!(finding.remedy.contains("sign in"), "{}", finding.remedy);
        assert_eq!(FindingKind::PathMissing.remedy(), FindingKind::FileMissing.remedy());
    }
}
