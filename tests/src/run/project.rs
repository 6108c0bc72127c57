//! A temporary project for a test, with its processes.

use std::{
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use super::{Process, Tool, executable, executables::found, processes};

/// A fresh folder for tools to work in.
///
/// When it is dropped, its browsers are closed, what is still running there is killed, and the
/// folder is removed.
pub struct Project {
    // The folder that is removed; the project may be below it.
    _holder: TempDir,
    path: PathBuf,
}

impl Project {
    /// A project in a folder with a plain name.
    pub fn new() -> Self {
        Self::named("project")
    }

    /// A project in a folder whose name has spaces, quotes, and letters of other scripts.
    pub fn with_odd_name() -> Self {
        Self::named("it's \"my\" プロジェクト %41 ü")
    }

    fn named(name: &str) -> Self {
        let (holder, path) = ragmaker_testkit::folder(name);
        Self { _holder: holder, path }
    }

    /// The project's folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file of the project, and the folders above it.
    ///
    /// # Panics
    ///
    /// Where it cannot.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        ragmaker_testkit::write(&self.path, name, content)
    }

    /// The tool `ragmaker-NAME`, to be run in this project.
    pub fn tool(&self, name: &str) -> Tool {
        self.program(&executable(&format!("ragmaker-{name}")))
    }

    /// The program at `path`, to be run in this project.
    pub fn program(&self, path: &Path) -> Tool {
        Tool::of(path).directory(&self.path).env("RAGMAKER_PROJECT_ROOT", &self.path)
    }

    /// The running processes of this project.
    pub fn processes(&self) -> Vec<Process> {
        processes(&self.path)
    }

    /// Waits until nothing is running for this project; what still is after `patience`.
    pub fn left_running(&self, patience: Duration) -> Vec<Process> {
        let deadline = Instant::now() + patience;
        loop {
            let left = self.processes();
            if left.is_empty() || Instant::now() >= deadline {
                return left;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn close_browsers(&self) {
        let Some(close) = found("ragmaker-browser-close") else { return };
        let mut command = Command::new(close);
        command.arg("--all").current_dir(&self.path).env("RAGMAKER_PROJECT_ROOT", &self.path);
        // What it does not close is killed below.
        let _ = command.output();
    }
}

impl Default for Project {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        // Every browser has its profile there.
        if self.path.join(".tmp/cache").is_dir() {
            self.close_browsers();
        }
        for process in self.processes() {
            let _ = Command::new("kill").args(["-KILL", &process.pid.to_string()]).output();
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Stdio;

    use super::*;

    #[test]
    fn a_project_ends_with_its_processes_and_its_folder() {
        let project = Project::with_odd_name();
        project.write("a/b.txt", "text");
        let path = project.path().to_owned();
        let mut left = Command::new("cat").current_dir(&path).stdin(Stdio::piped()).spawn().unwrap();
        // For a moment after its start, a process has no command line yet.
        let until = Instant::now() + Duration::from_secs(10);
        while project.processes().is_empty() {
            assert!(Instant::now() < until);
            thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(project.left_running(Duration::ZERO).len(), 1);
        drop(project);
        assert!(!left.wait().unwrap().success());
        assert!(!path.exists());
    }
}
