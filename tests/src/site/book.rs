//! A short book about Rust, in place of the real one in the commands of the documentation.

use super::{html, http::Response, request::PageRequest, server::Reply};

/// A file in `tests/site/book/`.
macro_rules! file {
    ($name:literal) => {
        include_str!(concat!("../../site/book/", $name))
    };
}

/// The address, the title and the content of each page.
const PAGES: [(&str, &str, &str); 4] = [
    ("", "The Rust book", file!("index.html")),
    ("ch01-installation.html", "Installation", file!("ch01-installation.html")),
    ("ch04-ownership.html", "Ownership", file!("ch04-ownership.html")),
    ("ch13-closures.html", "Closures", file!("ch13-closures.html")),
];

pub(super) fn reply(ask: &PageRequest<'_>) -> Option<Reply> {
    let path = ask.rest.join("/");
    let (_, title, main) = PAGES.into_iter().find(|(page, ..)| *page == path)?;
    let body = format!("<nav><a href=\"/book/\">Contents</a></nav>\n<main>\n{main}</main>");
    let page: Response = html::page(title, &body);
    Some(page.into())
}
