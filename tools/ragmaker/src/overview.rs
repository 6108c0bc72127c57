//! The overview of commands and tools.

use std::process::ExitCode;

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
        for pair in commands.chunks(2) {
            let cells = pair
                .iter()
                .map(|Command { name, hint, purpose }| format!("  {:<17} {purpose:<20}", format!("{name} {hint}")));
            let line: String = cells.collect();
            text += line.trim_end();
            text.push('\n');
        }
    }
    text.push_str("\nTools (`ragmaker COMMAND --help` shows the arguments of each command):\n");
    for groups in GROUPS.chunk_by(|one, next| one.label == next.label) {
        let tools: Vec<&str> = groups.iter().flat_map(|group| group.tools).copied().collect();
        text += &labelled(groups[0].label, &tools);
    }
    text
}

/// `words` in lines, with `label` before them.
fn labelled(label: &str, words: &[&str]) -> String {
    let mut lines = vec![];
    let mut line = format!("  {label:<7}");
    for word in words {
        if line.len() + 1 + word.len() > WIDTH {
            lines.push(line);
            line = " ".repeat(9);
        }
        line.push(' ');
        line.push_str(word);
    }
    lines.push(line);
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overview_fits_a_screen() {
        let text = text();
        // A terminal has 24 lines, and one of them is for the next command.
        assert!(text.lines().count() <= 23, "{} lines: {text}", text.lines().count());
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        for name in ["rag SOURCE", "read-file", "mcp", "link", "web-search"] {
            assert!(text.contains(name), "{name}");
        }
    }
}
