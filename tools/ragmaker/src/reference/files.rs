//! Writing generated files to a folder.

use std::{fs, io::Write as _, path::Path};

use ragmaker_fs::{Replace, write_atomically};
use ragmaker_tool::{Error, counted};

use crate::connect::CANNOT_WRITE;

/// Writes `files`, each with its name, to the folder `dir`, which is created if missing, and returns a report.
///
/// # Errors
///
/// [`CANNOT_WRITE`].
pub(super) fn write(dir: &Path, files: &[(String, Vec<u8>)]) -> Result<String, Error> {
    let failed = |path: &Path, error: std::io::Error| CANNOT_WRITE.error(format!("{}: {error}", path.display()));
    fs::create_dir_all(dir).map_err(|error| failed(dir, error))?;
    for (name, content) in files {
        let path = dir.join(name);
        // A link is replaced, and not what it leads to. The file is made again if its name is lost.
        let replace = Replace { replace_link: true, sync_directory: false, ..Replace::default() };
        write_atomically(&path, replace, |file| file.write_all(content)).map_err(|error| failed(&path, error))?;
    }
    Ok(format!("wrote {} in {}\n", counted(files.len(), "file"), dir.display()))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_replaced_and_its_target_stays() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        fs::write(&target, "mine").unwrap();
        std::os::unix::fs::symlink(&target, folder.path().join("page.1")).unwrap();
        write(folder.path(), &[("page.1".to_owned(), b"page".to_vec())]).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
        assert_eq!(fs::read_to_string(folder.path().join("page.1")).unwrap(), "page");
    }
}
