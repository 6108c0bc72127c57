//! Texts for a model that name only the tools that its host offers.
//!
//! Descriptions and remedies are written for all tools. Where a host offers a selection, a clause that names another
//! tool is left out. If nothing remains of a remedy, it says which tool is not offered.

use ragmaker_tool::Error;
use serde_json::Value;

use crate::{TOOLS, Tool};

/// The members of answers and errors that advise a model.
const ADVICE: [&str; 2] = ["remediation_suggestion", "remedy"];

/// A selection of the tools, as the texts of a host may name them.
#[derive(Clone, Debug, Default)]
pub struct OfferedTools {
    /// The names of the other tools. Those of one word are left out: `move` and `verify` are ordinary words, and no
    /// text for models names these tools (a test checks this).
    missing: Vec<String>,
}

impl OfferedTools {
    /// The selection of `tools`.
    pub fn new<'a>(tools: impl IntoIterator<Item = &'a Tool>) -> Self {
        let offered: Vec<_> = tools.into_iter().map(|tool| tool.command).collect();
        let others = TOOLS.iter().filter(|tool| !offered.contains(&tool.command));
        Self { missing: others.map(Tool::name).filter(|name| name.contains('_')).collect() }
    }

    /// `text` without the clauses that name a tool which is not offered; empty if nothing remains.
    pub fn restrict(&self, text: &str) -> String {
        if self.named(text).is_empty() {
            return text.to_owned();
        }
        let mut kept = String::with_capacity(text.len());
        for sentence in sentences(text) {
            let clauses = sentence.trim_end_matches('.').split("; ");
            let clauses: Vec<_> = clauses.filter(|clause| self.named(clause).is_empty()).collect();
            if !clauses.is_empty() {
                let separator = if kept.is_empty() { "" } else { " " };
                kept = kept + separator + &capitalized(&clauses.join("; ")) + ".";
            }
        }
        kept
    }

    /// Like [`restrict`](Self::restrict), for advice: where nothing remains, it says what would help.
    pub fn advice(&self, text: &str) -> String {
        let kept = self.restrict(text);
        if !kept.is_empty() {
            return kept;
        }
        match self.named(text).as_slice() {
            [] => kept,
            [name] => format!("This needs {name}, which is not offered here: tell the user."),
            names => format!("This needs {}, which are not offered here: tell the user.", names.join(" and ")),
        }
    }

    /// Restricts the advice in an answer, which may be that of a failed call.
    ///
    /// # Errors
    ///
    /// `answer`'s own, with its remedy restricted.
    pub fn answer(&self, answer: Result<Value, Error>) -> Result<Value, Error> {
        if self.missing.is_empty() {
            return answer;
        }
        match answer {
            Ok(mut answer) => {
                self.restrict_members(&mut answer);
                Ok(answer)
            }
            Err(error) => {
                let remedy = self.advice(error.remediation());
                Err(error.remedy(remedy))
            }
        }
    }

    fn restrict_members(&self, answer: &mut Value) {
        match answer {
            Value::Object(members) => members.iter_mut().for_each(|(name, member)| match member {
                Value::String(text) if ADVICE.contains(&name.as_str()) => *text = self.advice(text),
                member => self.restrict_members(member),
            }),
            Value::Array(items) => items.iter_mut().for_each(|item| self.restrict_members(item)),
            _ => {}
        }
    }

    /// Restricts the descriptions in a schema.
    pub(crate) fn restrict_descriptions(&self, schema: &mut Value) {
        match schema {
            Value::Object(members) => members.iter_mut().for_each(|(name, member)| match member {
                Value::String(text) if name == "description" => *text = self.restrict(text),
                member => self.restrict_descriptions(member),
            }),
            Value::Array(items) => items.iter_mut().for_each(|item| self.restrict_descriptions(item)),
            _ => {}
        }
    }

    /// The tools that `text` names and that are not offered. Text in double quotes is that of the caller.
    fn named(&self, text: &str) -> Vec<&str> {
        let own = text.split('"').step_by(2);
        let words: Vec<_> = own.flat_map(|part| part.split(|c: char| !(c.is_alphanumeric() || c == '_'))).collect();
        self.missing.iter().map(String::as_str).filter(|name| words.contains(name)).collect()
    }
}

/// The sentences of a text. A sentence begins with an upper-case letter or with the name of a tool.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = vec![];
    let mut start = 0;
    for (end, _) in text.match_indices(". ") {
        let next = &text[end + 2..];
        let word = next.split(' ').next().unwrap_or_default();
        if next.starts_with(char::is_uppercase) || word.contains('_') {
            sentences.push(&text[start..=end]);
            start = end + 2;
        }
    }
    sentences.push(&text[start..]);
    sentences
}

/// A sentence of what remains of one: without the conjunction that joined it to what is left out, with an upper-case
/// letter unless it begins with a name in snake case.
fn capitalized(text: &str) -> String {
    let text = ["or ", "and ", "then "].iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text);
    let word = text.split(' ').next().unwrap_or_default();
    match text.chars().next() {
        Some(first) if !word.contains('_') => first.to_uppercase().chain(text[first.len_utf8()..].chars()).collect(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PROFILES, Selection, declarations, find};
    use ragmaker_tool::ARGUMENT_ERROR;
    use serde_json::json;

    fn offered(names: &[&str]) -> OfferedTools {
        OfferedTools::new(names.iter().filter_map(|name| find(name)))
    }

    #[test]
    fn a_clause_that_names_another_tool_is_left_out() {
        let tools = offered(&["read_file", "move"]);
        for (text, expected) in [
            ("Read it. For several files use read_many_files. Returns text.", "Read it. Returns text."),
            (
                "List it; read_file shows more. find_files lists files; e.g. **/*.md.",
                "List it; read_file shows more. E.g. **/*.md.",
            ),
            ("Run browser_open (headless: false); or delete the file.", "Delete the file."),
            ("It waits. browser_look lists elements. later_member says so.", "It waits. later_member says so."),
            ("The path \"find_files\" is missing.", "The path \"find_files\" is missing."),
            ("Use find_files.", ""),
            ("", ""),
        ] {
            assert_eq!(tools.restrict(text), expected);
        }
        assert_eq!(OfferedTools::new(TOOLS).restrict("Use find_files."), "Use find_files.");
    }

    #[test]
    fn advice_says_which_tool_is_missing() {
        let tools = offered(&["read_file"]);
        assert_eq!(tools.advice("Use find_files."), "This needs find_files, which is not offered here: tell the user.");
        let error = ARGUMENT_ERROR.error("it failed").remedy("Wait, or use find_files or list_directory.");
        let error = tools.answer(Err(error)).unwrap_err();
        assert_eq!(
            error.remediation(),
            "This needs find_files and list_directory, which are not offered here: tell the user."
        );
        let answer = json!({"findings": [{"message": "find_files", "remedy": "Look at it; find_files finds it."}]});
        let restricted = json!({"findings": [{"message": "find_files", "remedy": "Look at it."}]});
        assert_eq!(tools.answer(Ok(answer)).unwrap(), restricted);
    }

    #[test]
    fn the_texts_of_a_profile_name_only_its_tools() {
        for profile in PROFILES {
            let selection = Selection::new(Some(profile.name), None, false).unwrap();
            let declarations = declarations(&selection);
            let tools = OfferedTools::new(declarations.iter().map(|declaration| declaration.tool));
            for declaration in &declarations {
                let name = declaration.name();
                let text = declaration.to(crate::DeclarationFormat::Mcp).to_string()
                    + &declaration.output_schema().to_string();
                let texts = text.replace('"', " ");
                assert!(tools.named(&texts).is_empty(), "{}: {name}: {:?}", profile.name, tools.named(&texts));
                let description = declaration.to(crate::DeclarationFormat::Mcp)["description"].clone();
                let length = description.as_str().unwrap().chars().count();
                assert!(length >= 80, "{}: {name}: {description}", profile.name);
            }
            for (command, codes, _) in crate::list::codes_and_options() {
                let Some(tool) = declarations.iter().find(|declaration| declaration.tool.command == command) else {
                    continue;
                };
                for code in codes {
                    let advice = tools.advice(&ragmaker_tool::Caller::Model.advice(code.remedy(), &|_| false));
                    let is_marked = advice.contains("not offered here");
                    let context = format!("{}: {}: {}: {advice}", profile.name, tool.name(), code.name());
                    assert!(is_marked || tools.named(&advice).is_empty(), "{context}");
                    assert!(advice.len() > 10, "{context}");
                }
            }
        }
    }
}
