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

#[cfg(test)]
impl Scope {
    /// A line in the root of a new project with these empty files.
    pub(crate) fn of_project(files: &[&str]) -> (tempfile::TempDir, Self) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join(".ragmaker")).unwrap();
        for file in files {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), "").unwrap();
        }
        let host = ragmaker_tool::HostOptions {
            project_root: root.to_str().map(str::to_owned),
            ..ragmaker_tool::HostOptions::default()
        };
        (folder, Self::new(Roots::discover(&host).unwrap(), root))
    }
}
