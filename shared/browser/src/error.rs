//! The reasons why a browser command fails, and the errors that callers receive for them.

use std::fmt;

use fantoccini::error::{ErrorStatus, WebDriver};
use ragmaker_tool::Error;
use url::Url;

use crate::codes::{BROWSER_LOST, NAVIGATION_FAILED, NOT_A_PAGE, PAGE_CRASHED, TIMEOUT};

/// The longest part of the browser's own message in an error, in characters.
const MAX_MESSAGE_CHARACTERS: usize = 300;

/// The reason why a WebDriver or DevTools command has no result.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// The deadline passed.
    Late,
    /// The page's process crashed.
    Crashed,
    /// The tab, the session, the driver or the browser is gone.
    Gone,
    /// The WebDriver server knows no such session any more.
    Ended,
    /// The page that an earlier call left in the tab does not answer.
    Unresponsive,
    /// The command failed.
    Failed(FailedCommand),
}

/// What a driver or a browser says of a command that failed.
#[derive(Debug, Default)]
pub(crate) struct FailedCommand {
    /// The error code of the WebDriver standard; `None` for what has none, such as a DevTools command.
    pub(crate) status: Option<ErrorStatus>,
    /// Its message, which differs between browsers.
    pub(crate) words: String,
}

impl FailedCommand {
    /// Whether the element of the command has gone.
    pub(crate) fn is_stale_element(&self) -> bool {
        use ErrorStatus::{DetachedShadowRoot, NoSuchElement, StaleElementReference};
        matches!(self.status, Some(StaleElementReference | NoSuchElement | DetachedShadowRoot))
    }
}

impl From<&WebDriver> for FailedCommand {
    fn from(error: &WebDriver) -> Self {
        // The status cannot be copied; its text is the code.
        Self { status: error.error().parse().ok(), words: error.to_string() }
    }
}

impl From<String> for FailedCommand {
    fn from(words: String) -> Self {
        Self { status: None, words }
    }
}

impl From<&str> for FailedCommand {
    fn from(words: &str) -> Self {
        words.to_owned().into()
    }
}

impl fmt::Display for FailedCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl CommandError {
    /// The error for a command that concerns no page.
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::Failed(FailedCommand { words, .. }) => BROWSER_LOST.error(format!(
                "the browser refused a command: {}",
                words.chars().take(MAX_MESSAGE_CHARACTERS).collect::<String>()
            )),
            _ => BROWSER_LOST.error("the connection to the browser was lost during the call"),
        }
    }
}

/// The reason why a navigation has no page.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The tab was unusable before this call did anything with it. Another tab may work.
    UnresponsiveTab(Error),
    /// The error for the caller.
    Page(Error),
}

impl Failure {
    /// The failure of a command about the page at `url`.
    pub(crate) fn of(error: CommandError, url: &Url) -> Self {
        let is_unresponsive = matches!(error, CommandError::Unresponsive);
        let error = match error {
            CommandError::Late => TIMEOUT.error("the page did not answer in time"),
            CommandError::Crashed => PAGE_CRASHED.error("the page crashed its tab"),
            other => other.into_error(),
        };
        let error = error.detail("url", url.as_str());
        if is_unresponsive { Self::UnresponsiveTab(error) } else { Self::Page(error) }
    }
}

impl Failure {
    /// The error for the caller if there is no other tab.
    pub(crate) fn into_error(self) -> Error {
        let (Self::UnresponsiveTab(error) | Self::Page(error)) = self;
        error
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Page(error)
    }
}

/// The error for a URL that is not a page.
pub(crate) fn not_a_page(message: &str, url: &Url, media_type: Option<&str>, status: u16) -> Error {
    NOT_A_PAGE
        .error(message)
        .detail("url", url.as_str())
        .detail("content_type", media_type)
        .detail("http_status", status)
}

/// The error where an expansion left a page in which steps were taken: loading it again would lose their result.
pub(crate) fn not_loaded_again(url: &Url) -> Error {
    NAVIGATION_FAILED
        .error("expanding led to another page, and steps were taken in this one, so it is not loaded again")
        .remedy("Leave --expand out, or load the page afresh with --reload.")
        .detail("url", url.as_str())
}

/// The error for a page that could not be loaded; `net_error` is Chromium's name of the cause.
pub(crate) fn navigation_failed(url: &str, net_error: &str) -> Error {
    let why = match net_error.trim_start_matches("net::") {
        "ERR_CONNECTION_REFUSED" => "the server refused the connection",
        "ERR_NAME_NOT_RESOLVED" => "the host name cannot be resolved",
        "ERR_TOO_MANY_REDIRECTS" => "the server redirects in a loop",
        "ERR_UNSAFE_REDIRECT" => "the server redirects to an address that may not be opened",
        "ERR_EMPTY_RESPONSE"
        | "ERR_CONNECTION_RESET"
        | "ERR_CONNECTION_CLOSED"
        | "ERR_INCOMPLETE_CHUNKED_ENCODING"
        | "ERR_CONTENT_LENGTH_MISMATCH" => "the server broke the connection",
        "ERR_ABORTED" => "the browser refused the server's response",
        "ERR_UNSAFE_PORT" => "the browser does not open pages on that port, which belongs to another protocol",
        "ERR_INVALID_HTTP_RESPONSE" => "the server does not speak HTTP",
        "ERR_CONNECTION_TIMED_OUT" | "ERR_TIMED_OUT" => "the server does not answer",
        "ERR_INTERNET_DISCONNECTED" | "ERR_NETWORK_CHANGED" | "ERR_ADDRESS_UNREACHABLE" => {
            "the network does not reach the server"
        }
        name if name.starts_with("ERR_CERT_") => "the server's certificate is not trusted",
        name if name.starts_with("ERR_SSL_") => "the server does not speak TLS properly",
        _ => "the browser could not load it",
    };
    NAVIGATION_FAILED.error(format!("cannot open {url}: {why}")).detail("url", url).detail("net_error", net_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unresponsive_tab_is_replaced_by_another() {
        let url = Url::parse("https://x.example/a").unwrap();
        let failure = |error| Failure::of(error, &url);
        assert!(matches!(failure(CommandError::Unresponsive), Failure::UnresponsiveTab(_)));
        for (error, code) in [
            (CommandError::Late, TIMEOUT),
            (CommandError::Crashed, PAGE_CRASHED),
            (CommandError::Gone, BROWSER_LOST),
            (CommandError::Failed("x".repeat(9999).into()), BROWSER_LOST),
        ] {
            let Failure::Page(error) = failure(error) else { panic!("{code:?} is final") };
            assert!(error.is(code) && error.details()["url"] == "https://x.example/a", "{error}");
            assert!(error.message().len() < 500, "{error}");
        }
    }

    #[test]
    fn a_cause_has_a_description_and_its_name() {
        let error = navigation_failed("https://x.example/", "net::ERR_CERT_DATE_INVALID");
        assert!(error.message().contains("certificate"), "{error}");
        assert_eq!(error.details()["net_error"], "net::ERR_CERT_DATE_INVALID");
        assert!(navigation_failed("https://x.example/", "net::ERR_NEW").message().contains("could not load"));
    }
}
