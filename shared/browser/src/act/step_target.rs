//! The interface on which steps are executed: a page by its DevTools socket ([`Actor`](super::Actor)), or by WebDriver
//! commands alone ([`WebDriverActor`](crate::webdriver_only::WebDriverActor)). The steps themselves are the same.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use ragmaker_tool::Error;
use serde_json::Value;
use url::Url;

use super::{
    input::{Requirement, StepError, UsableElement, gone},
    keys::Keys,
};
use crate::{
    codes::ELEMENT_AMBIGUOUS,
    elements::{ElementId, FrameScript, Locator, PAGE},
    error::{CommandError, Failure},
    limits,
};

/// A page in which steps are taken.
pub(crate) trait StepTarget {
    /// The URL that the call went to.
    fn url(&self) -> &Url;

    /// The deadline of the last step.
    fn until(&self) -> Instant;

    /// Notes that the call changes the page.
    fn note_begun(&mut self);

    /// Prepares the page for a step that changes it.
    fn begin(&mut self) -> Result<(), StepError>;

    /// Waits until the page is idle after the step that began at `begun`.
    fn settle(&mut self, begun: Instant) -> Result<(), StepError>;

    /// Reads what the page has noted of a step.
    fn read_notes(&mut self) -> Result<(), CommandError>;

    /// Waits for so long.
    fn listen(&mut self, time: Duration) -> Result<(), StepError>;

    /// Waits until what a click or scrolling by a script has caused is there.
    fn settle_expanded(&mut self, begun: Instant) -> Result<(), StepError> {
        self.settle(begun)
    }

    /// Loads the page again.
    fn load_again(&mut self) -> Result<(), Failure>;

    /// Asks a script for frames about the page itself.
    fn ask(&mut self, script: &'static FrameScript, what: &str, given: &Value) -> Result<Value, CommandError>;

    /// What the script answers of the page itself and of each frame that can be asked, until an answer is enough.
    fn ask_frames(
        &mut self,
        script: &'static FrameScript,
        (what, given): (&str, &Value),
        is_enough: &dyn Fn(&Value) -> bool,
    ) -> Result<Vec<Value>, CommandError> {
        let mut answers = match self.ask(script, what, given) {
            Ok(answer) => vec![answer],
            // The document is being replaced.
            Err(CommandError::Failed(_)) => vec![],
            Err(error) => return Err(error),
        };
        if !answers.iter().any(is_enough) {
            answers.extend(self.ask_inner_frames(script, (what, given), is_enough)?);
        }
        Ok(answers)
    }

    /// The same without the page itself.
    fn ask_inner_frames(
        &mut self,
        script: &'static FrameScript,
        asked: (&str, &Value),
        is_enough: &dyn Fn(&Value) -> bool,
    ) -> Result<Vec<Value>, CommandError>;

    /// Makes closed shadow roots known, whose text and elements then count; those in `known` are. WebDriver alone has no
    /// command for this.
    fn note_closed(&mut self, _known: &mut HashSet<ElementId>) -> Result<(), CommandError> {
        Ok(())
    }

    /// Asks `js/page.js` about the page itself.
    fn ask_page(&mut self, what: &str, given: &Value) -> Result<Value, CommandError> {
        self.ask(&PAGE, what, given)
    }

    /// Looks for the element that `locator` names, and whether it fulfils `need`. `attempt` counts the tries.
    fn try_reach(
        &mut self,
        locator: &Locator,
        need: Requirement,
        attempt: usize,
    ) -> Result<Result<UsableElement, Error>, CommandError>;

    /// Looks for an option of the list that an element has, opens or is, and whether it can be clicked; nothing if there is
    /// none of this name. The locator is for messages.
    fn try_option(
        &mut self,
        list: &UsableElement,
        option: (&Locator, &str),
        attempt: usize,
    ) -> Result<Option<Result<UsableElement, Error>>, CommandError>;

    /// Runs an operation of `js/element.js` on an element.
    fn on(&mut self, reached: &UsableElement, what: &str, given: &Value) -> Result<Value, CommandError>;

    /// Clicks the element; an error if the click reached another element.
    fn click(&mut self, locator: &Locator, reached: &UsableElement) -> Result<(), StepError>;

    /// Moves the mouse to the element.
    fn hover(&mut self, reached: &UsableElement) -> Result<(), CommandError>;

    /// Presses and releases keys.
    fn press(&mut self, keys: &Keys) -> Result<(), StepError>;

    /// Types a text key by key, where the focus is.
    fn type_keys(&mut self, text: &str) -> Result<(), CommandError>;

    /// Enters a text where the focus is, as fast as the page can take it. Returns whether each of its keys was typed.
    fn enter(&mut self, text: &str) -> Result<bool, CommandError> {
        self.type_keys(text).map(|()| true)
    }

    /// Inserts a text in one event, at the focus.
    fn insert(&mut self, text: &str) -> Result<(), CommandError>;

    /// Gives files to the element.
    fn upload(&mut self, locator: &Locator, files: &[String]) -> Result<(), StepError>;

    /// Waits until the element that `locator` names fulfils `need`, and returns it.
    fn reach(&mut self, locator: &Locator, need: Requirement) -> Result<UsableElement, StepError> {
        self.reach_within(locator, need, limits::ELEMENT_TIMEOUT)
    }

    /// The same for at most `patience`.
    fn reach_within(
        &mut self,
        locator: &Locator,
        need: Requirement,
        patience: Duration,
    ) -> Result<UsableElement, StepError> {
        let begun = Instant::now();
        for attempt in 0.. {
            let error = match self.try_reach(locator, need, attempt) {
                Ok(Ok(reached)) => return Ok(reached),
                Ok(Err(error)) => error,
                // The element or its document disappeared between two commands.
                Err(CommandError::Failed(_)) => gone(locator),
                Err(error) => return Err(error.into()),
            };
            let patience = if error.is(ELEMENT_AMBIGUOUS) { limits::AMBIGUITY_TIMEOUT.min(patience) } else { patience };
            if begun.elapsed() >= patience || Instant::now() + limits::ELEMENT_PAUSE >= self.until() {
                return Err(error.into());
            }
            self.listen(limits::ELEMENT_PAUSE)?;
        }
        Err(gone(locator).into())
    }
}
