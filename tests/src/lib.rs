//! The executables from outside: a site for them to visit, a harness that runs them, and
//! the examples that their documentation gives.

pub mod discovery;
pub mod examples;
pub mod mcp;
pub mod model;
pub mod run;
pub mod site;
pub mod tabs;
pub mod visitor;
