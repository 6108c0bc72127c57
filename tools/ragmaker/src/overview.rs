//! The overview of commands and tools.

use std::{fmt::Write, process::ExitCode};

use ragmaker_registry::GROUPS;

use crate::command::{Command, HOSTS, OWN, WORKFLOWS};

/// The width of the screen, in columns.
const WIDTH: usize = 80;

/// Prints the commands in groups.
pub(crate) fn print() -> ExitCode {
    ragmaker_registry::print(&text())
}

fn text() -> String {
    let mut text = format!(
        "ragmaker {}: tools with which an agent gathers knowledge and answers from it\n\n",
        env!("CARGO_PKG_VERSION")
    );
    for commands in [&WORKFLOWS[..], &HOSTS, &OWN] {
        for Command { name, hint, purpose, .. } in commands {
            let _ = writeln!(text, "  {:<18} {purpose}", format!("{name} {hint}"));
        }
    }
    text.push_str("\nTools, to\n");
    for group in GROUPS {
        let _ = writeln!(text, "  {}:", group.purpose);
        text.push_str(&wrapped(group.tools));
    }
    text.push_str("\n`ragmaker COMMAND --help` shows the arguments of a command.\n");
    text
}

/// `words` in lines with an indentation of four columns.
fn wrapped(words: &[&str]) -> String {
    let mut text = String::new();
    let mut column = WIDTH;
    for word in words {
        if column + 1 + word.len() > WIDTH {
            text.push_str(if text.is_empty() { "   " } else { "\n   " });
            column = 3;
        }
        text.push(' ');
        text.push_str(word);
        column += 1 + word.len();
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overview_fits_a_screen() {
        let text = text();
        assert!(text.lines().count() <= 46, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 90), "{text}");
        for name in ["rag SOURCE", "read-file", "mcp", "link --dir DIR"] {
            assert!(text.contains(name), "{name}");
        }
    }
}
