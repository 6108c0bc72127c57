//! `ragmaker-agent`: a terminal assistant over the tools.
//!
//! A person asks; a model decides step by step which tools to call, sees every result and error, and answers. The state
//! machine ([`machine`]) and the rules of summaries ([`compaction`]) are pure; [`agent`] performs what they ask for.

mod agent;
mod approve;
mod arguments;
mod citations;
mod clean;
mod cli;
mod compaction;
mod conversation;
mod further;
mod history;
mod interrupt;
mod log;
mod machine;
mod markdown;
mod offered;
mod piped;
mod prompts;
mod rules;
mod screen;
mod session;
mod start;
mod summaries;
mod terminal;
mod trust;

pub use cli::main;
