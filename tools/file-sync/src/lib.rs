//! `ragmaker-file-sync`: saves the documents of a folder in a knowledge base.

use std::path::{Path, PathBuf};

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{FILE_NOT_FOUND, NOT_A_DIRECTORY, Roots};
use ragmaker_ingest::{Report, Run, Skipped, Skips, Store};
use ragmaker_knowledge::DestinationArgs;
use ragmaker_sources::{Folder, place};
use ragmaker_tool::{
    ARGUMENT_ERROR, Annotations, Caller, Code, ContentOrigin, Error, Invocation, Isolation, JsonSchema, Tool,
    ToolProfile, host,
};
use serde::Serialize;

/// Save every document of a local folder in a knowledge base: Markdown, HTML, text, reStructuredText, PDF, office
/// files, notebooks, mail. A repeated run saves only changed documents. For repositories use `ragmaker-github-fetch`.
/// Returns counts and what is new, changed, gone or failed.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// folder to read, including subfolders
    #[argh(option)]
    pub source_dir: PathBuf,
    /// folder of the knowledge base; created if missing
    #[argh(option)]
    pub kb_root: PathBuf,
    /// folder for the documents (default: cache/documents in --kb-root)
    #[argh(option)]
    pub output_dir: Option<PathBuf>,
    /// glob of files to read, such as docs/**; source files become code; may be repeated (default: all documents)
    #[argh(option)]
    pub include: Vec<String>,
    /// glob of files to exclude; may be repeated
    #[argh(option)]
    pub exclude: Vec<String>,
    /// also read files that .gitignore and the like exclude
    #[argh(switch)]
    pub no_ignore: bool,
    /// print one line of JSON per file when it is done, instead of an answer
    #[argh(switch)]
    pub jsonl: bool,
}

/// The files that were read, and those that were not.
#[derive(Serialize, JsonSchema, Debug)]
pub struct SyncSummary {
    /// The folder's absolute path.
    pub source_dir: String,
    /// The catalog's absolute path.
    pub catalog_file: String,
    /// The files that are not documents, by the reason.
    pub skipped: Vec<Skipped>,
}

impl Tool for Args {
    type Answer = Report<SyncSummary>;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::ADDITIVE;
    const HOST_OPTIONS: &'static [&'static str] = host::SAVING;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const ORIGIN: ContentOrigin = ContentOrigin::Files;
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Fetch];
    const COMMAND_LINE_FLAGS: &'static [&'static str] = &["--jsonl"];
    const OPERANDS: &'static [&'static str] = &["--source-dir", "--kb-root"];
    const ERRORS: &'static [&'static [Code]] = &[
        ragmaker_ingest::ERRORS,
        ragmaker_knowledge::ERRORS,
        ragmaker_catalog::ERRORS,
        ragmaker_project::ERRORS,
        ragmaker_files::PATH_ERRORS,
        ragmaker_files::FILE_ERRORS,
        &[ragmaker_files::PATH_NOT_WRITABLE, ragmaker_files::PATH_IGNORED, NOT_A_DIRECTORY],
    ];

    fn run(self, invocation: &Invocation) -> Result<Report<SyncSummary>, Error> {
        self.sync(invocation)
    }

    fn stream(&self, invocation: &Invocation) -> Option<Result<(), Error>> {
        // Each file was printed as it ended.
        self.jsonl.then(|| self.sync(invocation).map(drop))
    }
}

impl Args {
    fn sync(&self, invocation: &Invocation) -> Result<Report<SyncSummary>, Error> {
        let source_dir = source_directory(&self.source_dir, invocation)?;
        let named = DestinationArgs {
            output_dir: self.output_dir.as_deref(),
            kb_root: Some(&self.kb_root),
            catalog_path: None,
        };
        let at = named.locate(invocation)?;
        let mut store = Store::open(&at.catalog, at.folder.clone())?;
        let mut skips = Skips::default();
        let place = place(&source_dir, Roots::discover(&invocation.host).ok().as_ref());
        let (include, exclude) = (&self.include[..], &self.exclude[..]);
        let folder = Folder { place, path: source_dir.clone(), include, exclude, no_ignore: self.no_ignore };
        let found = folder.files(&mut skips, &store)?;
        // A run that was killed is not continued: what it recorded is unchanged now.
        let mut run = Run::start_over(&at.catalog, "file-sync", self.jsonl)?.told_to(invocation.caller);
        folder.sync(&found, &mut store, &mut run)?;
        store.finish()?;
        run.finish_with(SyncSummary {
            source_dir: ragmaker_files::lossy_text(source_dir).0,
            catalog_file: at.catalog.file().to_string_lossy().into_owned(),
            skipped: skips.into_list(),
        })
    }
}

/// The folder to read, without links on the way to it: as a person names it, or where a model may read.
fn source_directory(path: &Path, invocation: &Invocation) -> Result<PathBuf, Error> {
    if path.as_os_str().is_empty() {
        return Err(ARGUMENT_ERROR.error("--source-dir is empty").detail("argument", "--source-dir"));
    }
    let named = match invocation.caller {
        Caller::Person => path.to_owned(),
        Caller::Model => Roots::discover(&invocation.host)?.place(&path.to_string_lossy())?.path(),
    };
    let found = ragmaker_fs::canonicalize(&named).map_err(|error| {
        FILE_NOT_FOUND
            .error(format!("there is no folder {}: {error}", named.display()))
            .detail("path", named.to_string_lossy())
    })?;
    if found.is_dir() {
        return Ok(found);
    }
    Err(NOT_A_DIRECTORY
        .error(format!("{} is not a folder", found.display()))
        .remedy("Give the folder that the file is in, with the file's name as --include.")
        .detail("path", found.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use ragmaker_files::PATH_NOT_ALLOWED;
    use ragmaker_testkit::{folder, write};
    use ragmaker_tool::HostOptions;

    use super::*;

    /// The folder that `path` names in the project `root`.
    fn directory(root: &Path, path: &Path, caller: Caller) -> Result<PathBuf, Error> {
        let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
        source_directory(path, &Invocation { host, caller, ..Invocation::default() })
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_is_named_by_its_real_path() {
        let (_holder, root) = folder("project");
        let outside = root.parent().unwrap().join("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::create_dir(root.join("docs")).unwrap();
        for (name, target) in [("own", &root.join("docs")), ("led", &outside)] {
            std::os::unix::fs::symlink(target, root.join(name)).unwrap();
        }
        for (path, real) in [("docs/../own", root.join("docs")), ("led", outside)] {
            assert_eq!(directory(&root, &root.join(path), Caller::Person).unwrap(), real);
        }
        // For a model, a relative path starts at the project, and a link leads no further than it.
        assert_eq!(directory(&root, Path::new("own"), Caller::Model).unwrap(), root.join("docs"));
        for path in ["led", "../outside"] {
            assert!(directory(&root, Path::new(path), Caller::Model).unwrap_err().is(PATH_NOT_ALLOWED), "{path}");
        }
    }

    #[test]
    fn what_is_no_folder_is_refused_for_any_caller() {
        let (_holder, root) = folder("project");
        let file = write(&root, "a.md", "");
        for caller in [Caller::Person, Caller::Model] {
            let error = |path: &Path| directory(&root, path, caller).unwrap_err();
            assert!(error(Path::new("")).is(ARGUMENT_ERROR));
            assert!(error(&root.join("none")).is(FILE_NOT_FOUND));
            let error = error(&file);
            assert!(error.is(NOT_A_DIRECTORY) && error.details()["path"] == file.to_str().unwrap(), "{error}");
        }
    }
}
