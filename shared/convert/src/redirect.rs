//! Pages that only redirect to another address, as sites and documentation generators leave them at old addresses.

use ragmaker_address::page_key;
use ragmaker_knowledge::EMPTY_CONTENT;
use ragmaker_tool::Error;
use url::Url;

/// A page with as many words has content of its own.
const CONTENT: usize = 25;

/// The detail of the error that has the other address.
const REDIRECTS_TO: &str = "redirects_to";

/// The error for the page at `url` if it has hardly more than a `<meta>` refresh to another address. `words` is the number
/// of those of its content; `refresh` is asked for the target if they are few.
pub fn redirect_error(words: usize, refresh: impl FnOnce() -> Option<Url>, url: &Url) -> Option<Error> {
    if words >= CONTENT {
        return None;
    }
    let to = refresh().filter(|to| page_key(to) != page_key(url))?;
    let error = EMPTY_CONTENT.error(format!("the page only redirects to {to}")).remedy("Fetch that address.");
    Some(error.detail(REDIRECTS_TO, to.as_str()))
}

/// The address to which the page only redirects, if `error` is that of [`redirect_error`].
pub fn redirect_target(error: &Error) -> Option<Url> {
    Url::parse(error.details().get(REDIRECTS_TO)?.as_str()?).ok()
}

#[cfg(test)]
mod tests {
    use ragmaker_markdown::links;

    use super::*;

    #[test]
    fn a_page_of_few_words_with_a_refresh_redirects() {
        let url = Url::parse("https://x.example/docs/old.html").unwrap();
        let to = |words, target: &str| {
            let page = format!("<meta http-equiv=refresh content='0; url={target}'><p>Redirecting");
            redirect_error(words, || links(&page, &url).refresh, &url)
                .and_then(|error| redirect_target(&error))
                .map(String::from)
        };
        assert_eq!(to(1, "new/a.html#b").unwrap(), "https://x.example/docs/new/a.html#b");
        assert_eq!(to(CONTENT, "new.html"), None);
        // A page that loads itself again.
        assert_eq!((to(1, "old.html"), to(1, "#a")), (None, None));
        assert!(redirect_error(1, || None, &url).is_none());
        assert_eq!(redirect_target(&EMPTY_CONTENT.error("the page has no text")), None);
    }
}
