//! A knowledge base to copy.

use std::{
    fs,
    path::{Path, PathBuf},
};

use ragmaker_catalog::{Access, Catalog};
use ragmaker_files::{InputFiles, PATH_NOT_ALLOWED};
use ragmaker_project::knowledge_base;
use ragmaker_tool::{ARGUMENT_ERROR, Error, Invocation};
use serde_json::{Map, Value};

use crate::{SkippedDocument, failed};

/// Another name that a catalog may have.
const OTHER_NAME: &str = "discovery.json";

/// A knowledge base, its catalog read and found to be one.
pub(crate) struct SourceKnowledgeBase {
    /// Its folder, links followed.
    pub(crate) root: PathBuf,
    catalog: Catalog,
    /// The members of its catalog, the documents aside.
    pub(crate) header: Map<String, Value>,
    entries: Vec<Map<String, Value>>,
}

/// A document of a source, which is there.
pub(crate) struct SourceDocument {
    /// Its members in the catalog.
    pub(crate) entry: Map<String, Value>,
    /// The file, links followed.
    pub(crate) file: PathBuf,
    /// Its path relative to the folder of a catalog.
    pub(crate) path: PathBuf,
}

impl SourceKnowledgeBase {
    /// The knowledge base in the folder `path`.
    pub(crate) fn open(path: &Path, invocation: &Invocation) -> Result<Self, Error> {
        let mut catalog = Catalog::locate(Some(path), None, Access::Read, invocation)?;
        if !catalog.file().exists()
            && let Some(former) = former_catalog(path, invocation)
        {
            catalog = former;
        }
        // Says what is wrong with it, with line and column.
        catalog.read()?;
        let text = fs::read(catalog.file()).map_err(failed(catalog.file()))?;
        let mut header: Map<String, Value> = serde_json::from_slice(knowledge_base::json_of(&text)).unwrap_or_default();
        let documents = header.shift_remove("documents");
        let entries = match documents {
            Some(Value::Array(entries)) => entries.into_iter().filter_map(object).collect(),
            _ => vec![],
        };
        let root = catalog.root().unwrap_or_else(|| path.to_owned());
        Ok(Self { root, catalog, header, entries })
    }

    /// The name of its folder.
    pub(crate) fn name(&self) -> Result<&Path, Error> {
        self.root.file_name().map(Path::new).ok_or_else(|| {
            ARGUMENT_ERROR
                .error(format!("{} has no name of its own", self.root.display()))
                .detail("argument", "--source")
        })
    }

    /// Its documents in order; those that are not there, or may not be read, are `left_out`.
    ///
    /// # Errors
    /// [`ragmaker_files::PATH_ERRORS`] where the roots of a model cannot be found.
    pub(crate) fn documents(
        &self,
        invocation: &Invocation,
        left_out: &mut Vec<SkippedDocument>,
    ) -> Result<Vec<SourceDocument>, Error> {
        let readable = InputFiles::of(invocation)?;
        let folder = self.catalog.folder().unwrap_or_else(|| self.root.clone());
        let mut documents = vec![];
        for entry in &self.entries {
            let given = entry.get("path").and_then(Value::as_str).unwrap_or_default();
            let found =
                self.catalog.find(given).ok_or("there is no such file beneath the folder of the knowledge base");
            // A model reads what it may read, wherever a catalog leads.
            let found = found.and_then(|file| {
                readable.file(&file).map_err(|error| {
                    if error.is(PATH_NOT_ALLOWED) { "it may not be read" } else { "it cannot be read" }
                })
            });
            match found {
                Ok(file) => {
                    let path = file
                        .strip_prefix(&folder)
                        .map(Path::to_owned)
                        .or_else(|_| file.strip_prefix(&self.root).map(|path| Path::new("documents").join(path)))
                        .unwrap_or_else(|_| Path::new("documents").join(file.file_name().unwrap_or_default()));
                    documents.push(SourceDocument { entry: entry.clone(), path, file });
                }
                Err(reason) => left_out.push(SkippedDocument {
                    source: self.root.to_string_lossy().into_owned(),
                    path: given.chars().take(500).collect(),
                    reason,
                }),
            }
        }
        Ok(documents)
    }
}

/// The catalog of a knowledge base of the Python original, where it has another name.
fn former_catalog(path: &Path, invocation: &Invocation) -> Option<Catalog> {
    let names = [Path::new(OTHER_NAME).to_owned(), Path::new(knowledge_base::CACHE).join(OTHER_NAME)];
    let catalogs = names.iter().map(|name| Catalog::locate(None, Some(&path.join(name)), Access::Read, invocation));
    catalogs.flatten().find(|catalog| catalog.file().is_file())
}

fn object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(members) => Some(members),
        _ => None,
    }
}
