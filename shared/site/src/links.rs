//! The links of pages, kept from one run over a section to the next.
//!
//! A page that the server answers with 304 has no content to read links from: they are those of the response that its
//! document was made of. Each address is kept once, because most links of a page are on every page of its site.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use ragmaker_catalog::{DocumentSource, Listed};
use ragmaker_http::Response;
use ragmaker_knowledge::bytes_hash;
use ragmaker_markdown::is_noindex;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::{
    content::{Content, ContentKind},
    load::LoadMethod,
    publisher::named,
    relations::markdown_links,
};

/// The addresses that a page leads to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PageLinks {
    /// The pages that it links to.
    pub(crate) pages: Vec<Url>,
    /// The llms.txt that it names.
    pub(crate) indexes: Vec<Url>,
    /// The SHA-256 of the body that they were read from, where the document is made of it.
    pub(crate) body: Option<String>,
    /// Whether the page asks that it be in no index.
    pub(crate) is_noindex: bool,
}

impl PageLinks {
    /// The links of `content`, which `response` led to by `via`.
    pub(crate) fn read(content: &Content, response: &Response, via: LoadMethod) -> Self {
        let (_, indexes) = named(response, &content.links);
        let mut pages = content.links.anchors.clone();
        pages.extend(content.links.refresh.clone());
        if content.kind == ContentKind::Markdown {
            pages.extend(markdown_links(&content.document.markdown, &response.url));
        }
        // The plain page may be the same shell for all that scripts show in it.
        let body = (via == LoadMethod::Http).then(|| bytes_hash(&response.body));
        let asks = response.headers("x-robots-tag").any(|tag| is_noindex(&tag.to_ascii_lowercase()));
        Self { pages, indexes, body, is_noindex: asks || content.links.is_noindex }
    }
}

/// The links of the pages of a section.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct SectionLinks {
    addresses: IndexSet<Url>,
    /// By the address of the document.
    documents: BTreeMap<String, Kept>,
}

/// The links of a document, as positions in the list of addresses, and the validators of the response.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    etag: Option<String>,
    last_modified: Option<String>,
    pages: Vec<usize>,
    indexes: Vec<usize>,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    is_noindex: bool,
}

impl SectionLinks {
    /// The links of the document at `url`, if they were read from the response that `listed` was made of.
    pub(crate) fn of(&self, url: &str, listed: &Listed) -> Option<PageLinks> {
        let kept = self.documents.get(url)?;
        let Some(DocumentSource::Http { etag, last_modified, .. }) = &listed.source else { return None };
        if (etag, last_modified) != (&kept.etag, &kept.last_modified) {
            return None;
        }
        let urls = |positions: &[usize]| {
            positions.iter().map(|position| self.addresses.get_index(*position).cloned()).collect::<Option<_>>()
        };
        let Kept { body, is_noindex, .. } = kept.clone();
        Some(PageLinks { pages: urls(&kept.pages)?, indexes: urls(&kept.indexes)?, body, is_noindex })
    }

    /// Keeps the links of the document at `url`, unless its source has no validators: such a page is always fetched
    /// whole.
    pub(crate) fn keep(&mut self, url: &str, source: &DocumentSource, links: PageLinks) {
        let DocumentSource::Http { etag, last_modified, .. } = source else { return };
        if etag.is_none() && last_modified.is_none() {
            return;
        }
        let mut positions = |urls: Vec<Url>| urls.into_iter().map(|url| self.addresses.insert_full(url).0).collect();
        let kept = Kept {
            etag: etag.clone(),
            last_modified: last_modified.clone(),
            pages: positions(links.pages),
            indexes: positions(links.indexes),
            body: links.body,
            is_noindex: links.is_noindex,
        };
        self.documents.insert(url.to_owned(), kept);
    }
}

impl SectionLinks {
    /// Takes over from `earlier` the links of the documents that are not here and of which `is_listed` says that the
    /// knowledge base has them: this run did not visit them.
    pub(crate) fn take_over(&mut self, earlier: &Self, is_listed: impl Fn(&str) -> bool) {
        for (url, kept) in &earlier.documents {
            if self.documents.contains_key(url) || !is_listed(url) {
                continue;
            }
            let mut positions = |positions: &[usize]| -> Option<Vec<usize>> {
                let urls = positions.iter().map(|position| earlier.addresses.get_index(*position).cloned());
                urls.map(|url| Some(self.addresses.insert_full(url?).0)).collect()
            };
            let (Some(pages), Some(indexes)) = (positions(&kept.pages), positions(&kept.indexes)) else { continue };
            self.documents.insert(url.clone(), Kept { pages, indexes, ..kept.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(etag: Option<&str>) -> DocumentSource {
        DocumentSource::Http { section: None, from: None, etag: etag.map(str::to_owned), last_modified: None }
    }

    fn links(paths: &[&str]) -> PageLinks {
        let pages = paths.iter().map(|path| Url::parse(&format!("https://x.example/{path}")).unwrap()).collect();
        PageLinks { pages, body: Some("1".to_owned()), ..PageLinks::default() }
    }

    #[test]
    fn links_belong_to_one_state_of_a_page() {
        let mut kept = SectionLinks::default();
        kept.keep("https://x.example/a", &source(Some("1")), links(&["b", "c"]));
        kept.keep("https://x.example/b", &source(Some("2")), links(&["c", "b", "a"]));
        kept.keep("https://x.example/c", &source(None), links(&["a"]));

        let kept: SectionLinks = serde_json::from_str(&serde_json::to_string(&kept).unwrap()).unwrap();
        assert_eq!(kept.addresses.len(), 3);
        let listed = |etag| Listed { source: Some(source(etag)), ..Listed::default() };
        assert_eq!(kept.of("https://x.example/a", &listed(Some("1"))), Some(links(&["b", "c"])));
        assert_eq!(kept.of("https://x.example/b", &listed(Some("2"))), Some(links(&["c", "b", "a"])));
        // The next run visits one of them, and one is not in the knowledge base any more.
        let mut next = SectionLinks::default();
        next.keep("https://x.example/a", &source(Some("4")), links(&["d"]));
        next.take_over(&kept, |url| url == "https://x.example/b");
        assert_eq!(next.of("https://x.example/a", &listed(Some("4"))), Some(links(&["d"])));
        assert_eq!(next.of("https://x.example/b", &listed(Some("2"))), Some(links(&["c", "b", "a"])));
        next.take_over(&kept, |_| false);
        assert_eq!(next.documents.len(), 2);
        // Another state of the page, whose links were not read.
        assert_eq!(kept.of("https://x.example/a", &listed(Some("3"))), None);
        assert_eq!(kept.of("https://x.example/c", &listed(None)), None);

        let damaged = r#"{"addresses":[],"documents":{"https://x.example/a":{"etag":"1","last_modified":null,"pages":[7],"indexes":[]}}}"#;
        let damaged: SectionLinks = serde_json::from_str(damaged).unwrap();
        assert_eq!(damaged.of("https://x.example/a", &listed(Some("1"))), None);
    }
}
