//! The visible nodes of a page with role and accessible name: the accessibility trees of all frames as one list
//! in the page's order. The trees include closed shadow roots and frames of other sites.

use std::{
    collections::{HashMap, HashSet},
    time::Instant,
};

use serde_json::{Value, json};

use super::frames::{ElementId, Frame, Frames};
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

/// Reads the page's nodes, and marks those inside the elements in `chosen`.
pub(crate) fn read(
    socket: &mut TabSocket,
    frames: &[Frame],
    chosen: &HashSet<(Option<String>, i64)>,
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
    let mut reading = TreeReader { frames, trees, chosen, nodes: vec![], under: String::new(), visited: 0 };
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

/// The page's nodes, with those inside the matches of `selector` marked; `None` if the selector is invalid.
pub(crate) fn nodes_of(
    frames: &mut Frames,
    socket: &mut TabSocket,
    selector: Option<&str>,
    until: Instant,
) -> Result<Option<Vec<Node>>, CommandError> {
    let all = Frames::all(socket, until)?;
    let mut chosen = HashSet::new();
    if let Some(selector) = selector {
        let Some(found) = frames.elements(socket, &all[0], "by-css", &json!(selector), until)? else {
            return Ok(None);
        };
        chosen = held_by(socket, &all[0], &found.objects, until)?;
    }
    read(socket, &all, &chosen, until).map(Some)
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
            if let Some(number) = number.filter(|_| !ignored)
                && let Some(kind) = role_of(role)
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
mod tests {
    use super::*;

    impl Node {
        /// A node of the page itself.
        pub(crate) fn shown(role: &'static str, name: &str) -> Self {
            Self {
                element_id: ElementId { session: None, frame: "top".into(), node: 1 },
                role,
                name: name.into(),
                value: String::new(),
                states: vec![],
                url: None,
                under: String::new(),
                is_own: true,
                is_main: false,
                is_chosen: false,
                within: None,
            }
        }
    }

    /// A node of an accessibility tree, whose number is that of its element.
    fn node(id: i64, role: &str, name: &str, children: &[i64]) -> Value {
        let children: Vec<String> = children.iter().map(i64::to_string).collect();
        json!({"nodeId": id.to_string(), "ignored": false, "role": {"value": role}, "name": {"value": name},
            "backendDOMNodeId": id, "childIds": children})
    }

    fn with(mut node: Value, properties: &[(&str, Value)]) -> Value {
        let properties = properties.iter().map(|(name, value)| json!({"name": name, "value": {"value": value}}));
        node["properties"] = properties.collect();
        node
    }

    /// The nodes of a page and its frames; each frame is in the element of the page with its number.
    fn nodes_of(trees: &[Vec<Value>], owners: &[i64], chosen: &[i64]) -> Vec<Node> {
        let owner = |node: &i64| ElementId { session: None, frame: String::new(), node: *node };
        let owners = [None].into_iter().chain(owners.iter().map(|node| Some(owner(node))));
        let frames: Vec<Frame> =
            owners.enumerate().map(|(id, owner)| Frame { session: None, id: id.to_string(), owner }).collect();
        let chosen = chosen.iter().map(|node| (None, *node)).collect();
        let trees = trees.iter().map(|nodes| Tree::of(json!(nodes))).collect();
        let mut reader =
            TreeReader { frames: &frames, trees, chosen: &chosen, nodes: vec![], under: String::new(), visited: 0 };
        reader.frame(0, Inherited { is_own: true, is_main: false, is_chosen: false, within: None });
        reader.nodes
    }

    #[test]
    fn nodes_are_in_the_order_of_the_page_with_frames_at_their_places() {
        let page = vec![
            node(1, "RootWebArea", "", &[2, 3, 8]),
            node(2, "link", "Home", &[]),
            node(3, "main", "", &[4, 5, 6]),
            node(4, "heading", "Tides \u{6f6e}", &[]),
            node(5, "Iframe", "", &[]),
            node(6, "button", "Save", &[7]),
            node(7, "StaticText", "Save", &[]),
            node(8, "generic", "", &[]),
        ];
        let frame = vec![node(21, "RootWebArea", "", &[22]), node(22, "textbox", "Mail", &[])];
        let nodes = nodes_of(&[page, frame], &[5], &[6]);
        let seen: Vec<_> = nodes.iter().map(|node| (node.role, node.name.as_str(), node.under.as_str())).collect();
        let expected = [
            ("link", "Home", ""),
            ("", "Tides \u{6f6e}", ""),
            ("textbox", "Mail", "Tides \u{6f6e}"),
            ("button", "Save", "Tides \u{6f6e}"),
            ("", "Save", ""),
        ];
        assert_eq!(seen, expected);
        let is = |is: fn(&Node) -> bool| nodes.iter().map(is).collect::<Vec<_>>();
        assert_eq!(is(|node| node.is_own), [true, true, false, true, true]);
        assert_eq!(is(|node| node.is_main), [false, true, true, true, true]);
        assert_eq!(is(|node| node.is_chosen), [false, false, false, true, true]);
        assert_eq!(nodes[4].within, Some(3));
        assert_eq!(nodes[2].element_id.frame, "1");
    }

    #[test]
    fn states_and_values_are_those_that_a_person_sees() {
        let cases = [
            (with(node(2, "checkbox", "A", &[]), &[("checked", json!("mixed"))]), vec!["mixed"]),
            (with(node(2, "switch", "A", &[]), &[("checked", json!("true"))]), vec!["checked"]),
            (node(2, "radio", "A", &[]), vec!["unchecked"]),
            (
                with(node(2, "button", "A", &[]), &[("disabled", json!(true)), ("expanded", json!(false))]),
                vec!["disabled", "collapsed"],
            ),
            (
                with(node(2, "ToggleButton", "A", &[]), &[("pressed", json!("true")), ("expanded", json!(true))]),
                vec!["pressed", "expanded"],
            ),
            (with(node(2, "tab", "A", &[]), &[("selected", json!(true))]), vec!["selected"]),
            (
                with(node(2, "textbox", "A", &[]), &[("readonly", json!(true)), ("selected", json!(true))]),
                vec!["readonly"],
            ),
        ];
        for (one, expected) in cases {
            let nodes = nodes_of(&[vec![node(1, "RootWebArea", "", &[2]), one.clone()]], &[], &[]);
            assert_eq!(nodes[0].states, expected, "{one}");
        }
        let mut link = with(node(2, "link", " A\n b ", &[]), &[("url", json!("https://x.example/"))]);
        link["value"] = json!({"value": 7});
        let nodes = nodes_of(&[vec![node(1, "RootWebArea", "", &[2]), link]], &[], &[]);
        assert_eq!((nodes[0].name.as_str(), nodes[0].value.as_str()), ("A b", "7"));
        assert_eq!(nodes[0].url.as_deref(), Some("https://x.example/"));
    }

    #[test]
    fn what_is_not_shown_is_not_listed() {
        let mut ignored = node(2, "button", "Hidden", &[3]);
        ignored["ignored"] = json!(true);
        let page = vec![
            node(1, "RootWebArea", "", &[2, 4, 6, 7]),
            ignored,
            node(3, "StaticText", "Text", &[]),
            node(4, "spinbutton", "Number", &[5]),
            node(5, "button", "Up", &[]),
            node(6, "StaticText", " ", &[]),
            node(7, "button", "", &[]),
        ];
        let nodes = nodes_of(&[page], &[], &[]);
        let names: Vec<_> = nodes.iter().map(|node| (node.role, node.name.as_str())).collect();
        // A button without a name can be clicked; the parts of a native control cannot.
        assert_eq!(names, [("", "Text"), ("spinbutton", "Number"), ("button", "")]);
    }

    #[test]
    fn a_tree_that_contains_itself_ends() {
        let page = vec![node(1, "Iframe", "", &[1])];
        assert!(nodes_of(&[page.clone(), page], &[1], &[]).is_empty());
        assert!(Tree::of(json!([])).is_none() && Tree::of(Value::Null).is_none());
        assert!(nodes_of(&[], &[], &[]).is_empty());
    }

    #[test]
    fn each_role_that_can_be_acted_on_is_its_own() {
        assert!(ROLES.iter().all(|role| role_of(role) == Some(role)));
        assert_eq!(
            (role_of("PopUpButton"), role_of("ColorWell"), role_of("image")),
            (Some("combobox"), Some("color"), Some(""))
        );
        assert_eq!((role_of("generic"), role_of(""), role_of("Button")), (None, None, None));
    }

    #[test]
    fn names_have_single_spaces_and_are_cut_at_a_character() {
        for (text, expected) in [(" a\n\tb\u{a0}c ", "a b c"), ("", ""), ("\u{6f6e} \u{6c50}", "\u{6f6e} \u{6c50}")] {
            assert_eq!(squeezed(text), expected);
        }
        for long in ["\u{6f6e}".repeat(1_000), "\u{1f30a} ".repeat(1_000), "x".repeat(100_000)] {
            let cut = squeezed(&long);
            assert_eq!(cut.chars().count(), MAX_NAME);
            assert!(long.starts_with(&cut));
        }
    }
}
