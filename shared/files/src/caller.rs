//! Paths by caller: a person's path is used unchanged, a model's path is confined to the roots.

use std::path::{Path, PathBuf};

use ragmaker_tool::{Caller, Error, Invocation};

use crate::{NOT_A_DIRECTORY, Roots, io_error};

/// The file at `path`, to read it: as a person names it, or where a model may read.
///
/// # Errors
/// [`PATH_ERRORS`](crate::PATH_ERRORS), for a model.
pub fn input_file(path: &Path, invocation: &Invocation) -> Result<PathBuf, Error> {
    match invocation.caller {
        Caller::Person => Ok(path.to_owned()),
        Caller::Model => Ok(Roots::discover(&invocation.host)?.place(&path.to_string_lossy())?.path()),
    }
}

/// The directory at `path`, which is there, to look at it: as a person names it, or where a model may read. It is
/// absolute.
///
/// # Errors
/// [`PATH_ERRORS`](crate::PATH_ERRORS) and [`NOT_A_DIRECTORY`].
pub fn input_directory(path: &Path, invocation: &Invocation) -> Result<PathBuf, Error> {
    let path = input_file(path, invocation)?;
    let found = path.canonicalize().map_err(|error| io_error(&error, &path))?;
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
/// [`PATH_ERRORS`](crate::PATH_ERRORS) and `PATH_NOT_WRITABLE`, for a model.
pub fn output_directory(path: &Path, invocation: &Invocation) -> Result<PathBuf, Error> {
    match invocation.caller {
        Caller::Person => Ok(path.to_owned()),
        Caller::Model => Roots::discover(&invocation.host)?.directory_to_write(&path.to_string_lossy()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PATH_NOT_ALLOWED, PATH_NOT_WRITABLE};
    use ragmaker_tool::HostOptions;
    use std::fs;

    #[test]
    fn a_model_stays_within_the_roots() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
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
        }
    }
}
