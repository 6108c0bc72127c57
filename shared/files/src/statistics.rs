//! Statistics: the number of files of a project by language, and their sizes.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use ignore::WalkBuilder;

use crate::{ResolvedPath, RootKind, ignored::IgnoredTree, secrets};

/// The statistics of the files beneath a place. Names that begin with a dot are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileStatistics {
    /// The files.
    pub files: Count,
    /// The files by group, those that have one.
    pub groups: BTreeMap<&'static str, Count>,
    /// The number of files and directories that ignore files list; a directory counts once, with all its contents.
    pub ignored: u64,
    /// Whether the time was over before everything was counted.
    pub is_cut: bool,
}

/// A number of files and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Count {
    fn add(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes += bytes;
    }
}

/// Counts the files beneath `place`, grouped by the result of `group` for their paths, for at most `time`.
pub fn file_statistics(
    place: &ResolvedPath,
    time: Duration,
    group: fn(&Path) -> Option<&'static str>,
) -> FileStatistics {
    let started = Instant::now();
    let ignored = (place.root.kind == RootKind::ProjectRoot).then(|| IgnoredTree::new(&place.root.path));
    let listed = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&listed);
    let mut tally = FileStatistics::default();
    let mut walk = WalkBuilder::new(place.path());
    walk.standard_filters(false).hidden(true).follow_links(false).filter_entry(move |entry| {
        let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
        let is_ignored = entry.depth() > 0
            && ignored.as_ref().is_some_and(|tree| tree.ignoring(entry.path(), is_directory).is_some());
        if is_ignored {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        !(is_ignored || (is_directory && secrets::is_profile(entry.path())))
    });
    for entry in walk.build().filter_map(Result::ok) {
        if started.elapsed() > time {
            tally.is_cut = true;
            break;
        }
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            let bytes = entry.metadata().map_or(0, |metadata| metadata.len());
            tally.files.add(bytes);
            if let Some(group) = group(entry.path()) {
                tally.groups.entry(group).or_default().add(bytes);
            }
        }
    }
    tally.ignored = listed.load(Ordering::Relaxed);
    tally
}

#[cfg(test)]
mod tests {
    use std::fs;

    use ragmaker_project::RootSource;

    use super::*;
    use crate::Root;

    fn place(folder: &Path, kind: RootKind) -> ResolvedPath {
        let root = Root { path: folder.to_owned(), kind, source: RootSource::Argument, writable: false };
        ResolvedPath { root, relative: std::path::PathBuf::new() }
    }

    #[test]
    fn files_are_counted_by_group_without_hidden_and_ignored_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = ragmaker_fs::canonicalize(folder.path()).unwrap();
        for (name, text) in [
            ("a.rs", "12345"),
            ("src/b.rs", "123"),
            ("src/\u{6f6e}.md", ""),
            ("target/c.rs", "1"),
            (".hidden/d.rs", "1"),
            ("LICENSE", "12"),
        ] {
            fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
            fs::write(path.join(name), text).unwrap();
        }
        fs::write(path.join(".gitignore"), "target\n").unwrap();
        let group = |path: &Path| match path.extension()?.to_str()? {
            "rs" => Some("Rust"),
            "md" => Some("Markdown"),
            _ => None,
        };
        let found = file_statistics(&place(&path, RootKind::ProjectRoot), Duration::from_mins(1), group);
        assert_eq!((found.files, found.ignored, found.is_cut), (Count { files: 4, bytes: 10 }, 1, false));
        let groups: Vec<_> = found.groups.into_iter().collect();
        assert_eq!(groups, [("Markdown", Count { files: 1, bytes: 0 }), ("Rust", Count { files: 2, bytes: 8 })]);
        // The ignore files of another folder are those of its own project.
        let other = file_statistics(&place(&path, RootKind::AllowedRoot), Duration::from_mins(1), group);
        assert_eq!((other.files.files, other.ignored), (5, 0));
        let cut = file_statistics(&place(&path, RootKind::ProjectRoot), Duration::ZERO, group);
        assert!(cut.is_cut && cut.files.files == 0);
    }
}
