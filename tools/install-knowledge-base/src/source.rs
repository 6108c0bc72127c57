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
            let found = found.and_then(|file| {
                let path = file
                    .strip_prefix(&folder)
                    .map(Path::to_owned)
                    .or_else(|_| file.strip_prefix(&self.root).map(|path| Path::new("documents").join(path)))
                    .unwrap_or_else(|_| Path::new("documents").join(file.file_name().unwrap_or_default()));
                if is_document(&path) { Ok((file, path)) } else { Err("it is not a Markdown file, or it is hidden") }
            });
            match found {
                Ok((file, path)) => documents.push(SourceDocument { entry: entry.clone(), path, file }),
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

/// Whether the file at `path` in a knowledge base is a document: Markdown, and neither it nor a folder of it is hidden.
///
/// A catalog may list any file of its author, such as a configuration or a Git hook. In a target, whose folder may be a
/// project too, such a file would take effect.
fn is_document(path: &Path) -> bool {
    let is_hidden = path.iter().any(|name| name.as_encoded_bytes().starts_with(b"."));
    let extension = path.extension().unwrap_or_default();
    !is_hidden && ["md", "markdown"].iter().any(|known| extension.eq_ignore_ascii_case(known))
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

#[cfg(test)]
mod tests {
    use ragmaker_testkit::{folder, write};
    use serde_json::json;

    use super::*;

    /// The documents of the knowledge base in `root` by their new paths, and the paths that are left out.
    fn documents(root: &Path) -> (Vec<String>, Vec<String>) {
        let (source, mut left_out) = (SourceKnowledgeBase::open(root, &Invocation::default()).unwrap(), vec![]);
        let found = source.documents(&Invocation::default(), &mut left_out).unwrap();
        let path = |document: SourceDocument| document.path.to_str().unwrap().replace('\\', "/");
        (found.into_iter().map(path).collect(), left_out.into_iter().map(|skipped| skipped.path).collect())
    }

    #[test]
    fn only_markdown_that_is_not_hidden_is_copied() {
        // The folders above a knowledge base may be hidden, as that of a project is.
        let (_holder, root) = folder(".tmp");
        let documents_there = ["a.md", "documents/B.MD", "../beside/c.markdown", "documents/a..md"];
        let others = [
            "ragmaker.toml",
            "../ragmaker.toml",
            "../.git/hooks/post-checkout",
            "../.git/hooks/post-checkout.md",
            ".env",
            ".hidden.md",
            ".md",
            "documents/run",
            "catalog.json",
        ];
        let listed: Vec<_> = documents_there.iter().chain(&others).map(|path| json!({"path": path})).collect();
        for path in documents_there.iter().chain(&others) {
            write(&root, &format!("cache/{path}"), "text");
        }
        write(&root, "cache/catalog.json", json!({"documents": listed}).to_string());
        let expected = ["a.md", "documents/B.MD", "documents/beside/c.markdown", "documents/a..md"];
        assert_eq!(documents(&root), (expected.map(str::to_owned).into(), others.map(str::to_owned).into()));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_what_it_leads_to() {
        let (_holder, root) = folder("kb");
        write(&root, "ragmaker.toml", "");
        write(&root, "cache/real.md", "text");
        std::os::unix::fs::symlink("../ragmaker.toml", root.join("cache/a.md")).unwrap();
        std::os::unix::fs::symlink("real.md", root.join("cache/.b")).unwrap();
        write(&root, "cache/catalog.json", json!({"documents": [{"path": "a.md"}, {"path": ".b"}]}).to_string());
        assert_eq!(documents(&root), (vec!["real.md".to_owned()], vec!["a.md".to_owned()]));
    }

    #[test]
    fn entries_without_a_file_are_left_out_and_other_members_stay() {
        let (_holder, root) = folder("kb");
        let catalog = json!({"title": "T", "documents": [{}, {"path": 1}, {"path": "../../out.md"}]});
        write(&root, "cache/catalog.json", catalog.to_string());
        write(root.parent().unwrap(), "out.md", "text");
        assert_eq!(documents(&root), (vec![], ["", "", "../../out.md"].map(str::to_owned).into()));
        let source = SourceKnowledgeBase::open(&root, &Invocation::default()).unwrap();
        assert_eq!(source.header, *json!({"title": "T"}).as_object().unwrap());
    }
}
