//! Commands by their words: wrappers such as `sudo` removed, and the effect of each command on its operands.

use super::{Inspector, notes, targets::is_disk};

/// Programs that run the command in their arguments.
const WRAPPERS: [&str; 26] = [
    "sudo", "doas", "env", "nohup", "setsid", "command", "builtin", "exec", "time", "stdbuf", "ionice", "nice", "chrt",
    "taskset", "timeout", "xargs", "watch", "flock", "chroot", "strace", "busybox", "toybox", "unbuffer", "parallel",
    "pkexec", "runuser",
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

const FETCHERS: [&str; 9] = ["curl", "wget", "fetch", "http", "https", "aria2c", "lynx", "lwp-request", "nc"];

/// Commands that are recognised among a wrapper's arguments, in addition to shells, interpreters and wrappers.
const HARMFUL: [&str; 34] = [
    "rm",
    "unlink",
    "rmdir",
    "shred",
    "mv",
    "cp",
    "chmod",
    "chown",
    "chgrp",
    "dd",
    "tee",
    "find",
    "mkfs",
    "mkswap",
    "wipefs",
    "fdisk",
    "sfdisk",
    "cfdisk",
    "gdisk",
    "sgdisk",
    "parted",
    "blkdiscard",
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

/// The name of a program without its folder.
fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn is_interpreter(name: &str) -> bool {
    SHELLS.contains(&name) || INTERPRETERS.iter().any(|one| name == *one || name.starts_with("python3."))
}

/// The command without its wrappers.
fn unwrapped(words: &[String]) -> &[String] {
    let mut words = words;
    while let Some((first, rest)) = words.split_first() {
        if !WRAPPERS.contains(&base(first)) {
            break;
        }
        let is_command = |word: &String| {
            let name = base(word);
            let known = HARMFUL.contains(&name) || FETCHERS.contains(&name) || WRAPPERS.contains(&name);
            !word.starts_with('-') && (known || is_interpreter(name) || name.starts_with("mkfs.") || plain(name))
        };
        let Some(at) = rest.iter().position(is_command) else { break };
        words = &rest[at..];
    }
    words
}

/// Programs whose arguments are not commands.
fn plain(name: &str) -> bool {
    ["echo", "printf", "grep", "rg", "cat", "ls", "git", "awk"].contains(&name)
}

/// Whether a command is an interpreter.
pub(super) fn interpreter(words: &[String]) -> bool {
    let words = unwrapped(words);
    words.first().is_some_and(|first| is_interpreter(base(first)) || ["eval", "source", "."].contains(&first.as_str()))
}

/// Whether a command is an interpreter that reads its program from standard input.
pub(super) fn reads_program(words: &[String]) -> bool {
    let words = unwrapped(words);
    let Some((first, rest)) = words.split_first() else { return false };
    if !is_interpreter(base(first)) {
        return false;
    }
    let given = ["-c", "-e", "-m", "--eval", "-r", "-lc", "-ic"];
    let has_code = rest.iter().any(|word| given.contains(&word.as_str()));
    let reads = rest.iter().any(|word| ["-s", "-", "/dev/stdin"].contains(&word.as_str()));
    let has_file = rest.iter().any(|word| !word.starts_with('-'));
    reads || (!has_code && !has_file)
}

/// Whether a command is a shell that reads its lines from standard input.
pub(super) fn is_shell_of_input(words: &[String]) -> bool {
    reads_program(words) && unwrapped(words).first().is_some_and(|first| SHELLS.contains(&base(first)))
}

/// Whether a command fetches from the web.
pub(super) fn fetches(words: &[String]) -> bool {
    unwrapped(words).first().is_some_and(|first| FETCHERS.contains(&base(first)))
}

/// The output of a command that prints its arguments.
pub(super) fn says(words: &[String]) -> Option<String> {
    let words = unwrapped(words);
    let (first, rest) = words.split_first()?;
    let rest: Vec<&str> =
        rest.iter().map(String::as_str).filter(|word| !["-e", "-n", "-E", "--"].contains(word)).collect();
    ["echo", "printf"].contains(&base(first)).then(|| rest.join(" ").replace("\\n", "\n"))
}

impl Inspector<'_> {
    /// Checks one command.
    pub(super) fn command(&mut self, words: &[String]) {
        if let Some(first) = words.first() {
            notes::of(base(first)).for_each(|does| self.note(does));
        }
        let words = unwrapped(words);
        let Some((first, rest)) = words.split_first() else { return };
        let name = base(first);
        notes::of(name).for_each(|does| self.note(does));
        let operands: Vec<&String> = rest.iter().filter(|word| !word.starts_with('-')).collect();
        let has = |letters: &[char], long: &str| {
            rest.iter().any(|word| {
                word == long || (word.starts_with('-') && !word.starts_with("--") && word[1..].contains(letters))
            })
        };
        match name {
            "cd" | "pushd" => operands.iter().for_each(|to| self.targets.enter(to)),
            "rm" | "unlink" | "rmdir" | "shred" | "trash" | "srm" => {
                for target in operands {
                    let harm = self.targets.delete(target).or_else(|| disk(target));
                    self.harm.block = self.harm.block.take().or(harm);
                    self.note(format!("it deletes {}", target.replace(super::words::UNKNOWN, "…")));
                }
            }
            "mv" => {
                if let Some((to, from)) = operands.split_last() {
                    for path in from {
                        self.harm.block = self.harm.block.take().or_else(|| self.targets.delete(path));
                    }
                    self.writes(to);
                }
            }
            "cp" | "install" | "ln" | "rsync" | "scp" => {
                if let Some(to) = operands.last() {
                    if name == "rsync"
                        && rest.iter().any(|word| word.starts_with("--del"))
                        && self.targets.is_everything(to)
                    {
                        self.block("delete-root", format!("it deletes what is in {to}"));
                    }
                    self.writes(to);
                }
            }
            "tee" | "truncate" | "touch" => operands.iter().for_each(|path| self.writes(path)),
            "sed" | "perl" if has(&['i'], "--in-place") => operands.iter().skip(1).for_each(|path| self.writes(path)),
            "dd" => {
                if let Some(path) = rest.iter().find_map(|word| word.strip_prefix("of=")) {
                    self.writes(path);
                }
            }
            "curl" | "wget" => {
                let out = ["-o", "-O", "--output", "--output-document"];
                let after = rest.windows(2).filter(|pair| out.contains(&pair[0].as_str())).map(|pair| pair[1].clone());
                after.collect::<Vec<_>>().iter().for_each(|path| self.writes(path));
            }
            "chmod" | "chown" | "chgrp" | "setfacl" => {
                for path in operands.iter().skip(1) {
                    let recursive = has(&['R'], "--recursive");
                    if (recursive && self.targets.is_everything(path)) || path.trim_end_matches('/').is_empty() {
                        self.block(
                            "open-root",
                            format!("it changes permissions of the system or of a home folder: {path}"),
                        );
                    }
                }
            }
            "find" => self.find(rest),
            "kill" | "killall5" => {
                if name == "killall5" || rest.iter().skip(1).any(|word| word == "-1") {
                    self.block("stop-machine", "it ends every process");
                }
            }
            "eval" | "trap" => self.inner(&rest.join(" ")),
            _ => self.machine(name, rest, &operands),
        }
        if is_interpreter(name) || ["su", "watch", "script", "runuser"].contains(&name) {
            self.code(name, rest);
        }
    }

    /// Checks programs for disks and programs that stop the machine.
    fn machine(&mut self, name: &str, rest: &[String], operands: &[&String]) {
        let lists = rest.iter().any(|word| ["-l", "--list", "--help", "--version"].contains(&word.as_str()));
        let first = operands.first().map(|word| word.as_str()).unwrap_or_default();
        let formats = [
            "mkfs",
            "mke2fs",
            "mkswap",
            "wipefs",
            "fdisk",
            "sfdisk",
            "cfdisk",
            "gdisk",
            "sgdisk",
            "parted",
            "blkdiscard",
        ];
        if (formats.contains(&name) || name.starts_with("mkfs.")) && !lists {
            self.block("write-disk", "it formats or partitions a disk");
        }
        let stops = match name {
            "shutdown" | "reboot" | "halt" | "poweroff" => !lists,
            "init" | "telinit" => ["0", "1", "6"].contains(&first),
            "systemctl" | "loginctl" => {
                let verbs = [
                    "poweroff",
                    "reboot",
                    "halt",
                    "suspend",
                    "hibernate",
                    "kexec",
                    "rescue",
                    "emergency",
                    "soft-reboot",
                ];
                operands.iter().any(|word| verbs.contains(&word.as_str()))
            }
            _ => false,
        };
        if stops {
            self.block("stop-machine", "it stops the machine");
        }
        let erases = matches!(
            (name, first),
            ("cryptsetup", "luksFormat" | "erase")
                | ("zpool", "destroy")
                | ("hdparm", _)
                | ("nvme", "format" | "sanitize")
        );
        if erases && (name != "hdparm" || rest.iter().any(|word| word.contains("erase"))) {
            self.block("write-disk", "it erases a disk");
        }
    }

    fn find(&mut self, rest: &[String]) {
        let deletes = rest.iter().any(|word| word == "-delete");
        let runs = rest.iter().position(|word| ["-exec", "-execdir", "-ok", "-okdir"].contains(&word.as_str()));
        let command = runs.map(|at| unwrapped(&rest[at + 1..])).unwrap_or_default();
        let removes =
            command.first().is_some_and(|name| ["rm", "shred", "unlink", "chmod", "chown"].contains(&base(name)));
        if deletes || removes {
            self.note("it deletes or changes what find finds");
            let starts = rest.iter().take_while(|word| !word.starts_with('-'));
            for start in starts {
                if self.targets.is_everything(start) {
                    self.block("delete-root", format!("it deletes or changes files in {start}"));
                }
            }
        }
        if !command.is_empty() {
            let command = command.to_vec();
            self.command(&command);
        }
    }

    /// Checks code in an argument.
    fn code(&mut self, name: &str, rest: &[String]) {
        for (at, word) in rest.iter().enumerate() {
            let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
            let is_flag = letters.ends_with(['c', 'e', 'r']) || word == "--command" || word == "--eval";
            if let Some(code) = rest.get(at + 1).filter(|_| is_flag) {
                if is_interpreter(name) && !SHELLS.contains(&name) {
                    if code.contains("fork") && code.contains("while") {
                        self.block("fork-bomb", "code that starts itself again and again");
                    }
                } else {
                    self.inner(code);
                }
            }
        }
        if name == "watch" {
            self.inner(&rest.join(" "));
        }
    }
}

fn disk(target: &str) -> Option<crate::Reason> {
    is_disk(target).then(|| crate::Reason::new("write-disk", format!("it overwrites a disk: {target}")))
}
