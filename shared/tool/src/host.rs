//! Host options: settings of the host of a call, which the model that writes the arguments cannot change.
//!
//! A person sets them as flags on a tool's command line. A program that serves tools to a model (an MCP server, an
//! agent) sets them once for all calls. Most of them widen access, so they are not arguments: discovery.json and the
//! schemas that models see do not contain them, and a JSON object that names one is refused with
//! [`NOT_ALLOWED_IN_ARGUMENTS`].

use argh::{ArgsInfo, FlagInfo, FromArgs};
use serde::{Deserialize, Serialize};

use crate::Code;

/// JSON arguments name an option that only the host of the call may set.
pub const NOT_ALLOWED_IN_ARGUMENTS: Code = Code::new(
    "NOT_ALLOWED_IN_ARGUMENTS",
    "Leave it out. If the access is needed, ask the user to give the option to the tool or its server on the command line.",
);

/// The options of a host: every one is a flag of the tools that list it in [`crate::Tool::HOST_OPTIONS`].
#[derive(FromArgs, ArgsInfo, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostOptions {
    /// directory of the project, where relative paths start (default: the nearest project, else the working directory)
    #[argh(option)]
    pub project_root: Option<String>,
    /// another directory that may be read, or with the prefix rw= also written; may be repeated
    #[argh(option)]
    pub allow_root: Vec<String>,
    /// knowledge base that may be read; may be repeated
    #[argh(option)]
    pub kb_root: Vec<String>,
    /// domain whose pages may be opened, including subdomains; may be repeated (default: any)
    #[argh(option)]
    pub allow_domain: Vec<String>,
    /// allow fetching from this machine and private networks
    #[argh(switch)]
    pub allow_private: bool,
    /// refuse pages of this machine and of private networks, also in the browser and even if a call names them
    #[argh(switch)]
    pub public_only: bool,
    /// conversation whose notes think and work use: letters, digits, - and _ (default: default)
    #[argh(option)]
    pub conversation: Option<String>,
    /// filter list in Adblock Plus syntax; matching requests are blocked; may be repeated
    #[argh(option)]
    pub block_list: Vec<String>,
    /// server for WebDriver, such as a Selenium Grid, whose browsers open the pages (default: a local browser)
    #[argh(option)]
    pub webdriver_url: Option<String>,
    /// configuration file instead of ragmaker.toml
    #[argh(option)]
    pub config: Option<String>,
}

/// The host options of tools that work only in the project's own folders.
pub const PROJECT: &[&str] = &["--project-root"];
/// The host options of tools that open and close browsers.
pub const SESSION: &[&str] = &["--project-root", "--webdriver-url"];
/// The host options of tools that keep something for a conversation.
pub const CONVERSATION: &[&str] = &["--project-root", "--conversation"];
/// The host options of tools that read and write where the caller says.
pub const SAVING: &[&str] = &["--project-root", "--allow-root"];
/// The host options of tools that ask services which a person configured.
pub const SEARCHING: &[&str] = &["--project-root", "--allow-domain", "--config"];
/// The host options of the search in knowledge bases, which may ask a configured service.
pub const RETRIEVING: &[&str] = &["--project-root", "--allow-root", "--config"];
/// The host options of tools that open web pages.
pub const BROWSING: &[&str] = &["--project-root", "--allow-domain", "--public-only", "--block-list", "--webdriver-url"];
/// The host options of tools that open web pages and save them.
pub const GATHERING: &[&str] =
    &["--project-root", "--allow-root", "--allow-domain", "--public-only", "--block-list", "--webdriver-url"];
/// The host options of tools that fetch pages without a browser.
pub const FETCHING: &[&str] =
    &["--project-root", "--allow-root", "--allow-domain", "--allow-private", "--public-only", "--webdriver-url"];
/// Every host option: those of a program that serves the tools.
pub const ALL: &[&str] = &[
    "--project-root",
    "--allow-root",
    "--kb-root",
    "--allow-domain",
    "--allow-private",
    "--public-only",
    "--conversation",
    "--block-list",
    "--webdriver-url",
    "--config",
];
/// The host options of tools that read files: knowledge bases are readable without being writable.
pub const FILES: &[&str] = &["--project-root", "--allow-root", "--kb-root"];

impl HostOptions {
    /// Every flag with its help.
    pub fn manual() -> Vec<(&'static str, &'static str)> {
        Self::flags().map(|flag| (flag.long, flag.description)).collect()
    }

    /// Every flag, as argh knows it.
    pub(crate) fn flags() -> impl Iterator<Item = &'static FlagInfo<'static>> {
        Self::get_args_info().flags.iter().filter(|flag| flag.long != "--help")
    }
}

/// The author of the arguments of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Caller {
    /// A person, as flags on a command line: their word is taken.
    #[default]
    Person,
    /// A model, as JSON: the paths that it names are confined to the project and the allowed roots.
    Model,
}

/// A call needs a person's approval and does not have it; the details describe what needs approval.
pub const NEEDS_APPROVAL: Code = Code::new(
    "NEEDS_APPROVAL",
    "Ask the user to approve it, or use a command that only reads, which needs no approval.",
);
/// A call is refused whatever is approved.
pub const COMMAND_BLOCKED: Code =
    Code::new("COMMAND_BLOCKED", "Do not try to achieve this by other means; tell the user what is needed and why.");
/// A person refused the call.
pub const DENIED_BY_USER: Code = Code::new(
    "DENIED_BY_USER",
    "Do not try to achieve this by other means. Follow the user's instruction, or ask what they want.",
);

/// The host's approval of a call, for calls that a person must approve.
///
/// It is passed beside the arguments, so no JSON can set it. A tool that needs an approval and has none fails with
/// [`NEEDS_APPROVAL`]; the host then asks the person and calls again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Approval {
    /// There is no host: the tool runs as a process of its own and asks the person itself.
    #[default]
    Interactive,
    /// The host asks, and has not yet.
    Pending,
    /// A person, or a rule of theirs, approved the call.
    Granted,
    /// A person refused it, with this message, which may be empty.
    Denied(String),
}

/// The circumstances of a call, in addition to its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invocation {
    /// The options of the host.
    pub host: HostOptions,
    /// The author of the arguments.
    pub caller: Caller,
    /// The host's approval of this call.
    #[serde(default)]
    pub approval: Approval,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_serves_the_tools_takes_every_option() {
        let flags: Vec<_> = HostOptions::flags().map(|flag| flag.long).collect();
        assert_eq!(flags, ALL);
    }
}
