//! Reading a catalog: its header and its documents.

use std::{fs, io, path::PathBuf};

use ragmaker_tool::Error;
use serde_json::value::RawValue;

use crate::{
    Catalog, DocumentSource, Header, SourceType,
    error::CATALOG_NOT_FOUND,
    file::{self, LoadedCatalog},
    outline::{Corrupt, Fields, Outline},
};

/// The contents of a catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The description of the knowledge base.
    pub header: Header,
    /// Its documents, in order.
    pub documents: Vec<Listed>,
}

/// A document in the catalog; a field is `None` if it is missing, blank or not a string.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The address from which it was fetched.
    pub url: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Its summary.
    pub summary: Option<String>,
    /// Its file, as seen from the folder of the catalog.
    pub path: Option<String>,
    /// When it was fetched (RFC 3339, UTC).
    pub fetched_at: Option<String>,
    /// `changed` where the text changed after the summary was written: see [`STALE`](crate::STALE).
    pub status: Option<String>,
    /// The time of the last check of its source (RFC 3339, UTC).
    pub checked_at: Option<String>,
    /// The hash of its title and content, which tells whether a later text is another one.
    pub content_hash: Option<String>,
    /// Its source.
    pub source: Option<DocumentSource>,
}

impl Listed {
    /// Whether the last refresh found the source changed or gone.
    pub fn is_stale(&self) -> bool {
        matches!(self.status.as_deref(), Some("changed" | "gone"))
    }
}

impl Catalog {
    /// Reads the catalog, which must exist. Nothing is created or changed.
    ///
    /// # Errors
    ///
    /// One of [`READ_ERRORS`](crate::READ_ERRORS); [`CATALOG_CORRUPT`](crate::CATALOG_CORRUPT) with line and column.
    pub fn read(&self) -> Result<Contents, Error> {
        let current = LoadedCatalog::read(&self.existing()?, SourceType::default())?;
        let outline = current.outline(&self.file)?;
        contents(&outline).map_err(|corrupt| current.error(&corrupt, &self.file))
    }

    /// The absolute path of the catalog's file, with links resolved. A missing file is an error.
    pub(crate) fn existing(&self) -> Result<PathBuf, Error> {
        // Resolving a link that leads to nothing would make the folder that it leads to.
        let leads_nowhere = || fs::metadata(&self.file).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        if fs::symlink_metadata(&self.file).is_err() || leads_nowhere() {
            return Err(CATALOG_NOT_FOUND
                .error(format!("there is no catalog at {}", self.file.display()))
                .detail("path", self.file.to_string_lossy()));
        }
        file::resolve(&self.file)
    }
}

fn contents(outline: &Outline<'_>) -> Result<Contents, Corrupt> {
    let mut header = Header::default();
    for member in &outline.members {
        let name: Option<String> = serde_json::from_str(member.key).ok();
        if let Some(field) = name.and_then(|name| header.field_mut(&name)) {
            *field = text(member.value);
        }
    }
    Ok(Contents { header, documents: documents(outline)? })
}

/// The documents that `outline` lists.
pub(crate) fn documents(outline: &Outline<'_>) -> Result<Vec<Listed>, Corrupt> {
    let text = |field: Option<&RawValue>| field.and_then(|json| text(json.get()));
    let listed = |fields: Fields<'_>| Listed {
        url: text(fields.url),
        title: text(fields.title),
        summary: text(fields.summary),
        path: text(fields.path),
        fetched_at: text(fields.fetched_at),
        status: text(fields.status),
        checked_at: text(fields.checked_at),
        content_hash: text(fields.content_hash),
        source: fields.source.and_then(|json| serde_json::from_str(json.get()).ok()),
    };
    outline.documents.items.iter().map(|document| outline.fields_of(document).map(listed)).collect()
}

/// The text that `json` is, unless it is blank.
fn text(json: &str) -> Option<String> {
    serde_json::from_str(json).ok().filter(|text: &String| !text.trim().is_empty())
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
    fn members_that_nobody_asks_for_are_not_checked() {
        let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        let text = format!(
            "{{\"x\": \"\\ud800\", \"\\udfff\": 1, \"y\": {deep}, \"title\": \"\\ud800\",\n \"documents\": [{{\"url\": \"u\", \"z\": {deep}}}]}}"
        );
        let contents = contents(&Outline::parse(text.as_bytes()).unwrap()).unwrap();
        assert_eq!(contents.header, Header::default());
        assert_eq!(contents.documents, [Listed { url: Some("u".into()), ..Listed::default() }]);
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
