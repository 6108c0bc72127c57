//! `sed` with a script that only prints: no `-i`, and none of the commands that read, write or run.

use super::{
    CommandContext,
    options::{self, Entry, Operands},
    refused,
};
use crate::{Reason, word::Word};

const OPTIONS: Entry = Entry {
    options: "-nErsuz -e: -l: --quiet --silent --expression: --regexp-extended --separate --unbuffered --null-data --posix \
        --line-length: --sandbox",
    operands: Operands::Text,
};

pub(super) fn check(arguments: &[Word], context: &CommandContext<'_>) -> Result<(), Reason> {
    let parsed = options::parse("sed", &OPTIONS, arguments, context)?;
    let mut files = parsed.operands.as_slice();
    let given = parsed.options.iter().filter(|(name, _)| ["-e", "--expression"].contains(&name.as_str()));
    let mut scripts: Vec<&Word> = given.filter_map(|(_, value)| value.as_ref()).collect();
    if scripts.is_empty() {
        let Some((first, rest)) = files.split_first() else { return Err(Reason::new("syntax", "sed has no script")) };
        (scripts, files) = (vec![*first], rest);
    }
    for script in scripts {
        if !script.globs.is_empty() || only_prints(&script.text).is_none() {
            return Err(refused("sed", script));
        }
    }
    files.iter().filter(|word| word.text != "-").try_for_each(|word| context.path(word))
}

/// Parses a script; `None` if it has a command that is not known to only print.
fn only_prints(script: &str) -> Option<()> {
    let mut rest = Script { text: script };
    loop {
        rest.skip(|c| c.is_ascii_whitespace() || c == ';' || c == '}');
        if rest.text.is_empty() {
            return Some(());
        }
        rest.address()?;
        rest.skip(|c| c == ' ' || c == '\t' || c == '!');
        match rest.next()? {
            '{' => continue,
            'p' | 'P' | 'd' | 'D' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | '=' => {}
            'q' | 'Q' | 'l' => {
                rest.skip(|c| c == ' ');
                rest.skip(|c| c.is_ascii_digit());
            }
            's' => {
                let sign = rest.next().filter(|sign| separates(*sign))?;
                rest.expression(sign)?;
                rest.replacement(sign)?;
                rest.skip(|c| "gpiImM".contains(c) || c.is_ascii_digit());
            }
            'y' => {
                let sign = rest.next().filter(|sign| separates(*sign))?;
                rest.replacement(sign)?;
                rest.replacement(sign)?;
            }
            _ => return None,
        }
        rest.skip(|c| c == ' ' || c == '\t');
        if !rest.text.is_empty() && !rest.text.starts_with([';', '}', '\n']) {
            return None;
        }
    }
}

struct Script<'s> {
    text: &'s str,
}

impl Script<'_> {
    fn skip(&mut self, skipped: impl Fn(char) -> bool) {
        self.text = self.text.trim_start_matches(skipped);
    }

    fn next(&mut self) -> Option<char> {
        let c = self.text.chars().next()?;
        self.text = &self.text[c.len_utf8()..];
        Some(c)
    }

    /// Parses the address of a command: `1`, `$`, `/a/`, `1,5`, `/a/,/b/`, `1~2`, `/a/,+3`.
    fn address(&mut self) -> Option<()> {
        self.one_address()?;
        self.skip(|c| c == ' ');
        if let Some(rest) = self.text.strip_prefix(',') {
            self.text = rest.trim_start_matches([' ', '+', '~']);
            self.one_address()?;
        }
        Some(())
    }

    fn one_address(&mut self) -> Option<()> {
        match self.text.chars().next()? {
            '/' => {
                self.next();
                self.expression('/')?;
                self.skip(|c| c == 'I' || c == 'M');
            }
            '$' => drop(self.next()),
            _ => self.skip(|c| c.is_ascii_digit() || c == '~'),
        }
        Some(())
    }

    /// Skips a regular expression that ends with `sign`.
    ///
    /// `None` if readings disagree on its end: a `sign` in a bracket expression ends the expression in some
    /// implementations only, and they differ in what closes a bracket expression (`[]/]`, `[\]/`, `[[:alpha:]/]`).
    fn expression(&mut self, sign: char) -> Option<()> {
        let end_without = end(self.text, sign, None)?;
        for (has_classes, has_escapes) in [(true, false), (true, true), (false, false), (false, true)] {
            if end(self.text, sign, Some(Brackets { has_classes, has_escapes })) != Some(end_without) {
                return None;
            }
        }
        self.text = &self.text[end_without..];
        Some(())
    }

    /// Skips a replacement or a list of characters that ends with `sign`.
    fn replacement(&mut self, sign: char) -> Option<()> {
        self.text = &self.text[end(self.text, sign, None)?..];
        Some(())
    }
}

/// How bracket expressions are read.
#[derive(Clone, Copy)]
struct Brackets {
    /// `[:alpha:]`, `[=a=]` and `[.-.]` are units within them.
    has_classes: bool,
    /// A backslash escapes the next character in them.
    has_escapes: bool,
}

/// The byte after the unescaped `sign` that ends a part at the beginning of `text`; without `brackets`, `[` has no
/// meaning.
fn end(text: &str, sign: char, brackets: Option<Brackets>) -> Option<usize> {
    let at = |from: usize| text[from..].chars().next();
    let mut position = 0;
    loop {
        let c = at(position)?;
        position += c.len_utf8();
        match (c, brackets) {
            ('\n', _) => return None,
            ('\\', _) => position += at(position).filter(|c| *c != '\n')?.len_utf8(),
            (c, _) if c == sign => return Some(position),
            ('[', Some(brackets)) => position = bracket_end(text, position, brackets)?,
            _ => {}
        }
    }
}

/// The byte after the bracket expression whose `[` ends at `position`.
fn bracket_end(text: &str, mut position: usize, brackets: Brackets) -> Option<usize> {
    let at = |from: usize| text[from..].chars().next();
    position += usize::from(at(position) == Some('^'));
    position += usize::from(at(position) == Some(']'));
    loop {
        let c = at(position)?;
        position += c.len_utf8();
        match c {
            '\n' => return None,
            ']' => return Some(position),
            '\\' if brackets.has_escapes => position += at(position)?.len_utf8(),
            '[' if brackets.has_classes => {
                if let Some(kind @ (':' | '.' | '=')) = at(position) {
                    let close = format!("{kind}]");
                    position += 1 + text[position + 1..].find(&close)? + close.len();
                }
            }
            _ => {}
        }
    }
}

/// Whether `sign` may separate the parts of `s` and `y`; a byte in every locale.
fn separates(sign: char) -> bool {
    sign.is_ascii_punctuation() && sign != '\\' && sign != '[' && sign != ']'
}

#[cfg(test)]
mod tests {
    use std::{
        collections::HashSet,
        process::{Command, Stdio},
    };

    use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};

    use super::only_prints;

    #[test]
    fn a_sed_script_that_may_run_or_write_is_refused() {
        for script in [
            "1,20p",
            "$p",
            "/a/,/b/p",
            "s/a/b/",
            "s/a/b/g;s|c|d|gp",
            "/^#/d",
            "5q",
            "1~2p",
            "/x/,+3p",
            "2!d",
            "$!N;P;D",
            "/a/{p;q}",
            "y/abc/xyz/",
            "s/[0-9]*//",
            "=",
            "1d;$d",
            "s/a\\/b/c/2",
            "10,$p",
            "{p}",
            "/a/I p",
            "s/[]]/x/",
            "s/[^]]*$//p",
            "s/[[:space:]]*$//",
            "s/[^[:alnum:]_]//g",
            "s|[/]|x|",
            "/[[.-.]]/p",
            "s/a/[/",
            "y/[/]/",
            "s/\\[/x/",
        ] {
            assert!(only_prints(script).is_some(), "{script}");
        }
        for script in [
            "w out.txt",
            "1e rm x",
            "s/a/b/e",
            "s/a/b/w out",
            "r /etc/passwd",
            "1r x",
            "R x",
            "W x",
            "e",
            "s/a/rm x/ge",
            "/a/w x",
            "s/[/]w out/x/",
            "i\\x",
            "a x",
            "p w x",
            "s/a/b",
            "y/a/b/w",
            "F",
            "b x",
            "sxaxbxe",
            "1,2 e x",
            "p;e",
            "s/a/b/;w x",
            "s/a/b/\nw x",
            "{w x",
            "}w x",
            "s/[]/]/;/e;#/p",
            "s/[]/]/;/w src/p",
            "s/[^]/]/;/w src/p",
            "s/[[:alpha:]/]/;/w src/p",
            "s/[[.].]/]/;/w src/p",
            "s/[[=a=]/]/;/w src/p",
            "/[]/s/]/w src/p",
            "s/[\\]/]/w x/p",
            "s§a§b§",
        ] {
            assert!(only_prints(script).is_none(), "{script}");
        }
    }

    /// A `sed` whose `--sandbox` refuses a script that reads, writes or runs before anything is done.
    fn has_sandbox() -> bool {
        let version = Command::new("sed").arg("--version").output();
        version.is_ok_and(|out| String::from_utf8_lossy(&out.stdout).contains("GNU sed"))
    }

    /// Whether the `sed` of the system finds a command in `script` that reads, writes or runs.
    fn reaches_out(script: &str) -> bool {
        let mut sed = Command::new("sed");
        let sed = sed.args(["--sandbox", "-n", "-e", script]).stdin(Stdio::null()).stdout(Stdio::null());
        String::from_utf8_lossy(&sed.output().unwrap().stderr).contains("sandbox")
    }

    #[test]
    fn no_accepted_script_reads_writes_or_runs_in_the_real_sed() {
        if !has_sandbox() {
            eprintln!("not run: this machine has no GNU sed");
            return;
        }
        assert!(reaches_out("s/[]/]/;/e;#/p") && reaches_out("w x") && !reaches_out("s/e/w/"));
        let token = prop::sample::select(vec![
            "[",
            "]",
            "^",
            "/",
            ";",
            "\\",
            "[:",
            ":]",
            "[.",
            ".]",
            "[=",
            "=]",
            "[:alpha:]",
            "a",
            "e",
            "w x",
            "p",
            "s/",
            "y/",
            "/",
            "{",
            "}",
            "1",
            ",",
            "$",
            "!",
            "[]",
            "[^]",
            "\n",
            " ",
            "#",
            "|",
            "s|",
            "g",
            "I",
        ]);
        let scripts = prop_oneof![
            prop::collection::vec(token.clone(), 1..14).prop_map(|tokens| tokens.concat()),
            (
                prop::collection::vec(token.clone(), 1..6),
                prop::collection::vec(token.clone(), 0..4),
                prop::collection::vec(token, 0..6)
            )
                .prop_map(|(first, second, rest)| format!(
                    "s/{}/{}/{}",
                    first.concat(),
                    second.concat(),
                    rest.concat()
                )),
        ];
        let mut runner = TestRunner::default();
        let generated = (0..60_000).map(|_| scripts.new_tree(&mut runner).unwrap().current());
        let accepted: HashSet<String> =
            generated.filter(|script| script.contains(['e', 'w']) && only_prints(script).is_some()).collect();
        let wrong: Vec<_> = accepted.iter().filter(|script| reaches_out(script)).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
        assert!(accepted.len() > 100, "{}", accepted.len());
    }
}
