//! `ragmaker-github-fetch`: saves the documents of a Git repository in a knowledge base.

use std::path::PathBuf;

use argh::{ArgsInfo, FromArgs};
use ragmaker_catalog::{DocumentSource, Header};
use ragmaker_git::Repository;
use ragmaker_ingest::{Report, Run, Skipped, Skips, Store};
use ragmaker_knowledge::DestinationArgs;
use ragmaker_sources::{Tree, address};
use ragmaker_tool::{
    Annotations, Code, ContentOrigin, Error, Invocation, Isolation, JsonSchema, Tool, ToolProfile, host,
};
use serde::Serialize;

/// Save the documents of a Git repository, or of a folder of it, in a knowledge base, each with its address at the
/// commit. A repeated run fetches only what changed. For plain folders use `ragmaker-file-sync`. Returns the commit,
/// counts and what is new, changed, gone or failed.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// clone URL, page of a folder or file on GitHub or a similar site, or local path
    #[argh(option)]
    pub repo_url: String,
    /// folder or file in the repository (default: what the address names, else all)
    #[argh(option)]
    pub path_in_repo: Option<String>,
    /// branch, tag or whole commit hash (default: what the address names, else the default branch)
    #[argh(option, long = "ref")]
    #[serde(rename = "ref")]
    pub reference: Option<String>,
    /// glob of files to save, such as *.rs; source files become code; may be repeated (default: all documents)
    #[argh(option)]
    pub include: Vec<String>,
    /// glob of files to exclude; may be repeated
    #[argh(option)]
    pub exclude: Vec<String>,
    /// folder of the knowledge base; created if missing
    #[argh(option)]
    pub kb_root: PathBuf,
    /// folder for the documents (default: cache/documents in --kb-root)
    #[argh(option)]
    pub output_dir: Option<PathBuf>,
    /// print one line of JSON per file when it is done, instead of an answer
    #[argh(switch)]
    pub jsonl: bool,
}

/// The files that were read, and those that were not.
#[derive(Serialize, JsonSchema, Debug)]
pub struct RepositorySummary {
    /// The repository's address.
    pub repository: String,
    /// The requested branch, tag or commit; null for the default branch.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
    /// The commit.
    pub commit: String,
    /// The folder or file in the repository; empty for all of it.
    pub path_in_repo: String,
    /// The number of fetched bytes; 0 for a local repository.
    pub bytes_fetched: u64,
    /// The catalog's absolute path.
    pub catalog_file: String,
    /// The files that are not documents, by the reason.
    pub skipped: Vec<Skipped>,
}

impl Tool for Args {
    type Answer = Report<RepositorySummary>;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::ADDITIVE.open_world();
    const HOST_OPTIONS: &'static [&'static str] = host::GATHERING;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const ORIGIN: ContentOrigin = ContentOrigin::Web;
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Fetch];
    const COMMAND_LINE_FLAGS: &'static [&'static str] = &["--jsonl"];
    const OPERANDS: &'static [&'static str] = &["--repo-url", "--kb-root"];
    const ERRORS: &'static [&'static [Code]] = &[
        ragmaker_git::ERRORS,
        ragmaker_address::ERRORS,
        ragmaker_ingest::ERRORS,
        ragmaker_knowledge::ERRORS,
        ragmaker_catalog::ERRORS,
        ragmaker_project::ERRORS,
        ragmaker_files::PATH_ERRORS,
        &[ragmaker_address::ADDRESS_NOT_ALLOWED, ragmaker_files::PATH_NOT_WRITABLE],
    ];

    fn run(self, invocation: &Invocation) -> Result<Report<RepositorySummary>, Error> {
        self.sync(invocation)
    }

    fn stream(&self, invocation: &Invocation) -> Option<Result<(), Error>> {
        // Each file was printed as it ended.
        self.jsonl.then(|| self.sync(invocation).map(drop))
    }
}

impl Args {
    fn sync(&self, invocation: &Invocation) -> Result<Report<RepositorySummary>, Error> {
        let address = address(&self.repo_url, invocation)?;
        let named = DestinationArgs {
            output_dir: self.output_dir.as_deref(),
            kb_root: Some(&self.kb_root),
            catalog_path: None,
        };
        let place = named.locate(invocation)?;
        let mut store = Store::open(&place.catalog, place.folder.clone())?;
        let repository = Repository::open(&address, self.reference.as_deref())?;
        let path = self.path_in_repo.as_deref().unwrap_or(repository.path()).trim_matches('/').to_owned();
        let tree = Tree { address: &address, repository: &repository, path: &path };
        let mut skips = Skips::default();
        let found = tree.files(&self.include, &self.exclude, &mut skips)?;
        // A run that was killed is not continued: what it recorded is unchanged now.
        let mut run = Run::start_over(&place.catalog, "github-fetch", self.jsonl)?.told_to(invocation.caller);
        let fetched = tree.sync(&found, &mut store, &mut run);
        store.finish()?;
        fetched?;
        let source = address.repository();
        let title = name(source);
        let header = Header {
            title: (!title.is_empty()).then_some(title),
            // A folder has no address.
            source_url: source.contains("://").then(|| source.to_owned()),
            ..Header::default()
        };
        place.catalog.name_after(
            header,
            |listed| matches!(&listed.source, Some(DocumentSource::Git { repository, .. }) if repository == source),
        )?;
        run.finish_with(RepositorySummary {
            repository: address.repository().to_owned(),
            reference: repository.reference().map(str::to_owned),
            commit: repository.commit().to_owned(),
            path_in_repo: path.clone(),
            bytes_fetched: repository.bytes_fetched(),
            catalog_file: place.catalog.file().to_string_lossy().into_owned(),
            skipped: skips.into_list(),
        })
    }
}

/// The name of a repository: the end of its address, with its owner where a server has it.
fn name(repository: &str) -> String {
    let (is_on_server, path) = repository.split_once("://").map_or((false, repository), |(_, rest)| (true, rest));
    let path = path.trim_end_matches('/').trim_end_matches(".git");
    let parts: Vec<&str> =
        path.split(['/', '\\']).filter(|part| !part.is_empty()).skip(usize::from(is_on_server)).collect();
    parts[parts.len().saturating_sub(1 + usize::from(is_on_server))..].join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_named_by_the_end_of_its_address() {
        for (repository, expected) in [
            ("https://github.com/rust-lang/book", "rust-lang/book"),
            ("https://git.example/group/team/docs.git/", "team/docs"),
            ("git://127.0.0.1:9418/docs", "docs"),
            ("/home/ada/tides", "tides"),
            ("../tides.git", "tides"),
        ] {
            assert_eq!(name(repository), expected, "{repository}");
        }
    }
}
