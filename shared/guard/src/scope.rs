//! The scope of a line: its working directory, and the paths that it may read.

use std::path::{Path, PathBuf};

use ragmaker_files::Roots;

/// The directory in which a line runs, and the directories that the agent may access.
#[derive(Clone, Debug)]
pub struct Scope {
    roots: Roots,
    cwd: PathBuf,
}

impl Scope {
    /// A line in the directory `cwd`, which is absolute and without symbolic links.
    pub fn new(roots: Roots, cwd: PathBuf) -> Self {
        Self { roots, cwd }
    }

    /// The directory that the line runs in.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The directories that the agent may access.
    pub(crate) fn roots(&self) -> &Roots {
        &self.roots
    }

    pub(crate) fn home(&self) -> Option<&Path> {
        self.roots.project().home()
    }
}
