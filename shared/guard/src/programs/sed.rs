//! `sed` with a script that only prints: no `-i`, and none of the commands that read, write or run.

use super::{
    Place,
    options::{self, Entry, Operands},
    refused,
};
use crate::{Reason, word::Word};

const OPTIONS: Entry = Entry {
    options: "-nErsuz -e: -l: --quiet --silent --expression: --regexp-extended --separate --unbuffered --null-data --posix \
        --line-length: --sandbox",
    operands: Operands::Text,
};

pub(super) fn check(arguments: &[Word], place: &Place<'_>) -> Result<(), Reason> {
    let parsed = options::parse("sed", &OPTIONS, arguments, place)?;
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
    files.iter().filter(|word| word.text != "-").try_for_each(|word| place.path(word))
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
                let sign = rest.next()?;
                rest.part(sign)?;
                rest.part(sign)?;
                rest.skip(|c| "gpiImM".contains(c) || c.is_ascii_digit());
            }
            'y' => {
                let sign = rest.next()?;
                rest.part(sign)?;
                rest.part(sign)?;
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
                self.part('/')?;
                self.skip(|c| c == 'I' || c == 'M');
            }
            '$' => drop(self.next()),
            _ => self.skip(|c| c.is_ascii_digit() || c == '~'),
        }
        Some(())
    }

    /// Skips a part that ends with an unescaped `sign`.
    ///
    /// If a bracket expression is open at the end, implementations disagree on where the part ends.
    fn part(&mut self, sign: char) -> Option<()> {
        if sign == '\\' || sign == '\n' || sign.is_alphanumeric() {
            return None;
        }
        let start = self.text;
        loop {
            match self.next()? {
                '\\' => drop(self.next()?),
                '\n' => return None,
                c if c == sign => break,
                _ => {}
            }
        }
        let part = &start[..start.len() - self.text.len() - sign.len_utf8()];
        let opens = part.rfind('[');
        opens.is_none_or(|at| part[at..].contains(']')).then_some(())
    }
}

#[cfg(test)]
mod tests {
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
        ] {
            assert!(only_prints(script).is_none(), "{script}");
        }
    }
}
