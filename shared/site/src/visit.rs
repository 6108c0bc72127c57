//! One page of a section: its request, its content, and its links.

use std::sync::{Arc, MutexGuard};

use ragmaker_address::{
    codes::{HTTP_ERROR, NOT_A_PAGE},
    page_key,
};
use ragmaker_browser::RequestRule;
use ragmaker_catalog::{DocumentSource, Listed};
use ragmaker_convert::redirect_target;
use ragmaker_http::{GetRequest, Response, Step};
use ragmaker_ingest::{PageResult, PageVerdict};
use ragmaker_knowledge::{EMPTY_CONTENT, content_hash, title_of};
use ragmaker_markdown::Document;
use ragmaker_tool::Error;
use url::Url;

use crate::{
    content::{Content, ContentKind},
    fetched_urls::FetchedUrls,
    links::PageLinks,
    listing::is_listing,
    load::{Browser, HTML_FIRST, LoadMethod, Loaded, MARKDOWN_FIRST, load},
    publisher::{MarkdownVariant, Places, SharedStatistics, VariantStatistics, better, is_fuller, is_of},
    redirect::{NotFollowed, Reach},
    relations::markdown_links,
    scope::Scope,
    site::{Site, may_be_down},
    soft_404::SoftNotFound,
};

/// The common data of all visits of a run.
pub(crate) struct Context<'a> {
    pub(crate) site: &'a Site<'a>,
    pub(crate) scope: &'a Scope,
    /// The addresses that the caller gave: they are pages, whatever the site shows for missing ones.
    pub(crate) given: Vec<String>,
    pub(crate) browser: Option<&'a Browser>,
    /// The browser session, as the catalog records it.
    pub(crate) session: Option<String>,
    pub(crate) missing: &'a SoftNotFound<'a>,
    pub(crate) statistics: SharedStatistics,
    pub(crate) done: Arc<FetchedUrls>,
}

impl Context<'_> {
    /// Where the request for `url` may lead. A given address is read for its links even if it is not to be saved.
    fn reach(&self, url: &Url) -> Reach<'_> {
        if self.is_given(url) { Reach::Prefix(self.scope) } else { Reach::Section(self.scope) }
    }

    /// The rule for the requests of the browser for `url`: the page itself stays where a plain request may lead, and
    /// robots.txt holds for each part of the page that is of the site.
    fn request_rule(&self, url: &Url) -> RequestRule {
        let (rules, scope, is_given) = (Arc::clone(&self.site.rules), self.scope.clone(), self.is_given(url));
        RequestRule::new(move |to, is_page| {
            let reach = match (is_page, is_given) {
                (false, _) => Reach::PartOfPage,
                (true, true) => Reach::Prefix(&scope),
                (true, false) => Reach::Section(&scope),
            };
            let reason = rules.refusal(to, reach)?;
            Some(NotFollowed::Outside.error(format!("it leads to {to}: {reason}")))
        })
    }

    fn is_given(&self, url: &Url) -> bool {
        self.given.contains(&page_key(url))
    }

    fn statistics(&self) -> MutexGuard<'_, VariantStatistics> {
        self.statistics.lock()
    }
}

/// The result of a visit to a page.
pub(crate) struct Visited {
    pub(crate) outcome: VisitOutcome,
    /// The links of the page.
    pub(crate) links: PageLinks,
    /// Other addresses of what was fetched, which need not be fetched any more.
    pub(crate) also: Vec<String>,
    /// Whether the request failed as requests to a site that is down do.
    pub(crate) unreachable: bool,
    /// Why the page failed, where its verdict is that.
    pub(crate) error: Option<Error>,
}

/// The outcome for a page.
pub(crate) enum VisitOutcome {
    /// It is saved under this address.
    Save {
        url: String,
        document: Box<Document>,
        source: DocumentSource,
        via: LoadMethod,
        reason: Option<String>,
        moved: bool,
        /// The address that the page names as its canonical one.
        canonical: Option<String>,
    },
    /// The server says that it is as it was; it came from this source.
    Unchanged(DocumentSource),
    /// It is known, and gone.
    Gone(String),
    /// It is known under its old address, and at this one now, which was fetched already.
    Moved(String),
    /// It is another address of a page that was fetched already.
    Alias,
    /// Anything else.
    Page(PageResult),
}

impl From<VisitOutcome> for Visited {
    fn from(outcome: VisitOutcome) -> Self {
        Self { outcome, links: PageLinks::default(), also: vec![], unreachable: false, error: None }
    }
}

/// The stored data of a page.
pub(crate) struct Known<'a> {
    pub(crate) listed: &'a Listed,
    /// The links of its document. `None` where they or the document are missing: then the page is fetched whole.
    pub(crate) links: Option<PageLinks>,
}

impl Known<'_> {
    /// The address that the document was made from, if it is that of the publisher's Markdown.
    fn from(&self) -> Option<Url> {
        let Some(DocumentSource::Http { from, .. }) = &self.listed.source else { return None };
        Url::parse(from.as_ref()?).ok()
    }

    /// Whether `document`, the page at `url`, has the text of the document that is known.
    fn has_text_of(&self, document: &Document, url: &Url) -> bool {
        let hash = content_hash(&title_of(document, &page_key(url)), &document.markdown);
        self.listed.content_hash.as_ref() == Some(&hash)
    }

    /// Its source, as this run records it.
    fn source(&self, run: &Context<'_>) -> Option<DocumentSource> {
        match self.listed.source.clone()? {
            DocumentSource::Http { from, etag, last_modified, .. } => {
                let section = Some(run.scope.prefix().to_string());
                Some(DocumentSource::Http { section, from, etag, last_modified })
            }
            other => Some(other),
        }
    }
}

/// Visits the page at `url`, of which the knowledge base has `known`.
pub(crate) fn visit(url: &Url, known: Option<&Known<'_>>, run: &Context<'_>) -> Visited {
    let own = page_key(url);
    // What is only read for its links is not compared.
    let known = known.filter(|_| run.scope.refusal(url).is_none());
    if let Some(reason) = run.site.failure() {
        let error = Some(HTTP_ERROR.error(reason.clone()));
        return Visited { error, ..VisitOutcome::Page(PageResult::new(own, PageVerdict::Failed, reason)).into() };
    }
    if let Some(reason) = run.site.refusal(url, run.reach(url)) {
        return refused(&own, reason);
    }
    let (mut own_markdown, mut before) = (None, None);
    match known.map(|known| revisit(url, known, run)) {
        Some(Revisit::Same(visited)) => return *visited,
        Some(Revisit::OtherPage(response)) => own_markdown = Some(response),
        Some(Revisit::OtherFile(response)) => before = Some(response),
        Some(Revisit::Unknown) | None => {}
    }
    if let Some(response) = own_markdown {
        return answered(url, known, run, &response, Form { accepts_markdown: true, before: None });
    }
    // A document is compared with what it was made from.
    let accepts_markdown = match known.filter(|known| known.listed.content_hash.is_some()) {
        Some(known) => known.from().is_some_and(|from| page_key(&from) == own),
        None => run.statistics().tries(MarkdownVariant::Accept),
    };
    let accept = if accepts_markdown { MARKDOWN_FIRST } else { HTML_FIRST };
    let headers = if accepts_markdown { vec![] } else { validators(url, known) };
    let asked = match ask(url, url, accept, &headers, run) {
        // The validators were sent to the new address of a page that has moved, whose content is needed.
        Ok(response) if response.status == 304 && !response.steps.is_empty() => ask(url, url, accept, &[], run),
        asked => asked,
    };
    let response = match asked {
        Ok(response) => response,
        Err(error) => return failed(&own, &error, known.is_some()),
    };
    if response.status == 304 {
        let unchanged = known.filter(|_| !headers.is_empty() && response.steps.is_empty());
        let Some((known, source)) = unchanged.and_then(|known| Some((known, known.source(run)?))) else {
            let reason = "the server answered 304 to a request without conditions";
            let error = Some(HTTP_ERROR.error(reason));
            return Visited { error, ..VisitOutcome::Page(PageResult::new(own, PageVerdict::Failed, reason)).into() };
        };
        let links = known.links.clone().unwrap_or_default();
        return Visited { links, ..VisitOutcome::Unchanged(source).into() };
    }
    answered(url, known, run, &response, Form { accepts_markdown, before })
}

/// The result of a request for the publisher's Markdown from which a document was made.
enum Revisit {
    /// It is the text of the document.
    Same(Box<Visited>),
    /// It is anything else, at the page's own address: the response is that of the page.
    OtherPage(Response),
    /// It is anything else, in a file beside the page, which has to be read as well.
    OtherFile(Response),
    /// It was not answered, or the page has to be read for its links.
    Unknown,
}

/// Requests the publisher's Markdown from which the document was made, with its validators.
fn revisit(url: &Url, known: &Known<'_>, run: &Context<'_>) -> Revisit {
    let Some(from) = known.from() else { return Revisit::Unknown };
    if run.site.refusal(&from, Reach::Section(run.scope)).is_some() {
        return Revisit::Unknown;
    }
    // The Markdown at the page's own address has the links of the page.
    let is_own = page_key(&from) == page_key(url);
    if !is_own && known.links.is_none() {
        return Revisit::Unknown;
    }
    let Ok(response) = ask(&from, url, MARKDOWN_FIRST, &validators(&from, Some(known)), run) else {
        return Revisit::Unknown;
    };
    match same_text(url, &from, known, run, &response) {
        Some(visited) => Revisit::Same(Box::new(visited)),
        None if response.status == 304 => Revisit::Unknown,
        None if is_own => Revisit::OtherPage(response),
        None if response.steps.is_empty() => Revisit::OtherFile(response),
        None => Revisit::Unknown,
    }
}

/// The visit of a page whose document was made of `response`, the publisher's Markdown at `from`, if that is as it was.
fn same_text(url: &Url, from: &Url, known: &Known<'_>, run: &Context<'_>, response: &Response) -> Option<Visited> {
    let from = page_key(from);
    let is_own = from == page_key(url);
    let also = vec![from];
    if response.status == 304 && response.steps.is_empty() {
        let links = known.links.clone()?;
        return Some(Visited { links, also, ..VisitOutcome::Unchanged(known.source(run)?).into() });
    }
    let mut content = crate::content::read(response).ok()?;
    if content.kind == ContentKind::Html || !response.steps.is_empty() {
        return None;
    }
    // The title may be the page's.
    content.document.metadata.title = known.listed.title.clone().unwrap_or_default();
    if !known.has_text_of(&content.document, url) {
        return None;
    }
    let links = if is_own {
        PageLinks::read(&content, response, LoadMethod::Http)
    } else {
        let mut links = known.links.clone()?;
        links.pages.extend(markdown_links(&content.document.markdown, &response.url));
        links
    };
    let source = run.source_of(response, url, content.kind);
    Some(unchanged_page(url, Loaded { content, via: LoadMethod::Http, reason: None }, source, false, also, links))
}

/// The headers that ask whether the document is as it was, where `url` is what it was made of.
fn validators(url: &Url, known: Option<&Known<'_>>) -> Vec<(&'static str, String)> {
    let mut headers = vec![];
    if let Some(Known { listed, links: Some(_) }) = known
        && let Some(DocumentSource::Http { from, etag, last_modified, .. }) = &listed.source
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
    let mut is_permanent = true;
    run.site.get(&get, run.reach(page), &mut |Step { status, to }| {
        is_permanent &= is_permanent_redirect(*status);
        if page_key(to) != page_key(page) && run.done.has(&page_key(to)) {
            let reason = if is_permanent { NotFollowed::Seen } else { NotFollowed::SeenForNow };
            return Err(reason.error(page_key(to)));
        }
        Ok(())
    })
}

fn is_permanent_redirect(status: u16) -> bool {
    matches!(status, 301 | 308)
}

fn refused(own: &str, reason: impl Into<String>) -> Visited {
    VisitOutcome::Page(PageResult::new(own, PageVerdict::Refused, reason)).into()
}

fn failed(own: &str, error: &Error, is_known: bool) -> Visited {
    let page = |verdict, reason: String| VisitOutcome::Page(PageResult::new(own, verdict, reason));
    let outcome = if NotFollowed::Outside.is(error) {
        page(PageVerdict::Refused, error.message().to_owned())
    } else if NotFollowed::Seen.is(error) {
        if is_known { VisitOutcome::Moved(error.message().to_owned()) } else { VisitOutcome::Alias }
    } else if NotFollowed::SeenForNow.is(error) {
        let to = error.message();
        if is_known {
            page(PageVerdict::Refused, format!("it redirects temporarily to {to}"))
        } else {
            VisitOutcome::Alias
        }
    } else if error.is(NOT_A_PAGE) || error.is(EMPTY_CONTENT) || error.is_not_allowed() {
        page(PageVerdict::Refused, error.to_string())
    } else {
        page(PageVerdict::Failed, error.to_string())
    };
    let unreachable = may_be_down(error);
    let links = PageLinks { pages: redirect_target(error).into_iter().collect(), ..PageLinks::default() };
    let has_failed = matches!(&outcome, VisitOutcome::Page(page) if page.verdict == PageVerdict::Failed);
    Visited { links, unreachable, error: has_failed.then(|| error.clone()), ..outcome.into() }
}

/// The form in which a page was requested.
struct Form {
    /// Whether Markdown was preferred.
    accepts_markdown: bool,
    /// The Markdown file beside the page that the document was made of, as it is now, if it was fetched already.
    before: Option<Response>,
}

fn answered(url: &Url, known: Option<&Known<'_>>, run: &Context<'_>, response: &Response, form: Form) -> Visited {
    let own = page_key(url);
    if known.is_some() && matches!(response.status, 404 | 410) {
        return VisitOutcome::Gone(format!("the server answered {}", response.status)).into();
    }
    let landed = response.url.clone();
    let redirected = (page_key(&landed) != own).then_some(&landed);
    let permanent = response.steps.iter().all(|step| is_permanent_redirect(step.status));
    let rule = run.browser.map(|_| run.request_rule(url));
    let loaded = match load(response, run.site.client, run.browser, rule) {
        Ok(loaded) => loaded,
        Err(error) => return failed(&own, &error, known.is_some()),
    };
    // A script may have led the browser elsewhere.
    if let Some(reason) = run.site.refusal(&loaded.content.url, run.reach(url)) {
        return refused(&own, format!("it leads to {}: {reason}", loaded.content.url));
    }
    // A page that has moved for now is still at its address.
    let is_moved = redirected.is_some() && (permanent || known.is_none());
    let at = if is_moved { &landed } else { url };
    let is_same =
        loaded.via == LoadMethod::Http && known.is_some_and(|known| known.has_text_of(&loaded.content.document, at));
    if !is_same && !run.is_given(url) && run.missing.shows(&loaded.content.document, url, redirected) {
        return refused(&own, "the site shows this content for pages that do not exist");
    }
    let mut also = vec![own.clone(), page_key(&landed)];
    let links = PageLinks::read(&loaded.content, response, loaded.via);
    let is_listing = || known.is_none() && is_listing(&loaded.content);
    if let Some(reason) = run.scope.refusal(at).or_else(|| is_listing().then_some("it is a directory listing")) {
        return Visited { links, also, ..refused(&own, format!("{reason}; only its links were used")) };
    }
    let (loaded, source) = if is_same {
        let source = run.source_of(response, at, loaded.content.kind);
        (loaded, source)
    } else {
        chosen(loaded, response, at, known, run, form, &mut also)
    };
    unchanged_page(at, loaded, source, is_moved && known.is_some(), also, links)
}

/// The fuller one of the publisher's Markdown and what was extracted, and its source.
fn chosen(
    loaded: Loaded,
    response: &Response,
    at: &Url,
    known: Option<&Known<'_>>,
    run: &Context<'_>,
    form: Form,
    also: &mut Vec<String>,
) -> (Loaded, DocumentSource) {
    let Form { accepts_markdown, before: fetched } = form;
    if loaded.via == LoadMethod::Browser {
        let session = run.session.clone();
        return (loaded, DocumentSource::Browser { session, selector: None, from: None, expand: false, scroll: false });
    }
    let before = known.and_then(Known::from);
    let fetched = before.as_ref().zip(fetched.as_ref());
    let places = Places { site: run.site, scope: run.scope, missing: run.missing, before: before.as_ref(), fetched };
    let Loaded { content, via, reason } = loaded;
    let rest = |content| Loaded { content, via, reason };
    let source =
        |content: &Content, answer: Option<&Response>| run.source_of(answer.unwrap_or(response), at, content.kind);
    // Another file that the document was made from comes before other ways.
    let tries_accept = || before.is_none() && run.statistics().tries(MarkdownVariant::Accept);
    // A known document has another text now.
    let is_sure = || known.is_none() && run.statistics().is_sure_of_accept();
    // The two forms of the page at its own address: as Markdown and as HTML.
    let html_form = || places.own(&response.url, HTML_FIRST).filter(|(content, _)| content.kind == ContentKind::Html);
    let (markdown, (html, answer)) = match content.kind {
        ContentKind::Html => {
            let markdown = if !accepts_markdown && tries_accept() {
                places.markdown_at(&response.url, MARKDOWN_FIRST)
            } else {
                None
            };
            if markdown.is_none() && (accepts_markdown || tries_accept()) {
                run.statistics().note(MarkdownVariant::Accept, false);
            }
            (markdown.map(|(content, answer)| (content, Some(answer))), (content, None))
        }
        ContentKind::Markdown if accepts_markdown && !is_sure() => {
            let Some((html, page)) = html_form() else {
                let source = source(&content, None);
                return (rest(content), source);
            };
            (Some((content, None)), (html, Some(page)))
        }
        _ => {
            let source = source(&content, None);
            return (rest(content), source);
        }
    };
    if let Some((mut markdown, answer)) = markdown {
        let fuller = is_fuller(markdown.document.words, html.document.words);
        run.statistics().note(MarkdownVariant::Accept, fuller);
        if fuller {
            if markdown.document.metadata.title.is_empty() {
                markdown.document.metadata.title.clone_from(&html.document.metadata.title);
            }
            let source = source(&markdown, answer.as_ref());
            return (rest(markdown), source);
        }
    }
    let better = better(answer.as_ref().unwrap_or(response), &html, places, &run.statistics);
    let Some((mut markdown, answer)) = better else {
        let source = source(&html, answer.as_ref());
        return (rest(html), source);
    };
    // Author, language and date are only in the page.
    markdown.document.metadata = html.document.metadata.clone();
    also.push(page_key(&markdown.url));
    let source = run.source_of(&answer, at, markdown.kind);
    (rest(markdown), source)
}

impl Context<'_> {
    /// The source of the document at `at`, which is made of `response`.
    fn source_of(&self, response: &Response, at: &Url, kind: ContentKind) -> DocumentSource {
        let is_publishers = kind == ContentKind::Markdown;
        // The validators of a page that is elsewhere for now say nothing of the page at its own address.
        let is_own = is_publishers || page_key(&response.url) == page_key(at);
        let text = |name: &str| response.header(name).filter(|_| is_own).map(std::borrow::Cow::into_owned);
        DocumentSource::Http {
            section: Some(self.scope.prefix().to_string()),
            from: is_publishers.then(|| page_key(&response.url)),
            etag: text("etag"),
            last_modified: text("last-modified"),
        }
    }
}

fn unchanged_page(
    at: &Url,
    loaded: Loaded,
    source: DocumentSource,
    moved: bool,
    also: Vec<String>,
    links: PageLinks,
) -> Visited {
    let Loaded { content, via, reason } = loaded;
    let reason = reason.or_else(|| {
        let is_publishers = content.kind == ContentKind::Markdown;
        is_publishers.then(|| "the text is the publisher's Markdown".to_owned())
    });
    let mut relations = content.links.relations.iter();
    let canonical =
        relations.find(|relation| is_of(&relation.rel, "canonical")).map(|relation| page_key(&relation.href));
    let document = Box::new(content.document);
    let outcome = VisitOutcome::Save { url: page_key(at), document, source, via, reason, moved, canonical };
    Visited { links, also, ..outcome.into() }
}

#[cfg(test)]
mod tests;
