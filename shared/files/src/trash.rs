//! The trash of the desktop (FreeDesktop.org Trash 1.0); it also works without a desktop. On Windows and macOS, the trash
//! has the same form, and is not that of the desktop.
//!
//! The `trash` crate does not return the new place of a deleted file, which an agent needs to know.

use std::{
    env,
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use ragmaker_fs::volume;
use ragmaker_project::{RootSource, create_private};
use ragmaker_tool::Error;

use crate::{IO_ERROR, ResolvedPath, Root, RootKind, place::not_found, rfc3339};

impl ResolvedPath {
    /// Moves the entry at this place to the trash and returns its new place.
    pub fn trash(&self) -> Result<PathBuf, Error> {
        let path = self.path();
        let volume = volume(&path).map_err(|_| not_found(&path))?;
        let fail = |error: io::Error| {
            IO_ERROR
                .error(format!("{} cannot be moved to the trash: {error}", path.display()))
                .remedy("Add --permanent to delete it permanently.")
                .detail("path", path.to_string_lossy())
        };
        let trash = trash_of(&path, volume).map_err(fail)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for count in 1_u32.. {
            let name = if count == 1 { name.clone() } else { format!("{name}.{count}") };
            let info = trash.join("info").join(format!("{name}.trashinfo"));
            // Who makes the note has the name.
            match fs::File::create_new(&info)
                .and_then(|mut file| io::Write::write_all(&mut file, note(&path).as_bytes()))
            {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && count < 10_000 => continue,
                Err(error) => return Err(fail(error)),
            }
            let root =
                Root { path: trash.clone(), kind: RootKind::AllowedRoot, source: RootSource::Env, writable: true };
            let there = Self { root, relative: Path::new("files").join(&name) };
            match self.move_to(&there, false) {
                Ok(()) => return Ok(there.path()),
                Err(error) => {
                    let _ = fs::remove_file(&info);
                    if !error.is(crate::ALREADY_EXISTS) {
                        return Err(error);
                    }
                }
            }
        }
        Err(fail(io::ErrorKind::AlreadyExists.into()))
    }
}

/// The trash on the volume of `path`: the user's own, or that of the volume.
fn trash_of(path: &Path, on: u64) -> io::Result<PathBuf> {
    // The directory may be a link to another volume.
    let volume_of = |directory: &Path| ragmaker_fs::canonicalize(directory).and_then(|directory| volume(&directory));
    let is_there = |directory: &Path| volume_of(directory).is_ok_and(|volume| volume == on);
    if let Some(trash) = data_folder().map(|data| data.join("Trash"))
        && trash.ancestors().find(|directory| directory.exists()).is_some_and(is_there)
        && make(&trash).is_ok()
    {
        return ragmaker_fs::canonicalize(&trash);
    }
    let Some(user) = ragmaker_fs::user_id() else {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "there is no trash on this drive"));
    };
    let top = path.ancestors().skip(1).take_while(|directory| is_there(directory)).last().unwrap_or(Path::new("/"));
    let trash = top.join(format!(".Trash-{user}"));
    make(&trash)?;
    Ok(trash)
}

/// The folder in which programs keep data of this user.
fn data_folder() -> Option<PathBuf> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if cfg!(windows) {
        return variable("LOCALAPPDATA").map(|data| data.join("ragmaker"));
    }
    variable("XDG_DATA_HOME").or_else(|| env::home_dir().map(|home| home.join(".local/share")))
}

fn make(trash: &Path) -> io::Result<()> {
    ["files", "info"].iter().try_for_each(|name| create_private(&trash.join(name)))
}

/// The trash's record of an entry: its old path and the time of the deletion.
fn note(path: &Path) -> String {
    let mut escaped = String::new();
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    let moment = rfc3339(SystemTime::now());
    format!("[Trash Info]\nPath={escaped}\nDeletionDate={}\n", moment.trim_end_matches('Z'))
}

#[cfg(all(test, unix))]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    use super::*;

    #[test]
    fn the_note_of_a_deleted_file_has_its_path_in_one_line() {
        for (path, escaped) in [
            (&b"/home/me/a b.md"[..], "/home/me/a%20b.md"),
            ("/\u{6f6e}/x-1_~.md".as_bytes(), "/%E6%BD%AE/x-1_~.md"),
            (b"/a\nPath=/etc/passwd", "/a%0APath%3D/etc/passwd"),
            (b"/\xff%", "/%FF%25"),
        ] {
            let note = note(Path::new(OsStr::from_bytes(path)));
            let lines: Vec<&str> = note.lines().collect();
            assert_eq!(lines[..2], ["[Trash Info]", &format!("Path={escaped}")]);
            let date = lines[2].strip_prefix("DeletionDate=").unwrap();
            assert!(lines.len() == 3 && date.len() == "2026-11-27T04:00:00".len(), "{note}");
        }
    }

    #[test]
    fn a_trash_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let trash = folder.path().join("Trash");
        make(&trash).and_then(|()| make(&trash)).unwrap();
        for name in ["files", "info"] {
            assert_eq!(fs::metadata(trash.join(name)).unwrap().permissions().mode() & 0o777, 0o700);
        }
    }
}
