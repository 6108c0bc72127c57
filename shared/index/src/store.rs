//! The index on disk: its place, the check whether it is current, and its update.
//!
//! An index is derived from the catalog and its documents, so it can be deleted at any time. It has two segments. One
//! has all documents. A smaller one has the documents that changed since, and lists the documents that it replaces.
//! Both files are written completely and then renamed, so readers never wait, no lock is needed, and a killed writer
//! leaves the old files. If several processes write at the same time, the last rename wins, and the next query updates
//! an outdated index. The index is rebuilt if many documents changed, or if a segment is damaged or of another version.

use std::{
    collections::HashMap,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    thread,
    time::{Duration, SystemTime},
};

use ragmaker_catalog::{Catalog, Contents};
use ragmaker_fs::{Replace, open_derived_file, sweep_temporary, write_atomically};
use ragmaker_project::{create_private, user_cache_folder};
use ragmaker_tool::Error;

use crate::{
    build::{Builder, IndexedTexts},
    chunks::chunks,
    error::IndexError,
    file::{ReplacedDocument, SegmentSource, Trailer},
    read::Reader,
    rows::{DocumentRow, IndexedDocument},
    stamp::Stamp,
};

/// The folder of the index, beside the catalog. Hidden folders are not searched for documents.
const FOLDER: &str = ".search";
/// The segment of all documents.
const ALL: &str = "index";
/// The segment of documents that changed since.
const RECENT: &str = "recent";
/// The vectors, if an embeddings endpoint is configured.
pub(crate) const VECTORS: &str = "vectors";
/// With more documents, not every query checks all of them.
const MANY: usize = 2_000;
/// How long a check of all documents is valid for more than [`MANY`] documents: 100,000 take 0.1 s. A document
/// that changes meanwhile is detected if it is among the hits.
const HOLDS: Duration = Duration::from_secs(5);
/// The largest document that is indexed, in bytes.
const MAX_BYTES: u64 = 64 << 20;
/// The maximum total size in bytes of the documents of [`RECENT`], which are all read again for each change: 20 ms at
/// 12 MB/s.
const MAX_RECENT: u64 = 256 << 10;
/// The age at which a temporary file is considered abandoned; writing one takes less than a second.
const LEFT: Duration = Duration::from_mins(5);
/// A term of a title or a heading counts as often in the text. Each field is kept because it helps. MRR of the sections
/// that 350 links in the manuals of Rust lead to, by the links' texts: 0.353 without both, 0.361 with titles, 0.394
/// with headings, 0.396 with both; of the 73 questions: 0.824, 0.841, 0.827, 0.842; nDCG@10 of `JSQuAD`: 0.949, 0.952,
/// 0.951, 0.952. The summaries that agents wrote do not help, so they are not a field: with weight 1 for each part of a
/// document, the MRR of the questions falls to 0.812, with weight 2 to 0.808, for its first part alone to 0.803.
const TITLE: u32 = 2;
const HEADING: u32 = 1;

/// How an index is obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// The existing index, if it seems current.
    SeemsCurrent,
    /// After checking every document.
    CheckAll,
    /// A new index.
    Rebuild,
}

/// A segment of an index.
pub(crate) struct Segment {
    pub(crate) reader: Reader,
    /// The documents that another segment replaces.
    pub(crate) replaced: Vec<ReplacedDocument>,
}

impl Segment {
    pub(crate) fn chunks(&self) -> usize {
        self.reader.chunks().saturating_sub(self.replaced.iter().map(|replaced| replaced.chunks).sum())
    }

    /// Whether another segment replaces the document with this number.
    pub(crate) fn is_replaced(&self, document: usize) -> bool {
        self.replaced.binary_search_by_key(&document, |replaced| replaced.document).is_ok()
    }

    pub(crate) fn documents(&self) -> usize {
        self.reader.documents().saturating_sub(self.replaced.len())
    }
}

/// The index of one knowledge base.
pub(crate) struct Index {
    /// The segment of all documents, and the one of those that changed since.
    pub(crate) segments: Vec<Segment>,
    pub(crate) root: PathBuf,
    pub(crate) title: String,
    /// The number of listed documents whose files are outside the knowledge base.
    pub(crate) outside: usize,
    /// The folder of the index, if one could be written.
    pub(crate) place: Option<PathBuf>,
}

impl Index {
    /// The current index of the knowledge base of `catalog`.
    ///
    /// # Errors
    /// The errors of reading the catalog.
    pub(crate) fn of(catalog: &Catalog, look: Freshness) -> Result<Self, Error> {
        let (Some(folder), Some(root)) = (catalog.folder(), catalog.root()) else {
            // An unreadable catalog is an error here.
            catalog.read()?;
            return Ok(Self { segments: vec![], root: PathBuf::new(), title: String::new(), outside: 0, place: None });
        };
        let places = places(catalog);
        let stamp = stamp(catalog.file());
        let mut old = vec![];
        for place in places.iter().filter(|_| look != Freshness::Rebuild) {
            let Ok(mut index) = Self::open(place, &root) else { continue };
            if index.catalog() == Some(stamp) {
                if look == Freshness::SeemsCurrent && index.was_looked_at(place) {
                    return Ok(index);
                }
                match index.changes() {
                    Ok(Changes::None) => {
                        index.touch(place);
                        return Ok(index);
                    }
                    Ok(Changes::Of(listed)) if index.follow(place, &listed, stamp) => {
                        return Ok(index);
                    }
                    _ => {}
                }
            }
            old.push((place, index));
        }
        let contents = catalog.read()?;
        let listed = ListedDocuments::of(&contents, &folder, &root);
        for (place, mut index) in old {
            if index.follow(place, &listed, stamp) {
                return Ok(index);
            }
        }
        let mut builder = Builder::new();
        for source in &listed.sources {
            source.add_to(&mut builder);
        }
        let bytes = builder.finish(stamp, new_id(), 0, &listed.about(vec![]));
        let place = places.into_iter().find(|place| write(place, ALL, &bytes).is_ok());
        if let Some(place) = &place {
            // It extends a segment that no longer exists.
            let _ = fs::remove_file(place.join(RECENT));
        }
        // If no folder can be written, the index is used from memory.
        let reader = Reader::open(SegmentSource::Memory(bytes)).ok();
        let segments = reader.into_iter().map(|reader| Segment { reader, replaced: vec![] }).collect();
        let ListedDocuments { title, outside, .. } = listed;
        Ok(Self { segments, root, title, outside, place })
    }

    /// Opens the index in the folder `place`.
    fn open(place: &Path, root: &Path) -> Result<Self, IndexError> {
        let open = |name| {
            Reader::open(SegmentSource::File(open_derived_file(&place.join(name), fs::File::options().read(true))?))
        };
        let all = open(ALL)?;
        let (id, title, outside) = (all.header.id, all.about.title.clone(), all.about.outside);
        let segments = vec![Segment { reader: all, replaced: vec![] }];
        let mut index = Self { segments, root: root.to_owned(), title, outside, place: Some(place.to_owned()) };
        if let Ok(recent) = open(RECENT)
            && recent.header.on == id
        {
            index.add(recent);
        }
        Ok(index)
    }

    fn add(&mut self, recent: Reader) {
        self.segments.truncate(1);
        self.segments[0].replaced.clone_from(&recent.about.replaced);
        self.title.clone_from(&recent.about.title);
        self.outside = recent.about.outside;
        self.segments.push(Segment { reader: recent, replaced: vec![] });
    }

    /// The stamp of the catalog for which it was built.
    fn catalog(&self) -> Option<Stamp> {
        self.segments.last().map(|last| last.reader.header.catalog)
    }

    /// Whether there are too many documents to check all of them for each query.
    fn is_large(&self) -> bool {
        self.segments.iter().map(Segment::documents).sum::<usize>() > MANY
    }

    /// The file whose modification time is that of the last check of all documents.
    fn looked(&self, place: &Path) -> PathBuf {
        place.join(if self.segments.len() == 1 { ALL } else { RECENT })
    }

    fn was_looked_at(&self, place: &Path) -> bool {
        let looked = fs::metadata(self.looked(place)).and_then(|metadata| metadata.modified());
        let age = looked.ok().and_then(|time| SystemTime::now().duration_since(time).ok());
        self.is_large() && age.is_some_and(|age| age < HOLDS)
    }

    /// If the file cannot be touched, the next query checks again.
    fn touch(&self, place: &Path) {
        if self.is_large() {
            let touch = |file: fs::File| file.set_modified(SystemTime::now());
            let _ = open_derived_file(&self.looked(place), fs::File::options().append(true)).and_then(touch);
        }
    }

    /// Calls `see` with every current document, or with share `nth` of `of` shares.
    fn each(&self, (nth, of): (usize, usize), mut see: impl FnMut(&IndexedDocument<'_>)) -> Result<(), IndexError> {
        for segment in &self.segments {
            let blocks = segment.reader.blocks();
            segment.reader.each(blocks * nth / of..blocks * (nth + 1) / of, |number, _, document| {
                if !segment.is_replaced(number) {
                    see(document);
                }
            })?;
        }
        Ok(())
    }

    /// The documents that differ from the index, with their new and old stamps.
    fn changed(&self, share: (usize, usize)) -> Result<HashMap<String, (Stamp, Stamp)>, IndexError> {
        let mut changed = HashMap::new();
        self.each(share, |document| {
            let now = stamp(&self.root.join(document.path));
            if now != document.stamp {
                changed.insert(document.path.to_owned(), (now, document.stamp));
            }
        })?;
        Ok(changed)
    }

    /// Checks every document.
    fn changes(&self) -> Result<Changes, IndexError> {
        let threads = if self.is_large() { thread::available_parallelism().map_or(1, usize::from).min(4) } else { 1 };
        let changed = thread::scope(|scope| {
            let looking: Vec<_> = (1..threads).map(|nth| scope.spawn(move || self.changed((nth, threads)))).collect();
            let mut changed = self.changed((0, threads))?;
            for share in looking {
                changed.extend(share.join().unwrap_or(Err(IndexError::Damaged))?);
            }
            Ok::<_, IndexError>(changed)
        })?;
        if changed.is_empty() {
            return Ok(Changes::None);
        }
        // For a new file or a symbolic link, the catalog determines whether it is a document.
        let is_file = |(path, (now, before)): (&String, &(Stamp, Stamp))| {
            let file = self.root.join(path);
            *before != Stamp::NONE
                && (*now == Stamp::NONE || ragmaker_fs::canonicalize(&file).is_ok_and(|real| real == file))
        };
        if !changed.iter().all(is_file) {
            return Ok(Changes::Unclear);
        }
        let mut sources = vec![];
        self.each((0, 1), |document| {
            let given = [document.title, document.url, document.fetched_at];
            sources.push(SourceFile {
                path: document.path.to_owned(),
                file: self.root.join(document.path),
                stamp: changed.get(document.path).map_or(document.stamp, |(now, _)| *now),
                given: std::array::from_fn(|n| (document.listed >> n & 1 == 1).then(|| given[n].to_owned())),
                stale: document.stale,
            });
        })?;
        Ok(Changes::Of(ListedDocuments { title: self.title.clone(), sources, outside: self.outside }))
    }

    /// Writes a segment of the documents in `listed` that changed since the first segment; returns false if
    /// there are too many.
    fn follow(&mut self, place: &Path, listed: &ListedDocuments, stamp: Stamp) -> bool {
        let Ok(Some(bytes)) = self.recent(listed, stamp) else { return false };
        if write(place, RECENT, &bytes).is_err() {
            return false;
        }
        Reader::open(SegmentSource::Memory(bytes)).map(|recent| self.add(recent)).is_ok()
    }

    fn recent(&self, listed: &ListedDocuments, stamp: Stamp) -> Result<Option<Vec<u8>>, IndexError> {
        let sources = &listed.sources;
        let mut wanted: HashMap<&str, &SourceFile> = sources.iter().map(|one| (one.path.as_str(), one)).collect();
        let Some(all) = self.segments.first().map(|segment| &segment.reader) else { return Ok(None) };
        let mut replaced = vec![];
        all.each(0..all.blocks(), |document, first_chunk, indexed| {
            if wanted.get(indexed.path).is_some_and(|source| source.is_same(indexed)) {
                wanted.remove(indexed.path);
            } else {
                replaced.push(ReplacedDocument { document, first_chunk, chunks: indexed.chunks });
            }
        })?;
        let size: u64 = wanted.values().map(|source| source.stamp.size).filter(|size| *size != u64::MAX).sum();
        if size > MAX_RECENT || replaced.len() > all.documents() / 4 {
            return Ok(None);
        }
        let mut builder = Builder::new();
        for source in sources.iter().filter(|source| wanted.contains_key(source.path.as_str())) {
            source.add_to(&mut builder);
        }
        Ok(Some(builder.finish(stamp, new_id(), all.header.id, &listed.about(replaced))))
    }
}

/// The result of checking the documents.
enum Changes {
    None,
    /// All documents in their current state.
    Of(ListedDocuments),
    /// Only the catalog has the answer.
    Unclear,
}

/// A unique id: from the time, which differs between builds, and the process id.
fn new_id() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.as_nanos() as u64);
    (now ^ u64::from(std::process::id()) << 40).max(1)
}

pub(crate) fn stamp(path: &Path) -> Stamp {
    fs::metadata(path).map_or(Stamp::NONE, |metadata| Stamp::of(&metadata))
}

/// The possible folders of the index of `catalog`, the preferred one first. Beside a catalog, there is one only for
/// callers who may write there.
fn places(catalog: &Catalog) -> Vec<PathBuf> {
    let file = catalog.file();
    let mut places = vec![];
    if catalog.is_writable() {
        places.extend(file.parent().map(|folder| folder.join(FOLDER)));
    }
    let name = format!("{:016x}", hash(file.to_string_lossy().bytes()));
    places.extend(user_cache_folder().map(|caches| caches.join("search").join(name)));
    places
}

/// The FNV-1a hash of `bytes`.
pub(crate) fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.fold(0xcbf2_9ce4_8422_2325, add)
}

fn write(place: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    create_private(place)?;
    // A symbolic link could lead out of the knowledge base.
    if !fs::symlink_metadata(place)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    match fs::File::create_new(place.join(".gitignore")) {
        Ok(mut file) => file.write_all(b"# Made by ragmaker: derived from the documents.\n*\n")?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    sweep_temporary(place, LEFT);
    let replace = Replace { replace_link: true, sync_directory: false, mode: 0o600, ..Replace::default() };
    write_atomically(&place.join(name), replace, |file| file.write_all(bytes)).map(|_| ())
}

/// A document in the catalog.
struct SourceFile {
    /// The path relative to the root, with `/`; for a missing file, the path in the catalog.
    path: String,
    file: PathBuf,
    stamp: Stamp,
    /// Title, URL and time, if the catalog has them.
    given: [Option<String>; 3],
    stale: bool,
}

/// The documents that a catalog lists.
struct ListedDocuments {
    /// The title of the knowledge base.
    title: String,
    /// The documents inside the knowledge base.
    sources: Vec<SourceFile>,
    /// The number of the others; a symbolic link may lead outside, too.
    outside: usize,
}

impl ListedDocuments {
    fn of(contents: &Contents, folder: &Path, root: &Path) -> Self {
        // Resolving the symbolic links of every whole path would take longer than the rest.
        let mut folders: HashMap<PathBuf, Option<PathBuf>> = HashMap::new();
        let mut seen = std::collections::HashSet::new();
        let title = contents.header.title.clone().unwrap_or_default();
        let mut documents = Self { title, sources: vec![], outside: 0 };
        for listed in &contents.documents {
            let Some(given) = listed.path.as_deref() else { continue };
            let joined = folder.join(given);
            let real = match (fs::symlink_metadata(&joined), joined.parent(), joined.file_name()) {
                (Ok(metadata), Some(parent), Some(name)) if metadata.is_file() => {
                    let parent =
                        folders.entry(parent.to_owned()).or_insert_with(|| ragmaker_fs::canonicalize(parent).ok());
                    parent.as_ref().map(|parent| (parent.join(name), Stamp::of(&metadata)))
                }
                (Ok(_), ..) => ragmaker_fs::canonicalize(&joined).ok().map(|file| (file.clone(), stamp(&file))),
                (Err(_), ..) => None,
            };
            let missing = || (joined.to_string_lossy().into_owned(), joined.clone(), Stamp::NONE);
            let inside = |(file, stamp): (PathBuf, Stamp)| {
                let path = file.strip_prefix(root).ok()?.to_str()?.to_owned();
                Some((path, file, stamp))
            };
            let Some((path, file, stamp)) = real.map_or_else(|| Some(missing()), inside) else {
                documents.outside += 1;
                continue;
            };
            if seen.insert(path.clone()) {
                let given = [&listed.title, &listed.url, &listed.fetched_at].map(Clone::clone);
                documents.sources.push(SourceFile { path, file, stamp, given, stale: listed.is_stale() });
            }
        }
        documents
    }

    /// The last section of a segment that replaces the documents `replaced` of another one.
    fn about(&self, replaced: Vec<ReplacedDocument>) -> Trailer {
        Trailer { title: self.title.clone(), outside: self.outside, replaced }
    }
}

/// The text of a regular file, with its stamp before reading.
pub(crate) fn read(file: &Path) -> Option<(Stamp, String)> {
    let metadata = fs::metadata(file).ok().filter(|metadata| metadata.is_file() && metadata.len() <= MAX_BYTES)?;
    let text = fs::read(file).ok().and_then(|bytes| String::from_utf8(bytes).ok())?;
    Some((Stamp::of(&metadata), text))
}

impl SourceFile {
    /// One bit for each value that is from the catalog.
    fn bits(&self) -> u8 {
        self.given.iter().rev().fold(0, |bits, value| bits << 1 | u8::from(value.is_some()))
    }

    /// Whether `indexed` is equal to the current document.
    fn is_same(&self, indexed: &IndexedDocument<'_>) -> bool {
        let fields = [indexed.title, indexed.url, indexed.fetched_at];
        self.stamp == indexed.stamp
            && self.stale == indexed.stale
            && self.bits() == indexed.listed
            && self.given.iter().zip(fields).all(|(given, field)| given.as_ref().is_none_or(|given| given == field))
    }

    fn add_to(&self, builder: &mut Builder) {
        let (stamp, text) = read(&self.file).unwrap_or_else(|| (stamp(&self.file), String::new()));
        let parsed = ragmaker_document::parse(&text).ok();
        let body = parsed.as_ref().map_or(0, |parsed| text.len() - parsed.body.len());
        let [title, url, fetched_at] = &self.given;
        let or = |given: &Option<String>, name| {
            let own = || parsed.as_ref().and_then(|parsed| parsed.field(name)).map(ToOwned::to_owned);
            given.clone().or_else(own).unwrap_or_default()
        };
        let mut document = DocumentRow {
            path: self.path.clone(),
            url: or(url, "source_url"),
            title: or(title, "title"),
            fetched_at: or(fetched_at, "fetched_at"),
            stamp,
            stale: self.stale,
            listed: self.bits(),
            chunks: chunks(&text, body),
        };
        if document.title.is_empty() {
            let first = document.chunks.iter().map(|row| &row.heading).find(|heading| !heading.is_empty());
            document.title = first.cloned().unwrap_or_default();
        }
        builder.document(&document, |row| IndexedTexts {
            measured: [(&text[row.start..row.end], 1), (&row.heading, HEADING)],
            title: (&document.title, TITLE),
        });
    }
}

#[cfg(test)]
mod tests;
