//! A session with a real Chromium: started or reached, visited page by page, closed.
//!
//! [`Visit`] is the way in: it gets hold of the session's browser, borrows a tab, goes to the page
//! and takes what is wanted of it once its content is there. Behind it, from the outside in: [`session`]
//! reaches, starts and closes browsers; [`keeper`] is the process that watches over one; [`tab`]
//! lends tabs; [`driver`] speaks WebDriver and [`devtools`] to the browser itself; [`profile`] is
//! what lies on disk. Nothing here knows of Markdown or catalogs.

pub mod address;
mod challenge;
pub mod codes;
mod devtools;
mod driver;
pub mod find;
mod keeper;
mod network;
mod process;
mod profile;
mod session;
mod tab;
mod visit;

pub use keeper::run_if_asked;
pub use profile::{DEFAULT_SESSION, Profile};
pub use session::{IDLE_SECONDS, Opened, close, open};
pub use visit::{DEFAULT_TIMEOUT, Link, Page, Ready, Target, Visit};
