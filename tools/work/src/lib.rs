//! `ragmaker-work`: keeps the plan, the todo list and the memos of the current task.
//!
//! A host sends this state to its model with every request ([`rendered`]), so it survives the summaries of the
//! conversation.

use argh::{ArgsInfo, FromArgs};
use ragmaker_project::Project;
use ragmaker_tool::{ARGUMENT_ERROR, Annotations, Budget, Code, Error, Invocation, JsonSchema, Tool, budget, host};
use ragmaker_work_state::{Todo, Work};
use serde::Serialize;

pub use ragmaker_work_state::{Conversation, ConversationState, rendered};

/// Keep plan, todo list and memos of the current task, which remain when old turns are removed. Each argument replaces
/// only itself; "" and [] clear. Reflections go into `ragmaker-think`. Returns the whole state.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// policy for all of the work
    #[argh(option)]
    pub overall_policy: Option<String>,
    /// your role
    #[argh(option)]
    pub worker_role: Option<String>,
    /// rules to keep
    #[argh(option)]
    pub work_rules: Option<String>,
    /// the plan
    #[argh(option)]
    pub work_plan: Option<String>,
    /// the current activity
    #[argh(option)]
    pub work_content: Option<String>,
    /// the purpose
    #[argh(option)]
    pub work_purpose: Option<String>,
    /// the results so far
    #[argh(option)]
    pub work_results: Option<String>,
    /// open problems
    #[argh(option)]
    pub current_issues: Option<String>,
    /// measures against the problems
    #[argh(option)]
    pub issue_countermeasures: Option<String>,
    /// the next steps
    #[argh(option)]
    pub next_steps: Option<String>,
    /// facts that later steps need; clear when the task is done
    #[argh(option)]
    pub memos: Option<String>,
    /// all steps; at most one `in_progress`
    #[argh(option)]
    #[schemars(with = "Option<Vec<Todo>>")]
    pub todo_list: Option<String>,
}

/// The state after the call.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The fields that this call set or cleared.
    pub updated: Vec<&'static str>,
    /// All that is set; long texts end with … where `truncated` is true.
    pub work: Work,
    /// Whether texts were shortened in this answer; the complete texts are stored.
    pub truncated: bool,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    // It changes nothing but the notes of its own conversation, which nobody has to approve.
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const HOST_OPTIONS: &'static [&'static str] = host::CONVERSATION;
    const JSON_TEXTS: &'static [&'static str] = &["--todo-list"];
    const ERRORS: &'static [&'static [Code]] = &[ragmaker_work_state::ERRORS, ragmaker_project::ERRORS];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let texts = [
            ("overall_policy", self.overall_policy),
            ("worker_role", self.worker_role),
            ("work_rules", self.work_rules),
            ("work_plan", self.work_plan),
            ("work_content", self.work_content),
            ("work_purpose", self.work_purpose),
            ("work_results", self.work_results),
            ("current_issues", self.current_issues),
            ("issue_countermeasures", self.issue_countermeasures),
            ("next_steps", self.next_steps),
            ("memos", self.memos),
        ];
        let texts: Vec<_> = texts.into_iter().filter_map(|(name, text)| Some((name, text?))).collect();
        let names = texts.iter().map(|(name, _)| *name).chain(self.todo_list.as_ref().map(|_| "todo_list"));
        let updated: Vec<_> = names.collect();
        if updated.is_empty() {
            return Err(ARGUMENT_ERROR
                .error("no update is given")
                .remedy("Give at least one of the arguments, such as --todo-list or --memos."));
        }
        let project = Project::discover(invocation.host.project_root.as_deref())?;
        let conversation = Conversation::named(&project, invocation.host.conversation.as_deref())?;
        let (state, ()) = conversation.change(|state| {
            // One that is refused changes nothing.
            let mut work = state.work.clone();
            for (name, text) in texts {
                work.set_text(name, text)?;
            }
            if let Some(list) = &self.todo_list {
                work.set_todo_list(list)?;
            }
            state.work = work;
            Ok(())
        })?;
        Ok(longest_prefix(updated, state.work))
    }
}

/// The answer with the texts as long as an answer has budget for.
fn longest_prefix(updated: Vec<&'static str>, mut work: Work) -> Answer {
    let names: Vec<_> = work.texts().into_iter().map(|(name, text)| (name, text.to_owned())).collect();
    let mut frame = Answer { updated, work: work.clone(), truncated: false };
    for (name, _) in &names {
        frame.work.text_mut(name).map(std::mem::take);
    }
    let budget = Budget::for_frame(&frame);
    let cost = |text: &str| budget::printed(text, budget.charset()) + OVERHEAD;
    // The longest share at which all fit: short texts leave their rest to long ones.
    let mut left = budget.left();
    let mut lengths: Vec<_> = names.iter().map(|(_, text)| cost(text)).collect();
    lengths.sort_unstable();
    let mut share = usize::MAX;
    for (at, length) in lengths.iter().enumerate() {
        let each = left / (lengths.len() - at);
        if *length > each {
            share = each;
            break;
        }
        left -= length;
    }
    let mut truncated = false;
    for (name, text) in &names {
        if cost(text) > share
            && let Some(shown) = work.text_mut(name)
        {
            *shown = format!("{}…", budget::longest_prefix(text, share.saturating_sub(OVERHEAD), budget.charset()));
            truncated = true;
        }
    }
    Answer { updated: frame.updated, work, truncated }
}

/// The size of a text's frame: its name, quotes, and the mark of its end.
const OVERHEAD: usize = 40;

#[cfg(test)]
mod tests {
    use ragmaker_testkit::folder;
    use ragmaker_tool::HostOptions;
    use serde_json::Value;

    use super::*;

    /// The answer in a new project, or the error.
    fn run(words: &[&str]) -> Result<Answer, Error> {
        let (_holder, root) = folder("project");
        let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
        Args::from_args(&["work"], words).unwrap().run(&Invocation { host, ..Invocation::default() })
    }

    #[test]
    fn each_argument_sets_the_field_of_its_own_name() {
        let fields: Vec<_> = Work::default().texts().into_iter().map(|(name, _)| name).collect();
        let words: Vec<_> = fields.iter().map(|name| (format!("--{}", name.replace('_', "-")), *name)).collect();
        let words: Vec<_> = words.iter().flat_map(|(flag, text)| [flag.as_str(), text]).collect();
        let answer = run(&words).unwrap();
        assert_eq!(answer.updated, fields);
        let set = serde_json::to_value(&answer.work).unwrap();
        assert_eq!(set, fields.iter().map(|name| ((*name).to_owned(), Value::from(*name))).collect::<Value>());
        assert!(!answer.truncated);
    }

    #[test]
    fn a_call_without_an_update_is_refused() {
        assert!(run(&[]).err().unwrap().is(ARGUMENT_ERROR));
        // A text that clears is one.
        assert_eq!(run(&["--memos", ""]).unwrap().updated, ["memos"]);
        assert_eq!(run(&["--todo-list", ""]).unwrap().updated, ["todo_list"]);
    }

    /// The answer for texts of these lengths, and the length of each text in it.
    fn shown(lengths: &[(&str, usize)]) -> (Answer, Vec<usize>) {
        let mut work = Work::default();
        for (name, length) in lengths {
            *work.text_mut(name).unwrap() = "x".repeat(*length);
        }
        let mut answer = longest_prefix(vec![], work);
        let shown = lengths.iter().map(|(name, _)| answer.work.text_mut(name).unwrap().chars().count()).collect();
        (answer, shown)
    }

    #[test]
    fn short_texts_leave_their_share_to_long_ones() {
        let long = [("work_plan", 20_000), ("memos", 20_000)];
        let (answer, equal) = shown(&long);
        assert!(answer.truncated && equal[0] == equal[1] && equal[0] > 10_000, "{equal:?}");
        let (answer, with_short) = shown(&[long[0], ("next_steps", 8_000), long[1]]);
        assert_eq!((with_short[1], with_short[0]), (8_000, with_short[2]));
        // The short text costs each of the long ones half of its own size.
        assert!((4_000..4_100).contains(&(equal[0] - with_short[0])), "{equal:?} {with_short:?}");
        assert!(!answer.work.next_steps.ends_with('…') && answer.work.memos.ends_with('…'));
        let (_, alone) = shown(&[("memos", 30_000)]);
        assert!(alone[0] > 25_000, "{alone:?}");
    }

    #[test]
    fn texts_that_fit_are_whole() {
        let (answer, lengths) = shown(&[("work_plan", 12_000), ("memos", 12_000), ("work_rules", 0)]);
        assert_eq!((lengths, answer.truncated), (vec![12_000, 12_000, 0], false));
    }
}
