//! The programs that may run without approval, with the arguments that only read.
//!
//! [`table`] lists options and operands. A program with its own language has a module. A line with an option that is
//! not listed needs an approval, even if the option is harmless.

mod awk;
mod contents;
mod find;
mod git;
mod options;
mod sed;
mod special;
mod table;

use std::path::PathBuf;

use crate::{Reason, Scope, paths, word::Word};

/// The context of a command.
pub(crate) struct CommandContext<'a> {
    /// The possible working directories.
    pub(crate) cwds: &'a [PathBuf],
    pub(crate) scope: &'a Scope,
}

/// The result of checking a command that only reads permitted paths.
#[derive(Debug)]
pub(crate) enum Allowed<'w> {
    /// The possible working directories after the command.
    Directories(Vec<PathBuf>),
    /// The command is a shell that runs this line, which must be checked as well. It does not change the
    /// directory.
    Line(&'w str),
}

impl CommandContext<'_> {
    fn path(&self, word: &Word) -> Result<(), Reason> {
        paths::check(word, self.cwds, self.scope)
    }
}

/// The folders of system programs: a path in them is equivalent to the name.
const SYSTEM: [&str; 5] = ["/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/"];

/// Checks that a command only reads permitted paths.
pub(crate) fn check<'w>(words: &'w [Word], context: &CommandContext<'_>) -> Result<Allowed<'w>, Reason> {
    let stays = || Allowed::Directories(context.cwds.to_vec());
    let Some((first, arguments)) = words.split_first() else {
        return Err(Reason::new("syntax", "there is no command in it"));
    };
    let unknown = || Reason::new("program", format!("{:?} is not among the programs that only read", first.text));
    if !first.globs.is_empty() || first.home || first.text.contains('=') {
        return Err(unknown());
    }
    let name = SYSTEM.iter().find_map(|folder| first.text.strip_prefix(folder)).unwrap_or(&first.text);
    if let Some(rest) = special::unwrapped(name, arguments)? {
        return Ok(match check(rest, context)? {
            // `timeout 5 cd src` starts a program, which some systems have, and does not change the directory.
            Allowed::Directories(after) => {
                let mut possible = context.cwds.to_vec();
                possible.extend(after.into_iter().filter(|folder| !context.cwds.contains(folder)));
                Allowed::Directories(possible)
            }
            line @ Allowed::Line(_) => line,
        });
    }
    if let Some(line) = special::shell_line(name, arguments) {
        return Ok(Allowed::Line(line));
    }
    if name == "cd" && first.text == "cd" {
        return special::cd(arguments, context).map(Allowed::Directories);
    }
    if special::asks_for_version(name, arguments, context)? {
        return Ok(stays());
    }
    match name {
        "awk" | "gawk" | "mawk" | "nawk" => awk::check(arguments, context)?,
        "find" => find::check(arguments, context)?,
        "git" => git::check(arguments, context)?,
        "sed" => sed::check(arguments, context)?,
        _ => {
            if !special::check(name, arguments, context)? {
                let entry = table::entry(name).ok_or_else(unknown)?;
                options::check(name, entry, arguments, context)?;
            }
        }
    }
    Ok(stays())
}

/// See [`special::unwrapped`].
pub(crate) fn unwrapped<'w>(name: &str, arguments: &'w [Word]) -> Result<Option<&'w [Word]>, Reason> {
    special::unwrapped(name, arguments)
}

/// See [`special::shell_line`].
pub(crate) fn shell_line<'w>(name: &str, arguments: &'w [Word]) -> Option<&'w str> {
    special::shell_line(name, arguments)
}

/// Whether a program is in the table of those that only read.
pub(crate) fn is_listed(name: &str) -> bool {
    table::entry(name).is_some()
}

/// The reason for refusing an argument.
fn refused(program: &str, word: &Word) -> Reason {
    Reason::new("option", format!("{program} with {:?}", word.text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word;

    /// The result for a line in a project with the folder `src`: `line`, `stays`, `src`, or the rule that refuses it.
    fn checked(line: &str) -> String {
        let (_folder, scope) = Scope::of_project(&["src/a.md", ".env"]);
        let cwds = [scope.cwd().to_path_buf()];
        match check(&word::split(line).unwrap(), &CommandContext { cwds: &cwds, scope: &scope }) {
            Ok(Allowed::Line(line)) => line.to_owned(),
            Ok(Allowed::Directories(folders)) if folders == cwds => "stays".to_owned(),
            Ok(Allowed::Directories(folders)) => {
                let names = folders.iter().map(|folder| folder.strip_prefix(&cwds[0]).unwrap().to_str().unwrap());
                names.collect::<Vec<_>>().join("|")
            }
            Err(reason) => reason.rule.to_owned(),
        }
    }

    #[test]
    fn a_program_is_known_by_its_name_or_its_path_in_the_system() {
        for line in ["cat src/a.md", "/bin/cat src/a.md", "/usr/bin/git --version", "timeout 5 nice ls src", "ls -l"] {
            assert_eq!(checked(line), "stays", "{line}");
        }
        for line in [
            "./cat src/a.md",
            "/tmp/cat src/a.md",
            "/bin/../tmp/cat src/a.md",
            "/usr/bin/local/cat src/a.md",
            "~/cat src/a.md",
            "c?t src/a.md",
            "PATH=. cat src/a.md",
            "timeout 5 rm src/a.md",
            "rm src/a.md",
            "Cat src/a.md",
            "''",
            // No such program is the builtin that changes the directory.
            "/bin/cd src",
        ] {
            assert_eq!(checked(line), "program", "{line}");
        }
        assert_eq!((checked(""), checked("env PATH=. cat src/a.md")), ("syntax".to_owned(), "option".to_owned()));
    }

    #[test]
    fn the_directory_after_a_command_and_the_line_of_a_shell_are_returned() {
        assert_eq!(checked("cd src"), "src");
        assert_eq!(checked("timeout 5 bash -c 'rm x'"), "rm x");
        // In another process, it does not change the directory of the line.
        assert_eq!(checked("timeout 5 cd src"), "|src");
    }

    #[test]
    fn a_file_with_keys_is_refused_whatever_program_reads_it() {
        for line in ["cat .env", "sed -n p .env", "awk 1 .env", "find .env", "git diff -- .env", "timeout 5 head .env"]
        {
            assert!(["path", "secret"].contains(&checked(line).as_str()), "{line}");
        }
    }
}
