//! Many changes of a catalog in one step: entries are added, changed and removed.
//!
//! Each change reads, checks and writes the whole file. A run over thousands of documents therefore collects its
//! changes and applies them every few seconds.

use std::collections::{BTreeMap, BTreeSet};

use ragmaker_tool::Error;
use serde_json::{Map, Value};

use crate::{
    Catalog, DocumentName, Entry, SourceType,
    edit::{self, Edit},
    enrich::Index,
    file,
    location::relative,
    outline::{Corrupt, DocumentSpans, Outline},
    read,
};

/// A change of one document's entry.
#[derive(Clone, Debug)]
pub enum Change {
    /// Lists a document, or updates its entry: the one that is named, else the one with its URL.
    Record {
        /// The document.
        entry: Entry,
        /// The entry that is replaced, by its path or URL as the catalog spells it.
        replaces: Option<DocumentName>,
    },
    /// Sets fields of an entry.
    Set {
        /// The entry, by its path or URL as the catalog spells it.
        document: DocumentName,
        /// The fields.
        fields: Map<String, Value>,
    },
    /// Takes an entry out of the catalog; its file stays.
    Remove(DocumentName),
}

impl Catalog {
    /// Applies `changes` in their order, in one step under the lock. Creates the catalog if it does not exist. A change
    /// of an entry that is not listed has no effect. Without changes, nothing is written.
    ///
    /// # Errors
    ///
    /// As for [`Catalog::record`]; the catalog is then as it was.
    pub fn apply(&self, changes: &[Change]) -> Result<(), Error> {
        if changes.is_empty() {
            return Ok(());
        }
        let file = file::resolve(&self.file)?;
        let folder = file.parent().unwrap_or(&file);
        let mut resolved = vec![];
        for change in changes {
            let path = match change {
                Change::Record { entry, .. } => Some(relative(&entry.path, folder)?),
                Change::Set { .. } | Change::Remove(_) => None,
            };
            resolved.push((change, path));
        }
        let first = changes.iter().find_map(|change| match change {
            Change::Record { entry, .. } => Some(SourceType::of(&entry.more)),
            Change::Set { .. } | Change::Remove(_) => None,
        });
        self.change(&file, first.unwrap_or_default(), |catalog| Ok((plan(catalog, &resolved)?, ())))
    }
}

/// The fields that entries are to have, by their place in the list; the last of each name holds.
type Fields = Vec<(String, Value)>;

fn plan(catalog: &Outline<'_>, changes: &[(&Change, Option<String>)]) -> Result<Vec<Edit>, Corrupt> {
    let documents = read::documents(catalog)?;
    let mut index = Index::new(&documents);
    let own = documents.len();
    let (mut fields, mut removed): (BTreeMap<usize, Fields>, BTreeSet<usize>) = Default::default();
    let mut count = own;
    for (change, path) in changes {
        match change {
            Change::Record { entry, replaces } => {
                let named = replaces.as_ref().and_then(|name| index.get(name));
                let at = named.or_else(|| index.urls.get(&entry.url).copied()).filter(|at| !removed.contains(at));
                let at = at.unwrap_or_else(|| {
                    count += 1;
                    count - 1
                });
                let path = path.clone().unwrap_or_default();
                index.urls.insert(entry.url.clone(), at);
                index.paths.insert(path.clone(), at);
                let known = [("url", entry.url.clone()), ("title", entry.title.clone()), ("path", path)];
                let known = known.map(|(name, text)| (name.to_owned(), Value::from(text)));
                let more = entry.more.iter().filter(|(name, _)| known.iter().all(|(own, _)| own != *name));
                let more: Vec<_> = more.map(|(name, value)| (name.clone(), value.clone())).collect();
                set(fields.entry(at).or_default(), known.into_iter().chain(more));
            }
            Change::Set { document, fields: given } => {
                if let Some(at) = index.get(document).filter(|at| !removed.contains(at)) {
                    set(fields.entry(at).or_default(), given.clone());
                }
            }
            Change::Remove(document) => {
                if let Some(at) = index.get(document) {
                    removed.insert(at);
                    fields.remove(&at);
                }
            }
        }
    }
    let mut edits = vec![];
    for (at, fields) in fields.range(..own) {
        edits.extend(edit::update(catalog, &catalog.documents.items[*at], &spelled(fields))?);
    }
    let added: Vec<String> = fields.range(own..).map(|(_, fields)| edit::entry(&spelled(fields))).collect();
    edits.extend(restructured(&catalog.documents, &removed, &added));
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    Ok(edits)
}

fn spelled(fields: &Fields) -> Vec<(&str, Value)> {
    fields.iter().map(|(name, value)| (name.as_str(), value.clone())).collect()
}

fn set(fields: &mut Fields, given: impl IntoIterator<Item = (String, Value)>) {
    for (name, value) in given {
        match fields.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => fields.push((name, value)),
        }
    }
}

/// The edits that take the documents at `removed` out of the list and put `added` at its end.
fn restructured(documents: &DocumentSpans<'_>, removed: &BTreeSet<usize>, added: &[String]) -> Vec<Edit> {
    let items = &documents.items;
    let removed: Vec<usize> = removed.iter().copied().filter(|at| *at < items.len()).collect();
    if removed.len() == items.len() && !items.is_empty() {
        let new = added.join(&format!(",{}", documents.gap));
        return vec![Edit { range: items[0].range.start..documents.end, new }];
    }
    let mut edits = vec![];
    for run in removed.chunk_by(|a, b| a + 1 == *b) {
        let (first, last) = (run[0], run[run.len() - 1]);
        // With the comma before it, or, of the first ones, the one after.
        let range = match first.checked_sub(1) {
            Some(before) => items[before].range.end..items[last].range.end,
            None => items[first].range.start..items[last + 1].range.start,
        };
        edits.push(Edit { range, new: String::new() });
    }
    edits.extend(edit::append(documents, added));
    edits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;
    use std::{fs, path::Path};

    fn catalog(folder: &Path, text: &str) -> Catalog {
        fs::write(folder.join("catalog.json"), text).unwrap();
        Catalog::at(folder.join("catalog.json")).unwrap()
    }

    fn url(name: &str) -> DocumentName {
        DocumentName::Url(name.to_owned())
    }

    #[test]
    fn entries_are_recorded_changed_and_removed_in_one_step() {
        let folder = tempfile::tempdir().unwrap();
        let text = "{\n \"x\": 1.0,\n \"documents\": [\n  {\"url\": \"a\", \"n\": 1e2},\n  {\"url\": \"b\", \"path\": \"b.md\", \"summary\": \"s\"},\n  {\"url\": \"c\"}\n ]\n}\n";
        let catalog = catalog(folder.path(), text);
        let entry = |url: &str, file: &str| Entry::new(url, "T", folder.path().join(file));
        let fields = Map::from_iter([("status".to_owned(), json!("changed"))]);
        catalog
            .apply(&[
                Change::Remove(url("a")),
                Change::Record { entry: entry("b2", "b2.md"), replaces: Some(DocumentName::Path("b.md".into())) },
                Change::Set { document: url("b2"), fields },
                Change::Remove(url("c")),
                Change::Record { entry: entry("d", "d.md"), replaces: None },
                Change::Remove(url("nowhere")),
            ])
            .unwrap();
        assert_eq!(
            fs::read_to_string(catalog.file()).unwrap(),
            "{\n \"x\": 1.0,\n \"documents\": [\n  {\"url\": \"b2\", \"path\": \"b2.md\", \"summary\": \"s\", \"title\": \"T\", \"status\": \"changed\"},\n  {\"url\": \"d\", \"title\": \"T\", \"path\": \"d.md\"}\n ]\n}\n"
        );
    }

    #[test]
    fn nothing_is_written_where_nothing_changes() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::at(folder.path().join("catalog.json")).unwrap();
        catalog.apply(&[]).unwrap();
        assert!(!catalog.file().exists());
    }

    #[test]
    fn sources_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::at(folder.path().join("catalog.json")).unwrap();
        let source = crate::DocumentSource::Git {
            repository: "https://x.example/r".into(),
            reference: None,
            commit: "c".into(),
            path: "docs/a.md".into(),
            blob: "b".into(),
        };
        let entry = Entry::new("u", "T", folder.path().join("a.md")).with("source", source.to_json());
        catalog.apply(&[Change::Record { entry, replaces: None }]).unwrap();
        assert_eq!(catalog.read().unwrap().documents[0].source, Some(source));
        let odd = "{\"documents\": [{\"url\": \"u\", \"source\": {\"kind\": \"carrier pigeon\"}}, {\"source\": 7}]}";
        fs::write(catalog.file(), odd).unwrap();
        assert!(catalog.read().unwrap().documents.iter().all(|listed| listed.source.is_none()));
    }

    proptest! {
        #[test]
        fn any_removal_leaves_the_others_as_they_are(
            count in 0_usize..6,
            removed in proptest::collection::btree_set(0_usize..6, 0..6),
            added in 0_usize..3,
            gap in "[ \n]{0,2}",
        ) {
            let folder = tempfile::tempdir().unwrap();
            let listed: Vec<String> = (0..count).map(|n| format!("{{\"url\": \"{n}\", \"n\": {n}.0}}")).collect();
            let text = format!("{{\"documents\": [{gap}{}{gap}]}}", listed.join(&format!(",{gap}")));
            let catalog = catalog(folder.path(), &text);
            let mut changes: Vec<Change> = removed.iter().map(|n| Change::Remove(url(&n.to_string()))).collect();
            for n in 0..added {
                let entry = Entry::new(format!("new{n}"), "T", folder.path().join(format!("{n}.md")));
                changes.push(Change::Record { entry, replaces: None });
            }
            catalog.apply(&changes).unwrap();
            let new = fs::read_to_string(catalog.file()).unwrap();
            let value: Value = serde_json::from_str(&new).unwrap();
            let urls: Vec<&str> = value["documents"].as_array().unwrap().iter().filter_map(|one| one["url"].as_str()).collect();
            let kept = (0..count).filter(|n| !removed.contains(n)).map(|n| n.to_string());
            let expected: Vec<String> = kept.clone().chain((0..added).map(|n| format!("new{n}"))).collect();
            prop_assert_eq!(urls, expected);
            for n in kept {
                let spelled = format!("{{\"url\": \"{n}\", \"n\": {n}.0}}");
                prop_assert!(new.contains(&spelled));
            }
        }
    }
}
