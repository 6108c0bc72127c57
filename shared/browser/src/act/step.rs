//! The steps of `browser-act`, parsed from JSON.

use std::time::Duration;

use ragmaker_tool::{ARGUMENT_ERROR, Error, arguments::check_keys};
use serde_json::{Map, Value};

use super::keys::Keys;
use crate::elements::Locator;

/// The maximum number of steps of a call.
const MAX_STEPS: usize = 50;

/// The maximum number of repetitions of a step.
const MAX_TIMES: u64 = 500;

/// The longest unconditional wait, in milliseconds.
const MAX_WAIT: u64 = 60_000;

/// A step.
#[derive(Clone, Debug)]
pub struct Step {
    pub(crate) action: Action,
    pub(crate) until: Option<Repetition>,
}

/// The action of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Click(Locator),
    Fill(Locator, String),
    Select(Locator, Vec<String>),
    Check(Locator, bool),
    Press(Option<Locator>, Keys),
    Hover(Locator),
    Upload(Locator, Vec<String>),
    Scroll(Option<Locator>, Scroll),
    Wait(Wait),
}

/// The target of a scroll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scroll {
    /// `end`, `top`, `down` or `up`.
    To(&'static str),
    /// By this number of pixels.
    By(i64),
    /// Until the element is visible.
    Shown,
}

/// The condition of a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    Text(String),
    Gone(String),
    Selector(String),
    For(Duration),
}

/// The repetition of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repetition {
    /// Until it adds no more text, or its element is gone.
    Rest,
    /// This number of times.
    Times(u64),
}

/// The kinds of steps, for messages.
const KINDS: &str = "click, fill, select, check, uncheck, press, hover, upload, scroll or wait";

impl Step {
    /// The element that it acts on, as the step names it.
    pub(crate) fn element(&self) -> Option<&str> {
        let locator = match &self.action {
            Action::Click(locator)
            | Action::Fill(locator, _)
            | Action::Select(locator, _)
            | Action::Check(locator, _)
            | Action::Hover(locator)
            | Action::Upload(locator, _) => Some(locator),
            Action::Press(locator, _) | Action::Scroll(locator, _) => locator.as_ref(),
            Action::Wait(_) => None,
        };
        locator.map(|locator| locator.text.as_str())
    }

    /// Parses the steps in `json`.
    ///
    /// # Errors
    ///
    /// [`ARGUMENT_ERROR`] with the index of the invalid step and the reason.
    pub fn list(json: &str) -> Result<Vec<Self>, Error> {
        let value: Value = serde_json::from_str(json).map_err(|error| wrong(&format!("is not JSON: {error}")))?;
        // Of two steps in one object, the parser keeps the last.
        if let Err(twice) = check_keys(json.as_bytes()) {
            let key = twice.details()["argument"].as_str().unwrap_or_default();
            return Err(wrong(&format!("has the key {key} twice in one object; give each step its own")));
        }
        let list = match value {
            Value::Array(list) => list,
            // A single step may be given without brackets.
            step @ Value::Object(_) => vec![step],
            _ => return Err(wrong("is not a list of steps")),
        };
        if list.is_empty() || list.len() > MAX_STEPS {
            return Err(wrong(&format!("has {} steps; it takes 1 to {MAX_STEPS}", list.len())));
        }
        let numbered = list.iter().enumerate();
        numbered
            .map(|(index, step)| {
                Self::of(step).map_err(|reason| {
                    wrong(&format!("has an error in step {}: {reason}", index + 1)).detail("step", index + 1)
                })
            })
            .collect()
    }

    /// Replaces each file that the steps upload by its path, which `place` checks.
    ///
    /// # Errors
    ///
    /// The errors of `place`.
    pub fn place_files(steps: &mut [Self], place: impl Fn(&str) -> Result<String, Error>) -> Result<(), Error> {
        for (index, step) in steps.iter_mut().enumerate() {
            if let Action::Upload(_, files) = &mut step.action {
                for file in files {
                    *file = place(file).map_err(|error| error.detail("step", index + 1))?;
                }
            }
        }
        Ok(())
    }

    fn of(step: &Value) -> Result<Self, String> {
        let Some(members) = step.as_object() else { return Err(format!("{step} is not an object")) };
        let until = members.get("until").map(until).transpose()?;
        let mut kinds = members.iter().filter(|(name, _)| *name != "until");
        let (Some((kind, given)), None) = (kinds.next(), kinds.next()) else {
            return Err(format!("expected one of {KINDS}, with until or alone"));
        };
        let action = action(kind, given)?;
        if until.is_some()
            && matches!(action, Action::Fill(..) | Action::Select(..) | Action::Upload(..) | Action::Wait(_))
        {
            return Err(format!("{kind} cannot be repeated"));
        }
        Ok(Self { action, until })
    }
}

fn wrong(reason: &str) -> Error {
    let reason: String = reason.chars().take(400).collect();
    ARGUMENT_ERROR
        .error(format!("--do {reason}"))
        .remedy(r#"Give steps such as [{"click":"button:Load more"},{"fill":["textbox:Search","tides"]},{"press":"Enter"}]."#)
        .detail("argument", "--do")
}

fn action(kind: &str, given: &Value) -> Result<Action, String> {
    Ok(match kind {
        "click" => Action::Click(locator(kind, given)?),
        "hover" => Action::Hover(locator(kind, given)?),
        "check" => Action::Check(locator(kind, given)?, true),
        "uncheck" => Action::Check(locator(kind, given)?, false),
        "fill" => {
            let (locator, mut rest) = pair(kind, given)?;
            if rest.len() != 1 {
                return Err(format!("{kind} takes [element, text]"));
            }
            Action::Fill(locator, rest.remove(0))
        }
        "select" => {
            let (locator, rest) = pair(kind, given)?;
            Action::Select(locator, rest)
        }
        "upload" => {
            let (locator, rest) = pair(kind, given)?;
            Action::Upload(locator, rest)
        }
        "press" => {
            if let Value::String(keys) = given {
                return Ok(Action::Press(None, Keys::parse(keys)?));
            }
            let (locator, rest) = pair(kind, given)?;
            let [keys] = &rest[..] else { return Err("press takes a key, or [element, key]".into()) };
            Action::Press(Some(locator), Keys::parse(keys)?)
        }
        "scroll" => scroll(given)?,
        "wait" => Action::Wait(wait(given)?),
        other => return Err(format!("{other:?} is none of {KINDS}")),
    })
}

fn locator(kind: &str, given: &Value) -> Result<Locator, String> {
    match given.as_str() {
        Some(text) if !text.trim().is_empty() => Ok(Locator::new(text.trim())),
        _ => Err(format!("{kind} takes an element, such as \"button:Load more\"")),
    }
}

/// An element and at least one text after it; a text may be a number.
fn pair(kind: &str, given: &Value) -> Result<(Locator, Vec<String>), String> {
    let wrong = || format!("{kind} takes [element, text]");
    let list = given.as_array().filter(|list| list.len() >= 2).ok_or_else(wrong)?;
    let mut texts = vec![];
    for value in &list[1..] {
        match value {
            Value::String(text) => texts.push(text.clone()),
            Value::Number(number) => texts.push(number.to_string()),
            Value::Array(more) => {
                for text in more {
                    texts.push(text.as_str().ok_or_else(wrong)?.to_owned());
                }
            }
            _ => return Err(wrong()),
        }
    }
    if texts.is_empty() { Err(wrong()) } else { Ok((locator(kind, &list[0])?, texts)) }
}

fn scroll(given: &Value) -> Result<Action, String> {
    let to = |text: &str| ["end", "top", "down", "up"].into_iter().find(|known| *known == text);
    match given {
        Value::Number(number) => {
            let by = number.as_i64().filter(|by| by.unsigned_abs() < 10_000_000).ok_or("scroll takes whole pixels")?;
            Ok(Action::Scroll(None, Scroll::By(by)))
        }
        Value::String(text) => Ok(match to(text) {
            Some(to) => Action::Scroll(None, Scroll::To(to)),
            None => Action::Scroll(Some(locator("scroll", given)?), Scroll::Shown),
        }),
        _ => {
            let (locator, rest) = pair("scroll", given)?;
            let to = to(&rest[0]).filter(|to| matches!(*to, "end" | "top"));
            Ok(Action::Scroll(
                Some(locator),
                Scroll::To(to.ok_or("scroll takes [element, \"end\"] or [element, \"top\"]")?),
            ))
        }
    }
}

fn wait(given: &Value) -> Result<Wait, String> {
    const SHAPE: &str = "wait takes {\"text\": …}, {\"gone\": …}, {\"selector\": …} or {\"ms\": N}";
    let members: &Map<String, Value> = given.as_object().filter(|members| members.len() == 1).ok_or(SHAPE)?;
    let (kind, value) = members.iter().next().ok_or(SHAPE)?;
    let text = || value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned).ok_or(SHAPE);
    Ok(match kind.as_str() {
        "text" => Wait::Text(text()?),
        "gone" => Wait::Gone(text()?),
        "selector" => Wait::Selector(text()?),
        "ms" => {
            let ms = value.as_u64().filter(|ms| *ms <= MAX_WAIT);
            Wait::For(Duration::from_millis(ms.ok_or_else(|| format!("ms is a number up to {MAX_WAIT}"))?))
        }
        _ => return Err(SHAPE.into()),
    })
}

fn until(given: &Value) -> Result<Repetition, String> {
    match given {
        Value::String(text) if text == "rest" => Ok(Repetition::Rest),
        Value::Number(number) => {
            let times = number.as_u64().filter(|times| (1..=MAX_TIMES).contains(times));
            times.map(Repetition::Times).ok_or_else(|| format!("until is \"rest\" or a number from 1 to {MAX_TIMES}"))
        }
        _ => Err("until is \"rest\" or a number of times".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(json: &str) -> Vec<Action> {
        Step::list(json).unwrap().into_iter().map(|step| step.action).collect()
    }

    #[test]
    fn every_kind_of_step_is_read() {
        let all = steps(
            r#"[{"click":"button:Load more"},{"fill":["textbox:Search","tides"]},{"select":["combobox:Version","3.2"]},
            {"check":"checkbox:All"},{"uncheck":"checkbox:All"},{"press":"Enter"},{"press":["textbox:Search","Control+a"]},
            {"hover":"link:Guides"},{"upload":["file:Attachment","notes.md","more.md"]},{"scroll":"end"},{"scroll":300},
            {"scroll":"heading"},{"scroll":["listbox:Rows","end"]},{"wait":{"text":"Done"}},{"wait":{"gone":"Wait"}},
            {"wait":{"selector":".x"}},{"wait":{"ms":10}},{"fill":["spinbutton:N",3]}]"#,
        );
        assert_eq!(all.len(), 18);
        assert_eq!(all[1], Action::Fill(Locator::new("textbox:Search"), "tides".into()));
        assert_eq!(all[8], Action::Upload(Locator::new("file:Attachment"), vec!["notes.md".into(), "more.md".into()]));
        assert_eq!(all[9], Action::Scroll(None, Scroll::To("end")));
        assert_eq!(all[11], Action::Scroll(Some(Locator::new("heading")), Scroll::Shown));
        assert_eq!(all[16], Action::Wait(Wait::For(Duration::from_millis(10))));
        assert_eq!(all[17], Action::Fill(Locator::new("spinbutton:N"), "3".into()));
        let repeated = Step::list(r#"{"click":"Load more","until":"rest"}"#).unwrap();
        assert_eq!(repeated[0].until, Some(Repetition::Rest));
        assert_eq!(Step::list(r#"[{"click":"More","until":5}]"#).unwrap()[0].until, Some(Repetition::Times(5)));
    }

    #[test]
    fn a_wrong_step_is_named() {
        for (json, words) in [
            ("", "not JSON"),
            ("[]", "0 steps"),
            ("7", "not a list"),
            (r#"[{"click":"a"},{"tap":"b"}]"#, "step 2"),
            (r#"[{"click":""}]"#, "takes an element"),
            (r#"[{"click":"a","hover":"b"}]"#, "expected one of"),
            (r#"[{"fill":["a"]}]"#, "[element, text]"),
            (r#"[{"fill":["a","b"],"until":2}]"#, "cannot be repeated"),
            (r#"[{"press":"Nokey+"}]"#, "key"),
            (r#"[{"wait":{"text":"a","ms":1}}]"#, "wait takes"),
            (r#"[{"wait":{"ms":999999}}]"#, "up to"),
            (r#"[{"click":"a","until":0}]"#, "until"),
            (r#"[{"click":"Save","click":"Save as"}]"#, "key click twice"),
            (r#"[{"wait":{"ms":1,"ms":2}}]"#, "key ms twice"),
            (r#"["click"]"#, "not an object"),
        ] {
            let error = Step::list(json).unwrap_err();
            assert!(error.is(ARGUMENT_ERROR) && error.message().contains(words), "{json}: {error}");
        }
    }

    #[test]
    fn files_are_placed_by_the_caller() {
        let mut steps = Step::list(r#"[{"click":"a"},{"upload":["file:A","notes.md"]}]"#).unwrap();
        Step::place_files(&mut steps, |file| Ok(format!("/project/{file}"))).unwrap();
        assert_eq!(steps[1].action, Action::Upload(Locator::new("file:A"), vec!["/project/notes.md".into()]));
        let refused = Step::place_files(&mut steps, |_| Err(ARGUMENT_ERROR.error("no"))).unwrap_err();
        assert_eq!(refused.details()["step"], 2);
    }
}
