//! Finding an element by the caller's name for it: `role:name` first, then visible text, then CSS.

use std::time::Instant;

use serde_json::{Value, json};

use super::{
    frames::{ElementId, FoundObjects, Frame, Frames},
    labels,
    list::{ListedElement, list},
    locator::{Locator, Match},
    tree::{self, Node, squeezed},
};
use crate::{cdp::TabSocket, error::CommandError};

/// The maximum number of elements that an error lists.
pub(crate) const LISTED: usize = 8;

/// The maximum number of elements whose names are computed one by one.
const CANDIDATES: usize = 8;

/// A longer text, in characters, is that of a region of the page, and names nothing.
const MAX_LOCATOR: usize = 2_000;

/// The longest address of a link that an error lists, in bytes.
const MAX_CANDIDATE_URL: usize = 300;

/// An element that was found.
#[derive(Clone, Debug)]
pub(crate) struct FoundElement {
    pub(crate) element_id: ElementId,
    /// It as a remote object, if it was found as one.
    pub(crate) object: Option<String>,
    /// Its name, if it is called otherwise than the locator says.
    pub(crate) name: Option<String>,
}

/// The reason why no element was found.
#[derive(Debug)]
pub(crate) enum NotFound {
    /// Several elements match.
    Several(Vec<ListedElement>),
    /// No element matches; these are the most similar ones.
    Nothing(Vec<ListedElement>),
}

/// Finds the element that `locator` names.
pub(crate) fn find(
    frames: &mut Frames,
    socket: &mut TabSocket,
    locator: &Locator,
    until: Instant,
) -> Result<Result<FoundElement, NotFound>, CommandError> {
    // A number counts all elements of the name.
    if let Some((role, name)) = locator.role()
        && locator.number().is_none()
        && let Some(found) = exact(frames, socket, role, name, until)?
    {
        return Ok(Ok(found));
    }
    frames.keep_tree(socket, until)?;
    let all = Frames::all(socket, until)?;
    let controls = labels::hidden_controls(frames, socket, &all, until)?;
    let nodes = tree::read(socket, &all, &std::collections::HashSet::new(), &controls, until)?;
    match locator.among(&nodes) {
        Match::One(index) => {
            let Node { element_id, .. } = &nodes[index];
            let name = locator.other_name(&nodes[index]);
            return Ok(Ok(FoundElement { element_id: element_id.clone(), object: None, name }));
        }
        Match::Many(found) => return Ok(Err(NotFound::Several(candidates(&nodes, &found)))),
        Match::None => {}
    }
    if locator.role().is_none() {
        for way in locator.shown_as() {
            if let Some(found) = element_in_frames(frames, socket, &all, way, until)? {
                return Ok(found);
            }
        }
    }
    Ok(Err(NotFound::Nothing(nearest(&nodes, locator))))
}

/// The page's own element with exactly this role and name, if there is only one.
///
/// Most elements have their role by their kind and their name by their text or label, which `js/candidates.js` tells in
/// 2 ms. For others, the browser computes the names of the few elements that may have this one: on a page of 500 links,
/// that takes 14 ms, and later 2 ms, in place of 45 and 30 ms for a query of all names. It then keeps the tree up to
/// date, which takes 6 ms after each step.
fn exact(
    frames: &mut Frames,
    socket: &mut TabSocket,
    role: &str,
    name: &str,
    until: Instant,
) -> Result<Option<FoundElement>, CommandError> {
    if name.is_empty() {
        return Ok(None);
    }
    let top = Frame { session: None, id: socket.frame().to_owned(), owner: None };
    let given = json!({"role": role, "name": name, "most": CANDIDATES, "longest": MAX_LOCATOR});
    let candidates = match frames.elements(socket, &top, "by-words", &given, until) {
        Err(CommandError::Failed(_)) => None,
        candidates => candidates?,
    };
    let FoundObjects { objects: candidates, is_certain, .. } = candidates.unwrap_or_default();
    if let [object] = &candidates[..]
        && is_certain
    {
        let element_id = Frames::element_id(socket, &top, object, until)?;
        return Ok(element_id.map(|element_id| FoundElement { element_id, object: Some(object.clone()), name: None }));
    }
    frames.keep_tree(socket, until)?;
    let described =
        |object: &String| ("Accessibility.getPartialAXTree", json!({"objectId": object, "fetchRelatives": false}));
    let described = socket.ask_each(&candidates.iter().map(described).collect::<Vec<_>>(), until)?;
    let mut found = vec![];
    for (object, described) in candidates.into_iter().zip(described) {
        // Without an answer, it was removed meanwhile.
        let Some(node) = described.as_ref().map(|described| &described["nodes"][0]) else { continue };
        let text = |member: &str| node[member]["value"].as_str().unwrap_or_default();
        let fits = node["ignored"] == false
            && tree::role_of(text("role")) == Some(role)
            && squeezed(text("name")) == squeezed(name);
        if let Some(node) = node["backendDOMNodeId"].as_i64().filter(|_| fits) {
            let element_id = ElementId { session: None, frame: top.id.clone(), node };
            found.push(FoundElement { element_id, object: Some(object), name: None });
        }
    }
    match found.len() {
        1 => Ok(found.pop()),
        _ => queried(socket, role, name, until),
    }
}

/// The same, of all elements of the page: the browser answers without returning the whole tree.
fn queried(
    socket: &mut TabSocket,
    role: &str,
    name: &str,
    until: Instant,
) -> Result<Option<FoundElement>, CommandError> {
    let document = socket.ask(None, "DOM.getDocument", &json!({"depth": 0}), until)?;
    let params = json!({"backendNodeId": document["root"]["backendNodeId"], "role": role, "accessibleName": name});
    let answer = match socket.ask(None, "Accessibility.queryAXTree", &params, until) {
        Err(CommandError::Failed(_)) => return Ok(None),
        answer => answer?,
    };
    let shown = answer["nodes"].as_array().into_iter().flatten().filter(|node| node["ignored"] == false);
    let mut shown = shown.filter_map(|node| node["backendDOMNodeId"].as_i64());
    let (Some(node), None) = (shown.next(), shown.next()) else { return Ok(None) };
    let element_id = ElementId { session: None, frame: socket.frame().to_owned(), node };
    Ok(Some(FoundElement { element_id, object: None, name: None }))
}

/// Which of the elements that a text or CSS finds is named.
pub(crate) enum Chosen {
    /// None.
    None,
    /// That at this index.
    One(usize),
    /// Any of them, which is an error.
    Several,
}

/// Which of `count` elements is named, by its number or because it is the only one.
pub(crate) fn chosen(number: Option<usize>, count: usize) -> Chosen {
    match (number, count) {
        (Some(number), count) if (1..=count).contains(&number) => Chosen::One(number - 1),
        (None, 1) => Chosen::One(0),
        (Some(_), _) | (None, 0) => Chosen::None,
        (None, _) => Chosen::Several,
    }
}

/// The elements that the frames find by text or CSS; `None` if there are none.
fn element_in_frames(
    frames: &mut Frames,
    socket: &mut TabSocket,
    all: &[Frame],
    (what, text, number): (&str, &str, Option<usize>),
    until: Instant,
) -> Result<Option<Result<FoundElement, NotFound>>, CommandError> {
    for frame in all {
        let objects = match frames.elements(socket, frame, what, &json!(text), until) {
            // The frame is gone or has another document.
            Err(CommandError::Failed(_)) => continue,
            found => found?.unwrap_or_default().objects,
        };
        let object = match chosen(number, objects.len()) {
            Chosen::None => continue,
            Chosen::One(index) => &objects[index],
            Chosen::Several => {
                let mut listed = vec![];
                for (index, object) in objects.iter().enumerate().take(LISTED) {
                    let place = (frame.session.as_deref(), &*frame.id);
                    let state = frames.on(socket, place, object, ("state", &Value::Null), until)?;
                    listed.push(described(text, index, &state));
                }
                return Ok(Some(Err(NotFound::Several(listed))));
            }
        };
        if let Some(element_id) = Frames::element_id(socket, frame, object, until)? {
            return Ok(Some(Ok(FoundElement { element_id, object: Some(object.clone()), name: None })));
        }
    }
    Ok(None)
}

/// The element at `index` of those that are found by `text`, with its description in `state`.
pub(crate) fn described(text: &str, index: usize, state: &Value) -> ListedElement {
    let under = state["description"].as_str().map(str::to_owned);
    ListedElement {
        number: None,
        element: format!("{text} [{}]", index + 1),
        state: None,
        value: None,
        under,
        url: None,
    }
}

pub(crate) fn candidates(nodes: &[Node], found: &[usize]) -> Vec<ListedElement> {
    let listed = list(nodes);
    let own = |index: &usize| {
        let node = &nodes[*index];
        let element = listed.iter().find(|(listed, _)| listed == index).map(|(_, listed)| listed.clone());
        let mut element = element.unwrap_or_else(|| ListedElement {
            number: None,
            element: node.name.clone(),
            state: None,
            value: None,
            under: Some(node.under.clone()),
            url: None,
        });
        // A longer address is not shown in parts: a part is not one.
        element.url = node.url.clone().filter(|url| url.len() <= MAX_CANDIDATE_URL);
        element
    };
    found.iter().map(own).take(LISTED).collect()
}

/// The elements whose names share the most words with the requested one; those with its role first.
pub(crate) fn nearest(nodes: &[Node], locator: &Locator) -> Vec<ListedElement> {
    let (role, name) = locator.role().unwrap_or(("", &locator.text));
    let words: Vec<String> = name.split_whitespace().map(str::to_lowercase).collect();
    let score = |node: &Node| {
        let own = node.name.to_lowercase();
        let shared = words.iter().filter(|word| own.contains(word.as_str())).count();
        shared * 2 + usize::from(node.role == role)
    };
    let mut near: Vec<_> = list(nodes).into_iter().map(|(index, listed)| (score(&nodes[index]), listed)).collect();
    near.retain(|(score, _)| *score > 0);
    near.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    near.into_iter().take(LISTED).map(|(_, listed)| listed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(listed: &[ListedElement]) -> Vec<&str> {
        listed.iter().map(|element| element.element.as_str()).collect()
    }

    #[test]
    fn a_number_chooses_and_one_element_needs_none() {
        for (number, count, expected) in [(None, 1, Some(0)), (Some(2), 2, Some(1)), (Some(1), 1, Some(0))] {
            assert!(matches!((chosen(number, count), expected), (Chosen::One(found), Some(index)) if found == index));
        }
        for (number, count) in [(None, 0), (Some(0), 2), (Some(3), 2), (Some(1), 0)] {
            assert!(matches!(chosen(number, count), Chosen::None), "{number:?} {count}");
        }
        assert!(matches!(chosen(None, 2), Chosen::Several));
    }

    #[test]
    fn the_most_similar_elements_come_first() {
        let nodes = [
            Node::shown("link", "Guides"),
            Node::shown("link", "Save the page"),
            Node::shown("button", "Save"),
            Node::shown("", "Save as text"),
            Node::shown("button", "Other"),
        ];
        let near =
            |text: &str| nearest(&nodes, &Locator::new(text)).iter().map(|one| one.element.clone()).collect::<Vec<_>>();
        assert_eq!(near("button:SAVE file"), ["button:Save", "link:Save the page", "button:Other"]);
        assert_eq!(near("save page"), ["link:Save the page", "button:Save"]);
        assert_eq!(near("nothing like it"), Vec::<String>::new());
        let many: Vec<Node> = (0..50).map(|n| Node::shown("link", &format!("Save {n}"))).collect();
        assert_eq!(nearest(&many, &Locator::new("Save")).len(), LISTED);
    }

    #[test]
    fn candidates_are_named_so_that_each_can_be_chosen() {
        let mut text = Node::shown("", "Save");
        text.under = "Part".into();
        let nodes = [Node::shown("button", "Save"), Node::shown("button", "Save"), text];
        let listed = candidates(&nodes, &[0, 1, 2]);
        assert_eq!(names(&listed), ["button:Save [1]", "button:Save [2]", "Save"]);
        assert_eq!(listed[2].under.as_deref(), Some("Part"));
        let described = described(".row", 1, &json!({"description": "a row"}));
        assert_eq!((described.element.as_str(), described.under.as_deref()), (".row [2]", Some("a row")));
    }
}
