//! A tab's DevTools socket: navigation, network events, and the scripts that read the page.

use std::{
    collections::HashMap,
    mem,
    rc::Rc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use url::Url;

use super::socket::{Event, Incoming, Socket};
use crate::{endpoint::Endpoint, error::CommandError, loading::Loading};

/// The name of the isolated world that the page scripts run in, and of the binding that they report by.
const WORLD: &str = "tool";

/// The event of [`TabSocket::ask_host`]: the host of a `url` has answered.
pub(crate) const HOST_ANSWERED: &str = "Tool.hostAnswered";

/// Keeps pages of earlier calls out: what the tab showed before the document that this call has it go to
/// is taken out of the tab's history, and a page that went back all the same is noticed.
#[derive(Debug, Default)]
struct HistoryGuard {
    /// The tab's outermost frame.
    frame: String,
    /// The first document of this call.
    first: Option<String>,
    /// Whether that document is shown.
    at_first: bool,
    /// Whether a page went back beyond it, or to the empty page that a new tab begins with.
    went_back: bool,
}

impl HistoryGuard {
    /// Follows an event; whether the history has to be cleared now.
    fn follow(&mut self, method: &str, params: &Value) -> bool {
        let navigated = method == "Page.frameNavigated" && params["frame"]["id"] == *self.frame;
        if navigated {
            self.at_first = params["frame"]["loaderId"].as_str() == self.first.as_deref();
        }
        let back = method == "Page.frameStartedNavigating" && params["navigationType"] == "historyDifferentDocument";
        self.went_back |= back && self.at_first && params["frameId"] == *self.frame;
        // The browser may not know yet that the document has come, and would clear all but the one before.
        let again = matches!(method, "Page.domContentEventFired" | "Page.loadEventFired");
        self.at_first && (navigated || again)
    }
}

/// The events of a page that a call acts in which are kept for it.
const SIDE_EVENTS: [&str; 4] =
    ["Page.windowOpen", "Page.javascriptDialogOpening", "Page.downloadWillBegin", "Page.fileChooserOpened"];

/// How long an answer may take after a frame is gone that may have owed it.
const FRAME_GONE: Duration = Duration::from_millis(300);

/// The most of them.
const MOST_SIDE_EVENTS: usize = 100;

/// The socket of one tab. It blocks: a call reads one page and does nothing else meanwhile.
pub(crate) struct TabSocket {
    socket: Socket,
    /// The outermost frame, which is called as the tab is.
    frame: String,
    /// Events of page and network that nobody has taken yet.
    events: Vec<Event>,
    history: HistoryGuard,
    /// The isolated world of the shown document, once a script has run in it.
    world: Option<Value>,
    /// Whether a document is to report without being asked.
    expects_report: bool,
    /// That report.
    report: Option<Value>,
    /// The hosts that were asked whether they answer, by the command's id.
    asked: HashMap<u64, Url>,
    /// The rules for the page's requests, once there are any.
    loading: Option<Rc<Loading>>,
    /// The URL of the page that shows, or is to.
    page: String,
    /// The sessions of the frames with processes of their own, as those of other sites have, once they are followed.
    frames: Vec<String>,
    /// Whether they are.
    follows_frames: bool,
    /// What happened of what [`SIDE_EVENTS`] names, once frames are followed.
    side_events: Vec<Event>,
}

impl TabSocket {
    /// Connects to the tab with `handle`.
    pub(crate) fn connect(endpoint: &Endpoint, handle: &str, deadline: Instant) -> Result<Self, CommandError> {
        let mut socket = Socket::of_tab(endpoint, handle, deadline)?;
        // To be told of a crash; nobody has to wait for the word that this will be.
        socket.send(None, "Inspector.enable", &json!({}))?;
        socket.send(None, "Page.enable", &json!({}))?;
        // Bodies are not kept: nobody asks for them again. What is posted tells one request from another.
        socket.send(
            None,
            "Network.enable",
            &json!({"maxTotalBufferSize": 0, "maxResourceBufferSize": 0, "maxPostDataSize": 4096}),
        )?;
        Ok(Self {
            socket,
            frame: handle.to_owned(),
            events: vec![],
            history: HistoryGuard::default(),
            world: None,
            expects_report: false,
            report: None,
            asked: HashMap::new(),
            loading: None,
            page: String::new(),
            frames: vec![],
            follows_frames: false,
            side_events: vec![],
        })
    }

    /// The outermost frame.
    pub(crate) fn frame(&self) -> &str {
        &self.frame
    }

    /// The events of page and network that came since the last time, in their order.
    pub(crate) fn take_events(&mut self) -> Vec<Event> {
        mem::take(&mut self.events)
    }

    /// From now on clears and watches the tab's history; `document` is the id of this call's document.
    pub(crate) fn guard_history(&mut self, document: Option<&str>) {
        let first = document.map(str::to_owned);
        self.history = HistoryGuard { frame: self.frame.clone(), first, ..HistoryGuard::default() };
    }

    /// Whether the tab went back to a page of an earlier call.
    pub(crate) fn went_back(&self) -> bool {
        self.history.went_back
    }

    /// Cancels the pending navigation, which delays every command to the page that shows.
    pub(crate) fn stop_loading(&mut self) -> Result<(), CommandError> {
        self.send("Page.stopLoading", &json!({})).map(drop)
    }

    /// From now on, requests to `hosts` fail at once.
    pub(crate) fn block(&mut self, hosts: &[&str]) -> Result<(), CommandError> {
        let patterns = hosts.iter().flat_map(|host| [format!("*://{host}/*"), format!("*://{host}:*/*")]);
        self.send("Network.setBlockedURLs", &json!({"urls": patterns.collect::<Vec<_>>()})).map(drop)
    }

    /// From now on, `loading` decides about the requests of the tab's pages.
    pub(crate) fn decide_requests(&mut self, loading: Rc<Loading>) -> Result<(), CommandError> {
        self.loading = Some(loading);
        self.decide_requests_of(None)
    }

    /// The same for the tab's own process, or for a `session` of it: a frame of another site has a process of its
    /// own, which waits until that is done. So do workers: the browser has all of them wait, whatever it is told.
    fn decide_requests_of(&mut self, session: Option<&str>) -> Result<(), CommandError> {
        let patterns = self.loading.as_ref().and_then(|loading| loading.patterns());
        if let Some(patterns) = &patterns {
            self.socket.send(session, "Fetch.enable", &json!({"patterns": patterns}))?;
        }
        if self.loading.as_ref().is_some_and(|loading| loading.checks_all()) {
            // A shared worker belongs to no tab: its requests cannot be paused here. Chrome for Android has none, so
            // pages do without.
            let source = json!({"source": "delete globalThis.SharedWorker;"});
            self.socket.send(session, "Page.addScriptToEvaluateOnNewDocument", &source)?;
        }
        if patterns.is_some() || self.follows_frames {
            let attach = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
            self.socket.send(session, "Target.setAutoAttach", &attach)?;
        }
        Ok(())
    }

    /// From now on knows the frames that have processes of their own, and keeps what [`SIDE_EVENTS`] names; `loading`
    /// decides about requests, also on a page that an earlier call left here.
    pub(crate) fn follow_frames(&mut self, loading: Rc<Loading>, until: Instant) -> Result<(), CommandError> {
        (self.loading, self.follows_frames) = (Some(loading), true);
        self.decide_requests_of(None)?;
        // The browser tells of the frames that are there before it answers what comes next.
        self.command("Target.getTargetInfo", &json!({}), until).map(drop)
    }

    /// The sessions of the frames with processes of their own.
    pub(crate) fn frames(&self) -> &[String] {
        &self.frames
    }

    /// What happened of what [`SIDE_EVENTS`] names, since the last time.
    pub(crate) fn take_side_events(&mut self) -> Vec<Event> {
        mem::take(&mut self.side_events)
    }

    /// Has the page, or the `session` of a frame, do something, and returns the answer.
    pub(crate) fn ask(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: &Value,
        until: Instant,
    ) -> Result<Value, CommandError> {
        let id = self.socket.send(session, method, params)?;
        let Some(session) = session else { return self.result(id, until) };
        loop {
            // A frame that is gone answers nothing any more.
            if !self.frames.iter().any(|known| known == session) {
                return Err(CommandError::Failed("the frame is gone".into()));
            }
            let incoming = self.socket.receive(until)?;
            if incoming.id == Some(id) {
                return incoming.into_result();
            }
            self.handle(incoming)?;
        }
    }

    /// Does the same with several commands for the page, which are sent at once, and returns the answer to the last. An
    /// event of a mouse or a key that takes away the frame that it went to may never be answered.
    pub(crate) fn ask_all(&mut self, commands: &[(&str, Value)], until: Instant) -> Result<Value, CommandError> {
        let sent: Result<Vec<_>, _> =
            commands.iter().map(|(method, params)| self.socket.send(None, method, params)).collect();
        let Some(last) = sent?.last().copied() else { return Ok(Value::Null) };
        let frames = self.frames.clone();
        let mut until = until;
        loop {
            let is_any_gone = frames.iter().any(|frame| !self.frames.contains(frame));
            if is_any_gone {
                until = until.min(Instant::now() + FRAME_GONE);
            }
            let incoming = match self.socket.receive(until) {
                Err(CommandError::Late) if is_any_gone => return Ok(Value::Null),
                incoming => incoming?,
            };
            if incoming.id == Some(last) {
                return incoming.into_result();
            }
            self.handle(incoming)?;
        }
    }

    /// Leaves the page alone for `time`, and receives its events meanwhile.
    pub(crate) fn listen(&mut self, time: Duration) -> Result<(), CommandError> {
        let until = Instant::now() + time;
        while self.receive_event(until)? {}
        Ok(())
    }

    /// Receives one event more; whether any came in time.
    pub(crate) fn receive_event(&mut self, until: Instant) -> Result<bool, CommandError> {
        match self.socket.receive(until) {
            Ok(incoming) => self.handle(incoming).map(|()| true),
            Err(CommandError::Late) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Waits until every event that the browser process knew of when this was called has come.
    pub(crate) fn receive_known_events(&mut self, deadline: Instant) -> Result<(), CommandError> {
        self.command("Target.getTargetInfo", &json!({}), deadline).map(drop)
    }

    /// Sends the tab to `url`, and returns the id by which [`Self::navigated`] asks for the answer.
    pub(crate) fn navigate(&mut self, url: &str) -> Result<u64, CommandError> {
        self.world = None;
        self.send("Page.navigate", &json!({"url": url}))
    }

    /// The browser's answer to a navigation, in time or as [`CommandError::Late`].
    pub(crate) fn navigated(&mut self, navigation: u64, until: Instant) -> Result<Value, CommandError> {
        self.result(navigation, until)
    }

    /// Has the next document of the tab run the body of an async function from its beginning on, as
    /// [`Self::execute`] would, and report the result by itself: what is asked of a document while it loads
    /// is answered when it is next idle, which may be half of its load later.
    pub(crate) fn run_in_next_document(&mut self, body: &str, arguments: &Value) -> Result<(), CommandError> {
        let source = format!(
            "if (window === top && globalThis.{WORLD}) (async function () {{\n{body}\n}})(...{arguments})\
             .then((report) => {WORLD}(JSON.stringify(report)), () => {WORLD}(\"null\"));"
        );
        let binding = json!({"name": WORLD, "executionContextName": WORLD});
        let script = json!({"source": source, "worldName": WORLD});
        // The last answer says that all is done: it is waited for before the tab is sent to a document.
        self.send("Runtime.enable", &json!({}))?;
        self.send("Runtime.addBinding", &binding)?;
        self.send("Page.addScriptToEvaluateOnNewDocument", &script)?;
        (self.expects_report, self.report) = (true, None);
        Ok(())
    }

    /// Asks the host of `url` for something small, which it may not have: that it answers at all is an event of the
    /// name [`HOST_ANSWERED`]. The browser asks, without cookies, and no rule of the page's holds for that.
    pub(crate) fn ask_host(&mut self, url: &Url) -> Result<(), CommandError> {
        let Ok(small) = url.join("/robots.txt") else { return Ok(()) };
        let options = json!({"disableCache": true, "includeCredentials": false});
        let params = json!({"frameId": self.frame, "url": small.as_str(), "options": options});
        let id = self.send("Network.loadNetworkResource", &params)?;
        self.asked.insert(id, small);
        Ok(())
    }

    /// Whether a document is to report that [`Self::run_in_next_document`] was about.
    pub(crate) fn expects_report(&self) -> bool {
        self.expects_report
    }

    /// That report, if it comes in time.
    pub(crate) fn report(&mut self, until: Instant) -> Result<Option<Value>, CommandError> {
        while self.report.is_none() && self.receive_event(until)? {}
        Ok(self.report.take())
    }

    /// From here on the document is asked; what its scripts log is of no interest.
    pub(crate) fn end_reports(&mut self) -> Result<(), CommandError> {
        self.expects_report = false;
        self.send("Runtime.disable", &json!({})).map(drop)
    }

    /// Takes the answer to the last command as a sign of life, which has to come within `timeout`.
    /// Whatever is waited for from then on ends as [`CommandError::Stale`] if it does not.
    pub(crate) fn start_ping(&mut self, timeout: Duration) {
        self.socket.start_ping(timeout);
    }

    /// Waits for the answer to the ping, if it is still to come.
    pub(crate) fn wait_for_ping(&mut self) -> Result<(), CommandError> {
        while let Some(until) = self.socket.ping_ends() {
            let incoming = self.socket.receive(until)?;
            self.handle(incoming)?;
        }
        Ok(())
    }

    /// Runs the body of an async function in the page and returns its result.
    ///
    /// It runs in an isolated world: it sees the page's elements and none of its scripts, which
    /// could otherwise change what it finds.
    ///
    /// Returns the id by which [`Self::executed`] asks for the result.
    pub(crate) fn execute(&mut self, body: &str, arguments: &Value, deadline: Instant) -> Result<u64, CommandError> {
        let world = if let Some(world) = self.world.take() {
            world
        } else {
            let params = json!({"frameId": self.frame, "worldName": WORLD});
            self.command("Page.createIsolatedWorld", &params, deadline)?["executionContextId"].take()
        };
        let expression = format!("(async function () {{\n{body}\n}})(...{arguments})");
        let params = json!({"expression": expression, "contextId": world, "returnByValue": true, "awaitPromise": true});
        self.world = Some(world);
        self.send("Runtime.evaluate", &params)
    }

    /// The result of what [`Self::execute`] runs, in time or as [`CommandError::Late`]: then it may be asked for
    /// again.
    pub(crate) fn executed(&mut self, id: u64, until: Instant) -> Result<Value, CommandError> {
        let result = self.result(id, until).and_then(returned);
        if matches!(result, Err(CommandError::Failed(_))) {
            // The world goes with its document.
            self.world = None;
        }
        result
    }

    fn send(&mut self, method: &str, params: &Value) -> Result<u64, CommandError> {
        self.socket.send(None, method, params)
    }

    fn command(&mut self, method: &str, params: &Value, deadline: Instant) -> Result<Value, CommandError> {
        let id = self.send(method, params)?;
        self.result(id, deadline)
    }

    fn result(&mut self, id: u64, deadline: Instant) -> Result<Value, CommandError> {
        loop {
            let incoming = self.socket.receive(deadline)?;
            if incoming.id == Some(id) {
                return incoming.into_result();
            }
            self.handle(incoming)?;
        }
    }

    /// Handles a message that came during the wait for another.
    fn handle(&mut self, incoming: Incoming) -> Result<(), CommandError> {
        if let Some(url) = incoming.id.and_then(|id| self.asked.remove(&id)) {
            if incoming.into_result().is_ok_and(|answer| answer["resource"]["httpStatusCode"].is_u64()) {
                self.events.push(Event { method: HOST_ANSWERED.into(), params: json!({"url": url.as_str()}) });
            }
            return Ok(());
        }
        let Incoming { method, params, session, .. } = incoming;
        if self.history.follow(&method, &params) {
            self.send("Page.resetNavigationHistory", &json!({}))?;
        }
        if method == "Page.frameNavigated" && params["frame"]["id"] == *self.frame {
            self.page = params["frame"]["url"].as_str().unwrap_or_default().to_owned();
        }
        if method == "Fetch.requestPaused" {
            if let Some(loading) = &self.loading {
                let (answer, params) = loading.answer(&params, &self.page, &self.frame);
                self.socket.send(session.as_deref(), answer, &params)?;
            }
        } else if method == "Target.attachedToTarget" {
            let attached = params["sessionId"].as_str();
            if let Some(session) = attached.filter(|_| params["targetInfo"]["type"] == "iframe") {
                self.frames.push(session.to_owned());
            }
            self.decide_requests_of(attached)?;
            self.socket.send(attached, "Runtime.runIfWaitingForDebugger", &json!({}))?;
        } else if method == "Target.detachedFromTarget" {
            self.frames.retain(|session| params["sessionId"] != **session);
        } else if method == "Runtime.bindingCalled" {
            let report = || params["payload"].as_str().and_then(|json| serde_json::from_str(json).ok());
            self.report.get_or_insert_with(|| report().unwrap_or_default());
        } else if self.follows_frames && SIDE_EVENTS.contains(&method.as_str()) {
            if self.side_events.len() < MOST_SIDE_EVENTS {
                self.side_events.push(Event { method, params });
            }
        } else if method.starts_with("Network.") || method.starts_with("Page.") {
            self.events.push(Event { method, params });
        }
        Ok(())
    }
}

/// The value that a script returned, or its exception as an error.
pub(crate) fn returned(mut answer: Value) -> Result<Value, CommandError> {
    match answer["exceptionDetails"].take() {
        Value::Null => Ok(answer["result"]["value"].take()),
        thrown => {
            let words = thrown["exception"]["description"].as_str().or(thrown["text"].as_str());
            Err(CommandError::Failed(words.unwrap_or_default().to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard() -> HistoryGuard {
        HistoryGuard { frame: "T".into(), first: Some("1".into()), ..HistoryGuard::default() }
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
        // From the next document on, going back leads to this call's own.
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
