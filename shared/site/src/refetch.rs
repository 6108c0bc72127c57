//! Refetching the pages of a knowledge base.

use std::{collections::BTreeMap, time::Duration};

use ragmaker_catalog::Source;
use ragmaker_http::{Client, Limits};
use ragmaker_ingest::{Page, Run, Store, Verdict};
use ragmaker_tool::{Caller, Error, Invocation};
use url::Url;

use crate::{
    load::{Browser, UseBrowser},
    scope::{Scope, key},
    section::{SectionRequest, refetch},
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
    /// Compares each page with the document that `store` has, section by section.
    ///
    /// # Errors
    ///
    /// Where nothing can be written; what is wrong with a page or a site is a verdict.
    pub fn refresh<'s>(&self, store: Store<'s>, mut run: Run) -> Result<(Store<'s>, Run), Error> {
        let mut sections: BTreeMap<(String, Option<String>), Vec<Url>> = BTreeMap::new();
        for text in self.urls {
            if let Some(url) = Url::parse(text).ok().filter(|url| key(url) == *text) {
                let source = store.known(text).and_then(|listed| listed.source.clone());
                let section = source.and_then(|source| match source {
                    Source::Http { section, .. } => section,
                    _ => None,
                });
                sections.entry((url.origin().ascii_serialization(), section)).or_default().push(url);
            } else {
                let reason = "its address is not in the form that addresses are recorded in: fetch it again";
                run.end(Page::new(text, Verdict::Refused, reason), ())?;
            }
        }
        sections
            .iter()
            .try_fold((store, run), |state, ((_, section), urls)| self.section(section.as_deref(), urls, state))
    }

    /// Compares the pages of one section; requests do not leave it. Of older catalogs it is the folder that the pages
    /// have in common.
    fn section<'s>(
        &self,
        section: Option<&str>,
        urls: &[Url],
        (store, mut run): (Store<'s>, Run),
    ) -> Result<(Store<'s>, Run), Error> {
        let start = &urls[0];
        // The catalog may name any machine; only a person has seen to it that this is theirs.
        let given = (self.invocation.caller == Caller::Person).then_some(start);
        let client = Client::new(&self.invocation.host, given, Limits::default())?;
        if let Err(error) = client.check(start) {
            for url in urls {
                run.end(Page::failed(key(url), &error), ())?;
            }
            return Ok((store, run));
        }
        let wanted = if self.may_browse { UseBrowser::Auto } else { UseBrowser::Never };
        let browser = Browser::new(wanted, None, self.invocation)?;
        let recorded = section.and_then(|section| Url::parse(section).ok());
        let recorded = recorded.and_then(|prefix| Scope::new(start, Some(prefix), None, None).ok());
        let scope = recorded.map_or_else(|| Scope::new(start, Some(folder(urls)), None, None), Ok)?;
        let wanted = SectionRequest {
            start,
            scope,
            depth: Some(0),
            max_pages: usize::MAX,
            max_wait: MAX_WAIT,
            concurrency: 1,
            session: None,
            key: String::new(),
            stream: false,
        };
        refetch(&wanted, urls, &client, browser.as_ref(), (store, run))
    }
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
