//! A section of a site: every page below an address, saved.
//!
//! Workers take addresses from one queue, breadth first. A page is fetched and converted without a lock (`visit`); the
//! shared state of the run is changed under a lock. The links of a page are recorded together with the page, so a
//! killed run continues with the same queue.

use std::{
    collections::HashSet,
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use ragmaker_address::{codes::HTTP_ERROR, page_key};
use ragmaker_catalog::{Catalog, Header, Listed};
use ragmaker_http::Client;
use ragmaker_ingest::{Counts, PageResult, PageVerdict, Run, Store, Summary};
use ragmaker_tool::{Code, Error};
use schemars::JsonSchema;
use serde::Serialize;
use url::Url;

use crate::{
    links::{PageLinks, SectionLinks},
    load::Browser,
    publisher::SharedStatistics,
    scope::Scope,
    seeds::{self, as_folder},
    site::Site,
    soft_404::SoftNotFound,
    state::{CrawlState, JournalEntry},
    visit::{Context, Known, VisitOutcome, Visited, visit},
};

/// The start page of a section is refused, and no page was fetched.
pub const START_REFUSED: Code = Code::new(
    "START_REFUSED",
    "Start at another page. A section keeps to robots.txt and to its prefix; fetched without section, a single page does not.",
);

/// After so many failures in a row, it is found out whether the site is down.
const DOWN: usize = 5;

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
    /// The maximum number of pages of the section.
    pub max_pages: usize,
    /// The maximum pause that the site may ask for.
    pub max_wait: Duration,
    /// The number of parallel requests.
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
    state: Mutex<CrawlState<'s>>,
    changed: Condvar,
}

impl<'s> Section<'_, 's> {
    /// Whether the site is down: several requests in a row failed, and it does not answer at all.
    fn is_down(&self) -> bool {
        self.context.site.is_down(|| {
            let is_suspected = self.state().unreachable >= DOWN;
            if is_suspected {
                self.state().unreachable = 0;
            }
            is_suspected
        })
    }

    /// The shared state. A worker that panicked leaves it consistent.
    fn state(&self) -> MutexGuard<'_, CrawlState<'s>> {
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
/// Where nothing can be written, or the start is not allowed. What is wrong with a page or the site is a verdict; if the
/// start page failed and no page was fetched, it is the error.
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
            // Nothing is known of a site that cannot be reached, and what an interrupted run has found stays.
            run.suspend(PageResult::failed(page_key(wanted.start), &error));
            return ended(run, 0, Some(error));
        }
    };
    let earlier: Vec<JournalEntry> = run.earlier();
    if let Some(failure) = site.failure().filter(|_| !earlier.is_empty()) {
        run.suspend(PageResult::new(page_key(wanted.start), PageVerdict::Failed, failure.clone()));
        return ended(run, 0, Some(HTTP_ERROR.error(failure)));
    }
    let mut state = CrawlState::new(store, run);
    state.enqueue_given(without_fragment(wanted.start), 0);
    if earlier.is_empty() {
        let found = seeded(wanted, &site, &state.store);
        let found = state.enqueue(found, &wanted.scope);
        state.run.checkpoint(JournalEntry { found, ..JournalEntry::default() })?;
    } else {
        for JournalEntry { done, found, start_is_noindex } in earlier {
            state.start_is_noindex |= start_is_noindex;
            state.enqueue(found, &wanted.scope);
            state.done.add(done);
        }
    }
    let missing = SoftNotFound::new(&wanted.scope, &site);
    let earlier = state.run.stored_state();
    let (state, earlier) = all(wanted, &site, &missing, browser, Some(earlier), state);
    let CrawlState { queue, later, mut store, run, error, done, mut links, start_error, .. } = state;
    if let Some(error) = error {
        return Err(error);
    }
    store.finish()?;
    let title = store.known(&page_key(wanted.start)).and_then(|listed| listed.title.clone());
    links.take_over(&earlier.unwrap_or_default(), |url| store.known(url).is_some());
    run.store_state(&links)?;
    let left = queue.iter().chain(&later).filter(|(url, _)| !done.has(&page_key(url))).count();
    // The report is there even if the catalog cannot be changed.
    let fetched = ended(run, left, start_error)?;
    name_after(wanted, title, catalog)?;
    Ok(fetched)
}

/// Why the start page is refused, if it is.
fn start_refusal(visited: &Visited) -> Option<Error> {
    match &visited.outcome {
        VisitOutcome::Page(PageResult { url, verdict: PageVerdict::Refused, reason, .. }) => {
            let reason = reason.as_deref().unwrap_or_default();
            Some(START_REFUSED.error(format!("the start page {url} is refused: {reason}")))
        }
        _ => None,
    }
}

/// The answer of `run`, or the error of the start page if no page was fetched.
fn ended(run: Run, left: usize, start_error: Option<Error>) -> Result<Fetched, Error> {
    let run = run.finish()?;
    let Counts { added, changed, unchanged, moved, gone, .. } = run.counts;
    match start_error {
        Some(error) if added + changed + unchanged + moved + gone == 0 => {
            Err(error.detail("report_file", run.report_file))
        }
        _ => Ok(Fetched { run, left }),
    }
}

/// Names a knowledge base after its section: by the title of the start page, or its address where that is no document,
/// and by the address of the section.
fn name_after(wanted: &SectionRequest<'_>, title: Option<String>, catalog: &Catalog) -> Result<(), Error> {
    let section = wanted.scope.prefix().as_str();
    let title = title.or_else(|| Some(section.split_once("://")?.1.trim_end_matches('/').to_owned()));
    let header = Header { title, source_url: Some(section.to_owned()), ..Header::default() };
    catalog.name_after(header, |listed| listed.url.as_ref().is_some_and(|url| url.starts_with(section)))
}

/// Visits the queued addresses and the addresses that their pages link to. Returns `earlier` as well, the links of the
/// last run.
fn all<'s>(
    wanted: &SectionRequest<'_>,
    site: &Site<'_>,
    missing: &SoftNotFound<'_>,
    browser: Option<&Browser>,
    earlier: Option<SectionLinks>,
    state: CrawlState<'s>,
) -> (CrawlState<'s>, Option<SectionLinks>) {
    let mut given = vec![page_key(wanted.scope.prefix()), page_key(&as_folder(wanted.scope.prefix()))];
    if earlier.is_some() {
        given.push(page_key(wanted.start));
    }
    let context = Context {
        site,
        scope: &wanted.scope,
        given,
        browser,
        session: wanted.session.clone(),
        missing,
        statistics: SharedStatistics::default(),
        done: Arc::clone(&state.done),
    };
    let section = Section { context, earlier, state: Mutex::new(state), changed: Condvar::new() };
    thread::scope(|scope| {
        for _ in 1..wanted.concurrency {
            scope.spawn(|| work(wanted, &section));
        }
        work(wanted, &section);
    });
    (section.state.into_inner().unwrap_or_else(PoisonError::into_inner), section.earlier)
}

/// Fetches the pages at `urls` of a section of `site` again, without following links. Each page has a verdict.
///
/// # Errors
///
/// Where nothing can be written.
pub(crate) fn refetch<'s>(
    wanted: &SectionRequest<'_>,
    urls: &[Url],
    site: &Site<'_>,
    browser: Option<&Browser>,
    (mut store, mut run): (Store<'s>, Run),
) -> Result<(Store<'s>, Run), Error> {
    let missing = SoftNotFound::new(&wanted.scope, site);
    // Some may be passed over as other forms of pages; they are asked for by themselves then.
    for _ in 0..2 {
        let ended: HashSet<&str> = run.pages().iter().map(|page| page.url.as_str()).collect();
        let left: Vec<(Url, u32)> =
            urls.iter().filter(|url| !ended.contains(page_key(url).as_str())).map(|url| (url.clone(), 0)).collect();
        if left.is_empty() {
            break;
        }
        let seen = left.iter().map(|(url, _)| page_key(url)).collect();
        let begun = CrawlState { queue: left.into(), seen, ..CrawlState::new(store, run) };
        let (ended, _) = all(wanted, site, &missing, browser, None, begun);
        if let Some(error) = ended.error {
            return Err(error);
        }
        (store, run) = (ended.store, ended.run);
    }
    Ok((store, run))
}

fn without_fragment(url: &Url) -> Url {
    let mut url = url.clone();
    url.set_fragment(None);
    url
}

/// The addresses with which the section begins beside its start page, each with its depth.
fn seeded(wanted: &SectionRequest<'_>, site: &Site<'_>, store: &Store<'_>) -> Vec<(Url, u32)> {
    let mut found = vec![];
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
                    let known = state.store.known(&page_key(&url)).cloned();
                    let has_file = known.as_ref().is_some_and(|listed| state.store.file_of(listed).is_some());
                    break (url, depth, known, has_file);
                }
                if state.busy == 0 {
                    return;
                }
                state = section.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        };
        if section.is_down() {
            let mut state = section.state();
            state.run.suspend(PageResult::new(page_key(&url), PageVerdict::Failed, "the site does not answer"));
            state.busy -= 1;
            drop(state);
            section.changed.notify_all();
            continue;
        }
        let known = known.as_ref().map(|listed| {
            let links = if has_file { section.links_of(&page_key(&url), listed) } else { None };
            Known { listed, links }
        });
        let visited = visit(&url, known.as_ref(), &section.context);
        let mut found: Vec<(Url, u32)> = vec![];
        if wanted.depth.is_none_or(|most| depth < most) {
            found.extend(visited.links.pages.iter().map(|to| (to.clone(), depth + 1)));
        }
        for index in visited.links.indexes.iter().filter(|_| wanted.depth.is_none()) {
            // It is asked for once, as any page is.
            let is_new = section.state().seen.insert(page_key(index));
            if is_new {
                let listed = seeds::in_llms_txt(index, section.context.site).unwrap_or_default();
                found.extend(listed.into_iter().map(|to| (to, 0)));
            }
        }
        let mut state = section.state();
        let found = state.enqueue(found, section.context.scope);
        if page_key(&url) == page_key(wanted.start) {
            state.start_is_noindex = visited.links.is_noindex;
            state.start_error = visited.error.clone().or_else(|| start_refusal(&visited));
        }
        if let Err(error) = state.end(&url, visited, found) {
            state.error.get_or_insert(error);
        }
        state.busy -= 1;
        drop(state);
        section.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_page_that_is_refused_is_an_error_with_its_reason() {
        let visited =
            |verdict| Visited::from(VisitOutcome::Page(PageResult::new("https://x.example/", verdict, "a file")));
        let error = start_refusal(&visited(PageVerdict::Refused)).unwrap();
        assert_eq!(
            (error.code(), error.message()),
            (START_REFUSED.name(), "the start page https://x.example/ is refused: a file")
        );
        assert!(start_refusal(&visited(PageVerdict::Failed)).is_none());
        assert!(start_refusal(&VisitOutcome::Alias.into()).is_none());
    }

    #[test]
    fn a_page_is_the_same_with_any_fragment() {
        let url = Url::parse("https://x.example/a?b#c").unwrap();
        assert_eq!(without_fragment(&url).as_str(), "https://x.example/a?b");
    }
}
