//! The scripts that run in pages, and what each part provides.
//!
//! `js/watch.js` runs in every document of a tab before the page's own scripts, and counts the pending timers and
//! workers. The page script runs in an isolated world, repeatedly until the page is ready, and returns state, facts and
//! content of the page in one answer. It is the concatenation of these parts, in this order:
//!
//! - `document.js`: `doc`, `nativeView`, `rootOf`, `isForm`, `nativeGetter`, `shadowOf`: the document by names that no
//!   element of the page can take
//! - `page-state.js`: `pageState(selector)`: the state of the page; `sparse()`, `hasCode()`, `watched()`
//! - `sign-in.js`: `signInForm()`: the sign-in form
//! - `facts.js`: `facts()`: the facts about the page, as [`Facts`](crate::facts::Facts)
//! - `names.js` and `links.js`, or `html.js`, or `changes.js`: `collectContent(selector)`: the content
//! - `collect.js`: takes the arguments, calls the others, returns `[state, facts, content]`

use serde_json::{Value, json};

use crate::limits::LIMITS;

const WATCH: &str = include_str!("../js/watch.js");
const DOCUMENT: &str = include_str!("../js/document.js");
const PAGE_STATE: &str = include_str!("../js/page-state.js");
const SIGN_IN: &str = include_str!("../js/sign-in.js");
const FACTS: &str = include_str!("../js/facts.js");
const LINKS: &str = concat!(include_str!("../js/names.js"), include_str!("../js/links.js"));
const HTML: &str = include_str!("../js/html.js");
const CHANGES: &str = include_str!("../js/changes.js");
const COLLECT: &str = include_str!("../js/collect.js");

/// The script that runs first in every document of a tab.
pub(crate) fn watch_script() -> String {
    format!("({WATCH})({});", json!(LIMITS.page))
}

/// The requested content of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RequestedContent<'a> {
    /// Its links.
    Links,
    /// The HTML of the selector's matches, or of the whole page.
    Html(Option<&'a str>),
    /// The state of text and links before a call acts in the page.
    Before,
    /// The changes since then.
    Changes,
    /// Nothing.
    Nothing,
}

/// The page script for one kind of content.
#[derive(Clone, Debug)]
pub(crate) struct PageScript {
    pub(crate) body: String,
    /// The selector of the content.
    pub(crate) selector: Option<String>,
}

impl PageScript {
    /// The script for the content `wanted`.
    pub(crate) fn new(wanted: RequestedContent<'_>) -> Self {
        let (take, selector) = match wanted {
            RequestedContent::Links => (LINKS, None),
            RequestedContent::Html(selector) => (HTML, selector.map(str::to_owned)),
            RequestedContent::Before => (CHANGES, Some("before".to_owned())),
            RequestedContent::Changes => (CHANGES, None),
            RequestedContent::Nothing => ("const collectContent = () => null;", None),
        };
        Self { body: [DOCUMENT, PAGE_STATE, SIGN_IN, FACTS, take, COLLECT].join("\n"), selector }
    }

    /// The arguments of the script: the selector to wait for, whether to take the content now, in any state
    /// (`takeNow`), and whether the page was ready before.
    pub(crate) fn arguments(&self, wait_for: Option<&str>, now: bool, is_known: bool) -> Value {
        json!([wait_for, now, self.selector, LIMITS.page, is_known])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_watch_script_is_called_with_the_limits() {
        let script = watch_script();
        assert!(script.starts_with("(// Runs") && script.contains("\n(limits) => {\n"), "{script}");
        let arguments = script.rsplit_once("\n)(").unwrap().1.strip_suffix(");").unwrap();
        let given: Value = serde_json::from_str(arguments).unwrap();
        assert_eq!(given["shortTimer"], 2000);
    }

    #[test]
    fn the_script_takes_its_arguments_in_order() {
        let script = PageScript::new(RequestedContent::Html(Some("main")));
        assert!(script.body.contains("const [selector, takeNow, contentSelector, limits, known] = arguments;"));
        let arguments = script.arguments(Some("h1"), true, false);
        assert_eq!((&arguments[0], &arguments[1], &arguments[2]), (&json!("h1"), &json!(true), &json!("main")));
        assert_eq!(arguments[3]["quiet"], 40);
        assert!(PageScript::new(RequestedContent::Links).body.contains("JSON.stringify"));
    }
}
