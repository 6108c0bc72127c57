//! The files of the archive, in the folders of a prefix.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context;
use xtask_dist::release::{Release, output};

/// The folders of the completions of each shell.
const COMPLETIONS: [(&str, &str); 4] = [
    ("bash", "share/bash-completion/completions"),
    ("zsh", "share/zsh/site-functions"),
    ("fish", "share/fish/vendor_completions.d"),
    ("powershell", "share/powershell/completions"),
];

/// The documents in the archive, beside the folder `docs` and the pages of the tools. Remedies name pages in `docs`, and
/// README links to all of them.
const DOCUMENTS: [&str; 9] = [
    "README.md",
    "README.ja.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "discovery.json",
    "tools/README.md",
];

/// What only the site of the documentation needs.
const BOOK: [&str; 2] = ["docs/book.toml", "docs/SUMMARY.md"];

/// Fills the folder `stage` anew. The executable itself makes the links, the man pages and the completions.
pub(crate) fn fill(stage: &Path, release: &Release, executable: &Path) -> anyhow::Result<()> {
    if stage.exists() {
        fs::remove_dir_all(stage)?;
    }
    let bin = stage.join("bin");
    let documents = stage.join("share/doc/ragmaker");
    fs::create_dir_all(&bin)?;
    let program = bin.join(executable.file_name().context("an executable has a name")?);
    fs::copy(executable, &program)?;
    let run = |words: &[&str], folder: &str| {
        output(Command::new(&program).args(words).arg("--dir").arg(stage.join(folder))).map(drop)
    };
    run(&["man"], "share/man/man1")?;
    for (shell, folder) in COMPLETIONS {
        run(&["completions", shell], folder)?;
    }
    if cfg!(unix) {
        run(&["link"], "bin")?;
        relative(&bin, &program)?;
    }
    copy_documents(&release.root, &documents)
}

/// Copies the documents of the repository at `root` to the folder `to`, with their folders.
fn copy_documents(root: &Path, to: &Path) -> anyhow::Result<()> {
    let mut paths: Vec<PathBuf> = DOCUMENTS.map(PathBuf::from).to_vec();
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if !BOOK.map(Path::new).contains(&&*path) {
                paths.push(path);
            }
        }
    }
    for entry in fs::read_dir(root.join("tools"))? {
        let page = Path::new("tools").join(entry?.file_name()).join("README.md");
        paths.extend(root.join(&page).is_file().then_some(page));
    }
    for path in paths {
        let target = to.join(&path);
        fs::create_dir_all(target.parent().context("a document is in a folder")?)?;
        fs::copy(root.join(&path), target).with_context(|| format!("cannot copy {}", path.display()))?;
    }
    Ok(())
}

/// Makes the links in `bin` relative, so that the folder can be moved.
#[cfg(unix)]
fn relative(bin: &Path, program: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(bin)? {
        let path = entry?.path();
        if path.is_symlink() {
            fs::remove_file(&path)?;
            std::os::unix::fs::symlink(program.file_name().context("an executable has a name")?, &path)?;
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn relative(_: &Path, _: &Path) -> anyhow::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_that_remedies_and_the_readme_name_are_in_the_archive() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folder = tempfile::tempdir().unwrap();
        copy_documents(&root, folder.path()).unwrap();
        let mut named = 0;
        for page in ["README.md", "README.ja.md", "tools/README.md"] {
            let page = folder.path().join(page);
            let text = fs::read_to_string(&page).unwrap();
            for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
                if link.is_empty() || link.contains("://") {
                    continue;
                }
                assert!(page.parent().unwrap().join(link).exists(), "{}: {link}", page.display());
                named += 1;
            }
        }
        assert!(named > 60, "{named}");
        for page in ["docs/mcp.md", "docs/configuration.md", "docs/agent.md", "docs/pictures/gather.svg"] {
            assert!(folder.path().join(page).is_file(), "{page}");
        }
        for file in BOOK {
            assert!(root.join(file).is_file() && !folder.path().join(file).exists(), "{file}");
        }
    }
}
