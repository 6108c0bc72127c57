//! What is known of a record before its page is converted.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use super::http::Body;

/// The name and the value of a member.
pub(super) type Member<'a> = (Cow<'a, str>, &'a RawValue);

/// The data of a record before its page is converted.
#[derive(Debug, Default)]
pub(super) struct RecordData<'a> {
    pub(super) id: Option<Cow<'a, RawValue>>,
    pub(super) url: Option<Cow<'a, str>>,
    /// The checksum of the page's bytes, if they are known.
    pub(super) sha256: Option<String>,
    pub(super) warc: Option<WarcData<'a>>,
    /// Unknown members, which are passed through.
    pub(super) rest: Vec<Member<'a>>,
}

/// The data of a WARC record about its page.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct WarcData<'a> {
    pub(super) date: Option<&'a str>,
    pub(super) http_status: Option<u16>,
}

/// A page to convert.
pub(super) struct InputPage<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// Whether the page is valid UTF-8 already, so no charset must be detected.
    pub(super) is_text: bool,
    pub(super) content_type: Option<String>,
}

impl From<Body> for InputPage<'_> {
    fn from(body: Body) -> Self {
        Self { bytes: body.bytes.into(), is_text: false, content_type: body.content_type }
    }
}
