//! One page of a section: its request, its content, and its links.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ragmaker_address::codes::NOT_A_PAGE;
use ragmaker_catalog::{Listed, Source};
use ragmaker_http::{GetRequest, Response};
use ragmaker_ingest::{Page, Verdict};
use ragmaker_knowledge::EMPTY_CONTENT;
use ragmaker_markdown::Document;
use ragmaker_tool::Error;
use url::Url;

use crate::{
    content::{Content, Kind},
    done::FetchedUrls,
    links::PageLinks,
    load::{Browser, HTML_FIRST, Loaded, MARKDOWN_FIRST, Via, load},
    missing::MissingPage,
    publisher::{MarkdownVariant, VariantStatistics, better, is_fuller, named},
    redirect::NotFollowed,
    relations::markdown_links,
    scope::{Scope, key},
    site::{Site, is_down},
};

/// The common data of all visits of a run.
pub(crate) struct Context<'a> {
    pub(crate) site: &'a Site<'a>,
    pub(crate) scope: &'a Scope,
    pub(crate) browser: Option<&'a Browser>,
    /// The browser session, as the catalog records it.
    pub(crate) session: Option<String>,
    pub(crate) missing: MissingPage,
    pub(crate) statistics: Mutex<VariantStatistics>,
    pub(crate) done: Arc<FetchedUrls>,
}

impl Context<'_> {
    /// Whether `url` may be requested: it is in the section, and robots.txt allows it.
    fn may_ask(&self, url: &Url) -> bool {
        self.scope.refusal(url).is_none() && self.site.allows(url)
    }

    fn statistics(&self) -> MutexGuard<'_, VariantStatistics> {
        self.statistics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The result of a visit to a page.
pub(crate) struct Visited {
    pub(crate) outcome: Outcome,
    /// The links of the page.
    pub(crate) links: PageLinks,
    /// Other addresses of what was fetched, which need not be fetched any more.
    pub(crate) also: Vec<String>,
    /// Whether the server could not be reached.
    pub(crate) unreachable: bool,
}

/// The outcome for a page.
pub(crate) enum Outcome {
    /// It is saved under this address.
    Save { url: String, document: Box<Document>, source: Source, via: Via, reason: Option<String>, moved: bool },
    /// The server says that it is as it was.
    Unchanged,
    /// It is known, and gone.
    Gone(String),
    /// It is known under its old address, and at this one now, which was fetched already.
    Moved(String),
    /// It is another address of a page that was fetched already.
    Alias,
    /// Anything else.
    Page(Page),
}

impl From<Outcome> for Visited {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, links: PageLinks::default(), also: vec![], unreachable: false }
    }
}

/// What the knowledge base has of a page.
pub(crate) struct Known<'a> {
    pub(crate) listed: &'a Listed,
    /// The links of its document. `None` where they or the document are missing: then the page is fetched whole.
    pub(crate) links: Option<PageLinks>,
}

/// Visits the page at `url`, of which the knowledge base has `known`.
pub(crate) fn visit(url: &Url, known: Option<&Known<'_>>, run: &Context<'_>) -> Visited {
    let own = key(url);
    let refused = |reason: &str| Outcome::Page(Page::new(own.as_str(), Verdict::Refused, reason)).into();
    if !run.site.allows(url) {
        return refused("robots.txt disallows it");
    }
    if let Some(visited) = known.and_then(|known| revisit(url, known, run)) {
        return visited;
    }
    let tries_accept = run.statistics().tries(MarkdownVariant::Accept);
    let accept = if tries_accept { MARKDOWN_FIRST } else { HTML_FIRST };
    let asked = match ask(url, url, accept, &validators(url, known), run) {
        // The validators were sent to the new address of a page that has moved, whose content is needed.
        Ok(response) if response.status == 304 && !response.steps.is_empty() => ask(url, url, accept, &[], run),
        asked => asked,
    };
    let response = match asked {
        Ok(response) => response,
        Err(error) => return failed(&own, &error, known.is_some()),
    };
    answered(url, known, run, &response, tries_accept)
}

/// Requests the publisher's Markdown from which the document was made, with its validators. `None` if the page must be
/// visited again.
fn revisit(url: &Url, known: &Known<'_>, run: &Context<'_>) -> Option<Visited> {
    let Some(Source::Http { from: Some(from), .. }) = &known.listed.source else { return None };
    let mut links = known.links.clone()?;
    let from = Url::parse(from).ok().filter(|from| run.may_ask(from))?;
    let response = ask(&from, url, MARKDOWN_FIRST, &validators(&from, Some(known)), run).ok()?;
    if response.status == 304 {
        return Some(Visited { also: vec![key(&from)], links, ..Outcome::Unchanged.into() });
    }
    let content = crate::content::read(&response).ok()?;
    if content.kind == Kind::Html || !response.steps.is_empty() {
        return None;
    }
    let source = source_of(&response, url);
    links.pages.extend(markdown_links(&content.document.markdown, &response.url));
    Some(kept(url, Loaded { content, via: Via::Http, reason: None }, source, false, vec![key(&from)], links))
}

/// The headers that ask whether the document is as it was, where `url` is what it was made of.
fn validators(url: &Url, known: Option<&Known<'_>>) -> Vec<(&'static str, String)> {
    let mut headers = vec![];
    if let Some(Known { listed, links: Some(_) }) = known
        && let Some(Source::Http { from, etag, last_modified }) = &listed.source
        && from.as_ref().is_none_or(|from| from == url.as_str())
    {
        // Both are sent, as RFC 9110 asks clients to do.
        headers.extend(etag.clone().map(|etag| ("if-none-match", etag)));
        headers.extend(last_modified.clone().map(|date| ("if-modified-since", date)));
    }
    headers
}

fn ask(
    at: &Url,
    page: &Url,
    accept: &str,
    headers: &[(&'static str, String)],
    run: &Context<'_>,
) -> Result<Response, Error> {
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let get = GetRequest { url: at, accept, headers: &headers };
    run.site.get(&get, &mut |to| {
        if let Some(reason) = run.scope.refusal(to) {
            return Err(NotFollowed::Outside.error(format!("it redirects to {to}: {reason}")));
        }
        if !run.site.allows(to) {
            return Err(NotFollowed::Outside.error(format!("it redirects to {to}, which robots.txt disallows")));
        }
        if key(to) != key(page) && run.done.has(&key(to)) {
            return Err(NotFollowed::Seen.error(key(to)));
        }
        Ok(())
    })
}

fn failed(own: &str, error: &Error, is_known: bool) -> Visited {
    let page = |verdict, reason: String| Outcome::Page(Page::new(own, verdict, reason));
    let outcome = if NotFollowed::Outside.is(error) {
        page(Verdict::Refused, error.message().to_owned())
    } else if NotFollowed::Seen.is(error) {
        if is_known { Outcome::Moved(error.message().to_owned()) } else { Outcome::Alias }
    } else if error.is(NOT_A_PAGE) || error.is(EMPTY_CONTENT) || error.is_not_allowed() {
        page(Verdict::Refused, error.to_string())
    } else {
        page(Verdict::Failed, error.to_string())
    };
    let unreachable = is_down(error);
    Visited { unreachable, ..outcome.into() }
}

fn answered(
    url: &Url,
    known: Option<&Known<'_>>,
    run: &Context<'_>,
    response: &Response,
    tries_accept: bool,
) -> Visited {
    let own = key(url);
    if response.status == 304 {
        let links = known.and_then(|known| known.links.clone()).unwrap_or_default();
        return Visited { links, ..Outcome::Unchanged.into() };
    }
    if known.is_some() && matches!(response.status, 404 | 410) {
        return Outcome::Gone(format!("the server answered {}", response.status)).into();
    }
    let landed = response.url.clone();
    let redirected = (key(&landed) != own).then_some(&landed);
    let permanent = response.steps.iter().all(|step| matches!(step.status, 301 | 308));
    let loaded = match load(response, run.site.client, run.browser) {
        Ok(loaded) => loaded,
        Err(error) => return failed(&own, &error, known.is_some()),
    };
    if run.missing.is(&loaded.content.document, url, redirected) {
        let page = Page::new(own, Verdict::Refused, "the site shows this for pages that it does not have");
        return Outcome::Page(page).into();
    }
    // A page that has moved for now is still at its address.
    let is_moved = redirected.is_some() && (permanent || known.is_none());
    let at = if is_moved { &landed } else { url };
    let mut also = vec![own, key(&landed)];
    let links = page_links(&loaded.content, response);
    let (loaded, source) = chosen(loaded, response, at, run, tries_accept, &mut also);
    kept(at, loaded, source, is_moved && known.is_some(), also, links)
}

fn page_links(content: &Content, response: &Response) -> PageLinks {
    let (_, indexes) = named(response, &content.links);
    let mut pages = content.links.anchors.clone();
    pages.extend(content.links.refresh.clone());
    if content.kind == Kind::Markdown {
        pages.extend(markdown_links(&content.document.markdown, &response.url));
    }
    PageLinks { pages, indexes }
}

/// The fuller one of the publisher's Markdown and what was extracted, and its source.
fn chosen(
    loaded: Loaded,
    response: &Response,
    at: &Url,
    run: &Context<'_>,
    tries_accept: bool,
    also: &mut Vec<String>,
) -> (Loaded, Source) {
    if loaded.via == Via::Browser {
        let session = run.session.clone();
        return (loaded, Source::Browser { session, selector: None, from: None, expand: false, scroll: false });
    }
    let by_accept = loaded.content.kind == Kind::Markdown && tries_accept;
    if by_accept && !run.statistics().is_sure_of_accept() {
        // What the page has beside it is compared.
        let page = run.site.page(&response.url).ok();
        let page = page.and_then(|page| Some((load(&page, run.site.client, None).ok()?, page)));
        if let Some((html, page)) = page.filter(|(html, _)| html.content.kind == Kind::Html) {
            let title = html.content.document.metadata.title.clone();
            let fuller = is_fuller(loaded.content.document.words, html.content.document.words);
            run.statistics().note(MarkdownVariant::Accept, fuller);
            let source = source_of(if fuller { response } else { &page }, at);
            let mut kept = if fuller { loaded } else { html };
            if kept.content.document.metadata.title.is_empty() {
                kept.content.document.metadata.title.clone_from(&title);
            }
            return (kept, source);
        }
        return (loaded, source_of(response, at));
    }
    if loaded.content.kind == Kind::Html && tries_accept {
        run.statistics().note(MarkdownVariant::Accept, false);
    }
    let mut statistics = *run.statistics();
    let better = better(response, &loaded.content, run.site, &mut statistics, &|at| run.may_ask(at));
    *run.statistics() = statistics;
    match better {
        Some((mut markdown, answer)) => {
            // Author, language and date are only in the page.
            markdown.document.metadata = loaded.content.document.metadata.clone();
            also.push(key(&markdown.url));
            let source = source_of(&answer, at);
            (Loaded { content: markdown, ..loaded }, source)
        }
        None => (loaded, source_of(response, at)),
    }
}

fn source_of(response: &Response, at: &Url) -> Source {
    let text = |name: &str| response.header(name).map(std::borrow::Cow::into_owned);
    Source::Http {
        from: (key(&response.url) != key(at)).then(|| key(&response.url)),
        etag: text("etag"),
        last_modified: text("last-modified"),
    }
}

fn kept(at: &Url, loaded: Loaded, source: Source, moved: bool, also: Vec<String>, links: PageLinks) -> Visited {
    let Loaded { content, via, reason } = loaded;
    let reason = reason.or_else(|| {
        let is_publishers = content.kind == Kind::Markdown;
        is_publishers.then(|| "the text is the publisher's Markdown".to_owned())
    });
    let outcome = Outcome::Save { url: key(at), document: Box::new(content.document), source, via, reason, moved };
    Visited { links, also, ..outcome.into() }
}
