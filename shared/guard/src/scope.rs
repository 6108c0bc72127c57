//! The scope of a line: its working directory, and the paths that it may read.

use std::path::{Path, PathBuf};

use ragmaker_files::Roots;

/// The directory that a line runs in, and the directories that are open to the agent.
#[derive(Clone, Debug)]
pub struct Scope {
    roots: Roots,
    cwd: PathBuf,
}

impl Scope {
    /// A line run in `cwd`, which is absolute and without links.
    pub fn new(roots: Roots, cwd: PathBuf) -> Self {
        Self { roots, cwd }
    }

    /// The directory that the line runs in.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// What is open to the agent.
    pub(crate) fn roots(&self) -> &Roots {
        &self.roots
    }

    pub(crate) fn home(&self) -> Option<&Path> {
        self.roots.project().home()
    }
}
