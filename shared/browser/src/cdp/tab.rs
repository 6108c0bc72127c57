//! A tab's DevTools socket: navigation, network events, and the scripts that read the page.

use std::{
    collections::HashMap,
    mem,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use ragmaker_address::Pattern;
use serde_json::{Value, json};
use url::Url;

use super::{
    history::HistoryGuard,
    socket::{Event, Incoming, Socket, returned},
};
use crate::{
    endpoint::Endpoint,
    error::CommandError,
    limits,
    loading::Loading,
    paused_response,
    responses::{Collector, JsonResponses, MAX_BODY, body_of},
};

/// The name of the isolated world that the page scripts run in, and of the binding that they report by.
const WORLD: &str = "tool";

/// The event of [`TabSocket::ask_host`]: the host of a `url` has answered.
pub(crate) const HOST_ANSWERED: &str = "Tool.hostAnswered";

/// The events that are kept while a call acts in a page.
const SIDE_EVENTS: [&str; 4] =
    ["Page.windowOpen", "Page.javascriptDialogOpening", "Page.downloadWillBegin", "Page.fileChooserOpened"];

/// The maximum number of these events.
const MAX_SIDE_EVENTS: usize = 100;

/// The socket of one tab. Its methods block, because a call reads one page and does nothing else.
pub(crate) struct TabSocket {
    socket: Socket,
    /// The outermost frame; its id is the tab's handle.
    frame: String,
    /// Events of page and network that were not taken yet.
    events: Vec<Event>,
    history: HistoryGuard,
    /// The isolated world of the current document, after the first script ran in it.
    world: Option<Value>,
    /// Whether a document will report without being asked.
    expects_report: bool,
    /// The report of the document.
    report: Option<Value>,
    /// The hosts that were probed, by the id of the command.
    asked: HashMap<u64, Url>,
    /// The rules for the page's requests, if there are any.
    loading: Option<Rc<Loading>>,
    /// Whether a PDF leaves the page as it is.
    keeps_page: bool,
    /// The URL of the current or pending page.
    page: String,
    /// The sessions of frames with separate processes, if frames are followed.
    frames: Vec<String>,
    /// Whether frames are followed.
    follows_frames: bool,
    /// The events in [`SIDE_EVENTS`], if frames are followed.
    side_events: Vec<Event>,
    /// The collector of the page's JSON responses, if they are collected.
    collector: Option<Collector>,
}

impl TabSocket {
    /// Connects to the tab with `handle`.
    pub(crate) fn connect(endpoint: &Endpoint, handle: &str, deadline: Instant) -> Result<Self, CommandError> {
        let mut socket = Socket::of_tab(endpoint, handle, deadline)?;
        // Enables crash events; the answer need not be waited for.
        socket.send(None, "Inspector.enable", &json!({}))?;
        socket.send(None, "Page.enable", &json!({}))?;
        // Bodies are not stored unless JSON answers are collected. Posted data is needed to distinguish
        // requests.
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
            keeps_page: false,
            page: String::new(),
            frames: vec![],
            follows_frames: false,
            side_events: vec![],
            collector: None,
        })
    }

    /// The outermost frame.
    pub(crate) fn frame(&self) -> &str {
        &self.frame
    }

    /// Takes the events of page and network since the last call of this method, in order.
    pub(crate) fn take_events(&mut self) -> Vec<Event> {
        mem::take(&mut self.events)
    }

    /// Starts to clear and watch the tab's history; `document` is the id of this call's document.
    pub(crate) fn guard_history(&mut self, document: Option<&str>) {
        self.history = HistoryGuard::new(&self.frame, document);
    }

    /// Whether the tab went back to a page of an earlier call.
    pub(crate) fn went_back(&self) -> bool {
        self.history.went_back()
    }

    /// Cancels the pending navigation, which delays every command to the current page.
    pub(crate) fn stop_loading(&mut self) -> Result<(), CommandError> {
        self.send("Page.stopLoading", &json!({})).map(drop)
    }

    /// Blocks all later requests to `hosts`.
    pub(crate) fn block(&mut self, hosts: &[&str]) -> Result<(), CommandError> {
        let patterns = hosts.iter().flat_map(|host| [format!("*://{host}/*"), format!("*://{host}:*/*")]);
        self.send("Network.setBlockedURLs", &json!({"urls": patterns.collect::<Vec<_>>()})).map(drop)
    }

    /// Collects the JSON answers that the tab's next pages receive from URLs that `pattern` matches.
    pub(crate) fn collect_json(&mut self, pattern: Arc<Pattern>) -> Result<(), CommandError> {
        self.collector = Some(Collector::new(pattern));
        // Scripts and style sheets take a part of the space until the bodies are read.
        let sizes = json!({
            "maxTotalBufferSize": 16 * MAX_BODY, "maxResourceBufferSize": 2 * MAX_BODY, "maxPostDataSize": 4096,
        });
        self.send("Network.enable", &sizes).map(drop)
    }

    /// Whether JSON answers are collected, for which a page must be loaded.
    pub(crate) fn collects_json(&self) -> bool {
        self.collector.is_some()
    }

    /// The collected JSON answers, after a wait for complete ones until `until`; `None` if none are collected.
    pub(crate) fn take_json(&mut self, until: Instant) -> Option<JsonResponses> {
        // A tab that has gone sends no more of them.
        while self.collector.as_ref().is_some_and(Collector::is_waiting)
            && matches!(self.receive_event(until), Ok(true))
        {}
        self.collector.take().map(Collector::into_collected)
    }

    /// Lets `loading` decide about all later requests of the tab's pages.
    pub(crate) fn decide_requests(&mut self, loading: Rc<Loading>) -> Result<(), CommandError> {
        self.loading = Some(loading);
        self.decide_requests_of(None)
    }

    /// Sets whether a PDF leaves the page as it is and is a download, from the next decision about requests on.
    pub(crate) fn keep_page(&mut self, keeps: bool) {
        self.keeps_page = keeps;
    }

    /// The same for the tab's own process or for a `session`. A frame of another site has its own process,
    /// which is paused until this is done. Workers are paused as well, because the browser pauses all new
    /// targets.
    fn decide_requests_of(&mut self, session: Option<&str>) -> Result<(), CommandError> {
        let mut patterns = self.loading.as_ref().and_then(|loading| loading.patterns());
        if self.keeps_page && session.is_none() {
            patterns.get_or_insert_default().push(paused_response::pattern());
        }
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

    /// Starts to follow frames with separate processes, and to keep the events in [`SIDE_EVENTS`]. `loading`
    /// decides about requests, also on a page of an earlier call.
    pub(crate) fn follow_frames(&mut self, loading: Rc<Loading>, until: Instant) -> Result<(), CommandError> {
        (self.loading, self.follows_frames) = (Some(loading), true);
        self.decide_requests_of(None)?;
        // The browser reports existing frames before it answers the next command.
        self.command("Target.getTargetInfo", &json!({}), until).map(drop)
    }

    /// The sessions of the frames with processes of their own.
    pub(crate) fn frames(&self) -> &[String] {
        &self.frames
    }

    /// Takes the events in [`SIDE_EVENTS`] since the last call of this method.
    pub(crate) fn take_side_events(&mut self) -> Vec<Event> {
        mem::take(&mut self.side_events)
    }

    /// Sends a command to the page or to the `session` of a frame, and returns the answer.
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
            // A removed frame does not answer.
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

    /// Sends several commands to the page together, and returns the answer to the last one. A mouse or key event
    /// that removes its own frame may never be answered.
    pub(crate) fn ask_all(&mut self, commands: &[(&str, Value)], until: Instant) -> Result<Value, CommandError> {
        let sent: Result<Vec<_>, _> =
            commands.iter().map(|(method, params)| self.socket.send(None, method, params)).collect();
        let Some(last) = sent?.last().copied() else { return Ok(Value::Null) };
        let frames = self.frames.clone();
        let mut until = until;
        loop {
            let is_any_gone = frames.iter().any(|frame| !self.frames.contains(frame));
            if is_any_gone {
                until = until.min(Instant::now() + limits::FRAME_GONE_TIMEOUT);
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

    /// Sends several commands to the page at once, and returns the answer to each; none for one that failed.
    pub(crate) fn ask_each(
        &mut self,
        commands: &[(&str, Value)],
        until: Instant,
    ) -> Result<Vec<Option<Value>>, CommandError> {
        let sent: Result<Vec<_>, _> = commands.iter().map(|(method, params)| self.send(method, params)).collect();
        let (sent, mut answers) = (sent?, vec![None; commands.len()]);
        let mut open = sent.len();
        while open > 0 {
            let incoming = self.socket.receive(until)?;
            match sent.iter().zip(&mut answers).find(|(id, _)| incoming.id == Some(**id)) {
                Some((_, answer)) => {
                    *answer = incoming.into_result().ok();
                    open -= 1;
                }
                None => self.handle(incoming)?,
            }
        }
        Ok(answers)
    }

    /// Waits for `time` while receiving events.
    pub(crate) fn listen(&mut self, time: Duration) -> Result<(), CommandError> {
        let until = Instant::now() + time;
        while self.receive_event(until)? {}
        Ok(())
    }

    /// Receives one more event; returns whether one came in time.
    pub(crate) fn receive_event(&mut self, until: Instant) -> Result<bool, CommandError> {
        match self.socket.receive(until) {
            Ok(incoming) => self.handle(incoming).map(|()| true),
            Err(CommandError::Late) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Waits until all events have been received that the browser process knew of at the time of the call.
    pub(crate) fn receive_known_events(&mut self, deadline: Instant) -> Result<(), CommandError> {
        self.command("Target.getTargetInfo", &json!({}), deadline).map(drop)
    }

    /// Starts a navigation to `url`, and returns the id for [`Self::navigated`].
    pub(crate) fn navigate(&mut self, url: &str) -> Result<u64, CommandError> {
        self.world = None;
        self.send("Page.navigate", &json!({"url": url}))
    }

    /// The browser's answer to a navigation; [`CommandError::Late`] after the deadline.
    pub(crate) fn navigated(&mut self, navigation: u64, until: Instant) -> Result<Value, CommandError> {
        self.result(navigation, until)
    }

    /// Lets the next document run the body of an async function from its start, as [`Self::execute`] would, and
    /// report the result by itself. A command to a loading document is answered only when the document is idle,
    /// which may be half of the load time later.
    pub(crate) fn run_in_next_document(&mut self, body: &str, arguments: &Value) -> Result<(), CommandError> {
        let source = format!(
            "if (window === top && globalThis.{WORLD}) (async function () {{\n{body}\n}})(...{arguments})\
             .then((report) => {WORLD}(JSON.stringify(report)), () => {WORLD}(\"null\"));"
        );
        let binding = json!({"name": WORLD, "executionContextName": WORLD});
        let script = json!({"source": source, "worldName": WORLD});
        // The last answer confirms all commands; it is waited for before the navigation.
        self.send("Runtime.enable", &json!({}))?;
        self.send("Runtime.addBinding", &binding)?;
        self.send("Page.addScriptToEvaluateOnNewDocument", &script)?;
        (self.expects_report, self.report) = (true, None);
        Ok(())
    }

    /// Sends a small request to the host of `url`. Any response is reported as the event [`HOST_ANSWERED`]. The
    /// browser sends the request without cookies, and the page's content security policy does not apply.
    pub(crate) fn ask_host(&mut self, url: &Url) -> Result<(), CommandError> {
        let Ok(small) = url.join("/robots.txt") else { return Ok(()) };
        let options = json!({"disableCache": true, "includeCredentials": false});
        let params = json!({"frameId": self.frame, "url": small.as_str(), "options": options});
        let id = self.send("Network.loadNetworkResource", &params)?;
        self.asked.insert(id, small);
        Ok(())
    }

    /// Whether a report of [`Self::run_in_next_document`] is pending.
    pub(crate) fn expects_report(&self) -> bool {
        self.expects_report
    }

    /// The report, if it comes in time.
    pub(crate) fn report(&mut self, until: Instant) -> Result<Option<Value>, CommandError> {
        while self.report.is_none() && self.receive_event(until)? {}
        Ok(self.report.take())
    }

    /// Ends the reports of documents, and stops the events of their console.
    pub(crate) fn end_reports(&mut self) -> Result<(), CommandError> {
        self.expects_report = false;
        self.send("Runtime.disable", &json!({})).map(drop)
    }

    /// Makes the last command a ping that must be answered within `timeout`. Later waits fail with
    /// [`CommandError::Unresponsive`] when the time is over.
    pub(crate) fn start_ping(&mut self, timeout: Duration) {
        self.socket.start_ping(timeout);
    }

    /// Waits for the answer to the pending ping, if any.
    pub(crate) fn wait_for_ping(&mut self) -> Result<(), CommandError> {
        while let Some(until) = self.socket.ping_ends() {
            let incoming = self.socket.receive(until)?;
            self.handle(incoming)?;
        }
        Ok(())
    }

    /// Runs the body of an async function in the page and returns its result.
    ///
    /// It runs in an isolated world, which shares the page's elements but not its scripts, so these cannot
    /// change the result.
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

    /// The result of a script of [`Self::execute`]; [`CommandError::Late`] after the deadline, and then it may
    /// be requested again.
    pub(crate) fn executed(&mut self, id: u64, until: Instant) -> Result<Value, CommandError> {
        let result = self.result(id, until).and_then(returned);
        if matches!(result, Err(CommandError::Failed(_))) {
            // The world ends with its document.
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

    /// Handles a message that was received while waiting for another one.
    fn handle(&mut self, incoming: Incoming) -> Result<(), CommandError> {
        if let Some(url) = incoming.id.and_then(|id| self.asked.remove(&id)) {
            if incoming.into_result().is_ok_and(|answer| answer["resource"]["httpStatusCode"].is_u64()) {
                self.events.push(Event { method: HOST_ANSWERED.into(), params: json!({"url": url.as_str()}) });
            }
            return Ok(());
        }
        if let (Some(id), Some(collector)) = (incoming.id, &mut self.collector)
            && collector.awaits(id)
        {
            collector.receive(id, incoming.into_result().ok().as_ref());
            return Ok(());
        }
        let Incoming { method, params, session, .. } = incoming;
        if let Some(collector) = self.collector.as_mut().filter(|_| session.is_none())
            && let Some(request) = collector.follow(&method, &params)
        {
            let (command, body) = body_of(&request);
            let id = self.socket.send(None, command, &body)?;
            collector.mark_requested(id, &request);
        }
        if self.history.follow(&method, &params) {
            self.send("Page.resetNavigationHistory", &json!({}))?;
        }
        if method == "Page.frameNavigated" && params["frame"]["id"] == *self.frame {
            self.page = params["frame"]["url"].as_str().unwrap_or_default().to_owned();
        }
        let is_response = method == "Fetch.requestPaused" && params["responseStatusCode"].is_u64();
        if is_response && self.keeps_page {
            let (answer, answered, download) = paused_response::answer(&params, &self.frame);
            self.socket.send(session.as_deref(), answer, &answered)?;
            let event = |params| Event { method: "Page.downloadWillBegin".into(), params };
            self.side_events.extend(download.map(event));
        } else if is_response {
            // A response, whose body is taken.
            self.events.push(Event { method, params });
        } else if method == "Fetch.requestPaused" {
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
            if self.side_events.len() < MAX_SIDE_EVENTS {
                self.side_events.push(Event { method, params });
            }
        } else if method.starts_with("Network.") || method.starts_with("Page.") {
            self.events.push(Event { method, params });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
