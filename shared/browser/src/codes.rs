//! The error codes of the browser tools.
//!
//! The codes for addresses, and for pages that cannot be read, are in `ragmaker-address`.

pub use ragmaker_address::codes::{BOT_DETECTED, HTTP_ERROR, LOGIN_REQUIRED, NAVIGATION_FAILED, NOT_A_PAGE, TIMEOUT};
pub use ragmaker_project::programs::{BROWSER_NOT_FOUND, NO_DISPLAY};
use ragmaker_tool::Code;

pub use crate::block_list::BLOCK_LIST_NOT_READABLE;
pub use ragmaker_tool::SELECTOR_NOT_FOUND;

/// The browser or its driver cannot be started.
pub const BROWSER_FAILED: Code = Code::new(
    "BROWSER_FAILED",
    "Check that Chromium and ChromeDriver have the same major version and that Chromium starts by itself.",
);
/// The WebDriver endpoint of the host cannot be reached, or provides no browser.
pub const WEBDRIVER_FAILED: Code = Code::new(
    "WEBDRIVER_FAILED",
    "Check the address in --webdriver-url or RAGMAKER_WEBDRIVER_URL, and that the server is running.",
);
/// A browser of another program uses the profile.
pub const PROFILE_IN_USE: Code =
    Code::new("PROFILE_IN_USE", "Close the other browser that uses this profile, or choose another --session.");
/// Another call is starting or closing the browser, and does not finish.
pub const BROWSER_BUSY: Code =
    Code::new("BROWSER_BUSY", "Try again; if this persists, run ragmaker-browser-close and try once more.");
/// The browser ended during the call.
pub const BROWSER_LOST: Code =
    Code::new("BROWSER_LOST", "Call again: the next call starts a new browser on the same profile.");
/// The page's process crashed.
pub const PAGE_CRASHED: Code = Code::new("PAGE_CRASHED", "Skip this page, or try again: it crashed its browser tab.");
/// No page is open.
pub const NO_PAGE: Code = Code::new("NO_PAGE", "Give --url, or navigate in this session first.");

/// No element has the name in a step.
pub const ELEMENT_NOT_FOUND: Code = Code::new(
    "ELEMENT_NOT_FOUND",
    "Name an element that ragmaker-browser-look lists; if it appears late, wait for it in an earlier step.",
);
/// Several elements have the name in a step.
pub const ELEMENT_AMBIGUOUS: Code =
    Code::new("ELEMENT_AMBIGUOUS", "Name one of the candidates as in details.candidates.");
/// The element exists but cannot be used in this way.
pub const ELEMENT_NOT_USABLE: Code = Code::new(
    "ELEMENT_NOT_USABLE",
    "Make it usable first, for example close what covers it, or choose another element.",
);

/// The codes of a tool that acts in a page.
pub const ACT_ERRORS: &[Code] = &[ELEMENT_NOT_FOUND, ELEMENT_AMBIGUOUS, ELEMENT_NOT_USABLE];

/// The codes of a tool that starts or connects to a browser.
pub const SESSION_ERRORS: &[Code] =
    &[BROWSER_NOT_FOUND, BROWSER_FAILED, WEBDRIVER_FAILED, NO_DISPLAY, PROFILE_IN_USE, BROWSER_BUSY];

/// The codes of a tool that visits a page, in addition to those of the session and of addresses.
pub const VISIT_ERRORS: &[Code] =
    &[BROWSER_LOST, TIMEOUT, PAGE_CRASHED, NAVIGATION_FAILED, NOT_A_PAGE, SELECTOR_NOT_FOUND, BLOCK_LIST_NOT_READABLE];

/// The codes for a page without content to save.
pub const PAGE_ERRORS: &[Code] = &[HTTP_ERROR, BOT_DETECTED, LOGIN_REQUIRED];
