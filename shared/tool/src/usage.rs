//! The command line of a program as data: shell completions and man pages are made from it.

use std::fmt::Write as _;

use argh::{ArgsInfo, FlagInfo, FlagInfoKind, Optionality, PositionalInfo};
use serde_json::Value;

use crate::{HostOptions, Tool, arguments::Common, describe, spelling::json_key};

/// The command line of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The purpose of the program.
    pub about: String,
    /// The arguments without a flag, in their order.
    pub words: Vec<Word>,
    /// The options, with those that every program has.
    pub options: Vec<Flag>,
    /// The host options.
    pub host_options: Vec<Flag>,
}

/// An argument without a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its name, such as `client`; that of the option it gives, such as `--path`, without the hyphens.
    pub name: &'static str,
    /// Its help.
    pub help: String,
    /// Whether the program fails without it.
    pub is_required: bool,
    /// Whether there may be several.
    pub is_repeatable: bool,
    /// The accepted values, where they are a closed set.
    pub choices: Vec<String>,
}

/// An option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// The long form, such as `--path`.
    pub long: &'static str,
    /// The short form, such as `h`.
    pub short: Option<char>,
    /// The name of its value; a switch has none.
    pub value: Option<&'static str>,
    /// Its help.
    pub help: String,
    /// Whether the program fails without it, and no word gives it.
    pub is_required: bool,
    /// Whether it may be given several times.
    pub is_repeatable: bool,
    /// The accepted values, where they are a closed set.
    pub choices: Vec<String>,
}

impl Usage {
    /// The command line of the tool `T`.
    pub fn of_tool<T: Tool>() -> Self {
        let mut usage = Self::without_choices::<T>();
        let parameters = describe::parameters::<T>(T::get_args_info().flags);
        for flag in &mut usage.options {
            let schema = &parameters["properties"][json_key(flag.long)];
            let choices = schema["enum"].as_array().or_else(|| schema["items"]["enum"].as_array());
            flag.choices = choices.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        }
        usage
    }

    /// The command line of `T`, without the accepted values. What finds these would make each executable larger.
    pub(crate) fn without_choices<T: Tool>() -> Self {
        let mut usage = Self::of::<T>(T::HOST_OPTIONS, |_| true);
        for long in T::OPERANDS {
            if let Some(flag) = usage.options.iter_mut().find(|flag| flag.long == *long) {
                usage.words.push(Word {
                    name: flag.long.trim_start_matches('-'),
                    help: flag.help.clone(),
                    is_required: flag.is_required,
                    is_repeatable: flag.is_repeatable,
                    choices: vec![],
                });
                flag.is_required = false;
            }
        }
        usage
    }

    /// The command line of a program that is not a tool, with arguments `T` and the options in `host` among those of
    /// [`HostOptions`].
    pub fn of_program<T: ArgsInfo>(host: &[&str]) -> Self {
        Self::of::<T>(host, |flag| flag.long == "--version")
    }

    fn of<T: ArgsInfo>(host: &[&str], is_common: impl Fn(&FlagInfo<'_>) -> bool) -> Self {
        let info = T::get_args_info();
        let common = Common::get_args_info().flags.iter().filter(|flag| flag.long != "--help" && is_common(flag));
        let own = info.flags.iter().filter(|flag| !flag.hidden);
        Self {
            about: text(info.description),
            words: info.positionals.iter().map(word).collect(),
            options: own.chain(common).map(flag).collect(),
            host_options: HostOptions::flags().filter(|flag| host.contains(&flag.long)).map(flag).collect(),
        }
    }

    /// The form of a call of the program `name`: the options that it cannot do without, then the words.
    pub fn synopsis(&self, name: &str) -> String {
        let mut form = name.to_owned();
        for flag in self.options.iter().filter(|flag| flag.is_required) {
            let _ = write!(form, " {} {}", flag.long, placeholder(flag.value.unwrap_or_default()));
        }
        form += " [OPTION]...";
        for word in &self.words {
            let (open, close) = if word.is_required { ("", "") } else { ("[", "]") };
            let dots = if word.is_repeatable { "..." } else { "" };
            let _ = write!(form, " {open}{}{close}{dots}", placeholder(word.name));
        }
        form
    }

    /// The command line with `choices` as the values of the word or the option `name`.
    #[must_use]
    pub fn with_choices<S: Into<String>>(mut self, name: &str, choices: impl IntoIterator<Item = S>) -> Self {
        let words = self.words.iter_mut().filter(|word| word.name == name).map(|word| &mut word.choices);
        let flags = self.options.iter_mut().filter(|flag| flag.long == name).map(|flag| &mut flag.choices);
        if let Some(place) = words.chain(flags).next() {
            *place = choices.into_iter().map(Into::into).collect();
        }
        self
    }
}

/// The name of a value as help shows it: `OUTPUT_DIR`.
pub fn placeholder(name: &str) -> String {
    name.trim_start_matches('-').to_uppercase().replace('-', "_")
}

fn word(info: &PositionalInfo<'static>) -> Word {
    Word {
        name: info.name,
        help: text(info.description),
        is_required: matches!(info.optionality, Optionality::Required),
        is_repeatable: matches!(info.optionality, Optionality::Repeating | Optionality::Greedy),
        choices: vec![],
    }
}

fn flag(info: &FlagInfo<'static>) -> Flag {
    Flag {
        long: info.long,
        // argh does not list the short form of --help, which is a trigger.
        short: if info.long == "--help" { Some('h') } else { info.short },
        value: match info.kind {
            FlagInfoKind::Switch => None,
            FlagInfoKind::Option { arg_name } => Some(arg_name),
        },
        help: text(info.description),
        is_required: matches!(info.optionality, Optionality::Required),
        is_repeatable: matches!(info.optionality, Optionality::Repeating | Optionality::Greedy),
        choices: vec![],
    }
}

fn text(description: &str) -> String {
    describe::plain_text(description)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        host,
        testing::{Pick, Plant},
    };

    #[test]
    fn a_tool_has_its_own_options_and_those_of_every_tool() {
        let usage = Usage::of_tool::<Pick>();
        let find = |long: &str| usage.options.iter().find(|flag| flag.long == long).unwrap_or_else(|| panic!("{long}"));
        assert_eq!((find("--help").short, find("--version").short), (Some('h'), Some('V')));
        assert_eq!((find("--no-peeled").value, find("--arguments").value), (None, Some("arguments")));
        assert!(find("--describe").help.contains("discovery.json"));
        let host: Vec<_> = usage.host_options.iter().map(|flag| flag.long).collect();
        assert_eq!(host, host::FILES);
        assert!(usage.options.iter().any(|flag| !flag.choices.is_empty()), "{usage:?}");
        let mut longs: Vec<_> = usage.options.iter().map(|flag| flag.long).collect();
        longs.sort_unstable();
        longs.dedup();
        assert_eq!(longs.len(), usage.options.len());
    }

    #[test]
    fn words_give_the_options_they_name() {
        let usage = Usage::of_tool::<Plant>();
        assert_eq!(usage.synopsis("plant"), "plant --by BY [OPTION]... SEED [BED_ROW]");
        let words: Vec<_> = usage.words.iter().map(|word| (word.name, word.is_required)).collect();
        assert_eq!(words, [("seed", true), ("bed-row", false)]);
        // Help of the word is that of the option, which nobody needs beside the word.
        let seed = usage.options.iter().find(|flag| flag.long == "--seed").unwrap();
        assert!(!seed.is_required && seed.help == usage.words[0].help, "{seed:?}");
        assert_eq!(Usage::of_tool::<Pick>().synopsis("pick"), "pick --basket BASKET [OPTION]...");
    }

    #[test]
    fn a_program_has_no_options_of_tools() {
        let usage = Usage::of_program::<Pick>(&["--config"]);
        let longs: Vec<_> = usage.options.iter().map(|flag| flag.long).collect();
        assert!(longs.contains(&"--version") && !longs.contains(&"--describe"), "{longs:?}");
        assert_eq!(usage.host_options.len(), 1);
        let chosen = usage.with_choices("--no-such", ["a"]).with_choices("--no-peeled", ["a", "b"]);
        let flags: Vec<_> = chosen.options.iter().filter(|flag| flag.choices == ["a", "b"]).collect();
        assert!(matches!(&flags[..], [flag] if flag.long == "--no-peeled"), "{flags:?}");
    }
}
