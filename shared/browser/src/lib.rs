//! A session with a real Chromium: started or reached, visited page by page, closed.
//!
//! [`Visit`] is the entry: it reaches the session's browser, borrows a tab, goes to the page and takes
//! its content once that is there.
//!
//! | module | what it does | uses |
//! |---|---|---|
//! | [`visit`] | one call: browser, tab, page | `session`, `tab`, `navigation` |
//! | [`navigation`] | sends a tab to a page, and returns the page or the failure | `readiness`, `page` |
//! | [`readiness`] | waits until the page is ready; all time limits | `cdp` |
//! | [`page`], [`facts`], [`challenge`], [`login`] | what a page is: content, an error, a bot challenge, a sign-in form | |
//! | [`session`] | reaches, starts and closes browsers | `supervisor` |
//! | [`supervisor`], [`launch`] | the process that starts a browser and watches it | `webdriver`, `cdp` |
//! | [`tab`] | lends tabs to calls | `webdriver`, `cdp` |
//! | [`webdriver`], [`cdp`], [`endpoint`] | the two protocols, and where they are spoken | |
//! | [`profile`], [`process`], [`find`] | files, locks, processes, programs | |
//!
//! Nothing here knows of Markdown or catalogs.

mod cdp;
mod challenge;
pub mod codes;
mod endpoint;
mod error;
mod facts;
mod launch;
mod login;
mod navigation;
mod page;
mod process;
mod profile;
mod readiness;
mod session;
mod supervisor;
mod tab;
mod visit;
mod webdriver;

pub use navigation::Target;
pub use page::{Link, Page, Ready};
pub use profile::{DEFAULT_SESSION, Profile};
pub use ragmaker_project::programs as find;
pub use session::{IDLE_SECONDS, Opened, close, open};
pub use supervisor::run_if_asked;
pub use visit::Visit;
