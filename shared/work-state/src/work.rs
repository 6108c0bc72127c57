//! The notes of a model about its work: plan, todo list, memos.

use std::fmt::Write as _;

use ragmaker_tool::{ARGUMENT_ERROR, Error, JsonSchema};
use serde::{Deserialize, Serialize};

/// The longest field, in characters.
const FIELD: usize = 4_000;
/// The longest memos, in characters.
const MEMOS: usize = 12_000;

macro_rules! work {
    ($($(#[doc = $doc:literal])* $field:ident,)*) => {
        /// The notes of a model about its work: texts (empty if not set) and a todo list.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(default)]
        pub struct Work {
            $(
                $(#[doc = $doc])*
                #[serde(skip_serializing_if = "String::is_empty")]
                pub $field: String,
            )*
            /// The steps of the task.
            #[serde(skip_serializing_if = "Vec::is_empty")]
            pub todo_list: Vec<Todo>,
        }

        impl Work {
            /// The texts with their names.
            pub fn texts(&self) -> Vec<(&'static str, &str)> {
                vec![$((stringify!($field), self.$field.as_str())),*]
            }

            /// The text called `name`.
            pub fn text_mut(&mut self, name: &str) -> Option<&mut String> {
                match name {
                    $(stringify!($field) => Some(&mut self.$field),)*
                    _ => None,
                }
            }
        }
    };
}

work! {
    /// A policy for all of the work.
    overall_policy,
    /// The role of the model.
    worker_role,
    /// Rules to follow.
    work_rules,
    /// The plan.
    work_plan,
    /// The current activity.
    work_content,
    /// The purpose.
    work_purpose,
    /// The results so far.
    work_results,
    /// Open problems.
    current_issues,
    /// Measures against the problems.
    issue_countermeasures,
    /// The next steps.
    next_steps,
    /// Facts for later steps.
    memos,
}

/// One step of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Todo {
    /// The identifier, unique in the list.
    pub id: String,
    /// The description of the step.
    pub task: String,
    /// Its status.
    pub status: Status,
}

/// The status of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Status {
    /// Not started.
    Pending,
    /// In progress; at most one step at a time.
    InProgress,
    /// Done.
    Done,
    /// No longer needed.
    Cancelled,
}

impl Work {
    /// Sets the text called `name`; an empty text clears it.
    ///
    /// # Errors
    /// [`ARGUMENT_ERROR`] for a text that is too long, and for an unknown name.
    pub fn set_text(&mut self, name: &str, text: String) -> Result<(), Error> {
        let option = format!("--{}", name.replace('_', "-"));
        let most = if name == "memos" { MEMOS } else { FIELD };
        check_length(&option, &text, most)?;
        let field = self.text_mut(name).ok_or_else(|| ARGUMENT_ERROR.error(format!("there is no field {name}")))?;
        *field = if text.trim().is_empty() { String::new() } else { text };
        Ok(())
    }

    /// Sets the todo list from the JSON array `text`; an empty text clears it.
    ///
    /// # Errors
    /// [`ARGUMENT_ERROR`] for an invalid todo list.
    pub fn set_todo_list(&mut self, text: &str) -> Result<(), Error> {
        check_length("--todo-list", text, MEMOS)?;
        let text = if text.trim().is_empty() { "[]" } else { text };
        let list: Vec<serde_json::Value> = serde_json::from_str(text).map_err(|error| invalid(&error.to_string()))?;
        let mut todo_list: Vec<Todo> = vec![];
        for (at, mut item) in list.into_iter().enumerate() {
            // Models use numbers as identifiers.
            if let Some(id) = item.get_mut("id").filter(|id| id.is_u64()) {
                *id = id.to_string().into();
            }
            let item: Todo =
                serde_json::from_value(item).map_err(|error| invalid(&format!("element {at}: {error}")))?;
            if item.id.trim().is_empty() || item.task.trim().is_empty() {
                return Err(invalid(&format!("element {at}: id or task is empty")));
            }
            if todo_list.iter().any(|other| other.id == item.id) {
                return Err(invalid(&format!("two items have the id {:?}", item.id)));
            }
            todo_list.push(item);
        }
        let in_progress = todo_list.iter().filter(|item| item.status == Status::InProgress).count();
        if in_progress > 1 {
            return Err(invalid(&format!("{in_progress} items are in_progress: one at a time")));
        }
        check_length("--todo-list", &todo_list.iter().map(|item| item.task.as_str()).collect::<String>(), FIELD)?;
        self.todo_list = todo_list;
        Ok(())
    }

    /// Whether there is a todo list without open steps.
    pub fn is_done(&self) -> bool {
        let is_over = |item: &Todo| matches!(item.status, Status::Done | Status::Cancelled);
        !self.todo_list.is_empty() && self.todo_list.iter().all(is_over)
    }
}

fn check_length(option: &str, text: &str, most: usize) -> Result<(), Error> {
    let length = text.chars().count();
    if length <= most {
        return Ok(());
    }
    Err(ARGUMENT_ERROR
        .error(format!("{option} has {length} characters: more than {most}"))
        .remedy("Keep only what later steps need, and write the rest into a file.")
        .detail("argument", option)
        .detail("characters", length)
        .detail("limit", most))
}

fn invalid(reason: &str) -> Error {
    ARGUMENT_ERROR
        .error(format!("invalid value for --todo-list: {reason}"))
        .remedy(r#"Write [{"id": "1", "task": "…", "status": "pending"}]; status: pending, in_progress, done or cancelled."#)
        .detail("argument", "--todo-list")
}

/// The state as a section of a system prompt; empty if nothing is set.
///
/// A text may quote a page that contains the end tag of a section, so `</` is written as `<\/`.
pub fn rendered(work: &Work) -> String {
    let mut out = String::new();
    for (name, text) in work.texts() {
        if !text.is_empty() {
            let _ = writeln!(out, "<{name}>\n{}\n</{name}>", text.trim().replace("</", "<\\/"));
        }
    }
    if !work.todo_list.is_empty() {
        out += "<todo_list>\n";
        for Todo { id, task, status } in &work.todo_list {
            let status = match status {
                Status::Pending => "pending",
                Status::InProgress => "in_progress",
                Status::Done => "done",
                Status::Cancelled => "cancelled",
            };
            let line = format!("{id} [{status}] {task}").replace(['\n', '\r'], " ").replace("</", "<\\/");
            let _ = writeln!(out, "{line}");
        }
        out += "</todo_list>\n";
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_todo_list_is_checked() {
        let mut work = Work::default();
        work.set_todo_list(
            r#"[{"id": 1, "task": "a", "status": "done"}, {"id": "2", "task": "b", "status": "in_progress"}]"#,
        )
        .unwrap();
        assert_eq!((work.todo_list[0].id.as_str(), work.is_done()), ("1", false));
        let before = work.clone();
        for wrong in [
            "{",
            "{}",
            "[1]",
            r#"[{"id": "1", "task": "a"}]"#,
            r#"[{"id": "1", "task": " ", "status": "done"}]"#,
            r#"[{"id": "1", "task": "a", "status": "open"}]"#,
            r#"[{"id": "1", "task": "a", "status": "done", "due": "now"}]"#,
            r#"[{"id": "1", "task": "a", "status": "done"}, {"id": 1, "task": "b", "status": "done"}]"#,
            r#"[{"id": "1", "task": "a", "status": "in_progress"}, {"id": "2", "task": "b", "status": "in_progress"}]"#,
        ] {
            let error = work.set_todo_list(wrong).unwrap_err();
            assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == "--todo-list", "{wrong}: {error}");
        }
        assert_eq!(work, before);
        work.set_todo_list(r#"[{"id": "1", "task": "a", "status": "cancelled"}]"#).unwrap();
        assert!(work.is_done());
        work.set_todo_list("[]").unwrap();
        assert!(work == Work::default() && !work.is_done());
    }

    #[test]
    fn texts_have_a_limit() {
        let mut work = Work::default();
        work.set_text("work_plan", "潮".repeat(FIELD)).unwrap();
        let error = work.set_text("work_plan", "潮".repeat(FIELD + 1)).unwrap_err();
        assert_eq!((&error.details()["argument"], &error.details()["limit"]), (&"--work-plan".into(), &FIELD.into()));
        assert_eq!(work.work_plan.chars().count(), FIELD);
        work.set_text("memos", "a".repeat(MEMOS)).unwrap();
        assert!(work.set_text("memos", "a".repeat(MEMOS + 1)).is_err());
        for name in ["work_plan", "memos"] {
            work.set_text(name, " ".to_owned()).unwrap();
        }
        assert_eq!(work, Work::default());
        assert_eq!(rendered(&work), "");
    }

    proptest! {
        #[test]
        fn no_text_can_end_a_section_of_the_prompt(text in "[<>/a-z_\n]{1,40}") {
            let mut work = Work::default();
            work.set_text("memos", text.clone()).unwrap();
            let item = serde_json::json!([{"id": "1", "task": format!("x{text}"), "status": "pending"}]);
            work.set_todo_list(&item.to_string()).unwrap();
            let shown = rendered(&work);
            let ends: Vec<_> = shown.match_indices("</").map(|(at, _)| shown[at..].lines().next().unwrap()).collect();
            let own = ["</memos>", "</todo_list>"];
            prop_assert_eq!(ends.as_slice(), &own[usize::from(text.trim().is_empty())..]);
        }
    }
}
