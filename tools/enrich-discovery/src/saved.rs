//! Saved pages that the catalog does not list, or not under the URL of their front matter.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::Read,
    path::Path,
};

use ragmaker_address::canonical;
use ragmaker_catalog::{Catalog, DocumentName, Entry, Update};
use ragmaker_tool::Error;
use url::Url;

/// The number of bytes of a file that are read for its front matter.
const HEAD: u64 = 1 << 20;

/// Adds the new catalog entry to each update of a document that the catalog may not have, if there is a saved page: the
/// file at the given path, or the file whose front matter has the given URL. A URL in another spelling than the listed one
/// is replaced by the listed one.
pub(crate) fn find(catalog: &Catalog, updates: &mut [Update]) -> Result<(), Error> {
    for update in &mut *updates {
        if let DocumentName::Path(path) = &update.document {
            update.new = catalog.find(path).and_then(|file| entry(&file)).map(|(_, new)| new);
        }
    }
    if updates.iter().all(|update| matches!(update.document, DocumentName::Path(_))) {
        return Ok(());
    }
    let contents = catalog.read()?;
    let listed: BTreeSet<&str> = contents.documents.iter().filter_map(|document| document.url.as_deref()).collect();
    let mut unlisted: Vec<_> = updates.iter_mut().filter_map(|update| with_unlisted_url(update, &listed)).collect();
    // Comparing all pages takes its time: only where a URL is not in the catalog.
    if unlisted.is_empty() {
        return Ok(());
    }
    let spelled: BTreeMap<String, &str> = listed.iter().map(|url| (page(url), *url)).collect();
    unlisted.retain_mut(|(url, _)| match spelled.get(&page(url)) {
        Some(listed) => {
            **url = (*listed).to_owned();
            false
        }
        None => true,
    });
    if unlisted.is_empty() {
        return Ok(());
    }
    let wanted: BTreeSet<String> = unlisted.iter().map(|(url, _)| page(url)).collect();
    let mut saved = BTreeMap::new();
    for file in catalog.files(&catalog.listed_files(&contents)) {
        if !file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md")) {
            continue;
        }
        if let Some((url, entry)) = entry(&file).filter(|(url, _)| wanted.contains(&page(url))) {
            saved.entry(page(&url)).or_insert((url, entry));
        }
    }
    for (url, new) in unlisted {
        if let Some((own, entry)) = saved.get(&page(url)) {
            url.clone_from(own);
            *new = Some(entry.clone());
        }
    }
    Ok(())
}

/// The URL that names the document of `update`, and its new entry, if the URL is not `listed`.
fn with_unlisted_url<'a>(
    update: &'a mut Update,
    listed: &BTreeSet<&str>,
) -> Option<(&'a mut String, &'a mut Option<Entry>)> {
    match &mut update.document {
        DocumentName::Url(url) if !listed.contains(url.as_str()) => Some((url, &mut update.new)),
        _ => None,
    }
}

/// The address that identifies the page at `url`, or `url` itself if it is none.
fn page(url: &str) -> String {
    Url::parse(url).map_or_else(|_| url.to_owned(), |url| canonical(&url))
}

/// The URL and the entry of the saved page in `file`; `None` if its front matter has no URL.
fn entry(file: &Path) -> Option<(String, Entry)> {
    let mut bytes = vec![];
    File::open(file).ok()?.take(HEAD).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let parsed = ragmaker_document::parse(&text).ok()?;
    let url = parsed.field("source_url")?;
    let entry = Entry::new(url, parsed.field("title").unwrap_or_default(), file);
    let entry = match parsed.field("fetched_at") {
        Some(fetched_at) => entry.with("fetched_at", fetched_at),
        None => entry,
    };
    Some((url.to_owned(), entry))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn pages_are_found_by_path_and_by_the_url_of_their_front_matter() {
        let folder = tempfile::tempdir().unwrap();
        let documents = folder.path().join("cache/documents");
        fs::create_dir_all(&documents).unwrap();
        for name in ["a", "b"] {
            let text = format!("---\nsource_url: \"https://x/{name}\"\n---\n");
            fs::write(documents.join(format!("{name}.md")), text).unwrap();
        }
        fs::write(documents.join("c.txt"), "---\nsource_url: \"https://x/c\"\n---\n").unwrap();
        fs::write(folder.path().join("cache/catalog.json"), "{\"documents\": [{\"url\": \"https://x/b\"}]}").unwrap();
        let catalog = Catalog::at(folder.path().join("cache/catalog.json")).unwrap();
        let names = [
            (DocumentName::Url("https://x/a".into()), true),
            (DocumentName::Path("documents/a.md".into()), true),
            // It is listed, so no file is looked for.
            (DocumentName::Url("https://x/b".into()), false),
            (DocumentName::Url("https://X:443/a#part".into()), true),
            (DocumentName::Url("https://x/c".into()), false),
            (DocumentName::Path("documents/d.md".into()), false),
        ];
        let update = |document: &DocumentName| Update {
            document: document.clone(),
            title: None,
            summary: Some("s".into()),
            new: None,
        };
        let mut updates: Vec<Update> = names.iter().map(|(name, _)| update(name)).collect();
        find(&catalog, &mut updates).unwrap();
        for (update, (_, found)) in updates.iter().zip(&names) {
            assert_eq!(update.new.is_some(), *found, "{:?}", update.document);
        }
        let mut other = [update(&DocumentName::Url("https://X:443/b#part".into()))];
        find(&catalog, &mut other).unwrap();
        assert_eq!(other[0].document, DocumentName::Url("https://x/b".into()));
    }
}
