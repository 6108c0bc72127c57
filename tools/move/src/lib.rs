//! `ragmaker-move`: moves or renames a file or a directory.

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{ALREADY_EXISTS, CROSS_DEVICE, DIRECTORY_NOT_EMPTY, Roots, lossy_text};
use ragmaker_tool::{Annotations, Code, Error, Invocation, JsonSchema, Tool, ToolProfile, host};
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
            ragmaker_files::IS_A_DIRECTORY,
            ragmaker_files::NOT_A_DIRECTORY,
            ragmaker_files::PATH_NOT_WRITABLE,
        ],
        ragmaker_files::PATH_ERRORS,
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let roots = Roots::discover(&invocation.host)?;
        let source = roots.entry_to_write(&self.source_path)?;
        let is_directory = source.is_directory()?;
        let destination = roots.entry_to_write(&self.destination_path)?;
        let there = destination.path().symlink_metadata();
        if self.merge && there.is_ok() {
            let merged = source.merge_into(&destination, self.overwrite)?;
            return Ok(Answer {
                source_path: lossy_text(source.path()).0,
                destination_path: lossy_text(destination.path()).0,
                replaced: merged.replaced > 0,
                moved: merged.moved,
            });
        }
        if !self.overwrite && there.as_ref().is_ok_and(std::fs::Metadata::is_dir) {
            let inside = destination.path().join(source.path().file_name().unwrap_or_default());
            return Err(ALREADY_EXISTS
                .error(format!("{} is a directory", destination.path().display()))
                .remedy(format!(
                    "To move into it, use --destination-path {}{}.",
                    inside.display(),
                    if is_directory { "; to join the two directories, --merge" } else { "" }
                ))
                .detail("path", destination.path().to_string_lossy()));
        }
        source.move_to(&destination, self.overwrite).map_err(|error| {
            let remedy = "Choose another --destination-path, or replace what is there with --overwrite.";
            error.remedy_for(ALREADY_EXISTS, remedy)
        })?;
        Ok(Answer {
            source_path: lossy_text(source.path()).0,
            destination_path: lossy_text(destination.path()).0,
            replaced: there.is_ok(),
            moved: 1,
        })
    }
}
