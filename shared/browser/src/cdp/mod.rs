//! The DevTools protocol (CDP): a blocking client for the browser's own socket and for the sockets of its tabs.
//!
//! The browser is controlled with two protocols. Each is used where it is better:
//!
//! - **WebDriver** ([`crate::webdriver`]) launches the browser and prepares each tab, in a WebDriver session that
//!   outlives the calls. Remote grids speak this protocol.
//! - **CDP, a tab's socket** ([`TabSocket`]) navigates the tab, receives the page's network events and runs the
//!   scripts that read the page. Through ChromeDriver, a script that runs while a page loads doubles the load time
//!   of the page (`cargo xtask bench browser`), because the driver wraps every script in its own one and handles each
//!   event of the page. A new WebDriver session also waits for a page that is still loading, in any tab.
//! - **CDP, the browser's socket** ([`BrowserSocket`]) opens and closes tabs, answers dialogs and quits the browser.
//!   ChromeDriver serializes its commands and waits for pages that do not answer. The browser process does neither, so
//!   this socket works even if the driver or a page hangs.
//!
//! The client is part of this project and uses blocking calls: a call reads one page and does nothing else meanwhile,
//! so it needs neither an event loop nor threads.

mod browser;
#[cfg(test)]
pub(crate) mod fake_tab;
mod history;
mod socket;
mod tab;

pub(crate) use browser::{BrowserSocket, socket_of};
pub(crate) use socket::returned;
pub(crate) use tab::{HOST_ANSWERED, TabSocket};
