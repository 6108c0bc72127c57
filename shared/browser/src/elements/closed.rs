//! Closed shadow roots, which the scripts of frames cannot find by themselves.

use std::{collections::HashSet, time::Instant};

use serde_json::{Value, json};

use super::frames::{ElementId, Frame, Frames};
use crate::{cdp::TabSocket, error::CommandError};

/// The maximum number of closed roots that are made known.
const MAX_ROOTS: usize = 500;

impl Frames {
    /// Makes the closed shadow roots of all frames known to `js/text.js`, except those in `known`, which is extended.
    pub(crate) fn note_closed(
        &mut self,
        socket: &mut TabSocket,
        known: &mut HashSet<ElementId>,
        until: Instant,
    ) -> Result<(), CommandError> {
        let all = Self::all(socket, until)?;
        for frame in &all {
            // The description of a frame has those of its process.
            if frame.owner.as_ref().is_some_and(|owner| owner.session == frame.session) {
                continue;
            }
            let tree = match self.tree(socket, frame, until) {
                // The frame is gone or has another document.
                Err(CommandError::Failed(_)) => continue,
                tree => tree?,
            };
            for element_id in first_elements(tree, frame.session.as_ref(), &frame.id) {
                if known.len() >= MAX_ROOTS || !known.insert(element_id.clone()) {
                    continue;
                }
                let noted = self.object(socket, &element_id, until).and_then(|object| {
                    let place = (element_id.session.as_deref(), &*element_id.frame);
                    self.on(socket, place, &object, ("state", &Value::Null), until)
                });
                match noted {
                    // It was removed meanwhile.
                    Err(CommandError::Failed(_)) => {}
                    noted => drop(noted?),
                }
            }
        }
        Ok(())
    }

    /// All nodes of a frame and of what it contains, as `DOM.describeNode` has them; null without a root element.
    fn tree(&mut self, socket: &mut TabSocket, frame: &Frame, until: Instant) -> Result<Value, CommandError> {
        let root = self.elements(socket, frame, "by-css", &json!(":root"), until)?.unwrap_or_default();
        let Some(root) = root.objects.first() else { return Ok(Value::Null) };
        let params = json!({"objectId": root, "depth": -1, "pierce": true});
        let mut answer = socket.ask(frame.session.as_deref(), "DOM.describeNode", &params, until)?;
        Ok(answer["node"].take())
    }
}

/// A node of each closed root below `top`; the outer roots first.
fn first_elements(top: Value, session: Option<&String>, frame: &str) -> Vec<ElementId> {
    let (mut found, mut nodes) = (vec![], vec![(top, frame.to_owned())]);
    while let Some((mut node, frame)) = nodes.pop() {
        if node["shadowRootType"] == "closed"
            && let Some(node) = node["children"][0]["backendNodeId"].as_i64()
        {
            found.push(ElementId { session: session.cloned(), frame: frame.clone(), node });
        }
        if let Some(inner) = node.get_mut("contentDocument").map(Value::take) {
            let frame = node["frameId"].as_str().unwrap_or(&frame).to_owned();
            nodes.push((inner, frame));
        }
        for list in ["children", "shadowRoots"] {
            if let Some(Value::Array(list)) = node.get_mut(list).map(Value::take) {
                nodes.extend(list.into_iter().map(|inner| (inner, frame.clone())));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_roots_are_found_at_any_depth_in_their_frames() {
        let closed = |node: i64, inner: Value| {
            json!({"nodeName": "DIV", "shadowRoots": [{"shadowRootType": "closed", "children": [
                {"backendNodeId": node, "children": [inner]}
            ]}]})
        };
        let top = json!({"nodeName": "HTML", "children": [
            closed(1, closed(2, json!({"nodeName": "B"}))),
            {"nodeName": "IFRAME", "frameId": "F", "contentDocument": {"children": [closed(3, Value::Null)]}},
            {"nodeName": "P", "shadowRoots": [{"shadowRootType": "open", "children": [{"backendNodeId": 4}]}]},
            {"nodeName": "P", "shadowRoots": [{"shadowRootType": "user-agent", "children": [{"backendNodeId": 5}]}]},
            {"nodeName": "P", "shadowRoots": [{"shadowRootType": "closed"}]},
        ]});
        let mut found: Vec<_> =
            first_elements(top, None, "T").into_iter().map(|found| (found.node, found.frame)).collect();
        assert!(found.iter().position(|(node, _)| *node == 1) < found.iter().position(|(node, _)| *node == 2));
        found.sort_unstable();
        assert_eq!(found, [(1, "T".to_owned()), (2, "T".to_owned()), (3, "F".to_owned())]);
    }
}
