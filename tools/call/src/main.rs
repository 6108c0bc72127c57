//! `ragmaker-call`: any tool by its name, with JSON arguments on standard input.
//!
//! What it prints, and its exit status, are the tool's own.

use std::process::ExitCode;

use argh::FromArgs;
use ragmaker_tool::{
    ARGUMENT_ERROR, Error,
    arguments::{nearest, read_json},
    json::{self, Charset},
};
use ragmaker_toolbox::{Offer, arguments, fail, find, offers, print};

/// Call a tool by its name, with its arguments as a JSON object on standard input.
#[derive(FromArgs)]
#[argh(help_triggers("-h", "--help"))]
struct Arguments {
    /// name of the tool, such as `read_file`
    #[argh(positional)]
    name: String,
}

fn main() -> ExitCode {
    if let Some(exit) = ragmaker_browser::run_if_asked() {
        return exit;
    }
    let arguments = match arguments::<Arguments>(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")) {
        Ok(arguments) => arguments,
        Err(exit) => return exit,
    };
    std::panic::set_hook(Box::new(|_| ()));
    match call(&arguments.name) {
        Ok(text) => print(&text),
        Err(error) => fail(&error),
    }
}

/// What the tool prints.
fn call(name: &str) -> Result<String, Error> {
    let tool = find(name).ok_or_else(|| {
        let offers = offers();
        let names: Vec<&str> = offers.iter().map(Offer::name).collect();
        let error = ARGUMENT_ERROR.error(format!("there is no tool {name:?}")).detail("argument", name);
        let bare = name.replace('-', "_");
        let bare = bare.trim_start_matches("ragmaker_");
        // Every name begins with nothing.
        match nearest(bare, &names) {
            Some(nearest) if !bare.is_empty() => {
                error.remedy(format!("Did you mean {nearest}?")).detail("nearest", nearest)
            }
            _ => error.remedy(format!("The tools are {}.", names.join(", "))),
        }
    })?;
    let answered = tool.call(read_json("-")?)?;
    Ok(answered.plain.unwrap_or_else(|| {
        let mut out = vec![];
        // Writing a value to memory can not fail.
        let _ = json::write(&answered.json, Charset::from_env(), &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }))
}
