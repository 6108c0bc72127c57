//! `ragmaker-create-directory`: makes a directory and its missing parents.

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{ALREADY_EXISTS, Roots, lossy_text};
use ragmaker_tool::{Annotations, Code, Error, Invocation, JsonSchema, Tool, ToolProfile, host};
use serde::Serialize;

/// Make a directory and the missing ones above it. Not needed before `ragmaker-write-file`, which makes them by itself;
/// succeeds if the directory exists. Returns its absolute path.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// directory to make; a relative path starts at the project root
    #[argh(option)]
    pub path: String,
}

/// The directory.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The absolute path that was used.
    pub path: String,
    /// Whether it is new; false if it existed already.
    pub created: bool,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::ADDITIVE;
    const HOST_OPTIONS: &'static [&'static str] = host::SAVING;
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Files];
    const OPERANDS: &'static [&'static str] = &["--path"];
    const ERRORS: &'static [&'static [Code]] =
        &[&[ALREADY_EXISTS, ragmaker_files::PATH_NOT_WRITABLE], ragmaker_files::PATH_ERRORS];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let place = Roots::discover(&invocation.host)?.place_to_write(&self.path)?;
        let path = place.path();
        if path.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
            let error = ALREADY_EXISTS.error(format!("{} exists and is not a directory", path.display()));
            return Err(error.detail("path", path.to_string_lossy()));
        }
        let created = place.create_directory()?;
        Ok(Answer { path: lossy_text(path).0, created })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::symlink, path::Path};

    use ragmaker_testkit::folder;
    use ragmaker_tool::HostOptions;

    use super::*;

    fn run(root: &Path, path: &str) -> Result<Answer, Error> {
        let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
        Args { path: path.to_owned() }.run(&Invocation { host, ..Invocation::default() })
    }

    #[test]
    fn a_link_to_a_directory_is_one_that_exists() {
        let (_holder, root) = folder("project");
        fs::create_dir(root.join("real")).unwrap();
        symlink("real", root.join("link")).unwrap();
        let answer = run(&root, "link").unwrap();
        assert_eq!((Path::new(&answer.path), answer.created), (&*root.join("real"), false));
        assert!(run(&root, "link/new").unwrap().created && root.join("real/new").is_dir());
    }

    #[test]
    fn what_is_no_directory_is_left_as_it_is() {
        let (_holder, root) = folder("project");
        fs::write(root.join("file"), "text").unwrap();
        symlink("file", root.join("link")).unwrap();
        for path in ["file", "link"] {
            let error = run(&root, path).err().unwrap();
            assert!(error.is(ALREADY_EXISTS) && error.message().ends_with("is not a directory"), "{path}: {error}");
            assert_eq!(error.details()["path"], root.join("file").to_str().unwrap());
        }
        assert_eq!(fs::read(root.join("file")).unwrap(), b"text");
    }
}
