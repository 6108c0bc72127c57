//! The documents of a knowledge base, read one after another.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use ragmaker_catalog::{Catalog, Contents, Header, Listed};
use ragmaker_files::InputFiles;
use ragmaker_tool::{Error, Invocation, JsonSchema};
use serde::Serialize;

/// A knowledge base that is exported.
pub(crate) struct ExportedKnowledgeBase {
    pub(crate) header: Header,
    pub(crate) documents: Vec<ExportedDocument>,
    pub(crate) left_out: Vec<SkippedDocument>,
}

/// A document whose file is there.
pub(crate) struct ExportedDocument {
    pub(crate) listed: Listed,
    file: PathBuf,
}

/// A document that is not exported.
#[derive(Serialize, JsonSchema, Debug)]
pub struct SkippedDocument {
    /// The path, as the catalog has it.
    pub path: String,
    /// The reason.
    pub reason: &'static str,
}

/// The maximum length in characters of a path that an answer shows.
const MAX_PATH: usize = 500;

impl ExportedKnowledgeBase {
    /// The documents that `catalog` lists and `invocation` may read.
    pub(crate) fn new(catalog: &Catalog, contents: Contents, invocation: &Invocation) -> Result<Self, Error> {
        let readable = InputFiles::of(invocation)?;
        let (mut documents, mut left_out) = (vec![], vec![]);
        for listed in contents.documents {
            let given = listed.path.clone().unwrap_or_default();
            let found = catalog.find(&given).ok_or("there is no such file beneath the folder of the knowledge base");
            match found.and_then(|file| readable.file(&file).map_err(|_| "it may not be read")) {
                Ok(file) => documents.push(ExportedDocument { listed, file }),
                Err(reason) => left_out.push(SkippedDocument { path: given.chars().take(MAX_PATH).collect(), reason }),
            }
        }
        Ok(Self { header: contents.header, documents, left_out })
    }

    /// Whether `file` is the catalog or a document, which an export would destroy.
    pub(crate) fn holds(&self, file: &Path, catalog: &Catalog) -> bool {
        let Ok(file) = ragmaker_fs::canonicalize(file) else { return false };
        let own = self.documents.iter().map(|document| document.file.as_path()).chain([catalog.file()]);
        own.filter_map(|own| ragmaker_fs::canonicalize(own).ok()).any(|own| own == file)
    }

    /// The title of the knowledge base.
    pub(crate) fn title(&self) -> String {
        self.header.title.as_deref().map_or_else(|| "Knowledge base".to_owned(), line)
    }
}

impl ExportedDocument {
    /// The title: the catalog's, or the name of the file.
    pub(crate) fn title(&self) -> String {
        let name = || self.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        line(&self.listed.title.clone().unwrap_or_else(name))
    }

    /// Its source address; its path if there is none.
    pub(crate) fn address(&self) -> &str {
        self.listed.url.as_deref().or(self.listed.path.as_deref()).unwrap_or_default()
    }

    /// Its Markdown without front matter.
    pub(crate) fn body(&self) -> io::Result<String> {
        let bytes = fs::read(&self.file)?;
        let text = String::from_utf8_lossy(&bytes);
        let body = ragmaker_document::parse(&text).map_or(&*text, |parsed| parsed.body);
        let body = body.trim_start_matches('\u{feff}');
        Ok(body.trim_start_matches(['\r', '\n']).trim_end().to_owned())
    }
}

/// `text` on one line.
pub(crate) fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
