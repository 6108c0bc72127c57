//! Acting in a page: steps as a person would take them, each waited for until the page rests, and what they changed.
//!
//! | module | what it does |
//! |---|---|
//! | [`step`], [`keys`] | the steps and keys, as JSON names them |
//! | [`input`] | points, clicks and types |
//! | [`perform`] | takes one step |
//! | [`changes`] | what is told of it |
//! | [`expand`] | opens what is folded, and scrolls to the end |
//!
//! A step ends when the page rests: nothing is open, due or moving that the step has begun. Where nothing at all
//! has happened since its last event, that is at once.

mod changes;
mod expand;
mod input;
mod keys;
mod perform;
mod step;

use std::time::{Duration, Instant};

use ragmaker_tool::Error;
use serde_json::{Value, json};

use self::{
    changes::SideEffects,
    input::{Input, StepError},
    step::{Action, Scroll, Until},
};
pub use self::{
    changes::{Changes, Dialog, Download},
    step::Step,
};
use crate::{
    codes::TIMEOUT,
    elements::{Frame, Frames, Place},
    error::{CommandError, Failure},
    navigation::Navigation,
    page::Page,
    readiness::{NetworkState, Text, limits::LIMITS, watch_script},
};

/// What is left of a call's time for taking what the page has become.
const RESERVE: Duration = Duration::from_millis(1500);

/// How long nothing may have happened in a page after a step, where something did.
const QUIET: f64 = 25.0;

/// How long what a repeated step brings may take to begin.
const GROWTH: Duration = Duration::from_millis(300);

/// How long an element that was there before may be gone until that counts.
const GONE: Duration = Duration::from_millis(300);

/// What came of the steps.
#[derive(Debug)]
pub struct Acted {
    /// The page as it is then.
    pub page: Page,
    /// What was done, a line for each step.
    pub done: Vec<String>,
    /// What is another than before.
    pub changes: Changes,
}

/// Takes steps in the page of a navigation.
pub(crate) struct Actor<'n, 'a> {
    navigation: &'n mut Navigation<'a>,
    frames: Frames,
    side_effects: SideEffects,
    /// The frames of other sites that know that a call acts in them.
    acting_frames: Vec<Frame>,
    /// When the last step has to be over.
    until: Instant,
}

impl<'n, 'a> Actor<'n, 'a> {
    /// An actor in the page that `navigation` has gone to.
    pub(crate) fn new(navigation: &'n mut Navigation<'a>) -> Result<Self, Failure> {
        let until = navigation.deadline.checked_sub(RESERVE).unwrap_or(navigation.deadline);
        let loading = navigation.loading.clone();
        let url = navigation.url.clone();
        let prepare = || -> Result<(), CommandError> {
            let socket = &mut navigation.tab.socket;
            socket.follow_frames(loading, until)?;
            // So that what is under way is told of once: the browser follows the tree that it has made.
            socket.ask(None, "Accessibility.enable", &json!({}), until)?;
            // A page in a window that nobody looks at takes no keys.
            socket.ask(None, "Emulation.setFocusEmulationEnabled", &json!({"enabled": true}), until).map(drop)
        };
        prepare().map_err(|error| Failure::of(error, &url))?;
        Ok(Self {
            navigation,
            frames: Frames::default(),
            side_effects: SideEffects::default(),
            acting_frames: vec![],
            until,
        })
    }

    /// Takes the steps; what was done, and why the last one was not, if it was not.
    pub(crate) fn take(&mut self, steps: &[Step]) -> Result<(Vec<String>, Option<Error>), Failure> {
        let mut done = vec![];
        for (index, step) in steps.iter().enumerate() {
            let marked = |error: Error, done: &[String]| {
                error.detail("step", index + 1).detail("action", step.to_string()).detail("done", json!(done))
            };
            match self.repeat(step) {
                Ok(line) => done.push(line),
                Err(StepError::Step(error)) => {
                    let error = marked(error, &done);
                    return Ok((done, Some(error)));
                }
                Err(StepError::Command(error)) => {
                    let failure = Failure::of(error, &self.navigation.url);
                    let (Failure::StaleTab(error) | Failure::Page(error)) = failure;
                    return Err(Failure::Page(marked(error, &done)));
                }
                Err(StepError::Page(failure)) => {
                    let (Failure::StaleTab(error) | Failure::Page(error)) = *failure;
                    return Err(Failure::Page(marked(error, &done)));
                }
            }
        }
        Ok((done, None))
    }

    /// What is told of all that happened besides.
    pub(crate) fn into_side_effects(mut self) -> SideEffects {
        self.collect_side_effects();
        let until = self.navigation.deadline;
        for frame in self.acting_frames.clone().into_iter().chain([self.top()]) {
            // A page that does not take it in is left behind.
            let _ = self.frames.ask(&mut self.navigation.tab.socket, &frame, "acting", &json!(false), until);
        }
        // A frame of another site may have opened one for all that.
        if !self.acting_frames.is_empty() && !self.navigation.visible {
            self.navigation.tab.close_opened();
        }
        self.side_effects
    }

    /// Tells the frame of another site that an element is in that a call acts there, which the page's own documents
    /// are told before each step; what it opens is noted there as well.
    fn mark_frame(&mut self, place: &Place) -> Result<(), CommandError> {
        if place.session.is_none() || self.acting_frames.iter().any(|frame| frame.id == place.frame) {
            return Ok(());
        }
        let frame = Frame { session: place.session.clone(), id: place.frame.clone(), owner: None };
        let (socket, until) = (&mut self.navigation.tab.socket, self.until);
        if self.frames.ask(socket, &frame, "acting", &json!(true), until)? == false {
            let script = json!({"expression": watch_script()});
            socket.ask(place.session.as_deref(), "Runtime.evaluate", &script, until)?;
            self.frames.ask(socket, &frame, "acting", &json!(true), until)?;
        }
        self.acting_frames.push(frame);
        Ok(())
    }

    /// Takes what such frames have noted.
    fn read_frame_notes(&mut self) -> Result<(), CommandError> {
        let (mut told, until) = (vec![], self.until);
        for frame in std::mem::take(&mut self.acting_frames) {
            match self.frames.ask(&mut self.navigation.tab.socket, &frame, "rest", &Value::Null, until) {
                Ok(look) => {
                    self.side_effects.noted(&frame.id, &look["noted"]);
                    told.push(frame);
                }
                // It is gone, or another document by now.
                Err(CommandError::Failed(_)) => {}
                Err(error) => return Err(error),
            }
        }
        self.acting_frames = told;
        Ok(())
    }

    fn input(&mut self) -> Input<'_> {
        // A page that is busy for longer than this hangs.
        let until = self.until.min(Instant::now() + LIMITS.load);
        Input { socket: &mut self.navigation.tab.socket, frames: &mut self.frames, until }
    }

    /// The page itself, as a frame.
    fn top(&self) -> Frame {
        Frame { session: None, id: self.navigation.tab.socket.frame().to_owned(), owner: None }
    }

    /// Takes a step as often as it is to be taken.
    fn repeat(&mut self, step: &Step) -> Result<String, StepError> {
        let Some(until) = step.until else { return self.once(&step.action, None) };
        let (mut times, mut line) = (0, String::new());
        let mut length = self.length()?;
        loop {
            let patience = (times > 0).then_some(GONE);
            match self.once(&step.action, patience) {
                Ok(done) => line = done,
                // What it was clicked for is all there.
                Err(StepError::Step(error)) if times > 0 && perform::is_about_an_element(&error) => {
                    return Ok(format!("{line}, {} until it was gone", counted(times)));
                }
                Err(error) => return Err(error),
            }
            times += 1;
            match until {
                Until::Times(most) if times >= most => return Ok(format!("{line}, {}", counted(times))),
                Until::Times(_) => {}
                Until::Rest => {
                    let mut grown = self.length()?;
                    if grown <= length {
                        self.listen(GROWTH)?;
                        self.settle(Instant::now())?;
                        grown = self.length()?;
                    }
                    if grown <= length {
                        return Ok(format!("{line}, {} until the text rested", counted(times)));
                    }
                    length = grown;
                }
            }
            if Instant::now() >= self.until {
                let error = TIMEOUT.error(format!("the time was up after {} of a step", counted(times)));
                return Err(error.detail("times", times).into());
            }
        }
    }

    /// Takes a step once, and waits until the page rests.
    fn once(&mut self, action: &Action, patience: Option<Duration>) -> Result<String, StepError> {
        if Instant::now() >= self.until {
            return Err(TIMEOUT.error("the time was up before the step").into());
        }
        if matches!(action, Action::Wait(_) | Action::Scroll(_, Scroll::By(_))) {
            self.navigation.began.set(true);
        } else {
            self.begin()?;
        }
        let line = self.act(action, patience)?;
        self.read_frame_notes()?;
        self.settle(Instant::now())?;
        Ok(line)
    }

    /// Tells the page's documents that a call acts in them: what the page opens is noted.
    fn begin(&mut self) -> Result<(), StepError> {
        self.navigation.began.set(true);
        let (top, until) = (self.top(), self.until);
        match self.frames.ask(&mut self.navigation.tab.socket, &top, "acting", &json!(true), until) {
            // The document is about to be replaced.
            Ok(_) | Err(CommandError::Failed(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until the page rests after what was done at `begun`.
    fn settle(&mut self, begun: Instant) -> Result<(), StepError> {
        let cap = self.until.min(begun + LIMITS.load);
        let top = self.top();
        loop {
            let socket = &mut self.navigation.tab.socket;
            let asked = Instant::now();
            let look = match self.frames.ask(socket, &top, "rest", &Value::Null, self.until.min(asked + LIMITS.load)) {
                Ok(look) => look,
                // It is being replaced.
                Err(CommandError::Failed(_)) => Value::Null,
                Err(error) => return Err(error.into()),
            };
            self.side_effects.noted("", &look["noted"]);
            self.collect_side_effects();
            self.navigation.handle_events();
            let network = &self.navigation.network;
            let text = if look["sparse"] == true { Text::Sparse } else { Text::Dense };
            if look["ready"] != "complete" || network.is_to_be_left() {
                self.navigation.rest().map_err(|failure| StepError::Page(Box::new(failure)))?;
                return Ok(());
            }
            let number = |name: &str| look[name].as_f64().unwrap_or_default();
            let due = number("timers") > 0.0 || (number("redirects") > 0.0 && text == Text::Sparse);
            let since = begun.elapsed().as_secs_f64() * 1000.0;
            let rests = number("quiet") >= QUIET || number("quiet") + 2.0 >= since;
            if (rests && !due && network.state(text) != NetworkState::Busy) || Instant::now() >= cap {
                return Ok(());
            }
            self.listen(LIMITS.pause)?;
        }
    }

    /// Keeps what the browser tells of the page beside what the page says.
    fn collect_side_effects(&mut self) {
        let mut opened = false;
        for event in self.navigation.tab.socket.take_side_events() {
            opened |= event.method == "Page.windowOpen";
            self.side_effects.event(&event.method, &event.params);
        }
        // The tab is all that the call looks after. A person may want what opened.
        if opened && !self.navigation.visible {
            self.navigation.tab.close_opened();
        }
    }

    fn length(&mut self) -> Result<f64, StepError> {
        let (top, until) = (self.top(), self.until);
        match self.frames.ask(&mut self.navigation.tab.socket, &top, "length", &Value::Null, until) {
            Ok(length) => Ok(length.as_f64().unwrap_or_default()),
            Err(CommandError::Failed(_)) => Ok(0.0),
            Err(error) => Err(error.into()),
        }
    }

    fn listen(&mut self, time: Duration) -> Result<(), StepError> {
        Ok(self.navigation.tab.socket.listen(time)?)
    }
}

fn counted(times: u64) -> String {
    if times == 1 { "once".into() } else { format!("{times} times") }
}
