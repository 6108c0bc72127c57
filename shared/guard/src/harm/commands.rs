//! Commands by their words: wrappers such as `sudo` removed, and the effect of each command on its operands.

use super::{
    Inspector,
    downloads::saved,
    effects,
    interpreter_input::{InterpreterInput, given, runs_line},
    names::{base, deletes, is_fetcher, is_formatter, is_interpreter, is_shell, unwrapped},
    targets::is_disk,
    words::quoted,
};

impl Inspector<'_> {
    /// Checks one command.
    pub(super) fn command(&mut self, words: &[String]) {
        if let Some(first) = words.first() {
            effects::of(base(first)).for_each(|does| self.note(does));
        }
        let words = unwrapped(words);
        let Some((first, rest)) = words.split_first() else { return };
        let name = base(first);
        effects::of(name).for_each(|does| self.note(does));
        let operands: Vec<&String> = rest.iter().filter(|word| !word.starts_with('-')).collect();
        let has = |letters: &[char], long: &str| {
            rest.iter().any(|word| {
                word == long || (word.starts_with('-') && !word.starts_with("--") && word[1..].contains(letters))
            })
        };
        match name {
            "cd" | "pushd" => operands.iter().for_each(|to| self.targets.enter(to)),
            name if deletes(name) => {
                for target in operands {
                    let harm = self.targets.delete(target).or_else(|| disk(target));
                    self.harm.block = self.harm.block.take().or(harm);
                    if has(&['r', 'R'], "--recursive") && self.targets.is_root(target) {
                        self.block(
                            "delete-root",
                            format!("it deletes all that is in the project or another root: {target}"),
                        );
                    }
                    self.note(format!("it deletes {}", quoted(target)));
                }
            }
            "mv" => {
                let (from, to) = moved(rest);
                for path in from {
                    self.harm.block = self.harm.block.take().or_else(|| self.targets.delete(path));
                }
                if let Some(to) = to {
                    self.writes(to);
                }
            }
            "cp" | "install" | "ln" | "rsync" | "scp" => {
                if let Some(to) = operands.last() {
                    if name == "rsync"
                        && rest.iter().any(|word| word.starts_with("--del"))
                        && self.targets.is_everything(to)
                    {
                        self.block("delete-root", format!("it deletes the content of {to}"));
                    }
                    self.writes(to);
                }
            }
            "tee" | "truncate" | "touch" => operands.iter().for_each(|path| self.writes(path)),
            "sed" | "perl" if has(&['i'], "--in-place") => operands.iter().skip(1).for_each(|path| self.writes(path)),
            "dd" => {
                // The last counts.
                rest.iter().filter_map(|word| word.strip_prefix("of=")).for_each(|path| self.writes(path));
            }
            "chmod" | "chown" | "chgrp" | "setfacl" => {
                let recursive = has(&['R'], "--recursive");
                // The mode may begin with a hyphen, so the first may be a path.
                for path in operands {
                    self.opens_up(path, recursive);
                }
            }
            "chattr" => {
                let paths = operands.iter().filter(|word| !word.starts_with(['+', '=']));
                paths.for_each(|path| self.opens_up(path, has(&['R'], "")));
            }
            "find" => self.find(rest),
            "kill" | "killall5" => {
                if name == "killall5" || rest.iter().skip(1).any(|word| word == "-1") {
                    self.block("stop-machine", "it ends every process");
                }
            }
            "eval" | "trap" | "watch" => self.inner(&rest.join(" "), &[]),
            "alias" => {
                let values = rest.iter().filter_map(|word| word.split_once('='));
                values.for_each(|(_, line)| self.inner(line, &[]));
            }
            "awk" | "gawk" | "mawk" | "nawk" => rest.iter().for_each(|word| self.program(name, word)),
            name if is_fetcher(name) => {
                saved(words).iter().filter(|file| *file != "-").for_each(|path| self.writes(path));
            }
            _ => self.machine(name, rest, &operands),
        }
        if is_interpreter(name) || runs_line(name) {
            self.code(name, rest);
        } else if let Some(body) = self.functions.get(name).cloned() {
            self.inner(&body, rest);
        }
    }

    /// Checks a change of the permissions of `path`.
    pub(super) fn opens_up(&mut self, path: &str, recursive: bool) {
        if (recursive && self.targets.is_everything(path))
            || (path.starts_with('/') && path.trim_matches('/').is_empty())
        {
            self.block("open-root", format!("it changes permissions of the system or of a home folder: {path}"));
        }
    }

    /// Checks programs for disks and programs that stop the machine.
    fn machine(&mut self, name: &str, rest: &[String], operands: &[&String]) {
        let lists = rest.iter().any(|word| ["-l", "--list", "--help", "--version"].contains(&word.as_str()));
        let first = operands.first().map(|word| word.as_str()).unwrap_or_default();
        if is_formatter(name) && !lists {
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
        let rest = without_options(rest);
        let runs = rest.iter().position(|word| ["-exec", "-execdir", "-ok", "-okdir"].contains(&word.as_str()));
        let command = runs.map(|at| unwrapped(&rest[at + 1..])).unwrap_or_default();
        let changes = |name: &String| deletes(base(name)) || ["chmod", "chown"].contains(&base(name));
        let starts = rest.iter().take_while(|word| !word.starts_with('-'));
        let everything: Vec<_> = starts.filter(|start| self.targets.is_everything(start)).collect();
        if rest.iter().any(|word| word == "-delete") || command.first().is_some_and(changes) {
            self.note("it deletes or changes the files that find finds");
            if let Some(start) = everything.first() {
                self.block("delete-root", format!("it deletes or changes files in {start}"));
            }
            // Without a start, it searches the working directory.
            let here = [".".to_owned()];
            let has_start = rest.first().is_some_and(|word| !word.starts_with(['-', '(', '!']));
            let starts: Vec<&String> = if has_start { starts_of(rest).collect() } else { here.iter().collect() };
            // `rm` without `-r` leaves the folders.
            let recurses = |word: &String| word.starts_with('-') && word.contains(['r', 'R']);
            let removes = command.first().is_some_and(|name| deletes(base(name))) && command.iter().any(recurses);
            if (removes || rest.iter().any(|word| word == "-delete"))
                && takes_all(rest)
                && starts.iter().any(|start| self.targets.is_root(start))
            {
                self.block("delete-root", "it deletes all that is in the project or another root");
            }
        }
        if !command.is_empty() {
            // The search may find the folder where it starts.
            for found in everything.into_iter().map(String::as_str).chain(["{}"]) {
                let command: Vec<_> = command.iter().map(|word| word.replace("{}", found)).collect();
                self.command(&command);
            }
        }
    }

    /// Checks code in the arguments of an interpreter, and lines in the arguments of other programs.
    fn code(&mut self, name: &str, rest: &[String]) {
        let is_shell = is_shell(name) || runs_line(name);
        match given(name, rest) {
            InterpreterInput::Code(lines, arguments) if is_shell => {
                // The first argument is the name of the program.
                for line in lines {
                    self.inner(line, arguments.get(1..).unwrap_or_default());
                }
            }
            InterpreterInput::Code(code, _) => {
                let code = code.join("\n");
                if code.contains("fork") && code.contains("while") {
                    self.block("fork-bomb", "code that starts itself without end");
                }
                self.program(name, &code);
            }
            _ => {}
        }
    }
}

/// What `mv` moves, and where to: the last operand, unless an option names the folder.
fn moved(words: &[String]) -> (Vec<&str>, Option<&str>) {
    let (mut paths, mut folder) = (vec![], None);
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if let Some(long) = word.strip_prefix("--") {
            if "target-directory".starts_with(long) && long.starts_with('t') {
                folder = words.next();
            } else if let Some((name, value)) = long.split_once('=')
                && "target-directory".starts_with(name)
            {
                folder = Some(value);
            }
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            // `-S` takes the rest of the word as well.
            if let Some((before, value)) = letters.split_once('t')
                && !before.contains('S')
            {
                folder = if value.is_empty() { words.next() } else { Some(value) };
            }
        } else {
            paths.push(word);
        }
    }
    let to = folder.or_else(|| paths.pop());
    (paths, to)
}

/// The words of `find` after the options that stand before its folders.
fn without_options(words: &[String]) -> &[String] {
    let mut left = words;
    while let Some((word, rest)) = left.split_first() {
        left = match word.as_str() {
            "-H" | "-L" | "-P" => rest,
            "-D" => rest.get(1..).unwrap_or_default(),
            level if level.starts_with("-O") => rest,
            _ => break,
        };
    }
    left
}

/// The folders that `find` searches.
fn starts_of(words: &[String]) -> impl Iterator<Item = &String> {
    words.iter().take_while(|word| !word.starts_with(['-', '(', '!']))
}

/// Whether `find` has no test that leaves files out, beside one of their types.
fn takes_all(words: &[String]) -> bool {
    const NO_TESTS: [&str; 11] =
        ["-delete", "-depth", "-mindepth", "-type", "-exec", "-execdir", "-ok", "-okdir", "-print", "-print0", "-xdev"];
    let end = words.iter().position(|word| word.starts_with("-exec") || word.starts_with("-ok")).unwrap_or(words.len());
    let tests = words[..end].iter().filter(|word| word.starts_with(['-', '!']));
    tests.into_iter().all(|word| NO_TESTS.contains(&word.as_str()))
}

fn disk(target: &str) -> Option<crate::Reason> {
    is_disk(target).then(|| crate::Reason::new("write-disk", format!("it overwrites a disk: {target}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_without_tests_takes_every_file() {
        let words = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
        for line in
            [". -delete", ". -mindepth 1 -type f -delete", "a b -exec rm -rf {} +", ". -depth -exec rm --name {} ;"]
        {
            assert!(takes_all(&words(line)), "{line}");
        }
        for line in [". -name x -delete", ". ! -newer a -delete", ". -size 0 -exec rm {} +"] {
            assert!(!takes_all(&words(line)), "{line}");
        }
        let found = words("a b -type f c");
        assert_eq!(starts_of(&found).collect::<Vec<_>>(), ["a", "b"]);
    }
}
