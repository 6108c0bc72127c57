//! `ragmaker-call`: any tool by its name, with JSON arguments on standard input.
//!
//! What it prints, and its exit status, are the tool's own. The host options are flags of this program.

use std::process::ExitCode;

use argh::{ArgsInfo, FromArgs};
use ragmaker_registry::{TOOLS, Tool, arguments, fail, find, print, unknown_tool};
use ragmaker_tool::{
    Error, HostOptions,
    arguments::read_json,
    json::{self, Charset},
};

/// Call a tool by its name, with its arguments as a JSON object on standard input.
#[derive(FromArgs, ArgsInfo)]
#[argh(help_triggers("-h", "--help"))]
struct Arguments {
    /// name of the tool, such as `read_file`
    #[argh(positional)]
    name: String,
    /// directory of the project, where relative paths start (default: the nearest project, else the working directory)
    #[argh(option)]
    project_root: Option<String>,
    /// another directory that may be read, and written with rw= before it; may be repeated
    #[argh(option)]
    allow_root: Vec<String>,
    /// knowledge base that may be read; may be repeated
    #[argh(option)]
    kb_root: Vec<String>,
    /// domain whose pages may be opened, with the hosts below it; may be repeated (default: any)
    #[argh(option)]
    allow_domain: Vec<String>,
    /// let pages be fetched from this machine and from private networks
    #[argh(switch)]
    allow_private: bool,
    /// conversation whose plan and reflections are kept: letters, digits, - and _ (default: default)
    #[argh(option)]
    conversation: Option<String>,
}

fn main() -> ExitCode {
    if let Some(exit) = ragmaker_browser::run_if_asked() {
        return exit;
    }
    let arguments: Arguments = match arguments(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")) {
        Ok(arguments) => arguments,
        Err(exit) => return exit,
    };
    std::panic::set_hook(Box::new(|_| ()));
    match call(arguments) {
        Ok(text) => print(&text),
        Err(error) => fail(&error),
    }
}

/// What the tool prints.
fn call(arguments: Arguments) -> Result<String, Error> {
    let Arguments { name, project_root, allow_root, kb_root, allow_domain, allow_private, conversation } = arguments;
    let host = HostOptions { project_root, allow_root, kb_root, allow_domain, allow_private, conversation };
    let tool = find(&name).ok_or_else(|| {
        let names: Vec<_> = TOOLS.iter().map(Tool::name).collect();
        unknown_tool(&name, &names.iter().map(String::as_str).collect::<Vec<_>>())
    })?;
    let answered = tool.call(read_json("-")?, &host)?;
    Ok(answered.plain.unwrap_or_else(|| {
        let mut out = vec![];
        // Writing a value to memory cannot fail.
        let _ = json::write(&answered.json, Charset::from_env(), &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }))
}
