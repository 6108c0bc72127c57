//! `ragmaker setup`: finds or installs the browser, its driver and what reads PDFs.

use std::{
    ffi::OsString,
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use argh::{ArgsInfo, FromArgs};
use ragmaker_packages::{Installer, browser, missing};
use ragmaker_tool::Error;
use serde::Serialize;

use crate::form::Form;

/// Find Chromium, ChromeDriver and pdftotext, or install them with the system's package manager.
#[derive(FromArgs, ArgsInfo)]
#[argh(help_triggers("-h", "--help"))]
struct Arguments {
    /// install without a question
    #[argh(switch)]
    yes: bool,
    /// text (the default) or json
    #[argh(option, default = "Form::default()")]
    output: Form,
}

/// What is there now.
#[derive(Serialize)]
struct Answer {
    chromium: String,
    chromedriver: String,
    /// The programs that were installed just now.
    installed: Vec<&'static str>,
}

/// Runs the command.
pub(crate) fn main(words: Vec<OsString>) -> ExitCode {
    let parsed = ragmaker_registry::arguments("ragmaker setup", env!("CARGO_PKG_VERSION"), words, &[]);
    let (Arguments { yes, output }, _) = match parsed {
        Ok(parsed) => parsed,
        Err(exit) => return exit,
    };
    output.end(run(yes, output), |answer| {
        format!(
            "Chromium      {}\nChromeDriver  {}\nRun ragmaker doctor to check everything.\n",
            answer.chromium, answer.chromedriver
        )
    })
}

fn run(yes: bool, output: Form) -> Result<Answer, Error> {
    let is_person = output == Form::Text && io::stdin().is_terminal();
    let confirm = |line: &str| yes || (is_person && confirmed(line));
    let installer = Installer { confirm: &confirm, is_shown: output == Form::Text };
    let browser = browser(installer)?;
    let mut new = missing(&["pdftotext"], installer)?;
    if browser.is_new {
        new.splice(0..0, ["Chromium", "ChromeDriver"]);
    }
    let shown = |path: &std::path::Path| path.to_string_lossy().into_owned();
    Ok(Answer { chromium: shown(&browser.chromium), chromedriver: shown(&browser.chromedriver), installed: new })
}

/// Asks whether to run a command line as root.
fn confirmed(line: &str) -> bool {
    print!("Run this as root? [y/N]\n  {line}\n");
    let mut answer = String::new();
    let asked = io::stdout().flush().and_then(|()| io::stdin().read_line(&mut answer));
    asked.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}
