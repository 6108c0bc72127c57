//! The state of the site about its visitors.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::{Mutex, PoisonError},
};

use super::http::Request;

/// The state of the site about its visitors.
pub(super) struct Visit {
    /// The value of a session cookie, so that only this site's own is valid.
    pub(super) token: String,
    /// How often each page was refused for being asked for too often.
    refused: Mutex<HashMap<String, u32>>,
}

impl Visit {
    pub(super) fn new() -> Self {
        Self { token: format!("{:016x}", RandomState::new().hash_one("session")), refused: Mutex::default() }
    }

    /// Whether the page is refused once more, `times` in all.
    pub(super) fn refuses(&self, path: &str, times: u32) -> bool {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let count = refused.entry(path.to_owned()).or_default();
        *count += 1;
        *count <= times
    }

    /// Who is signed in.
    pub(super) fn visitor<'a>(&self, request: &'a Request) -> Option<&'a str> {
        request.cookie("session")?.strip_prefix(self.token.as_str())?.strip_prefix('-')
    }
}
