//! A visit: going to a page in a borrowed tab, waiting until its content is there, taking it.

use std::{
    io::{self, BufRead, IsTerminal},
    sync::mpsc,
    time::{Duration, Instant},
};

use ragmaker_tool::{ARGUMENT_ERROR, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use crate::{
    address::{self, Domains},
    challenge,
    codes::{BROWSER_LOST, NAVIGATION_FAILED, NO_PAGE, NOT_A_PAGE, PAGE_CRASHED, SELECTOR_NOT_FOUND, TIMEOUT},
    driver::{self, Trouble},
    network::{Rest, navigation_failed},
    profile::Profile,
    session::InUse,
    tab::{PULSE, Tab, Wish},
};

/// How long a page may go on loading after it has begun to answer: then what is there is taken.
const CAP: Duration = Duration::from_secs(10);

/// How long a challenge gets to clear itself where no person watches.
const CHALLENGE_PATIENCE: Duration = Duration::from_secs(6);

/// How long a person gets to solve a challenge.
const HUMAN_PATIENCE: Duration = Duration::from_mins(5);

/// The time a call may take when it is not told otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a page that has begun to come may take to tell what was to be looked at first.
const FIRST_LOOK: Duration = Duration::from_millis(400);

/// How many new tabs a call tries one after the other.
const NEW_TABS: u32 = 8;

/// How long the page is left alone between two looks at it.
const PAUSE: Duration = Duration::from_millis(8);

/// How long a page gets to use what has just come.
const USING: Duration = Duration::from_millis(60);

const DOCUMENT: &str = include_str!("js/document.js");
const LOOK: &str = include_str!("js/look.js");
const FACTS: &str = include_str!("js/facts.js");
const LINKS: &str = concat!(include_str!("js/names.js"), include_str!("js/links.js"));
const HTML: &str = include_str!("js/html.js");
const COLLECT: &str = include_str!("js/collect.js");

/// How often a challenge is looked at.
const CHALLENGE_PAUSE: Duration = Duration::from_millis(250);

/// What ended the wait for the page's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ready {
    /// The page is loaded and quiet.
    Idle,
    /// It still waited for something when its time was up; what was there was taken.
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
    pub(crate) words: Option<u64>,
    pub(crate) fields: u64,
    pub(crate) links: u64,
    /// What is wrong with a page of XML, if anything is.
    broken: Option<String>,
}

/// A loaded page.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its address, after redirects.
    pub url: String,
    /// What relative addresses on it are relative to.
    pub base: String,
    /// Its title, of 500 characters at the most.
    pub title: String,
    /// The HTTP status that the server answered with; 0 where the browser does not know it.
    pub http_status: u16,
    /// Its media type, such as `text/html`; empty where the server sent an error and nothing else.
    pub content_type: String,
    /// What ended the wait for its content.
    pub ready: Ready,
    /// The vendor of the bot challenge that stands in the page's place, if one does.
    pub challenge: Option<&'static str>,
    broken: Option<String>,
}

impl Page {
    fn new(facts: Facts, headers: &Value, ready: Ready) -> Self {
        Self {
            challenge: challenge::vendor(&facts, headers),
            url: facts.url,
            base: facts.base,
            title: facts.title,
            http_status: facts.status,
            content_type: facts.content_type,
            ready,
            broken: facts.broken,
        }
    }
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
#[derive(Clone, Copy)]
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
    /// The domains whose pages may be opened.
    pub domains: &'a Domains,
}

/// What is wanted of the page: the script that takes it, and the script's argument.
#[derive(Clone, Copy)]
struct Want<'a> {
    script: &'static str,
    chosen: Option<&'a str>,
}

impl Visit<'_> {
    /// Goes to the page and takes the links that a person could follow there, in the page's order,
    /// each page once.
    ///
    /// A browser that runs is used and left running; else one is started, and closed in the end.
    pub fn links(&self) -> Result<(Page, Vec<Link>), Error> {
        let (page, links) = self.take(Want { script: LINKS, chosen: None })?;
        let mut parts = links.as_str().unwrap_or_default().split('\n').map(str::to_owned);
        let mut found = vec![];
        while let (Some(text), Some(href)) = (parts.next(), parts.next()) {
            found.push(Link { text, href });
        }
        Ok((page, found))
    }

    /// Goes to the page and takes it as HTML as the browser shows it; the text itself where it is
    /// no HTML. With a CSS `selector`, takes only the elements that it matches; nothing where it
    /// matches none. XML that the browser can not read to its end is no page.
    pub fn html(&self, selector: Option<&str>) -> Result<(Page, Option<String>), Error> {
        let (page, html) = self.take(Want { script: HTML, chosen: selector })?;
        if let Some(broken) = page.broken.as_ref().filter(|_| page.http_status < 400 && page.challenge.is_none()) {
            let what = format!("the page is XML that can not be read to its end: {broken}");
            return Err(not_a_page(&what, &page.url, Some(&page.content_type), page.http_status));
        }
        Ok((page, if let Value::String(html) = html { Some(html) } else { None }))
    }

    fn take(&self, want: Want<'_>) -> Result<(Page, Value), Error> {
        if let Target::Load(url) | Target::Show(url) = self.target {
            self.domains.check(url)?;
        }
        let deadline = Instant::now() + self.timeout.unwrap_or(DEFAULT_TIMEOUT);
        let mut again = true;
        loop {
            let in_use = InUse::enter(self.profile, self.visible, deadline)?;
            let was_open = in_use.was_open;
            let result = driver::runtime(self.in_tab(want, &in_use, deadline));
            in_use.leave();
            match result {
                // The browser that was open went away: the next one is started at once.
                Err(error) if error.is(BROWSER_LOST) && was_open && again => again = false,
                result => return result,
            }
        }
    }

    async fn in_tab(&self, want: Want<'_>, in_use: &InUse, deadline: Instant) -> Result<(Page, Value), Error> {
        let wish = match self.target {
            Target::Load(_) => Wish::Any,
            Target::Show(url) => Wish::Showing(url.as_str()),
            Target::Latest => Wish::Latest,
        };
        let script = [DOCUMENT, LOOK, FACTS, want.script, COLLECT].join("\n");
        let mut new_tabs = 0;
        loop {
            let tab = Tab::borrow(self.profile, &in_use.running, wish, deadline).await?;
            let tab = tab.ok_or_else(|| NO_PAGE.error("this session has no open page"))?;
            let url = match self.target {
                Target::Load(url) | Target::Show(url) => url.as_str().to_owned(),
                Target::Latest => tab.remembered().0.to_owned(),
            };
            let script = script.clone();
            let mut stay = Stay { visit: self, want, script, url, tab, deadline, stale: false, shows: true };
            let result = stay.work().await;
            let Stay { tab, url, stale, shows, .. } = stay;
            new_tabs += u32::from(!tab.resumed);
            match &result {
                Ok(_) if !shows => tab.give_back("", "", false, self.profile),
                Ok((page, _)) => tab.give_back(&url, &page.url, page.ready == Ready::Cap, self.profile),
                Err(error) if error.is(NAVIGATION_FAILED) || error.is(NOT_A_PAGE) => {
                    tab.give_back("", "", false, self.profile);
                }
                Err(error) if error.is(ARGUMENT_ERROR) || error.is(SELECTOR_NOT_FOUND) => {
                    tab.give_back(&url, &url, false, self.profile);
                }
                // A page that failed to answer may go on failing: its tab is not kept.
                Err(_) => tab.dispose(),
            }
            // What was left behind in a tab is no reason for this call to fail: there are others. In a new
            // one it is the browser's own empty page, to which a page may be fast enough to go back.
            if !stale || result.is_ok() || new_tabs > NEW_TABS {
                return result;
            }
        }
    }
}

/// A visit under way, in its tab.
struct Stay<'a> {
    visit: &'a Visit<'a>,
    want: Want<'a>,
    /// The script that looks whether the content is there and takes it.
    script: String,
    /// The address that was asked for.
    url: String,
    tab: Tab,
    deadline: Instant,
    /// Whether the tab was of no use, before this call had done anything with it.
    stale: bool,
    /// Whether the tab shows what the server sent, and no page of the browser's own.
    shows: bool,
}

impl Stay<'_> {
    async fn work(&mut self) -> Result<(Page, Value), Error> {
        // The page that an earlier call left may hang by now, and hold up all that is asked of its
        // tab; or a person has closed the tab.
        self.tab.socket.feel_pulse(PULSE);
        let (page, content) = match self.visit.target {
            Target::Load(url) => self.load(url)?,
            Target::Show(url) => match self.show(url)? {
                Some(shown) => self.told_from_a_challenge(shown)?,
                None => self.load(url)?,
            },
            Target::Latest => {
                let shown = self.settle(self.visit.wait_for)?;
                self.told_from_a_challenge(shown)?
            }
        };
        if page.challenge.is_some() { self.outwait_challenge(page, content).await } else { Ok((page, content)) }
    }

    /// Takes the page as the tab shows it, if it still does.
    fn show(&mut self, url: &Url) -> Result<Option<(Page, Value)>, Error> {
        if !self.tab.fresh {
            return Ok(None);
        }
        let shown = self.settle(self.visit.wait_for)?;
        let (_, remembered) = self.tab.remembered();
        let same = [remembered, url.as_str()].into_iter().any(|url| address::page(url) == address::page(&shown.0.url));
        Ok(same.then_some(shown))
    }

    /// A challenge is told from a refusal by its headers, which are not kept: a page that was
    /// refused is asked for again.
    fn told_from_a_challenge(&mut self, shown: (Page, Value)) -> Result<(Page, Value), Error> {
        match Url::parse(&self.url) {
            Ok(url) if shown.0.challenge.is_none() && challenge::suspicious(shown.0.http_status) => self.load(&url),
            _ => Ok(shown),
        }
    }

    fn load(&mut self, url: &Url) -> Result<(Page, Value), Error> {
        // What is remembered of the page that it shows does not hold for the next one.
        self.tab.fresh = false;
        if self.tab.resumed && url.fragment().is_some() {
            // To a place on the page that it shows, a browser goes without loading anything.
            self.prepared()?;
            self.go("about:blank")?;
        }
        let arguments = json!([self.visit.wait_for, false, self.want.chosen]);
        self.tab.socket.expect(&self.script, &arguments).map_err(|trouble| self.failed(trouble))?;
        self.tab.socket.feel_pulse(PULSE);
        self.prepared()?;
        let answer = self.go(url.as_str())?;
        let error = answer["errorText"].as_str();
        if error.is_none() && answer["isDownload"] != true {
            return self.settle(self.visit.wait_for);
        }
        self.tab.socket.catch_up(self.deadline).map_err(|trouble| self.failed(trouble))?;
        let document = self.tab.socket.network().latest();
        let (status, media) = (document.status(), document.media_type().map(str::to_owned));
        let headers = document.headers();
        // Chromium shows a page of its own for an error status without a body, and for a password that
        // nobody gave.
        if status >= 400 && answer["isDownload"] != true {
            self.shows = false;
            let facts = Facts { url: self.url.clone(), status, ..Facts::default() };
            return Ok((Page::new(facts, &headers, Ready::Idle), Value::Null));
        }
        match error {
            Some("net::ERR_ABORTED") | None => match (status, media.as_deref()) {
                (204 | 205, media) => {
                    Err(self.not_a_page("the server answered that there is nothing to show", media, status))
                }
                (_, Some(media)) => {
                    let what = format!("the URL is a download of type {media}, not a page");
                    Err(self.not_a_page(&what, Some(media), status))
                }
                (_, None) => Err(navigation_failed(url.as_str(), "net::ERR_ABORTED")),
            },
            Some(error) => Err(navigation_failed(url.as_str(), error)),
        }
    }

    /// Waits until what was asked of the tab is done: what is not by the time that it shows a page of
    /// another process comes too late for that page.
    fn prepared(&mut self) -> Result<(), Error> {
        self.tab.socket.wait_for_pulse().map_err(|trouble| self.failed(trouble))
    }

    /// Has the tab go to `url`, and returns what the browser says to that.
    fn go(&mut self, url: &str) -> Result<Value, Error> {
        let socket = &mut self.tab.socket;
        let answer = socket.navigate(url).and_then(|navigation| {
            match socket.navigated(navigation, self.deadline.min(Instant::now() + PULSE)) {
                // Either the server is slow, or the page that is to be left is at work on its farewell.
                Err(Trouble::Late) if self.tab.resumed => {
                    let patience = self.deadline.saturating_duration_since(Instant::now()) / 4;
                    socket.navigated(navigation, Instant::now() + patience).map_err(|trouble| match trouble {
                        Trouble::Late => Trouble::Stale,
                        other => other,
                    })
                }
                Err(Trouble::Late) => socket.navigated(navigation, self.deadline),
                answer => answer,
            }
        });
        match answer {
            Ok(answer) => {
                self.tab.socket.go_to(answer["loaderId"].as_str());
                Ok(answer)
            }
            // Nothing of the new page is there yet: what crashed is the page of an earlier call.
            Err(Trouble::Crashed) if self.tab.resumed => Err(self.failed(Trouble::Stale)),
            Err(trouble) => Err(self.failed(trouble)),
        }
    }

    /// Waits until the page's content is there, and takes it.
    fn settle(&mut self, wait_for: Option<&str>) -> Result<(Page, Value), Error> {
        let begun = Instant::now();
        // Something of the time has to be left for taking the content.
        let cap = (begun + CAP).min(begun + self.deadline.saturating_duration_since(begun).mul_f32(0.8));
        let mut answered = false;
        loop {
            let capped = wait_for.is_none() && Instant::now() >= cap;
            let arguments = json!([wait_for, capped, self.want.chosen]);
            // A page that is busy answers late, and at the deadline not at all.
            let untried = self.tab.resumed && !answered && !capped;
            let until = if untried {
                begun + self.deadline.saturating_duration_since(begun) / 4
            } else if capped || wait_for.is_some() {
                self.deadline
            } else {
                cap
            };
            let told = self.tab.socket.told(until.min(begun + FIRST_LOOK)).map_err(|trouble| self.failed(trouble))?;
            let leaves = wait_for.is_none() && self.tab.socket.network().leaves();
            let looked = match told {
                Some(told) => Ok(told),
                None if leaves && !capped => {
                    self.outwait_the_network(true, cap)?;
                    continue;
                }
                None => {
                    if leaves {
                        self.tab.socket.stay().map_err(|trouble| self.failed(trouble))?;
                    }
                    self.tab.socket.execute(&self.script, &arguments, until)
                }
            };
            let answer = match looked {
                Ok(answer) => answer,
                // What an earlier call left here may be at work on its farewell.
                Err(Trouble::Late) if untried => return Err(self.failed(Trouble::Stale)),
                // The page is on its way to another one.
                Err(Trouble::Failed(_)) if Instant::now() + PAUSE < self.deadline => Value::Null,
                Err(Trouble::Failed(_)) => return Err(self.failed(Trouble::Late)),
                // What the page is on its way to may hold up the answer.
                Err(Trouble::Late) if !capped && wait_for.is_none() => Value::Null,
                // The deadline came during one of many looks: what was late is the element.
                Err(Trouble::Late) if answered && wait_for.is_some() => Value::Null,
                Err(trouble) => return Err(self.failed(trouble)),
            };
            let ready = match answer[0].as_str() {
                Some("idle") => Some(Ready::Idle),
                Some("hangs") => Some(Ready::Cap),
                Some("selector") => Some(Ready::Selector),
                Some("bad-selector") => return Err(not_css("--wait-for", wait_for)),
                Some("bad-choice") => return Err(not_css("--selector", self.want.chosen)),
                Some(_) if capped => Some(Ready::Cap),
                _ => None,
            };
            if ready == Some(Ready::Idle) {
                let refreshes = answer[1]["refreshes"] == true;
                self.tab.socket.outwait_load(refreshes).map_err(|trouble| self.failed(trouble))?;
            }
            let sparse = answer[1]["sparse"] == true;
            let ready = match (ready, self.tab.socket.network().rest(sparse)) {
                (Some(Ready::Idle | Ready::Cap), Rest::Busy) if !capped => {
                    self.outwait_the_network(sparse, cap)?;
                    continue;
                }
                (Some(Ready::Idle), Rest::Busy | Rest::Hangs) => Some(Ready::Cap),
                (Some(Ready::Idle), Rest::Quiet) if leaves || self.tab.waited() => Some(Ready::Cap),
                (ready, _) => ready,
            };
            if let Some(ready) = ready {
                return self.taken(ready, answer);
            }
            answered |= !answer.is_null();
            // A document that broke off never comes to an end that it could tell of.
            self.arrives()?;
            let now = Instant::now();
            if let Some(selector) = wait_for.filter(|_| now + PAUSE >= self.deadline) {
                return Err(SELECTOR_NOT_FOUND
                    .error(format!("nothing on the page matched {selector:?} in time"))
                    .remedy("Check the selector, or raise --timeout.")
                    .detail("selector", selector));
            }
            self.listen(PAUSE)?;
        }
    }

    /// Leaves a page alone that waits for something, until it has that and had time to use it.
    fn outwait_the_network(&mut self, sparse: bool, cap: Instant) -> Result<(), Error> {
        while self.tab.socket.network().rest(sparse) == Rest::Busy && Instant::now() < cap {
            self.listen(PAUSE)?;
            self.arrives()?;
        }
        self.listen(USING)
    }

    fn listen(&mut self, time: Duration) -> Result<(), Error> {
        self.tab.socket.listen(time).map_err(|trouble| self.failed(trouble))
    }

    fn taken(&mut self, ready: Ready, mut answer: Value) -> Result<(Page, Value), Error> {
        self.arrives()?;
        let facts: Facts = serde_json::from_value(answer[1].take()).unwrap_or_default();
        if facts.url.starts_with("chrome-error:") {
            // It is what the page has led to that could not be loaded.
            let failure = self.tab.socket.network().shown().failure();
            let (url, net_error) = failure.unwrap_or((&self.url, "net::ERR_FAILED"));
            return Err(navigation_failed(url, net_error));
        }
        address::allow(&facts.url)?;
        // It may have led elsewhere.
        Url::parse(&facts.url).map_or(Ok(()), |url| self.visit.domains.check(&url))?;
        if facts.content_type == "application/pdf" {
            return Err(self.not_a_page("the URL is a PDF, not a page", Some(&facts.content_type), facts.status));
        }
        let headers = self.tab.socket.network().shown().headers();
        Ok((Page::new(facts, &headers, ready), answer[2].take()))
    }

    /// An error if the document that shows broke off while it came, or is where an earlier call's page led.
    fn arrives(&mut self) -> Result<(), Error> {
        if self.tab.socket.is_astray() {
            return Err(self.failed(Trouble::Stale));
        }
        let broke_off = self.tab.socket.network().shown().broke_off();
        broke_off.map_or(Ok(()), |net_error| Err(navigation_failed(&self.url, net_error)))
    }

    /// Waits for a challenge to go: by itself, or by the hand of the person at the window, who may
    /// also press Enter in the terminal to go on.
    async fn outwait_challenge(&mut self, mut page: Page, mut content: Value) -> Result<(Page, Value), Error> {
        let visible = self.visit.visible;
        let patience = if visible { self.visit.timeout.unwrap_or(HUMAN_PATIENCE) } else { CHALLENGE_PATIENCE };
        let until = Instant::now() + patience;
        if visible {
            self.deadline = self.deadline.max(until + DEFAULT_TIMEOUT);
        }
        let enter = visible.then(enter_pressed).flatten();
        while page.challenge.is_some() && Instant::now() < until && Instant::now() + CHALLENGE_PAUSE < self.deadline {
            if enter.as_ref().is_some_and(|enter| enter.try_recv().is_ok()) {
                break;
            }
            tokio::time::sleep(CHALLENGE_PAUSE).await;
            (page, content) = self.settle(None)?;
        }
        match self.visit.wait_for {
            Some(_) if page.challenge.is_none() => self.settle(self.visit.wait_for),
            _ => Ok((page, content)),
        }
    }

    fn not_a_page(&self, what: &str, media_type: Option<&str>, status: u16) -> Error {
        not_a_page(what, &self.url, media_type, status)
    }

    fn failed(&mut self, trouble: Trouble) -> Error {
        self.stale = matches!(trouble, Trouble::Stale);
        let error = match trouble {
            Trouble::Late => TIMEOUT.error("the page did not answer in time"),
            Trouble::Crashed => PAGE_CRASHED.error("the page crashed its tab"),
            other => other.into_error(),
        };
        error.detail("url", self.url.as_str())
    }
}

fn not_a_page(what: &str, url: &str, media_type: Option<&str>, status: u16) -> Error {
    NOT_A_PAGE.error(what).detail("url", url).detail("content_type", media_type).detail("http_status", status)
}

fn not_css(argument: &str, selector: Option<&str>) -> Error {
    let selector = selector.unwrap_or_default();
    ARGUMENT_ERROR
        .error(format!("{argument} can not be {selector:?}: it is not a CSS selector"))
        .detail("argument", argument)
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
