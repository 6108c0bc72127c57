//! A page in a borrowed tab: going there, waiting until its content is there, taking it.

use std::{
    io::{self, BufRead, IsTerminal},
    sync::mpsc,
    time::{Duration, Instant},
};

use ragmaker_tool::{ARGUMENT_ERROR, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use url::Url;

use crate::{
    address, challenge,
    codes::{
        BROWSER_LOST, NAVIGATION_FAILED, NO_PAGE, NOT_A_PAGE, PAGE_CRASHED, SELECTOR_NOT_FOUND, TIMEOUT,
        URL_NOT_ALLOWED,
    },
    driver::{self, Trouble},
    profile::Profile,
    session::InUse,
    tab::{Tab, Wish},
};

/// How long a page may go on loading after it has begun to answer: then what is there is taken.
const CAP: Duration = Duration::from_secs(10);

/// How long a challenge gets to clear itself where no person watches.
const CHALLENGE_PATIENCE: Duration = Duration::from_secs(6);

/// How long a person gets to solve a challenge.
const HUMAN_PATIENCE: Duration = Duration::from_mins(5);

/// The time a call may take when it is not told otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the page is left alone between two looks at it.
const PAUSE: Duration = Duration::from_millis(8);

const LOOK: &str = include_str!("js/look.js");
const FACTS: &str = include_str!("js/facts.js");
const LINKS: &str = include_str!("js/links.js");
const HTML: &str = include_str!("js/html.js");

/// What ended the wait for the page's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ready {
    /// The page is loaded and quiet.
    Idle,
    /// It did not become quiet in time; what was there was taken.
    Cap,
    /// The element that was waited for is there.
    Selector,
}

/// A link: its accessible name and its absolute address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// The accessible name.
    pub text: String,
    /// The absolute address.
    pub href: String,
}

/// What a page says of itself.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Facts {
    pub(crate) url: String,
    base: String,
    title: String,
    pub(crate) status: u16,
    #[serde(rename = "type")]
    content_type: String,
    pub(crate) marks: Vec<String>,
    pub(crate) words: u64,
    pub(crate) fields: u64,
    pub(crate) links: u64,
}

/// A loaded page.
pub struct Page {
    /// Its address, after redirects.
    pub url: String,
    /// What relative addresses on it are relative to.
    pub base: String,
    /// Its title, of 500 characters at the most.
    pub title: String,
    /// The HTTP status that the server answered with; 0 where the browser does not know it.
    pub http_status: u16,
    /// Its media type, such as `text/html`.
    pub content_type: String,
    /// What ended the wait for its content.
    pub ready: Ready,
    /// The vendor of the bot challenge that stands in the page's place, if one does.
    pub challenge: Option<&'static str>,
    tab: Tab,
    deadline: Instant,
}

/// Which page a call is about.
#[derive(Clone, Copy)]
pub enum Target<'a> {
    /// This one, loaded anew.
    Load(&'a Url),
    /// This one, as a tab of the session shows it, or else loaded.
    Show(&'a Url),
    /// The one that the session used last.
    Latest,
}

/// How a call uses the browser.
pub struct Visit<'a> {
    /// The session's profile.
    pub profile: &'a Profile,
    /// The page.
    pub target: Target<'a>,
    /// Whether a person watches: the browser has a window, and a challenge is left to the person.
    pub visible: bool,
    /// The time that the call may take; [`DEFAULT_TIMEOUT`] unless given.
    pub timeout: Option<Duration>,
    /// A selector to wait for, in place of a quiet page.
    pub wait_for: Option<&'a str>,
}

impl Visit<'_> {
    /// Goes to the page and does `work` on it.
    ///
    /// A browser that runs is used and left running; else one is started, and closed in the end.
    pub fn run<R>(&self, work: impl AsyncFnOnce(&mut Page) -> Result<R, Error>) -> Result<R, Error> {
        let deadline = Instant::now() + self.timeout.unwrap_or(DEFAULT_TIMEOUT);
        let in_use = InUse::enter(self.profile, self.visible, deadline)?;
        let result = driver::runtime(self.work(&in_use, deadline, work));
        in_use.leave();
        result
    }

    async fn work<R>(
        &self,
        in_use: &InUse,
        deadline: Instant,
        work: impl AsyncFnOnce(&mut Page) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let wish = match self.target {
            Target::Load(_) => Wish::Any,
            Target::Show(url) => Wish::Showing(url.as_str()),
            Target::Latest => Wish::Latest,
        };
        let tab = Tab::borrow(self.profile, &in_use.running, wish, deadline).await?;
        let tab = tab.ok_or_else(|| NO_PAGE.error("this session has no open page"))?;
        let requested = match self.target {
            Target::Load(url) | Target::Show(url) => url.as_str().to_owned(),
            Target::Latest => tab.remembered().0.to_owned(),
        };
        let mut page = Page::in_tab(tab, deadline);
        let result = async {
            match self.target {
                Target::Load(url) => page.load(url, self.wait_for).await?,
                Target::Show(url) if !page.tab.fresh => page.load(url, self.wait_for).await?,
                _ => page.settle(self.wait_for).await?,
            }
            if page.challenge.is_some() {
                page.outwait_challenge(self.visible, self.timeout, self.wait_for).await?;
            }
            work(&mut page).await
        }
        .await;
        // A page that failed to answer may go on failing: its tab is not kept.
        match &result {
            Err(error) if [TIMEOUT, PAGE_CRASHED, BROWSER_LOST, URL_NOT_ALLOWED].iter().any(|&code| error.is(code)) => {
                page.tab.dispose().await;
            }
            Err(error) if error.is(NAVIGATION_FAILED) || error.is(NOT_A_PAGE) => {
                page.tab.give_back("", "", self.profile).await;
            }
            _ => {
                let url = page.url;
                page.tab.give_back(&requested, &url, self.profile).await;
            }
        }
        result
    }
}

impl Page {
    fn in_tab(tab: Tab, deadline: Instant) -> Self {
        Self {
            url: String::new(),
            base: String::new(),
            title: String::new(),
            http_status: 0,
            content_type: String::new(),
            ready: Ready::Idle,
            challenge: None,
            tab,
            deadline,
        }
    }

    /// The links that a person could follow, in the page's order, each address once.
    pub async fn links(&mut self) -> Result<Vec<Link>, Error> {
        let links = self.execute(&format!("{LINKS}\nreturn links();"), vec![]).await?;
        let pairs: Vec<(String, String)> = serde_json::from_value(links).unwrap_or_default();
        Ok(pairs.into_iter().map(|(text, href)| Link { text, href }).collect())
    }

    /// The page as the browser shows it, as HTML; the text itself where it is no HTML. With a CSS
    /// `selector`, only the elements that it matches.
    pub async fn html(&mut self, selector: Option<&str>) -> Result<String, Error> {
        let script = format!(
            "{HTML}\ntry {{ return [html(arguments[0])]; }} catch (error) {{ if (arguments[0] !== null && error.name === 'SyntaxError') return 'bad-selector'; throw error; }}"
        );
        let selector_argument = json!(selector);
        match (self.execute(&script, vec![selector_argument]).await?, selector) {
            (Value::Array(mut parts), _) if parts.first().is_some_and(Value::is_string) => {
                Ok(parts.swap_remove(0).as_str().unwrap_or_default().to_owned())
            }
            (Value::String(_), Some(selector)) => Err(ARGUMENT_ERROR
                .error(format!("--selector can not be {selector:?}: it is not a CSS selector"))
                .detail("argument", "--selector")),
            (_, Some(selector)) => Err(SELECTOR_NOT_FOUND
                .error(format!("nothing on the page matches {selector:?}"))
                .detail("selector", selector)
                .detail("url", self.url.as_str())),
            (_, None) => Ok(String::new()),
        }
    }

    async fn load(&mut self, url: &Url, wait_for: Option<&str>) -> Result<(), Error> {
        let answer = self.tab.driver.devtools("Page.navigate", json!({"url": url.as_str()}), self.deadline).await;
        let (failure, download) = match answer {
            Ok(answer) => (answer["errorText"].as_str().map(str::to_owned), answer["isDownload"] == true),
            // The driver may word the browser's own failure as one of the command.
            Err(Trouble::Failed(words)) if words.contains("net::ERR_") => (net_error(&words), false),
            Err(trouble) => return Err(self.failed(trouble, url.as_str())),
        };
        match failure.as_deref() {
            None if !download => self.settle(wait_for).await,
            // Chromium shows a page of its own for an error status without a body.
            Some("net::ERR_HTTP_RESPONSE_CODE_FAILURE") => {
                let response = self.response(true).await;
                self.url = url.as_str().to_owned();
                self.http_status = response["status"].as_u64().unwrap_or_default() as u16;
                self.challenge =
                    challenge::vendor(&Facts { status: self.http_status, ..Facts::default() }, &headers(&response));
                Ok(())
            }
            Some("net::ERR_ABORTED") | None => {
                let response = self.response(true).await;
                let media = response["mimeType"].as_str().unwrap_or("unknown").to_owned();
                let status = response["status"].as_u64().unwrap_or_default();
                let what = match status {
                    204 | 205 => "the server answered that there is nothing to show".to_owned(),
                    _ => format!("the URL is a download of type {media}, not a page"),
                };
                Err(NOT_A_PAGE
                    .error(what)
                    .detail("url", url.as_str())
                    .detail("content_type", media)
                    .detail("http_status", status))
            }
            Some(error) => Err(navigation_failed(url.as_str(), error)),
        }
    }

    /// Waits until the page's content is there, and learns what the page is.
    async fn settle(&mut self, wait_for: Option<&str>) -> Result<(), Error> {
        let cap = self.deadline.min(Instant::now() + CAP);
        let selector = json!(wait_for);
        self.ready = loop {
            // A page that is busy answers late, and at the deadline not at all.
            match self.tab.driver.execute(LOOK, vec![selector.clone()], self.deadline).await {
                Ok(state) if state == "idle" => break Ready::Idle,
                Ok(state) if state == "selector" => break Ready::Selector,
                Ok(state) if state == "bad-selector" => {
                    let selector = wait_for.unwrap_or_default();
                    return Err(ARGUMENT_ERROR
                        .error(format!("--wait-for can not be {selector:?}: it is not a CSS selector"))
                        .detail("argument", "--wait-for"));
                }
                // The page is on its way to another one.
                Ok(_) | Err(Trouble::Failed(_)) => {}
                Err(trouble) => return Err(self.failed(trouble, "")),
            }
            let now = Instant::now();
            match wait_for {
                Some(selector) if now + PAUSE >= self.deadline => {
                    return Err(SELECTOR_NOT_FOUND
                        .error(format!("nothing on the page matched {selector:?} in time"))
                        .remedy("Check the selector, or raise --timeout.")
                        .detail("selector", selector));
                }
                None if now >= cap => break Ready::Cap,
                _ => tokio::time::sleep(PAUSE).await,
            }
        };
        self.learn().await
    }

    async fn learn(&mut self) -> Result<(), Error> {
        let facts = self.execute(&format!("{FACTS}\nreturn facts();"), vec![]).await?;
        let facts: Facts = serde_json::from_value(facts).unwrap_or_default();
        if facts.url.starts_with("chrome-error:") {
            return Err(navigation_failed(&facts.url, "net::ERR_FAILED"));
        }
        address::allow(&facts.url)?;
        let response = self.response(challenge::suspicious(facts.status)).await;
        self.challenge = challenge::vendor(&facts, &headers(&response));
        self.url = facts.url;
        self.base = facts.base;
        self.title = facts.title;
        self.http_status = facts.status;
        self.content_type = facts.content_type;
        Ok(())
    }

    /// The last response to a request for a document that the tab's network events tell of.
    async fn response(&mut self, needed: bool) -> Value {
        let events = self.tab.network_events(needed, self.deadline).await;
        let mut documents = events
            .into_iter()
            .filter(|event| event["method"] == "Network.responseReceived" && event["params"]["type"] == "Document");
        documents.next_back().map(|mut event| event["params"]["response"].take()).unwrap_or_default()
    }

    /// Waits for a challenge to go: by itself, or by the hand of the person at the window, who may
    /// also press Enter in the terminal to go on.
    async fn outwait_challenge(
        &mut self,
        visible: bool,
        timeout: Option<Duration>,
        wait_for: Option<&str>,
    ) -> Result<(), Error> {
        let patience = if visible { timeout.unwrap_or(HUMAN_PATIENCE) } else { CHALLENGE_PATIENCE };
        let until = Instant::now() + patience;
        if visible {
            self.deadline = self.deadline.max(until + DEFAULT_TIMEOUT);
        }
        let enter = visible.then(enter_pressed).flatten();
        while self.challenge.is_some() && Instant::now() < until && Instant::now() + PAUSE < self.deadline {
            if enter.as_ref().is_some_and(|enter| enter.try_recv().is_ok()) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(250)).await;
            self.settle(wait_for.filter(|_| false)).await?;
        }
        Ok(())
    }

    async fn execute(&mut self, script: &str, arguments: Vec<Value>) -> Result<Value, Error> {
        loop {
            match self.tab.driver.execute(script, arguments.clone(), self.deadline).await {
                Ok(value) => return Ok(value),
                // A page that goes elsewhere under the script's feet is asked again.
                Err(Trouble::Failed(words)) if words.contains("navigat") || words.contains("detached") => {
                    tokio::time::sleep(PAUSE).await;
                }
                Err(trouble) => return Err(self.failed(trouble, "")),
            }
        }
    }

    fn failed(&self, trouble: Trouble, url: &str) -> Error {
        let url = if url.is_empty() { &self.url } else { url };
        match trouble {
            Trouble::Late => TIMEOUT.error("the page did not answer in time").detail("url", url),
            Trouble::Crashed => PAGE_CRASHED.error("the page crashed its tab").detail("url", url),
            other => other.into_error().detail("url", url),
        }
    }
}

fn headers(response: &Value) -> Value {
    let headers = response["headers"].as_object().into_iter().flatten();
    headers.map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect::<Map<_, _>>().into()
}

fn net_error(words: &str) -> Option<String> {
    let at = words.find("net::ERR_")?;
    Some(words[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, ':' | '_')).collect())
}

fn navigation_failed(url: &str, net_error: &str) -> Error {
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

/// Tells when the person at the terminal presses Enter; nothing where nobody sits there.
fn enter_pressed() -> Option<mpsc::Receiver<()>> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return None;
    }
    eprintln!("A bot challenge is in the window: solve it there, or press Enter to go on as it is.");
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        if io::stdin().lock().read_line(&mut String::new()).is_ok() {
            let _ = send.send(());
        }
    });
    Some(receive)
}
