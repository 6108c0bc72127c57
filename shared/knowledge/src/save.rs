//! Saving a document: the file, its title and front matter, and its catalog entry.

use std::{
    io,
    path::{Path, PathBuf},
};

use ragmaker_catalog::{Catalog, DocumentSource, Entry, RecordOutcome};
use ragmaker_document::{DocumentFile, DocumentText, OUTPUT_DIR_NOT_WRITABLE};
use ragmaker_markdown::{Document, Metadata};
use ragmaker_tool::{Code, Error};
use sha2::{Digest, Sha256};
use url::Url;

use crate::{EMPTY_CONTENT, Fetched};

/// The codes of a tool that saves text, beside those of the catalog: [`ragmaker_catalog::ERRORS`].
pub const ERRORS: &[Code] = &[EMPTY_CONTENT, OUTPUT_DIR_NOT_WRITABLE];

/// The folder of documents beside a catalog.
const DOCUMENTS: &str = "documents";

/// The maximum length in characters of a title that is made of an address.
const MAX_TITLE: usize = 500;

/// The destination of saved documents.
#[derive(Clone, Debug)]
pub struct Destination<'a> {
    /// The folder of the file, which is created if necessary.
    pub folder: PathBuf,
    /// The catalog that lists the file, if any.
    pub catalog: Option<&'a Catalog>,
}

impl<'a> Destination<'a> {
    /// The folder `documents` beside `catalog`, which lists what is saved.
    pub fn of_catalog(catalog: &'a Catalog) -> Self {
        Self { folder: catalog.file().with_file_name(DOCUMENTS), catalog: Some(catalog) }
    }
}

/// A document that was saved.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    /// The absolute path of the file.
    pub file: PathBuf,
    /// Whether the catalog entry is new; `None` without a catalog.
    pub entry: Option<RecordOutcome>,
    /// The title of the file and of the entry.
    pub title: String,
    /// The number of words; each CJK character counts as one.
    pub words: usize,
    /// The confidence of the extraction, as in [`Metadata::confidence`].
    pub confidence: Option<f64>,
}

/// Converts the fetched body, writes the file and records it in the catalog.
///
/// The same address always has the same file and the same entry, so fetching it again replaces them. The file is
/// written completely or not at all. A file of this name that is not a document of the address is not replaced: the
/// document gets a similar name.
///
/// # Errors
///
/// Those of [`Fetched::convert`], [`ERRORS`] and [`ragmaker_catalog::ERRORS`]. Where only the catalog fails, the file
/// is there, and the error's detail `file_path` says where.
pub fn save(fetched: &Fetched<'_>, destination: &Destination<'_>) -> Result<Saved, Error> {
    save_converted(fetched.convert()?, fetched.url, fetched.fetched_at, fetched.source, destination)
}

/// Writes and records a `document` that is converted already, as [`save`] does.
///
/// # Errors
///
/// As for [`save`].
pub fn save_converted(
    mut document: Document,
    url: &str,
    fetched_at: &str,
    source: Option<&DocumentSource>,
    destination: &Destination<'_>,
) -> Result<Saved, Error> {
    if DocumentText::of(&document.markdown) == DocumentText::Missing {
        return Err(EMPTY_CONTENT.error(format!("the document has no text: {url}")).detail("url", url));
    }
    document.metadata.title = title_of(&document, url);
    let file = std::path::absolute(&destination.folder).unwrap_or_else(|_| destination.folder.clone());
    let file = file_for(url, &file, destination.catalog);
    write(&document, url, fetched_at, &file)?;
    let record = |catalog: &Catalog| {
        let entry = entry(&document, url, fetched_at, source, &file);
        catalog.record(&entry).map_err(|error| error.detail("file_path", file.to_string_lossy()))
    };
    let entry = destination.catalog.map(record).transpose()?;
    let Document { metadata: Metadata { title, confidence, .. }, words, .. } = document;
    Ok(Saved { file, entry, title, words, confidence })
}

/// The file in `folder` for the document at `url`, whether it is new or not.
fn file_for(url: &str, folder: &Path, catalog: Option<&Catalog>) -> PathBuf {
    let name = ragmaker_document::file_name(url);
    let usual = folder.join(&name);
    if is_free(&usual, url) {
        return usual;
    }
    // Only the catalog says that a file whose front matter was changed is this document.
    let listed = catalog.and_then(|catalog| {
        let documents = catalog.read().ok()?.documents;
        let listed = documents.into_iter().find(|listed| listed.url.as_deref() == Some(url))?;
        catalog.find(listed.path.as_deref()?)
    });
    let is_here = |file: &PathBuf| ragmaker_fs::canonicalize(folder).is_ok_and(|folder| file.parent() == Some(&folder));
    listed.filter(is_here).unwrap_or_else(|| new_file(folder, &name, url, |_| false))
}

/// The file in `folder` for a new document at `url`, with the file name `name` or a similar one. It does not exist, or
/// is a document of this address that was not recorded, such as by a killed run. Files that `is_taken` are left out.
pub fn new_file(folder: &Path, name: &str, url: &str, is_taken: impl Fn(&Path) -> bool) -> PathBuf {
    let stem = name.strip_suffix(".md").unwrap_or(name);
    let names = std::iter::once(name.to_owned()).chain((2_u64..).map(|number| format!("{stem}-{number}.md")));
    let mut paths = names.map(|name| folder.join(name));
    paths.find(|path| !is_taken(path) && is_free(path, url)).unwrap_or_else(|| folder.join(name))
}

/// Whether writing the document at `url` to `path` replaces nothing else. If this is unknown, writing fails.
fn is_free(path: &Path, url: &str) -> bool {
    match path.symlink_metadata() {
        Ok(found) => found.is_file() && ragmaker_document::source_url_of(path).is_some_and(|source| source == url),
        Err(_) => true,
    }
}

/// Writes `document`, whose title is that of [`title_of`], to `file`.
///
/// # Errors
///
/// [`OUTPUT_DIR_NOT_WRITABLE`].
pub fn write(document: &Document, url: &str, fetched_at: &str, file: &Path) -> Result<(), Error> {
    let confidence = document.metadata.confidence.map(|confidence| confidence.to_string());
    let front_matter = front_matter(&document.metadata, confidence.as_ref());
    let Document { metadata: Metadata { title, .. }, markdown, .. } = document;
    DocumentFile { source_url: url, title, fetched_at, fields: &front_matter, markdown }.save_as(file)
}

/// The catalog entry for a document that [`write()`] wrote.
pub fn entry(document: &Document, url: &str, fetched_at: &str, source: Option<&DocumentSource>, file: &Path) -> Entry {
    let title = &document.metadata.title;
    let entry = Entry::new(url, title, file)
        .with("fetched_at", fetched_at)
        .with("content_hash", content_hash(title, &document.markdown));
    match source {
        Some(source) => entry.with("checked_at", fetched_at).with("source", source.to_json()),
        None => entry,
    }
}

/// The title that `document` of the page at `url` is saved with.
pub fn title_of(document: &Document, url: &str) -> String {
    let title: String = document.metadata.title.chars().filter(|c| ragmaker_document::is_text(*c)).collect();
    if title.trim().is_empty() { last_segment(url) } else { title }
}

/// The hash that detects changes of a document: the SHA-256 of its title and content in hexadecimal.
///
/// Leading and trailing white space is ignored, so the text of a saved file has the same hash as the text before
/// saving.
pub fn content_hash(title: &str, markdown: &str) -> String {
    let text = Sha256::new().chain_update(title).chain_update("\n").chain_update(markdown.trim());
    format!("{:x}", text.finalize())
}

/// The SHA-256 of `bytes`, in hexadecimal.
pub fn bytes_hash(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// The SHA-256 of the bytes of a file, in hexadecimal.
///
/// # Errors
///
/// An I/O error if `source` cannot be read.
pub fn file_hash(source: &ragmaker_text::ByteSource) -> io::Result<String> {
    let (mut hash, mut block, mut at) = (Sha256::new(), vec![0; 64 << 10], 0);
    loop {
        let read = source.read_at(at, &mut block)?;
        if read == 0 {
            return Ok(format!("{:x}", hash.finalize()));
        }
        hash.update(&block[..read]);
        at += read as u64;
    }
}

/// The front matter of a document, without address, title and time.
fn front_matter<'a>(metadata: &'a Metadata, confidence: Option<&'a String>) -> Vec<(&'static str, &'a str)> {
    let known = [
        ("author", metadata.author.as_ref()),
        ("published", metadata.published.as_ref()),
        ("site_name", metadata.site_name.as_ref()),
        ("lang", metadata.lang.as_ref()),
        ("confidence", confidence),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name, value?.as_str()))).collect()
}

/// The title of a page without a title: the last part of its address.
fn last_segment(url: &str) -> String {
    let url = Url::parse(url).ok();
    let segment = url.as_ref().and_then(|url| url.path_segments()?.rfind(|segment| !segment.is_empty()));
    segment.or_else(|| url.as_ref()?.host_str()).unwrap_or("untitled").chars().take(MAX_TITLE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, ContentFormat};
    use std::fs;

    const HTML: &str = "<html lang=en><head><title>Tides</title><meta name=author content=Ada></head><p>Two a day.";

    fn fetched(html: &str) -> Fetched<'_> {
        Fetched {
            url: "https://x.example/sea/tides",
            base_url: None,
            format: ContentFormat::Html,
            body: Body::Text(html),
            title: "",
            selected: false,
            fetched_at: "2026-01-02T03:04:05Z",
            source: Some(&DocumentSource::Browser {
                session: None,
                selector: None,
                from: None,
                expand: false,
                scroll: false,
            }),
        }
    }

    #[test]
    fn a_hash_is_that_of_the_standard() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(bytes_hash(b"abc"), abc);
        assert_eq!(file_hash(&ragmaker_text::ByteSource::Memory(b"abc".to_vec())).unwrap(), abc);
    }

    #[test]
    fn a_page_is_a_file_and_an_entry() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::at(folder.path().join("kb/cache/catalog.json")).unwrap();
        let destination = Destination::of_catalog(&catalog);
        let saved = save(&fetched(HTML), &destination).unwrap();
        assert_eq!((saved.entry, saved.title.as_str(), saved.words), (Some(RecordOutcome::Added), "Tides", 3));
        assert!(saved.file.starts_with(folder.path().join("kb/cache/documents")), "{:?}", saved.file);
        let text = fs::read_to_string(&saved.file).unwrap();
        let parsed = ragmaker_document::parse(&text).unwrap();
        let confidence = saved.confidence.unwrap().to_string();
        let expected = [
            ("source_url", "https://x.example/sea/tides"),
            ("title", "Tides"),
            ("fetched_at", "2026-01-02T03:04:05Z"),
            ("author", "Ada"),
            ("lang", "en"),
            ("confidence", &confidence),
        ];
        assert_eq!(parsed.fields, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(parsed.body, "\nTwo a day.\n");
        let listed = fs::read_to_string(catalog.file()).unwrap();
        assert!(listed.contains("\"source\": {\"kind\":\"browser\"}"), "{listed}");
        let listed = &catalog.read().unwrap().documents[0];
        assert_eq!(
            (&listed.checked_at, listed.fetched_at.as_deref()),
            (&listed.fetched_at, Some("2026-01-02T03:04:05Z"))
        );
        assert_eq!(listed.content_hash, Some(content_hash("Tides", parsed.body)));

        let again = save(&fetched("<title>New</title><p>Three a day."), &destination).unwrap();
        assert_eq!((&again.file, again.entry), (&saved.file, Some(RecordOutcome::Updated)));
        assert_eq!(catalog.read().unwrap().documents[0].title.as_deref(), Some("New"));
        // Its front matter was changed.
        fs::write(&again.file, "# Mine").unwrap();
        let once_more = save(&fetched(HTML), &destination).unwrap();
        assert_eq!((&once_more.file, fs::read_dir(&destination.folder).unwrap().count()), (&again.file, 1));
    }

    #[test]
    fn a_file_that_is_another_s_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::at(folder.path().join("catalog.json")).unwrap();
        let destination = Destination::of_catalog(&catalog);
        fs::create_dir(&destination.folder).unwrap();
        let theirs = destination.folder.join(ragmaker_document::file_name("https://x.example/sea/tides"));
        fs::write(&theirs, "---\nsource_url: \"https://x.example/other\"\n---\n").unwrap();
        for _ in 0..2 {
            let saved = save(&fetched(HTML), &destination).unwrap();
            assert_ne!(saved.file, theirs);
        }
        assert!(fs::read_to_string(&theirs).unwrap().contains("x.example/other"));
        assert_eq!(fs::read_dir(&destination.folder).unwrap().count(), 2);
    }

    #[test]
    fn without_a_catalog_only_the_file_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let destination = Destination { folder: folder.path().join("out"), catalog: None };
        let saved = save(&fetched(HTML), &destination).unwrap();
        assert_eq!((saved.entry, fs::read_dir(folder.path()).unwrap().count()), (None, 1));
    }

    #[test]
    fn a_page_without_a_title_is_named_after_its_address() {
        let folder = tempfile::tempdir().unwrap();
        let destination = Destination { folder: folder.path().to_owned(), catalog: None };
        assert_eq!(save(&fetched("<p>Two a day."), &destination).unwrap().title, "tides");
        for (url, title) in [
            ("https://x.example/a/b/?c=d", "b"),
            ("https://x.example", "x.example"),
            ("git+https://x.example/r@1#docs/a.md", "r@1"),
            ("file:///a/b.html", "b.html"),
            ("a b", "untitled"),
        ] {
            assert_eq!(last_segment(url), title);
        }
    }

    #[test]
    fn the_file_is_there_where_the_catalog_fails() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("catalog.json");
        fs::write(&file, "{").unwrap();
        let catalog = Catalog::at(&file).unwrap();
        let error = save(&fetched(HTML), &Destination::of_catalog(&catalog)).unwrap_err();
        assert!(error.is(ragmaker_catalog::CATALOG_CORRUPT), "{error}");
        assert!(Path::new(error.details()["file_path"].as_str().unwrap()).is_file());
        assert_eq!(fs::read_to_string(&file).unwrap(), "{");
    }

    #[test]
    fn empty_documents_are_not_saved() {
        let folder = tempfile::tempdir().unwrap();
        let destination = Destination { folder: folder.path().join("out"), catalog: None };
        assert!(save(&fetched("<script>1</script>"), &destination).unwrap_err().is(crate::EMPTY_CONTENT));
        let rule = Document { markdown: "---\n".into(), ..Document::default() };
        assert!(
            save_converted(rule, "https://x.example/", "", None, &destination).unwrap_err().is(crate::EMPTY_CONTENT)
        );
        assert!(!destination.folder.exists());
    }
}
