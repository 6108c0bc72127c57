//! `ragmaker-call`: runs a tool by its name, with JSON arguments.
//!
//! Output and exit status are those of the tool. The host options are flags of this program.

use std::{ffi::OsString, process::ExitCode};

use argh::{ArgsInfo, FromArgs};
use ragmaker_registry::{TOOLS, arguments, fail, find, original::translated, print, unknown_tool};
use ragmaker_tool::{
    Approval, Error, HostOptions, Usage,
    arguments::read_json,
    host,
    json::{self, Charset},
};

/// Call a tool by its name, with its arguments as a JSON object.
#[derive(FromArgs, ArgsInfo)]
#[argh(help_triggers("-h", "--help"))]
struct Arguments {
    /// name of the tool, such as `read_file`
    #[argh(positional)]
    name: String,
    /// JSON object with the arguments (default: -, which reads it from standard input)
    #[argh(positional, default = "String::from(\"-\")")]
    arguments: String,
}

/// The command line.
pub fn usage() -> Usage {
    Usage::of_program::<Arguments>(host::ALL)
}

/// Runs the program with the command line `words`.
pub fn main(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    if let Some(exit) = ragmaker_browser::run_if_asked().or_else(ragmaker_registry::subprocess::run_if_asked) {
        return exit;
    }
    let (Arguments { name, arguments: json }, host) =
        match arguments(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"), words, host::ALL) {
            Ok(arguments) => arguments,
            Err(exit) => return exit,
        };
    std::panic::set_hook(Box::new(|_| ()));
    match call(&name, &json, &host) {
        Ok(text) => print(&text),
        Err(error) => fail(&error),
    }
}

/// Runs the tool with the object `json` and returns its output.
fn call(name: &str, json: &str, host: &HostOptions) -> Result<String, Error> {
    let tool = find(name).ok_or_else(|| unknown_tool(name, TOOLS))?;
    let (tool, arguments) = translated(tool, read_json(json)?);
    let answer = tool.call_approved(arguments, host, &Approval::Interactive)?;
    let mut out = vec![];
    // Writing a value to memory cannot fail.
    let _ = json::write(&answer, Charset::from_env(), &mut out);
    Ok(String::from_utf8_lossy(&out).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of a call in a project with the file `a.md`.
    fn called(name: &str, json: &str) -> Result<String, Error> {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a.md"), "one").unwrap();
        let host = HostOptions { project_root: root.path().to_str().map(str::to_owned), ..HostOptions::default() };
        call(name, json, &host)
    }

    #[test]
    fn a_tool_is_called_by_any_of_its_names() {
        for name in ["read_file", "read-file", "ragmaker-read-file"] {
            let answer = called(name, r#"{"path": "a.md"}"#).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(answer.contains(r#""content": "one""#) && answer.ends_with("}\n"), "{answer}");
        }
        let error = called("reed_file", "{}").unwrap_err();
        assert!(error.code() == "TOOL_NOT_FOUND" && format!("{error:?}").contains("read_file"), "{error:?}");
    }

    #[test]
    fn arguments_that_a_call_must_not_have_are_refused() {
        for (json, code) in [
            ("", "ARGUMENT_ERROR"),
            ("[]", "ARGUMENT_ERROR"),
            (r#"{"path": "a.md"} {}"#, "ARGUMENT_ERROR"),
            (r#"{"path": "a.md", "path": "b.md"}"#, "ARGUMENT_ERROR"),
            (r#"{"path": "a.md", "project_root": "/"}"#, "NOT_ALLOWED_IN_ARGUMENTS"),
            (r#"{"path": "../a.md"}"#, "PATH_NOT_ALLOWED"),
        ] {
            assert_eq!(called("read_file", json).unwrap_err().code(), code, "{json}");
        }
    }
}
