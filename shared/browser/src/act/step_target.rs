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

#[cfg(test)]
mod tests {
    use ragmaker_tool::Code;
    use serde_json::json;

    use super::*;
    use crate::{codes::ELEMENT_NOT_FOUND, error::FailedCommand};

    /// The result of looking for the element.
    #[derive(Clone, Copy)]
    enum Found {
        Usable,
        Refused(Code),
        CommandFailed,
        BrowserGone,
    }

    struct Page {
        url: Url,
        until: Instant,
        /// What each attempt finds. The last is found again and again.
        found: &'static [Found],
        attempts: Vec<usize>,
        /// The answer of the page itself; that of its frames is 2.
        own: Result<Value, CommandError>,
    }

    impl Page {
        fn new(found: &'static [Found]) -> Self {
            Self {
                url: Url::parse("http://a.test/").unwrap(),
                until: Instant::now() + Duration::from_mins(1),
                found,
                attempts: vec![],
                own: Ok(json!(1)),
            }
        }

        fn reach(&mut self, patience: Duration) -> Result<UsableElement, StepError> {
            self.reach_within(&Locator::new("button:a"), Requirement::Click, patience)
        }
    }

    fn failed() -> CommandError {
        CommandError::Failed(FailedCommand::default())
    }

    const ABSENT: Found = Found::Refused(ELEMENT_NOT_FOUND);

    impl StepTarget for Page {
        fn url(&self) -> &Url {
            &self.url
        }

        fn until(&self) -> Instant {
            self.until
        }

        fn try_reach(
            &mut self,
            _: &Locator,
            _: Requirement,
            attempt: usize,
        ) -> Result<Result<UsableElement, Error>, CommandError> {
            self.attempts.push(attempt);
            match self.found[attempt.min(self.found.len() - 1)] {
                Found::Usable => Ok(Ok(UsableElement {
                    element_id: ElementId { session: None, frame: String::new(), node: 1 },
                    object: "a".into(),
                    state: Value::Null,
                    point: None,
                    name: None,
                })),
                Found::Refused(code) => Ok(Err(code.error("refused"))),
                Found::CommandFailed => Err(failed()),
                Found::BrowserGone => Err(CommandError::Gone),
            }
        }

        fn ask(&mut self, _: &'static FrameScript, _: &str, _: &Value) -> Result<Value, CommandError> {
            std::mem::replace(&mut self.own, Ok(Value::Null))
        }

        fn ask_inner_frames(
            &mut self,
            _: &'static FrameScript,
            _: (&str, &Value),
            _: &dyn Fn(&Value) -> bool,
        ) -> Result<Vec<Value>, CommandError> {
            Ok(vec![json!(2)])
        }

        fn listen(&mut self, _: Duration) -> Result<(), StepError> {
            Ok(())
        }

        fn note_begun(&mut self) {}

        fn begin(&mut self) -> Result<(), StepError> {
            Ok(())
        }

        fn settle(&mut self, _: Instant) -> Result<(), StepError> {
            Ok(())
        }

        fn read_notes(&mut self) -> Result<(), CommandError> {
            Ok(())
        }

        fn load_again(&mut self) -> Result<(), Failure> {
            Ok(())
        }

        fn try_option(
            &mut self,
            _: &UsableElement,
            _: (&Locator, &str),
            _: usize,
        ) -> Result<Option<Result<UsableElement, Error>>, CommandError> {
            Ok(None)
        }

        fn on(&mut self, _: &UsableElement, _: &str, _: &Value) -> Result<Value, CommandError> {
            Ok(Value::Null)
        }

        fn click(&mut self, _: &Locator, _: &UsableElement) -> Result<(), StepError> {
            Ok(())
        }

        fn hover(&mut self, _: &UsableElement) -> Result<(), CommandError> {
            Ok(())
        }

        fn press(&mut self, _: &Keys) -> Result<(), StepError> {
            Ok(())
        }

        fn type_keys(&mut self, _: &str) -> Result<(), CommandError> {
            Ok(())
        }

        fn insert(&mut self, _: &str) -> Result<(), CommandError> {
            Ok(())
        }

        fn upload(&mut self, _: &Locator, _: &[String]) -> Result<(), StepError> {
            Ok(())
        }
    }

    #[test]
    fn an_element_that_appears_later_is_reached() {
        let mut page = Page::new(&[ABSENT, Found::CommandFailed, ABSENT, Found::Usable]);
        assert_eq!(page.reach(limits::ELEMENT_TIMEOUT).unwrap().object, "a");
        assert_eq!(page.attempts, [0, 1, 2, 3]);
    }

    #[test]
    fn the_last_reason_is_reported_when_the_time_is_over() {
        let mut page = Page::new(&[ABSENT]);
        let Err(StepError::Step(error)) = page.reach(Duration::ZERO) else { panic!() };
        assert!(error.is(ELEMENT_NOT_FOUND) && page.attempts == [0], "{error}");
        // An element that disappears between two commands is looked for again.
        let mut page = Page::new(&[Found::CommandFailed]);
        let Err(StepError::Step(error)) = page.reach(Duration::from_millis(5)) else { panic!() };
        assert!(error.is(ELEMENT_NOT_FOUND) && error.details()["element"] == "button:a", "{error}");
        assert!(page.attempts.len() > 1, "{:?}", page.attempts);
        // The deadline of the call comes before the time for an element.
        let mut page = Page::new(&[ABSENT]);
        page.until = Instant::now();
        page.reach(limits::ELEMENT_TIMEOUT).unwrap_err();
        assert_eq!(page.attempts, [0]);
    }

    #[test]
    fn several_elements_are_not_waited_for_as_long_as_none() {
        let begun = Instant::now();
        let mut page = Page::new(&[Found::Refused(ELEMENT_AMBIGUOUS)]);
        let Err(StepError::Step(error)) = page.reach(limits::ELEMENT_TIMEOUT) else { panic!() };
        assert!(error.is(ELEMENT_AMBIGUOUS) && begun.elapsed() >= limits::AMBIGUITY_TIMEOUT, "{error}");
    }

    #[test]
    fn a_lost_browser_ends_the_search() {
        let mut page = Page::new(&[Found::BrowserGone]);
        assert!(matches!(page.reach(limits::ELEMENT_TIMEOUT), Err(StepError::Command(CommandError::Gone))));
        assert_eq!(page.attempts, [0]);
    }

    #[test]
    fn frames_are_asked_unless_the_page_itself_is_enough() {
        let asked = |own, enough: i64| {
            let mut page = Page::new(&[]);
            page.own = own;
            page.ask_frames(&PAGE, ("text", &Value::Null), &|answer| *answer == enough).unwrap()
        };
        assert_eq!(asked(Ok(json!(1)), 1), [json!(1)]);
        assert_eq!(asked(Ok(json!(1)), 2), [json!(1), json!(2)]);
        // The page's document is being replaced.
        assert_eq!(asked(Err(failed()), 1), [json!(2)]);
        let mut page = Page::new(&[]);
        page.own = Err(CommandError::Crashed);
        page.ask_frames(&PAGE, ("text", &Value::Null), &|_| true).unwrap_err();
    }
}
