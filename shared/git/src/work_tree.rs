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
