//! `ragmaker-move`: moves or renames a file or a directory.

use std::path::Path;

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{
    ALREADY_EXISTS, CROSS_DEVICE, DIRECTORY_NOT_EMPTY, IS_A_DIRECTORY, NOT_A_DIRECTORY, Roots, lossy_text,
    named_directory,
};
use ragmaker_tool::{ARGUMENT_ERROR, Annotations, Code, Error, Invocation, JsonSchema, Tool, ToolProfile, host};
use serde::Serialize;

/// Move or rename a file or a directory, or with `--merge` join two directories; missing directories are made, and what
/// is at the destination is kept unless `--overwrite` is set. Returns both absolute paths and whether something was
/// replaced.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// path to move; a relative one starts at the project root; a symbolic link itself is moved
    #[argh(option)]
    pub source_path: String,
    /// new path, name included; missing directories are created
    #[argh(option)]
    pub destination_path: String,
    /// replace an existing file or empty directory
    #[argh(switch)]
    pub overwrite: bool,
    /// move the content of the directory into an existing one; a name in both is an error unless overwrite is set
    #[argh(switch)]
    pub merge: bool,
}

/// The moved entries.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The old absolute path.
    pub source_path: String,
    /// The new absolute path.
    pub destination_path: String,
    /// Whether something was replaced.
    pub replaced: bool,
    /// The number of moved entries; with merge, the entries of the directory.
    pub moved: usize,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::DESTRUCTIVE.repeating();
    const HOST_OPTIONS: &'static [&'static str] = host::SAVING;
    const ALIASES: &'static [&'static str] = &["move-file"];
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Files];
    const ERRORS: &'static [&'static [Code]] = &[
        &[
            ALREADY_EXISTS,
            DIRECTORY_NOT_EMPTY,
            CROSS_DEVICE,
            IS_A_DIRECTORY,
            NOT_A_DIRECTORY,
            ragmaker_files::PATH_NOT_WRITABLE,
        ],
        ragmaker_files::PATH_ERRORS,
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let roots = Roots::discover(&invocation.host)?;
        let source = roots.entry_to_write(&self.source_path)?;
        let is_directory = source.is_directory()?;
        let destination = roots.entry_to_write(&self.destination_path)?;
        let (from, to) = (source.path(), destination.path());
        if to == from || (is_directory && to.starts_with(&from)) {
            let is = if to == from { "is the source itself" } else { "is inside the source" };
            return Err(ARGUMENT_ERROR
                .error(format!("--destination-path {} {is}", to.display()))
                .remedy("Choose a --destination-path outside the source.")
                .detail("argument", "--destination-path"));
        }
        let there = to.symlink_metadata();
        if self.merge && there.is_ok() {
            let merged = source.merge_into(&destination, self.overwrite)?;
            return Ok(Answer {
                source_path: lossy_text(from).0,
                destination_path: lossy_text(to).0,
                replaced: merged.replaced > 0,
                moved: merged.moved,
            });
        }
        let missing = there.is_err() && !is_directory;
        if let Some(error) = named_directory("--destination-path", &self.destination_path).filter(|_| missing) {
            return Err(error.remedy(format!("To move into it, use --destination-path {}.", inside(&from, &to))));
        }
        if let Ok(there) = &there {
            check_kinds(&from, is_directory, &to, there.is_dir(), self.overwrite)?;
        }
        source.move_to(&destination, self.overwrite).map_err(|error| {
            let remedy = "Choose another --destination-path, or replace what is there with --overwrite.";
            error.remedy_for(ALREADY_EXISTS, remedy)
        })?;
        Ok(Answer {
            source_path: lossy_text(from).0,
            destination_path: lossy_text(to).0,
            replaced: there.is_ok(),
            moved: 1,
        })
    }
}

/// Refuses to replace what is at `to`, if the kinds of both entries forbid it.
fn check_kinds(from: &Path, is_directory: bool, to: &Path, onto_directory: bool, overwrite: bool) -> Result<(), Error> {
    let error = match (is_directory, onto_directory) {
        (_, true) if !overwrite => ALREADY_EXISTS.error(format!("{} is a directory", to.display())),
        (false, true) => IS_A_DIRECTORY.error(format!("{} is a directory: a file cannot replace it", to.display())),
        (true, false) => NOT_A_DIRECTORY
            .error(format!("{} is not a directory: a directory cannot replace it", to.display()))
            .remedy("Choose another --destination-path, or delete what is there first."),
        _ => return Ok(()),
    };
    let error = error.detail("path", to.to_string_lossy());
    if !onto_directory {
        return Err(error);
    }
    let merge = if is_directory { "; to join the two directories, --merge" } else { "" };
    Err(error.remedy(format!("To move into it, use --destination-path {}{merge}.", inside(from, to))))
}

/// The path of the entry at `from` in the directory `to`.
fn inside(from: &Path, to: &Path) -> String {
    to.join(from.file_name().unwrap_or_default()).display().to_string()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use ragmaker_testkit::{folder, write};
    use ragmaker_tool::HostOptions;

    use super::*;

    /// The result of a move of `from` to `to` in the project `root`.
    fn run(root: &Path, from: &str, to: &str, flags: &[&str]) -> Result<Answer, Error> {
        let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
        let words = [&["--source-path", from, "--destination-path", to], flags].concat();
        Args::from_args(&["move"], &words).unwrap().run(&Invocation { host, ..Invocation::default() })
    }

    #[test]
    fn nothing_is_moved_onto_or_into_itself() {
        let (_holder, root) = folder("project");
        write(&root, "dir/f", "f");
        for (from, to, is) in [
            ("dir", "dir", "is the source itself"),
            ("dir/f", "./dir/f", "is the source itself"),
            ("dir", "dir/new", "is inside the source"),
            ("dir", "dir/f", "is inside the source"),
        ] {
            for flags in [&[][..], &["--overwrite"], &["--merge"]] {
                let error = run(&root, from, to, flags).err().unwrap();
                assert!(error.is(ARGUMENT_ERROR) && error.message().ends_with(is), "{from} {to} {flags:?}: {error}");
            }
        }
        assert_eq!(fs::read(root.join("dir/f")).unwrap(), b"f");
        // A name that begins like the source is another one.
        run(&root, "dir", "dir-2/dir", &[]).unwrap();
    }

    #[test]
    fn a_file_and_a_directory_do_not_replace_each_other() {
        let (_holder, root) = folder("project");
        write(&root, "f", "");
        fs::create_dir(root.join("empty")).unwrap();
        for (from, to, flags, code, remedy) in [
            ("f", "empty", &["--overwrite"][..], IS_A_DIRECTORY, "/empty/f."),
            ("empty", "f", &["--overwrite"], NOT_A_DIRECTORY, "delete what is there first."),
            ("empty", "f", &[], NOT_A_DIRECTORY, "delete what is there first."),
        ] {
            let error = run(&root, from, to, flags).err().unwrap();
            assert!(error.is(code) && error.remediation().ends_with(remedy), "{from} {to} {flags:?}: {error}");
            assert_eq!(error.details()["path"], root.join(to).to_str().unwrap());
        }
        assert!(root.join("f").is_file() && root.join("empty").is_dir());
    }

    #[test]
    fn a_file_is_not_moved_to_the_path_of_a_directory() {
        let (_holder, root) = folder("project");
        write(&root, "dir/f", "");
        let error = run(&root, "dir/f", "archive/", &[]).err().unwrap();
        assert!(error.is(IS_A_DIRECTORY) && error.remediation().ends_with("/archive/f."), "{error}");
        run(&root, "dir", "archive/", &[]).unwrap();
        assert!(root.join("archive/f").is_file());
    }

    #[test]
    fn an_empty_directory_is_replaced_by_a_directory() {
        let (_holder, root) = folder("project");
        write(&root, "full/f", "");
        fs::create_dir(root.join("empty")).unwrap();
        let answer = run(&root, "full", "empty", &["--overwrite"]).unwrap();
        assert!(answer.replaced && answer.moved == 1 && root.join("empty/f").is_file());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_is_kept_or_replaced() {
        let (_holder, root) = folder("project");
        write(&root, "f", "new");
        std::os::unix::fs::symlink("nowhere", root.join("link")).unwrap();
        for flags in [&[][..], &["--merge"]] {
            assert!(run(&root, "f", "link", flags).is_err(), "{flags:?}");
        }
        assert!(run(&root, "f", "link", &["--overwrite"]).unwrap().replaced);
        assert_eq!(fs::read(root.join("link")).unwrap(), b"new");
        assert!(!root.join("nowhere").exists());
    }
}
