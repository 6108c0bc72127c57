//! Debugging sockets: the browser's own, for what must work when no driver does, and one of a tab,
//! for reading its page.
//!
//! The driver serializes what it is asked and waits for pages that do not answer; the browser
//! process itself does neither. So tabs are opened and closed over the browser's own socket, and
//! the browser is asked to quit there: cleanly, with cookies written, whatever became of driver and
//! pages.
//!
//! WebDriver launches the browser and readies its tabs; a tab is sent to its page, and the page read, over
//! the tab's own socket. A script that is run through ChromeDriver while a page loads comes back with the
//! page's load doubled (`cargo xtask bench browser`), for the driver wraps every script in its own and follows
//! each event of the page; and a session that begins waits for some page that is on its way, whichever it is.

use std::{
    fs, io, mem,
    net::{Ipv4Addr, SocketAddr, TcpStream},
    path::Path,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{Value, json};
use tungstenite::{Error, HandshakeError, Message, WebSocket, protocol::WebSocketConfig};

use crate::{driver::Trouble, network::Network, profile::Running};

/// How long the browser process may take for its own commands. It is never busy with pages.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// How long the tabs of a browser that is to quit may take to close.
const TABS_CLOSE: Duration = Duration::from_millis(300);

/// How long it may take from a document's load event until all that is to follow on it is known.
const LOAD_ENDS: Duration = Duration::from_millis(200);

/// The longest event of the network that is read, in bytes: longer are those of images that stand in the
/// page itself, with all of their data.
const LONGEST_EVENT: usize = 1 << 20;

/// What the browser sends: the result of a command, or an event.
#[derive(Deserialize)]
struct Received {
    id: Option<u64>,
    method: Option<String>,
    /// The session that an event is of, where one connection has several.
    #[serde(rename = "sessionId")]
    session: Option<String>,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Value,
    error: Option<Failure>,
}

#[derive(Deserialize)]
struct Failure {
    message: String,
}

/// What a tab showed before the document that a call has it go to: pages of earlier calls, which nothing may
/// lead back to.
#[derive(Default)]
struct Past {
    /// The tab's outermost frame, the document in it that is to be the first, and whether that is shown.
    frame: String,
    first: Option<String>,
    at_first: bool,
    /// Whether a page went back: to one of those, or to the empty page that a new tab begins with.
    led_back: bool,
}

/// A connection that commands are given over, one at a time.
struct Socket {
    stream: WebSocket<TcpStream>,
    /// The number of the last command.
    last: u64,
    /// The question whether anybody is there: its number, and when it has to be answered.
    pulse: Option<(u64, Instant)>,
    /// Events that came while something else was waited for.
    events: Vec<Received>,
    /// What a document has told meanwhile.
    told: Option<Value>,
    past: Past,
}

impl Socket {
    /// Connects to the socket at `path` of the running browser, and to that of no other: the path
    /// holds a name that only this browser has.
    fn connect(running: &Running, path: &str, deadline: Instant) -> Result<Self, Trouble> {
        let patience = deadline.saturating_duration_since(Instant::now()).min(PATIENCE);
        if patience.is_zero() {
            return Err(Trouble::Late);
        }
        let unreached = |error: &io::Error| if is_late(error) { Trouble::Late } else { Trouble::Gone };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, running.debug_port));
        let stream = TcpStream::connect_timeout(&address, patience).map_err(|error| unreached(&error))?;
        let prepared = stream
            .set_nodelay(true)
            .and_then(|()| stream.set_read_timeout(Some(patience)))
            .and_then(|()| stream.set_write_timeout(Some(PATIENCE)));
        prepared.map_err(|_| Trouble::Gone)?;
        // A page may be larger than what a stranger should be allowed to send.
        let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let request = format!("ws://{address}{path}");
        let shaken = tungstenite::client::client_with_config(request, stream, Some(config));
        let (stream, _) = shaken.map_err(|error| match error {
            HandshakeError::Interrupted(_) => Trouble::Late,
            HandshakeError::Failure(Error::Io(error)) => unreached(&error),
            HandshakeError::Failure(_) => Trouble::Gone,
        })?;
        Ok(Self { stream, last: 0, pulse: None, events: vec![], told: None, past: Past::default() })
    }

    /// Gives a command without waiting for its result, and returns its number.
    fn send(&mut self, method: &str, params: &Value) -> Result<u64, Trouble> {
        self.send_to(None, method, params)
    }

    /// Gives a command to one of the connection's sessions.
    fn send_to(&mut self, session: Option<&str>, method: &str, params: &Value) -> Result<u64, Trouble> {
        self.last += 1;
        let mut command = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = session {
            command["sessionId"] = session.into();
        }
        self.stream.send(Message::text(command.to_string())).map_err(|_| Trouble::Gone)?;
        Ok(self.last)
    }

    /// Gives a command and waits for its result.
    fn command(&mut self, method: &str, params: &Value, deadline: Instant) -> Result<Value, Trouble> {
        let id = self.send(method, params)?;
        self.result(id, deadline)
    }

    /// Waits for the result of command `id`.
    fn result(&mut self, id: u64, deadline: Instant) -> Result<Value, Trouble> {
        loop {
            let received = self.receive(deadline)?;
            if received.id == Some(id) {
                return match received.error {
                    None => Ok(received.result),
                    Some(failure) => Err(Trouble::Failed(failure.message)),
                };
            }
            self.keep(received)?;
        }
    }

    /// Receives one thing more and keeps it if it is an event; whether anything came until then.
    fn hear(&mut self, until: Instant) -> Result<bool, Trouble> {
        match self.receive(until) {
            Ok(received) => self.keep(received).map(|()| true),
            Err(Trouble::Late) => Ok(false),
            Err(trouble) => Err(trouble),
        }
    }

    fn keep(&mut self, received: Received) -> Result<(), Trouble> {
        let Past { frame, first, at_first, led_back } = &mut self.past;
        let (method, params) = (received.method.as_deref().unwrap_or_default(), &received.params);
        let navigated = method == "Page.frameNavigated" && params["frame"]["id"] == *frame;
        if navigated {
            *at_first = params["frame"]["loaderId"].as_str() == first.as_deref();
        }
        let back = method == "Page.frameStartedNavigating" && params["navigationType"] == "historyDifferentDocument";
        *led_back |= back && *at_first && params["frameId"] == *frame;
        // The browser may not know yet that the document has come, and would forget all but the one before.
        let again = matches!(method, "Page.domContentEventFired" | "Page.loadEventFired");
        if *at_first && (navigated || again) {
            self.send("Page.resetNavigationHistory", &json!({}))?;
        }
        if method == "Runtime.bindingCalled" && self.told.is_none() {
            self.told = Some(received.told());
        } else if received.is_of_the_network() {
            self.events.push(received);
        }
        Ok(())
    }

    /// The next thing that the browser sends.
    fn receive(&mut self, deadline: Instant) -> Result<Received, Trouble> {
        let Some((id, until)) = self.pulse else { return self.read(deadline) };
        let received = match self.read(deadline.min(until)) {
            Err(Trouble::Late) if Instant::now() < until => return Err(Trouble::Late),
            Err(_) => return Err(Trouble::Stale),
            Ok(received) => received,
        };
        if received.id == Some(id) {
            self.pulse = None;
        }
        Ok(received)
    }

    fn read(&mut self, deadline: Instant) -> Result<Received, Trouble> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Trouble::Late);
            }
            self.stream.get_ref().set_read_timeout(Some(left)).map_err(|_| Trouble::Gone)?;
            let message = match self.stream.read() {
                Ok(message) => message,
                Err(Error::Io(error)) if is_late(&error) => continue,
                Err(_) => return Err(Trouble::Gone),
            };
            let text = message.to_text().unwrap_or_default();
            if text.len() > LONGEST_EVENT && text.starts_with(r#"{"method":"Network."#) {
                continue;
            }
            match serde_json::from_str::<Received>(text) {
                Ok(received) if received.crashed() => return Err(Trouble::Crashed),
                Ok(received) => return Ok(received),
                Err(_) => {}
            }
        }
    }
}

/// Whether something did not come in time; how a system words that differs.
fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

impl Received {
    fn crashed(&self) -> bool {
        self.method.as_deref() == Some("Inspector.targetCrashed")
            || self.error.as_ref().is_some_and(|failure| failure.message.contains("crashed"))
    }

    /// What a document tells by it.
    fn told(&self) -> Value {
        self.params["payload"].as_str().and_then(|told| serde_json::from_str(told).ok()).unwrap_or_default()
    }

    /// Whether it tells something of the page's network.
    fn is_of_the_network(&self) -> bool {
        self.method.as_deref().is_some_and(|name| name.starts_with("Network.") || name.starts_with("Page."))
    }
}

/// The browser's own socket.
pub(crate) struct DevTools {
    socket: Socket,
    deadline: Instant,
}

/// Where the browser on the profile in `folder` listens: its port and the path of its socket.
pub(crate) fn endpoint(folder: &Path) -> Option<(u16, String)> {
    let text = fs::read_to_string(folder.join("DevToolsActivePort")).ok()?;
    let (port, path) = text.trim_end().split_once('\n')?;
    Some((port.parse().ok()?, path.to_owned()))
}

impl DevTools {
    /// Connects to the browser, for commands that all have to be done by the deadline.
    pub(crate) fn connect(running: &Running, deadline: Instant) -> Result<Self, Trouble> {
        Ok(Self { socket: Socket::connect(running, &running.debug_path, deadline)?, deadline })
    }

    fn command(&mut self, method: &str, params: &Value) -> Result<Value, Trouble> {
        self.socket.command(method, params, self.deadline)
    }

    /// Answers every dialog that a page opens, until the browser is gone, as `js/watch.js` does in the
    /// documents that it runs in. Those are not all: a frame of another site has a process of its own. An open
    /// dialog holds up its tab, and the driver with it, and so every call that wants a new tab.
    pub(crate) fn answer_dialogs(mut self) {
        let pages =
            json!({"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true, "filter": [{"type": "page"}]});
        let mut sent = self.socket.send("Target.setAutoAttach", &pages);
        while !matches!(sent, Err(Trouble::Gone)) {
            let received = match self.socket.read(Instant::now() + Duration::from_hours(1)) {
                Ok(received) => received,
                Err(Trouble::Gone) => return,
                Err(_) => continue,
            };
            let session = received.session.as_deref();
            sent = match received.method.as_deref() {
                Some("Target.attachedToTarget") => {
                    self.socket.send_to(received.params["sessionId"].as_str(), "Page.enable", &json!({}))
                }
                Some("Page.javascriptDialogOpening") => {
                    let answer = json!({"accept": received.params["type"] != "prompt"});
                    self.socket.send_to(session, "Page.handleJavaScriptDialog", &answer)
                }
                _ => continue,
            };
        }
    }

    /// Opens an empty tab in a window of its own, so that it is never in the background, and
    /// returns its handle.
    pub(crate) fn open_tab(&mut self, window: bool) -> Result<String, Trouble> {
        let opened = self.command("Target.createTarget", &json!({"url": "about:blank", "newWindow": window}))?;
        opened["targetId"].as_str().map(str::to_owned).ok_or(Trouble::Gone)
    }

    /// Closes a tab at once, however busy its page is. The last one is replaced by an empty one
    /// first: a browser without tabs quits.
    pub(crate) fn close_tab(&mut self, handle: &str) -> Result<(), Trouble> {
        if self.tabs()?.iter().all(|tab| tab == handle) {
            self.open_tab(false)?;
        }
        self.command("Target.closeTarget", &json!({"targetId": handle})).map(drop)
    }

    /// The handles of all open tabs.
    pub(crate) fn tabs(&mut self) -> Result<Vec<String>, Trouble> {
        Ok(self.addresses()?.into_iter().map(|(handle, _)| handle).collect())
    }

    /// The handle and the address of every open tab.
    pub(crate) fn addresses(&mut self) -> Result<Vec<(String, String)>, Trouble> {
        let targets = self.command("Target.getTargets", &json!({"filter": [{"type": "page"}]}))?;
        let infos = targets["targetInfos"].as_array().into_iter().flatten();
        let text = |info: &Value, key: &str| info[key].as_str().map(str::to_owned);
        Ok(infos.filter_map(|info| Some((text(info, "targetId")?, text(info, "url")?))).collect())
    }

    /// Asks the browser to quit as a person would. Its tabs are left empty: the browser opens
    /// again what was open, which is how it keeps session cookies. Returns whether they are: a page that is
    /// busy does not let its tab go.
    pub(crate) fn quit(mut self) -> Result<bool, Trouble> {
        let open = self.tabs()?;
        self.open_tab(false)?;
        for handle in open {
            self.command("Target.closeTarget", &json!({"targetId": handle}))?;
        }
        let until = Instant::now() + TABS_CLOSE;
        let mut emptied = self.tabs()?.len() == 1;
        while !emptied && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
            emptied = self.tabs()?.len() == 1;
        }
        self.command("Browser.close", &json!({})).map(|_| emptied)
    }
}

/// The socket of one tab. It blocks: a call looks at one page and does nothing else meanwhile.
pub(crate) struct TabSocket {
    socket: Socket,
    network: Network,
    /// Where scripts run in the document that is shown, once one has.
    world: Option<Value>,
    /// Whether a document is to tell something without being asked.
    expecting: bool,
}

/// The name of the world that the tools' scripts run in, and of what they call there to tell something.
const WORLD: &str = "tool";

impl TabSocket {
    /// Connects to the tab with `handle`.
    pub(crate) fn connect(running: &Running, handle: &str, deadline: Instant) -> Result<Self, Trouble> {
        let mut socket = Socket::connect(running, &format!("/devtools/page/{handle}"), deadline)?;
        // To be told of a crash; nobody has to wait for the word that this will be.
        socket.send("Inspector.enable", &json!({}))?;
        socket.send("Page.enable", &json!({}))?;
        // What comes is not kept: nobody asks for it again. What is sent tells one question from another.
        socket.send(
            "Network.enable",
            &json!({"maxTotalBufferSize": 0, "maxResourceBufferSize": 0, "maxPostDataSize": 4096}),
        )?;
        // The outermost frame is called as the tab is.
        Ok(Self { socket, network: Network::of(handle), world: None, expecting: false })
    }

    /// The network of the tab, as far as is known by now.
    pub(crate) fn network(&mut self) -> &Network {
        for event in self.socket.events.drain(..) {
            self.network.take_in(event.method.as_deref().unwrap_or_default(), &event.params);
        }
        &self.network
    }

    /// Says which request the tab was sent on, as the first thing after that.
    pub(crate) fn go_to(&mut self, request: Option<&str>) {
        self.network.go_to(request);
        let (frame, first) = (self.network.frame().to_owned(), request.map(str::to_owned));
        self.socket.past = Past { frame, first, ..Past::default() };
    }

    /// Whether the tab shows, or is about to show, where a page of an earlier call led, or such a page itself.
    pub(crate) fn is_astray(&mut self) -> bool {
        self.network().is_astray() || self.socket.past.led_back
    }

    /// Gives up what the tab is on its way to, which holds up whatever is asked of the page that shows.
    pub(crate) fn stay(&mut self) -> Result<(), Trouble> {
        self.socket.send("Page.stopLoading", &json!({})).map(drop)
    }

    /// Leaves the page alone for `time`, and hears what its network does meanwhile.
    pub(crate) fn listen(&mut self, time: Duration) -> Result<(), Trouble> {
        let until = Instant::now() + time;
        while self.socket.hear(until)? {}
        Ok(())
    }

    /// Waits until all that the browser process knew of the network when this was called is known here.
    pub(crate) fn catch_up(&mut self, deadline: Instant) -> Result<(), Trouble> {
        self.socket.command("Target.getTargetInfo", &json!({}), deadline).map(drop)
    }

    /// Says that the tab is going to show another document.
    fn leave_document(&mut self) {
        self.world = None;
    }

    /// Has the tab go to `url`, and returns the number by which to ask what the browser says to that.
    pub(crate) fn navigate(&mut self, url: &str) -> Result<u64, Trouble> {
        self.leave_document();
        self.socket.send("Page.navigate", &json!({"url": url}))
    }

    /// What the browser says to a navigation, if it does until then.
    pub(crate) fn navigated(&mut self, navigation: u64, until: Instant) -> Result<Value, Trouble> {
        self.socket.result(navigation, until)
    }

    /// Has the next document of the tab run the body of an async function from its beginning on, as
    /// [`Self::execute`] would, and tell the result by itself: what is asked of a document while it loads
    /// is answered when it is next at leisure, which may be half of its load later.
    pub(crate) fn expect(&mut self, body: &str, arguments: &Value) -> Result<(), Trouble> {
        let source = format!(
            "if (window === top && globalThis.{WORLD}) (async function () {{\n{body}\n}})(...{arguments})\
             .then((told) => {WORLD}(JSON.stringify(told)), () => {WORLD}(\"null\"));"
        );
        let tell = json!({"name": WORLD, "executionContextName": WORLD});
        let script = json!({"source": source, "worldName": WORLD});
        // The last answer says that all is done: it is waited for before the tab is sent to a document.
        self.socket.send("Runtime.enable", &json!({}))?;
        self.socket.send("Runtime.addBinding", &tell)?;
        self.socket.send("Page.addScriptToEvaluateOnNewDocument", &script)?;
        (self.expecting, self.socket.told) = (true, None);
        Ok(())
    }

    /// What the document tells that [`Self::expect`] was about, if it does until then; once.
    pub(crate) fn told(&mut self, until: Instant) -> Result<Option<Value>, Trouble> {
        if !mem::take(&mut self.expecting) {
            return Ok(None);
        }
        while self.socket.told.is_none() && self.socket.hear(until)? {}
        let told = self.socket.told.take();
        // From here on it is asked; what its scripts log is of no interest.
        self.socket.send("Runtime.disable", &json!({}))?;
        Ok(told)
    }

    /// Waits until the load event of a page that has told that it is loaded is over, and what the browser does
    /// then is known: a page that `refreshes` leads to another one.
    pub(crate) fn outwait_load(&mut self, refreshes: bool) -> Result<(), Trouble> {
        let end = Instant::now() + LOAD_ENDS;
        while !self.network().loaded(refreshes) && self.socket.hear(end)? {}
        Ok(())
    }

    /// Takes the answer to what was asked of the tab last for a sign of life, which has to come within
    /// `time`. Whatever is waited for from then on ends as [`Trouble::Stale`] if it does not.
    pub(crate) fn feel_pulse(&mut self, time: Duration) {
        self.socket.pulse = Some((self.socket.last, Instant::now() + time));
    }

    /// Waits for the sign of life, if it is still to come.
    pub(crate) fn wait_for_pulse(&mut self) -> Result<(), Trouble> {
        while let Some((_, until)) = self.socket.pulse {
            let received = self.socket.receive(until)?;
            self.socket.keep(received)?;
        }
        Ok(())
    }

    /// Runs the body of an async function in the page and returns its result.
    ///
    /// It runs in a world of its own: it sees the page's elements and none of its scripts, which
    /// could otherwise change what it finds.
    pub(crate) fn execute(&mut self, body: &str, arguments: &Value, deadline: Instant) -> Result<Value, Trouble> {
        let result = self.evaluate(body, arguments, deadline);
        if matches!(result, Err(Trouble::Failed(_))) {
            // The world goes with its document.
            self.leave_document();
        }
        result
    }

    fn evaluate(&mut self, body: &str, arguments: &Value, deadline: Instant) -> Result<Value, Trouble> {
        let world = if let Some(world) = self.world.take() {
            world
        } else {
            let params = json!({"frameId": self.network.frame(), "worldName": WORLD});
            self.socket.command("Page.createIsolatedWorld", &params, deadline)?["executionContextId"].take()
        };
        let expression = format!("(async function () {{\n{body}\n}})(...{arguments})");
        let params = json!({"expression": expression, "contextId": world, "returnByValue": true, "awaitPromise": true});
        self.world = Some(world);
        let mut answer = self.socket.command("Runtime.evaluate", &params, deadline)?;
        match answer["exceptionDetails"].take() {
            Value::Null => Ok(answer["result"]["value"].take()),
            thrown => {
                let words = thrown["exception"]["description"].as_str().or(thrown["text"].as_str());
                Err(Trouble::Failed(words.unwrap_or_default().to_owned()))
            }
        }
    }
}
