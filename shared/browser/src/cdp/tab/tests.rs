//! Tests of what a tab's socket makes of the messages of a browser.

use super::*;
use crate::{
    cdp::fake_tab::{count, refused, result, soon, tab},
    loading::Load,
};

fn event(method: &str, params: Value) -> Value {
    [("method", Value::from(method)), ("params", params)].into_iter().collect()
}

fn attached(session: &str, kind: &str) -> Value {
    event("Target.attachedToTarget", json!({"sessionId": session, "targetInfo": {"type": kind}}))
}

/// A browser that sends `events` before it answers a question for the target, and answers all else at once.
fn sending(events: Vec<Value>) -> impl FnMut(&Value) -> Vec<Value> {
    move |command| {
        let mut messages = if command["method"] == "Target.getTargetInfo" { events.clone() } else { vec![] };
        messages.push(result(json!({})));
        messages
    }
}

fn everything() -> Rc<Loading> {
    Rc::new(Loading::new(Load::Everything, None))
}

#[test]
fn a_script_returns_a_value_or_its_exception() {
    let words = |answer: Value| match returned(answer) {
        Err(CommandError::Failed(words)) => words.words,
        other => panic!("{other:?}"),
    };
    assert_eq!(returned(json!({"result": {"value": [1]}})).unwrap(), json!([1]));
    assert_eq!(returned(json!({"result": {"type": "undefined"}})).unwrap(), Value::Null);
    assert_eq!(words(json!({"exceptionDetails": {"text": "Uncaught", "exception": {"description": "E: a"}}})), "E: a");
    assert_eq!(words(json!({"exceptionDetails": {"text": "Uncaught"}, "result": {"value": 1}})), "Uncaught");
    assert_eq!(words(json!({"exceptionDetails": {}})), "");
}

#[test]
fn frames_with_processes_of_their_own_are_followed_until_they_are_gone() {
    let mut send = sending(vec![attached("frame", "iframe"), attached("worker", "worker")]);
    let gone = event("Target.detachedFromTarget", json!({"sessionId": "frame"}));
    let (mut socket, commands) =
        tab(move |command| if command["method"] == "Page.getFrameTree" { vec![gone.clone()] } else { send(command) });
    socket.follow_frames(everything(), soon()).unwrap();
    assert_eq!(socket.frames(), ["frame"]);
    // A removed frame does not answer, and its session is not asked again.
    for _ in 0..2 {
        let answer = socket.ask(Some("frame"), "Page.getFrameTree", &json!({}), soon());
        assert!(matches!(answer, Err(CommandError::Failed(words)) if words.words == "the frame is gone"));
    }
    assert!(socket.frames().is_empty());
    // Both were paused, and so were their own frames.
    socket.receive_known_events(soon()).unwrap();
    for method in ["Runtime.runIfWaitingForDebugger", "Target.setAutoAttach"] {
        let commands = commands.lock().unwrap();
        let resumed =
            |session: &str| commands.iter().any(|sent| sent["method"] == method && sent["sessionId"] == session);
        assert!(resumed("frame") && resumed("worker"), "{method}");
    }
}

#[test]
fn events_of_page_and_network_are_kept_and_side_events_while_a_call_acts() {
    let dialog = event("Page.javascriptDialogOpening", json!({}));
    let events = vec![event("Network.a", json!(1)), event("DOM.b", json!(2)), dialog.clone()];
    let names = |events: Vec<Event>| events.into_iter().map(|event| event.method).collect::<Vec<_>>();
    let (mut socket, _) = tab(sending(events));
    socket.receive_known_events(soon()).unwrap();
    assert_eq!(names(socket.take_events()), ["Network.a", "Page.javascriptDialogOpening"]);
    socket.follow_frames(everything(), soon()).unwrap();
    assert_eq!(names(socket.take_events()), ["Network.a"]);
    assert_eq!(names(socket.take_side_events()), ["Page.javascriptDialogOpening"]);
    // A page that opens dialogs without end takes no memory without end.
    let (mut socket, _) = tab(sending(vec![dialog; MAX_SIDE_EVENTS + 20]));
    socket.follow_frames(everything(), soon()).unwrap();
    assert_eq!((socket.take_side_events().len(), socket.take_events().len()), (MAX_SIDE_EVENTS, 0));
}

#[test]
fn commands_that_are_sent_together_are_told_apart() {
    let (mut socket, _) = tab(|command| match command["method"].as_str().unwrap() {
        "A.fails" => vec![refused()],
        "A.closes" => vec![event("Target.detachedFromTarget", json!({"sessionId": "frame"}))],
        "Target.getTargetInfo" => vec![attached("frame", "iframe"), result(json!({}))],
        method if method.starts_with("A.") => vec![event("Network.x", json!({})), result(json!(method))],
        _ => vec![result(json!({}))],
    });
    let commands = ["A.one", "A.fails", "A.two"].map(|method| (method, json!({})));
    assert_eq!(socket.ask_each(&commands, soon()).unwrap(), [Some(json!("A.one")), None, Some(json!("A.two"))]);
    assert_eq!(socket.ask_all(&commands, soon()).unwrap(), json!("A.two"));
    assert_eq!((socket.ask_all(&[], soon()).unwrap(), socket.take_events().len()), (Value::Null, 4));
    // A click that removes its own frame may never be answered.
    socket.follow_frames(everything(), soon()).unwrap();
    assert_eq!(socket.ask_all(&[("A.closes", json!({}))], soon()).unwrap(), Value::Null);
}

#[test]
fn a_host_has_answered_whatever_its_status_is_but_not_if_it_cannot_be_reached() {
    let answers = |resource: Value| {
        let (mut socket, _) = tab(move |_| vec![result(json!({"resource": resource}))]);
        socket.ask_host(&Url::parse("https://x.example/a?b").unwrap()).unwrap();
        socket.receive_known_events(soon()).unwrap();
        socket.take_events().pop().map(|event| (event.method, event.params))
    };
    let answered = Some((HOST_ANSWERED.to_owned(), json!({"url": "https://x.example/robots.txt"})));
    assert_eq!(answers(json!({"success": false, "httpStatusCode": 404})), answered);
    assert_eq!(answers(json!({"success": false, "netErrorName": "net::ERR_NAME_NOT_RESOLVED"})), None);
}

#[test]
fn scripts_share_a_world_until_its_document_ends() {
    let mut last = 0;
    let (mut socket, commands) = tab(move |command| match command["method"].as_str().unwrap() {
        "Page.createIsolatedWorld" => {
            last += 1;
            vec![result(json!({"executionContextId": last}))]
        }
        "Runtime.evaluate" if command["params"]["expression"].as_str().unwrap().contains("gone") => vec![refused()],
        "Runtime.evaluate" => vec![result(json!({"result": {"value": command["params"]["contextId"]}}))],
        _ => vec![result(json!({}))],
    });
    let mut run = |body: &str| {
        let id = socket.execute(body, &json!([]), soon()).unwrap();
        socket.executed(id, soon())
    };
    assert_eq!((run("a").unwrap(), run("b").unwrap()), (json!(1), json!(1)));
    assert!(matches!(run("gone"), Err(CommandError::Failed(_))));
    assert_eq!((run("c").unwrap(), count(&commands, "Page.createIsolatedWorld")), (json!(2), 2));
}

#[test]
fn the_first_report_of_a_document_counts_and_one_that_is_not_json_is_null() {
    let report = |payload: &str| event("Runtime.bindingCalled", json!({"payload": payload}));
    for (payload, expected) in [("{\"a\":1}", json!({"a": 1})), ("not JSON", Value::Null)] {
        let (mut socket, _) = tab(sending(vec![report(payload), report("2")]));
        socket.run_in_next_document("", &json!([])).unwrap();
        socket.receive_known_events(soon()).unwrap();
        assert_eq!(socket.report(soon()).unwrap(), Some(expected));
        assert_eq!(socket.report(Instant::now()).unwrap(), None);
    }
}
