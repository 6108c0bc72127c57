//! Tests of the executables, in one binary: shared dependencies (a web server with TLS, JSON Schema) are linked once.
//!
//! Tests that need more than this repository's own programs are ignored by default: MCP
//! conformance and the engines of pipelines here, and the agents' clients in a binary of their own (clients/main.rs).

mod agent;
mod browser;
mod call;
mod catalog;
mod codes;
mod completions;
mod connect;
mod contract;
mod docs;
mod doctor;
#[cfg(unix)]
mod encodings;
mod engines;
mod fetch;
mod files;
mod firefox;
#[cfg(unix)]
mod grid;
mod irregular;
mod log;
mod mcp;
mod multicall;
mod pipelines;
mod policy;
mod release;
mod roots;
mod search;
mod secrets;
mod section;
mod setup;
mod sources;
mod structure;
