//! The spelling of options and of tools for a caller: those who write JSON have keys in place of flags, and those who
//! started `ragmaker` have its commands in place of executables.

use std::{borrow::Cow, env, ffi::OsStr, path::Path};

use crate::{Caller, Error, HostOptions};

/// The name of the field for the option `long`, in snake case.
pub(crate) fn field_name(long: &str) -> String {
    long.trim_start_matches('-').replace('-', "_")
}

/// The key of JSON arguments for the option `long`: the name of its field, or `x` for the switch `--no-x`, which is
/// true unless it is given.
pub(crate) fn json_key(long: &str) -> String {
    field_name(long.strip_prefix("--no-").unwrap_or(long))
}

impl Caller {
    /// Advice such as `Run ragmaker-browser-open --no-headless.` in the words of this caller of a tool with the options
    /// that `is_own` accepts: a model has no options, but keys.
    pub fn advice(self, text: &str, is_own: &impl Fn(&str) -> bool) -> String {
        match self {
            Self::Person => Commands::of_process().spelled(text).into_owned(),
            Self::Model => rewritten_for_json(text, &[], is_own),
        }
    }
}

/// How a person calls the tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commands {
    /// Each is an executable: `ragmaker-read-file`.
    Executables,
    /// Each is a command of `ragmaker`: `ragmaker read-file`. There need not be other executables.
    OfRagmaker,
}

impl Commands {
    /// As the person called this process.
    pub fn of_process() -> Self {
        Self::of(env::args_os().next().as_deref().unwrap_or_default())
    }

    fn of(started_as: &OsStr) -> Self {
        let name = Path::new(started_as).file_name().unwrap_or_default();
        let name = name.to_str().map(|name| name.strip_suffix(env::consts::EXE_SUFFIX).unwrap_or(name));
        if name == Some("ragmaker") { Self::OfRagmaker } else { Self::Executables }
    }

    /// `text` with the names of executables as the person calls them. Text in double quotes is quoted from the caller
    /// and stays unchanged.
    pub fn spelled(self, text: &str) -> Cow<'_, str> {
        if self == Self::Executables || !text.contains(START) {
            return Cow::Borrowed(text);
        }
        let (mut out, mut quotation, mut rest) = (String::with_capacity(text.len()), Quotation::default(), text);
        while let Some(c) = rest.chars().next() {
            if let Some(name) = executable(rest).filter(|_| !quotation.is_open && starts_name(&out)) {
                out += "ragmaker ";
                out += &name[START.len()..];
                rest = &rest[name.len()..];
                continue;
            }
            let taken = quotation.take(c, rest);
            out += taken;
            rest = &rest[taken.len()..];
        }
        Cow::Owned(out)
    }
}

impl Error {
    /// The error for the person who called this process: tools are named as the person calls them.
    #[must_use]
    pub fn for_person(self) -> Self {
        let commands = Commands::of_process();
        self.respelled(|text, _| commands.spelled(text).into_owned(), |_| None)
    }
}

/// `error` for a caller who writes JSON arguments, of a tool with the options that `is_own` accepts.
pub(crate) fn in_json(error: Error, is_own: impl Fn(&str) -> bool) -> Error {
    error.respelled(
        |text, values| rewritten_for_json(text, values, &is_own),
        |name| is_own(name).then(|| json_key(name)),
    )
}

/// How a text speaks of the option `--x` to a caller who writes JSON: `x`, or `x: false` for `--no-x`.
fn key_in_text(option: &str) -> String {
    let key = json_key(option);
    if option.starts_with("--no-") { format!("{key}: false") } else { key }
}

/// The executables that serve all tools and are not tools themselves. A model never calls them, so they have no other
/// name in JSON.
pub const HOSTS: [&str; 4] = ["ragmaker-agent", "ragmaker-call", "ragmaker-discover", "ragmaker-mcp"];

/// The beginning of the name of each executable.
const START: &str = "ragmaker-";

/// The executable at the beginning of `text`, such as `ragmaker-browser-open`. A path or another name that only begins
/// like one is none.
fn executable(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !(c.is_ascii_lowercase() || c == '-')).unwrap_or(text.len());
    let (name, after) = text.split_at(end);
    (ends_name(after) && name.len() > START.len() && name.starts_with(START)).then_some(name)
}

/// Whether a name ends before `after`. A path goes on instead.
fn ends_name(after: &str) -> bool {
    let mut after = after.chars();
    match after.next() {
        None | Some(' ' | '\n' | ',' | ';' | ':' | ')' | '`') => true,
        Some('.') => after.next().is_none_or(char::is_whitespace),
        Some(_) => false,
    }
}

/// The option at the beginning of `text`, such as `--start-line`, as a whole word; also before `=` and a value.
fn option(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(text.len());
    let (name, after) = text.split_at(end);
    (name.len() > 2 && name.starts_with("--") && (ends_name(after) || after.starts_with('='))).then_some(name)
}

/// Whether `text` begins with `value`, and with words that would be respelled.
fn is_value_at(text: &str, value: &str) -> bool {
    (value.contains("--") || value.contains(START)) && text.strip_prefix(value).is_some_and(ends_name)
}

/// Whether a name can start after `out`.
fn starts_name(out: &str) -> bool {
    out.is_empty() || out.ends_with([' ', '\n', '(', '`'])
}

/// Text in double quotes, as it is read.
#[derive(Default)]
struct Quotation {
    is_open: bool,
}

impl Quotation {
    /// Takes `c`, the first character of `rest`, and returns the text that belongs to it.
    fn take<'a>(&mut self, c: char, rest: &'a str) -> &'a str {
        if c == '\\' && self.is_open {
            // An escaped quote does not end the quotation.
            return &rest[..rest.chars().take(2).map(char::len_utf8).sum()];
        }
        self.is_open ^= c == '"';
        &rest[..c.len_utf8()]
    }
}

/// The name of a tool in JSON, such as `browser_open`, for its executable.
pub(crate) fn tool_name(executable: &str) -> String {
    executable.trim_start_matches(START).replace('-', "_")
}

/// `text` for a caller who writes JSON. Names of executables become names of tools. Options that `is_own` accepts
/// become keys of JSON arguments. Those after the name of a tool are that tool's: `ragmaker-browser-open --no-headless`
/// becomes `browser_open (headless: false)`. An option that only a host may set is named as one. Text in double quotes is
/// quoted from the caller and stays unchanged, as do `values` of the caller.
pub(crate) fn rewritten_for_json(text: &str, values: &[String], is_own: &impl Fn(&str) -> bool) -> String {
    let (mut out, mut quotation, mut rest) = (String::with_capacity(text.len()), Quotation::default(), text);
    let is_of_host = |option: &str| HostOptions::flags().any(|flag| flag.long == option);
    while let Some(c) = rest.chars().next() {
        let starts_word = !quotation.is_open && starts_name(&out);
        let value =
            values.iter().filter(|value| starts_word && is_value_at(rest, value)).max_by_key(|value| value.len());
        if let Some(value) = value {
            out += value;
            rest = &rest[value.len()..];
            continue;
        }
        if let Some(option) = option(rest).filter(|_| starts_word) {
            let spelled = if is_own(option) {
                Some(key_in_text(option))
            } else {
                is_of_host(option).then(|| format!("the host option {}", &option[2..]))
            };
            if let Some(spelled) = spelled {
                out += &spelled;
                rest = &rest[option.len()..];
                continue;
            }
        }
        let is_tool = |name: &&str| starts_word && !HOSTS.contains(name);
        if let Some(name) = executable(rest).filter(is_tool) {
            out += &tool_name(name);
            rest = &rest[name.len()..];
            let mut keys = vec![];
            while let Some(option) = rest.strip_prefix(' ').and_then(option).filter(|option| !is_of_host(option)) {
                keys.push(key_in_text(option));
                rest = &rest[1 + option.len()..];
            }
            if !keys.is_empty() {
                out.extend([" (", &keys.join(", "), ")"]);
            }
            continue;
        }
        let taken = quotation.take(c, rest);
        out += taken;
        rest = &rest[taken.len()..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ARGUMENT_ERROR;

    #[test]
    fn a_person_is_told_the_commands_that_are_there() {
        for (started_as, commands) in [
            ("ragmaker", Commands::OfRagmaker),
            ("/opt/bin/ragmaker", Commands::OfRagmaker),
            ("ragmaker-read-file", Commands::Executables),
            ("./ragmaker/read-file", Commands::Executables),
            ("", Commands::Executables),
        ] {
            assert_eq!(Commands::of(OsStr::new(started_as)), commands, "{started_as}");
        }
        let text = "Run ragmaker-browser-open --no-headless (ragmaker-cite, or `ragmaker-mcp`): ragmaker-think\n\
                    Not \"ragmaker-cite \\\" ragmaker-x\", /opt/ragmaker-cite, ragmaker-0.1.0 or ragmaker-x.md.";
        let expected = "Run ragmaker browser-open --no-headless (ragmaker cite, or `ragmaker mcp`): ragmaker think\n\
                        Not \"ragmaker-cite \\\" ragmaker-x\", /opt/ragmaker-cite, ragmaker-0.1.0 or ragmaker-x.md.";
        assert_eq!(Commands::OfRagmaker.spelled(text), expected);
        assert_eq!(Commands::Executables.spelled(text), text);
    }

    #[test]
    fn options_are_spelled_as_the_caller_writes_arguments() {
        let is_own = |option: &str| matches!(option, "--start-line" | "--no-wrap");
        let error = ARGUMENT_ERROR
            .error("--start-line cannot be \"--start-line \\\" --start-line\": see --start-line, not --start-lines or x--start-line")
            .remedy("Use --start-line=1 or --tail, or --no-wrap; then ragmaker-browser-open --no-headless, ragmaker-x with --allow-root, --- and ragmaker-verify. See ragmaker-mcp, ragmaker-x.md.")
            .detail("argument", "--start-line")
            .detail("missing", vec!["--no-wrap", "--tail"]);
        let error = in_json(error, is_own);
        let quoted = "\"--start-line \\\" --start-line\"";
        let expected = format!("start_line cannot be {quoted}: see start_line, not --start-lines or x--start-line");
        assert_eq!(error.message(), expected);
        let json = serde_json::to_value(&error).unwrap();
        assert_eq!(
            json["remediation_suggestion"],
            "Use start_line=1 or --tail, or wrap: false; then browser_open (headless: false), x with the host option allow-root, --- and verify. See ragmaker-mcp, ragmaker-x.md."
        );
        assert_eq!(json["details"], serde_json::json!({"argument": "start_line", "missing": ["wrap", "--tail"]}));
    }

    #[test]
    fn options_after_the_name_of_a_tool_are_those_of_the_tool() {
        let is_own = |option: &str| matches!(option, "--merge" | "--no-headless");
        for (text, expected) in [
            ("Run ragmaker-x --merge --force.", "Run x (merge, force)."),
            ("Run ragmaker-x --no-headless, then call again.", "Run x (headless: false), then call again."),
            ("Run ragmaker-x with --merge.", "Run x with merge."),
            ("Run ragmaker-x --selector (or ragmaker-x --wait-for).", "Run x (selector) (or x (wait_for))."),
        ] {
            assert_eq!(rewritten_for_json(text, &[], &is_own), expected);
        }
    }

    #[test]
    fn names_of_files_are_not_respelled() {
        let is_own = |option: &str| matches!(option, "--path" | "--x");
        for (path, message, expected) in [
            ("notes--x.md", "notes--x.md is no --path", "notes--x.md is no path"),
            ("--path.txt", "--path.txt is no --path", "--path.txt is no path"),
            ("/a/--path", "/a/--path: use --path, not --x.", "/a/--path: use path, not x."),
            ("/a b/--x", "no file (--x=1) at /a b/--x", "no file (x=1) at /a b/--x"),
            ("--path", "--path is a folder", "--path is a folder"),
            ("/a --path b.md", "there is no /a --path b.md; see --path", "there is no /a --path b.md; see path"),
            ("see ragmaker-cite", "see ragmaker-cite: not ragmaker-cite", "see ragmaker-cite: not cite"),
        ] {
            let error = ARGUMENT_ERROR.error(message).remedy(message).detail("argument", "--x").detail("path", path);
            let error = in_json(error, is_own);
            assert_eq!((error.message(), error.remediation()), (expected, expected));
            assert_eq!((&error.details()["argument"], &error.details()["path"]), (&"x".into(), &path.into()));
        }
    }
}
