//! Atomic replacement of the catalog file by its changed text.

use std::{
    ffi::OsString,
    fs,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use ragmaker_fs::{Replace, write_atomically};

use crate::{
    edit::{self, Edit},
    file::LoadedCatalog,
};

/// The file beside the catalog `file` that serves `purpose`: `.catalog.json.lock`.
pub(crate) fn sibling(file: &Path, purpose: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(file.file_name().unwrap_or_default());
    name.push(".");
    name.push(purpose);
    file.with_file_name(name)
}

/// Replaces the catalog `file`, whose content is `current`, by `current` with the edits applied. Readers see the old or
/// the new content.
///
/// The new file is written and synced before it is renamed, so this is also true after a power cut. The rename itself
/// may then be lost: syncing the folder as well would make an append to a catalog of a hundred documents a third
/// slower.
pub(crate) fn replace(file: &Path, current: &LoadedCatalog, edits: &[Edit]) -> io::Result<()> {
    // A rename asks for no permission to write the file that it replaces.
    if fs::metadata(file).is_ok_and(|old| old.permissions().readonly()) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is marked read-only"));
    }
    let temporary = sibling(file, "tmp");
    let replace = Replace {
        sync_directory: false,
        // The lock allows one name, so that the next writer removes what a killed one left.
        temporary: temporary.file_name(),
        check: &|| current.check_unchanged(file),
        ..Replace::default()
    };
    write_atomically(file, replace, |new| {
        let mut out = BufWriter::new(new);
        edit::write(&current.text, edits, &mut out)?;
        out.flush()
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_another_program_wrote_meanwhile_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalog.json");
        fs::write(&path, "{\"documents\": []}").unwrap();
        let current = LoadedCatalog::read(&path, crate::SourceType::Web).unwrap();
        fs::write(&path, "{\"documents\": [{}]}").unwrap();
        let edits = [Edit { range: 15..15, new: "{}".into() }];
        assert!(replace(&path, &current, &edits).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"documents\": [{}]}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no temporary file is left");
        replace(&path, &LoadedCatalog::read(&path, crate::SourceType::Web).unwrap(), &[]).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"documents\": [{}]}");
    }
}
