//! The plan of a section: the addresses from its start page, sitemaps and llms.txt, each kept or dropped.

use std::collections::HashSet;

use ragmaker_address::page_key;
use ragmaker_http::{Client, GetRequest};
use ragmaker_tool::Error;
use schemars::JsonSchema;
use serde::Serialize;
use url::Url;

use crate::{content::read, load::HTML_FIRST, redirect::Reach, section::SectionRequest, seeds, site::Site};

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
        let url_key = page_key(&url);
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        scope::Scope,
        test_server::{client, serve},
    };

    /// The addresses of a plan for `/docs/` of a site, each with its reason; those that are left out have `-`.
    fn planned(depth: Option<u32>, max_pages: usize) -> Vec<String> {
        let home = serve(|target, _| {
            let body = match target {
                "/robots.txt" => "User-agent: *\nDisallow: /docs/private\n",
                "/docs/sitemap.xml" => "<urlset><url><loc>/docs/a</loc></url><url><loc>/other</loc></url></urlset>",
                "/docs/llms.txt" => "# Site\n\n- [A](/docs/a#top)\n- [B](/docs/b)\n",
                "/docs/" => "<title>Docs</title><p>Some text.<a href=b>B</a><a href=private>P</a><a href=c.png>C</a>",
                _ => return ("404 x".to_owned(), String::new()),
            };
            let kind = if target == "/docs/" { "text/html" } else { "text/plain" };
            (format!("200 OK\r\ncontent-type: {kind}"), body.to_owned())
        });
        let start = home.join("/docs/").unwrap();
        let wanted = SectionRequest {
            start: &start,
            scope: Scope::new(&start, None, None, None).unwrap(),
            depth,
            max_pages,
            max_wait: Duration::ZERO,
            concurrency: 1,
            session: None,
            key: String::new(),
            stream: false,
        };
        let shown = |page: Planned| {
            let path = page.url.strip_prefix(home.as_str()).unwrap();
            format!("{}{path}: {}", if page.kept { "" } else { "- " }, page.reason)
        };
        plan(&wanted, &client(&start)).unwrap().into_iter().map(shown).collect()
    }

    #[test]
    fn each_address_is_planned_once_with_the_first_place_that_names_it() {
        let all = [
            "docs/: it is the start of the section",
            "docs/a: a sitemap names it",
            "- other: it is outside of the section",
            "docs/b: llms.txt names it",
            "- docs/private: robots.txt disallows it",
            "- docs/c.png: the file name is not that of a document",
        ];
        assert_eq!(planned(None, 10), all);
        let few = planned(None, 2);
        assert_eq!(few[3], "- docs/b: --max-pages leaves it out");
        assert_eq!((&few[..3], &few[4..]), (&all.map(str::to_owned)[..3], &all.map(str::to_owned)[4..]));
    }

    #[test]
    fn a_depth_leaves_out_what_lists_pages_and_a_depth_of_0_all_links() {
        let linked = planned(Some(1), 10);
        assert_eq!(linked[1], "docs/b: the first page links to it");
        assert_eq!((linked.len(), planned(Some(0), 10)), (4, vec!["docs/: it is the start of the section".to_owned()]));
    }
}
