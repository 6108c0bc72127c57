//! Rewrites a command line to the form that argh takes: `--name value` for every option.

use argh::{FlagInfo, FlagInfoKind, FromArgs, Optionality};
use serde_json::Value;

use super::{
    json::{Members, read_json},
    names::{bad_value, given_as_both, missing_value, nearest, refused_value, repeated, suggesting, unexpected},
};
use crate::{
    ARGUMENT_ERROR, Approval, Caller, Error, Invocation, Tool,
    error::TEXT_LIMIT,
    host::{HostOptions, NOT_ALLOWED_IN_ARGUMENTS},
    spelling::{self, field_name, json_key},
    usage::placeholder,
};

/// A key that Gemini CLI adds to the arguments of every call; the tools ignore it.
const IGNORED_KEY: &str = "wait_for_previous";

type Flag = &'static FlagInfo<'static>;

/// The questions that are answered without doing the work.
const QUESTIONS: [&str; 5] = ["-h", "--help", "-V", "--version", "--describe"];

/// An option that was given.
struct Given {
    flag: Flag,
    /// `None` for a switch.
    value: Option<String>,
    /// Whether the value was a word without the option.
    is_word: bool,
    /// The value in JSON, if it was not a text there.
    json: Option<Value>,
}

/// The arguments of one call, as far as they have been read.
pub(super) struct CommandLine {
    /// The options of the tool itself.
    own: Vec<Flag>,
    /// The host's options that the tool takes.
    host: Vec<Flag>,
    json_texts: &'static [&'static str],
    /// The options that JSON does not have.
    not_in_json: &'static [&'static str],
    /// The options that words give: see [`Tool::OPERANDS`].
    operands: Vec<Flag>,
    /// The maximum number of positional arguments. A tool has none.
    positionals: usize,
    takes_json: bool,
    given: Vec<Given>,
    words: Vec<String>,
    /// Options whose value was a number or a boolean in JSON, with the value.
    not_texts: Vec<(Flag, Value)>,
    /// The first question asked. What follows it is still checked, so a misspelled option is reported.
    pub(super) asked: Option<&'static str>,
    pub(super) caller: Caller,
}

impl CommandLine {
    /// The command line of a tool.
    pub(super) fn of_tool<T: Tool>() -> Self {
        let own = own_flags(T::get_args_info().flags);
        let of_program = Self::of_program(own, 0, T::HOST_OPTIONS);
        let line =
            Self { json_texts: T::JSON_TEXTS, not_in_json: T::COMMAND_LINE_FLAGS, takes_json: true, ..of_program };
        line.with_operands(T::OPERANDS)
    }

    /// The command line with words that give the options `longs`.
    pub(super) fn with_operands(mut self, longs: &[&str]) -> Self {
        let flag = |long: &&str| self.own.iter().find(|flag| flag.long == *long).copied();
        self.operands = longs.iter().filter_map(flag).collect();
        self
    }

    /// The command line of a program that is not a tool, and takes the host's options in `host`.
    pub(super) fn of_program(own: Vec<Flag>, positionals: usize, host: &[&str]) -> Self {
        Self {
            own,
            host: HostOptions::flags().filter(|flag| host.contains(&flag.long)).collect(),
            json_texts: &[],
            not_in_json: &[],
            operands: vec![],
            positionals,
            takes_json: false,
            given: vec![],
            words: vec![],
            not_texts: vec![],
            asked: None,
            caller: Caller::Person,
        }
    }

    /// Takes every argument of `texts`.
    pub(super) fn push_all(&mut self, texts: Vec<String>) -> Result<(), Error> {
        let mut texts = texts.into_iter();
        while let Some(text) = texts.next() {
            self.push(&text, &mut texts)?;
        }
        Ok(())
    }

    /// Adds one argument, with its value from `rest` if it has one.
    fn push(&mut self, text: &str, rest: &mut impl Iterator<Item = String>) -> Result<(), Error> {
        if text == "--" {
            return rest.try_for_each(|text| self.push_word(text));
        }
        if !text.starts_with('-') || text == "-" || self.takes_words() && is_sentence(text) {
            return if self.is_json_object(text) {
                Err(self.unexpected(text))
            } else {
                self.push_word(text.to_owned())
            };
        }
        let (name, inline) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        let questions = QUESTIONS.into_iter().filter(|asks| self.takes_json || *asks != "--describe");
        if let Some(asks) = questions.into_iter().find(|asks| *asks == name) {
            self.asked.get_or_insert(asks);
            return inline.map_or(Ok(()), |value| Err(bad_value(asks, &value, "it is a switch and takes no value")));
        }
        if name == "--arguments" && self.takes_json {
            let value = inline.or_else(|| rest.next()).ok_or_else(|| missing_value(name))?;
            return self.push_json(read_json(&value)?);
        }
        let flag = self.flag(name)?;
        if let FlagInfoKind::Switch = flag.kind {
            match inline.as_deref() {
                None | Some("true") => self.give(flag, None, false),
                Some("false") => Ok(()),
                Some(other) => Err(bad_value(flag.long, other, "it is a switch and takes no value")),
            }
        } else {
            let value = inline.or_else(|| rest.next()).ok_or_else(|| missing_value(flag.long))?;
            self.give(flag, Some(value), false)
        }
    }

    fn push_word(&mut self, text: String) -> Result<(), Error> {
        if self.words.len() < self.positionals {
            self.words.push(text);
            return Ok(());
        }
        let taken = self.given.iter().filter(|given| given.is_word).count();
        let last = self.operands.last().filter(|flag| is_repeatable(flag));
        if let Some(&flag) = self.operands.get(taken).or(last) {
            return self.give(flag, Some(text), true);
        }
        Err(self.unexpected(&text))
    }

    /// The error for a word that has no place, with the advice that fits it.
    fn unexpected(&self, text: &str) -> Error {
        let example = self.own.iter().find(|flag| matches!(flag.kind, FlagInfoKind::Option { .. }));
        let error = unexpected(text);
        let shown = if text.contains([' ', '\'', '"']) { "VALUE" } else { text };
        match self.given.last() {
            _ if text.trim_start().starts_with('{') && self.takes_json => {
                error.remedy("Give a JSON object with the arguments as --arguments '{…}'.")
            }
            // A second value, as in `--source A B`.
            Some(Given { flag, value: Some(_), is_word: false, .. }) if is_repeatable(flag) => error
                .remedy(format!("Repeat {0} for each value: add {0} {shown}; quote values with spaces.", flag.long)),
            _ if self.positionals > 0 => error.remedy("Run it once for each."),
            _ if !self.operands.is_empty() => {
                let names: Vec<String> = self.operands.iter().map(|flag| placeholder(flag.long)).collect();
                let are = if names.len() == 1 { "is the only word" } else { "are the only words" };
                // As in `browser-extract URL URL`.
                let plural = self.own.iter().find(|flag| {
                    is_repeatable(flag) && self.operands.iter().any(|one| flag.long == format!("{}s", one.long))
                });
                let each = plural.map_or("run it once for each".to_owned(), |flag| {
                    format!("give each of several after {}", flag.long)
                });
                error.remedy(format!("{} {are}: quote values with spaces, or {each}.", names.join(" and ")))
            }
            _ => match example {
                Some(flag) => error.remedy(format!(
                    "Every value follows its option, as in {} {}; quote values with spaces.",
                    flag.long, shown
                )),
                None => error,
            },
        }
    }

    fn takes_words(&self) -> bool {
        self.positionals > 0 || !self.operands.is_empty()
    }

    /// Whether `text` is likely a JSON object with the arguments, such as `{"path": "a.md"}`, or `{path:` where a shell
    /// took the quotes. The glob `{a,b}.md` and `{}` are none.
    fn is_json_object(&self, text: &str) -> bool {
        let Some(members) = text.trim_start().strip_prefix('{').filter(|_| self.takes_json) else { return false };
        let key = members.split_once(':').map(|(key, _)| field_name(key.trim()));
        members.trim_start().starts_with('"')
            || key.is_some_and(|key| self.own.iter().any(|flag| json_key(flag.long) == key))
    }

    /// Whether a value follows the argument `name`.
    pub(super) fn takes_value(&self, name: &str) -> bool {
        let is_option = |flag: Flag| matches!(flag.kind, FlagInfoKind::Option { .. });
        name == "--arguments" && self.takes_json || self.flag(name).is_ok_and(is_option)
    }

    /// Takes the members of a JSON object.
    pub(super) fn push_json(&mut self, arguments: Members) -> Result<(), Error> {
        self.caller = Caller::Model;
        self.push_members(arguments).map_err(|error| self.as_written_in_json(error))
    }

    fn push_members(&mut self, arguments: Members) -> Result<(), Error> {
        let mut keys = vec![];
        for (key, value) in arguments {
            if field_name(&key) == IGNORED_KEY {
                continue;
            }
            let (flag, is_positive) = self.key(&key)?;
            // Even a list, which may come in parts as options, stands under one key.
            if keys.contains(&flag.long) {
                return Err(repeated(&field_name(&key)));
            }
            keys.push(flag.long);
            let values = match value {
                Value::Array(values) if is_repeatable(flag) => values,
                value => vec![value],
            };
            for value in values {
                let value = if is_positive { negated(&key, value)? } else { value };
                self.push_value(flag, value)?;
            }
        }
        Ok(())
    }

    /// The flag that `key` of a JSON object means, and whether it is the positive form of a `--no-x`.
    fn key(&self, key: &str) -> Result<(Flag, bool), Error> {
        let name = key.replace('_', "-");
        let long = format!("--{name}");
        if self.not_in_json.contains(&long.as_str()) {
            return Err(ARGUMENT_ERROR
                .error(format!("{key:?} is for the command line only, not for JSON arguments"))
                .remedy("Leave it out, or ask a person to run the tool on a command line.")
                .detail("argument", key));
        }
        if let Some(flag) = self.own.iter().find(|flag| flag.long == long) {
            return Ok((flag, false));
        }
        if let Some(flag) = self.own.iter().find(|flag| flag.long.strip_prefix("--no-") == Some(&name)) {
            return Ok((flag, true));
        }
        if HostOptions::flags().any(|flag| flag.long == long) {
            return Err(NOT_ALLOWED_IN_ARGUMENTS
                .error(format!("{key:?} is an option of the host, not an argument"))
                .detail("argument", key));
        }
        let is_for_json = |long: &&str| !self.not_in_json.contains(long);
        let names: Vec<String> = self.own.iter().map(|flag| flag.long).filter(is_for_json).map(json_key).collect();
        Err(unknown(key, &name.replace('-', "_"), &names.iter().map(String::as_str).collect::<Vec<_>>()))
    }

    fn push_value(&mut self, flag: Flag, value: Value) -> Result<(), Error> {
        if value.is_number() || value.is_boolean() {
            self.not_texts.push((flag, value.clone()));
        }
        let json = (!value.is_string()).then(|| value.clone());
        let refused = |text: &str, reason: &str| as_in_json(bad_value(flag.long, text, reason), json.as_ref());
        let text = match value {
            Value::Null => return Ok(()),
            Value::Bool(value) => value.to_string(),
            Value::String(text) => text,
            // A model may write 5.0 where it means 5.
            Value::Number(number) => match number.as_f64() {
                Some(value) if value.fract() == 0.0 && value.abs() < 1e15 => (value as i64).to_string(),
                _ => number.to_string(),
            },
            json if self.json_texts.contains(&flag.long) => json.to_string(),
            other @ (Value::Array(_) | Value::Object(_)) => {
                return Err(refused(&other.to_string(), "expected a single value"));
            }
        };
        match (&flag.kind, text.as_str()) {
            (FlagInfoKind::Switch, "true") => self.give(flag, None, false),
            (FlagInfoKind::Switch, "false" | "") => Ok(()),
            (FlagInfoKind::Switch, other) => Err(refused(other, "expected true or false")),
            (FlagInfoKind::Option { .. }, _) => self.add(Given { flag, value: Some(text), is_word: false, json }),
        }
    }

    fn give(&mut self, flag: Flag, value: Option<String>, is_word: bool) -> Result<(), Error> {
        self.add(Given { flag, value, is_word, json: None })
    }

    fn add(&mut self, given: Given) -> Result<(), Error> {
        let (flag, is_word, value) = (given.flag, given.is_word, &given.value);
        let mut others = self.given.iter().filter(|_| !is_repeatable(flag));
        if let Some(other) = others.find(|given| given.flag.long == flag.long) {
            return Err(match (&other.value, value) {
                (Some(word), Some(value)) if other.is_word => given_as_both(flag.long, value, word),
                (Some(value), Some(word)) if is_word => given_as_both(flag.long, value, word),
                _ => repeated(flag.long),
            });
        }
        self.given.push(given);
        Ok(())
    }

    fn flag(&self, name: &str) -> Result<Flag, Error> {
        let short = name.strip_prefix('-').and_then(|rest| rest.parse::<char>().ok());
        let mut long = name.replace('_', "-");
        let mut flags = self.own.iter().chain(&self.host);
        let found = flags.find(|flag| flag.long == long || (short.is_some() && flag.short == short));
        found.copied().ok_or_else(|| {
            if !long.starts_with("--") {
                long.insert(0, '-');
            }
            let names: Vec<&str> = self.own.iter().chain(&self.host).map(|flag| flag.long).collect();
            let error = unknown(name, &long, &names);
            if !self.takes_words() {
                return error;
            }
            let remedy = format!("{} Put -- before a word that begins with -.", error.remediation());
            error.remedy(remedy)
        })
    }

    /// The tool with its arguments, and how it is called.
    pub(super) fn finish<T: Tool>(self) -> Result<(T, Invocation), Error> {
        let parsed = self.parsed::<T>(T::NAME).and_then(|tool| {
            self.check_texts(&tool)?;
            let host = self.host_options(T::NAME)?;
            Ok((tool, Invocation { host, caller: self.caller, approval: Approval::default() }))
        });
        parsed.map_err(|error| match self.caller {
            Caller::Person => error,
            Caller::Model => self.as_written_in_json(error),
        })
    }

    /// The program's own arguments.
    pub(super) fn parsed<T: FromArgs>(&self, name: &str) -> Result<T, Error> {
        let required = self.own.iter().filter(|flag| matches!(flag.optionality, Optionality::Required));
        let is_given = |long: &str| self.given.iter().any(|given| given.flag.long == long);
        let missing: Vec<_> = required.map(|flag| flag.long).filter(|long| !is_given(long)).collect();
        if !missing.is_empty() {
            let are = if missing.len() == 1 { "is" } else { "are" };
            return Err(ARGUMENT_ERROR
                .error(format!("{} {are} required", missing.join(" and ")))
                .remedy(match self.caller {
                    Caller::Person => format!("Add {} VALUE.", missing.join(" VALUE and ")),
                    Caller::Model => {
                        let keys: Vec<_> = missing.iter().map(|long| format!("{:?}", json_key(long))).collect();
                        format!("Add {} to the arguments.", keys.join(" and "))
                    }
                })
                .detail("argument", missing[0])
                .detail("missing", missing));
        }
        let mut words = self.words_of(&self.own);
        // The words are not options, however they begin.
        words.extend((!self.words.is_empty()).then_some("--"));
        words.extend(self.words.iter().map(String::as_str));
        T::from_args(&[name], &words).map_err(|early| self.refused(&early.output))
    }

    /// The host options.
    pub(super) fn host_options(&self, name: &str) -> Result<HostOptions, Error> {
        HostOptions::from_args(&[name], &self.words_of(&self.host)).map_err(|early| self.refused(&early.output))
    }

    /// The given options among `flags`, in the form for argh.
    fn words_of(&self, flags: &[Flag]) -> Vec<&str> {
        let mut words = vec![];
        let given = self.given.iter().filter(|given| flags.iter().any(|known| known.long == given.flag.long));
        for given in given {
            words.push(given.flag.long);
            words.extend(given.value.as_deref());
        }
        words
    }

    /// The error for what argh says in `prose`: the one failure that is left is a value that its type
    /// refuses.
    fn refused(&self, prose: &str) -> Error {
        let prose = prose.trim();
        let refused = self.given.iter().find_map(|Given { flag, value, json, .. }| {
            let value = value.as_deref()?;
            let reason = prose.strip_prefix(&format!("Error parsing option '{}' with value '{value}': ", flag.long))?;
            Some(as_in_json(refused_value(flag.long, value, reason), json.as_ref()))
        });
        refused.unwrap_or_else(|| ARGUMENT_ERROR.error(prose))
    }

    /// Refuses a number or a boolean in JSON where the argument is a text: `"1"` and `1` are not the same
    /// path. The tool's serialized form says which arguments are texts.
    fn check_texts<T: Tool>(&self, tool: &T) -> Result<(), Error> {
        if self.not_texts.is_empty() {
            return Ok(());
        }
        let parsed = serde_json::to_value(tool).unwrap_or_default();
        let is_text = |flag: &Flag| match &parsed[field_name(flag.long)] {
            Value::String(_) => !self.json_texts.contains(&flag.long),
            Value::Array(values) => values.iter().any(Value::is_string),
            _ => false,
        };
        self.not_texts.iter().find(|(flag, _)| is_text(flag)).map_or(Ok(()), |(flag, value)| {
            let message = format!("{} must be a text, such as {:?}, not {value}", flag.long, value.to_string());
            Err(ARGUMENT_ERROR.error(message).detail("argument", flag.long).detail("value", value.clone()))
        })
    }

    /// `error` for a caller who wrote JSON: `offset` instead of `--offset`.
    pub(super) fn as_written_in_json(&self, error: Error) -> Error {
        in_json_spelling(error, self.own.iter().map(|flag| flag.long))
    }
}

/// `error` with the options `longs` spelled as keys of JSON arguments.
pub(super) fn in_json_spelling(error: Error, longs: impl Iterator<Item = &'static str>) -> Error {
    let longs: Vec<_> = longs.collect();
    let error = if error.has_remedy_of(ARGUMENT_ERROR) {
        error.remedy("See the tool's description for its arguments.")
    } else {
        error
    };
    spelling::in_json(error, |option| longs.contains(&option))
}

/// The flags of a type's own arguments.
pub(super) fn own_flags(flags: &'static [FlagInfo<'static>]) -> Vec<Flag> {
    flags.iter().filter(|flag| flag.long != "--help").collect()
}

fn is_repeatable(flag: Flag) -> bool {
    matches!(flag.optionality, Optionality::Repeating | Optionality::Greedy)
}

/// `error` for a refused value, with the value as the caller wrote it in JSON. A long one stays text, which is shortened.
fn as_in_json(error: Error, value: Option<&Value>) -> Error {
    match value {
        Some(value) if value.to_string().len() <= TEXT_LIMIT => error.detail("value", value.clone()),
        _ => error,
    }
}

/// The value of the switch `--no-x` for the value of `x` under `key`.
fn negated(key: &str, value: Value) -> Result<Value, Error> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::Bool(value) => Ok((!value).into()),
        Value::String(text) if text == "true" => Ok(false.into()),
        Value::String(text) if text == "false" => Ok(true.into()),
        other => {
            let text = other.as_str().map_or_else(|| other.to_string(), str::to_owned);
            Err(as_in_json(bad_value(key, &text, "expected true or false"), Some(&other)))
        }
    }
}

/// Whether a word that begins with `-` is text, such as `- item` and `-5 degrees`.
fn is_sentence(text: &str) -> bool {
    text.contains(char::is_whitespace) && !text[1..].starts_with(|c: char| c == '-' || c.is_alphabetic())
}

/// The error for an unknown argument `name`; `names` are the valid ones.
fn unknown(name: &str, spelled: &str, names: &[&str]) -> Error {
    let error = ARGUMENT_ERROR.error(format!("unknown argument {name:?}")).detail("argument", name);
    match nearest(spelled, names) {
        Some(nearest) => suggesting(error, nearest),
        None if names.is_empty() => error.remedy("Leave it out; there are no arguments."),
        None => error.remedy(format!("The arguments are {}.", names.join(", "))),
    }
}
