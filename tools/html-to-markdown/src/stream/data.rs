//! What is known of a record before its page is converted.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use super::http::Body;

/// The name and the value of a member.
pub(super) type Member = (String, Box<RawValue>);

/// The data of a record before its page is converted.
///
/// It borrows nothing of the record, because the error of a page that takes too long is written by another thread than the
/// one that has read the record.
#[derive(Debug, Default)]
pub(super) struct RecordData {
    pub(super) id: Option<Box<RawValue>>,
    pub(super) url: Option<String>,
    /// The checksum of the page's bytes, if they are known.
    pub(super) sha256: Option<String>,
    pub(super) warc: Option<WarcData>,
    /// Unknown members, which are passed through.
    pub(super) rest: Vec<Member>,
}

/// The data of a WARC record about its page.
#[derive(Debug, Serialize)]
pub(super) struct WarcData {
    pub(super) date: Option<String>,
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
