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
