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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scope, word};

    /// The rule that refuses `find` with these arguments in a project with the folder `src`.
    fn refuses(arguments: &str) -> Option<&'static str> {
        let (_folder, scope) = Scope::of_project(&["src/a.md", ".env"]);
        let cwds = [scope.cwd().to_path_buf()];
        check(&word::split(arguments).unwrap(), &CommandContext { cwds: &cwds, scope: &scope })
            .err()
            .map(|why| why.rule)
    }

    #[test]
    fn a_search_that_only_tests_and_prints_is_allowed() {
        for line in [
            "",
            "-P src -type f",
            ". src -name '*.md' -print0",
            r"src \( -name a -o ! -name b \) -prune",
            "src -newer src/a.md -size +1k",
            // The value of a test is not an action.
            ". -name -delete",
        ] {
            assert_eq!(refuses(line), None, "{line}");
        }
    }

    #[test]
    fn actions_and_paths_outside_are_refused() {
        for (line, rule) in [
            (". -delete", "option"),
            (r". -exec rm {} \;", "option"),
            (r". -type f -okdir sh {} \;", "option"),
            (". -fprint out", "option"),
            ("-L .", "option"),
            (". -files0-from list", "option"),
            (". -name", "option"),
            (". -newer", "option"),
            (". -n[a]me x", "option"),
            ("/etc -name x", "path"),
            (". -samefile /etc/shadow", "path"),
            ("src ../..", "path"),
            (". -newer .env", "path"),
        ] {
            assert_eq!(refuses(line), Some(rule), "{line}");
        }
    }
}
