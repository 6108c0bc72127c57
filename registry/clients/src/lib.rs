//! The files with which agent clients use the tools: how the server is started, and the workflows as commands and
//! skills.
//!
//! `cargo xtask integrations` writes them to the folder integrations/, and `ragmaker connect` to the configuration of a
//! client.

use ragmaker_project::VARIABLES;
use ragmaker_registry::{Profile, Workflow};
use serde_json::{Value, json};

/// The name of the server in each configuration.
pub const NAME: &str = "ragmaker";

/// The purpose of the tools.
pub const DESCRIPTION: &str =
    "Gathers knowledge from web sites into checked Markdown collections, and answers from them";

/// The profile of the server: the tools that the workflows call.
const WORKFLOW_PROFILE: &str = "workflows";

/// The arguments of the server. It offers the tools that the workflows call, or `all_tools`, and with `prompts` the
/// workflows as prompts. A client that has them as its own commands needs no prompts: a prompt of the same name would
/// hide the command of Gemini CLI.
///
/// One server is for both workflows. Each request sends the declarations of all tools to the model; these 15 of 40 take
/// 42 % of the bytes. The clients have their own tools to list, write and delete files.
pub fn server_arguments(all_tools: bool, prompts: bool) -> Vec<String> {
    let mut arguments = vec![];
    if !all_tools {
        arguments.extend(["--profile".to_owned(), WORKFLOW_PROFILE.to_owned()]);
    }
    arguments.extend((!prompts).then(|| "--no-prompts".to_owned()));
    arguments
}

/// The names of the tools that the server offers without further options.
pub fn workflow_tools() -> Vec<String> {
    Profile::named(WORKFLOW_PROFILE).map(|profile| profile.tool_names()).unwrap_or_default()
}

/// A workflow as a skill: `SKILL.md` in a folder of its name.
pub fn skill(workflow: &Workflow) -> String {
    let head = format!("---\nname: {}\ndescription: {}\n---\n\n", workflow.name, Value::from(workflow.description));
    head + &workflow.text(workflow.spoken)
}

/// A workflow as a command in Markdown, with `fields` in its front matter beside the description.
pub fn markdown_command(workflow: &Workflow, fields: &str) -> String {
    let head = format!("---\ndescription: {}\n{fields}---\n\n", Value::from(workflow.description));
    head + &workflow.text("$ARGUMENTS")
}

/// A workflow as a command of Claude Code, which allows the tools of its steps. `server` is the name of the server in
/// the names of its tools.
pub fn claude_command(workflow: &Workflow, server: &str) -> String {
    // What the person typed for is allowed; everything else is asked for, as ever.
    let allowed: Vec<String> = workflow.tools.iter().map(|tool| format!("mcp__{server}__{tool}")).collect();
    let fields = format!("argument-hint: {}\nallowed-tools: {}\n", Value::from(workflow.hint), allowed.join(", "));
    markdown_command(workflow, &fields)
}

/// A workflow as a command of Gemini CLI.
pub fn gemini_command(workflow: &Workflow) -> String {
    let description = Value::from(workflow.description);
    format!("description = {description}\nprompt = '''\n{}'''\n", workflow.text("{{args}}"))
}

/// The environment variables of the tools. Codex passes a server only those that it is told to.
pub fn variables() -> Value {
    json!(VARIABLES.iter().map(|variable| variable.name).collect::<Vec<_>>())
}

/// The tools of the workflows that Codex calls only with an approval: those that may destroy something or use the web.
pub fn approved_tools() -> Vec<String> {
    let is_approved = |entry: &Value| {
        let hint = |hint: &str| entry["annotations"][hint] == true;
        !hint("readOnlyHint") && (hint("destructiveHint") || hint("openWorldHint"))
    };
    let entries = ragmaker_registry::entries().into_iter().filter(is_approved);
    let names = entries.filter_map(|entry| entry["name"].as_str().map(str::to_owned));
    let offered = workflow_tools();
    names.filter(|name| offered.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragmaker_registry::WORKFLOWS;

    #[test]
    fn the_server_offers_the_tools_of_the_workflows() {
        assert!(workflow_tools().iter().any(|name| name == "http_fetch"));
        assert_eq!(server_arguments(false, true), ["--profile", "workflows"]);
        assert_eq!(server_arguments(true, false), ["--no-prompts"]);
    }

    #[test]
    fn no_client_interprets_the_text_of_a_workflow() {
        for workflow in &WORKFLOWS {
            let steps = workflow.text("");
            // A client would run or read these, or end its string there.
            for special in ["!{", "@{", "'''", "!`", "$"] {
                assert!(!steps.contains(special), "{}: {special}", workflow.name);
            }
        }
    }

    #[test]
    fn the_tools_that_a_workflow_may_call_are_those_that_it_names() {
        for workflow in &WORKFLOWS {
            let text = workflow.text("");
            let lines = text.lines().filter_map(|line| line.trim().strip_prefix("ragmaker-")?.split(' ').next());
            let mut named: Vec<String> = lines.map(|name| name.replace('-', "_")).collect();
            named.sort();
            named.dedup();
            let mut allowed = workflow.tools.to_vec();
            allowed.sort_unstable();
            assert_eq!(named, allowed);
        }
    }
}
