//! Paths by caller: a person's path is used unchanged, a model's path is confined to the roots.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use ragmaker_fs::{Replace, write_atomically};
use ragmaker_tool::{ARGUMENT_ERROR, Caller, Error, Invocation};

use crate::{
    IS_A_DIRECTORY, NOT_A_DIRECTORY, NOT_A_REGULAR_FILE, PATH_NOT_WRITABLE, ROOT_NOT_USABLE, ResolvedPath, Roots,
    io_error,
};

/// The files that a caller may read. For many files, which are then checked without finding the roots for each.
#[derive(Clone, Debug)]
pub struct InputFiles {
    /// Where a model may read; `None` for a person, who may read anything.
    roots: Option<Roots>,
}

impl InputFiles {
    /// Those of the caller of `invocation`.
    ///
    /// # Errors
    /// [`PATH_ERRORS`](crate::PATH_ERRORS), for a model.
    pub fn of(invocation: &Invocation) -> Result<Self, Error> {
        let roots = match invocation.caller {
            Caller::Person => None,
            Caller::Model => Some(Roots::discover(&invocation.host)?),
        };
        Ok(Self { roots })
    }

    /// The file at `path`: as a person names it, or where a model may read.
    ///
    /// # Errors
    /// [`PATH_ERRORS`](crate::PATH_ERRORS), for a model.
    pub fn file(&self, path: &Path) -> Result<PathBuf, Error> {
        self.roots
            .as_ref()
            .map_or_else(|| Ok(path.to_owned()), |roots| Ok(roots.place(&path.to_string_lossy())?.path()))
    }
}

/// The file at `path`, to read it: as a person names it, or where a model may read.
///
/// # Errors
/// [`PATH_ERRORS`](crate::PATH_ERRORS), for a model.
pub fn input_file(path: &Path, invocation: &Invocation) -> Result<PathBuf, Error> {
    InputFiles::of(invocation)?.file(path)
}

/// Like [`input_file`], for a file of sign-ins that a browser session is to take over.
pub(crate) fn session_file(path: &Path, invocation: &Invocation) -> Result<PathBuf, Error> {
    match invocation.caller {
        Caller::Person => Ok(path.to_owned()),
        Caller::Model => Ok(Roots::discover(&invocation.host)?.place_of_session_file(&path.to_string_lossy())?.path()),
    }
}

/// The directory at `path`, which is there, to look at it: as a person names it, or where a model may read. It is
/// absolute.
///
/// # Errors
/// [`PATH_ERRORS`](crate::PATH_ERRORS) and [`NOT_A_DIRECTORY`].
pub fn input_directory(path: &Path, invocation: &Invocation) -> Result<PathBuf, Error> {
    let path = input_file(path, invocation)?;
    let found = ragmaker_fs::canonicalize(&path).map_err(|error| io_error(&error, &path))?;
    if found.is_dir() {
        return Ok(found);
    }
    Err(NOT_A_DIRECTORY
        .error(format!("{} is not a directory", found.display()))
        .detail("path", found.to_string_lossy()))
}

/// The directory at `path`, to write files in it: as a person names it, or where a model may write. It need
/// not exist.
///
/// # Errors
/// [`PATH_ERRORS`](crate::PATH_ERRORS) and `PATH_NOT_WRITABLE`, for a model; `ROOT_NOT_USABLE` as
/// [`check_start`].
pub fn output_directory(path: &Path, invocation: &Invocation) -> Result<PathBuf, Error> {
    match invocation.caller {
        Caller::Person => check_start(path).map(|()| path.to_owned()),
        Caller::Model => Roots::discover(&invocation.host)?.directory_to_write(&path.to_string_lossy()),
    }
}

/// Checks that there is a directory where `path` starts, as a person names it.
///
/// # Errors
/// `ROOT_NOT_USABLE` for a relative path if the working directory no longer exists.
pub fn check_start(path: &Path) -> Result<(), Error> {
    if path.is_absolute() || std::env::current_dir().is_ok() {
        return Ok(());
    }
    Err(ROOT_NOT_USABLE
        .error(format!("{} starts at the working directory, which does not exist", path.display()))
        .remedy("Change to a directory that exists, or give an absolute path.")
        .detail("path", path.to_string_lossy()))
}

/// A file that a caller named, to write it as a whole.
#[derive(Clone, Debug)]
pub struct OutputFile {
    /// The absolute path.
    path: PathBuf,
    /// Where a model may write; `None` for a person, who may write anywhere.
    place: Option<ResolvedPath>,
}

/// The file at `path`, to write it: as a person names it, or where a model may write. It need not exist. `argument` is
/// the option that names it.
///
/// # Errors
/// `ARGUMENT_ERROR` for `-` and a path without a file name, [`IS_A_DIRECTORY`], [`NOT_A_REGULAR_FILE`]; for a model also
/// [`PATH_ERRORS`](crate::PATH_ERRORS) and `PATH_NOT_WRITABLE`.
pub fn output_file(path: &Path, argument: &str, invocation: &Invocation) -> Result<OutputFile, Error> {
    // A separator at the end is that of a directory.
    let is_directory = path.to_string_lossy().ends_with(std::path::is_separator);
    if path.file_name().is_none() || is_directory {
        let message = format!("{argument} cannot be {:?}: it names no file", path.to_string_lossy());
        return Err(ARGUMENT_ERROR.error(message).detail("argument", argument));
    }
    // Elsewhere `-` is a standard stream, so a file of this name would be a surprise.
    if path.as_os_str() == "-" {
        return Err(ARGUMENT_ERROR
            .error(format!("{argument} cannot be \"-\": standard output has the answer"))
            .remedy("Name a file; ./- is the file with this name.")
            .detail("argument", argument));
    }
    let file = match invocation.caller {
        Caller::Person => {
            let path = std::path::absolute(path).map_err(|error| io_error(&error, path))?;
            OutputFile { path, place: None }
        }
        Caller::Model => {
            let place = Roots::discover(&invocation.host)?.place_to_write(&path.to_string_lossy())?;
            OutputFile { path: place.path(), place: Some(place) }
        }
    };
    if file.path.is_dir() {
        return Err(IS_A_DIRECTORY
            .error(format!("{} is a directory", file.path.display()))
            .remedy(format!("Name a file as {argument}."))
            .detail("path", file.path.to_string_lossy()));
    }
    if file.path.metadata().is_ok_and(|data| !data.is_file()) {
        return Err(not_regular(&file.path));
    }
    Ok(file)
}

impl OutputFile {
    /// The absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes `content` to the file, as a whole or not at all, and creates missing directories.
    ///
    /// # Errors
    /// [`IO_ERRORS`](crate::IO_ERRORS) and [`NOT_A_REGULAR_FILE`]; for a model also
    /// [`PATH_ERRORS`](crate::PATH_ERRORS).
    pub fn write(&self, content: &[u8]) -> Result<(), Error> {
        if let Some(place) = &self.place {
            return place.write(content, false).map(drop);
        }
        self.replace(content, Replace::default())
    }

    /// Like [`Self::write`], readable by the owner alone, also where the file was readable by others before. Only for
    /// a person's files.
    ///
    /// # Errors
    /// As [`Self::write`]; `PATH_NOT_WRITABLE` for a model.
    pub fn write_secret(&self, content: &[u8]) -> Result<(), Error> {
        if self.place.is_some() {
            return Err(PATH_NOT_WRITABLE
                .error(format!("{} would contain secrets, which only a person may write", self.path.display()))
                .detail("path", self.path.to_string_lossy()));
        }
        #[cfg(unix)]
        if self.path.is_file() {
            // A file that is replaced keeps its permissions.
            let owner_only = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            fs::set_permissions(&self.path, owner_only).map_err(|error| io_error(&error, &self.path))?;
        }
        self.replace(content, Replace { mode: 0o600, ..Replace::default() })
    }

    fn replace(&self, content: &[u8], replace: Replace<'_>) -> Result<(), Error> {
        let folder = self.path.parent().map_or(Ok(()), fs::create_dir_all);
        let written =
            folder.and_then(|()| write_atomically(&self.path, replace, |file| file.write_all(content)).map(drop));
        written.map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => not_regular(&self.path),
            _ => io_error(&error, &self.path),
        })
    }
}

fn not_regular(path: &Path) -> Error {
    NOT_A_REGULAR_FILE.error(format!("{} is not a regular file", path.display())).detail("path", path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PATH_NOT_ALLOWED;
    use ragmaker_tool::HostOptions;

    #[cfg(unix)]
    #[test]
    fn a_file_url_is_confined_like_the_path_that_it_names() {
        let folder = tempfile::tempdir().unwrap();
        let top = ragmaker_fs::canonicalize(folder.path()).unwrap();
        for file in ["project/a b.md", "other/a.md", "project/file:/a.md"] {
            fs::create_dir_all(top.join(file).parent().unwrap()).unwrap();
            fs::write(top.join(file), "a").unwrap();
        }
        let host =
            HostOptions { project_root: top.join("project").to_str().map(str::to_owned), ..HostOptions::default() };
        let model = Invocation { host, caller: Caller::Model, ..Invocation::default() };
        let read = |url: String| input_file(Path::new(&url), &model);
        let (project, outside) = (top.join("project"), top.join("other"));
        assert_eq!(read(format!("file://{}/a%20b.md", project.display())).unwrap(), project.join("a b.md"));
        assert!(read(format!("file://{}/a.md", outside.display())).unwrap_err().is(PATH_NOT_ALLOWED));
        assert!(read(format!("file://{}/%2e%2e/other/a.md", project.display())).unwrap_err().is(PATH_NOT_ALLOWED));
        assert_eq!(read("file:/a.md".into()).unwrap(), project.join("file:/a.md"), "the name of a file wins");
        for bad in ["file:///a.md%00", "file://server/a.md", "file:///a.md#b"] {
            assert!(read(bad.into()).unwrap_err().is(ARGUMENT_ERROR), "{bad}");
            assert!(output_directory(Path::new(bad), &model).unwrap_err().is(ARGUMENT_ERROR), "{bad}");
        }
        let written = output_directory(Path::new(&format!("file://{}/new", project.display())), &model);
        assert_eq!(written.unwrap(), project.join("new"));
    }

    #[test]
    fn a_model_stays_within_the_roots() {
        let folder = tempfile::tempdir().unwrap();
        let top = ragmaker_fs::canonicalize(folder.path()).unwrap();
        for name in ["project", "readable", "writable", "other"] {
            fs::create_dir(top.join(name)).unwrap();
            fs::write(top.join(name).join("a.html"), "a").unwrap();
        }
        let allowed = |name: &str| top.join(name).to_str().unwrap().to_owned();
        let host = HostOptions {
            project_root: Some(allowed("project")),
            allow_root: vec![allowed("readable"), format!("rw={}", allowed("writable"))],
            ..HostOptions::default()
        };
        let model = Invocation { host, caller: Caller::Model, ..Invocation::default() };
        let person = Invocation { caller: Caller::Person, ..model.clone() };

        assert_eq!(input_file(Path::new("a.html"), &model).unwrap(), top.join("project/a.html"));
        assert_eq!(output_directory(Path::new("."), &model).unwrap(), top.join("project"));
        assert_eq!(output_directory(Path::new("new/docs"), &model).unwrap(), top.join("project/new/docs"));
        assert!(input_file(&top.join("readable/a.html"), &model).is_ok());
        assert!(output_directory(&top.join("readable"), &model).unwrap_err().is(PATH_NOT_WRITABLE));
        assert_eq!(output_directory(&top.join("writable"), &model).unwrap(), top.join("writable"));
        for outside in [top.join("other"), top.clone(), "../other".into(), "/".into()] {
            assert!(output_directory(&outside, &model).unwrap_err().is(PATH_NOT_ALLOWED), "{outside:?}");
            assert!(input_file(&outside.join("a.html"), &model).unwrap_err().is(PATH_NOT_ALLOWED), "{outside:?}");
            assert_eq!(output_directory(&outside, &person).unwrap(), outside);
            assert_eq!(input_file(&outside.join("a.html"), &person).unwrap(), outside.join("a.html"));
            assert!(output_file(&outside.join("a.png"), "--to", &model).unwrap_err().is(PATH_NOT_ALLOWED));
        }
        let inside = output_file(Path::new("new/a.png"), "--to", &model).unwrap();
        inside.write(b"picture").unwrap();
        assert_eq!(fs::read(top.join("project/new/a.png")).unwrap(), b"picture");
        let anywhere = output_file(&top.join("other/new/a.png"), "--to", &person).unwrap();
        anywhere.write(b"picture").unwrap();
        assert_eq!(fs::read(top.join("other/new/a.png")).unwrap(), b"picture");
        assert!(inside.write_secret(b"secret").unwrap_err().is(PATH_NOT_WRITABLE));
        anywhere.write_secret(b"secret").unwrap();
        #[cfg(unix)]
        {
            let mode = fs::metadata(anywhere.path()).unwrap().permissions();
            assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777, 0o600);
        }
        for caller in [&model, &person] {
            let folder = top.join("project/new");
            assert!(output_file(&folder, "--to", caller).unwrap_err().is(IS_A_DIRECTORY));
            for none in ["..", "-"] {
                assert!(output_file(Path::new(none), "--to", caller).unwrap_err().is(ARGUMENT_ERROR), "{none}");
            }
            assert!(output_file(Path::new("./-"), "--to", caller).unwrap().path().ends_with("-"));
        }
    }
}
