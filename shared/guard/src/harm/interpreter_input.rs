//! Code passed to an interpreter: in its arguments, in a file, or on its standard input.

use super::names::{base, is_shell};

/// The program that an interpreter was given in its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InterpreterInput<'w> {
    /// Pieces of code, and the arguments of the code. Without a piece, the code is missing at the end.
    Code(Vec<&'w str>, &'w [String]),
    /// A module of the interpreter, which reads data.
    Module,
    /// A file, and the arguments of its program.
    File(&'w String, &'w [String]),
    /// Nothing, so it reads standard input.
    Nothing,
}

/// The options of an interpreter.
struct Options {
    /// The letters of options whose value is code.
    code: &'static str,
    /// The letters of options with another value.
    valued: &'static str,
    /// The letters of options whose value, if there is one, is in the same word.
    attached: &'static str,
    /// Long options and words whose value is code.
    long: &'static [&'static str],
    /// Long options with another value.
    long_valued: &'static [&'static str],
    /// Words before a file.
    verbs: &'static [&'static str],
}

const NO_OPTIONS: Options = Options { code: "", valued: "", attached: "", long: &[], long_valued: &[], verbs: &[] };

fn options(name: &str) -> Options {
    match name {
        name if runs_line(name) => {
            Options { code: "c", valued: "gGsEIOBTwoT", long: &["--command", "--session-command"], ..NO_OPTIONS }
        }
        name if is_shell(name) => Options {
            valued: "oO",
            long: &["--command"],
            long_valued: &["--rcfile", "--init-file", "--init-command"],
            ..NO_OPTIONS
        },
        "perl" => Options { code: "eE", valued: "I", attached: "MmiFCdDxV", ..NO_OPTIONS },
        "ruby" => Options { code: "e", valued: "ICr", attached: "iFxKTWE", long_valued: &["--require"], ..NO_OPTIONS },
        "node" | "deno" | "bun" => Options {
            code: "ep",
            valued: "rC",
            long: &["--eval", "--print", "eval"],
            long_valued: &["--require", "--import", "--loader", "--preload"],
            verbs: &["run"],
            ..NO_OPTIONS
        },
        "php" => Options {
            code: "rBRE",
            valued: "cdz",
            long: &["--run", "--process-begin", "--process-code", "--process-end"],
            long_valued: &["--define", "--php-ini"],
            ..NO_OPTIONS
        },
        "lua" | "osascript" | "Rscript" => Options { code: "e", valued: "l", ..NO_OPTIONS },
        "pwsh" => Options { long: &["-c", "-Command", "-command", "--Command"], ..NO_OPTIONS },
        _ => Options { code: "c", valued: "WX", long_valued: &["--check-hash-based-pycs"], ..NO_OPTIONS },
    }
}

/// The code that the arguments `words` pass to the interpreter `name`.
pub(super) fn given<'w>(name: &str, words: &'w [String]) -> InterpreterInput<'w> {
    let name = base(name);
    let options = options(name);
    let (mut code, mut at, mut has_code) = (vec![], 0, false);
    while let Some(word) = words.get(at) {
        let option = option(name, &options, word);
        if matches!(option, Word::Operand) && has_code {
            break;
        }
        at += 1;
        match option {
            Word::Input => return InterpreterInput::Nothing,
            Word::Module => return InterpreterInput::Module,
            Word::Code => {
                has_code = true;
                at += usize::from(words.get(at).is_some_and(|word| word == "--"));
                code.extend(words.get(at).map(String::as_str));
                at += 1;
                if is_shell(name) {
                    break;
                }
            }
            Word::Attached(text) => {
                has_code = true;
                code.push(text);
            }
            Word::Valued => at += 1,
            Word::Flag => {}
            Word::Operand if options.verbs.contains(&word.as_str()) => {}
            // The file of a lock, the user and the file of a record.
            Word::Operand if runs_line(name) => {}
            Word::Operand => return InterpreterInput::File(word, &words[at..]),
        }
    }
    if has_code { InterpreterInput::Code(code, words.get(at..).unwrap_or_default()) } else { InterpreterInput::Nothing }
}

/// A word in the arguments of an interpreter.
enum Word<'w> {
    /// The program is on standard input.
    Input,
    /// An option whose value is the name of a module.
    Module,
    /// The next word is code.
    Code,
    /// This text in the word is code.
    Attached(&'w str),
    /// The next word is the value of an option.
    Valued,
    /// Another option.
    Flag,
    /// No option.
    Operand,
}

fn option<'w>(name: &str, options: &Options, word: &'w str) -> Word<'w> {
    if ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].contains(&word) {
        // `su -` is a login.
        return if runs_line(name) { Word::Flag } else { Word::Input };
    }
    if options.long.contains(&word) {
        return Word::Code;
    }
    if options.long_valued.contains(&word) {
        return Word::Valued;
    }
    if let Some((long, value)) = word.split_once('=')
        && options.long.contains(&long)
    {
        return Word::Attached(value);
    }
    let letters = word.strip_prefix(['-', '+']).filter(|letters| !letters.starts_with('-'));
    let Some(letters) = letters else {
        return if word.starts_with("--") { Word::Flag } else { Word::Operand };
    };
    if is_shell(name) {
        // The value of a shell's option is always the next word.
        return match letters {
            letters if letters.contains('s') => Word::Input,
            letters if letters.contains('c') => Word::Code,
            letters if letters.contains(|c| options.valued.contains(c)) => Word::Valued,
            _ => Word::Flag,
        };
    }
    for (at, letter) in letters.char_indices() {
        let rest = &letters[at + letter.len_utf8()..];
        if options.code.contains(letter) {
            // `node -pe CODE`
            let is_more = rest.is_empty() || (rest.len() == 1 && options.code.contains(rest));
            return if is_more { Word::Code } else { Word::Attached(rest) };
        }
        if letter == 'm' && name.starts_with("python") {
            return Word::Module;
        }
        if options.valued.contains(letter) {
            return if rest.is_empty() { Word::Valued } else { Word::Flag };
        }
        if options.attached.contains(letter) {
            return Word::Flag;
        }
    }
    Word::Flag
}

/// Whether a program gives the line in its option `-c` to a shell.
pub(super) fn runs_line(name: &str) -> bool {
    ["su", "runuser", "script", "flock"].contains(&name)
}

/// Whether a file name is standard input.
pub(super) fn is_input(word: &str) -> bool {
    matches!(option("", &NO_OPTIONS, word), Word::Input)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_files_and_standard_input_are_told_apart() {
        let words = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
        for (line, code) in [
            ("python3 -c a", vec!["a"]),
            ("python3 -Ic a b", vec!["a"]),
            ("python3 -ca", vec!["a"]),
            ("python3 -X dev -c a", vec!["a"]),
            ("perl -MFile::Path -e a -e b c", vec!["a", "b"]),
            ("perl -i.bak -lane a", vec!["a"]),
            ("perl -ea", vec!["a"]),
            ("node -pe a", vec!["a"]),
            ("node --eval=a", vec!["a"]),
            ("deno eval a", vec!["a"]),
            ("bash -o pipefail -xc a b", vec!["a"]),
            ("sh -c -- a", vec!["a"]),
            ("sh -c", vec![]),
            ("php -d x=y -r a", vec!["a"]),
        ] {
            let words = words(line);
            assert!(
                matches!(given(&words[0], &words[1..]), InterpreterInput::Code(found, _) if found == code),
                "{line}"
            );
        }
        for line in ["python3 x -c a", "bash +O extglob x", "deno run x", "ruby -rjson x", "perl -Mx::e x"] {
            let words = words(line);
            assert!(matches!(given(&words[0], &words[1..]), InterpreterInput::File(file, _) if file == "x"), "{line}");
        }
        for line in ["python3", "python3 - -c a", "bash -s x", "sh -x /dev/stdin", "deno run -"] {
            let words = words(line);
            assert_eq!(given(&words[0], &words[1..]), InterpreterInput::Nothing, "{line}");
        }
        assert_eq!(given("python3", &words("-mjson.tool")), InterpreterInput::Module);
    }
}
