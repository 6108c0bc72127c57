//! The sample site: the wiki of Tidemark, an invented project that logs the tide.
//!
//! Its articles are files in `tests/site/wiki/`, each the inside of `<main>`; the layout around
//! them, with navigation, sidebar, footer and cookie banner, is `layout.html` there.

use std::{fmt::Write, time::Duration};

use encoding_rs::{EUC_JP, Encoding, SHIFT_JIS, UTF_8};

use super::{http::Response, request::PageRequest, server::Reply};

/// A file in `tests/site/wiki/`.
macro_rules! file {
    ($name:literal) => {
        include_str!(concat!("../../site/wiki/", $name))
    };
}

/// The body of `/wiki/handbook.pdf` and `/content/pdf`.
pub(super) const HANDBOOK: &[u8] = include_bytes!("../../site/wiki/handbook.pdf");

/// The body of `/wiki/tidemark-0.9.tar.gz` and `/content/download`.
pub(super) const ARCHIVE: &[u8] = include_bytes!("../../site/wiki/tidemark-0.9.tar.gz");

struct Article {
    path: &'static str,
    title: &'static str,
    section: &'static str,
    language: &'static str,
    encoding: DeclaredEncoding,
    main: &'static str,
}

/// An encoding, and where the page declares it.
enum DeclaredEncoding {
    Header(&'static Encoding),
    Meta(&'static Encoding),
}

use DeclaredEncoding::{Header, Meta};

const ARTICLES: &[Article] = &[
    article("", "Tidemark", "Start", Header(UTF_8), file!("index.html")),
    article("getting-started", "Getting started", "Start", Header(UTF_8), file!("getting-started.html")),
    article("installation", "Installation", "Start", Header(UTF_8), file!("installation.html")),
    article("configuration", "Configuration", "Reference", Header(UTF_8), file!("configuration.html")),
    article("command-line", "Command line", "Reference", Header(UTF_8), file!("command-line.html")),
    article("data-format", "Data format", "Reference", Header(UTF_8), file!("data-format.html")),
    article("rust-library", "Rust library", "Reference", Header(UTF_8), file!("rust-library.html")),
    article("tides", "How tides work", "Knowledge", Header(UTF_8), file!("tides.html")),
    article("gauges", "Tide gauges", "Knowledge", Header(UTF_8), file!("gauges.html")),
    article("harmonic-analysis", "Harmonic analysis", "Knowledge", Header(UTF_8), file!("harmonic-analysis.html")),
    article("stations", "Stations", "Knowledge", Header(UTF_8), file!("stations.html")),
    article("faq", "Questions and answers", "Project", Header(UTF_8), file!("faq.html")),
    article("contributing", "Contributing", "Project", Header(UTF_8), file!("contributing.html")),
    article("changelog", "Changelog", "Project", Header(UTF_8), file!("changelog.html")),
    japanese("ja/introduction", "Tidemark 入門", Header(UTF_8), file!("ja-introduction.html")),
    japanese("ja/glossary", "潮汐用語集", Meta(SHIFT_JIS), file!("ja-glossary.html")),
    japanese("ja/history", "験潮の歴史", Header(EUC_JP), file!("ja-history.html")),
];

const fn article(
    path: &'static str,
    title: &'static str,
    section: &'static str,
    encoding: DeclaredEncoding,
    main: &'static str,
) -> Article {
    Article { path, title, section, language: "en", encoding, main }
}

const fn japanese(path: &'static str, title: &'static str, encoding: DeclaredEncoding, main: &'static str) -> Article {
    Article { path, title, section: "日本語", language: "ja", encoding, main }
}

pub(super) fn reply(ask: &PageRequest<'_>) -> Option<Reply> {
    let path = ask.rest.join("/");
    if ask.request.path == "/wiki" {
        // The articles' links are relative to the folder.
        return Some(Response::redirect(301, "/wiki/").into());
    }
    if let Some(article) = ARTICLES.iter().find(|article| article.path == path) {
        return Some(article.response().into());
    }
    let response = match path.as_str() {
        "style.css" => Response::new("text/css; charset=utf-8", file!("style.css")),
        "wiki.js" => Response::new("text/javascript; charset=utf-8", file!("wiki.js")),
        "stations.json" => {
            let list = Response::new("application/json", file!("stations.json"));
            return Some(Reply::after(Duration::from_millis(300), list));
        }
        "station.svg" => drawing(),
        "tide-curve.svg" => Response::new("image/svg+xml", file!("tide-curve.svg")),
        "gauge.png" => Response::new("image/png", include_bytes!("../../site/wiki/gauge.png")),
        "handbook.pdf" => Response::new("application/pdf", HANDBOOK),
        "tidemark-0.9.tar.gz" => Response::new("application/gzip", ARCHIVE)
            .header("Content-Disposition", "attachment; filename=\"tidemark-0.9.tar.gz\""),
        _ => return None,
    };
    Some(response.into())
}

/// A drawing of a station, 48 by 32.
pub(super) fn drawing() -> Response {
    Response::new("image/svg+xml", file!("station.svg"))
}

impl Article {
    fn response(&self) -> Response {
        let (encoding, content_type, meta) = match self.encoding {
            Header(encoding) => {
                (encoding, format!("text/html; charset={}", encoding.name().to_lowercase()), String::new())
            }
            Meta(encoding) => (encoding, "text/html".to_owned(), format!("<meta charset=\"{}\">", encoding.name())),
        };
        let page = file!("layout.html")
            .replace("{{language}}", self.language)
            .replace("{{meta}}", &meta)
            .replace("{{title}}", self.title)
            .replace("{{section}}", self.section)
            .replace("{{sidebar}}", &self.sidebar())
            .replace("{{main}}", self.main.trim_end());
        Response::new(&content_type, encoding.encode(&page).0)
    }

    /// The list of all articles, by section.
    fn sidebar(&self) -> String {
        let mut list = String::new();
        for sections in ARTICLES.chunk_by(|one, next| one.section == next.section) {
            let _ = writeln!(list, "<h2>{}</h2>\n<ul>", sections[0].section);
            for other in sections {
                let current = if other.path == self.path { " aria-current=\"page\"" } else { "" };
                let _ = writeln!(list, "<li><a href=\"/wiki/{}\"{current}>{}</a></li>", other.path, other.title);
            }
            list += "</ul>\n";
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::{http::Request, visitors::Visit};

    #[test]
    fn every_link_of_an_article_leads_to_a_page() {
        let visit = Visit::new();
        let mut checked = 0;
        for article in ARTICLES {
            for target in targets(article.main) {
                let folder = article.path.rsplit_once('/').map_or("/wiki", |_| "/wiki/ja");
                let path = match target.strip_prefix("../") {
                    _ if target.starts_with('/') => target.to_owned(),
                    Some(above) => format!("/wiki/{above}"),
                    None => format!("{folder}/{target}"),
                };
                let request = Request { method: "GET".into(), path, headers: vec![], body: vec![] };
                assert!(
                    crate::site::page(&PageRequest::new(&request, 0, &visit)).is_some(),
                    "{}: {target}",
                    article.path
                );
                checked += 1;
            }
        }
        assert!(checked > 40, "links are found: {checked}");
    }

    /// Where the links and images of an article lead on this site, their fragments left out.
    fn targets(main: &str) -> impl Iterator<Item = &str> {
        let after = |attribute| main.split(attribute).skip(1);
        let values = after(" href=\"").chain(after(" src=\"")).filter_map(|rest| rest.split(['"', '#']).next());
        values.filter(|target| !target.is_empty() && !target.contains(':'))
    }

    #[test]
    fn legacy_encodings_hold_every_character() {
        for article in ARTICLES {
            let (Meta(encoding) | Header(encoding)) = article.encoding;
            let (_, _, replaced) = encoding.encode(article.main);
            assert!(!replaced, "{}", article.path);
        }
    }
}
