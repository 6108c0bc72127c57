//! The frames of a page, and the functions that run in them and on their elements.
//!
//! Everything runs in isolated worlds, one in each frame, so the page's scripts cannot change the results.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    time::Instant,
};

use serde_json::{Value, json};

use crate::{
    cdp::{TabSocket, returned},
    error::CommandError,
    limits::LIMITS,
};

/// A script that is run in frames.
#[derive(Debug)]
pub(crate) struct FrameScript {
    /// The name under which an isolated world keeps it: to send and parse it for each question takes longer than most
    /// answers.
    name: &'static str,
    /// The body of an async function.
    pub(crate) body: &'static str,
}

macro_rules! in_frame {
    ($name:literal $(, $part:literal)*) => {
        FrameScript {
            name: $name,
            body: concat!(
                include_str!("../js/document.js"),
                include_str!("../js/page-state.js"),
                include_str!("../js/text.js"),
                $("\n", include_str!(concat!("../js/", $part, ".js")),)*
                "\n",
                include_str!(concat!("../js/", $name, ".js"))
            ),
        }
    };
}

pub(crate) static PAGE: FrameScript = in_frame!("page", "candidates");
pub(crate) static EXPAND: FrameScript = in_frame!("expand");
pub(crate) static CONSENT: FrameScript = in_frame!("consent");
pub(crate) static SCREENSHOT: FrameScript = in_frame!("screenshot");
pub(crate) const ELEMENT: &str = include_str!("../js/element.js");

/// The name under which an isolated world keeps it.
const ELEMENT_NAME: &str = "element";

/// The name of the isolated worlds.
const WORLD: &str = "tool";

/// The maximum number of frames of a page that are read.
pub(crate) const MAX_FRAMES: usize = 40;

/// The identity of an element: its process, its frame, and its node id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ElementId {
    /// The session of a frame with its own process; `None` for the page's process.
    pub(crate) session: Option<String>,
    /// The id of the frame.
    pub(crate) frame: String,
    /// The backend node id.
    pub(crate) node: i64,
}

/// A frame of the page.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// The session of its process; `None` for the page's process.
    pub(crate) session: Option<String>,
    /// Its id.
    pub(crate) id: String,
    /// The element that contains the frame; `None` for the page itself.
    pub(crate) owner: Option<ElementId>,
}

/// The frames of a page, with the isolated world of each.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    worlds: HashMap<(Option<String>, String), World>,
    /// Whether the browser keeps the accessibility tree of the page up to date.
    keeps_tree: bool,
}

/// Elements that a script found, as remote objects.
#[derive(Debug, Default)]
pub(crate) struct FoundObjects {
    pub(crate) objects: Vec<String>,
    /// Whether there is one, which is without doubt the one that was asked for.
    pub(crate) is_certain: bool,
    /// What else the script says of the elements.
    pub(crate) facts: Vec<Value>,
}

/// The isolated world of a frame's document.
#[derive(Debug, Default)]
struct World {
    /// The id of its execution context.
    id: i64,
    /// The scripts that it keeps.
    kept: HashSet<&'static str>,
}

impl Frames {
    /// The frames, the page itself first.
    pub(crate) fn all(socket: &mut TabSocket, until: Instant) -> Result<Vec<Frame>, CommandError> {
        let sessions: Vec<Option<String>> =
            [None].into_iter().chain(socket.frames().iter().cloned().map(Some)).collect();
        let mut found: Vec<Frame> = vec![];
        for session in sessions {
            let tree = match socket.ask(session.as_deref(), "Page.getFrameTree", &json!({}), until) {
                Ok(tree) => tree,
                // The frame may be gone.
                Err(CommandError::Failed(_)) if session.is_some() => continue,
                Err(error) => return Err(error),
            };
            let mut trees = vec![&tree["frameTree"]];
            while let Some(tree) = trees.pop() {
                if let Some(id) = tree["frame"]["id"].as_str().filter(|_| found.len() < MAX_FRAMES) {
                    found.push(Frame { session: session.clone(), id: id.to_owned(), owner: None });
                }
                trees.extend(tree["childFrames"].as_array().into_iter().flatten().rev());
            }
        }
        for index in 1..found.len() {
            found[index].owner = owner(socket, &found, &found[index], until)?;
        }
        // Frames without an owner were removed meanwhile.
        let mut index = 0;
        found.retain(|frame| {
            index += 1;
            index == 1 || frame.owner.is_some()
        });
        Ok(found)
    }

    /// Asks a frame what the script [`EXPAND`], [`CONSENT`] or [`SCREENSHOT`] answers to `asked`: what, and what is
    /// given.
    pub(crate) fn run(
        &mut self,
        socket: &mut TabSocket,
        frame: &Frame,
        script: &'static FrameScript,
        asked: (&str, &Value),
        until: Instant,
    ) -> Result<Value, CommandError> {
        let answer = self.evaluate(socket, frame, script, asked, true, until)?;
        returned(answer)
    }

    /// Calls a function of `js/page.js` in a frame.
    pub(crate) fn ask(
        &mut self,
        socket: &mut TabSocket,
        frame: &Frame,
        what: &str,
        given: &Value,
        until: Instant,
    ) -> Result<Value, CommandError> {
        self.run(socket, frame, &PAGE, (what, given), until)
    }

    /// The elements that `js/page.js` finds in a frame; `None` if it answers null, as for an invalid selector.
    pub(crate) fn elements(
        &mut self,
        socket: &mut TabSocket,
        frame: &Frame,
        what: &str,
        given: &Value,
        until: Instant,
    ) -> Result<Option<FoundObjects>, CommandError> {
        let answer = self.evaluate(socket, frame, &PAGE, (what, given), false, until)?;
        if let Some(thrown) = answer["exceptionDetails"]["exception"]["description"].as_str() {
            return Err(CommandError::Failed(thrown.into()));
        }
        let Some(list) = answer["result"]["objectId"].as_str() else { return Ok(None) };
        let session = frame.session.as_deref();
        let listed =
            socket.ask(session, "Runtime.getProperties", &json!({"objectId": list, "ownProperties": true}), until)?;
        let items = || listed["result"].as_array().into_iter().flatten();
        let numbered = items().filter(|item| item["name"].as_str().is_some_and(|name| name.parse::<usize>().is_ok()));
        let objects = numbered.filter_map(|item| item["value"]["objectId"].as_str().map(str::to_owned)).collect();
        let is_certain = items().any(|item| item["name"] == "certain" && item["value"]["value"] == true);
        let facts = items().find(|item| item["name"] == "facts").and_then(|item| item["value"]["value"].as_str());
        let facts = facts.and_then(|facts| serde_json::from_str(facts).ok()).unwrap_or_default();
        Ok(Some(FoundObjects { objects, is_certain, facts }))
    }

    /// Lets the browser keep the accessibility tree of the page up to date from here on: each question would build it
    /// anew.
    pub(super) fn keep_tree(&mut self, socket: &mut TabSocket, until: Instant) -> Result<(), CommandError> {
        if !self.keeps_tree {
            socket.ask(None, "Accessibility.enable", &json!({}), until)?;
            self.keeps_tree = true;
        }
        Ok(())
    }

    /// The location of a remote object in `frame`.
    pub(crate) fn element_id(
        socket: &mut TabSocket,
        frame: &Frame,
        object: &str,
        until: Instant,
    ) -> Result<Option<ElementId>, CommandError> {
        let session = frame.session.as_deref();
        let described = socket.ask(session, "DOM.describeNode", &json!({"objectId": object}), until)?;
        let node = described["node"]["backendNodeId"].as_i64();
        Ok(node.map(|node| ElementId { session: frame.session.clone(), frame: frame.id.clone(), node }))
    }

    /// The element at `place` as a remote object; [`CommandError::Failed`] if it is gone.
    pub(crate) fn object(
        &mut self,
        socket: &mut TabSocket,
        element_id: &ElementId,
        until: Instant,
    ) -> Result<String, CommandError> {
        let world = self.world(socket, element_id.session.as_ref(), &element_id.frame, until)?.id;
        let params = json!({"backendNodeId": element_id.node, "executionContextId": world});
        let answer = match socket.ask(element_id.session.as_deref(), "DOM.resolveNode", &params, until) {
            Err(CommandError::Failed(_)) => {
                // The world ends with its document.
                self.worlds.remove(&(element_id.session.clone(), element_id.frame.clone()));
                let world = self.world(socket, element_id.session.as_ref(), &element_id.frame, until)?.id;
                let params = json!({"backendNodeId": element_id.node, "executionContextId": world});
                socket.ask(element_id.session.as_deref(), "DOM.resolveNode", &params, until)?
            }
            answer => answer?,
        };
        let object = answer["object"]["objectId"].as_str().map(str::to_owned);
        object.ok_or_else(|| CommandError::Failed("the element is gone".into()))
    }

    /// Runs an operation of `js/element.js` on the remote object of an element in the frame `frame` of `session`.
    pub(crate) fn on(
        &mut self,
        socket: &mut TabSocket,
        (session, frame): (Option<&str>, &str),
        object: &str,
        (what, given): (&str, &Value),
        until: Instant,
    ) -> Result<Value, CommandError> {
        let given = if let Some(other) = given["objectId"].as_str() {
            json!({"objectId": other})
        } else {
            json!({"value": given})
        };
        let world = (session.map(str::to_owned), frame.to_owned());
        let function = function(self.worlds.get(&world), ELEMENT_NAME, || ELEMENT.to_owned());
        let by_value = !matches!(what, "label" | "option");
        let params = json!({
            "objectId": object, "functionDeclaration": format!("function (...given) {{ return {function}.apply(this, given); }}"),
            "arguments": [{"value": what}, given], "returnByValue": by_value, "awaitPromise": true,
        });
        let answer = socket.ask(session, "Runtime.callFunctionOn", &params, until)?;
        if let Some(world) = self.worlds.get_mut(&world) {
            world.kept.insert(ELEMENT_NAME);
        }
        if by_value { returned(answer) } else { Ok(answer["result"]["objectId"].clone()) }
    }

    fn evaluate(
        &mut self,
        socket: &mut TabSocket,
        frame: &Frame,
        script: &'static FrameScript,
        (what, given): (&str, &Value),
        by_value: bool,
        until: Instant,
    ) -> Result<Value, CommandError> {
        let FrameScript { name, body } = *script;
        let arguments = json!([what, given, LIMITS.page]);
        let mut again = true;
        loop {
            let world = self.world(socket, frame.session.as_ref(), &frame.id, until)?;
            let function = function(Some(world), name, || format!("async function () {{\n{body}\n}}"));
            world.kept.insert(name);
            let params = json!({
                "expression": format!("{function}(...{arguments})"), "contextId": world.id, "returnByValue": by_value,
                "awaitPromise": true,
            });
            match socket.ask(frame.session.as_deref(), "Runtime.evaluate", &params, until) {
                // The world ends with its document.
                Err(CommandError::Failed(_)) if again => {
                    self.worlds.remove(&(frame.session.clone(), frame.id.clone()));
                    again = false;
                }
                answer => return answer,
            }
        }
    }

    fn world(
        &mut self,
        socket: &mut TabSocket,
        session: Option<&String>,
        frame: &str,
        until: Instant,
    ) -> Result<&mut World, CommandError> {
        let world = match self.worlds.entry((session.cloned(), frame.to_owned())) {
            Entry::Occupied(world) => world.into_mut(),
            Entry::Vacant(entry) => {
                let params = json!({"frameId": frame, "worldName": WORLD});
                let made = socket.ask(session.map(String::as_str), "Page.createIsolatedWorld", &params, until)?;
                let id = made["executionContextId"].as_i64().unwrap_or_default();
                entry.insert(World { id, kept: HashSet::new() })
            }
        };
        Ok(world)
    }
}

/// The function `name` of an isolated world, as an expression; it keeps `source` if it does not have it yet.
fn function(world: Option<&World>, name: &'static str, source: impl FnOnce() -> String) -> String {
    let kept = format!("globalThis.{WORLD}_{name}");
    let is_kept = world.is_some_and(|world| world.kept.contains(name));
    if is_kept { kept } else { format!("({kept} = {})", source()) }
}

/// The element that contains `frame`; it is in a frame of the parent's process.
fn owner(
    socket: &mut TabSocket,
    frames: &[Frame],
    frame: &Frame,
    until: Instant,
) -> Result<Option<ElementId>, CommandError> {
    let mut sessions: Vec<&Option<String>> = vec![&frame.session];
    for other in frames {
        if !sessions.contains(&&other.session) {
            sessions.push(&other.session);
        }
    }
    for session in sessions {
        match socket.ask(session.as_deref(), "DOM.getFrameOwner", &json!({"frameId": frame.id}), until) {
            Ok(owner) => {
                if let Some(node) = owner["backendNodeId"].as_i64() {
                    // The frame within the process is irrelevant, because node ids are unique in the process.
                    return Ok(Some(ElementId { session: session.clone(), frame: String::new(), node }));
                }
            }
            Err(CommandError::Failed(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cdp::fake_tab::{count, refused, result, soon, tab};

    fn tree(id: &str, inner: &[Value]) -> Value {
        json!({"frame": {"id": id}, "childFrames": inner})
    }

    /// The ids of the frames of a page with this tree, where the elements of frames with `gone` in their id are gone.
    fn all(tree: Value) -> Vec<String> {
        let (mut socket, _) = tab(move |command| match command["method"].as_str().unwrap() {
            "Page.getFrameTree" => vec![result(json!({"frameTree": tree}))],
            "DOM.getFrameOwner" if command["params"]["frameId"].as_str().unwrap().contains("gone") => vec![refused()],
            _ => vec![result(json!({"backendNodeId": 7}))],
        });
        let frames = Frames::all(&mut socket, soon()).unwrap();
        assert!(frames[0].owner.is_none() && frames[1..].iter().all(|frame| frame.owner.as_ref().unwrap().node == 7));
        frames.into_iter().map(|frame| frame.id).collect()
    }

    #[test]
    fn frames_are_in_the_order_of_the_page_and_those_that_are_gone_are_left_out() {
        let page = tree("top", &[tree("a", &[tree("a1", &[]), tree("gone", &[])]), tree("b", &[])]);
        assert_eq!(all(page), ["top", "a", "a1", "b"]);
        let many: Vec<Value> = (0..MAX_FRAMES + 5).map(|id| tree(&id.to_string(), &[])).collect();
        assert_eq!(all(tree("gone", &many)).len(), MAX_FRAMES);
    }

    #[test]
    fn a_script_is_sent_once_to_each_document() {
        let (mut documents, mut asked) = (0, 0);
        let (mut socket, commands) = tab(move |command| match command["method"].as_str().unwrap() {
            "Page.createIsolatedWorld" => {
                documents += 1;
                vec![result(json!({"executionContextId": documents}))]
            }
            "Runtime.evaluate" => {
                asked += 1;
                // The third question finds the document replaced.
                let context = &command["params"]["contextId"];
                vec![if asked == 3 { refused() } else { result(json!({"result": {"value": context}})) }]
            }
            _ => vec![result(json!({}))],
        });
        let mut frames = Frames::default();
        let frame = Frame { session: None, id: "top".into(), owner: None };
        let mut ask = || frames.ask(&mut socket, &frame, "find", &json!("a"), soon()).unwrap();
        assert_eq!([ask(), ask(), ask(), ask()], [json!(1), json!(1), json!(2), json!(2)]);
        assert_eq!(count(&commands, "Page.createIsolatedWorld"), 2);
        let commands = commands.lock().unwrap();
        let sent = commands.iter().filter_map(|command| command["params"]["expression"].as_str());
        let is_whole = |expression: &str| expression.contains("async function");
        assert_eq!(sent.map(is_whole).collect::<Vec<_>>(), [true, false, false, true, false]);
    }

    #[test]
    fn an_element_of_an_ended_document_is_gone_and_elements_are_listed_with_their_facts() {
        let (mut socket, _) = tab(|command| match command["method"].as_str().unwrap() {
            "Page.createIsolatedWorld" => vec![result(json!({"executionContextId": 1}))],
            "DOM.resolveNode" => vec![refused()],
            "Runtime.evaluate" => vec![result(json!({"result": {"objectId": "list"}}))],
            "Runtime.getProperties" => vec![result(json!({"result": [
                {"name": "0", "value": {"objectId": "a"}}, {"name": "1", "value": {"objectId": "b"}},
                {"name": "length", "value": {"objectId": "no"}}, {"name": "certain", "value": {"value": true}},
                {"name": "facts", "value": {"value": "[{\"x\": 1}]"}},
            ]}))],
            _ => vec![result(json!({}))],
        });
        let mut frames = Frames::default();
        let place = ElementId { session: None, frame: "top".into(), node: 1 };
        assert!(matches!(frames.object(&mut socket, &place, soon()), Err(CommandError::Failed(_))));
        let frame = Frame { session: None, id: "top".into(), owner: None };
        let found = frames.elements(&mut socket, &frame, "find", &json!("a"), soon()).unwrap().unwrap();
        assert_eq!(
            (found.objects, found.is_certain, found.facts),
            (vec!["a".into(), "b".into()], true, vec![json!({"x": 1})])
        );
    }
}
