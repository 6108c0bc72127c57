//! `ragmaker-create-directory`: a directory, and those above it.

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{ALREADY_EXISTS, Asked, Roots, shown};
use ragmaker_tool::{Annotations, Code, Error, JsonSchema, Tool};
use serde::Serialize;

/// Make a directory, and those above it that are missing.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
#[serde(rename_all = "kebab-case")]
pub struct Args {
    /// directory to make; a relative path starts at the project root
    #[argh(option)]
    pub path: String,
    /// directory that relative paths start at (default: the nearest project, else the working directory)
    #[argh(option)]
    pub project_root: Option<String>,
    /// another directory that may be changed, as rw=DIR; may be repeated
    #[argh(option)]
    pub allow_root: Vec<String>,
}

/// The directory.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The absolute path that was used.
    pub path: String,
    /// Whether it is new; false where it was there already.
    pub created: bool,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations =
        Annotations { read_only_hint: false, destructive_hint: false, idempotent_hint: true, open_world_hint: false };
    const ERRORS: &'static [Code] = &[
        ALREADY_EXISTS,
        ragmaker_files::FILE_NOT_FOUND,
        ragmaker_files::PATH_NOT_ALLOWED,
        ragmaker_files::PATH_NOT_WRITABLE,
        ragmaker_files::PERMISSION_DENIED,
        ragmaker_files::SYMLINK_LOOP,
        ragmaker_files::PATH_CHANGED,
        ragmaker_files::IS_A_DIRECTORY,
        ragmaker_files::NOT_A_REGULAR_FILE,
        ragmaker_files::ROOT_NOT_USABLE,
        ragmaker_files::ROOT_TOO_BROAD,
        ragmaker_files::IO_ERROR,
    ];

    fn run(self) -> Result<Answer, Error> {
        let asked = Asked { project_root: self.project_root.as_deref(), allow_root: &self.allow_root, kb_root: &[] };
        let place = Roots::discover(asked)?.place_to_write(&self.path)?;
        let path = place.path();
        if path.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
            let error = ALREADY_EXISTS.error(format!("{} exists and is no directory", path.display()));
            return Err(error.detail("path", path.to_string_lossy()));
        }
        let created = place.create_directory()?;
        Ok(Answer { path: shown(path).0, created })
    }
}
