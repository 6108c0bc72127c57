//! The names of programs by what they do, and the command in the arguments of a wrapper such as `sudo`.

use crate::syntax::{self, children, nodes, text};

/// Programs that run the command in their arguments.
const WRAPPERS: [&str; 27] = [
    "sudo", "doas", "env", "nohup", "setsid", "command", "builtin", "exec", "time", "stdbuf", "ionice", "nice", "chrt",
    "taskset", "timeout", "xargs", "watch", "flock", "chroot", "strace", "busybox", "toybox", "unbuffer", "parallel",
    "pkexec", "runuser", "coproc",
];

const SHELLS: [&str; 8] = ["sh", "bash", "zsh", "dash", "ksh", "fish", "ash", "rbash"];

const INTERPRETERS: [&str; 14] = [
    "python",
    "python2",
    "python3",
    "perl",
    "ruby",
    "node",
    "deno",
    "bun",
    "php",
    "lua",
    "pwsh",
    "osascript",
    "tclsh",
    "Rscript",
];

const FETCHERS: [&str; 22] = [
    "curl",
    "wget",
    "wget2",
    "fetch",
    "http",
    "https",
    "httpie",
    "xh",
    "curlie",
    "aria2c",
    "axel",
    "lynx",
    "w3m",
    "elinks",
    "GET",
    "lwp-request",
    "lwp-download",
    "nc",
    "ncat",
    "netcat",
    "socat",
    "telnet",
];

/// Commands that are recognised among a wrapper's arguments, in addition to those of the other lists.
const HARMFUL: [&str; 20] = [
    "mv",
    "cp",
    "chmod",
    "chown",
    "chgrp",
    "dd",
    "tee",
    "find",
    "shutdown",
    "reboot",
    "halt",
    "poweroff",
    "init",
    "telinit",
    "systemctl",
    "kill",
    "eval",
    "rsync",
    "sed",
    "ln",
];

/// Programs that delete files.
const DELETERS: [&str; 6] = ["rm", "unlink", "rmdir", "shred", "trash", "srm"];

/// Programs that format or partition a disk, beside `mkfs.*`.
const FORMATTERS: [&str; 11] =
    ["mkfs", "mke2fs", "mkswap", "wipefs", "fdisk", "sfdisk", "cfdisk", "gdisk", "sgdisk", "parted", "blkdiscard"];

/// The longest text in a substitution that is parsed to find out whether it fetches. A longer one that names a fetching
/// program counts as fetching.
const PARSED: usize = 2_000;

/// The name of a program without its folder.
pub(crate) fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

pub(crate) fn is_interpreter(name: &str) -> bool {
    SHELLS.contains(&name) || INTERPRETERS.iter().any(|one| name == *one || name.starts_with("python3."))
}

/// Whether a program deletes files.
pub(crate) fn deletes(name: &str) -> bool {
    DELETERS.contains(&name)
}

/// Whether a program formats or partitions a disk.
pub(super) fn is_formatter(name: &str) -> bool {
    FORMATTERS.contains(&name) || name.starts_with("mkfs.")
}

/// The command without its wrappers.
pub(super) fn unwrapped(words: &[String]) -> &[String] {
    stages(words).last().unwrap_or(words)
}

/// A command, the command in its arguments if it is a wrapper, and so on.
pub(super) fn stages(words: &[String]) -> impl Iterator<Item = &[String]> {
    std::iter::successors(Some(words), |words| inside(words))
}

/// The command in the arguments of a wrapper.
fn inside(words: &[String]) -> Option<&[String]> {
    let (first, rest) = words.split_first().filter(|(first, _)| is_wrapper(first))?;
    // A user may be called like a program, such as `git`.
    let names_user = ["sudo", "doas", "runuser", "pkexec", "env"].contains(&base(first));
    let is_user = |at: usize| {
        // The last of several letters takes the value: `-nu`.
        let takes_user = |option: &String| {
            let letters = option.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
            ["--user", "--group"].contains(&option.as_str()) || letters.is_some_and(|it| it.ends_with(['u', 'g', 'U']))
        };
        names_user && at.checked_sub(1).is_some_and(|at| takes_user(&rest[at]))
    };
    let is_command = |word: &String| {
        let name = base(word);
        let known = HARMFUL.contains(&name) || FETCHERS.contains(&name) || WRAPPERS.contains(&name) || deletes(name);
        !word.starts_with('-') && (known || is_interpreter(name) || is_formatter(name) || plain(name))
    };
    let at = (0..rest.len()).find(|at| is_command(&rest[*at]) && !is_user(*at))?;
    Some(&rest[at..])
}

/// Programs whose arguments are not commands.
fn plain(name: &str) -> bool {
    ["echo", "printf", "grep", "rg", "cat", "ls", "git", "awk", "base64", "openssl"].contains(&name)
}

/// Whether a program runs the command in its arguments.
pub(crate) fn is_wrapper(word: &str) -> bool {
    WRAPPERS.contains(&base(word))
}

/// Whether a program is a shell.
pub(crate) fn is_shell(word: &str) -> bool {
    SHELLS.contains(&base(word))
}

/// Whether a program fetches from the web.
pub(super) fn is_fetcher(word: &str) -> bool {
    FETCHERS.contains(&base(word))
}

/// The output of a command that prints its arguments.
pub(super) fn says(words: &[String]) -> Option<String> {
    let words = unwrapped(words);
    let (first, rest) = words.split_first()?;
    let rest: Vec<&str> =
        rest.iter().map(String::as_str).filter(|word| !["-e", "-n", "-E", "--"].contains(word)).collect();
    ["echo", "printf"].contains(&base(first)).then(|| rest.join(" ").replace("\\n", "\n"))
}

/// Whether a command fetches from the web.
pub(super) fn fetches(words: &[String]) -> bool {
    let words = unwrapped(words);
    let Some((first, rest)) = words.split_first() else { return false };
    is_fetcher(first) || (is_shell(first) && rest.iter().any(|word| line_fetches(word)))
}

/// Whether a command of `line` fetches from the web.
pub(super) fn line_fetches(line: &str) -> bool {
    let mut words = line.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_')));
    if !words.any(|word| FETCHERS.contains(&word)) {
        return false;
    }
    if line.len() > PARSED {
        return true;
    }
    let Some(tree) = syntax::parse(line) else { return true };
    nodes(tree.root_node()).filter(|node| node.kind() == "command").any(|node| {
        let words = children(node).into_iter().map(|child| text(line, child));
        let words: Vec<_> = words.map(|word| word.replace(['\'', '"', '\\'], "")).collect();
        unwrapped(&words).first().is_some_and(|first| is_fetcher(first))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_command_of_a_wrapper_is_found() {
        for (line, command) in [
            ("sudo -u root rm -rf a", "rm -rf a"),
            ("env A=b nice -n 5 /usr/bin/python3.12 x.py", "/usr/bin/python3.12 x.py"),
            ("timeout 5 xargs curl", "curl"),
            ("sudo -u git rm -rf a", "rm -rf a"),
            ("sudo -Hu git rm -rf a", "rm -rf a"),
            ("timeout 5 base64 -d", "base64 -d"),
            ("cargo build", "cargo build"),
            ("sudo", "sudo"),
        ] {
            assert_eq!(unwrapped(&words(line)), words(command), "{line}");
        }
        assert_eq!(stages(&words("sudo nohup mkfs.ext4 /dev/sda")).count(), 3);
    }

    #[test]
    fn programs_are_known_by_their_name_without_the_folder() {
        assert!(is_wrapper("/usr/bin/sudo") && is_shell("/bin/zsh") && is_fetcher("/usr/bin/curl"));
        assert!(is_interpreter("python3.13") && !is_interpreter("python3x") && is_formatter("mkfs.xfs"));
        assert!(deletes("shred") && !deletes("ls"));
    }

    #[test]
    fn a_line_fetches_only_by_a_command() {
        assert!(fetches(&words("sudo wget http://a.example")));
        assert!(line_fetches("cd a && curl -s b | tee c"));
        assert!(!line_fetches("echo curl") && !line_fetches("grep -r curl ."));
        assert!(line_fetches(&format!("curl {}", "x".repeat(PARSED))), "a long line is not parsed");
    }

    #[test]
    fn a_command_that_prints_says_its_arguments() {
        assert_eq!(says(&words("echo -n a b\\nc")).as_deref(), Some("a b\nc"));
        assert_eq!(says(&words("cat a")), None);
    }
}
