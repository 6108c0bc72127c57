//! What the tab's network events tell of the document: the response that brought it, and whether it
//! broke off.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use ragmaker_tool::Error;
use serde_json::{Map, Value};

use crate::codes::NAVIGATION_FAILED;

/// The request for a document and what became of it.
#[derive(Default)]
pub(crate) struct Document {
    request: Option<String>,
    response: Value,
    failure: Option<String>,
    /// Scripts that were asked for and have not come, and since when that is known.
    scripts: BTreeMap<String, Instant>,
}

/// How long a script may take to come before the page is taken without it.
const SCRIPT_PATIENCE: Duration = Duration::from_millis(2500);

/// The longest that a page may show before its server's `Refresh` sends the reader on, and the page
/// still is not the one that was asked for.
const SOON: Duration = Duration::from_secs(5);

impl Document {
    /// The document that the request called `request` is for.
    pub(crate) fn requested(request: Option<&str>) -> Self {
        Self { request: request.map(str::to_owned), ..Self::default() }
    }

    /// Takes in an event of the tab whose outermost frame is `frame`.
    pub(crate) fn take_in(&mut self, mut event: Value, frame: &str) {
        let params = event["params"].take();
        let request = params["requestId"].as_str().unwrap_or_default();
        // Of what the page before it was still loading, nobody may tell the end.
        let is_another_s = self.request.as_deref().is_some_and(|ours| params["loaderId"] != *ours);
        let is_former = params["frameId"] == frame && is_another_s;
        match (event["method"].as_str(), params["type"].as_str()) {
            (Some("Network.requestWillBeSent"), Some("Script")) if !is_former => {
                self.scripts.insert(request.to_owned(), Instant::now());
            }
            (Some("Network.loadingFinished" | "Network.loadingFailed"), _) => {
                self.scripts.remove(request);
            }
            _ => {}
        }
        if params["type"] != "Document" {
            return;
        }
        let ours = params["requestId"].as_str() == self.request.as_deref();
        match event["method"].as_str() {
            // A page that leads elsewhere makes another request for the same frame. The events of
            // a redirect carry the request's own name again.
            Some("Network.requestWillBeSent") if params["frameId"] == frame && !ours => {
                *self = Self::requested(params["requestId"].as_str());
            }
            Some("Network.responseReceived") if ours => self.response = params["response"].clone(),
            Some("Network.loadingFailed") if ours => self.failure = params["errorText"].as_str().map(str::to_owned),
            _ => {}
        }
    }

    /// Why the document broke off after it had begun to come, if it did.
    pub(crate) fn broke_off(&self) -> Option<&str> {
        let complete = ["net::ERR_ABORTED", "net::ERR_HTTP_RESPONSE_CODE_FAILURE"];
        self.failure.as_deref().filter(|failure| !self.response.is_null() && !complete.contains(failure))
    }

    /// The name of the request for it.
    pub(crate) fn request(&self) -> Option<&str> {
        self.request.as_deref()
    }

    /// Whether it was asked for and nothing is known of it yet.
    pub(crate) fn is_coming(&self) -> bool {
        self.request.is_some() && self.response.is_null() && self.failure.is_none()
    }

    /// Whether scripts are on their way that the page may want to run.
    pub(crate) fn awaits_scripts(&self) -> bool {
        self.scripts.values().any(|since| since.elapsed() < SCRIPT_PATIENCE)
    }

    /// How long the page shows before the server's `Refresh` header sends the reader on, where that is
    /// soon: `0; url=/next`.
    pub(crate) fn refresh(&self) -> Option<Duration> {
        let header = self.headers();
        let (delay, target) = header["refresh"].as_str()?.split_once([';', ','])?;
        let delay = Duration::try_from_secs_f32(delay.trim().parse().ok()?).ok()?;
        (delay <= SOON && !target.trim().is_empty()).then_some(delay)
    }

    /// The HTTP status; 0 where no response is known.
    pub(crate) fn status(&self) -> u16 {
        self.response["status"].as_u64().and_then(|status| status.try_into().ok()).unwrap_or_default()
    }

    /// The media type.
    pub(crate) fn media_type(&self) -> Option<&str> {
        self.response["mimeType"].as_str()
    }

    /// The headers, their names in lower case.
    pub(crate) fn headers(&self) -> Value {
        let headers = self.response["headers"].as_object().into_iter().flatten();
        headers.map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect::<Map<_, _>>().into()
    }
}

/// The browser's name for a failure within the words of the driver.
pub(crate) fn net_error(words: &str) -> Option<&str> {
    let name = &words[words.find("net::ERR_")?..];
    name.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, ':' | '_')).next()
}

/// The error for a page that could not be loaded, `net_error` being the browser's name for why.
pub(crate) fn navigation_failed(url: &str, net_error: &str) -> Error {
    let why = match net_error.trim_start_matches("net::") {
        "ERR_CONNECTION_REFUSED" => "the server refused the connection",
        "ERR_NAME_NOT_RESOLVED" => "the host's name is not known",
        "ERR_TOO_MANY_REDIRECTS" => "the server redirects in a circle",
        "ERR_UNSAFE_REDIRECT" => "the server redirects to an address that may not be opened",
        "ERR_EMPTY_RESPONSE"
        | "ERR_CONNECTION_RESET"
        | "ERR_CONNECTION_CLOSED"
        | "ERR_INCOMPLETE_CHUNKED_ENCODING"
        | "ERR_CONTENT_LENGTH_MISMATCH" => "the server broke the connection",
        "ERR_ABORTED" => "the browser refused what the server answered",
        "ERR_INVALID_HTTP_RESPONSE" => "the server does not speak HTTP",
        "ERR_CONNECTION_TIMED_OUT" | "ERR_TIMED_OUT" => "the server does not answer",
        "ERR_INTERNET_DISCONNECTED" | "ERR_NETWORK_CHANGED" | "ERR_ADDRESS_UNREACHABLE" => {
            "there is no way to the server"
        }
        name if name.starts_with("ERR_CERT_") => "the server's certificate is not trusted",
        name if name.starts_with("ERR_SSL_") => "the server does not speak TLS properly",
        _ => "the browser could not load it",
    };
    NAVIGATION_FAILED.error(format!("cannot open {url}: {why}")).detail("url", url).detail("net_error", net_error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(method: &str, request: &str, mut more: Value) -> Value {
        let mut params = json!({"type": "Document", "requestId": request, "frameId": "F"});
        params.as_object_mut().unwrap().append(more.as_object_mut().unwrap());
        json!({"method": method, "params": params})
    }

    #[test]
    fn only_the_document_itself_counts() {
        let mut document = Document::requested(Some("new"));
        let response =
            |status: u16| json!({"response": {"status": status, "mimeType": "text/html", "headers": {"Server": "x"}}});
        document.take_in(event("Network.requestWillBeSent", "old", json!({})), "F");
        document.take_in(event("Network.responseReceived", "old", response(200)), "F");
        document.take_in(event("Network.requestWillBeSent", "new", json!({})), "F");
        assert_eq!((document.status(), document.media_type()), (0, None));
        document.take_in(event("Network.requestWillBeSent", "frame", json!({"frameId": "inner"})), "F");
        document.take_in(event("Network.responseReceived", "frame", response(404)), "F");
        document.take_in(event("Network.responseReceived", "new", response(403)), "F");
        assert_eq!((document.status(), &document.headers()), (403, &json!({"server": "x"})));
        assert_eq!(document.broke_off(), None);
        document.take_in(event("Network.loadingFailed", "new", json!({"errorText": "net::ERR_CONNECTION_RESET"})), "F");
        assert_eq!(document.broke_off(), Some("net::ERR_CONNECTION_RESET"));
    }

    #[test]
    fn scripts_of_the_page_before_are_not_waited_for() {
        let script = |frame: &str, loader: &str, request: &str| {
            event("Network.requestWillBeSent", request, json!({"type": "Script", "frameId": frame, "loaderId": loader}))
        };
        let mut document = Document::requested(Some("new"));
        document.take_in(script("F", "old", "1"), "F");
        assert!(!document.awaits_scripts());
        for (frame, loader) in [("F", "new"), ("inner", "other")] {
            document.take_in(script(frame, loader, "2"), "F");
            assert!(document.awaits_scripts(), "{frame}");
            document.take_in(event("Network.loadingFinished", "2", json!({})), "F");
            assert!(!document.awaits_scripts());
        }
    }

    #[test]
    fn a_failure_is_found_in_the_driver_s_words() {
        assert_eq!(
            net_error("unknown error: net::ERR_NAME_NOT_RESOLVED\\n (Session"),
            Some("net::ERR_NAME_NOT_RESOLVED")
        );
        assert_eq!(net_error("unknown error"), None);
    }
}
