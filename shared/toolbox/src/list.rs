//! The list.

use ragmaker_tool::{ARGUMENT_ERROR, Answered, Error, INTERNAL_ERROR, arguments::Members};
use serde_json::Value;

use crate::untrusted;

macro_rules! tools {
    ($($tool:ident $(.$trait:ident($($value:literal)?))*,)*) => {
        /// Every tool, in the order of the folders under tools/.
        pub static TOOLS: &[Tool] = &[$(Tool::of::<$tool::Args>()$(.$trait($($value)?))*),*];

        /// The entry of every tool in discovery.json, made from its own definitions.
        pub fn entries() -> Vec<Value> {
            vec![$(ragmaker_tool::describe::entry::<$tool::Args>()),*]
        }

        // Apart from the list, so that a program which only reads that holds no tool.
        fn call(command: &str, arguments: Members) -> Result<Answered, Error> {
            match command {
                $(<$tool::Args as ragmaker_tool::Tool>::NAME => ragmaker_tool::call::<$tool::Args>(arguments),)*
                other => Err(INTERNAL_ERROR.error(format!("{other} is not in the list"))),
            }
        }
    };
}

tools! {
    ragmaker_browser_close.apart(),
    ragmaker_browser_extract.apart().speaks_for_the_web(),
    ragmaker_browser_navigate.apart().speaks_for_the_web(),
    ragmaker_browser_open.apart(),
    ragmaker_create_directory,
    ragmaker_delete_directory,
    ragmaker_delete_file,
    ragmaker_enrich_discovery.needs("updates"),
    ragmaker_entry_discovery,
    ragmaker_find_files.apart(),
    ragmaker_html_to_markdown.speaks_for_the_web().needs("path"),
    ragmaker_list_directory,
    ragmaker_modify_file_content,
    ragmaker_move,
    ragmaker_project_info,
    ragmaker_read_file.speaks_for_files().needs("path"),
    ragmaker_read_many_files.apart().speaks_for_files(),
    ragmaker_search_file_content.apart().speaks_for_files(),
    ragmaker_verify.apart(),
    ragmaker_write_file.needs("content"),
}

/// Where a server runs a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// In the server's own process: its work is short.
    Here,
    /// In a process of its own, which can be ended: it drives a browser, or walks a whole tree.
    Apart,
}

/// Whose words an answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaks {
    /// Its own.
    Itself,
    /// Those of files, which may have been fetched from the web.
    Files,
    /// Those of a page.
    Web,
}

/// A tool, without the types that make it one.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// The name of its executable, such as `ragmaker-read-file`.
    pub command: &'static str,
    /// Where a server runs it.
    pub runs: Runs,
    /// Whose words its answer holds.
    pub speaks: Speaks,
    /// The argument in whose place the executable reads standard input. It can not be left out, nor
    /// be `-`, where standard input is taken by the client.
    pub needs: Option<&'static str>,
}

impl Tool {
    const fn of<T: ragmaker_tool::Tool>() -> Self {
        Self { command: T::NAME, runs: Runs::Here, speaks: Speaks::Itself, needs: None }
    }

    const fn apart(self) -> Self {
        Self { runs: Runs::Apart, ..self }
    }

    const fn speaks_for_files(self) -> Self {
        Self { speaks: Speaks::Files, ..self }
    }

    const fn speaks_for_the_web(self) -> Self {
        Self { speaks: Speaks::Web, ..self }
    }

    const fn needs(self, argument: &'static str) -> Self {
        Self { needs: Some(argument), ..self }
    }

    /// Does the tool's work in this process, with arguments as its schema has them. What comes from
    /// the web is marked as such.
    pub fn call(&self, arguments: impl IntoIterator<Item = (String, Value)>) -> Result<Answered, Error> {
        let arguments: Members = arguments.into_iter().collect();
        if let Some(needed) = self.needs {
            let given = arguments.iter().find(|(key, value)| key == needed && !value.is_null());
            // A dash is a text like any other as content, and standard input elsewhere.
            if given.is_none_or(|(_, value)| needed != "content" && value == "-") {
                let option = format!("--{needed}");
                return Err(ARGUMENT_ERROR
                    .error(format!("{option} is required"))
                    .remedy(format!("Give {option} a value; there is no standard input to read here."))
                    .detail("argument", option));
            }
        }
        let mut answered = call(self.command, arguments)?;
        untrusted::mark(self.speaks, &mut answered.json);
        Ok(answered)
    }
}

/// The tool of this name, be it `read_file`, `read-file` or `ragmaker-read-file`.
pub fn find(name: &str) -> Option<&'static Tool> {
    let name = name.replace('_', "-");
    let bare = |name: &str| name.strip_prefix("ragmaker-").unwrap_or(name).to_owned();
    TOOLS.iter().find(|tool| bare(tool.command) == bare(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn called(name: &str, arguments: &Value) -> Result<Answered, Error> {
        find(name).unwrap().call(arguments.as_object().cloned().unwrap())
    }

    #[test]
    fn a_tool_is_found_by_every_spelling_of_its_name() {
        for name in ["read_file", "read-file", "ragmaker-read-file", "ragmaker_read_file"] {
            assert_eq!(find(name).map(|tool| tool.command), Some("ragmaker-read-file"), "{name}");
        }
        for name in ["", "read", "ragmaker-", "mcp"] {
            assert!(find(name).is_none(), "{name}");
        }
    }

    #[test]
    fn nothing_reads_the_clients_input() {
        for (name, arguments, argument) in [
            ("read_file", json!({"path": "-"}), "--path"),
            ("html_to_markdown", json!({}), "--path"),
            ("html_to_markdown", json!({"path": null}), "--path"),
            ("html_to_markdown", json!({"path": "-"}), "--path"),
            ("write_file", json!({"path": "a"}), "--content"),
            ("enrich_discovery", json!({"updates": "-"}), "--updates"),
            ("enrich_discovery", json!({"updates": " -"}), "--updates"),
        ] {
            let error = called(name, &arguments).unwrap_err();
            assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == argument, "{name}: {error}");
        }
    }

    #[test]
    fn a_dash_may_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_str().unwrap();
        called("write_file", &json!({"path": "a", "content": "-", "project-root": root})).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("a")).unwrap(), "-");
    }
}
