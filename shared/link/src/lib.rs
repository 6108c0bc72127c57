//! How executables are linked that are to start at once: called by their build scripts.

use std::env;

/// Has the executables of the package that is built find less to do when they start, on Linux with the GNU
/// C library: what unwinds the stack is inside, in place of in a library that has to be found and loaded,
/// and they are for a fixed address, for which no pointer has to be adjusted first.
///
/// A tool that reads a small file takes most of its time for this (`cargo xtask bench start`).
pub fn for_a_quick_start() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |key: &str, value: &str| env::var(key).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-lib=gcc_eh");
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
