//! Controls that do not show and are represented by their labels: checkboxes and radio buttons that a page draws itself, and
//! fields for files. The accessibility tree does not contain them.

use std::{collections::HashMap, time::Instant};

use serde_json::{Value, json};

use super::frames::{ElementId, Frame, Frames};
use crate::{cdp::TabSocket, error::CommandError};

/// A control whose label alone shows.
#[derive(Clone, Debug)]
pub(crate) struct HiddenControl {
    pub(crate) element_id: ElementId,
    pub(crate) role: &'static str,
    pub(crate) name: String,
    pub(crate) states: Vec<&'static str>,
}

/// Such controls by their labels: the session and the node id of each label.
pub(crate) type HiddenControls = HashMap<(Option<String>, i64), HiddenControl>;

/// The maximum number of hidden controls of a frame that are listed.
const MAX_HIDDEN: usize = 1000;

/// The hidden controls of all frames.
pub(super) fn hidden_controls(
    frames: &mut Frames,
    socket: &mut TabSocket,
    all: &[Frame],
    until: Instant,
) -> Result<HiddenControls, CommandError> {
    let mut found = HiddenControls::new();
    for frame in all {
        match of_frame(frames, socket, frame, until) {
            Ok(controls) => found.extend(controls),
            // The frame is gone or has another document.
            Err(CommandError::Failed(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

fn of_frame(
    frames: &mut Frames,
    socket: &mut TabSocket,
    frame: &Frame,
    until: Instant,
) -> Result<HiddenControls, CommandError> {
    let found = frames.elements(socket, frame, "hidden-controls", &json!(MAX_HIDDEN), until)?.unwrap_or_default();
    let mut controls = HiddenControls::new();
    // Each label has its control after it.
    for (pair, facts) in found.objects.chunks_exact(2).zip(&found.facts) {
        let Some(label) = Frames::element_id(socket, frame, &pair[0], until)? else { continue };
        let Some(element_id) = Frames::element_id(socket, frame, &pair[1], until)? else { continue };
        let name = facts["name"].as_str().unwrap_or_default().to_owned();
        let control = HiddenControl { element_id, role: role_of(facts), name, states: states_of(facts) };
        controls.insert((frame.session.clone(), label.node), control);
    }
    Ok(controls)
}

fn role_of(facts: &Value) -> &'static str {
    match facts["type"].as_str() {
        Some("file") => "file",
        Some("radio") => "radio",
        _ if facts["role"] == "switch" => "switch",
        _ => "checkbox",
    }
}

fn states_of(facts: &Value) -> Vec<&'static str> {
    let disabled = (facts["disabled"] == true).then_some("disabled");
    let checked = match facts["checked"].as_bool() {
        Some(true) => Some("checked"),
        Some(false) => Some("unchecked"),
        None => None,
    };
    disabled.into_iter().chain(checked).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_has_the_role_and_the_states_of_its_kind() {
        for (facts, role, states) in [
            (json!({"type": "file", "checked": null}), "file", vec![]),
            (json!({"type": "radio", "checked": true}), "radio", vec!["checked"]),
            (
                json!({"type": "checkbox", "checked": false, "disabled": true}),
                "checkbox",
                vec!["disabled", "unchecked"],
            ),
            (json!({"type": "checkbox", "role": "switch", "checked": false}), "switch", vec!["unchecked"]),
        ] {
            assert_eq!((role_of(&facts), states_of(&facts)), (role, states), "{facts}");
        }
    }
}
