//! `--json-responses`: the JSON answers of a page, saved as documents beside it.

use ragmaker_browser_pages::JsonDocument;
use ragmaker_catalog::DocumentSource;
use ragmaker_knowledge::{Destination, now, save_converted};
use ragmaker_tool::Error;
use schemars::JsonSchema;
use serde::Serialize;

/// The maximum number of documents that an answer lists.
const LISTED: usize = 20;

/// The longest listed address, in characters.
const MAX_URL: usize = 300;

/// The JSON answers of a page.
#[derive(Serialize, JsonSchema, Debug, Default)]
pub struct JsonResponses {
    /// How many were saved, each as a document of its own.
    pub saved: usize,
    /// The first of them.
    pub documents: Vec<SavedJson>,
    /// How many matched and were not saved, for example because of their size, number or address (see the notes).
    pub left_out: usize,
}

/// A JSON answer that was saved.
#[derive(Serialize, JsonSchema, Debug)]
pub struct SavedJson {
    /// Its address.
    pub url: String,
    /// The absolute path of the Markdown file.
    pub file_path: String,
}

impl JsonResponses {
    /// Saves each of `answers` with `save`, which returns the path of its file.
    pub(crate) fn save(
        (answers, left_out): (Vec<JsonDocument>, usize),
        mut save: impl FnMut(JsonDocument) -> Result<String, Error>,
    ) -> Result<Self, Error> {
        let mut report = Self { left_out, ..Self::default() };
        for answer in answers {
            let url = answer.url.clone();
            let file_path = save(answer)?;
            report.saved += 1;
            if report.documents.len() < LISTED && url.chars().count() <= MAX_URL {
                report.documents.push(SavedJson { url, file_path });
            }
        }
        Ok(report)
    }

    /// Saves each of `answers` to `destination`.
    pub(crate) fn save_to(
        destination: &Destination<'_>,
        session: Option<&str>,
        answers: (Vec<JsonDocument>, usize),
    ) -> Result<Self, Error> {
        Self::save(answers, |JsonDocument { url, document }| {
            let saved = save_converted(document, &url, &now(), Some(&source(session)), destination)?;
            Ok(saved.file.to_string_lossy().into_owned())
        })
    }
}

/// Where the catalog says that a JSON answer came from: the browser of `session` shows it at its address.
pub(crate) fn source(session: Option<&str>) -> DocumentSource {
    DocumentSource::Browser {
        session: session.map(str::to_owned),
        selector: None,
        from: None,
        expand: false,
        scroll: false,
    }
}

#[cfg(test)]
mod tests {
    use ragmaker_markdown::{Document, Metadata};
    use ragmaker_tool::INTERNAL_ERROR;

    use super::*;

    fn answer(url: String) -> JsonDocument {
        JsonDocument { url, document: Document { metadata: Metadata::default(), words: 0, markdown: String::new() } }
    }

    #[test]
    fn every_answer_is_saved_and_the_list_is_bounded() {
        let long = format!("https://x.example/{}", "x".repeat(MAX_URL));
        let urls: Vec<_> =
            std::iter::once(long).chain((0..2 * LISTED).map(|n| format!("https://x.example/{n}"))).collect();
        let mut saved = vec![];
        let report = JsonResponses::save((urls.iter().cloned().map(answer).collect(), 3), |answer| {
            saved.push(answer.url.clone());
            Ok(format!("/kb/{}.md", saved.len()))
        });
        let report = report.unwrap();
        assert_eq!((saved, report.saved, report.left_out), (urls, 2 * LISTED + 1, 3));
        // The address that is too long to list has a file all the same.
        assert_eq!((report.documents.len(), report.documents[0].file_path.as_str()), (LISTED, "/kb/2.md"));
    }

    #[test]
    fn an_answer_that_cannot_be_saved_is_an_error() {
        let answers = ["a", "b"].map(|url| answer(url.to_owned())).into();
        let error = JsonResponses::save((answers, 0), |answer| {
            if answer.url == "a" { Ok(String::new()) } else { Err(INTERNAL_ERROR.error("the disk is full")) }
        });
        assert!(error.unwrap_err().is(INTERNAL_ERROR));
    }
}
