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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_not_stale_until_it_is_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.md");
        let files = BTreeMap::from([(path.clone(), "text\n".to_owned())]);
        assert!(check(&files, "docs").unwrap_err().to_string().contains("`cargo xtask docs`"), "it is not there");
        write(files.clone()).unwrap();
        check(&files, "docs").unwrap();
        fs::write(&path, "text").unwrap();
        assert!(check(&files, "docs").unwrap_err().to_string().contains("b.md is stale"));
        assert!(write([(folder.path().join("a/b.md/c"), String::new())]).is_err(), "a file is no folder");
    }

    #[test]
    fn the_root_is_that_of_the_repository() {
        assert!(root().join("CONTRIBUTING.md").is_file() && root().join("xtask/generate/Cargo.toml").is_file());
    }
}
