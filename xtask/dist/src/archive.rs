//! The archive, with the same bytes for the same files: sorted, with fixed owners, modes and times.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::Context;
use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

/// Writes what is in `folder` to the archive `path`, below the folder `name`; `time` is the time of every file.
///
/// # Errors
///
/// A file cannot be read or written.
pub fn write(folder: &Path, name: &str, time: u64, path: &Path) -> anyhow::Result<()> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let gzip = GzBuilder::new().mtime(0).write(file, Compression::best());
    let mut tar = Builder::new(gzip);
    let mut paths = vec![];
    list(folder, &mut paths)?;
    paths.sort();
    for path in paths {
        let inside = Path::new(name).join(path.strip_prefix(folder)?);
        let data = fs::symlink_metadata(&path)?;
        let mut header = Header::new_gnu();
        header.set_mtime(time);
        header.set_uid(0);
        header.set_gid(0);
        header.set_size(0);
        if data.is_symlink() {
            header.set_entry_type(EntryType::Symlink);
            header.set_mode(0o777);
            tar.append_link(&mut header, inside, fs::read_link(&path)?)?;
        } else {
            let content = fs::read(&path)?;
            let is_executable = path.parent().is_some_and(|parent| parent.ends_with("bin"));
            header.set_entry_type(EntryType::Regular);
            header.set_mode(if is_executable { 0o755 } else { 0o644 });
            header.set_size(content.len() as u64);
            tar.append_data(&mut header, inside, &content[..])?;
        }
    }
    tar.into_inner()?.finish()?.flush()?;
    Ok(())
}

/// The files and links below `folder`.
fn list(folder: &Path, paths: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            list(&entry.path(), paths)?;
        } else {
            paths.push(entry.path());
        }
    }
    Ok(())
}

/// The line that `sha256sum --check` reads for the file at `path`.
///
/// # Errors
///
/// It cannot be read.
pub fn checksum(path: &Path) -> anyhow::Result<String> {
    let name = path.file_name().context("a file has a name")?.to_string_lossy();
    Ok(format!("{}  {name}\n", sha256(path)?))
}

/// The SHA-256 of the file at `path`, in hexadecimal.
///
/// # Errors
///
/// It cannot be read.
pub fn sha256(path: &Path) -> anyhow::Result<String> {
    let content = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(format!("{:x}", Sha256::digest(content)))
}
