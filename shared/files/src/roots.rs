//! Which directories are open to the agent, and who said so.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use ragmaker_tool::{Error, JsonSchema};
use serde::Serialize;

use crate::{ROOT_NOT_USABLE, ROOT_TOO_BROAD, catalog};

/// What a directory is, if one of these is in it; `.git` comes first because it alone is `git`.
pub const MARKERS: [&str; 9] =
    [".git", ".ragmaker", "Cargo.toml", "package.json", "pyproject.toml", "go.mod", "pom.xml", ".hg", ".svn"];

/// What a command line says about roots: the arguments that every file tool shares.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'a> {
    /// `--project-root`.
    pub project_root: Option<&'a str>,
    /// `--allow-root`.
    pub allow_root: &'a [String],
    /// `--kb-root`.
    pub kb_root: &'a [String],
}

/// What the environment says about roots.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    pub(crate) project_root: Option<OsString>,
    pub(crate) allowed_roots: Option<OsString>,
    pub(crate) kb_roots: Option<OsString>,
    pub(crate) force: bool,
    pub(crate) home: Option<PathBuf>,
}

impl Environment {
    fn read() -> Self {
        let variable = |name| env::var_os(name).filter(|value| !value.is_empty());
        Self {
            project_root: variable("RAGMAKER_PROJECT_ROOT"),
            allowed_roots: variable("RAGMAKER_ALLOWED_ROOTS"),
            kb_roots: variable("RAGMAKER_KB_ROOTS"),
            force: variable("RAGMAKER_ALLOW_BROAD_ROOTS").is_some_and(|value| value != "0"),
            home: env::home_dir(),
        }
    }
}

/// Who named a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// An argument of this call.
    Argument,
    /// An environment variable.
    Env,
    /// A file that marks a project, such as `Cargo.toml`.
    Marker,
    /// The `.git` of a repository.
    Git,
    /// The working directory, for want of anything better.
    Cwd,
    /// The catalog of a knowledge base.
    Catalog,
}

/// What a root is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The project: read and written.
    ProjectRoot,
    /// A knowledge base: read.
    KbRoot,
    /// Another directory that was allowed: read, and written where it says so.
    AllowedRoot,
}

impl Kind {
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ProjectRoot => "project root",
            Self::KbRoot => "knowledge base",
            Self::AllowedRoot => "allowed root",
        }
    }
}

/// A directory that is open to the agent, with all that is beneath it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Root {
    /// The directory, absolute and without symbolic links.
    pub path: PathBuf,
    /// What it is for.
    pub kind: Kind,
    /// Who named it.
    pub source: Source,
    /// Whether files in it may be changed.
    pub writable: bool,
}

/// A directory that could have been the project root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Candidate {
    /// The directory as it was named.
    pub path: PathBuf,
    /// Who named it.
    pub source: Source,
    /// Whether it is the project root.
    pub chosen: bool,
    /// Why, or why not.
    pub reason: String,
}

/// The directories that are open to the agent.
#[derive(Clone, Debug)]
pub struct Roots {
    /// The project root first, then those that were named.
    pub(crate) list: Vec<Root>,
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) cwd: PathBuf,
    pub(crate) environment: Environment,
}

impl Roots {
    /// The roots of this call: from its arguments, the environment and the working directory.
    pub fn discover(asked: Asked<'_>) -> Result<Self, Error> {
        Self::here(asked, false)
    }

    /// The same, with every directory that could have been the project root among the
    /// [`candidates`](Self::candidates), and not only those that come before it.
    pub fn survey(asked: Asked<'_>) -> Result<Self, Error> {
        Self::here(asked, true)
    }

    fn here(asked: Asked<'_>, every: bool) -> Result<Self, Error> {
        let cwd = env::current_dir().and_then(|cwd| cwd.canonicalize()).map_err(|error| {
            ROOT_NOT_USABLE
                .error(format!("the working directory can not be used: {error}"))
                .remedy("Change to a directory that exists.")
        })?;
        Self::of(asked, Environment::read(), cwd, every)
    }

    pub(crate) fn of(asked: Asked<'_>, environment: Environment, cwd: PathBuf, every: bool) -> Result<Self, Error> {
        let mut roots = Self { list: vec![], candidates: vec![], cwd, environment };
        roots.add_project(asked.project_root, every)?;
        for text in asked.allow_root {
            roots.add_allowed(text.as_ref(), Source::Argument)?;
        }
        for text in asked.kb_root {
            roots.add_knowledge_base(text.as_ref(), Source::Argument)?;
        }
        for path in split(roots.environment.allowed_roots.as_ref()) {
            roots.add_allowed(&path, Source::Env)?;
        }
        for path in split(roots.environment.kb_roots.as_ref()) {
            roots.add_knowledge_base(&path, Source::Env)?;
        }
        Ok(roots)
    }

    /// The project root: where relative paths start.
    pub fn project(&self) -> &Root {
        &self.list[0]
    }

    /// Every root, the project root first.
    pub fn all(&self) -> &[Root] {
        &self.list
    }

    /// The directories that were considered as the project root, the first choice first.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// The working directory.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    fn add_project(&mut self, argument: Option<&str>, every: bool) -> Result<(), Error> {
        let named = [
            (argument.map(PathBuf::from), Source::Argument),
            (self.environment.project_root.clone().map(PathBuf::from), Source::Env),
        ];
        for (path, source) in named {
            let Some(path) = path else { continue };
            if self.list.is_empty() {
                let directory = self.named_root(&path)?;
                self.choose(directory, source, "it was named".to_owned(), true);
            } else {
                self.pass(path, source, "an argument comes first");
            }
        }
        for directory in self.cwd.clone().ancestors() {
            if !every && !self.list.is_empty() {
                break;
            }
            let Some(marker) = MARKERS.iter().find(|marker| directory.join(marker).symlink_metadata().is_ok()) else {
                continue;
            };
            let source = if *marker == ".git" { Source::Git } else { Source::Marker };
            if self.is_broad(directory) {
                self.pass(directory.to_path_buf(), source, "it is too broad");
            } else if self.list.is_empty() {
                self.choose(directory.to_path_buf(), source, format!("it holds {marker}"), true);
            } else {
                self.pass(directory.to_path_buf(), source, "a better one was found");
            }
        }
        let cwd = self.cwd.clone();
        if self.list.is_empty() {
            // The user started the agent here; but an agent does not write all over a home.
            let writable = !self.is_broad(&cwd);
            let reason =
                if writable { "nothing else was found" } else { "nothing else was found; too broad to write in" };
            self.choose(cwd, Source::Cwd, reason.to_owned(), writable);
        } else {
            self.pass(cwd, Source::Cwd, "a better one was found");
        }
        Ok(())
    }

    fn choose(&mut self, path: PathBuf, source: Source, reason: String, writable: bool) {
        self.candidates.push(Candidate { path: path.clone(), source, chosen: true, reason });
        self.list.push(Root { path, kind: Kind::ProjectRoot, source, writable });
    }

    fn pass(&mut self, path: PathBuf, source: Source, reason: &str) {
        self.candidates.push(Candidate { path, source, chosen: false, reason: reason.to_owned() });
    }

    /// Adds a directory; `rw=` before it opens it for writing too.
    fn add_allowed(&mut self, text: &Path, source: Source) -> Result<(), Error> {
        let writable = text.to_str().and_then(|text| text.strip_prefix("rw="));
        let path = self.named_root(writable.map_or(text, Path::new))?;
        self.list.push(Root { path, kind: Kind::AllowedRoot, source, writable: writable.is_some() });
        Ok(())
    }

    fn add_knowledge_base(&mut self, path: &Path, source: Source) -> Result<(), Error> {
        let path = self.named_root(path)?;
        if !catalog::is_knowledge_base_s(&path) {
            return Err(ROOT_NOT_USABLE
                .error(format!("{} is no knowledge base: it has no catalog.json with documents", path.display()))
                .remedy("Name the directory that holds catalog.json or cache/catalog.json, or use --allow-root for another.")
                .detail("path", path.to_string_lossy()));
        }
        self.list.push(Root { path, kind: Kind::KbRoot, source, writable: false });
        Ok(())
    }

    fn named_root(&self, path: &Path) -> Result<PathBuf, Error> {
        let named = self.cwd.join(path);
        let fail = |reason: String| {
            ROOT_NOT_USABLE
                .error(format!("{} can not be a root: {reason}", named.display()))
                .detail("path", named.to_string_lossy())
        };
        let directory = named.canonicalize().map_err(|error| fail(error.to_string()))?;
        if !directory.is_dir() {
            return Err(fail("it is not a directory".to_owned()));
        }
        if self.is_broad(&directory) {
            return Err(ROOT_TOO_BROAD
                .error(format!("{} is too broad to be a root", directory.display()))
                .detail("path", directory.to_string_lossy()));
        }
        Ok(directory)
    }

    /// Whether `directory` holds much that is none of an agent's business: the file system's root,
    /// what the system keeps beside it, and the homes of users.
    pub(crate) fn is_broad(&self, directory: &Path) -> bool {
        const SYSTEM: [&str; 17] = [
            "bin",
            "boot",
            "dev",
            "etc",
            "lib",
            "lib32",
            "lib64",
            "libx32",
            "proc",
            "run",
            "sbin",
            "sys",
            "usr",
            "Library",
            "System",
            "Windows",
            "Program Files",
        ];
        // Directories in which everybody's things lie side by side.
        const SHARED: [&str; 13] = [
            "home",
            "Users",
            "root",
            "var",
            "tmp",
            "opt",
            "srv",
            "mnt",
            "media",
            "Volumes",
            "private",
            "Applications",
            "ProgramData",
        ];
        if self.environment.force {
            return false;
        }
        let home = self.environment.home.as_ref().and_then(|home| home.canonicalize().ok());
        if home.is_some_and(|home| home.starts_with(directory)) {
            return true;
        }
        let mut names = directory.components().filter_map(|component| match component {
            std::path::Component::Normal(name) => name.to_str().or(Some("")),
            _ => None,
        });
        match (names.next(), names.next(), names.next()) {
            (None, ..)
            | (Some("home" | "Users"), Some(_), None)
            | (Some("var" | "private"), Some("tmp" | "log" | "lib" | "run" | "etc" | "var"), None) => true,
            (Some(top), None, _) => SYSTEM.contains(&top) || SHARED.contains(&top),
            (Some(top), ..) => SYSTEM.contains(&top) && top != "usr" && top != "run",
        }
    }
}

fn split(list: Option<&OsString>) -> Vec<PathBuf> {
    list.map(|list| env::split_paths(list).filter(|path| !path.as_os_str().is_empty()).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    fn tree() -> (TempDir, PathBuf) {
        let temp = TempDir::new().unwrap();
        let path = temp.path().canonicalize().unwrap();
        (temp, path)
    }

    fn of(asked: Asked<'_>, environment: Environment, cwd: &Path) -> Result<Roots, Error> {
        Roots::of(asked, environment, cwd.to_path_buf(), true)
    }

    #[test]
    fn the_project_root_is_the_first_that_is_named_or_marked() {
        let (_temp, top) = tree();
        let inner = top.join("project/src");
        fs::create_dir_all(&inner).unwrap();
        let source = |asked, environment: &Environment| {
            let roots = of(asked, environment.clone(), &inner).unwrap();
            (roots.project().path.clone(), roots.project().source)
        };
        let none = Environment::default();
        assert_eq!(source(Asked::default(), &none), (inner.clone(), Source::Cwd));
        fs::write(top.join("project/Cargo.toml"), "").unwrap();
        assert_eq!(source(Asked::default(), &none), (top.join("project"), Source::Marker));
        fs::create_dir(top.join("project/.git")).unwrap();
        assert_eq!(source(Asked::default(), &none), (top.join("project"), Source::Git));
        let env = Environment { project_root: Some(top.clone().into()), ..none };
        assert_eq!(source(Asked::default(), &env), (top.clone(), Source::Env));
        let argument = Asked { project_root: Some("."), ..Asked::default() };
        assert_eq!(source(argument, &env), (inner.clone(), Source::Argument));
        let roots = of(argument, env, &inner).unwrap();
        let reasons: Vec<_> = roots.candidates().iter().map(|one| (one.source, one.chosen)).collect();
        assert_eq!(
            reasons,
            [(Source::Argument, true), (Source::Env, false), (Source::Git, false), (Source::Cwd, false)]
        );
    }

    #[test]
    fn broad_directories_are_refused_unless_forced() {
        let (_temp, top) = tree();
        let environment = Environment { home: Some(top.join("home/me")), ..Environment::default() };
        fs::create_dir_all(top.join("home/me/notes")).unwrap();
        for broad in ["/", "/etc", "/usr", top.to_str().unwrap(), top.join("home/me").to_str().unwrap()] {
            let asked = Asked { project_root: Some(broad), ..Asked::default() };
            assert!(of(asked, environment.clone(), &top).unwrap_err().is(ROOT_TOO_BROAD), "{broad}");
        }
        let forced = Environment { force: true, ..environment.clone() };
        let etc = Asked { project_root: Some("/"), ..Asked::default() };
        assert!(of(etc, forced, &top).unwrap().project().writable);
        let home = of(Asked::default(), environment.clone(), &top.join("home/me")).unwrap();
        assert!(!home.project().writable, "a home as working directory is read only");
        let notes = of(Asked::default(), environment, &top.join("home/me/notes")).unwrap();
        assert!(notes.project().writable);
    }

    #[test]
    fn a_knowledge_base_has_a_catalog() {
        let (_temp, top) = tree();
        let (kb, cwd) = (top.join("kb"), top.join("cwd"));
        fs::create_dir_all(&kb).unwrap();
        fs::create_dir_all(&cwd).unwrap();
        let name = [kb.to_str().unwrap().to_owned()];
        let asked = Asked { kb_root: &name, ..Asked::default() };
        assert!(of(asked, Environment::default(), &cwd).unwrap_err().is(ROOT_NOT_USABLE));
        fs::write(kb.join("catalog.json"), "{\"documents\": []}").unwrap();
        let roots = of(asked, Environment::default(), &cwd).unwrap();
        assert_eq!((roots.all()[1].kind, roots.all()[1].writable), (Kind::KbRoot, false));
        // As it is named where it is gathered.
        fs::create_dir(kb.join("cache")).unwrap();
        fs::rename(kb.join("catalog.json"), kb.join("cache/catalog.json")).unwrap();
        assert_eq!(of(asked, Environment::default(), &cwd).unwrap().all()[1].path, kb);
    }

    #[test]
    fn allowed_roots_are_read_only_unless_marked() {
        let (_temp, top) = tree();
        let list = env::join_paths([top.join("a"), PathBuf::from(format!("rw={}", top.join("b").display()))]).unwrap();
        for name in ["a", "b", "cwd"] {
            fs::create_dir(top.join(name)).unwrap();
        }
        let environment = Environment { allowed_roots: Some(list), ..Environment::default() };
        let roots = of(Asked::default(), environment, &top.join("cwd")).unwrap();
        let found: Vec<_> = roots.all()[1..].iter().map(|root| (root.path.clone(), root.writable)).collect();
        assert_eq!(found, [(top.join("a"), false), (top.join("b"), true)]);
    }
}
