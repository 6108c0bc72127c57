//! What the tab's events tell of its page: the document that shows, the one that is to come, and what
//! the page waits for from the network.
//!
//! Seen from here, outside, a body that is read in parts counts like any other, and so does what a
//! frame asks for; and the page can not tell that it is watched.

use std::{
    collections::HashMap,
    mem,
    time::{Duration, Instant},
};

use ragmaker_tool::Error;
use serde_json::{Map, Value};

use crate::codes::NAVIGATION_FAILED;

/// How long a page may show before it sends the reader on, and still is not the one that was asked for.
const SOON: Duration = Duration::from_secs(5);

/// How long a page may take to leave once the time has come.
const LEAVING: Duration = Duration::from_secs(2);

/// How often a page may ask for the same; what it asks for again after that is polling, and says
/// nothing about its content.
const REPEATS: u32 = 3;

/// How often it may ask one address for something else each time, as applications do that have one for
/// all of their data; and as polling does that is not to be cached.
const PARTS: u32 = 30;

/// What a page asks for that may bring content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// What its scripts fetch.
    Data,
    /// The same, when the answer has begun: the page may read it, or leave it unread for ever.
    Body,
    /// A script, or the document of a frame.
    Code,
    /// A style sheet.
    Style,
    /// A connection that speaks when it wants to: until its first word, and not for long.
    Word,
}

/// A request under way.
#[derive(Debug)]
struct Request {
    kind: Kind,
    frame: String,
    /// When it began, or something of its body came last.
    since: Instant,
    /// What is still to come of its body, in bytes as they are sent, where the server said how many.
    left: Option<u64>,
    compressed: bool,
}

/// What a page is doing, as far as its network shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// It waits for nothing.
    Quiet,
    /// It waits for content, or is about to be left.
    Busy,
    /// It waits for what takes longer than content should.
    Hangs,
}

/// The request for a document and what became of it.
#[derive(Debug, Default)]
pub(crate) struct Document {
    request: String,
    url: String,
    response: Value,
    failure: Option<String>,
}

/// The way to the document that a call has the tab go to.
///
/// The page that shows meanwhile may lead elsewhere: what it asks for in the moment in which that document is
/// taking its place comes after it, and is shown.
#[derive(Debug, Default)]
struct Going {
    /// The request for the document, until it comes.
    to: Option<String>,
    /// What was asked for by the page before it, and whether that is what has come.
    stray: Option<String>,
    astray: bool,
}

/// The network of a tab.
#[derive(Debug)]
pub(crate) struct Network {
    /// The outermost frame.
    frame: String,
    shown: Document,
    /// Its address.
    url: String,
    /// The document that the tab is on its way to.
    coming: Option<Document>,
    /// Where the document is that this call has the tab go to.
    going: Going,
    /// Whether the document's load event is over.
    loaded: bool,
    /// Whether the browser has begun what it is to do after that.
    stopped: bool,
    /// The page has said that it will be left, and until when it may take for that.
    leaves_by: Option<Instant>,
    requests: HashMap<String, Request>,
    /// How often each thing was asked for, and each address for anything.
    asked: HashMap<String, u32>,
}

impl Kind {
    /// By what the protocol calls the type of a request.
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "Fetch" | "XHR" => Self::Data,
            "Script" | "Document" => Self::Code,
            "Stylesheet" => Self::Style,
            "EventSource" => Self::Word,
            _ => return None,
        })
    }

    /// How long it may take; `sparse` says whether the page has little else to show.
    fn patience(self, sparse: bool) -> Duration {
        match self {
            Self::Data if sparse => Duration::MAX,
            Self::Data => Duration::from_secs(5),
            Self::Body | Self::Code if sparse => Duration::from_secs(5),
            Self::Body => Duration::from_secs(2),
            Self::Code | Self::Style => Duration::from_millis(2500),
            Self::Word => Duration::from_secs(1),
        }
    }
}

impl Going {
    fn asked(&mut self, request: &str) {
        if self.to.as_ref().is_some_and(|to| to != request) {
            self.stray = Some(request.to_owned());
        }
    }

    fn came(self, document: &str) -> Self {
        if self.to.as_deref() == Some(document) {
            return Self { to: None, astray: false, ..self };
        }
        Self { astray: self.astray || self.stray.as_deref() == Some(document), ..self }
    }
}

impl Request {
    fn answered(&mut self, response: &Value) {
        if self.kind == Kind::Data {
            let headers = headers(response);
            self.kind = if media_type(response) == Some("text/event-stream") { Kind::Word } else { Kind::Body };
            self.since = Instant::now();
            self.left = headers["content-length"].as_str().and_then(|length| length.parse().ok());
            self.compressed = !headers["content-encoding"].is_null();
        }
    }

    /// Whether all of it is there, read or not.
    fn is_there(&self) -> bool {
        self.left == Some(0)
    }
}

impl Document {
    /// The HTTP status; 0 where no response is known.
    pub(crate) fn status(&self) -> u16 {
        self.response["status"].as_u64().and_then(|status| status.try_into().ok()).unwrap_or_default()
    }

    /// The media type.
    pub(crate) fn media_type(&self) -> Option<&str> {
        media_type(&self.response)
    }

    /// The headers, their names in lower case.
    pub(crate) fn headers(&self) -> Value {
        headers(&self.response)
    }

    /// Its address, and why it could not be loaded, if it could not.
    pub(crate) fn failure(&self) -> Option<(&str, &str)> {
        Some((&self.url, self.failure.as_deref()?))
    }

    /// Why it broke off after it had begun to come, if it did.
    pub(crate) fn broke_off(&self) -> Option<&str> {
        let complete = ["net::ERR_ABORTED", "net::ERR_HTTP_RESPONSE_CODE_FAILURE"];
        self.failure.as_deref().filter(|failure| !self.response.is_null() && !complete.contains(failure))
    }
}

impl Network {
    /// The network of the tab whose outermost frame is `frame`.
    pub(crate) fn of(frame: &str) -> Self {
        Self {
            frame: frame.to_owned(),
            shown: Document::default(),
            url: String::new(),
            coming: None,
            going: Going::default(),
            loaded: false,
            stopped: false,
            leaves_by: None,
            requests: HashMap::new(),
            asked: HashMap::new(),
        }
    }

    /// The outermost frame.
    pub(crate) fn frame(&self) -> &str {
        &self.frame
    }

    /// The document that shows; empty if it was there before anybody listened.
    pub(crate) fn shown(&self) -> &Document {
        &self.shown
    }

    /// The document that was asked for last, whether it came or not.
    pub(crate) fn latest(&self) -> &Document {
        self.coming.as_ref().unwrap_or(&self.shown)
    }

    /// Says which request the tab was sent on, before anything that has happened since is taken in; none where
    /// it goes to a place on the page that it shows.
    pub(crate) fn go_to(&mut self, request: Option<&str>) {
        self.going = Going { to: request.map(str::to_owned), ..Going::default() };
    }

    /// Whether the page that showed before has led the tab elsewhere than it was sent.
    pub(crate) fn is_astray(&self) -> bool {
        self.going.astray
    }

    /// Whether the document that shows was loaded, and what follows on that is known: what its scripts do
    /// when it is, and if it `refreshes`, that.
    pub(crate) fn loaded(&self, refreshes: bool) -> bool {
        let refreshes = refreshes || !self.shown.headers()["refresh"].is_null();
        !self.is_known() || if refreshes { self.stopped } else { self.loaded }
    }

    /// Whether the document that shows came while somebody listened.
    fn is_known(&self) -> bool {
        !self.url.is_empty()
    }

    /// Whether the page that came while somebody listened is about to be replaced by another one.
    pub(crate) fn leaves(&self) -> bool {
        self.is_known() && self.awaits_document()
    }

    fn awaits_document(&self) -> bool {
        // One that will not come, as one without content or a download, leaves the page as it is.
        self.coming.as_ref().is_some_and(|document| document.failure.is_none())
    }

    /// Whether the page waits for something, or is to be left; `sparse` says whether it has little to show.
    pub(crate) fn rest(&self, sparse: bool) -> Rest {
        let now = Instant::now();
        let mut requests = self.requests.values().filter(|request| !request.is_there());
        let waits = |request: &Request| now.duration_since(request.since) < request.kind.patience(sparse);
        if self.awaits_document() || self.leaves_by.is_some_and(|until| now < until) || requests.clone().any(waits) {
            Rest::Busy
        } else if requests.any(|request| !matches!(request.kind, Kind::Style | Kind::Word)) {
            Rest::Hangs
        } else {
            Rest::Quiet
        }
    }

    /// Takes in an event of the tab, which `method` names.
    pub(crate) fn take_in(&mut self, method: &str, params: &Value) {
        let text = |key: &str| params[key].as_str().unwrap_or_default();
        let (request, frame) = (text("requestId"), text("frameId"));
        match method {
            "Network.requestWillBeSent" => self.asked(text("type"), request, frame, params),
            "Network.webSocketCreated" => self.begin(request, "", Kind::Word, text("url"), ""),
            "Network.responseReceived" => {
                if let Some(document) = self.document(request) {
                    document.response = params["response"].clone();
                } else if let Some(request) = self.requests.get_mut(request) {
                    request.answered(&params["response"]);
                }
            }
            "Network.dataReceived" => {
                if let Some(begun) = self.requests.get_mut(request) {
                    let came = params[if begun.compressed { "encodedDataLength" } else { "dataLength" }].as_u64();
                    begun.since = Instant::now();
                    begun.left = begun.left.map(|left| left.saturating_sub(came.unwrap_or_default()));
                }
            }
            "Network.loadingFailed" => {
                self.requests.remove(request);
                if let Some(document) = self.document(request) {
                    document.failure = params["errorText"].as_str().map(str::to_owned);
                }
            }
            "Network.loadingFinished"
            | "Network.eventSourceMessageReceived"
            | "Network.webSocketFrameReceived"
            | "Network.webSocketFrameError"
            | "Network.webSocketClosed" => {
                self.requests.remove(request);
            }
            "Page.frameDetached" => self.requests.retain(|_, request| request.frame != frame),
            // By a timer of the browser's, or at once by a script.
            "Page.frameScheduledNavigation" if frame == self.frame => {
                self.leave(text("url"), params["delay"].as_f64().unwrap_or_default());
            }
            "Page.frameRequestedNavigation" if frame == self.frame && text("disposition") == "currentTab" => {
                self.leave(text("url"), 0.0);
            }
            "Page.loadEventFired" => self.loaded = true,
            "Page.frameStoppedLoading" if frame == self.frame => self.stopped = true,
            "Page.frameClearedScheduledNavigation" if frame == self.frame => self.leaves_by = None,
            "Page.frameNavigated" if params["frame"]["id"] == *self.frame => {
                let loader = params["frame"]["loaderId"].as_str().unwrap_or_default();
                let came = self.coming.take().filter(|coming| coming.request == loader);
                let url = params["frame"]["url"].as_str().unwrap_or_default().to_owned();
                let going = mem::take(&mut self.going).came(loader);
                *self = Self { shown: came.unwrap_or_default(), url, going, ..Self::of(&self.frame) };
            }
            _ => {}
        }
    }

    fn asked(&mut self, kind: &str, request: &str, frame: &str, params: &Value) {
        if kind == "Document" && frame == self.frame {
            self.going.asked(request);
            // The events of a redirect carry the request's own name again.
            let coming = self.coming.take().filter(|coming| coming.request == request).unwrap_or_default();
            let url = params["request"]["url"].as_str().unwrap_or_default().to_owned();
            self.coming = Some(Document { request: request.to_owned(), url, ..coming });
            return;
        }
        // What a worker consists of belongs to no document, and nobody tells its end.
        let of_a_document = params["loaderId"].as_str().is_some_and(|loader| !loader.is_empty());
        if let Some(kind) = Kind::of(kind).filter(|_| of_a_document) {
            let text = |key: &str| params["request"][key].as_str().unwrap_or_default();
            self.begin(request, frame, kind, text("url"), text("postData"));
        }
    }

    fn begin(&mut self, request: &str, frame: &str, kind: Kind, url: &str, body: &str) {
        if self.requests.contains_key(request) {
            return;
        }
        let address = url.split(['?', '#']).next().unwrap_or_default();
        let parts = self.asked.entry(address.to_owned()).or_default();
        *parts += 1;
        let parts = *parts;
        let times = self.asked.entry(format!("{url} {body}")).or_default();
        *times += 1;
        if *times <= REPEATS && parts <= PARTS {
            let since = Instant::now();
            let begun = Request { kind, frame: frame.to_owned(), since, left: None, compressed: false };
            self.requests.insert(request.to_owned(), begun);
        }
    }

    fn leave(&mut self, url: &str, delay: f64) {
        let web = url.starts_with("http:") || url.starts_with("https:");
        // A page that shows itself anew from time to time stays what it is.
        let again = delay > 0.0 && url == self.url;
        if let Ok(delay) = Duration::try_from_secs_f64(delay)
            && delay <= SOON
            && web
            && !again
        {
            self.leaves_by = Some(Instant::now() + delay + LEAVING);
        }
    }

    fn document(&mut self, request: &str) -> Option<&mut Document> {
        self.coming.iter_mut().chain([&mut self.shown]).find(|document| document.request == request)
    }
}

fn media_type(response: &Value) -> Option<&str> {
    response["mimeType"].as_str()
}

fn headers(response: &Value) -> Value {
    let headers = response["headers"].as_object().into_iter().flatten();
    headers.map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect::<Map<_, _>>().into()
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
        "ERR_UNSAFE_PORT" => "the browser opens no page on that port, which belongs to another protocol",
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

    /// The network of the tab `T`, which goes to the document `1`.
    fn underway() -> Network {
        let mut network = Network::of("T");
        asks(&mut network, "Document", "1", "T");
        network
    }

    /// The same, once it shows that.
    fn shown() -> Network {
        let mut network = underway();
        answers(&mut network, "1", &json!({"status": 200, "mimeType": "text/html", "headers": {"Server": "x"}}));
        commits(&mut network, "1");
        network
    }

    fn asks(network: &mut Network, kind: &str, request: &str, frame: &str) {
        let params = json!({"type": kind, "requestId": request, "frameId": frame, "loaderId": "1",
            "request": {"url": format!("https://x.example/{request}")}});
        network.take_in("Network.requestWillBeSent", &params);
    }

    fn answers(network: &mut Network, request: &str, response: &Value) {
        network.take_in("Network.responseReceived", &json!({"requestId": request, "response": response}));
    }

    fn ends(network: &mut Network, request: &str) {
        network.take_in("Network.loadingFinished", &json!({"requestId": request}));
    }

    fn fails(network: &mut Network, request: &str, error: &str) {
        network.take_in("Network.loadingFailed", &json!({"requestId": request, "errorText": error}));
    }

    fn commits(network: &mut Network, loader: &str) {
        let frame = json!({"id": "T", "loaderId": loader, "url": "https://x.example/"});
        network.take_in("Page.frameNavigated", &json!({"frame": frame}));
    }

    fn leaves(network: &mut Network, url: &str, delay: f64) {
        network.take_in("Page.frameScheduledNavigation", &json!({"frameId": "T", "url": url, "delay": delay}));
    }

    #[test]
    fn only_the_tab_s_own_document_is_the_page() {
        let mut network = underway();
        assert_eq!((network.rest(false), network.latest().status()), (Rest::Busy, 0));
        asks(&mut network, "Document", "inner", "F");
        answers(&mut network, "inner", &json!({"status": 404}));
        answers(&mut network, "1", &json!({"status": 403, "mimeType": "text/html", "headers": {"Server": "x"}}));
        assert_eq!(network.latest().status(), 403);
        commits(&mut network, "1");
        let document = network.shown();
        assert_eq!((document.media_type(), document.headers()), (Some("text/html"), json!({"server": "x"})));
        assert_eq!((document.broke_off(), network.rest(false)), (None, Rest::Quiet));
        assert_eq!(network.shown().failure(), None);
        fails(&mut network, "1", "net::ERR_CONNECTION_RESET");
        assert_eq!(network.shown().broke_off(), Some("net::ERR_CONNECTION_RESET"));
        assert_eq!(network.shown().failure(), Some(("https://x.example/1", "net::ERR_CONNECTION_RESET")));
    }

    #[test]
    fn the_page_before_may_lead_astray_until_it_is_gone() {
        // What is asked for and what comes, and whether that is astray.
        let (asked, came) = (Some, None);
        for (events, astray) in [
            (&[(asked("1"), ""), (came, "1")][..], false),
            (&[(asked("1"), ""), (came, "1"), (asked("2"), ""), (came, "2")], false),
            (&[(asked("2"), ""), (asked("1"), ""), (came, "1")], false),
            (&[(asked("2"), ""), (asked("1"), ""), (came, "2"), (came, "1")], false),
            (&[(asked("1"), ""), (asked("2"), ""), (came, "1"), (came, "2")], true),
            (&[(asked("1"), ""), (asked("2"), ""), (came, "1"), (came, "2"), (asked("3"), ""), (came, "3")], true),
        ] {
            let mut network = Network::of("T");
            network.go_to(Some("1"));
            for (asked, came) in events {
                match asked {
                    Some(request) => asks(&mut network, "Document", request, "T"),
                    None => commits(&mut network, came),
                }
            }
            assert_eq!(network.is_astray(), astray, "{events:?}");
        }
    }

    #[test]
    fn what_leads_to_no_page_leaves_the_one_that_is_there() {
        let mut network = shown();
        leaves(&mut network, "https://x.example/next", 0.0);
        assert_eq!(network.rest(false), Rest::Busy);
        asks(&mut network, "Document", "2", "T");
        network.take_in("Page.frameClearedScheduledNavigation", &json!({"frameId": "T"}));
        assert_eq!(network.rest(false), Rest::Busy);
        answers(&mut network, "2", &json!({"status": 204}));
        fails(&mut network, "2", "net::ERR_ABORTED");
        assert_eq!((network.rest(false), network.shown().status()), (Rest::Quiet, 200));
    }

    #[test]
    fn a_page_is_left_soon_for_another_one_of_the_web_or_not_at_all() {
        for (url, delay, rest) in [
            ("https://x.example/next", 3.0, Rest::Busy),
            ("https://x.example/next", 60.0, Rest::Quiet),
            ("https://x.example/", 3.0, Rest::Quiet),
            ("https://x.example/", 0.0, Rest::Busy),
            ("mailto:x@y.example", 0.0, Rest::Quiet),
            ("https://x.example/next", -1.0, Rest::Quiet),
            ("https://x.example/next", f64::MAX, Rest::Quiet),
        ] {
            let mut network = shown();
            leaves(&mut network, url, delay);
            assert_eq!(network.rest(false), rest, "{url} {delay}");
        }
    }

    #[test]
    fn a_refresh_is_known_later_than_the_end_of_the_load() {
        let tell = |network: &mut Network, event: &str| network.take_in(event, &json!({"frameId": "T"}));
        let mut network = shown();
        tell(&mut network, "Page.loadEventFired");
        assert!(network.loaded(false) && !network.loaded(true));
        tell(&mut network, "Page.frameStoppedLoading");
        assert!(network.loaded(true));
        let mut network = underway();
        answers(&mut network, "1", &json!({"headers": {"Refresh": "1; url=/next"}}));
        commits(&mut network, "1");
        tell(&mut network, "Page.loadEventFired");
        assert!(!network.loaded(false));
    }

    #[test]
    fn what_brings_content_is_waited_for_until_all_of_it_is_there() {
        for kind in ["Fetch", "XHR", "Script", "Stylesheet", "Document", "EventSource"] {
            let mut network = shown();
            asks(&mut network, kind, "a", "F");
            assert_eq!(network.rest(false), Rest::Busy, "{kind}");
            ends(&mut network, "a");
            assert_eq!(network.rest(false), Rest::Quiet, "{kind}");
            asks(&mut network, kind, "b", "F");
            network.take_in("Page.frameDetached", &json!({"frameId": "F"}));
            assert_eq!(network.rest(false), Rest::Quiet, "{kind}");
        }
        let mut network = shown();
        asks(&mut network, "Image", "a", "T");
        assert_eq!(network.rest(false), Rest::Quiet);
        for (headers, length) in [
            (json!({"Content-Length": "5"}), "dataLength"),
            (json!({"Content-Length": "5", "Content-Encoding": "br"}), "encodedDataLength"),
        ] {
            asks(&mut network, "Fetch", "a", "T");
            answers(&mut network, "a", &json!({"headers": headers}));
            for (came, rest) in [(4, Rest::Busy), (1, Rest::Quiet)] {
                network.take_in("Network.dataReceived", &json!({"requestId": "a", length: came}));
                assert_eq!(network.rest(false), rest, "{headers}");
            }
            ends(&mut network, "a");
        }
    }

    #[test]
    fn what_takes_too_long_hangs_unless_there_is_little_else_to_read() {
        let past = |network: &mut Network| {
            for request in network.requests.values_mut() {
                request.since = request.since.checked_sub(Duration::from_secs(6)).unwrap();
            }
        };
        for (kind, dense, sparse) in [
            ("Fetch", Rest::Hangs, Rest::Busy),
            ("Script", Rest::Hangs, Rest::Hangs),
            ("Stylesheet", Rest::Quiet, Rest::Quiet),
            ("EventSource", Rest::Quiet, Rest::Quiet),
        ] {
            let mut network = shown();
            asks(&mut network, kind, "a", "T");
            past(&mut network);
            assert_eq!((network.rest(false), network.rest(true)), (dense, sparse), "{kind}");
        }
        let mut network = shown();
        asks(&mut network, "Fetch", "a", "T");
        answers(&mut network, "a", &json!({"mimeType": "text/event-stream"}));
        past(&mut network);
        assert_eq!(network.rest(true), Rest::Quiet);
    }

    #[test]
    fn polling_is_not_waited_for_and_data_in_parts_is() {
        let mut network = shown();
        let ask = |network: &mut Network, url: &str, body: &str| {
            let request = json!({"url": url, "postData": body});
            let params = json!({"type": "XHR", "requestId": "a", "frameId": "T", "loaderId": "1", "request": request});
            network.take_in("Network.requestWillBeSent", &params);
            let rest = network.rest(false);
            ends(network, "a");
            rest
        };
        let again = [0; 5].map(|_| ask(&mut network, "https://x.example/poll", ""));
        assert_eq!(again, [Rest::Busy, Rest::Busy, Rest::Busy, Rest::Quiet, Rest::Quiet]);
        for part in 0..=PARTS {
            let rest = if part < PARTS { Rest::Busy } else { Rest::Quiet };
            assert_eq!(ask(&mut network, "https://x.example/graph", &format!("{part}")), rest, "{part}");
            assert_eq!(ask(&mut network, &format!("https://x.example/list?page={part}"), ""), rest, "{part}");
        }
    }

    #[test]
    fn what_the_page_before_was_waiting_for_is_forgotten() {
        let mut network = shown();
        asks(&mut network, "Script", "a", "T");
        leaves(&mut network, "https://x.example/next", 3.0);
        asks(&mut network, "Document", "2", "T");
        answers(&mut network, "2", &json!({"status": 201}));
        commits(&mut network, "2");
        assert_eq!((network.rest(true), network.shown().status()), (Rest::Quiet, 201));
        // A page that nobody has asked for, such as the browser's own.
        commits(&mut network, "3");
        assert_eq!(network.shown().status(), 0);
    }
}
