//! The execution of one step.

use std::{
    collections::HashSet,
    fmt,
    time::{Duration, Instant},
};

use ragmaker_tool::{ARGUMENT_ERROR, Error};
use serde_json::{Value, json};

use super::{
    input::{ANOTHER, Requirement, StepError, UsableElement, gone, unusable},
    keys::Keys,
    step::{Action, Repetition, Scroll, Step, Wait},
    step_target::StepTarget,
};
use crate::{
    codes::{ELEMENT_NOT_FOUND, ELEMENT_NOT_USABLE, TIMEOUT},
    elements::{Locator, PAGE},
    error::CommandError,
    limits,
};

/// A text up to this length may be typed key by key.
const TYPED: usize = 100;

/// The longest text in a description, in characters.
const MAX_QUOTED_CHARACTERS: usize = 60;

/// Takes single steps.
pub(super) trait Perform: StepTarget {
    /// Performs a step, and returns its description. `patience` limits the wait for its element.
    fn act(&mut self, action: &Action, patience: Option<Duration>) -> Result<String, StepError> {
        let patience = patience.unwrap_or(limits::ELEMENT_TIMEOUT);
        match action {
            Action::Click(locator) => {
                let reached = self.reach_within(locator, Requirement::Click, patience)?;
                self.click(locator, &reached)?;
                Ok(format!("clicked {}", reached.named(locator)))
            }
            Action::Hover(locator) => {
                let reached = self.reach_within(locator, Requirement::ReceivesPointer, patience)?;
                self.hover(&reached)?;
                Ok(format!("pointed at {}", reached.named(locator)))
            }
            Action::Fill(locator, text) => self.fill(locator, text),
            Action::Select(locator, texts) => self.select(locator, texts),
            Action::Check(locator, wanted) => self.check(locator, *wanted, patience),
            Action::Press(locator, keys) => {
                let Some(locator) = locator else {
                    self.press(keys)?;
                    return Ok(format!("pressed {}", keys.text));
                };
                let reached = self.reach_within(locator, Requirement::Focused, patience)?;
                self.press(keys)?;
                Ok(format!("pressed {} in {}", keys.text, reached.named(locator)))
            }
            Action::Upload(locator, files) => {
                self.upload(locator, files)?;
                let names: Vec<&str> =
                    files.iter().map(|file| file.rsplit(['/', '\\']).next().unwrap_or(file)).collect();
                Ok(format!("uploaded {} to {}", quoted(&names.join(", ")), named(locator)))
            }
            Action::Scroll(locator, to) => self.scroll(locator.as_ref(), to, patience),
            Action::Wait(wait) => self.wait(wait),
        }
    }

    fn fill(&mut self, locator: &Locator, text: &str) -> Result<String, StepError> {
        let reached = self.reach(locator, Requirement::Focused)?;
        if reached.is("readonly") || !(reached.is("editable") || reached.is("settable")) {
            let reason = if reached.is("readonly") { "is read-only" } else { "is not a text field" };
            return Err(unusable(locator, &reached.state, reason).remedy(ANOTHER).into());
        }
        let name = reached.named(locator);
        if reached.is("settable") {
            let answer = self.on(&reached, "set", &json!(text))?;
            if answer["taken"] == false {
                let kind = reached.state["type"].as_str().unwrap_or_default();
                let error = unusable(locator, &reached.state, &format!("takes a value of another format ({kind})"));
                return Err(error.remedy(format_of(kind)).detail("value", text).into());
            }
            return Ok(filled(&name, text, answer["value"].as_str().filter(|held| *held != text)));
        }
        let same = |held: &str| held.split_whitespace().eq(text.split_whitespace());
        let may_type = text.chars().count() <= TYPED && !text.contains('\n');
        let mut types_each = false;
        let holds = loop {
            if text.is_empty() {
                self.press(&Keys::delete())?;
            } else if types_each {
                self.type_keys(text)?;
            } else if may_type {
                types_each = self.enter(text)?;
            } else {
                self.insert(text)?;
            }
            let holds = match self.on(&reached, "value", &Value::Null) {
                Ok(answer) if answer["gone"] == true => {
                    return Ok(format!("typed into {name}, which was then removed"));
                }
                Ok(answer) => answer["value"].as_str().map(str::to_owned),
                // The typed text caused a navigation.
                Err(CommandError::Failed(_)) => None,
                Err(error) => return Err(error.into()),
            };
            // A field that takes single keys alone does not hold a text that came at once.
            if types_each || !may_type || text.is_empty() || holds.as_deref().is_none_or(same) {
                break holds;
            }
            types_each = true;
            self.on(&reached, "focus", &Value::Null)?;
        };
        let is_password = reached.state["type"] == "password";
        Ok(filled(
            &name,
            if is_password { "…" } else { text },
            holds.filter(|held| !same(held) && !is_password).as_deref(),
        ))
    }

    fn select(&mut self, locator: &Locator, texts: &[String]) -> Result<String, StepError> {
        let reached = self.reach(locator, Requirement::Enabled)?;
        let begun = Instant::now();
        loop {
            let answer = self.on(&reached, "choose", &json!(texts))?;
            if answer["gone"] == true {
                return Err(gone(locator).into());
            }
            if answer["list"] == false {
                return self.select_in_list(locator, texts);
            }
            if let Some(chosen) = answer["chosen"].as_array() {
                let chosen: Vec<&str> = chosen.iter().filter_map(Value::as_str).collect();
                return Ok(format!("selected {} in {}", quoted(&chosen.join(", ")), reached.named(locator)));
            }
            // The options may be loading.
            if begun.elapsed() > limits::LIST_TIMEOUT || Instant::now() + limits::STEP_PAUSE > self.until() {
                let missing = answer["missing"].as_str().unwrap_or_default();
                let reason = if answer["single"] == true {
                    "takes one option".to_owned()
                } else if answer["disabled"] == true {
                    format!("has the option {missing:?}, but it is disabled")
                } else {
                    format!("has no option {missing:?}")
                };
                return Err(without_option(locator, &reached.state, &reason, &answer["options"]).into());
            }
            self.listen(limits::STEP_PAUSE)?;
        }
    }

    /// Chooses in a list that the page made itself, and that a click may open. Such a list may close after each choice.
    fn select_in_list(&mut self, locator: &Locator, texts: &[String]) -> Result<String, StepError> {
        let reached = self.reach(locator, Requirement::Enabled)?;
        // Which lists an earlier step opened does not tell which one this element opens.
        self.on(&reached, "lists", &json!(false))?;
        for (index, text) in texts.iter().enumerate() {
            if index > 0 {
                self.settle(Instant::now())?;
            }
            self.choose_in_list(locator, text).map_err(|error| match error {
                StepError::Step(error) => StepError::Step(error.detail("selected", json!(texts[..index]))),
                error => error,
            })?;
        }
        Ok(format!("selected {} in {}", quoted(&texts.join(", ")), reached.named(locator)))
    }

    fn choose_in_list(&mut self, locator: &Locator, text: &str) -> Result<(), StepError> {
        let option = Locator::new(&format!("option:{text}"));
        let mut reached = self.reach(locator, Requirement::Enabled)?;
        // The first click may close a list that was open.
        let (mut opened, mut begun) = (0, Instant::now());
        let mut attempt = 0;
        loop {
            let found = match self.try_option(&reached, (&option, text), attempt) {
                // It was removed between two commands.
                Err(CommandError::Failed(_)) => None,
                found => found?,
            };
            let refused = match found {
                Some(Ok(found)) => return self.click(&option, &found),
                Some(Err(refused)) => Some(refused),
                None => None,
            };
            let listed = self.on(&reached, "options", &Value::Null)?;
            let has_none = listed["options"].as_array().is_none_or(Vec::is_empty);
            if has_none && (opened == 0 || (opened == 1 && listed["closed"] == true)) {
                reached = self.reach(locator, Requirement::Click)?;
                self.on(&reached, "lists", &json!(true))?;
                self.click(locator, &reached)?;
                (opened, begun) = (opened + 1, Instant::now());
            } else if begun.elapsed() >= limits::LIST_TIMEOUT || Instant::now() + limits::STEP_PAUSE >= self.until() {
                let error = refused.unwrap_or_else(|| {
                    let reason = format!("has no option {text:?}");
                    without_option(locator, &reached.state, &reason, &listed["options"])
                });
                return Err(error.into());
            } else if listed["gone"] == true {
                // The page has drawn it anew.
                reached = self.reach(locator, Requirement::Enabled)?;
            }
            self.listen(limits::STEP_PAUSE)?;
            attempt += 1;
        }
    }

    fn check(&mut self, locator: &Locator, wanted: bool, patience: Duration) -> Result<String, StepError> {
        let verb = if wanted { "checked" } else { "unchecked" };
        let reached = self.reach_within(locator, Requirement::Enabled, patience)?;
        match reached.state["checked"].as_bool() {
            None => {
                let error = unusable(locator, &reached.state, "is not a checkbox, a switch or a radio button");
                return Err(error.remedy(ANOTHER).into());
            }
            Some(true) if !wanted && is_radio(&reached.state) => {
                let error = unusable(locator, &reached.state, "is a radio button, which a click does not uncheck");
                return Err(error.remedy("Check another radio button of its group.").into());
            }
            Some(is) if is == wanted => return Ok(format!("{} was {verb} already", reached.named(locator))),
            Some(_) => {}
        }
        let reached = self.reach_within(locator, Requirement::Click, patience)?;
        self.click(locator, &reached)?;
        let begun = Instant::now();
        loop {
            match self.on(&reached, "value", &Value::Null) {
                Ok(answer) if answer["checked"] == wanted => break,
                // The page may have put another checkbox in its place.
                Ok(answer) if answer["gone"] == true => {
                    return Ok(format!("clicked {}, which was then removed", reached.named(locator)));
                }
                // The page was replaced.
                Err(CommandError::Failed(_)) => break,
                Ok(_) if begun.elapsed() < limits::CHECK_TIMEOUT => self.listen(limits::STEP_PAUSE)?,
                Ok(_) => {
                    let error = unusable(locator, &reached.state, &format!("was clicked and is not {verb}"));
                    return Err(error.remedy("Look at the page: it may ask for something else first.").into());
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(format!("{verb} {}", reached.named(locator)))
    }

    fn scroll(&mut self, locator: Option<&Locator>, to: &Scroll, patience: Duration) -> Result<String, StepError> {
        let Some(locator) = locator else {
            let given = match to {
                Scroll::To(to) => json!(to),
                Scroll::By(by) => json!(by),
                Scroll::Shown => Value::Null,
            };
            let by = self.ask_page("scroll", &given)?;
            return Ok(format!("scrolled by {by} pixels"));
        };
        let reached = self.reach_within(locator, Requirement::Exists, patience)?;
        match to {
            Scroll::To(to) => self.on(&reached, "scroll", &json!(to))?,
            _ => self.on(&reached, "reveal", &json!("center"))?,
        };
        Ok(format!("scrolled to {}", reached.named(locator)))
    }

    fn wait(&mut self, wait: &Wait) -> Result<String, StepError> {
        let (what, given, there) = match wait {
            Wait::For(time) => {
                let left = self.until().saturating_duration_since(Instant::now());
                self.listen((*time).min(left))?;
                if *time > left {
                    return Err(TIMEOUT.error("the timeout expired during a wait").remedy(LONGER).into());
                }
                return Ok(format!("waited {} ms", time.as_millis()));
            }
            Wait::Text(text) => ("text", text, true),
            Wait::Gone(text) => ("text", text, false),
            Wait::Selector(selector) => ("selector", selector, true),
        };
        // Closed shadow roots are searched, which takes long on a large page, if the text is not elsewhere.
        let (mut known, mut next) = (HashSet::new(), None);
        loop {
            let shows = self.shows(what, given)?;
            let shows = if !shows && next.is_none_or(|next| Instant::now() >= next) {
                let begun = Instant::now();
                self.note_closed(&mut known)?;
                next = Some(Instant::now() + limits::CLOSED_ROOTS_PAUSE.max(begun.elapsed() * 10));
                self.shows(what, given)?
            } else {
                shows
            };
            if shows == there {
                let then = if there { "showed" } else { "was gone" };
                return Ok(format!("waited until {} {then}", quoted(given)));
            }
            if Instant::now() + limits::STEP_PAUSE >= self.until() {
                let did_not = if there { "did not show" } else { "did not disappear" };
                let awaited = if what == "text" { "the text" } else { "an element for" };
                let error = TIMEOUT.error(format!("{awaited} {:?} {did_not} in time", quoted(given)));
                return Err(error.remedy(LONGER).into());
            }
            self.listen(limits::STEP_PAUSE)?;
        }
    }

    /// Whether a frame contains the text, or an element for the selector.
    fn shows(&mut self, what: &str, given: &str) -> Result<bool, StepError> {
        for answer in self.ask_frames(&PAGE, (what, &json!(given)), &|_| false)? {
            match answer {
                Value::Bool(true) => return Ok(true),
                Value::String(_) => {
                    let error = ARGUMENT_ERROR.error(format!("{given:?} is not a CSS selector"));
                    return Err(error.detail("argument", "--do").into());
                }
                _ => {}
            }
        }
        Ok(false)
    }
}

impl<S: StepTarget + ?Sized> Perform for S {}

/// Whether the state is that of a radio button.
fn is_radio(state: &Value) -> bool {
    state["type"] == "radio" || state["role"] == "radio"
}

/// The error for a list without an option for the given reason.
fn without_option(locator: &Locator, state: &Value, reason: &str, options: &Value) -> Error {
    let error = unusable(locator, state, reason);
    if options.as_array().is_none_or(Vec::is_empty) {
        return error.remedy("Its list shows no options: do what fills it first, or choose another element.");
    }
    error.remedy("Choose one of the options.").detail("options", options.clone())
}

/// The remedy for a timeout.
const LONGER: &str = "Look at the page with ragmaker-browser-look, wait for something else, or raise --timeout.";

/// The format of the values that a field of this kind takes.
fn format_of(kind: &str) -> &'static str {
    match kind {
        "color" => "Give a colour such as #ff0000.",
        "date" => "Give a date such as 2026-01-31.",
        "datetime-local" => "Give a date and a time such as 2026-01-31T09:30.",
        "month" => "Give a month such as 2026-01.",
        "week" => "Give a week such as 2026-W05.",
        "time" => "Give a time such as 09:30.",
        _ => "Give a number.",
    }
}

impl UsableElement {
    /// How the step names it, and its own name if that has more words.
    fn named(&self, locator: &Locator) -> String {
        match &self.name {
            Some(name) => format!("{} ({})", named(locator), quoted(name)),
            None => named(locator),
        }
    }
}

fn named(locator: &Locator) -> String {
    quoted(&locator.text)
}

fn quoted(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn filled(name: &str, text: &str, holds: Option<&str>) -> String {
    match holds {
        None => {
            format!("filled {name} with {}", if text.is_empty() { "nothing".into() } else { quoted(text) })
        }
        Some(holds) => format!("filled {name}; its value is now {}", quoted(holds)),
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = match &self.action {
            Action::Click(locator) => format!("click {}", named(locator)),
            Action::Fill(locator, _) => format!("fill {}", named(locator)),
            Action::Select(locator, texts) => format!("select {} in {}", quoted(&texts.join(", ")), named(locator)),
            Action::Check(locator, true) => format!("check {}", named(locator)),
            Action::Check(locator, false) => format!("uncheck {}", named(locator)),
            Action::Press(_, keys) => format!("press {}", keys.text),
            Action::Hover(locator) => format!("hover {}", named(locator)),
            Action::Upload(locator, _) => format!("upload to {}", named(locator)),
            Action::Scroll(Some(locator), _) => format!("scroll to {}", named(locator)),
            Action::Scroll(None, Scroll::To(to)) => format!("scroll {to}"),
            Action::Scroll(None, _) => "scroll".into(),
            Action::Wait(Wait::For(time)) => format!("wait {} ms", time.as_millis()),
            Action::Wait(Wait::Text(text) | Wait::Selector(text)) => format!("wait for {}", quoted(text)),
            Action::Wait(Wait::Gone(text)) => format!("wait until {} is gone", quoted(text)),
        };
        match self.until {
            None => f.write_str(&line),
            Some(Repetition::Rest) => write!(f, "{line} until the text stops changing"),
            Some(Repetition::Times(times)) => write!(f, "{line} {times} times"),
        }
    }
}

/// Whether the error concerns an element that cannot be used in its present state.
pub(super) fn is_about_an_element(error: &Error) -> bool {
    error.is(ELEMENT_NOT_FOUND) || error.is(ELEMENT_NOT_USABLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_is_described_as_it_was_given() {
        for (json, expected) in [
            (r#"{"click":"button:Save"}"#, "click button:Save"),
            (r#"{"fill":["textbox:Password","secret"]}"#, "fill textbox:Password"),
            (r#"{"select":["combobox:Days",["Mon","Tue"]]}"#, "select Mon, Tue in combobox:Days"),
            (r#"{"check":"All"}"#, "check All"),
            (r#"{"uncheck":"All"}"#, "uncheck All"),
            (r#"{"press":["textbox:A","Control+a"]}"#, "press Control+a"),
            (r#"{"hover":"link:A"}"#, "hover link:A"),
            (r#"{"upload":["file:A","/home/me/notes.md"]}"#, "upload to file:A"),
            (r#"{"scroll":"end"}"#, "scroll end"),
            (r#"{"scroll":-300}"#, "scroll"),
            (r#"{"scroll":"heading"}"#, "scroll to heading"),
            (r#"{"wait":{"ms":10}}"#, "wait 10 ms"),
            (r#"{"wait":{"selector":".x"}}"#, "wait for .x"),
            (r#"{"wait":{"gone":"Loading"}}"#, "wait until Loading is gone"),
            (r#"{"click":"More","until":"rest"}"#, "click More until the text stops changing"),
            (r#"{"click":"More","until":3}"#, "click More 3 times"),
        ] {
            let step = Step::list(json).unwrap().remove(0);
            assert_eq!(step.to_string(), expected, "{json}");
        }
    }

    #[test]
    fn a_list_without_options_is_told_from_one_with_others() {
        let of =
            |options: Value| without_option(&Locator::new("combobox:A"), &json!({}), "has no option \"x\"", &options);
        let error = of(json!(["y"]));
        assert_eq!(
            (error.details()["options"][0].as_str(), error.message()),
            (Some("y"), "combobox:A has no option \"x\"")
        );
        for none in [json!([]), Value::Null] {
            let error = of(none);
            assert!(!error.details().contains_key("options") && error.remediation().contains("no options"), "{error}");
        }
    }

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        let long = "\u{6f6e}".repeat(MAX_QUOTED_CHARACTERS + 1);
        assert_eq!(quoted(&long), format!("{}…", "\u{6f6e}".repeat(MAX_QUOTED_CHARACTERS)));
        assert_eq!((quoted(&long[3..]), quoted("")), (long[3..].to_owned(), String::new()));
    }

    #[test]
    fn a_field_that_holds_another_text_is_told() {
        let field = "textbox:A";
        assert_eq!(filled(field, "x", None), "filled textbox:A with x");
        assert_eq!(filled(field, "", None), "filled textbox:A with nothing");
        assert_eq!(filled(field, "12345", Some("123")), "filled textbox:A; its value is now 123");
    }
}
