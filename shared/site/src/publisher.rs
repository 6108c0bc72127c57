//! The publisher's own Markdown of a page, if there is one.
//!
//! A site offers it in one of three ways: at the same address by the `Accept` header, at an address that the page names
//! (llms.txt version 2), or at the page's address with `.md`. The first pages of a site show which way works, so the
//! other ways are not tried for the other pages.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ragmaker_address::page_key;
use ragmaker_http::{GetRequest, Response, Step};
use ragmaker_markdown::Links;
use url::Url;

use crate::{
    content::{Content, ContentKind, read},
    load::MARKDOWN_FIRST,
    redirect::{NotFollowed, Reach},
    relations::link_header,
    scope::{Scope, ending, is_markdown},
    site::Site,
    soft_404::SoftNotFound,
};

/// On how many pages each way is tried.
const TRIES: u32 = 3;

/// A way in which a site offers Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkdownVariant {
    /// The same address, with `Accept: text/markdown`.
    Accept,
    /// An address that the page names.
    Alternate,
    /// The page's address with `.md` at its end.
    Suffix,
    /// The page's address with `.md` in the place of `.html`.
    Ending,
}

const VARIANTS: [MarkdownVariant; 4] =
    [MarkdownVariant::Accept, MarkdownVariant::Alternate, MarkdownVariant::Suffix, MarkdownVariant::Ending];

/// The knowledge about the ways in which a site offers Markdown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VariantStatistics {
    tried: [u32; 4],
    won: [u32; 4],
}

impl VariantStatistics {
    /// Whether a way is tried: on the first pages, and later only if it was better each time.
    pub(crate) fn tries(&self, way: MarkdownVariant) -> bool {
        let at = way as usize;
        let other = VARIANTS.iter().any(|other| *other != way && self.won[*other as usize] >= TRIES);
        !other && (self.tried[at] < TRIES || self.won[at] * 2 > self.tried[at])
    }

    /// Whether the site reliably answers with Markdown to the `Accept` header, so that a comparison with the page is
    /// not necessary.
    pub(crate) fn is_sure_of_accept(&self) -> bool {
        self.won[MarkdownVariant::Accept as usize] >= TRIES && self.tries(MarkdownVariant::Accept)
    }

    pub(crate) fn note(&mut self, way: MarkdownVariant, won: bool) {
        self.tried[way as usize] += 1;
        self.won[way as usize] += u32::from(won);
    }
}

/// The statistics of a run, which its workers share.
#[derive(Debug, Default)]
pub(crate) struct SharedStatistics(Mutex<VariantStatistics>);

impl SharedStatistics {
    /// The statistics, for one question or one note: nothing is fetched meanwhile.
    pub(crate) fn lock(&self) -> MutexGuard<'_, VariantStatistics> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the publisher's text has at least 90 % of the length of the extracted text. The difference may be the page's
/// boilerplate.
pub(crate) fn is_fuller(publishers: usize, extracted: usize) -> bool {
    publishers > 0 && publishers * 10 >= extracted * 9
}

/// Whether `name` is one of the types of the relation `rel`.
pub(crate) fn is_of(rel: &str, name: &str) -> bool {
    rel.split_ascii_whitespace().any(|one| one == name)
}

/// The addresses of the page's Markdown that it names, and of the llms.txt that covers it.
pub(crate) fn named(response: &Response, links: &Links) -> (Vec<Url>, Vec<Url>) {
    let (mut markdown, mut indexes) = (vec![], vec![]);
    let mut take = |rel: &str, media_type: &str, href: Url| {
        if is_of(rel, "alternate") && matches!(media_type, "text/markdown" | "text/x-markdown") {
            markdown.push(href);
        } else if is_of(rel, "describedby") && ending(&href).eq_ignore_ascii_case("txt") {
            indexes.push(href);
        }
    };
    for header in response.headers("link") {
        for link in link_header(&header) {
            if let Ok(href) = response.url.join(&link.target) {
                take(&link.rel, &link.media_type, href);
            }
        }
    }
    for relation in &links.relations {
        take(&relation.rel, &relation.media_type, relation.href.clone());
    }
    (markdown, indexes)
}

/// The address of the Markdown of the page at `url` in this way, derived from the page's address. None with a query:
/// one file cannot be the text of all pages that differ by it.
fn guessed(way: MarkdownVariant, url: &Url) -> Option<Url> {
    let path = url.path();
    let path = match way {
        _ if url.query().is_some() => return None,
        MarkdownVariant::Suffix if path.ends_with('/') => format!("{path}index.html.md"),
        MarkdownVariant::Suffix if is_markdown(url) => return None,
        MarkdownVariant::Suffix => format!("{path}.md"),
        MarkdownVariant::Ending => format!("{}.md", path.strip_suffix(".html").or_else(|| path.strip_suffix(".htm"))?),
        MarkdownVariant::Accept | MarkdownVariant::Alternate => return None,
    };
    let mut url = url.clone();
    url.set_path(&path);
    Some(url)
}

/// The places where the publisher's Markdown of a page is looked for.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    pub(crate) site: &'a Site<'a>,
    pub(crate) scope: &'a Scope,
    pub(crate) missing: &'a SoftNotFound<'a>,
    /// The address that the document was made from before.
    pub(crate) before: Option<&'a Url>,
    /// An address whose Markdown was fetched already, and the response.
    pub(crate) fetched: Option<(&'a Url, &'a Response)>,
}

/// The publisher's Markdown of the page in `response`, if it is more complete than `page`.
pub(crate) fn better(
    response: &Response,
    page: &Content,
    places: Places<'_>,
    statistics: &SharedStatistics,
) -> Option<(Content, Response)> {
    if page.kind != ContentKind::Html {
        return None;
    }
    let is_other = |at: &Url| page_key(at) != page_key(&response.url) && places.may_ask(at);
    let take = |at: &Url| {
        let found = places.markdown_at(at, MARKDOWN_FIRST)?;
        is_fuller(found.0.document.words, page.document.words).then_some(found)
    };
    if let Some(found) = places.before.filter(|at| is_other(at)).and_then(take) {
        return Some(found);
    }
    let (named, _) = named(response, &page.links);
    let ways = [MarkdownVariant::Alternate, MarkdownVariant::Suffix, MarkdownVariant::Ending];
    for way in ways.into_iter().filter(|way| way != &MarkdownVariant::Alternate || !named.is_empty()) {
        if !statistics.lock().tries(way) {
            continue;
        }
        let at = if way == MarkdownVariant::Alternate { named.first().cloned() } else { guessed(way, &response.url) };
        let Some(at) = at.filter(|at| is_other(at) && places.before != Some(at)) else { continue };
        let found = take(&at);
        statistics.lock().note(way, found.is_some());
        if found.is_some() {
            return found;
        }
    }
    None
}

impl Places<'_> {
    fn may_ask(&self, url: &Url) -> bool {
        self.site.refusal(url, Reach::Section(self.scope)).is_none()
    }

    /// The Markdown at `url`, unless it is what the site shows for missing pages.
    pub(crate) fn markdown_at(&self, url: &Url, accept: &str) -> Option<(Content, Response)> {
        let (content, response) = match self.fetched.filter(|(at, _)| *at == url) {
            Some((_, response)) => (read(response).ok()?, response.clone()),
            None => self.own(url, accept)?,
        };
        let is_markdown = content.kind == ContentKind::Markdown
            || content.kind == ContentKind::Text && is_markdown(url) && content.media_type == "text/plain";
        (is_markdown && !self.missing.shows(&content.document, url, None)).then_some((content, response))
    }

    /// The content at `url` itself, without redirects, which lead to other pages.
    pub(crate) fn own(&self, url: &Url, accept: &str) -> Option<(Content, Response)> {
        let get = GetRequest { url, accept, headers: &[] };
        let refuse = &mut |_: &Step| Err(NotFollowed::Outside.error("a redirect".to_owned()));
        let response = self.site.get(&get, Reach::Section(self.scope), refuse).ok()?;
        Some((read(&response).ok()?, response))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_learned_from_the_first_pages() {
        let mut statistics = VariantStatistics::default();
        for _ in 0..TRIES {
            assert!(statistics.tries(MarkdownVariant::Suffix) && statistics.tries(MarkdownVariant::Accept));
            statistics.note(MarkdownVariant::Suffix, false);
            statistics.note(MarkdownVariant::Accept, true);
        }
        assert!(
            !statistics.tries(MarkdownVariant::Suffix)
                && statistics.tries(MarkdownVariant::Accept)
                && statistics.is_sure_of_accept()
        );
        assert!(!statistics.tries(MarkdownVariant::Alternate));
        for _ in 0..TRIES {
            statistics.note(MarkdownVariant::Accept, false);
        }
        assert!(!statistics.tries(MarkdownVariant::Accept));
        assert!(is_fuller(90, 100) && !is_fuller(89, 100) && !is_fuller(0, 0));
    }

    #[test]
    fn addresses_of_markdown_follow_the_page() {
        let at = |way, url: &str| guessed(way, &Url::parse(url).unwrap()).map(|url| url.to_string());
        assert_eq!(at(MarkdownVariant::Suffix, "https://x.example/a").unwrap(), "https://x.example/a.md");
        // One file cannot be the text of each page of a list.
        assert_eq!(at(MarkdownVariant::Suffix, "https://x.example/a?b"), None);
        assert_eq!(at(MarkdownVariant::Suffix, "https://x.example/a/").unwrap(), "https://x.example/a/index.html.md");
        assert_eq!(at(MarkdownVariant::Ending, "https://x.example/a.html").unwrap(), "https://x.example/a.md");
        assert_eq!(at(MarkdownVariant::Ending, "https://x.example/a"), None);
        assert_eq!(at(MarkdownVariant::Suffix, "https://x.example/a.md"), None);
    }
}
