//! A session with a real Chromium: started or reached, visited page by page, closed.
//!
//! [`Browsing`] is a session within what the host allows, and [`Visit`] the entry: it reaches the session's
//! browser, borrows a tab, goes to the page and takes its content once that is there.
//!
//! | module | what it does | uses |
//! |---|---|---|
//! | [`visit`] | one call: browser, tab, page | `session`, `tab`, `navigation` |
//! | [`navigation`] | sends a tab to a page, and returns the page or the failure | `readiness`, `page` |
//! | [`readiness`] | waits until the page is ready; all time limits | `cdp` |
//! | [`loading`], [`block_list`] | which requests of a page are made | |
//! | [`page`], [`facts`], [`challenge`], [`login`] | the kind of a page: content, an error, a bot challenge, a sign-in form | |
//! | [`session`] | reaches, starts and closes browsers | `supervisor` |
//! | [`supervisor`], [`launch`] | the process that starts a browser and watches it | `webdriver`, `cdp` |
//! | [`tab`] | lends tabs to calls | `webdriver`, `cdp` |
//! | [`webdriver`], [`cdp`], [`endpoint`] | the two protocols, and where they are spoken | |
//! | [`profile`], [`process`] | a profile's files and locks; processes | |
//! | [`codes`], [`error`] | error codes; the errors of failed commands | |
//!
//! Nothing here knows of Markdown or catalogs. The terms:
//!
//! - **Profile**: the folder with a browser's cookies and our files about it. **Session**: its name, given
//!   by the caller.
//! - **Supervisor**: the process that starts a profile's browser, watches it, and closes it when it is idle.
//! - **Tab**: a page target of the browser that calls borrow, one call at a time. An **idle** tab was given
//!   back and keeps its page for the next call. An **abandoned** tab was borrowed by a process that died;
//!   an **orphan** was opened by one that died before it recorded the tab. The supervisor closes both.
//! - **Navigation target**: the page that a call asks for: a URL to load, a URL that a tab may show already,
//!   or the page that the session used last.
//! - **Current document**: the document that the tab shows. **Pending document**: the one that was requested
//!   and has not replaced it yet.
//! - **Dense** and **sparse** page: one with enough text to be read as it is, and one with little, for whose content
//!   a call waits longer.
//! - **Silent host**: a host of another site that has answered nothing in the time it was given.
//! - **Ready**: the page's content is there, by the rules of [`readiness`].

mod block_list;
mod cdp;
mod challenge;
pub mod codes;
mod endpoint;
mod error;
mod facts;
mod launch;
mod loading;
mod login;
mod navigation;
mod page;
mod process;
mod profile;
mod reach;
mod readiness;
mod session;
mod supervisor;
mod tab;
mod visit;
mod webdriver;

pub use block_list::{BLOCK_LIST_NOT_READABLE, BlockList};
pub use loading::Load;
pub use navigation::Target;
pub use page::{Link, Page, Ready};
pub use profile::{DEFAULT_SESSION, Profile};
pub use ragmaker_project::programs as find;
pub use session::{Held, IDLE_SECONDS, Opened, close, open};
pub use supervisor::run_if_asked;
pub use visit::{Browsing, Visit};
