//! `ragmaker-delete-file`: to the trash, or for good.

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{Asked, Roots, shown};
use ragmaker_tool::{Annotations, Code, Error, JsonSchema, Tool};
use serde::Serialize;

/// Move a file or a link to the trash, or delete it for good.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
#[serde(rename_all = "kebab-case")]
pub struct Args {
    /// file or link to delete; a relative path starts at the project root
    #[argh(option)]
    pub path: String,
    /// delete it for good
    #[argh(switch)]
    pub permanent: bool,
    /// directory that relative paths start at (default: the nearest project, else the working directory)
    #[argh(option)]
    pub project_root: Option<String>,
    /// another directory that may be changed, as rw=DIR; may be repeated
    #[argh(option)]
    pub allow_root: Vec<String>,
}

/// What was deleted.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The absolute path where it was.
    pub path: String,
    /// Where it is now; null where it was deleted for good.
    pub trashed_to: Option<String>,
    /// How many files, links and directories were deleted for good.
    pub deleted: u64,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations =
        Annotations { read_only_hint: false, destructive_hint: true, idempotent_hint: false, open_world_hint: false };
    const ERRORS: &'static [Code] = &[
        ragmaker_files::CROSS_DEVICE,
        ragmaker_files::ALREADY_EXISTS,
        ragmaker_files::DIRECTORY_NOT_EMPTY,
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
        let place = Roots::discover(asked)?.entry_to_write(&self.path)?;
        let path = place.path();
        if place.is_directory()? {
            return Err(ragmaker_files::IS_A_DIRECTORY
                .error(format!("{} is a directory", path.display()))
                .remedy("Use ragmaker-delete-directory.")
                .detail("path", path.to_string_lossy()));
        }
        let (trashed_to, deleted) =
            if self.permanent { (None, place.delete()?) } else { (Some(shown(place.trash()?).0), 0) };
        Ok(Answer { path: shown(path).0, trashed_to, deleted })
    }
}
