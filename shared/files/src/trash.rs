//! The trash of the desktop (FreeDesktop.org Trash 1.0); it also works without a desktop.
//!
//! The `trash` crate does not return the new place of a deleted file, which an agent needs to know.

use std::{
    env,
    fmt::Write,
    fs, io,
    os::unix::{
        ffi::OsStrExt,
        fs::{DirBuilderExt, MetadataExt},
    },
    path::{Path, PathBuf},
    time::SystemTime,
};

use ragmaker_project::RootSource;
use ragmaker_tool::Error;

use crate::{IO_ERROR, ResolvedPath, Root, RootKind, place::not_found, rfc3339};

impl ResolvedPath {
    /// Moves the entry at this place to the trash and returns its new place.
    pub fn trash(&self) -> Result<PathBuf, Error> {
        let path = self.path();
        let device = path.symlink_metadata().map_err(|_| not_found(&path))?.dev();
        let fail = |error: io::Error| {
            IO_ERROR
                .error(format!("{} cannot be moved to the trash: {error}", path.display()))
                .remedy("Add --permanent to delete it permanently.")
                .detail("path", path.to_string_lossy())
        };
        let trash = trash_of(&path, device).map_err(fail)?;
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

/// The trash on the device of `path`: the user's own, or that of the device.
fn trash_of(path: &Path, device: u64) -> io::Result<PathBuf> {
    let data = env::var_os("XDG_DATA_HOME").filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = data.or_else(|| env::home_dir().map(|home| home.join(".local/share")));
    if let Some(trash) = home.map(|data| data.join("Trash")) {
        let on_device = |directory: &Path| directory.metadata().is_ok_and(|metadata| metadata.dev() == device);
        if trash.ancestors().find(|directory| directory.exists()).is_some_and(on_device) && make(&trash).is_ok() {
            return trash.canonicalize();
        }
    }
    let top = path
        .ancestors()
        .skip(1)
        .take_while(|directory| directory.metadata().is_ok_and(|metadata| metadata.dev() == device))
        .last()
        .unwrap_or(Path::new("/"));
    let trash = top.join(format!(".Trash-{}", rustix::process::geteuid().as_raw()));
    make(&trash)?;
    Ok(trash)
}

fn make(trash: &Path) -> io::Result<()> {
    ["files", "info"]
        .iter()
        .try_for_each(|name| fs::DirBuilder::new().recursive(true).mode(0o700).create(trash.join(name)))
}

/// The trash's record of an entry: its old path and the time of the deletion.
fn note(path: &Path) -> String {
    let mut escaped = String::new();
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    let moment = rfc3339(SystemTime::now());
    format!("[Trash Info]\nPath={escaped}\nDeletionDate={}\n", moment.trim_end_matches('Z'))
}
