//! The state machine: `UserInput → AgentDecide → (ToolExecution → AgentDecide)* → End → UserInput`.
//!
//! [`next`] is a pure function of a state and an [`Event`]. It returns the [`Effect`]s to perform. Every event is a
//! line of the conversation's file, so reading the file again leads to the same state.

mod event;

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use ragmaker_model::{CONTEXT_TOO_LONG, Call, Stop as Ended, Usage};
use serde_json::Value;

use crate::{
    compaction::{self, Refusal},
    history::{History, tokens},
    rules::Rules,
};

pub(crate) use event::{Decision, Event, Note};

/// The number of turns after a failed summary before the next attempt.
pub(crate) const WAIT_TURNS: usize = 5;
/// The numbers of repetitions of a call with the same result that lead to a note, and to the end of the turn.
const REPEATS: (u32, u32) = (3, 5);
/// The members of results of commands that differ each time.
const VARYING: [&str; 2] = ["duration_ms", "log_file"];
/// The result of an interrupted call.
pub(crate) const INTERRUPTED: &str =
    "{\"status\": \"error\", \"error_code\": \"CANCELLED\", \"message\": \"interrupted by the user\"}";

/// An effect to perform.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// Ask the model.
    Decide,
    /// Run these calls: each gets a result.
    Run(Vec<Call>),
    /// Tell the model.
    Tell(Note),
    /// Have the first messages summarised.
    Summarise {
        /// The number of messages.
        cut: usize,
        /// Whether the last summary was not accepted.
        strict: bool,
    },
    /// Shorten the results among the first messages.
    Shorten {
        /// The number of messages.
        cut: usize,
    },
    /// Show the answer: the turn is over.
    Answer(String),
    /// End the turn without an answer.
    Stop(Stop),
}

/// The reason why a turn ended without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The person ended it.
    Interrupted,
    /// It took too many steps.
    Steps(usize),
    /// The model repeats itself: the tool whose call had the same result again.
    Repeats(String),
    /// The model returned an empty answer.
    Empty,
    /// The model could not be asked.
    Failed,
}

/// The next step of the machine when no effect is running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Waits for the person.
    #[default]
    UserInput,
    /// Waits for the model.
    AgentDecide,
    /// Waits for results.
    ToolExecution,
    /// Waits for a note to the model, which an answer or a result made necessary.
    Note(Note),
    /// Waits for a summary of the first messages.
    Summary {
        /// The number of messages.
        cut: usize,
        /// Whether the last one was not accepted.
        strict: bool,
    },
    /// Waits for the results among the first messages to be shortened.
    Shortening {
        /// The number of messages.
        cut: usize,
    },
    /// The turn is over.
    End,
}

impl Phase {
    /// The name, for the log.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::UserInput => "user_input",
            Self::AgentDecide => "agent_decide",
            Self::ToolExecution => "tool_execution",
            Self::Note(_) => "note",
            Self::Summary { .. } => "summary",
            Self::Shortening { .. } => "shortening",
            Self::End => "end",
        }
    }
}

/// All that the next event depends on.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the turn")]
pub(crate) struct State {
    /// The messages of the conversation.
    pub(crate) history: History,
    /// The result that the machine waits for.
    pub(crate) phase: Phase,
    /// The tokens of all answers and summaries.
    pub(crate) usage: Usage,
    /// The number of requests to the model in this turn.
    pub(crate) steps: usize,
    /// The number of requests in the turns before, whose answer this turn repairs.
    earlier_steps: usize,
    /// In a turn whose answer is checked, how often it was repaired.
    pub(crate) check: Option<usize>,
    /// The same of the turn that the next message begins.
    pub(crate) announced: Option<usize>,
    /// The request of the person in this turn.
    request: String,
    /// Why the last summary was refused; `None` if it was accepted.
    pub(crate) refusal: Option<Refusal>,
    /// In how many turns a summary is tried again.
    waiting: usize,
    /// The tokens of the last request and answer, and how many messages they were.
    counted: Option<(usize, usize)>,
    /// In how many answers of this turn each call had each result, and in which last.
    seen: HashMap<u64, (u32, usize)>,
    /// The worst repetition since the last answer.
    repeated: Option<(u32, String)>,
    /// Whether a tool other than `think` and `work` was used in this turn.
    used_tools: bool,
    /// Whether `think` was the last of them.
    thought: bool,
    /// Whether the last answer ended at the limit of its tokens.
    pub(crate) is_cut_off: bool,
    /// Whether the turn has had this note.
    reviewed: bool,
    nudged: bool,
    squeezed: bool,
}

impl State {
    /// The approximate number of tokens of the next request, from the provider's count if there is one; else from
    /// the conversation and the `fixed` rest of a request.
    pub(crate) fn tokens(&self, fixed: usize) -> usize {
        let all = self.history.messages();
        match self.counted {
            Some((counted, messages)) if messages <= all.len() => {
                counted + all[messages..].iter().map(tokens).sum::<usize>()
            }
            _ => fixed + all.iter().map(tokens).sum::<usize>(),
        }
    }

    /// The number of requests to the model for the answer, also for those that it replaces.
    pub(crate) fn all_steps(&self) -> usize {
        self.earlier_steps + self.steps
    }

    fn spend(&mut self, usage: Usage) {
        self.usage.input_tokens += usage.input_tokens;
        self.usage.output_tokens += usage.output_tokens;
    }

    /// The effect that continues a turn after an interruption.
    pub(crate) fn unfinished(&self) -> Option<Effect> {
        match self.phase {
            Phase::AgentDecide => Some(Effect::Decide),
            Phase::Note(note) => Some(Effect::Tell(note)),
            Phase::Summary { cut, strict } => Some(Effect::Summarise { cut, strict }),
            Phase::Shortening { cut } => Some(Effect::Shorten { cut }),
            Phase::UserInput | Phase::ToolExecution | Phase::End => None,
        }
    }
}

/// The state after `event`, and the effects to perform. An event that does not fit the state has no effect, so an
/// edited file cannot cause a panic.
pub(crate) fn next(mut state: State, event: Event, rules: &Rules) -> (State, Vec<Effect>) {
    if !matches!(event, Event::ToolResult { .. } | Event::Approval { .. }) {
        close_calls(&mut state);
    }
    let effects = match event {
        Event::User { text } => {
            state.waiting = state.waiting.saturating_sub(1);
            state.request.clone_from(&text);
            state.history.say(text);
            state.check = state.announced.take();
            let is_repair = state.check.is_some_and(|repairs| repairs > 0);
            state.earlier_steps = if is_repair { state.all_steps() } else { 0 };
            (state.steps, state.used_tools, state.thought) = (0, false, false);
            (state.reviewed, state.nudged, state.squeezed) = (false, false, false);
            state.seen.clear();
            state.repeated = None;
            decide(&mut state, rules)
        }
        Event::Assistant { text, signatures, calls, usage, stop } => {
            state.is_cut_off = stop == Ended::Length;
            state.history.answer(text.clone(), signatures, calls);
            answered(&mut state, text, usage, rules)
        }
        Event::ToolResult { id, text, is_error, .. } => finished(&mut state, &id, text, is_error, rules),
        Event::Approval { .. } => vec![],
        Event::Check { repairs } => {
            state.announced = Some(repairs);
            vec![]
        }
        Event::Checked => {
            (state.check, state.announced) = (None, None);
            vec![]
        }
        Event::Note { note, text } => {
            match note {
                Note::Review => state.reviewed = true,
                Note::Empty => state.nudged = true,
                Note::Repeated => {}
            }
            state.history.note(text);
            decide(&mut state, rules)
        }
        Event::Summary { cut, text, strict, usage, failure } => {
            state.spend(usage);
            state.refusal = compaction::refusal(&state.history, cut, &text, failure);
            summarised(&mut state, cut, &text, strict)
        }
        Event::Shortened { results } => {
            for (id, text) in results {
                state.history.shorten(&id, text);
            }
            state.counted = None;
            state.phase = Phase::AgentDecide;
            vec![Effect::Decide]
        }
        Event::Failed { code, .. } => {
            let cut = compaction::cut(&state.history, state.tokens(rules.fixed_tokens), rules, true);
            if let Some(cut) = cut.filter(|_| code == CONTEXT_TOO_LONG.name() && !state.squeezed) {
                // Once in a turn: the endpoint's own window is smaller than was thought.
                state.squeezed = true;
                summarise(&mut state, cut, false)
            } else {
                state.phase = Phase::UserInput;
                vec![Effect::Stop(Stop::Failed)]
            }
        }
        Event::Interrupted { text } => {
            if !text.trim().is_empty() {
                // The next request tells the model what the person has read.
                state.history.answer(format!("{}\n\n[interrupted by the user]", text.trim_end()), vec![], vec![]);
            }
            state.phase = Phase::UserInput;
            vec![Effect::Stop(Stop::Interrupted)]
        }
    };
    (state, effects)
}

/// Gives every call that waits for a result the one of an interrupted call.
fn close_calls(state: &mut State) {
    let open: Vec<_> = state.history.open().iter().map(|call| call.id.clone()).collect();
    for id in open {
        state.history.result(&id, INTERRUPTED.to_owned(), true);
    }
}

fn summarise(state: &mut State, cut: usize, strict: bool) -> Vec<Effect> {
    state.phase = Phase::Summary { cut, strict };
    vec![Effect::Summarise { cut, strict }]
}

/// Requests an answer from the model, after a summary if one is due.
fn decide(state: &mut State, rules: &Rules) -> Vec<Effect> {
    if state.waiting == 0
        && let Some(cut) = compaction::cut(&state.history, state.tokens(rules.fixed_tokens), rules, false)
    {
        return summarise(state, cut, false);
    }
    state.phase = Phase::AgentDecide;
    vec![Effect::Decide]
}

/// Has a note told to the model. If the program ends before the note is written, it is told on resumption.
fn tell(state: &mut State, note: Note) -> Vec<Effect> {
    state.phase = Phase::Note(note);
    vec![Effect::Tell(note)]
}

/// Decides what follows the answer that was added to the history.
fn answered(state: &mut State, text: String, usage: Usage, rules: &Rules) -> Vec<Effect> {
    state.steps += 1;
    state.spend(usage);
    let counted = usize::try_from(usage.input_tokens + usage.output_tokens).unwrap_or(usize::MAX);
    state.counted = (usage.input_tokens > 0).then_some((counted, state.history.messages().len()));
    state.repeated = None;
    let calls: Vec<_> = state.history.open().into_iter().cloned().collect();
    if !calls.is_empty() {
        state.phase = Phase::ToolExecution;
        return vec![Effect::Run(calls)];
    }
    let is_last = state.steps >= rules.max_steps;
    if text.trim().is_empty() {
        if state.nudged || is_last {
            state.phase = Phase::UserInput;
            return vec![Effect::Stop(Stop::Empty)];
        }
        return tell(state, Note::Empty);
    }
    if rules.think_required && state.used_tools && !state.thought && !state.reviewed && !is_last {
        return tell(state, Note::Review);
    }
    state.phase = Phase::End;
    vec![Effect::Answer(text)]
}

fn finished(state: &mut State, id: &str, text: String, is_error: bool, rules: &Rules) -> Vec<Effect> {
    let whole = text.clone();
    let Some(call) = state.history.result(id, text, is_error) else { return vec![] };
    let name = own_name(&call.name);
    if name == "think" {
        // Beside a call of another tool, it was written before that result.
        let knew_results =
            state.history.last_calls().iter().all(|call| ["think", "work"].contains(&&*own_name(&call.name)));
        state.thought |= !is_error && knew_results;
    } else if name != "work" {
        state.used_tools = true;
        state.thought = false;
    }
    let mut hasher = DefaultHasher::new();
    (compared(&name, &whole), &name, call.arguments.to_string()).hash(&mut hasher);
    let (count, last) = state.seen.entry(hasher.finish()).or_default();
    if *last != state.steps {
        // The same call twice in one answer is not a repetition: the model had not seen the result.
        *count += 1;
        *last = state.steps;
    }
    if state.repeated.as_ref().is_none_or(|(worst, _)| *worst < *count) {
        state.repeated = Some((*count, call.name));
    }
    if !state.history.open().is_empty() {
        return vec![];
    }
    match state.repeated.take() {
        Some((count, name)) if count >= REPEATS.1 => {
            state.phase = Phase::UserInput;
            vec![Effect::Stop(Stop::Repeats(name))]
        }
        _ if state.steps >= rules.max_steps => {
            state.phase = Phase::UserInput;
            vec![Effect::Stop(Stop::Steps(state.steps))]
        }
        Some((count, _)) if count == REPEATS.0 => tell(state, Note::Repeated),
        _ => decide(state, rules),
    }
}

/// The name of a tool in its usual spelling: models write aliases and `ragmaker-think` for `think` as well.
fn own_name(name: &str) -> String {
    ragmaker_registry::find(name).map_or_else(|| name.to_owned(), ragmaker_registry::Tool::name)
}

/// A result without the members that differ each time. `think` counts its calls.
fn compared(tool: &str, text: &str) -> String {
    match serde_json::from_str(text) {
        Ok(Value::Object(mut members)) => {
            members.retain(|name, _| !VARYING.contains(&name.as_str()) && (tool != "think" || name != "count"));
            Value::Object(members).to_string()
        }
        _ => text.to_owned(),
    }
}

fn summarised(state: &mut State, cut: usize, text: &str, strict: bool) -> Vec<Effect> {
    if !state.history.may_cut(cut) {
        return vec![];
    }
    if state.refusal.is_none() {
        let request = state.request.clone();
        state.history.summarise(cut, text, &request);
        state.counted = None;
        state.phase = Phase::AgentDecide;
        return vec![Effect::Decide];
    }
    if !strict {
        return summarise(state, cut, true);
    }
    state.waiting = WAIT_TURNS;
    state.phase = Phase::Shortening { cut };
    vec![Effect::Shorten { cut }]
}

#[cfg(test)]
mod tests;
