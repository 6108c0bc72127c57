//! Resources: knowledge bases and their documents, which a person attaches to a conversation.
//!
//! A resource is the catalog of a knowledge base, or a document that a catalog lists. Resources are read by the rules
//! of the file tools, and text from the web is marked as in the answers of these tools.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    time::SystemTime,
};

use ragmaker_catalog::Catalog;
use ragmaker_files::{FILE_NOT_FOUND, Roots, io_error};
use ragmaker_text::{INPUT_TOO_LARGE, NOT_TEXT, Prior, Text};
use ragmaker_tool::{ARGUMENT_ERROR, Caller, Error, HostOptions, Invocation};
use url::Url;

use crate::provenance;

/// The maximum size in bytes of a resource: all of it goes into a conversation.
const MAX_BYTES: u64 = 1 << 20;

/// The maximum length in characters of a title or a summary that a list shows.
const MAX_LABEL: usize = 300;

/// A resource, as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its address: `file://` and the absolute path.
    pub uri: String,
    /// The name of its file, or of its knowledge base.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its summary.
    pub description: String,
    /// `application/json` for a catalog, `text/markdown` for a document.
    pub mime_type: &'static str,
    /// Its size in bytes.
    pub size: u64,
}

/// The content of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The text; text from the web begins with a notice.
    pub text: String,
    /// The same type as in the list.
    pub mime_type: &'static str,
}

/// The size and the time of the last change of a resource, which detect changes. `None` if it no longer exists.
pub type Stamp = Option<(u64, Option<SystemTime>)>;

const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";

/// Every resource of the project and the roots that the host allows: each knowledge base, and after it its
/// documents.
///
/// # Errors
///
/// Those of the roots. Without a knowledge base the list is empty; one that cannot be read is listed without documents.
pub fn list(host: &HostOptions) -> Result<Vec<Resource>, Error> {
    let roots = Roots::discover(host)?;
    let mut listed = vec![];
    for catalog in catalogs(host)? {
        let Some(file) = resolved(&roots, catalog.file()) else { continue };
        let contents = catalog.read().ok();
        let root = catalog.root().unwrap_or_default();
        let name = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let header = contents.as_ref().map(|contents| contents.header.clone()).unwrap_or_default();
        listed.extend(resource(&file, &name, header.title, header.summary, JSON));
        for document in contents.into_iter().flat_map(|contents| contents.documents) {
            let found = document.path.as_deref().and_then(|path| catalog.find(path));
            let Some(file) = found.and_then(|file| resolved(&roots, &file)) else { continue };
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            listed.extend(resource(&file, &name, document.title, document.summary.or(document.url), MARKDOWN));
        }
    }
    Ok(listed)
}

/// The content of the resource at `uri`.
///
/// # Errors
///
/// [`FILE_NOT_FOUND`] where it is not a resource, and whatever keeps it from being read.
pub fn read(uri: &str, host: &HostOptions) -> Result<Contents, Error> {
    let (file, mime_type) = known(uri, host)?;
    let roots = Roots::discover(host)?;
    let place = roots.place(&file.to_string_lossy())?;
    let opened = place.open()?;
    let mut bytes = vec![];
    opened.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| io_error(&error, &file))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(INPUT_TOO_LARGE
            .error(format!("{} has more than {MAX_BYTES} bytes", file.display()))
            .remedy("Read it in parts with read_file.")
            .detail("path", file.to_string_lossy()));
    }
    let prior = || Prior::of_process().with_texts(&place.similar_files());
    let text = Text::decode(bytes, &prior).map_err(|_| {
        NOT_TEXT.error(format!("{} is not text", file.display())).detail("path", file.to_string_lossy())
    })?;
    Ok(Contents { text: provenance::noted(text.text, &file), mime_type })
}

/// The file of the resource at `uri`.
///
/// # Errors
///
/// As for [`read`].
pub fn find(uri: &str, host: &HostOptions) -> Result<PathBuf, Error> {
    known(uri, host).map(|(file, _)| file)
}

/// The present state of a file.
pub fn stamp(file: &Path) -> Stamp {
    let metadata = fs::metadata(file).ok()?;
    Some((metadata.len(), metadata.modified().ok()))
}

/// The catalogs of all knowledge bases, with their present state: what a list is made of.
pub fn stamps(host: &HostOptions) -> Vec<(PathBuf, Stamp)> {
    let catalogs = catalogs(host).unwrap_or_default();
    catalogs.iter().map(|catalog| (catalog.file().to_owned(), stamp(catalog.file()))).collect()
}

fn catalogs(host: &HostOptions) -> Result<Vec<Catalog>, Error> {
    let invocation = Invocation { host: host.clone(), caller: Caller::Model, ..Invocation::default() };
    match Catalog::all(&[], &invocation) {
        Err(error) if error.is(ragmaker_catalog::CATALOG_NOT_FOUND) => Ok(vec![]),
        found => found,
    }
}

/// The file of the resource at `uri`, and its type.
fn known(uri: &str, host: &HostOptions) -> Result<(PathBuf, &'static str), Error> {
    let path = Url::parse(uri).ok().filter(|url| url.scheme() == "file").and_then(|url| url.to_file_path().ok());
    let path = path.ok_or_else(|| {
        ARGUMENT_ERROR
            .error(format!("{uri:?} is not the address of a resource"))
            .remedy("Take an address from resources/list.")
            .detail("uri", uri)
    })?;
    let roots = Roots::discover(host)?;
    let unknown = || {
        FILE_NOT_FOUND
            .error(format!("no knowledge base has the resource {uri}"))
            .remedy("Take an address from resources/list; read_file reads other files.")
            .detail("uri", uri)
    };
    let file = resolved(&roots, &path).ok_or_else(unknown)?;
    for catalog in catalogs(host)? {
        if resolved(&roots, catalog.file()).is_some_and(|known| known == file) {
            return Ok((file, JSON));
        }
        let Some(root) = catalog.root().filter(|root| file.starts_with(root)) else { continue };
        let Ok(contents) = catalog.read() else { continue };
        if file.starts_with(&root) && catalog.listed_files(&contents).contains(&file) {
            return Ok((file, MARKDOWN));
        }
    }
    Err(unknown())
}

/// The resolved `path`, if it may be read.
fn resolved(roots: &Roots, path: &Path) -> Option<PathBuf> {
    roots.place(path.to_str()?).ok().map(|place| place.path())
}

fn resource(
    file: &Path,
    name: &str,
    title: Option<String>,
    description: Option<String>,
    mime_type: &'static str,
) -> Option<Resource> {
    let size = file.metadata().ok().filter(fs::Metadata::is_file)?.len();
    let short = |text: String| text.chars().take(MAX_LABEL).collect::<String>();
    Some(Resource {
        uri: Url::from_file_path(file).ok()?.into(),
        name: name.to_owned(),
        title: title.map_or_else(|| name.to_owned(), short),
        description: description.map(short).unwrap_or_default(),
        mime_type,
        size,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A project with a knowledge base of two documents, one of which is missing, and a host for it.
    fn project() -> (tempfile::TempDir, HostOptions) {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("kb \u{6f6e}/cache");
        fs::create_dir_all(cache.join("documents")).unwrap();
        fs::write(cache.join("documents/a.md"), "# A\r\n").unwrap();
        fs::write(cache.join("documents/unlisted.md"), "# U\n").unwrap();
        let long = "x".repeat(MAX_LABEL + 1);
        let catalog = serde_json::json!({"title": "Tides", "summary": long, "documents": [
            {"url": "https://x.example/", "path": "documents/a.md"},
            {"url": "https://x.example/b", "title": "B", "path": "documents/gone.md"},
            {"title": "C", "path": "../../../outside.md"},
        ]});
        fs::write(cache.join("catalog.json"), catalog.to_string()).unwrap();
        let host = HostOptions { project_root: folder.path().to_str().map(str::to_owned), ..HostOptions::default() };
        (folder, host)
    }

    #[test]
    fn catalogs_and_their_documents_are_listed_with_labels() {
        let (folder, host) = project();
        let listed = list(&host).unwrap();
        let names: Vec<_> = listed.iter().map(|one| (one.name.as_str(), one.title.as_str(), one.mime_type)).collect();
        assert_eq!(names, [("kb \u{6f6e}", "Tides", JSON), ("a.md", "a.md", MARKDOWN)]);
        assert_eq!(
            (listed[0].description.chars().count(), listed[1].description.as_str()),
            (MAX_LABEL, "https://x.example/")
        );
        assert_eq!(listed[1].size, 5);
        assert!(listed[1].uri.starts_with("file:///") && listed[1].uri.contains("kb%20%E6%BD%AE"), "{}", listed[1].uri);
        let empty = folder.path().join("kb \u{6f6e}/cache/documents");
        let host = HostOptions { project_root: empty.to_str().map(str::to_owned), ..HostOptions::default() };
        assert_eq!(list(&host).unwrap(), []);
    }

    #[test]
    fn only_resources_are_read() {
        let (folder, host) = project();
        let listed = list(&host).unwrap();
        let catalog = read(&listed[0].uri, &host).unwrap();
        assert!(catalog.mime_type == JSON && catalog.text.contains("Tides"));
        let document = read(&listed[1].uri, &host).unwrap();
        assert!(document.mime_type == MARKDOWN && document.text.ends_with("# A\r\n"), "{document:?}");
        let uri =
            |path: &str| Url::from_file_path(folder.path().join("kb \u{6f6e}/cache").join(path)).unwrap().to_string();
        for path in ["documents/unlisted.md", "documents/gone.md", "documents", "../../x.md"] {
            assert!(read(&uri(path), &host).unwrap_err().is(FILE_NOT_FOUND), "{path}");
        }
        for uri in ["", "documents/a.md", "https://x.example/", "file:///etc/passwd"] {
            let error = find(uri, &host).unwrap_err();
            assert!(error.is(ARGUMENT_ERROR) || error.is(FILE_NOT_FOUND), "{uri}: {error}");
        }
    }

    #[test]
    fn a_resource_that_no_conversation_can_hold_is_refused() {
        let (folder, host) = project();
        let uri = list(&host).unwrap()[1].uri.clone();
        let file = folder.path().join("kb \u{6f6e}/cache/documents/a.md");
        fs::write(&file, vec![b'x'; usize::try_from(MAX_BYTES).unwrap() + 1]).unwrap();
        assert!(read(&uri, &host).unwrap_err().is(INPUT_TOO_LARGE));
        fs::write(&file, b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89").unwrap();
        assert!(read(&uri, &host).unwrap_err().is(NOT_TEXT));
        fs::remove_file(&file).unwrap();
        assert!(read(&uri, &host).unwrap_err().is(FILE_NOT_FOUND));
    }

    #[test]
    fn a_stamp_changes_with_the_file() {
        let (folder, host) = project();
        let before = stamps(&host);
        assert_eq!((before.len(), &stamps(&host)), (1, &before));
        let (catalog, known) = &before[0];
        fs::write(catalog, "{\"documents\": []}").unwrap();
        assert_ne!(stamp(catalog), *known);
        assert_eq!(stamp(&folder.path().join("none")), None);
    }
}
