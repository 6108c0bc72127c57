//! `ragmaker-create-knowledge-base`: makes an empty knowledge base.

use std::path::PathBuf;

use argh::{ArgsInfo, FromArgs};
use ragmaker_catalog::Header;
use ragmaker_knowledge::DestinationArgs;
use ragmaker_tool::{ARGUMENT_ERROR, Annotations, Code, Error, Invocation, JsonSchema, Tool, host};
use serde::Serialize;

/// Make an empty knowledge base: the folder, its catalog and its folder of documents. The saving tools make what
/// they need themselves, so use it to reserve a place or to see whether one can be written. An existing
/// one is not changed. Returns its paths.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// folder of the knowledge base; created if missing
    #[argh(option)]
    pub kb_root: PathBuf,
    /// name of the knowledge base
    #[argh(option)]
    pub title: Option<String>,
}

/// The knowledge base.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The absolute path of its folder.
    pub kb_root: String,
    /// The absolute path of its catalog.
    pub catalog_file: String,
    /// The absolute path of the folder of its documents.
    pub documents_dir: String,
    /// The number of its documents.
    pub documents: usize,
    /// Whether it was made by this call.
    pub created: bool,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::ADDITIVE;
    const HOST_OPTIONS: &'static [&'static str] = host::SAVING;
    const OPERANDS: &'static [&'static str] = &["--kb-root"];
    const ERRORS: &'static [&'static [Code]] = &[
        ragmaker_catalog::ERRORS,
        &[ragmaker_files::PATH_NOT_WRITABLE],
        ragmaker_files::IO_ERRORS,
        ragmaker_files::PATH_ERRORS,
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        if self.title.as_ref().is_some_and(|title| title.trim().is_empty()) {
            return Err(ARGUMENT_ERROR.error("--title is empty").detail("argument", "--title"));
        }
        let named = DestinationArgs { kb_root: Some(&self.kb_root), ..DestinationArgs::default() };
        let place = named.locate(invocation)?;
        let created = place.catalog.create(&Header { title: self.title, ..Header::default() })?;
        let documents = place.catalog.read()?.documents.len();
        std::fs::create_dir_all(&place.folder).map_err(|error| ragmaker_files::io_error(&error, &place.folder))?;
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path).to_string_lossy().into_owned();
        Ok(Answer {
            kb_root: absolute(place.catalog.root().unwrap_or(self.kb_root)),
            catalog_file: absolute(place.catalog.file().to_owned()),
            documents_dir: absolute(place.folder),
            documents,
            created,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use ragmaker_testkit::{folder, write};
    use ragmaker_tool::{Caller, HostOptions};

    use super::*;

    /// The answer in the project `root` to a model.
    fn run(root: &Path, words: &[&str]) -> Result<Answer, Error> {
        let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
        let invocation = Invocation { host, caller: Caller::Model, ..Invocation::default() };
        Args::from_args(&["create"], &[&["--kb-root", "kb"], words].concat()).unwrap().run(&invocation)
    }

    #[test]
    fn an_older_knowledge_base_keeps_its_catalog_and_gets_its_folder() {
        let (_holder, root) = folder("project");
        let catalog = write(&root, "kb/catalog.json", r#"{"documents": [{"url": "u", "path": "a.md"}]}"#);
        let before = fs::read(&catalog).unwrap();
        let answer = run(&root, &["--title", "T"]).unwrap();
        assert_eq!((answer.created, answer.documents), (false, 1));
        assert_eq!(Path::new(&answer.catalog_file), catalog);
        assert_eq!(Path::new(&answer.kb_root), root.join("kb"));
        assert!(root.join("kb/documents").is_dir() && Path::new(&answer.documents_dir) == root.join("kb/documents"));
        assert_eq!(fs::read(&catalog).unwrap(), before);
    }

    #[test]
    fn a_refused_title_makes_nothing() {
        let (_holder, root) = folder("project");
        assert!(run(&root, &["--title", "\t"]).err().unwrap().is(ARGUMENT_ERROR));
        assert!(!root.join("kb").exists());
        // A knowledge base may have none.
        assert!(run(&root, &[]).unwrap().created);
    }

    #[test]
    fn a_file_in_the_place_of_the_documents_is_an_error() {
        let (_holder, root) = folder("project");
        write(&root, "kb/cache/documents", "mine");
        let error = run(&root, &[]).err().unwrap();
        assert!(error.details()["path"].as_str().unwrap().ends_with("documents"), "{error}");
        assert_eq!(fs::read(root.join("kb/cache/documents")).unwrap(), b"mine");
    }
}
