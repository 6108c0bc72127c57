//! User input: finds an element, scrolls it into view, and points, clicks and types. The browser generates the
//! events like those of a mouse and a keyboard, so the page cannot distinguish them from a person's.
//!
//! The target of a click is checked before and after the click, because the element may be covered, moving or
//! removed by then.

use std::time::Instant;

use ragmaker_tool::Error;
use serde_json::{Value, json};
use url::Url;

use crate::{
    cdp::TabSocket,
    codes::{ELEMENT_AMBIGUOUS, ELEMENT_NOT_FOUND, ELEMENT_NOT_USABLE},
    elements::{
        ElementId, Frame, Frames, Locator, NotFound,
        boxes::{self, Window},
        find::{FoundElement, find},
    },
    error::{CommandError, Failure},
};

/// The reason why a step failed.
#[derive(Debug)]
pub(crate) enum StepError {
    /// The step failed, and the page is unchanged.
    Step(Error),
    /// A command of the browser failed.
    Command(CommandError),
    /// The page to which the step led cannot be read.
    Page(Box<Failure>),
}

impl StepError {
    /// The failure of the page at `url`, where it is not told which step failed.
    pub(crate) fn into_failure(self, url: &Url) -> Failure {
        match self {
            Self::Step(error) => Failure::Page(error),
            Self::Command(error) => Failure::of(error, url),
            Self::Page(failure) => *failure,
        }
    }
}

impl From<CommandError> for StepError {
    fn from(error: CommandError) -> Self {
        Self::Command(error)
    }
}

impl From<Error> for StepError {
    fn from(error: Error) -> Self {
        Self::Step(error)
    }
}

/// An element that fulfils its requirement.
#[derive(Debug)]
pub(crate) struct UsableElement {
    pub(crate) element_id: ElementId,
    /// The element as a remote object of an isolated world.
    pub(crate) object: String,
    /// The answer of `js/element.js`.
    pub(crate) state: Value,
    /// The position in the window at which it can be clicked; `None` if it was not requested.
    pub(crate) point: Option<(f64, f64)>,
    /// Its name, if it is called otherwise than the step says.
    pub(crate) name: Option<String>,
}

impl UsableElement {
    pub(crate) fn is(&self, fact: &str) -> bool {
        self.state[fact] == true
    }
}

/// The requirement for using an element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Requirement {
    /// It exists.
    Exists,
    /// It is enabled.
    Enabled,
    /// It is enabled, and then focused, with its content selected.
    Focused,
    /// It receives mouse events.
    ReceivesPointer,
    /// It receives mouse events and is enabled.
    Click,
}

impl Requirement {
    /// What `js/element.js` is given for the state of the element: whether it is focused.
    pub(crate) fn given(self) -> Value {
        Value::Bool(self == Self::Focused)
    }

    /// Whether the element is pointed at.
    pub(crate) fn is_pointed_at(self) -> bool {
        matches!(self, Self::ReceivesPointer | Self::Click)
    }
}

/// Why an element cannot be used, and the remedy.
pub(crate) type Refusal = (String, &'static str);

/// The input of one tab.
pub(crate) struct Input<'h> {
    pub(crate) socket: &'h mut TabSocket,
    pub(crate) frames: &'h mut Frames,
    /// The deadline for the browser's answers.
    pub(crate) until: Instant,
}

impl Input<'_> {
    /// Looks for the element that `locator` names, and whether it fulfils `need`. `attempt` counts the tries.
    pub(crate) fn try_reach(
        &mut self,
        locator: &Locator,
        need: Requirement,
        attempt: usize,
    ) -> Result<Result<UsableElement, Error>, CommandError> {
        let (element_id, object, name) = match find(self.frames, self.socket, locator, self.until)? {
            Ok(FoundElement { element_id, object, name }) => (element_id, object, name),
            Err(not_found) => return Ok(Err(missing(locator, not_found))),
        };
        let object = match object {
            Some(object) => object,
            None => self.frames.object(self.socket, &element_id, self.until)?,
        };
        self.usable(locator, need, attempt, (element_id, object, name))
    }

    /// The option `locator` of the list of an element; nothing if it has none of this name.
    pub(crate) fn try_option(
        &mut self,
        list: &UsableElement,
        (locator, text): (&Locator, &str),
        attempt: usize,
    ) -> Result<Option<Result<UsableElement, Error>>, CommandError> {
        let ElementId { session, frame, .. } = list.element_id.clone();
        let found = self.on(&list.element_id, &list.object, "option", &json!(text))?;
        let Some(object) = found.as_str().map(str::to_owned) else { return Ok(None) };
        let frame = Frame { session, id: frame, owner: None };
        let Some(element_id) = Frames::element_id(self.socket, &frame, &object, self.until)? else { return Ok(None) };
        self.usable(locator, Requirement::Click, attempt, (element_id, object, None)).map(Some)
    }

    /// Whether an element that was found fulfils `need`.
    fn usable(
        &mut self,
        locator: &Locator,
        need: Requirement,
        attempt: usize,
        (element_id, object, name): (ElementId, String, Option<String>),
    ) -> Result<Result<UsableElement, Error>, CommandError> {
        let state = self.on(&element_id, &object, "state", &need.given())?;
        if let Some(error) = refusal(locator, need, &state) {
            return Ok(Err(error));
        }
        let mut reached = UsableElement { element_id, object, state, point: None, name };
        if need.is_pointed_at() {
            match self.point(&reached, attempt)? {
                Ok(point) => reached.point = Some(point),
                Err(refused) => return Ok(Err(unreachable_by_pointer(locator, &reached.state, refused))),
            }
        }
        Ok(Ok(reached))
    }

    /// Runs an operation of `js/element.js` on an element.
    pub(crate) fn on(
        &mut self,
        element_id: &ElementId,
        object: &str,
        what: &str,
        given: &Value,
    ) -> Result<Value, CommandError> {
        let place = (element_id.session.as_deref(), &*element_id.frame);
        self.frames.on(self.socket, place, object, (what, given), self.until)
    }

    /// The position at which a click reaches the element, or the reason why there is none. Each attempt scrolls
    /// the element to another position, because a covering element may be sticky.
    fn point(&mut self, reached: &UsableElement, attempt: usize) -> Result<Result<(f64, f64), Refusal>, CommandError> {
        let session = reached.element_id.session.clone();
        let mut object = reached.object.clone();
        let block = ["nearest", "center", "end", "start"][attempt % 4];
        self.on(&reached.element_id, &object, "reveal", &json!(block))?;
        let mut quads = boxes::quads(self.socket, session.as_deref(), &json!({"objectId": object}), self.until)?;
        if quads.is_empty() {
            // A checkbox may be hidden and represented by its label.
            let label = self.on(&reached.element_id, &object, "label", &Value::Null)?;
            let Some(label) = label.as_str() else { return Ok(Err(("is not shown".into(), SHOW))) };
            object = label.to_owned();
            self.on(&reached.element_id, &object, "reveal", &json!(block))?;
            quads = boxes::quads(self.socket, session.as_deref(), &json!({"objectId": object}), self.until)?;
        }
        let frames = if session.is_some() { Frames::all(self.socket, self.until)? } else { vec![] };
        let offset = match &session {
            None => (0.0, 0.0),
            Some(_) => match boxes::offset(self.socket, session.as_deref(), &frames, self.until)? {
                Some(offset) => offset,
                None => return Ok(Err(("is in a frame that is not shown".into(), SHOW))),
            },
        };
        let window = boxes::window(self.socket, None, self.until)?;
        let mut reason = ("is outside the scrollable area".to_owned(), SHOW);
        for quad in quads.iter().take(3) {
            // The part inside the window.
            let [left, top, right, bottom] = quad;
            let (left, top) = ((left + offset.0).max(0.0), (top + offset.1).max(0.0));
            let (right, bottom) = ((right + offset.0).min(window.width), (bottom + offset.1).min(window.height));
            if right - left < 1.0 || bottom - top < 1.0 {
                continue;
            }
            for (across, down) in [(0.5, 0.5), (0.25, 0.5), (0.75, 0.5), (0.5, 0.2), (0.5, 0.8), (0.1, 0.5)] {
                let point = (left + (right - left) * across, top + (bottom - top) * down);
                match self.meets(reached, point, (&frames, offset), &window)? {
                    None => return Ok(Ok(point)),
                    Some(by) => reason = (format!("is covered by {by}"), UNCOVER),
                }
            }
        }
        Ok(Err(reason))
    }

    /// The element that a click at `point` would reach instead; `None` if it reaches the right one.
    fn meets(
        &mut self,
        reached: &UsableElement,
        point: (f64, f64),
        (frames, offset): (&[Frame], (f64, f64)),
        window: &Window,
    ) -> Result<Option<String>, CommandError> {
        let element_id = &reached.element_id;
        let mut point = point;
        if element_id.session.is_some() {
            let hit = self.hit(None, point, window)?;
            let is_frame = hit.as_ref().is_some_and(|(node, _)| {
                frames.iter().any(|frame| {
                    frame.owner.as_ref().is_some_and(|owner| owner.session.is_none() && owner.node == *node)
                })
            });
            if !is_frame {
                return Ok(Some(self.described(None, hit)?));
            }
            point = (point.0 - offset.0, point.1 - offset.1);
        }
        let session = element_id.session.as_deref();
        let own = if session.is_some() { boxes::window(self.socket, session, self.until)? } else { *window };
        let Some((node, frame)) = self.hit(session, point, &own)? else { return Ok(Some("nothing".into())) };
        if node == element_id.node {
            return Ok(None);
        }
        if frame != element_id.frame {
            return self.described(session, Some((node, frame))).map(Some);
        }
        let hit = ElementId { node, ..element_id.clone() };
        let object = self.frames.object(self.socket, &hit, self.until)?;
        let answer = self.on(element_id, &reached.object, "meets", &json!({"objectId": object}))?;
        if answer["meets"] == true { Ok(None) } else { Ok(Some(answer["by"].as_str().unwrap_or_default().to_owned())) }
    }

    /// The node at a position in the window of `session`, and its frame.
    fn hit(
        &mut self,
        session: Option<&str>,
        (x, y): (f64, f64),
        window: &Window,
    ) -> Result<Option<(i64, String)>, CommandError> {
        // The protocol uses coordinates of the document here.
        let params = json!({"x": (x + window.x).floor() as i64, "y": (y + window.y).floor() as i64});
        match self.socket.ask(session, "DOM.getNodeForLocation", &params, self.until) {
            Ok(hit) => {
                let frame = hit["frameId"].as_str().unwrap_or_default().to_owned();
                Ok(hit["backendNodeId"].as_i64().map(|node| (node, frame)))
            }
            Err(CommandError::Failed(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn described(&mut self, session: Option<&str>, hit: Option<(i64, String)>) -> Result<String, CommandError> {
        let Some((node, frame)) = hit else { return Ok("nothing".into()) };
        let element_id = ElementId { session: session.map(str::to_owned), frame, node };
        let object = self.frames.object(self.socket, &element_id, self.until)?;
        let state = self.on(&element_id, &object, "state", &Value::Null)?;
        Ok(state["description"].as_str().unwrap_or("another element").to_owned())
    }

    /// Moves the mouse to the element.
    pub(crate) fn hover(&mut self, reached: &UsableElement) -> Result<(), CommandError> {
        let moved = mouse("mouseMoved", reached.point, 0);
        self.socket.ask_all(&[moved], self.until).map(drop)
    }

    /// Clicks the element; an error if the click reached another element.
    pub(crate) fn click(&mut self, locator: &Locator, reached: &UsableElement) -> Result<(), StepError> {
        self.on(&reached.element_id, &reached.object, "arm", &Value::Null)?;
        let point = reached.point;
        let events = [mouse("mouseMoved", point, 0), mouse("mousePressed", point, 1), mouse("mouseReleased", point, 0)];
        self.socket.ask_all(&events, self.until)?;
        match self.on(&reached.element_id, &reached.object, "disarm", &Value::Null) {
            Ok(heard) => Ok(check_click(locator, reached, &heard)?),
            // The click may have removed the document or the frame.
            Err(CommandError::Failed(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends keyboard events.
    pub(crate) fn keys(&mut self, commands: &[(&'static str, Value)]) -> Result<(), CommandError> {
        self.socket.ask_all(commands, self.until).map(drop)
    }
}

fn mouse(kind: &str, point: Option<(f64, f64)>, buttons: u8) -> (&'static str, Value) {
    let (x, y) = point.unwrap_or_default();
    let pressed = kind != "mouseMoved";
    let params = json!({
        "type": kind, "x": x, "y": y, "button": if pressed { "left" } else { "none" }, "buttons": buttons,
        "clickCount": u8::from(pressed),
    });
    ("Input.dispatchMouseEvent", params)
}

/// An error if the click reached another element, by what the document has `heard`.
pub(crate) fn check_click(locator: &Locator, reached: &UsableElement, heard: &Value) -> Result<(), Error> {
    // A page that draws its elements anew may have put an equal one in its place.
    let is_replaced = |by: &str| heard["gone"] == true && reached.state["description"] == by;
    match heard["other"].as_str().filter(|by| heard["own"] == false && !is_replaced(by)) {
        Some(by) => {
            let reason = format!("moved before the click; the click hit {by}");
            Err(unusable(locator, &reached.state, &reason).remedy("Try again, or choose another element."))
        }
        None => Ok(()),
    }
}

/// The reason why an element in this `state` cannot be used.
pub(crate) fn refusal(locator: &Locator, need: Requirement, state: &Value) -> Option<Error> {
    if state["gone"] == true {
        return Some(gone(locator));
    }
    let is_used = matches!(need, Requirement::Enabled | Requirement::Focused | Requirement::Click);
    (is_used && state["disabled"] == true).then(|| unusable(locator, state, "is disabled").remedy(ENABLE))
}

/// The error for an element that is not in the page any more.
pub(crate) fn gone(locator: &Locator) -> Error {
    ELEMENT_NOT_FOUND
        .error(format!("{} was removed from the page", locator.text))
        .detail("element", locator.text.as_str())
}

/// The remedy for an element that something covers.
pub(crate) const UNCOVER: &str = "Close what covers it first, for example by its own button or with the key Escape.";

/// The remedy for an element that does not show.
pub(crate) const SHOW: &str = "Show it first, for example open what contains it, or choose another element.";

/// The remedy for an element that is disabled.
const ENABLE: &str = "Do what enables it first, for example fill in the fields before it, or choose another element.";

/// The remedy for an element of another kind.
pub(crate) const ANOTHER: &str = "Choose another element, as ragmaker-browser-look lists them.";

/// The error for an element that cannot be clicked for a reason, with its remedy. What ignores the pointer seems to be
/// covered by what is behind it.
pub(crate) fn unreachable_by_pointer(locator: &Locator, state: &Value, refused: Refusal) -> Error {
    let (reason, remedy) = match refused {
        (_, UNCOVER) if state["ignoresPointer"] == true => {
            ("ignores the pointer (pointer-events: none)".into(), ENABLE)
        }
        refused => refused,
    };
    unusable(locator, state, &reason).remedy(remedy)
}

/// The error for an element that exists but cannot be used.
pub(crate) fn unusable(locator: &Locator, state: &Value, reason: &str) -> Error {
    let error = ELEMENT_NOT_USABLE.error(format!("{} {reason}", locator.text)).detail("element", locator.text.as_str());
    match state["description"].as_str() {
        Some(description) => error.detail("found", description),
        None => error,
    }
}

/// The remedy if elements with a similar name exist.
const NAME_A_CANDIDATE: &str = "Name one of the candidates, or another element that ragmaker-browser-look lists; if it \
                                appears late, wait for it in an earlier step.";

pub(crate) fn missing(locator: &Locator, not_found: NotFound) -> Error {
    let (error, listed) = match not_found {
        NotFound::Several(listed) => {
            let message = format!("several elements are called {}", locator.text);
            (ELEMENT_AMBIGUOUS.error(message), listed)
        }
        NotFound::Nothing(listed) => {
            let error = ELEMENT_NOT_FOUND.error(format!("nothing on the page is called {}", locator.text));
            (if listed.is_empty() { error } else { error.remedy(NAME_A_CANDIDATE) }, listed)
        }
    };
    let error = error.detail("element", locator.text.as_str());
    if listed.is_empty() { error } else { error.detail("candidates", json!(listed)) }
}

#[cfg(test)]
mod tests;
