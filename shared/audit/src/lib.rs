//! The audit of a knowledge base: reads the catalog and all its documents, and returns findings, each with advice.
//!
//! The audit changes nothing.

mod document;
mod finding;
mod unlisted;

use std::{
    collections::{BTreeMap, btree_map::Entry},
    path::PathBuf,
};

use ragmaker_catalog::{Catalog, Contents, Listed};

pub use finding::{Finding, FindingKind};

/// The result of an audit.
#[derive(Debug, Default)]
pub struct Audit {
    /// Problems of the knowledge base, then of each document in the catalog's order, then of files that the
    /// catalog does not list.
    pub findings: Vec<Finding>,
    /// Possible problems, and missing optional information.
    pub advice: Vec<Finding>,
}

/// Reads every document of `contents`, the content of `catalog`, and checks it.
pub fn audit(catalog: &Catalog, contents: &Contents) -> Audit {
    let mut audit = Audit::default();
    let Audit { findings, advice } = &mut audit;
    if contents.documents.is_empty() {
        findings.push(Finding::new(FindingKind::NoDocuments, "the catalog lists no document"));
    }
    if contents.header.title.is_none() {
        findings.push(Finding::new(FindingKind::TitleMissing, "the knowledge base has no title"));
    }
    if contents.header.summary.is_none() {
        advice.push(Finding::new(FindingKind::SummaryMissing, "the knowledge base has no summary"));
    }
    // The catalog was read a moment ago. If it was removed meanwhile, the next run reports that.
    let (Some(root), Some(folder)) = (catalog.root(), catalog.folder()) else { return audit };
    let mut unique = Unique::default();
    for document in &contents.documents {
        let checked = document::check(document, &folder, &root, findings);
        let mut found = |kind, message: &str, other: &str| {
            let finding = Finding::new(kind, format!("{message}: {other}"));
            findings.push(finding.at(document.path.as_deref(), document.url.as_deref()));
        };
        if let Some(other) = document.url.as_ref().and_then(|url| unique.urls.insert(url.clone(), document)) {
            found(FindingKind::DuplicateUrl, "another entry has this url", other);
        }
        let mut advise = |kind, message: String| {
            advice.push(Finding::new(kind, message).at(document.path.as_deref(), document.url.as_deref()));
        };
        if document.summary.is_none() {
            advise(FindingKind::DocumentSummaryMissing, "the catalog has no summary for the document".into());
        }
        let Some(checked) = checked else { continue };
        if checked.has_headings_only {
            advise(FindingKind::DoubtfulContent, "the document has no text except its headings".into());
        } else if let Some(confidence) = checked.confidence.filter(|&confidence| confidence < DOUBTFUL) {
            advise(
                FindingKind::DoubtfulContent,
                format!("the extraction chose this content with a confidence of {confidence}"),
            );
        }
        if let Some(other) = unique.files.insert(checked.file, document) {
            found(FindingKind::DuplicatePath, "another entry has this file", other);
        } else if let Some(other) = unique.texts.insert(checked.hash, document) {
            found(FindingKind::DuplicateContent, "another document has the same text", other);
        }
    }
    // Possible problems precede missing information.
    advice.sort_by_key(|finding| finding.kind != FindingKind::DoubtfulContent);
    findings.extend(unlisted::find(catalog, &folder, &catalog.listed_files(contents)));
    audit
}

/// Below this confidence, the F1 of the extracted text is more likely below 0.9 than above.
const DOUBTFUL: f64 = 0.5;

/// The keys that no two documents may share.
#[derive(Default)]
struct Unique<'a> {
    urls: Owners<'a, String>,
    files: Owners<'a, PathBuf>,
    texts: Owners<'a, [u8; 32]>,
}

/// The first document with each key.
struct Owners<'a, K>(BTreeMap<K, &'a Listed>);

impl<K> Default for Owners<'_, K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<'a, K: Ord> Owners<'a, K> {
    /// Makes `document` the owner of `key`. If the key has an owner already, that one stays and its name is
    /// returned.
    fn insert(&mut self, key: K, document: &'a Listed) -> Option<&'a str> {
        match self.0.entry(key) {
            Entry::Vacant(vacant) => {
                vacant.insert(document);
                None
            }
            Entry::Occupied(owner) => {
                let owner = *owner.get();
                Some(owner.path.as_deref().or(owner.url.as_deref()).unwrap_or_default())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn entries_that_share_an_address_a_file_or_a_text_are_found_and_the_first_one_is_named() {
        let temp = tempfile::tempdir().unwrap();
        let text = |url: &str, body: &str| format!("---\nsource_url: {url}\nconfidence: 0.3\n---\n\n{body}\n");
        for (file, body) in [("a.md", "One."), ("b.md", "Two."), ("c.md", "One."), ("orphan.md", "Three.")] {
            fs::write(temp.path().join(file), text("u", body)).unwrap();
        }
        let file = temp.path().join("catalog.json");
        fs::write(&file, "{\"documents\": []}").unwrap();
        let catalog = Catalog::at(file).unwrap();
        let listed = |url: &str, path: &str| Listed {
            url: Some(url.to_owned()),
            path: Some(path.to_owned()),
            title: Some("A".to_owned()),
            ..Listed::default()
        };
        let documents = vec![listed("u", "a.md"), listed("u", "b.md"), listed("v", "./a.md"), listed("w", "c.md")];
        let contents = Contents { documents, ..catalog.read().unwrap() };
        let Audit { findings, advice } = audit(&catalog, &contents);
        let shared = findings.iter().filter(|finding| finding.message.starts_with("another"));
        let shared: Vec<_> = shared
            .map(|one| (one.kind, one.path.as_deref().unwrap(), one.message.rsplit(' ').next().unwrap()))
            .collect();
        let expected = [
            (FindingKind::DuplicateUrl, "b.md", "a.md"),
            (FindingKind::DuplicatePath, "./a.md", "a.md"),
            (FindingKind::DuplicateContent, "c.md", "a.md"),
        ];
        assert_eq!(shared, expected);
        let orphans = findings.iter().filter(|one| one.kind == FindingKind::Orphan);
        assert_eq!(orphans.map(|one| one.path.as_deref()).collect::<Vec<_>>(), [Some("orphan.md")]);
        assert_eq!((findings[0].kind, advice[0].kind), (FindingKind::TitleMissing, FindingKind::DoubtfulContent));
        assert_eq!(audit(&catalog, &catalog.read().unwrap()).findings[0].kind, FindingKind::NoDocuments);
    }
}
