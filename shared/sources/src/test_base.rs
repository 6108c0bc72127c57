//! A knowledge base for the tests of the sources.

use std::{fs, path::PathBuf};

use ragmaker_catalog::Catalog;
use ragmaker_ingest::{Run, Skips, Store};
use ragmaker_tool::Error;
use tempfile::TempDir;

/// A folder with a knowledge base `kb` and a place for sources.
pub(crate) struct Base {
    _holder: TempDir,
    pub(crate) top: PathBuf,
    pub(crate) catalog: Catalog,
}

impl Base {
    pub(crate) fn new() -> Self {
        let holder = tempfile::tempdir().unwrap();
        let top = ragmaker_fs::canonicalize(holder.path()).unwrap();
        fs::create_dir_all(top.join("kb/cache/documents")).unwrap();
        let catalog = Catalog::at(top.join("kb/cache/catalog.json")).unwrap();
        Self { _holder: holder, top, catalog }
    }

    /// Writes a file of a source, with the folders above it.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.top.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn store(&self) -> Store<'_> {
        Store::open(&self.catalog, self.top.join("kb/cache/documents")).unwrap()
    }

    /// The verdicts of a run, each with the end of its address, in order.
    pub(crate) fn verdicts(&self, act: impl FnOnce(&mut Store<'_>, &mut Run) -> Result<(), Error>) -> Vec<String> {
        let (mut store, mut run) = (self.store(), Run::start_over(&self.catalog, "test", false).unwrap());
        act(&mut store, &mut run).unwrap();
        store.finish().unwrap();
        let last = |url: &str| url.rsplit(['/', '#']).next().unwrap_or_default().to_owned();
        let mut verdicts: Vec<String> = run
            .pages()
            .iter()
            .map(|page| {
                let to = page.moved_to.as_deref().map(|to| format!(" to {}", last(to))).unwrap_or_default();
                format!("{:?} {}{to}", page.verdict, last(&page.url))
            })
            .collect();
        verdicts.sort();
        run.finish().unwrap();
        verdicts
    }
}

/// The reasons for which files are left out, each with its number of files and an example.
pub(crate) fn reasons(skips: Skips) -> Vec<String> {
    let mut reasons: Vec<String> =
        skips.into_list().into_iter().map(|one| format!("{} {} {}", one.files, one.example, one.reason)).collect();
    reasons.sort();
    reasons
}
