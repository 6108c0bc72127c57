//! Documents from a browser: loaded again in the session from which they were saved.

use ragmaker_address::{Network, canonical};
use ragmaker_browser::{Expand, RestrictedSession, Target, Visit};
use ragmaker_browser_pages::ConvertedPage;
use ragmaker_catalog::DocumentSource;
use ragmaker_ingest::{DocumentKey, PageResult, PageVerdict, Run, Store};
use ragmaker_tool::{Error, Invocation};

use crate::failed;

/// Compares the documents at `urls` with what the browser shows there now.
pub(crate) fn refresh(
    urls: &[String],
    store: &mut Store<'_>,
    run: &mut Run,
    invocation: &Invocation,
) -> Result<(), Error> {
    let mut lost: Option<Error> = None;
    for url in urls {
        if let Some(error) = &lost {
            failed(std::slice::from_ref(url), error, run)?;
            continue;
        }
        let source = store.known(url).and_then(|listed| listed.source.clone());
        let Some(DocumentSource::Browser { session, selector, from, expand, scroll }) = source else { continue };
        let known = BrowserDocument { url, session, selector, from, expand: Expand { folded: expand, scroll } };
        match one(known, invocation, store) {
            Ok(page) => run.end(page, ())?,
            Err(error) if is_gone(&error) => {
                let file = store.archive(url)?;
                let page = PageResult::new(url, PageVerdict::Gone, error.message());
                run.end(PageResult { file_path: file.map(|file| ragmaker_files::lossy_text(file).0), ..page }, ())?;
            }
            Err(error) => {
                failed(std::slice::from_ref(url), &error, run)?;
                // Without a browser, none of the others can be opened either.
                if ragmaker_browser::codes::SESSION_ERRORS.iter().any(|code| error.is(*code)) {
                    lost = Some(error);
                }
            }
        }
    }
    Ok(())
}

/// Whether the server reported that the page does not exist.
fn is_gone(error: &Error) -> bool {
    error.details().get("http_status").is_some_and(|status| *status == 404 || *status == 410)
}

/// A document that a browser showed.
struct BrowserDocument<'a> {
    url: &'a str,
    session: Option<String>,
    selector: Option<String>,
    from: Option<String>,
    expand: Expand,
}

/// Takes a document again in the same way, and saves it if it has changed.
fn one(known: BrowserDocument<'_>, invocation: &Invocation, store: &mut Store<'_>) -> Result<PageResult, Error> {
    let BrowserDocument { url, session, selector, from, expand } = known;
    let address = ragmaker_address::parse(url)?;
    // A catalog may name any machine.
    let restricted =
        RestrictedSession::new(session.as_deref(), invocation)?.restricted_to(Network::new(&invocation.host));
    let visit = Visit { wait_for: selector.as_deref(), expand, ..restricted.visit(Target::Load(&address)) };
    let ConvertedPage { url: at, document, .. } = ConvertedPage::of(&visit, selector.as_deref())?;
    let moved = canonical(&address) != at;
    let from = from.or(moved.then(|| url.to_owned()));
    let source = DocumentSource::Browser { session, selector, from, expand: expand.folded, scroll: expand.scroll };
    let key = DocumentKey { url: &at, was: Some(url), named_after: None, moved };
    let stored = store.queue_save(document, key, &source)?;
    let page = if moved { PageResult::moved(url, at, Some(&stored)) } else { PageResult::stored(url, &stored) };
    Ok(page.via("browser"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_page_that_the_server_denies_is_gone() {
        let error = |status: u64| ragmaker_knowledge::EMPTY_CONTENT.error("no page").detail("http_status", status);
        assert!(is_gone(&error(404)) && is_gone(&error(410)));
        for status in [200, 401, 403, 429, 500, 503] {
            assert!(!is_gone(&error(status)), "{status}");
        }
        assert!(!is_gone(&ragmaker_knowledge::EMPTY_CONTENT.error("404")));
        assert!(!is_gone(&ragmaker_knowledge::EMPTY_CONTENT.error("x").detail("http_status", "404")));
    }
}
