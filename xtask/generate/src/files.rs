//! Generated files: written by a task, or compared with what the task would write.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};

/// The repository's root.
pub(crate) fn root() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).expect("xtask/generate is a folder of the repository")
}

/// Writes each file, and the folders above it.
pub(crate) fn write(files: impl IntoIterator<Item = (PathBuf, String)>) -> anyhow::Result<()> {
    for (path, text) in files {
        let folder = path.parent().context("a file is in a folder")?;
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Fails where a file does not hold what `cargo xtask TASK` would write.
pub(crate) fn check(files: &BTreeMap<PathBuf, String>, task: &str) -> anyhow::Result<()> {
    for (path, text) in files {
        let found = fs::read_to_string(path).unwrap_or_default();
        ensure!(found == *text, "{} is stale: run `cargo xtask {task}` and commit what it writes", path.display());
    }
    Ok(())
}
