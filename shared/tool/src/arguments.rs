//! Arguments in: the command line as GNU users and agents write it, or one JSON object.
//!
//! [`argh`] parses; this module brings what people type into the one form that argh takes, and
//! finds what is wrong before argh does, so that every mistake is answered with the name of the
//! argument and the nearest valid one. Both forms end in the same parser: `--arguments` turns a
//! JSON object into options, which is how a number sent as a string comes to be read as a number.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    io::{self, Read},
};

use argh::{FlagInfo, FlagInfoKind, Optionality};
use serde::{
    Deserialize, Deserializer,
    de::{IntoDeserializer, MapAccess, Visitor, value},
};
use serde_json::Value;

use crate::{ARGUMENT_ERROR, Error, Tool};

/// The most bytes of JSON that `--arguments -` reads.
const MAX_JSON: u64 = 64 << 20;

/// A key that Gemini CLI adds to the arguments of every call; it means nothing to a tool.
const IGNORED_KEY: &str = "wait_for_previous";

/// The members of a JSON object, every one: a map keeps the last of those with one key, and the others
/// would be lost in silence.
pub type Members = Vec<(String, Value)>;

/// What the command line asks for.
pub enum Parsed<T> {
    /// The text for `--help`.
    Help(String),
    /// The version, for `--version`.
    Version,
    /// The tool's entry in discovery.json, for `--describe`.
    Describe,
    /// The work, with these arguments.
    Work(T),
}

/// Reads one of an enum's choices as serde spells it; for argh's `from_str_fn`.
pub fn choice<T: for<'a> Deserialize<'a>>(text: &str) -> Result<T, String> {
    T::deserialize(text.into_deserializer()).map_err(|error: value::Error| error.to_string())
}

/// Parses the arguments of this process.
pub fn from_process<T: Tool>() -> Result<Parsed<T>, Error> {
    parse(std::env::args_os().skip(1))
}

/// Parses a command line, the name of the program left out.
pub fn parse<T: Tool>(arguments: impl IntoIterator<Item = OsString>) -> Result<Parsed<T>, Error> {
    let mut texts = vec![];
    for argument in arguments {
        texts.push(argument.into_string().map_err(|argument| not_utf8(texts.last(), &argument))?);
    }
    let mut line = CommandLine::new::<T>();
    let mut texts = texts.into_iter();
    while let Some(text) = texts.next() {
        line.push(&text, &mut texts)?;
    }
    match line.asked {
        None => line.finish().map(Parsed::Work),
        Some("-h" | "--help") => Ok(Parsed::Help(help::<T>())),
        Some("--describe") => Ok(Parsed::Describe),
        Some(_) => Ok(Parsed::Version),
    }
}

/// The error for an `argument` that follows `before`, which is its option where it is a value.
fn not_utf8(before: Option<&String>, argument: &OsStr) -> Error {
    let argument = argument.to_string_lossy();
    let option = before.map(String::as_str).filter(|before| before.starts_with("--") && !before.contains('='));
    let (option, value) = match argument.split_once('=') {
        Some((option, value)) if option.starts_with("--") => (Some(option), value),
        _ => (option, &*argument),
    };
    ARGUMENT_ERROR
        .error(match option {
            Some(option) => format!("{option} can not be {value:?}: it is not UTF-8"),
            None => format!("the argument {value:?} is not UTF-8"),
        })
        .remedy("Rename the file, or name the folder it is in: arguments are UTF-8.")
        .detail("argument", option.unwrap_or(value))
}

/// Parses arguments that came as a JSON object, as `--arguments` takes them.
pub fn from_json<T: Tool>(arguments: impl IntoIterator<Item = (String, Value)>) -> Result<T, Error> {
    let mut line = CommandLine::new::<T>();
    line.push_json(arguments.into_iter().collect())?;
    line.finish()
}

/// The options that every tool has beside its own, as `--help` shows them.
const COMMON_HELP: &str = "  -V, --version     print the version
  --describe        print this tool's entry in discovery.json
  --arguments       take the arguments from a JSON object (- reads it from standard
                    input)
";

fn help<T: Tool>() -> String {
    match T::from_args(&[T::NAME], &["--help"]) {
        Err(early) => early.output.trim_end().to_owned() + "\n" + COMMON_HELP,
        Ok(_) => COMMON_HELP.to_owned(),
    }
}

/// A command line on its way into the form that argh takes: `--name value` for everything.
struct CommandLine {
    json_texts: &'static [&'static str],
    flags: Vec<&'static FlagInfo<'static>>,
    given: Vec<(&'static FlagInfo<'static>, Option<String>)>,
    /// What is asked for in the place of work. The first wins, but what follows it is read as ever:
    /// who misspells an option learns of it.
    asked: Option<&'static str>,
}

impl CommandLine {
    fn new<T: Tool>() -> Self {
        let flags = T::get_args_info().flags.iter().filter(|flag| flag.long != "--help").collect();
        Self { json_texts: T::JSON_TEXTS, flags, given: vec![], asked: None }
    }

    /// Takes one argument, and its value from `rest` where it has one.
    fn push(&mut self, text: &str, rest: &mut impl Iterator<Item = String>) -> Result<(), Error> {
        if text == "--" {
            return rest.next().map_or(Ok(()), |text| Err(self.unexpected(&text)));
        }
        if !text.starts_with('-') || text == "-" {
            return Err(self.unexpected(text));
        }
        let (name, inline) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        if let Some(asks) = ["-h", "--help", "-V", "--version", "--describe"].into_iter().find(|asks| *asks == name) {
            self.asked.get_or_insert(asks);
            return inline.map_or(Ok(()), |value| Err(bad_value(asks, &value, "it is a switch and takes no value")));
        }
        if name == "--arguments" {
            let value = inline.or_else(|| rest.next()).ok_or_else(|| missing_value(name))?;
            return self.push_json(read_json(&value)?);
        }
        let flag = self.flag(name)?;
        if let FlagInfoKind::Switch = flag.kind {
            match inline.as_deref() {
                None | Some("true") => self.give(flag, None),
                Some("false") => Ok(()),
                Some(other) => Err(bad_value(flag.long, other, "it is a switch and takes no value")),
            }
        } else {
            let value = inline.or_else(|| rest.next()).ok_or_else(|| missing_value(flag.long))?;
            self.give(flag, Some(value))
        }
    }

    fn push_json(&mut self, arguments: Members) -> Result<(), Error> {
        let mut keys = vec![];
        for (key, value) in arguments {
            if key == IGNORED_KEY {
                continue;
            }
            let flag = self.flag(&format!("--{key}"))?;
            // Be it a list, which may come in parts as options, or spelled in two ways.
            if keys.contains(&flag.long) {
                return Err(repeated(flag.long));
            }
            keys.push(flag.long);
            let values = match value {
                Value::Array(values) if matches!(flag.optionality, Optionality::Repeating | Optionality::Greedy) => {
                    values
                }
                value => vec![value],
            };
            for value in values {
                self.push_value(flag, value)?;
            }
        }
        Ok(())
    }

    fn push_value(&mut self, flag: &'static FlagInfo<'static>, value: Value) -> Result<(), Error> {
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
                return Err(bad_value(flag.long, &other.to_string(), "expected a single value"));
            }
        };
        match (&flag.kind, text.as_str()) {
            (FlagInfoKind::Switch, "true") => self.give(flag, None),
            (FlagInfoKind::Switch, "false" | "") => Ok(()),
            (FlagInfoKind::Switch, other) => Err(bad_value(flag.long, other, "expected true or false")),
            (FlagInfoKind::Option { .. }, _) => self.give(flag, Some(text)),
        }
    }

    fn give(&mut self, flag: &'static FlagInfo<'static>, value: Option<String>) -> Result<(), Error> {
        let repeatable = matches!(flag.optionality, Optionality::Repeating | Optionality::Greedy);
        if !repeatable && self.given.iter().any(|(given, _)| given.long == flag.long) {
            return Err(repeated(flag.long));
        }
        self.given.push((flag, value));
        Ok(())
    }

    fn flag(&self, name: &str) -> Result<&'static FlagInfo<'static>, Error> {
        let short = name.strip_prefix('-').and_then(|rest| rest.parse::<char>().ok());
        let mut long = name.replace('_', "-");
        let found = self.flags.iter().find(|flag| flag.long == long || (short.is_some() && flag.short == short));
        found.copied().ok_or_else(|| {
            if !long.starts_with("--") {
                long.insert(0, '-');
            }
            let names: Vec<&str> = self.flags.iter().map(|flag| flag.long).collect();
            let error = ARGUMENT_ERROR.error(format!("unknown argument {name:?}")).detail("argument", name);
            match nearest(&long, &names) {
                Some(nearest) => suggesting(error, nearest),
                None => error.remedy(format!("The arguments are {}.", names.join(", "))),
            }
        })
    }

    fn unexpected(&self, text: &str) -> Error {
        let example = self.flags.iter().find(|flag| matches!(flag.kind, FlagInfoKind::Option { .. }));
        let error = ARGUMENT_ERROR.error(format!("unexpected argument {text:?}")).detail("argument", text);
        match example {
            Some(flag) => error.remedy(format!(
                "Every value follows its option, as in {} {}; quote values with spaces.",
                flag.long,
                if text.contains([' ', '\'', '"']) { "VALUE" } else { text }
            )),
            None => error,
        }
    }

    fn finish<T: Tool>(self) -> Result<T, Error> {
        let required = self.flags.iter().filter(|flag| matches!(flag.optionality, Optionality::Required));
        let missing: Vec<_> = required
            .map(|flag| flag.long)
            .filter(|long| !self.given.iter().any(|(flag, _)| flag.long == *long))
            .collect();
        if !missing.is_empty() {
            return Err(ARGUMENT_ERROR
                .error(format!("{} is required", missing.join(" and ")))
                .remedy(format!("Add {} VALUE.", missing.join(" VALUE and ")))
                .detail("argument", missing[0])
                .detail("missing", missing));
        }
        let mut words = vec![];
        for (flag, value) in &self.given {
            words.push(flag.long);
            words.extend(value.as_deref());
        }
        T::from_args(&[T::NAME], &words).map_err(|early| {
            // The one failure that is left is a value that its type refuses; argh says it in prose.
            let prose = early.output.trim();
            let refused = self.given.iter().find_map(|(flag, value)| {
                let value = value.as_deref()?;
                let reason =
                    prose.strip_prefix(&format!("Error parsing option '{}' with value '{value}': ", flag.long))?;
                Some((flag.long, value, reason))
            });
            match refused {
                Some((long, value, reason)) => {
                    let error = bad_value(long, value, in_words(reason));
                    // Choices, where there are some, are quoted like this: "unknown variant `x`, expected `a` or `b`".
                    let is_choice = |quoted: &&str| !quoted.is_empty() && !quoted.contains(' ') && *quoted != value;
                    let choices: Vec<&str> = reason.split('`').filter(is_choice).collect();
                    match nearest(value, &choices) {
                        Some(nearest) => suggesting(error, nearest),
                        None => error,
                    }
                }
                None => ARGUMENT_ERROR.error(prose),
            }
        })
    }
}

/// The one of `names` that `name` was likely meant to be.
pub fn nearest<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    // One that begins so comes first: to a single letter, every short name is as near.
    let distance = |known: &&'a str| if known.starts_with(name) { 0 } else { strsim::osa_distance(known, name) };
    let (distance, known) =
        names.iter().map(|known| (distance(known), *known)).min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + known.len().min(name.len()) / 4 || name.starts_with(known)).then_some(known)
}

fn suggesting(error: Error, nearest: &str) -> Error {
    error.remedy(format!("Did you mean {nearest}?")).detail("nearest", nearest)
}

/// Why a value was refused, for those who do not know the words of Rust's own parsers.
fn in_words(reason: &str) -> &str {
    match reason {
        "invalid digit found in string"
        | "cannot parse integer from empty string"
        | "number too large to fit in target type" => "expected a whole number from 0 to 18446744073709551615",
        other => other,
    }
}

fn repeated(long: &str) -> Error {
    ARGUMENT_ERROR
        .error(format!("{long} was given more than once"))
        .remedy(format!("Give {long} once."))
        .detail("argument", long)
}

fn missing_value(long: &str) -> Error {
    ARGUMENT_ERROR
        .error(format!("{long} needs a value"))
        .remedy(format!("Write {long} VALUE or {long}=VALUE."))
        .detail("argument", long)
}

fn bad_value(long: &str, value: &str, reason: &str) -> Error {
    ARGUMENT_ERROR
        .error(format!("{long} can not be {value:?}: {reason}"))
        .detail("argument", long)
        .detail("value", value)
}

/// The JSON object in `text`, or on standard input for `-`; a byte order mark and UTF-16, which
/// PowerShell's `>` writes, are taken too.
pub fn read_json(text: &str) -> Result<Members, Error> {
    let fail = |reason: String| {
        ARGUMENT_ERROR
            .error(format!("the arguments are not a JSON object: {reason}"))
            .remedy("Write an object with the arguments as keys, such as {\"path\": \"a b.md\"}.")
            .detail("argument", "--arguments")
    };
    let mut bytes = vec![];
    if text == "-" {
        io::stdin().take(MAX_JSON).read_to_end(&mut bytes).map_err(|error| fail(error.to_string()))?;
    } else {
        bytes.extend_from_slice(text.as_bytes());
    }
    let text = match bytes.as_slice() {
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => String::from_utf8(bytes).ok(),
    };
    // What can not be read is not guessed: it may be a name, or what a file is to hold.
    let text = text.ok_or_else(|| fail("they are not UTF-8".to_owned()))?;
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Ok(vec![]);
    }
    let mut json = serde_json::Deserializer::from_str(text);
    let members = json.deserialize_map(EachMember).and_then(|members| json.end().map(|()| members));
    members.map_err(|error| fail(error.to_string()))
}

struct EachMember;

impl<'de> Visitor<'de> for EachMember {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut members = vec![];
        while let Some(member) = object.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let units: Vec<u16> = bytes.as_chunks().0.iter().map(|&pair| unit(pair)).collect();
    String::from_utf16(&units).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Fruit, Pick};
    use proptest::prelude::*;

    fn pick(line: &[&str]) -> Result<Pick, Error> {
        match parse(line.iter().map(OsString::from))? {
            Parsed::Work(pick) => Ok(pick),
            _ => panic!("{line:?} asks for work"),
        }
    }

    fn refused(line: &[&str]) -> (String, Value) {
        let error = pick(line).err().unwrap();
        assert!(error.is(ARGUMENT_ERROR));
        (error.message().to_owned(), error.details()["argument"].clone())
    }

    #[test]
    fn gnu_spellings_and_any_order() {
        let expected = Pick {
            basket: "a=b c".into(),
            count: Some(crate::Within::new(7)),
            ripe: true,
            fruit: Fruit::RedApple,
            tag: vec![],
        };
        assert_eq!(pick(&["--ripe", "--basket=a=b c", "--fruit", "red-apple", "--count=7"]).unwrap(), expected);
        assert_eq!(
            pick(&["--count", "7", "--fruit=red-apple", "--basket", "a=b c", "--ripe", "--"]).unwrap(),
            expected
        );
        assert_eq!(pick(&["--basket", "-"]).unwrap().basket, "-");
        assert_eq!(pick(&["--basket", "--ripe"]).unwrap().basket, "--ripe");
        assert_eq!(pick(&["--basket", "", "--tag=x", "--tag", "-7"]).unwrap().tag, ["x", "-7"]);
    }

    #[test]
    fn mistakes_name_the_argument() {
        for (line, message, argument) in [
            (&["--basket"][..], "--basket needs a value", "--basket"),
            (&[], "--basket is required", "--basket"),
            (&["--basket=a", "--basket=b"], "--basket was given more than once", "--basket"),
            (&["--baskte=a"], "unknown argument \"--baskte\"", "--baskte"),
            (&["--basket=a", "stray"], "unexpected argument \"stray\"", "stray"),
            (&["--basket=a", "--", "stray"], "unexpected argument \"stray\"", "stray"),
            (&["--describe", "stray"], "unexpected argument \"stray\"", "stray"),
            (&["--version", "--baskte"], "unknown argument \"--baskte\"", "--baskte"),
            (&["--help=1"], "--help can not be \"1\": it is a switch and takes no value", "--help"),
            (&["-V="], "-V can not be \"\": it is a switch and takes no value", "-V"),
            (&["--basket=a", "--count=9"], "--count can not be \"9\": expected a whole number from 1 to 8", "--count"),
            (
                &["--basket=a", "--ripe=maybe"],
                "--ripe can not be \"maybe\": it is a switch and takes no value",
                "--ripe",
            ),
        ] {
            assert_eq!(refused(line), (message.to_owned(), argument.into()), "{line:?}");
        }
        let (message, argument) = refused(&["--basket=a", "--fruit=kiwi"]);
        assert_eq!(argument, "--fruit");
        assert!(message.contains("`pear`") && message.contains("`red-apple`"), "{message}");
    }

    #[test]
    fn a_number_is_refused_in_words() {
        for bad in ["", "-1", "1.5", "x", "99999999999999999999999"] {
            let reason = bad.parse::<u64>().unwrap_err().to_string();
            assert_eq!(in_words(&reason), format!("expected a whole number from 0 to {}", u64::MAX), "{bad:?}");
        }
    }

    #[test]
    fn the_nearest_name_is_suggested() {
        // Two letters make --as of --p, and of --x.
        assert_eq!(nearest("--p", &["--as", "--path"]), Some("--path"));
        assert_eq!(nearest("--x", &["--as", "--path"]), None);
        let nearest = |name: &str| pick(&[name, "x"]).err().unwrap().details().get("nearest").cloned();
        assert_eq!(nearest("--baskett"), Some("--basket".into()));
        assert_eq!(nearest("--bask"), Some("--basket".into()));
        assert_eq!(nearest("-bask"), Some("--basket".into()));
        assert_eq!(nearest("-c"), Some("--count".into()));
        assert_eq!(nearest("-x"), None);
        assert_eq!(nearest("--elephant"), None);
    }

    #[cfg(unix)]
    #[test]
    fn not_utf8_is_a_clear_error() {
        use std::os::unix::ffi::OsStringExt;
        let odd = |text: &[u8]| OsString::from_vec(text.to_vec());
        for (line, argument) in [
            (vec!["--basket".into(), odd(b"a\xFF")], "--basket"),
            (vec![odd(b"--basket=a\xFF")], "--basket"),
            (vec!["--basket=a".into(), odd(b"--caf\xE9")], "--caf\u{fffd}"),
            (vec![odd(b"\xFF")], "\u{fffd}"),
        ] {
            let error = parse::<Pick>(line).err().unwrap();
            assert!(error.message().contains("not UTF-8") && error.details()["argument"] == argument, "{error}");
        }
    }

    #[test]
    fn json_arguments_are_the_same_arguments() {
        let json = r#"{"basket": "it's \"日本\"", "count": "7", "ripe": true, "fruit": "red-apple", "tag": ["x", 2], "wait_for_previous": true}"#;
        let picked = pick(&["--arguments", json]).unwrap();
        assert_eq!(
            (picked.basket.as_str(), picked.count, picked.ripe),
            ("it's \"日本\"", Some(crate::Within::new(7)), true)
        );
        assert_eq!(picked.tag, ["x", "2"]);
        assert_eq!(
            pick(&["--arguments", r#"{"basket":"a","count":5.0,"ripe":"false"}"#]).unwrap().count,
            Some(crate::Within::new(5))
        );
        assert_eq!(refused(&["--arguments", r#"{"basket":["a","b"]}"#]).1, "--basket");
        assert_eq!(refused(&["--arguments", "[1]"]).1, "--arguments");
        assert_eq!(refused(&["--arguments", r#"{"basket":"a","ripe":{}}"#]).1, "--ripe");
        assert_eq!(refused(&["--basket=a", "--arguments", r#"{"basket":"b"}"#]).1, "--basket");
    }

    #[test]
    fn a_key_stands_once_in_json() {
        for (json, argument) in [
            (r#"{"basket":"a","basket":"b"}"#, "--basket"),
            (r#"{"basket":"a","basket":null}"#, "--basket"),
            (r#"{"basket":"a","tag":["x"],"tag":["y"]}"#, "--tag"),
            (r#"{"basket":"a","ripe":true,"r\u0069pe":false}"#, "--ripe"),
        ] {
            assert_eq!(
                refused(&["--arguments", json]),
                (format!("{argument} was given more than once"), argument.into())
            );
        }
    }

    #[test]
    fn what_is_asked_first_is_answered() {
        let asked = |line: &[&str]| parse::<Pick>(line.iter().map(OsString::from)).unwrap();
        assert!(matches!(asked(&["--version", "--help"]), Parsed::Version));
        assert!(matches!(asked(&["--count=2", "-h", "-V", "--ripe"]), Parsed::Help(_)));
        assert!(matches!(asked(&["--describe", "--basket", "--version"]), Parsed::Describe));
        assert_eq!(pick(&["--basket", "--version"]).unwrap().basket, "--version");
    }

    #[test]
    fn help_names_every_option() {
        let Ok(Parsed::Help(text)) = parse::<Pick>(["--help".into()]) else { panic!("help") };
        for name in ["--basket", "--count", "--ripe", "--fruit", "--describe", "--version", "--arguments"] {
            assert!(text.contains(name), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_command_line_panics(words in prop::collection::vec("(-{0,2}(basket|count|arguments|x)?=?)?.{0,6}", 0..5)) {
            let _ = parse::<Pick>(words.into_iter().filter(|word| word != "--arguments").map(OsString::from));
        }

        #[test]
        fn any_text_is_a_value(text in ".*") {
            prop_assert_eq!(&pick(&["--basket", &text]).unwrap().basket, &text);
            prop_assert_eq!(&pick(&[&format!("--basket={text}")]).unwrap().basket, &text);
            let json = serde_json::json!({"basket": text}).to_string();
            prop_assert_eq!(&pick(&["--arguments", &json]).unwrap().basket, &text);
        }
    }
}
