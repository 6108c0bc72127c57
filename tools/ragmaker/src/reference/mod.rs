//! The command lines of all programs as a [`clap::Command`], from which completions and man pages are made.
//!
//! argh, which defines the arguments, writes neither. clap parses nothing here.

pub(crate) mod completions;
mod files;
pub(crate) mod man;

use clap::{Arg, ArgAction, Command, builder::PossibleValuesParser};
use ragmaker_tool::{Flag, Usage, Word, placeholder};

/// A command of `ragmaker`.
pub(crate) struct Program {
    /// The name, as in `ragmaker NAME`.
    pub(crate) name: String,
    /// Whether `ragmaker-NAME` is a command as well.
    pub(crate) is_executable: bool,
    /// Its command line.
    pub(crate) usage: Usage,
}

impl Program {
    /// The name of its executable, and of its man page.
    fn executable(&self) -> String {
        format!("ragmaker-{}", self.name)
    }

    /// The command line under the name `name`.
    fn command(&self, name: &str) -> Command {
        let Usage { about, words, options, host_options } = &self.usage;
        let heading = |flag: &Flag| option(flag).help_heading("Host options");
        empty(name)
            .about(brief(about).to_owned())
            .long_about(about.clone())
            .args(options.iter().map(option))
            .args(words.iter().enumerate().map(|(index, word)| positional(word).index(index + 1)))
            .args(host_options.iter().map(heading))
    }
}

/// `ragmaker` with all of its commands.
fn whole(programs: &[Program]) -> Command {
    empty(env!("CARGO_PKG_NAME"))
        .about("one executable with all tools")
        .arg(Arg::new("help").short('h').long("help").action(ArgAction::SetTrue).help("list the commands"))
        .arg(Arg::new("version").short('V').long("version").action(ArgAction::SetTrue).help("print the version"))
        .subcommands(programs.iter().map(|program| program.command(&program.name)))
        .subcommand(empty("help").about("Show the arguments of a command").arg(chosen(
            Arg::new("command").value_name("COMMAND").help("the command"),
            &programs.iter().map(|program| program.name.clone()).collect::<Vec<_>>(),
        )))
}

/// A command without arguments.
fn empty(name: &str) -> Command {
    let command = Command::new(name.to_owned()).version(env!("CARGO_PKG_VERSION"));
    command.disable_help_flag(true).disable_version_flag(true).disable_help_subcommand(true)
}

fn option(flag: &Flag) -> Arg {
    // A word that gives this option has its name without the hyphens.
    let name = flag.long.trim_start_matches('-');
    let arg = Arg::new(flag.long).long(name).help(flag.help.clone()).required(flag.is_required);
    let arg = match flag.short {
        Some(short) => arg.short(short),
        None => arg,
    };
    match flag.value {
        None => arg.action(ArgAction::SetTrue),
        Some(value) => {
            let action = if flag.is_repeatable { ArgAction::Append } else { ArgAction::Set };
            chosen(arg.value_name(placeholder(value)).action(action), &flag.choices)
        }
    }
}

fn positional(word: &Word) -> Arg {
    let arg = Arg::new(word.name).value_name(placeholder(word.name)).help(word.help.clone()).required(word.is_required);
    let arg = if word.is_repeatable { arg.num_args(0..) } else { arg };
    chosen(arg, &word.choices)
}

fn chosen(arg: Arg, choices: &[String]) -> Arg {
    if choices.is_empty() { arg } else { arg.value_parser(PossibleValuesParser::new(choices.to_vec())) }
}

/// The first clause of a description, for menus.
fn brief(about: &str) -> &str {
    let end = [". ", ": ", "; "].iter().filter_map(|mark| about.find(mark)).min();
    about[..end.unwrap_or(about.len())].trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_menu_shows_the_first_clause() {
        assert_eq!(brief("Read a file. Returns content."), "Read a file");
        assert_eq!(brief("Find pages: by words; or not."), "Find pages");
        assert_eq!(brief("Start it."), "Start it");
    }
}
