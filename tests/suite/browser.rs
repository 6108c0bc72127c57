//! The browser tools on the pages of the tests' site, the plain ones and the hostile ones.
//!
//! Each test opens one browser and takes it through pages of one kind.

mod act;
mod batch_extract;
mod capture;
mod consent;
mod content;
pub(crate) mod controls;
mod documentation;
pub(crate) mod expand;
pub(crate) mod files;
mod json;
mod kills;
mod knowledge_base_page;
mod links;
mod loading;
mod readiness;
mod refusals;
mod remote;
mod security;
mod sessions;
mod state;
mod step_kinds;
#[cfg(target_os = "linux")]
pub(crate) mod webdriver_only;
mod windows;

use ragmaker_tests::visitor::Visitor;
use serde_json::Value;

/// The maximum number of characters that clients take without cutting.
const OUTPUT_LIMIT: usize = 29_000;

/// Goes to a page, which has to succeed.
fn seen(visitor: &Visitor, page: &str) -> Value {
    visitor.navigate(page).run().answer().clone()
}

/// The links of an answer: their texts, and where they lead, the site's own origin left out.
fn links(visitor: &Visitor, answer: &Value) -> Vec<(String, String)> {
    let origin = visitor.site.url("");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let links = answer["links"].as_array().unwrap().iter();
    links.map(|link| (text(&link["text"]), text(&link["href"]).replace(&origin, ""))).collect()
}

/// Where the links of a page lead.
fn hrefs(visitor: &Visitor, page: &str) -> Vec<String> {
    links(visitor, &seen(visitor, page)).into_iter().map(|(_, href)| href).collect()
}

fn owned<const N: usize>(pairs: [(&str, &str); N]) -> Vec<(String, String)> {
    pairs.map(|(text, href)| (text.to_owned(), href.to_owned())).to_vec()
}
