//! Soft 404: pages with a status of success that a site returns for missing addresses.

use std::collections::HashSet;

use ragmaker_knowledge::content_hash;
use ragmaker_markdown::Document;
use url::Url;

use crate::{content::read, scope::key, site::Site};

/// The last segment of an address that cannot exist, before what makes it unique.
const NONE: &str = "ragmaker-no-such-page-";

/// A site's response to a missing page.
#[derive(Debug, Default)]
pub(crate) struct MissingPage {
    /// The target of its redirect.
    leads_to: Option<String>,
    /// The lines of what it shows.
    lines: HashSet<String>,
}

impl MissingPage {
    /// Asks the site for an address that cannot exist in the section of `prefix`.
    pub(crate) fn of(prefix: &Url, site: &Site<'_>) -> Self {
        // The same for each run, so that a site's log shows one address.
        let name = format!("{NONE}{}", &content_hash("", prefix.as_str())[..8]);
        let mut at = prefix.clone();
        at.set_path(&format!("{}/{name}", prefix.path().trim_end_matches('/')));
        if !site.allows(&at) {
            return Self::default();
        }
        let Ok(response) = site.page(&at) else { return Self::default() };
        if !(200..300).contains(&response.status) {
            return Self::default();
        }
        let leads_to = (!response.steps.is_empty()).then(|| key(&response.url));
        let lines = read(&response).map_or_else(|_| HashSet::new(), |content| lines(&content.document));
        Self::showing(leads_to, &lines, &at)
    }

    /// A response to `at` with these lines.
    fn showing(leads_to: Option<String>, lines: &HashSet<String>, at: &Url) -> Self {
        Self { leads_to, lines: lines.iter().map(|line| without(line, segment(at))).collect() }
    }

    /// Whether `document`, the page at `url`, is what the site shows for pages that it does not have. `redirected`
    /// is where the request for it ended.
    pub(crate) fn is(&self, document: &Document, url: &Url, redirected: Option<&Url>) -> bool {
        if redirected.is_some_and(|to| self.leads_to.as_ref() == Some(&key(to))) {
            return true;
        }
        if self.lines.is_empty() || self.leads_to.is_some() {
            return false;
        }
        let (own, segment) = (lines(document), segment(url));
        // The name of a page may be a word of the text as well.
        let is_common = |line: &&String| self.lines.contains(*line) || self.lines.contains(&without(line, segment));
        let common = own.iter().filter(is_common).count();
        // Nine lines of ten: it may quote the address or the time.
        common * 10 >= own.len().max(self.lines.len()) * 9
    }
}

/// The lines of a page.
fn lines(document: &Document) -> HashSet<String> {
    let text = [document.metadata.title.as_str(), document.markdown.as_str()].join("\n");
    text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
}

/// The last segment of an address, which its page may quote.
fn segment(url: &Url) -> &str {
    url.path_segments().and_then(|mut all| all.rfind(|one| !one.is_empty())).unwrap_or_default()
}

fn without(line: &str, segment: &str) -> String {
    if segment.is_empty() { line.to_owned() } else { line.replace(segment, "") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragmaker_markdown::{Options, Scope, convert};

    fn page(html: &str) -> Document {
        convert(html, &Options { scope: Scope::Whole, ..Options::default() }).unwrap()
    }

    #[test]
    fn a_page_that_quotes_the_address_is_the_same() {
        let at = |name: &str| Url::parse(&format!("https://x.example/docs/{name}")).unwrap();
        let shown = |name: &str| {
            page(&format!("<title>Oops</title><h1>Oops</h1><p>Nothing at {name}.<p>Try the <a href=/>start</a>."))
        };
        let missing = MissingPage::showing(None, &lines(&shown("ragmaker-1")), &at("ragmaker-1"));
        for name in ["other", "Try", "Oops", "start"] {
            assert!(missing.is(&shown(name), &at(name), None), "{name}");
        }
        assert!(!missing.is(
            &page("<title>Tides</title><p>Two a day.<p>Try the <a href=/>start</a>."),
            &at("tides"),
            None
        ));
        assert!(!MissingPage::default().is(&shown("other"), &at("other"), None));
        let led = MissingPage { leads_to: Some("https://x.example/".into()), ..MissingPage::default() };
        let home = Url::parse("https://x.example/").unwrap();
        assert!(led.is(&shown("other"), &at("other"), Some(&home)) && !led.is(&shown("other"), &home, None));
    }
}
