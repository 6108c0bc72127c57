//! Recordings of a terminal as SVG files, made from the checked examples of the tools.
//!
//! The tests compare these examples with what the tools print, so a recording shows a real run. The same text gives the
//! same bytes. The lines appear one after another by CSS; a program that does not animate shows all of them.

use std::{collections::BTreeMap, fmt::Write, fs, path::PathBuf};

use anyhow::Context;

use crate::files::root;

/// Each recording: its file in docs/pictures, and the beginnings of its commands with the tools whose examples have
/// them.
const RECORDINGS: [(&str, &[(&str, &str)]); 2] = [
    (
        "gather.svg",
        &[
            ("browser-navigate", "ragmaker-browser-navigate http://127.0.0.1:8000/wiki/ "),
            ("browser-extract", "ragmaker-browser-extract http://127.0.0.1:8000/wiki/tides "),
            ("verify", "ragmaker-verify kb/tidemark"),
        ],
    ),
    (
        "ask.svg",
        &[
            ("search-knowledge-base", "ragmaker-search-knowledge-base 'what does a gauge measure'"),
            ("cite", "ragmaker-cite --quote "),
            ("cite", "ragmaker-cite --answer "),
        ],
    ),
];

/// The most columns of a line, and the most lines of an output.
const SHOWN: (usize, usize) = (100, 9);

/// The size of a character and of a line.
const CELL: (usize, usize) = (8, 18);

/// Each file and its content.
pub(crate) fn files() -> anyhow::Result<BTreeMap<PathBuf, String>> {
    RECORDINGS.iter().map(|(name, steps)| Ok((root().join("docs/pictures").join(name), recording(steps)?))).collect()
}

fn recording(steps: &[(&str, &str)]) -> anyhow::Result<String> {
    let mut lines = vec![];
    for (tool, command) in steps {
        let source = root().join("tools").join(tool).join("examples.md");
        let examples = fs::read_to_string(&source).with_context(|| format!("cannot read {}", source.display()))?;
        let step = step(&examples, command).with_context(|| format!("{} has no {command}", source.display()))?;
        lines.extend(step);
    }
    Ok(svg(&lines))
}

/// The command that begins like this, and its output, as lines of a terminal.
fn step(examples: &str, command: &str) -> Option<Vec<String>> {
    let mut lines =
        examples.lines().skip_while(|line| !line.strip_prefix("$ ").is_some_and(|it| it.starts_with(command)));
    let first = lines.next()?;
    let output: Vec<&str> = lines.take_while(|line| *line != "```" && !line.starts_with("$ ")).collect();
    let (columns, most) = SHOWN;
    // A command is wrapped, an output is cut.
    let characters: Vec<char> = first.chars().collect();
    let mut shown: Vec<String> = characters.chunks(columns - 4).map(|part| part.iter().collect()).collect();
    for part in &mut shown[1..] {
        part.insert_str(0, "    ");
    }
    shown.extend(output.iter().take(most).map(|line| cut(line, columns)));
    if output.len() > most {
        shown.push(format!("  … {} more lines", output.len() - most));
    }
    shown.push(String::new());
    Some(shown)
}

fn cut(line: &str, columns: usize) -> String {
    if line.chars().count() <= columns {
        return line.to_owned();
    }
    line.chars().take(columns - 1).chain(['…']).collect()
}

fn svg(lines: &[String]) -> String {
    let lines = &lines[..lines.len().saturating_sub(1)];
    let (column, row) = CELL;
    let width = SHOWN.0 * column + 32;
    let height = lines.len() * row + 32;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
         <style>text{{font:13px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#c9d1d9;white-space:pre}}\
         .c{{fill:#7ee787}}text{{animation:show 1ms backwards}}@keyframes show{{from{{opacity:0}}}}\
         @media(prefers-reduced-motion:reduce){{text{{animation:none}}}}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#0d1117\"/>\n"
    );
    let (mut tenths, mut is_command) = (0, false);
    for (at, line) in lines.iter().enumerate() {
        is_command = line.starts_with("$ ") || (is_command && line.starts_with("    "));
        tenths += if line.starts_with("$ ") { 12 } else { 1 };
        if line.is_empty() {
            continue;
        }
        let class = if is_command { " class=\"c\"" } else { "" };
        let _ = writeln!(
            svg,
            "<text x=\"16\" y=\"{}\"{class} style=\"animation-delay:{}.{}s\">{}</text>",
            (at + 1) * row + 11,
            tenths / 10,
            tenths % 10,
            line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
        );
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLES: &str = "```console\n$ a --b 1\nx\n$ a --b 2 > <f>\n{\n  \"y\": 1 & 2\n}\n```\n$ a --c\n";

    #[test]
    fn a_step_is_a_command_and_its_output() {
        assert_eq!(step(EXAMPLES, "a --b").unwrap(), ["$ a --b 1", "x", ""]);
        assert_eq!(step(EXAMPLES, "a --b 2").unwrap(), ["$ a --b 2 > <f>", "{", "  \"y\": 1 & 2", "}", ""]);
        assert_eq!(step(EXAMPLES, "b"), None);
        let long = format!("$ a {}\n{}\n{}", "x".repeat(100), "y".repeat(101), "z\n".repeat(20));
        let shown = step(&long, "a").unwrap();
        assert_eq!((&shown[1][..], shown[2].len()), ("    xxxxxxxx", 99 + "…".len()));
        assert_eq!(shown[shown.len() - 2], "  … 12 more lines");
        assert!(shown.iter().all(|line| line.chars().count() <= 100), "{shown:?}");
    }

    #[test]
    fn a_picture_has_every_line_as_text() {
        let picture = svg(&step(EXAMPLES, "a --b 2").unwrap());
        assert_eq!(picture.matches("<text ").count(), 4);
        assert!(
            picture.contains(">$ a --b 2 &gt; &lt;f&gt;</text>") && picture.contains("1 &amp; 2</text>"),
            "{picture}"
        );
    }

    #[test]
    fn every_picture_is_small() {
        for (path, picture) in files().unwrap() {
            assert!(picture.len() < 100_000, "{}: {} bytes", path.display(), picture.len());
        }
    }
}
