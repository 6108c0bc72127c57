//! Start-up time and size of the executables.

use std::{fs, path::Path, process::Command};

use anyhow::Context;

use super::{
    executable,
    harness::{Subject, compare, verdict},
    release_build,
};
use crate::process::root;

/// read-file, with every decoder in it: 2 MB.
const SMALL: u64 = 2_000_000;
/// A tool that drives a browser: 5 MB.
const BROWSER: u64 = 5_000_000;
/// The executable with all tools: 25 MB.
const ALL: u64 = 25_000_000;
/// The maximum time of a file tool through `ragmaker`, as a ratio to the tool's own executable.
const THROUGH_RAGMAKER: f64 = 2.0;
/// The maximum time of read-file for a small file, as a ratio to `cat`.
const READ_FILE: f64 = 1.5;

/// The tools that have a goal.
const MEASURED: [&str; 9] = [
    "read-file",
    "browser-open",
    "browser-navigate",
    "browser-extract",
    "browser-look",
    "browser-act",
    "browser-state",
    "browser-close",
    "ragmaker",
];

pub(crate) fn run() -> anyhow::Result<()> {
    let built = release_build(&MEASURED)?;
    let folder = root().join("target/bench");
    fs::create_dir_all(&folder)?;
    let file = folder.join("small.txt");
    fs::write(&file, "A small file, read by two programs.\n".repeat(20))?;

    let mut cat = Command::new("cat");
    cat.arg(&file);
    let mut read = Command::new(built.join("ragmaker-read-file"));
    // A project of its own: git ignores the folder that it lies in.
    read.arg("--path").arg(&file).env("RAGMAKER_PROJECT_ROOT", &folder);
    let mut version = Command::new(built.join("ragmaker-browser-navigate"));
    version.arg("--version");
    // With no browser to start, what is left is the tool itself, down to the error it prints.
    let mut fails = Command::new(built.join("ragmaker-browser-navigate"));
    let nowhere = folder.join("no-such-browser");
    fails.args(["--url", "http://127.0.0.1:9/"]).env("RAGMAKER_CHROMIUM", &nowhere);
    fails.env("RAGMAKER_CHROMEDRIVER", &nowhere).env("RAGMAKER_PROJECT_ROOT", &folder);
    compare(
        "start",
        20,
        300,
        std::time::Duration::ZERO,
        vec![
            Subject::process("cat FILE", cat, 0),
            Subject::process("ragmaker-read-file --path FILE", read, 0).at_most(READ_FILE),
            Subject::process("ragmaker-browser-navigate --version", version, 0).at_most(1.5),
            Subject::process("ragmaker-browser-navigate, no browser there", fails, 1).at_most(1.5),
        ],
    )?;
    let read = |executable: &str, words: &[&str]| {
        let mut read = Command::new(built.join(executable));
        read.args(words).arg("--path").arg(&file).env("RAGMAKER_PROJECT_ROOT", &folder);
        read
    };
    compare(
        "start through ragmaker",
        20,
        300,
        std::time::Duration::ZERO,
        vec![
            Subject::process("ragmaker-read-file --path FILE", read("ragmaker-read-file", &[]), 0),
            Subject::process("ragmaker read-file --path FILE", read("ragmaker", &["read-file"]), 0)
                .at_most(THROUGH_RAGMAKER),
        ],
    )?;
    sizes(&built)
}

/// Prints the sizes beside their goals.
fn sizes(built: &Path) -> anyhow::Result<()> {
    println!("| executable | KB | goal |\n|---|---:|---|");
    for tool in MEASURED {
        let name = executable(tool);
        let path = built.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        let size = fs::metadata(&path).with_context(|| format!("{} is not built", path.display()))?.len();
        let goal = match tool {
            "read-file" => SMALL,
            "ragmaker" => ALL,
            _ => BROWSER,
        };
        let goal = format!("under {}: {}", goal / 1000, verdict(size < goal));
        println!("| {name} | {} | {goal} |", size / 1000);
    }
    println!();
    Ok(())
}
