//! What can go wrong between a tool and a page, by name.

use ragmaker_tool::Code;

/// Chromium or ChromeDriver is not on this machine.
pub const BROWSER_NOT_FOUND: Code = Code::new(
    "BROWSER_NOT_FOUND",
    "Install Chromium and ChromeDriver (Debian: apt-get install chromium chromium-driver), or name them with RAGMAKER_CHROMIUM and RAGMAKER_CHROMEDRIVER.",
);
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
pub const TIMEOUT: Code = Code::new("TIMEOUT", "Raise --timeout, or leave this page out.");
/// The page's process crashed.
pub const PAGE_CRASHED: Code =
    Code::new("PAGE_CRASHED", "Leave this page out, or try once more: it crashed its browser tab.");
/// The page could not be loaded.
pub const NAVIGATION_FAILED: Code =
    Code::new("NAVIGATION_FAILED", "Check the URL and the connection; details.net_error names the cause.");
/// The URL leads to something that is no page, such as a download.
pub const NOT_A_PAGE: Code = Code::new("NOT_A_PAGE", "Leave this URL out: it leads to a file or to nothing at all.");
/// The URL is not one of those that are opened.
pub const URL_NOT_ALLOWED: Code = Code::new("URL_NOT_ALLOWED", "Give an http or https URL.");
/// The page is of a domain that may not be visited.
pub const DOMAIN_NOT_ALLOWED: Code = Code::new(
    "DOMAIN_NOT_ALLOWED",
    "Stay within the domains that details.allowed names; whoever runs the tool may allow more with --allow-domain or RAGMAKER_ALLOWED_DOMAINS.",
);
/// The server answered with an error page.
pub const HTTP_ERROR: Code =
    Code::new("HTTP_ERROR", "Check the URL; details.http_status says what the server answered.");
/// A bot challenge stands in the place of the page.
pub const BOT_DETECTED: Code = Code::new(
    "BOT_DETECTED",
    "Call again with --no-headless and let a person solve the challenge in the window; the session remembers it.",
);
/// No page is open to work on.
pub const NO_PAGE: Code = Code::new("NO_PAGE", "Give --url, or navigate in this session first.");
/// Nothing on the page matches the selector.
pub const SELECTOR_NOT_FOUND: Code =
    Code::new("SELECTOR_NOT_FOUND", "Check the selector against the page, or leave it out.");

/// The codes of a tool that starts, reaches or closes a browser.
pub const SESSION_ERRORS: &[Code] =
    &[BROWSER_NOT_FOUND, BROWSER_FAILED, NO_DISPLAY, PROFILE_IN_USE, BROWSER_BUSY, BROWSER_LOST, TIMEOUT];
