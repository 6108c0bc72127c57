//! The response of a server, after redirects.

use std::{borrow::Cow, time::Duration};

use ureq::http::HeaderMap;
use url::Url;

use crate::retry_after;

/// A redirect that was followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its status; 301 and 308 are permanent.
    pub status: u16,
    /// Its target.
    pub to: Url,
}

/// The response of a server.
#[derive(Clone, Debug)]
pub struct Response {
    /// The address that answered, after redirects.
    pub url: Url,
    /// The status.
    pub status: u16,
    /// The body, decompressed.
    pub body: Vec<u8>,
    /// The redirects that led here, in order.
    pub steps: Vec<Step>,
    pub(crate) headers: HeaderMap,
}

impl Response {
    /// The first header called `name`; bytes that are not UTF-8 are replaced.
    pub fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        self.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()))
    }

    /// Every header called `name`.
    pub fn headers(&self, name: &str) -> impl Iterator<Item = Cow<'_, str>> {
        self.headers.get_all(name).into_iter().map(|value| String::from_utf8_lossy(value.as_bytes()))
    }

    /// The `Content-Type` header, or an empty string.
    pub fn content_type(&self) -> Cow<'_, str> {
        self.header("content-type").unwrap_or_default()
    }

    /// The media type without its parameters, in lower case.
    pub fn media_type(&self) -> String {
        self.content_type().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// The pause that the server asks for in `Retry-After`.
    pub fn retry_after(&self) -> Option<Duration> {
        retry_after(&self.header("retry-after")?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(headers: &[(&'static str, &[u8])]) -> Response {
        let value = |value: &[u8]| ureq::http::HeaderValue::from_bytes(value).unwrap();
        let mut map = HeaderMap::new();
        for (name, bytes) in headers {
            map.append(*name, value(bytes));
        }
        let url = Url::parse("https://example.com/").unwrap();
        Response { url, status: 200, body: vec![], steps: vec![], headers: map }
    }

    #[test]
    fn the_media_type_has_no_parameters() {
        for (header, expected) in [
            ("text/html", "text/html"),
            ("Text/HTML; charset=utf-8", "text/html"),
            (" application/json ;a=b", "application/json"),
            ("; charset=utf-8", ""),
            ("", ""),
        ] {
            assert_eq!(response(&[("content-type", header.as_bytes())]).media_type(), expected, "{header:?}");
        }
        assert_eq!((response(&[]).media_type(), response(&[]).content_type()), (String::new(), Cow::default()));
    }

    #[test]
    fn headers_are_found_in_any_case_and_need_not_be_utf_8() {
        let response = response(&[("link", b"<a>; rel=next"), ("x-name", b"mar\xe9e"), ("link", b"<b>; rel=prev")]);
        assert_eq!(response.header("Link").as_deref(), Some("<a>; rel=next"));
        assert_eq!(response.headers("LINK").collect::<Vec<_>>(), ["<a>; rel=next", "<b>; rel=prev"]);
        assert_eq!(response.header("x-name").as_deref(), Some("mar\u{fffd}e"));
        assert_eq!((response.header("etag"), response.headers("etag").count()), (None, 0));
    }

    #[test]
    fn a_pause_is_read_from_its_header() {
        assert_eq!(response(&[("retry-after", b"7")]).retry_after(), Some(Duration::from_secs(7)));
        assert_eq!(response(&[("retry-after", b"soon")]).retry_after(), None);
        assert_eq!(response(&[]).retry_after(), None);
    }
}
