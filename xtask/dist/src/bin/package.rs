//! `cargo xtask package`: packages every crate as `cargo publish` would, and with `--install` installs tools from these
//! packages as a user would from crates.io.

use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};
use argh::FromArgs;
use cargo_metadata::{Metadata, MetadataCommand, Package};
use flate2::read::GzDecoder;
use serde_json::json;
use xtask_dist::archive::sha256;

/// Package every crate that can be published, in target/package.
#[derive(FromArgs)]
#[argh(help_triggers("-h", "--help"))]
struct Arguments {
    /// also install three tools from their packages, with a cargo home of their own and without a network
    #[argh(switch)]
    install: bool,
}

/// The installed tools: a file tool, a tool that drives a browser, and the executable with all others.
const INSTALLED: [&str; 3] = ["ragmaker-read-file", "ragmaker-browser-navigate", "ragmaker"];

fn main() -> anyhow::Result<()> {
    let arguments: Arguments = argh::from_env();
    let metadata = MetadataCommand::new().no_deps().exec()?;
    let root = metadata.workspace_root.as_std_path();
    let folder = root.join("target/package");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let crates = package(&metadata, &folder)?;
    println!("packaged {} crates", crates.len());
    if arguments.install {
        install(root, &crates, &folder)?;
    }
    Ok(())
}

/// Packages the crates in the order of their dependencies, and returns the packages.
fn package(metadata: &Metadata, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let (private, public) = by_publication(metadata);
    let mut command = cargo(metadata.workspace_root.as_std_path());
    // The crates are not built one by one: --install builds them, and so does every other task.
    command.args(["package", "--workspace", "--locked", "--no-verify", "--allow-dirty", "--quiet", "--target-dir"]);
    command.arg(folder.parent().context("target is a folder")?);
    for package in private {
        command.args(["--exclude", package.name.as_str()]);
    }
    run(&mut command)?;
    let path = |name: &str, version: &str| folder.join(format!("{name}-{version}.crate"));
    let crates: Vec<_> =
        public.iter().map(|package| path(package.name.as_str(), &package.version.to_string())).collect();
    for path in &crates {
        ensure!(path.is_file(), "{} was not packaged", path.display());
    }
    Ok(crates)
}

/// The packages of the workspace that are never published, and the others.
fn by_publication(metadata: &Metadata) -> (Vec<&Package>, Vec<&Package>) {
    let is_private = |package: &&Package| package.publish.as_ref().is_some_and(Vec::is_empty);
    metadata.workspace_packages().into_iter().partition(is_private)
}

/// Installs tools from a directory that has the packages and all other crates that they need, and runs them.
fn install(root: &Path, crates: &[PathBuf], folder: &Path) -> anyhow::Result<()> {
    let (sources, home, prefix) = (folder.join("sources"), folder.join("home"), folder.join("prefix"));
    run(cargo(root).args(["vendor", "--locked", "--quiet", "--versioned-dirs"]).arg(&sources))?;
    for path in crates {
        tar::Archive::new(GzDecoder::new(File::open(path)?)).unpack(&sources)?;
        let unpacked = sources.join(path.file_stem().context("a package has a name")?);
        let checksum = json!({"files": {}, "package": sha256(path)?});
        fs::write(unpacked.join(".cargo-checksum.json"), checksum.to_string())?;
    }
    fs::create_dir_all(&home)?;
    let config = format!(
        "[source.crates-io]\nreplace-with = \"packages\"\n[source.packages]\ndirectory = {:?}\n[net]\noffline = true\n",
        sources.display().to_string()
    );
    fs::write(home.join("config.toml"), config)?;
    for name in INSTALLED {
        // Outside of the repository, whose configuration would be used as well.
        let mut command = cargo(&env::temp_dir());
        command.args(["install", "--locked", "--debug", "--quiet", name, "--root"]).arg(&prefix);
        run(command.env("CARGO_HOME", &home).env("CARGO_TARGET_DIR", folder.join("build")))?;
        let mut version = Command::new(prefix.join("bin").join(name));
        run(version.arg("--version"))?;
    }
    let read =
        Command::new(prefix.join("bin/ragmaker-read-file")).args(["--path", "README.md"]).current_dir(root).output();
    let read = String::from_utf8(read?.stdout)?;
    ensure!(read.contains("# RAGMaker"), "the installed ragmaker-read-file does not read: {read}");
    println!("installed from packages: {}", INSTALLED.join(", "));
    fs::remove_dir_all(folder.join("build"))?;
    fs::remove_dir_all(&sources)?;
    Ok(())
}

fn cargo(folder: &Path) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(folder);
    cargo
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    println!("{command:?}");
    let status = command.status().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use cargo_metadata::DependencyKind;

    use super::*;

    #[test]
    fn what_is_published_depends_on_nothing_that_is_not() {
        let metadata = MetadataCommand::new().no_deps().exec().unwrap();
        let (private, public) = by_publication(&metadata);
        let is_private = |name: &str| private.iter().any(|package| package.name == name);
        assert!(is_private("xtask") && !is_private("ragmaker") && public.len() > private.len());
        for package in public {
            for dependency in package.dependencies.iter().filter(|dependency| is_private(&dependency.name)) {
                // Cargo leaves a dependency of tests out of the package if it has a path and no version.
                let is_left_out = dependency.kind == DependencyKind::Development && dependency.req.to_string() == "*";
                assert!(is_left_out, "{}: {}", package.name, dependency.name);
            }
        }
    }
}
