//! The list of all tools, and the functions with which a host offers and runs them.
//!
//! A host is a program that serves tools to a model: `ragmaker-mcp`, `ragmaker-agent`, `ragmaker-call`,
//! `ragmaker-discover`. The facts that a host needs about a tool are in that tool's [`ragmaker_tool::Tool`]
//! implementation; this crate reads them.

#[cfg(test)]
mod advice_tests;
mod declaration;
mod groups;
mod list;
mod offered;
pub mod original;
mod profile;
mod program;
mod provenance;
pub mod resources;
pub mod stdin;
pub mod subprocess;
mod workflow;

pub use declaration::{DeclarationFormat, Selection, ToolDeclaration, declarations};
pub use groups::{GROUPS, Group};
pub use list::{TOOL_NOT_FOUND, TOOLS, Tool, entries, find, main, manuals, unknown_tool, usages};
pub use offered::OfferedTools;
pub use profile::{PROFILES, Profile};
pub use program::{arguments, arguments_with_help, fail, print};
pub use provenance::notice;
pub use workflow::{WORKFLOWS, Workflow, workflow};
