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

#[cfg(test)]
mod tests {
    use ragmaker_catalog::Access;
    use ragmaker_testkit::{folder, write};
    use serde_json::{Value, json};

    use super::*;

    /// The knowledge base in `root`, with these documents in its catalog.
    fn exported(root: &Path, documents: &Value) -> (Catalog, ExportedKnowledgeBase) {
        write(root, "cache/catalog.json", json!({"documents": documents}).to_string());
        let invocation = Invocation::default();
        let catalog = Catalog::locate(Some(root), None, Access::Read, &invocation).unwrap();
        let source = ExportedKnowledgeBase::new(&catalog, catalog.read().unwrap(), &invocation).unwrap();
        (catalog, source)
    }

    #[test]
    fn the_body_has_neither_front_matter_nor_a_mark() {
        let (_holder, root) = folder("kb");
        for (text, body) in [
            ("---\ntitle: T\n---\n\n# A\n\ntext\n\n", "# A\n\ntext"),
            ("\u{feff}---\ntitle: T\n---\r\n# A", "# A"),
            ("\u{feff}# A\n", "# A"),
            ("---\n# not closed\n", "---\n# not closed"),
            ("", ""),
        ] {
            write(&root, "cache/a.md", text);
            let (_, source) = exported(&root, &json!([{"path": "a.md"}]));
            assert_eq!(source.documents[0].body().unwrap(), body, "{text:?}");
        }
        write(&root, "cache/a.md", b"caf\xe9");
        assert_eq!(exported(&root, &json!([{"path": "a.md"}])).1.documents[0].body().unwrap(), "caf\u{fffd}");
    }

    #[test]
    fn titles_and_addresses_have_their_fallbacks_and_one_line() {
        let (_holder, root) = folder("kb");
        write(&root, "cache/deep/a.b.md", "text");
        let listed = json!([{"path": "deep/a.b.md", "url": "u", "title": "T\n## x"}, {"path": "deep/a.b.md"}]);
        let (_, source) = exported(&root, &listed);
        let of = |document: &ExportedDocument| (document.title(), document.address().to_owned());
        assert_eq!(of(&source.documents[0]), ("T ## x".into(), "u".into()));
        assert_eq!(of(&source.documents[1]), ("a.b".into(), "deep/a.b.md".into()));
        assert_eq!(source.title(), "Knowledge base");
    }

    #[test]
    fn files_outside_the_knowledge_base_are_left_out() {
        let (_holder, root) = folder("kb");
        write(root.parent().unwrap(), "secret.md", "text");
        let long = "x".repeat(2 * MAX_PATH);
        let (_, source) = exported(&root, &json!([{"path": "../../secret.md"}, {"url": "u"}, {"path": long}]));
        let paths: Vec<_> = source.left_out.iter().map(|skipped| skipped.path.len()).collect();
        assert_eq!((source.documents.len(), paths), (0, vec!["../../secret.md".len(), 0, MAX_PATH]));
    }

    #[test]
    fn an_export_that_would_destroy_a_document_is_noticed() {
        let (_holder, root) = folder("kb");
        let document = write(&root, "cache/a.md", "text");
        let other = write(&root, "cache/b.md", "not listed");
        let (catalog, source) = exported(&root, &json!([{"path": "a.md"}]));
        let dotted = root.join("cache/../cache/a.md");
        for (file, is_own) in [
            (document.as_path(), true),
            (&dotted, true),
            (catalog.file(), true),
            (&other, false),
            (&root.join("new.md"), false),
        ] {
            assert_eq!(source.holds(file, &catalog), is_own, "{}", file.display());
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&document, root.join("link.md")).unwrap();
            assert!(source.holds(&root.join("link.md"), &catalog));
        }
    }
}
