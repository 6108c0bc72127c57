//! The script of the model that explores, and the pages that the others gather.

use ragmaker_tests::model::{
    ModelReply, ReceivedConversation,
    workflows::{Source, answer, call},
};
use serde_json::json;

use crate::clients::ClientSetup;

/// The parts of a result that reach the model through a client.
#[derive(Clone, Copy)]
pub(crate) struct VisibleResults {
    /// Whether an error is marked as one.
    pub(crate) errors: bool,
    /// Whether an image is passed on.
    pub(crate) images: bool,
}

/// The wiki of the test site.
pub(crate) fn wiki(seat: &ClientSetup) -> Source {
    let start = seat.site.url("/wiki/");
    Source { start, pages: ["getting-started", "command-line", "tides"], kb: "kb/tidemark", title: "Tidemark" }
}

/// Navigates, saves a linked page, reads it back, and causes an error and an image.
pub(crate) fn explore(seat: &ClientSetup) -> impl Fn(&ReceivedConversation) -> ModelReply + Send + Sync + 'static {
    let start = seat.site.url("/wiki/");
    move |heard| match heard.results.len() {
        0 => call(heard, "browser_navigate", json!({"url": start, "same_site": true})),
        1 => {
            let page = answer(heard, 0);
            let tides = page["links"]
                .as_array()
                .into_iter()
                .flatten()
                .find(|link| link["href"].as_str().is_some_and(|href| href.ends_with("/tides")));
            call(heard, "browser_extract", json!({"url": tides.map(|link| &link["href"]), "kb_root": "kb"}))
        }
        2 => call(heard, "read_file", json!({"path": answer(heard, 1)["file_path"]})),
        3 => call(heard, "read_file", json!({"path": "missing.md"})),
        4 => call(heard, "read_file", json!({"path": "chart.png"})),
        _ => ModelReply::Text("done".to_owned()),
    }
}
