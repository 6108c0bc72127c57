//! The elements of a page that can be acted on, as a script lists them: WebDriver has no accessibility tree.

use serde_json::{Value, json};

use super::{WebDriverVisit, in_function};
use crate::{
    elements::{ELEMENT, ElementId, FrameScript, Node, ROLES},
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

/// The states that `js/controls.js` names.
const STATES: [&str; 9] =
    ["disabled", "checked", "unchecked", "mixed", "selected", "pressed", "expanded", "collapsed", "readonly"];

/// The name of the member with which WebDriver refers to an element.
const REFERENCE: &str = "element-6066-11e4-a52e-4f735466cecf";

/// The reference in the answer of a script.
pub(super) fn reference(element: &Value) -> Option<String> {
    element[REFERENCE].as_str().map(str::to_owned)
}

/// The element of a reference, as an argument.
pub(super) fn element(reference: &str) -> Value {
    json!({REFERENCE: reference})
}

/// The nodes that can be acted on, and a reference to the element of each.
type Controls = (Vec<Node>, Vec<String>);

/// The nodes that can be acted on, with references; `None` if the selector is invalid.
pub(super) fn nodes(visit: &WebDriverVisit<'_>, selector: Option<&str>) -> Result<Option<Controls>, CommandError> {
    let answer =
        visit.execute(&in_function(CONTROLS), &json!([ROLES, selector, LIMITS.page]), LIMITS.webdriver_read)?;
    let Some(listed) = answer.as_array() else { return Ok(None) };
    Ok(Some(listed.iter().filter_map(|listed| Some((node(listed)?, reference(&listed[0])?))).unzip()))
}

/// The node that the script describes.
fn node(listed: &Value) -> Option<Node> {
    let text = |index: usize| listed[index].as_str().unwrap_or_default().to_owned();
    let states = listed[4].as_array().into_iter().flatten();
    let states = states.filter_map(|state| STATES.into_iter().find(|known| state == known));
    Some(Node {
        element_id: ElementId { session: None, frame: String::new(), node: 0 },
        role: ROLES.into_iter().find(|role| listed[1] == *role)?,
        name: text(2),
        value: text(3),
        states: states.collect(),
        url: listed[5].as_str().map(str::to_owned),
        under: text(6),
        is_own: true,
        is_main: listed[7] == true,
        is_chosen: listed[8] == true,
        within: None,
    })
}

impl WebDriverVisit<'_> {
    /// The answer of one of the scripts for frames to `what`.
    pub(super) fn ask(&self, script: &FrameScript, what: &str, given: &Value) -> Result<Value, CommandError> {
        self.execute(&in_function(script.body), &json!([what, given, LIMITS.page]), LIMITS.webdriver_read)
    }

    /// Runs an operation of `js/element.js` on an element. One that has gone is answered as by the script.
    pub(super) fn on(&self, reference: &str, what: &str, given: &Value) -> Result<Value, CommandError> {
        let script = format!("return (\n{ELEMENT}\n).call(...arguments);");
        match self.execute(&script, &json!([element(reference), what, given]), LIMITS.webdriver_read) {
            Err(error) if is_stale_element(&error) => Ok(json!({"gone": true})),
            answer => answer,
        }
    }

    /// The element that received the click, as the document recorded it. The element may have been removed.
    pub(super) fn click_result(&self) -> Result<Value, CommandError> {
        let script = format!("return (\n{ELEMENT}\n).call(document.documentElement ?? document, 'disarm');");
        self.execute(&script, &json!([]), LIMITS.webdriver_read)
    }

    /// The nodes that can be acted on; `None` if the selector is invalid.
    pub(crate) fn nodes(&self, selector: Option<&str>) -> Result<Option<Vec<Node>>, CommandError> {
        Ok(nodes(self, selector)?.map(|(nodes, _)| nodes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_what_the_script_lists() {
        let listed = json!([{REFERENCE: "e1"}, "checkbox", "All", "", ["checked", "new"], null, "Part", true, false]);
        let node = node(&listed).unwrap();
        assert_eq!((node.role, node.name.as_str(), node.under.as_str()), ("checkbox", "All", "Part"));
        assert!(node.states == ["checked"] && node.is_main && !node.is_chosen && node.acts());
        assert_eq!(reference(&element("e1")).as_deref(), Some("e1"));
        let unknown = json!([{REFERENCE: "e1"}, "banner", "All", "", [], null, "", false, false]);
        assert!(super::node(&unknown).is_none());
    }
}
