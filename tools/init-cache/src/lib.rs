//! `ragmaker-init-cache`: moves an old knowledge base from a project's cache folder to the trash.

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{Cleared, Roots, clear, lossy_text};
use ragmaker_project::knowledge_base::{CACHE, IN_PROJECT, is_gathered};
use ragmaker_tool::{Annotations, Budget, Code, Error, Invocation, JsonSchema, Tool, host};
use serde::Serialize;

/// Clear the project's cache, .tmp/cache, for a new knowledge base: its catalog, documents and reports go to the trash;
/// browser profiles with their sign-ins and everything else stay. Returns what was moved and what was kept.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {}

/// The cache folder as it is now.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The absolute path of the cache folder.
    pub cache_directory: String,
    /// The moved and the kept entries.
    #[serde(flatten)]
    pub cleared: Cleared,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::DESTRUCTIVE;
    const HOST_OPTIONS: &'static [&'static str] = host::PROJECT;
    const ERRORS: &'static [&'static [Code]] = &[ragmaker_files::CLEAR_ERRORS, ragmaker_files::PATH_ERRORS];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let roots = Roots::discover(&invocation.host)?;
        let project = roots.project();
        let folder = project.cache_folder();
        // A link in the project may lead anywhere.
        roots.directory_to_write(&format!("{IN_PROJECT}/{CACHE}"))?;
        project.create_cache_folder().map_err(|error| ragmaker_files::io_error(&error, &folder))?;
        let mut answer = Answer { cache_directory: lossy_text(folder.clone()).0, cleared: Cleared::default() };
        answer.cleared = clear(&roots, &folder, |name| !is_gathered(name), Budget::for_frame(&answer))?;
        Ok(answer)
    }
}
