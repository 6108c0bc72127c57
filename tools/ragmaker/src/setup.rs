//! `ragmaker setup`: finds or installs the browser, its driver and what reads PDFs.

use std::{
    ffi::OsString,
    io::{self, IsTerminal},
    path::Path,
    process::ExitCode,
};

use argh::{ArgsInfo, FromArgs};
use ragmaker_packages::{Installer, browser, missing};
use ragmaker_project::programs::on_path;
use ragmaker_tool::{Error, Usage, choice};
use serde::Serialize;

use crate::form::{FORMS, Form, arguments, ask};

/// Find Chromium, ChromeDriver and pdftotext, or install them with the system's package manager. Where it has no browser,
/// Chrome for Testing is downloaded.
#[derive(FromArgs, ArgsInfo)]
#[argh(help_triggers("-h", "--help"))]
struct Arguments {
    /// install without confirmation, also with sudo
    #[argh(switch)]
    yes: bool,
    /// download the current Chrome for Testing for yourself alone, also if there is a browser
    #[argh(switch)]
    download: bool,
    /// text (the default) or json
    #[argh(option, default = "Form::default()", from_str_fn(choice))]
    output: Form,
}

/// The installed programs.
#[derive(Serialize)]
struct Answer {
    chromium: String,
    chromedriver: String,
    /// Null if it could not be installed; then PDFs are not read.
    pdftotext: Option<String>,
    /// The programs that were installed just now.
    installed: Vec<&'static str>,
}

/// The command line.
pub(crate) fn usage() -> Usage {
    Usage::of_program::<Arguments>(&[]).with_choices("--output", FORMS)
}

/// Runs the command.
pub(crate) fn main(words: Vec<OsString>) -> ExitCode {
    let (Arguments { yes, download, output }, _) = match arguments("setup", words, &[]) {
        Ok(parsed) => parsed,
        Err(exit) => return exit,
    };
    output.end(run(yes, download, output), |answer| {
        let pdftotext = answer.pdftotext.as_deref().unwrap_or("not installed: PDFs are not read");
        format!(
            "Chromium      {}\nChromeDriver  {}\npdftotext     {pdftotext}\nRun ragmaker doctor to check everything.\n",
            answer.chromium, answer.chromedriver
        )
    })
}

fn run(yes: bool, download: bool, output: Form) -> Result<Answer, Error> {
    let is_person = output == Form::Text && io::stdin().is_terminal();
    let confirm = |line: &str| yes || (is_person && ask(&format!("Do this?\n  {line}\n")).unwrap_or(false));
    let installer = Installer { confirm: &confirm, is_shown: output == Form::Text };
    let browser = browser(installer, download)?;
    let mut new = if browser.is_new { vec!["Chromium", "ChromeDriver"] } else { vec![] };
    // Without it, everything but PDFs works: the browser that was just installed is the answer.
    new.extend(missing(&["pdftotext"], installer).unwrap_or_default());
    let shown = |path: &Path| path.to_string_lossy().into_owned();
    Ok(Answer {
        chromium: shown(&browser.chromium),
        chromedriver: shown(&browser.chromedriver),
        pdftotext: on_path("pdftotext").map(|path| shown(&path)),
        installed: new,
    })
}
