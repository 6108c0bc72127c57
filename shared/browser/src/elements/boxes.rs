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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cdp::fake_tab::{refused, result, soon, tab},
        elements::ElementId,
        loading::{Load, Loading},
    };

    #[test]
    fn the_box_of_a_rotated_element_surrounds_it_and_what_is_not_visible_has_none() {
        let quads = |answer: Value| {
            let (mut socket, _) = tab(move |_| vec![answer.clone()]);
            quads(&mut socket, None, &json!({"backendNodeId": 1}), soon()).unwrap()
        };
        let shown =
            json!([[5, 0, 10, 5, 5, 10, 0, 5], [0, 0, 0.9, 0, 0.9, 20, 0, 20], [1, 2, 3.5, 2, 3.5, 9, 1, 9], [], "x"]);
        assert_eq!(quads(result(json!({"quads": shown}))), [[0.0, 0.0, 10.0, 10.0], [1.0, 2.0, 3.5, 9.0]]);
        assert!(quads(refused()).is_empty() && quads(result(json!({}))).is_empty());
    }

    #[test]
    fn a_window_has_the_size_and_the_scroll_position_in_css_pixels() {
        let metrics = json!({"cssLayoutViewport": {"clientWidth": 800, "clientHeight": 600.5, "pageY": 30},
            "layoutViewport": {"clientWidth": 1600}});
        let (mut socket, _) = tab(move |_| vec![result(metrics.clone())]);
        let found = window(&mut socket, None, soon()).unwrap();
        assert_eq!((found.width, found.height, found.x, found.y), (800.0, 600.5, 0.0, 30.0));
    }

    #[test]
    fn the_offset_of_a_frame_is_that_of_all_frames_around_it() {
        let frame = |session: &str, owner: Option<&str>, node| {
            let owner = ElementId { session: owner.map(str::to_owned), frame: String::new(), node };
            Frame { session: Some(session.to_owned()), id: session.to_owned(), owner: Some(owner) }
        };
        // The second one is a frame in the process of the frame `a`.
        let frames = [frame("a", None, 1), frame("a", Some("a"), 9), frame("b", Some("a"), 2), frame("c", None, 3)];
        let (mut socket, _) = tab(|command| {
            if command["method"] == "Target.getTargetInfo" {
                let target = json!({"sessionId": "a", "targetInfo": {"type": "iframe"}});
                return vec![json!({"method": "Target.attachedToTarget", "params": target}), result(json!({}))];
            }
            let at = |x: f64, y: f64| vec![result(json!({"model": {"content": [x, y, 0, 0, 0, 0, 0, 0]}}))];
            match command["params"]["backendNodeId"].as_i64() {
                Some(1) => at(10.0, 100.0),
                Some(2) => at(0.5, 7.0),
                // It is not shown.
                Some(3) => vec![refused()],
                _ => vec![result(json!({}))],
            }
        });
        socket.follow_frames(Loading::new(Load::Everything, None).into(), soon()).unwrap();
        let mut offset = |session| offset(&mut socket, session, &frames, soon());
        assert_eq!(offset(None).unwrap(), Some((0.0, 0.0)));
        assert_eq!(offset(Some("a")).unwrap(), Some((10.0, 100.0)));
        assert_eq!(offset(Some("b")).unwrap(), Some((10.5, 107.0)));
        assert_eq!((offset(Some("c")).unwrap(), offset(Some("gone")).unwrap()), (None, None));
    }
}
