//! The positions of elements: their boxes in the window, and the window in the document.

use std::time::Instant;

use serde_json::{Value, json};

use super::frames::Frame;
use crate::{cdp::TabSocket, error::CommandError};

/// The visible part of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// The scroll position.
    pub(crate) x: f64,
    pub(crate) y: f64,
}

/// The window of a process.
pub(crate) fn window(socket: &mut TabSocket, session: Option<&str>, until: Instant) -> Result<Window, CommandError> {
    let metrics = socket.ask(session, "Page.getLayoutMetrics", &json!({}), until)?;
    let view = &metrics["cssLayoutViewport"];
    let number = |name: &str| view[name].as_f64().unwrap_or_default();
    Ok(Window { width: number("clientWidth"), height: number("clientHeight"), x: number("pageX"), y: number("pageY") })
}

/// The boxes of an element: left, top, right, bottom, in the window of its process. `element` has its `objectId` or
/// its `backendNodeId`.
pub(crate) fn quads(
    socket: &mut TabSocket,
    session: Option<&str>,
    element: &Value,
    until: Instant,
) -> Result<Vec<[f64; 4]>, CommandError> {
    let answer = match socket.ask(session, "DOM.getContentQuads", element, until) {
        Err(CommandError::Failed(_)) => return Ok(vec![]),
        answer => answer?,
    };
    let quads = answer["quads"].as_array().into_iter().flatten().filter_map(Value::as_array);
    let boxes = quads.map(|quad| {
        let at = |index: usize| quad.get(index).and_then(Value::as_f64).unwrap_or_default();
        let (xs, ys) = ([at(0), at(2), at(4), at(6)], [at(1), at(3), at(5), at(7)]);
        let least = |of: [f64; 4]| of.into_iter().fold(f64::INFINITY, f64::min);
        let most = |of: [f64; 4]| of.into_iter().fold(f64::NEG_INFINITY, f64::max);
        [least(xs), least(ys), most(xs), most(ys)]
    });
    Ok(boxes.filter(|[left, top, right, bottom]| right - left >= 1.0 && bottom - top >= 1.0).collect())
}

/// The offset of a frame's process in the window; `None` if the frame is not visible.
pub(crate) fn offset(
    socket: &mut TabSocket,
    session: Option<&str>,
    frames: &[Frame],
    until: Instant,
) -> Result<Option<(f64, f64)>, CommandError> {
    let (mut x, mut y) = (0.0, 0.0);
    let mut session = session.map(str::to_owned);
    while let Some(of) = &session {
        // The outermost frame of a process is inside a frame of another process.
        let outer = |frame: &&Frame| {
            frame.session.as_ref() == Some(of)
                && frame.owner.as_ref().is_some_and(|owner| owner.session.as_ref() != Some(of))
        };
        let Some(owner) = frames.iter().find(outer).and_then(|frame| frame.owner.clone()) else { return Ok(None) };
        let params = json!({"backendNodeId": owner.node});
        let model = match socket.ask(owner.session.as_deref(), "DOM.getBoxModel", &params, until) {
            Err(CommandError::Failed(_)) => return Ok(None),
            model => model?,
        };
        let content = &model["model"]["content"];
        let (Some(left), Some(top)) = (content[0].as_f64(), content[1].as_f64()) else { return Ok(None) };
        (x, y, session) = (x + left, y + top, owner.session);
    }
    Ok(Some((x, y)))
}
