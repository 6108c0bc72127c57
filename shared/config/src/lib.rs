//! The configuration, from flags, environment variables and two files named `ragmaker.toml`.
//!
//! The precedence, highest first: flags, environment variables, the project's file, the user's file.
//!
//! [`KEYS`] is the table of all keys, and [`Config`] contains their values. API keys are never printed: errors name
//! only the variables, and every type that contains an API key hides it from debug output.
//!
//! ```
//! use ragmaker_config::{Config, Environment, Options};
//!
//! let environment = [("RAGMAKER_PROVIDER", "openai"), ("RAGMAKER_MODEL", "gpt-5"), ("OPENAI_API_KEY", "sk-…")];
//! let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
//! let folder = tempfile::tempdir()?;
//! let options = Options { environment: Environment::of(environment, folder.path())?, ..Options::default() };
//! let config = Config::load(folder.path(), &options)?;
//! let model = config.model()?;
//! assert_eq!((&*model.name, model.key_variable.as_deref()), ("gpt-5", Some("OPENAI_API_KEY")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod choice;
mod environment;
mod file;
mod key_forms;
mod keys;
mod load;
mod secret;
mod service;
#[cfg(test)]
mod tests;
mod trust;
mod value;

use std::path::PathBuf;

use ragmaker_tool::Code;

pub use choice::{Approve, Language, Protocol, Provider, SearchEngine};
pub use environment::Environment;
pub use keys::{KEY_VARIABLES, KEYS, Key as ConfigKey};
pub use load::{Config, Options, user_folder};
pub use secret::{Key, Redactor};
pub use service::{EmbedSettings, ModelSettings, SearchSettings};
pub use value::{Catalog, ValueKind};

/// The configuration has an unknown key, or a value that the key does not take.
pub const CONFIG_INVALID: Code =
    Code::new("CONFIG_INVALID", "Correct the line; docs/configuration.md lists every key.");
/// A setting that the model needs is missing.
pub const MODEL_NOT_CONFIGURED: Code =
    Code::new("MODEL_NOT_CONFIGURED", "Set the key in ragmaker.toml, or its environment variable.");
/// A setting that the search engine needs is missing.
pub const SEARCH_NOT_CONFIGURED: Code = Code::new(
    "SEARCH_NOT_CONFIGURED",
    "Set the key in ragmaker.toml, or its environment variable. Pages with a known address can be fetched without it, by ragmaker-http-fetch or the browser tools.",
);

/// The origin of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The table of keys.
    Default,
    /// A file.
    File {
        /// Its path.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Whether it is the project's, which its author wrote, and not the user's.
        in_project: bool,
    },
    /// An environment variable.
    Environment {
        /// Its name.
        name: String,
        /// Whether it is from the project's `.env`.
        in_project: bool,
    },
    /// A flag.
    Flag,
}

impl Origin {
    /// Whether the project's own files say it.
    pub fn is_in_project(&self) -> bool {
        matches!(self, Self::File { in_project: true, .. } | Self::Environment { in_project: true, .. })
    }
}

/// The settings of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agent {
    /// The maximum number of requests for one message of the person.
    pub max_steps: u64,
    /// Whether an answer after tool use needs a `think`.
    pub think_required: bool,
    /// The number of turns after which a summary is made; 0 means never.
    pub max_conversation_turns: u64,
    /// The number of turns that a summary leaves unchanged.
    pub summary_conversation_turns: u64,
    /// Which calls run without approval.
    pub approve: Approve,
    /// The language of the instructions.
    pub language: Language,
    /// The size of the model's context window in tokens, configured or as the provider's models usually have it.
    pub context_tokens: u64,
}

/// The settings for commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commands {
    /// Programs, with their first words, that run without a question.
    pub allow: Vec<String>,
    /// After how many seconds a command is ended.
    pub timeout_s: u64,
    /// Whether commands reach the network.
    pub network: bool,
}

/// The settings for tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tools {
    /// The names of the offered tools; empty for all tools.
    pub offered: Vec<String>,
    /// Further catalogs.
    pub catalogs: Vec<Catalog>,
    /// The number of seconds after which a call of an external tool is ended.
    pub timeout_s: u64,
}

/// A server of the Model Context Protocol.
#[derive(Clone, PartialEq, Eq)]
pub struct McpServer {
    /// Its name in the configuration.
    pub name: String,
    /// The executable.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Further environment variables, which may contain keys.
    pub env: Vec<(String, String)>,
    /// Whether it can write only the project.
    pub confined: bool,
}

impl std::fmt::Debug for McpServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        write!(f, "{}: {} {:?} with {names:?}", self.name, self.command, self.args)
    }
}
