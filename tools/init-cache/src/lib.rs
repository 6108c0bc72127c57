//! `ragmaker-init-cache`: moves an old knowledge base from a project's cache folder to the trash.

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{ExpectedKind, Roots, delete, shown};
use ragmaker_project::knowledge_base::{CACHE, CATALOG, IN_PROJECT};
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
    /// The entries that were moved to the trash.
    pub trashed: Vec<Trashed>,
    /// The names of what was kept.
    pub kept: Vec<String>,
    /// The number of moved entries.
    pub total: usize,
    /// Whether some of them are not listed here.
    pub truncated: bool,
}

/// An entry that was moved to the trash.
#[derive(Serialize, JsonSchema)]
pub struct Trashed {
    /// Its name in the cache folder.
    pub name: String,
    /// Its place in the trash.
    pub trashed_to: Option<String>,
}

/// The files and folders that gathering leaves in a cache folder, in addition to Markdown and JSON lines.
const GATHERED: [&str; 5] = [CATALOG, "documents", "gone", "reports", ".search"];

/// Whether `name`, an entry of a cache folder, was gathered.
fn is_gathered(name: &str) -> bool {
    GATHERED.contains(&name)
        || [".md", ".jsonl"].iter().any(|extension| name.ends_with(extension) && !name.starts_with('.'))
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::DESTRUCTIVE;
    const HOST_OPTIONS: &'static [&'static str] = host::PROJECT;
    const ERRORS: &'static [&'static [Code]] = &[
        ragmaker_files::PATH_ERRORS,
        &[ragmaker_files::PATH_NOT_WRITABLE, ragmaker_files::IS_A_DIRECTORY, ragmaker_files::NOT_A_DIRECTORY],
        &[ragmaker_files::ALREADY_EXISTS, ragmaker_files::CROSS_DEVICE, ragmaker_files::DIRECTORY_NOT_EMPTY],
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let roots = Roots::discover(&invocation.host)?;
        let project = roots.project();
        let folder = project.cache_folder();
        let failed = |error: std::io::Error| ragmaker_files::io_error(&error, &folder);
        // A link in the project may lead anywhere.
        roots.directory_to_write(&format!("{IN_PROJECT}/{CACHE}"))?;
        project.create_cache_folder().map_err(failed)?;
        let (mut gathered, mut kept) = (vec![], vec![]);
        for entry in folder.read_dir().map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let is_directory = entry.file_type().map_err(failed)?.is_dir();
            match entry.file_name().into_string() {
                Ok(name) if is_gathered(&name) => gathered.push((name, is_directory)),
                Ok(name) => kept.push(name),
                Err(name) => kept.push(name.to_string_lossy().into_owned()),
            }
        }
        gathered.sort();
        kept.sort();
        let mut trashed = vec![];
        for (name, is_directory) in gathered {
            let path = format!("{IN_PROJECT}/{CACHE}/{name}");
            let expected = if is_directory { ExpectedKind::Directory } else { ExpectedKind::File };
            trashed.push(Trashed { trashed_to: delete(&roots, &path, expected, false)?.trashed_to, name });
        }
        let total = trashed.len();
        let mut answer =
            Answer { cache_directory: shown(folder.clone()).0, trashed: vec![], kept: vec![], total, truncated: false };
        let mut budget = Budget::beside(&answer);
        answer.trashed = budget.take_list(trashed);
        let all = kept.len();
        answer.kept = budget.take_list(kept);
        answer.truncated = answer.trashed.len() < total || answer.kept.len() < all;
        Ok(answer)
    }
}
