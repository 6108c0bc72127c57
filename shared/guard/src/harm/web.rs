//! Lines that run what the web sends: through a pipe, a substitution, a variable, a file, or as the arguments that
//! `xargs` adds to a command.

use std::path::PathBuf;

use tree_sitter::Node;

use super::{
    Inspector,
    names::{base, fetches, is_fetcher, is_interpreter, is_shell, is_wrapper, says, stages, unwrapped},
    words::{UNKNOWN, WEB, Words},
};
use crate::syntax::{self, children, nodes};

/// Options of shells and other interpreters that take a value.
const VALUED: [&str; 10] = ["--rcfile", "--init-file", "-W", "-X", "-I", "--require", "--import", "-M", "-O", "+O"];

/// Whether a command reads the program that it runs from standard input.
pub(super) fn reads_program(words: &[String]) -> bool {
    let words = unwrapped(words);
    let Some((first, rest)) = words.split_first() else { return false };
    if ["source", "."].contains(&first.as_str()) {
        return rest.first().is_some_and(|file| is_input(file));
    }
    is_interpreter(base(first)) && matches!(given(first, rest), Given::Nothing)
}

/// The program that an interpreter was given in its arguments.
#[derive(Debug, PartialEq, Eq)]
enum Given<'w> {
    /// Code, which may be missing at the end.
    Code(Option<&'w String>),
    /// A file.
    File(&'w String),
    /// Nothing, so it reads standard input.
    Nothing,
}

fn given<'w>(name: &str, rest: &'w [String]) -> Given<'w> {
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
        if is_input(word) || (is_shell(name) && letters.contains('s')) {
            return Given::Nothing;
        }
        let is_code = if is_shell(name) { letters.contains('c') } else { letters.ends_with(['c', 'e', 'E', 'm']) };
        let has_code = ["--eval", "--print", "-p", "--command"].contains(&word.as_str())
            || (word == "-r" && base(name) == "php")
            || (word == "eval" && base(name) == "deno");
        if (is_code && !letters.is_empty()) || (has_code && !is_shell(name)) {
            return Given::Code(rest.find(|word| *word != "--"));
        }
        let takes_value = VALUED.contains(&word.as_str()) || (is_shell(name) && word.ends_with('o'));
        if word.starts_with(['-', '+']) {
            if takes_value {
                rest.next();
            }
        } else if !(word == "run" && ["deno", "bun"].contains(&base(name))) {
            return Given::File(word);
        }
    }
    Given::Nothing
}

fn is_input(word: &str) -> bool {
    ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].contains(&word)
}

/// Whether a command runs its standard input: as a program, or as arguments that it adds to a command.
pub(super) fn runs_input(words: &[String]) -> bool {
    reads_program(words) || stages(words).any(runs_items)
}

/// Whether a command is `xargs` or `parallel`, and what it adds to its command is run.
fn runs_items(words: &[String]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    let is_parallel = match base(first) {
        "xargs" => false,
        "parallel" => true,
        _ => return false,
    };
    let (replaced, command) = item_command(rest, is_parallel);
    let end = command.iter().position(|word| word.starts_with(":::")).unwrap_or(command.len());
    if end < command.len() {
        // The items are arguments.
        return false;
    }
    let Some(first) = command.first() else { return is_parallel };
    let command = unwrapped(command);
    let name = &command[0];
    if is_wrapper(name) || replaced.as_ref().is_some_and(|item| first.contains(item) || name.contains(item)) {
        // The item is the command itself.
        return true;
    }
    if !is_interpreter(base(name)) && !["eval", "source", "."].contains(&name.as_str()) {
        return false;
    }
    match (given(name, &command[1..]), &replaced) {
        (Given::Code(None) | Given::Nothing, _) => true,
        (Given::Code(Some(code)), Some(item)) => code.contains(item),
        (Given::File(file), Some(item)) => file.contains(item),
        (_, None) => false,
    }
}

/// The text that an item replaces, and the command of `xargs` or `parallel`.
fn item_command(words: &[String], is_parallel: bool) -> (Option<String>, &[String]) {
    let (valued, valued_long): (&str, &[&str]) = if is_parallel {
        ("jnNLIadsPSMC", &["--jobs", "--colsep", "--delay", "--timeout", "--joblog", "--results", "--arg-file"])
    } else {
        ("InLPsaEd", &["--max-args", "--max-procs", "--max-chars", "--delimiter", "--arg-file"])
    };
    let (mut replaced, mut at) = (is_parallel.then(|| "{}".to_owned()), 0);
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        at += 1;
        if word == "--" {
            break;
        }
        if let Some(long) = word.strip_prefix("--") {
            if let Some(value) = long.strip_prefix("replace") {
                replaced = Some(value.strip_prefix('=').unwrap_or("{}").to_owned());
            }
            at += usize::from(valued_long.contains(&word.as_str()));
            continue;
        }
        for (place, letter) in word.char_indices().skip(1) {
            let attached = &word[place + letter.len_utf8()..];
            if valued.contains(letter) {
                let value = if attached.is_empty() { words.get(at).map_or("", String::as_str) } else { attached };
                if letter == 'I' {
                    replaced = Some(value.to_owned());
                }
                at += usize::from(attached.is_empty());
                break;
            }
            if letter == 'i' {
                replaced = Some(if attached.is_empty() { "{}" } else { attached }.to_owned());
            }
            if "ile".contains(letter) {
                break;
            }
        }
    }
    let command = words.get(at..).unwrap_or_default();
    let replaced = replaced.filter(|item| command.iter().any(|word| word.contains(item)));
    (replaced, command)
}

impl Inspector<'_> {
    /// Examines whether a command runs what the web sends.
    pub(super) fn web(&mut self, words: &Words<'_>, node: Node<'_>, command: &[String]) {
        let inner = unwrapped(command);
        let Some((first, rest)) = inner.split_first() else { return };
        let runs = is_interpreter(base(first)) || ["eval", "source", "."].contains(&first.as_str());
        let given = given(first, rest);
        let code_of_web = match &given {
            _ if first == "eval" => rest.iter().any(|word| word.contains(WEB)),
            Given::Code(code) => runs && code.is_some_and(|code| code.contains(WEB)),
            _ => false,
        };
        let file = match given {
            Given::File(file) if runs => Some(file),
            _ => first.contains('/').then_some(first),
        };
        let is_download = file.is_some_and(|file| self.is_download(file))
            || (reads_program(command) && inputs(words, node).iter().any(|file| self.is_download(file)));
        if first.contains(WEB) || code_of_web || is_download || (runs && substitutes(words, node)) {
            self.runs_web();
        }
        for file in saved(inner) {
            self.downloads.extend(self.targets.resolved(&file));
        }
    }

    fn runs_web(&mut self) {
        self.block("web-to-interpreter", "it runs what the web sends");
    }

    fn is_download(&self, file: &str) -> bool {
        self.targets.resolved(file).iter().any(|path| self.downloads.contains(path))
    }

    /// Examines a pipeline one of whose commands may run the output of those before.
    pub(super) fn pipeline(&mut self, words: &Words<'_>, node: Node<'_>) {
        let (mut web, mut said): (bool, Option<String>) = (false, None);
        for inner in nodes(node).filter(|node| node.kind() == "command") {
            let command = words.command(inner);
            let runs_input = runs_input(&command);
            if runs_input && web {
                self.runs_web();
            }
            if let Some(text) = said.take().filter(|_| reads_program(&command)) {
                self.given_program(&command, &text);
            }
            let name = unwrapped(&command);
            if web && let Some((first, rest)) = name.split_first() {
                if base(first) == "tee" {
                    for file in rest.iter().filter(|word| !word.starts_with('-')) {
                        self.downloads.extend(self.targets.resolved(file));
                    }
                }
                if is_shell(first)
                    && let Given::Code(Some(code)) = given(first, rest)
                {
                    // Its commands read the same pipe.
                    self.inner_of_web(code);
                }
            }
            let says = says(&command);
            web |= fetches(&command) || says.as_ref().is_some_and(|says| says.contains(WEB));
            web |= name.iter().skip(1).any(|word| self.is_download(word));
            said = says;
        }
    }

    /// Examines a line whose standard input comes from the web.
    fn inner_of_web(&mut self, line: &str) {
        let Some(tree) = syntax::parse(line) else { return };
        let words = Words::of(line, &tree, self.scope);
        for node in nodes(tree.root_node()).filter(|node| node.kind() == "command") {
            let command = words.command(node);
            // What a program reads here is not known, and may be all of its input.
            let is_unknown = |word: &String| word.contains(UNKNOWN);
            let evaluates = unwrapped(&command).first().is_some_and(|first| first == "eval" || is_unknown(first));
            if runs_input(&command) || (evaluates && command.iter().any(is_unknown)) {
                self.runs_web();
            }
        }
    }

    /// The target of a redirect is a file from the web if a command before it fetches.
    pub(super) fn redirected(&mut self, node: Node<'_>, words: &Words<'_>, target: &str) {
        let Some(whole) = node.parent() else { return };
        if nodes(whole).filter(|inner| inner.kind() == "command").any(|inner| fetches(&words.command(inner))) {
            self.downloads.extend(self.targets.resolved(target));
        }
    }
}

/// The files that a fetching command saves.
fn saved(words: &[String]) -> Vec<String> {
    let Some((first, rest)) = words.split_first().filter(|(first, _)| is_fetcher(first)) else { return vec![] };
    let (is_curl, is_wget) = (base(first) == "curl", base(first).starts_with("wget"));
    let (mut files, mut named) = (vec![], is_wget);
    for (at, word) in rest.iter().enumerate() {
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
        let option = if is_wget { 'O' } else { 'o' };
        if let Some((_, attached)) = letters.split_once(option) {
            files.extend(if attached.is_empty() { rest.get(at + 1).cloned() } else { Some(attached.to_owned()) });
        }
        let long = ["--output-document", "--output", "--out"].into_iter().find_map(|long| word.strip_prefix(long));
        match long {
            Some("") => files.extend(rest.get(at + 1).cloned()),
            Some(value) => files.extend(value.strip_prefix('=').map(str::to_owned)),
            None => {}
        }
        named |= is_curl && (letters.contains('O') || word.starts_with("--remote-name"));
    }
    if named {
        let name = |word: &String| word.split(['?', '#']).next()?.rsplit_once('/').map(|(_, name)| name.to_owned());
        files
            .extend(rest.iter().filter(|word| !word.starts_with('-')).filter_map(name).filter(|name| !name.is_empty()));
    }
    files
}

/// The files that a command reads as its standard input.
fn inputs(words: &Words<'_>, node: Node<'_>) -> Vec<String> {
    let whole = node.parent().filter(|above| above.kind() == "redirected_statement").unwrap_or(node);
    let redirects = children(whole).into_iter().chain(children(node)).filter(|child| child.kind() == "file_redirect");
    let reads = redirects.filter(|child| words.text(*child).trim_start_matches('0').starts_with('<'));
    reads
        .filter_map(|child| child.child_by_field_name("destination"))
        .flat_map(|to| words.word(words.text(to)))
        .collect()
}

/// Whether the arguments of a command contain a download in a substitution.
fn substitutes(words: &Words<'_>, node: Node<'_>) -> bool {
    // Redirects from a substitution are siblings of the command.
    let whole = node.parent().filter(|above| above.kind() == "redirected_statement").unwrap_or(node);
    nodes(whole)
        .filter(|inner| inner.kind() == "command" && inner.id() != node.id())
        .any(|inner| fetches(&words.command(inner)))
}

/// The files of a line that were fetched from the web by it.
pub(super) type Downloads = Vec<PathBuf>;
