//! Where an index is, when it is current, and how it is built.
//!
//! An index is derived from the catalog and its documents: it can be deleted at any time. Whoever finds it
//! old, damaged or of another version builds a whole new one beside it and renames that over it. So no
//! reader waits, no lock is needed, and a killed builder leaves the old one. When several build at once,
//! the last rename stays; an index that is behind its documents is noticed by the next query.

use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use ragmaker_catalog::{Catalog, Listed};
use ragmaker_fs::{Replace, write_atomically};
use ragmaker_project::create_private;
use ragmaker_tool::Error;

use crate::{
    chunks::chunks,
    file::{Builder, Chunk, Document, Reader, Source, Stamp},
    tokens::{Term, Tokenizer},
};

/// The folder of the index, beside the catalog. Hidden folders are not taken for documents.
const FOLDER: &str = ".search";
const FILE: &str = "index";
/// Documents above this number are not all looked at in every query.
const MANY: usize = 2_000;
/// How long a look at all documents holds for those above [`MANY`]: 100,000 take 0.2 s. What changes meanwhile
/// is noticed when it is among the hits.
const HOLDS: Duration = Duration::from_secs(5);
/// The most bytes of a document that is indexed.
const MAX_BYTES: u64 = 64 << 20;
/// A term of a title or a heading counts as often in the text.
const TITLE: u32 = 2;
const HEADING: u32 = 1;

/// The index of one knowledge base.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) reader: Reader,
    pub(crate) root: PathBuf,
}

impl Index {
    /// The current index of the knowledge base of `catalog`; with `rebuild` a new one in any case.
    ///
    /// # Errors
    /// Those of reading the catalog.
    pub(crate) fn of(catalog: &Catalog, rebuild: bool) -> Result<Self, Error> {
        let places = places(catalog.file());
        let (Some(folder), Some(root)) = (catalog.folder(), catalog.root()) else {
            // Reading says what is wrong with it.
            catalog.read()?;
            return Ok(Self { reader: empty(), root: PathBuf::new() });
        };
        let stamp = stamp(catalog.file());
        if !rebuild {
            for place in &places {
                let opened = fs::File::open(place.join(FILE)).and_then(|file| Reader::open(Source::File(file)));
                if let Ok(reader) = opened
                    && reader.catalog == stamp
                    && is_current(&reader, &root, &place.join(FILE))
                {
                    return Ok(Self { reader, root });
                }
            }
        }
        let bytes = build(catalog, &folder, &root, stamp)?;
        for place in &places {
            if write(place, &bytes).is_ok() {
                break;
            }
        }
        // Where neither place can be written, this call still answers.
        Ok(Self { reader: Reader::open(Source::Memory(bytes)).unwrap_or_else(|_| empty()), root })
    }
}

fn empty() -> Reader {
    Reader::open(Source::Memory(Builder::default().finish(Stamp::NONE, ""))).expect("it was just made")
}

pub(crate) fn stamp(path: &Path) -> Stamp {
    fs::metadata(path).map_or(Stamp::NONE, |metadata| Stamp::of(&metadata))
}

/// Whether the documents are as they were indexed.
fn is_current(reader: &Reader, root: &Path, file: &Path) -> bool {
    let Ok(documents) = reader.documents() else { return false };
    let checked = fs::metadata(file).and_then(|metadata| metadata.modified());
    let age = checked.ok().and_then(|time| SystemTime::now().duration_since(time).ok());
    if documents.len() > MANY && age.is_some_and(|age| age < HOLDS) {
        return true;
    }
    let same =
        |document: &Document| reader.text(document.path).is_ok_and(|path| stamp(&root.join(path)) == document.stamp);
    let current = documents.iter().all(same);
    if current && documents.len() > MANY {
        // A file that cannot be touched is checked again.
        let _ = fs::File::options().append(true).open(file).and_then(|file| file.set_modified(SystemTime::now()));
    }
    current
}

/// Where the index of the catalog `file` may be, the likeliest first.
fn places(file: &Path) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = file.parent().map(|folder| folder.join(FOLDER)).into_iter().collect();
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let user = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    let name = crate::tokens::name(&file.to_string_lossy());
    places.extend(user.map(|user| user.join("ragmaker").join("search").join(name)));
    places
}

fn write(place: &Path, bytes: &[u8]) -> io::Result<()> {
    create_private(place)?;
    // A link could lead to a folder that is not the knowledge base's.
    if !fs::symlink_metadata(place)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let ignore = place.join(".gitignore");
    if !ignore.exists() {
        fs::write(ignore, "# Made by ragmaker: derived from the documents.\n*\n")?;
    }
    let replace = Replace { replace_link: true, sync_directory: false, mode: 0o600, ..Replace::default() };
    write_atomically(&place.join(FILE), replace, |file| file.write_all(bytes)).map(|_| ())
}

/// The bytes of a new index.
fn build(catalog: &Catalog, folder: &Path, root: &Path, stamp: Stamp) -> Result<Vec<u8>, Error> {
    let contents = catalog.read()?;
    let (mut builder, mut tokenizer) = (Builder::default(), Tokenizer::new());
    let mut seen = std::collections::HashSet::new();
    for listed in &contents.documents {
        let Some(given) = listed.path.as_deref() else { continue };
        // A document outside the knowledge base is none of it, wherever a link leads.
        let Ok(file) = fs::canonicalize(folder.join(given)) else {
            // It is looked for again: joining an absolute path gives that path.
            let path = builder.text(&folder.join(given).to_string_lossy());
            let none = builder.text("");
            let missing = Stamp::NONE;
            builder.document(&Document {
                path,
                url: none,
                title: none,
                fetched_at: none,
                stamp: missing,
                stale: false,
            });
            continue;
        };
        let Some(path) = file.strip_prefix(root).ok().and_then(Path::to_str) else { continue };
        if seen.insert(file.clone()) {
            document(&mut builder, &mut tokenizer, listed, &file, path);
        }
    }
    Ok(builder.finish(stamp, contents.header.title.as_deref().unwrap_or_default()))
}

/// The text of a regular file, with the stamp it had before it was read.
pub(crate) fn read(file: &Path) -> Option<(Stamp, String)> {
    let metadata = fs::metadata(file).ok().filter(|metadata| metadata.is_file() && metadata.len() <= MAX_BYTES)?;
    let text = fs::read(file).ok().and_then(|bytes| String::from_utf8(bytes).ok())?;
    Some((Stamp::of(&metadata), text))
}

fn document(builder: &mut Builder, tokenizer: &mut Tokenizer, listed: &Listed, file: &Path, path: &str) {
    let (stamp, text) = read(file).unwrap_or_else(|| (stamp(file), String::new()));
    let parsed = ragmaker_document::parse(&text).ok();
    let field = |name| parsed.as_ref().and_then(|parsed| parsed.field(name));
    let body = parsed.as_ref().map_or(0, |parsed| text.len() - parsed.body.len());
    let parts = chunks(&text, body);
    let first = || parts.iter().map(|part| part.heading.as_str()).find(|heading| !heading.is_empty());
    let title = listed.title.as_deref().or(field("title")).or_else(first).unwrap_or_default();
    let title_terms = tokenizer.list(title);
    let path = builder.text(path);
    let url = builder.text(listed.url.as_deref().or(field("source_url")).unwrap_or_default());
    let fetched_at = builder.text(listed.fetched_at.as_deref().or(field("fetched_at")).unwrap_or_default());
    let title = builder.text(title);
    let stale = listed.is_stale();
    let document = builder.document(&Document { path, url, title, fetched_at, stamp, stale });
    for part in parts {
        let mut terms: Vec<(Term, u32)> = vec![];
        tokenizer.terms(&text[part.start..part.end], |term| terms.push((term, 1)));
        tokenizer.terms(&part.heading, |term| terms.push((term, HEADING)));
        let length = terms.len() as u32;
        terms.extend(title_terms.iter().map(|term| (*term, TITLE)));
        terms.sort_unstable();
        terms.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        let chunk = Chunk {
            document,
            start: part.start as u32,
            end: part.end as u32,
            first_line: part.first_line as u32,
            last_line: part.last_line as u32,
            heading: builder.text(&part.heading),
            slug: builder.text(&part.slug),
        };
        builder.chunk(&chunk, length, terms.into_iter());
    }
}
