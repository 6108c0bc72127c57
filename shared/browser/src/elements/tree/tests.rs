//! The nodes of accessibility trees as the browser reports them.

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
    let control = HiddenControl {
        element_id: ElementId { session: None, frame: String::new(), node: 91 },
        role: "checkbox",
        name: " Send\n me ".into(),
        states: vec!["unchecked"],
    };
    let controls = [((None, 90), control)].into();
    let mut reader = TreeReader {
        frames: &frames,
        trees,
        chosen: &chosen,
        controls: &controls,
        nodes: vec![],
        under: String::new(),
        visited: 0,
    };
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
        (with(node(2, "textbox", "A", &[]), &[("readonly", json!(true)), ("selected", json!(true))]), vec!["readonly"]),
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

#[test]
fn a_hidden_control_is_listed_in_place_of_its_label() {
    let mut label = node(90, "LabelText", "", &[3]);
    label["ignored"] = json!(true);
    let editor = [("focusable", json!(true)), ("editable", json!("richtext"))];
    let page = vec![
        node(1, "RootWebArea", "", &[90, 4, 5]),
        label,
        node(3, "StaticText", "Send me", &[]),
        with(node(4, "generic", "", &[]), &editor),
        with(node(5, "paragraph", "", &[]), &editor[1..]),
    ];
    let nodes = nodes_of(&[page], &[], &[]);
    let seen: Vec<_> = nodes.iter().map(|node| (node.role, node.name.as_str(), node.element_id.node)).collect();
    assert_eq!(seen, [("checkbox", "Send me", 91), ("", "Send me", 3), ("textbox", "", 4)]);
    assert_eq!((nodes[0].states.as_slice(), nodes[1].within), (["unchecked"].as_slice(), Some(0)));
}
