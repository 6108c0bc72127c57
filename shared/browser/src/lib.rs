//! Browser sessions: starts or connects to a real Chromium, visits pages in it, and closes it.
//!
//! [`RestrictedSession`] is a session with the restrictions of the host. [`Visit`] is the main entry: it connects to
//! the session's browser, borrows a tab, navigates to the page, waits until the page is ready, and returns its content.
//!
//! | module | what it does | uses |
//! |---|---|---|
//! | [`visit`] | one call: browser, tab, page | `restricted_session`, `tab`, `navigation` |
//! | [`restricted_session`] | a session with the restrictions of the host | `session`, `remote` |
//! | [`screenshot`], [`capture`] | screenshots and PDFs of a page | `elements`, `navigation` |
//! | [`navigation`] | sends a tab to a page, and returns the page or the failure | `readiness`, `page` |
//! | [`limits`] | all time limits | |
//! | [`readiness`] | waits until the page is ready | `cdp` |
//! | [`loading`], [`block_list`] | which requests of a page are made and which are blocked | |
//! | [`page`], [`facts`], [`challenge`], [`login`] | what a page is: content, error, challenge, sign-in form | |
//! | [`act`], [`expansion`], [`consent`] | steps in a page; expansion; consent banners | `elements`, `navigation` |
//! | [`elements`] | finds and lists the elements of a page, by role and name | `cdp` |
//! | [`snapshots`] | the last look at each page, with which the next one is compared | `elements`, `profile` |
//! | [`download`] | files in place of pages | `navigation` |
//! | [`responses`] | the JSON answers that a page receives | |
//! | [`storage`] | the form of a session's state, and what can be done with it | `cookie`, `profile` |
//! | [`state`] | a session's cookies and local storage | `restricted_session`, `storage`, `tab` |
//! | [`session`] | reaches, starts and closes browsers | `supervisor` |
//! | [`supervisor`], [`launch`] | the process that starts a browser and watches it | `webdriver`, `cdp` |
//! | [`kind`], [`firefox`] | which browser it is; launching Firefox | `webdriver` |
//! | [`tab`] | lends tabs to calls | `webdriver`, `cdp` |
//! | [`webdriver_only`] | a visit by WebDriver commands alone, without DevTools | `webdriver`, `page` |
//! | [`remote`], [`remote_session`] | browsers of other machines, and their sessions | `session`, `webdriver`, `cdp` |
//! | [`webdriver`], [`cdp`], [`endpoint`] | the two protocols, and the URLs of their servers | |
//! | [`profile`], [`process`] | a profile's files and locks; processes | |
//! | [`codes`], [`error`] | error codes; the errors of failed commands | |
//!
//! This crate does not depend on Markdown or catalogs. The terms:
//!
//! - **Profile**: the folder with a browser's cookies and the session's own files. **Session**: the name of a profile,
//!   given by the caller.
//! - **Supervisor**: the process that starts a profile's browser, watches it, and closes it when it is idle.
//! - **Tab**: a page target of the browser. Calls borrow tabs, one call at a time. An **idle** tab was returned and
//!   keeps its page for the next call. An **abandoned** tab was borrowed by a process that died. An **orphan** was
//!   opened by a process that died before it recorded the tab. The supervisor closes abandoned tabs and orphans.
//! - **Navigation target**: the page that a call asks for: a URL to load, a URL that a tab may show already,
//!   or the page that the session used last.
//! - **Current document**: the document that the tab shows. **Pending document**: the one that was requested
//!   and has not replaced it yet.
//! - **Dense page**: a page with enough text. **Sparse page**: a page with little text; a call waits longer for its
//!   content.
//! - **Silent host**: a host of another site that has not answered within its time limit.
//! - **Ready**: the content of the page is complete by the rules of [`readiness`].

mod act;
mod block_list;
mod capture;
mod cdp;
mod challenge;
pub mod codes;
mod consent;
mod cookie;
mod download;
mod elements;
mod endpoint;
mod error;
mod expansion;
mod facts;
mod firefox;
mod kind;
mod launch;
mod limits;
mod loading;
mod login;
mod navigation;
mod page;
mod paused_response;
mod process;
mod profile;
mod readiness;
mod remote;
mod remote_session;
mod request_policy;
mod responses;
mod restricted_session;
mod screenshot;
mod session;
mod snapshots;
mod state;
mod storage;
mod supervisor;
mod tab;
mod visit;
mod webdriver;
mod webdriver_only;

pub use act::{ActResult, Changes, Dialog, Download, Step};
pub use block_list::{BLOCK_LIST_NOT_READABLE, BlockList};
pub use capture::{Capture, Captured, Screenshot, ScreenshotArea, ScreenshotFormat, ScreenshotRequest};
pub use challenge::Challenge;
pub use consent::{Consent, ConsentOutcome};
pub use cookie::{Cookie, cookies_by_domain};
pub use elements::{ElementScope, ListedElement};
pub use expansion::{Expand, Expanded};
pub use kind::is_firefox;
pub use loading::Load;
pub use navigation::Target;
pub use page::{Link, LoadedPage, PageFile, Ready};
pub use paused_response::name_in_url;
pub use profile::{DEFAULT_SESSION, Profile};
pub use ragmaker_project::programs as find;
pub use remote_session::endpoint;
pub use request_policy::RequestRule;
pub use responses::{JsonResponse, JsonResponses};
pub use restricted_session::RestrictedSession;
pub use session::{BrowserReservation, IDLE_SECONDS, Opened, close, open};
pub use snapshots::{LookChanges, LookRequest};
pub use storage::{OriginStorage, StorageItem, StorageState};
pub use supervisor::run_if_asked;
pub use visit::{PageElements, Visit};
