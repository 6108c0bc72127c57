//! External tools from the configuration: catalogs of executables, and servers of the Model Context Protocol.
//!
//! A tool runs without approval only if it declares that it changes nothing and is confined to that. Answers of tools
//! that use the web are marked as data.

use ragmaker_config::Config;
use ragmaker_external_tools::{RunContext, TOOL_CANCELLED, Tool, load};
use ragmaker_model::{Cancel, Declaration};
use ragmaker_project::Project;
use ragmaker_registry::{find, notice};
use ragmaker_tool::{Error, arguments::Members};
use serde_json::Value;

/// One of them.
pub(crate) struct ExternalTool(Tool);

/// The configured tools that `names` allows, with a warning for each that cannot be used. `names` are all requested
/// names, including those of the registry's tools; without `names`, every tool is offered. `cancel` ends the start of
/// servers.
///
/// # Errors
///
/// `CONFIG_INVALID`.
pub(crate) fn load_external_tools(
    config: &Config,
    project: &Project,
    names: Option<&str>,
    read_only: bool,
    cancel: &Cancel,
) -> Result<(Vec<ExternalTool>, Vec<String>), Error> {
    let wanted: Option<Vec<&str>> = names.map(|names| names.split(',').map(str::trim).collect());
    if wanted.as_ref().is_some_and(|wanted| wanted.iter().all(|name| name.is_empty() || find(name).is_some())) {
        // Nothing is started for tools that nobody asks for.
        return Ok((vec![], vec![]));
    }
    let (root, cache) = (project.root().to_owned(), project.cache_folder());
    let context = RunContext { root, cache, without: config.key_variables(), restarts: true };
    let loaded = load(config, &context, &|name| find(name).is_some(), &|| cancel.is_cancelled())?;
    let external = loaded.tools.into_iter().map(ExternalTool).filter(|tool| {
        wanted.as_ref().is_none_or(|wanted| wanted.contains(&tool.name())) && (!read_only || tool.is_read_only())
    });
    Ok((external.collect(), loaded.warnings))
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
