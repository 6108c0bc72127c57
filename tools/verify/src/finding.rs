//! What an audit finds, and what to do about each.

use serde::Serialize;

/// A kind of finding, as its name in the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    NoDocuments,
    TitleMissing,
    SummaryMissing,
    UrlMissing,
    DocumentTitleMissing,
    PathMissing,
    PathOutside,
    FileMissing,
    NotReadable,
    FrontMatterInvalid,
    SourceMismatch,
    EmptyDocument,
    ChallengePage,
    ErrorPage,
    DuplicateUrl,
    DuplicatePath,
    DuplicateContent,
    Orphan,
    Leftover,
}

impl Kind {
    /// What usually helps.
    fn remedy(self) -> &'static str {
        match self {
            Self::NoDocuments => "Save pages with ragmaker-browser-extract and this knowledge base as --kb-root.",
            Self::TitleMissing => "Name the knowledge base: ragmaker-entry-discovery --title.",
            Self::SummaryMissing => "Say what it is about: ragmaker-entry-discovery --summary.",
            Self::UrlMissing => "Extract the page again, or remove this entry from the catalog.",
            Self::DocumentTitleMissing => "Give it a title: ragmaker-enrich-discovery --updates.",
            Self::PathMissing | Self::FileMissing => {
                "Extract the url again with ragmaker-browser-extract, or remove this entry from the catalog."
            }
            Self::PathOutside => {
                "Move the file into the knowledge base and correct the path, or extract the url again with an --output-dir within it."
            }
            Self::NotReadable => "Make it a regular file of UTF-8 text, or extract the url again.",
            Self::FrontMatterInvalid => "Extract the url again, or repair the lines between the two --- by hand.",
            Self::SourceMismatch => "Extract both addresses again: the entry and the file tell of different pages.",
            Self::EmptyDocument => {
                "Extract the url again with --wait-for or --selector; where the page has no text, delete the file and remove its entry."
            }
            Self::ChallengePage => {
                "Extract the url again with --no-headless and let a person solve the challenge, or delete the file and remove its entry."
            }
            Self::ErrorPage => "Check the url; delete the file and remove its entry where the page is gone.",
            Self::DuplicateUrl => "Keep one of the entries and remove the others from the catalog.",
            Self::DuplicatePath => "Extract each url again: two entries share one file.",
            Self::DuplicateContent => "Keep one of the two: delete the other file and remove its entry.",
            Self::Orphan => {
                "List it with ragmaker-enrich-discovery --updates (its path and title), or delete the file."
            }
            Self::Leftover => "Delete the file: a write was interrupted.",
        }
    }
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// What kind of thing.
    pub(crate) kind: Kind,
    /// The document's file as the catalog lists it, or the stray file as seen from the catalog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// What was seen.
    pub(crate) message: String,
    /// What to do.
    pub(crate) remedy: &'static str,
}

impl Finding {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, path: None, url: None, message: short(&message.into()), remedy: kind.remedy() }
    }

    pub(crate) fn at(mut self, path: Option<&str>, url: Option<&str>) -> Self {
        self.path = path.map(short);
        self.url = url.map(short);
        self
    }
}

/// The most bytes of a text in a finding: a catalog that is wrong may hold anything.
const LONGEST: usize = 300;

fn short(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(LONGEST)])
}
