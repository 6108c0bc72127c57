//! The prompts for the model, from the files in `prompts/`, one folder for each language.

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

/// The facts for the prompts, in addition to the tools.
pub(crate) struct PromptValues<'a> {
    /// The project's folder.
    pub(crate) folder: &'a str,
    /// Today.
    pub(crate) date: &'a str,
    /// The names of the tools.
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
    pub(crate) fn system(self, facts: &PromptValues<'_>) -> String {
        let template = match self {
            Self::Japanese => include_str!("prompts/ja/system.md"),
            Self::English => include_str!("prompts/en/system.md"),
        };
        let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
        let request = crate::compaction::first(facts.request, REQUEST);
        let value = |name: &str| match name {
            "folder" => facts.folder,
            "date" => facts.date,
            "system" => &system,
            "tools" => facts.tools,
            "work" => facts.work,
            "request" => request,
            _ => "",
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_is_filled_once() {
        for language in [Language::Japanese, Language::English] {
            let facts = PromptValues {
                folder: "/p",
                date: "2026-11-24",
                tools: "think, work",
                work: "{{tools}}",
                request: "潮汐?",
            };
            let text = language.system(&facts);
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
