//! The workflows as prompts of the protocol, for clients without their own commands.

use ragmaker_registry::{WORKFLOWS, Workflow};
use rmcp::{
    ErrorData,
    model::{GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role},
};
use serde_json::Value;

/// The prompts whose tools are offered: `is_offered` says of a name whether it is that of one.
pub(crate) fn offered(is_offered: impl Fn(&str) -> bool) -> Vec<&'static Workflow> {
    const ALL: &[Workflow] = &WORKFLOWS;
    ALL.iter().filter(|workflow| workflow.tools.iter().all(|tool| is_offered(tool))).collect()
}

/// A workflow as a prompt.
pub(crate) fn prompt(workflow: &Workflow) -> Prompt {
    let argument = PromptArgument::new(workflow.argument).with_description(workflow.argument_help).with_required(true);
    Prompt::new(workflow.name, Some(workflow.description), Some(vec![argument]))
}

/// The messages of the requested prompt.
pub(crate) fn get(offered: &[&'static Workflow], asked: &GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    let workflow = offered.iter().find(|workflow| workflow.name == asked.name).ok_or_else(|| {
        let names: Vec<_> = offered.iter().map(|workflow| workflow.name).collect();
        let message = format!("there is no prompt {:?}; the prompts are {}", asked.name, names.join(", "));
        ErrorData::invalid_params(message, None)
    })?;
    let words = asked.arguments.as_ref().and_then(|arguments| arguments.get(workflow.argument)).and_then(Value::as_str);
    let words = words.map(str::trim).filter(|words| !words.is_empty()).ok_or_else(|| {
        ErrorData::invalid_params(
            format!("the prompt {} needs the argument {}", workflow.name, workflow.argument),
            None,
        )
    })?;
    let message = PromptMessage::new_text(Role::User, workflow.text_with_calls(words));
    Ok(GetPromptResult::new(vec![message]).with_description(workflow.description))
}
