//! The state of a run over a section that its workers share: the queue, the documents and the report.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    path::PathBuf,
    sync::Arc,
};

use ragmaker_address::page_key;
use ragmaker_catalog::{DocumentSource, Listed};
use ragmaker_ingest::{DocumentKey, PageResult, PageVerdict, Run, Store};
use ragmaker_knowledge::{content_hash, title_of};
use ragmaker_markdown::Document;
use ragmaker_tool::Error;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::{
    fetched_urls::FetchedUrls,
    links::SectionLinks,
    load::LoadMethod,
    scope::{Scope, is_markdown},
    visit::{VisitOutcome, Visited},
};

/// The state that the workers share, under one lock.
pub(crate) struct CrawlState<'a> {
    pub(crate) queue: VecDeque<(Url, u32)>,
    /// Addresses of Markdown, which may be other forms of pages: after all others.
    pub(crate) later: VecDeque<(Url, u32)>,
    /// Every address that was queued.
    pub(crate) seen: HashSet<String>,
    pub(crate) done: Arc<FetchedUrls>,
    pub(crate) busy: usize,
    pub(crate) store: Store<'a>,
    pub(crate) run: Run,
    /// The number of requests in a row that failed as requests to a site that is down do.
    pub(crate) unreachable: usize,
    /// The documents by the hash of their text, and those of this run by the hash of the body that they were made of.
    pub(crate) texts: HashMap<String, String>,
    pub(crate) bodies: HashMap<String, String>,
    /// The links of the pages of this run.
    pub(crate) links: SectionLinks,
    /// Whether the start page asks that it be in no index: then the other pages do so as well, and they are wanted
    /// nevertheless. It is visited alone, before all others.
    pub(crate) start_is_noindex: bool,
    /// Why the start page failed.
    pub(crate) start_error: Option<Error>,
    pub(crate) error: Option<Error>,
}

/// A journal entry: the result of a page, or the start of the run.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct JournalEntry {
    /// The addresses that are done.
    #[serde(default)]
    pub(crate) done: Vec<String>,
    /// The addresses that were found first here, with their depth.
    #[serde(default)]
    pub(crate) found: Vec<(Url, u32)>,
    /// Whether the start page, which was visited, asks that it be in no index.
    #[serde(default)]
    pub(crate) start_is_noindex: bool,
}

impl<'a> CrawlState<'a> {
    /// Nothing queued yet.
    pub(crate) fn new(store: Store<'a>, run: Run) -> Self {
        let text = |(url, listed): (&str, &Listed)| Some((listed.content_hash.clone()?, url.to_owned()));
        let texts = store.documents().filter_map(text).collect();
        Self {
            queue: VecDeque::new(),
            later: VecDeque::new(),
            seen: HashSet::new(),
            done: Arc::default(),
            busy: 0,
            store,
            run,
            unreachable: 0,
            texts,
            bodies: HashMap::new(),
            links: SectionLinks::default(),
            start_is_noindex: false,
            start_error: None,
            error: None,
        }
    }

    /// Queues those of `found` that are of the section and were not found before; returns them.
    pub(crate) fn enqueue(&mut self, found: Vec<(Url, u32)>, scope: &Scope) -> Vec<(Url, u32)> {
        let mut new = vec![];
        for (mut url, depth) in found {
            url.set_fragment(None);
            if scope.refusal(&url).is_none() {
                new.extend(self.enqueue_given(url, depth));
            }
        }
        new
    }

    /// Queues `url`, which the caller gave or which is of the section, unless it was found before.
    pub(crate) fn enqueue_given(&mut self, url: Url, depth: u32) -> Option<(Url, u32)> {
        if !self.seen.insert(page_key(&url)) {
            return None;
        }
        let queue = if is_markdown(&url) { &mut self.later } else { &mut self.queue };
        queue.push_back((url.clone(), depth));
        Some((url, depth))
    }

    /// The next address to fetch.
    pub(crate) fn next(&mut self) -> Option<(Url, u32)> {
        if self.busy > 0 && self.done.is_empty() {
            return None;
        }
        loop {
            let (url, depth) = match self.queue.pop_front() {
                Some(next) => next,
                // Another worker may still find pages that an address of Markdown is a form of.
                None if self.busy > 0 => return None,
                None => self.later.pop_front()?,
            };
            let is_form = || forms(&url).iter().any(|form| self.seen.contains(form));
            if !self.done.has(&page_key(&url)) && !is_form() {
                return Some((url, depth));
            }
        }
    }

    /// The file of the document at `url`, where a browser showed it.
    fn browsed(&self, url: &str) -> Option<PathBuf> {
        let listed = self.store.known(url)?;
        matches!(listed.source, Some(DocumentSource::Browser { .. })).then(|| self.store.file_of(listed)).flatten()
    }

    /// The address under which the page at `url`, which is new, is saved already: the other page was made of the same
    /// body, has the same text, or has the same title and is what this one names as its canonical address. The same body
    /// may have another text, because addresses in it and the choice of the main content depend on the page's own.
    fn saved_as(
        &self,
        url: &str,
        document: &Document,
        body: Option<&String>,
        canonical: Option<&String>,
    ) -> Option<String> {
        if self.store.known(url).is_some() {
            return None;
        }
        let title = title_of(document, url);
        let text = content_hash(&title, &document.markdown);
        // What was not visited in this run may be another text by now.
        let visited = |other: &String| self.store.known(other).filter(|_| self.done.has(other));
        let has_text =
            |other: &&String| visited(other).is_some_and(|listed| listed.content_hash.as_ref() == Some(&text));
        let has_title = |other: &&String| visited(other).is_some_and(|listed| listed.title.as_ref() == Some(&title));
        let same_body = body.and_then(|body| self.bodies.get(body)).filter(|other| visited(other).is_some());
        let same_text = self.texts.get(&text).filter(has_text);
        same_body.or(same_text).or(canonical.filter(has_title)).cloned()
    }

    /// Notes what the document at `url`, which was visited, was made of.
    fn note(&mut self, url: &str, body: Option<String>) {
        let text = self.store.known(url).and_then(|listed| listed.content_hash.clone());
        self.texts.extend(text.map(|text| (text, url.to_owned())));
        self.bodies.extend(body.map(|body| (body, url.to_owned())));
    }

    /// Takes out the document at `own`, which is saved under `to` now.
    fn moved(&mut self, own: String, to: &str) -> Result<PageResult, Error> {
        self.store.archive(&own)?;
        Ok(PageResult::moved(own, to, None))
    }

    /// Records the result of the visit to `url`.
    pub(crate) fn end(&mut self, url: &Url, visited: Visited, found: Vec<(Url, u32)>) -> Result<(), Error> {
        let own = page_key(url);
        self.unreachable = if visited.unreachable { self.unreachable + 1 } else { 0 };
        let links = visited.links;
        let mut done = visited.also;
        done.push(own.clone());
        let page = match visited.outcome {
            VisitOutcome::Page(page) => Some(page),
            VisitOutcome::Alias => None,
            VisitOutcome::Unchanged(source) => {
                let file = self.store.known(&own).and_then(|listed| self.store.file_of(listed));
                self.note(&own, links.body.clone());
                self.links.keep(&own, &source, links);
                self.store.unchanged(&own, Some(&source), None);
                let file_path = file.map(|file| file.to_string_lossy().into_owned());
                let page =
                    PageResult::new(own, PageVerdict::Unchanged, "the server reports that it is unchanged").via("http");
                Some(PageResult { file_path, ..page })
            }
            VisitOutcome::Gone(reason) => {
                let file = self.store.archive(&own)?;
                let page = PageResult::new(own, PageVerdict::Gone, reason);
                Some(PageResult { file_path: file.map(|file| file.to_string_lossy().into_owned()), ..page })
            }
            VisitOutcome::Moved(to) => Some(self.moved(own, &to)?),
            VisitOutcome::Save { url: at, moved: false, .. }
                if links.is_noindex && !self.start_is_noindex && self.store.known(&at).is_none() =>
            {
                let reason = "the page asks to be in no index (robots: noindex); only its links were used";
                Some(PageResult::new(at, PageVerdict::Refused, reason))
            }
            VisitOutcome::Save { url: at, document, moved, canonical, .. }
                if let Some(other) = self.saved_as(&at, &document, links.body.as_ref(), canonical.as_ref()) =>
            {
                Some(if moved {
                    self.moved(own, &other)?
                } else {
                    PageResult::new(at, PageVerdict::Refused, format!("it is the same document as {other}"))
                })
            }
            VisitOutcome::Save { url: at, via: LoadMethod::Http, moved: true, .. } if self.browsed(&at).is_some() => {
                Some(self.moved(own, &at)?)
            }
            VisitOutcome::Save { url: at, via: LoadMethod::Http, .. } if let Some(file) = self.browsed(&at) => {
                // A session may be signed in, or may have run scripts: a plain page is not a newer version of it.
                let reason = "a browser session saved it; a refresh of the knowledge base compares it there";
                let file_path = Some(file.to_string_lossy().into_owned());
                Some(PageResult { file_path, ..PageResult::new(at, PageVerdict::Unchanged, reason) })
            }
            VisitOutcome::Save { url: at, document, source, via, reason, moved, .. } => {
                let key = DocumentKey { was: moved.then_some(own.as_str()), moved, ..DocumentKey::at(&at) };
                let stored = self.store.save_as(*document, key, &source)?;
                self.note(&at, links.body.clone());
                self.links.keep(&at, &source, links);
                let page = if moved {
                    PageResult::moved(own, at, Some(&stored))
                } else {
                    PageResult { reason, ..PageResult::stored(at, &stored) }
                };
                Some(page.via(&via.to_string()))
            }
        };
        done.sort();
        done.dedup();
        self.done.add(done.iter().cloned());
        let entry = JournalEntry { done, found, start_is_noindex: self.start_is_noindex };
        match page {
            Some(page) => self.run.end(page, entry),
            None => self.run.checkpoint(entry),
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
        page_key(&url)
    };
    paths.into_iter().flatten().map(form).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_a_form_of_a_page_or_of_its_folder() {
        let forms = |url: &str| forms(&Url::parse(url).unwrap());
        assert_eq!(forms("https://a.example/b.md"), ["https://a.example/b", "https://a.example/b.html"]);
        let of_folder = forms("https://a.example/b/index.html.md");
        assert!(of_folder.contains(&page_key(&Url::parse("https://a.example/b/").unwrap())), "{of_folder:?}");
        assert!(forms("https://a.example/b.html").is_empty());
    }
}
