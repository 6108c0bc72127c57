//! The error codes of the browser tools.
//!
//! Those of addresses that may not be opened are in `ragmaker-address`.

pub use ragmaker_project::programs::BROWSER_NOT_FOUND;
use ragmaker_tool::Code;

pub use ragmaker_tool::SELECTOR_NOT_FOUND;

/// The browser or its driver did not start.
pub const BROWSER_FAILED: Code = Code::new(
    "BROWSER_FAILED",
    "Check that Chromium and ChromeDriver have the same major version and that Chromium starts by itself.",
);
/// There is no screen that a window could be shown on.
pub const NO_DISPLAY: Code = Code::new(
    "NO_DISPLAY",
    "Leave --no-headless out, or run where a person can see the window: DISPLAY or WAYLAND_DISPLAY names the screen (xvfb-run makes one that nobody sees).",
);
/// A browser that is not ours holds the profile.
pub const PROFILE_IN_USE: Code =
    Code::new("PROFILE_IN_USE", "Close the other browser that uses this profile, or choose another --session.");
/// Another call is starting or closing the browser and does not come to an end.
pub const BROWSER_BUSY: Code =
    Code::new("BROWSER_BUSY", "Try again; if it stays so, run ragmaker-browser-close and try once more.");
/// The browser went away during the call.
pub const BROWSER_LOST: Code =
    Code::new("BROWSER_LOST", "Call again: the next call starts a new browser on the same profile.");
/// The page, or the server it comes from, did not answer in time.
pub const TIMEOUT: Code = Code::new("TIMEOUT", "Allow a longer timeout, or leave this page out.");
/// The page's process crashed.
pub const PAGE_CRASHED: Code =
    Code::new("PAGE_CRASHED", "Leave this page out, or try once more: it crashed its browser tab.");
/// The page could not be loaded.
pub const NAVIGATION_FAILED: Code =
    Code::new("NAVIGATION_FAILED", "Check the URL and the connection; details.net_error names the cause.");
/// The URL leads to something that is not a page, such as a download.
pub const NOT_A_PAGE: Code = Code::new("NOT_A_PAGE", "Leave this URL out: it leads to a file or to nothing at all.");
/// The server answered with an error page.
pub const HTTP_ERROR: Code =
    Code::new("HTTP_ERROR", "Check the URL; details.http_status says what the server answered.");
/// A bot challenge is shown instead of the page.
pub const BOT_DETECTED: Code = Code::new(
    "BOT_DETECTED",
    "Call again with --no-headless and let a person solve the challenge in the window; the session remembers it.",
);
/// A form to sign in is shown instead of the page's content.
pub const LOGIN_REQUIRED: Code = Code::new(
    "LOGIN_REQUIRED",
    "Run ragmaker-browser-open --no-headless and let a person sign in at this address in its window, then call again: the session keeps the login.",
);
/// No page is open to work on.
pub const NO_PAGE: Code = Code::new("NO_PAGE", "Give --url, or navigate in this session first.");

/// The codes of a tool that starts a browser, or reaches the one that runs.
pub const SESSION_ERRORS: &[Code] = &[BROWSER_NOT_FOUND, BROWSER_FAILED, NO_DISPLAY, PROFILE_IN_USE, BROWSER_BUSY];

/// The codes of a tool that visits a page, beside those of the session and of addresses.
pub const VISIT_ERRORS: &[Code] =
    &[BROWSER_LOST, TIMEOUT, PAGE_CRASHED, NAVIGATION_FAILED, NOT_A_PAGE, SELECTOR_NOT_FOUND];

/// The codes for a page whose content is not to be saved.
pub const PAGE_ERRORS: &[Code] = &[HTTP_ERROR, BOT_DETECTED, LOGIN_REQUIRED];
