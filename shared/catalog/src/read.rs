//! Reading a catalog: what it says of the knowledge base and of each document.

use std::{fs, io::Read};

use ragmaker_tool::{Code, Error};
use serde_json::{Map, Value};

use crate::{
    Catalog, Header,
    file::{self, Source},
    scan::{self, Failure},
};

/// There is no catalog.
pub const CATALOG_NOT_FOUND: Code = Code::new(
    "CATALOG_NOT_FOUND",
    "Check --kb-root or --catalog-path; ragmaker-browser-extract and ragmaker-entry-discovery make a catalog.",
);

/// A whole catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// What the knowledge base is about.
    pub header: Header,
    /// Its documents, in order.
    pub documents: Vec<Listed>,
}

/// A document as the catalog lists it; a field is `None` where it is missing, blank or no text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Where it was fetched from.
    pub url: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// What it says, in short.
    pub summary: Option<String>,
    /// Its file, as seen from the folder of the catalog.
    pub path: Option<String>,
}

impl Catalog {
    /// Reads the catalog, which has to be there; nothing is made or changed.
    pub fn read(&self) -> Result<Contents, Error> {
        let file = self.existing()?;
        let source = Source::open(&file)?;
        let mut bytes = vec![];
        let read = source.all().read_to_end(&mut bytes).map_err(Failure::Unreadable);
        let contents = read.and_then(|_| contents(&bytes));
        contents.map_err(|failure| source.error(failure, &self.file))
    }

    /// The absolute path of the catalog's file, links followed; there being none is an error.
    pub(crate) fn existing(&self) -> Result<std::path::PathBuf, Error> {
        match fs::symlink_metadata(&self.file) {
            Ok(_) => file::resolve(&self.file),
            Err(_) => Err(CATALOG_NOT_FOUND
                .error(format!("there is no catalog at {}", self.file.display()))
                .detail("path", self.file.to_string_lossy())),
        }
    }
}

fn contents(bytes: &[u8]) -> Result<Contents, Failure> {
    // Said in the same words as by a change, and with a place.
    scan::outline(bytes, None)?;
    let catalog: Map<String, Value> =
        serde_json::from_slice(bytes).map_err(|error| Failure::Corrupt(error.to_string(), 0))?;
    let mut header = Header::default();
    for (name, value) in &catalog {
        if let Some(field) = header.field_mut(name) {
            *field = text(value);
        }
    }
    let documents = catalog.get("documents").and_then(Value::as_array).into_iter().flatten();
    Ok(Contents { header, documents: documents.map(listed).collect() })
}

/// A document as it is listed, from its JSON.
pub(crate) fn listed(document: &Value) -> Listed {
    let field = |name: &str| text(&document[name]);
    Listed { url: field("url"), title: field("title"), summary: field("summary"), path: field("path") }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CATALOG_CORRUPT, CATALOG_NOT_READABLE};

    #[test]
    fn a_catalog_is_read_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("catalog.json");
        let text = r#"{"title": "T", "summary": " ", "x": 1, "documents": [{"url": "u", "url": "v", "path": 7}, {}]}"#;
        fs::write(&file, text).unwrap();
        let contents = Catalog::at(&file).unwrap().read().unwrap();
        assert_eq!(contents.header, Header { title: Some("T".into()), ..Header::default() });
        assert_eq!(contents.documents, [Listed { url: Some("v".into()), ..Listed::default() }, Listed::default()]);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn nothing_is_made_where_there_is_no_catalog() {
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &str| Catalog::at(folder.path().join(name)).unwrap().read().unwrap_err();
        assert!(read("none/catalog.json").is(CATALOG_NOT_FOUND));
        fs::create_dir(folder.path().join("folder")).unwrap();
        assert!(read("folder").is(CATALOG_NOT_READABLE));
        fs::write(folder.path().join("bad"), "{\"documents\": [7]}").unwrap();
        let error = read("bad");
        assert!(error.is(CATALOG_CORRUPT) && error.details()["line"] == 1, "{error}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    }
}
