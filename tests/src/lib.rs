//! Shared code of the tests: the test site, a harness that runs tools, and the examples of the documentation.

pub mod console;
pub mod discovery;
pub mod examples;
pub mod grid;
pub mod json;
pub mod mcp;
pub mod model;
pub mod pages;
pub mod run;
pub mod site;
pub mod tabs;
pub mod visitor;
