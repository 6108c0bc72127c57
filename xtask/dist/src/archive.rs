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

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// An archive of the same files, made in `folder` in this order.
    fn archive(folder: &Path, names: &[&str]) -> Vec<u8> {
        let stage = folder.join("stage");
        for name in names {
            let path = stage.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink("ragmaker", stage.join("bin/ragmaker-read-file")).unwrap();
        let path = folder.join("a.tar.gz");
        write(&stage, "ragmaker-1", 1_700_000_000, &path).unwrap();
        fs::read(path).unwrap()
    }

    #[test]
    fn the_same_files_make_the_same_bytes() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let names = ["bin/ragmaker", "share/a/b.md", "share/a.md"];
        let bytes = archive(one.path(), &names);
        let reversed: Vec<_> = names.into_iter().rev().collect();
        assert_eq!(bytes, archive(other.path(), &reversed));
        let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(&bytes[..]));
        let mut found = vec![];
        for entry in tar.entries().unwrap() {
            let mut entry = entry.unwrap();
            let header = entry.header();
            assert_eq!((header.mtime().unwrap(), header.uid().unwrap(), header.gid().unwrap()), (1_700_000_000, 0, 0));
            let (mode, kind) = (header.mode().unwrap(), header.entry_type());
            let path = entry.path().unwrap().to_string_lossy().into_owned();
            let mut text =
                entry.link_name().unwrap().map_or_else(String::new, |link| link.to_string_lossy().into_owned());
            entry.read_to_string(&mut text).unwrap();
            if kind == EntryType::Symlink {
                assert_eq!((path.as_str(), text.as_str()), ("ragmaker-1/bin/ragmaker-read-file", "ragmaker"));
            } else {
                found.push((path, mode, text));
            }
        }
        let file = |name: &str, mode| (format!("ragmaker-1/{name}"), mode, name.to_owned());
        assert_eq!(found, [file("bin/ragmaker", 0o755), file("share/a/b.md", 0o644), file("share/a.md", 0o644)]);
    }

    #[test]
    fn the_checksum_is_a_line_for_sha256sum() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tar.gz");
        fs::write(&path, "abc").unwrap();
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(checksum(&path).unwrap(), format!("{digest}  a.tar.gz\n"));
        assert!(checksum(folder.path()).is_err());
    }
}
