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
