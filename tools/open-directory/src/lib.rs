//! `ragmaker-open-directory`: shows a folder in the desktop's file manager.

use std::path::PathBuf;

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{NOT_A_DIRECTORY, input_directory, lossy_text};
use ragmaker_tool::{Annotations, Code, Error, Invocation, Isolation, JsonSchema, Tool, host};
use serde::Serialize;

/// Show a folder to the person in a window of the file manager, such as a knowledge base that is finished. To see
/// yourself what is in it, use `ragmaker-list-directory`. Returns the absolute path.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// folder to show
    #[argh(option)]
    pub path: PathBuf,
}

/// The opened folder.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The absolute path of the folder.
    pub path: String,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY.repeating();
    const HOST_OPTIONS: &'static [&'static str] = host::SAVING;
    // What it starts may stay as long as the window.
    const ISOLATION: Isolation = Isolation::Subprocess;
    const OPERANDS: &'static [&'static str] = &["--path"];
    const ERRORS: &'static [&'static [Code]] =
        &[ragmaker_desktop::OPEN_ERRORS, &[NOT_A_DIRECTORY], ragmaker_files::PATH_ERRORS];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let path = input_directory(&self.path, invocation)?;
        ragmaker_desktop::open(&path)?;
        Ok(Answer { path: lossy_text(path).0 })
    }
}
