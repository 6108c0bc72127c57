//! The list of elements that can be acted on, each with a name by which a call can find it.

use std::collections::HashMap;

use ragmaker_tool::JsonSchema;
use serde::Serialize;

use super::{locator::Locator, tree::Node};

/// The longest shown name, in characters. The shown part is sufficient to find the element.
const SHOWN_NAME: usize = 80;

/// The longest shown value, in characters.
const SHOWN_VALUE: usize = 60;

/// An element that can be acted on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedElement {
    /// With --annotate: the number in the screenshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// `role:name`, by which `browser-act` finds it.
    pub element: String,
    /// The state, such as disabled, checked or expanded; omitted if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The value; omitted if it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The preceding heading, if several elements have the same name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub under: Option<String>,
    /// In an error that lists several elements of one name: the address of a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// The elements with the same name.
struct NameCount<'a> {
    /// The number of elements in the page itself, not in frames.
    own: usize,
    all: usize,
    /// The URL of the first one.
    url: Option<&'a str>,
    /// Whether all are links to this URL.
    is_one_link: bool,
}

/// The elements of `nodes` that can be acted on, in order, each with the index of its node.
pub(crate) fn list(nodes: &[Node]) -> Vec<(usize, ListedElement)> {
    let mut called: HashMap<(&str, &str), NameCount<'_>> = HashMap::new();
    for node in nodes.iter().filter(|node| node.acts()) {
        let first = NameCount { own: 0, all: 0, url: node.url.as_deref(), is_one_link: true };
        let namesakes = called.entry((node.role, &node.name)).or_insert(first);
        namesakes.own += usize::from(node.is_own);
        namesakes.all += 1;
        namesakes.is_one_link &= node.url.is_some() && node.url.as_deref() == namesakes.url;
    }
    let mut numbers: HashMap<(&str, &str), usize> = HashMap::new();
    let mut listed = vec![];
    for (index, node) in nodes.iter().enumerate().filter(|(_, node)| node.acts()) {
        let key = (node.role, node.name.as_str());
        let number = numbers.entry(key).or_default();
        *number += 1;
        let NameCount { own, all, is_one_link, .. } = called[&key];
        if is_one_link && *number > 1 {
            continue;
        }
        // Its name may be that with which the list numbers others.
        let (plain, place) = Locator::numbered(&node.name);
        let is_taken =
            place.is_some_and(|place| called.get(&(node.role, plain)).is_some_and(|named| named.all >= place));
        let is_only = !is_taken && (is_one_link || all == 1 || (own == 1 && node.is_own));
        let name = shortened(&node.name, SHOWN_NAME);
        let plain = format!("{}:{name}", node.role);
        let element = if is_only && !node.name.is_empty() { plain } else { format!("{plain} [{number}]") };
        listed.push((
            index,
            ListedElement {
                number: None,
                element,
                state: (!node.states.is_empty()).then(|| node.states.join(", ")),
                value: Some(shortened(&node.value, SHOWN_VALUE))
                    .filter(|value| !value.is_empty() && node.role != "file"),
                under: (!is_only && !node.under.is_empty()).then(|| shortened(&node.under, SHOWN_VALUE)),
                url: None,
            },
        ));
    }
    listed
}

pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(role: &'static str, name: &str, url: Option<&str>) -> Node {
        Node { url: url.map(str::to_owned), under: "Part".into(), ..Node::shown(role, name) }
    }

    #[test]
    fn elements_of_one_name_are_numbered_and_equal_links_listed_once() {
        let nodes = [
            node("button", "Save", None),
            node("", "text", None),
            node("link", "Home", Some("/")),
            node("button", "Save", None),
            node("link", "Home", Some("/")),
            node("button", "", None),
        ];
        let listed = list(&nodes);
        let names: Vec<_> = listed.iter().map(|(index, element)| (*index, element.element.as_str())).collect();
        assert_eq!(names, [(0, "button:Save [1]"), (2, "link:Home"), (3, "button:Save [2]"), (5, "button: [1]")]);
        assert_eq!((listed[0].1.under.as_deref(), listed[1].1.under.as_deref()), (Some("Part"), None));
    }

    #[test]
    fn a_name_that_ends_with_a_number_is_not_that_of_another_element() {
        let nodes = ["Item [2]", "Item", "Item", "Array [2]", "[1]", ""].map(|name| node("button", name, None));
        let listed = list(&nodes);
        let names: Vec<&str> = listed.iter().map(|(_, element)| element.element.as_str()).collect();
        let expected = [
            "button:Item [2] [1]",
            "button:Item [1]",
            "button:Item [2]",
            "button:Array [2]",
            "button:[1] [1]",
            "button: [1]",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn states_and_values_are_shown_and_long_names_cut() {
        let mut field = node("textbox", &"x".repeat(100), None);
        (field.value, field.states) = ("given".into(), vec!["disabled", "required"]);
        let mut file = node("file", "Upload", None);
        file.value = "C:\\fakepath\\a".into();
        let listed = list(&[field, file]);
        let (field, file) = (&listed[0].1, &listed[1].1);
        assert_eq!(field.element, format!("textbox:{}…", "x".repeat(SHOWN_NAME)));
        assert_eq!((field.state.as_deref(), field.value.as_deref()), (Some("disabled, required"), Some("given")));
        assert_eq!(file.value, None, "a browser shows no real path");
        assert_eq!(shortened("a bc", 2), "a…");
    }
}
