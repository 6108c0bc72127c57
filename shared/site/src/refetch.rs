//! Refetching the pages of a knowledge base.

use std::{collections::BTreeMap, time::Duration};

use ragmaker_address::page_key;
use ragmaker_catalog::DocumentSource;
use ragmaker_http::{Client, Limits};
use ragmaker_ingest::{PageResult, PageVerdict, Run, Store};
use ragmaker_tool::{Caller, Error, Invocation};
use url::Url;

use crate::{
    load::{Browser, UseBrowser},
    scope::Scope,
    section::{SectionRequest, refetch},
    site::Site,
};

/// The maximum pause that a site may ask for.
const MAX_WAIT: Duration = Duration::from_mins(1);

/// A request to fetch known pages again, with the validators of their last responses.
#[derive(Debug)]
pub struct Refetch<'a> {
    /// Their addresses, as the catalog has them.
    pub urls: &'a [String],
    /// The circumstances of the call.
    pub invocation: &'a Invocation,
    /// Whether pages that are thin without it go through the browser session.
    pub may_browse: bool,
}

impl Refetch<'_> {
    /// Compares each page with the document that `store` has, site by site and section by section.
    ///
    /// # Errors
    ///
    /// Where nothing can be written; what is wrong with a page or a site is a verdict.
    pub fn refresh<'s>(&self, store: Store<'s>, mut run: Run) -> Result<(Store<'s>, Run), Error> {
        let mut sites: BTreeMap<String, Sections> = BTreeMap::new();
        for text in self.urls {
            if let Some(url) = Url::parse(text).ok().filter(|url| page_key(url) == *text) {
                let source = store.known(text).and_then(|listed| listed.source.clone());
                let section = source.and_then(|source| match source {
                    DocumentSource::Http { section, .. } => section,
                    _ => None,
                });
                let sections = sites.entry(url.origin().ascii_serialization()).or_default();
                sections.entry(section).or_default().push(url);
            } else {
                let reason = "its recorded address is not in normalized form: fetch it again";
                run.end(PageResult::new(text, PageVerdict::Refused, reason), ())?;
            }
        }
        sites.values().try_fold((store, run), |state, sections| self.site(sections, state))
    }

    /// Compares the pages of one site. Its robots.txt is fetched once, and all sections keep its pauses.
    fn site<'s>(&self, sections: &Sections, (store, mut run): (Store<'s>, Run)) -> Result<(Store<'s>, Run), Error> {
        let Some(start) = sections.values().flatten().next() else { return Ok((store, run)) };
        // The catalog may name any machine; only a person has seen to it that this is theirs.
        let given = (self.invocation.caller == Caller::Person).then_some(start);
        let client = Client::new(&self.invocation.host, given, Limits::default())?;
        let site = match client.check(start).and_then(|()| Site::connect(start, &client, MAX_WAIT)) {
            Ok(site) => site,
            Err(error) => {
                for url in sections.values().flatten() {
                    run.end(PageResult::failed(page_key(url), &error), ())?;
                }
                return Ok((store, run));
            }
        };
        let wanted = if self.may_browse { UseBrowser::Auto } else { UseBrowser::Never };
        let browser = Browser::new(wanted, None, self.invocation)?;
        sections.iter().try_fold((store, run), |state, (section, urls)| {
            refetch(&request(section.as_deref(), urls)?, urls, &site, browser.as_ref(), state)
        })
    }
}

/// The pages of a site by the section that the catalog records.
type Sections = BTreeMap<Option<String>, Vec<Url>>;

/// The request for the pages `urls` of one section; requests do not leave it. Of older catalogs it is the folder that
/// the pages have in common.
fn request<'a>(section: Option<&str>, urls: &'a [Url]) -> Result<SectionRequest<'a>, Error> {
    let start = &urls[0];
    let recorded = section.and_then(|section| Url::parse(section).ok());
    let recorded = recorded.and_then(|prefix| Scope::new(start, Some(prefix), None, None).ok());
    let scope = recorded.map_or_else(|| Scope::new(start, Some(folder(urls)), None, None), Ok)?;
    Ok(SectionRequest {
        start,
        scope,
        depth: Some(0),
        max_pages: usize::MAX,
        max_wait: MAX_WAIT,
        concurrency: 1,
        session: None,
        key: String::new(),
        stream: false,
    })
}

/// The deepest folder that all of `urls` are in.
fn folder(urls: &[Url]) -> Url {
    let segments = |url: &Url| -> Vec<String> { url.path().split('/').map(str::to_owned).collect() };
    let mut common = segments(&urls[0]);
    common.pop();
    for url in urls {
        let own = segments(url);
        let same = common.iter().zip(&own[..own.len() - 1]).take_while(|(a, b)| a == b).count();
        common.truncate(same);
    }
    let mut folder = urls[0].clone();
    folder.set_query(None);
    folder.set_fragment(None);
    folder.set_path(&(common.join("/") + "/"));
    folder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_a_folder_in_common() {
        let of = |paths: &[&str]| {
            let urls: Vec<Url> =
                paths.iter().map(|path| Url::parse(&format!("https://x.example{path}?q")).unwrap()).collect();
            folder(&urls).to_string()
        };
        assert_eq!(of(&["/docs/a", "/docs/b/c", "/docs/"]), "https://x.example/docs/");
        assert_eq!(of(&["/docs/a"]), "https://x.example/docs/");
        assert_eq!(of(&["/docs/a", "/docs-old/a"]), "https://x.example/");
        assert_eq!(of(&["/"]), "https://x.example/");
    }
}
