//! The JSON answers that a page receives: of each matching request, the URL and the body.
//!
//! The browser keeps the bodies of a tab only on request, and discards them with the page. So each body is
//! asked for as soon as it is complete, while the page continues to load; only the end of the call waits for it.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use ragmaker_address::{MAX_BYTES, Pattern, same_page};
use serde_json::{Value, json};
use url::Url;

use crate::limits;

/// The maximum number of answers of a page.
const MAX_RESPONSES: usize = 50;

/// The maximum size in bytes of one answer (1 MiB).
pub(crate) const MAX_BODY: usize = 1 << 20;

/// The maximum size in bytes of all answers of a page (8 MiB).
const MAX_TOTAL_BYTES: usize = 8 << 20;

/// A JSON answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonResponse {
    /// The URL after redirects.
    pub url: Url,
    /// The body.
    pub body: String,
    /// The IP address that it came from.
    pub(crate) address: Option<String>,
}

/// The JSON answers of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonResponses {
    /// The answers, in the order in which they were complete; the last one of each URL.
    pub responses: Vec<JsonResponse>,
    /// The number of matching answers that are not among them.
    pub left_out: usize,
}

/// A matching answer whose body has not been received.
#[derive(Debug)]
struct Expected {
    url: Url,
    address: Option<String>,
}

impl JsonResponses {
    /// Adds an answer, within the limits; a former one of its URL is replaced.
    pub(crate) fn add(&mut self, response: JsonResponse) {
        self.responses.retain(|known| !same_page(&known.url, &response.url));
        let together: usize = self.responses.iter().map(|known| known.body.len()).sum();
        if self.responses.len() >= MAX_RESPONSES || together + response.body.len() > MAX_TOTAL_BYTES {
            self.left_out += 1;
        } else if !response.body.trim().is_empty() {
            self.responses.push(response);
        }
    }
}

/// A pattern for URLs, and the time that matching has taken.
#[derive(Debug)]
pub(crate) struct Matcher {
    pattern: Arc<Pattern>,
    spent: Duration,
}

impl Matcher {
    pub(crate) fn new(pattern: Arc<Pattern>) -> Self {
        Self { pattern, spent: Duration::ZERO }
    }

    /// Whether `url` matches; `None` if there is no time left to find out.
    pub(crate) fn matches(&mut self, url: &str) -> Option<bool> {
        if self.spent >= limits::PATTERN_TIME {
            return None;
        }
        let begun = Instant::now();
        let is_match = self.pattern.is_in(url);
        self.spent += begun.elapsed();
        Some(is_match)
    }
}

/// Collects the JSON answers of a tab from its network events.
#[derive(Debug)]
pub(crate) struct Collector {
    matcher: Matcher,
    /// The requests of scripts with methods other than GET: their answers do not belong to an address.
    sending: HashSet<String>,
    /// The answers that are not complete, by the id of the request.
    announced: HashMap<String, Expected>,
    /// The answers whose bodies were asked for, by the id of the command.
    requested: HashMap<u64, Expected>,
    collected: JsonResponses,
}

impl Collector {
    pub(crate) fn new(pattern: Arc<Pattern>) -> Self {
        Self {
            matcher: Matcher::new(pattern),
            sending: HashSet::new(),
            announced: HashMap::new(),
            requested: HashMap::new(),
            collected: JsonResponses::default(),
        }
    }

    /// Handles an event. Returns the request whose body is complete, for [`Self::asked`].
    pub(crate) fn follow(&mut self, method: &str, params: &Value) -> Option<String> {
        let request = params["requestId"].as_str().unwrap_or_default();
        match method {
            "Network.requestWillBeSent" if is_of_script(params) => {
                // A redirect may turn another method into GET.
                if params["request"]["method"] == "GET" {
                    self.sending.remove(request);
                } else {
                    self.sending.insert(request.to_owned());
                }
            }
            "Network.responseReceived" if is_of_script(params) => {
                if let Some(expected) = self.matching(&params["response"]) {
                    if self.sending.contains(request) {
                        self.collected.left_out += 1;
                    } else {
                        self.announced.insert(request.to_owned(), expected);
                    }
                }
            }
            "Network.loadingFailed" => {
                self.sending.remove(request);
                self.collected.left_out += usize::from(self.announced.remove(request).is_some());
            }
            "Network.loadingFinished" => {
                self.sending.remove(request);
                return self.announced.contains_key(request).then(|| request.to_owned());
            }
            _ => {}
        }
        None
    }

    /// The URL of a response, if it is JSON and matches.
    fn matching(&mut self, response: &Value) -> Option<Expected> {
        let media_type = response["mimeType"].as_str().unwrap_or_default();
        let url = response["url"].as_str().filter(|url| url.len() <= MAX_BYTES)?;
        if response["status"] != 200 || !is_json(media_type) {
            return None;
        }
        let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        let Some(is_match) = self.matcher.matches(url.as_str()) else {
            self.collected.left_out += 1;
            return None;
        };
        let address = response["remoteIPAddress"].as_str().map(str::to_owned);
        is_match.then_some(Expected { url, address })
    }

    /// Notes that the body of `request` was asked for by the command `id`.
    pub(crate) fn mark_requested(&mut self, id: u64, request: &str) {
        if let Some(expected) = self.announced.remove(request) {
            self.requested.insert(id, expected);
        }
    }

    /// Whether the command `id` asked for a body.
    pub(crate) fn awaits(&self, id: u64) -> bool {
        self.requested.contains_key(&id)
    }

    /// Whether a body that was asked for has not come.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.requested.is_empty()
    }

    /// Takes the answer to the command `id`; `None` if the browser does not have the body any more.
    pub(crate) fn receive(&mut self, id: u64, answer: Option<&Value>) {
        let Some(Expected { url, address }) = self.requested.remove(&id) else { return };
        let Some(body) = answer.and_then(text_of).filter(|body| body.len() <= MAX_BODY) else {
            self.collected.left_out += 1;
            return;
        };
        self.collected.add(JsonResponse { url, body, address });
    }

    /// The collected responses, without those whose bodies have not arrived.
    pub(crate) fn into_collected(self) -> JsonResponses {
        let left_out = self.collected.left_out + self.requested.len() + self.announced.len();
        JsonResponses { left_out, ..self.collected }
    }
}

/// The command for the body of `request`.
pub(crate) fn body_of(request: &str) -> (&'static str, Value) {
    ("Network.getResponseBody", json!({"requestId": request}))
}

/// Whether an event concerns a request of a script: `fetch` or `XMLHttpRequest`.
fn is_of_script(params: &Value) -> bool {
    params["type"] == "XHR" || params["type"] == "Fetch"
}

/// Whether a media type is that of JSON.
pub(crate) fn is_json(media_type: &str) -> bool {
    let media_type = media_type.to_ascii_lowercase();
    matches!(media_type.as_str(), "application/json" | "text/json") || media_type.ends_with("+json")
}

fn text_of(answer: &Value) -> Option<String> {
    let body = answer["body"].as_str()?;
    if answer["base64Encoded"] == true {
        return String::from_utf8(STANDARD.decode(body).ok()?).ok();
    }
    Some(body.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collector(pattern: &str) -> Collector {
        Collector::new(Arc::new(Pattern::new("--json-responses", pattern).unwrap()))
    }

    /// Lets `collector` see a whole request, whose answer is `body`.
    fn answered(
        collector: &mut Collector,
        id: u64,
        method: &str,
        (url, status, media_type): (&str, u16, &str),
        body: &str,
    ) {
        let request = id.to_string();
        let event = |more: Value| {
            let mut event = json!({"requestId": request, "type": "Fetch"});
            event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            event
        };
        collector.follow("Network.requestWillBeSent", &event(json!({"request": {"method": method}})));
        let response = json!({"response": {"url": url, "status": status, "mimeType": media_type}});
        collector.follow("Network.responseReceived", &event(response));
        if let Some(complete) = collector.follow("Network.loadingFinished", &event(json!({}))) {
            collector.mark_requested(id, &complete);
            assert!(collector.awaits(id) && collector.is_waiting());
            collector.receive(id, Some(&json!({"body": body, "base64Encoded": false})));
        }
    }

    #[test]
    fn matching_answers_are_collected_and_others_are_not() {
        let mut all = collector("/api/");
        for (id, method, answer) in [
            (1, "GET", ("https://x.example/api/a", 200, "application/json")),
            (2, "GET", ("https://x.example/api/b", 404, "application/json")),
            (3, "GET", ("https://x.example/api/c", 200, "text/html")),
            (4, "GET", ("https://x.example/other", 200, "application/json")),
            (5, "POST", ("https://x.example/api/d", 200, "application/json")),
            (6, "GET", ("https://x.example/api/e", 200, "application/ld+json")),
            (7, "GET", ("data:application/json,/api/", 200, "application/json")),
        ] {
            answered(&mut all, id, method, answer, "{}");
        }
        // The last one of an address.
        answered(&mut all, 8, "GET", ("https://x.example/api/a", 200, "application/json"), "[8]");
        let JsonResponses { responses, left_out } = all.into_collected();
        let paths: Vec<_> = responses.iter().map(|one| (one.url.path(), one.body.as_str())).collect();
        assert_eq!((paths, left_out), (vec![("/api/e", "{}"), ("/api/a", "[8]")], 1));
    }

    #[test]
    fn number_and_size_are_bounded() {
        let mut all = collector("");
        answered(&mut all, 0, "GET", ("https://x.example/long", 200, "text/json"), &"1".repeat(MAX_BODY + 1));
        for id in 1..=60 {
            answered(&mut all, id, "GET", (&format!("https://x.example/{id}"), 200, "text/json"), "1");
        }
        let JsonResponses { responses, left_out } = all.into_collected();
        assert_eq!((responses.len(), left_out), (MAX_RESPONSES, 11));
        let mut large = collector("");
        for id in 1..=10 {
            answered(
                &mut large,
                id,
                "GET",
                (&format!("https://x.example/{id}"), 200, "text/json"),
                &"1".repeat(MAX_BODY),
            );
        }
        assert_eq!(large.into_collected().responses.len(), 8);
    }

    #[test]
    fn an_answer_that_breaks_off_or_is_discarded_is_left_out() {
        let mut all = collector("");
        let response = json!({"requestId": "1", "type": "XHR",
            "response": {"url": "https://x.example/a", "status": 200, "mimeType": "application/json"}});
        all.follow("Network.responseReceived", &response);
        assert_eq!(all.follow("Network.loadingFailed", &json!({"requestId": "1"})), None);
        all.follow("Network.responseReceived", &response);
        let complete = all.follow("Network.loadingFinished", &json!({"requestId": "1"})).unwrap();
        all.mark_requested(7, &complete);
        all.receive(7, None);
        all.follow("Network.responseReceived", &response);
        assert_eq!(all.into_collected(), JsonResponses { responses: vec![], left_out: 3 });
    }

    #[test]
    fn a_body_may_be_in_base64() {
        assert_eq!(text_of(&json!({"body": "e30=", "base64Encoded": true})).as_deref(), Some("{}"));
        assert_eq!(text_of(&json!({"body": "_w==", "base64Encoded": true})), None);
    }
}
