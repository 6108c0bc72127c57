//! `find` without actions: its expression may only test and print.

use super::{CommandContext, refused};
use crate::{Reason, word::Word};

/// Tests, operators and options without a value.
const ALONE: &[&str] = &[
    "!",
    "(",
    ")",
    ",",
    "-a",
    "-and",
    "-d",
    "-daystart",
    "-depth",
    "-empty",
    "-executable",
    "-false",
    "-ignore_readdir_race",
    "-ls",
    "-mount",
    "-nogroup",
    "-noignore_readdir_race",
    "-noleaf",
    "-not",
    "-nouser",
    "-nowarn",
    "-o",
    "-or",
    "-print",
    "-print0",
    "-prune",
    "-quit",
    "-readable",
    "-true",
    "-warn",
    "-writable",
    "-xdev",
];

/// Options and tests with a text argument.
const WITH_TEXT: &[&str] = &[
    "-amin",
    "-atime",
    "-cmin",
    "-ctime",
    "-fstype",
    "-gid",
    "-group",
    "-ilname",
    "-iname",
    "-inum",
    "-ipath",
    "-iregex",
    "-iwholename",
    "-links",
    "-lname",
    "-maxdepth",
    "-mindepth",
    "-mmin",
    "-mtime",
    "-name",
    "-newermt",
    "-path",
    "-perm",
    "-printf",
    "-regex",
    "-regextype",
    "-size",
    "-type",
    "-uid",
    "-used",
    "-user",
    "-wholename",
    "-xtype",
];

/// Tests with a path argument.
const WITH_PATH: &[&str] = &["-newer", "-anewer", "-cnewer", "-samefile"];

pub(super) fn check(arguments: &[Word], context: &CommandContext<'_>) -> Result<(), Reason> {
    let starts_expression = |word: &Word| word.text.starts_with('-') || ["(", "!", ","].contains(&word.text.as_str());
    let arguments = match arguments {
        [first, rest @ ..] if first.text == "-P" => rest,
        all => all,
    };
    let end = arguments.iter().position(starts_expression).unwrap_or(arguments.len());
    let (starts, expression) = arguments.split_at(end);
    starts.iter().try_for_each(|word| context.path(word))?;
    let mut rest = expression.iter();
    while let Some(word) = rest.next() {
        let name = word.text.as_str();
        let mut value = || rest.next().ok_or_else(|| refused("find", word));
        if !word.globs.is_empty() {
            return Err(refused("find", word));
        } else if WITH_TEXT.contains(&name) {
            value()?;
        } else if WITH_PATH.contains(&name) {
            context.path(value()?)?;
        } else if !ALONE.contains(&name) {
            return Err(refused("find", word));
        }
    }
    Ok(())
}
