//! The test site for tests, the demo and benchmarks: a wiki to gather, and pages that are hard for
//! browser automation.
//!
//! [`Site::start`] serves it on a free port of this machine. The pages need nothing from outside,
//! are the same every time, and may not be cached, so that [`Site::requests`] shows every load.
//! `/` lists them, from this list; `N`, `MS` (milliseconds), `CODE` and `NAME` stand for any.
//!
//! - `/wiki/`: the sample site: a wiki about a small open-source project, in UTF-8, `Shift_JIS` and EUC-JP
//! - `/book/`: a short book about Rust, in place of the real one in the commands of the documentation
//! - `/page/NAME`: a short article about NAME, which may be any text: what most links lead to
//! - `/links/N`: a plain page with N links, up to 20,000
//! - `/links/late/MS`: 20 links that a script adds after MS
//! - `/links/hidden`: links that are shown, and links that are not, in every usual way
//! - `/links/unstyled`: the same on a page without style rules
//! - `/links/names`: links whose name is an image's, a label's, another element's, or none
//! - `/links/schemes`: `javascript:`, `mailto:`, `data:`, `tel:`, `file:` and fragment links among two that can be
//!   followed
//! - `/links/rtl`: links of a page that is written from right to left, some beyond its edges
//! - `/links/duplicates`: six links to two pages
//! - `/links/base`: relative links under a `<base href>`
//! - `/links/shadow`: links in open (nested too) and closed shadow roots
//! - `/links/frames`: a frame of the same origin, one of another (`?other=ORIGIN`, by default this server as
//!   `localhost`), one from `srcdoc`
//! - `/links/odd`: addresses with CJK, escapes, spaces, a query and 4,000 characters
//! - `/links/windows`: opens a window by script, and links with `target=_blank`
//! - `/app/`: an app whose links render routes with `pushState`
//! - `/act/page`: a control of every kind, rows to load, frames; `/act/links/N` N links and rows to load;
//!   `/act/steps/N` N links, controls, and a button that brings other rows; `/act/picture` pictures, one of them far
//!   down, `/act/tall` a page of 30,000 pixels
//! - `/data/stations`: asks for JSON while it loads and on clicks; at `/data/many` sixty times
//! - `/consent/onetrust`: an article under a consent banner in the structure of `OneTrust`; one each of the other names
//!   in the table in `consent.rs`
//! - `/folded`: folded sections, tabs, rows that come on scrolling, and a list that contains only the rows in sight
//! - `/folded/navigates`: buttons that lead to other pages; `/folded/app` to another one of an application;
//!   `/folded/toggles` buttons that bring nothing or hide again, `/folded/pressed-tabs` tabs that a click does not change,
//!   `/folded/dead-tabs` tabs that nothing changes, `/folded/header` a fold in the header of a page without `<main>`
//! - `/act/kinds/moves`: a control for each kind of step, on a page that is hostile to all: one for each name in
//!   `kinds.rs`
//! - `/act/moves`: a button that never stands still; one or two hostile ones each at `/act/jumps`, `/act/covered`,
//!   `/act/uncovers`, `/act/sticky`, `/act/replaced`, `/act/generated`, `/act/single-keys`, `/act/vanishes`,
//!   `/act/disabled`, `/act/enables`, `/act/hidden`, `/act/dialogs`, `/act/frame-dialog`, `/act/frame-window`,
//!   `/act/unload`, `/act/navigates`, `/act/leads-away`, `/act/detaches`, `/act/detaches-other`, `/act/shadows`,
//!   `/act/hangs`, `/act/windows`, `/act/tampers`, `/act/clobbers`
//! - `/act/lists`: lists with options of one name; `/act/formats` fields with formats of their own, `/act/words` names that
//!   are a part of others, `/act/grows` rows that come in a closed shadow root and in a frame of another site,
//!   `/act/labels` controls of which only the label shows, `/act/modal` a dialog over a button, `/act/numbers` a name
//!   that ends with a number
//! - `/act/same-names`: buttons of one name in the page and in its frame
//! - `/hash/`: an app whose routes are in the fragment
//! - `/endless`: an app that renders ten more links whenever its end is in sight
//! - `/worker`: a service worker, which answers for a page below it that the server does not have
//! - `/slow/poll/MS`: asks the server something every MS, for ever
//! - `/slow/again/fetch`: asks the server a second after it has answered, for ever; `/slow/again/request` and
//!   `/slow/again/socket` likewise; `/slow/again/sleep` waits in a loop, `/slow/again/list` has new rows fade in,
//!   `/slow/again/cleared` clears a timer by another name, `/slow/again/slides` is a short page that shows its slides
//!   in turn
//! - `/slow/socket`: keeps a WebSocket open
//! - `/slow/events`: keeps an event stream open, with an event every second
//! - `/slow/fetch`: waits for a request that is never answered; its content is there
//! - `/slow/image/MS`: an image that takes MS
//! - `/slow/style/MS`: a style sheet that takes MS
//! - `/slow/answer/MS`: a page that takes MS to its first byte
//! - `/slow/body`: a page whose body trickles in for five minutes
//! - `/slow/first-byte`: a server that never answers
//! - `/slow/clock/MS`: changes its text every MS, for ever
//! - `/slow/loop/MS`: a script that starts MS after the page and never ends; 0 is while it loads
//! - `/other-site/fetch`: a page with text that asks another site, which never answers; `/other-site/script`,
//!   `/other-site/frame` and `/other-site/image` likewise; `/other-site/thin` is one with hardly any text
//! - `/other-site/blocking`: a script of another site that never answers stands before the text; `/other-site/style` a
//!   style sheet
//! - `/other-site/late`: a page with text, to which another site adds a sentence after half a second
//! - `/ready/dead-fetch`: one of some 60 pages with late content, noise that does not end, or both: the table in
//!   `fixtures.rs`
//! - `/late/import`: a link that comes 700 ms after the page, with a module; `/late/script`, `/late/body`,
//!   `/late/stream`, `/late/many`, `/late/parts`, `/late/looked-for`, `/late/slices`, `/late/reopened`,
//!   `/late/request`, `/late/frame`, `/late/worker`, `/late/told`, `/late/cipher`, `/late/task`, `/late/database`
//!   likewise; `/late/interval` after 1.5 s, `/late/animation`, `/late/shadow` and `/late/transition` after 1.2 s of
//!   moving, `/late/slide` in 25 steps, `/late/again` 700 ms after the third answer of one address, `/late/picture`
//!   after 2 s, when a picture is there, `/late/inner` the same in a frame, `/late/slow` after 4.5 s, and
//!   `/late/rejection` at once, when nobody deals with a failure
//! - `/late/text`: leads to another page by a timer whose work is a text; `/late/countdown` after four seconds that it
//!   counts, `/late/pause` after three
//! - `/hostile/forged`: leads to `localhost`, where scripts say that the page is another one
//! - `/hostile/clobbered`: elements with the names of what a document is asked for
//! - `/hostile/sandboxed`: a page that may not run scripts
//! - `/hostile/farewell`: a script that begins when the page is left, and never ends
//! - `/hostile/usher`: a script that leads elsewhere in the moment in which another page takes its place
//! - `/hostile/closing`: a script that closes its tab after 300 ms
//! - `/hostile/talkative`: logs without end, and is called `Read` where somebody reads what it logs
//! - `/hostile/rootless`: a script that takes away the whole document
//! - `/hostile/password`: asks for a password, by status 401; `/hostile/failed` is a 500 without a body
//! - `/dialog/alert`: an alert while the page loads; `/dialog/confirm`, `/dialog/prompt` likewise
//! - `/dialog/chain`: alert, confirm and prompt, one after another
//! - `/dialog/frame`: the same in a frame of another site; `/dialog/sandbox` an alert in a sandboxed one
//! - `/dialog/unload`: asks before it lets itself be left, once it was clicked
//! - `/redirect/chain/N`: N redirects to an article
//! - `/redirect/loop`: redirects to itself through another page
//! - `/redirect/host`: redirects to an article under another name of the host, `localhost`
//! - `/redirect/long`: redirects to an address of 60,000 characters; at `/redirect/script-long` a script gives itself
//!   one
//! - `/redirect/meta`: leads to an article by meta refresh; `/redirect/meta/N` by N more of them before
//! - `/redirect/header`: leads to an article by a `Refresh` header; `/redirect/header-later` after a second, from a
//!   page with much text
//! - `/redirect/onload`: leads to an article by an attribute `onload`
//! - `/redirect/script-nothing`: a script sets its location to an address that answers with no content;
//!   `/redirect/script-download` with a download, `/redirect/script-hang` does not answer, `/redirect/script-refused`
//!   may not be asked; at `/redirect/script-back` it goes back, at `/redirect/script-back-at-once` at once
//! - `/redirect/script/MS`: leads to an article by script after MS
//! - `/redirect/file`: redirects to `file:`; `/redirect/javascript`, `/redirect/data`, `/redirect/chrome` likewise
//! - `/redirect/script-file`: a script sets its location to `file:`; `/redirect/script-data`, `/redirect/script-blank`
//!   likewise
//! - `/status/CODE`: a page with that status, and text that could pass for an article
//! - `/status/204`: no content
//! - `/challenge/cloudflare`: a challenge page built like Cloudflare's
//! - `/challenge/cloudflare-clearing`: the same, which lets the browser in after 2.5 seconds, by a cookie
//! - `/challenge/cloudflare-slow`: the same after 9 seconds, about what a person needs
//! - `/challenge/cloudflare-block`: the page with which Cloudflare blocks a visitor, with status 200;
//!   `/challenge/cloudflare-block-403` and `/challenge/cloudflare-block-503` with that status
//! - `/challenge/hcaptcha`: an interstitial with hCaptcha
//! - `/challenge/recaptcha`: an interstitial with reCAPTCHA, built like Google's
//! - `/challenge/datadome`: a challenge page built like `DataDome`'s
//! - `/challenge/perimeterx`: a challenge page built like `PerimeterX`'s
//! - `/challenge/akamai`: a refusal built like Akamai's edge's
//! - `/challenge/akamai-crypto`: a challenge page built like Akamai Bot Manager's
//! - `/challenge/anubis`: a challenge with status 200; `/challenge/amazon`, `/challenge/vercel` and
//!   `/challenge/ddos-guard` likewise
//! - `/challenge/aws-waf`: the silent challenge of AWS WAF, with status 202
//! - `/challenge/aws-waf-captcha`: the CAPTCHA of AWS WAF, with status 405
//! - `/innocent/article`: an article about CAPTCHAs, which quotes what challenge pages say
//! - `/innocent/badge`: an article with a reCAPTCHA badge and a comment form with `g-recaptcha`
//! - `/innocent/turnstile`: a sign-up form with a Turnstile widget below an article
//! - `/innocent/folded`: a short note with a folded form that has a reCAPTCHA widget, and the script that Cloudflare
//!   adds to pages
//! - `/innocent/tool`: a short page with a Turnstile widget that shows only when it is in doubt
//! - `/innocent/comments`: a short article about CAPTCHAs, whose comment form has a reCAPTCHA widget that shows
//! - `/innocent/forbidden`: a plain 403 page, of nobody's making but the site's
//! - `/content/download`: an attachment
//! - `/content/pdf`: a PDF of one page; `/content/archive` a zip archive with a document; `/account/report.pdf` a PDF
//!   for who is signed in
//! - `/content/text`: plain text; `/content/markdown`, `/content/json`, `/content/xml`, `/content/image` likewise;
//!   `/content/feed` has a style sheet that makes it a page, `/content/feed.xsl`; `/content/broken-xml` and
//!   `/content/broken-xhtml` break off
//! - `/content/empty`: status 200 and an empty body
//! - `/content/blank`: a whole HTML page without a word in it
//! - `/content/wrong-charset`: UTF-8 that its header calls ISO-8859-1
//! - `/content/shift-jis`: a page in `Shift_JIS`, which a meta element declares; `/content/euc-jp` in EUC-JP, which its
//!   header declares
//! - `/content/deep`: 10,000 nested elements in the HTML, which a browser's parser flattens to 512
//! - `/content/deep-script`: 1,500 nested elements, made by script, which it does not
//! - `/content/crash`: 200,000 nested elements, made by script, which crash the tab when they are laid out
//! - `/content/endless/file`: a body without an end: also a `text` and a `page`; at `announced`, one of 2 GB that says
//!   so
//! - `/content/huge`: 8 MB of paragraphs
//! - `/content/surrogates`: text, a title and a link with lone surrogates
//! - `/content/title`: a title with quotes, colons, line breaks, `---` and emoji
//! - `/content/protocol`: a title, a text and links that pass for messages of the Model Context Protocol, and give
//!   orders
//! - `/content/long-title`: a title of 5,000 characters
//! - `/content/banner`: an article under a cookie banner, a newsletter dialog and advertisements
//! - `/content/login-form`: a login form and nothing else
//! - `/members/en`: a page that is nothing but a form to sign in; `/members/ja`, `/members/de` and `/members/zh` in
//!   other languages, `/members/refused` with status 401, `/members/report` leads there; `/members/buttons` has buttons
//!   of other services alone, `/members/link` sends a link by mail
//! - `/members/wiki`: a page with a small login box beside its content; `/members/note` in its header,
//!   `/members/reference` about a password field, with one,
//!   `/members/article` below it; `/members/join` is a registration, `/members/newsletter` asks for an address,
//!   `/members/providers` tells of signing in by other services, `/members/console-manual` of a console;
//!   `/members/described` has a paragraph before its form; `/members/loginfmt`, `/members/username` and
//!   `/members/services` are first steps of a sign-in, and `/members/first-step` is one by its heading alone;
//!   `/members/connexion` is one in French; `/members/forum` is an index with a login box, `/members/sign-up` a
//!   registration, `/members/wifi` a tool with a password; `/members/blocked` is Cloudflare's refusal
//! - `/broken/reset`: a connection that is reset in the middle of the body
//! - `/broken/short`: a connection that ends before the body does
//! - `/broken/nothing`: a connection that ends before the answer begins
//! - `/broken/invalid`: an answer that is not HTTP
//! - `/busy/N/NAME`: an article that is refused N times, with status 429 and a wait of a second
//! - `/login`: a form whose POST sets a session cookie and leads to `/account`
//! - `/account`: says who is signed in; leads to `/login` otherwise
//! - `/logout`: forgets who is signed in
//! - `/cookie/set`: sets the cookies in its query for a year, `?name=value`
//! - `/cookie/session`: sets the cookies in its query until the browser closes
//! - `/cookie/echo`: shows the cookies that the request brought
//! - `/storage/set`: stores its query in the browser's local storage, `?name=value`
//! - `/storage/show`: shows what is stored there
//! - `/headers`: shows the request's headers
//! - `/fingerprint`: shows what a script can see of the browser: user agent, `navigator.webdriver`, plugins, …

mod acting;
mod apps;
mod book;
mod broken;
mod challenges;
mod collapsed;
mod consent;
mod contents;
mod data;
mod dialogs;
mod fixtures;
mod hostile;
mod html;
pub(crate) mod http;
mod irregular;
mod kinds;
mod links;
mod mirror;
mod redirects;
mod request;
mod section;
pub(crate) mod server;
mod sign_in;
mod slow;
mod state;
mod third_parties;
mod tls;
mod unfolding;
mod visitors;
mod wiki;

use std::{io, sync::Arc, time::Duration};

use self::{
    request::PageRequest,
    server::{Reply, Server},
};

pub use self::{
    collapsed::folded_sentences,
    consent::CONSENT_BANNERS,
    fixtures::{END, FIXTURES, Fixture, LATE},
    http::Request,
    irregular::Irregular,
    mirror::{Manual, Mirror, toolchain_documentation},
    section::{Changes, PAGES, Section},
};

/// The running site; dropping it stops it, whatever its visitors are doing.
pub struct Site {
    server: Server,
    scheme: &'static str,
}

impl Site {
    /// Serves the site over HTTP.
    ///
    /// Two of them are two origins.
    ///
    /// # Panics
    ///
    /// Where the machine has no port left.
    pub fn start() -> Self {
        Self::serve(false).expect("a port of the loopback interface is free")
    }

    /// Serves the site over HTTPS, with a certificate that nobody trusts.
    ///
    /// # Panics
    ///
    /// Where the machine has no port left.
    pub fn start_https() -> Self {
        Self::serve(true).expect("a port of the loopback interface is free")
    }

    fn serve(https: bool) -> io::Result<Self> {
        let (tls, scheme) = if https { (Some(tls::self_signed()?), "https") } else { (None, "http") };
        let server = Server::start(tls, |port| {
            let visit = visitors::Visit::new();
            Box::new(move |request| reply(&PageRequest::new(request, port, &visit)))
        })?;
        Ok(Self { server, scheme })
    }

    /// The address of a page, such as `http://127.0.0.1:41234/wiki/` for `/wiki/`.
    pub fn url(&self, path: &str) -> String {
        format!("{}://127.0.0.1:{}{path}", self.scheme, self.server.port())
    }

    /// Every request so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Arc<Request>> {
        self.server.log().clone()
    }

    /// How often `path` was requested; with any query, unless `path` has one.
    pub fn count(&self, path: &str) -> usize {
        self.server.log().iter().filter(|request| is_for(request, path)).count()
    }

    /// Waits until `path` has been requested; whether it was, within `patience`.
    pub fn wait_for(&self, path: &str, patience: Duration) -> bool {
        self.server.wait_for(patience, |request| is_for(request, path))
    }
}

/// Whether a request is for `path`, or for `path` with a query.
fn is_for(request: &Request, path: &str) -> bool {
    request.path == path || request.path.split_once('?').is_some_and(|(before, _)| before == path)
}

fn reply(ask: &PageRequest<'_>) -> Reply {
    page(ask).unwrap_or_else(|| html::not_found(&ask.request.path).into())
}

/// The answer of the page that is asked for; `None` where there is no such page.
fn page(ask: &PageRequest<'_>) -> Option<Reply> {
    match ask.topic {
        "" => Some(html::index(&pages()).into()),
        "wiki" => wiki::reply(ask),
        "book" => book::reply(ask),
        "page" => Some(html::article(&ask.rest.join("/")).into()),
        "links" => links::reply(ask),
        "act" => acting::reply(ask),
        "folded" => collapsed::reply(ask),
        "data" => data::reply(ask),
        "consent" => consent::reply(ask),
        "app" | "hash" | "endless" | "worker" => apps::reply(ask),
        "slow" => slow::reply(ask),
        "dialog" => dialogs::reply(ask),
        "other-site" => third_parties::reply(ask),
        "robots.txt" if third_parties::is_dead(ask) => Some(third_parties::hold()),
        "ready" => fixtures::reply(ask),
        "redirect" => redirects::reply(ask),
        "challenge" | "innocent" | "cdn-cgi" => challenges::reply(ask),
        "members" => sign_in::reply(ask),
        "status" | "content" => contents::reply(ask),
        "broken" => broken::reply(ask),
        "late" | "hostile" => hostile::reply(ask),
        "busy" | "login" | "account" | "logout" | "cookie" | "storage" | "headers" | "fingerprint" => state::reply(ask),
        _ => None,
    }
}

/// The pages and what they do, from the list above.
fn pages() -> Vec<(&'static str, String)> {
    let mut pages: Vec<(&str, String)> = vec![];
    for line in include_str!("mod.rs").lines() {
        if let Some((page, about)) = line.strip_prefix("//! - `").and_then(|item| item.split_once("`: ")) {
            pages.push((page, about.to_owned()));
        } else if let (Some(more), Some((_, about))) = (line.strip_prefix("//!   "), pages.last_mut()) {
            about.extend([" ", more]);
        }
    }
    pages
}

#[cfg(test)]
mod tests;
