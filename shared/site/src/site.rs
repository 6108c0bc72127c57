//! Polite requests to a site: robots.txt, one delay between all its requests, and useful retries.

use std::{
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use ragmaker_address::codes::{NAVIGATION_FAILED, TIMEOUT};
use ragmaker_http::{Backoff, Client, GetRequest, PRODUCT, Response, Step};
use ragmaker_tool::{Code, Error};
use url::Url;

use crate::{
    redirect::{NotFollowed, Reach},
    robots::Robots,
    rules::Rules,
};

/// The `Accept` header of the request for robots.txt.
const ROBOTS: &str = "text/plain, */*;q=0.5";

/// The maximum number of retries of a request. After a timeout, which has lasted for up to a minute, there is one.
const REPETITIONS: u32 = 3;

/// The delays between retries if the server names none.
const BACKOFF: Backoff = Backoff { first: Duration::from_millis(500), longest: Duration::from_secs(20) };

/// The maximum delay between two requests from a site's Crawl-delay, in seconds.
const MAX_DELAY: f64 = 10.0;

/// The pause after which a site that refused for too many requests is asked, at first.
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// The maximum delay between two requests after refusals.
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// The site asks to wait for longer than the caller does.
pub const WAIT_TOO_LONG: Code = Code::new("WAIT_TOO_LONG", "Fetch it later.");

/// A site.
#[derive(Debug)]
pub(crate) struct Site<'a> {
    pub(crate) client: &'a Client,
    pub(crate) rules: Arc<Rules>,
    /// The longest single wait.
    max_wait: Duration,
    rate_limit: Mutex<RateLimit>,
    is_down: Mutex<bool>,
}

/// When the site may be asked next.
#[derive(Debug, Default)]
struct RateLimit {
    next: Option<Instant>,
    /// Between two requests.
    pause: Duration,
    /// The least that `pause` may become.
    least: Duration,
}

impl<'a> Site<'a> {
    /// Fetches the robots.txt for the site of `url`. If the server fails to return it, nothing is allowed.
    ///
    /// # Errors
    ///
    /// Those of [`Client::get`], where the site cannot be reached.
    pub(crate) fn connect(url: &Url, client: &'a Client, max_wait: Duration) -> Result<Self, Error> {
        let site = Self::new(url, client, max_wait);
        let Ok(robots) = url.join("/robots.txt") else { return Ok(site) };
        let request = GetRequest { url: &robots, accept: ROBOTS, headers: &[] };
        // Its redirects are followed to any host, as RFC 9309 asks for.
        let response = site.send(&request, &mut |_| Ok(()))?;
        let (robots, robots_failure) = match response.status {
            200..300 => (Robots::parse(&response.body, PRODUCT), None),
            status @ (500.. | 429) => (Robots::none(), Some(status)),
            _ => (Robots::default(), None),
        };
        let delay = Duration::from_secs_f64(robots.crawl_delay.unwrap_or(0.0).min(MAX_DELAY));
        let rate_limit = Mutex::new(RateLimit { next: None, pause: delay, least: delay });
        Ok(Self { rules: Arc::new(Rules { home: url.clone(), robots, robots_failure }), rate_limit, ..site })
    }

    fn new(url: &Url, client: &'a Client, max_wait: Duration) -> Self {
        let rules = Arc::new(Rules { home: url.clone(), robots: Robots::default(), robots_failure: None });
        Self { client, rules, max_wait, rate_limit: Mutex::default(), is_down: Mutex::default() }
    }

    /// Why nothing of the site may be fetched: the server failed to return its robots.txt.
    pub(crate) fn failure(&self) -> Option<String> {
        self.rules.failure()
    }

    /// The reason why `url` may not be requested; `None` if it may.
    pub(crate) fn refusal(&self, url: &Url, reach: Reach<'_>) -> Option<String> {
        self.rules.refusal(url, reach)
    }

    /// Sends a request within `reach`, and retries it if that may help. This and the request for robots.txt are the
    /// only requests of a run. `follow` may refuse further redirects.
    ///
    /// # Errors
    ///
    /// Those of [`Client::get_following`], and [`WAIT_TOO_LONG`]; [`NotFollowed::Outside`] where `reach` ends.
    pub(crate) fn get(
        &self,
        request: &GetRequest<'_>,
        reach: Reach<'_>,
        follow: &mut dyn FnMut(&Step) -> Result<(), Error>,
    ) -> Result<Response, Error> {
        if let Some(reason) = self.refusal(request.url, reach) {
            return Err(NotFollowed::Outside.error(format!("{} is not requested: {reason}", request.url)));
        }
        self.send(request, &mut |step| match self.refusal(&step.to, reach) {
            Some(reason) => Err(NotFollowed::Outside.error(format!("it redirects to {}: {reason}", step.to))),
            None => follow(step),
        })
    }

    /// Whether the site is down: once `is_suspected`, it was asked and did not answer at all.
    pub(crate) fn is_down(&self, is_suspected: impl FnOnce() -> bool) -> bool {
        // Of several workers one asks, and the others wait for what it finds out.
        let mut is_down = self.is_down.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_down && is_suspected() {
            *is_down = !self.is_up();
        }
        *is_down
    }

    /// Whether the site still answers, be it with an error.
    fn is_up(&self) -> bool {
        let Ok(robots) = self.rules.home.join("/robots.txt") else { return true };
        self.wait();
        let answer = self.client.get(&GetRequest { url: &robots, accept: ROBOTS, headers: &[] });
        !answer.is_err_and(|error| is_without_connection(&error))
    }

    fn send(
        &self,
        request: &GetRequest<'_>,
        follow: &mut dyn FnMut(&Step) -> Result<(), Error>,
    ) -> Result<Response, Error> {
        let mut number = 0;
        loop {
            self.wait();
            let answer = self.client.get_following(request, follow);
            number += 1;
            // Only the site can ask for a wait that is too long.
            let backoff = || BACKOFF.wait(number).min(self.max_wait);
            let wait = match &answer {
                Ok(response) if matches!(response.status, 429 | 503) => {
                    self.slow_down();
                    response.retry_after().unwrap_or_else(backoff)
                }
                Ok(response) if matches!(response.status, 408 | 500 | 502 | 504) => backoff(),
                Err(error) if is_transient(error) => backoff(),
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
            let is_late = answer.as_ref().is_err_and(|error| error.is(TIMEOUT));
            if number > if is_late { 1 } else { REPETITIONS } {
                return answer;
            }
            // All requests to the site wait: it does not ask one of them alone.
            self.pause_for(wait);
        }
    }

    fn rate_limit(&self) -> std::sync::MutexGuard<'_, RateLimit> {
        self.rate_limit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the site may be asked, and takes the turn.
    fn wait(&self) {
        loop {
            let left = {
                let mut rate_limit = self.rate_limit();
                let now = Instant::now();
                let left =
                    rate_limit.next.and_then(|next| next.checked_duration_since(now)).filter(|left| !left.is_zero());
                let Some(left) = left else {
                    rate_limit.next = Some(now + rate_limit.pause);
                    return;
                };
                left
            };
            thread::sleep(left);
        }
    }

    fn pause_for(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let mut rate_limit = self.rate_limit();
        rate_limit.next = Some(rate_limit.next.map_or(until, |next| next.max(until)));
    }

    fn slow_down(&self) {
        let mut rate_limit = self.rate_limit();
        rate_limit.pause = (rate_limit.pause * 2).clamp(FIRST_PAUSE, MAX_PAUSE).max(rate_limit.least);
    }

    fn speed_up(&self) {
        let mut rate_limit = self.rate_limit();
        rate_limit.pause = (rate_limit.pause * 9 / 10).max(rate_limit.least);
        if rate_limit.pause < Duration::from_millis(2) {
            rate_limit.pause = rate_limit.least;
        }
    }
}

/// Whether a request failed in a way in which it fails where the site is down.
pub(crate) fn may_be_down(error: &Error) -> bool {
    is_without_connection(error) || is_transient(error)
}

/// Whether a request failed because there was no connection, or no answer on it.
fn is_without_connection(error: &Error) -> bool {
    let cause = error.details().get("net_error").and_then(|cause| cause.as_str()).unwrap_or_default();
    let causes = ["CONNECTION_REFUSED", "NAME_NOT_RESOLVED", "TLS_FAILED"];
    error.is(TIMEOUT) || error.is(NAVIGATION_FAILED) && causes.contains(&cause)
}

/// Whether a request that failed in this way may succeed later.
fn is_transient(error: &Error) -> bool {
    let cause = error.details().get("net_error").and_then(|cause| cause.as_str()).unwrap_or_default();
    error.is(TIMEOUT) || error.is(NAVIGATION_FAILED) && matches!(cause, "CONNECTION_LOST" | "FAILED")
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader, Write},
        net::TcpListener,
    };

    use ragmaker_http::Limits;
    use ragmaker_tool::HostOptions;

    use super::*;

    /// A server that answers with these statuses and `Retry-After` headers in order, and then with 200, and the times
    /// of the requests.
    fn server(answers: &'static [(u16, &'static str)]) -> (Url, Arc<Mutex<Vec<Instant>>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = Url::parse(&format!("http://{}/a", listener.local_addr().unwrap())).unwrap();
        let asked: Arc<Mutex<Vec<Instant>>> = Arc::default();
        let times = asked.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                    line.clear();
                }
                let number = {
                    let mut times = times.lock().unwrap();
                    times.push(Instant::now());
                    times.len() - 1
                };
                let (status, wait) = answers.get(number).copied().unwrap_or((200, ""));
                let wait = if wait.is_empty() { String::new() } else { format!("Retry-After: {wait}\r\n") };
                let head = format!("HTTP/1.1 {status} x\r\nContent-Length: 2\r\nConnection: close\r\n{wait}\r\nok");
                let _ = stream.write_all(head.as_bytes());
            }
        });
        (url, asked)
    }

    fn request_with_retries(
        answers: &'static [(u16, &'static str)],
        max_wait: Duration,
    ) -> (Result<u16, Error>, Vec<Duration>, Duration) {
        let (url, times) = server(answers);
        let client = Client::new(&HostOptions::default(), Some(&url), Limits::default()).unwrap();
        let site = Site::new(&url, &client, max_wait);
        let request = GetRequest { url: &url, accept: "*/*", headers: &[] };
        let status = site.get(&request, Reach::Site, &mut |_| Ok(())).map(|response| response.status);
        let times = times.lock().unwrap();
        let pauses = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let pause = site.rate_limit().pause;
        (status, pauses, pause)
    }

    #[test]
    fn a_site_is_asked_again_when_it_says() {
        let minute = Duration::from_mins(1);
        let (status, pauses, pause) = request_with_retries(&[(429, "1"), (503, "1")], minute);
        assert_eq!((status.unwrap(), pauses.len()), (200, 2));
        assert!(pauses.iter().all(|pause| *pause >= Duration::from_millis(990)), "{pauses:?}");
        // It is asked more slowly from now on.
        assert!(pause >= FIRST_PAUSE, "{pause:?}");
        let (status, pauses, _) = request_with_retries(&[(429, "3600")], minute);
        let error = status.unwrap_err();
        assert!(error.is(WAIT_TOO_LONG) && error.details()["retry_after_s"] == 3600, "{error}");
        assert!(pauses.is_empty());
        // A number of any size is a wait.
        let (status, pauses, _) = request_with_retries(&[(429, "99999999999999999999999")], minute);
        assert!(status.unwrap_err().is(WAIT_TOO_LONG) && pauses.is_empty());
    }

    #[test]
    fn only_the_site_can_ask_for_too_long_a_wait() {
        let most = Duration::from_millis(100);
        let (status, pauses, _) = request_with_retries(&[(500, ""), (502, ""), (503, "")], most);
        assert_eq!((status.unwrap(), pauses.len()), (200, 3));
    }

    #[test]
    fn failures_are_repeated_with_longer_and_longer_waits() {
        let (status, pauses, pause) = request_with_retries(&[(500, ""), (502, "")], Duration::from_mins(1));
        assert_eq!((status.unwrap(), pauses.len(), pause), (200, 2, Duration::ZERO));
        // Half of the doubled wait at least.
        assert!(pauses[0] >= BACKOFF.first / 2 && pauses[1] >= BACKOFF.first, "{pauses:?}");
        let (status, pauses, _) = request_with_retries(&[(404, "")], Duration::from_mins(1));
        assert_eq!((status.unwrap(), pauses.len()), (404, 0));
    }

    #[test]
    fn a_site_that_refuses_is_asked_more_slowly_and_then_faster_again() {
        let (url, _) = server(&[]);
        let client = Client::new(&HostOptions::default(), Some(&url), Limits::default()).unwrap();
        let site = Site::new(&url, &client, Duration::ZERO);
        let pause = || site.rate_limit().pause;
        for _ in 0..20 {
            site.slow_down();
        }
        assert_eq!(pause(), MAX_PAUSE);
        for _ in 0..100 {
            site.speed_up();
        }
        assert_eq!(pause(), Duration::ZERO);
        // Never faster than robots.txt asks for.
        site.rate_limit().least = Duration::from_secs(1);
        site.slow_down();
        site.speed_up();
        assert_eq!(pause(), Duration::from_secs(1));
    }
}
