//! Which addresses are opened, and when two are the same page.

use ragmaker_tool::{ARGUMENT_ERROR, Error};
use url::Url;

use crate::codes::URL_NOT_ALLOWED;

/// The URL in `text`, which has to be an http or https one.
pub fn parse(text: &str) -> Result<Url, Error> {
    let url = Url::parse(text.trim()).map_err(|error| {
        ARGUMENT_ERROR
            .error(format!("--url can not be {text:?}: {error}"))
            .remedy("Give an absolute URL, such as https://example.com/docs.")
            .detail("argument", "--url")
    })?;
    allow(url.as_str())?;
    Ok(url)
}

/// Refuses what is not http or https: a page must not lead to files, scripts or settings.
pub(crate) fn allow(url: &str) -> Result<(), Error> {
    let scheme = url.split(':').next().unwrap_or_default().to_ascii_lowercase();
    if matches!(scheme.as_str(), "http" | "https") {
        return Ok(());
    }
    let shown: String = url.chars().take(200).collect();
    Err(URL_NOT_ALLOWED.error(format!("only http and https are opened, not {shown}")).detail("url", shown))
}

/// The address of the page itself: without a fragment, unless an application routes by it.
pub fn page(url: &str) -> &str {
    match url.split_once('#') {
        Some((page, fragment)) if !fragment.starts_with(['/', '!']) => page,
        _ => url,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_web_is_opened() {
        assert!(parse(" https://例え.jp/a b?q=1#x ").is_ok());
        for bad in [
            "file:///etc/passwd",
            "chrome://version",
            "javascript:alert(1)",
            "data:text/html,x",
            "about:blank",
            "FILE:///x",
            "view-source:https://x.example",
            "blob:https://x.example/1",
        ] {
            assert!(parse(bad).unwrap_err().is(URL_NOT_ALLOWED), "{bad}");
        }
        for bad in ["", "example.com", "/x", "http://", "http://[::1"] {
            assert!(parse(bad).unwrap_err().is(ARGUMENT_ERROR), "{bad}");
        }
    }

    #[test]
    fn a_place_on_a_page_is_the_page_and_a_route_is_not() {
        assert_eq!(page("https://x.example/a#top"), "https://x.example/a");
        assert_eq!(page("https://x.example/a#/users/1"), "https://x.example/a#/users/1");
        assert_eq!(page("https://x.example/a#!users"), "https://x.example/a#!users");
        assert_eq!(page("https://x.example/a"), "https://x.example/a");
    }
}
