//! A site of 300 pages to be fetched completely: below `/docs/`, with obstacles.
//!
//! - `/robots.txt`: disallows `/docs/private/`, has a tie for `/docs/tie` and names the sitemap
//! - `/sitemaps/index.xml.gz`: an index of an index and of files, compressed or not, with pages outside of the section
//! - `/llms.txt`, `/docs/llms.txt`: the second names pages that nothing else names
//! - `/docs/`: page 0; every page links to two more, so that the first 250 are found by links
//! - pages 250 to 289: are in the sitemap only, 290 to 299 in llms.txt only
//! - even pages: have an `ETag`, a half of the others `Last-Modified`
//! - pages 10, 60, …: in `Shift_JIS`, 20, 70, … in ISO 8859-1, as their headers say
//! - pages 37 and 137: answer 429 with `Retry-After` when they are asked first
//! - page 45: HTML that is labelled as Markdown
//! - pages 62 to 68: name their Markdown by a `Link` header or an element; that of page 67 is shorter than the page
//! - `/docs/index.html`, `/docs/title-page.html`: page 0 again, which has a link to a part of itself
//! - `/docs/print/3`: page 3 with another text; its canonical address is that of page 3
//! - `/docs/print`: a page that asks to be in no index, and `/docs/kept/`, whose pages all do so
//! - `/docs/files/`: a directory listing, as `python -m http.server` makes it, of one document
//! - `/docs/old/N`: redirects to page N for good
//! - `/docs/go-out`, `/docs/go-private`, `/docs/round`: redirects out of the section, into what is disallowed, and in a
//!   circle
//! - `/docs/members/N`: for those who signed in at `/docs/login`
//! - `/docs/onward`: a page without text that leads to page 25 by a `<meta>` refresh
//! - `/docs/shell/data`, `/docs/shell/leave`: shells whose script shows data of the site, of which robots.txt disallows
//!   a part; and leads to a disallowed page
//! - any other path below `/docs/`: a page that says that there is none, with status 200

use std::{
    collections::{BTreeSet, HashSet},
    fmt::Write as _,
    io::Write as _,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use encoding_rs::{SHIFT_JIS, WINDOWS_1252};
use flate2::{Compression, write::GzEncoder};

use super::{
    html::{escaped, name, prose},
    http::{Request, Response},
    server::Server,
};

/// How many pages the section has.
pub const PAGES: usize = 300;

/// The pages that links lead to.
const LINKED: usize = 250;
/// The first page that only llms.txt names.
const LISTED: usize = 290;
/// When pages were changed last.
const MODIFIED: &str = "Tue, 02 Jun 2026 08:00:00 GMT";

/// The changes of the site since its start, by the numbers of pages.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Pages whose content is another one.
    pub edited: Vec<usize>,
    /// Pages that are gone.
    pub gone: Vec<usize>,
    /// Pages that are at another address.
    pub moved: Vec<usize>,
    /// Pages of which only the frame is another one.
    pub framed: Vec<usize>,
    /// Pages whose Markdown is gone.
    pub without_markdown: Vec<usize>,
}

#[derive(Default)]
struct State {
    changes: Mutex<Changes>,
    /// Pages that were asked for and answered 429.
    refused: Mutex<HashSet<String>>,
    sent: AtomicU64,
    /// Whether pages answer 429.
    refuses: bool,
}

/// The running site; dropping it stops it.
pub struct Section {
    server: Server,
    state: Arc<State>,
}

impl Section {
    /// Serves the section.
    ///
    /// # Panics
    ///
    /// Where the machine has no port left.
    pub fn start() -> Self {
        Self::serve(true)
    }

    /// Serves it without pages that ask to wait.
    ///
    /// # Panics
    ///
    /// Where the machine has no port left.
    pub fn without_waits() -> Self {
        Self::serve(false)
    }

    fn serve(refuses: bool) -> Self {
        let state = Arc::new(State { refuses, ..State::default() });
        let server = Server::start(None, |port| {
            let state = Arc::clone(&state);
            Box::new(move |request| {
                let response = answer(request, port, &state);
                state.sent.fetch_add(response.size() as u64, Ordering::Relaxed);
                response.into()
            })
        });
        Self { server: server.expect("a port of the loopback interface is free"), state }
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.server.port())
    }

    /// The address of a page.
    pub fn page(&self, number: usize) -> String {
        self.url(&path(number))
    }

    /// The paths that were requested so far, in order.
    pub fn requests(&self) -> Vec<String> {
        self.server.log().iter().map(|request| request.path.clone()).collect()
    }

    /// Forgets the requests so far.
    pub fn forget(&self) {
        self.server.forget();
        self.state.sent.store(0, Ordering::Relaxed);
    }

    /// How many bytes of bodies were sent.
    pub fn sent(&self) -> u64 {
        self.state.sent.load(Ordering::Relaxed)
    }

    /// Changes the site.
    pub fn change(&self, changes: Changes) {
        *self.state.changes.lock().unwrap_or_else(PoisonError::into_inner) = changes;
    }

    /// The addresses of the pages that have to be saved.
    pub fn expected(&self) -> BTreeSet<String> {
        (0..PAGES).map(|number| self.page(number)).collect()
    }

    /// Whether a path may not be requested: it is outside of the section, or robots.txt disallows it.
    pub fn is_forbidden(path: &str) -> bool {
        let is_for_crawlers = path.starts_with("/sitemaps/") || path == "/llms.txt" || path == "/robots.txt";
        let is_private = path.starts_with("/docs/private/") && !path.starts_with("/docs/private/open");
        is_private || !(path.starts_with("/docs/") || path == "/docs" || is_for_crawlers)
    }
}

/// The path of a page.
fn path(number: usize) -> String {
    match number {
        0 => "/docs/".to_owned(),
        1 => "/docs/tie".to_owned(),
        2 => "/docs/private/open".to_owned(),
        _ => format!("/docs/part-{}/page-{number}", number / 20),
    }
}

fn answer(request: &Request, port: u16, state: &State) -> Response {
    let changes = state.changes.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let path = request.path.split('?').next().unwrap_or_default();
    let at = |path: &str| format!("http://127.0.0.1:{port}{path}");
    match path {
        "/robots.txt" => {
            let rules = "User-agent: *\nDisallow: /docs/private/\nAllow: /docs/private/open\nDisallow: /docs/tie\nAllow: /docs/tie\n";
            return text("text/plain", format!("{rules}\nSitemap: {}\n", at("/sitemaps/index.xml.gz")));
        }
        "/llms.txt" => return text("text/plain", format!("# Site\n\n- [Old]({})\n", at("/docs-old/a"))),
        "/docs/llms.txt" => {
            let mut list = "# Docs\n\n> All about tides.\n\n## Pages\n\n".to_owned();
            for number in LISTED..PAGES {
                let _ = writeln!(list, "- [{}]({}): a page", name(&number.to_string()), self::path(number));
            }
            return text("text/plain; charset=utf-8", list + "- [Other](/docs-old/b)\n");
        }
        "/docs/go-out" => return Response::redirect(302, "/docs-old/a"),
        "/docs/go-private" => return Response::redirect(302, "/docs/private/a"),
        "/docs/round" => return Response::redirect(302, "/docs/round"),
        "/docs/login" => {
            let body = "<form><input name=user><input type=password></form><p>Signed in.</p>";
            return page("Sign in", body).header("Set-Cookie", "member=1; Path=/");
        }
        "/docs/onward" => {
            let to = format!("<meta http-equiv=refresh content=\"0; url={}\">", self::path(25));
            return text("text/html", format!("<!doctype html><title>Moved</title>{to}<a href=/docs/>Go on</a>"));
        }
        "/docs/shell/data" => {
            let script = "for (const at of ['/docs/private/data', '/tides.json'])\
                fetch(at).then(answer => answer.text()).then(text => document.getElementById('app').innerHTML += text)";
            return page("Shell", &format!("<div id=app></div><script>{script}</script>"));
        }
        "/tides.json" => {
            return text("text/plain", format!("<p>This is the data of the shell.</p>{}", prose("shell", 4)));
        }
        "/docs/shell/leave" => {
            return page("Leaving", "<div id=app></div><script>location.replace('/docs/private/a')</script>");
        }
        _ => {}
    }
    if let Some(response) = sitemap(path, &at) {
        return response;
    }
    let number_of = |part: &str| path.strip_prefix(part).and_then(|number| number.parse::<usize>().ok());
    if let Some(number) = number_of("/docs/old/") {
        return Response::redirect(301, &self::path(number));
    }
    if let Some(number) = number_of("/docs/members/") {
        if request.cookie("member").is_none() {
            return page("Members", "<form><input name=user><input type=password></form>").status(401);
        }
        return page(&format!("Members {number}"), &prose(&format!("members {number}"), 4));
    }
    if let Some(number) = number_of("/docs/moved-").filter(|number| changes.moved.contains(number)) {
        return content(request, number, &changes);
    }
    if let Some(number) = path.strip_prefix("/docs/markdown/").and_then(|name| name.strip_suffix(".md")?.parse().ok()) {
        if changes.without_markdown.contains(&number) {
            return page("Gone", "<h1>Gone</h1>").status(404);
        }
        let text = if number == 67 { "# Short\n\nSee the page.\n".to_owned() } else { markdown(number) };
        let added = if changes.edited.contains(&number) { "\nOne more sentence.\n" } else { "" };
        return self::text("text/markdown; charset=utf-8", text + added);
    }
    if let Some(response) = left_out(path) {
        return response;
    }
    let place = if matches!(path, "/docs/index.html" | "/docs/title-page.html") { "/docs/" } else { path };
    let Some(number) = (0..PAGES).find(|number| self::path(*number) == place) else {
        if path.starts_with("/docs-old/") || path.starts_with("/docs/private/") {
            return page("Old", &prose(path, 4));
        }
        let body = format!(
            "<h1>Page not found</h1><p>There is nothing at {}.</p><p>Go to the <a href=\"/docs/\">start</a>.</p>",
            escaped(path)
        );
        return page("Page not found", &body).status(if path.starts_with("/docs/") { 200 } else { 404 });
    };
    if changes.gone.contains(&number) {
        return page("Gone", "<h1>Gone</h1>").status(if number % 2 == 0 { 410 } else { 404 });
    }
    if changes.moved.contains(&number) {
        return Response::redirect(301, &format!("/docs/moved-{number}"));
    }
    let is_first = || state.refused.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
    if state.refuses && matches!(number, 37 | 137) && is_first() {
        return page("Too many", "<h1>Too many requests</h1>").status(429).header("Retry-After", "1");
    }
    content(request, number, &changes)
}

/// Pages that are not saved, or only if the section begins at them.
fn left_out(path: &str) -> Option<Response> {
    if path == "/docs/files/" {
        let name = "Directory listing for /docs/files/";
        let body = format!("<h1>{name}</h1><hr><ul><li><a href=\"tides.html\">tides.html</a></li></ul><hr>");
        return Some(page(name, &body));
    }
    if path == "/docs/files/tides.html" {
        return Some(page("Tides", &format!("<main><h1>Tides</h1>{}</main>", prose("files", 6))));
    }
    if matches!(path, "/docs/print" | "/docs/kept/" | "/docs/kept/a") {
        let body = format!("<main><h1>{path}</h1>{}<a href=/docs/kept/a>A</a></main>", prose(path, 6));
        let head = "<meta name=robots content=noindex>";
        return Some(text("text/html; charset=utf-8", super::html::document(path, head, &body)));
    }
    if path == "/docs/print/3" {
        let head = format!("<link rel=canonical href=\"{}\">", self::path(3));
        let body = format!("<main><h1>{}</h1>{}</main>", title(3), prose("page 3 to be printed", 6));
        return Some(text("text/html; charset=utf-8", super::html::document(&title(3), &head, &body)));
    }
    None
}

/// The answer for a page that is there.
fn content(request: &Request, number: usize, changes: &Changes) -> Response {
    let edited = changes.edited.contains(&number);
    let body = body(number, edited, changes.framed.contains(&number));
    let tag = format!(
        "\"{:x}-{}\"",
        body.len(),
        body.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte))
    );
    let modified = if edited || changes.framed.contains(&number) { "Wed, 03 Jun 2026 08:00:00 GMT" } else { MODIFIED };
    let has_tag = number.is_multiple_of(2);
    let has_date = number % 4 == 1;
    let is_same = has_tag && request.header("if-none-match") == Some(&tag)
        || has_date && request.header("if-modified-since") == Some(modified);
    let mut response = match number % 50 {
        _ if is_same => Response::of_others("text/html", "").status(304),
        10 => Response::of_others("text/html; charset=Shift_JIS", SHIFT_JIS.encode(&body).0.into_owned()),
        20 => Response::of_others("text/html; charset=iso-8859-1", WINDOWS_1252.encode(&body).0.into_owned()),
        _ if number == 45 => Response::of_others("text/markdown; charset=utf-8", body),
        _ => Response::of_others("text/html; charset=utf-8", body),
    };
    if has_tag {
        response = response.header("ETag", tag);
    }
    if has_date {
        response = response.header("Last-Modified", modified);
    }
    if matches!(number, 62 | 64 | 67) {
        response =
            response.header("Link", format!("</docs/markdown/{number}.md>; rel=\"alternate\"; type=\"text/markdown\""));
    }
    response
}

fn title(number: usize) -> String {
    match number % 50 {
        10 => format!("潮位の記録 {number}"),
        20 => format!("Café à la marée {number}"),
        _ => format!("{} {number}", name(&number.to_string())),
    }
}

fn body(number: usize, edited: bool, framed: bool) -> String {
    let mut links = String::new();
    let children = [number * 2 + 3, number * 2 + 4].into_iter().filter(|child| *child < LINKED);
    for child in children.chain(if number == 0 { vec![1, 2] } else { vec![] }) {
        let _ = writeln!(links, "<li><a href=\"{}#top\">{}</a></li>", path(child), title(child));
    }
    if number == 0 {
        for other in [
            "/docs/index.html",
            "/docs/title-page.html",
            "#more",
            "/docs/print/3",
            "/docs/print",
            "/docs/old/5",
            "/docs/old/6",
            "/docs/go-out",
            "/docs/go-private",
            "/docs/round",
            "/docs-old/a",
            "/docs/private/b",
        ] {
            let _ = writeln!(links, "<li><a href=\"{other}\">{other}</a></li>");
        }
        links += "<li><a href=\"/docs/missing-1\">One</a></li><li><a href=\"/docs/missing-2\">Two</a></li><li><a href=\"/docs/a.png\">Picture</a></li>";
        links += "<li><a href=\"/docs/members/1\">Members</a></li><li><a href=\"/docs/members/2\">More</a></li>";
    }
    let build = if framed { "build 18, with news of the harbour" } else { "build 17" };
    let head = if matches!(number, 63 | 65) {
        format!("<link rel=\"alternate\" type=\"text/markdown\" href=\"/docs/markdown/{number}.md\">")
    } else {
        String::new()
    };
    let extra = if edited {
        "<p>This sentence was added to the page after it had been fetched for the first time.</p>"
    } else {
        ""
    };
    let language = match number % 50 {
        10 => "<p>この頁は潮位の記録について書いたものです。観測所の名前と時刻を示します。</p>",
        20 => "<p>L'été, la marée monte très haut près du café de la plage, à Saint-Malo.</p>",
        _ => "",
    };
    format!(
        "<!doctype html>\n<html lang=en>\n<head><title>{title}</title>{head}</head>\n<body>\n<header><a href=\"/docs/\">Docs</a> <a href=\"/docs-old/a\">Old</a> <span>{build}</span></header>\n\
         <main>\n<h1>{title}</h1>\n{language}{}{extra}\n<pre><code>gauge read --page {number}</code></pre>\n<h2>More</h2>\n<ul>\n{links}</ul>\n</main>\n<footer>Made by {build}</footer>\n</body>\n</html>\n",
        prose(&format!("page {number}"), 6),
        title = title(number),
    )
}

/// The publisher's Markdown of a page.
fn markdown(number: usize) -> String {
    let text = prose(&format!("page {number}"), 6).replace("<p>", "").replace("</p>", "\n");
    format!(
        "# {}\n\n{text}\n```\ngauge read --page {number}\n```\n\nWritten by hand as Markdown, for those who read it so.\n",
        title(number)
    )
}

fn sitemap(path: &str, at: &dyn Fn(&str) -> String) -> Option<Response> {
    let index = |parts: &[&str]| {
        let parts = parts.iter().map(|part| format!("<sitemap><loc>{}</loc></sitemap>", at(part)));
        let parts = parts.collect::<Vec<_>>().concat();
        format!(
            "<?xml version=\"1.0\"?><sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{parts}</sitemapindex>"
        )
    };
    let pages = |numbers: std::ops::Range<usize>, others: &str| {
        let pages = numbers.map(|number| format!("<url><loc>{}</loc></url>\n", at(&self::path(number))));
        let pages = pages.collect::<Vec<_>>().concat();
        format!(
            "<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{pages}{others}</urlset>"
        )
    };
    let outside = format!(
        "<url><loc>{}</loc></url><url><loc>{}</loc></url>",
        at("/docs-old/c?a=1&amp;b=2"),
        at("/docs/private/c")
    );
    let xml = match path {
        "/sitemaps/index.xml.gz" => index(&["/sitemaps/inner.xml", "/sitemaps/b.xml.gz", "/sitemaps/none.xml"]),
        "/sitemaps/inner.xml" => index(&["/sitemaps/a.xml", "/sitemaps/index.xml.gz"]),
        "/sitemaps/a.xml" => pages(0..120, &outside),
        "/sitemaps/b.xml.gz" => pages(200..LISTED, ""),
        _ => return None,
    };
    if !path.contains(".gz") {
        return Some(text("application/xml", xml));
    }
    let mut encoder = GzEncoder::new(vec![], Compression::default());
    // Memory takes all.
    let _ = encoder.write_all(xml.as_bytes());
    Some(Response::of_others("application/gzip", encoder.finish().unwrap_or_default()))
}

fn text(content_type: &str, text: String) -> Response {
    Response::of_others(content_type, text)
}

fn page(title: &str, body: &str) -> Response {
    Response::of_others("text/html; charset=utf-8", super::html::document(title, "", body))
}
