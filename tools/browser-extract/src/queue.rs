//! The queue of pages to load: which page is next, and when it may be loaded.
//!
//! Only a few pages of a site are loaded at the same time. After a site has asked for a pause (`Retry-After`), no page
//! of it is loaded until the pause is over.

use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, Instant},
};

use ragmaker_browser::codes::{BROWSER_BUSY, BROWSER_LOST, HTTP_ERROR, TIMEOUT};
use ragmaker_tool::Error;
use url::Url;

/// How often one page is asked for.
const TRIES: u32 = 4;

/// How often one page waits for a browser: a grid whose hub restarts may have none for a minute, and the page was not
/// asked for.
const BROWSER_TRIES: u32 = 6;

/// The longest wait that a site may ask for; the answer about the page says when it asks for more.
const MAX_WAIT: Duration = Duration::from_mins(1);

/// The wait before a page is asked for again whose site has named none; doubled each time.
const WAIT: Duration = Duration::from_secs(1);

/// How long a worker waits that may not load another page for now.
const PAUSE: Duration = Duration::from_secs(1);

/// So many pages in a row that take too long are a sign that too many are loaded at once.
const LATE: usize = 2;

/// A page to load.
#[derive(Debug)]
pub(crate) struct Task {
    /// The address as it was asked for.
    pub(crate) requested: String,
    pub(crate) url: Url,
    tries: u32,
    /// How often there was no browser for it.
    without_browser: u32,
    /// How many pages had had a browser when there was none for it first.
    others_before: usize,
    /// Why it was not received when it was asked for last.
    failure: Option<Error>,
    /// The position of its host in the queue.
    host: usize,
}

impl Task {
    pub(crate) fn new(requested: String, url: Url) -> Self {
        Self { requested, url, tries: 0, without_browser: 0, others_before: 0, failure: None, host: 0 }
    }
}

#[derive(Debug, Default)]
struct Host {
    waiting: VecDeque<Task>,
    active: usize,
    not_before: Option<Instant>,
    /// Why it is not asked any more.
    refuses: Option<Error>,
}

impl Host {
    fn may_ask(&self, per_host: usize, now: Instant) -> bool {
        let rests = self.not_before.is_some_and(|until| until > now);
        self.refuses.is_some() || (self.active < per_host && !rests)
    }
}

/// The next work of a worker.
#[derive(Debug)]
pub(crate) enum WorkItem {
    Load(Task),
    /// The page is not loaded: its host asked for too long a pause.
    Refused(Task, Error),
    /// Nothing may be loaded now: wait until another page ends, or until the given time.
    Wait(Option<Instant>),
    End,
}

#[derive(Debug)]
pub(crate) struct Queue {
    /// In the order of their first pages: a list has few hosts and many pages.
    hosts: Vec<Host>,
    active: usize,
    per_host: usize,
    /// How many pages may be loaded at once for now, and at most.
    tabs: usize,
    most_tabs: usize,
    /// How many pages ended in time since the number of tabs changed; how many in a row did not.
    in_time: usize,
    late: usize,
    /// How many pages have had a browser.
    with_browser: usize,
}

impl Queue {
    pub(crate) fn new(tasks: Vec<Task>, tabs: usize, per_host: usize) -> Self {
        let mut hosts: Vec<Host> = vec![];
        let mut positions = HashMap::new();
        for mut task in tasks {
            let name = (task.url.host_str().map(str::to_owned), task.url.port_or_known_default());
            task.host = *positions.entry(name).or_insert(hosts.len());
            if task.host == hosts.len() {
                hosts.push(Host::default());
            }
            hosts[task.host].waiting.push_back(task);
        }
        Self { hosts, active: 0, per_host, tabs, most_tabs: tabs, in_time: 0, late: 0, with_browser: 0 }
    }

    /// The maximum number of pages that are ever loaded at once.
    pub(crate) fn max_parallel_pages(&self) -> usize {
        self.hosts.iter().map(|host| host.waiting.len().min(self.per_host)).sum()
    }

    /// Whether there is a page to load now.
    pub(crate) fn is_ready(&self, now: Instant) -> bool {
        self.active < self.tabs
            && self.hosts.iter().any(|host| !host.waiting.is_empty() && host.may_ask(self.per_host, now))
    }

    /// Whether a page is being loaded.
    pub(crate) fn is_active(&self) -> bool {
        self.active > 0
    }

    /// The next work of a worker. `has_memory` says whether there is memory for a page beside those that are loaded.
    pub(crate) fn next(&mut self, now: Instant, has_memory: bool) -> WorkItem {
        if self.active >= self.tabs || (self.active > 0 && !has_memory) {
            return WorkItem::Wait(Some(now + PAUSE));
        }
        let mut soonest: Option<Instant> = None;
        let mut is_over = self.active == 0;
        for host in &mut self.hosts {
            if !host.may_ask(self.per_host, now) {
                let rests_until = host.not_before.filter(|until| *until > now);
                is_over &= host.waiting.is_empty();
                soonest = [soonest, rests_until.filter(|_| !host.waiting.is_empty())].into_iter().flatten().min();
                continue;
            }
            let Some(mut task) = host.waiting.pop_front() else { continue };
            host.active += 1;
            self.active += 1;
            return match &host.refuses {
                None => WorkItem::Load(task),
                Some(not_asked) => {
                    let own = task.failure.take();
                    let error = own.unwrap_or_else(|| not_asked.clone().detail("url", task.url.as_str()));
                    WorkItem::Refused(task, error)
                }
            };
        }
        if is_over { WorkItem::End } else { WorkItem::Wait(soonest) }
    }

    /// Notes that `task` has ended. It comes back where that is final; else it is asked for again later.
    pub(crate) fn ended(&mut self, mut task: Task, error: Option<&Error>, now: Instant) -> Option<Task> {
        self.active -= 1;
        self.adapt(error.is_some_and(|error| error.is(TIMEOUT) || error.is(BROWSER_BUSY)));
        let host = &mut self.hosts[task.host];
        host.active -= 1;
        if error.is_some_and(|error| error.is(BROWSER_BUSY)) {
            if task.without_browser == 0 {
                task.others_before = self.with_browser;
            }
            task.without_browser += 1;
        } else {
            task.tries += 1;
            self.with_browser += 1;
        }
        let Some(error) = error else { return Some(task) };
        let named = error.details().get("retry_after").and_then(|wait| ragmaker_http::retry_after(wait.as_str()?));
        let status = error.details().get("http_status").and_then(serde_json::Value::as_u64);
        let is_limited = error.is(HTTP_ERROR)
            && match status {
                Some(429) => true,
                Some(503) => named.is_some(),
                _ => false,
            };
        if is_limited {
            let wait = named.unwrap_or(WAIT * (1 << task.tries));
            if wait > MAX_WAIT {
                // What one page is closed for, another may not be; too many requests are those of the host.
                if status == Some(429) {
                    host.refuses = Some(not_asked(error));
                }
                return Some(task);
            }
            host.not_before = host.not_before.max(Some(now + wait));
        } else if error.is(TIMEOUT) && task.tries == 1 && self.tabs < self.most_tabs {
            // It may have been late because too many pages were loaded at once.
        } else if !error.is(BROWSER_BUSY) && !error.is(BROWSER_LOST) {
            return Some(task);
        }
        if task.without_browser >= BROWSER_TRIES && task.others_before == self.with_browser {
            // No page had a browser in all that time: the others need not wait as long, one after the other.
            for host in &mut self.hosts {
                host.refuses.get_or_insert_with(|| error.clone());
            }
            return Some(task);
        }
        if task.tries >= TRIES || task.without_browser >= BROWSER_TRIES || host.refuses.is_some() {
            return Some(task);
        }
        task.failure = Some(error.clone()).filter(|error| !error.is(BROWSER_BUSY));
        host.waiting.push_front(task);
        None
    }

    /// Halves the number of tabs when pages take too long one after the other, and takes one more when twice as many
    /// as there are tabs have ended in time.
    fn adapt(&mut self, is_late: bool) {
        (self.in_time, self.late) = if is_late { (0, self.late + 1) } else { (self.in_time + 1, 0) };
        if self.late >= LATE {
            (self.tabs, self.late) = ((self.tabs / 2).max(1), 0);
        } else if self.in_time >= 2 * self.tabs && self.tabs < self.most_tabs {
            (self.tabs, self.in_time) = (self.tabs + 1, 0);
        }
    }

    /// Loads nothing more.
    pub(crate) fn stop(&mut self) {
        self.hosts.iter_mut().for_each(|host| host.waiting.clear());
    }
}

/// The error for a page whose host refused another one with `error`.
fn not_asked(error: &Error) -> Error {
    let details = error.details();
    let not_asked = HTTP_ERROR
        .error("the host answered 429 to another page and asks for a long wait: this page was not requested")
        .remedy("Call again after the time that details.retry_after says.");
    ["http_status", "retry_after"]
        .into_iter()
        .fold(not_asked, |error, name| error.detail(name, details.get(name).cloned().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(urls: &[&str], per_host: usize) -> Queue {
        let tasks = urls.iter().map(|url| Task::new((*url).to_owned(), Url::parse(url).unwrap()));
        Queue::new(tasks.collect(), 8, per_host)
    }

    fn load(queue: &mut Queue, now: Instant) -> Option<Task> {
        if let WorkItem::Load(task) = queue.next(now, true) { Some(task) } else { None }
    }

    fn limited(wait: &str) -> Error {
        HTTP_ERROR.error("x").detail("http_status", 429).detail("retry_after", wait)
    }

    #[test]
    fn a_site_is_asked_for_few_pages_at_once() {
        let now = Instant::now();
        let mut queue = queue(&["http://a.example/1", "http://a.example/2", "http://b.example/1"], 1);
        assert!(queue.max_parallel_pages() == 2 && queue.is_ready(now) && !queue.is_active());
        let first = load(&mut queue, now).unwrap();
        let other = load(&mut queue, now).unwrap();
        assert_eq!((first.requested.as_str(), other.requested.as_str()), ("http://a.example/1", "http://b.example/1"));
        assert!(matches!(queue.next(now, true), WorkItem::Wait(None)) && !queue.is_ready(now) && queue.is_active());
        assert!(queue.ended(first, None, now).is_some());
        let last = load(&mut queue, now).unwrap();
        assert_eq!(last.requested, "http://a.example/2");
        assert!(matches!(queue.next(now, true), WorkItem::Wait(None)));
        queue.ended(last, None, now);
        queue.ended(other, None, now);
        assert!(matches!(queue.next(now, true), WorkItem::End));
    }

    #[test]
    fn a_site_is_left_alone_for_as_long_as_it_asks() {
        let now = Instant::now();
        let mut queue = queue(&["http://a.example/1", "http://a.example/2"], 2);
        let task = load(&mut queue, now).unwrap();
        assert!(queue.ended(task, Some(&limited("7")), now).is_none());
        let later = now + Duration::from_secs(7);
        assert!(matches!(queue.next(now, true), WorkItem::Wait(Some(until)) if until == later));
        let task = load(&mut queue, later).unwrap();
        assert_eq!(task.requested, "http://a.example/1");
        // More than a minute is not waited for, and the rest of the site is not asked.
        assert!(queue.ended(task, Some(&limited("61")), later).is_some());
        let WorkItem::Refused(task, error) = queue.next(later, true) else { panic!("it is refused") };
        assert!(
            error.is(HTTP_ERROR)
                && error.message().contains("not requested")
                && error.details()["url"] == "http://a.example/2",
            "{error}"
        );
        assert!(queue.ended(task, Some(&error), later).is_some());
        assert!(matches!(queue.next(later, true), WorkItem::End));
    }

    #[test]
    fn a_page_that_was_asked_for_keeps_its_own_error_when_its_site_is_not_asked_any_more() {
        let now = Instant::now();
        let mut queue = queue(&["http://a.example/1", "http://a.example/2", "http://a.example/3"], 3);
        let [first, second, third] = [0; 3].map(|_| load(&mut queue, now).unwrap());
        queue.tabs = 2;
        assert!(queue.ended(first, Some(&TIMEOUT.error("late")), now).is_none());
        assert!(queue.ended(second, Some(&BROWSER_BUSY.error("x")), now).is_none());
        assert!(queue.ended(third, Some(&limited("61")), now).is_some());
        let WorkItem::Refused(second, error) = queue.next(now, true) else { panic!("it is refused") };
        assert!(second.requested.ends_with('2') && error.message().contains("not requested"), "{error}");
        assert!(queue.ended(second, Some(&error), now).is_some());
        let WorkItem::Refused(first, error) = queue.next(now, true) else { panic!("it is refused") };
        assert!(first.requested.ends_with('1') && error.is(TIMEOUT), "{error}");
    }

    #[test]
    fn a_page_is_asked_for_a_few_times_and_other_errors_are_final() {
        let mut now = Instant::now();
        let mut queue = queue(&["http://a.example/1"], 1);
        for attempt in 1..=TRIES {
            let task = load(&mut queue, now).unwrap();
            assert_eq!(queue.ended(task, Some(&limited("0")), now).is_some(), attempt == TRIES);
            now += Duration::from_secs(1);
        }
        let mut queue = self::queue(&["http://a.example/1"], 1);
        let task = load(&mut queue, now).unwrap();
        let error = HTTP_ERROR.error("x").detail("http_status", 503);
        assert!(queue.ended(task, Some(&error), now).is_some());
    }

    #[test]
    fn fewer_pages_are_loaded_at_once_where_they_take_too_long() {
        let now = Instant::now();
        let urls: Vec<String> = (0..40).map(|number| format!("http://{number}.example/")).collect();
        let mut queue = queue(&urls.iter().map(String::as_str).collect::<Vec<_>>(), 2);
        let mut active: Vec<Task> = std::iter::from_fn(|| load(&mut queue, now)).collect();
        assert_eq!(active.len(), 8);
        assert!(matches!(queue.next(now, true), WorkItem::Wait(Some(_))));
        let late = TIMEOUT.error("x");
        // One that hangs beside others that do not says nothing.
        assert!(queue.ended(active.pop().unwrap(), Some(&late), now).is_some());
        assert!(queue.ended(active.pop().unwrap(), None, now).is_some());
        assert_eq!(queue.tabs, 8);
        assert!(queue.ended(active.pop().unwrap(), Some(&late), now).is_some());
        // The one that shows it is asked for again.
        assert!(queue.ended(active.pop().unwrap(), Some(&late), now).is_none());
        assert_eq!((queue.tabs, queue.active), (4, 4));
        assert!(matches!(queue.next(now, true), WorkItem::Wait(Some(_))));
        for _ in 0..8 {
            assert!(queue.ended(active.pop().unwrap(), None, now).is_some());
            active.extend(load(&mut queue, now));
        }
        assert_eq!(queue.tabs, 5);
    }

    #[test]
    fn a_page_waits_for_a_browser_longer_than_it_is_asked_for() {
        let now = Instant::now();
        let mut queue = queue(&["http://a.example/"], 1);
        let (busy, lost) = (BROWSER_BUSY.error("x"), BROWSER_LOST.error("x"));
        for error in [&busy, &busy, &lost, &busy, &lost, &busy, &busy] {
            let task = load(&mut queue, now).unwrap();
            assert!(queue.ended(task, Some(error), now).is_none());
        }
        let task = load(&mut queue, now).unwrap();
        assert!(queue.ended(task, Some(&busy), now).is_some());
    }

    #[test]
    fn if_no_page_has_a_browser_for_long_the_others_do_not_wait() {
        let now = Instant::now();
        let urls = ["http://a.example/1", "http://a.example/2", "http://b.example/1"];
        let busy = BROWSER_BUSY.error("x");
        for others_have_one in [false, true] {
            let mut queue = queue(&urls, 1);
            for attempt in 1..=BROWSER_TRIES {
                let task = load(&mut queue, now).unwrap();
                assert_eq!(task.requested, urls[0]);
                if attempt == 3 && others_have_one {
                    let other = load(&mut queue, now).unwrap();
                    assert_eq!(other.requested, urls[2]);
                    queue.ended(other, None, now);
                }
                assert_eq!(queue.ended(task, Some(&busy), now).is_some(), attempt == BROWSER_TRIES);
            }
            let WorkItem::Refused(task, error) = queue.next(now, true) else {
                assert!(others_have_one);
                continue;
            };
            assert!(!others_have_one && error.is(BROWSER_BUSY) && error.details()["url"] == urls[1], "{error}");
            assert!(queue.ended(task, Some(&error), now).is_some());
        }
    }

    #[test]
    fn without_memory_pages_are_loaded_one_after_the_other() {
        let now = Instant::now();
        let mut queue = queue(&["http://a.example/", "http://b.example/"], 1);
        let WorkItem::Load(first) = queue.next(now, false) else { panic!("the first is loaded") };
        assert!(matches!(queue.next(now, false), WorkItem::Wait(Some(_))));
        queue.ended(first, None, now);
        assert!(matches!(queue.next(now, false), WorkItem::Load(_)));
    }
}
