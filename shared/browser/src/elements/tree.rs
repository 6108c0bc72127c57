//! The visible nodes of a page with role and accessible name: the accessibility trees of all frames as one list
//! in the page's order. The trees include closed shadow roots and frames of other sites.

use std::{
    collections::{HashMap, HashSet},
    time::Instant,
};

use serde_json::{Value, json};

use super::{
    frames::{ElementId, Frame, Frames},
    labels::{self, HiddenControl, HiddenControls},
};
use crate::{cdp::TabSocket, error::CommandError};

/// The maximum number of nodes of a page that are read.
const MAX_NODES: usize = 200_000;

/// The longest stored name, in characters.
const MAX_NAME: usize = 300;

/// A visible node of a page.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) element_id: ElementId,
    /// The role, in terms of ARIA if it has one.
    pub(crate) role: &'static str,
    /// The accessible name; for a text node, the text.
    pub(crate) name: String,
    /// The value.
    pub(crate) value: String,
    /// The states, such as `disabled`.
    pub(crate) states: Vec<&'static str>,
    /// The URL of a link.
    pub(crate) url: Option<String>,
    /// The preceding heading.
    pub(crate) under: String,
    /// Whether it is in the page itself, not in a frame.
    pub(crate) is_own: bool,
    /// Whether it is in the main content or in a dialog.
    pub(crate) is_main: bool,
    /// Whether it is inside a match of the selector.
    pub(crate) is_chosen: bool,
    /// The index of the enclosing node that can be acted on.
    pub(crate) within: Option<usize>,
}

impl Node {
    /// Whether a person can act on the node.
    pub(crate) fn acts(&self) -> bool {
        !self.role.is_empty()
    }
}

/// The roles of elements that can be acted on: ARIA roles, and `date`, `color` and `file`, for which ARIA has
/// none.
pub(crate) const ROLES: [&str; 20] = [
    "button",
    "link",
    "textbox",
    "searchbox",
    "combobox",
    "listbox",
    "checkbox",
    "radio",
    "switch",
    "tab",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "slider",
    "spinbutton",
    "treeitem",
    "date",
    "color",
    "file",
];

/// The role among [`ROLES`] for a role of the browser; `""` for a node that only shows something; `None` for an
/// invisible node.
pub(super) fn role_of(role: &str) -> Option<&'static str> {
    if let Some(own) = ROLES.iter().find(|own| **own == role) {
        return Some(own);
    }
    match role {
        "DisclosureTriangle" | "DisclosureTriangleGrouped" | "ToggleButton" => Some("button"),
        "PopUpButton" | "ComboBoxSelect" | "ComboBoxMenuButton" | "ComboBoxGrouping" => Some("combobox"),
        "Date" | "DateTime" | "InputTime" => Some("date"),
        "ColorWell" => Some("color"),
        "StaticText" | "heading" | "image" | "img" | "LabelText" | "cell" | "gridcell" | "columnheader"
        | "rowheader" => Some(""),
        _ => None,
    }
}

/// Whether a node is an element with editable content and no role of its own.
fn is_editor(node: &Value, role: &str) -> bool {
    let is = |name: &str, value: Value| {
        let list = node["properties"].as_array().into_iter().flatten();
        list.into_iter().any(|property| property["name"] == name && property["value"]["value"] == value)
    };
    matches!(role, "generic" | "paragraph" | "Section" | "none")
        && is("focusable", json!(true))
        && (is("editable", json!("richtext")) || is("editable", json!("plaintext")))
}

/// Whether a role is a native control, whose parts cannot be acted on separately.
fn is_whole(role: &str) -> bool {
    matches!(
        role,
        "Date"
            | "DateTime"
            | "InputTime"
            | "ColorWell"
            | "spinbutton"
            | "searchbox"
            | "slider"
            | "Video"
            | "Audio"
            | "video"
            | "audio"
            | "MenuListPopup"
            | "InlineTextBox"
    )
}

/// Reads the page's nodes, and marks those inside the elements in `chosen`. `controls` are those of which only the label
/// shows.
pub(crate) fn read(
    socket: &mut TabSocket,
    frames: &[Frame],
    chosen: &HashSet<(Option<String>, i64)>,
    controls: &HiddenControls,
    until: Instant,
) -> Result<Vec<Node>, CommandError> {
    let mut trees: Vec<Option<Tree>> = vec![];
    for (index, frame) in frames.iter().enumerate() {
        let params = json!({"frameId": frame.id});
        match socket.ask(frame.session.as_deref(), "Accessibility.getFullAXTree", &params, until) {
            Ok(mut answer) => trees.push(Tree::of(answer["nodes"].take())),
            // The frame may be gone or about to be replaced.
            Err(CommandError::Failed(_)) if index > 0 => trees.push(None),
            Err(error) => return Err(error),
        }
    }
    let mut reading = TreeReader { frames, trees, chosen, controls, nodes: vec![], under: String::new(), visited: 0 };
    reading.frame(0, Inherited { is_own: true, is_main: false, is_chosen: false, within: None });
    for node in &mut reading.nodes {
        if node.role == "button" && !node.value.is_empty() {
            let session = node.element_id.session.as_deref();
            let described =
                socket.ask(session, "DOM.describeNode", &json!({"backendNodeId": node.element_id.node}), until);
            let described = match described {
                Ok(described) => described,
                Err(CommandError::Failed(_)) => continue,
                Err(error) => return Err(error),
            };
            let attributes = described["node"]["attributes"].as_array().cloned().unwrap_or_default();
            let is_file = attributes.chunks(2).any(|pair| {
                pair[0] == "type" && pair[1].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("file"))
            });
            if is_file && described["node"]["localName"] == "input" {
                node.role = "file";
            }
        }
    }
    Ok(reading.nodes)
}

/// The node ids of everything inside the elements `objects` of `frame`.
pub(crate) fn held_by(
    socket: &mut TabSocket,
    frame: &Frame,
    objects: &[String],
    until: Instant,
) -> Result<HashSet<(Option<String>, i64)>, CommandError> {
    let mut held = HashSet::new();
    for object in objects {
        let params = json!({"objectId": object, "depth": -1, "pierce": true});
        let mut answer = socket.ask(frame.session.as_deref(), "DOM.describeNode", &params, until)?;
        let mut nodes = vec![answer["node"].take()];
        while let Some(mut node) = nodes.pop() {
            if let Some(number) = node["backendNodeId"].as_i64() {
                held.insert((frame.session.clone(), number));
            }
            for list in ["children", "shadowRoots"] {
                if let Some(Value::Array(list)) = node.get_mut(list).map(Value::take) {
                    nodes.extend(list);
                }
            }
            if let Some(inner) = node.get_mut("contentDocument") {
                nodes.push(inner.take());
            }
        }
    }
    Ok(held)
}

/// The nodes of a page.
pub(crate) struct PageNodes {
    pub(crate) nodes: Vec<Node>,
    /// Whether the selector, if there is one, matches an element, be it one without nodes.
    pub(crate) is_matched: bool,
}

/// The page's nodes, with those inside the matches of `selector` marked; `None` if the selector is invalid.
pub(crate) fn nodes_of(
    frames: &mut Frames,
    socket: &mut TabSocket,
    selector: Option<&str>,
    until: Instant,
) -> Result<Option<PageNodes>, CommandError> {
    let all = Frames::all(socket, until)?;
    let mut chosen = HashSet::new();
    let mut is_matched = false;
    if let Some(selector) = selector {
        let Some(found) = frames.elements(socket, &all[0], "by-css", &json!(selector), until)? else {
            return Ok(None);
        };
        is_matched = !found.objects.is_empty();
        chosen = held_by(socket, &all[0], &found.objects, until)?;
    }
    let controls = labels::hidden_controls(frames, socket, &all, until)?;
    let nodes = read(socket, &all, &chosen, &controls, until)?;
    Ok(Some(PageNodes { nodes, is_matched }))
}

/// The accessibility tree of one frame.
struct Tree {
    nodes: Vec<Value>,
    places: HashMap<String, usize>,
}

impl Tree {
    fn of(nodes: Value) -> Option<Self> {
        let Value::Array(nodes) = nodes else { return None };
        let id = |node: &Value| node["nodeId"].as_str().map(str::to_owned);
        let places = nodes.iter().enumerate().filter_map(|(index, node)| Some((id(node)?, index))).collect();
        (!nodes.is_empty()).then_some(Self { nodes, places })
    }
}

/// The properties that a node inherits from its ancestors.
#[derive(Clone, Copy)]
struct Inherited {
    is_own: bool,
    is_main: bool,
    is_chosen: bool,
    within: Option<usize>,
}

struct TreeReader<'a> {
    frames: &'a [Frame],
    trees: Vec<Option<Tree>>,
    chosen: &'a HashSet<(Option<String>, i64)>,
    controls: &'a HiddenControls,
    nodes: Vec<Node>,
    under: String,
    visited: usize,
}

impl TreeReader<'_> {
    /// Adds the nodes of a frame, and of its child frames at their positions.
    fn frame(&mut self, index: usize, inherited: Inherited) {
        // Taken out, so that each frame is read once, even if the browser reports circular nesting.
        let Some(tree) = self.trees.get_mut(index).and_then(Option::take) else { return };
        let frame = &self.frames[index];
        let mut open = vec![(0, inherited)];
        while let Some((at, above)) = open.pop() {
            self.visited += 1;
            if self.visited > MAX_NODES {
                return;
            }
            let node = &tree.nodes[at];
            let role = node["role"]["value"].as_str().unwrap_or_default();
            let number = node["backendDOMNodeId"].as_i64();
            let ignored = node["ignored"] == true;
            let mut here = above;
            here.is_chosen |= number.is_some_and(|number| self.chosen.contains(&(frame.session.clone(), number)));
            here.is_main |= !ignored && matches!(role, "main" | "dialog" | "alertdialog");
            let labelled = number.and_then(|number| self.controls.get(&(frame.session.clone(), number)));
            if let Some(control) = labelled {
                let frame = frame.id.clone();
                self.note_control(control, frame, here);
                here.within = Some(self.nodes.len() - 1);
            } else if let Some(number) = number.filter(|_| !ignored)
                && let Some(kind) = role_of(role).or_else(|| is_editor(node, role).then_some("textbox"))
            {
                let element_id = ElementId { session: frame.session.clone(), frame: frame.id.clone(), node: number };
                self.note(node, role, kind, element_id, here);
                if !kind.is_empty() {
                    here.within = Some(self.nodes.len() - 1);
                }
            }
            if role == "Iframe" || role == "IframePresentational" {
                let inner = self.frames.iter().position(|inner| {
                    inner
                        .owner
                        .as_ref()
                        .is_some_and(|owner| owner.session == frame.session && Some(owner.node) == number)
                });
                if let Some(inner) = inner {
                    self.frame(inner, Inherited { is_own: false, ..here });
                }
            }
            if !ignored && is_whole(role) {
                continue;
            }
            let children = node["childIds"].as_array().into_iter().flatten().rev();
            let children = children.filter_map(|id| tree.places.get(id.as_str()?));
            open.extend(children.map(|child| (*child, here)));
        }
    }

    /// Adds a control in place of its label.
    fn note_control(&mut self, control: &HiddenControl, frame: String, here: Inherited) {
        let Inherited { is_own, is_main, is_chosen, within } = here;
        self.nodes.push(Node {
            element_id: ElementId { frame, ..control.element_id.clone() },
            role: control.role,
            name: squeezed(&control.name),
            value: String::new(),
            states: control.states.clone(),
            url: None,
            under: self.under.clone(),
            is_own,
            is_main,
            is_chosen,
            within,
        });
    }

    fn note(&mut self, node: &Value, role: &str, kind: &'static str, element_id: ElementId, here: Inherited) {
        let name = squeezed(node["name"]["value"].as_str().unwrap_or_default());
        if role == "heading" {
            self.under.clone_from(&name);
        }
        // The text of a control that is equal to its name adds nothing.
        if kind.is_empty() && name.is_empty() {
            return;
        }
        let property = |name: &str| {
            let list = node["properties"].as_array().into_iter().flatten();
            list.into_iter().find(|property| property["name"] == name).map(|property| &property["value"]["value"])
        };
        let is = |name: &str, value: &str| {
            property(name).is_some_and(|found| found.as_str() == Some(value) || (value == "true" && *found == true))
        };
        let is_not =
            |name: &str| property(name).is_some_and(|found| found.as_str() == Some("false") || *found == false);
        let mut states = vec![];
        if is("disabled", "true") {
            states.push("disabled");
        }
        match kind {
            "checkbox" | "radio" | "switch" | "menuitemcheckbox" | "menuitemradio" => {
                states.push(if is("checked", "mixed") {
                    "mixed"
                } else if is("checked", "true") {
                    "checked"
                } else {
                    "unchecked"
                });
            }
            "option" | "tab" | "treeitem" if is("selected", "true") => states.push("selected"),
            _ => {}
        }
        if is("pressed", "true") {
            states.push("pressed");
        }
        if is("expanded", "true") {
            states.push("expanded");
        } else if is_not("expanded") {
            states.push("collapsed");
        }
        if is("readonly", "true") {
            states.push("readonly");
        }
        let value = match &node["value"]["value"] {
            Value::String(text) => squeezed(text),
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        let url = (kind == "link").then(|| property("url").and_then(Value::as_str).map(str::to_owned)).flatten();
        let under = if kind.is_empty() { String::new() } else { self.under.clone() };
        let Inherited { is_own, is_main, is_chosen, within } = here;
        self.nodes.push(Node {
            element_id,
            role: kind,
            name,
            value,
            states,
            url,
            under,
            is_own,
            is_main,
            is_chosen,
            within,
        });
    }
}

/// `text` with collapsed white space, cut to the stored length.
pub(crate) fn squeezed(text: &str) -> String {
    let mut squeezed = String::new();
    for word in text.split_whitespace() {
        if !squeezed.is_empty() {
            squeezed.push(' ');
        }
        squeezed.push_str(word);
        if squeezed.len() > MAX_NAME * 4 {
            break;
        }
    }
    match squeezed.char_indices().nth(MAX_NAME) {
        Some((end, _)) => squeezed[..end].to_owned(),
        None => squeezed,
    }
}

#[cfg(test)]
mod tests;
