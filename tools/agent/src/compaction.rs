//! Compaction: when a conversation is summarised, where it is cut, and which summaries are accepted.

use std::{borrow::Cow, fmt};

use ragmaker_model::Message;

use crate::{
    history::{History, tokens},
    rules::Rules,
};

/// The share, in percent, of the context window that the fixed part of a request leaves to the conversation, over which
/// it is summarised.
const COMPACTION_PERCENT: usize = 75;
/// The share of it that the part which stays may take.
const KEPT_PERCENT: usize = 40;
/// The maximum number of characters of a text of the person or the model in the request for a summary: one that does
/// not fit the context window must not keep the conversation from being summarised.
const MAX_SUMMARISED: usize = 20_000;
/// The number of lines at the start and at the end that a shortened result keeps.
const LINES: usize = 20;
/// The maximum length in characters of those lines: JSON often is one long line.
const CHARACTERS: usize = 1_500;

/// The position at which to cut `history`, whose next request has about `used` tokens; `None` if it is short enough, or
/// nothing can be left out. `force` cuts as if the context window were full.
pub(crate) fn cut(history: &History, used: usize, rules: &Rules, force: bool) -> Option<usize> {
    let turns = history.turns();
    let is_long = rules.max_turns > 0 && turns.len() > rules.max_turns;
    let window = rules.context_tokens.saturating_sub(rules.fixed_tokens);
    let used = used.saturating_sub(rules.fixed_tokens);
    let is_full = force || rules.context_tokens > 0 && used > window / 100 * COMPACTION_PERCENT;
    if !is_long && !is_full {
        return None;
    }
    let all = history.messages();
    let by_turns = turns.len().checked_sub(rules.kept_turns.max(1)).and_then(|at| turns.get(at)).copied();
    let mut cut = by_turns.unwrap_or_default();
    if is_full {
        let mut size: usize = all[cut..].iter().map(tokens).sum();
        // The estimate and the window were wrong where an endpoint refuses the history.
        let most = if force { all.iter().map(tokens).sum::<usize>() / 2 } else { window / 100 * KEPT_PERCENT };
        // Whole turns while there are any, then units of the last one.
        while size > most && cut < all.len().saturating_sub(1) {
            let next = turns.iter().copied().find(|turn| *turn > cut);
            let next = next.or_else(|| (cut + 1..all.len()).find(|at| is_unit(all, *at)));
            let Some(next) = next else { break };
            size -= all[cut..next].iter().map(tokens).sum::<usize>();
            cut = next;
        }
    }
    history.may_cut(cut).then_some(cut)
}

/// Whether a unit begins at message `at`: an answer, with its results after it.
fn is_unit(all: &[Message], at: usize) -> bool {
    matches!(all.get(at), Some(Message::Assistant { .. }))
}

/// Why a summary may not replace the messages that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The model could not be asked.
    Failed(String),
    /// It is empty.
    Empty,
    /// It is not shorter: the characters of both.
    Long(usize, usize),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(reason) => f.write_str(reason),
            Self::Empty => f.write_str("it is empty"),
            Self::Long(length, replaced) => {
                write!(f, "it has {length} characters, and the older turns have {replaced}")
            }
        }
    }
}

/// Why `summary` may not replace the first `cut` messages: it must not be empty, and must be shorter. `failure` says
/// why there is none.
pub(crate) fn refusal(history: &History, cut: usize, summary: &str, failure: Option<String>) -> Option<Refusal> {
    if let Some(reason) = failure {
        return Some(Refusal::Failed(reason));
    }
    let length = summary.trim().chars().count();
    let replaced = history.messages().iter().take(cut).map(|message| match message {
        Message::User { text } | Message::Result { text, .. } => text.chars().count(),
        Message::Assistant { text, calls, .. } => {
            let calls = calls.iter().map(|call| call.name.len() + call.arguments.to_string().chars().count());
            text.chars().count() + calls.sum::<usize>()
        }
    });
    let replaced = replaced.sum();
    match length {
        0 => Some(Refusal::Empty),
        _ if length >= replaced => Some(Refusal::Long(length, replaced)),
        _ => None,
    }
}

/// The first messages as the text that is summarised.
pub(crate) fn rendered(history: &History, cut: usize) -> String {
    let mut text = String::new();
    for message in history.messages().iter().take(cut) {
        match message {
            Message::User { text: said } => text.extend(["[user]\n", &without_middle(said), "\n\n"]),
            Message::Assistant { text: said, calls, .. } => {
                text.extend(["[assistant]\n", &without_middle(said), "\n"]);
                for call in calls {
                    text.extend(["[call] ", &call.name, " ", &without_middle(&call.arguments.to_string()), "\n"]);
                }
                text.push('\n');
            }
            Message::Result { name, text: said, is_error, .. } => {
                let kind = if *is_error { "error" } else { "result" };
                let short = shortened(said);
                text.extend(["[", kind, " of ", name, "]\n", short.as_deref().unwrap_or(said), "\n\n"]);
            }
        }
    }
    text
}

/// A text whose middle is left out if it is long.
fn without_middle(text: &str) -> Cow<'_, str> {
    let left_out = text.chars().count().saturating_sub(MAX_SUMMARISED);
    if left_out == 0 {
        return text.into();
    }
    let half = MAX_SUMMARISED / 2;
    format!("{}\n[… {left_out} characters left out …]\n{}", first(text, half), last(text, half)).into()
}

/// The ids and texts of old results that are long enough to be shortened.
pub(crate) fn long_results(history: &History, cut: usize) -> Vec<(&str, &str)> {
    let results = history.messages().iter().take(cut).filter_map(|message| match message {
        Message::Result { id, text, .. } => Some((id.as_str(), text.as_str())),
        _ => None,
    });
    results.filter(|(_, text)| shortened(text).is_some()).collect()
}

/// The first and last lines of a result; `None` if it is short.
pub(crate) fn shortened(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let (head, tail) = if lines.len() > 2 * LINES + 1 {
        (lines[..LINES].join("\n"), lines[lines.len() - LINES..].join("\n"))
    } else {
        (text.to_owned(), text.to_owned())
    };
    let [head, tail] = [first(&head, CHARACTERS), last(&tail, CHARACTERS)];
    let left_out = text.len().checked_sub(head.len() + tail.len()).filter(|bytes| *bytes > 200)?;
    Some(format!("{head}\n[… {left_out} bytes left out …]\n{tail}"))
}

/// The first characters of a text.
pub(crate) fn first(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(at, _)| &text[..at])
}

/// The last characters of a text.
pub(crate) fn last(text: &str, most: usize) -> &str {
    let Some(before) = most.checked_sub(1) else { return "" };
    text.char_indices().rev().nth(before).map_or(text, |(at, _)| &text[at..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ragmaker_model::Call;
    use serde_json::json;

    fn rules(max_turns: usize, kept_turns: usize, context_tokens: usize) -> Rules {
        Rules { max_turns, kept_turns, context_tokens, ..Rules::default() }
    }

    /// A history of turns, each with units of so many calls.
    fn history(turns: &[Vec<usize>], length: usize) -> History {
        let (mut history, mut number) = (History::default(), 0);
        for units in turns {
            history.say(format!("turn {}", "word ".repeat(length)));
            for calls in units {
                let calls: Vec<_> = (0..*calls)
                    .map(|_| {
                        number += 1;
                        Call {
                            id: format!("c{number}"),
                            name: "t".into(),
                            arguments: json!({"n": number}),
                            signature: None,
                        }
                    })
                    .collect();
                history.answer("on it".into(), vec![], calls.clone());
                for call in calls.iter().rev() {
                    history.result(&call.id, "潮 result\n".repeat(length), false);
                }
            }
            history.answer("done".into(), vec![], vec![]);
        }
        history
    }

    fn used(history: &History) -> usize {
        history.messages().iter().map(tokens).sum()
    }

    #[test]
    fn the_last_turns_stay() {
        let history = history(&vec![vec![1]; 21], 3);
        assert_eq!(cut(&history, 0, &rules(21, 6, 100_000), false), None);
        assert_eq!(cut(&history, 0, &rules(0, 6, 100_000), false), None);
        assert_eq!(cut(&history, 0, &rules(20, 6, 100_000), false), Some(history.turns()[15]));
    }

    #[test]
    fn a_single_long_turn_is_cut_between_units() {
        let history = history(&[vec![2; 30]], 100);
        let at = cut(&history, used(&history), &rules(20, 6, used(&history)), false).unwrap();
        assert!(matches!(history.messages()[at], Message::Assistant { .. }));
        let kept: usize = history.messages()[at..].iter().map(tokens).sum();
        assert!(kept <= used(&history) * 2 / 5 && kept > used(&history) / 4, "{kept} of {}", used(&history));
        let nothing = self::history(&[vec![]], 3);
        assert_eq!(cut(&nothing, 1 << 20, &rules(20, 6, 100), true), Some(1));
    }

    #[test]
    fn a_summary_is_shorter_than_what_it_replaces() {
        let history = history(&[vec![1], vec![1]], 2);
        let end = history.turns()[1];
        let refused = |text: &str| refusal(&history, end, text, None);
        assert_eq!((refused("Tides were looked up."), refused(" \n")), (None, Some(Refusal::Empty)));
        assert!(matches!(refused(&"long ".repeat(100)), Some(Refusal::Long(499, replaced)) if replaced < 499));
        let failed = refusal(&history, end, "", Some("MODEL_AUTH_FAILED: no".into())).unwrap();
        assert_eq!(failed.to_string(), "MODEL_AUTH_FAILED: no");
    }

    #[test]
    fn long_results_keep_their_ends() {
        let lines: Vec<_> = (0..100).map(|at| format!("line {at} {}", "x".repeat(20))).collect();
        let lines = lines.join("\n");
        let short = shortened(&lines).unwrap();
        assert!(short.starts_with("line 0 ") && short.contains("line 19 ") && !short.contains("line 20 "));
        assert!(short.contains("line 80 ") && short.ends_with('x'));
        let one = shortened(&"潮".repeat(10_000)).unwrap();
        assert!(one.chars().count() < 3_100);
        assert_eq!(shortened("one\ntwo"), None);
        assert_eq!((first("潮汐", 1), last("潮汐", 1), last("潮汐", 0), last("a", 9)), ("潮", "汐", "", "a"));
    }

    #[test]
    fn the_instructions_and_tools_are_not_counted_as_conversation() {
        let history = history(&vec![vec![]; 8], 200);
        let conversation = used(&history);
        let with_fixed = |fixed_tokens| {
            let rules = Rules { fixed_tokens, ..rules(0, 8, 2 * conversation) };
            cut(&history, fixed_tokens + conversation, &rules, false)
        };
        assert_eq!(with_fixed(0), None);
        let at = with_fixed(conversation).unwrap();
        let kept: usize = history.messages()[at..].iter().map(tokens).sum();
        assert!(kept <= conversation * 2 / 5 && kept > conversation / 4, "{kept} of {conversation}");
    }

    #[test]
    fn a_summary_is_requested_without_the_middle_of_a_long_text() {
        let mut history = History::default();
        history.say(format!("first{}last", "x".repeat(500_000)));
        history.answer("done".into(), vec![], vec![]);
        let text = rendered(&history, 2);
        assert!(text.len() < MAX_SUMMARISED + 200 && text.contains("first") && text.contains("last"), "{}", text.len());
    }

    proptest! {
        #[test]
        fn cuts_keep_the_invariant_and_the_last_turns(
            turns in proptest::collection::vec(proptest::collection::vec(0_usize..4, 0..6), 1..30),
            (max_turns, kept_turns, window) in (0_usize..12, 1_usize..8, 50_usize..20_000),
            force: bool, length in 1_usize..60,
        ) {
            let history = history(&turns, length);
            prop_assert_eq!(history.broken(), None);
            let rules = rules(max_turns, kept_turns, window);
            if let Some(at) = cut(&history, used(&history), &rules, force) {
                prop_assert!(history.may_cut(at));
                let mut short = history.clone();
                short.summarise(at, "summary", "request");
                prop_assert_eq!(short.broken(), None);
                prop_assert_eq!(&short.messages()[1..], &history.messages()[at..]);
                prop_assert!(short.turns().len() <= history.turns().len());
                if !force && used(&history) <= window / 100 * COMPACTION_PERCENT {
                    prop_assert_eq!(short.turns().len(), kept_turns.min(turns.len()));
                }
                // A second summary takes the first in.
                let again = cut(&short, usize::MAX / 200, &rules, true);
                if let Some(again) = again {
                    prop_assert!(again > 1);
                    short.summarise(again, "second", "request");
                    prop_assert_eq!(short.broken(), None);
                }
            }
        }
    }
}
