//! The parts of a tool's page that are not in discovery.json: flags, host options, remedies.
//!
//! Models need none of them: arguments have another spelling in JSON, a model cannot set host options, and a remedy is
//! part of its error.

use crate::{
    HostOptions, Tool, Usage,
    describe::{codes, single_braces},
    spelling::json_key,
};

/// A tool for people who read about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manual {
    /// The name of the executable.
    pub command: &'static str,
    /// The form of a call, such as `ragmaker-read-file [OPTION]... PATH`.
    pub synopsis: String,
    /// The arguments, in the order of their definition.
    pub arguments: Vec<Spelling>,
    /// The flags that JSON does not have: each with its help.
    pub command_line: Vec<(&'static str, &'static str)>,
    /// The host options that the tool takes: each flag with its help.
    pub host_options: Vec<(&'static str, &'static str)>,
    /// The codes that a call can fail with, each once, with what to do about it.
    pub errors: Vec<(&'static str, &'static str)>,
}

/// An argument as it is spelled on a command line and in JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// The flag, such as `--no-headless`.
    pub flag: &'static str,
    /// The key in discovery.json, such as `headless`.
    pub key: String,
    /// The help of the flag.
    pub help: String,
}

impl Manual {
    /// The manual of `T`.
    pub fn of<T: Tool>() -> Self {
        let flags = T::get_args_info().flags.iter().filter(|flag| flag.long != "--help" && !flag.hidden);
        let (command_line, flags): (Vec<_>, Vec<_>) =
            flags.partition(|flag| T::COMMAND_LINE_FLAGS.contains(&flag.long));
        let spelling = |long: &'static str, description: &str| Spelling {
            flag: long,
            key: json_key(long),
            help: single_braces(description),
        };
        let mut errors = vec![];
        for code in codes::<T>() {
            if !errors.iter().any(|(name, _)| *name == code.name()) {
                errors.push((code.name(), code.remedy()));
            }
        }
        Self {
            command: T::NAME,
            synopsis: Usage::without_choices::<T>().synopsis(T::NAME),
            command_line: command_line.into_iter().map(|flag| (flag.long, flag.description)).collect(),
            arguments: flags.into_iter().map(|flag| spelling(flag.long, flag.description)).collect(),
            host_options: HostOptions::flags()
                .filter(|flag| T::HOST_OPTIONS.contains(&flag.long))
                .map(|flag| (flag.long, flag.description))
                .collect(),
            errors,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{describe, testing::Pick};

    #[test]
    fn a_manual_has_the_keys_of_the_entry() {
        let manual = Manual::of::<Pick>();
        let entry = describe::entry::<Pick>();
        let mut keys: Vec<_> = manual.arguments.iter().map(|argument| argument.key.as_str()).collect();
        let mut properties: Vec<_> =
            entry["parameters"]["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        keys.sort_unstable();
        properties.sort_unstable();
        assert_eq!(keys, properties);
        let flags: Vec<_> = manual.arguments.iter().map(|argument| argument.flag).collect();
        assert!(flags.contains(&"--no-peeled"), "{flags:?}");
        let options: Vec<_> = manual.host_options.iter().map(|(flag, _)| *flag).collect();
        assert_eq!(options, crate::host::FILES);
        assert_eq!(manual.synopsis, "ragmaker-pick --basket BASKET [OPTION]...");
        assert_eq!(manual.errors.last(), Some(&("NO_FRUIT", "Wait for autumn.")));
    }
}
