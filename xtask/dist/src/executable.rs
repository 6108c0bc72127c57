//! The executable of a release, without the paths of the machine that built it.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};
use xtask_dist::release::{Release, output};

/// Builds the executable in `folder`, and returns its path.
pub(crate) fn build(release: &Release, folder: &Path) -> anyhow::Result<PathBuf> {
    let paths = private_paths(release, folder)?;
    let flags = |flag: &str| paths.iter().map(|(path, name)| format!("{flag}={path}={name}")).collect::<Vec<_>>();
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "--locked", "--package", "ragmaker", "--target", &release.target]);
    cargo.arg("--target-dir").arg(folder).current_dir(&release.root);
    let (encoded, plain) = (variable("CARGO_ENCODED_RUSTFLAGS"), variable("RUSTFLAGS"));
    let all = encoded_flags(encoded.as_deref(), plain.as_deref(), flags("--remap-path-prefix"));
    cargo.env("CARGO_ENCODED_RUSTFLAGS", all);
    if cfg!(unix) {
        let all: Vec<_> = variable("CFLAGS").into_iter().chain(flags("-ffile-prefix-map")).collect();
        cargo.env("CFLAGS", all.join(" "));
    }
    cargo.env("SOURCE_DATE_EPOCH", release.time.to_string()).env("CARGO_INCREMENTAL", "0");
    let status = cargo.status().context("cannot run cargo")?;
    ensure!(status.success(), "{cargo:?}: {status}");
    let suffix = if release.target.contains("windows") { ".exe" } else { "" };
    let path = folder.join(&release.target).join("release").join(format!("ragmaker{suffix}"));
    let bytes = fs::read(&path).with_context(|| format!("{} was not built", path.display()))?;
    for (private, _) in &paths {
        let is_there = bytes.windows(private.len()).any(|window| window == private.as_bytes());
        ensure!(!is_there, "{} contains the path {private}", path.display());
    }
    Ok(path)
}

/// The flags of whoever builds, which are `encoded` or else the words of `plain`, and those that are `added`.
///
/// Flags with spaces, for a path that has some, are possible only in the encoded form.
fn encoded_flags(encoded: Option<&str>, plain: Option<&str>, added: Vec<String>) -> String {
    let own: Vec<&str> = match encoded {
        Some(encoded) => encoded.split('\u{1f}').filter(|flag| !flag.is_empty()).collect(),
        None => plain.unwrap_or_default().split_whitespace().collect(),
    };
    own.into_iter().map(str::to_owned).chain(added).collect::<Vec<_>>().join("\u{1f}")
}

/// The flags of whoever builds, to which those of a release are added.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The folders of this machine that a compiler may write into an executable, each with the name that it gets. A later
/// one has precedence.
fn private_paths(release: &Release, folder: &Path) -> anyhow::Result<Vec<(String, &'static str)>> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo"))).context("there is no home folder")?;
    let sysroot = output(Command::new("rustc").args(["--print", "sysroot"]).current_dir(&release.root))?;
    let shown = |path: &Path| path.to_string_lossy().into_owned();
    Ok(vec![
        (shown(&release.root), "/ragmaker"),
        (shown(folder), "/target"),
        (shown(&home), "/cargo"),
        (sysroot.trim().to_owned(), "/rust"),
    ])
}

/// The version of cargo-deb: another one may write other bytes.
const CARGO_DEB: &str = "3.8.0";

/// Builds the Debian package from the executable and the files of the archive.
pub(crate) fn debian_package(release: &Release, folder: &Path) -> anyhow::Result<()> {
    let cargo = || Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let found = output(cargo().args(["deb", "--version"])).unwrap_or_default();
    let advice = format!("cargo install --locked cargo-deb@{CARGO_DEB}");
    ensure!(found.split_whitespace().last() == Some(CARGO_DEB), "cargo-deb {CARGO_DEB} is needed: {advice}");
    let mut cargo = cargo();
    cargo.args(["deb", "--no-build", "--no-strip", "--package", "ragmaker", "--target", &release.target, "--output"]);
    cargo.arg(folder).env("CARGO_TARGET_DIR", folder).env("SOURCE_DATE_EPOCH", release.time.to_string());
    let status = cargo.current_dir(&release.root).status().context("cannot run cargo")?;
    ensure!(status.success(), "cargo deb failed ({status})");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_of_a_release_follow_those_of_the_environment() {
        for (encoded, plain, all) in [
            (None, None, "--added=/a b=/c"),
            (None, Some(" -C  opt-level=3 "), "-C|opt-level=3|--added=/a b=/c"),
            // As cargo does, the encoded ones are taken.
            (Some("--cfg|x y|"), Some("-C opt-level=3"), "--cfg|x y|--added=/a b=/c"),
        ] {
            let encoded = encoded.map(|flags: &str| flags.replace('|', "\u{1f}"));
            let flags = encoded_flags(encoded.as_deref(), plain, vec!["--added=/a b=/c".to_owned()]);
            assert_eq!(flags.replace('\u{1f}', "|"), all);
        }
    }
}
