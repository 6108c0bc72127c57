//! The frames of a page by WebDriver commands. A session is in one frame at a time: a command for another one needs the
//! session to be switched to it first, by the elements that contain it.

use std::time::Duration;

use serde_json::{Value, json};

use super::{WebDriverVisit, in_function};
use crate::{
    elements::{FrameScript, MAX_FRAMES, PAGE},
    error::CommandError,
    limits::LIMITS,
};

/// The page itself.
pub(super) const TOP: &str = "";

/// Separates the elements in the path of a frame. References to elements do not contain it.
const SEPARATOR: char = '/';

/// The name of the member with which WebDriver refers to an element.
pub(super) const REFERENCE: &str = "element-6066-11e4-a52e-4f735466cecf";

/// The reference in the answer of a script.
pub(super) fn reference(element: &Value) -> Option<String> {
    element[REFERENCE].as_str().map(str::to_owned)
}

/// The element of a reference, as an argument.
pub(super) fn element(reference: &str) -> Value {
    json!({REFERENCE: reference})
}

/// The path of the frame that `element` contains in the frame at `path`.
pub(super) fn below(path: &str, element: &str) -> String {
    if path == TOP { element.to_owned() } else { format!("{path}{SEPARATOR}{element}") }
}

impl WebDriverVisit<'_> {
    /// Does `work` in the frame at `path`; [`CommandError::Failed`] if the frame is gone.
    pub(super) fn in_frame<T>(
        &self,
        path: &str,
        work: impl FnOnce() -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        let worked = self.enter(path).and_then(|()| work());
        if path == TOP || !matches!(worked, Err(CommandError::Gone)) {
            return worked;
        }
        // The driver says the same of a frame that is gone and of a window: the page tells which it is.
        self.frame.replace(None);
        self.enter(TOP)?;
        Err(CommandError::Failed("the frame is gone".into()))
    }

    /// Switches the session to the frame at `path`.
    fn enter(&self, path: &str) -> Result<(), CommandError> {
        let current = self.frame.take();
        if current.as_deref() != Some(path) {
            let switch = |element: &Value| self.driver.post("frame", json!({"id": element}), self.deadline).map(drop);
            if current.as_deref() != Some(TOP) {
                switch(&Value::Null)?;
            }
            path.split(SEPARATOR).filter(|part| !part.is_empty()).try_for_each(|part| switch(&element(part)))?;
        }
        self.frame.replace(Some(path.to_owned()));
        Ok(())
    }

    /// Notes that the session may be in any frame, as after a switch to another window.
    pub(super) fn forget_frame(&self) {
        self.frame.replace(None);
    }

    /// The paths of the frames that are shown, the page itself first.
    pub(super) fn frames(&self) -> Result<Vec<String>, CommandError> {
        let mut found = vec![TOP.to_owned()];
        let mut next = 0;
        while next < found.len() && found.len() < MAX_FRAMES {
            let path = found[next].clone();
            let most = MAX_FRAMES - found.len();
            let inner = match self.ask_in(&path, &PAGE, "frames", &json!(most)) {
                // The frame is gone or has another document.
                Err(CommandError::Failed(_) | CommandError::Late) if next > 0 => Value::Null,
                inner => inner?,
            };
            let inner = inner.as_array().into_iter().flatten().filter_map(reference);
            found.extend(inner.map(|element| below(&path, &element)));
            next += 1;
        }
        Ok(found)
    }

    /// The path of the frame that has the focus.
    pub(super) fn focused_frame(&self) -> Result<String, CommandError> {
        let mut path = TOP.to_owned();
        for _ in 0..MAX_FRAMES {
            match reference(&self.ask_in(&path, &PAGE, "focused-frame", &Value::Null)?) {
                Some(element) => path = below(&path, &element),
                None => break,
            }
        }
        Ok(path)
    }

    /// The answer of one of the scripts for frames to `what`, in the frame at `path`.
    pub(super) fn ask_in(
        &self,
        path: &str,
        script: &FrameScript,
        what: &str,
        given: &Value,
    ) -> Result<Value, CommandError> {
        let arguments = json!([what, given, LIMITS.page]);
        self.execute_in(path, &in_function(script.body), &arguments, LIMITS.webdriver_read)
    }

    /// Runs a script in the frame at `path`.
    pub(super) fn execute_in(
        &self,
        path: &str,
        script: &str,
        arguments: &Value,
        patience: Duration,
    ) -> Result<Value, CommandError> {
        self.limit_scripts(patience)?;
        let script = json!({"script": script, "args": arguments});
        self.in_frame(path, || self.driver.post("execute/sync", script, self.deadline))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_the_elements_from_the_page_inwards() {
        assert_eq!((below(TOP, "a"), below("a", "b")), ("a".to_owned(), "a/b".to_owned()));
    }
}
