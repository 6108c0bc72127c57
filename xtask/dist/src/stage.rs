//! The files of the archive, in the folders of a prefix.

use std::{fs, path::Path, process::Command};

use anyhow::Context;
use xtask_dist::release::{Release, output};

/// The folders of the completions of each shell.
const COMPLETIONS: [(&str, &str); 4] = [
    ("bash", "share/bash-completion/completions"),
    ("zsh", "share/zsh/site-functions"),
    ("fish", "share/fish/vendor_completions.d"),
    ("powershell", "share/powershell/completions"),
];

/// The documents in the archive.
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Fills the folder `stage` anew. The executable itself makes the links, the man pages and the completions.
pub(crate) fn fill(stage: &Path, release: &Release, executable: &Path) -> anyhow::Result<()> {
    if stage.exists() {
        fs::remove_dir_all(stage)?;
    }
    let bin = stage.join("bin");
    let documents = stage.join("share/doc/ragmaker");
    for folder in [&bin, &documents] {
        fs::create_dir_all(folder)?;
    }
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
    for name in DOCUMENTS {
        fs::copy(release.root.join(name), documents.join(name)).with_context(|| format!("cannot copy {name}"))?;
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
