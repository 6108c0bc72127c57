//! The list of tools.

use std::{collections::BTreeSet, ffi::OsString, process::ExitCode};

use ragmaker_tool::{
    Approval, Code, ContentOrigin, Error, HostOptions, INTERNAL_ERROR, Isolation, Manual, Stdin, ToolProfile, Usage,
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
        pub(crate) fn codes_and_options() -> Vec<(&'static str, Vec<ragmaker_tool::Code>, Vec<&'static str>)> {
            vec![$({
                let flags = <$tool::Args as argh::ArgsInfo>::get_args_info().flags;
                let own = flags.iter().map(|flag| flag.long);
                let of_host = <$tool::Args as ragmaker_tool::Tool>::HOST_OPTIONS.iter().copied();
                let codes = ragmaker_tool::describe::codes::<$tool::Args>().collect();
                (<$tool::Args as ragmaker_tool::Tool>::NAME, codes, own.chain(of_host).collect())
            }),*]
        }

        /// Of each tool: its name, its annotations, the options that words give, and all of its options.
        #[cfg(test)]
        fn operands() -> Vec<Words> {
            vec![$((
                <$tool::Args as ragmaker_tool::Tool>::NAME,
                <$tool::Args as ragmaker_tool::Tool>::ANNOTATIONS,
                <$tool::Args as ragmaker_tool::Tool>::OPERANDS,
                <$tool::Args as argh::ArgsInfo>::get_args_info().flags,
            )),*]
        }

        /// The manuals of all tools, in the same order as their entries.
        pub fn manuals() -> Vec<Manual> {
            vec![$(Manual::of::<$tool::Args>()),*]
        }

        /// The command lines of all tools, in the same order.
        pub fn usages() -> Vec<Usage> {
            vec![$(Usage::of_tool::<$tool::Args>()),*]
        }

        /// Runs the tool whose executable is `command` as that executable does, with the command line `words`; `None`
        /// if there is no such tool.
        pub fn main(command: &str, words: Vec<OsString>) -> Option<ExitCode> {
            match command {
                $(<$tool::Args as ragmaker_tool::Tool>::NAME => {
                    let entry = || format!("{:#}\n", ragmaker_tool::describe::entry::<$tool::Args>()).into();
                    Some(ragmaker_tool::main_with::<$tool::Args>(words, entry))
                })*
                _ => None,
            }
        }

        // Not in the list, so that a program which only reads the list links no tool.
        fn call(
            command: &str,
            arguments: Members,
            host: &HostOptions,
            approval: &Approval,
        ) -> Result<Value, Error> {
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
    ragmaker_ask_directory,
    ragmaker_browser_act,
    ragmaker_browser_close,
    ragmaker_browser_extract,
    ragmaker_browser_look,
    ragmaker_browser_navigate,
    ragmaker_browser_open,
    ragmaker_browser_state,
    ragmaker_cache_cleanup,
    ragmaker_cite,
    ragmaker_create_directory,
    ragmaker_create_knowledge_base,
    ragmaker_delete_directory,
    ragmaker_delete_file,
    ragmaker_enrich_discovery,
    ragmaker_entry_discovery,
    ragmaker_export_knowledge_base,
    ragmaker_file_sync,
    ragmaker_find_files,
    ragmaker_github_fetch,
    ragmaker_html_to_markdown,
    ragmaker_http_fetch,
    ragmaker_init_cache,
    ragmaker_install_knowledge_base,
    ragmaker_list_directory,
    ragmaker_modify_file_content,
    ragmaker_move,
    ragmaker_open_directory,
    ragmaker_project_info,
    ragmaker_read_file,
    ragmaker_read_many_files,
    ragmaker_refresh_knowledge_base,
    ragmaker_run_command,
    ragmaker_search_file_content,
    ragmaker_search_knowledge_base,
    ragmaker_show_knowledge_base,
    ragmaker_think,
    ragmaker_verify,
    ragmaker_web_search,
    ragmaker_work,
    ragmaker_write_file,
}

#[cfg(test)]
type Words = (&'static str, ragmaker_tool::Annotations, &'static [&'static str], &'static [argh::FlagInfo<'static>]);

/// A tool, without the types that make it one.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// The name of its executable, such as `ragmaker-read-file`.
    pub command: &'static str,
    /// Other names that it is found by.
    pub aliases: &'static [&'static str],
    /// How a host runs it.
    pub isolation: Isolation,
    /// The author of the text in its answer.
    pub origin: ContentOrigin,
    /// The argument in whose place the executable can read standard input.
    pub stdin: Option<Stdin>,
    /// The profiles that it belongs to.
    pub profiles: &'static [ToolProfile],
    /// Whether it runs commands.
    pub runs_commands: bool,
}

impl Tool {
    const fn of<T: ragmaker_tool::Tool>() -> Self {
        Self {
            command: T::NAME,
            aliases: T::ALIASES,
            isolation: T::ISOLATION,
            origin: T::ORIGIN,
            stdin: T::STDIN,
            profiles: T::PROFILES,
            runs_commands: T::RUNS_COMMANDS,
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
    /// The error that the executable would print on standard error.
    pub fn call(&self, arguments: Members, host: &HostOptions) -> Result<Value, Error> {
        self.call_approved(arguments, host, &Approval::Pending)
    }

    /// Like `call`, with the host's approval of this call.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    pub fn call_approved(&self, arguments: Members, host: &HostOptions, approval: &Approval) -> Result<Value, Error> {
        let mut answered = call(self.command, arguments, host, approval)?;
        provenance::mark(self.origin, &mut answered);
        Ok(answered)
    }
}

/// The tool of this name: `read_file`, `read-file` or `ragmaker-read-file`, or one of its aliases.
pub fn find(name: &str) -> Option<&'static Tool> {
    let name = name.replace('_', "-");
    let names = |tool: &Tool| bare(tool.command) == bare(&name) || tool.aliases.contains(&bare(&name));
    TOOLS.iter().find(|tool| names(tool))
}

/// There is no tool of that name.
pub const TOOL_NOT_FOUND: Code = Code::new("TOOL_NOT_FOUND", "Use one of the tools that the host offers.");

/// The number of suggested names for a wrong one.
const SUGGESTED: usize = 3;

/// The error for a `name` that is not in `tools`, with the most similar names, if any.
pub fn unknown_tool<'a>(name: &str, tools: impl IntoIterator<Item = &'a Tool>) -> Error {
    let error = TOOL_NOT_FOUND.error(format!("there is no tool {name:?}")).detail("tool", name);
    let dashed = name.replace('_', "-");
    let mut near: Vec<(usize, String)> = vec![];
    let mut all = vec![];
    for tool in tools {
        let names = std::iter::once(bare(tool.command)).chain(tool.aliases.iter().copied());
        let distance = names.filter_map(|known| distance(bare(&dashed), known)).min();
        near.extend(distance.map(|distance| (distance, tool.name())));
        all.push(tool.name());
    }
    near.sort();
    let near: Vec<_> = near.into_iter().take(SUGGESTED).map(|(_, name)| name).collect();
    if near.is_empty() {
        return error.remedy(format!("The tools are {}.", all.join(", ")));
    }
    error.remedy(format!("Did you mean {}?", near.join(" or "))).detail("nearest", near)
}

/// The distance between `name` and the name `known`, both in kebab case; `None` if they are not similar.
///
/// Mistyped names have the smallest distances, followed by names with the same words, such as `file-read` for
/// `read-file`.
fn distance(name: &str, known: &str) -> Option<usize> {
    // Every name begins with nothing.
    if name.is_empty() {
        return None;
    }
    if nearest(name, &[known]).is_some() {
        return Some(0);
    }
    let words = |text: &str| text.split('-').map(|word| word.trim_end_matches('s').to_owned()).collect::<BTreeSet<_>>();
    let (name, known) = (words(name), words(known));
    let (shared, all) = (name.intersection(&known).count(), name.union(&known).count());
    // Half of the words at least: many tools have "file" in their names.
    (shared * 2 >= all).then_some(1 + all - shared)
}

fn bare(name: &str) -> &str {
    name.strip_prefix("ragmaker-").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use argh::{FlagInfoKind, Optionality};
    use ragmaker_tool::ARGUMENT_ERROR;
    use serde_json::json;

    fn called(name: &str, arguments: &Value, host: &HostOptions) -> Result<Value, Error> {
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
    fn words_give_options_that_exist() {
        let all = operands();
        assert!(all.iter().filter(|(.., longs, _)| !longs.is_empty()).count() > 25);
        for (name, annotations, longs, flags) in all {
            let flags: Vec<_> = longs
                .iter()
                .map(|long| flags.iter().find(|flag| flag.long == *long).unwrap_or_else(|| panic!("{name}: {long}")))
                .collect();
            let mut is_optional = false;
            for (place, flag) in flags.iter().enumerate() {
                assert!(matches!(flag.kind, FlagInfoKind::Option { .. }) && !flag.hidden, "{name}: {}", flag.long);
                assert!(!longs[..place].contains(&flag.long), "{name}: {} is twice in the list", flag.long);
                // Words of the last option alone can be many, and required words come first.
                let is_last = place + 1 == flags.len();
                assert!(is_last || !matches!(flag.optionality, Optionality::Repeating), "{name}: {}", flag.long);
                let is_required = matches!(flag.optionality, Optionality::Required);
                assert!(!(is_required && is_optional), "{name}: {}", flag.long);
                is_optional = !is_required;
            }
            // What a pattern of the shell adds must not become the target of a change.
            assert!(!annotations.destructive_hint || flags.len() <= 1, "{name}");
        }
    }

    #[test]
    fn a_name_that_no_tool_has_is_answered_with_the_nearest() {
        let nearest = |name: &str| {
            let error = unknown_tool(name, TOOLS);
            assert!(error.is(TOOL_NOT_FOUND) && error.details()["tool"] == name, "{error}");
            error.details().get("nearest").cloned()
        };
        assert_eq!(nearest("read_fil"), Some(json!(["read_file"])));
        assert_eq!(nearest("file_read").unwrap()[0], "read_file");
        assert_eq!(nearest("directory-list").unwrap()[0], "list_directory");
        assert_eq!(nearest("fs_get_project_inf"), Some(json!(["project_info"])));
        for name in ["", "ragmaker-", "quite-unlike-anything"] {
            assert_eq!(nearest(name), None, "{name}");
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
    fn a_dash_may_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let host = HostOptions { project_root: folder.path().to_str().map(str::to_owned), ..HostOptions::default() };
        called("write_file", &json!({"path": "a", "content": "-"}), &host).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("a")).unwrap(), "-");
    }
}
