//! The pages of a site without a browser: saves one page, or every page of a section.
//!
//! - [`section`], [`refetch`]: the runs: a section from its start page, and the refetching of known pages
//! - [`state`], [`fetched_urls`]: the state of a run that its workers share, and the addresses that it has fetched
//! - [`plan`]: the addresses with which a section begins
//! - [`visit`]: one page of a run: its request, its content, its links
//! - [`load`], [`content`], [`refusal`]: a response as Markdown, with the browser if the plain page has little text; or
//!   the reason why it has no content
//! - [`listing`]: directory listings, which have links and no content
//! - [`publisher`]: the publisher's own Markdown, if it is as complete as the page
//! - [`site`], [`robots`], [`soft_404`], [`redirect`]: the requests to a site: robots.txt, delays, retries, its pages
//!   for missing addresses, where requests may lead
//! - [`scope`], [`seeds`], [`sitemap`], [`relations`]: the addresses of a section, and the pages and files that list
//!   them

mod content;
mod fetched_urls;
mod links;
mod listing;
mod load;
mod plan;
mod publisher;
mod redirect;
mod refetch;
mod refusal;
pub mod relations;
pub mod robots;
mod rules;
mod scope;
mod section;
mod seeds;
mod site;
pub mod sitemap;
mod soft_404;
mod state;
#[cfg(test)]
mod test_server;
mod visit;

pub use content::{Content, ContentKind};
pub use load::{Browser, LoadMethod, Loaded, UseBrowser, open};
pub use plan::{Planned, plan};
pub use refetch::Refetch;
pub use scope::Scope;
pub use section::{Fetched, START_REFUSED, SectionRequest, fetch};
pub use site::WAIT_TOO_LONG;
