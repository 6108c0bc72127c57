//! Lines that run downloaded code: through a pipe, a substitution, a variable, a file, or as the arguments that
//! `xargs` adds to a command.

use std::path::PathBuf;

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use tree_sitter::Node;

use super::{
    Inspector, heredoc,
    interpreter_input::{InterpreterInput, given, is_input},
    names::{base, fetches, is_fetcher, is_interpreter, is_shell, is_wrapper, says, stages, unwrapped},
    words::{UNKNOWN, WEB, Words, is_definite},
};
use crate::syntax::{self, children, nodes};

/// Whether a command reads the program that it runs from standard input.
pub(super) fn reads_program(words: &[String]) -> bool {
    let words = unwrapped(words);
    let Some((first, rest)) = words.split_first() else { return false };
    if ["source", "."].contains(&first.as_str()) {
        return rest.first().is_some_and(|file| is_input(file));
    }
    is_interpreter(base(first)) && matches!(given(first, rest), InterpreterInput::Nothing)
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
        (InterpreterInput::Nothing, _) => true,
        (InterpreterInput::Code(code, _), _) if code.is_empty() => true,
        (InterpreterInput::Code(code, _), Some(item)) => code.iter().any(|code| code.contains(item)),
        (InterpreterInput::File(file, _), Some(item)) => file.contains(item),
        (InterpreterInput::Module, _) | (_, None) => false,
    }
}

/// The command that `xargs` or `parallel` runs when it reads `items`.
fn with_items(words: &[String], items: &str) -> Option<Vec<String>> {
    let (first, rest) = words.split_first().filter(|(first, _)| ["xargs", "parallel"].contains(&base(first)))?;
    let (replaced, command) = item_command(rest, base(first) == "parallel");
    let mut command = command.to_vec();
    match replaced {
        Some(item) => command.iter_mut().for_each(|word| *word = word.replace(&item, items.trim())),
        None => command.extend(items.split_whitespace().map(str::to_owned)),
    }
    Some(command)
}

/// The commands that the words of a command run if it, or the command in it, is `xargs` or `parallel` and reads
/// `items`.
pub(super) fn with_all_items(words: &[String], items: &str) -> Vec<Vec<String>> {
    stages(words).filter_map(|stage| with_items(stage, items)).collect()
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
    /// Examines whether a command runs downloaded code.
    pub(super) fn web(&mut self, words: &Words<'_>, node: Node<'_>, command: &[String]) {
        let inner = unwrapped(command);
        let Some((first, rest)) = inner.split_first() else { return };
        let runs = is_interpreter(base(first)) || ["eval", "source", "."].contains(&first.as_str());
        let given = given(first, rest);
        let code_of_web = match &given {
            _ if first == "eval" => rest.iter().any(|word| word.contains(WEB)),
            InterpreterInput::Code(code, _) => runs && code.iter().any(|code| code.contains(WEB)),
            _ => false,
        };
        let file = match given {
            InterpreterInput::File(file, _) if runs => Some(file),
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

    pub(super) fn runs_web(&mut self) {
        self.block("web-to-interpreter", "it runs downloaded code");
    }

    fn is_download(&self, file: &str) -> bool {
        is_definite(file) && self.targets.resolved(file).iter().any(|path| self.downloads.contains(path))
    }

    /// Examines a pipeline one of whose commands may run the output of those before.
    pub(super) fn pipeline(&mut self, words: &Words<'_>, node: Node<'_>) {
        let (mut web, mut said): (bool, Option<String>) = (false, None);
        for inner in nodes(node).filter(|node| node.kind() == "command") {
            let mut decoded = None;
            let command = words.command(inner);
            let runs_input = runs_input(&command);
            if runs_input && web {
                self.runs_web();
            }
            if let Some(text) = said.take() {
                if reads_program(&command) {
                    self.given_program(&command, &text);
                }
                for command in with_all_items(&command, &text) {
                    self.command(&command);
                }
                decoded = decodes(&command).then(|| base64(&text)).flatten();
            }
            let name = unwrapped(&command);
            if web && let Some((first, rest)) = name.split_first() {
                if base(first) == "tee" {
                    for file in rest.iter().filter(|word| !word.starts_with('-')) {
                        self.downloads.extend(self.targets.resolved(file));
                    }
                }
                if let InterpreterInput::Code(code, _) = given(first, rest)
                    && is_interpreter(base(first))
                {
                    // It reads the same pipe.
                    match code.as_slice() {
                        [line] if is_shell(first) => self.inner_of_web(line),
                        code => self.program_of_web(base(first), &code.join("\n")),
                    }
                }
            }
            let prints_input = name.first().is_some_and(|first| base(first) == "cat");
            let says = says(&command).or_else(|| prints_input.then(|| heredoc(words, inner))?);
            web |= fetches(&command) || says.as_ref().is_some_and(|says| says.contains(WEB));
            web |= name.iter().skip(1).any(|word| self.is_download(word));
            said = says.or(decoded);
        }
    }

    /// Examines a line whose standard input comes from the web.
    fn inner_of_web(&mut self, line: &str) {
        let Some(tree) = syntax::parse(line) else { return };
        let words = Words::of(line, &tree, self.scope, &[]);
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

/// Whether a command decodes Base64.
fn decodes(words: &[String]) -> bool {
    unwrapped(words).split_first().is_some_and(|(first, rest)| {
        let is_decoder = ["base64", "openssl"].contains(&base(first));
        is_decoder && rest.iter().any(|word| ["-d", "-D", "--decode", "-di", "-id"].contains(&word.as_str()))
    })
}

/// The text that a text in Base64 stands for.
fn base64(text: &str) -> Option<String> {
    let mut digits: String = text.chars().filter(|c| !c.is_whitespace() && *c != '=').collect();
    // The programs print what is before a digit too many.
    if digits.len() % 4 == 1 && digits.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/')) {
        digits.pop();
    }
    let lenient = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true);
    String::from_utf8(GeneralPurpose::new(&alphabet::STANDARD, lenient).decode(digits).ok()?).ok()
}

/// The files that a fetching command saves.
pub(super) fn saved(words: &[String]) -> Vec<String> {
    let Some((first, rest)) = words.split_first().filter(|(first, _)| is_fetcher(first)) else { return vec![] };
    let (is_curl, is_wget) = (base(first) == "curl", base(first).starts_with("wget"));
    let (mut files, mut folder, mut named) = (vec![], None, false);
    for (at, word) in rest.iter().enumerate() {
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
        let value = |attached: &str| match attached {
            "" => rest.get(at + 1).cloned(),
            attached => Some(attached.trim_start_matches('=').to_owned()),
        };
        let long = |names: &[&str]| {
            let rest = names.iter().find_map(|name| word.strip_prefix(name))?;
            (rest.is_empty() || rest.starts_with('=')).then(|| value(rest))?
        };
        let short = |letter: char| letters.split_once(letter).and_then(|(_, attached)| value(attached));
        files.extend(short(if is_wget { 'O' } else { 'o' }));
        files.extend(long(&["--output-document", "--output", "--out"]));
        folder =
            folder.or_else(|| short('P').filter(|_| is_wget)).or_else(|| long(&["--directory-prefix", "--output-dir"]));
        named |= is_curl && (letters.contains('O') || word.starts_with("--remote-name"));
    }
    // wget names the file after the address, unless the line names it.
    if named || (is_wget && files.is_empty()) {
        let name = |word: &String| word.split(['?', '#']).next()?.rsplit_once('/').map(|(_, name)| name.to_owned());
        files
            .extend(rest.iter().filter(|word| !word.starts_with('-')).filter_map(name).filter(|name| !name.is_empty()));
    }
    match folder {
        Some(folder) => {
            files.into_iter().map(|file| PathBuf::from(&folder).join(file).to_string_lossy().into_owned()).collect()
        }
        None => files,
    }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_program_that_runs_its_input_is_known() {
        for line in [
            "sh",
            "bash -s x",
            "sudo python3",
            "python3 -",
            "source /dev/stdin",
            "xargs -I {} sh -c {}",
            "parallel",
            "xargs sh -c",
            "xargs eval",
        ] {
            assert!(runs_input(&words(line)), "{line}");
        }
        for line in
            ["sh x.sh", "python3 -c a", "cat", "xargs rm", "xargs -n 1 echo", "parallel echo ::: a b", "source x.sh"]
        {
            assert!(!runs_input(&words(line)), "{line}");
        }
    }

    #[test]
    fn items_are_put_into_the_command() {
        for (line, expected) in [
            ("xargs rm -rf", "rm -rf / b"),
            ("xargs -n 1 -P4 rm", "rm / b"),
            ("xargs -I % mv % x", "mv / b x"),
            ("xargs -I% mv % x", "mv / b x"),
            ("xargs -i rm {}", "rm / b"),
            ("xargs --replace=@ rm @", "rm / b"),
            ("xargs -0 -d , -- rm", "rm / b"),
            ("parallel -j 4 rm {}", "rm / b"),
            ("sudo xargs rm", "rm / b"),
        ] {
            let found: Vec<String> =
                with_all_items(&words(line), "/ b\n").iter().map(|words| words.join(" ")).collect();
            assert_eq!(found, [expected], "{line}");
        }
        assert!(with_all_items(&words("rm x"), "/").is_empty());
    }

    #[test]
    fn the_files_of_a_fetch_are_known() {
        for (line, expected) in [
            ("curl -o a https://x.example/b", vec!["a"]),
            ("curl -sSLoa https://x.example/b", vec!["a"]),
            ("curl -O https://x.example/b.sh?v=1", vec!["b.sh"]),
            ("curl --output=a --output-dir d https://x.example/b", vec!["d/a"]),
            ("curl https://x.example/b", vec![]),
            ("wget https://x.example/b.sh#top", vec!["b.sh"]),
            ("wget -q -O- https://x.example/b", vec!["-"]),
            ("wget -P d https://x.example/b", vec!["d/b"]),
            ("wget https://x.example/", vec![]),
            ("cat a", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(saved(&words(line)), expected, "{line}");
        }
    }

    #[test]
    fn base64_is_decoded_as_by_its_programs() {
        for (text, expected) in [
            ("cm0gLXJmIC8=", Some("rm -rf /")),
            ("cm0g\nLXJm IC8", Some("rm -rf /")),
            ("cm0gLXJmIC8x", Some("rm -rf /1")),
            ("cm0gLXJmIC8xc", Some("rm -rf /1")),
            ("", Some("")),
            ("/+8=", None),
            ("cm0g!", None),
        ] {
            assert_eq!(base64(text).as_deref(), expected, "{text}");
        }
        for line in ["base64 -d", "sudo base64 --decode", "openssl base64 -d"] {
            assert!(decodes(&words(line)), "{line}");
        }
        assert!(!decodes(&words("base64 -w0")) && !decodes(&[]));
    }

    proptest! {
        #[test]
        fn any_words_are_examined(words in prop::collection::vec("(xargs|parallel|curl|wget|sh|-)?[-=ioIPO{}\u{e9}]{0,5}", 0..6)) {
            runs_input(&words);
            saved(&words);
            for command in with_all_items(&words, "\u{e9} x") {
                prop_assert!(command.len() <= words.len() + 2);
            }
        }
    }
}
