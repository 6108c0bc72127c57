//! Steps by WebDriver commands alone: the driver clicks, points and types as a person would, and the same scripts find
//! the elements.
//!
//! The elements are those of the page, of its open shadow roots and of its frames, also of other sites.

use std::{
    cell::Cell,
    thread,
    time::{Duration, Instant},
};

use fantoccini::error::ErrorStatus;
use ragmaker_tool::{ARGUMENT_ERROR, Error};
use serde_json::{Value, json};
use url::Url;

use super::{
    WebDriverVisit, controls,
    frames::{self, TOP},
};
use crate::{
    act::{
        Keys,
        input::{
            ANOTHER, Requirement, SHOW, StepError, UNCOVER, UsableElement, check_click, gone, missing, refusal,
            unreachable_by_pointer, unusable,
        },
        remote_file,
        step_target::StepTarget,
        upload::{not_taken, takes_files},
    },
    elements::{
        ElementId, FrameScript, Locator, Match, NotFound, PAGE,
        find::{self, Chosen},
    },
    error::{CommandError, Failure},
    limits::{self, LIMITS},
    webdriver::is_stale_element,
};

/// Notes that the document is about to be replaced: a browser that is asked meanwhile answers for the old one.
const WATCH: &str = "const leaves = Symbol.for('ragmaker-leaves');
if (document[leaves] === undefined) addEventListener('beforeunload', () => { document[leaves] = true; });
// A download is announced in the same way, and the document stays.
document[leaves] = false;
return true;";
const LEAVES: &str = "return document[Symbol.for('ragmaker-leaves')] === true;";
const STAYS: &str = "document[Symbol.for('ragmaker-leaves')] = false; return true;";
const INSERT: &str = "return document.execCommand('insertText', false, arguments[0]);";

/// An element that was found: its frame, its reference, and its name if the locator has another.
type Found = (String, String, Option<String>);

/// Takes steps in the page of a visit.
pub(crate) struct WebDriverActor<'v, 'a> {
    visit: &'v mut WebDriverVisit<'a>,
    began: &'v Cell<bool>,
    until: Instant,
    /// The windows before the steps.
    windows: Vec<String>,
}

impl<'v, 'a> WebDriverActor<'v, 'a> {
    pub(crate) fn new(visit: &'v mut WebDriverVisit<'a>, began: &'v Cell<bool>) -> Result<Self, CommandError> {
        let until = visit.deadline.checked_sub(limits::ACT_RESERVE).unwrap_or(visit.deadline);
        let windows = visit.driver.windows(visit.deadline)?;
        Ok(Self { visit, began, until, windows })
    }

    /// Closes the tabs that were opened during the steps: the call reads its own alone. A person may want them.
    pub(crate) fn close_opened(&mut self) -> Result<(), CommandError> {
        let WebDriverVisit { driver, deadline, .. } = &*self.visit;
        let windows = driver.windows(*deadline)?;
        let opened: Vec<_> = windows.iter().filter(|window| !self.windows.contains(window)).collect();
        if opened.is_empty() || self.visit.request.visible {
            return Ok(());
        }
        let own = driver.window(*deadline)?;
        self.visit.forget_frame();
        for opened in opened {
            driver.switch_to(opened, *deadline)?;
            driver.close_window(*deadline)?;
        }
        driver.switch_to(&own, *deadline)
    }

    /// The elements of a frame that are found by what they show, or by CSS.
    fn by(&mut self, frame: &str, what: &str, text: &str) -> Result<Vec<String>, CommandError> {
        let found = match self.visit.ask_in(frame, &PAGE, what, &json!(text)) {
            // The frame is gone or has another document.
            Err(CommandError::Failed(_) | CommandError::Late) if frame != TOP => Value::Null,
            found => found?,
        };
        Ok(found.as_array().into_iter().flatten().filter_map(frames::reference).collect())
    }

    /// The frame and the reference of the element that `locator` names, with its name if it has another; or the reason why
    /// there is none.
    fn find(&mut self, locator: &Locator) -> Result<Result<Found, NotFound>, CommandError> {
        // As `look` lists them: a number counts the elements of frames as well.
        let (nodes, mut references) = controls::nodes(self.visit, None)?.unwrap_or_default();
        match locator.among(&nodes) {
            Match::One(index) => {
                let name = locator.other_name(&nodes[index]);
                return Ok(Ok((nodes[index].element_id.frame.clone(), references.swap_remove(index), name)));
            }
            Match::Many(many) => return Ok(Err(NotFound::Several(find::candidates(&nodes, &many)))),
            Match::None => {}
        }
        if locator.role().is_none() {
            let frames = self.visit.frames()?;
            for (what, text, number) in locator.shown_as() {
                for frame in &frames {
                    let mut found = self.by(frame, what, text)?;
                    match find::chosen(number, found.len()) {
                        Chosen::One(index) => return Ok(Ok((frame.clone(), found.swap_remove(index), None))),
                        Chosen::Several => {
                            let listed = found.iter().enumerate().take(find::LISTED).map(|(index, reference)| {
                                let state = self.visit.on(frame, reference, "state", &Value::Null)?;
                                Ok(find::described(text, index, &state))
                            });
                            return Ok(Err(NotFound::Several(listed.collect::<Result<_, CommandError>>()?)));
                        }
                        Chosen::None => {}
                    }
                }
            }
        }
        Ok(Err(NotFound::Nothing(find::nearest(&nodes, locator))))
    }

    /// Whether an element that was found fulfils `need`.
    fn usable(
        &mut self,
        locator: &Locator,
        need: Requirement,
        attempt: usize,
        (frame, object, name): Found,
    ) -> Result<Result<UsableElement, Error>, CommandError> {
        let state = self.visit.on(&frame, &object, "state", &need.given())?;
        if let Some(error) = refusal(locator, need, &state) {
            return Ok(Err(error));
        }
        let element_id = ElementId { session: None, frame, node: 0 };
        let reached = UsableElement { element_id, object, state, point: None, name };
        if need.is_pointed_at() {
            let Some(target) = self.clickable(&reached)? else {
                return Ok(Err(unusable(locator, &reached.state, "is not shown").remedy(SHOW)));
            };
            let block = ["nearest", "center", "end", "start"][attempt % 4];
            self.visit.on(&reached.element_id.frame, &target, "reveal", &json!(block))?;
        }
        Ok(Ok(reached))
    }

    /// The element to click instead: a checkbox may be hidden and represented by its label.
    fn clickable(&mut self, reached: &UsableElement) -> Result<Option<String>, CommandError> {
        if reached.is("shown") && reached.is("sized") {
            return Ok(Some(reached.object.clone()));
        }
        let label = self.visit.on(&reached.element_id.frame, &reached.object, "label", &Value::Null)?;
        Ok(frames::reference(&label))
    }

    /// Sends a command about an element that was found.
    fn element(&self, reached: &UsableElement, path: &str, body: Value) -> Result<(), CommandError> {
        let visit = &*self.visit;
        visit.in_frame(&reached.element_id.frame, || visit.driver.post(path, body, visit.deadline).map(drop))
    }

    /// Presses and releases keys.
    fn keys(&mut self, actions: &Value) -> Result<(), CommandError> {
        let frame = self.visit.focused_frame()?;
        self.actions(&frame, &json!({"type": "key", "id": "keyboard", "actions": actions}))
    }

    fn actions(&mut self, frame: &str, of: &Value) -> Result<(), CommandError> {
        let visit = &*self.visit;
        visit.in_frame(frame, || visit.driver.post("actions", json!({"actions": [of]}), visit.deadline).map(drop))
    }
}

/// Why the pointer does not reach an element, and the remedy: the page names what covers it, if anything does, and the
/// driver may say that it is covered.
fn why_unreachable(cover: Option<&str>, is_covered: bool) -> (String, &'static str) {
    match cover {
        Some(by) => (format!("is covered by {by}"), UNCOVER),
        None if is_covered => ("is covered by another element".to_owned(), UNCOVER),
        None => ("is outside the scrollable area".to_owned(), SHOW),
    }
}

impl StepTarget for WebDriverActor<'_, '_> {
    fn url(&self) -> &Url {
        &self.visit.url
    }

    fn until(&self) -> Instant {
        self.until
    }

    fn note_begun(&mut self) {
        self.began.set(true);
    }

    fn begin(&mut self) -> Result<(), StepError> {
        self.note_begun();
        match self.visit.execute(WATCH, &json!([]), LIMITS.webdriver_probe) {
            // The document is about to be replaced.
            Ok(_) | Err(CommandError::Failed(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn settle(&mut self, begun: Instant) -> Result<(), StepError> {
        let cap = self.until.min(begun + LIMITS.load);
        while Instant::now() + limits::WEBDRIVER_STEP_PAUSE < cap {
            match self.visit.execute(LEAVES, &json!([]), LIMITS.webdriver_probe) {
                // The document is about to be replaced, or is being replaced.
                Ok(Value::Bool(true)) | Err(CommandError::Failed(_) | CommandError::Late) => {
                    thread::sleep(limits::WEBDRIVER_STEP_PAUSE);
                }
                Ok(_) => break,
                Err(error) => return Err(error.into()),
            }
        }
        if Instant::now() + limits::WEBDRIVER_STEP_PAUSE >= cap {
            // It was a download: the steps that follow do not wait for it.
            let _ = self.visit.execute(STAYS, &json!([]), LIMITS.webdriver_probe);
        }
        self.visit.rest().map(drop).map_err(|failure| StepError::Page(Box::new(failure)))
    }

    fn read_notes(&mut self) -> Result<(), CommandError> {
        Ok(())
    }

    fn listen(&mut self, time: Duration) -> Result<(), StepError> {
        thread::sleep(time);
        Ok(())
    }

    // There may be hundreds of clicks and screens: the end of the page is waited for longer than each of them.
    fn settle_expanded(&mut self, begun: Instant) -> Result<(), StepError> {
        let page = |failure| StepError::Page(Box::new(failure));
        let cap = self.until.min(begun + LIMITS.load);
        self.visit.rest_for(LIMITS.webdriver_quiet_expanded, cap).map_err(page)
    }

    fn load_again(&mut self) -> Result<(), Failure> {
        self.visit.load_again()
    }

    fn ask(&mut self, script: &'static FrameScript, what: &str, given: &Value) -> Result<Value, CommandError> {
        self.visit.ask(script, what, given)
    }

    fn ask_inner_frames(
        &mut self,
        script: &'static FrameScript,
        (what, given): (&str, &Value),
        is_enough: &dyn Fn(&Value) -> bool,
    ) -> Result<Vec<Value>, CommandError> {
        let frames = match self.visit.frames() {
            // The document is being replaced.
            Err(CommandError::Failed(_)) => return Ok(vec![]),
            frames => frames?,
        };
        let mut answers = vec![];
        for frame in frames.into_iter().filter(|frame| frame != TOP) {
            match self.visit.ask_in(&frame, script, what, given) {
                Ok(answer) => answers.push(answer),
                // The frame is gone or has another document.
                Err(CommandError::Failed(_) | CommandError::Late) => continue,
                Err(error) => return Err(error),
            }
            if answers.last().is_some_and(is_enough) {
                break;
            }
        }
        Ok(answers)
    }

    fn try_reach(
        &mut self,
        locator: &Locator,
        need: Requirement,
        attempt: usize,
    ) -> Result<Result<UsableElement, Error>, CommandError> {
        match self.find(locator)? {
            Ok(found) => self.usable(locator, need, attempt, found),
            Err(not_found) => Ok(Err(missing(locator, not_found))),
        }
    }

    fn try_option(
        &mut self,
        list: &UsableElement,
        (locator, text): (&Locator, &str),
        attempt: usize,
    ) -> Result<Option<Result<UsableElement, Error>>, CommandError> {
        let frame = list.element_id.frame.clone();
        let found = self.visit.on(&frame, &list.object, "option", &json!(text))?;
        let Some(reference) = frames::reference(&found) else { return Ok(None) };
        self.usable(locator, Requirement::Click, attempt, (frame, reference, None)).map(Some)
    }

    fn on(&mut self, reached: &UsableElement, what: &str, given: &Value) -> Result<Value, CommandError> {
        self.visit.on(&reached.element_id.frame, &reached.object, what, given)
    }

    fn click(&mut self, locator: &Locator, reached: &UsableElement) -> Result<(), StepError> {
        let Some(target) = self.clickable(reached)? else {
            return Err(unusable(locator, &reached.state, "is not shown").remedy(SHOW).into());
        };
        // What would open another tab opens here.
        self.visit.on(&reached.element_id.frame, &target, "arm", &Value::Null)?;
        let begun = Instant::now();
        let clicked = loop {
            let clicked = self.element(reached, &format!("element/{target}/click"), json!({}));
            let Err(CommandError::Failed(failed)) = &clicked else { break clicked.map_err(StepError::from) };
            let is_covered = failed.status == Some(ErrorStatus::ElementClickIntercepted);
            // Also for what cannot be scrolled into view.
            if !is_covered && failed.status != Some(ErrorStatus::ElementNotInteractable) {
                break match clicked {
                    Err(error) if is_stale_element(&error) => Err(gone(locator).into()),
                    clicked => clicked.map_err(StepError::from),
                };
            }
            if begun.elapsed() >= limits::ELEMENT_TIMEOUT || Instant::now() + limits::WEBDRIVER_STEP_PAUSE >= self.until
            {
                // A driver may say of what a dialog covers that it cannot be scrolled to.
                let cover = self.visit.on(&reached.element_id.frame, &target, "cover", &Value::Null)?;
                let refused = why_unreachable(cover["by"].as_str(), is_covered);
                let error = unreachable_by_pointer(locator, &reached.state, refused);
                break Err(error.detail("driver", failed.words.as_str()).into());
            }
            thread::sleep(limits::WEBDRIVER_STEP_PAUSE);
        };
        let heard = match self.visit.click_result(&reached.element_id.frame) {
            // The click may have removed the document.
            Err(CommandError::Failed(_)) => Value::Null,
            heard => heard?,
        };
        clicked?;
        check_click(locator, reached, &heard).map_err(StepError::from)
    }

    fn hover(&mut self, reached: &UsableElement) -> Result<(), CommandError> {
        let Some(target) = self.clickable(reached)? else { return Ok(()) };
        let origin = frames::element(&target);
        let moved = json!({"type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": origin});
        self.actions(
            &reached.element_id.frame,
            &json!({
                "type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [moved],
            }),
        )
    }

    fn press(&mut self, keys: &Keys) -> Result<(), StepError> {
        let actions = keys.actions().ok_or_else(|| {
            ARGUMENT_ERROR.error(format!("WebDriver has no key {}", keys.text)).detail("argument", "--do")
        })?;
        Ok(self.keys(&actions)?)
    }

    fn type_keys(&mut self, text: &str) -> Result<(), CommandError> {
        self.keys(&Keys::typing_actions(text))
    }

    fn insert(&mut self, text: &str) -> Result<(), CommandError> {
        let frame = self.visit.focused_frame()?;
        self.visit.execute_in(&frame, INSERT, &json!([text]), LIMITS.webdriver_probe).map(drop)
    }

    fn upload(&mut self, locator: &Locator, files: &[String]) -> Result<(), StepError> {
        let reached = self.reach(locator, Requirement::Enabled)?;
        if !takes_files(locator, &reached, files)? {
            return Err(unusable(locator, &reached.state, "is not a file input").remedy(ANOTHER).into());
        }
        let copies = if self.visit.running.endpoint.is_remote {
            Some(remote_file::copy(&self.visit.driver, files, self.until)?)
        } else {
            None
        };
        let path = format!("element/{}/value", reached.object);
        let text = copies.as_deref().unwrap_or(files).join("\n");
        let given = self.element(&reached, &path, json!({"text": text}));
        given.map_err(|error| not_taken(locator, &reached, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_that_the_pointer_does_not_reach_is_covered_or_cannot_be_scrolled_to() {
        // A driver may say of what a dialog covers that it cannot be scrolled to.
        for is_covered in [true, false] {
            assert_eq!(
                why_unreachable(Some("dialog:Cookies"), is_covered),
                ("is covered by dialog:Cookies".into(), UNCOVER)
            );
        }
        assert_eq!(why_unreachable(None, true).1, UNCOVER);
        assert_eq!(why_unreachable(None, false).1, SHOW);
    }
}
