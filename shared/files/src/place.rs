//! A resolved path: its real location, and the rule that permits its use.

use std::{
    ffi::OsString,
    fs,
    path::{Component, Path, PathBuf},
    sync::{Arc, PoisonError},
};

use ragmaker_fs::{
    is_link,
    windows_paths::{self, PathStart},
};
use ragmaker_project::{MARKERS, RootSource, knowledge_base};
use ragmaker_tool::{ARGUMENT_ERROR, Error};

use crate::{
    FILE_NOT_FOUND, PATH_NOT_ALLOWED, PATH_NOT_WRITABLE, Root, RootKind, Roots, SYMLINK_LOOP,
    catalog_access::Catalogued, file_url, io_error, secrets, suggest,
};

/// The maximum number of links in a path, as in Linux.
const MAX_LINKS: usize = 40;

/// A place in the file system that may be used: no symbolic link is left in it.
#[derive(Clone, Debug)]
pub struct ResolvedPath {
    /// The root that it is beneath.
    pub root: Root,
    /// The path relative to that root; empty for the root itself.
    pub relative: PathBuf,
}

impl ResolvedPath {
    /// The absolute path.
    pub fn path(&self) -> PathBuf {
        if self.relative.as_os_str().is_empty() { self.root.path.clone() } else { self.root.path.join(&self.relative) }
    }
}

impl Roots {
    /// The place of the path `text`, for reading.
    ///
    /// A relative path starts at the project root, or at the working directory if the project has no such file. Browser
    /// profiles are refused here and in the functions for writing, so other code does not have to check for them.
    pub fn place(&self, text: &str) -> Result<ResolvedPath, Error> {
        let place = self.place_or_missing(text)?;
        let path = place.path();
        if path.symlink_metadata().is_err() { Err(not_found(&path)) } else { Ok(place) }
    }

    /// Like [`place`](Self::place), for a path that need not exist.
    pub fn place_or_missing(&self, text: &str) -> Result<ResolvedPath, Error> {
        let place = self.located(text)?;
        secrets::check(&place.path())?;
        Ok(place)
    }

    /// Like [`place`](Self::place), for a file of sign-ins that a browser session is to take over: no tool shows it.
    pub(crate) fn place_of_session_file(&self, text: &str) -> Result<ResolvedPath, Error> {
        let place = self.located(text)?;
        secrets::check_path(&place.path())?;
        Ok(place)
    }

    fn located(&self, text: &str) -> Result<ResolvedPath, Error> {
        let named = self.named(text)?;
        let mut path = self.project().root().join(&named);
        if path.symlink_metadata().is_err()
            && let Some(beneath_cwd) = self.project().cwd().map(|cwd| cwd.join(&named))
            && beneath_cwd.symlink_metadata().is_ok()
        {
            path = beneath_cwd;
        }
        let real = real_path(&path)?;
        let Some(place) = self.containing(&real).or_else(|| self.in_unnamed_knowledge_base(&real)) else {
            return Err(self.outside(&path, &real));
        };
        if place.root.kind == RootKind::Catalog && !self.catalogued(&place.root.path).opens(&real) {
            return Err(PATH_NOT_ALLOWED
                .error(format!(
                    "{} is not a document of the knowledge base {}: of one outside the project, only the documents that its catalog lists are read",
                    real.display(),
                    place.root.path.display()
                ))
                .detail("path", path.to_string_lossy())
                .detail("resolved", real.to_string_lossy())
                .detail("rule", "of a knowledge base that nobody named, the catalog, the documents that it lists and the reports are read"));
        }
        Ok(place)
    }

    /// The files that the catalog of the knowledge base `folder` makes readable.
    fn catalogued(&self, folder: &Path) -> Arc<Catalogued> {
        let mut last = self.catalogued.lock().unwrap_or_else(PoisonError::into_inner);
        match last.as_ref().filter(|known| known.folder() == folder) {
            Some(known) => Arc::clone(known),
            None => Arc::clone(last.insert(Arc::new(Catalogued::of(folder)))),
        }
    }

    /// The place that `text` names, to write it; it need not exist. Links in it are followed.
    ///
    /// A relative path starts at the project root and nowhere else.
    pub fn place_to_write(&self, text: &str) -> Result<ResolvedPath, Error> {
        let path = self.project().root().join(self.named(text)?);
        let real = real_path(&path)?;
        self.writable(&path, &real)
    }

    /// The directory that `text` names, to write files in it; it may be a root itself and need not exist.
    pub fn directory_to_write(&self, text: &str) -> Result<PathBuf, Error> {
        let path = self.project().root().join(self.named(text)?);
        let real = real_path(&path)?;
        // No entry of a directory can be a root of its own: the rule for a file in it is the rule for it.
        if self.root_of(&real.join("_")).is_none() {
            return Err(self.outside_for_writing(&path, &real));
        }
        self.writable(&path, &real.join("_"))?;
        Ok(real)
    }

    /// The directory entry that `text` names, to move or delete it: a link is meant itself.
    pub fn entry_to_write(&self, text: &str) -> Result<ResolvedPath, Error> {
        let path = self.project().root().join(self.named(text)?);
        let (Some(parent), Some(Component::Normal(name))) = (path.parent(), path.components().next_back()) else {
            return Err(refuse_root(&path));
        };
        let real = real_path(parent)?.join(name);
        let place = self.writable(&path, &real)?;
        secrets::check_entry(&real)?;
        self.check_marker(&real)?;
        Ok(place)
    }

    /// Refuses the entry that makes the project root what it is: without it the next call would find another
    /// root, further up.
    fn check_marker(&self, real: &Path) -> Result<(), Error> {
        let (project, source) = (self.project(), self.project().source());
        let is_found = matches!(source, RootSource::Marker | RootSource::Git);
        let marker = MARKERS.iter().map(|name| project.root().join(name)).find(|path| path.symlink_metadata().is_ok());
        if !is_found || marker.is_none_or(|marker| marker != real) {
            return Ok(());
        }
        Err(PATH_NOT_WRITABLE
            .error(format!("{} marks the project root", real.display()))
            .remedy(
                "Ask the user to name the root with --project-root or RAGMAKER_PROJECT_ROOT; then it may be changed.",
            )
            .detail("path", real.to_string_lossy()))
    }

    /// The root that contains `real`, and the path below it.
    fn root_of<'a>(&'a self, real: &'a Path) -> Option<(&'a Root, &'a Path)> {
        let within = self.all().iter().filter_map(|root| Some((root, real.strip_prefix(&root.path).ok()?)));
        // The deepest root has the last word; of two that are the same, the one that may be written.
        within.min_by_key(|(root, relative)| (relative.components().count(), !root.writable))
    }

    fn writable(&self, path: &Path, real: &Path) -> Result<ResolvedPath, Error> {
        let Some((root, relative)) = self.root_of(real) else { return Err(self.outside_for_writing(path, real)) };
        if relative.as_os_str().is_empty() {
            return Err(refuse_root(real));
        }
        if !root.writable {
            let (shown, root) = (real.display(), root.path.display());
            return Err(PATH_NOT_WRITABLE
                .error(format!("{shown} is in {root}, which is read-only"))
                .detail("path", path.to_string_lossy())
                .detail("resolved", real.to_string_lossy())
                .detail("rule", "writes stay beneath the project root and the roots that are marked rw="));
        }
        secrets::check_write(real)?;
        Ok(ResolvedPath { root: root.clone(), relative: relative.to_path_buf() })
    }

    /// The deepest root that contains `real`, a path without links. A folder with a catalog is a root as well: it is
    /// readable, and nothing in it is ignored.
    fn containing(&self, real: &Path) -> Option<ResolvedPath> {
        let within = self.all().iter().filter_map(|root| Some((root, real.strip_prefix(&root.path).ok()?)));
        let (root, relative) = within.min_by_key(|(_, relative)| relative.components().count())?;
        let depth = relative.components().count();
        let catalogued = real.ancestors().take(depth + 1).find(|folder| knowledge_base::holds_catalog(folder));
        catalogued
            .and_then(|folder| self.knowledge_base(folder, real, RootKind::KbRoot))
            .or_else(|| Some(ResolvedPath { root: root.clone(), relative: relative.to_path_buf() }))
    }

    /// The knowledge base outside every root that `real` is in or that it is, which nobody had to name: its
    /// catalog does.
    fn in_unnamed_knowledge_base(&self, real: &Path) -> Option<ResolvedPath> {
        let folder = real.ancestors().find(|folder| knowledge_base::is_knowledge_base(folder))?;
        // A catalog that could be written here opens nothing above the root that it was written in.
        if self.all().iter().any(|root| root.writable && root.path.starts_with(folder)) {
            return None;
        }
        self.knowledge_base(folder, real, RootKind::Catalog)
    }

    fn knowledge_base(&self, folder: &Path, real: &Path, kind: RootKind) -> Option<ResolvedPath> {
        if self.project().is_broad(folder) {
            return None;
        }
        let relative = real.strip_prefix(folder).ok()?.to_path_buf();
        let root = Root { path: folder.to_path_buf(), kind, source: RootSource::Catalog, writable: false };
        Some(ResolvedPath { root, relative })
    }

    fn outside(&self, path: &Path, real: &Path) -> Error {
        let roots: Vec<_> = self.all().iter().map(|root| root.path.to_string_lossy().into_owned()).collect();
        let (shown, through) = (real.display(), if path == real { "" } else { ", where the path leads," });
        PATH_NOT_ALLOWED
            .error(format!("{shown}{through} is outside the directories that may be read: {}", roots.join(", ")))
            .detail("path", path.to_string_lossy())
            .detail("resolved", real.to_string_lossy())
            .detail("rule", "reads stay beneath the project root, the knowledge bases and the allowed roots")
            .detail("roots", roots)
    }

    fn outside_for_writing(&self, path: &Path, real: &Path) -> Error {
        let roots: Vec<_> = self.all().iter().filter(|root| root.writable).map(|root| &root.path).collect();
        let roots: Vec<_> = roots.into_iter().map(|root| root.to_string_lossy().into_owned()).collect();
        let (shown, through) = (real.display(), if path == real { "" } else { ", where the path leads," });
        PATH_NOT_ALLOWED
            .error(format!("{shown}{through} is outside the directories that may be written: {}", roots.join(", ")))
            .remedy("Write beneath one of details.roots; the user can allow another directory with RAGMAKER_ALLOWED_ROOTS=rw=DIR.")
            .detail("path", path.to_string_lossy())
            .detail("resolved", real.to_string_lossy())
            .detail("rule", "writes stay beneath the project root and the roots that are marked rw=")
            .detail("roots", roots)
    }

    fn named(&self, text: &str) -> Result<PathBuf, Error> {
        let bad = |reason: &str| {
            ARGUMENT_ERROR.error(format!("the path {text:?} cannot be used: {reason}")).detail("path", text)
        };
        if text.trim().is_empty() {
            return Err(bad("it is empty"));
        }
        let exists = |text: &str| self.project().root().join(text).symlink_metadata().is_ok();
        // A name that really begins like a URL wins.
        let from_url = file_url::path(text.trim()).filter(|_| !exists(text)).transpose().map_err(bad)?;
        let text = from_url.as_deref().unwrap_or(text);
        if text.contains('\0') {
            return Err(bad("it has a NUL character in it"));
        }
        if cfg!(windows) {
            self.check_windows_path(text.trim_matches('"')).map_err(bad)?;
        }
        // Models quote what needs no quotes. A name that really has them wins.
        let bare = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
        let text = if bare != text && !bare.is_empty() && !exists(text) { bare } else { text };
        let home = self.project().home();
        let beneath_home = (text == "~")
            .then_some("")
            .or_else(|| text.strip_prefix("~/"))
            .or_else(|| text.strip_prefix(r"~\").filter(|_| cfg!(windows)));
        Ok(match (beneath_home, home) {
            (Some(rest), Some(home)) if !exists(text) => home.join(rest),
            _ => PathBuf::from(text),
        })
    }

    /// Refuses what Windows takes for something else than its text says. This is decided by the text alone: to look at
    /// a share sends the user's credentials to its server.
    fn check_windows_path(&self, text: &str) -> Result<(), &'static str> {
        let is_in_root = || self.all().iter().any(|root| Path::new(text).starts_with(&root.path));
        match windows_paths::check(text)? {
            PathStart::Share if !is_in_root() => Err("it is on a server that no root is on"),
            _ => Ok(()),
        }
    }
}

fn refuse_root(path: &Path) -> Error {
    PATH_NOT_WRITABLE
        .error(format!("{} is a root itself, or above it", path.display()))
        .remedy("Name something beneath the project root.")
        .detail("path", path.to_string_lossy())
}

/// The real location of the absolute path `path`, with all links resolved. For a path that does not exist yet, the
/// links of its existing part are resolved.
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
        match ragmaker_fs::canonicalize(&existing) {
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
            Err(error) if is_link(&error) => return Err(looping(&existing)),
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Err(io_error(&error, &existing));
            }
            Err(_) => {}
        }
    }
    Err(missing(path))
}

fn looping(path: &Path) -> Error {
    SYMLINK_LOOP.error(format!("{}: symbolic links form a loop", path.display())).detail("path", path.to_string_lossy())
}

/// Nothing is at `path`, which may be anywhere.
fn missing(path: &Path) -> Error {
    FILE_NOT_FOUND.error(format!("{} does not exist", path.display())).detail("path", path.to_string_lossy())
}

/// The maximum length of a path in bytes for which similar ones are suggested.
const MAX_SUGGESTED: usize = 1_000;

/// The error for a readable `path` that does not exist; it suggests the most similar existing path.
pub(crate) fn not_found(path: &Path) -> Error {
    let error = missing(path);
    // Three like it stay within the bounds of an error.
    if path.as_os_str().len() > MAX_SUGGESTED {
        return error;
    }
    let near = suggest::paths(path);
    match near.as_slice() {
        [] => error,
        [best, ..] => {
            let remedy = format!("Did you mean {}?", best.display());
            let near: Vec<_> = near.iter().map(|path| path.to_string_lossy().into_owned()).collect();
            error.remedy(remedy).detail("near", near)
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;
    use ragmaker_tool::HostOptions;

    use super::*;

    /// A project with a file, folders, links and a read-only root beside it.
    fn project() -> (tempfile::TempDir, PathBuf, Roots) {
        let holder = tempfile::tempdir().unwrap();
        let top = holder.path().canonicalize().unwrap();
        for folder in ["project/.ragmaker", "project/docs", "other", "outside"] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        let root = top.join("project");
        for file in ["project/notes.md", "project/docs/\u{6f6e} a.md", "outside/x.md", "other/o.md"] {
            fs::write(top.join(file), "x").unwrap();
        }
        for (target, link) in
            [("docs", "to-docs"), ("../outside", "out"), ("made.md", "dangling"), ("../outside/new", "out-new")]
        {
            symlink(target, root.join(link)).unwrap();
        }
        symlink("loop", root.join("loop")).unwrap();
        let text = |path: &Path| Some(path.to_str().unwrap().to_owned());
        let host = HostOptions {
            project_root: text(&root),
            allow_root: text(&top.join("other")).into_iter().collect(),
            ..HostOptions::default()
        };
        let roots = Roots::discover(&host).unwrap();
        (holder, root, roots)
    }

    fn code<T>(result: Result<T, Error>) -> &'static str {
        result.err().map_or("", |error| error.code())
    }

    #[test]
    fn a_path_is_read_where_it_really_leads() {
        let (_holder, root, roots) = project();
        let at = |text: &str| roots.place(text).unwrap().path();
        for text in ["notes.md", "./docs/../notes.md", "\"notes.md\"", &root.join("notes.md").to_string_lossy()] {
            assert_eq!(at(text), root.join("notes.md"), "{text}");
        }
        assert_eq!(at("to-docs/\u{6f6e} a.md"), root.join("docs/\u{6f6e} a.md"));
        assert_eq!((at("."), at("to-docs/")), (root.clone(), root.join("docs")));
        // A name that really has quotes wins.
        fs::write(root.join("\"notes.md\""), "").unwrap();
        assert_eq!(at("\"notes.md\""), root.join("\"notes.md\""));
    }

    #[test]
    fn a_path_that_leads_elsewhere_or_nowhere_is_refused() {
        let (_holder, root, roots) = project();
        for (text, expected) in [
            ("", ARGUMENT_ERROR),
            (" \n", ARGUMENT_ERROR),
            ("a\0b", ARGUMENT_ERROR),
            ("/etc/passwd", PATH_NOT_ALLOWED),
            ("../outside/x.md", PATH_NOT_ALLOWED),
            ("out/x.md", PATH_NOT_ALLOWED),
            ("to-docs/../../outside/x.md", PATH_NOT_ALLOWED),
            ("loop", SYMLINK_LOOP),
            ("none.md", FILE_NOT_FOUND),
            ("none/../notes.md", FILE_NOT_FOUND),
            ("notes.md/x", FILE_NOT_FOUND),
            ("dangling", FILE_NOT_FOUND),
        ] {
            assert_eq!(code(roots.place(text)), expected.name(), "{text:?}");
        }
        let error = roots.place("note.md").unwrap_err();
        assert!(error.remediation().contains(&*root.join("notes.md").to_string_lossy()), "{error}");
        assert!(roots.place("notes.md/x").unwrap_err().remediation().contains("is a file"));
    }

    #[test]
    fn writing_follows_links_only_into_writable_roots() {
        let (holder, root, roots) = project();
        let other = holder.path().canonicalize().unwrap().join("other/new.md");
        assert_eq!(roots.place_to_write("dangling").unwrap().path(), root.join("made.md"));
        assert_eq!(roots.place_to_write("new/deep/a.md").unwrap().path(), root.join("new/deep/a.md"));
        assert_eq!(roots.directory_to_write(".").unwrap(), root);
        if let Some(home) = roots.project().home() {
            assert_eq!((roots.named("~").unwrap(), roots.named("~/a").unwrap()), (home.to_path_buf(), home.join("a")));
        }
        for (text, expected) in [
            (".", PATH_NOT_WRITABLE),
            ("out-new", PATH_NOT_ALLOWED),
            ("../x.md", PATH_NOT_ALLOWED),
            ("notes.md/x", FILE_NOT_FOUND),
            (&*other.to_string_lossy(), PATH_NOT_WRITABLE),
        ] {
            assert_eq!(code(roots.place_to_write(text)), expected.name(), "{text}");
        }
        assert_eq!(code(roots.directory_to_write("..")), PATH_NOT_ALLOWED.name());
        assert!(roots.place(&other.with_file_name("o.md").to_string_lossy()).is_ok());
    }

    #[test]
    fn a_link_is_moved_or_deleted_itself() {
        let (_holder, root, roots) = project();
        for link in ["out", "dangling", "loop", "to-docs"] {
            assert_eq!(roots.entry_to_write(link).unwrap().path(), root.join(link));
        }
        assert_eq!(roots.entry_to_write("to-docs/\u{6f6e} a.md").unwrap().path(), root.join("docs/\u{6f6e} a.md"));
        for (text, expected) in [
            (".", PATH_NOT_WRITABLE),
            ("docs/..", PATH_NOT_WRITABLE),
            ("/", PATH_NOT_WRITABLE),
            ("out/x.md", PATH_NOT_ALLOWED),
        ] {
            assert_eq!(code(roots.entry_to_write(text)), expected.name(), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn no_text_leads_out_of_the_roots(text in "(/|\\.\\./|\\./|out/|to-docs/|docs|notes\\.md|dangling|loop|\u{6f6e}|~/|\"| |x\\.md|other){0,8}") {
            let (_holder, _, roots) = project();
            let is_within = |path: &Path| roots.all().iter().any(|root| path.starts_with(&root.path));
            for place in [roots.place_or_missing(&text), roots.place_to_write(&text), roots.entry_to_write(&text)].into_iter().flatten() {
                prop_assert!(is_within(&place.path()), "{:?} {}", text, place.path().display());
            }
        }
    }
}
