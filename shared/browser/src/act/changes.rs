//! The changes of a page by steps.

use std::collections::HashMap;

use ragmaker_tool::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use crate::page::{Link, LoadedPage};

/// The maximum number of entries of each kind that are reported.
const LISTED: usize = 3;

/// The longest reported text, in characters.
const MAX_TEXT: usize = 160;

/// The differences from the page before the steps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Changes {
    /// The new title, if it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether another document was loaded. All its text and links then count as added.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub loaded: bool,
    /// The number of characters of added text, in whole lines. Text in frames of other sites and in closed shadow roots
    /// counts; browser-extract does not save it.
    pub added_characters: u64,
    /// The number of added links.
    pub added_links: u64,
    /// The first added links.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// The dialogs of the page. They were confirmed, prompts without a text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dialogs: Vec<Dialog>,
    /// The number of further dialogs; omitted if it is 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_dialogs: usize,
    /// The file that was reached in place of a page, which stays. It was not saved; browser-extract saves its `url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub download: Option<Download>,
    /// The URLs of tabs that the page tried to open; they were closed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub opened: Vec<String>,
    /// The number of further tabs; omitted if it is 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_opened: usize,
}

/// A dialog that was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Dialog {
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    pub kind: String,
    /// The text of the dialog.
    pub text: String,
}

/// A download.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Download {
    /// The URL.
    pub url: String,
    /// The suggested file name.
    pub file_name: String,
}

/// The counts of `js/changes.js`.
#[derive(Debug, Default, Deserialize)]
struct ChangeCounts {
    fresh: bool,
    text: u64,
    links: u64,
    first: Vec<(String, String)>,
}

impl Changes {
    /// The changes on `page` since its title was `before`, from the counts of the script and the side effects.
    pub(crate) fn new(page: &LoadedPage, before: &str, counted: &Value, side_effects: SideEffects) -> Self {
        let counted: ChangeCounts =
            counted.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let links = counted.first.into_iter().take(LISTED);
        let links = links.map(|(text, href)| Link { text: cut(&text), href });
        // A single URL may be longer than the whole answer.
        let links = links.filter(|link| link.href.len() <= 4 * MAX_TEXT);
        Self {
            title: (page.title != before).then(|| cut(&page.title)),
            loaded: counted.fresh,
            added_characters: counted.text,
            added_links: counted.links,
            links: links.collect(),
            dialogs: side_effects.dialogs,
            more_dialogs: side_effects.more_dialogs,
            download: side_effects.download,
            opened: side_effects.opened,
            more_opened: side_effects.more_opened,
        }
    }
}

/// Effects outside the page's content: dialogs, windows, downloads.
#[derive(Debug, Default)]
pub(crate) struct SideEffects {
    dialogs: Vec<Dialog>,
    more_dialogs: usize,
    download: Option<Download>,
    opened: Vec<String>,
    more_opened: usize,
    /// The number of notes of each frame that were read.
    seen: HashMap<String, usize>,
}

impl SideEffects {
    /// Adds the dialogs and windows that the document of a frame noted: pairs of a kind and a text. The list is
    /// complete each time.
    pub(crate) fn noted(&mut self, frame: &str, list: &Value) {
        let Some(list) = list.as_array() else { return };
        let seen = self.seen.insert(frame.to_owned(), list.len()).unwrap_or_default();
        // A shorter list belongs to another document.
        for note in &list[if list.len() < seen { 0 } else { seen }..] {
            let (kind, text) = (note[0].as_str().unwrap_or_default(), note[1].as_str().unwrap_or_default());
            match kind {
                "alert" | "confirm" | "prompt" => self.dialog(kind, text),
                "window" => self.window(text),
                _ => {}
            }
        }
    }

    /// Adds an event of the tab.
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
        } else {
            self.more_dialogs += 1;
        }
    }

    fn window(&mut self, url: &str) {
        let is_page = Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
        if !is_page || url.len() > 2048 || self.opened.iter().any(|known| known == url) {
            return;
        }
        if self.opened.len() < LISTED {
            self.opened.push(url.to_owned());
        } else {
            self.more_opened += 1;
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn cut(text: &str) -> String {
    cut_to(text, MAX_TEXT)
}

fn cut_to(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn side_effects_are_reported_once_and_bounded() {
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
        assert_eq!(side_effects.dialogs[1].text.len(), MAX_TEXT);
        assert_eq!(side_effects.opened, ["https://x.example/a"]);
        assert_eq!(side_effects.download.unwrap().file_name, "a.zip");
    }

    #[test]
    fn what_is_not_listed_is_counted() {
        let mut side_effects = SideEffects::default();
        for n in 0..5 {
            side_effects.event("Page.javascriptDialogOpening", &json!({"type": "alert", "message": "One"}));
            side_effects.event("Page.windowOpen", &json!({"url": format!("https://x.example/{n}")}));
        }
        assert_eq!((side_effects.dialogs.len(), side_effects.more_dialogs), (LISTED, 2));
        assert_eq!((side_effects.opened.len(), side_effects.more_opened), (LISTED, 2));
    }
}
