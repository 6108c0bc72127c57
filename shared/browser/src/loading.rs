//! Which kinds of requests a page may make: all, or only those that its text can need.
//!
//! Text does not need images, fonts, video or audio. In 97 saved pages with 3,938 images, the number of words was the
//! same with one pixel in place of each image and with loaded images of 640 by 400. A request that is not made cannot
//! be slow, and its host cannot be dead.
//!
//! The browser pauses each request of the kinds in [`Loading::patterns`] and waits for a decision.

use std::rc::Rc;

use ragmaker_address::Network;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    block_list::BlockList,
    request_policy::{RequestPolicy, RequestRule},
};

/// The parts of a page that are loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// Everything that can affect the text: no images, fonts, video or audio.
    #[default]
    Text,
    /// Everything.
    Everything,
}

/// The resource types without text, by the protocol's names.
const WITHOUT_TEXT: [&str; 3] = ["Image", "Media", "Font"];

/// An image of one transparent pixel, which replaces images. A page whose image fails may
/// remove it together with its surroundings.
const PLACEHOLDER_IMAGE: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

/// The rules for the requests of a page.
#[derive(Debug)]
pub(crate) struct Loading {
    load: Load,
    block_list: Option<Rc<BlockList>>,
    request_policy: Option<RequestPolicy>,
    /// Whether no request is made at all.
    is_nothing: bool,
}

impl Loading {
    /// Every document is an empty page, and nothing else is loaded.
    pub(crate) fn nothing() -> Self {
        Self { is_nothing: true, ..Self::new(Load::Everything, None) }
    }

    pub(crate) fn new(load: Load, block_list: Option<Rc<BlockList>>) -> Self {
        Self { load, block_list, request_policy: None, is_nothing: false }
    }

    /// Restricts the requests to `network` and by `rule`.
    pub(crate) fn restricted_to(self, network: &Network, rule: Option<&RequestRule>) -> Self {
        Self { request_policy: RequestPolicy::new(network, rule), ..self }
    }

    /// The restriction; `None` if there is none.
    pub(crate) fn request_policy(&self) -> Option<&RequestPolicy> {
        self.request_policy.as_ref()
    }

    /// The parts of a page that are loaded.
    pub(crate) fn load(&self) -> Load {
        self.load
    }

    /// Whether every request is checked, and not only those of some kinds.
    pub(crate) fn checks_all(&self) -> bool {
        self.block_list.is_some() || self.request_policy.is_some() || self.is_nothing
    }

    /// The requests that the browser is to ask about; none where all are made.
    pub(crate) fn patterns(&self) -> Option<Vec<Value>> {
        if self.checks_all() {
            return Some(vec![json!({"urlPattern": "*"})]);
        }
        let kinds = || WITHOUT_TEXT.map(|kind| json!({"resourceType": kind})).to_vec();
        (self.load == Load::Text).then(kinds)
    }

    /// The command that answers the event of a paused request. The page is at `page`, and `frame` is its
    /// outermost frame; a document request of this frame is for the page itself.
    pub(crate) fn answer(&self, request: &Value, page: &str, frame: &str) -> (&'static str, Value) {
        let id = &request["requestId"];
        if self.is_nothing {
            let headers = json!([{"name": "Content-Type", "value": "text/html"}]);
            let empty = json!({"requestId": id, "responseCode": 200, "responseHeaders": headers, "body": ""});
            return ("Fetch.fulfillRequest", empty);
        }
        let (kind, asked) = (request["resourceType"].as_str().unwrap_or_default(), &request["request"]);
        let text = |key: &str| asked[key].as_str().unwrap_or_default();
        let is_page = kind == "Document" && request["frameId"] == frame;
        if self.request_policy.as_ref().is_some_and(|request_policy| request_policy.refuses(text("url"), is_page)) {
            return ("Fetch.failRequest", json!({"requestId": id, "errorReason": "AddressUnreachable"}));
        }
        let blocks = |list: &BlockList| list.blocks(text("url"), page, kind, text("method"));
        if !is_page && self.block_list.as_deref().is_some_and(blocks) {
            return ("Fetch.failRequest", json!({"requestId": id, "errorReason": "BlockedByClient"}));
        }
        match kind {
            "Image" if self.load == Load::Text => {
                let headers = json!([
                    {"name": "Content-Type", "value": "image/gif"},
                    {"name": "Access-Control-Allow-Origin", "value": "*"},
                ]);
                let answer = json!({"requestId": id, "responseCode": 200, "responseHeaders": headers, "body": PLACEHOLDER_IMAGE});
                ("Fetch.fulfillRequest", answer)
            }
            kind if self.load == Load::Text && WITHOUT_TEXT.contains(&kind) => {
                ("Fetch.failRequest", json!({"requestId": id, "errorReason": "BlockedByClient"}))
            }
            _ => ("Fetch.continueRequest", json!({"requestId": id})),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(loading: &Loading, kind: &str, frame: &str) -> &'static str {
        let request = json!({"requestId": "1", "resourceType": kind, "frameId": frame,
            "request": {"url": "https://ads.example/a", "method": "GET"}});
        loading.answer(&request, "https://x.example/", "T").0
    }

    #[test]
    fn resources_without_text_are_not_loaded() {
        let (all, text) = (Loading::new(Load::Everything, None), Loading::new(Load::Text, None));
        assert_eq!(all.patterns(), None);
        assert_eq!(text.patterns().unwrap(), WITHOUT_TEXT.map(|kind| json!({"resourceType": kind})));
        assert_eq!(command(&text, "Image", "T"), "Fetch.fulfillRequest");
        assert_eq!(command(&text, "Font", "T"), "Fetch.failRequest");
        assert_eq!(command(&text, "Script", "T"), "Fetch.continueRequest");
        assert_eq!(command(&all, "Image", "T"), "Fetch.continueRequest");
    }

    #[test]
    fn a_list_blocks_all_but_the_page_itself() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("list");
        std::fs::write(&file, "||ads.example^\n").unwrap();
        let list = BlockList::of(&[file.to_str().unwrap().to_owned()], folder.path()).unwrap().unwrap();
        let loading = Loading::new(Load::Everything, Some(Rc::new(list)));
        assert!(loading.checks_all() && !Loading::new(Load::Text, None).checks_all());
        assert_eq!(loading.patterns(), Some(vec![json!({"urlPattern": "*"})]));
        assert_eq!(command(&loading, "Script", "T"), "Fetch.failRequest");
        assert_eq!(command(&loading, "Document", "F"), "Fetch.failRequest");
        assert_eq!(command(&loading, "Document", "T"), "Fetch.continueRequest");
    }
}
