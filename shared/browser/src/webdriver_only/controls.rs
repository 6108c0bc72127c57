//! The elements of a page that can be acted on, as a script lists them: WebDriver has no accessibility tree.

use serde_json::{Value, json};

use super::{
    WebDriverVisit,
    frames::{self, TOP, element, reference},
    in_function,
};
use crate::{
    elements::{ELEMENT, ElementId, FrameScript, MAX_FRAMES, Node, PAGE, PageNodes, ROLES},
    error::CommandError,
    limits::LIMITS,
    webdriver::is_stale_element,
};

const CONTROLS: &str = concat!(
    include_str!("../js/document.js"),
    include_str!("../js/page-state.js"),
    include_str!("../js/text.js"),
    include_str!("../js/names.js"),
    "\n",
    include_str!("../js/controls.js")
);

/// What `js/controls.js` calls a frame.
const FRAME: &str = "frame";

/// The states that `js/controls.js` names.
const STATES: [&str; 9] =
    ["disabled", "checked", "unchecked", "mixed", "selected", "pressed", "expanded", "collapsed", "readonly"];

/// The nodes that can be acted on, and a reference to the element of each.
pub(super) type Controls = (Vec<Node>, Vec<String>);

/// Where a node is: what it inherits from the frame that it is in.
#[derive(Clone)]
struct Inside {
    /// The path of the frame.
    frame: String,
    under: String,
    is_main: bool,
    is_chosen: bool,
}

/// The nodes of the page, and of its frames in their places; `None` if the selector is invalid.
pub(super) fn nodes(visit: &WebDriverVisit<'_>, selector: Option<&str>) -> Result<Option<Controls>, CommandError> {
    let mut found = Controls::default();
    let mut left = MAX_FRAMES;
    let page = Inside { frame: TOP.to_owned(), under: String::new(), is_main: false, is_chosen: false };
    Ok(collect(visit, selector, &page, &mut left, &mut found)?.then_some(found))
}

/// Adds the nodes of a frame to `found`, and of at most `left` frames in it. Returns whether the selector is valid.
fn collect(
    visit: &WebDriverVisit<'_>,
    selector: Option<&str>,
    inside: &Inside,
    left: &mut usize,
    found: &mut Controls,
) -> Result<bool, CommandError> {
    let arguments = json!([ROLES, selector, LIMITS.page]);
    let answer = visit.execute_in(&inside.frame, &in_function(CONTROLS), &arguments, LIMITS.webdriver_read)?;
    let Some(listed) = answer.as_array() else { return Ok(false) };
    for listed in listed {
        let Some(reference) = reference(&listed[0]) else { continue };
        if listed[1] == FRAME {
            if *left == 0 {
                continue;
            }
            *left -= 1;
            let inner = Inside {
                frame: frames::below(&inside.frame, &reference),
                under: listed[6].as_str().filter(|under| !under.is_empty()).unwrap_or(&inside.under).to_owned(),
                is_main: inside.is_main || listed[7] == true,
                is_chosen: inside.is_chosen || listed[8] == true,
            };
            match collect(visit, None, &inner, left, found) {
                // The frame is gone or has another document.
                Err(CommandError::Failed(_) | CommandError::Late) => {}
                collected => drop(collected?),
            }
        } else if let Some(node) = node(listed, inside) {
            found.0.push(node);
            found.1.push(reference);
        }
    }
    Ok(true)
}

/// The node that the script describes.
fn node(listed: &Value, inside: &Inside) -> Option<Node> {
    let text = |index: usize| listed[index].as_str().unwrap_or_default().to_owned();
    let states = listed[4].as_array().into_iter().flatten();
    let states = states.filter_map(|state| STATES.into_iter().find(|known| state == known));
    Some(Node {
        element_id: ElementId { session: None, frame: inside.frame.clone(), node: 0 },
        role: ROLES.into_iter().find(|role| listed[1] == *role)?,
        name: text(2),
        value: text(3),
        states: states.collect(),
        url: listed[5].as_str().map(str::to_owned),
        under: if listed[6] == "" { inside.under.clone() } else { text(6) },
        is_own: inside.frame == TOP,
        is_main: inside.is_main || listed[7] == true,
        is_chosen: inside.is_chosen || listed[8] == true,
        within: None,
    })
}

impl WebDriverVisit<'_> {
    /// The answer of one of the scripts for frames to `what`, in the page itself.
    pub(super) fn ask(&self, script: &FrameScript, what: &str, given: &Value) -> Result<Value, CommandError> {
        self.ask_in(TOP, script, what, given)
    }

    /// Runs an operation of `js/element.js` on an element of the frame at `frame`. One that has gone is answered as by
    /// the script.
    pub(super) fn on(&self, frame: &str, reference: &str, what: &str, given: &Value) -> Result<Value, CommandError> {
        let script = format!("return (\n{ELEMENT}\n).call(...arguments);");
        match self.execute_in(frame, &script, &json!([element(reference), what, given]), LIMITS.webdriver_read) {
            Err(error) if is_stale_element(&error) => Ok(json!({"gone": true})),
            answer => answer,
        }
    }

    /// The element that received the click, as the document of the frame recorded it. The element may have been removed.
    pub(super) fn click_result(&self, frame: &str) -> Result<Value, CommandError> {
        let script = format!("return (\n{ELEMENT}\n).call(document.documentElement ?? document, 'disarm');");
        self.execute_in(frame, &script, &json!([]), LIMITS.webdriver_read)
    }

    /// The nodes that can be acted on, those of frames as well; `None` if the selector is invalid.
    pub(crate) fn nodes(&self, selector: Option<&str>) -> Result<Option<PageNodes>, CommandError> {
        let Some((nodes, _)) = nodes(self, selector)? else { return Ok(None) };
        let is_matched = match selector {
            Some(selector) => self.ask_in(TOP, &PAGE, "selector", &json!(selector))? == true,
            None => false,
        };
        Ok(Some(PageNodes { nodes, is_matched }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webdriver_only::frames::REFERENCE;

    #[test]
    fn a_node_is_what_the_script_lists() {
        let listed = json!([{REFERENCE: "e1"}, "checkbox", "All", "", ["checked", "new"], null, "Part", true, false]);
        let page = Inside { frame: TOP.to_owned(), under: "Above".to_owned(), is_main: false, is_chosen: false };
        let node = node(&listed, &page).unwrap();
        assert_eq!((node.role, node.name.as_str(), node.under.as_str()), ("checkbox", "All", "Part"));
        assert!(node.states == ["checked"] && node.is_main && !node.is_chosen && node.acts());
        assert_eq!(reference(&element("e1")).as_deref(), Some("e1"));
        let unknown = json!([{REFERENCE: "e1"}, "banner", "All", "", [], null, "", false, false]);
        assert!(super::node(&unknown, &page).is_none());
        let inner = Inside { frame: "f1".to_owned(), is_chosen: true, ..page };
        let listed = json!([{REFERENCE: "e2"}, "button", "Send", "", [], null, "", false, false]);
        let node = super::node(&listed, &inner).unwrap();
        assert_eq!((node.element_id.frame.as_str(), node.under.as_str()), ("f1", "Above"));
        assert!(!node.is_own && node.is_chosen && !node.is_main);
    }
}
