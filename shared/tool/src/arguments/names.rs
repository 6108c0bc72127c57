//! Names of arguments: the most similar valid name for a mistyped one, and errors that name an argument.

use crate::{ARGUMENT_ERROR, Error};

/// The one of `names` that `name` was likely meant to be.
pub fn nearest<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    // A name that starts with what was typed comes first: every short name is near to a single letter.
    let distance = |known: &&'a str| if known.starts_with(name) { 0 } else { strsim::osa_distance(known, name) };
    let (distance, known) =
        names.iter().map(|known| (distance(known), *known)).min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + known.len().min(name.len()) / 4 || name.starts_with(known)).then_some(known)
}

/// `error` with the advice to use `nearest` instead.
pub(super) fn suggesting(error: Error, nearest: &str) -> Error {
    error.remedy(format!("Did you mean {nearest}?")).detail("nearest", nearest)
}

pub(super) fn unexpected(text: &str) -> Error {
    ARGUMENT_ERROR.error(format!("unexpected argument {text:?}")).detail("argument", text)
}

/// The error for the argument `name`, which was given twice.
pub fn repeated(name: &str) -> Error {
    ARGUMENT_ERROR
        .error(format!("{name} was given more than once"))
        .remedy(format!("Give {name} once."))
        .detail("argument", name)
}

/// The error for the option `long`, whose value is both `value` after the option and the word `word`.
pub(super) fn given_as_both(long: &str, value: &str, word: &str) -> Error {
    ARGUMENT_ERROR
        .error(format!("{long} was given twice: as {long} {value:?} and as the word {word:?}"))
        .remedy(format!("Give {long} once, with or without its name; quote a value with spaces."))
        .detail("argument", long)
        .detail("value", value)
        .detail("word", word)
}

pub(super) fn missing_value(long: &str) -> Error {
    ARGUMENT_ERROR
        .error(format!("{long} needs a value"))
        .remedy(format!("Write {long} VALUE or {long}=VALUE."))
        .detail("argument", long)
}

pub(super) fn bad_value(name: &str, value: &str, reason: &str) -> Error {
    ARGUMENT_ERROR
        .error(format!("{name} cannot be {value:?}: {reason}"))
        .detail("argument", name)
        .detail("value", value)
}

/// The error for a `value` that its type refused, in the words of argh or of serde.
pub(super) fn refused_value(name: &str, value: &str, reason: &str) -> Error {
    let error = bad_value(name, value, in_words(reason));
    // Choices, where there are some, are quoted like this: "unknown variant `x`, expected `a` or `b`".
    let is_choice = |quoted: &&str| !quoted.is_empty() && !quoted.contains(' ') && *quoted != value;
    let choices: Vec<&str> = reason.split('`').filter(is_choice).collect();
    match nearest(value, &choices) {
        Some(nearest) => suggesting(error, nearest),
        None => error,
    }
}

/// The reason why a value was refused, in general terms in place of those of Rust's parsers.
pub(super) fn in_words(reason: &str) -> &str {
    match reason {
        "invalid digit found in string"
        | "cannot parse integer from empty string"
        | "number too large to fit in target type" => "expected a whole number of at least 0",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_one_that_was_likely_meant() {
        let names = ["--path", "--limit", "--offset", "--no-ignore", "--kb-root"];
        for (typed, expected) in [
            ("--pth", Some("--path")),
            ("--paht", Some("--path")),
            ("--lim", Some("--limit")),
            ("--offsets", Some("--offset")),
            ("--no-ignored", Some("--no-ignore")),
            ("--path-to-the-file", Some("--path")),
            ("--kbroot", Some("--kb-root")),
            ("--colour", None),
            ("--x", None),
        ] {
            assert_eq!(nearest(typed, &names), expected, "{typed}");
        }
        assert_eq!(nearest("--path", &[]), None);
    }

    #[test]
    fn a_refused_value_names_its_type_or_the_nearest_choice() {
        let number = refused_value("--limit", "x", "invalid digit found in string");
        assert_eq!(number.message(), "--limit cannot be \"x\": expected a whole number of at least 0");
        let choice = refused_value("--sort", "nmae", "unknown variant `nmae`, expected `name` or `modified`");
        assert_eq!(choice.details()["nearest"], "name");
        let none = refused_value("--sort", "zzzz", "unknown variant `zzzz`, expected `name` or `modified`");
        assert!(!none.details().contains_key("nearest"), "{none}");
    }
}
