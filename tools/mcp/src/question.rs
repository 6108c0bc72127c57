//! The question to the person at the client before a call that needs an approval (elicitation).

use std::fmt::Write;

use ragmaker_tool::{Approval, Error, NEEDS_APPROVAL, printable};
use rmcp::{
    Peer, RoleServer,
    model::{ElicitRequestParams, ElicitationAction, ElicitationSchema},
    service::ElicitationMode,
};
use serde_json::Value;

/// The text of the question, if `answer` is an error that requires one.
pub(crate) fn of(answer: &Result<Value, Error>) -> Option<String> {
    let details = match answer {
        Ok(answer) if answer["error_code"] == NEEDS_APPROVAL.name() => answer["details"].clone(),
        Err(error) if error.is(NEEDS_APPROVAL) => serde_json::to_value(error).ok()?["details"].clone(),
        _ => return None,
    };
    let text = |name: &str| printable(details[name].as_str().unwrap_or_default());
    let mut question = format!("Run this command in {}?\n\n{}\n", text("cwd"), text("command"));
    let list = |name: &str| details[name].as_array().into_iter().flatten().filter_map(Value::as_str);
    for reason in list("reasons") {
        let _ = write!(question, "\n- {}", printable(reason));
    }
    for gap in list("unconfined") {
        let _ = write!(question, "\n- not confined: {gap}");
    }
    Some(question)
}

/// Asks the person, if the client supports it; [`Approval::Pending`] if nobody answers.
pub(crate) async fn ask(message: String, peer: &Peer<RoleServer>) -> Approval {
    if !peer.supported_elicitation_modes().contains(&ElicitationMode::Form) {
        return Approval::Pending;
    }
    let schema = ElicitationSchema::builder()
        .required_bool_with("approve", |field| field.title("Approve").description("Run the command."))
        .optional_string_with("words", |field| field.title("Words").description("Why not, or what to do instead."))
        .build();
    let Ok(requested_schema) = schema else { return Approval::Pending };
    let request = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema };
    let Ok(answer) = peer.create_elicitation(request).await else { return Approval::Pending };
    let content = answer.content.unwrap_or_default();
    let words = content["words"].as_str().unwrap_or_default().to_owned();
    match answer.action {
        ElicitationAction::Accept if content["approve"] == true => Approval::Granted,
        ElicitationAction::Accept | ElicitationAction::Decline => Approval::Denied(words),
        _ => Approval::Pending,
    }
}

#[cfg(test)]
mod tests {
    use ragmaker_tool::ARGUMENT_ERROR;
    use serde_json::json;

    use super::*;

    fn error() -> Error {
        NEEDS_APPROVAL
            .error("it needs an approval")
            .detail("command", "rm a\u{202e}b\u{1b}[2K")
            .detail("cwd", "/p")
            .detail("reasons", json!(["it removes\r files", 5]))
            .detail("unconfined", json!(["the network"]))
    }

    #[test]
    fn a_person_sees_everything_that_would_run() {
        let question = of(&Err(error())).unwrap();
        assert!(question.starts_with("Run this command in /p?\n\nrm a"), "{question}");
        assert!(
            question.contains("\n- it removes") && question.ends_with("\n- not confined: the network"),
            "{question}"
        );
        // Nothing in it changes how the rest is shown.
        assert!(!question.contains(['\u{202e}', '\u{1b}', '\r']), "{question:?}");
        // A tool in its own process answers with the error as JSON.
        assert_eq!(of(&Ok(serde_json::to_value(error()).unwrap())).unwrap(), question);
    }

    #[test]
    fn nothing_else_is_a_question() {
        assert_eq!(of(&Err(ARGUMENT_ERROR.error("x"))), None);
        for answer in [json!({}), json!({"status": "success", "content": "NEEDS_APPROVAL"}), json!([])] {
            assert_eq!(of(&Ok(answer)), None);
        }
    }
}
