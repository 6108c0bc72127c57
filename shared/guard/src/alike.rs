//! Lines that are like another: what a person approves with "always", or by the beginning of a line in the
//! configuration.
//!
//! A beginning says nothing of a program that runs another one, or whose options and operands decide what it does:
//! `find . -name x -delete` and `find . -exec rm {} +` begin alike. Such a line is like itself only.

use crate::{
    harm::names::{base, deletes, is_interpreter, is_shell, is_wrapper},
    programs,
    word::Word,
};

/// Programs that run others, as their options or operands say. Wrappers, shells and interpreters are not listed here.
const RUNNERS: [&str; 56] = [
    "at",
    "awk",
    "batch",
    "bundle",
    "bunx",
    "conda",
    "crontab",
    "difft",
    "direnv",
    "docker",
    "ed",
    "emacs",
    "entr",
    "ex",
    "fd",
    "fdfind",
    "find",
    "gawk",
    "gdb",
    "hyperfine",
    "kubectl",
    "lldb",
    "ltrace",
    "mawk",
    "mosh",
    "nawk",
    "nix",
    "nix-shell",
    "npx",
    "nsenter",
    "nvim",
    "perf",
    "pipenv",
    "pipx",
    "pnpx",
    "podman",
    "poetry",
    "proot",
    "rsync",
    "scp",
    "screen",
    "script",
    "sed",
    "sftp",
    "ssh",
    "su",
    "systemd-run",
    "tar",
    "tmux",
    "unshare",
    "uv",
    "uvx",
    "valgrind",
    "vi",
    "vim",
    "zip",
];

/// Commands of Git that run programs, or make it run programs later.
const RUNNERS_OF_GIT: [&str; 8] =
    ["bisect", "config", "difftool", "filter-branch", "for-each-repo", "mergetool", "rebase", "submodule"];

/// Programs whose operands are what they change.
const CHANGERS: [&str; 14] = [
    "chgrp", "chmod", "chown", "cp", "dd", "install", "kill", "killall", "ln", "mv", "patch", "pkill", "tee",
    "truncate",
];

/// Commands whose next word names what is run: `npm run build`.
const VERBS: [&str; 4] = ["dlx", "exec", "run", "x"];

/// The words of a command by whose beginning it may be approved, without wrappers that only limit it: `timeout`,
/// `nice`, `time`, `env` without variables. `None` if its beginning does not say what it does.
pub(crate) fn words(command: &[Word]) -> Option<Vec<String>> {
    let (first, arguments) = command.split_first()?;
    let program = base(&first.text);
    if first.text.contains('=') || first.home || !first.globs.is_empty() {
        return None;
    }
    if let Some(inner) = programs::unwrapped(program, arguments).ok()? {
        return words(inner);
    }
    let runs_others = is_wrapper(program) || is_shell(program) || is_interpreter(program) || RUNNERS.contains(&program);
    // Options of Git before its command can name a program.
    let runs_of_git = program == "git"
        && arguments.first().is_some_and(|word| {
            RUNNERS_OF_GIT.contains(&word.text.as_str()) || (word.text.starts_with('-') && word.text != "--no-pager")
        });
    (!runs_others && !runs_of_git).then(|| command.iter().map(|word| word.text.clone()).collect())
}

/// The first of `words` that stand for all lines like it: a program and its subcommand. `None` if it is like itself
/// only.
pub(crate) fn beginning(words: &[String]) -> Option<&[String]> {
    let [first, second, rest @ ..] = words else { return None };
    let program = base(first);
    let is_subcommand = second.starts_with(|c: char| c.is_ascii_lowercase())
        && second.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_:".contains(c));
    // A program that can only read is asked about because of its further options.
    if !is_subcommand || deletes(program) || CHANGERS.contains(&program) || programs::is_listed(program) {
        return None;
    }
    if VERBS.contains(&second.as_str()) {
        return rest.first().filter(|what| !what.starts_with('-')).map(|_| &words[..3]);
    }
    Some(&words[..2])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<Vec<String>> {
        words(&crate::word::split(line).unwrap())
    }

    #[test]
    fn wrappers_are_seen_through_and_runners_are_like_themselves() {
        for (line, expected) in [
            ("cargo test --lib", "cargo test --lib"),
            ("timeout 5 touch a1", "touch a1"),
            ("nice -n 5 env time cargo build", "cargo build"),
            ("/usr/bin/timeout 5s rm -rf src", "rm -rf src"),
            ("git --no-pager log", "git --no-pager log"),
        ] {
            assert_eq!(of(line).map(|words| words.join(" ")).as_deref(), Some(expected), "{line}");
        }
        for line in [
            "find . -name x -delete",
            "xargs touch",
            "sudo apt update",
            "ssh host ls",
            "python3 x.py",
            "sh x.sh",
            "timeout -s KILL 5 touch a",
            "env PATH=. touch a",
            "nohup make",
            "flock x make",
            "timeout 5 xargs rm",
            "git -c core.pager=x log",
            "git -C sub push",
            "git config user.name x",
            "git rebase --exec x",
            "docker run x",
            "A=b make",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
    }

    #[test]
    fn a_beginning_is_a_program_with_its_subcommand() {
        for (line, expected) in [
            ("cargo test --lib", Some("cargo test")),
            ("npm run build -- --x", Some("npm run build")),
            ("npm run", None),
            ("npm exec -- rm x", None),
            ("git push origin", Some("git push")),
            ("rm notes", None),
            ("mv a b", None),
            ("sort a -o b", None),
            ("make", None),
            ("make -f x", None),
            ("curl http://a.example", None),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(beginning(&words).map(|words| words.join(" ")).as_deref(), expected, "{line}");
        }
    }
}
