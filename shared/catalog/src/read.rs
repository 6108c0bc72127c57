//! Reading a catalog: what it says of the knowledge base and of each document.

use std::{fs, io::Read};

use ragmaker_tool::{Code, Error};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

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
    let outline = scan::outline(bytes, None)?;
    let mut header = Header::default();
    for member in &outline.members {
        let name: Option<String> = serde_json::from_str(&member.key).ok();
        if let Some(field) = name.and_then(|name| header.field_mut(&name)) {
            *field = text(&member.value);
        }
    }
    Ok(Contents { header, documents: scan::documents(bytes, &outline)? })
}

fn text(json: &str) -> Option<String> {
    serde_json::from_str(json).ok().filter(|text: &String| !text.trim().is_empty())
}

/// Of several members with one name the last one counts, as for most parsers.
impl<'de> Deserialize<'de> for Listed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ListedVisitor)
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Key {
    Url,
    Title,
    Summary,
    Path,
    #[serde(other)]
    Other,
}

struct ListedVisitor;

impl<'de> Visitor<'de> for ListedVisitor {
    type Value = Listed;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a document: an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Listed, A::Error> {
        let mut listed = Listed::default();
        while let Some(key) = map.next_key()? {
            let value: &RawValue = map.next_value()?;
            let field = match key {
                Key::Url => &mut listed.url,
                Key::Title => &mut listed.title,
                Key::Summary => &mut listed.summary,
                Key::Path => &mut listed.path,
                Key::Other => continue,
            };
            *field = text(value.get());
        }
        Ok(listed)
    }
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
    fn what_is_none_of_ours_is_not_judged() {
        let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        let text = format!(
            "{{\"x\": \"\\ud800\", \"\\udfff\": 1, \"y\": {deep}, \"title\": \"\\ud800\",\n \"documents\": [{{\"url\": \"u\", \"z\": {deep}}}]}}"
        );
        let contents = contents(text.as_bytes()).unwrap();
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
