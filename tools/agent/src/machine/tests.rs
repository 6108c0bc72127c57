//! Tests of the transitions of the state machine.

use super::*;
use proptest::prelude::*;
use ragmaker_model::{Message, TextSignature};
use serde_json::json;

fn call(id: &str, name: &str) -> Call {
    Call { id: id.into(), name: name.into(), arguments: json!({"a": 1}), signature: None }
}

fn user(text: &str) -> Event {
    Event::User { text: text.into() }
}

fn says(text: &str) -> Event {
    Event::Assistant { text: text.into(), signatures: vec![], calls: vec![], usage: Usage::default(), stop: Ended::End }
}

fn interrupted(text: &str) -> Event {
    Event::Interrupted { text: text.into() }
}

fn calls(calls: &[(&str, &str)]) -> Event {
    let calls = calls.iter().map(|(id, name)| call(id, name)).collect();
    Event::Assistant { text: String::new(), signatures: vec![], calls, usage: Usage::default(), stop: Ended::End }
}

fn result(id: &str, text: &str) -> Event {
    Event::ToolResult { id: id.into(), name: String::new(), text: text.into(), is_error: false, milliseconds: 0 }
}

fn summary(cut: usize, text: &str, strict: bool) -> Event {
    let usage = Usage { input_tokens: 100, output_tokens: 10 };
    Event::Summary { cut, text: text.into(), strict, usage, failure: None }
}

/// The state after `events`, and the effects of the last.
fn after(rules: &Rules, events: impl IntoIterator<Item = Event>) -> (State, Vec<Effect>) {
    events.into_iter().fold((State::default(), vec![]), |(state, _), event| next(state, event, rules))
}

#[test]
fn a_question_is_decided_executed_and_answered() {
    let rules = Rules { think_required: false, ..Rules::default() };
    let events = [
        (user("?"), Phase::AgentDecide, vec![Effect::Decide]),
        (
            calls(&[("a", "read_file"), ("b", "read_file")]),
            Phase::ToolExecution,
            vec![Effect::Run(vec![call("a", "read_file"), call("b", "read_file")])],
        ),
        (result("b", "2"), Phase::ToolExecution, vec![]),
        (result("x", "no such call"), Phase::ToolExecution, vec![]),
        (result("a", "1"), Phase::AgentDecide, vec![Effect::Decide]),
        (says("It is so."), Phase::End, vec![Effect::Answer("It is so.".into())]),
        (user("And?"), Phase::AgentDecide, vec![Effect::Decide]),
    ];
    let mut state = State::default();
    for (event, phase, effects) in events {
        let said = format!("{event:?}");
        let (after, done) = next(state, event, &rules);
        assert_eq!((after.phase, done), (phase, effects), "{said}");
        state = after;
    }
    assert_eq!((state.history.broken(), state.steps), (None, 0));
}

#[test]
fn an_answer_after_tools_is_reviewed_once() {
    let rules = Rules::default();
    let used = || [user("?"), calls(&[("a", "read_file")]), result("a", "1")];
    let (state, effects) = after(&rules, used().into_iter().chain([says("Done.")]));
    assert_eq!(effects, [Effect::Tell(Note::Review)]);
    let (state, effects) = next(state, Event::Note { note: Note::Review, text: "Judge it.".into() }, &rules);
    assert_eq!(effects, [Effect::Decide]);
    assert_eq!(next(state, says("Done."), &rules).1, [Effect::Answer("Done.".into())]);
    let thought = used().into_iter().chain([calls(&[("t", "think")]), result("t", "recorded"), says("Done.")]);
    assert_eq!(after(&rules, thought).1, [Effect::Answer("Done.".into())]);
    // A result after the thought has not been thought about.
    let again = [calls(&[("t", "think")]), result("t", "recorded"), calls(&[("b", "read_file")]), result("b", "2")];
    assert_eq!(after(&rules, used().into_iter().chain(again).chain([says("Done.")])).1, [Effect::Tell(Note::Review)]);
    // Neither has one that was asked for beside the thought.
    for (first, second) in [("read_file", "think"), ("think", "read_file")] {
        let beside = [user("?"), calls(&[("a", first), ("b", second)]), result("a", "1"), result("b", "2")];
        assert_eq!(after(&rules, beside.into_iter().chain([says("Done.")])).1, [Effect::Tell(Note::Review)]);
    }
    let beside = [calls(&[("t", "think"), ("w", "work")]), result("t", "recorded"), result("w", "{}"), says("Done.")];
    assert_eq!(after(&rules, used().into_iter().chain(beside)).1, [Effect::Answer("Done.".into())]);
    for spelled in ["ragmaker-think", "ragmaker_think"] {
        let thought = used().into_iter().chain([calls(&[("t", spelled)]), result("t", "recorded"), says("Done.")]);
        assert_eq!(after(&rules, thought).1, [Effect::Answer("Done.".into())], "{spelled}");
    }
    // Without tools there is nothing to review.
    assert_eq!(after(&rules, [user("?"), says("Done.")]).1, [Effect::Answer("Done.".into())]);
    for spelled in ["work", "ragmaker-work"] {
        let notes = [user("?"), calls(&[("w", spelled)]), result("w", "{}"), says("Done.")];
        assert_eq!(after(&rules, notes).1, [Effect::Answer("Done.".into())]);
    }
}

#[test]
fn a_checked_answer_and_its_repairs_are_one_turn_for_the_count_of_steps() {
    let rules = Rules { think_required: false, ..Rules::default() };
    let check = |repairs| Event::Check { repairs };
    let asked = [check(0), user("?"), calls(&[("a", "read_file")]), result("a", "1"), says("Draft.")];
    let (state, effects) = after(&rules, asked.clone());
    assert_eq!((state.check, state.all_steps(), effects), (Some(0), 2, vec![Effect::Answer("Draft.".into())]));
    // Killed in the repair.
    let (state, effects) = after(&rules, asked.into_iter().chain([check(1), user("Repair it.")]));
    assert_eq!((state.check, state.steps, effects), (Some(1), 0, vec![Effect::Decide]));
    let (state, _) = next(state, says("Better."), &rules);
    assert_eq!((state.check, state.all_steps()), (Some(1), 3));
    let (state, effects) = next(state, Event::Checked, &rules);
    assert_eq!((state.check, state.all_steps(), effects), (None, 3, vec![]));
    let (state, _) = next(state, user("Another?"), &rules);
    assert_eq!((state.check, state.all_steps()), (None, 0));
}

#[test]
fn an_empty_answer_is_asked_about_once() {
    let rules = Rules::default();
    let (state, effects) = after(&rules, [user("?"), says(" \n")]);
    assert_eq!(effects, [Effect::Tell(Note::Empty)]);
    let (state, _) = next(state, Event::Note { note: Note::Empty, text: "Go on.".into() }, &rules);
    let (state, effects) = next(state, says(""), &rules);
    assert_eq!((state.phase, effects), (Phase::UserInput, vec![Effect::Stop(Stop::Empty)]));
}

#[test]
fn repetitions_and_steps_are_limited() {
    let rules = Rules { max_steps: 20, ..Rules::default() };
    let mut events = vec![user("?")];
    let mut stops = vec![];
    for at in 0..5 {
        let id = format!("c{at}");
        events.extend([calls(&[(&id, "read_file")]), result(&id, "the same")]);
        stops.push(after(&rules, events.clone()).1);
        if at == 2 {
            events.push(Event::Note { note: Note::Repeated, text: "You repeat yourself.".into() });
        }
    }
    assert_eq!(stops[1], [Effect::Decide]);
    assert_eq!(stops[2], [Effect::Tell(Note::Repeated)]);
    assert_eq!(stops[3], [Effect::Decide]);
    assert_eq!(stops[4], [Effect::Stop(Stop::Repeats("read_file".into()))]);
    // Calls with different results are not repetitions, but count as steps.
    let other = (0..20).flat_map(|at| {
        let id = format!("c{at}");
        [calls(&[(&id, "read_file")]), result(&id, &id)]
    });
    assert_eq!(after(&rules, [user("?")].into_iter().chain(other)).1, [Effect::Stop(Stop::Steps(20))]);
}

#[test]
fn results_that_differ_only_in_their_duration_are_repetitions() {
    let rules = Rules::default();
    for (tool, name, is_repeated) in [
        ("run_command", "duration_ms", true),
        ("run_command", "log_file", true),
        ("run_command", "stdout", false),
        ("think", "count", true),
        ("read_file", "count", false),
    ] {
        let events = (0..5).flat_map(|at| {
            let (id, text) = (format!("c{at}"), json!({"status": "success", name: at}).to_string());
            [calls(&[(&id, tool)]), result(&id, &text)]
        });
        let stopped = Effect::Stop(Stop::Repeats(tool.into()));
        let effects = after(&rules, [user("?")].into_iter().chain(events)).1;
        assert_eq!(effects == [stopped], is_repeated, "{tool} {name}: {effects:?}");
    }
}

#[test]
fn an_interrupted_call_has_a_result() {
    let rules = Rules::default();
    let (state, effects) =
        after(&rules, [user("?"), calls(&[("a", "t"), ("b", "t")]), result("a", "1"), interrupted("")]);
    assert_eq!(effects, [Effect::Stop(Stop::Interrupted)]);
    assert_eq!((state.history.broken(), state.history.messages().len()), (None, 4));
    assert!(matches!(&state.history.messages()[3], Message::Result { is_error: true, .. }));
    assert_eq!(next(state, user("Go on."), &rules).1, [Effect::Decide]);
}

#[test]
fn a_summary_that_fails_leaves_the_history_and_waits() {
    let rules = Rules { max_turns: 2, kept_turns: 1, think_required: false, ..Rules::default() };
    let turn = |at: usize| [user(&format!("question {at}")), says("A long enough answer to be replaced.")];
    let events = (0..2).flat_map(turn).chain([user("third")]);
    let (state, effects) = after(&rules, events);
    assert_eq!(effects, [Effect::Summarise { cut: 4, strict: false }]);
    let summary = |text: &str, strict| summary(4, text, strict);
    let (accepted, effects) = next(state.clone(), summary("Two questions.", false), &rules);
    assert_eq!((effects, accepted.history.messages().len()), (vec![Effect::Decide], 2));
    assert_eq!(accepted.usage, Usage { input_tokens: 100, output_tokens: 10 });
    let (mut state, effects) = next(state, summary("", false), &rules);
    assert_eq!(effects, [Effect::Summarise { cut: 4, strict: true }]);
    // A refused one was paid for as well.
    let (next_state, effects) = next(state.clone(), summary(&"x".repeat(10_000), true), &rules);
    assert_eq!(next_state.usage, Usage { input_tokens: 200, output_tokens: 20 });
    assert_eq!((effects, next_state.history.messages()), (vec![Effect::Shorten { cut: 4 }], state.history.messages()));
    (state, _) = next(next_state, Event::Shortened { results: vec![] }, &rules);
    let mut tried = vec![];
    for at in 4..11 {
        (state, _) = next(state, says("Fine."), &rules);
        let (after, effects) = next(state, user(&format!("question {at}")), &rules);
        tried.push(matches!(effects[0], Effect::Summarise { .. }));
        state = after;
    }
    assert_eq!(tried, [false, false, false, false, true, true, true]);
}

#[test]
fn a_context_that_is_too_long_is_summarised_once() {
    let rules = Rules::default();
    let failed = || Event::Failed { code: "CONTEXT_TOO_LONG".into(), message: String::new() };
    let turns = (0..4).flat_map(|_| [user(&"question ".repeat(50)), says(&"answer ".repeat(50))]);
    let (state, effects) = after(&rules, turns.chain([user("?"), failed()]));
    let [Effect::Summarise { cut, .. }] = effects[..] else { panic!("{effects:?}") };
    let (state, effects) = next(state, summary(cut, "Short.", false), &rules);
    assert_eq!(effects, [Effect::Decide]);
    let (state, effects) = next(state, failed(), &rules);
    assert_eq!((state.phase, effects), (Phase::UserInput, vec![Effect::Stop(Stop::Failed)]));
    let other = Event::Failed { code: "MODEL_UNREACHABLE".into(), message: String::new() };
    assert_eq!(after(&rules, [user("?"), other]).1, [Effect::Stop(Stop::Failed)]);
}

#[test]
fn a_turn_that_was_cut_off_goes_on_with_what_was_due() {
    let rules = Rules { max_turns: 2, kept_turns: 1, ..Rules::default() };
    let used = [user("?"), calls(&[("a", "read_file")]), result("a", "1")];
    let same = (0..3).flat_map(|at| {
        let id = format!("c{at}");
        [calls(&[(&id, "read_file")]), result(&id, "the same")]
    });
    let turns = (0..2).flat_map(|_| [user("question"), says("A long enough answer to be replaced.")]);
    let refused = |strict| summary(4, "", strict);
    let no_summary = turns.chain([user("third"), refused(false), refused(true)]);
    for (events, due) in [
        (used.into_iter().chain([says("Done.")]).collect::<Vec<_>>(), Effect::Tell(Note::Review)),
        (vec![user("?"), says("")], Effect::Tell(Note::Empty)),
        ([user("?")].into_iter().chain(same).collect(), Effect::Tell(Note::Repeated)),
        (no_summary.collect(), Effect::Shorten { cut: 4 }),
        (vec![user("?")], Effect::Decide),
    ] {
        let (state, effects) = after(&rules, events);
        assert_eq!((&state.unfinished(), &effects[..]), (&Some(due.clone()), &[due][..]));
    }
}

fn any_event() -> impl Strategy<Value = Event> {
    let id = || prop::sample::select(vec!["a", "b", "c", "d", ""]);
    let name = prop::sample::select(vec!["think", "work", "read_file"]);
    prop_oneof![
        "[a-z ]{0,40}".prop_map(|text| user(&text)),
        ("[a-z ]{0,9}", prop::collection::vec((id(), name), 0..4), 0_u64..90_000).prop_map(
            |(text, given, input_tokens)| {
                let calls = given.iter().map(|(id, name)| call(id, name)).collect();
                let signatures = vec![TextSignature { start: 0, end: text.len(), signature: "s".into() }];
                Event::Assistant {
                    text,
                    signatures,
                    calls,
                    usage: Usage { input_tokens, output_tokens: 1 },
                    stop: Ended::End,
                }
            }
        ),
        (id(), "[a-z]{0,9}").prop_map(|(id, text)| result(id, &text)),
        (0_usize..20, "[a-z]{0,9}", any::<bool>()).prop_map(|(cut, text, strict)| summary(cut, &text, strict)),
        Just(Event::Shortened { results: vec![("a".into(), "short".into())] }),
        (0_usize..3).prop_map(|repairs| Event::Check { repairs }),
        Just(Event::Checked),
        Just(Event::Note { note: Note::Repeated, text: "note".into() }),
        Just(Event::Failed { code: "CONTEXT_TOO_LONG".into(), message: String::new() }),
        "[ a]{0,3}".prop_map(|text| interrupted(&text)),
    ]
}

proptest! {
    /// For any events in any order, each request to the model has a history that keeps the invariant, and each event
    /// can be written and read.
    #[test]
    fn the_invariant_holds_before_every_request(events in prop::collection::vec(any_event(), 0..60), max_turns in 0_usize..4) {
        let rules = Rules { max_turns, kept_turns: 1, context_tokens: 60_000, ..Rules::default() };
        let mut state = State::default();
        // Ids are unique among the calls of a conversation: the client sees to it.
        for (number, event) in events.into_iter().enumerate() {
            let event = match event {
                Event::Assistant { text, signatures, calls, usage, stop } => Event::Assistant {
                    stop,
                    text,
                    signatures,
                    calls: calls.into_iter().map(|call| Call { id: format!("{}{number}", call.id), ..call }).collect(),
                    usage,
                },
                Event::ToolResult { name, text, is_error, milliseconds, .. } => {
                    let id = state.history.open().last().map(|call| call.id.clone()).unwrap_or_default();
                    Event::ToolResult { id, name, text, is_error, milliseconds }
                }
                event => event,
            };
            let line = serde_json::to_string(&event).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Event>(&line).unwrap(), &event);
            let (after, effects) = next(state, event, &rules);
            for effect in &effects {
                match effect {
                    Effect::Decide | Effect::Summarise { .. } | Effect::Shorten { .. } => {
                        prop_assert_eq!(after.history.broken(), None);
                    }
                    Effect::Run(calls) => prop_assert!(calls.iter().eq(after.history.open())),
                    _ => {}
                }
            }
            prop_assert!(effects.len() <= 1);
            state = after;
        }
    }
}
