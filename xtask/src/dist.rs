//! `dist` and `package`: the release archive, and the packages for crates.io. A package of its own makes
//! both, so that other tasks start sooner.

use argh::FromArgs;

use crate::process::{cargo, run_visibly};

/// Build the release archive in target/dist: executable, links, man pages, completions, licences, SBOM, checksum.
#[derive(FromArgs)]
#[argh(subcommand, name = "dist", help_triggers("-h", "--help"))]
pub(crate) struct Arguments {
    /// target of the executable (default: on Linux the static one with musl, elsewhere this machine's)
    #[argh(option)]
    target: Option<String>,
    /// build a second time in another folder, and fail unless the archive has the same bytes
    #[argh(switch)]
    twice: bool,
    /// also build a Debian package, with cargo-deb
    #[argh(switch)]
    deb: bool,
}

pub(crate) fn run(Arguments { target, twice, deb }: &Arguments) -> anyhow::Result<()> {
    let mut dist = cargo(&["run", "--quiet", "--locked", "--package", "xtask-dist", "--"]);
    if let Some(target) = target {
        dist.args(["--target", target]);
    }
    run_visibly(dist.args(twice.then_some("--twice")).args(deb.then_some("--deb")))
}

/// Package every crate that can be published, in target/package.
#[derive(FromArgs)]
#[argh(subcommand, name = "package", help_triggers("-h", "--help"))]
pub(crate) struct Package {
    /// also install three tools from their packages, with a cargo home of their own and without a network
    #[argh(switch)]
    pub(crate) install: bool,
}

pub(crate) fn package(install: bool) -> anyhow::Result<()> {
    let mut package = cargo(&["run", "--quiet", "--locked", "--package", "xtask-dist", "--bin", "package", "--"]);
    run_visibly(package.args(install.then_some("--install")))
}
