//! Every tool in one list: what it is called, how it is offered to agents, how it is run.
//!
//! [`TOOLS`] is the list; an [`Offer`] is a tool as a client's model sees it, from the
//! discovery.json that is built in; [`Tool::call`] runs one in this process. Programs that serve all
//! tools (`ragmaker-mcp`, `ragmaker-call`, `ragmaker-discover`) are made of these, so that they say
//! and do the same.

mod list;
mod offer;
mod program;
mod untrusted;

pub use list::{Runs, Speaks, TOOLS, Tool, entries, find};
pub use offer::{Format, Offer, offers};
pub use program::{arguments, fail, print};
