//! The place where a tool saves, from its arguments: one rule for all tools that save documents.

use std::path::{Path, PathBuf};

use ragmaker_catalog::{Access, Catalog};
use ragmaker_files::output_directory;
use ragmaker_tool::{ARGUMENT_ERROR, Error, Invocation};

use crate::Destination;

/// The arguments of a tool that name the place where it saves.
#[derive(Clone, Copy, Debug, Default)]
pub struct DestinationArgs<'a> {
    /// `--output-dir`: the folder of the documents.
    pub output_dir: Option<&'a Path>,
    /// `--kb-root`: the folder of the knowledge base.
    pub kb_root: Option<&'a Path>,
    /// `--catalog-path`: the catalog file, instead of `kb_root`.
    pub catalog_path: Option<&'a Path>,
}

/// A knowledge base to save in.
#[derive(Clone, Debug)]
pub struct SaveTarget {
    /// The catalog that lists what is saved.
    pub catalog: Catalog,
    /// The folder of the files; it need not exist.
    pub folder: PathBuf,
}

impl SaveTarget {
    /// The destination in this place, for [`save`](crate::save).
    pub fn destination(&self) -> Destination<'_> {
        Destination { folder: self.folder.clone(), catalog: Some(&self.catalog) }
    }
}

impl DestinationArgs<'_> {
    /// Whether a catalog is named, by one argument or the other.
    pub fn names_catalog(&self) -> bool {
        self.kb_root.is_some() || self.catalog_path.is_some()
    }

    /// The place where documents are saved: `output_dir`, or else the folder `documents` beside the catalog, which is
    /// `kb_root/cache/documents`. Without `kb_root` and `catalog_path`, it is the project's catalog. A place that a
    /// model names is confined to the roots that may be written.
    ///
    /// # Errors
    ///
    /// Those of [`Catalog::locate`], and [`ARGUMENT_ERROR`] where `output_dir` is empty.
    pub fn locate(&self, invocation: &Invocation) -> Result<SaveTarget, Error> {
        let named = self.output_dir(invocation)?;
        let catalog = Catalog::locate(self.kb_root, self.catalog_path, Access::Write, invocation)?;
        let folder = match named {
            Some(folder) => folder,
            // A link there may lead a model out of its roots.
            None => output_directory(&Destination::of_catalog(&catalog).folder, invocation)?,
        };
        Ok(SaveTarget { catalog, folder })
    }

    /// The folder that `output_dir` names.
    ///
    /// # Errors
    ///
    /// As for [`locate`](Self::locate).
    pub fn output_dir(&self, invocation: &Invocation) -> Result<Option<PathBuf>, Error> {
        match self.output_dir {
            Some(folder) if folder.as_os_str().is_empty() => {
                Err(ARGUMENT_ERROR.error("--output-dir is empty").detail("argument", "--output-dir"))
            }
            folder => folder.map(|folder| output_directory(folder, invocation)).transpose(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragmaker_tool::{Caller, HostOptions};
    use std::fs;

    #[test]
    fn a_knowledge_base_is_enough() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().canonicalize().unwrap();
        let host = HostOptions { project_root: project.to_str().map(str::to_owned), ..HostOptions::default() };
        let model = Invocation { host, caller: Caller::Model, ..Invocation::default() };
        let locate = |output_dir: Option<&str>, kb_root: Option<&str>, catalog_path: Option<&str>| {
            let [output_dir, kb_root, catalog_path] =
                [output_dir, kb_root, catalog_path].map(|path| path.map(Path::new));
            let place = DestinationArgs { output_dir, kb_root, catalog_path }.locate(&model)?;
            let shown = |path: &Path| path.strip_prefix(&project).unwrap().to_str().unwrap().to_owned();
            Ok::<_, Error>((shown(&place.folder), shown(place.catalog.file())))
        };
        for (arguments, expected) in [
            ((None, Some("kb"), None), ("kb/cache/documents", "kb/cache/catalog.json")),
            ((Some("out"), Some("kb"), None), ("out", "kb/cache/catalog.json")),
            ((None, None, Some("c.json")), ("documents", "c.json")),
            ((Some("out"), None, None), ("out", ".tmp/cache/catalog.json")),
            ((None, None, None), (".tmp/cache/documents", ".tmp/cache/catalog.json")),
        ] {
            let (folder, catalog) = locate(arguments.0, arguments.1, arguments.2).unwrap();
            assert_eq!((&*folder, &*catalog), expected);
        }
        assert!(locate(Some(""), None, None).unwrap_err().is(ARGUMENT_ERROR));
        assert!(locate(None, Some("../kb"), None).unwrap_err().is(ragmaker_files::PATH_NOT_ALLOWED));
        #[cfg(unix)]
        {
            let elsewhere = tempfile::tempdir().unwrap();
            fs::create_dir_all(project.join("led/cache")).unwrap();
            std::os::unix::fs::symlink(elsewhere.path(), project.join("led/cache/documents")).unwrap();
            assert!(locate(None, Some("led"), None).unwrap_err().is(ragmaker_files::PATH_NOT_ALLOWED));
        }
    }
}
