//! What steps have changed in a page.

use std::collections::HashMap;

use ragmaker_tool::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use crate::page::{Link, Page};

/// The most of each kind that is told.
const LISTED: usize = 3;

/// The longest text that is told of each, in characters.
const LONGEST: usize = 160;

/// What is another than before the steps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Changes {
    /// The title, where it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether another document was loaded in the page's place: then all of its text and links count as added.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub loaded: bool,
    /// How many characters of text show that did not before.
    pub added_characters: u64,
    /// How many links do.
    pub added_links: u64,
    /// The first of those.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// The dialogs that the page opened: confirmed, and a prompt left without a text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dialogs: Vec<Dialog>,
    /// The file that the page began to download; it was not saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub download: Option<Download>,
    /// The addresses of tabs that the page wanted to open; they were not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub opened: Vec<String>,
}

/// A dialog that was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Dialog {
    /// Alert, confirm, prompt or beforeunload.
    pub kind: String,
    /// What it said.
    pub text: String,
}

/// A file that was offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Download {
    /// Where it is.
    pub url: String,
    /// What it is to be called.
    pub file_name: String,
}

/// What `js/changes.js` counts.
#[derive(Debug, Default, Deserialize)]
struct Counted {
    fresh: bool,
    text: u64,
    links: u64,
    first: Vec<(String, String)>,
}

impl Changes {
    /// What is another on `page` than under the title `before`, by what its script counted and what came besides.
    pub(crate) fn new(page: &Page, before: &str, counted: &Value, side_effects: SideEffects) -> Self {
        let counted: Counted = counted.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let links = counted.first.into_iter().take(LISTED);
        let links = links.map(|(text, href)| Link { text: cut(&text), href });
        // An address may be longer than all the rest.
        let links = links.filter(|link| link.href.len() <= 4 * LONGEST);
        Self {
            title: (page.title != before).then(|| cut(&page.title)),
            loaded: counted.fresh,
            added_characters: counted.text,
            added_links: counted.links,
            links: links.collect(),
            dialogs: side_effects.dialogs,
            download: side_effects.download,
            opened: side_effects.opened,
        }
    }
}

/// What happens beside the page's content.
#[derive(Debug, Default)]
pub(crate) struct SideEffects {
    dialogs: Vec<Dialog>,
    download: Option<Download>,
    opened: Vec<String>,
    /// How many of the notes of each frame are known.
    seen: HashMap<String, usize>,
}

impl SideEffects {
    /// Takes what the document of a frame has noted of dialogs and windows: pairs of a kind and a text, all of them
    /// each time.
    pub(crate) fn noted(&mut self, frame: &str, list: &Value) {
        let Some(list) = list.as_array() else { return };
        let seen = self.seen.insert(frame.to_owned(), list.len()).unwrap_or_default();
        // With fewer than before, it is another document.
        for note in &list[if list.len() < seen { 0 } else { seen }..] {
            let (kind, text) = (note[0].as_str().unwrap_or_default(), note[1].as_str().unwrap_or_default());
            match kind {
                "alert" | "confirm" | "prompt" => self.dialog(kind, text),
                "window" => self.window(text),
                _ => {}
            }
        }
    }

    /// Takes an event of the tab.
    pub(crate) fn event(&mut self, method: &str, params: &Value) {
        let text = |name: &str| params[name].as_str().unwrap_or_default();
        match method {
            "Page.javascriptDialogOpening" => self.dialog(text("type"), text("message")),
            "Page.windowOpen" => self.window(text("url")),
            "Page.downloadWillBegin" => {
                let (url, file_name) = (cut_to(text("url"), 2048), cut(text("suggestedFilename")));
                self.download = Some(Download { url, file_name });
            }
            _ => {}
        }
    }

    fn dialog(&mut self, kind: &str, text: &str) {
        if self.dialogs.len() < LISTED {
            self.dialogs.push(Dialog { kind: cut(kind), text: cut(text) });
        }
    }

    fn window(&mut self, url: &str) {
        let is_page = Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
        if is_page && url.len() <= 2048 && self.opened.len() < LISTED && !self.opened.iter().any(|known| known == url) {
            self.opened.push(url.to_owned());
        }
    }
}

fn cut(text: &str) -> String {
    cut_to(text, LONGEST)
}

fn cut_to(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_happens_besides_is_told_once_and_bounded() {
        let mut side_effects = SideEffects::default();
        side_effects.noted("", &json!([["alert", "One"], ["close", ""]]));
        side_effects.noted("", &json!([["alert", "One"], ["close", ""], ["window", "https://x.example/a"]]));
        // Another document.
        side_effects.noted("", &json!([["confirm", "x".repeat(9000)]]));
        side_effects.event("Page.windowOpen", &json!({"url": "https://x.example/a"}));
        side_effects.event("Page.windowOpen", &json!({"url": "javascript:1"}));
        side_effects
            .event("Page.downloadWillBegin", &json!({"url": "https://x.example/a.zip", "suggestedFilename": "a.zip"}));
        let kinds: Vec<_> = side_effects.dialogs.iter().map(|dialog| dialog.kind.as_str()).collect();
        assert_eq!(kinds, ["alert", "confirm"]);
        assert_eq!(side_effects.dialogs[1].text.len(), LONGEST);
        assert_eq!(side_effects.opened, ["https://x.example/a"]);
        assert_eq!(side_effects.download.unwrap().file_name, "a.zip");
    }
}
