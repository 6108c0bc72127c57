//! The workflows `/rag` and `/ask`: one template each, used by every client.

mod calls;

/// A workflow as it is offered to a person: `/NAME HINT`.
#[derive(Clone, Copy, Debug)]
pub struct Workflow {
    /// Its name.
    pub name: &'static str,
    /// A placeholder for the argument, for people.
    pub hint: &'static str,
    /// Its purpose.
    pub description: &'static str,
    /// The name of what the person types.
    pub argument: &'static str,
    /// The help of this argument.
    pub argument_help: &'static str,
    /// An argument as a shell reads it, for an example.
    pub example: &'static str,
    /// The argument in words, for a skill, which has no arguments.
    pub spoken: &'static str,
    /// The tools that its steps call.
    pub tools: &'static [&'static str],
    /// Its steps, with `{{source}}` or `{{question}}` where the person's words go.
    template: &'static str,
}

/// Every workflow.
pub const WORKFLOWS: [Workflow; 2] = [
    Workflow {
        name: "rag",
        hint: "SOURCE",
        description: "Gather a knowledge base from a web site, a Git repository, a folder or a file, or bring one up to date: save what matters as Markdown, describe and verify it. Use it when somebody names something to learn from, or asks for a knowledge base.",
        argument: "source",
        argument_help: "the address, repository, folder or file to gather from",
        example: "https://doc.rust-lang.org/book/",
        spoken: "the source that the person named",
        tools: &[
            "ask_directory",
            "browser_close",
            "browser_extract",
            "browser_navigate",
            "browser_open",
            "enrich_discovery",
            "entry_discovery",
            "file_sync",
            "github_fetch",
            "http_fetch",
            "read_file",
            "refresh_knowledge_base",
            "verify",
        ],
        template: include_str!("rag.md"),
    },
    Workflow {
        name: "ask",
        hint: "QUESTION",
        description: "Answer a question from the knowledge bases of this project, with sources. Use it when a question may be answered by what was gathered with rag.",
        argument: "question",
        argument_help: "the question to answer",
        example: "'When does a closure need move?'",
        spoken: "the person's question",
        tools: &["cite", "read_file", "search_knowledge_base"],
        template: include_str!("ask.md"),
    },
];

impl Workflow {
    /// The placeholder of the argument in the template.
    pub fn placeholder(&self) -> String {
        format!("{{{{{}}}}}", self.argument)
    }

    /// The template with its steps as command lines, with `words` in the place of what the person typed: for clients
    /// whose model may have a shell.
    pub fn text(&self, words: &str) -> String {
        self.template.replacen(&self.placeholder(), words, 1)
    }

    /// Like [`text`](Self::text), with the steps as calls of tools with JSON arguments: for a model that has only
    /// tools.
    pub fn text_with_calls(&self, words: &str) -> String {
        calls::with_calls(self.template).replacen(&self.placeholder(), words, 1)
    }
}

/// The workflow of this name.
pub fn workflow(name: &str) -> Option<&'static Workflow> {
    const ALL: &[Workflow] = &WORKFLOWS;
    ALL.iter().find(|workflow| workflow.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_in_their_place_once() {
        for workflow in &WORKFLOWS {
            assert_eq!(workflow.template.matches(&workflow.placeholder()).count(), 1, "{}", workflow.name);
            let odd = "{{source}} {{question}}";
            assert_eq!(workflow.text(odd).matches(odd).count(), 1);
            assert_eq!(workflow.text_with_calls(odd).matches(odd).count(), 1);
        }
        assert!(workflow("rag").is_some() && workflow("none").is_none());
    }
}
