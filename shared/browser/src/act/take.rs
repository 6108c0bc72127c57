//! Takes the steps of a call, one after the other, each as often as requested.

use std::time::{Duration, Instant};

use ragmaker_tool::Error;
use serde_json::{Value, json};

use super::{
    input::StepError,
    perform::{self, Perform},
    step::{Action, Repetition, Scroll, Step},
    step_target::StepTarget,
};
use crate::{
    codes::{ELEMENT_NOT_FOUND, TIMEOUT},
    elements::PAGE,
    error::{CommandError, Failure},
    limits,
};

/// Takes steps, one after the other.
pub(crate) trait TakeSteps: StepTarget {
    /// Takes the steps. Returns their descriptions, and the error of the first step that failed.
    fn take(&mut self, steps: &[Step]) -> Result<(Vec<String>, Option<Error>), Failure> {
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
                // The browser works; the frame or the document of the element does not exist any more.
                Err(StepError::Command(CommandError::Failed(_))) if step.element().is_some() => {
                    let element = step.element().unwrap_or_default();
                    let gone = ELEMENT_NOT_FOUND
                        .error(format!("{element} was removed during the step"))
                        .detail("element", element);
                    let error = marked(gone.remedy("Look at the page: the step has changed it."), &done);
                    return Ok((done, Some(error)));
                }
                Err(StepError::Command(error)) => {
                    let failure = Failure::of(error, self.url());
                    let (Failure::UnresponsiveTab(error) | Failure::Page(error)) = failure;
                    return Err(Failure::Page(marked(error, &done)));
                }
                Err(StepError::Page(failure)) => {
                    let (Failure::UnresponsiveTab(error) | Failure::Page(error)) = *failure;
                    return Err(Failure::Page(marked(error, &done)));
                }
            }
        }
        Ok((done, None))
    }

    /// Takes a step as often as requested.
    fn repeat(&mut self, step: &Step) -> Result<String, StepError> {
        let Some(until) = step.until else { return self.once(&step.action, None) };
        let mut times = 0_u64;
        match self.repeat_until(until, &step.action, &mut times) {
            // The time ended within a command. The page is read next, which tells whether it answers.
            Err(StepError::Command(_)) if times > 0 && Instant::now() >= self.until() => Err(expired(times)),
            repeated => repeated,
        }
    }

    /// Takes an action again and again, and counts how many times.
    fn repeat_until(&mut self, until: Repetition, action: &Action, times: &mut u64) -> Result<String, StepError> {
        let mut line = String::new();
        let mut length = self.length()?;
        loop {
            let patience = (*times > 0).then_some(limits::REMOVAL_TIMEOUT);
            match self.once(action, patience) {
                Ok(done) => line = done,
                // The repeated step has loaded everything.
                Err(StepError::Step(error)) if *times > 0 && perform::is_about_an_element(&error) => {
                    return Ok(format!("{line}, {} until it was gone", counted(*times)));
                }
                Err(error) => return Err(error),
            }
            *times += 1;
            match until {
                Repetition::Times(most) if *times >= most => return Ok(format!("{line}, {}", counted(*times))),
                Repetition::Times(_) => {}
                Repetition::Rest => {
                    let mut grown = self.length()?;
                    if grown <= length {
                        self.listen(limits::GROWTH_TIMEOUT)?;
                        self.settle(Instant::now())?;
                        grown = self.length()?;
                    }
                    if grown <= length {
                        return Ok(format!("{line}, {} until the text stopped changing", counted(*times)));
                    }
                    length = grown;
                }
            }
            if Instant::now() >= self.until() {
                return Err(expired(*times));
            }
        }
    }

    /// Takes a step once, and waits until the page is idle.
    fn once(&mut self, action: &Action, patience: Option<Duration>) -> Result<String, StepError> {
        if Instant::now() >= self.until() {
            return Err(TIMEOUT.error("the timeout expired before the step").into());
        }
        if matches!(action, Action::Wait(_) | Action::Scroll(_, Scroll::By(_))) {
            self.note_begun();
        } else {
            self.begin()?;
        }
        let line = self.act(action, patience)?;
        self.read_notes()?;
        self.settle(Instant::now())?;
        Ok(line)
    }

    /// The amount of text in all frames.
    fn length(&mut self) -> Result<f64, StepError> {
        Ok(self.ask_frames(&PAGE, ("length", &Value::Null), &|_| false)?.iter().filter_map(Value::as_f64).sum())
    }

    /// The amount of text in the frames that the page itself cannot read, such as those of other sites.
    fn foreign_length(&mut self) -> Result<u64, Failure> {
        let answers = self.ask_inner_frames(&PAGE, ("foreign-length", &Value::Null), &|_| false);
        let answers = answers.map_err(|error| Failure::of(error, self.url()))?;
        Ok(answers.iter().filter_map(Value::as_u64).sum())
    }
}

impl<S: StepTarget + ?Sized> TakeSteps for S {}

/// The error of a repeated step whose time is over.
fn expired(times: u64) -> StepError {
    let error = TIMEOUT.error(format!("the timeout expired after {} of a step", counted(times)));
    error
        .remedy("Give a number of times, or a longer --timeout; the page stays as it is.")
        .detail("times", times)
        .into()
}

fn counted(times: u64) -> String {
    if times == 1 { "once".into() } else { format!("{times} times") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_time_tells_how_often_a_step_was_taken() {
        for (times, expected) in [(1, "once"), (3, "3 times")] {
            let StepError::Step(error) = expired(times) else { panic!("the page is unchanged") };
            assert!(error.is(TIMEOUT) && error.message().contains(expected), "{error}");
            assert_eq!(error.details()["times"], times);
        }
    }
}
