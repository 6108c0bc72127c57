//! External tools from the configuration: catalogs of executables, and servers of the Model Context Protocol.
//!
//! A tool runs without approval only if it declares that it changes nothing and is confined to that. Answers of tools
//! that use the web are marked as data.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use ragmaker_config::Config;
use ragmaker_external_tools::{RunContext, TOOL_CANCELLED, Tool, load};
use ragmaker_model::{Cancel, Declaration};
use ragmaker_project::Project;
use ragmaker_registry::{find, notice};
use ragmaker_tool::{Error, arguments::Members};
use serde_json::Value;

use crate::screen::Screen;

/// The time after which a person learns that a server is waited for.
const SILENCE: Duration = Duration::from_secs(1);

/// One of them.
pub(crate) struct ExternalTool(Tool);

/// The external tools of a run.
#[derive(Default)]
pub(crate) struct ExternalTools {
    /// The tools to offer.
    pub(crate) offered: Vec<ExternalTool>,
    /// A warning for each that cannot be used.
    pub(crate) warnings: Vec<String>,
    /// The requested names that are not of the registry: those of external tools, also of tools that cannot be used.
    pub(crate) names: Vec<String>,
}

/// The configured tools that `names` allows. `names` are all requested names, including those of the registry's tools;
/// without `names`, every tool is offered. `screen` says which servers are waited for, and `cancel` ends that.
///
/// # Errors
///
/// `CONFIG_INVALID`.
pub(crate) fn load_external_tools(
    config: &Config,
    project: &Project,
    names: Option<&str>,
    read_only: bool,
    screen: &Screen,
    cancel: &Cancel,
) -> Result<ExternalTools, Error> {
    let wanted: Option<Vec<&str>> = names.map(|names| names.split(',').map(str::trim).collect());
    if wanted.as_ref().is_some_and(|wanted| wanted.iter().all(|name| name.is_empty() || find(name).is_some())) {
        // Nothing is started for tools that nobody asks for.
        return Ok(ExternalTools::default());
    }
    let (root, cache) = (project.root().to_owned(), project.cache_folder());
    let context = RunContext { root, cache, without: config.key_variables(), restarts: true };
    let told = Mutex::new(vec![]);
    let waits = |server: &str, since: Duration| {
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        if since >= SILENCE && !told.iter().any(|other| other == server) {
            screen.notice(&format!("  waiting for the MCP server {server}; Ctrl-C ends the program"));
            told.push(server.to_owned());
        }
    };
    let loaded = load(config, &context, &|name| find(name).is_some(), &waits, &|| cancel.is_cancelled())?;
    let mut external = ExternalTools::default();
    let mut missing = vec![];
    for name in wanted.iter().flatten().filter(|name| find(name).is_none()) {
        let is_loaded = loaded.tools.iter().any(|tool| tool.name == *name);
        if is_loaded || loaded.may_lack(name) {
            external.names.push((*name).to_owned());
        }
        if !is_loaded && loaded.may_lack(name) {
            missing.push(format!(
                "the tool {name} is not offered: it is not among the external tools that could be loaded"
            ));
        }
    }
    external.offered = loaded
        .tools
        .into_iter()
        .map(ExternalTool)
        .filter(|tool| {
            wanted.as_ref().is_none_or(|wanted| wanted.contains(&tool.name())) && (!read_only || tool.is_read_only())
        })
        .collect();
    external.warnings = loaded.warnings;
    external.warnings.extend(missing);
    Ok(external)
}

impl ExternalTool {
    pub(crate) fn declaration(&self) -> Declaration {
        let Tool { name, description, parameters, .. } = &self.0;
        Declaration { name: name.clone(), description: description.clone(), parameters: parameters.clone() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether it declares that it changes nothing, and is confined to that.
    pub(crate) fn is_read_only(&self) -> bool {
        self.0.annotations.read_only_hint && self.0.is_held
    }

    /// The possible effects of a call, for the question to the person.
    pub(crate) fn risk(&self) -> String {
        let mut parts = vec![];
        if !self.0.annotations.read_only_hint {
            parts.push("may change the project");
        }
        if self.0.annotations.open_world_hint {
            parts.push("may use the network");
        }
        parts.extend(&self.0.unconfined);
        format!("is not a tool of RAGMaker: {}", parts.join("; "))
    }

    /// The answer; `None` where `goes_on` ended the call.
    pub(crate) fn run(&self, arguments: Members, goes_on: &dyn Fn() -> bool) -> Result<Option<Value>, Error> {
        let answer = self.0.call(arguments.into_iter().collect(), &|| !goes_on());
        match answer {
            Err(error) if error.is(TOOL_CANCELLED) => Ok(None),
            Err(error) => Err(error),
            Ok(mut answer) => {
                if self.0.annotations.open_world_hint {
                    notice(&mut answer);
                }
                Ok(Some(answer))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ragmaker_config::Options;
    use ragmaker_testkit::{folder, write};

    use super::*;
    use crate::screen::Form;

    /// What is loaded in the project `root`, whose catalog has the tools `reads` and `writes`, and one server that does
    /// not start.
    fn loaded(root: &Path, names: Option<&str>, read_only: bool) -> ExternalTools {
        let declared = serde_json::json!([
            {"name": "reads", "parameters": {}, "annotations": {"readOnlyHint": true, "openWorldHint": false}},
            {"name": "writes", "parameters": {}},
        ]);
        write(root, "catalog.json", declared.to_string());
        let program = std::env::current_exe().unwrap();
        let configured = format!(
            "[tools]\ncatalogs = [{{file = 'catalog.json', call = ['{}'], confined = false}}]\n\
             [mcp.servers.gone]\ncommand = '/no/such/command'\n",
            program.display()
        );
        write(root, "ragmaker.toml", configured);
        let config = Config::load(root, &Options::default()).unwrap();
        let project = Project::discover(root.to_str()).unwrap();
        let cancel = Cancel::default();
        load_external_tools(&config, &project, names, read_only, &Screen::new(Form::Json, cancel.clone()), &cancel)
            .unwrap()
    }

    fn offered(tools: &ExternalTools) -> Vec<&str> {
        tools.offered.iter().map(ExternalTool::name).collect()
    }

    #[test]
    fn tools_are_offered_by_name_and_those_that_cannot_be_had_are_named() {
        let (_holder, root) = folder("project");
        let all = loaded(&root, None, false);
        assert_eq!(offered(&all), ["reads", "writes"]);
        assert!(all.warnings.len() == 1 && all.warnings[0].contains("gone"), "{:?}", all.warnings);
        let some = loaded(&root, Some("read_file, writes ,gone_search,unknown"), false);
        assert_eq!(
            (offered(&some), &some.names[..]),
            (vec!["writes"], &["writes".to_owned(), "gone_search".to_owned()][..])
        );
        assert!(some.warnings[1].starts_with("the tool gone_search is not offered"), "{:?}", some.warnings);
    }

    #[test]
    fn nothing_is_started_where_nobody_asks_for_it() {
        let (_holder, root) = folder("project");
        let none = loaded(&root, Some("read_file, think,"), false);
        assert!(none.offered.is_empty() && none.warnings.is_empty(), "{:?}", none.warnings);
    }

    #[test]
    fn a_declaration_that_nothing_enforces_is_not_believed() {
        let (_holder, root) = folder("project");
        assert_eq!(offered(&loaded(&root, None, true)), [""; 0]);
        let all = loaded(&root, None, false);
        assert!(all.offered.iter().all(|tool| !tool.is_read_only()));
        let risks: Vec<_> = all.offered.iter().map(ExternalTool::risk).collect();
        assert!(!risks[0].contains("may change") && !risks[0].contains("network"), "{risks:?}");
        assert!(risks[1].contains("may change the project; may use the network"), "{risks:?}");
    }
}
