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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(name: &str, arguments: &Value) -> GetPromptRequestParams {
        serde_json::from_value(json!({"name": name, "arguments": arguments})).unwrap()
    }

    #[test]
    fn a_prompt_is_offered_only_with_all_of_its_tools() {
        assert_eq!(offered(|_| true).len(), WORKFLOWS.len());
        for workflow in offered(|_| true) {
            let left = offered(|tool| tool != workflow.tools[0]);
            assert!(left.iter().all(|other| other.name != workflow.name), "{}", workflow.name);
        }
        assert!(offered(|_| false).is_empty());
    }

    #[test]
    fn the_words_of_the_person_are_in_the_message_as_they_are() {
        let all = offered(|_| true);
        let workflow = all[0];
        let words = "  {{x}} $ARGUMENTS \u{6f6e} ";
        let prompt = get(&all, &asked(workflow.name, &json!({(workflow.argument): words}))).unwrap();
        let text =
            serde_json::to_value(&prompt).unwrap()["messages"][0]["content"]["text"].as_str().unwrap().to_owned();
        assert!(text.contains(words.trim()), "{text}");
        let declared = serde_json::to_value(super::prompt(workflow)).unwrap();
        assert_eq!(
            declared["arguments"][0],
            json!({
                "name": workflow.argument, "description": workflow.argument_help, "required": true,
            })
        );
    }

    #[test]
    fn a_prompt_that_is_not_offered_or_lacks_its_words_is_an_error_that_says_so() {
        let all = offered(|_| true);
        let workflow = all[0];
        for arguments in [json!(null), json!({}), json!({(workflow.argument): " \n"}), json!({(workflow.argument): 5})]
        {
            let error = get(&all, &asked(workflow.name, &arguments)).unwrap_err();
            assert!(error.message.contains(workflow.argument), "{arguments}: {error:?}");
        }
        let error = get(&all[1..], &asked(workflow.name, &json!({(workflow.argument): "x"}))).unwrap_err();
        assert!(error.message.contains(all[1].name), "{error:?}");
    }
}
