//! `ragmaker-agent`: an assistant for the terminal that uses the tools.
//!
//! A person sends a request. The model decides step by step which tools to call, receives every result and error, and
//! answers. The state machine ([`machine`]) and the rules of summaries ([`compaction`]) are pure functions; [`agent`]
//! performs their effects.

mod agent;
mod approval_questions;
mod approve;
mod arguments;
mod citations;
mod cli;
mod compaction;
mod conversation;
mod external_tools;
mod history;
mod interrupt;
mod known_keys;
mod log;
mod machine;
mod markdown;
mod piped;
mod prompts;
mod quotation_check;
mod redaction;
mod report;
mod rules;
mod sanitize;
mod screen;
mod session;
mod signal;
mod start;
mod summaries;
mod terminal;
mod tools;
mod trust;

pub use cli::{main, main_of_workflow, usage};
