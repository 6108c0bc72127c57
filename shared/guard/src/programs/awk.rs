//! `awk` with a program that only prints.
//!
//! Awk can run commands (`system`, pipes, `getline`) and write files (`>`). Its language is not parsed here, because
//! that requires distinguishing a regular expression from a division. So an allowed program must not contain any of
//! these words and signs, not even inside a string.

use super::{
    CommandContext,
    options::{self, Entry, Operands},
    refused,
};
use crate::{Reason, word::Word};

const OPTIONS: Entry = Entry { options: "-F: -v: --field-separator: --assign:", operands: Operands::Text };

/// Words and signs that run, read or write something; `@` calls a function by name.
const REFUSED: [&str; 9] = ["system", "getline", "ARGV", "ARGC", "@", "close", "extension", "PROCINFO", "nextfile"];

pub(super) fn check(arguments: &[Word], context: &CommandContext<'_>) -> Result<(), Reason> {
    let parsed = options::parse("awk", &OPTIONS, arguments, context)?;
    let Some((program, files)) = parsed.operands.split_first() else {
        return Err(Reason::new("syntax", "awk has no program"));
    };
    if !program.globs.is_empty() || !only_prints(&program.text) {
        return Err(Reason::new("option", "an awk program that may run commands or write files"));
    }
    files.iter().filter(|word| word.text != "-").try_for_each(|word| {
        // An operand `x=1` sets a variable.
        if word.text.contains('=') && !word.text.contains('/') && word.globs.is_empty() {
            let is_assignment = word.text.split('=').next().is_some_and(|name| {
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            });
            return if is_assignment { Ok(()) } else { Err(refused("awk", word)) };
        }
        context.path(word)
    })
}

fn only_prints(program: &str) -> bool {
    if REFUSED.iter().any(|word| program.contains(word)) {
        return false;
    }
    let rest = program.replace("||", "").replace(">=", "");
    // `>` is a redirect only in a program that prints; otherwise, it is a comparison.
    !rest.contains('|') && (!rest.contains('>') || !program.contains("print"))
}

#[cfg(test)]
mod tests {
    use super::only_prints;

    #[test]
    fn an_awk_program_that_may_run_or_write_is_refused() {
        for program in ["{print $1}", "NR>=5 && NR<10 || $1==\"a\"", "$3 > 5", "BEGIN{for(i=0;i<3;i++)print i}"] {
            assert!(only_prints(program), "{program}");
        }
        for program in [
            "BEGIN{system(\"rm x\")}",
            "{print > \"out\"}",
            "{print | \"sh\"}",
            "BEGIN{\"date\"|getline d}",
            "{print $1 > 5}",
            "BEGIN{f=\"system\";@f(\"rm x\")}",
            "/\"/{system(\"x\")}/\"/",
            "BEGIN{ARGV[1]=\"/etc/passwd\";ARGC=2}{print}",
        ] {
            assert!(!only_prints(program), "{program}");
        }
    }
}
