//! Acting in a page: steps as a person would take them. After each step, the page is waited for; at the end,
//! the changes are reported.
//!
//! | module | what it does |
//! |---|---|
//! | [`step`], [`keys`] | the steps and keys, as JSON names them |
//! | [`input`] | points, clicks and types |
//! | [`take`] | takes the steps, and repeats them |
//! | [`perform`] | takes one step |
//! | [`step_target`] | what the steps are taken on: a DevTools socket here, WebDriver commands in `webdriver_only` |
//! | [`upload`] | gives files to the page |
//! | [`remote_file`] | copies these files to the machine of a remote browser |
//! | [`changes`] | the report of the changes |
//! | [`consent`] | declines consent banners |
//! | [`expand`] | opens what is folded, and scrolls to the end |
//!
//! A step ends when the page is idle: it has no open requests, no due timers and no running animations that the
//! step caused. If nothing happened since the last event of the step, it ends immediately.

mod changes;
mod consent;
mod expand;
pub(crate) mod input;
mod keys;
mod perform;
pub(crate) mod remote_file;
mod step;
pub(crate) mod step_target;
mod take;
pub(crate) mod upload;

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use ragmaker_tool::Error;
use serde_json::{Value, json};
use url::Url;

pub(crate) use self::{changes::SideEffects, consent::DeclineConsent, expand::ExpandPage, keys::Keys, take::TakeSteps};
pub use self::{
    changes::{Changes, Dialog, Download},
    step::Step,
};
use self::{
    input::{Input, Requirement, StepError, UsableElement},
    step_target::StepTarget,
};
use crate::{
    codes::TIMEOUT,
    elements::{ElementId, Frame, FrameScript, Frames, Locator},
    error::{CommandError, Failure},
    limits::{self, LIMITS},
    navigation::Navigation,
    page::LoadedPage,
    readiness::{PageAfterStep, watch_script},
};

/// The result of the steps.
#[derive(Debug)]
pub struct ActResult {
    /// The page after the steps.
    pub page: LoadedPage,
    /// A description of each step.
    pub done: Vec<String>,
    /// The changes.
    pub changes: Changes,
}

/// Takes steps in the page of a navigation.
pub(crate) struct Actor<'n, 'a> {
    navigation: &'n mut Navigation<'a>,
    frames: Frames,
    side_effects: SideEffects,
    /// The frames of other sites that were told that a call acts in them.
    acting_frames: Vec<Frame>,
    /// Whether the page's document was told that a call acts in it.
    is_told: bool,
    /// The deadline of the last step.
    until: Instant,
}

impl<'n, 'a> Actor<'n, 'a> {
    /// An actor for the page to which `navigation` went.
    pub(crate) fn new(navigation: &'n mut Navigation<'a>) -> Result<Self, Failure> {
        let actor = Self::following(navigation)?;
        let (socket, until) = (&mut actor.navigation.tab.socket, actor.until);
        // Without emulated focus, a page in the background receives no keys.
        let focused = socket.ask(None, "Emulation.setFocusEmulationEnabled", &json!({"enabled": true}), until);
        focused.map_err(|error| Failure::of(error, &actor.navigation.url))?;
        Ok(actor)
    }

    /// An actor that finds and points at nothing by name, for which the browser need not keep an accessibility tree.
    pub(crate) fn following(navigation: &'n mut Navigation<'a>) -> Result<Self, Failure> {
        let until = navigation.deadline.checked_sub(limits::ACT_RESERVE).unwrap_or(navigation.deadline);
        let loading = navigation.loading.clone();
        navigation.tab.socket.keep_page(true);
        let followed = navigation.tab.socket.follow_frames(loading, until);
        followed.map_err(|error| Failure::of(error, &navigation.url))?;
        Ok(Self {
            navigation,
            frames: Frames::default(),
            side_effects: SideEffects::default(),
            acting_frames: vec![],
            is_told: false,
            until,
        })
    }

    /// Returns the side effects, and ends the acting mode of the frames.
    pub(crate) fn into_side_effects(mut self) -> SideEffects {
        self.collect_side_effects();
        let until = self.navigation.deadline;
        for frame in self.acting_frames.clone().into_iter().chain([self.top()]) {
            // A page that does not answer is ignored.
            let _ = self.frames.ask(&mut self.navigation.tab.socket, &frame, "acting", &json!(false), until);
        }
        // A frame of another site may have opened a tab nevertheless.
        if !self.acting_frames.is_empty() && !self.navigation.visible {
            self.navigation.tab.close_opened();
        }
        self.side_effects
    }

    /// Tells the frame of another site that contains an element that a call acts there. The page's own
    /// documents are notified before each step. The frame then records its dialogs and windows.
    fn mark_frame(&mut self, element_id: &ElementId) -> Result<(), CommandError> {
        if element_id.session.is_none() || self.acting_frames.iter().any(|frame| frame.id == element_id.frame) {
            return Ok(());
        }
        let frame = Frame { session: element_id.session.clone(), id: element_id.frame.clone(), owner: None };
        let (socket, until) = (&mut self.navigation.tab.socket, self.until);
        if self.frames.ask(socket, &frame, "acting", &json!(true), until)? == false {
            let script = json!({"expression": watch_script()});
            socket.ask(element_id.session.as_deref(), "Runtime.evaluate", &script, until)?;
            self.frames.ask(socket, &frame, "acting", &json!(true), until)?;
        }
        self.acting_frames.push(frame);
        Ok(())
    }

    /// Reads the notes of such frames.
    fn read_frame_notes(&mut self) -> Result<(), CommandError> {
        let (mut told, until) = (vec![], self.until);
        for frame in std::mem::take(&mut self.acting_frames) {
            match self.frames.ask(&mut self.navigation.tab.socket, &frame, "rest", &Value::Null, until) {
                Ok(look) => {
                    self.side_effects.noted(&frame.id, &look["noted"]);
                    told.push(frame);
                }
                // The frame is gone or has another document.
                Err(CommandError::Failed(_)) => {}
                Err(error) => return Err(error),
            }
        }
        self.acting_frames = told;
        Ok(())
    }

    fn input(&mut self) -> Input<'_> {
        // A page that is busy for longer than this is hanging.
        let until = self.until.min(Instant::now() + LIMITS.load);
        Input { socket: &mut self.navigation.tab.socket, frames: &mut self.frames, until }
    }

    /// Whether a step has led to another document, which has not arrived. Until then, the browser may delay its answers.
    fn is_leaving(&mut self) -> bool {
        self.navigation.handle_events();
        self.navigation.network.pending_document().is_some()
    }

    /// Waits until the document to which a step has led arrives. If it does not, the page stays.
    fn arrive(&mut self) -> Result<(), StepError> {
        while self.is_leaving() {
            if Instant::now() < self.until {
                self.listen(LIMITS.pause)?;
                continue;
            }
            let url = self.navigation.network.pending_document().unwrap_or_default().to_owned();
            self.navigation.tab.socket.stop_loading()?;
            let error = TIMEOUT.error(format!("the step led to {url}, which did not answer in time"));
            let error = error.remedy("The page stays. Give a longer --timeout, or go on without that address.");
            return Err(error.detail("led_to", url).into());
        }
        Ok(())
    }

    /// The page itself as a frame.
    fn top(&self) -> Frame {
        Frame { session: None, id: self.navigation.tab.socket.frame().to_owned(), owner: None }
    }

    /// Collects the side effects that the browser reports.
    fn collect_side_effects(&mut self) {
        let mut opened = false;
        for event in self.navigation.tab.socket.take_side_events() {
            opened |= event.method == "Page.windowOpen";
            self.side_effects.event(&event.method, &event.params);
        }
        // The call only reads its own tab. A person may want the opened ones.
        if opened && !self.navigation.visible {
            self.navigation.tab.close_opened();
        }
    }
}

impl StepTarget for Actor<'_, '_> {
    fn url(&self) -> &Url {
        &self.navigation.url
    }

    fn until(&self) -> Instant {
        self.until
    }

    fn note_begun(&mut self) {
        self.navigation.began.set(true);
    }

    // What the page opens from here on is noted.
    fn begin(&mut self) -> Result<(), StepError> {
        self.note_begun();
        // What the page sent before belongs to earlier steps.
        self.navigation.handle_events();
        self.navigation.network.begin_step();
        if self.is_told {
            return Ok(());
        }
        let (top, until) = (self.top(), self.until);
        match self.frames.ask(&mut self.navigation.tab.socket, &top, "acting", &json!(true), until) {
            // The document is about to be replaced.
            Ok(_) => {
                self.is_told = true;
                Ok(())
            }
            Err(CommandError::Failed(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn settle(&mut self, begun: Instant) -> Result<(), StepError> {
        let cap = self.until.min(begun + LIMITS.load);
        let top = self.top();
        // A document that has taken the place of the one before is told as well.
        let told = if self.is_told { json!(true) } else { Value::Null };
        loop {
            let socket = &mut self.navigation.tab.socket;
            let asked = Instant::now();
            let look = match self.frames.ask(socket, &top, "rest", &told, self.until.min(asked + LIMITS.load)) {
                Ok(look) => look,
                // The document is being replaced.
                Err(CommandError::Failed(_)) => Value::Null,
                Err(CommandError::Late) if self.is_leaving() => {
                    self.arrive()?;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            self.side_effects.noted("", &look["noted"]);
            self.collect_side_effects();
            self.navigation.handle_events();
            let page = PageAfterStep::of(&look);
            if !page.is_complete || self.navigation.network.is_to_be_left() {
                self.navigation.rest().map_err(|failure| StepError::Page(Box::new(failure)))?;
                self.is_told = false;
                return Ok(());
            }
            match page.pause(begun.elapsed(), self.navigation.network.state(page.text)) {
                Some(pause) if Instant::now() < cap => self.listen(pause)?,
                _ => return Ok(()),
            }
        }
    }

    fn read_notes(&mut self) -> Result<(), CommandError> {
        self.read_frame_notes()
    }

    fn listen(&mut self, time: Duration) -> Result<(), StepError> {
        Ok(self.navigation.tab.socket.listen(time)?)
    }

    fn load_again(&mut self) -> Result<(), Failure> {
        self.is_told = false;
        self.navigation.load_again()
    }

    fn ask(&mut self, script: &'static FrameScript, what: &str, given: &Value) -> Result<Value, CommandError> {
        let (top, until) = (self.top(), self.navigation.deadline);
        self.frames.run(&mut self.navigation.tab.socket, &top, script, (what, given), until)
    }

    fn ask_inner_frames(
        &mut self,
        script: &'static FrameScript,
        asked: (&str, &Value),
        is_enough: &dyn Fn(&Value) -> bool,
    ) -> Result<Vec<Value>, CommandError> {
        let (mut answers, until) = (vec![], self.until);
        let socket = &mut self.navigation.tab.socket;
        for frame in Frames::all(socket, until)?.into_iter().skip(1) {
            match self.frames.run(socket, &frame, script, asked, until) {
                Ok(answer) => answers.push(answer),
                // The frame is gone or its document is being replaced.
                Err(CommandError::Failed(_)) => {}
                Err(error) => return Err(error),
            }
            if answers.last().is_some_and(is_enough) {
                break;
            }
        }
        Ok(answers)
    }

    fn note_closed(&mut self, known: &mut HashSet<ElementId>) -> Result<(), CommandError> {
        self.frames.note_closed(&mut self.navigation.tab.socket, known, self.until)
    }

    fn try_reach(
        &mut self,
        locator: &Locator,
        need: Requirement,
        attempt: usize,
    ) -> Result<Result<UsableElement, Error>, CommandError> {
        self.input().try_reach(locator, need, attempt)
    }

    fn try_option(
        &mut self,
        list: &UsableElement,
        option: (&Locator, &str),
        attempt: usize,
    ) -> Result<Option<Result<UsableElement, Error>>, CommandError> {
        self.input().try_option(list, option, attempt)
    }

    fn on(&mut self, reached: &UsableElement, what: &str, given: &Value) -> Result<Value, CommandError> {
        self.input().on(&reached.element_id, &reached.object, what, given)
    }

    fn click(&mut self, locator: &Locator, reached: &UsableElement) -> Result<(), StepError> {
        self.mark_frame(&reached.element_id)?;
        match self.input().click(locator, reached) {
            Err(StepError::Command(CommandError::Late)) if self.is_leaving() => self.arrive(),
            clicked => clicked,
        }
    }

    fn hover(&mut self, reached: &UsableElement) -> Result<(), CommandError> {
        self.input().hover(reached)
    }

    fn press(&mut self, keys: &Keys) -> Result<(), StepError> {
        Ok(self.input().keys(&keys.commands())?)
    }

    fn type_keys(&mut self, text: &str) -> Result<(), CommandError> {
        self.input().keys(&Keys::typing(text))
    }

    fn enter(&mut self, text: &str) -> Result<bool, CommandError> {
        let (commands, are_keys) = entry(text);
        self.input().keys(&commands)?;
        Ok(are_keys)
    }

    fn insert(&mut self, text: &str) -> Result<(), CommandError> {
        self.input().keys(&[("Input.insertText", json!({"text": text}))])
    }

    fn upload(&mut self, locator: &Locator, files: &[String]) -> Result<(), StepError> {
        self.give_files(locator, files)
    }
}

/// The commands that enter a text, and whether all of it is typed. All but the last character comes at once, because each
/// key takes a millisecond. That character has key events, for a page that listens for keys.
fn entry(text: &str) -> (Vec<(&'static str, Value)>, bool) {
    let (last, _) = text.char_indices().next_back().unwrap_or_default();
    let (first, last) = text.split_at(last);
    let mut commands = Keys::typing(last);
    if !first.is_empty() {
        commands.insert(0, ("Input.insertText", json!({"text": first})));
    }
    (commands, first.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text that each command inserts or types, and whether all of it is typed.
    fn entered(text: &str) -> (Vec<(&'static str, String)>, bool) {
        let (commands, are_keys) = entry(text);
        let texts = commands.iter().filter_map(|(method, params)| Some((*method, params["text"].as_str()?.to_owned())));
        (texts.collect(), are_keys)
    }

    #[test]
    fn the_last_character_of_a_text_is_typed_and_those_before_it_come_at_once() {
        let (insert, key) = ("Input.insertText", "Input.dispatchKeyEvent");
        assert_eq!(entered(""), (vec![], true));
        assert_eq!(entered("a"), (vec![(key, "a".into())], true));
        assert_eq!(entered("tide"), (vec![(insert, "tid".into()), (key, "e".into())], false));
        // A character without a key is inserted alone.
        let (texts, are_keys) = entered("a\u{6f6e}\u{1f30a}");
        assert_eq!(texts, [(insert, "a\u{6f6e}".into()), (insert, "\u{1f30a}".into())]);
        assert!(!are_keys);
    }
}
