//! `ragmaker-agent`: an assistant for the terminal that uses the tools.
//!
//! A person sends a request. The model decides step by step which tools to call, receives every result and error, and
//! answers. The state machine ([`machine`]) and the rules of summaries ([`compaction`]) are pure functions; [`agent`]
//! performs their effects.

mod agent;
mod approve;
mod arguments;
mod asking;
mod checked;
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
mod report;
mod rules;
mod screen;
mod session;
mod signal;
mod start;
mod summaries;
mod terminal;
mod trust;

pub use cli::main;
