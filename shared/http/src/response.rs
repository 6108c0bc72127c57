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
