//! The executables from outside: a site for them to visit, and a harness that runs them.

pub mod site;
