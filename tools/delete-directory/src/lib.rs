//! `ragmaker-delete-directory`: deletes a directory, to the trash or permanently.

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{Deleted, ExpectedKind, Roots, delete};
use ragmaker_tool::{Annotations, Code, Error, Invocation, JsonSchema, Tool, ToolProfile, host};
use serde::Serialize;

/// Move a directory with its contents to the trash, or delete it permanently with `--permanent`. For one file use
/// `ragmaker-delete-file`. Returns its place in the trash.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// directory to delete; a relative path starts at the project root
    #[argh(option)]
    pub path: String,
    /// delete permanently
    #[argh(switch)]
    pub permanent: bool,
}

impl Tool for Args {
    type Answer = Deleted;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::DESTRUCTIVE.repeating();
    const HOST_OPTIONS: &'static [&'static str] = host::SAVING;
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Files];
    const OPERANDS: &'static [&'static str] = &["--path"];
    const ERRORS: &'static [&'static [Code]] = &[
        &[ragmaker_files::NOT_A_DIRECTORY, ragmaker_files::CROSS_DEVICE, ragmaker_files::PATH_NOT_WRITABLE],
        ragmaker_files::PATH_ERRORS,
    ];

    fn run(self, invocation: &Invocation) -> Result<Deleted, Error> {
        delete(&Roots::discover(&invocation.host)?, &self.path, ExpectedKind::Directory, self.permanent)
    }
}
