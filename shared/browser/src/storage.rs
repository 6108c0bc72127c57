//! The form of a session's state, and what can be done with that of a browser.

use ragmaker_tool::Error;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use crate::{cookie::Cookie, profile::Profile};

/// An item of local storage.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageItem {
    /// Its key.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// The local storage of an origin.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OriginStorage {
    /// The origin, such as `https://example.com`.
    pub origin: String,
    /// Its items.
    #[serde(default)]
    pub local_storage: Vec<StorageItem>,
}

/// The state of a session, in the form of Playwright's `storageState`. It has no `Debug`: values are secrets.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StorageState {
    /// The cookies.
    #[serde(default)]
    pub cookies: Vec<Cookie>,
    /// The local storage of each origin that has any.
    #[serde(default)]
    pub origins: Vec<OriginStorage>,
}

/// The cookies and the local storage of a browser in use. A browser lists no origins: the profile notes those whose pages
/// the session has opened.
pub(crate) trait StateStore {
    /// Reads all that is there.
    fn read(&mut self, profile: &Profile) -> Result<StorageState, Error>;

    /// Adds `state`. What has the same name is replaced.
    fn add(&mut self, state: &StorageState, profile: &Profile) -> Result<(), Error>;

    /// Removes all that is there.
    fn clear(&mut self, profile: &Profile) -> Result<(), Error>;
}

/// The body of a function that returns the items of a page's local storage, for [`items`].
pub(crate) const READ: &str = "return Object.entries(localStorage).map(([name, value]) => ({ name: name.toWellFormed(), value: value.toWellFormed() }));";
/// The body of one that adds items.
pub(crate) const WRITE: &str =
    "for (const { name, value } of arguments[0]) localStorage.setItem(name, value); return true;";
/// The body of one that removes all.
pub(crate) const CLEAR: &str = "localStorage.clear(); return true;";

/// The items of `origin`, as [`READ`] returns them; `None` if there are none.
pub(crate) fn items(origin: &str, read: Value) -> Option<OriginStorage> {
    let local_storage: Vec<StorageItem> = Vec::deserialize(read).unwrap_or_default();
    (!local_storage.is_empty()).then(|| OriginStorage { origin: origin.to_owned(), local_storage })
}

/// The site at an origin that may be opened.
pub(crate) fn site(origin: &str) -> Option<Url> {
    Url::parse(origin).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}
