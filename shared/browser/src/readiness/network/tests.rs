//! Tests of the network state: events in, state out.

use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::limits::LIMITS;

/// The network of the tab `T`, which goes to the document `1`.
fn underway() -> Network {
    let mut network = Network::new("T", SilentHosts::default());
    asks(&mut network, "Document", "1", "T");
    network
}

/// The same, once it shows that.
fn shown() -> Network {
    let mut network = underway();
    answers(&mut network, "1", &json!({"status": 200, "mimeType": "text/html", "headers": {"Server": "x"}}));
    commits(&mut network, "1");
    ends(&mut network, "1");
    network
}

fn asks(network: &mut Network, kind: &str, request: &str, frame: &str) {
    let params = json!({"type": kind, "requestId": request, "frameId": frame, "loaderId": "1",
        "request": {"url": format!("https://x.example/{request}")}});
    network.handle("Network.requestWillBeSent", &params);
}

fn answers(network: &mut Network, request: &str, response: &Value) {
    let mut response = response.clone();
    response["remoteIPAddress"] = "192.0.2.1".into();
    network.handle("Network.responseReceived", &json!({"requestId": request, "response": response}));
}

fn ends(network: &mut Network, request: &str) {
    network.handle("Network.loadingFinished", &json!({"requestId": request}));
}

fn fails(network: &mut Network, request: &str, error: &str) {
    network.handle("Network.loadingFailed", &json!({"requestId": request, "errorText": error}));
}

fn commits(network: &mut Network, loader: &str) {
    let frame = json!({"id": "T", "loaderId": loader, "url": "https://x.example/"});
    network.handle("Page.frameNavigated", &json!({"frame": frame}));
}

fn announces_leaving(network: &mut Network, url: &str, delay: f64) {
    network.handle("Page.frameScheduledNavigation", &json!({"frameId": "T", "url": url, "delay": delay}));
}

#[test]
fn only_the_tab_s_own_document_is_the_page() {
    let mut network = underway();
    assert_eq!((network.state(TextDensity::Dense), network.latest().status()), (NetworkState::Busy, 0));
    asks(&mut network, "Document", "inner", "F");
    answers(&mut network, "inner", &json!({"status": 404}));
    answers(&mut network, "1", &json!({"status": 403, "mimeType": "text/html", "headers": {"Server": "x"}}));
    assert_eq!(network.latest().status(), 403);
    commits(&mut network, "1");
    let document = network.current_document();
    assert_eq!((document.media_type(), document.headers()), (Some("text/html"), json!({"server": "x"})));
    assert_eq!((document.broke_off(), network.state(TextDensity::Dense)), (None, NetworkState::Idle));
    assert_eq!(network.current_document().failure(), None);
    fails(&mut network, "1", "net::ERR_CONNECTION_RESET");
    assert_eq!(network.current_document().broke_off(), Some("net::ERR_CONNECTION_RESET"));
    assert_eq!(network.current_document().failure(), Some(("https://x.example/1", "net::ERR_CONNECTION_RESET")));
}

#[test]
fn the_old_page_can_supersede_the_navigation_until_replaced() {
    // What is asked for and what comes, and whether that is superseded.
    let (asked, came) = (Some, None);
    for (events, superseded) in [
        (&[(asked("1"), ""), (came, "1")][..], false),
        (&[(asked("1"), ""), (came, "1"), (asked("2"), ""), (came, "2")], false),
        (&[(asked("2"), ""), (asked("1"), ""), (came, "1")], false),
        (&[(asked("2"), ""), (asked("1"), ""), (came, "2"), (came, "1")], false),
        (&[(asked("1"), ""), (asked("2"), ""), (came, "1"), (came, "2")], true),
        (&[(asked("1"), ""), (asked("2"), ""), (came, "1"), (came, "2"), (asked("3"), ""), (came, "3")], true),
    ] {
        let mut network = Network::new("T", SilentHosts::default());
        network.sent_to(Some("1"));
        for (asked, came) in events {
            match asked {
                Some(request) => asks(&mut network, "Document", request, "T"),
                None => commits(&mut network, came),
            }
        }
        assert_eq!(network.is_superseded(), superseded, "{events:?}");
    }
}

#[test]
fn a_failed_navigation_keeps_the_current_page() {
    let mut network = shown();
    announces_leaving(&mut network, "https://x.example/next", 0.0);
    assert_eq!(network.state(TextDensity::Dense), NetworkState::Busy);
    asks(&mut network, "Document", "2", "T");
    network.handle("Page.frameClearedScheduledNavigation", &json!({"frameId": "T"}));
    assert_eq!(network.state(TextDensity::Dense), NetworkState::Busy);
    answers(&mut network, "2", &json!({"status": 204}));
    fails(&mut network, "2", "net::ERR_ABORTED");
    assert_eq!((network.state(TextDensity::Dense), network.current_document().status()), (NetworkState::Idle, 200));
}

#[test]
fn only_short_refreshes_to_web_pages_are_followed() {
    for (url, delay, rest) in [
        ("https://x.example/next", 3.0, NetworkState::Busy),
        ("https://x.example/next", 60.0, NetworkState::Idle),
        ("https://x.example/", 3.0, NetworkState::Idle),
        ("https://x.example/", 0.0, NetworkState::Busy),
        ("mailto:x@y.example", 0.0, NetworkState::Idle),
        ("https://x.example/next", -1.0, NetworkState::Idle),
        ("https://x.example/next", f64::MAX, NetworkState::Idle),
    ] {
        let mut network = shown();
        announces_leaving(&mut network, url, delay);
        assert_eq!(network.state(TextDensity::Dense), rest, "{url} {delay}");
    }
}

#[test]
fn a_refresh_is_known_later_than_the_end_of_the_load() {
    let tell = |network: &mut Network, event: &str| network.handle(event, &json!({"frameId": "T"}));
    let mut network = shown();
    tell(&mut network, "Page.loadEventFired");
    assert!(network.loaded(true, false) && !network.loaded(true, true));
    tell(&mut network, "Page.frameStoppedLoading");
    assert!(network.loaded(true, true));
    let mut network = underway();
    answers(&mut network, "1", &json!({"headers": {"Refresh": "1; url=/next"}}));
    commits(&mut network, "1");
    assert!(!network.loaded(false, false));
    tell(&mut network, "Page.loadEventFired");
    assert!(!network.loaded(true, false));
}

#[test]
fn only_a_page_with_code_or_a_refresh_is_waited_for_until_its_load_event() {
    let network = shown();
    assert!(network.loaded(false, false) && !network.loaded(true, false) && !network.loaded(false, true));
}

#[test]
fn requests_with_content_are_waited_for_completely() {
    for kind in ["Fetch", "XHR", "Script", "Stylesheet", "Document", "EventSource"] {
        let mut network = shown();
        asks(&mut network, kind, "a", "F");
        assert_eq!(network.state(TextDensity::Dense), NetworkState::Busy, "{kind}");
        ends(&mut network, "a");
        assert_eq!(network.state(TextDensity::Dense), NetworkState::Idle, "{kind}");
        asks(&mut network, kind, "b", "F");
        network.handle("Page.frameDetached", &json!({"frameId": "F"}));
        assert_eq!(network.state(TextDensity::Dense), NetworkState::Idle, "{kind}");
    }
    let mut network = shown();
    for kind in ["Image", "Font", "Media", "Ping"] {
        asks(&mut network, kind, kind, "T");
        assert_eq!(
            (network.state(TextDensity::Sparse), network.pending()),
            (NetworkState::Open, vec!["x.example".to_owned()]),
            "{kind}"
        );
        ends(&mut network, kind);
    }
    assert_eq!((network.state(TextDensity::Dense), network.pending()), (NetworkState::Idle, vec![]));
    for (headers, length) in [
        (json!({"Content-Length": "5"}), "dataLength"),
        (json!({"Content-Length": "5", "Content-Encoding": "br"}), "encodedDataLength"),
    ] {
        asks(&mut network, "Fetch", "a", "T");
        answers(&mut network, "a", &json!({"headers": headers}));
        for (came, rest) in [(4, NetworkState::Busy), (1, NetworkState::Idle)] {
            network.handle("Network.dataReceived", &json!({"requestId": "a", length: came}));
            assert_eq!(network.state(TextDensity::Dense), rest, "{headers}");
        }
        ends(&mut network, "a");
    }
}

#[test]
fn slow_requests_stall_sparse_pages_only_later() {
    let past = |network: &mut Network| network.requests.pass(Duration::from_secs(6));
    for (kind, dense, sparse) in [
        ("Fetch", NetworkState::Stalled, NetworkState::Busy),
        ("Script", NetworkState::Stalled, NetworkState::Stalled),
        ("Stylesheet", NetworkState::Open, NetworkState::Open),
        ("EventSource", NetworkState::Open, NetworkState::Open),
    ] {
        let mut network = shown();
        asks(&mut network, kind, "a", "T");
        past(&mut network);
        assert_eq!((network.state(TextDensity::Dense), network.state(TextDensity::Sparse)), (dense, sparse), "{kind}");
    }
    let mut network = shown();
    asks(&mut network, "Fetch", "a", "T");
    answers(&mut network, "a", &json!({"mimeType": "text/event-stream"}));
    past(&mut network);
    assert_eq!(network.state(TextDensity::Sparse), NetworkState::Open);
}

/// The page asks `url`.
fn asks_url(network: &mut Network, kind: &str, id: &str, url: &str) {
    let request = json!({"url": url});
    let params = json!({"type": kind, "requestId": id, "frameId": "F", "loaderId": "1", "request": request});
    network.handle("Network.requestWillBeSent", &params);
}

fn states(network: &Network) -> [NetworkState; 2] {
    [TextDensity::Dense, TextDensity::Sparse].map(|text| network.state(text))
}

#[test]
fn a_silent_host_of_another_site_is_given_up() {
    let (busy, open, stalled) = (NetworkState::Busy, NetworkState::Open, NetworkState::Stalled);
    for kind in ["Fetch", "XHR", "Script", "Document"] {
        let mut network = shown();
        asks_url(&mut network, kind, "a", "https://docs.x.example/a");
        network.requests.pass(LIMITS.probe_after);
        assert_eq!((network.hosts_to_ask(), states(&network)), (vec![], [busy, busy]), "{kind} of the same site");
        ends(&mut network, "a");
        asks_url(&mut network, kind, "b", "https://y.example/b");
        assert_eq!(network.hosts_to_ask(), []);
        network.requests.pass(LIMITS.probe_after);
        // Beside it the page's own, once.
        assert_eq!(
            network.hosts_to_ask().iter().map(Url::as_str).collect::<Vec<_>>(),
            ["https://y.example/b", "https://x.example/"],
            "{kind}"
        );
        assert_eq!((network.hosts_to_ask(), states(&network)), (vec![], [busy, busy]), "{kind}");
        network.requests.pass(LIMITS.probe_timeout);
        assert_eq!(states(&network), [open, busy], "{kind}");
        assert_eq!(network.pending(), ["y.example"]);
        // A host that has answered may still add content.
        network.handle(HOST_ANSWERED, &json!({"url": "https://y.example/robots.txt"}));
        assert_eq!(states(&network), [busy, busy], "{kind}");
        network.requests.pass(LIMITS.other_data);
        assert_eq!(states(&network)[0], open, "{kind}");
        ends(&mut network, "b");
        asks_url(&mut network, kind, "c", "https://z.example/c");
        network.requests.pass(LIMITS.probe_after);
        assert_eq!(network.hosts_to_ask().len(), 1);
        network.requests.pass(LIMITS.probe_timeout_sparse);
        assert_eq!(states(&network), [open, stalled], "{kind}");
    }
}

#[test]
fn a_host_that_delivered_content_is_treated_like_the_page_s_own() {
    let mut network = shown();
    asks_url(&mut network, "Fetch", "a", "https://y.example/a");
    answers(&mut network, "image", &json!({"url": "https://y.example/image", "mimeType": "image/png"}));
    network.requests.pass(LIMITS.other_data);
    assert_eq!(states(&network), [NetworkState::Busy; 2]);
    network.requests.pass(LIMITS.data.dense);
    assert_eq!(states(&network), [NetworkState::Stalled, NetworkState::Busy]);
    // An image that was answered in its host's place says nothing of the host.
    let mut network = shown();
    asks_url(&mut network, "Fetch", "a", "https://y.example/a");
    let response = json!({"url": "https://y.example/image", "mimeType": "image/gif"});
    network.handle("Network.responseReceived", &json!({"requestId": "image", "response": response}));
    network.requests.pass(LIMITS.probe_after);
    assert_eq!(network.hosts_to_ask().len(), 2);
}

#[test]
fn the_silence_limit_follows_the_page_s_own_host() {
    let mut network = shown();
    network.shown.answer_time = Duration::from_millis(200);
    asks_url(&mut network, "Fetch", "a", "https://y.example/a");
    network.requests.pass(LIMITS.probe_after);
    network.hosts_to_ask();
    network.requests.pass(LIMITS.probe_timeout);
    assert_eq!(states(&network)[0], NetworkState::Busy);
    network.requests.pass(Duration::from_millis(800).saturating_sub(LIMITS.probe_timeout));
    assert_eq!(states(&network)[0], NetworkState::Open);
    network.shown.answer_time = Duration::from_secs(9);
    assert_eq!(network.silence_limit(), LIMITS.probe_timeout_max);
}

#[test]
fn on_a_busy_machine_silent_hosts_get_more_time() {
    let mut network = shown();
    asks_url(&mut network, "Fetch", "a", "https://y.example/a");
    network.requests.pass(LIMITS.probe_after);
    network.hosts_to_ask();
    // The page's own host has not answered for a while either.
    let late = Duration::from_millis(200);
    let control = network.control.as_mut().unwrap();
    control.asked = control.asked.checked_sub(late).unwrap();
    network.requests.pass(LIMITS.probe_timeout);
    assert_eq!(states(&network)[0], NetworkState::Busy);
    network.handle(HOST_ANSWERED, &json!({"url": "https://x.example/robots.txt"}));
    assert!(network.control.unwrap().took.is_some_and(|took| took >= late));
    assert_eq!(states(&network)[0], NetworkState::Busy);
    network.requests.pass(LIMITS.probe_timeout_max);
    assert_eq!(states(&network)[0], NetworkState::Open);
}

#[test]
fn hosts_that_block_the_parser_are_reported() {
    let silent = |network: &mut Network| {
        network.requests.pass(LIMITS.probe_after);
        network.hosts_to_ask();
        network.requests.pass(LIMITS.probe_timeout);
    };
    let mut network = shown();
    asks_url(&mut network, "Script", "a", "https://y.example/a");
    asks_url(&mut network, "Fetch", "b", "https://z.example/b");
    assert_eq!(network.silent_blockers(), Vec::<Host>::new());
    silent(&mut network);
    let y = Host::parse("y.example").unwrap();
    assert_eq!(network.silent_blockers(), std::slice::from_ref(&y));
    asks_url(&mut network, "Script", "c", "https://x.example/c");
    assert_eq!(network.silent_blockers(), Vec::<Host>::new());
    network.requests.pass(LIMITS.probe_timeout);
    assert_eq!(network.silent_blockers(), std::slice::from_ref(&y));
    // One that answers other things may hang all the same.
    network.handle(HOST_ANSWERED, &json!({"url": "https://y.example/robots.txt"}));
    assert_eq!(network.silent_blockers(), Vec::<Host>::new());
    network.requests.pass(LIMITS.parser_blocking);
    assert_eq!(network.silent_blockers(), [y]);
}

#[test]
fn a_redirect_is_followed_to_its_target() {
    let mut network = shown();
    asks_url(&mut network, "Fetch", "a", "https://y.example/a");
    answers(&mut network, "image", &json!({"url": "https://y.example/image"}));
    asks_url(&mut network, "Fetch", "a", "https://z.example/a");
    assert_eq!(network.pending(), ["z.example"]);
    network.requests.pass(LIMITS.probe_after);
    assert_eq!(network.hosts_to_ask().len(), 2);
}

#[test]
fn an_update_connection_is_not_waited_for_after_its_first_message() {
    for (kind, message) in
        [("EventSource", "Network.eventSourceMessageReceived"), ("WebSocket", "Network.webSocketFrameReceived")]
    {
        let mut network = shown();
        match kind {
            "WebSocket" => {
                network.handle("Network.webSocketCreated", &json!({"requestId": "a", "url": "wss://x.example/a"}));
            }
            kind => asks(&mut network, kind, "a", "T"),
        }
        assert_eq!(network.state(TextDensity::Dense), NetworkState::Busy, "{kind}");
        network.handle(message, &json!({"requestId": "a"}));
        assert_eq!(
            (network.state(TextDensity::Dense), network.pending()),
            (NetworkState::Open, vec!["x.example".to_owned()]),
            "{kind}"
        );
    }
}

#[test]
fn no_more_hosts_are_named_than_an_answer_can_use() {
    let mut network = underway();
    assert_eq!(network.pending(), ["x.example"]);
    commits(&mut network, "1");
    for n in 0..50 {
        let params = json!({"type": "Image", "requestId": n.to_string(), "frameId": "T", "loaderId": "1",
            "request": {"url": format!("https://y{n:02}.example/")}});
        network.handle("Network.requestWillBeSent", &params);
    }
    assert_eq!((network.pending().len(), &*network.pending()[0]), (LIMITS.pending, "x.example"));
}

#[test]
fn a_known_silent_host_gets_a_short_limit() {
    let (page, silent) = (shown(), Host::parse("y.example").unwrap());
    assert_eq!(page.silent_hosts().blocked(), Vec::<&str>::new());
    let ask = |network: &mut Network, age: Duration| {
        asks_url(network, "XHR", "a", "https://y.example/api");
        network.requests.pass(age);
        states(network)
    };
    let (busy, open) = (NetworkState::Busy, NetworkState::Open);
    for (known, age, expected) in [
        (false, LIMITS.known_silent_wait, [busy, busy]),
        (true, LIMITS.known_silent_wait, [open, busy]),
        (true, LIMITS.probe_timeout, [open, busy]),
    ] {
        let mut network = shown();
        if known {
            network.silent.add(&silent, false);
        }
        assert_eq!(ask(&mut network, age), expected, "{known} {age:?}");
        assert_eq!(network.silent_hosts().contains(&silent), known, "{known} {age:?}");
        // It is remembered on the next page, until it answers.
        commits(&mut network, "2");
        assert_eq!(network.silent_hosts().contains(&silent), known);
        answers(&mut network, "image", &json!({"url": "https://y.example/image"}));
        assert!(!network.silent_hosts().contains(&silent));
    }
    // After a page was loaded again without hosts that were silent, others get as little time.
    let mut network = shown();
    network.give_up(&[Host::parse("z.example").unwrap()]);
    commits(&mut network, "2");
    assert_eq!(ask(&mut network, LIMITS.reload_first_contact), [open, busy]);
}

#[test]
fn polling_is_ignored_and_partial_data_is_waited_for() {
    let mut network = shown();
    let ask = |network: &mut Network, url: &str, body: &str| {
        let request = json!({"url": url, "postData": body});
        let params = json!({"type": "XHR", "requestId": "a", "frameId": "T", "loaderId": "1", "request": request});
        network.handle("Network.requestWillBeSent", &params);
        let rest = network.state(TextDensity::Dense);
        ends(network, "a");
        rest
    };
    let again = [0; 5].map(|_| ask(&mut network, "https://x.example/poll", ""));
    assert_eq!(
        again,
        [NetworkState::Busy, NetworkState::Busy, NetworkState::Busy, NetworkState::Idle, NetworkState::Idle]
    );
    for part in 0..=LIMITS.same_address {
        let rest = if part < LIMITS.same_address { NetworkState::Busy } else { NetworkState::Idle };
        assert_eq!(ask(&mut network, "https://x.example/graph", &format!("{part}")), rest, "{part}");
        assert_eq!(ask(&mut network, &format!("https://x.example/list?page={part}"), ""), rest, "{part}");
    }
}

#[test]
fn what_a_step_requests_is_waited_for_again() {
    let mut network = shown();
    let ask = |network: &mut Network| {
        asks(network, "XHR", "a", "T");
        let state = network.state(TextDensity::Dense);
        ends(network, "a");
        state
    };
    for _ in 0..=LIMITS.same_request {
        ask(&mut network);
    }
    assert_eq!(ask(&mut network), NetworkState::Idle);
    network.begin_step();
    assert_eq!([ask(&mut network), ask(&mut network)], [NetworkState::Busy, NetworkState::Idle]);
}

#[test]
fn requests_of_the_old_page_are_dropped() {
    let mut network = shown();
    asks(&mut network, "Script", "a", "T");
    announces_leaving(&mut network, "https://x.example/next", 3.0);
    asks(&mut network, "Document", "2", "T");
    answers(&mut network, "2", &json!({"status": 201}));
    commits(&mut network, "2");
    assert_eq!((network.state(TextDensity::Sparse), network.current_document().status()), (NetworkState::Idle, 201));
    // A page that nobody has asked for, such as the browser's own.
    commits(&mut network, "3");
    assert_eq!(network.current_document().status(), 0);
}
