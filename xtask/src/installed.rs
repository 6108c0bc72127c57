//! Programs of other projects that tasks need: the one on PATH, or else built once under target/tools.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context;
use ragmaker_project::programs::on_path;

use crate::{
    cargo::cargo,
    process::{quiet, root},
};

/// The program of the package `name`, which is installed in this version if there is none on PATH.
///
/// It runs for seconds: optimizing it would take longer than it saves.
pub(crate) fn program(name: &str, version: &str, features: &[&str]) -> anyhow::Result<PathBuf> {
    if let Some(found) = on_path(name) {
        return Ok(found);
    }
    let folder = root().join("target/tools");
    let program = folder.join("bin").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    if !is_current(&program, version) {
        let mut install = cargo(&["install", "--locked", "--debug", "--version", version, "--root"]);
        install.arg(&folder).args(features).arg(name).env_remove("CARGO_TARGET_DIR");
        quiet(&format!("installing {name}"), &mut install)
            .with_context(|| format!("{name} {version} is missing and cannot be installed: put it on PATH"))?;
    }
    Ok(program)
}

/// Whether it prints this version, as `NAME VERSION` or `NAME vVERSION`.
fn is_current(program: &Path, version: &str) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| names(&String::from_utf8_lossy(&output.stdout), version))
}

fn names(printed: &str, version: &str) -> bool {
    printed.split_whitespace().any(|word| word.strip_prefix('v').unwrap_or(word) == version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_not_taken_for_the_wanted_one() {
        for (printed, is_it) in [
            ("mdbook v0.4.1\n", true),
            ("cargo-deny 0.4.1", true),
            ("mdbook v0.4.10", false),
            ("mdbook v10.4.1", false),
        ] {
            assert_eq!(names(printed, "0.4.1"), is_it, "{printed}");
        }
    }
}
