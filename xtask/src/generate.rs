//! `discovery`, `docs`, `integrations`: what is generated from the definitions of all tools.
//!
//! The program that does it contains every tool. This one contains none, so that `demo` and `setup` start sooner.

use argh::FromArgs;

use crate::{cargo::cargo, process::run_visibly};

/// Write every discovery.json from the tools' own argument definitions.
#[derive(FromArgs)]
#[argh(subcommand, name = "discovery", help_triggers("-h", "--help"))]
pub(crate) struct Discovery {
    /// write nothing; fail when a file is stale
    #[argh(switch)]
    pub(crate) check: bool,
}

/// Write tools/README.md, tools/*/README.md and the generated tables in docs/.
#[derive(FromArgs)]
#[argh(subcommand, name = "docs", help_triggers("-h", "--help"))]
pub(crate) struct Docs {
    /// write nothing; fail when a file is stale
    #[argh(switch)]
    pub(crate) check: bool,
}

/// Write integrations/ for Gemini CLI, Claude Code, Codex and opencode from its workflows.
#[derive(FromArgs)]
#[argh(subcommand, name = "integrations", help_triggers("-h", "--help"))]
pub(crate) struct Integrations {
    /// write nothing; fail when a file is stale
    #[argh(switch)]
    pub(crate) check: bool,
}

/// Writes the files of this kind, or fails where they are not what they would be.
pub(crate) fn run(kind: &str, check: bool) -> anyhow::Result<()> {
    let mut command = cargo(&["run", "--quiet", "--package", "xtask-generate", "--", kind]);
    run_visibly(command.args(check.then_some("--check")))
}
