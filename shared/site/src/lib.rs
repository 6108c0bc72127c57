//! The pages of a site without a browser: one page, or every page of a section, saved.
//!
//! | module | what it does |
//! |---|---|
//! | [`section`], [`again`] | the runs: a section from its start, and known pages once more |
//! | [`done`] | what a run has fetched already |
//! | [`plan`] | which addresses a section would begin with |
//! | [`visit`] | one page of a run: what is asked for it, what is kept, where it leads |
//! | [`load`], [`content`], [`refusal`] | a response as Markdown, in the browser where the plain page is thin; or why it has none |
//! | [`publisher`] | the publisher's own Markdown, where it is as full as the page |
//! | [`site`], [`robots`], [`missing`], [`redirect`] | how the site is asked: robots.txt, pauses, repetitions, its page for what it does not have, redirects |
//! | [`scope`], [`seeds`], [`sitemap`], [`relations`] | which addresses are of a section, and who names them |

mod again;
mod content;
mod done;
mod load;
mod missing;
mod plan;
mod publisher;
mod redirect;
mod refusal;
pub mod relations;
pub mod robots;
mod scope;
mod section;
mod seeds;
mod site;
pub mod sitemap;
mod visit;

pub use again::Again;
pub use content::{Content, Kind};
pub use load::{Browser, Loaded, UseBrowser, Via, open};
pub use plan::{Planned, plan};
pub use scope::{Pattern, Scope};
pub use section::{Fetched, Wanted, fetch};
pub use site::WAIT_TOO_LONG;
