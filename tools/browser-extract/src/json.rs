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
