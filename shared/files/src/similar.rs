//! The files of the same folder and extension as another, whose encoding is probably the same.

use std::{ffi::OsStr, io, path::Path};

use ragmaker_fs::Directory;

use crate::{Opener, ResolvedPath, open::regular, secrets::head};

/// The number of files that are read.
const FILES: usize = 8;

/// The number of bytes that are read of each.
const START: usize = 16 * 1024;

impl ResolvedPath {
    /// The starts of the similar files, as for [`Opener::similar_files`]; none if the root cannot be opened.
    pub fn similar_files(&self) -> Vec<Vec<u8>> {
        self.root_directory().ok().and_then(|root| similar_files(&root, &self.relative).ok()).unwrap_or_default()
    }
}

impl Opener {
    /// The first 16 KiB of each of the first eight files, by name, in the folder of `path` that have its extension;
    /// `path` may be one of them. So the answer is the same for all files of a folder that have the same
    /// extension. What cannot be read is left out.
    pub fn similar_files(&self, path: &Path) -> Vec<Vec<u8>> {
        self.relative(path).and_then(|relative| similar_files(&self.directory, relative)).unwrap_or_default()
    }
}

fn similar_files(directory: &Directory, relative: &Path) -> io::Result<Vec<Vec<u8>>> {
    let parent = directory.directory(relative.parent().unwrap_or(relative))?.child(OsStr::new("."))?;
    let mut names = parent.names()?;
    names.retain(|name| Path::new(name).extension() == relative.extension());
    names.sort_unstable();
    let files = names.iter().filter_map(|name| regular(parent.file(Path::new(name)).ok()?).ok());
    Ok(files.take(FILES).map(|(file, _)| head(&file, START)).collect())
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::symlink, process::Command};

    use ragmaker_project::RootSource;

    use super::*;
    use crate::{Root, RootKind};

    #[test]
    fn similar_files_are_regular_and_of_one_folder_and_extension() {
        let holder = tempfile::tempdir().unwrap();
        let path = holder.path().canonicalize().unwrap();
        fs::create_dir_all(path.join("sub/c.md")).unwrap();
        for (name, text) in
            [("sub/b.md", "b"), ("sub/a.md", "a"), ("sub/a.txt", "text"), ("sub/a", "none"), ("d.md", "d")]
        {
            fs::write(path.join(name), text).unwrap();
        }
        symlink("../d.md", path.join("sub/link.md")).unwrap();
        assert!(Command::new("mkfifo").arg(path.join("sub/pipe.md")).status().unwrap().success());
        let root =
            Root { path: path.clone(), kind: RootKind::AllowedRoot, source: RootSource::Argument, writable: false };
        let at = |relative: &str| ResolvedPath { root: root.clone(), relative: relative.into() };
        assert_eq!(at("sub/a.md").similar_files(), [b"a", b"b"]);
        assert_eq!(at("d.md").similar_files(), [b"d"]);
        assert_eq!(at("sub/a").similar_files(), [b"none"]);
        assert!(at("none/a.md").similar_files().is_empty() && at("sub/link.md/x.md").similar_files().is_empty());
        let opener = at("").opener().unwrap();
        assert_eq!(opener.similar_files(&path.join("sub/a.md")), at("sub/a.md").similar_files());
        assert!(opener.similar_files(Path::new("/etc/passwd")).is_empty());
        for number in 10..30 {
            fs::write(path.join(format!("{number}.log")), vec![b'0' + number; START + 1]).unwrap();
        }
        let similar = at("29.log").similar_files();
        assert!(similar.len() == FILES && similar.iter().all(|text| text.len() == START) && similar[0][0] == b'0' + 10);
    }
}
