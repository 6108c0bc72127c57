//! A temporary project for a tool's tests, and the tool running in it.
//!
//! Cargo gives the path of an executable only to the tests of its own package, as `env!("CARGO_BIN_EXE_…")`, so the
//! tests pass it to this crate. The crate is small, because the tests of every tool link it. The tests in tests/, which
//! run all tools, have their own harness with a watchdog (`ragmaker_tests::run`).
//!
//! ```no_run
//! # const TOOL: &str = "ragmaker-read-file";
//! use ragmaker_testkit::Tree;
//!
//! let tree = Tree::new(TOOL);
//! tree.write("notes/a.md", "one\n");
//! assert_eq!(tree.run(&["--path", "notes/a.md"])["content"], "one\n");
//! assert_eq!(tree.error(&["--path", "none"]).0, "FILE_NOT_FOUND");
//! ```

pub mod scripted;
pub mod speech;

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

/// A Word document with one paragraph: "Spring tide at Brest".
pub const LETTER: &[u8] = include_bytes!("letter.docx");

/// A PDF of one page, which names the Tidemark handbook. The tests' site serves the same file.
pub const HANDBOOK: &[u8] = include_bytes!("../../../tests/site/wiki/handbook.pdf");

/// Environment variables of the person who runs the tests that would change what a tool does.
const VARIABLES: [&str; 6] = [
    "RAGMAKER_PROJECT_ROOT",
    "RAGMAKER_ALLOWED_ROOTS",
    "RAGMAKER_KB_ROOTS",
    "RAGMAKER_ALLOW_BROAD_ROOTS",
    "RAGMAKER_ASCII_JSON",
    "RAGMAKER_EMBED_URL",
];

/// Says on standard error that a test or a part of it cannot run on this machine. On CI, which sets the variable `CI`,
/// this is a failure: a test that silently does nothing there would never fail.
///
/// # Panics
///
/// On CI.
pub fn not_run(reason: &str) {
    assert!(env::var_os("CI").is_none(), "this test cannot run on CI: {reason}");
    // The macro would write into the output that the test runner captures.
    let _ = writeln!(std::io::stderr(), "not run: {reason}");
}

/// A new project folder and one tool; the folder is removed when this is dropped.
#[derive(Debug)]
pub struct Tree {
    /// The project root, without symbolic links on the way to it.
    pub root: PathBuf,
    /// The tool's executable; a test of several tools changes it.
    pub executable: PathBuf,
    _holder: TempDir,
}

impl Tree {
    /// A new project with nothing but the `.ragmaker` marker, for the tool at `executable`.
    ///
    /// # Panics
    ///
    /// If the folder cannot be created.
    pub fn new(executable: impl Into<PathBuf>) -> Self {
        let (holder, root) = folder("project");
        fs::create_dir(root.join(".ragmaker")).expect("the folder is new and ours");
        Self { root, executable: executable.into(), _holder: holder }
    }

    /// Writes a file below the project root and creates the folders above it.
    ///
    /// # Panics
    ///
    /// If it cannot be written.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        write(&self.root, name, content)
    }

    /// The command line of the tool in the project root. Its trash is beside the project.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.executable);
        command.args(arguments).current_dir(&self.root).stdin(Stdio::null());
        for variable in VARIABLES {
            command.env_remove(variable);
        }
        let data = self.root.with_file_name("data");
        command.env("XDG_DATA_HOME", &data).env("LOCALAPPDATA", &data);
        command
    }

    /// Runs the tool, which has to succeed, and returns its answer.
    ///
    /// # Panics
    ///
    /// If it fails, writes to standard error or prints anything but one JSON value.
    pub fn run(&self, arguments: &[&str]) -> Value {
        let output = self.command(arguments).output().expect("the tool starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && stderr.is_empty(), "{arguments:?}: {stderr}");
        serde_json::from_slice(&output.stdout).expect("an answer is one JSON value")
    }

    /// Runs the tool, which has to fail, and returns the code of its error and the error.
    ///
    /// # Panics
    ///
    /// If it succeeds, writes to standard output or prints anything but one JSON error.
    pub fn error(&self, arguments: &[&str]) -> (String, Value) {
        let output = self.command(arguments).output().expect("the tool starts");
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success() && stdout.is_empty(), "{arguments:?}: {stdout}");
        let error: Value = serde_json::from_slice(&output.stderr).expect("an error is one JSON value");
        (error["error_code"].as_str().expect("an error has a code").to_owned(), error)
    }
}

/// A new folder called `name` in a temporary folder, which is removed with the first part of the pair.
/// The path has no symbolic links, so that it is the one that tools and `/proc` show.
///
/// # Panics
///
/// If it cannot be created.
pub fn folder(name: &str) -> (TempDir, PathBuf) {
    let holder = tempfile::Builder::new().prefix("ragmaker-").tempdir().expect("a temporary folder can be made");
    let path = ragmaker_fs::canonicalize(holder.path()).expect("the folder is there").join(name);
    fs::create_dir(&path).expect("the folder is new and ours");
    (holder, path)
}

/// Writes the file `name` below `root` and creates the folders above it.
///
/// # Panics
///
/// If it cannot be written.
pub fn write(root: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = root.join(name);
    fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("the folder can be made");
    fs::write(&path, content).expect("the file can be written");
    path
}

/// Writes the shell script `name` below `root`, with these lines, as a program.
///
/// Another process writes it. A process that a test of another thread starts at that moment would inherit the open file
/// from this one, and the system starts no program that is open for writing.
///
/// # Panics
///
/// If it cannot be written.
#[cfg(unix)]
pub fn script(root: &Path, name: &str, lines: &str) -> PathBuf {
    use std::{io::Write, process::Stdio};
    let path = root.join(name);
    fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("the folder can be made");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "cat > \"$0\" && chmod 755 \"$0\""]).arg(&path).stdin(Stdio::piped());
    let mut writer = shell.spawn().expect("the shell starts");
    let mut input = writer.stdin.take().expect("it was piped");
    input.write_all(format!("#!/bin/sh\n{lines}\n").as_bytes()).expect("the shell reads");
    drop(input);
    assert!(writer.wait().expect("the shell ends").success(), "cannot write {}", path.display());
    path
}

#[cfg(all(test, unix))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// `sh -c SCRIPT` in the place of a tool.
    fn shell(script: &str) -> (Tree, [&str; 2]) {
        (Tree::new("/bin/sh"), ["-c", script])
    }

    #[test]
    fn a_tool_runs_in_a_folder_that_ends_with_the_tree() {
        let (tree, script) =
            shell("printf '{\"at\": \"%s\", \"root\": \"%s\"}' \"$(pwd -P)\" \"$RAGMAKER_PROJECT_ROOT\"");
        let answer = tree.run(&script);
        assert_eq!((answer["at"].as_str(), answer["root"].as_str()), (tree.root.to_str(), Some("")));
        let written = tree.write("a/b.txt", "text");
        assert_eq!(fs::read_to_string(&written).unwrap(), "text");
        drop(tree);
        assert!(!written.exists());
    }

    #[test]
    fn an_error_is_its_code_and_the_whole() {
        let (tree, script) = shell("echo '{\"error_code\": \"GONE\", \"n\": 1}' >&2; exit 1");
        let (code, error) = tree.error(&script);
        assert_eq!((code.as_str(), &error["n"]), ("GONE", &1.into()));
    }

    #[test]
    fn a_run_that_ends_otherwise_fails_the_test() {
        let ends = |work: &dyn Fn()| catch_unwind(AssertUnwindSafe(work)).is_ok();
        for script in ["echo '{}'; echo note >&2", "echo '{}'; exit 1", "echo no JSON", "true"] {
            let (tree, script) = shell(script);
            assert!(!ends(&|| drop(tree.run(&script))), "{script:?}");
        }
        for script in ["echo '{\"error_code\": \"A\"}' >&2", "echo '{\"error_code\": \"A\"}' | tee /dev/stderr; exit 1"]
        {
            let (tree, script) = shell(script);
            assert!(!ends(&|| drop(tree.error(&script))), "{script:?}");
        }
    }
}
