//! The list of tools.

use ragmaker_tool::{
    ARGUMENT_ERROR, Answered, Approval, ContentOrigin, Error, HostOptions, INTERNAL_ERROR, Isolation, Manual, Stdin,
    Toolset,
    arguments::{Members, nearest},
};
use serde_json::Value;

use crate::provenance;

macro_rules! tools {
    ($($tool:ident,)*) => {
        /// Every tool, in the order of the folders under tools/.
        pub static TOOLS: &[Tool] = &[$(Tool::of::<$tool::Args>()),*];

        /// The entry of every tool in discovery.json, made from its own definitions.
        pub fn entries() -> Vec<Value> {
            vec![$(ragmaker_tool::describe::entry::<$tool::Args>()),*]
        }

        #[cfg(test)]
        fn codes_and_options() -> Vec<(&'static str, Vec<ragmaker_tool::Code>, Vec<&'static str>)> {
            vec![$({
                let flags = <$tool::Args as argh::ArgsInfo>::get_args_info().flags;
                let own = flags.iter().map(|flag| flag.long);
                let of_host = <$tool::Args as ragmaker_tool::Tool>::HOST_OPTIONS.iter().copied();
                let codes = ragmaker_tool::describe::codes::<$tool::Args>().collect();
                (<$tool::Args as ragmaker_tool::Tool>::NAME, codes, own.chain(of_host).collect())
            }),*]
        }

        /// What the pages for people say of every tool beside its entry, in the same order.
        pub fn manuals() -> Vec<Manual> {
            vec![$(Manual::of::<$tool::Args>()),*]
        }

        // Not in the list, so that a program which only reads the list links no tool.
        fn call(
            command: &str,
            arguments: Members,
            host: &HostOptions,
            approval: &Approval,
        ) -> Result<Answered, Error> {
            match command {
                $(<$tool::Args as ragmaker_tool::Tool>::NAME => {
                    ragmaker_tool::call_approved::<$tool::Args>(arguments, host, approval)
                })*
                other => Err(INTERNAL_ERROR.error(format!("{other} is not in the list"))),
            }
        }
    };
}

tools! {
    ragmaker_browser_close,
    ragmaker_browser_extract,
    ragmaker_browser_navigate,
    ragmaker_browser_open,
    ragmaker_cite,
    ragmaker_create_directory,
    ragmaker_delete_directory,
    ragmaker_delete_file,
    ragmaker_enrich_discovery,
    ragmaker_entry_discovery,
    ragmaker_file_sync,
    ragmaker_find_files,
    ragmaker_github_fetch,
    ragmaker_html_to_markdown,
    ragmaker_http_fetch,
    ragmaker_list_directory,
    ragmaker_modify_file_content,
    ragmaker_move,
    ragmaker_project_info,
    ragmaker_read_file,
    ragmaker_read_many_files,
    ragmaker_refresh_knowledge_base,
    ragmaker_search_file_content,
    ragmaker_search_knowledge_base,
    ragmaker_show_knowledge_base,
    ragmaker_think,
    ragmaker_verify,
    ragmaker_web_search,
    ragmaker_work,
    ragmaker_write_file,
}

/// A tool, without the types that make it one.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// The name of its executable, such as `ragmaker-read-file`.
    pub command: &'static str,
    /// Other names that it is found by.
    pub aliases: &'static [&'static str],
    /// Where a host runs it.
    pub isolation: Isolation,
    /// Who wrote the text of its answer.
    pub origin: ContentOrigin,
    /// The argument in whose place the executable can read standard input.
    pub stdin: Option<Stdin>,
    /// The sets of tools that it belongs to.
    pub toolsets: &'static [Toolset],
}

impl Tool {
    const fn of<T: ragmaker_tool::Tool>() -> Self {
        Self {
            command: T::NAME,
            aliases: T::ALIASES,
            isolation: T::ISOLATION,
            origin: T::ORIGIN,
            stdin: T::STDIN,
            toolsets: T::TOOLSETS,
        }
    }

    /// The name as models call it, such as `read_file`.
    pub fn name(&self) -> String {
        bare(self.command).replace('-', "_")
    }

    /// Does the tool's work in this process, with arguments that a model wrote. An answer with text from
    /// the web is marked as such.
    ///
    /// # Errors
    ///
    /// What the executable would print on standard error.
    pub fn call(&self, arguments: Members, host: &HostOptions) -> Result<Answered, Error> {
        self.call_approved(arguments, host, &Approval::Pending)
    }

    /// The same, with what the host says about an approval of this call.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    pub fn call_approved(
        &self,
        arguments: Members,
        host: &HostOptions,
        approval: &Approval,
    ) -> Result<Answered, Error> {
        if let Some(Stdin { argument, dash }) = self.stdin {
            let given = arguments.iter().find(|(key, value)| key == argument && !value.is_null());
            let is_stdin = |value: &Value| dash && value.as_str().is_some_and(|text| text.trim() == "-");
            if given.is_none_or(|(_, value)| is_stdin(value)) {
                return Err(ARGUMENT_ERROR
                    .error(format!("{argument} is required"))
                    .remedy(format!("Give {argument} a value; there is no standard input to read here."))
                    .detail("argument", argument));
            }
        }
        let mut answered = call(self.command, arguments, host, approval)?;
        provenance::mark(self.origin, &mut answered.json);
        Ok(answered)
    }
}

/// The tool of this name: `read_file`, `read-file` or `ragmaker-read-file`, or one of its aliases.
pub fn find(name: &str) -> Option<&'static Tool> {
    let name = name.replace('_', "-");
    let names = |tool: &Tool| bare(tool.command) == bare(&name) || tool.aliases.contains(&name.as_str());
    TOOLS.iter().find(|tool| names(tool))
}

/// The error for a tool name that is not among `names`.
pub fn unknown_tool(name: &str, names: &[&str]) -> Error {
    let error = ARGUMENT_ERROR.error(format!("there is no tool {name:?}")).detail("argument", name);
    let bare = name.replace('-', "_");
    let bare = bare.trim_start_matches("ragmaker_");
    // Every name begins with nothing.
    match nearest(bare, names) {
        Some(nearest) if !bare.is_empty() => {
            error.remedy(format!("Did you mean {nearest}?")).detail("nearest", nearest)
        }
        _ => error.remedy(format!("The tools are {}.", names.join(", "))),
    }
}

fn bare(name: &str) -> &str {
    name.strip_prefix("ragmaker-").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn called(name: &str, arguments: &Value, host: &HostOptions) -> Result<Answered, Error> {
        find(name).unwrap().call(arguments.as_object().cloned().unwrap().into_iter().collect(), host)
    }

    #[test]
    fn a_tool_is_found_by_every_spelling_of_its_name() {
        for name in ["read_file", "read-file", "ragmaker-read-file", "ragmaker_read_file"] {
            assert_eq!(find(name).map(|tool| tool.command), Some("ragmaker-read-file"), "{name}");
        }
        for name in ["fs-get-project-info", "fs_get_project_info", "project-info"] {
            assert_eq!(find(name).map(Tool::name).as_deref(), Some("project_info"), "{name}");
        }
        for name in ["", "read", "ragmaker-", "mcp"] {
            assert!(find(name).is_none(), "{name}");
        }
    }

    #[test]
    fn standard_input_is_never_read() {
        for (name, arguments, argument) in [
            ("read_file", json!({"path": "-"}), "path"),
            ("html_to_markdown", json!({}), "path"),
            ("html_to_markdown", json!({"path": null}), "path"),
            ("html_to_markdown", json!({"path": "-"}), "path"),
            ("write_file", json!({"path": "a"}), "content"),
            ("enrich_discovery", json!({"updates": "-"}), "updates"),
            ("enrich_discovery", json!({"updates": " -"}), "updates"),
        ] {
            let error = called(name, &arguments, &HostOptions::default()).unwrap_err();
            assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == argument, "{name}: {error}");
        }
    }

    #[test]
    fn errors_advise_no_option_that_a_tool_lacks() {
        for (tool, codes, options) in codes_and_options() {
            for code in codes {
                let words = code.remedy().split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
                for option in words.filter(|word| word.starts_with("--")) {
                    let is_known = options.contains(&option) || ["--help", "--describe"].contains(&option);
                    assert!(is_known, "{tool}: {} advises {option}", code.name());
                }
            }
        }
    }

    #[test]
    fn a_dash_may_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let host = HostOptions { project_root: folder.path().to_str().map(str::to_owned), ..HostOptions::default() };
        called("write_file", &json!({"path": "a", "content": "-"}), &host).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("a")).unwrap(), "-");
    }
}
