//! A working tree, and what a command of Git would print there, asked of Git itself with the command's own arguments.
//!
//! Whoever decides whether a command may run needs the files whose contents it prints. Only Git knows them: they depend
//! on revisions, limits and path patterns. The command is asked for the names of these files instead. As for all calls
//! here, Git reads no configuration of the repository.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use ragmaker_tool::Error;
use tempfile::TempDir;

use crate::{
    GIT_FAILED, Storage,
    command::{Network, git, run_within},
};

/// The longest that a question may take. After that, a person is asked.
const LIMIT: Duration = Duration::from_secs(3);

/// A working tree.
#[derive(Debug)]
pub struct WorkTree {
    view: TempDir,
    top: PathBuf,
}

impl WorkTree {
    /// The working tree whose top directory is `top`.
    ///
    /// # Errors
    ///
    /// [`crate::REPO_NOT_FOUND`] where there is none; [`GIT_FAILED`] for a form that is not read.
    pub fn of(top: &Path) -> Result<Self, Error> {
        let storage = Storage::of(top)?;
        let view = storage.view()?;
        let made = storage.add_state(view.path());
        made.map_err(|error| GIT_FAILED.error(format!("cannot make a Git directory for the repository: {error}")))?;
        Ok(Self { view, top: top.to_owned() })
    }

    /// The names of the files that its index has, from the top.
    ///
    /// # Errors
    ///
    /// The codes of [`crate::ERRORS`].
    pub fn tracked(&self) -> Result<Vec<String>, Error> {
        self.ask(&self.top, &["ls-files", "-z"])
    }

    /// The texts, each ended by a NUL character, that Git prints in the directory `cwd` with these arguments. None of
    /// these arguments may make Git write.
    ///
    /// # Errors
    ///
    /// The codes of [`crate::ERRORS`].
    pub fn ask<S: AsRef<str>>(&self, cwd: &Path, arguments: &[S]) -> Result<Vec<String>, Error> {
        let printed = self.run(cwd, arguments, &[])?;
        let texts = printed.split(|byte| *byte == 0).filter(|text| !text.is_empty());
        Ok(texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect())
    }

    /// The kinds of the objects that `names` are in the directory `cwd`: `commit`, `tag`, `tree` or `blob`; `None` if a
    /// name is none of an object.
    ///
    /// # Errors
    ///
    /// The codes of [`crate::ERRORS`].
    pub fn kinds<S: AsRef<str>>(&self, cwd: &Path, names: &[S]) -> Result<Vec<Option<String>>, Error> {
        if names.iter().any(|name| name.as_ref().contains('\n')) {
            return Err(GIT_FAILED.error("a name of an object has a line break"));
        }
        let lines: String = names.iter().flat_map(|name| [name.as_ref(), "\n"]).collect();
        let printed = self.run(cwd, &["cat-file", "--batch-check=%(objecttype)"], lines.as_bytes())?;
        let kinds = String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect::<Vec<_>>();
        if kinds.len() != names.len() {
            return Err(GIT_FAILED.error("git does not say what the names denote"));
        }
        let is_kind = |kind: &String| ["commit", "tag", "tree", "blob"].contains(&kind.as_str());
        Ok(kinds.into_iter().map(|kind| Some(kind).filter(is_kind)).collect())
    }

    fn run<S: AsRef<str>>(&self, cwd: &Path, arguments: &[S], input: &[u8]) -> Result<Vec<u8>, Error> {
        // The arguments are those of another command, which reads patterns and replaced objects.
        let own = std::iter::once("--no-literal-pathspecs");
        let arguments: Vec<&str> = own.chain(arguments.iter().map(AsRef::as_ref)).collect();
        let mut command = git(Some(self.view.path()), Network::Refused, &arguments);
        command.current_dir(cwd).env("GIT_WORK_TREE", &self.top).env_remove("GIT_NO_REPLACE_OBJECTS");
        match run_within(command, input, LIMIT)? {
            // `git grep` fails if it finds nothing.
            (_, Err(said)) if !said.trim().is_empty() => Err(GIT_FAILED.error(format!("git: {}", said.trim()))),
            (printed, _) => Ok(printed),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, process::Command};

    use super::*;

    /// A repository with a commit of two files, and a third file that is only in its index.
    fn repository() -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let git = |arguments: &[&str]| {
            let identity = ["-c", "user.name=x", "-c", "user.email=x@x.example"];
            assert!(Command::new("git").args(identity).args(arguments).current_dir(&top).status().unwrap().success());
        };
        git(&["init", "--quiet"]);
        fs::create_dir(top.join("docs")).unwrap();
        fs::write(top.join("a.md"), "one\n").unwrap();
        fs::write(top.join("docs/\u{6f6e} b\n.md"), "two\n").unwrap();
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "--message", "x"]);
        fs::write(top.join("new.md"), "new\n").unwrap();
        git(&["add", "new.md"]);
        (folder, top)
    }

    #[test]
    fn the_index_is_read_with_any_names() {
        let (_folder, top) = repository();
        let mut tracked = WorkTree::of(&top).unwrap().tracked().unwrap();
        tracked.sort();
        assert_eq!(tracked, ["a.md", "docs/\u{6f6e} b\n.md", "new.md"]);
        assert!(WorkTree::of(&top.join("docs")).is_err());
    }

    #[test]
    fn a_command_is_asked_where_it_would_run() {
        let (_folder, top) = repository();
        let tree = WorkTree::of(&top).unwrap();
        assert_eq!(tree.ask(&top, &["diff", "--name-only", "-z", "HEAD"]).unwrap(), ["new.md"]);
        assert_eq!(tree.ask(&top.join("docs"), &["ls-files", "-z", "*.md"]).unwrap(), ["\u{6f6e} b\n.md"]);
        // A search that finds nothing is an answer, and a mistake is an error.
        assert!(tree.ask(&top, &["grep", "--name-only", "-z", "zebra"]).unwrap().is_empty());
        assert!(tree.ask(&top, &["log", "--no-such-option"]).unwrap_err().is(GIT_FAILED));
    }

    #[test]
    fn nothing_of_the_configuration_runs() {
        let (_folder, top) = repository();
        let trace = top.join("ran");
        let program = format!("touch '{}'; cat", trace.display());
        for (key, value) in [("core.fsmonitor", &program), ("diff.external", &program), ("core.pager", &program)] {
            assert!(Command::new("git").args(["config", key, value]).current_dir(&top).status().unwrap().success());
        }
        let tree = WorkTree::of(&top).unwrap();
        tree.ask(&top, &["diff", "--name-status", "-z", "HEAD"]).unwrap();
        tree.ask(&top, &["status", "--porcelain", "-z"]).unwrap();
        assert!(!trace.exists());
    }

    #[test]
    fn names_of_objects_have_a_kind_or_none() {
        let (_folder, top) = repository();
        let tree = WorkTree::of(&top).unwrap();
        let kinds = tree.kinds(&top, &["HEAD", "HEAD:a.md", "HEAD:docs", "no such name", "--help", ""]).unwrap();
        let kinds: Vec<_> = kinds.iter().map(Option::as_deref).collect();
        assert_eq!(kinds, [Some("commit"), Some("blob"), Some("tree"), None, None, None]);
        assert!(tree.kinds(&top, &["HEAD\nHEAD"]).unwrap_err().is(GIT_FAILED));
        assert!(tree.kinds::<&str>(&top, &[]).unwrap().is_empty());
    }
}
