//! Titles and summaries: sets those of many documents in one step.

use std::{collections::BTreeMap, path::Path};

use ragmaker_project::knowledge_base::places;
use ragmaker_tool::Error;
use serde_json::Value;

use crate::{
    Catalog, Entry, SourceType,
    edit::{self, Edit},
    location::relative,
    outline::{Corrupt, Outline},
    read::{self, Listed},
};

/// The update of one document.
#[derive(Clone, Debug)]
pub struct Update {
    /// The document.
    pub document: DocumentName,
    /// The new title, if it is set.
    pub title: Option<String>,
    /// The new summary, if it is set.
    pub summary: Option<String>,
    /// The entry to add if the catalog does not have the document; without it, the document stays unmatched.
    pub new: Option<Entry>,
}

/// The name of a document: its path or its URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentName {
    /// By its address.
    Url(String),
    /// By its file: as the catalog lists it, or seen from the catalog's folder, the working
    /// directory or the knowledge base's folder.
    Path(String),
}

impl DocumentName {
    /// The name as it was given.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Url(name) | Self::Path(name) => name,
        }
    }
}

/// The result of [`Catalog::enrich`]; paths are as in the catalog.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Enriched {
    /// The documents whose fields were set.
    pub updated: Vec<String>,
    /// The documents that the catalog lists now.
    pub added: Vec<String>,
    /// The names, as they were given, of what was not found.
    pub unmatched: Vec<String>,
}

/// The `status` of an entry whose text changed after its summary was written.
pub const STALE: &str = "changed";

impl Catalog {
    /// Sets titles and summaries, all of them in one step under the lock; the catalog has to be
    /// there. Of several updates of one document, the last one of each field holds.
    ///
    /// When this returns, every reader sees the changes.
    ///
    /// # Errors
    ///
    /// [`CATALOG_NOT_FOUND`](crate::CATALOG_NOT_FOUND) or one of [`ERRORS`](crate::ERRORS); the catalog
    /// is then as it was.
    pub fn enrich(&self, updates: &[Update]) -> Result<Enriched, Error> {
        let file = self.existing()?;
        let folder = file.parent().unwrap_or(&file);
        let updates = updates.iter().map(|update| Resolved::new(update, folder)).collect::<Result<Vec<_>, _>>()?;
        self.change(&file, SourceType::default(), |catalog| plan(catalog, &updates))
    }
}

/// An update, with the paths that its document may be listed under.
struct Resolved<'a> {
    update: &'a Update,
    /// Every way in which the catalog may list the document's file, the likeliest first.
    paths: Vec<String>,
    /// The new entry's path as the catalog would list it.
    new: Option<String>,
}

impl<'a> Resolved<'a> {
    fn new(update: &'a Update, folder: &Path) -> Result<Self, Error> {
        let mut paths = vec![];
        if let DocumentName::Path(given) = &update.document {
            paths.push(given.replace('\\', "/").trim_start_matches("./").to_owned());
            for place in places(given, folder) {
                // A folder that is not there contains no document.
                paths.extend(relative(&place, folder));
            }
        }
        let new = update.new.as_ref().map(|entry| relative(&entry.path, folder)).transpose()?;
        Ok(Self { update, paths, new })
    }

    fn position(&self, index: &Index) -> Option<usize> {
        let by_path = || self.paths.iter().chain(&self.new).find_map(|path| index.paths.get(path));
        match &self.update.document {
            // An entry that lists the page's file without its URL, or with another one, is its entry.
            DocumentName::Url(url) => index.urls.get(url).or_else(by_path).copied(),
            // The same page under another name is not a new one.
            DocumentName::Path(_) => by_path().or_else(|| index.urls.get(&self.update.new.as_ref()?.url)).copied(),
        }
    }

    /// Whether it is about an entry that another update adds.
    fn means(&self, path: &str, entry: &Entry) -> bool {
        match &self.update.document {
            DocumentName::Url(url) => *url == entry.url,
            DocumentName::Path(_) => {
                self.new.as_deref() == Some(path) || self.update.new.as_ref().is_some_and(|new| new.url == entry.url)
            }
        }
    }

    fn fields(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let Update { title, summary, .. } = self.update;
        [("title", title), ("summary", summary)]
            .into_iter()
            .filter_map(|(name, text)| Some((name, Value::from(text.as_deref()?))))
    }
}

/// The positions of a catalog's documents in its list, by their possible names.
pub(crate) struct Index {
    pub(crate) urls: BTreeMap<String, usize>,
    pub(crate) paths: BTreeMap<String, usize>,
}

impl Index {
    /// The document that is called `name`, as the catalog spells it.
    pub(crate) fn get(&self, name: &DocumentName) -> Option<usize> {
        let index = match name {
            DocumentName::Url(_) => &self.urls,
            DocumentName::Path(_) => &self.paths,
        };
        index.get(name.as_str()).copied()
    }

    pub(crate) fn new(documents: &[Listed]) -> Self {
        let (mut urls, mut paths) = (BTreeMap::new(), BTreeMap::new());
        for (at, document) in documents.iter().enumerate() {
            for (index, name) in [(&mut urls, &document.url), (&mut paths, &document.path)] {
                // Of several with one name, the first is the one that recording updates too.
                if let Some(name) = name {
                    index.entry(name.clone()).or_insert(at);
                }
            }
        }
        Self { urls, paths }
    }
}

/// The edits for the updates, and the result of the updates.
fn plan(catalog: &Outline<'_>, updates: &[Resolved<'_>]) -> Result<(Vec<Edit>, Enriched), Corrupt> {
    let documents = read::documents(catalog)?;
    let index = Index::new(&documents);

    let mut done = Enriched::default();
    let mut changes: BTreeMap<usize, BTreeMap<&str, Value>> = BTreeMap::new();
    let mut entries: Vec<(&str, &Entry, BTreeMap<&str, Value>)> = vec![];
    for one in updates {
        if let Some(position) = one.position(&index) {
            changes.entry(position).or_default().extend(one.fields());
        } else if let Some((.., fields)) = entries.iter_mut().find(|(path, entry, _)| one.means(path, entry)) {
            fields.extend(one.fields());
        } else if let (Some(path), Some(entry)) = (&one.new, &one.update.new) {
            entries.push((path, entry, one.fields().collect()));
        } else {
            done.unmatched.push(one.update.document.as_str().to_owned());
        }
    }

    let mut edits = vec![];
    for (position, fields) in changes {
        let mut fields: Vec<(&str, Value)> = fields.into_iter().rev().collect();
        // A summary that is written now is about the text that there is.
        let stale = documents[position].status.as_deref() == Some(STALE);
        if stale && fields.iter().any(|(name, _)| *name == "summary") {
            fields.push(("status", Value::from("current")));
        }
        edits.extend(edit::update(catalog, &catalog.documents.items[position], &fields)?);
        let Listed { path, url, .. } = &documents[position];
        done.updated.push(path.as_ref().or(url.as_ref()).cloned().unwrap_or_default());
    }
    let listed = entries.into_iter().map(|(path, entry, mut fields)| {
        done.added.push(path.to_owned());
        let title = fields.remove("title").unwrap_or_else(|| entry.title.as_str().into());
        let mut members = vec![("url", Value::from(entry.url.as_str())), ("title", title), ("path", path.into())];
        members.extend(entry.more.iter().map(|(name, value)| (name.as_str(), value.clone())));
        members.extend(fields);
        edit::entry(&members)
    });
    let listed: Vec<String> = listed.collect();
    edits.extend(edit::append(&catalog.documents, &listed));
    Ok((edits, done))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CATALOG_CORRUPT, CATALOG_NOT_FOUND};
    use proptest::prelude::*;
    use serde_json::json;
    use std::fs;

    fn update(document: DocumentName, title: Option<&str>, summary: Option<&str>) -> Update {
        Update { document, title: title.map(str::to_owned), summary: summary.map(str::to_owned), new: None }
    }

    fn by_path(path: &str, summary: &str) -> Update {
        update(DocumentName::Path(path.to_owned()), None, Some(summary))
    }

    fn knowledge_base(text: &str) -> (tempfile::TempDir, Catalog) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("cache/pages")).unwrap();
        let file = folder.path().join("cache/catalog.json");
        fs::write(&file, text).unwrap();
        let catalog = Catalog::at(file).unwrap();
        (folder, catalog)
    }

    #[test]
    fn every_byte_outside_the_change_stays() {
        let text = "{ \"documents\" : [\n {\"path\": \"pages/a.md\", \"n\": 1e2 , \"title\":\"old\"},\n {\"url\": \"u\"}] , \"x\": 1.0}";
        let (_folder, catalog) = knowledge_base(text);
        let updates = [
            update(DocumentName::Path("pages/a.md".into()), Some("A"), Some("first")),
            update(DocumentName::Url("u".into()), Some("U"), None),
            update(DocumentName::Url("none".into()), Some("N"), None),
            by_path("./pages\\a.md", "second"),
        ];
        let done = catalog.enrich(&updates).unwrap();
        assert_eq!(done.updated, ["pages/a.md", "u"]);
        assert_eq!((done.added.len(), done.unmatched), (0, vec!["none".to_owned()]));
        let expected = "{ \"documents\" : [\n {\"path\": \"pages/a.md\", \"n\": 1e2 , \"title\":\"A\" , \"summary\":\"second\"},\n {\"url\": \"u\", \"title\": \"U\"}] , \"x\": 1.0}";
        let new = fs::read_to_string(catalog.file()).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&new).unwrap(), serde_json::from_str::<Value>(expected).unwrap());
        assert!(
            new.starts_with("{ \"documents\" : [\n {\"path\": \"pages/a.md\", \"n\": 1e2 , \"title\":\"A\""),
            "{new}"
        );
        assert!(new.ends_with("] , \"x\": 1.0}"), "{new}");
    }

    #[test]
    fn a_file_is_found_however_it_is_named() {
        let text = json!({"documents": [{"path": "pages/a.md"}, {"path": "../b.md"}]}).to_string();
        let (folder, catalog) = knowledge_base(&text);
        let absolute = folder.path().join("cache/pages/../pages/a.md");
        for name in ["pages/a.md", "cache/pages/a.md", absolute.to_str().unwrap()] {
            assert_eq!(catalog.enrich(&[by_path(name, "s")]).unwrap().updated, ["pages/a.md"], "{name}");
        }
        for name in ["../b.md", "b.md"] {
            assert_eq!(catalog.enrich(&[by_path(name, "s")]).unwrap().updated, ["../b.md"], "{name}");
        }
        assert_eq!(catalog.enrich(&[by_path("a.md", "s")]).unwrap().unmatched, ["a.md"]);
    }

    #[test]
    fn of_two_copies_of_a_page_one_is_added() {
        let (folder, catalog) = knowledge_base("{\"documents\": []}");
        let page = |name: &str| {
            fs::write(folder.path().join("cache/pages").join(name), "").unwrap();
            let entry = Entry::new("https://x/same", name, folder.path().join("cache/pages").join(name));
            Update { new: Some(entry), ..by_path(&format!("pages/{name}"), name) }
        };
        let by_address = update(DocumentName::Url("https://x/same".into()), Some("Same"), None);
        let done = catalog.enrich(&[page("a.md"), page("b.md"), by_address]).unwrap();
        assert_eq!((done.added, done.unmatched), (vec!["pages/a.md".to_owned()], vec![]));
        let new: Value = serde_json::from_str(&fs::read_to_string(catalog.file()).unwrap()).unwrap();
        let expected = json!({"url": "https://x/same", "title": "Same", "path": "pages/a.md", "summary": "b.md"});
        assert_eq!(new["documents"], json!([expected]));
    }

    #[test]
    fn missing_documents_are_added_once() {
        for text in ["{\n  \"documents\": []\n}\n", "{\"documents\": [{\"url\": \"u\", \"path\": \"pages/u.md\"}]}"] {
            let (folder, catalog) = knowledge_base(text);
            let new = |name: &str, summary: &str| {
                let entry = Entry::new(format!("https://x/{name}"), name, folder.path().join("cache/pages").join(name));
                Update { new: Some(entry), ..by_path(&format!("pages/{name}"), summary) }
            };
            let updates = [new("a.md", "one"), new("b.md", "two"), new("a.md", "three")];
            assert_eq!(catalog.enrich(&updates).unwrap().added, ["pages/a.md", "pages/b.md"]);
            let documents = catalog.read().unwrap().documents;
            let found: Vec<_> = documents.iter().filter_map(|one| one.summary.as_deref()).collect();
            assert_eq!(found, ["three", "two"]);
            assert_eq!(catalog.enrich(&updates).unwrap().updated, ["pages/a.md", "pages/b.md"]);
            assert_eq!(catalog.read().unwrap().documents, documents);
        }
    }

    #[test]
    fn a_page_named_by_its_url_is_found_by_its_file() {
        for (entry, changed) in [
            (json!({"path": "pages/a.md", "url": "https://x/old"}), "updated"),
            (json!({"path": "pages/a.md"}), "updated"),
            (json!({"path": "pages/b.md"}), "added"),
        ] {
            let (folder, catalog) = knowledge_base(&json!({"documents": [entry]}).to_string());
            let new = Entry::new("https://x/a", "A", folder.path().join("cache/pages/a.md"));
            let by_url = update(DocumentName::Url("https://x/a".into()), None, Some("s"));
            assert_eq!(catalog.enrich(std::slice::from_ref(&by_url)).unwrap().unmatched, ["https://x/a"]);
            let done = catalog.enrich(&[Update { new: Some(new), ..by_url }]).unwrap();
            let paths = if changed == "updated" { &done.updated } else { &done.added };
            assert_eq!(*paths, ["pages/a.md"], "{entry}");
            let documents = catalog.read().unwrap().documents;
            assert_eq!(documents.len(), if changed == "updated" { 1 } else { 2 });
            assert_eq!(documents.last().unwrap().summary.as_deref(), Some("s"));
        }
    }

    #[test]
    fn a_catalog_that_is_not_there_or_is_none_is_left() {
        let (folder, catalog) = knowledge_base("{\"documents\": [{}");
        assert!(catalog.enrich(&[by_path("a", "b")]).unwrap_err().is(CATALOG_CORRUPT));
        assert_eq!(fs::read_to_string(catalog.file()).unwrap(), "{\"documents\": [{}");
        let none = Catalog::at(folder.path().join("none/catalog.json")).unwrap();
        assert!(none.enrich(&[by_path("a", "b")]).unwrap_err().is(CATALOG_NOT_FOUND));
        assert!(!folder.path().join("none").exists());
    }

    #[test]
    fn members_that_nobody_asks_for_stay_as_they_are() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        let text = format!("{{\"x\": \"\\ud800\", \"documents\": [{{\"url\": \"u\", \"z\": {deep}}}]}}");
        let (_folder, catalog) = knowledge_base(&text);
        catalog.enrich(&[update(DocumentName::Url("u".into()), Some("T"), None)]).unwrap();
        let expected = text.replace("]}]}", "], \"title\": \"T\"}]}");
        assert_eq!(fs::read_to_string(catalog.file()).unwrap(), expected);
    }

    proptest! {
        #[test]
        fn only_what_is_named_changes(
            documents in proptest::collection::vec((".{0,6}", proptest::option::of(".{0,6}"), "[ \n\t]{0,3}"), 0..5),
            picks in proptest::collection::vec((0..6_usize, ".{0,8}"), 0..5),
        ) {
            let listed: Vec<String> = documents.iter().enumerate().map(|(n, (title, summary, gap))| {
                let mut one = json!({"path": format!("p{n}"), "title": title, "k": [1, {"path": "p0"}]});
                if let Some(summary) = summary {
                    one["summary"] = summary.as_str().into();
                }
                format!("{gap}{one}{gap}")
            }).collect();
            let text = format!("{{\"documents\": [{}]}}", listed.join(","));
            let updates: Vec<Update> = picks.iter().map(|(n, summary)| by_path(&format!("p{n}"), summary)).collect();
            let resolved: Vec<Resolved<'_>> =
                updates.iter().map(|update| Resolved { update, paths: vec![update.document.as_str().into()], new: None }).collect();
            let (edits, done) = plan(&Outline::parse(text.as_bytes()).unwrap(), &resolved).unwrap();
            let mut expected: Value = serde_json::from_str(&text).unwrap();
            for (n, summary) in &picks {
                if *n < documents.len() {
                    expected["documents"][*n]["summary"] = summary.as_str().into();
                }
            }
            let new: Value = serde_json::from_str(&edit::applied(&text, &edits)).unwrap();
            prop_assert_eq!(new, expected);
            prop_assert_eq!(done.unmatched.len(), picks.iter().filter(|(n, _)| *n >= documents.len()).count());
        }
    }
}
