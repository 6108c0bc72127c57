//! The effects of programs, in words for the person who decides.

use super::names::{deletes, is_fetcher, is_interpreter};

/// Effects, and the programs that have them.
const KINDS: &[(&str, &[&str])] = &[
    (
        "it changes files",
        &["cp", "mv", "ln", "tee", "touch", "mkdir", "truncate", "install", "patch", "dd", "rsync", "split"],
    ),
    ("it changes permissions or owners", &["chmod", "chown", "chgrp", "chattr", "setfacl"]),
    (NETWORK, &["ssh", "scp", "sftp", "rsync", "ftp", "ping", "dig", "nslookup", "host"]),
    ("it runs as another user", &["sudo", "doas", "su", "runuser", "pkexec"]),
    (PROGRAM, &["awk", "gawk", "mawk", "nawk", "eval", "source", ".", "xargs", "parallel"]),
    (
        "it runs or installs code of the project or of its packages",
        &[
            "make", "cargo", "npm", "npx", "yarn", "pnpm", "pip", "pip3", "pipx", "uv", "gem", "go", "mvn", "gradle",
            "cmake", "apt", "apt-get", "dnf", "yum", "brew", "pacman", "apk", "composer", "just",
        ],
    ),
    (
        "it reaches the whole machine",
        &["docker", "podman", "kubectl", "systemctl", "mount", "umount", "crontab", "at", "iptables"],
    ),
    ("it ends processes", &["kill", "pkill", "killall", "xkill"]),
    (
        "it changes the meaning of commands, or sets code that runs later",
        &["alias", "export", "trap", "set", "unset", "exec", "enable", "shopt"],
    ),
];

const NETWORK: &str = "it reaches the network";
const PROGRAM: &str = "it runs a program that is given as text or in a file";

/// The effects of the program `name`.
pub(super) fn of(name: &str) -> impl Iterator<Item = &'static str> {
    let kinds = KINDS.iter().filter(move |(_, names)| names.contains(&name)).map(|(does, _)| *does);
    let lists = [(deletes(name), "it deletes files"), (is_fetcher(name), NETWORK), (is_interpreter(name), PROGRAM)];
    lists.into_iter().filter(|(is, _)| *is).map(|(_, does)| does).chain(kinds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_told_each_effect_of_a_program_once() {
        for (name, effects) in [
            ("rm", &["it deletes files"][..]),
            ("curl", &[NETWORK]),
            ("python3", &[PROGRAM]),
            ("rsync", &["it changes files", NETWORK]),
            ("sudo", &["it runs as another user"]),
            ("eval", &[PROGRAM]),
            ("cat", &[]),
            ("", &[]),
        ] {
            assert_eq!(of(name).collect::<Vec<_>>(), effects, "{name}");
        }
    }

    #[test]
    fn no_program_that_needs_no_approval_has_an_effect() {
        let listed = KINDS.iter().flat_map(|(_, names)| *names).filter(|name| crate::programs::is_listed(name));
        assert_eq!(listed.collect::<Vec<_>>(), Vec::<&&str>::new());
    }
}
