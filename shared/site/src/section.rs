//! A section of a site: every page below an address, saved.
//!
//! Workers take addresses from one queue, breadth first. A page is fetched and converted without a lock (`visit`); the shared
//! state of the run is changed under a lock. The links of a page are recorded together with the page, so a killed run
//! continues with the same queue.

use std::{
    collections::{HashSet, VecDeque},
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use ragmaker_catalog::{Catalog, Listed, Source};
use ragmaker_http::Client;
use ragmaker_ingest::{DocumentKey, Page, Run, Store, Summary, Verdict};
use ragmaker_knowledge::{content_hash, title_of};
use ragmaker_markdown::Document;
use ragmaker_tool::Error;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::{
    done::FetchedUrls,
    links::{PageLinks, SectionLinks},
    load::{Browser, Via},
    missing::MissingPage,
    scope::{Scope, is_markdown, key},
    seeds,
    site::Site,
    visit::{Context, Known, Outcome, Visited, visit},
};

/// After so many failures in a row, the site is taken to be down.
const DOWN: usize = 5;

/// The names of pages that servers show for a folder.
const INDEXES: [&str; 2] = ["index.html", "index.htm"];

/// The request for a section.
#[derive(Debug)]
pub struct SectionRequest<'a> {
    /// Its start page.
    pub start: &'a Url,
    /// Its scope.
    pub scope: Scope,
    /// The maximum number of links from the start page; `None` for any number, and then sitemaps and llms.txt are read
    /// as well.
    pub depth: Option<u32>,
    /// The most pages of the section.
    pub max_pages: usize,
    /// The maximum pause that the site may ask for.
    pub max_wait: Duration,
    /// Requests at once.
    pub concurrency: usize,
    /// The browser session, as the catalog records it.
    pub session: Option<String>,
    /// The key that identifies the run when it is continued after an interruption.
    pub key: String,
    /// Whether each page is printed as it ends.
    pub stream: bool,
}

/// The result for the pages of a section.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Fetched {
    /// The summary of the run.
    #[serde(flatten)]
    pub run: Summary,
    /// The number of known pages of the section that were not fetched because of `max_pages`.
    pub left: usize,
}

/// A run that several workers share.
struct Section<'a, 's> {
    context: Context<'a>,
    /// The links of the last run; `None` where no links are followed.
    earlier: Option<SectionLinks>,
    state: Mutex<State<'s>>,
    changed: Condvar,
}

/// The state that the workers share, under one lock.
struct State<'a> {
    queue: VecDeque<(Url, u32)>,
    /// Addresses of Markdown, which may be other forms of pages: after all others.
    later: VecDeque<(Url, u32)>,
    /// Every address that was queued.
    seen: HashSet<String>,
    done: Arc<FetchedUrls>,
    busy: usize,
    store: Store<'a>,
    run: Run,
    unreachable: usize,
    /// The links of the pages of this run.
    links: SectionLinks,
    error: Option<Error>,
}

/// A journal entry: the result of a page, or the start of the run.
#[derive(Default, Serialize, Deserialize)]
struct JournalEntry {
    /// The addresses that are done.
    #[serde(default)]
    done: Vec<String>,
    /// The addresses that were found first here, with their depth.
    #[serde(default)]
    found: Vec<(Url, u32)>,
}

impl<'s> Section<'_, 's> {
    /// The shared state. A worker that panicked leaves it consistent.
    fn state(&self) -> MutexGuard<'_, State<'s>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The links of the document at `url`, which is `listed`; none where they are not needed.
    fn links_of(&self, url: &str, listed: &Listed) -> Option<PageLinks> {
        self.earlier.as_ref().map_or_else(|| Some(PageLinks::default()), |earlier| earlier.of(url, listed))
    }
}

/// Fetches the section and saves it in `folder`.
///
/// # Errors
///
/// Where nothing can be written, or the start is not allowed; what is wrong with a page or the site is a verdict.
pub fn fetch(
    wanted: &SectionRequest<'_>,
    client: &Client,
    browser: Option<&Browser>,
    catalog: &Catalog,
    folder: PathBuf,
) -> Result<Fetched, Error> {
    let store = Store::open(catalog, folder)?;
    let name = ragmaker_document::file_name(wanted.scope.prefix().as_str());
    let name = format!("http-fetch-{}", name.trim_end_matches(".md"));
    let mut run = Run::start(catalog, &name, &wanted.key, wanted.stream)?;
    let site = match Site::connect(wanted.start, client, wanted.max_wait) {
        Ok(site) => site,
        Err(error) if error.is_not_allowed() => return Err(error),
        Err(error) => {
            // Nothing is known of a site that cannot be reached.
            run.end(Page::failed(key(wanted.start), &error), JournalEntry::default())?;
            return Ok(Fetched { run: run.finish()?, left: 0 });
        }
    };
    let earlier: Vec<JournalEntry> = run.earlier();
    let mut state = State::new(store, run);
    if earlier.is_empty() {
        let found = seeded(wanted, &site, &state.store);
        let found = state.enqueue(found, &wanted.scope);
        state.run.note(JournalEntry { done: vec![], found })?;
    } else {
        for JournalEntry { done, found } in earlier {
            state.enqueue(found, &wanted.scope);
            state.done.add(done);
        }
    }
    let missing = MissingPage::of(wanted.scope.prefix(), &site);
    let earlier = state.run.kept();
    let state = all(wanted, &site, missing, browser, Some(earlier), state);
    let State { queue, later, mut store, run, error, done, links, .. } = state;
    if let Some(error) = error {
        return Err(error);
    }
    store.finish()?;
    run.keep(&links)?;
    let left = queue.iter().chain(&later).filter(|(url, _)| !done.has(&key(url))).count();
    Ok(Fetched { run: run.finish()?, left })
}

/// Visits the queued addresses and the addresses that their pages link to.
fn all<'s>(
    wanted: &SectionRequest<'_>,
    site: &Site<'_>,
    missing: MissingPage,
    browser: Option<&Browser>,
    earlier: Option<SectionLinks>,
    state: State<'s>,
) -> State<'s> {
    let context = Context {
        site,
        scope: &wanted.scope,
        browser,
        session: wanted.session.clone(),
        missing,
        statistics: Mutex::default(),
        done: Arc::clone(&state.done),
    };
    let section = Section { context, earlier, state: Mutex::new(state), changed: Condvar::new() };
    thread::scope(|scope| {
        for _ in 1..wanted.concurrency {
            scope.spawn(|| work(wanted, &section));
        }
        work(wanted, &section);
    });
    section.state.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Fetches the pages at `urls` of one site again, without following links. Each page has a verdict.
///
/// # Errors
///
/// Where nothing can be written.
pub(crate) fn refetch<'s>(
    wanted: &SectionRequest<'_>,
    urls: &[Url],
    folder: &Url,
    client: &Client,
    browser: Option<&Browser>,
    (mut store, mut run): (Store<'s>, Run),
) -> Result<(Store<'s>, Run), Error> {
    let fail =
        |run: &mut Run, error: &Error| urls.iter().try_for_each(|url| run.end(Page::failed(key(url), error), ()));
    let site = match Site::connect(wanted.start, client, wanted.max_wait) {
        Ok(site) => site,
        Err(error) => {
            fail(&mut run, &error)?;
            return Ok((store, run));
        }
    };
    // Some may be passed over as other forms of pages; they are asked for by themselves then.
    for _ in 0..2 {
        let ended: HashSet<&str> = run.pages().iter().map(|page| page.url.as_str()).collect();
        let left: Vec<(Url, u32)> =
            urls.iter().filter(|url| !ended.contains(key(url).as_str())).map(|url| (url.clone(), 0)).collect();
        if left.is_empty() {
            break;
        }
        let missing = MissingPage::of(folder, &site);
        let seen = left.iter().map(|(url, _)| key(url)).collect();
        let begun = State { queue: left.into(), seen, ..State::new(store, run) };
        let ended = all(wanted, &site, missing, browser, None, begun);
        if let Some(error) = ended.error {
            return Err(error);
        }
        (store, run) = (ended.store, ended.run);
    }
    Ok((store, run))
}

/// The start addresses of the section, each with its depth.
fn seeded(wanted: &SectionRequest<'_>, site: &Site<'_>, store: &Store<'_>) -> Vec<(Url, u32)> {
    let mut found = vec![(wanted.start.clone(), 0)];
    if wanted.depth.is_none() {
        let known = store.documents().filter_map(|(url, _)| Url::parse(url).ok()).map(|url| (url, 0));
        let mut known: Vec<_> = known.collect();
        // A catalog is read in no order.
        known.sort();
        found.extend(known);
        found.extend(seeds::of_sitemaps(wanted.scope.prefix(), site).into_iter().map(|url| (url, 0)));
        found.extend(seeds::of_llms_txt(wanted.scope.prefix(), site).into_iter().map(|url| (url, 0)));
    }
    found
}

impl<'a> State<'a> {
    /// Nothing queued yet.
    fn new(store: Store<'a>, run: Run) -> Self {
        Self {
            queue: VecDeque::new(),
            later: VecDeque::new(),
            seen: HashSet::new(),
            done: Arc::default(),
            busy: 0,
            store,
            run,
            unreachable: 0,
            links: SectionLinks::default(),
            error: None,
        }
    }

    /// Queues those of `found` that are of the section and were not found before; returns them.
    fn enqueue(&mut self, found: Vec<(Url, u32)>, scope: &Scope) -> Vec<(Url, u32)> {
        let mut new = vec![];
        for (mut url, depth) in found {
            url.set_fragment(None);
            if scope.refusal(&url).is_none() && self.seen.insert(key(&url)) {
                let queue = if is_markdown(&url) { &mut self.later } else { &mut self.queue };
                queue.push_back((url.clone(), depth));
                new.push((url, depth));
            }
        }
        new
    }

    /// The next address to fetch.
    fn next(&mut self) -> Option<(Url, u32)> {
        loop {
            let (url, depth) = match self.queue.pop_front() {
                Some(next) => next,
                // Another worker may still find pages that an address of Markdown is a form of.
                None if self.busy > 0 => return None,
                None => self.later.pop_front()?,
            };
            let is_form = || forms(&url).iter().any(|form| self.seen.contains(form));
            if !self.done.has(&key(&url)) && !is_form() {
                return Some((url, depth));
            }
        }
    }

    /// The file of the document at `url`, where a browser showed it.
    fn browsed(&self, url: &str) -> Option<PathBuf> {
        let listed = self.store.known(url)?;
        matches!(listed.source, Some(Source::Browser { .. })).then(|| self.store.file_of(listed)).flatten()
    }

    /// Whether the page at `url`, which is new, is saved already under the address of its folder or of the folder's index:
    /// servers show `/docs/index.html` as `/docs/`, too.
    fn is_saved_as_folder(&self, url: &str, document: &Document) -> bool {
        let Some((folder, name)) = url.rsplit_once('/').filter(|_| self.store.known(url).is_none()) else {
            return false;
        };
        let is_same = |other: &str| {
            let hash = self.store.known(other).and_then(|listed| listed.content_hash.as_ref());
            hash.is_some_and(|hash| *hash == content_hash(&title_of(document, url), &document.markdown))
        };
        match name {
            "" => INDEXES.iter().any(|index| is_same(&format!("{url}{index}"))),
            name => INDEXES.contains(&name) && is_same(&format!("{folder}/")),
        }
    }

    /// Records the result of the visit to `url`.
    fn end(&mut self, url: &Url, visited: Visited, found: Vec<(Url, u32)>) -> Result<(), Error> {
        let own = key(url);
        self.unreachable = if visited.unreachable { self.unreachable + 1 } else { 0 };
        let mut done = visited.also;
        done.push(own.clone());
        let page = match visited.outcome {
            Outcome::Page(page) => Some(page),
            Outcome::Alias => None,
            Outcome::Unchanged => {
                let file = self.store.known(&own).and_then(|listed| self.store.file_of(listed));
                if let Some(source) = self.store.known(&own).and_then(|listed| listed.source.as_ref()) {
                    self.links.keep(&own, source, visited.links);
                }
                self.store.unchanged(&own, None, None);
                let file_path = file.map(|file| file.to_string_lossy().into_owned());
                let page = Page::new(own, Verdict::Unchanged, "the server says that it is as it was").via("http");
                Some(Page { file_path, ..page })
            }
            Outcome::Gone(reason) => {
                let file = self.store.retire(&own)?;
                let page = Page::new(own, Verdict::Gone, reason);
                Some(Page { file_path: file.map(|file| file.to_string_lossy().into_owned()), ..page })
            }
            Outcome::Moved(to) => {
                let reason = format!("it is at {to} now");
                self.store.retire(&own)?;
                Some(Page::new(own, Verdict::Moved, reason))
            }
            Outcome::Save { url: at, document, .. } if self.is_saved_as_folder(&at, &document) => None,
            Outcome::Save { url: at, via: Via::Http, .. } if let Some(file) = self.browsed(&at) => {
                // A session may be signed in, or saw what a script had written: a plain page is no newer state of it.
                let reason = "a browser session saved it; ragmaker-refresh-knowledge-base compares it there";
                let file_path = Some(file.to_string_lossy().into_owned());
                Some(Page { file_path, ..Page::new(at, Verdict::Unchanged, reason) })
            }
            Outcome::Save { url: at, document, source, via, reason, moved } => {
                // Where it moved to, it keeps its file and its summary, unless that address is known as well.
                let has_both = moved && self.store.known(&at).is_some();
                let was = (moved && !has_both).then_some(own.as_str());
                let spot = DocumentKey { was, moved: was.is_some(), ..DocumentKey::at(&at) };
                let stored = self.store.save_at(*document, spot, &source)?;
                self.links.keep(&at, &source, visited.links);
                if has_both {
                    self.store.retire(&own)?;
                }
                let mut page = Page::stored(at.as_str(), &stored).via(&via.to_string());
                page.reason = reason;
                if moved {
                    page =
                        Page { url: own, verdict: Verdict::Moved, reason: Some(format!("it is at {at} now")), ..page };
                }
                Some(page)
            }
        };
        done.sort();
        done.dedup();
        self.done.add(done.iter().cloned());
        let entry = JournalEntry { done, found };
        match page {
            Some(page) => self.run.end(page, entry),
            None => self.run.note(entry),
        }
    }
}

/// The addresses of the pages that an address of Markdown may be a form of.
fn forms(url: &Url) -> Vec<String> {
    let Some(stem) = url.path().strip_suffix(".md") else { return vec![] };
    let index = stem.strip_suffix("index.html").or_else(|| stem.strip_suffix("index"));
    let paths = [Some(stem.to_owned()), Some(format!("{stem}.html")), index.map(str::to_owned)];
    let form = |path: String| {
        let mut url = url.clone();
        url.set_path(&path);
        key(&url)
    };
    paths.into_iter().flatten().map(form).collect()
}

/// Visits one address after another until the queue is empty.
fn work(wanted: &SectionRequest<'_>, section: &Section<'_, '_>) {
    loop {
        let (url, depth, known, has_file): (Url, u32, Option<Listed>, bool) = {
            let mut state = section.state();
            loop {
                if state.error.is_some() {
                    return;
                }
                let is_full = state.run.pages().len() + state.busy >= wanted.max_pages;
                if let Some((url, depth)) = if is_full { None } else { state.next() } {
                    state.busy += 1;
                    let known = state.store.known(&key(&url)).cloned();
                    let has_file = known.as_ref().is_some_and(|listed| state.store.file_of(listed).is_some());
                    break (url, depth, known, has_file);
                }
                if state.busy == 0 {
                    return;
                }
                state = section.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        };
        let is_down = section.state().unreachable >= DOWN;
        let visited = if is_down {
            let reason = "the site does not answer";
            Visited { unreachable: true, ..Outcome::Page(Page::new(key(&url), Verdict::Failed, reason)).into() }
        } else {
            let known = known.as_ref().map(|listed| {
                let links = if has_file { section.links_of(&key(&url), listed) } else { None };
                Known { listed, links }
            });
            visit(&url, known.as_ref(), &section.context)
        };
        let mut found: Vec<(Url, u32)> = vec![];
        if wanted.depth.is_none_or(|most| depth < most) {
            found.extend(visited.links.pages.iter().map(|to| (to.clone(), depth + 1)));
        }
        for index in visited.links.indexes.iter().filter(|_| wanted.depth.is_none()) {
            // It is asked for once, as any page is.
            let is_new = section.state().seen.insert(key(index));
            if is_new {
                let listed = seeds::in_llms_txt(index, section.context.site).unwrap_or_default();
                found.extend(listed.into_iter().map(|to| (to, 0)));
            }
        }
        let mut state = section.state();
        let found = state.enqueue(found, section.context.scope);
        if let Err(error) = state.end(&url, visited, found) {
            state.error.get_or_insert(error);
        }
        state.busy -= 1;
        drop(state);
        section.changed.notify_all();
    }
}
