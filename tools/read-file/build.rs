//! Links the executables on Linux for a quick start, which is most of what reading a small file takes: with
//! what unwinds the stack inside in place of in a library that has to be found and loaded, and for a
//! fixed address, for which nothing has to be adjusted.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |key: &str, value: &str| env::var(key).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-lib=gcc_eh");
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
