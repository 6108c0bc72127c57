//! One path, resolved: where it really is, and by which rule it may be used.

use std::{
    ffi::OsString,
    fs,
    path::{Component, Path, PathBuf},
};

use ragmaker_tool::{ARGUMENT_ERROR, Error};

use crate::{
    FILE_NOT_FOUND, PATH_NOT_ALLOWED, PATH_NOT_WRITABLE, Root, Roots, SYMLINK_LOOP, catalog, error::is_loop, io_error,
    near, roots,
};

/// As many links as Linux follows.
const MAX_LINKS: usize = 40;

/// A place in the file system that may be used: no symbolic link is left in it.
#[derive(Clone, Debug)]
pub struct Place {
    /// The root that it is beneath.
    pub root: Root,
    /// Where it is beneath that root; empty for the root itself.
    pub relative: PathBuf,
}

impl Place {
    /// Where it is.
    pub fn path(&self) -> PathBuf {
        if self.relative.as_os_str().is_empty() { self.root.path.clone() } else { self.root.path.join(&self.relative) }
    }
}

impl Roots {
    /// The place that `text` names, to read it.
    ///
    /// A relative path starts at the project root; if nothing is there, at the working directory.
    pub fn place(&self, text: &str) -> Result<Place, Error> {
        let named = self.named(text)?;
        let mut path = self.project().path.join(&named);
        if path.symlink_metadata().is_err() && self.cwd.join(&named).symlink_metadata().is_ok() {
            path = self.cwd.join(&named);
        }
        let real = real_path(&path)?;
        // A knowledge base within a project is one all the same: nothing in it is ignored.
        let place = match (self.containing(&real), self.catalogued(&real)) {
            (Some(within), Some(base)) if base.root.path.starts_with(&within.root.path) => base,
            (Some(within), _) => within,
            (None, Some(base)) => base,
            (None, None) => return Err(self.outside(&path, &real)),
        };
        if real.symlink_metadata().is_err() { Err(not_found(&real)) } else { Ok(place) }
    }

    /// The place that `text` names, to write it; it need not exist. Links in it are followed.
    ///
    /// A relative path starts at the project root and nowhere else.
    pub fn place_to_write(&self, text: &str) -> Result<Place, Error> {
        let path = self.project().path.join(self.named(text)?);
        let real = real_path(&path)?;
        self.writable(&path, &real)
    }

    /// The directory entry that `text` names, to move or delete it: a link is meant itself.
    pub fn entry_to_write(&self, text: &str) -> Result<Place, Error> {
        let path = self.project().path.join(self.named(text)?);
        let (Some(parent), Some(Component::Normal(name))) = (path.parent(), path.components().next_back()) else {
            return Err(refuse_root(&path));
        };
        let real = real_path(parent)?.join(name);
        self.writable(&path, &real)
    }

    fn writable(&self, path: &Path, real: &Path) -> Result<Place, Error> {
        let within = self.list.iter().filter_map(|root| Some((root, real.strip_prefix(&root.path).ok()?)));
        // The deepest root has the last word; of two that are the same, the one that may be written.
        let place = within.min_by_key(|(root, relative)| (relative.components().count(), !root.writable));
        let Some((root, relative)) = place else { return Err(self.outside(path, real)) };
        if relative.as_os_str().is_empty() {
            return Err(refuse_root(real));
        }
        if !root.writable {
            let (shown, root) = (real.display(), root.path.display());
            return Err(PATH_NOT_WRITABLE
                .error(format!("{shown} is in {root}, which may be read and not changed"))
                .detail("path", path.to_string_lossy())
                .detail("resolved", real.to_string_lossy())
                .detail("rule", "writes stay beneath the project root and the roots that are marked rw="));
        }
        Ok(Place { root: root.clone(), relative: relative.to_path_buf() })
    }

    /// The deepest root that `real`, a path without links, is in.
    fn containing(&self, real: &Path) -> Option<Place> {
        self.list
            .iter()
            .filter_map(|root| Some((root, real.strip_prefix(&root.path).ok()?)))
            .min_by_key(|(_, relative)| relative.components().count())
            .map(|(root, relative)| Place { root: root.clone(), relative: relative.to_path_buf() })
    }

    /// The knowledge base that `real` is in, which nobody had to name: its catalog does.
    fn catalogued(&self, real: &Path) -> Option<Place> {
        let path = catalog::enclosing(real).filter(|directory| !self.is_broad(directory))?;
        let relative = real.strip_prefix(&path).ok()?.to_path_buf();
        let root = Root { path, kind: roots::Kind::KbRoot, source: roots::Source::Catalog, writable: false };
        Some(Place { root, relative })
    }

    fn outside(&self, path: &Path, real: &Path) -> Error {
        let roots: Vec<_> = self.list.iter().map(|root| root.path.to_string_lossy().into_owned()).collect();
        let (shown, through) = (real.display(), if path == real { "" } else { ", where the path leads," });
        PATH_NOT_ALLOWED
            .error(format!("{shown}{through} is outside the directories that may be read: {}", roots.join(", ")))
            .detail("path", path.to_string_lossy())
            .detail("resolved", real.to_string_lossy())
            .detail("rule", "reads stay beneath the project root, the knowledge bases and the allowed roots")
            .detail("roots", roots)
    }

    fn named(&self, text: &str) -> Result<PathBuf, Error> {
        let bad = |reason: &str| {
            ARGUMENT_ERROR.error(format!("--path can not be {text:?}: {reason}")).detail("argument", "--path")
        };
        if text.trim().is_empty() {
            return Err(bad("it is empty"));
        }
        if text.contains('\0') {
            return Err(bad("it has a NUL character in it"));
        }
        // Models quote what needs no quotes. A name that really has them wins.
        let bare = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
        let exists = |text: &str| self.project().path.join(text).symlink_metadata().is_ok();
        let text = if bare != text && !bare.is_empty() && !exists(text) { bare } else { text };
        let home = self.environment.home.as_ref();
        Ok(match (text.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) if !exists(text) => home.join(rest),
            _ => PathBuf::from(text),
        })
    }
}

fn refuse_root(path: &Path) -> Error {
    PATH_NOT_WRITABLE
        .error(format!("{} is a root itself, or above it", path.display()))
        .remedy("Name something beneath the project root.")
        .detail("path", path.to_string_lossy())
}

/// Where `path`, which is absolute, really is: every link in it followed; for a path that does not
/// exist yet, every link in the part that does.
pub(crate) fn real_path(path: &Path) -> Result<PathBuf, Error> {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let (existing, rest) = match deepest_existing(&path)? {
            (real, rest) if rest.is_empty() => return Ok(real),
            parts => parts,
        };
        let next = existing.join(&rest[0]);
        // A dangling link: it leads where the file would be made.
        if let Ok(target) = fs::read_link(&next) {
            path = rest[1..].iter().fold(existing.join(target), |path, name| path.join(name));
            continue;
        }
        if rest.iter().any(|name| name == "..") {
            return Err(missing(&path));
        }
        return Ok(rest.iter().fold(existing, |path, name| path.join(name)));
    }
    Err(looping(&path))
}

fn deepest_existing(path: &Path) -> Result<(PathBuf, Vec<OsString>), Error> {
    let names: Vec<_> = path.components().collect();
    for count in (1..=names.len()).rev() {
        let existing: PathBuf = names[..count].iter().collect();
        match existing.canonicalize() {
            Ok(real) => {
                let rest: Vec<_> = names[count..]
                    .iter()
                    .filter(|name| !matches!(name, Component::CurDir))
                    .map(|name| name.as_os_str().to_owned())
                    .collect();
                if !rest.is_empty() && !real.is_dir() {
                    return Err(missing(path).remedy(format!("{} is a file, not a directory.", real.display())));
                }
                return Ok((real, rest));
            }
            Err(error) if is_loop(&error) => return Err(looping(&existing)),
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Err(io_error(&error, &existing));
            }
            Err(_) => {}
        }
    }
    Err(missing(path))
}

fn looping(path: &Path) -> Error {
    SYMLINK_LOOP
        .error(format!("{}: symbolic links lead in a circle", path.display()))
        .detail("path", path.to_string_lossy())
}

/// Nothing is at `path`, which may be anywhere.
fn missing(path: &Path) -> Error {
    FILE_NOT_FOUND.error(format!("{} does not exist", path.display())).detail("path", path.to_string_lossy())
}

/// The longest path, in bytes, for which others are suggested.
const LONGEST_NEAR: usize = 1_000;

/// Nothing is at `path`, which may be read; the nearest that there is is suggested.
pub(crate) fn not_found(path: &Path) -> Error {
    let error = missing(path);
    // Three like it stay within the bounds of an error.
    if path.as_os_str().len() > LONGEST_NEAR {
        return error;
    }
    let near = near::paths(path);
    match near.as_slice() {
        [] => error,
        [best, ..] => {
            let remedy = format!("Did you mean {}?", best.display());
            let near: Vec<_> = near.iter().map(|path| path.to_string_lossy().into_owned()).collect();
            error.remedy(remedy).detail("near", near)
        }
    }
}
