//! The plan of a section: the addresses from its start page, sitemaps and llms.txt, each kept or dropped.

use std::collections::HashSet;

use ragmaker_http::{Client, GetRequest};
use ragmaker_tool::Error;
use schemars::JsonSchema;
use serde::Serialize;
use url::Url;

use crate::{content::read, load::HTML_FIRST, redirect::Reach, scope::key, section::SectionRequest, seeds, site::Site};

/// An address.
#[derive(Serialize, JsonSchema, Debug)]
#[schemars(inline)]
pub struct Planned {
    /// The address.
    pub url: String,
    /// Whether it would be fetched.
    pub kept: bool,
    /// The place that names it, or the reason why it would not be fetched.
    pub reason: String,
}

/// The addresses that are known before the first page is fetched, and which of them would be.
///
/// # Errors
///
/// Where the site cannot be reached.
pub fn plan(wanted: &SectionRequest<'_>, client: &Client) -> Result<Vec<Planned>, Error> {
    let site = Site::connect(wanted.start, client, wanted.max_wait)?;
    let prefix = wanted.scope.prefix();
    let mut named: Vec<(Url, &str)> = vec![(wanted.start.clone(), "it is the start of the section")];
    if wanted.depth.is_none() {
        named.extend(seeds::of_sitemaps(prefix, &site).into_iter().map(|url| (url, "a sitemap names it")));
        named.extend(seeds::of_llms_txt(prefix, &site).into_iter().map(|url| (url, "llms.txt names it")));
    }
    if wanted.depth != Some(0) {
        let request = GetRequest { url: wanted.start, accept: HTML_FIRST, headers: &[] };
        let response = site.get(&request, Reach::Prefix(&wanted.scope), &mut |_| Ok(())).ok();
        let content = response.and_then(|response| read(&response).ok());
        let links = content.map(|content| content.links.anchors).unwrap_or_default();
        named.extend(links.into_iter().map(|url| (url, "the first page links to it")));
    }
    let (mut seen, mut pages, mut kept) = (HashSet::new(), vec![], 0);
    for (url, why) in named {
        let url_key = key(&url);
        if !seen.insert(url_key.clone()) {
            continue;
        }
        let refusal = site.refusal(&url, Reach::Section(&wanted.scope));
        let refusal = refusal.or_else(|| (kept >= wanted.max_pages).then(|| "--max-pages leaves it out".to_owned()));
        kept += usize::from(refusal.is_none());
        pages.push(Planned {
            url: url_key,
            kept: refusal.is_none(),
            reason: refusal.unwrap_or_else(|| why.to_owned()),
        });
    }
    Ok(pages)
}
