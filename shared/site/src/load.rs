//! Loading a page: by a plain request, or in the browser if the plain page has too little text.

use std::{fmt, time::Duration};

use ragmaker_address::codes::{BOT_DETECTED, LOGIN_REQUIRED};
use ragmaker_browser::{RequestRule, RestrictedSession, Target, Visit};
use ragmaker_browser_pages::ConvertedPage;
use ragmaker_convert::redirect_target;
use ragmaker_http::{Client, GetRequest, Response};
use ragmaker_markdown::links;
use ragmaker_tool::{Error, Invocation, JsonSchema};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::{
    content::{Content, ContentKind, read},
    redirect::NotFollowed,
};

/// The `Accept` header that prefers the publisher's Markdown, then HTML, then anything.
pub(crate) const MARKDOWN_FIRST: &str = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, */*;q=0.5";
/// The `Accept` header that prefers HTML.
pub(crate) const HTML_FIRST: &str = "text/html, application/xhtml+xml;q=0.9, */*;q=0.5";

/// Fewer words of the publisher's Markdown than these are compared with the page.
const SHORT: usize = 60;

/// The maximum number of pages in a row that only redirect.
const REDIRECT_PAGES: usize = 5;

/// The time limit of the browser for a page.
const BROWSER_TIME: Duration = Duration::from_secs(30);

/// Whether pages that are thin without it go through the browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum UseBrowser {
    /// If the plain page has too little text.
    #[default]
    Auto,
    /// Not at all.
    Never,
}

/// The way in which a page was fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum LoadMethod {
    /// By a plain request.
    Http,
    /// In the browser session.
    Browser,
}

impl fmt::Display for LoadMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Http { "http" } else { "browser" })
    }
}

/// A page with its content.
#[derive(Debug)]
pub struct Loaded {
    /// The content.
    pub content: Content,
    /// The way in which it was fetched.
    pub via: LoadMethod,
    /// The reason why the browser was used, or why it was not used although it was needed.
    pub reason: Option<String>,
}

/// The browser session that thin pages go through.
#[derive(Debug)]
pub struct Browser {
    session: Option<String>,
    invocation: Invocation,
}

impl Browser {
    /// The session `session`, or the default session; `None` if no browser may be used.
    ///
    /// # Errors
    ///
    /// Those of [`RestrictedSession::new`].
    pub fn new(wanted: UseBrowser, session: Option<&str>, invocation: &Invocation) -> Result<Option<Self>, Error> {
        // What is wrong is found before the first page, and each worker has its own.
        RestrictedSession::new(session, invocation)?;
        let browser = || Self { session: session.map(str::to_owned), invocation: invocation.clone() };
        Ok((wanted == UseBrowser::Auto).then(browser))
    }

    /// The page at `url` as the browser shows it, whose requests `rule` may refuse.
    fn open(&self, url: &Url, client: &Client, rule: Option<RequestRule>) -> Result<Content, Error> {
        let session = RestrictedSession::new(self.session.as_deref(), &self.invocation)?;
        let session = session.restricted_to(client.network().clone()).obeying(rule);
        let visit = Visit { timeout: Some(BROWSER_TIME), ..session.visit(Target::Load(url)) };
        let ConvertedPage { page, html, document, .. } = ConvertedPage::of(&visit, None)?;
        client.check(&page.url)?;
        Ok(Content {
            links: links(&html, &page.base),
            http_status: page.http_status,
            media_type: page.content_type,
            charset: None,
            kind: ContentKind::Html,
            document,
            as_it_is: None,
            url: page.url,
        })
    }
}

/// Reads the content of `response`, with the browser if it may show more. `rule` is for the requests of the browser.
pub(crate) fn load(
    response: &Response,
    client: &Client,
    browser: Option<&Browser>,
    rule: Option<RequestRule>,
) -> Result<Loaded, Error> {
    let (plain, reason) = match read(response) {
        Ok(content) if !content.is_thin() => return Ok(Loaded { content, via: LoadMethod::Http, reason: None }),
        Ok(content) => {
            let reason = format!("without a browser the page has {} words, and scripts", content.document.words);
            (Ok(content), reason)
        }
        Err(nothing) if !nothing.may_be_in_browser => return Err(nothing.error),
        Err(nothing) => {
            let reason = nothing.error.message().to_owned();
            (Err(nothing.error), reason)
        }
    };
    let Some(browser) = browser else {
        return plain.map(|content| Loaded { content, via: LoadMethod::Http, reason: Some(reason) });
    };
    match (browser.open(&response.url, client, rule), plain) {
        // Of two that have hardly anything, the plain one is what the server sent.
        (Ok(shown), Ok(content)) if shown.document.words <= content.document.words => {
            Ok(Loaded { content, via: LoadMethod::Http, reason: None })
        }
        (Ok(content), _) => Ok(Loaded { content, via: LoadMethod::Browser, reason: Some(reason) }),
        // A script leads elsewhere.
        (Err(error), _) if NotFollowed::Outside.is(&error) => Err(error),
        (Err(error), Ok(content)) => {
            let reason = format!("{reason}; the browser: {}", error.code());
            Ok(Loaded { content, via: LoadMethod::Http, reason: Some(reason) })
        }
        (Err(error), Err(_)) if error.is(BOT_DETECTED) || error.is(LOGIN_REQUIRED) => Err(error),
        (Err(error), Err(plain)) => Err(plain.detail("browser", error.code())),
    }
}

/// The page at `url`, or the one to which it only redirects: of a publisher's Markdown that is short and of the page
/// itself, the one with more words.
///
/// # Errors
///
/// Those of [`Client::get`], and the reason for which the response has no content to keep.
pub fn open(url: &Url, client: &Client, browser: Option<&Browser>) -> Result<Loaded, Error> {
    let mut at = url.clone();
    for _ in 0..REDIRECT_PAGES {
        match open_at(&at, client, browser) {
            Err(error) if let Some(to) = redirect_target(&error) => at = to,
            loaded => return loaded,
        }
    }
    open_at(&at, client, browser)
}

fn open_at(url: &Url, client: &Client, browser: Option<&Browser>) -> Result<Loaded, Error> {
    let get = |accept| client.get(&GetRequest { url, accept, headers: &[] });
    let loaded = load(&get(MARKDOWN_FIRST)?, client, browser, None)?;
    if loaded.content.kind != ContentKind::Markdown || loaded.content.document.words >= SHORT {
        return Ok(loaded);
    }
    let page = get(HTML_FIRST).and_then(|response| load(&response, client, None, None));
    Ok(page.ok().filter(|page| page.content.document.words > loaded.content.document.words).unwrap_or(loaded))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_server::{client, response, serve};

    const HTML: &str = "200 OK\r\ncontent-type: text/html";
    const MARKDOWN: &str = "200 OK\r\ncontent-type: text/markdown";

    fn words(count: usize) -> String {
        "word ".repeat(count)
    }

    #[test]
    fn a_page_that_only_redirects_is_followed_for_a_few_steps() {
        let url = serve(|target, _| {
            let body = match target {
                "/end" => format!("<title>End</title><p>{}", words(80)),
                "/loop" => "<meta http-equiv=refresh content='0;url=/loop2'>".to_owned(),
                "/loop2" => "<meta http-equiv=refresh content='0;url=/loop'>".to_owned(),
                _ => "<meta http-equiv=refresh content='0;url=/end'>".to_owned(),
            };
            (HTML.to_owned(), body)
        });
        let open = |path: &str| open(&url.join(path).unwrap(), &client(&url), None);
        let loaded = open("/start").unwrap();
        assert_eq!((loaded.content.url.path(), loaded.via), ("/end", LoadMethod::Http));
        assert!(open("/loop").unwrap_err().is(ragmaker_knowledge::EMPTY_CONTENT));
    }

    #[test]
    fn short_markdown_of_the_publisher_gives_way_to_a_longer_page() {
        let url = serve(|target, accept| {
            let count = if target.starts_with("/long") { 100 } else { 10 };
            if accept.starts_with("text/markdown") {
                return (MARKDOWN.to_owned(), format!("# Title\n\n{}", words(count)));
            }
            let page = if target.ends_with("empty") { 0 } else { 200 };
            (HTML.to_owned(), format!("<title>Title</title><h1>Title</h1><p>{}", words(page)))
        });
        for (path, kind) in
            [("/long", ContentKind::Markdown), ("/short", ContentKind::Html), ("/short/empty", ContentKind::Markdown)]
        {
            let loaded = open(&url.join(path).unwrap(), &client(&url), None).unwrap();
            assert_eq!(loaded.content.kind, kind, "{path}");
        }
    }

    #[test]
    fn a_thin_page_is_kept_without_a_browser_and_a_page_without_text_is_an_error() {
        let load = |body: &str| {
            let response = response("200 OK\ncontent-type: text/html", body);
            load(&response, &client(&response.url), None, None)
        };
        let loaded = load("<title>App</title><p>Just a few words.<script src=/app.js></script>").unwrap();
        assert_eq!(loaded.reason.unwrap(), "without a browser the page has 4 words, and scripts");
        assert_eq!(load(&format!("<p>{}<script src=/app.js></script>", words(80))).unwrap().reason, None);
        assert!(load("<script src=/app.js></script>").unwrap_err().is(ragmaker_knowledge::EMPTY_CONTENT));
    }
}
