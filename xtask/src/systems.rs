//! Windows and macOS: every crate is checked for them by the compiler, and the file tools run under Wine.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::ensure;
use ragmaker_project::programs::on_path;

use crate::{
    cargo::cargo,
    process::{quiet, root, run_visibly},
};

/// The target whose executables run under Wine.
const WINDOWS: &str = "x86_64-pc-windows-gnu";

/// The targets that are checked.
const TARGETS: [&str; 2] = [WINDOWS, "aarch64-apple-darwin"];

/// The C compiler and linker for that target.
const COMPILER: &str = "x86_64-w64-mingw32-gcc";

/// The packages that are not installed on other systems.
const ONLY_HERE: [&str; 5] = ["xtask", "xtask-dist", "xtask-generate", "ragmaker-tests", "ragmaker-testkit"];

/// The tools that run under Wine.
const FILE_TOOLS: [&str; 13] = [
    "ask-directory",
    "create-directory",
    "delete-directory",
    "delete-file",
    "find-files",
    "list-directory",
    "modify-file-content",
    "move",
    "project-info",
    "read-file",
    "read-many-files",
    "search-file-content",
    "write-file",
];

/// The crates whose unit tests run under Wine.
const LIBRARIES: [&str; 3] = ["ragmaker-fs", "ragmaker-project", "ragmaker-files"];

/// Checks the libraries and executables of the workspace for each target that can be had.
///
/// `cargo check` links nothing, so it needs neither a linker nor an SDK. The C sources of ring and tree-sitter are not
/// compiled: their build scripts get a compiler that does nothing. Both targets take 270 s of processor time from an empty
/// folder, which two cores do in less than three minutes.
pub(crate) fn check() -> anyhow::Result<()> {
    for target in TARGETS {
        if let Err(reason) = add(target) {
            println!("not checked for {target}: {reason}");
            continue;
        }
        let started = Instant::now();
        let mut check = cargo(&["check", "--workspace", "--lib", "--bins", "--locked", "--quiet", "--target", target]);
        check.args(ONLY_HERE.iter().flat_map(|package| ["--exclude", package]));
        for program in ["TARGET_CC", "TARGET_CXX", "TARGET_AR"] {
            check.env(program, "true");
        }
        // Where there is no SDK, build scripts ask for one otherwise.
        check.env("SDKROOT", root().join("target"));
        run_visibly(&mut check)?;
        println!("checked for {target} in {:.0} s", started.elapsed().as_secs_f64());
    }
    Ok(())
}

/// A library that Wine before version 9 lacks: the random numbers of Rust's standard library.
const RANDOM_NUMBERS: &str = "
unsigned char __stdcall SystemFunction036(void *, unsigned long);
__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *data, unsigned long long size) {
    return SystemFunction036(data, (unsigned long) size);
}
";

/// Runs the tests of the file tools with their executables for Windows under Wine.
pub(crate) fn wine() -> anyhow::Result<()> {
    if let Err(reason) = add(WINDOWS) {
        anyhow::bail!("nothing ran under Wine: {reason}");
    }
    for (program, package) in [(COMPILER, "gcc-mingw-w64-x86-64"), ("wine", "wine64 and wine")] {
        ensure!(
            on_path(program).is_some(),
            "nothing ran under Wine: {program} is missing; on Debian, install {package}"
        );
    }
    let started = Instant::now();
    let prefix = root().join("target/wine");
    let for_wine = |command: &mut Command| {
        command.env("WINEPREFIX", &prefix).env("WINEDEBUG", "-all").env_remove("DISPLAY");
    };
    prepare(&prefix, &for_wine)?;
    let cargo = |arguments: &[&str], packages: &mut dyn Iterator<Item = String>| {
        let mut cargo = cargo(arguments);
        cargo.args(["--locked", "--target", WINDOWS]);
        cargo.args(packages.flat_map(|package| ["--package".to_owned(), package]));
        cargo.env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", "wine");
        for_wine(&mut cargo);
        run_visibly(&mut cargo)
    };
    cargo(&["build", "--bins"], &mut FILE_TOOLS.iter().map(|tool| format!("ragmaker-{tool}")))?;
    cargo(&["test", "--lib"], &mut LIBRARIES.iter().map(|&library| library.to_owned()))?;
    cargo(&["test", "--test", "windows"], &mut ["ragmaker-testkit".to_owned()].into_iter())?;
    println!("tested under Wine in {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// Makes the folder of Wine's drives, unless it is there.
fn prepare(prefix: &Path, for_wine: &dyn Fn(&mut Command)) -> anyhow::Result<()> {
    let library = prefix.join("drive_c/windows/system32/bcryptprimitives.dll");
    if library.exists() {
        return Ok(());
    }
    let mut boot = Command::new("wine");
    for_wine(&mut boot);
    quiet("preparing Wine", boot.args(["wineboot", "--init"]))?;
    if library.exists() {
        return Ok(());
    }
    let source = prefix.join("bcryptprimitives.c");
    fs::write(&source, RANDOM_NUMBERS)?;
    run_visibly(Command::new(COMPILER).args(["-shared", "-o"]).arg(library).arg(source).arg("-ladvapi32"))
}

/// Adds the standard library of `target`, unless it is there; otherwise the reason why it cannot be had.
fn add(target: &str) -> Result<(), String> {
    let rustup = |arguments: &[&str]| Command::new("rustup").args(arguments).stdin(Stdio::null()).output();
    let Ok(installed) = rustup(&["target", "list", "--installed"]) else {
        return Err("there is no rustup that adds its standard library".to_owned());
    };
    if String::from_utf8_lossy(&installed.stdout).lines().any(|line| line == target) {
        return Ok(());
    }
    match rustup(&["target", "add", target]) {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let message = String::from_utf8_lossy(&output.stderr);
            Err(format!("rustup cannot add it: {}", message.lines().last().unwrap_or_default()))
        }
        Err(error) => Err(format!("rustup cannot be started: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packages_of_the_lists_are_in_the_workspace() {
        let named = |folder: &str| {
            let file = root().join(folder).join("Cargo.toml");
            let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let name = text.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
            name.unwrap_or_default().to_owned()
        };
        for tool in FILE_TOOLS {
            assert_eq!(named(&format!("tools/{tool}")), format!("ragmaker-{tool}"));
        }
        for library in LIBRARIES {
            assert_eq!(named(&format!("shared/{}", library.trim_start_matches("ragmaker-"))), library);
        }
        let only_here = ["xtask", "xtask/dist", "xtask/generate", "tests", "shared/testkit"].map(named);
        assert_eq!(only_here, ONLY_HERE);
    }
}
