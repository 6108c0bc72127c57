//! A site that is asked politely: its robots.txt, one wait for all its requests, and repetitions that help.

use std::{
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use ragmaker_address::codes::{NAVIGATION_FAILED, TIMEOUT};
use ragmaker_http::{Backoff, Client, Get, PRODUCT, Response};
use ragmaker_tool::{Code, Error};
use url::Url;

use crate::{load::HTML_FIRST, robots::Robots};

/// How many times a request is sent again.
const REPETITIONS: u32 = 3;

/// The waits between repetitions where the server names none.
const BACKOFF: Backoff = Backoff { first: Duration::from_millis(500), longest: Duration::from_secs(20) };

/// The longest pause between two requests that a site's Crawl-delay leads to.
const LONGEST_DELAY: f64 = 10.0;

/// The pause after which a site that refused for too many requests is asked, at first.
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// The longest pause that refusals lead to.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The site asks to wait for longer than the caller does.
pub const WAIT_TOO_LONG: Code = Code::new("WAIT_TOO_LONG", "Fetch it later, or allow more with --max-wait.");

/// A site.
#[derive(Debug)]
pub(crate) struct Site<'a> {
    pub(crate) client: &'a Client,
    pub(crate) robots: Robots,
    /// The longest single wait.
    max_wait: Duration,
    pace: Mutex<Pace>,
}

/// When the site may be asked next.
#[derive(Debug, Default)]
struct Pace {
    next: Option<Instant>,
    /// Between two requests.
    pause: Duration,
    /// The least that `pause` may become.
    least: Duration,
}

impl<'a> Site<'a> {
    /// The site of `url`, whose robots.txt is fetched: a server that fails to give one allows nothing.
    ///
    /// # Errors
    ///
    /// Those of [`Client::get`], where the site cannot be reached.
    pub(crate) fn meet(url: &Url, client: &'a Client, max_wait: Duration) -> Result<Self, Error> {
        let mut site = Self { client, robots: Robots::default(), max_wait, pace: Mutex::default() };
        let Ok(robots) = url.join("/robots.txt") else { return Ok(site) };
        let response =
            site.get(&Get { url: &robots, accept: "text/plain, */*;q=0.5", headers: &[] }, &mut |_| Ok(()))?;
        site.robots = match response.status {
            200..300 => Robots::parse(&response.body, PRODUCT),
            500.. | 429 => Robots::none(),
            _ => Robots::default(),
        };
        let delay = Duration::from_secs_f64(site.robots.crawl_delay.unwrap_or(0.0).min(LONGEST_DELAY));
        site.pace = Mutex::new(Pace { next: None, pause: delay, least: delay });
        Ok(site)
    }

    /// Whether robots.txt lets `url` be fetched.
    pub(crate) fn allows(&self, url: &Url) -> bool {
        let target = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        self.robots.allows(&target)
    }

    /// The page at `url`, as HTML before other types.
    pub(crate) fn page(&self, url: &Url) -> Result<Response, Error> {
        self.get(&Get { url, accept: HTML_FIRST, headers: &[] }, &mut |_| Ok(()))
    }

    /// Sends a request, again where that may help; `follow` may refuse redirects.
    ///
    /// # Errors
    ///
    /// Those of [`Client::get_following`], and [`WAIT_TOO_LONG`].
    pub(crate) fn get(
        &self,
        request: &Get<'_>,
        follow: &mut dyn FnMut(&Url) -> Result<(), Error>,
    ) -> Result<Response, Error> {
        let mut number = 0;
        loop {
            self.wait();
            let answer = self.client.get_following(request, follow);
            number += 1;
            let wait = match &answer {
                Ok(response) if matches!(response.status, 429 | 503) => {
                    self.slow_down();
                    response.retry_after().unwrap_or_else(|| BACKOFF.wait(number))
                }
                Ok(response) if matches!(response.status, 408 | 500 | 502 | 504) => BACKOFF.wait(number),
                Err(error) if may_pass(error) => BACKOFF.wait(number),
                _ => {
                    self.speed_up();
                    return answer;
                }
            };
            if wait > self.max_wait {
                return Err(WAIT_TOO_LONG
                    .error(format!("the site asks to wait for {} s", wait.as_secs()))
                    .detail("url", request.url.as_str())
                    .detail("retry_after_s", wait.as_secs()));
            }
            if number > REPETITIONS {
                return answer;
            }
            // All requests to the site wait: it does not ask one of them alone.
            self.pause_for(wait);
        }
    }

    fn pace(&self) -> std::sync::MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the site may be asked, and takes the turn.
    fn wait(&self) {
        loop {
            let left = {
                let mut pace = self.pace();
                let now = Instant::now();
                let left = pace.next.and_then(|next| next.checked_duration_since(now)).filter(|left| !left.is_zero());
                let Some(left) = left else {
                    pace.next = Some(now + pace.pause);
                    return;
                };
                left
            };
            thread::sleep(left);
        }
    }

    fn pause_for(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let mut pace = self.pace();
        pace.next = Some(pace.next.map_or(until, |next| next.max(until)));
    }

    fn slow_down(&self) {
        let mut pace = self.pace();
        pace.pause = (pace.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE).max(pace.least);
    }

    fn speed_up(&self) {
        let mut pace = self.pace();
        pace.pause = (pace.pause * 9 / 10).max(pace.least);
        if pace.pause < Duration::from_millis(2) {
            pace.pause = pace.least;
        }
    }
}

/// Whether a request failed because the site cannot be reached.
pub(crate) fn is_down(error: &Error) -> bool {
    let cause = error.details().get("net_error").and_then(|cause| cause.as_str()).unwrap_or_default();
    let causes = ["CONNECTION_LOST", "CONNECTION_REFUSED", "NAME_NOT_RESOLVED", "TLS_FAILED"];
    error.is(TIMEOUT) || error.is(NAVIGATION_FAILED) && causes.contains(&cause)
}

/// Whether a request that failed in this way may succeed later.
fn may_pass(error: &Error) -> bool {
    let cause = error.details().get("net_error").and_then(|cause| cause.as_str()).unwrap_or_default();
    error.is(TIMEOUT) || error.is(NAVIGATION_FAILED) && matches!(cause, "CONNECTION_LOST" | "FAILED")
}
