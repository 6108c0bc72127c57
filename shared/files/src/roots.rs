//! The roots: the directories that the agent may use, and the setting that named each.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use ragmaker_project::{Project, ROOT_NOT_USABLE, RootSource, knowledge_base, variables};
use ragmaker_tool::{Error, HostOptions, JsonSchema};
use serde::Serialize;

use crate::catalog_access::Catalogued;

/// The purpose of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RootKind {
    /// The project: read and written.
    ProjectRoot,
    /// A knowledge base: read.
    KbRoot,
    /// A knowledge base outside every root, which nobody named: what its catalog opens is read.
    Catalog,
    /// Another directory that the host allows: readable, and writable if the option says so.
    AllowedRoot,
}

impl RootKind {
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ProjectRoot => "project root",
            Self::KbRoot | Self::Catalog => "knowledge base",
            Self::AllowedRoot => "allowed root",
        }
    }
}

/// A directory that is open to the agent, with all that is beneath it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Root {
    /// The directory, absolute and without symbolic links.
    pub path: PathBuf,
    /// Its purpose.
    pub kind: RootKind,
    /// Its origin.
    pub source: RootSource,
    /// Whether files in it may be changed.
    pub writable: bool,
}

/// The directories that are open to the agent.
#[derive(Clone, Debug)]
pub struct Roots {
    /// The project root first, then those that were named.
    list: Vec<Root>,
    project: Project,
    /// The knowledge base outside every root that was read last.
    pub(crate) catalogued: Arc<Mutex<Option<Arc<Catalogued>>>>,
}

impl Roots {
    /// The roots of this call: from its arguments, the environment and the working directory.
    ///
    /// # Errors
    /// `ROOT_NOT_USABLE` and `ROOT_TOO_BROAD` for a directory that was named.
    pub fn discover(host: &HostOptions) -> Result<Self, Error> {
        Self::of(Project::discover(host.project_root.as_deref())?, host)
    }

    /// Like `new`, but lists all directories that could have been the project root among [`Project::candidates`]; see
    /// [`Project::discover_all`].
    ///
    /// # Errors
    /// As [`discover`](Self::discover).
    pub fn discover_all(host: &HostOptions) -> Result<Self, Error> {
        Self::of(Project::discover_all(host.project_root.as_deref())?, host)
    }

    /// `project`, and the directories that `host` and the environment allow beside it.
    fn of(project: Project, host: &HostOptions) -> Result<Self, Error> {
        let variable = |name| env::var_os(name).unwrap_or_default();
        Self::with(project, host, &variable(variables::ALLOWED_ROOTS), &variable(variables::KB_ROOTS))
    }

    /// The roots for the given values of the environment variables.
    pub(crate) fn with(
        project: Project,
        host: &HostOptions,
        allowed_roots: &OsString,
        kb_roots: &OsString,
    ) -> Result<Self, Error> {
        let root = Root {
            path: project.root().to_path_buf(),
            kind: RootKind::ProjectRoot,
            source: project.source(),
            writable: project.is_writable(),
        };
        let mut roots = Self { list: vec![root], project, catalogued: Arc::default() };
        for text in &host.allow_root {
            roots.add_allowed(text.as_ref(), RootSource::Argument)?;
        }
        for text in &host.kb_root {
            roots.add_knowledge_base(text.as_ref(), RootSource::Argument)?;
        }
        for path in split(allowed_roots) {
            roots.add_allowed(&path, RootSource::Env)?;
        }
        for path in split(kb_roots) {
            roots.add_knowledge_base(&path, RootSource::Env)?;
        }
        Ok(roots)
    }

    /// The project, whose root is where relative paths start.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Every root, the project root first.
    pub fn all(&self) -> &[Root] {
        &self.list
    }

    /// Adds a directory; `rw=` before it opens it for writing too.
    fn add_allowed(&mut self, text: &Path, source: RootSource) -> Result<(), Error> {
        let writable = text.to_str().and_then(|text| text.strip_prefix("rw="));
        let path = self.project.named_root(writable.map_or(text, Path::new))?;
        self.list.push(Root { path, kind: RootKind::AllowedRoot, source, writable: writable.is_some() });
        Ok(())
    }

    fn add_knowledge_base(&mut self, path: &Path, source: RootSource) -> Result<(), Error> {
        let path = self.project.named_root(path)?;
        if !knowledge_base::is_knowledge_base(&path) {
            return Err(ROOT_NOT_USABLE
                .error(format!("{} is not a knowledge base: it has no catalog.json with documents", path.display()))
                .remedy("Name the directory that contains catalog.json or cache/catalog.json.")
                .detail("path", path.to_string_lossy()));
        }
        self.list.push(Root { path, kind: RootKind::KbRoot, source, writable: false });
        Ok(())
    }
}

fn split(list: &OsString) -> impl Iterator<Item = PathBuf> {
    env::split_paths(list).filter(|path| !path.as_os_str().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragmaker_project::Environment;
    use std::fs;
    use tempfile::TempDir;

    fn tree() -> (TempDir, PathBuf) {
        let temp = TempDir::new().unwrap();
        let path = ragmaker_fs::canonicalize(temp.path()).unwrap();
        (temp, path)
    }

    fn of(host: &HostOptions, allowed_roots: &OsString, cwd: &Path) -> Result<Roots, Error> {
        let project = Project::from_environment(None, Environment::default(), Some(cwd.to_path_buf()), true)?;
        Roots::with(project, host, allowed_roots, &OsString::new())
    }

    #[test]
    fn a_knowledge_base_has_a_catalog() {
        let (_temp, top) = tree();
        let (kb, cwd) = (top.join("kb"), top.join("cwd"));
        fs::create_dir_all(&kb).unwrap();
        fs::create_dir_all(&cwd).unwrap();
        let name = [kb.to_str().unwrap().to_owned()];
        let args = HostOptions { kb_root: name.to_vec(), ..HostOptions::default() };
        assert!(of(&args, &OsString::new(), &cwd).unwrap_err().is(ROOT_NOT_USABLE));
        fs::write(kb.join("catalog.json"), "{\"documents\": []}").unwrap();
        let roots = of(&args, &OsString::new(), &cwd).unwrap();
        assert_eq!((roots.all()[1].kind, roots.all()[1].writable), (RootKind::KbRoot, false));
        // As it is named where it is gathered.
        fs::create_dir(kb.join("cache")).unwrap();
        fs::rename(kb.join("catalog.json"), kb.join("cache/catalog.json")).unwrap();
        assert_eq!(of(&args, &OsString::new(), &cwd).unwrap().all()[1].path, kb);
    }

    #[test]
    fn allowed_roots_are_read_only_unless_marked() {
        let (_temp, top) = tree();
        let list = env::join_paths([top.join("a"), PathBuf::from(format!("rw={}", top.join("b").display()))]).unwrap();
        for name in ["a", "b", "cwd"] {
            fs::create_dir(top.join(name)).unwrap();
        }
        let roots = of(&HostOptions::default(), &list, &top.join("cwd")).unwrap();
        let found: Vec<_> = roots.all()[1..].iter().map(|root| (root.path.clone(), root.writable)).collect();
        assert_eq!(found, [(top.join("a"), false), (top.join("b"), true)]);
    }
}
