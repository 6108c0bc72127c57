//! What the demo has to leave behind: a catalog, and a document with front matter for every entry.

use std::{fs, path::Path};

use anyhow::{Context, ensure};
use serde_json::Value;

/// Checks the knowledge base whose catalog is at `catalog` in `folder`, and returns how many
/// documents it has.
pub(super) fn check(folder: &Path, catalog: &str) -> anyhow::Result<usize> {
    let path = folder.join(catalog);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let catalog: Value = serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))?;
    for field in ["title", "summary", "source_url", "src_type"] {
        ensure!(catalog[field].as_str().is_some_and(|text| !text.is_empty()), "{} has no {field}", path.display());
    }
    let documents = catalog["documents"].as_array().with_context(|| format!("{} has no documents", path.display()))?;
    for entry in documents {
        let file = entry["path"].as_str().with_context(|| format!("{entry} has no path"))?;
        let file = path.with_file_name("").join(file);
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let front = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
        let (front, body) = front.with_context(|| format!("{} does not begin with front matter", file.display()))?;
        let url = entry["url"].as_str().with_context(|| format!("{entry} has no url"))?;
        let named = front.lines().any(|line| line.starts_with("source_url:") && line.contains(url));
        ensure!(named, "the front matter of {} does not name {url}", file.display());
        ensure!(!body.trim().is_empty(), "{} has no text", file.display());
    }
    Ok(documents.len())
}
