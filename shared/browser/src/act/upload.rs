//! Uploads by the DevTools socket: to a field for files, or to the file dialog that a click opens. What a field takes
//! is the same by WebDriver commands.

use std::time::Instant;

use serde_json::{Value, json};

use super::{
    Actor,
    input::{ANOTHER, Requirement, StepError, UsableElement, unusable},
    remote_file,
    step_target::StepTarget,
};
use crate::{elements::Locator, error::CommandError, limits};

impl Actor<'_, '_> {
    /// Gives files to the element, or to the dialog that a click on it opens.
    pub(super) fn give_files(&mut self, locator: &Locator, files: &[String]) -> Result<(), StepError> {
        let reached = self.reach(locator, Requirement::Enabled)?;
        let session = reached.element_id.session.clone();
        let is_field = takes_files(locator, &reached, files)?;
        let copies = match self.navigation.tab.remote_driver(self.until)? {
            Some(driver) => Some(remote_file::copy(&driver, files, self.until)?),
            None => None,
        };
        let target = if is_field { json!({"objectId": reached.object}) } else { self.file_dialog(locator)? };
        let mut params = json!({"files": copies.as_deref().unwrap_or(files)});
        for (name, value) in target.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        let until = self.until;
        let given = self.navigation.tab.socket.ask(session.as_deref(), "DOM.setFileInputFiles", &params, until);
        given.map(drop).map_err(|error| not_taken(locator, &reached, error))
    }

    /// The file input of the dialog that a click opens.
    fn file_dialog(&mut self, locator: &Locator) -> Result<Value, StepError> {
        let until = self.until;
        let intercept = |enabled: bool| ("Page.setInterceptFileChooserDialog", json!({"enabled": enabled}));
        self.navigation.tab.socket.ask_all(&[intercept(true)], until)?;
        let reached = self.reach(locator, Requirement::Click)?;
        self.click(locator, &reached)?;
        let begun = Instant::now();
        let mut field = None;
        while field.is_none() && begun.elapsed() < limits::LIST_TIMEOUT && Instant::now() < until {
            for event in self.navigation.tab.socket.take_side_events() {
                if event.method == "Page.fileChooserOpened" {
                    field = event.params["backendNodeId"].as_i64();
                }
                self.side_effects.event(&event.method, &event.params);
            }
            self.listen(limits::STEP_PAUSE)?;
        }
        self.navigation.tab.socket.ask_all(&[intercept(false)], until)?;
        let field =
            field.ok_or_else(|| unusable(locator, &reached.state, "does not ask for a file").remedy(ANOTHER))?;
        Ok(json!({"backendNodeId": field}))
    }
}

/// Whether the element is a field for files; an error if it takes fewer than these.
pub(crate) fn takes_files(locator: &Locator, reached: &UsableElement, files: &[String]) -> Result<bool, StepError> {
    let is_field = reached.is("file") && reached.state["kind"] == "input";
    if is_field && files.len() > 1 && !reached.is("multiple") {
        return Err(unusable(locator, &reached.state, "takes one file").remedy("Upload one file.").into());
    }
    Ok(is_field)
}

/// The error for files that the browser did not give to the field.
pub(crate) fn not_taken(locator: &Locator, reached: &UsableElement, error: CommandError) -> StepError {
    match error {
        CommandError::Failed(words) => {
            let error = unusable(locator, &reached.state, &format!("did not take the file: {words}"));
            error.remedy("Check that the file exists and can be read.").into()
        }
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elements::ElementId;

    fn reached(state: Value) -> UsableElement {
        let element_id = ElementId { session: None, frame: String::new(), node: 1 };
        UsableElement { element_id, object: String::new(), state, point: None, name: None }
    }

    fn error<T>(result: Result<T, StepError>) -> Option<String> {
        match result {
            Err(StepError::Step(error)) => Some(error.message().to_owned()),
            _ => None,
        }
    }

    #[test]
    fn a_field_takes_one_file_unless_it_takes_several() {
        let locator = Locator::new("button:Send");
        let files = ["a", "b"].map(str::to_owned);
        let takes = |state: Value, count: usize| takes_files(&locator, &reached(state), &files[..count]);
        let (one, several) =
            (json!({"kind": "input", "file": true}), json!({"kind": "input", "file": true, "multiple": true}));
        assert!(
            takes(one.clone(), 1).is_ok_and(|is_field| is_field) && takes(several, 2).is_ok_and(|is_field| is_field)
        );
        assert_eq!(error(takes(one, 2)).as_deref(), Some("button:Send takes one file"));
        // Others are clicked, and the dialog decides.
        for other in [json!({"kind": "button", "file": true}), json!({"kind": "input"}), json!({})] {
            assert!(takes(other, 2).is_ok_and(|is_field| !is_field));
        }
    }

    #[test]
    fn a_file_that_is_not_taken_is_an_error_of_the_step_and_a_lost_browser_is_not() {
        let locator = Locator::new("button:Send");
        let not_taken = |error| not_taken(&locator, &reached(json!({})), error);
        let message = error(Err::<(), _>(not_taken(CommandError::Failed("No such file".into()))));
        assert_eq!(message.as_deref(), Some("button:Send did not take the file: No such file"));
        assert!(matches!(not_taken(CommandError::Gone), StepError::Command(CommandError::Gone)));
    }
}
