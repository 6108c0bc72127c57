//! The texts of the chunks of an index, read from the documents.

use std::{
    collections::{HashMap, hash_map::Entry},
    fs,
    path::{Path, PathBuf},
};

use crate::{
    error::IndexError,
    stamp::Stamp,
    store::{Index, Segment},
    top_candidates::Candidate,
};

/// A segment with its index.
pub(crate) struct IndexPart<'a> {
    /// The number of the index.
    pub(crate) number: usize,
    pub(crate) index: &'a Index,
    pub(crate) segment: &'a Segment,
}

/// The texts of documents that were read.
#[derive(Default)]
pub(crate) struct Texts {
    /// The texts by segment and document.
    texts: HashMap<(usize, usize), String>,
    /// Folders, and whether their paths are free of symbolic links.
    folders: HashMap<PathBuf, bool>,
}

impl Texts {
    pub(crate) fn of_chunk(&mut self, one: &Candidate, parts: &[IndexPart<'_>]) -> Result<String, IndexError> {
        let IndexPart { index, segment, .. } = &parts[one.part as usize];
        segment.reader.chunk(one.chunk as usize, |number, document, nth| {
            let text = match self.texts.entry((one.part as usize, number)) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(vacant) => {
                    let path = index.root.join(document.path);
                    vacant.insert(read(&path, document.stamp, &mut self.folders)?)
                }
            };
            let row = document.row(nth)?;
            text.get(row.start..row.end).map(ToOwned::to_owned).ok_or(IndexError::Damaged)
        })
    }

    /// The text of a chunk with the title of its document and its headings, for embedding.
    pub(crate) fn with_headings(&mut self, one: &Candidate, parts: &[IndexPart<'_>]) -> Result<String, IndexError> {
        let text = self.of_chunk(one, parts)?;
        parts[one.part as usize].segment.reader.chunk(one.chunk as usize, |_, document, nth| {
            let (title, heading) = (document.title, document.row(nth)?.heading);
            let head = if heading.starts_with(title) { heading } else { format!("{title} > {heading}") };
            Ok(format!("{head}\n{text}"))
        })
    }
}

/// The text of the document `path`; an error if it changed since it was indexed.
fn read(path: &Path, indexed: Stamp, folders: &mut HashMap<PathBuf, bool>) -> Result<String, IndexError> {
    // A symbolic link in the path could lead elsewhere. Checking every part of every path would take as long as
    // reading.
    let is_same =
        || fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file() && Stamp::of(&metadata) == indexed);
    let folder = path.parent().ok_or(IndexError::Changed)?;
    let is_own = *folders
        .entry(folder.to_owned())
        .or_insert_with(|| ragmaker_fs::canonicalize(folder).is_ok_and(|real| real == folder));
    if !is_own || !is_same() {
        return Err(IndexError::Changed);
    }
    let text = fs::read_to_string(path).map_err(|_| IndexError::Changed)?;
    if is_same() { Ok(text) } else { Err(IndexError::Changed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_file_that_was_indexed_is_read() {
        let (_folder, root) = ragmaker_testkit::folder("kb");
        let path = ragmaker_testkit::write(&root, "sub/tides.md", "Spring tide");
        let stamp = Stamp::of(&fs::symlink_metadata(&path).unwrap());
        let mut folders = HashMap::new();
        assert_eq!(read(&path, stamp, &mut folders).unwrap(), "Spring tide");
        assert_eq!(folders.get(&root.join("sub")), Some(&true));
        for gone in [root.join("sub/none.md"), root.join("none/tides.md"), root.join("sub")] {
            assert!(matches!(read(&gone, stamp, &mut folders), Err(IndexError::Changed)), "{}", gone.display());
        }
        // Of another size.
        fs::write(&path, "Neap").unwrap();
        assert!(matches!(read(&path, stamp, &mut folders), Err(IndexError::Changed)));
        let bytes = ragmaker_testkit::write(&root, "sub/latin.md", b"mar\xe9e");
        let stamp = Stamp::of(&fs::symlink_metadata(&bytes).unwrap());
        assert!(matches!(read(&bytes, stamp, &mut folders), Err(IndexError::Changed)), "not UTF-8");
    }

    #[cfg(unix)]
    #[test]
    fn symbolic_links_are_not_followed() {
        let (_folder, root) = ragmaker_testkit::folder("kb");
        let path = ragmaker_testkit::write(&root, "elsewhere/tides.md", "Spring tide");
        let stamp = Stamp::of(&fs::symlink_metadata(&path).unwrap());
        std::os::unix::fs::symlink(root.join("elsewhere"), root.join("docs")).unwrap();
        std::os::unix::fs::symlink(&path, root.join("tides.md")).unwrap();
        for link in ["docs/tides.md", "tides.md"] {
            let text = read(&root.join(link), stamp, &mut HashMap::new());
            assert!(matches!(text, Err(IndexError::Changed)), "{link}");
        }
    }
}
