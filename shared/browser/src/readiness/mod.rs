//! Page readiness: the wait until the page's own content is complete.
//!
//! The page is polled until one of these conditions ends the wait; [`Ready`] names it:
//!
//! - `selector`: an element matches the selector of the call. A call with a selector uses no other condition; if no
//!   element matches in time, it fails with [`SELECTOR_NOT_FOUND`].
//! - `idle`: document and network are idle, and no timer or worker that could add content is pending.
//! - `content`: the content no longer changes, and the open requests cannot add content: images, fonts, connections for
//!   updates, or, if the page has text, requests to other sites.
//! - `cap`: the total time limit has passed ([`limits`]), or a request that could add content has exceeded its own
//!   limit.
//!
//! [`WaitOutcome`] also lists the hosts of the open requests. Repeated requests of a polling page are not counted.
//!
//! ```text
//!            navigate                      first report, or a look at the page
//!   tab ----------------> the document runs the page script -----------------+
//!                                                                            v
//!     +----------------------------- wait ------------------------------- its state
//!     |   (network busy: until it is not; else a pause)                      |
//!     |                                                                      | idle, stalled, selector
//!     |            network busy, page to be replaced                         v
//!     +<--------------------------------------------------------- state of the network
//!                                                                            |
//!                                                       idle, open as `content`, stalled as `cap`
//!                                                                            v
//!                                                                   facts and content
//! ```
//!
//! Three observers provide the facts. None of them can see what the others see:
//!
//! | observer | sees | result |
//! |---|---|---|
//! | `js/watch.js`, in the page's own world | timers, workers, mutations, animations | pending activities, last change |
//! | `js/page-state.js`, in an isolated world | the document, its text | `wait`, `idle`, `stalled`, `selector` |
//! | [`network`], from the tab's events | requests, redirects, refreshes | idle, open, busy, stalled |
//!
//! For each open request, the first row that applies decides how long it is waited for. A name in code is a time limit:
//!
//! | open request | in a page with text | in a page with little text |
//! |---|---|---|
//! | polling: the same request, or the same address, repeatedly | not counted | not counted |
//! | images, fonts, media, beacons; an `EventSource` or `WebSocket` after its first message | open | open |
//! | a style sheet; an `EventSource` or `WebSocket` without a message | `style`, `push`, then open | the same |
//! | any request to a silent host of another site (below) | open | `cap` after `probe_timeout_sparse` |
//! | data of another site that has added nothing to this page before | `other_data`, then open | `data` |
//! | data, code, frames of the own site, or of one that added something | `data`, `body`, `code`, then `cap` | longer |
//!
//! "Open" means that the page is not waited for because of this request; a page that is ready otherwise is `content`.
//!
//! **Silent hosts.** A dead host and a slow host cannot be distinguished until one of them answers. So a host of
//! another site that has not answered for `probe_after` is probed: its `/robots.txt` is requested. A live host answers
//! such a small request at once, even if the page's request takes longer, and is waited for. A host that does not
//! answer in time is silent. The page's own server is probed at the same time, and its answer sets the time limit: on a
//! busy machine all answers are late, and a late answer does not mean a dead host. Each tab remembers silent hosts for
//! some minutes ([`SilentHosts`]) and hardly waits for them again.
//!
//! **Activity without new content.** A successful answer restarts the idle time of the page, and so does a timer, for a
//! limited time. A failed request to another host, or an answer as long as the one before, does not restart it. In a
//! page with text, the timers that cause such a request or follow on it do not restart it either.
//!
//! **A blocked parser.** A script or style sheet of a silent host, placed before the page's own text, blocks the
//! parser. The protocol cannot end a single request. So the page is loaded again without that host
//! ([`WaitResult::Blocked`]).
//!
//! Measured on 66 saved pages whose third parties accept connections and never answer, on two busy cores: with fixed
//! limits and without probes, `browser-extract` took 1.7 s in the median and 17.1 s at p90. With probes, it takes 0.9 s
//! and 1.5 s, and finds the same words.
//!
//! All time limits are in one table, [`limits`]; the page scripts receive theirs as arguments. The script run that
//! finds the page ready also returns the content, so the page cannot change between the two.

mod after_step;
mod network;
mod script;

use std::time::{Duration, Instant};

use ragmaker_address::URL_NOT_ALLOWED;
use ragmaker_tool::{ARGUMENT_ERROR, Error};
use serde::Deserialize;
use serde_json::Value;
use url::{Host, Url};

pub(crate) use self::{
    after_step::PageAfterStep,
    network::{Network, NetworkState, SilentHosts, TextDensity},
    script::{PageScript, RequestedContent, watch_script},
};
use crate::limits::LIMITS;
use crate::{
    cdp::TabSocket,
    codes::SELECTOR_NOT_FOUND,
    error::{CommandError, Failure, navigation_failed},
    facts::Facts,
    page::{Ready, WaitOutcome},
};

/// A page that is ready.
pub(crate) struct ReadyPage {
    pub(crate) outcome: WaitOutcome,
    pub(crate) facts: Facts,
    /// The content, as returned by the page script.
    pub(crate) content: Value,
}

/// The result of a wait.
pub(crate) enum WaitResult {
    /// The page is ready.
    Ready(Box<ReadyPage>),
    /// The parser waits for silent hosts of other sites. The page must be loaded without them.
    Blocked(Vec<Host>),
}

/// The state of a page according to `js/page-state.js`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    Wait,
    Parsing,
    Idle,
    Stalled,
    Selector,
    BadSelector,
    BadContentSelector,
}

/// The answer of the page script; empty if the page gave none.
#[derive(Debug, Default)]
struct ScriptAnswer {
    state: Option<State>,
    facts: Value,
    content: Value,
}

impl ScriptAnswer {
    fn of(mut answer: Value) -> Self {
        let state = State::deserialize(&answer[0]).ok();
        if !answer.is_array() {
            return Self::default();
        }
        let mut take = |index: usize| answer.get_mut(index).map(Value::take).unwrap_or_default();
        Self { state, facts: take(1), content: take(2) }
    }

    fn says(&self, fact: &str) -> bool {
        self.facts[fact] == true
    }
}

/// The wait for the page in one tab.
pub(crate) struct Readiness<'a> {
    pub(crate) socket: &'a mut TabSocket,
    pub(crate) network: &'a mut Network,
    pub(crate) script: &'a PageScript,
    /// The requested URL.
    pub(crate) url: &'a Url,
    pub(crate) deadline: Instant,
    /// Whether an earlier call used the tab, whose page may be hanging.
    pub(crate) reused: bool,
    /// The end of an earlier wait for this page, which is not observable any more.
    pub(crate) earlier: Option<WaitOutcome>,
    /// Whether the page may be loaded again without silent hosts.
    pub(crate) may_reload: bool,
    /// Whether the page was ready before: in an earlier call, or before the steps of this one.
    pub(crate) is_known: bool,
}

/// The times of a wait.
#[derive(Clone, Copy)]
struct WaitTimes {
    begun: Instant,
    /// The time at which the content is taken as it is.
    cap: Instant,
}

impl Readiness<'_> {
    /// Waits until the page is ready, or an element matches `wait_for`, and returns it.
    pub(crate) fn wait(&mut self, wait_for: Option<&str>) -> Result<WaitResult, Failure> {
        let begun = Instant::now();
        let share = self.deadline.saturating_duration_since(begun).mul_f32(LIMITS.load_share);
        let times = WaitTimes { begun, cap: begun + share.min(LIMITS.load) };
        let mut answered = false;
        let mut unexplained = None;
        loop {
            let capped = wait_for.is_none() && Instant::now() >= times.cap;
            let Some((look, leaving)) = self.look(wait_for, times, capped, answered)? else { continue };
            let ready = match look.state {
                Some(State::Idle) => Some(Ready::Idle),
                Some(State::Stalled) => Some(Ready::Content),
                Some(State::Selector) => Some(Ready::Selector),
                Some(State::BadSelector) => return Err(not_css("--wait-for", wait_for).into()),
                Some(State::BadContentSelector) => {
                    return Err(not_css("--selector", self.script.selector.as_deref()).into());
                }
                Some(State::Wait | State::Parsing) if capped => Some(Ready::Cap),
                Some(State::Wait | State::Parsing) | None => None,
            };
            if look.state == Some(State::Parsing) && self.may_reload && !capped {
                let hosts = self.network().silent_blockers();
                if !hosts.is_empty() {
                    return Ok(WaitResult::Blocked(hosts));
                }
            }
            if ready == Some(Ready::Idle) {
                self.wait_for_load(&look)?;
            }
            let text = TextDensity::of(&look.facts);
            let network = self.network().state(text);
            if matches!(ready, Some(Ready::Idle | Ready::Content)) && network == NetworkState::Busy && !capped {
                self.wait_for_network(text, times.cap)?;
                continue;
            }
            if ready == Some(Ready::Content) && network == NetworkState::Idle && self.earlier.is_none() && !capped {
                // For a frame of another site, a process starts between its response and its load event.
                if unexplained.get_or_insert_with(Instant::now).elapsed() < LIMITS.blocked_load_event {
                    self.listen(LIMITS.pause)?;
                    continue;
                }
            } else {
                unexplained = None;
            }
            let ready = ready.map(|ready| self.with_network(ready, network, leaving));
            if let Some(ready) = ready.filter(|_| !look.facts.is_null()) {
                return Ok(WaitResult::Ready(Box::new(self.read_page(ready, look)?)));
            }
            answered |= look.state.is_some();
            // A document whose transfer was interrupted never reports its end.
            self.check_arrival()?;
            if let Some(selector) = wait_for.filter(|_| Instant::now() + LIMITS.pause >= self.deadline) {
                return Err(selector_not_found(selector).into());
            }
            self.listen(LIMITS.pause)?;
        }
    }

    /// Polls the page once. Also returns whether the page is about to be replaced. `None` if it was replaced,
    /// and the new one was waited for.
    fn look(
        &mut self,
        wait_for: Option<&str>,
        times: WaitTimes,
        capped: bool,
        answered: bool,
    ) -> Result<Option<(ScriptAnswer, bool)>, Failure> {
        // A busy page answers late, and at the deadline not at all.
        let untried = self.reused && !answered && !capped;
        let until = if untried {
            times.begun + self.deadline.saturating_duration_since(times.begun) / LIMITS.reused_tab_divisor
        } else if capped || wait_for.is_some() {
            self.deadline
        } else {
            times.cap
        };
        let report = self.first_report(until.min(times.begun + LIMITS.first_report));
        let report = report.map_err(|error| self.failure(error))?;
        let leaving = wait_for.is_none() && self.network().is_leaving();
        let looked = match report {
            Some(report) => Ok(report),
            None if leaving && !capped => {
                self.wait_for_network(TextDensity::Sparse, times.cap)?;
                return Ok(None);
            }
            None => {
                if leaving {
                    self.socket.stop_loading().map_err(|error| self.failure(error))?;
                }
                self.ask_page(&self.script.arguments(wait_for, capped, self.is_known), until)
            }
        };
        let answer = match looked {
            Ok(answer) => answer,
            // The page of an earlier call may be busy with its unload handlers.
            Err(CommandError::Late) if untried => return Err(self.failure(CommandError::Unresponsive)),
            // The page is navigating to another one.
            Err(CommandError::Failed(_)) if Instant::now() + LIMITS.pause < self.deadline => Value::Null,
            Err(CommandError::Failed(_)) => return Err(self.failure(CommandError::Late)),
            // The pending navigation may delay the answer.
            Err(CommandError::Late) if !capped && wait_for.is_none() => Value::Null,
            // The deadline passed during one of many polls, so the element was not found in time.
            Err(CommandError::Late) if answered && wait_for.is_some() => Value::Null,
            Err(error) => return Err(self.failure(error)),
        };
        Ok(Some((ScriptAnswer::of(answer), leaving)))
    }

    /// The document's own report, if it is expected and comes in time.
    fn first_report(&mut self, until: Instant) -> Result<Option<Value>, CommandError> {
        if !self.socket.expects_report() {
            return Ok(None);
        }
        let mut report = None;
        while report.is_none() && Instant::now() < until {
            report = self.socket.report(until.min(Instant::now() + LIMITS.max_script_run))?;
            self.ask_silent_hosts()?;
        }
        self.socket.end_reports()?;
        Ok(report)
    }

    /// Runs the page script and returns its answer.
    fn ask_page(&mut self, arguments: &Value, until: Instant) -> Result<Value, CommandError> {
        let question = self.socket.execute(&self.script.body, arguments, until)?;
        loop {
            match self.socket.executed(question, until.min(Instant::now() + LIMITS.max_script_run)) {
                Err(CommandError::Late) if Instant::now() < until => self.ask_silent_hosts()?,
                answer => return answer,
            }
        }
    }

    /// Probes silent hosts of other sites. A host that answers may still add content; one that does not is
    /// given up.
    fn ask_silent_hosts(&mut self) -> Result<(), CommandError> {
        self.network();
        for url in self.network.hosts_to_ask() {
            self.socket.ask_host(&url)?;
        }
        Ok(())
    }

    /// The end of the wait, from the state of the page and of its network.
    fn with_network(&self, page: Ready, network: NetworkState, leaving: bool) -> Ready {
        if matches!(page, Ready::Cap | Ready::Selector) {
            return page;
        }
        match (network, &self.earlier) {
            (NetworkState::Busy | NetworkState::Stalled, _) => Ready::Cap,
            _ if leaving => Ready::Cap,
            (_, Some(WaitOutcome { ready: Ready::Cap, .. })) => Ready::Cap,
            (NetworkState::Open, _) => Ready::Content,
            (NetworkState::Idle, Some(earlier)) if page == Ready::Idle => earlier.later(),
            (NetworkState::Idle, Some(earlier)) if !earlier.pending.is_empty() => Ready::Content,
            // The load does not end, for an unknown reason.
            (NetworkState::Idle, _) if page == Ready::Content => Ready::Cap,
            (NetworkState::Idle, _) => Ready::Idle,
        }
    }

    fn read_page(&mut self, ready: Ready, look: ScriptAnswer) -> Result<ReadyPage, Failure> {
        self.check_arrival()?;
        let facts = facts(look.facts, self.url)?;
        let mut pending = if ready == Ready::Idle { vec![] } else { self.network().pending() };
        if pending.is_empty() && ready != Ready::Idle {
            pending = self.earlier.take().map(|earlier| earlier.pending).unwrap_or_default();
        }
        Ok(ReadyPage { outcome: WaitOutcome { ready, pending }, facts, content: look.content })
    }

    /// Waits until the load event of a loaded page is over and its consequences are known. A page that refreshes leads to
    /// another one. The event of a page without code has no consequences. It comes 7 ms after the answer of the page
    /// script, because the browser is busy with the page.
    fn wait_for_load(&mut self, look: &ScriptAnswer) -> Result<(), Failure> {
        let until = Instant::now() + LIMITS.load_end;
        let (has_code, refreshes) = (look.says("hasCode"), look.says("refreshes"));
        while !self.network().loaded(has_code, refreshes) {
            if !self.socket.receive_event(until).map_err(|error| self.failure(error))? {
                break;
            }
        }
        Ok(())
    }

    /// Waits until the page's open requests are finished and it had time to use the responses.
    fn wait_for_network(&mut self, text: TextDensity, cap: Instant) -> Result<(), Failure> {
        while self.network().state(text) == NetworkState::Busy && Instant::now() < cap {
            self.listen(LIMITS.pause)?;
            self.check_arrival()?;
        }
        // The last response may not be used yet.
        let since_answer = self.network().since_answer();
        self.listen(LIMITS.response_processing.saturating_sub(since_answer))
    }

    /// An error if the transfer of the document was interrupted, or if the document is that of an earlier
    /// call's page.
    fn check_arrival(&mut self) -> Result<(), Failure> {
        if self.network().is_superseded() || self.socket.went_back() {
            return Err(self.failure(CommandError::Unresponsive));
        }
        let broke_off = self.network.current_document().broke_off();
        broke_off.map_or(Ok(()), |net_error| Err(navigation_failed(self.url.as_str(), net_error).into()))
    }

    /// The network state, with all events so far.
    fn network(&mut self) -> &Network {
        for event in self.socket.take_events() {
            self.network.handle(&event.method, &event.params);
        }
        self.network
    }

    fn listen(&mut self, time: Duration) -> Result<(), Failure> {
        let listened = self.socket.listen(time).and_then(|()| self.ask_silent_hosts());
        listened.map_err(|error| self.failure(error))
    }

    fn failure(&self, error: CommandError) -> Failure {
        Failure::of(error, self.url)
    }
}

/// The facts that the page script returned of the page at `url`.
pub(crate) fn facts(returned: Value, url: &Url) -> Result<Facts, Failure> {
    serde_json::from_value(returned).map_err(|error| {
        let error = URL_NOT_ALLOWED.error(format!("the page's own address cannot be read: {error}"));
        Failure::Page(error.detail("url", url.as_str()))
    })
}

/// The error for an element that did not come in time.
pub(crate) fn selector_not_found(selector: &str) -> Error {
    SELECTOR_NOT_FOUND
        .error(format!("nothing on the page matched {selector:?} in time"))
        .remedy("Check the selector, or raise --timeout.")
        .detail("selector", selector)
}

/// The error for a selector that is none.
pub(crate) fn not_css(argument: &str, selector: Option<&str>) -> Error {
    let selector = selector.unwrap_or_default();
    ARGUMENT_ERROR
        .error(format!("{argument} cannot be {selector:?}: it is not a CSS selector"))
        .detail("argument", argument)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_answer_of_the_page_script_is_parsed() {
        let look = ScriptAnswer::of(json!(["idle", {"sparse": true, "refreshes": false}, "text"]));
        assert_eq!((look.state, &look.content), (Some(State::Idle), &json!("text")));
        assert!(TextDensity::of(&look.facts) == TextDensity::Sparse && !look.says("refreshes"));
        assert_eq!(TextDensity::of(&ScriptAnswer::of(json!(["wait"])).facts), TextDensity::Dense);
        let look = ScriptAnswer::of(json!(["wait"]));
        assert_eq!((look.state, &look.facts), (Some(State::Wait), &Value::Null));
        assert_eq!(ScriptAnswer::of(json!(["bad-content-selector"])).state, Some(State::BadContentSelector));
        // A page that was left during the poll does not answer.
        assert_eq!(ScriptAnswer::of(Value::Null).state, None);
    }

    #[test]
    fn an_invalid_selector_is_reported_with_its_argument() {
        let error = not_css("--wait-for", Some("a["));
        assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == "--wait-for", "{error}");
    }
}
