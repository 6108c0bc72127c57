//! Small sections that answer in unusual ways, one below each path.
//!
//! - `/robots.txt`: disallows `/private/`
//! - `/aside/`: answers with Markdown where Markdown is accepted; other requests, also for lists of pages, are
//!   redirected to `/private/`
//! - `/suffix/`: any address that ends with `.md` shows that the page is missing, as Markdown with status 200
//! - `/list/`: `/list/items` depends on the query; `/list/items.md` is one of its pages
//! - `/accept/`: missing pages are 404, but Markdown with status 200 where Markdown is accepted
//! - `/clock/`: missing pages have status 200 and quote the address, the time and a number
//! - `/titles/`: each page has a longer Markdown beside it, with another title
//! - `/learned/`: the last pages have Markdown beside them, the first ones have not
//! - `/home/`: missing pages and `/home` redirect to `/home/`
//! - `/front/`: missing pages show the start page
//! - `/lost/`: closes the connection for six of twelve pages
//! - `/same/`: answers 304 to any request for a page
//! - `/away/`: every page redirects to the start for now, after [`Irregular::leave`]
//! - `/leaving/`: a page that redirects out of the section after [`Irregular::leave`]
//! - `/shrinking/`: a page whose Markdown is short after [`Irregular::leave`]
//! - `/kinds/`: a part with status 206, HTML that is labelled as PDF, links of other schemes
//! - `/scripts/`: pages whose scripts lead out of the section and into what is disallowed

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use super::{
    html::{document, prose},
    http::{Request, Response},
    server::{Reply, Server},
};

/// The running site; dropping it stops it.
pub struct Irregular {
    server: Server,
    left: Arc<AtomicBool>,
}

impl Irregular {
    /// Serves the sections.
    ///
    /// # Panics
    ///
    /// Where the machine has no port left.
    pub fn start() -> Self {
        let left = Arc::new(AtomicBool::new(false));
        let own = Arc::clone(&left);
        let clock = AtomicU64::new(0);
        let server = Server::start(None, |port| {
            Box::new(move |request| {
                let time = clock.fetch_add(1, Ordering::Relaxed);
                answer(request, port, time, own.load(Ordering::Relaxed))
            })
        });
        Self { server: server.expect("a port of the loopback interface is free"), left }
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.server.port())
    }

    /// The paths that were requested so far, in order.
    pub fn requests(&self) -> Vec<String> {
        self.server.log().iter().map(|request| request.path.clone()).collect()
    }

    /// Lets the pages of `/away/`, `/leaving/` and `/shrinking/` answer in the other way.
    pub fn leave(&self) {
        self.left.store(true, Ordering::Relaxed);
    }
}

const NOT_FOUND: &str = "# Page not found\n\nSorry, we could not find the page that you were looking for. Try the search or the \
    start page of the documentation. If you think that there should be a page here, tell the authors about it.\n";

fn answer(request: &Request, port: u16, time: u64, left: bool) -> Reply {
    let path = request.path.split('?').next().unwrap_or_default();
    let accepts_markdown = request.header("accept").is_some_and(|accept| accept.starts_with("text/markdown"));
    if path == "/robots.txt" {
        return text("text/plain", "User-agent: *\nDisallow: /private/\n").into();
    }
    if path.starts_with("/private/") || path == "/other" {
        return page("Private", "private", "").into();
    }
    let Some((section, name)) = path.trim_start_matches('/').split_once('/') else {
        return if path == "/home" { Response::redirect(301, "/home/").into() } else { missing().into() };
    };
    let is = |names: &[&str]| names.contains(&name);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    match section {
        "aside" if accepts_markdown && is(&["", "a", "b"]) => {
            let links = format!(
                "</private/llms.txt>; rel=describedby, <http://localhost:{port}/elsewhere/llms.txt>; rel=describedby"
            );
            markdown(name, "[a](/aside/a) [b](/aside/b)\n").header("Link", links).into()
        }
        "aside" => Response::redirect(302, &format!("/private/{name}")).into(),
        "suffix" if ending == "md" => text("text/markdown", NOT_FOUND).into(),
        "suffix" if is(&["", "a", "b", "c"]) => {
            let body =
                format!("<p>The gauge {name} stands beside the pier of the harbour.</p>{}", links(&["a", "b", "c"]));
            html(&format!("Gauge {name}"), &body).into()
        }
        "list" if name.is_empty() => page("Lists", "lists", &links(&["items?page=1", "items?page=2"])).into(),
        "list" if name == "items" => {
            let query = request.path.split_once('?').map_or("", |(_, query)| query);
            page(&format!("Items {query}"), query, "").into()
        }
        "list" if name == "items.md" => markdown("page=1", "And one more sentence of the first page.\n").into(),
        "accept" if is(&["", "a", "b"]) && accepts_markdown => {
            markdown(name, "[a](/accept/a) [b](/accept/b) [c](/accept/none-1) [d](/accept/none-2)\n").into()
        }
        "accept" if is(&["", "a", "b"]) => page(name, name, &links(&["a", "b"])).into(),
        "accept" if accepts_markdown => text("text/markdown", NOT_FOUND).into(),
        "clock" | "home" if is(&["", "a", "b"]) => page(name, name, &links(&["a", "b", "none"])).into(),
        "clock" if ending.is_empty() => {
            let number = format!("{:x}-{:x}", time.wrapping_mul(0x9e37_79b9_7f4a_7c15), time);
            let body = format!(
                "<p>The page {path} could not be found at 10:{time:02}, number {number}.</p><p>Try the search.</p>"
            );
            html("Oops", &body).into()
        }
        "titles" if is(&["", "a", "b", "c", "d"]) => {
            page(&format!("Site {name}"), name, &links(&["a", "b", "c", "d"])).into()
        }
        "titles" if is(&["index.html.md", "a.md", "b.md", "c.md", "d.md"]) => {
            let name = name.trim_end_matches(".md").trim_end_matches("index.html");
            markdown(name, "Written by hand as Markdown, for those who read it so.\n").into()
        }
        "learned" => {
            let stem = name.strip_suffix(".md");
            match stem.unwrap_or(name) {
                "" if stem.is_none() => page("Start", "start", &links(&["z1", "z2", "z3", "a1", "a2", "a3"])).into(),
                number @ ("a1" | "a2" | "a3") if stem.is_some() => markdown(number, "By the publisher.\n").into(),
                number @ ("z1" | "z2" | "z3" | "a1" | "a2" | "a3") if stem.is_none() => page(number, number, "").into(),
                _ => missing().into(),
            }
        }
        "home" => Response::redirect(302, "/home/").into(),
        "front" if is(&["a", "b"]) => page(name, name, "").into(),
        "front" => page("Front", "front", &links(&["a", "b", "none"])).into(),
        "lost" if name.is_empty() => {
            let names = ["bad-1", "bad-2", "bad-3", "bad-4", "bad-5", "bad-6", "good-1", "good-2", "good-3"];
            page("Start", "start", &links(&names)).into()
        }
        "lost" if name.starts_with("bad-") && ending.is_empty() => Reply::bytes(|_| Ok(())),
        "lost" if is(&["good-1", "good-2", "good-3"]) => page(name, name, "").into(),
        "same" if name.is_empty() => page("Start", "start", &links(&["a"])).into(),
        "same" if name == "a" => Response::of_others("text/html", "").status(304).into(),
        "leaving" if name.is_empty() => page("Start", "start", &links(&["a", "b"])).into(),
        "leaving" if name == "a" && left => Response::redirect(302, "/other").into(),
        "away" if name.is_empty() => page("Start", "start of away", &links(&["a", "b"])).into(),
        "away" if left => Response::redirect(302, "/away/").into(),
        "away" if is(&["a", "b"]) => page(name, &format!("away {name}"), "").into(),
        "leaving" if is(&["a", "b"]) => page(name, name, "").into(),
        "shrinking" if name == "index.html.md" && left => text("text/markdown", "# Short\n\nSee the page.\n").into(),
        "shrinking" if name == "index.html.md" => markdown("start", "Written by hand as Markdown.\n").into(),
        "shrinking" if name.is_empty() => page("Start", "start", "").into(),
        "kinds" if name.is_empty() => {
            let others =
                format!("<p><a href=\"ftp://127.0.0.1:{port}/kinds/f\">f</a> <a href=\"mailto:a@b.example\">m</a></p>");
            page("Start", "start", &(links(&["part", "label"]) + &others)).into()
        }
        "kinds" if name == "part" => {
            page("Part", "part", "").status(206).header("Content-Range", "bytes 0-10/1000").into()
        }
        "kinds" if name == "label" => {
            text("application/pdf", document("Label", "", &format!("<h1>Label</h1>{}", prose("label", 4)))).into()
        }
        "scripts" if name.is_empty() => page("Start", "start", &links(&["out", "private"])).into(),
        "scripts" if name == "out" => html("App", "<div></div><script>location = '/other'</script>").into(),
        "scripts" if name == "private" => html("App", "<div></div><script>location = '/private/x'</script>").into(),
        _ => missing().into(),
    }
}

fn missing() -> Response {
    html("Not found", "<p>Nothing.</p>").status(404)
}

fn links(names: &[&str]) -> String {
    let links = names.iter().map(|name| format!("<li><a href=\"{name}\">The page {name}</a></li>"));
    format!("<ul>{}</ul>", links.collect::<Vec<_>>().concat())
}

fn page(title: &str, seed: &str, more: &str) -> Response {
    html(title, &format!("<h1>{title}</h1>{}{more}", prose(&format!("irregular {seed}"), 4)))
}

fn html(title: &str, body: &str) -> Response {
    text("text/html; charset=utf-8", document(title, "", &format!("<main>{body}</main>")))
}

/// The text of the page with the same seed as Markdown.
fn markdown(seed: &str, more: &str) -> Response {
    let prose = prose(&format!("irregular {seed}"), 4).replace("<p>", "").replace("</p>", "\n");
    text("text/markdown; charset=utf-8", format!("# Reading {seed}\n\n{prose}\n{more}"))
}

fn text(content_type: &str, text: impl Into<Vec<u8>>) -> Response {
    Response::of_others(content_type, text)
}
