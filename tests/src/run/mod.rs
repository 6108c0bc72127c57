//! Runs the built executables as a user would, and checks every run against the contract.
//!
//! A test makes a [`Project`], which is a folder of its own, and runs tools in it:
//!
//! ```no_run
//! # use ragmaker_tests::run::Project;
//! let project = Project::new();
//! let read = project.tool("read-file").args(["--path", "notes.md"]).run();
//! assert_eq!(read.answer()["total"], 3);
//! ```

mod executables;
mod output;
mod processes;
mod project;
mod tool;

pub use self::{
    executables::executable,
    output::Output,
    processes::{Process, processes},
    project::Project,
    tool::Tool,
};
