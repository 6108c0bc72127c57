//! Writing generated files to a folder.

use std::{fs, path::Path};

use ragmaker_tool::Error;

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
        fs::write(&path, content).map_err(|error| failed(&path, error))?;
    }
    Ok(format!("wrote {} files in {}\n", files.len(), dir.display()))
}
