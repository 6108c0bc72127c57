//! The scripts of a model that follows the workflows `rag` and `ask`: each returns the next call for the results so
//! far.

use serde_json::{Value, json};

use super::{ModelReply, Offered, ReceivedConversation};

/// One of our tools, by the client's name for it. A client has tools of its own, such as `read_file`, and adds a prefix
/// to ours. ragmaker-agent has no others and adds none.
pub fn ours(heard: &ReceivedConversation, tool: &str) -> Option<Offered> {
    let whole = |offered: &Offered| format!("{}__{}", offered.namespace.as_deref().unwrap_or_default(), offered.name);
    let has_prefix = |text: &str| text.contains("ragmaker") || text.contains("discovered_tool_");
    let are_prefixed = heard.tools.iter().any(|offered| has_prefix(&whole(offered)));
    let is_ours = |offered: &&Offered| {
        let whole = whole(offered);
        let prefix = whole.strip_suffix(tool).unwrap_or_default();
        if are_prefixed { has_prefix(prefix) } else { prefix == "__" }
    };
    heard.tools.iter().find(is_ours).cloned()
}

/// Calls one of our tools, if the client offers it.
pub fn call(heard: &ReceivedConversation, tool: &str, arguments: Value) -> ModelReply {
    match ours(heard, tool) {
        Some(offered) => ModelReply::Call(offered, arguments),
        None => ModelReply::Text(format!("there is no {tool}")),
    }
}

/// The JSON object in a text, which may be surrounded by other text.
pub fn json(text: &str) -> Option<Value> {
    let start = text.find('{')?;
    serde_json::Deserializer::from_str(&text[start..]).into_iter().next()?.ok()
}

/// The answer of call number `at`, as the model receives it.
pub fn answer(heard: &ReceivedConversation, at: usize) -> Value {
    heard.results.get(at).and_then(|result| json(&result.text)).unwrap_or_default()
}

/// A knowledge base that a model gathers.
#[derive(Clone, Debug)]
pub struct Source {
    /// The address of the first page.
    pub start: String,
    /// The ends of the addresses of the pages that are saved.
    pub pages: [&'static str; 3],
    /// The folder of the knowledge base.
    pub kb: &'static str,
    /// Its title.
    pub title: &'static str,
}

/// Follows the workflow `rag`.
pub fn gather(source: Source) -> impl Fn(&ReceivedConversation) -> ModelReply + Send + Sync + 'static {
    let Source { start, pages, kb, title } = source;
    move |heard| {
        let links = answer(heard, 1);
        let links: Vec<&str> =
            links["links"].as_array().into_iter().flatten().filter_map(|link| link["href"].as_str()).collect();
        let link = |name: &str| links.iter().copied().find(|href| href.ends_with(name)).unwrap_or_default();
        match heard.results.len() {
            0 => call(heard, "browser_open", json!({})),
            1 => call(heard, "browser_navigate", json!({"url": start, "same_site": true, "limit": 60})),
            at @ 2..=4 => call(heard, "browser_extract", json!({"url": link(pages[at - 2]), "kb_root": kb})),
            5 => call(heard, "browser_close", json!({})),
            6 => call(heard, "read_file", json!({"path": answer(heard, 2)["catalog_file"]})),
            7 => call(heard, "read_file", json!({"path": answer(heard, 4)["file_path"], "limit": 80})),
            8 => call(
                heard,
                "entry_discovery",
                json!({
                    "kb_root": kb, "title": title, "summary": format!("Pages about {title}."),
                    "source_url": start, "src_type": "web",
                }),
            ),
            9 => {
                let updates: Vec<Value> =
                    (2..=4).map(|at| json!({"url": answer(heard, at)["url"], "summary": "A page."})).collect();
                call(heard, "enrich_discovery", json!({"kb_root": kb, "updates": Value::from(updates).to_string()}))
            }
            10 => call(heard, "verify", json!({"kb_root": kb})),
            _ => ModelReply::Text(format!("The knowledge base {kb} holds three documents.")),
        }
    }
}

/// Follows the workflow `ask`: quotes the first sentence of the best hit.
pub fn ask(query: &'static str) -> impl Fn(&ReceivedConversation) -> ModelReply + Send + Sync + 'static {
    let said = |heard: &ReceivedConversation| {
        let found = &answer(heard, 0)["hits"][0];
        let text = found["text"].as_str().unwrap_or_default().lines().skip(2).collect::<Vec<_>>().join(" ");
        let sentence = text.split(". ").next().unwrap_or_default().trim_end_matches('.');
        format!("\"{sentence}\" [{}].", found["citation"].as_str().unwrap_or_default())
    };
    move |heard| match heard.results.len() {
        0 => call(heard, "search_knowledge_base", json!({"query": query})),
        1 => {
            let found = &answer(heard, 0)["hits"][0];
            call(heard, "read_file", json!({"path": found["path"], "offset": found["start_line"], "limit": 80}))
        }
        2 => call(heard, "cite", json!({"text": said(heard)})),
        _ => ModelReply::Text(said(heard)),
    }
}
