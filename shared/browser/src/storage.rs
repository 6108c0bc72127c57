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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_state_of_playwright_is_read_and_written_in_its_form() {
        let cookie = json!({"name": "a", "value": "b", "domain": ".x.example", "path": "/", "expires": -1.0,
            "httpOnly": true, "secure": false, "sameSite": "Lax"});
        let origin = json!({"origin": "https://x.example", "localStorage": [{"name": "k", "value": "v"}]});
        let state = json!({"cookies": [cookie], "origins": [origin]});
        let read: StorageState = serde_json::from_value(state.clone()).unwrap();
        assert_eq!((read.origins[0].local_storage[0].value.as_str(), read.cookies.len()), ("v", 1));
        assert_eq!(serde_json::to_value(&read).unwrap(), state);
        let empty: StorageState =
            serde_json::from_value(json!({"origins": [{"origin": "https://x.example"}]})).unwrap();
        assert!(empty.cookies.is_empty() && empty.origins[0].local_storage.is_empty());
    }

    #[test]
    fn what_a_page_returns_for_its_storage_is_items_or_nothing() {
        let found = items("https://x.example", json!([{"name": "k", "value": ""}])).unwrap();
        assert_eq!((found.origin.as_str(), found.local_storage.len()), ("https://x.example", 1));
        for other in [json!([]), Value::Null, json!({"name": "k"}), json!([{"name": "k", "value": 1}])] {
            assert!(items("https://x.example", other.clone()).is_none(), "{other}");
        }
    }

    #[test]
    fn only_sites_of_the_web_are_opened() {
        assert_eq!(site("https://x.example").unwrap().as_str(), "https://x.example/");
        assert!(site("http://localhost:8080").is_some());
        for other in ["file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "chrome://settings", "null", ""]
        {
            assert!(site(other).is_none(), "{other}");
        }
    }
}
