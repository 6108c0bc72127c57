//! The verdict for a page: added, changed, unchanged, refused and so on.

use ragmaker_knowledge::EMPTY_CONTENT;
use ragmaker_tool::Error;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Stored;

/// The verdict for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum PageVerdict {
    /// The page is new and was saved.
    Added,
    /// The page was known and its text changed; its summary is marked as stale.
    Changed,
    /// The page is known and unchanged.
    Unchanged,
    /// The page was known at this address and has moved: see [`PageResult::moved_to`].
    Moved,
    /// The page was known and no longer exists at its source.
    Gone,
    /// A rule excludes the page: scope, robots.txt or policy.
    Refused,
    /// The page could not be fetched or saved; its stored data is kept.
    Failed,
}

/// A page that is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PageResult {
    /// Its address.
    pub url: String,
    /// Its verdict.
    pub verdict: PageVerdict,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The absolute path of its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// The way in which it was fetched, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// The address at which a moved page is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<String>,
}

impl PageResult {
    /// A page with a verdict and its reason.
    pub fn new(url: impl Into<String>, verdict: PageVerdict, reason: impl Into<String>) -> Self {
        Self { url: url.into(), verdict, reason: Some(reason.into()), file_path: None, via: None, moved_to: None }
    }

    /// A page that could not be fetched, read or saved.
    pub fn failed(url: impl Into<String>, error: &Error) -> Self {
        Self::new(url, PageVerdict::Failed, error.to_string())
    }

    /// A page whose content could not be converted: `refused` if it has no text, or exceeds a limit, or violates a
    /// rule; `failed` otherwise.
    pub fn conversion_failed(url: impl Into<String>, error: &Error) -> Self {
        let is_refused =
            error.is(EMPTY_CONTENT) || error.details().get("refused").is_some_and(|refused| *refused == true);
        Self::new(url, if is_refused { PageVerdict::Refused } else { PageVerdict::Failed }, error.to_string())
    }

    /// A page that was stored.
    pub fn stored(url: impl Into<String>, stored: &Stored) -> Self {
        let file_path = Some(stored.file.to_string_lossy().into_owned());
        Self { url: url.into(), verdict: stored.verdict, reason: None, file_path, via: None, moved_to: None }
    }

    /// A page that was known at `from` and is at `to` now: its address leads there for good, or the same bytes are
    /// there and no longer here. Its document, with its summary, is recorded at `to`; it is in `stored`, unless it was
    /// known or fetched there already.
    pub fn moved(from: impl Into<String>, to: impl Into<String>, stored: Option<&Stored>) -> Self {
        let to = to.into();
        let file_path = stored.map(|stored| stored.file.to_string_lossy().into_owned());
        Self { file_path, ..Self::new(from, PageVerdict::Moved, format!("it is at {to} now")) }.at(to)
    }

    fn at(mut self, to: String) -> Self {
        self.moved_to = Some(to);
        self
    }

    /// Sets the way in which the page was fetched.
    #[must_use]
    pub fn via(mut self, via: &str) -> Self {
        self.via = Some(via.to_owned());
        self
    }
}

/// The number of pages with each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
#[allow(missing_docs, reason = "they are the verdicts")]
pub struct Counts {
    pub added: usize,
    pub changed: usize,
    pub unchanged: usize,
    pub moved: usize,
    pub gone: usize,
    pub refused: usize,
    pub failed: usize,
}

impl Counts {
    /// Counts one more.
    pub fn add(&mut self, verdict: PageVerdict) {
        *match verdict {
            PageVerdict::Added => &mut self.added,
            PageVerdict::Changed => &mut self.changed,
            PageVerdict::Unchanged => &mut self.unchanged,
            PageVerdict::Moved => &mut self.moved,
            PageVerdict::Gone => &mut self.gone,
            PageVerdict::Refused => &mut self.refused,
            PageVerdict::Failed => &mut self.failed,
        } += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragmaker_tool::ARGUMENT_ERROR;

    #[test]
    fn content_that_a_rule_excludes_is_refused_and_not_failed() {
        let verdict = |error: &Error| PageResult::conversion_failed("u", error).verdict;
        let failure = ARGUMENT_ERROR.error("no");
        assert_eq!(verdict(&EMPTY_CONTENT.error("empty")), PageVerdict::Refused);
        assert_eq!(verdict(&failure.clone().detail("refused", true)), PageVerdict::Refused);
        assert_eq!(verdict(&failure.clone().detail("refused", false)), PageVerdict::Failed);
        assert_eq!(verdict(&failure), PageVerdict::Failed);
        assert_eq!(PageResult::failed("u", &failure).reason.as_deref(), Some("ARGUMENT_ERROR: no"));
    }

    #[test]
    fn a_page_that_moved_names_its_address() {
        let moved = PageResult::moved("a", "b", None).via("browser");
        let json = serde_json::to_value(&moved).unwrap();
        let expected = serde_json::json!({
            "url": "a", "verdict": "moved", "reason": "it is at b now", "via": "browser", "moved_to": "b",
        });
        assert_eq!(json, expected);
    }

    #[test]
    fn each_verdict_has_its_count() {
        let mut counts = Counts::default();
        let all = [
            PageVerdict::Added,
            PageVerdict::Changed,
            PageVerdict::Unchanged,
            PageVerdict::Moved,
            PageVerdict::Gone,
            PageVerdict::Refused,
            PageVerdict::Failed,
        ];
        for (number, verdict) in all.into_iter().enumerate() {
            (0..=number).for_each(|_| counts.add(verdict));
            let json = serde_json::to_value(counts).unwrap();
            let name = serde_json::to_value(verdict).unwrap();
            assert_eq!(json[name.as_str().unwrap()], number + 1);
        }
    }
}
