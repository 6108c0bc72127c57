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
    // Flags with spaces, for a path that has some, are possible only in this form.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags("--remap-path-prefix").join("\u{1f}"));
    if cfg!(unix) {
        cargo.env("CFLAGS", flags("-ffile-prefix-map").join(" "));
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

/// Builds the Debian package from the executable and the files of the archive.
pub(crate) fn debian_package(release: &Release, folder: &Path) -> anyhow::Result<()> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["deb", "--no-build", "--no-strip", "--package", "ragmaker", "--target", &release.target, "--output"]);
    cargo.arg(folder).env("CARGO_TARGET_DIR", folder).env("SOURCE_DATE_EPOCH", release.time.to_string());
    let status = cargo.current_dir(&release.root).status().context("cannot run cargo")?;
    ensure!(status.success(), "cargo deb failed ({status}); it is installed with cargo install --locked cargo-deb");
    Ok(())
}
