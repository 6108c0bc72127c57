//! `ragmaker man`: the man pages of `ragmaker` and of each of its commands.

use std::{ffi::OsString, path::PathBuf, process::ExitCode};

use argh::{ArgsInfo, FromArgs};
use clap::Command;
use clap_mangen::{
    Man,
    roff::{Roff, bold, roman},
};
use ragmaker_project::VARIABLES;
use ragmaker_registry::{find, manuals};
use ragmaker_tool::{ARGUMENT_ERROR, Error, OUTPUT_ERROR, Usage};

use super::{Program, files, whole};
use crate::form::{Form, arguments};

/// Print the man page of ragmaker, or of one of its commands.
#[derive(FromArgs, ArgsInfo)]
#[argh(help_triggers("-h", "--help"))]
struct Arguments {
    /// the command whose page is printed (default: ragmaker itself)
    #[argh(positional)]
    command: Option<String>,
    /// folder in which to write all pages, or that of the command; created if missing
    #[argh(option)]
    dir: Option<PathBuf>,
}

/// The command line.
pub(crate) fn usage() -> Usage {
    Usage::of_program::<Arguments>(&[])
}

/// Runs the command, for `programs`.
pub(crate) fn main(words: Vec<OsString>, programs: &[Program]) -> ExitCode {
    match arguments("man", words, &[]) {
        Ok((arguments, _)) => Form::Text.end(run(&arguments, programs), Clone::clone),
        Err(exit) => exit,
    }
}

fn run(arguments: &Arguments, programs: &[Program]) -> Result<String, Error> {
    let failed = |error: std::io::Error| OUTPUT_ERROR.error(format!("cannot write a page: {error}"));
    let named = match arguments.command.as_deref() {
        None | Some("ragmaker") => None,
        Some(name) => Some(named(name, programs)?),
    };
    let Some(dir) = &arguments.dir else {
        let page = named.map_or_else(|| overview(programs), page);
        return page.map(|page| String::from_utf8_lossy(&page).into_owned()).map_err(failed);
    };
    let has_overview = named.is_none();
    let chosen: &[Program] = match (named, &arguments.command) {
        (Some(program), _) => std::slice::from_ref(program),
        (None, Some(_)) => &[],
        (None, None) => programs,
    };
    let mut pages = vec![];
    if has_overview {
        pages.push(("ragmaker.1".to_owned(), overview(programs).map_err(failed)?));
    }
    for program in chosen {
        pages.push((format!("{}.1", program.executable()), page(program).map_err(failed)?));
    }
    files::write(dir, &pages)
}

/// The command `name`, or `ragmaker-name`, or another name of a tool.
fn named<'a>(name: &str, programs: &'a [Program]) -> Result<&'a Program, Error> {
    let tool = find(name).map(|tool| tool.command);
    let is_meant = |program: &&Program| {
        program.name == name || program.executable() == name || Some(&*program.executable()) == tool
    };
    programs.iter().find(is_meant).ok_or_else(|| {
        ARGUMENT_ERROR
            .error(format!("ragmaker has no command {name:?}"))
            .remedy("Run ragmaker without arguments to see its commands.")
            .detail("argument", "command")
            .detail("value", name)
    })
}

/// The page of a command.
fn page(program: &Program) -> std::io::Result<Vec<u8>> {
    let name = program.executable();
    let mut roff = Roff::new();
    // Only tools have the list of errors of the contract.
    if let Some(manual) = manuals().into_iter().find(|manual| manual.command == name) {
        section(&mut roff, "ERRORS", manual.errors.iter().copied());
    }
    let (done, failed) = match &*program.name {
        "doctor" => ("No check found a problem.", "A check found a problem."),
        _ => ("The work was done.", "The work failed. The error is on standard error."),
    };
    let refused = "The arguments cannot be used. The error is on standard error.";
    section(&mut roff, "EXIT STATUS", [("0", done), ("1", failed), ("2", refused)]);
    roff.control("SH", ["SEE ALSO"]).text([bold("ragmaker"), roman("(1)")]);
    let synopsis = synopsis(program);
    rendered(program.command(&name).override_usage(synopsis), &roff)
}

/// The page of `ragmaker`.
fn overview(programs: &[Program]) -> std::io::Result<Vec<u8>> {
    let mut roff = Roff::new();
    section(&mut roff, "ENVIRONMENT", VARIABLES.iter().map(|variable| (variable.name, variable.meaning)));
    let about = "ragmaker is one executable with all tools with which an agent gathers knowledge from the web and answers \
                 from it. ragmaker NAME does what the executable ragmaker-NAME does. Started under the name of a tool, it \
                 is that tool. Without a command it lists the commands.";
    let usage = "ragmaker COMMAND [ARGUMENT]...\nragmaker [-h|-V]";
    let command = whole(programs).long_about(about).override_usage(usage).subcommand_help_heading("COMMANDS");
    rendered(command, &roff)
}

/// The forms of a call, with what is required.
fn synopsis(program: &Program) -> String {
    let form = |name: &str| program.usage.synopsis(name);
    let command = form(&format!("ragmaker {}", program.name));
    if program.is_executable { format!("{command}\n{}", form(&program.executable())) } else { command }
}

/// Adds a section of terms and their meanings.
fn section<'a>(roff: &mut Roff, title: &str, items: impl IntoIterator<Item = (&'a str, &'a str)>) {
    roff.control("SH", [title]);
    for (term, meaning) in items {
        roff.control("TP", []).text([bold(term)]).text([roman(meaning)]);
    }
}

/// The page of `command`, with the sections in `more` after its own.
fn rendered(command: Command, more: &Roff) -> std::io::Result<Vec<u8>> {
    let has_commands = command.has_subcommands();
    let version = concat!("RAGMaker ", env!("CARGO_PKG_VERSION"));
    // Without a date, its field has to be quoted: otherwise the version would be in its place.
    let man = Man::new(command).date("\"\"").source(version).manual("RAGMaker manual");
    let mut page = vec![];
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_commands {
        man.render_subcommands_section(&mut page)?;
    }
    more.to_writer(&mut page)?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs() -> Vec<Program> {
        let program = |name: &str, is_executable, usage| Program { name: name.to_owned(), is_executable, usage };
        let manuals = manuals();
        let place = manuals.iter().position(|manual| manual.command == "ragmaker-read-file").unwrap();
        let read = ragmaker_registry::usages().swap_remove(place);
        vec![program("read-file", true, read), program("man", false, usage())]
    }

    fn page_of(name: &str) -> String {
        let arguments = Arguments { command: Some(name.to_owned()), dir: None };
        run(&arguments, &programs()).unwrap()
    }

    #[test]
    fn a_command_is_found_by_each_of_its_names() {
        let programs = programs();
        for name in ["read-file", "ragmaker-read-file", "read_file"] {
            assert_eq!(named(name, &programs).unwrap().name, "read-file", "{name}");
        }
        for name in ["", "read", "\u{6f6e}"] {
            let error = named(name, &programs).err().unwrap();
            assert!(error.is(ARGUMENT_ERROR) && error.details()["value"] == name, "{error}");
        }
    }

    #[test]
    fn a_synopsis_shows_what_is_required() {
        let programs = programs();
        assert_eq!(synopsis(&programs[0]), "ragmaker read-file [OPTION]... PATH\nragmaker-read-file [OPTION]... PATH");
        assert_eq!(synopsis(&programs[1]), "ragmaker man [OPTION]... [COMMAND]");
    }

    #[test]
    fn a_page_of_a_tool_has_its_errors_and_exit_statuses() {
        let page = page_of("read-file");
        for part in [".TH", "SYNOPSIS", "ERRORS", "FILE_NOT_FOUND", "EXIT STATUS", "SEE ALSO"] {
            assert!(page.contains(part), "{part}");
        }
        let own = page_of("man");
        assert!(own.contains("SYNOPSIS") && own.contains("EXIT STATUS") && !own.contains("ERRORS"));
        let overview = page_of("ragmaker");
        assert!(
            overview.contains("ENVIRONMENT")
                && overview.contains("RAGMAKER_PROJECT_ROOT")
                && overview.contains("COMMANDS")
        );
    }

    #[test]
    fn every_page_is_a_file() {
        let folder = tempfile::tempdir().unwrap();
        run(&Arguments { command: None, dir: Some(folder.path().join("man1")) }, &programs()).unwrap();
        let mut names: Vec<_> =
            std::fs::read_dir(folder.path().join("man1")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["ragmaker-man.1", "ragmaker-read-file.1", "ragmaker.1"]);
    }
}
