//! The prompts for the model, from the files in `prompts/`, one folder for each language.

use std::fmt::Write;

use crate::machine::Note;

/// The language of the instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Language {
    /// Japanese.
    #[default]
    Japanese,
    /// English.
    English,
}

/// The values that the instructions contain.
#[derive(Clone, Copy)]
pub(crate) struct PromptValues<'a> {
    /// The project's folder.
    pub(crate) folder: &'a str,
    /// Today.
    pub(crate) date: &'a str,
    /// The names of the tools, with commas between.
    pub(crate) tools: &'a str,
    /// The state of the work, as JSON.
    pub(crate) work: &'a str,
    /// The request of the person in this turn.
    pub(crate) request: &'a str,
}

/// The maximum length in characters of the request that the instructions repeat.
const REQUEST: usize = 2_000;

impl Language {
    /// The instructions.
    pub(crate) fn system(self, values: &PromptValues<'_>) -> String {
        let template = match self {
            Self::Japanese => include_str!("prompts/ja/system.md"),
            Self::English => include_str!("prompts/en/system.md"),
        };
        let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
        let request = crate::compaction::first(values.request, REQUEST);
        let value = |name: &str| match name {
            "folder" => values.folder,
            "date" => values.date,
            "system" => &system,
            "tools" => values.tools,
            "work" => values.work,
            "request" => request,
            _ => "",
        };
        let template = with_tools(template, values.tools);
        // One pass: a value that contains braces is not a template.
        let mut parts = template.split("{{");
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (name, rest) = part.split_once("}}").unwrap_or((part, ""));
            text.extend([value(name), rest]);
        }
        text
    }

    /// The instructions for a summary of at most `limit` characters; `strict` after one that was not accepted.
    pub(crate) fn summary(self, limit: usize, strict: bool) -> String {
        let template = match self {
            Self::Japanese => include_str!("prompts/ja/summary.md"),
            Self::English => include_str!("prompts/en/summary.md"),
        };
        if !strict {
            return template.to_owned();
        }
        format!("{template}\n{}\n", self.line("strict").replace("{{limit}}", &limit.to_string()))
    }

    /// The text of a note to the model.
    pub(crate) fn note(self, note: Note) -> String {
        let line = self.line(match note {
            Note::Review => "review",
            Note::Empty => "empty",
            Note::Repeated => "repeated",
        });
        format!("<note>{line}</note>")
    }

    /// The text that has the model repair the claims `failed` of its answer.
    pub(crate) fn repair(self, failed: &str) -> String {
        format!("<note>{}</note>", self.line("repair").replacen("{{failed}}", failed, 1))
    }

    /// The line above the claims of an answer that do not hold.
    pub(crate) fn unverified(self) -> &'static str {
        self.line("unverified")
    }

    fn line(self, name: &str) -> &'static str {
        let lines = match self {
            Self::Japanese => include_str!("prompts/ja/notes.md"),
            Self::English => include_str!("prompts/en/notes.md"),
        };
        lines
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find(|(key, _)| *key == name)
            .map_or("", |(_, text)| text)
    }
}

/// `template` without the lines that begin with `{{needs NAME}}` for a tool that is not offered. The numbered lines are
/// numbered again.
fn with_tools(template: &str, tools: &str) -> String {
    let mut number = 0;
    let mut text = String::with_capacity(template.len());
    for line in template.lines() {
        let (is_numbered, rest) = match line.split_once(". ") {
            Some((digits, rest)) if digits.parse::<u8>().is_ok() => (true, rest),
            _ => (false, line),
        };
        let needed = rest.strip_prefix("{{needs ").and_then(|rest| rest.split_once("}}"));
        if needed.is_some_and(|(name, _)| tools.split(", ").all(|tool| tool != name)) {
            continue;
        }
        if is_numbered {
            number += 1;
            let _ = write!(text, "{number}. ");
        }
        text += needed.map_or(rest, |(_, rest)| rest);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instructions_name_only_offered_tools() {
        let values = PromptValues { folder: "", date: "", tools: "read_file, work", work: "", request: "" };
        let text = Language::English.system(&values);
        assert!(text.contains("\n1. Split a larger task") && text.contains("\n3. Use tools rather than guess."));
        assert!(text.contains("\n4. When a call fails") && !text.contains("think") && !text.contains("{{"), "{text}");
        let numbered = |tools| {
            let text = Language::Japanese.system(&PromptValues { tools, ..values });
            text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).count()
        };
        assert_eq!([numbered("work, think"), numbered("work"), numbered("")], [8, 6, 4]);
    }

    #[test]
    fn every_placeholder_is_filled_once() {
        for language in [Language::Japanese, Language::English] {
            let values = PromptValues {
                folder: "/p",
                date: "2026-11-24",
                tools: "think, work",
                work: "{{tools}}",
                request: "潮汐?",
            };
            let text = language.system(&values);
            for value in ["/p", "2026-11-24", "think, work", "潮汐?", std::env::consts::OS] {
                assert!(text.contains(value), "{value}");
            }
            assert_eq!(text.matches("{{").count(), 1);
            for section in ["premise", "work_state", "instructions", "output", "input"] {
                assert!(text.contains(&format!("<{section}>\n")) && text.contains(&format!("\n</{section}>")));
            }
            for note in [Note::Review, Note::Empty, Note::Repeated] {
                assert!(language.note(note).len() > 40);
            }
            assert!(language.summary(77, true).contains("77"));
            assert!(!language.summary(77, false).contains("77"));
        }
    }
}
