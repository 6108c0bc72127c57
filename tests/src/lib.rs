//! The executables from outside: a site for them to visit, and a harness that runs them.

pub mod discovery;
pub mod run;
pub mod site;
