//! The JSON answers of a page as documents of their own.

use ragmaker_browser::JsonResponses;
use ragmaker_knowledge::{Body, ContentFormat, Fetched, now};
use ragmaker_markdown::Document;

/// A JSON answer as a document.
#[derive(Debug)]
pub struct JsonDocument {
    /// The address that it is saved under.
    pub url: String,
    /// A code block with the JSON.
    pub document: Document,
}

/// The documents of a page's JSON answers, and the number of answers that are left out. An answer at the address
/// `page`, under which the page itself is saved, is left out.
pub(crate) fn documents(answers: &JsonResponses, page: &str) -> (Vec<JsonDocument>, usize) {
    let (fetched_at, complete) = (now(), answers.responses.len());
    let documents = answers.responses.iter().filter_map(|answer| {
        let url = ragmaker_address::canonical(&answer.url);
        let fetched = Fetched {
            url: &url,
            base_url: None,
            format: ContentFormat::Code("json"),
            body: Body::Text(&answer.body),
            title: "",
            selected: false,
            fetched_at: &fetched_at,
            source: None,
        };
        let document = fetched.convert().ok().filter(|_| url != page)?;
        Some(JsonDocument { url, document })
    });
    let documents: Vec<_> = documents.collect();
    let left_out = answers.left_out + complete - documents.len();
    (documents, left_out)
}
