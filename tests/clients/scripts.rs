//! The scripts of the model: each returns the next call for the results so far.

use ragmaker_tests::model::{ModelReply, Offered, ReceivedConversation};
use serde_json::{Value, json};

use crate::clients::ClientSetup;

/// The parts of a result that reach the model through a client.
#[derive(Clone, Copy)]
pub(crate) struct VisibleResults {
    /// Whether an error is marked as one.
    pub(crate) errors: bool,
    /// Whether an image is passed on.
    pub(crate) images: bool,
}

/// One of our tools, by the client's name for it.
pub(crate) fn ours(heard: &ReceivedConversation, tool: &str) -> Option<Offered> {
    let is_ours = |offered: &&Offered| {
        let whole = format!("{}__{}", offered.namespace.as_deref().unwrap_or_default(), offered.name);
        let prefix = whole.strip_suffix(tool).unwrap_or_default();
        prefix.contains("ragmaker") || prefix.ends_with("discovered_tool_")
    };
    heard.tools.iter().find(is_ours).cloned()
}

fn call(heard: &ReceivedConversation, tool: &str, arguments: Value) -> ModelReply {
    match ours(heard, tool) {
        Some(offered) => ModelReply::Call(offered, arguments),
        None => ModelReply::Text(format!("there is no {tool}")),
    }
}

/// The JSON object in a text, which may be surrounded by other text.
pub(crate) fn json(text: &str) -> Option<Value> {
    let start = text.find('{')?;
    serde_json::Deserializer::from_str(&text[start..]).into_iter().next()?.ok()
}

/// The answer of call number `at`, as the model receives it.
fn answer(heard: &ReceivedConversation, at: usize) -> Value {
    heard.results.get(at).and_then(|result| json(&result.text)).unwrap_or_default()
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

/// The pages that [`gather`] keeps.
const PAGES: [&str; 3] = ["getting-started", "command-line", "tides"];

/// Follows the workflow `rag`.
pub(crate) fn gather(seat: &ClientSetup) -> impl Fn(&ReceivedConversation) -> ModelReply + Send + Sync + 'static {
    let start = seat.site.url("/wiki/");
    let kb = "kb/tidemark";
    move |heard| {
        let links = answer(heard, 1);
        let links: Vec<&str> =
            links["links"].as_array().into_iter().flatten().filter_map(|link| link["href"].as_str()).collect();
        let link = |name: &str| links.iter().copied().find(|href| href.ends_with(name)).unwrap_or_default();
        match heard.results.len() {
            0 => call(heard, "browser_open", json!({})),
            1 => call(heard, "browser_navigate", json!({"url": start, "same_site": true, "limit": 60})),
            at @ 2..=4 => call(heard, "browser_extract", json!({"url": link(PAGES[at - 2]), "kb_root": kb})),
            5 => call(heard, "browser_close", json!({})),
            6 => call(heard, "read_file", json!({"path": answer(heard, 2)["catalog_file"]})),
            7 => call(heard, "read_file", json!({"path": answer(heard, 4)["file_path"], "limit": 80})),
            8 => call(
                heard,
                "entry_discovery",
                json!({
                    "kb_root": kb, "title": "Tidemark", "summary": "How Tidemark logs the tide.",
                    "source_url": start, "src_type": "web",
                }),
            ),
            9 => {
                let updates: Vec<Value> =
                    (2..=4).map(|at| json!({"url": answer(heard, at)["url"], "summary": "A page."})).collect();
                call(heard, "enrich_discovery", json!({"kb_root": kb, "updates": Value::from(updates).to_string()}))
            }
            10 => call(heard, "verify", json!({"kb_root": kb})),
            _ => ModelReply::Text("done".to_owned()),
        }
    }
}

/// Follows the workflow `ask`.
pub(crate) fn ask() -> impl Fn(&ReceivedConversation) -> ModelReply + Send + Sync + 'static {
    move |heard| match heard.results.len() {
        0 => call(heard, "search_knowledge_base", json!({"query": "How often do spring and neap tides come?"})),
        1 => {
            let found = &answer(heard, 0)["hits"][0];
            call(heard, "read_file", json!({"path": found["path"], "offset": found["start_line"], "limit": 80}))
        }
        2 => {
            let found = &answer(heard, 0)["hits"][0];
            let quoted = found["text"].as_str().unwrap_or_default().lines().skip(2).collect::<Vec<_>>().join(" ");
            let citation = found["citation"].as_str().unwrap_or_default();
            call(heard, "cite", json!({"text": format!("Every two weeks: \"{quoted}\" [{citation}].")}))
        }
        _ => ModelReply::Text("Every 14.77 days.".to_owned()),
    }
}
