//! Uploads by the DevTools socket: to a field for files, or to the file dialog that a click opens.

use std::time::Instant;

use serde_json::{Value, json};

use super::{
    Actor,
    input::{Requirement, StepError, unusable},
    perform::{LIST_TIMEOUT, PAUSE},
    surface::Surface,
};
use crate::{elements::Locator, error::CommandError};

impl Actor<'_, '_> {
    /// Gives files to the element, or to the dialog that a click on it opens.
    pub(super) fn give_files(&mut self, locator: &Locator, files: &[String]) -> Result<(), StepError> {
        let reached = self.reach(locator, Requirement::Enabled)?;
        let session = reached.place.session.clone();
        let target = if reached.is("file") && reached.state["kind"] == "input" {
            if files.len() > 1 && !reached.is("multiple") {
                return Err(unusable(locator, &reached.state, "takes one file").into());
            }
            json!({"objectId": reached.object})
        } else {
            self.file_dialog(locator)?
        };
        let mut params = json!({"files": files});
        for (name, value) in target.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        let until = self.until;
        self.navigation.tab.socket.ask(session.as_deref(), "DOM.setFileInputFiles", &params, until).map_err(
            |error| match error {
                CommandError::Failed(words) => {
                    StepError::Step(unusable(locator, &reached.state, &format!("did not take the file: {words}")))
                }
                error => error.into(),
            },
        )?;
        Ok(())
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
        while field.is_none() && begun.elapsed() < LIST_TIMEOUT && Instant::now() < until {
            for event in self.navigation.tab.socket.take_side_events() {
                if event.method == "Page.fileChooserOpened" {
                    field = event.params["backendNodeId"].as_i64();
                }
                self.side_effects.event(&event.method, &event.params);
            }
            self.listen(PAUSE)?;
        }
        self.navigation.tab.socket.ask_all(&[intercept(false)], until)?;
        let field = field.ok_or_else(|| unusable(locator, &reached.state, "asks for no file"))?;
        Ok(json!({"backendNodeId": field}))
    }
}
