//! Pages that only lead on to another address, as sites and documentation generators leave them at old addresses.

use ragmaker_address::same_page;
use ragmaker_knowledge::EMPTY_CONTENT;
use ragmaker_tool::Error;
use url::Url;

/// A page with as many words has content of its own.
const CONTENT: usize = 25;

/// The detail of the error that has the other address.
const LEADS_TO: &str = "leads_to";

/// The error for the page at `url` if it has hardly more than a `<meta>` refresh to another address. `words` is the number
/// of those of its content; `refresh` is asked for the target if they are few.
pub fn leads_on(words: usize, refresh: impl FnOnce() -> Option<Url>, url: &Url) -> Option<Error> {
    if words >= CONTENT {
        return None;
    }
    let without_fragment = |url: &Url| {
        let mut url = url.clone();
        url.set_fragment(None);
        url
    };
    let to = refresh().filter(|to| !same_page(&without_fragment(to), &without_fragment(url)))?;
    let error = EMPTY_CONTENT.error(format!("the page only leads on to {to}")).remedy("Fetch that address.");
    Some(error.detail(LEADS_TO, to.as_str()))
}

/// The address to which the page only leads on, if `error` is that of [`leads_on`].
pub fn onward(error: &Error) -> Option<Url> {
    Url::parse(error.details().get(LEADS_TO)?.as_str()?).ok()
}

#[cfg(test)]
mod tests {
    use ragmaker_markdown::links;

    use super::*;

    #[test]
    fn a_page_of_few_words_with_a_refresh_leads_on() {
        let url = Url::parse("https://x.example/docs/old.html").unwrap();
        let to = |words, target: &str| {
            let page = format!("<meta http-equiv=refresh content='0; url={target}'><p>Redirecting");
            leads_on(words, || links(&page, &url).refresh, &url).and_then(|error| onward(&error)).map(String::from)
        };
        assert_eq!(to(1, "new/a.html#b").unwrap(), "https://x.example/docs/new/a.html#b");
        assert_eq!(to(CONTENT, "new.html"), None);
        // A page that loads itself again.
        assert_eq!((to(1, "old.html"), to(1, "#a")), (None, None));
        assert!(leads_on(1, || None, &url).is_none());
        assert_eq!(onward(&EMPTY_CONTENT.error("the page has no text")), None);
    }
}
