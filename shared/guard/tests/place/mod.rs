//! A project for the tests of lines.

use std::{fs, path::PathBuf};

use ragmaker_files::Roots;
use ragmaker_guard::Scope;
use ragmaker_tool::HostOptions;

/// A project with the folders and files that the lines name.
pub(crate) struct Place {
    _holder: tempfile::TempDir,
    pub(crate) root: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let holder = tempfile::tempdir().unwrap();
        let root = holder.path().canonicalize().unwrap().join("project");
        fs::create_dir_all(root.join("src")).unwrap();
        fs::create_dir_all(root.join(".ragmaker")).unwrap();
        fs::create_dir_all(root.join("docs")).unwrap();
        fs::write(root.join("README.md"), "one\n").unwrap();
        fs::write(root.join("src/main.rs"), "fn main() {}\n").unwrap();
        Self { _holder: holder, root }
    }

    pub(crate) fn scope(&self) -> Scope {
        let host = HostOptions { project_root: self.root.to_str().map(str::to_owned), ..HostOptions::default() };
        Scope::new(Roots::discover(&host).unwrap(), self.root.clone())
    }
}
