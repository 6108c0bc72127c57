//! `ragmaker-github-fetch`: the documents of a Git repository in a knowledge base.

mod local;
mod tree;

use std::path::PathBuf;

use argh::{ArgsInfo, FromArgs};
use ragmaker_address::Domains;
use ragmaker_catalog::{Access, Catalog};
use ragmaker_files::output_directory;
use ragmaker_git::{Address, Repository};
use ragmaker_ingest::{Run, Skipped, Skips, Store, Summary};
use ragmaker_knowledge::{Destination, now};
use ragmaker_tool::{
    ARGUMENT_ERROR, Annotations, Caller, Code, ContentOrigin, Error, Invocation, Isolation, JsonSchema, Tool, Toolset,
    host,
};
use serde::Serialize;
use url::Url;

pub use local::address;
pub use tree::{Found, Tree, unchanged};

/// Save the documents of a Git repository, or of a folder of it, in a knowledge base, each with its address at
/// the commit. Only what is needed is fetched; again, only what changed. For plain folders use `file_sync`.
/// Returns the commit, counts and what is new, changed, gone or failed.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// address to clone, page of a folder or file on GitHub or the like, or a local path
    #[argh(option)]
    pub repo_url: String,
    /// folder or file in the repository (default: what the address names, else all)
    #[argh(option)]
    pub path_in_repo: Option<String>,
    /// branch, tag or whole commit hash (default: what the address names, else the default branch)
    #[argh(option, long = "ref")]
    #[serde(rename = "ref")]
    pub reference: Option<String>,
    /// glob of files to take, such as *.rs; source files become code; may be repeated (default: all documents)
    #[argh(option)]
    pub include: Vec<String>,
    /// glob of files to leave out; may be repeated
    #[argh(option)]
    pub exclude: Vec<String>,
    /// folder of the knowledge base; made where it is missing
    #[argh(option)]
    pub kb_root: PathBuf,
    /// folder for the documents (default: cache/documents in --kb-root)
    #[argh(option)]
    pub output_dir: Option<PathBuf>,
    /// print each file as one line of JSON when it is done, instead of an answer
    #[argh(switch)]
    pub jsonl: bool,
}

/// What became of the files.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Answer {
    /// The counts and the files.
    #[serde(flatten)]
    pub summary: Summary,
    /// The rest.
    #[serde(flatten)]
    pub facts: Facts,
}

/// What was read, and what was not.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Facts {
    /// The repository's address.
    pub repository: String,
    /// The branch, tag or commit that was asked for; null is the default branch.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
    /// The commit.
    pub commit: String,
    /// The folder or file in the repository; empty for all of it.
    pub path_in_repo: String,
    /// How many bytes were fetched; 0 of a local repository.
    pub bytes_fetched: u64,
    /// The catalog's absolute path.
    pub catalog_file: String,
    /// The files that are no documents, by the reason.
    pub skipped: Vec<Skipped>,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::ADDITIVE.open_world();
    const HOST_OPTIONS: &'static [&'static str] = host::GATHERING;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const ORIGIN: ContentOrigin = ContentOrigin::Web;
    const TOOLSETS: &'static [Toolset] = &[Toolset::Fetch];
    const ERRORS: &'static [&'static [Code]] = &[
        ragmaker_git::ERRORS,
        ragmaker_address::ERRORS,
        ragmaker_ingest::ERRORS,
        ragmaker_knowledge::ERRORS,
        ragmaker_catalog::ERRORS,
        ragmaker_project::ERRORS,
        ragmaker_files::PATH_ERRORS,
        &[ragmaker_files::PATH_NOT_WRITABLE],
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        if self.jsonl && invocation.caller == Caller::Model {
            return Err(ARGUMENT_ERROR
                .error("--jsonl prints a stream, which is no answer to a call")
                .remedy("Leave it out: report_file of the answer has every file.")
                .detail("argument", "--jsonl"));
        }
        let address = address(&self.repo_url, invocation)?;
        let catalog = Catalog::locate(Some(&self.kb_root), None, Access::Write, invocation)?;
        let output = self.output_dir.as_deref().map(|folder| output_directory(folder, invocation)).transpose()?;
        let output = output.unwrap_or_else(|| Destination::beside(&catalog).folder);
        let mut store = Store::open(&catalog, output)?;
        let repository = Repository::open(&address, self.reference.as_deref())?;
        let path = self.path_in_repo.as_deref().unwrap_or(repository.path()).trim_matches('/').to_owned();
        let tree = Tree { address: &address, repository: &repository, path: &path };
        let mut skips = Skips::default();
        let found = tree.files(&self.include, &self.exclude, &mut skips)?;
        // A run that was killed is not continued: what it recorded is unchanged now.
        let mut run = Run::start(&catalog, "github-fetch", &now(), self.jsonl)?;
        let fetched = tree.sync(&found, &mut store, &mut run);
        store.finish()?;
        fetched?;
        let facts = Facts {
            repository: address.repository().to_owned(),
            reference: repository.reference().map(str::to_owned),
            commit: repository.commit().to_owned(),
            path_in_repo: path.clone(),
            bytes_fetched: repository.bytes_fetched(),
            catalog_file: catalog.file().to_string_lossy().into_owned(),
            skipped: skips.into_list(),
        };
        Ok(Answer { summary: run.finish_beside(&facts)?, facts })
    }

    fn plain(answer: &Answer) -> Option<&str> {
        answer.summary.streamed.then_some("")
    }
}

/// Refuses a repository on a host that may not be visited.
pub(crate) fn check_host(address: &Address, invocation: &Invocation) -> Result<(), Error> {
    let Some(host) = address.host() else { return Ok(()) };
    let domains = Domains::new(&invocation.host.allow_domain)?;
    // Whatever Git speaks with it, it is the host that is allowed or not.
    match Url::parse(&format!("https://{host}/")) {
        Ok(url) => domains.check(&url),
        Err(error) => Err(ARGUMENT_ERROR.error(format!("{host} is no host: {error}")).detail("argument", "--repo-url")),
    }
}
