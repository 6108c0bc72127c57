//! The agents' clients for the tests, installed by npm under target/clients.

use crate::npm::List;

/// The packages of the clients.
pub(crate) const CLIENTS: List = List {
    folder: "clients",
    failure: "no client was tested",
    with_scripts: &["@anthropic-ai/claude-code", "opencode-ai"],
    files: &[
        "node_modules/.bin/gemini",
        "node_modules/.bin/claude",
        "node_modules/.bin/codex",
        "node_modules/.bin/opencode",
    ],
};

/// Installs the clients, unless the pinned versions are installed. It is an error if this fails, because a skipped test
/// proves nothing.
pub(crate) fn install() -> anyhow::Result<()> {
    CLIENTS.install()
}
