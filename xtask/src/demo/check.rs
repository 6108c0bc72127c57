//! Checks the result of the demo: a catalog with a complete header, and for each entry a document with front matter and
//! text.

use std::{fs, path::Path};

use anyhow::{Context, ensure};
use ragmaker_tests::site::Site;
use serde_json::Value;

/// One document, as the catalog and its file have it.
pub(super) struct Document {
    url: String,
    body: String,
}

/// The required content of pages of the sample site, by the end of their address: text that a script renders, Japanese,
/// code with its language, a table.
const SAMPLE: [(&str, &str); 4] = [
    ("/wiki/stations", "Amber Harbour"),
    ("/wiki/ja/introduction", "これからの潮位"),
    ("/wiki/ja/introduction", "```sh"),
    ("/wiki/configuration", "\n| "),
];

/// Every document of the knowledge base whose catalog is at `catalog` in `folder`.
pub(super) fn documents(folder: &Path, catalog: &str) -> anyhow::Result<Vec<Document>> {
    let path = folder.join(catalog);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let catalog: Value = serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))?;
    for field in ["title", "summary", "source_url", "src_type"] {
        ensure!(catalog[field].as_str().is_some_and(|text| !text.is_empty()), "{} has no {field}", path.display());
    }
    let entries = catalog["documents"].as_array().with_context(|| format!("{} has no documents", path.display()))?;
    let beside = path.parent().unwrap_or(folder);
    entries.iter().map(|entry| document(beside, entry)).collect()
}

/// The document of a catalog's `entry`, whose path is relative to the folder `beside`.
fn document(beside: &Path, entry: &Value) -> anyhow::Result<Document> {
    let field = |name: &str| entry[name].as_str().with_context(|| format!("{entry} has no {name}"));
    let (url, file) = (field("url")?, beside.join(field("path")?));
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let parts = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    let (front, body) = parts.with_context(|| format!("{} does not begin with front matter", file.display()))?;
    let named = front.lines().any(|line| line.starts_with("source_url:") && line.contains(url));
    ensure!(named, "the front matter of {} does not name {url}", file.display());
    ensure!(!body.trim().is_empty(), "{} has no text", file.display());
    Ok(Document { url: url.to_owned(), body: body.to_owned() })
}

/// Checks that the parts of the sample site that are hard to convert were saved.
pub(super) fn sample(documents: &[Document], site: &Site) -> anyhow::Result<()> {
    for (path, expected) in SAMPLE {
        let url = site.url(path);
        let document = documents.iter().find(|document| document.url == url);
        let document = document.with_context(|| format!("{url} is not in the knowledge base"))?;
        ensure!(document.body.contains(expected), "the document of {url} does not have {expected:?}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_knowledge_base_with_a_flaw_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let catalog = |path: &str| {
            let entry = serde_json::json!({"url": "http://e.org/a", "title": "A", "path": path});
            serde_json::json!({"title": "t", "summary": "s", "source_url": "u", "src_type": "web", "documents": [entry]})
        };
        let refusal = || documents(folder.path(), "catalog.json").err().unwrap().to_string();

        assert!(refusal().starts_with("cannot read"));
        write("catalog.json", &catalog("a.md").to_string());
        assert!(refusal().ends_with("a.md"), "{}", refusal());
        for (text, flaw) in [
            ("# A\n", "does not begin with front matter"),
            ("---\nsource_url: http://e.org/b\n---\n# B\n", "does not name http://e.org/a"),
            ("---\nsource_url: http://e.org/a\n---\n\n", "has no text"),
        ] {
            write("a.md", text);
            assert!(refusal().contains(flaw), "{}", refusal());
        }
        write("a.md", "---\nsource_url: \"http://e.org/a\"\n---\n# A\n");
        assert_eq!(documents(folder.path(), "catalog.json").unwrap()[0].body, "# A\n");
        write("catalog.json", &catalog("a.md").to_string().replace("\"s\"", "\"\""));
        assert!(refusal().contains("has no summary"), "{}", refusal());
    }
}
