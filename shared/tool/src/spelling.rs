//! The spelling of options for callers who write JSON: they have keys in place of flags.

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
            Self::Person => text.to_owned(),
            Self::Model => rewritten_for_json(text, is_own),
        }
    }
}

/// `error` for a caller who writes JSON arguments, of a tool with the options that `is_own` accepts.
pub(crate) fn in_json(error: Error, is_own: impl Fn(&str) -> bool) -> Error {
    error.rewritten_for_json(|text| rewritten_for_json(text, &is_own), |name| is_own(name).then(|| json_key(name)))
}

/// How a text speaks of the option `--x` to a caller who writes JSON: `x`, or `x: false` for `--no-x`.
fn key_in_text(option: &str) -> String {
    let key = json_key(option);
    if option.starts_with("--no-") { format!("{key}: false") } else { key }
}

/// The executables that are not tools: a host has no other name in JSON.
const HOSTS: [&str; 4] = ["ragmaker-agent", "ragmaker-call", "ragmaker-discover", "ragmaker-mcp"];

/// The executable of a tool at the beginning of `text`, such as `ragmaker-browser-open`. A path or another name that
/// only begins like one is none.
fn executable(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !(c.is_ascii_lowercase() || c == '-')).unwrap_or(text.len());
    let (name, after) = text.split_at(end);
    let mut after = after.chars();
    let ends = match after.next() {
        None | Some(' ' | ',' | ';' | ':' | ')' | '`') => true,
        Some('.') => after.next().is_none_or(char::is_whitespace),
        Some(_) => false,
    };
    (ends && name.len() > "ragmaker-".len() && name.starts_with("ragmaker-") && !HOSTS.contains(&name)).then_some(name)
}

/// The name of a tool in JSON, such as `browser_open`, for its executable.
pub(crate) fn tool_name(executable: &str) -> String {
    executable.trim_start_matches("ragmaker-").replace('-', "_")
}

/// `text` for a caller who writes JSON. Names of executables become names of tools. Options that `is_own` accepts, or
/// that follow the name of a tool, become keys of JSON arguments: `ragmaker-browser-open --no-headless` becomes
/// `browser_open (headless: false)`. An option that only a host may set is named as one. Text in double quotes is
/// quoted from the caller and stays unchanged.
pub(crate) fn rewritten_for_json(text: &str, is_own: &impl Fn(&str) -> bool) -> String {
    let (mut out, mut quoted, mut rest) = (String::with_capacity(text.len()), false, text);
    // The length of `out` where an option would belong to the tool before it.
    let mut after_tool = None;
    while let Some(c) = rest.chars().next() {
        let starts_word = !out.ends_with(|before: char| before.is_alphanumeric() || before == '-');
        if !quoted && starts_word && rest.starts_with("--") {
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(rest.len());
            let option = rest[..end].trim_end_matches('-');
            let is_of_tool = || after_tool == Some(out.len());
            let spelled = if is_own(option) {
                Some(key_in_text(option))
            } else if HostOptions::flags().any(|flag| flag.long == option) {
                Some(format!("the host option {}", &option[2..]))
            } else {
                (option.len() > 2 && is_of_tool()).then(|| format!("({})", key_in_text(option)))
            };
            if let Some(spelled) = spelled {
                out += &spelled;
                rest = &rest[option.len()..];
                continue;
            }
        }
        let starts_name = !quoted && (out.is_empty() || out.ends_with([' ', '(', '`']));
        if let Some(name) = executable(rest).filter(|_| starts_name) {
            out += &tool_name(name);
            after_tool = Some(out.len() + 1);
            rest = &rest[name.len()..];
            continue;
        }
        if c == '\\' && quoted {
            // An escaped quote does not end the quotation.
            let two = rest.chars().take(2).map(char::len_utf8).sum();
            out += &rest[..two];
            rest = &rest[two..];
            continue;
        }
        quoted ^= c == '"';
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ARGUMENT_ERROR;

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
}
