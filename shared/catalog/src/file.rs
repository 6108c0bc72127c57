//! The catalog as a file: found through links, read whole, replaced in one step.

use std::{
    borrow::Cow,
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use ragmaker_tool::{Code, Error};

/// There is something in the catalog's place that can not be read as a file.
pub const CATALOG_NOT_READABLE: Code =
    Code::new("CATALOG_NOT_READABLE", "Give the path of a catalog.json that is a regular file, or of none yet.");
/// The changed catalog could not be written; the file is as it was.
pub const CATALOG_NOT_WRITABLE: Code = Code::new(
    "CATALOG_NOT_WRITABLE",
    "The catalog is as it was: check the permissions of its folder and the space on its disk.",
);

/// The most bytes of a catalog: some three million documents.
const MAX_BYTES: u64 = 1 << 30;

/// What a catalog starts from.
const EMPTY: &str = "{\n  \"documents\": []\n}\n";

pub(crate) fn not_writable(file: &Path, reason: &str) -> Error {
    CATALOG_NOT_WRITABLE
        .error(format!("the catalog {} can not be written: {reason}", file.display()))
        .detail("path", file.to_string_lossy())
}

fn not_readable(file: &Path, reason: &str) -> Error {
    CATALOG_NOT_READABLE
        .error(format!("the catalog {} can not be read: {reason}", file.display()))
        .detail("path", file.to_string_lossy())
}

/// The file beside the catalog `file` that serves `purpose`: `.catalog.json.lock`.
pub(crate) fn sibling(file: &Path, purpose: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(file.file_name().unwrap_or_default());
    name.push(".");
    name.push(purpose);
    file.with_file_name(name)
}

/// The absolute path of the catalog itself, links followed, in a folder that now exists.
pub(crate) fn resolve(file: &Path) -> Result<PathBuf, Error> {
    match fs::canonicalize(file) {
        Ok(found) => return Ok(found),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(not_readable(file, &error.to_string())),
        Err(_) => {}
    }
    let folder = file.parent().unwrap_or(file);
    // A link to a catalog that is yet to be made.
    if let Ok(target) = fs::read_link(file) {
        return resolve(&folder.join(target));
    }
    let refuse = |error: io::Error| not_writable(file, &format!("its folder: {error}"));
    fs::create_dir_all(folder).map_err(refuse)?;
    Ok(fs::canonicalize(folder).map_err(refuse)?.join(file.file_name().unwrap_or_default()))
}

/// A catalog's bytes, or those that a new one starts from.
pub(crate) fn read(file: &Path) -> Result<Cow<'static, [u8]>, Error> {
    let refuse = |reason: &dyn std::fmt::Display| not_readable(file, &reason.to_string());
    let found = match fs::metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Cow::Borrowed(EMPTY.as_bytes())),
        found => found.map_err(|error| refuse(&error))?,
    };
    if found.is_dir() {
        return Err(refuse(&"it is a folder"));
    }
    // Opening a pipe could wait for ever, and a device could have no end.
    if !found.is_file() {
        return Err(refuse(&"it is not a regular file"));
    }
    let mut bytes = Vec::with_capacity(found.len().min(MAX_BYTES) as usize + 1);
    let opened = File::open(file).map_err(|error| refuse(&error))?;
    opened.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| refuse(&error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(refuse(&"it is larger than 1 GiB"));
    }
    Ok(Cow::Owned(bytes))
}

/// Puts `pieces`, one after the other, in the place of `file`: readers see the old or the new.
pub(crate) fn replace(file: &Path, pieces: &[&[u8]]) -> Result<(), Error> {
    let old = fs::metadata(file).ok();
    if old.as_ref().is_some_and(|old| old.permissions().readonly()) {
        return Err(not_writable(file, "it is marked read-only"));
    }
    // One name, so that what a killed writer left is taken away by the next.
    let temporary = sibling(file, "tmp");
    let write = || {
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut new = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        pieces.iter().try_for_each(|piece| new.write_all(piece))?;
        if let Some(old) = &old {
            keep_attributes(&new, old)?;
        }
        new.sync_all()?;
        fs::rename(&temporary, file)?;
        sync_folder(file.parent().unwrap_or(file))
    };
    write().map_err(|error| {
        // It holds nothing of worth, and the next writer removes it as well.
        let _ = fs::remove_file(&temporary);
        not_writable(file, &error.to_string())
    })
}

fn keep_attributes(new: &File, old: &fs::Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let made = new.metadata()?;
        if (made.uid(), made.gid()) != (old.uid(), old.gid()) {
            // Only root may give files away; for others a file of their own is as good.
            let _ = fchown(new, Some(old.uid()), Some(old.gid()));
        }
    }
    new.set_permissions(old.permissions())
}

/// Makes the rename itself outlast a power cut, where the system has a way to say so.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error)
            if !matches!(
                error.kind(),
                io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied
            ) =>
        {
            Err(error)
        }
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
