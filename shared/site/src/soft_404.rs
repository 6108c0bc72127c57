//! Soft 404: pages with a status of success that a site returns for missing addresses.

use std::{collections::HashMap, sync::OnceLock};

use ragmaker_address::page_key;
use ragmaker_http::GetRequest;
use ragmaker_knowledge::content_hash;
use ragmaker_markdown::Document;
use url::Url;

use crate::{
    content::read,
    load::{HTML_FIRST, MARKDOWN_FIRST},
    redirect::Reach,
    scope::Scope,
    site::Site,
};

/// The last segment of an address that cannot exist, before what makes it unique.
const NONE: &str = "ragmaker-no-such-page-";

/// The forms in which pages are requested: what their addresses end with, and the `Accept` header.
const FORMS: [(&str, &str); 3] = [("", MARKDOWN_FIRST), ("", HTML_FIRST), (".md", MARKDOWN_FIRST)];

/// A site's responses to missing pages, one for each form in which pages are requested.
#[derive(Debug, Default)]
struct MissingPages(Vec<MissingPage>);

/// A site's response to a missing page.
#[derive(Clone, Debug, Default)]
struct MissingPage {
    /// The target of its redirect.
    leads_to: Option<String>,
    /// The words that it shows each time.
    words: Words,
    /// The number of words that are others each time.
    varying: usize,
}

/// How often each word occurs in a page.
type Words = HashMap<String, usize>;

/// A site's responses to missing pages, which are asked for when the first page is to be compared with them: a run in
/// which nothing has changed asks for none.
#[derive(Debug)]
pub(crate) struct SoftNotFound<'a> {
    scope: &'a Scope,
    site: &'a Site<'a>,
    pages: OnceLock<MissingPages>,
}

impl<'a> SoftNotFound<'a> {
    /// Those of the section `scope`.
    pub(crate) fn new(scope: &'a Scope, site: &'a Site<'a>) -> Self {
        Self { scope, site, pages: OnceLock::new() }
    }

    /// Whether `document`, the page at `url`, is what the site shows for pages that it does not have. `redirected`
    /// is where the request for it ended.
    pub(crate) fn shows(&self, document: &Document, url: &Url, redirected: Option<&Url>) -> bool {
        self.pages.get_or_init(|| MissingPages::of(self.scope, self.site)).are(document, url, redirected)
    }
}

impl MissingPages {
    /// Asks the site for addresses that cannot exist in the section.
    fn of(scope: &Scope, site: &Site<'_>) -> Self {
        // The same for each run, so that a site's log shows few addresses.
        let hash = content_hash("", scope.prefix().as_str());
        let folder = scope.prefix().path().trim_end_matches('/');
        let mut pages = Self::default();
        for (ending, accept) in FORMS {
            let ask = |part: &str| {
                let mut at = scope.prefix().clone();
                at.set_path(&format!("{folder}/{NONE}{part}{ending}"));
                let request = GetRequest { url: &at, accept, headers: &[] };
                let response = site.get(&request, Reach::Prefix(scope), &mut |_| Ok(())).ok()?;
                (200..300).contains(&response.status).then_some((response, at))
            };
            let Some((response, at)) = ask(&hash[..8]) else { continue };
            // A redirect that only changes the form of the address, such as by a slash at its end, leads nowhere.
            if !response.steps.is_empty() && !response.url.path().contains(NONE) {
                pages.0.push(MissingPage { leads_to: Some(page_key(&response.url)), ..MissingPage::default() });
                continue;
            }
            let Ok(first) = read(&response) else { continue };
            if pages.are(&first.document, &at, None) {
                continue;
            }
            // What differs between two missing pages varies, such as the time or a number of the request.
            let second = ask(&hash[8..16]).and_then(|(response, at)| Some((read(&response).ok()?.document, at)));
            let second = second.as_ref().map(|(document, at)| (document, at));
            pages.0.push(MissingPage::showing((&first.document, &at), second));
        }
        pages
    }

    /// Whether `document`, the page at `url`, is what the site shows for pages that it does not have. `redirected`
    /// is where the request for it ended.
    fn are(&self, document: &Document, url: &Url, redirected: Option<&Url>) -> bool {
        self.0.iter().any(|page| page.is(document, url, redirected))
    }
}

impl MissingPage {
    /// A response that shows the first document and, for another missing address, the second.
    fn showing(first: (&Document, &Url), second: Option<(&Document, &Url)>) -> Self {
        let [first, second] = [Some(first), second].map(|shown| shown.map(|(document, at)| words(document, at)));
        let first = first.unwrap_or_default();
        let second = second.unwrap_or_else(|| first.clone());
        let words = common(&first, &second);
        let varying = count(&first).max(count(&second)) - count(&words);
        // Of a page that is hardly ever the same, little can be said.
        let varying = varying.min(count(&words) / 4);
        Self { leads_to: None, words, varying }
    }

    fn is(&self, document: &Document, url: &Url, redirected: Option<&Url>) -> bool {
        if let Some(leads_to) = &self.leads_to {
            return redirected.is_some_and(|to| *leads_to == page_key(to));
        }
        let own = words(document, url);
        let (shared, template) = (common(&own, &self.words), count(&self.words));
        let lacking = template - count(&shared);
        // The name of a page may be a word of the text as well.
        let name = plain(segment(url)).to_lowercase();
        let is_name = |word: &str| !name.is_empty() && plain(word).to_lowercase() == without_digits(&name);
        let others = own.iter().filter(|(word, _)| !is_name(word));
        let more: usize = others.map(|(word, count)| count - shared.get(word).copied().unwrap_or_default()).sum();
        template > 0 && lacking * 10 <= template && more <= self.varying + count(&own) / 10
    }
}

/// The words of a page, without the address of the page and without digits, which vary.
fn words(document: &Document, at: &Url) -> Words {
    let (path, segment) = (at.path(), segment(at));
    let is_path = path.trim_matches('/').contains('/') || segment.starts_with(NONE);
    let mut words = Words::new();
    let text = [document.metadata.title.as_str(), document.markdown.as_str()];
    for word in text.into_iter().flat_map(str::split_whitespace) {
        let mut word = if is_path { word.replace(path, "") } else { word.to_owned() };
        if segment.starts_with(NONE) {
            word = word.replace(segment, "");
        }
        let word = without_digits(&word);
        if word.chars().any(char::is_alphabetic) {
            *words.entry(word).or_default() += 1;
        }
    }
    words
}

fn without_digits(word: &str) -> String {
    word.chars().filter(|c| !c.is_numeric()).collect()
}

/// A word without the punctuation around it.
fn plain(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

fn common(a: &Words, b: &Words) -> Words {
    let both = a.iter().filter_map(|(word, count)| Some((word.clone(), *count.min(b.get(word)?))));
    both.collect()
}

fn count(words: &Words) -> usize {
    words.values().sum()
}

/// The last segment of an address, which its page may quote.
fn segment(url: &Url) -> &str {
    url.path_segments().and_then(|mut all| all.rfind(|one| !one.is_empty())).unwrap_or_default()
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
        let name = format!("{NONE}1");
        let missing = MissingPages(vec![MissingPage::showing((&shown(&name), &at(&name)), None)]);
        for name in ["other", "Try", "Oops", "start"] {
            assert!(missing.are(&shown(name), &at(name), None), "{name}");
        }
        assert!(!missing.are(
            &page("<title>Tides</title><p>Two a day.<p>Try the <a href=/>start</a>."),
            &at("tides"),
            None
        ));
        assert!(!MissingPages::default().are(&shown("other"), &at("other"), None));
        let led = MissingPage { leads_to: Some("https://x.example/".into()), ..MissingPage::default() };
        let led = MissingPages(vec![led]);
        let home = Url::parse("https://x.example/").unwrap();
        assert!(led.are(&shown("other"), &at("other"), Some(&home)) && !led.are(&shown("other"), &home, None));
    }
    #[test]
    fn varying_lines_of_missing_pages_are_ignored() {
        let at = |name: &str| Url::parse(&format!("https://x.example/docs/{name}")).unwrap();
        let shown = |name: &str, time: &str, id: &str| {
            page(&format!(
                "<title>Oops</title><h1>Oops</h1><p>The page /docs/{name} at {time} could not be found, id {id}.<p>Try the search."
            ))
        };
        let [one, two] = [format!("{NONE}1"), format!("{NONE}2")];
        let first = (&shown(&one, "10:01:20", "fa3b-77c"), &at(&one));
        let second = (&shown(&two, "10:01:21", "90ed-be"), &at(&two));
        let missing = MissingPages(vec![MissingPage::showing(first, Some(second))]);
        assert!(missing.are(&shown("a/b", "11:59:02", "c0ffee"), &at("a/b"), None));
        let short = page(
            "<title>Oops</title><h1>Oops</h1><p>The page at the harbour tells the time of the tide.<p>Try the search.",
        );
        assert!(!missing.are(&short, &at("tide"), None));
        // Pages with the same text and more are not missing pages.
        let about =
            format!("{} It tells how the station answers where a page is missing.", shown("a", "1", "2").markdown);
        assert!(!missing.are(&page(&format!("<title>Oops</title><p>{about}")), &at("a"), None));
    }
}
