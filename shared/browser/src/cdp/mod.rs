//! The DevTools protocol (CDP): a blocking client for the browser's own socket and for those of its tabs.
//!
//! Two protocols reach one browser, each for what it does better:
//!
//! - **WebDriver** ([`crate::webdriver`]) launches the browser and prepares each tab, in a session that
//!   outlives the calls; it is the protocol that remote grids speak.
//! - **CDP, a tab's socket** ([`TabSocket`]) sends the tab to its page, follows the page's network and
//!   runs the scripts that read it. Through ChromeDriver, a script that runs while a page loads doubles
//!   the page's load (`cargo xtask bench browser`): the driver wraps every script in its own and follows
//!   each event of the page. And a new WebDriver session waits for a page that is still loading, in
//!   any tab.
//! - **CDP, the browser's socket** ([`BrowserSocket`]) opens and closes tabs, answers dialogs and asks
//!   the browser to quit. The driver serializes its commands and waits for pages that do not answer;
//!   the browser process does neither, so this works even if the driver or a page hangs.
//!
//! The client is our own because it blocks: a call reads one page and does nothing else meanwhile,
//! which needs neither an event loop nor threads.

mod browser;
mod socket;
mod tab;

pub(crate) use browser::{BrowserSocket, socket_of};
pub(crate) use socket::TIMEOUT;
pub(crate) use tab::{HOST_ANSWERED, TabSocket};
