//! The history of a tab: pages of earlier calls stay out of reach of this call's page.

use serde_json::Value;

/// Prevents a page from going back to pages of earlier calls: the history before this call's document is
/// cleared, and a page that went back anyway is detected.
#[derive(Debug, Default)]
pub(super) struct HistoryGuard {
    /// The tab's outermost frame.
    frame: String,
    /// The first document of this call.
    first: Option<String>,
    /// Whether that document is current.
    at_first: bool,
    /// Whether the page went back before it, or to the empty page of a new tab.
    went_back: bool,
}

impl HistoryGuard {
    /// A guard of the tab with the outermost frame `frame`, whose call begins with the document `first`.
    pub(super) fn new(frame: &str, first: Option<&str>) -> Self {
        Self { frame: frame.to_owned(), first: first.map(str::to_owned), ..Self::default() }
    }

    /// Whether the page went back to a page of an earlier call.
    pub(super) fn went_back(&self) -> bool {
        self.went_back
    }

    /// Handles an event. Returns whether the history must be cleared now.
    pub(super) fn follow(&mut self, method: &str, params: &Value) -> bool {
        let navigated = method == "Page.frameNavigated" && params["frame"]["id"] == *self.frame;
        if navigated {
            self.at_first = params["frame"]["loaderId"].as_str() == self.first.as_deref();
        }
        let back = method == "Page.frameStartedNavigating" && params["navigationType"] == "historyDifferentDocument";
        self.went_back |= back && self.at_first && params["frameId"] == *self.frame;
        // The browser may not know yet that the document is committed, and would keep the entry before it.
        let again = matches!(method, "Page.domContentEventFired" | "Page.loadEventFired");
        self.at_first && (navigated || again)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn guard() -> HistoryGuard {
        HistoryGuard::new("T", Some("1"))
    }

    fn shows(guard: &mut HistoryGuard, frame: &str, document: &str) -> bool {
        guard.follow("Page.frameNavigated", &json!({"frame": {"id": frame, "loaderId": document}}))
    }

    fn goes_back(guard: &mut HistoryGuard, frame: &str) {
        let params = json!({"frameId": frame, "navigationType": "historyDifferentDocument"});
        assert!(!guard.follow("Page.frameStartedNavigating", &params));
    }

    #[test]
    fn the_history_is_cleared_while_the_first_document_shows() {
        let mut guard = guard();
        assert!(!guard.follow("Page.loadEventFired", &json!({})));
        assert!(!shows(&mut guard, "F", "1"));
        assert!(shows(&mut guard, "T", "1"));
        assert!(guard.follow("Page.domContentEventFired", &json!({})));
        assert!(guard.follow("Page.loadEventFired", &json!({})));
        // From the next document on, going back leads to a document of this call.
        assert!(!shows(&mut guard, "T", "2"));
        assert!(!guard.follow("Page.loadEventFired", &json!({})));
    }

    #[test]
    fn only_the_first_document_can_go_back_to_an_earlier_call() {
        let mut guard = guard();
        goes_back(&mut guard, "T");
        assert!(!guard.went_back);
        shows(&mut guard, "T", "1");
        goes_back(&mut guard, "F");
        assert!(!guard.went_back);
        shows(&mut guard, "T", "2");
        goes_back(&mut guard, "T");
        assert!(!guard.went_back);
        shows(&mut guard, "T", "1");
        goes_back(&mut guard, "T");
        assert!(guard.went_back);
    }
}
