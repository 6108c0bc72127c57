//! A visit by WebDriver commands alone: for a browser without a DevTools socket, such as Firefox, or one that another
//! machine's driver provides.
//!
//! The page scripts are the same. What the requests of a page do is not seen, so a page is ready when it is loaded and
//! its text is unchanged. What needs to decide about requests is refused: `--public-only` and filter lists.
//!
//! A session does one thing at a time; calls take turns.
//!
//! | module | what it does |
//! |---|---|
//! | [`controls`] | lists the elements that can be acted on |
//! | [`frames`] | switches the session between the frames of the page |
//! | [`responses`] | requests the JSON answers of the page again |
//! | [`act`] | takes steps in the page |
//! | [`screenshot`] | takes screenshots and prints |
//! | [`state`] | reads and sets cookies and storage |

mod act;
mod controls;
mod frames;
pub(crate) mod responses;
pub(crate) mod screenshot;
pub(crate) mod state;

use std::{
    cell::{Cell, RefCell},
    fs, thread,
    time::{Duration, Instant},
};

use ragmaker_address::{Domains, same_page};
use ragmaker_tool::{ARGUMENT_ERROR, Error};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

pub(crate) use self::act::WebDriverActor;
use crate::{
    codes::{BROWSER_BUSY, NO_PAGE, NOT_A_PAGE, SELECTOR_NOT_FOUND},
    error::{CommandError, Failure, navigation_failed, not_a_page, not_loaded_again},
    facts::Facts,
    firefox,
    limits::{self, LIMITS},
    loading::Load,
    navigation::{Target, allowed},
    page::{LoadedPage, Ready, WaitOutcome},
    profile::{Lock, Profile, Running},
    readiness::{self, PageScript},
    tab::ShownPage,
    webdriver::Driver,
};

const PROBE: &str = include_str!("../js/probe.js");

/// The file that says what the session's page is, beside those of tabs.
const PAGE_FILE_SUFFIX: &str = ".plain";

/// The answer of `js/probe.js`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Probe {
    /// The URL of the document, or what the browser shows in its place.
    at: String,
    /// The cause that the browser names on its own page for an error.
    error: Option<String>,
    parsed: bool,
    complete: bool,
    sparse: bool,
    /// The length of the text, and how many requests were answered.
    size: (u64, u64),
    /// Whether an element matches the selector that is waited for; none if the selector is invalid.
    matches: Option<bool>,
}

/// The page to visit, and what is taken of it.
pub(crate) struct VisitRequest<'a> {
    pub(crate) target: Target<'a>,
    /// Whether a person watches.
    pub(crate) visible: bool,
    /// The time that the call was given.
    pub(crate) timeout: Option<Duration>,
    pub(crate) wait_for: Option<&'a str>,
    pub(crate) load: Load,
    pub(crate) domains: &'a Domains,
    pub(crate) script: &'a PageScript,
    pub(crate) deadline: Instant,
    /// Whether the call has changed the page.
    pub(crate) began: &'a Cell<bool>,
}

/// A visit under way.
pub(crate) struct WebDriverVisit<'a> {
    request: VisitRequest<'a>,
    /// The script that takes the page.
    pub(crate) script: &'a PageScript,
    running: Running,
    driver: Driver,
    pub(crate) url: Url,
    /// Whether earlier calls took steps in the page, which is not loaded again.
    was_acted: bool,
    deadline: Instant,
    /// How long the session lets a script run.
    patience: Cell<Duration>,
    /// The path of the frame that the session is in; none if that is not known.
    frame: RefCell<Option<String>>,
}

/// Waits until no other call sends WebDriver commands to the browser of `profile`, which has a single tab.
///
/// # Errors
///
/// [`BROWSER_BUSY`] at `deadline`.
fn lock_commands(profile: &Profile, deadline: Instant) -> Result<Lock, Error> {
    loop {
        if let Some(lock) = profile.lock_driver() {
            return Ok(lock);
        }
        if Instant::now() >= deadline {
            return Err(BROWSER_BUSY.error("another call is using the session's only tab and has not finished"));
        }
        thread::sleep(limits::WEBDRIVER_TAB_RETRY);
    }
}

/// Goes to the page, takes it and its wanted content, and calls `work` there.
pub(crate) fn visit<'a, T>(
    request: VisitRequest<'a>,
    profile: &Profile,
    running: &Running,
    work: impl FnOnce(&mut WebDriverVisit<'a>, (LoadedPage, Value)) -> Result<(LoadedPage, T), Failure>,
) -> Result<(LoadedPage, T), Error> {
    let deadline = request.deadline;
    let _commands = lock_commands(profile, deadline)?;
    let driver = Driver::resume(&running.endpoint.webdriver, &running.launch_session, deadline);
    let driver = driver.map_err(CommandError::into_error)?;
    let memory = profile.tabs_folder().join(PAGE_FILE_SUFFIX);
    let shown: Option<ShownPage> = fs::read(&memory).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let was_acted = shown.as_ref().is_some_and(|page| page.acted);
    let (url, loads) = match (request.target, shown) {
        (Target::Load(url), _) => (url.clone(), true),
        (Target::Show(url), shown) => (url.clone(), !shown.is_some_and(|page| page.is(url))),
        (Target::Acted(url), shown) => (url.clone(), !shown.is_some_and(|page| page.acted && page.is(url))),
        (Target::Latest, shown) => {
            (shown.ok_or_else(|| NO_PAGE.error("this session has no open page"))?.requested, false)
        }
    };
    let _ = fs::remove_file(&memory);
    let (load, began) = (request.load, request.began);
    let (running, script) = (running.clone(), request.script);
    let (patience, frame) = (Cell::default(), RefCell::default());
    let was_acted = was_acted && !loads;
    let mut visit = WebDriverVisit { request, script, running, driver, url, was_acted, deadline, patience, frame };
    let worked = visit.run(loads).and_then(|taken| {
        let before = taken.0.url.clone();
        work(&mut visit, taken).map(|worked| (before, worked))
    });
    let acted = began.get() || was_acted;
    let record = |shown: &ShownPage| {
        // Where it cannot be written, the next call loads the page.
        let _ = serde_json::to_vec(shown).map(|text| fs::write(&memory, text));
    };
    let (before, (page, content)) = match worked.map_err(Failure::into_error) {
        Ok(worked) => worked,
        Err(error) => {
            // The page is as it was.
            if error.is(ARGUMENT_ERROR) || error.is(SELECTOR_NOT_FOUND) {
                let (requested, url) = (visit.url.clone(), visit.url);
                record(&ShownPage { requested, url, outcome: WaitOutcome::IDLE, load, acted });
            }
            return Err(error);
        }
    };
    profile.note_origin(&page.url.origin().ascii_serialization());
    // If the steps led to another URL, the page is recorded under that URL.
    let has_left = began.get() && !same_page(&before, &page.url);
    record(&ShownPage {
        requested: if has_left { page.url.clone() } else { visit.url },
        url: page.url.clone(),
        outcome: WaitOutcome { ready: page.ready, pending: vec![] },
        load,
        acted,
    });
    Ok((page, content))
}

impl WebDriverVisit<'_> {
    fn run(&self, loads: bool) -> Result<(LoadedPage, Value), Failure> {
        if loads {
            self.load()?;
        }
        let taken = match self.wait(self.request.wait_for, loads)? {
            Some(taken) => taken,
            // A person has gone elsewhere in the meantime.
            None if !loads => {
                self.load()?;
                self.wait(self.request.wait_for, true)?.ok_or_else(|| self.failure(CommandError::Late))?
            }
            // That a file has come in place of a page is not seen.
            None => return Err(self.failure(CommandError::Late).into_error().remedy(NO_FILES).into()),
        };
        if taken.0.can_clear() { self.wait_out_challenge(taken) } else { Ok(taken) }
    }

    /// Waits until the page is idle, and reads it.
    pub(crate) fn rest(&self) -> Result<(LoadedPage, Value), Failure> {
        self.wait(None, false)?.ok_or_else(|| self.failure(CommandError::Late))
    }

    /// Loads the page again, and waits until it is idle.
    pub(crate) fn load_again(&self) -> Result<(), Failure> {
        if self.was_acted {
            return Err(not_loaded_again(&self.url).into());
        }
        self.load()?;
        let taken = self.wait(self.request.wait_for, true)?;
        taken.and_then(|(page, _)| page.refusal()).map_or(Ok(()), |error| Err(error.into()))
    }

    /// Waits until the text has rested for `rest`, at most until `cap`.
    fn rest_for(&self, rest: Duration, cap: Instant) -> Result<(), Failure> {
        let (mut size, mut since) = ((0, 0), Instant::now());
        loop {
            let probe = self.probe(None)?;
            if probe.size != size {
                (size, since) = (probe.size, Instant::now());
            }
            if (probe.complete && since.elapsed() >= rest) || Instant::now() >= cap {
                return Ok(());
            }
            thread::sleep(LIMITS.webdriver_poll);
        }
    }

    fn load(&self) -> Result<(), Failure> {
        let left = self.deadline.saturating_duration_since(Instant::now()).mul_f32(LIMITS.load_share);
        self.post("timeouts", json!({"pageLoad": left.as_millis() as u64}))?;
        // What is asked of the next document cannot be answered by the one before. Firefox may lose a load that is
        // asked for while the one before begins.
        self.post("url", json!({"url": BLANK}))?;
        let until = self.deadline.min(Instant::now() + LIMITS.webdriver_probe);
        while Instant::now() < until {
            let probe = self.probe(None)?;
            if probe.at == BLANK && probe.complete {
                break;
            }
            thread::sleep(LIMITS.webdriver_poll);
        }
        match self.driver.post("url", json!({"url": self.url.as_str()}), self.deadline) {
            Ok(_) => Ok(()),
            Err(CommandError::Failed(failed)) => match firefox_error(&failed.words) {
                Some(net_error) => Err(navigation_failed(self.url.as_str(), net_error).into()),
                None => Err(self.failure(CommandError::Failed(failed))),
            },
            // What has arrived by then is examined.
            Err(CommandError::Late) if Instant::now() < self.deadline => Ok(()),
            Err(error) => Err(self.failure(error)),
        }
    }

    /// Waits until the page is ready, and takes it; nothing where the tab shows no page. `loads` says that it is loaded
    /// now.
    fn wait(&self, wait_for: Option<&str>, loads: bool) -> Result<Option<(LoadedPage, Value)>, Failure> {
        let begun = Instant::now();
        let share = self.deadline.saturating_duration_since(begun).mul_f32(LIMITS.load_share);
        let (mut cap, mut came) = (begun + share.min(LIMITS.load), false);
        let (mut size, mut since) = ((0, 0), begun);
        loop {
            let probe = self.probe(wait_for)?;
            if let Some(error) = &probe.error {
                return self.without_document(error).map(Some);
            }
            let shows = !probe.at.is_empty() && probe.at != BLANK;
            if shows && !came {
                // A page has its time from its first answer on.
                (came, since) = (true, Instant::now());
                cap = cap.max(since + LIMITS.load).min(begun + share);
            }
            if probe.size != size {
                (size, since) = (probe.size, Instant::now());
            }
            let patience =
                if probe.sparse && loads { LIMITS.webdriver_quiet_sparse } else { LIMITS.webdriver_quiet_dense };
            let rests = since.elapsed() >= patience;
            let ready = match wait_for {
                Some(_) if shows && probe.matches.is_none() => {
                    return Err(readiness::not_css("--wait-for", wait_for).into());
                }
                Some(_) => (probe.matches == Some(true)).then_some(Ready::Selector),
                None if shows && Instant::now() >= cap => Some(Ready::Cap),
                None if shows && probe.complete && rests => Some(Ready::Idle),
                None if shows && probe.parsed && since.elapsed() >= LIMITS.webdriver_quiet_stalled => {
                    Some(Ready::Content)
                }
                None => None,
            };
            if let Some(ready) = ready
                && let Some(taken) = self.read_page(ready, wait_for)?
            {
                return Ok(Some(taken));
            }
            if Instant::now() + LIMITS.webdriver_poll >= self.deadline {
                return match wait_for.filter(|_| shows) {
                    Some(selector) => Err(readiness::selector_not_found(selector).into()),
                    None => Ok(None),
                };
            }
            thread::sleep(LIMITS.webdriver_poll);
        }
    }

    fn probe(&self, wait_for: Option<&str>) -> Result<Probe, Failure> {
        match self.execute(PROBE, &json!([wait_for, LIMITS.page]), LIMITS.webdriver_probe) {
            Ok(answer) => Ok(Probe::deserialize(answer).unwrap_or_default()),
            Err(CommandError::Failed(_) | CommandError::Late) if !firefox::runs(&self.running) => {
                Err(self.failure(CommandError::Gone))
            }
            // The document is being replaced by another one, or is busy.
            Err(CommandError::Failed(_) | CommandError::Late)
                if Instant::now() + LIMITS.webdriver_poll < self.deadline =>
            {
                Ok(Probe::default())
            }
            Err(error) => Err(self.failure(error)),
        }
    }

    /// The page as it is now; nothing where it says that it is at work yet.
    fn read_page(&self, ready: Ready, wait_for: Option<&str>) -> Result<Option<(LoadedPage, Value)>, Failure> {
        let arguments = self.script.arguments(wait_for, ready != Ready::Idle, false);
        let answer = match self.execute(&in_function(&self.script.body), &arguments, LIMITS.webdriver_read) {
            Err(CommandError::Failed(_)) => return Ok(None),
            Err(CommandError::Late) if Instant::now() < self.deadline => return Ok(None),
            answer => answer.map_err(|error| self.failure(error))?,
        };
        if answer[0] == "bad-content-selector" {
            return Err(readiness::not_css("--selector", self.script.selector.as_deref()).into());
        }
        let [_, facts, content] = answer.as_array().map(Vec::as_slice).unwrap_or_default() else { return Ok(None) };
        let facts = readiness::facts(facts.clone(), &self.url)?;
        allowed(&facts, self.request.domains).map_err(|error| error.remedy_for(NOT_A_PAGE, NO_FILES))?;
        let outcome = WaitOutcome { ready, pending: vec![] };
        Ok(Some((LoadedPage::new(facts, &self.url, &Value::Null, outcome), content.clone())))
    }

    /// The answer where the browser shows a page of its own, on which it names the cause.
    fn without_document(&self, error: &str) -> Result<(LoadedPage, Value), Failure> {
        if let Some(status) = error.strip_prefix("HTTP ERROR ").and_then(|status| status.parse().ok()) {
            let facts = Facts::of_status(self.url.clone(), status);
            return Ok((LoadedPage::new(facts, &self.url, &Value::Null, WaitOutcome::IDLE), Value::Null));
        }
        if error == "ERR_ABORTED" {
            return Err(not_a_page("the browser refused the server's response", &self.url, None, 0).into());
        }
        let net_error = match firefox_error(error) {
            Some(net_error) => net_error.to_owned(),
            None if error.starts_with("ERR_") => format!("net::{error}"),
            None => "net::ERR_FAILED".into(),
        };
        Err(navigation_failed(self.url.as_str(), &net_error).into())
    }

    /// Waits for a challenge to go: by itself, or solved by a person.
    fn wait_out_challenge(&self, mut taken: (LoadedPage, Value)) -> Result<(LoadedPage, Value), Failure> {
        let solved = self.request.timeout.unwrap_or(LIMITS.challenge_solved);
        let time = if self.request.visible { solved } else { LIMITS.challenge_clears };
        let until = (Instant::now() + time).min(self.deadline);
        while taken.0.can_clear() && Instant::now() + LIMITS.challenge_pause < until {
            thread::sleep(LIMITS.challenge_pause);
            match self.wait(None, false)? {
                Some(again) => taken = again,
                None => break,
            }
        }
        Ok(taken)
    }

    /// Runs a script in the page itself.
    fn execute(&self, script: &str, arguments: &Value, patience: Duration) -> Result<Value, CommandError> {
        self.execute_in(frames::TOP, script, arguments, patience)
    }

    /// Sets how long a script may take: the end of the session would wait for one that hangs.
    fn limit_scripts(&self, patience: Duration) -> Result<(), CommandError> {
        let left = self.deadline.saturating_duration_since(Instant::now()).min(patience);
        if self.patience.replace(left) != left {
            self.driver.post("timeouts", json!({"script": left.as_millis() as u64}), self.deadline)?;
        }
        Ok(())
    }

    fn post(&self, path: &str, body: Value) -> Result<(), Failure> {
        self.driver.post(path, body, self.deadline).map(drop).map_err(|error| self.failure(error))
    }

    fn failure(&self, error: CommandError) -> Failure {
        Failure::of(error, &self.url)
    }
}

/// `script` as an async function, which the command waits for.
fn in_function(script: &str) -> String {
    format!("return (async function () {{\n{script}\n}}).apply(null, arguments);")
}

/// The remedy where a URL leads to a file, or may lead to one.
const NO_FILES: &str = "If the URL leads to a file, use Chromium on this machine or ragmaker-http-fetch: a browser without a DevTools \
     socket saves no files. Else raise the timeout, or skip this page.";

/// The page that a tab shows before it shows any.
const BLANK: &str = "about:blank";

/// Chromium's name of the cause for which Firefox says that it shows a page of its own.
fn firefox_error(words: &str) -> Option<&'static str> {
    let shown = ["about:neterror?e=", "about:certerror?e="].into_iter().find_map(|page| words.split_once(page));
    let cause = match shown {
        Some((_, cause)) => cause.split('&').next().unwrap_or_default(),
        None => words.split_once("Error: ")?.1.split_whitespace().next()?,
    };
    Some(match cause {
        "connectionFailure" => "net::ERR_CONNECTION_REFUSED",
        "dnsNotFound" => "net::ERR_NAME_NOT_RESOLVED",
        "netReset" | "netInterrupt" => "net::ERR_CONNECTION_RESET",
        "netTimeout" => "net::ERR_TIMED_OUT",
        "redirectLoop" => "net::ERR_TOO_MANY_REDIRECTS",
        "deniedPortAccess" => "net::ERR_UNSAFE_PORT",
        "nssBadCert" => "net::ERR_CERT_INVALID",
        "nssFailure2" => "net::ERR_SSL_PROTOCOL_ERROR",
        _ if shown.is_none() => return None,
        _ => "net::ERR_FAILED",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_firefox_names_has_chromiums_name() {
        let words = "unknown error: Reached error page: about:neterror?e=dnsNotFound&u=https%3A//x.example/&c=UTF-8";
        assert_eq!(firefox_error(words), Some("net::ERR_NAME_NOT_RESOLVED"));
        assert_eq!(firefox_error("about:certerror?e=nssBadCert&u=x"), Some("net::ERR_CERT_INVALID"));
        assert_eq!(firefox_error("unknown error: Error: deniedPortAccess"), Some("net::ERR_UNSAFE_PORT"));
        assert_eq!(firefox_error("unknown error: Error: of another kind"), None);
        assert_eq!(firefox_error("element click intercepted"), None);
    }

    #[test]
    fn a_probe_is_what_the_script_returns() {
        let returned = PROBE.rsplit_once("return {").unwrap().1;
        for name in ["at", "error", "parsed", "complete", "sparse", "size", "matches"] {
            assert!(returned.contains(name), "{name}");
        }
        let probe = Probe::deserialize(json!({"at": "https://x.example/", "size": [3, 1], "matches": false})).unwrap();
        assert!(probe.size == (3, 1) && probe.matches == Some(false) && !probe.complete);
    }
}
