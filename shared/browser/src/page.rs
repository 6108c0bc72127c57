//! A loaded page: its facts and content, and the reasons why it may have no content to save.

use std::{fs::File, sync::Arc};

use ragmaker_address::codes::blocked;
use ragmaker_tool::Error;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use crate::{
    capture::Captured,
    challenge::Challenge,
    codes::{BOT_DETECTED, HTTP_ERROR, LOGIN_REQUIRED},
    consent::Consent,
    expansion::Expanded,
    facts::Facts,
    login::looks_like_login,
    responses::JsonResponses,
};

/// The reason why the wait for the page's content ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ready {
    /// The page is loaded and quiet, without open requests.
    Idle,
    /// The content no longer changes; the open requests, to the hosts in `pending`, cannot add any.
    Content,
    /// The time limit passed while a request that could add content was open, or the page has more than 9 MB of HTML;
    /// the content so far was taken.
    Cap,
    /// The requested element exists.
    Selector,
}

/// The end of the wait for a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WaitOutcome {
    pub(crate) ready: Ready,
    /// The hosts with open requests, at most 10.
    pub(crate) pending: Vec<String>,
}

impl WaitOutcome {
    /// There were no open requests.
    pub(crate) const IDLE: Self = Self { ready: Ready::Idle, pending: vec![] };

    /// The result for a page that is idle now, if an earlier wait ended like this. The open requests of that time
    /// are not observable any more.
    pub(crate) fn later(&self) -> Ready {
        match self.ready {
            Ready::Selector if self.pending.is_empty() => Ready::Idle,
            Ready::Selector => Ready::Content,
            ready => ready,
        }
    }
}

/// A link: its accessible name and its absolute address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// The accessible name.
    pub text: String,
    /// The absolute address.
    pub href: String,
}

impl Link {
    /// Parses the output of `js/links.js`: a JSON list of [name, URL].
    pub(crate) fn list(json: &str) -> Vec<Self> {
        let pairs: Vec<(String, String)> = serde_json::from_str(json).unwrap_or_default();
        pairs.into_iter().map(|(text, href)| Self { text, href }).collect()
    }
}

/// A file that a URL leads to in place of a page.
#[derive(Clone, Debug)]
pub struct PageFile {
    /// Its bytes, in a file without a name.
    pub content: Arc<File>,
    /// The media type that the server names, without parameters; empty if it names none.
    pub media_type: String,
    /// The file name that the server names.
    pub name: Option<String>,
}

/// A loaded page.
#[derive(Clone, Debug)]
pub struct LoadedPage {
    /// Its URL, after redirects.
    pub url: Url,
    /// The base URL of the page.
    pub base: Url,
    /// The title, at most 500 characters.
    pub title: String,
    /// The HTTP status; 0 if the browser does not know it.
    pub http_status: u16,
    /// The media type, such as `text/html`; empty if the server sent only a status.
    pub content_type: String,
    /// The reason why the wait for its content ended.
    pub ready: Ready,
    /// The hosts with open requests, sorted, at most 10.
    pub pending: Vec<String>,
    /// The bot challenge that is shown instead of the page, if any.
    pub challenge: Option<Challenge>,
    /// Whether the main content is a sign-in form.
    pub is_login: bool,
    /// The result of the expansion, if requested.
    pub expanded: Option<Expanded>,
    /// Its screenshot and PDF, if requested.
    pub captured: Option<Captured>,
    /// The file that the URL leads to, if it is not a page and files were asked for.
    pub file: Option<PageFile>,
    /// The outcome for its consent banner, if one was to be declined.
    pub consent: Option<Consent>,
    /// The JSON answers that it received, if they were to be collected.
    pub json_responses: Option<JsonResponses>,
    /// When the server lets itself be asked again, as its `Retry-After` header says.
    retry_after: Option<String>,
    broken: Option<String>,
}

impl LoadedPage {
    /// The page with `facts`, for a navigation to `requested`.
    pub(crate) fn new(facts: Facts, requested: &Url, headers: &Value, outcome: WaitOutcome) -> Self {
        Self {
            challenge: Challenge::of(&facts, headers),
            is_login: facts
                .sign_in
                .as_ref()
                .is_some_and(|form| looks_like_login(form, &facts.title, requested, &facts.url)),
            base: Url::parse(&facts.base).unwrap_or_else(|_| facts.url.clone()),
            url: facts.url,
            title: facts.title,
            http_status: facts.status,
            content_type: facts.media_type,
            ready: outcome.ready,
            pending: outcome.pending,
            expanded: None,
            captured: None,
            file: None,
            consent: None,
            json_responses: None,
            retry_after: headers["retry-after"].as_str().map(str::to_owned),
            broken: facts.broken,
        }
    }

    /// The page that stands for the `file` at `url`.
    pub(crate) fn of_file(url: &Url, status: u16, file: PageFile) -> Self {
        let page = Self::new(Facts::of_status(url.clone(), status), url, &Value::Null, WaitOutcome::IDLE);
        Self { content_type: file.media_type.clone(), file: Some(file), ..page }
    }

    /// Whether it is a bot challenge that may go: by itself, or solved by a person.
    pub(crate) fn can_clear(&self) -> bool {
        self.challenge.is_some_and(|challenge| challenge.is_solvable)
    }

    /// The syntax error of an XML page, if any.
    pub(crate) fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// The error for a page without content to save: a bot challenge, a sign-in form, an HTTP error. All tools
    /// use this method, so they refuse the same pages.
    pub fn refusal(&self) -> Option<Error> {
        let (url, status) = (self.url.as_str(), self.http_status);
        let error = if let Some(Challenge { vendor, is_solvable }) = self.challenge {
            if is_solvable {
                let message = format!("a bot challenge ({vendor}) is shown instead of {url}");
                BOT_DETECTED.error(message).detail("vendor", vendor)
            } else {
                blocked(vendor, url)
            }
        } else if self.is_login && (status < 400 || matches!(status, 401 | 403)) {
            LOGIN_REQUIRED.error(format!("{url} is a sign-in page"))
        } else if status >= 400 {
            HTTP_ERROR.error(format!("the server answered {status} for {url}"))
        } else {
            return None;
        };
        let title: String = self.title.chars().take(200).collect();
        let error = error.detail("url", url).detail("title", title).detail("http_status", status);
        Some(match &self.retry_after {
            Some(wait) if matches!(status, 429 | 503) => error.detail("retry_after", wait.as_str()),
            _ => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{SignIn, tests::page};
    use ragmaker_document::FormFields;
    use serde_json::json;

    fn refusal(status: u16, marks: &[&str], login: bool) -> Option<&'static str> {
        let mut facts = page(status, marks, 100, 0);
        let fields = FormFields { passwords: 1, fields: 2, identifiers: 1, ..FormFields::default() };
        let form = SignIn { fields, beside: 10, ..SignIn::default() };
        facts.sign_in = login.then_some(form);
        let url = facts.url.clone();
        LoadedPage::new(facts, &url, &json!({}), WaitOutcome::IDLE).refusal().map(|error| error.code())
    }

    #[test]
    fn the_most_specific_reason_for_a_refusal_is_reported() {
        assert_eq!(refusal(200, &[], false), None);
        assert_eq!(refusal(0, &[], false), None);
        assert_eq!(refusal(404, &[], false), Some("HTTP_ERROR"));
        assert_eq!(refusal(403, &["cloudflare"], true), Some("BOT_DETECTED"));
        assert_eq!(refusal(200, &[], true), Some("LOGIN_REQUIRED"));
        assert_eq!(refusal(401, &[], true), Some("LOGIN_REQUIRED"));
        assert_eq!(refusal(404, &[], true), Some("HTTP_ERROR"));
    }

    #[test]
    fn links_are_pairs() {
        let links = Link::list(r#"[["One\ntwo","https://x.example/1"],["","https://x.example/2"]]"#);
        assert_eq!(links.len(), 2);
        assert_eq!((links[0].text.as_str(), links[1].href.as_str()), ("One\ntwo", "https://x.example/2"));
        assert!(Link::list("[]").is_empty());
    }
}
