//! Error codes for addresses that cannot be read, for browsers and plain requests alike.

use ragmaker_tool::{Code, Error};

/// The page, or its server, did not answer in time.
pub const TIMEOUT: Code = Code::new("TIMEOUT", "Raise the timeout, or skip this page.");
/// The page could not be loaded.
pub const NAVIGATION_FAILED: Code =
    Code::new("NAVIGATION_FAILED", "Check the URL and the connection; details.net_error names the cause.");
/// The URL does not lead to a page, for example to a download.
pub const NOT_A_PAGE: Code = Code::new("NOT_A_PAGE", "Skip this URL: it leads to a file or has no content.");
/// The server answered with an error page.
pub const HTTP_ERROR: Code = Code::new("HTTP_ERROR", "Check the URL; details.http_status is the status of the server.");
/// A bot challenge is shown instead of the page.
pub const BOT_DETECTED: Code = Code::new(
    "BOT_DETECTED",
    "Run ragmaker-browser-open --no-headless and let a person solve the challenge in its window, then call again: the session remembers it.",
);
/// The page is a sign-in page.
pub const LOGIN_REQUIRED: Code = Code::new(
    "LOGIN_REQUIRED",
    "Run ragmaker-browser-open --no-headless and let a person sign in at this address in its window, then call again: the session keeps the login.",
);

/// The [`BOT_DETECTED`] for a page at `url` with which the bot protection of `vendor` blocks the visitor: there is no
/// challenge to solve.
pub fn blocked(vendor: &str, url: &str) -> Error {
    BOT_DETECTED
        .error(format!("the site's bot protection ({vendor}) blocks access to {url}"))
        .remedy(
            "Skip this page: the site blocks this network or browser, and its page has no challenge that a person could solve.",
        )
        .detail("vendor", vendor)
}
