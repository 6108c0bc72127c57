//! External tools: tools that are not part of this project, from catalogs of executables in four formats
//! ([`CatalogFormat`]) and from servers of the Model Context Protocol.
//!
//! A host offers them in addition to its own. Each tool has a name, a description, annotations and the JSON schema of
//! its arguments. The arguments of a call are validated. A call runs as a process with limits on time and output, and
//! can be cancelled. A failing tool never ends its host: every failure is an error with a code. A broken entry is left
//! out with a warning.
//!
//! The executables of catalogs are confined ([`ragmaker_confine`]) by their annotations: a read-only tool cannot write,
//! other tools can write in the project, and only tools that declare network access have it. An MCP server is one
//! process for all its tools, so it is confined only if the configuration says so: then it can write in the project and
//! use the network.
//!
//! ```no_run
//! use ragmaker_external_tools::{RunContext, load};
//! # let config = ragmaker_config::Config::load(".".as_ref(), &Default::default())?;
//! let context = RunContext { root: "/home/me/project".into(), ..RunContext::default() };
//! let loaded = load(&config, &context, &|name| name == "read_file", &|_, _| (), &|| false)?;
//! for tool in &loaded.tools {
//!     println!("{}: {}", tool.name, tool.description);
//! }
//! let answer = loaded.tools[0].call(Default::default(), &|| false)?;
//! # Ok::<(), ragmaker_tool::Error>(())
//! ```

mod catalog;
mod catalog_format;
mod mcp;
mod output;
mod process;
mod relay;
mod schema;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use ragmaker_config::{Config, McpServer};
use ragmaker_tool::{Annotations, Code, Error};
use serde_json::{Map, Value};

pub use catalog_format::CatalogFormat;
pub use relay::run_if_asked;

/// An external tool failed.
pub const TOOL_FAILED: Code =
    Code::new("TOOL_FAILED", "Read details.stderr and the message, and correct the arguments, or use another tool.");
/// An external tool did not end in time.
pub const TOOL_TIMED_OUT: Code =
    Code::new("TOOL_TIMED_OUT", "Request less in one call; the user can raise the limit with tools.timeout_s.");
/// An external tool was ended by the person.
pub const TOOL_CANCELLED: Code = Code::new("TOOL_CANCELLED", "Ask the user how to continue.");

/// The codes of [`Tool::call`].
pub const ERRORS: &[Code] = &[ragmaker_tool::ARGUMENT_ERROR, TOOL_FAILED, TOOL_TIMED_OUT, TOOL_CANCELLED];

/// The place where external tools run, and their confinement.
#[derive(Clone, Debug, Default)]
pub struct RunContext {
    /// The project, which is their working directory.
    pub root: PathBuf,
    /// The project's cache folder, whose logins they may not read, and which takes their long output.
    pub cache: PathBuf,
    /// Environment variables that they do not get, beside those that look like a key: where the host has its own.
    pub without: Vec<String>,
    /// Whether the host's executable may be started again, to confine tools and to end servers with the host: its
    /// `main` function calls [`ragmaker_confine::run_if_asked`] and [`run_if_asked`] first.
    pub restarts: bool,
}

/// The result of loading.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The tools.
    pub tools: Vec<Tool>,
    /// The entries that were left out, with the reasons.
    pub warnings: Vec<String>,
    /// The beginnings of the names that the tools of these entries may have had.
    lost: Vec<String>,
}

impl Loaded {
    /// Whether `name` may be that of a tool that was left out. The names in a catalog that cannot be read are unknown.
    pub fn may_lack(&self, name: &str) -> bool {
        self.lost.iter().any(|start| name.starts_with(start.as_str()))
    }
}

/// A tool of others.
#[derive(Debug)]
pub struct Tool {
    /// The name that a model calls it by.
    pub name: String,
    /// Its purpose.
    pub description: String,
    /// The JSON schema of its arguments, an object.
    pub parameters: Value,
    /// Its declared annotations. A missing annotation has its most dangerous value: the tool changes and destroys data
    /// and uses the network.
    pub annotations: Annotations,
    /// Whether it is kept to what it declares. A server's tools are taken at their word: a person named the server,
    /// which runs before any call.
    pub is_held: bool,
    /// The gaps of its confinement, in words for a person.
    pub unconfined: Vec<&'static str>,
    schema: schema::Schema,
    runs: Runner,
    timeout: Duration,
}

/// The way in which a tool is run.
#[derive(Debug)]
enum Runner {
    Executable(Box<process::Executable>),
    Mcp { server: Arc<mcp::Server>, tool: String },
}

/// The annotations of a tool that declares nothing.
const UNDECLARED: Annotations =
    Annotations { read_only_hint: false, destructive_hint: true, idempotent_hint: false, open_world_hint: true };

/// The external tools that `config` names. `is_taken` knows the names of the host's own. `waits` is called repeatedly
/// with the name of a server that has not answered yet, and the time since its start. Where `is_cancelled` returns true,
/// what has not answered yet is left out.
///
/// # Errors
///
/// `CONFIG_INVALID` for servers that are not configured as a whole. A catalog or a server that cannot be read is a
/// warning.
pub fn load(
    config: &Config,
    context: &RunContext,
    is_taken: &dyn Fn(&str) -> bool,
    waits: &(dyn Fn(&str, Duration) + Sync),
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<Loaded, Error> {
    let tools = config.tools();
    let timeout = Duration::from_secs(tools.timeout_s);
    let servers: Vec<McpServer> = config.mcp_servers()?;
    let mut loaded = Loaded::default();
    let any = tools.catalogs.iter().any(|catalog| catalog.confined) || servers.iter().any(|server| server.confined);
    let none = Confinement::none();
    // A process is started to find out, once for all.
    let held = if context.restarts && any { Confinement::of(&context.root) } else { none.clone() };
    let of = |confined: bool| if confined { &held } else { &none };
    for catalog in &tools.catalogs {
        add(&mut loaded, catalog::read(catalog, context, of(catalog.confined), timeout, is_cancelled), "", is_taken);
    }
    // A server may take seconds to start: all start in parallel.
    let begun = Instant::now();
    let start = |server: &McpServer| {
        let is_cancelled = || {
            waits(&server.name, begun.elapsed());
            is_cancelled()
        };
        mcp::tools(server, context, of(server.confined), timeout, &is_cancelled)
    };
    let start = &start;
    let started: Vec<_> = thread::scope(|scope| {
        let starting: Vec<_> = servers.iter().map(|server| scope.spawn(move || start(server))).collect();
        starting.into_iter().map(thread::ScopedJoinHandle::join).collect()
    });
    for (server, outcome) in servers.iter().zip(started) {
        let outcome = outcome.unwrap_or_else(|_| Err("it cannot be read".to_owned()));
        let read = outcome.map_err(|reason| format!("MCP server {}: {reason}", server.name));
        add(&mut loaded, read, &mcp::prefix(&server.name), is_taken);
    }
    Ok(loaded)
}

/// A tool as it was declared, or why it was left out.
type ParsedCatalog = Result<Vec<Result<Tool, String>>, String>;

/// Adds what was read from a source whose tools have names with this `prefix`.
fn add(loaded: &mut Loaded, read: ParsedCatalog, prefix: &str, is_taken: &dyn Fn(&str) -> bool) {
    for entry in read.unwrap_or_else(|warning| vec![Err(warning)]) {
        match entry {
            Err(warning) => {
                loaded.warnings.push(warning);
                loaded.lost.push(prefix.to_owned());
            }
            Ok(tool) if is_taken(&tool.name) || loaded.tools.iter().any(|other| other.name == tool.name) => {
                loaded.warnings.push(format!("the tool {}: there is another of that name", tool.name));
            }
            Ok(tool) => loaded.tools.push(tool),
        }
    }
}

impl Tool {
    /// Runs the tool. JSON output is returned unchanged, also if it is an error with `"status": "error"`. Other text is
    /// returned in the member `output`. It may be long: the host shortens it. Of output over 1 MiB, `output` is the
    /// start and the end, and the file `log_file` in the cache folder has up to 256 MiB.
    ///
    /// # Errors
    ///
    /// Those of [`ERRORS`].
    pub fn call(&self, arguments: Map<String, Value>, is_cancelled: &dyn Fn() -> bool) -> Result<Value, Error> {
        let arguments = Value::Object(arguments);
        self.schema.check(&arguments)?;
        let outcome = match &self.runs {
            Runner::Executable(executable) => executable.call(&arguments, self.timeout, is_cancelled),
            Runner::Mcp { server, tool } => server.call(tool, &arguments, self.timeout, is_cancelled),
        };
        outcome.map_err(|error| error.detail("tool", self.name.as_str()))
    }
}

/// The confinement of tools on this machine.
#[derive(Clone, Debug)]
pub(crate) struct Confinement {
    /// Whether it is set up at all.
    pub(crate) applies: bool,
    /// Whether files and the network are kept from a process.
    pub(crate) holds: bool,
    /// The missing protection.
    pub(crate) missing: Vec<&'static str>,
}

impl Confinement {
    fn none() -> Self {
        Self { applies: false, holds: false, missing: vec!["it runs with all of your own permissions"] }
    }

    /// The confinement of tools in the project `root`.
    fn of(root: &Path) -> Self {
        let layers = ragmaker_confine::probe(&ragmaker_confine::Policy::default()).unwrap_or_default();
        let mut missing = layers.missing();
        let (_, finds_all) = ragmaker_confine::secret_files(root);
        if !finds_all {
            missing.push(TOO_MANY_FILES);
        }
        let holds = layers.keep_files() && (layers.namespaces || layers.seccomp) && finds_all;
        Self { applies: true, holds, missing }
    }
}

/// The reason why files with keys of a project remain readable.
const TOO_MANY_FILES: &str = "the project has so many files that those with keys cannot all be hidden";

/// The files and folders that are hidden from a process: the logins in the cache folder `cache`, and the files of the
/// project whose names are typical of keys, as [`ragmaker_confine::secret_files`] finds them at each start, because files
/// come and go.
///
/// # Errors
/// A process that must be confined (`strict`) is not started if the search did not reach all files.
fn hidden_files(found: (Vec<PathBuf>, bool), cache: &Path, strict: bool) -> std::io::Result<Vec<PathBuf>> {
    let (mut hidden, finds_all) = found;
    if strict && !finds_all {
        return Err(std::io::Error::other(TOO_MANY_FILES));
    }
    hidden.extend(ragmaker_confine::logins(cache));
    Ok(hidden)
}

/// A name that every provider accepts, or the reason why there is none.
fn name_of(text: &str) -> Result<String, String> {
    let is_name = (1..=64).contains(&text.len())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if is_name { Ok(text.to_owned()) } else { Err("its name has to be 1 to 64 letters, digits, _ and -".to_owned()) }
}

/// The annotations in `entry`.
fn annotations_of(entry: &Value) -> Annotations {
    let declared = &entry["annotations"];
    let hint = |name: &str, default: bool| declared[name].as_bool().unwrap_or(default);
    let read_only_hint = hint("readOnlyHint", UNDECLARED.read_only_hint);
    Annotations {
        read_only_hint,
        destructive_hint: !read_only_hint && hint("destructiveHint", UNDECLARED.destructive_hint),
        idempotent_hint: hint("idempotentHint", UNDECLARED.idempotent_hint),
        open_world_hint: hint("openWorldHint", UNDECLARED.open_world_hint),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_must_be_confined_is_not_started_if_files_with_keys_may_remain_readable() {
        let (key, cache) = (PathBuf::from("project/.env"), Path::new("project/.tmp/cache"));
        let found = |finds_all| (vec![key.clone()], finds_all);
        for (finds_all, strict) in [(true, true), (true, false), (false, false)] {
            assert!(hidden_files(found(finds_all), cache, strict).unwrap().contains(&key));
        }
        assert_eq!(hidden_files(found(false), cache, true).unwrap_err().to_string(), TOO_MANY_FILES);
    }
}
