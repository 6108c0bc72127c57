//! The project root: the rule that finds it.
//!
//! All tools use the first of these: the argument, [`PROJECT_ROOT`](crate::variables::PROJECT_ROOT), the nearest
//! directory upwards with a [marker](MARKERS), the working directory.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use ragmaker_tool::{Code, Error, JsonSchema};
use serde::Serialize;

use crate::{broad_roots, variables};

/// The files and folders that mark a directory as a project; `.git` comes first because it is [`RootSource::Git`].
pub const MARKERS: [&str; 9] =
    [".git", ".ragmaker", "Cargo.toml", "package.json", "pyproject.toml", "go.mod", "pom.xml", ".hg", ".svn"];

/// A directory that was named as a root cannot be one.
pub const ROOT_NOT_USABLE: Code = Code::new("ROOT_NOT_USABLE", "Name an existing directory.");
/// A directory that was named as a root contains too much to be opened to an agent.
pub const ROOT_TOO_BROAD: Code = Code::new(
    "ROOT_TOO_BROAD",
    "Name the directory that contains the files; the user can force it with RAGMAKER_ALLOW_BROAD_ROOTS=1.",
);

/// The codes of a tool that looks for the project.
pub const ERRORS: &[Code] = &[ROOT_NOT_USABLE, ROOT_TOO_BROAD];

/// The origin of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RootSource {
    /// An argument of this call.
    Argument,
    /// An environment variable.
    Env,
    /// A file that marks a project, such as `Cargo.toml`.
    Marker,
    /// The `.git` of a repository.
    Git,
    /// The working directory, because nothing else was found.
    Cwd,
    /// The catalog of a knowledge base.
    Catalog,
}

/// A directory that could have been the project root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Candidate {
    /// The directory as it was named.
    pub path: PathBuf,
    /// Its origin.
    pub source: RootSource,
    /// Whether it is the project root.
    pub chosen: bool,
    /// The reason why it was chosen, or why not.
    pub reason: String,
}

/// The facts about the environment that decide about the project.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// The value of [`variables::PROJECT_ROOT`].
    pub project_root: Option<OsString>,
    /// Whether [`variables::ALLOW_BROAD_ROOTS`] is set.
    pub allows_broad_roots: bool,
    /// The user's home.
    pub home: Option<PathBuf>,
}

impl Environment {
    /// The environment of this process.
    pub fn read() -> Self {
        let variable = |name| env::var_os(name).filter(|value| !value.is_empty());
        Self {
            project_root: variable(variables::PROJECT_ROOT),
            allows_broad_roots: variable(variables::ALLOW_BROAD_ROOTS).is_some_and(|value| value != "0"),
            home: env::home_dir(),
        }
    }
}

/// The project that a call works in.
#[derive(Clone, Debug)]
pub struct Project {
    root: PathBuf,
    source: RootSource,
    is_writable: bool,
    candidates: Vec<Candidate>,
    cwd: Option<PathBuf>,
    environment: Environment,
}

impl Project {
    /// The project of this call: `argument` is what an option such as `--project-root` names.
    ///
    /// # Errors
    /// [`ROOT_NOT_USABLE`] and [`ROOT_TOO_BROAD`] for a directory that was named; the former also where
    /// nothing is named and the working directory no longer exists.
    pub fn discover(argument: Option<&str>) -> Result<Self, Error> {
        Self::from_environment(argument, Environment::read(), working_directory(), false)
    }

    /// Like [`discover`](Self::discover), but lists all directories that could have been the root among the
    /// [`candidates`](Self::candidates), not only those up to the chosen one.
    ///
    /// If the working directory no longer exists, its nearest existing parent is used instead, only for reading.
    ///
    /// # Errors
    /// As [`discover`](Self::discover), but for a working directory that no longer exists.
    pub fn discover_all(argument: Option<&str>) -> Result<Self, Error> {
        Self::from_environment(argument, Environment::read(), working_directory(), true)
    }

    /// The project as seen in `environment` from the working directory `cwd`, which is absolute and has no
    /// links in it, or no longer exists.
    ///
    /// # Errors
    /// As [`discover`](Self::discover), or with `every` candidate as [`discover_all`](Self::discover_all).
    pub fn from_environment(
        argument: Option<&str>,
        environment: Environment,
        cwd: Option<PathBuf>,
        every: bool,
    ) -> Result<Self, Error> {
        let mut search = Search { environment: &environment, cwd: cwd.as_deref(), found: None, candidates: vec![] };
        search.look_at_named(argument)?;
        search.look_at_working_directory(every)?;
        let Search { found: Some((root, source, is_writable)), candidates, .. } = search else {
            return Err(no_working_directory());
        };
        Ok(Self { root, source, is_writable, candidates, cwd, environment })
    }

    /// The project root, absolute and without links: where relative paths start.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The origin of the root.
    pub fn source(&self) -> RootSource {
        self.source
    }

    /// Whether files in it may be changed: not in a home or a system directory that nobody named.
    pub fn is_writable(&self) -> bool {
        self.is_writable
    }

    /// The directories that were considered as the root, the first choice first.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// The working directory, with links resolved; `None` if it no longer exists.
    pub fn cwd(&self) -> Option<&Path> {
        self.cwd.as_deref()
    }

    /// The user's home.
    pub fn home(&self) -> Option<&Path> {
        self.environment.home.as_deref()
    }

    /// The directory `path` as a further root, absolute and with links resolved. A relative path starts at the working
    /// directory.
    ///
    /// # Errors
    /// [`ROOT_NOT_USABLE`] where it is not a directory, [`ROOT_TOO_BROAD`] where it contains too much.
    pub fn named_root(&self, path: &Path) -> Result<PathBuf, Error> {
        named_root(path, self.cwd(), &self.environment)
    }

    /// Whether `directory` contains much that does not belong to one project: the root of the file system, what
    /// the system keeps there, and the homes of users.
    pub fn is_broad(&self, directory: &Path) -> bool {
        is_broad(directory, &self.environment)
    }
}

/// The search for a root.
struct Search<'a> {
    environment: &'a Environment,
    cwd: Option<&'a Path>,
    /// The root, who named it, and whether it may be changed.
    found: Option<(PathBuf, RootSource, bool)>,
    candidates: Vec<Candidate>,
}

impl Search<'_> {
    /// Takes a root that the argument or the environment names.
    fn look_at_named(&mut self, argument: Option<&str>) -> Result<(), Error> {
        let environment = self.environment;
        let named = [
            (argument.map(PathBuf::from), RootSource::Argument),
            (environment.project_root.clone().map(PathBuf::from), RootSource::Env),
        ];
        for (path, source) in named {
            let Some(path) = path else { continue };
            if self.found.is_none() {
                let root = named_root(&path, self.cwd, environment)?;
                let reason = match source {
                    RootSource::Argument => "named by the host option project-root",
                    _ => "named by the environment variable RAGMAKER_PROJECT_ROOT",
                };
                self.choose(root, source, reason, true);
            } else {
                self.pass(path, source, "an argument comes first");
            }
        }
        Ok(())
    }

    /// Takes the nearest directory with a marker, or the working directory itself.
    fn look_at_working_directory(&mut self, every: bool) -> Result<(), Error> {
        let above = if self.cwd.is_none() && every { nearest_to_deleted_cwd() } else { None };
        let Some(start) = self.cwd.map(Path::to_path_buf).or(above) else {
            return if self.found.is_some() { Ok(()) } else { Err(no_working_directory()) };
        };
        for directory in start.ancestors() {
            if !every && self.found.is_some() {
                break;
            }
            let Some(marker) = MARKERS.iter().find(|marker| directory.join(marker).symlink_metadata().is_ok()) else {
                continue;
            };
            let source = if *marker == ".git" { RootSource::Git } else { RootSource::Marker };
            if is_broad(directory, self.environment) {
                self.pass(directory.to_path_buf(), source, "it is too broad");
            } else if self.found.is_none() {
                self.choose(directory.to_path_buf(), source, &format!("it contains {marker}"), true);
            } else {
                self.pass(directory.to_path_buf(), source, "a rule of higher precedence applies");
            }
        }
        if self.found.is_some() {
            if self.cwd.is_some() {
                self.pass(start, RootSource::Cwd, "a rule of higher precedence applies");
            }
        } else if self.cwd.is_none() {
            self.choose(start, RootSource::Cwd, "it is the nearest above the working directory, which is gone; tools that read files refuse it until a root is named", false);
        } else {
            // The user started the agent here; but an agent does not write all over a home.
            let is_writable = !is_broad(&start, self.environment);
            let reason =
                if is_writable { "nothing else was found" } else { "nothing else was found; too broad to write in" };
            self.choose(start, RootSource::Cwd, reason, is_writable);
        }
        Ok(())
    }

    fn choose(&mut self, path: PathBuf, source: RootSource, reason: &str, is_writable: bool) {
        self.candidates.push(Candidate { path: path.clone(), source, chosen: true, reason: reason.to_owned() });
        self.found = Some((path, source, is_writable));
    }

    fn pass(&mut self, path: PathBuf, source: RootSource, reason: &str) {
        self.candidates.push(Candidate { path, source, chosen: false, reason: reason.to_owned() });
    }
}

fn working_directory() -> Option<PathBuf> {
    env::current_dir().and_then(ragmaker_fs::canonicalize).ok()
}

/// The nearest existing parent of a deleted working directory. Linux reports where the directory was; on other systems,
/// the result is the root of the file system.
fn nearest_to_deleted_cwd() -> Option<PathBuf> {
    let was = std::fs::read_link("/proc/self/cwd").unwrap_or_else(|_| PathBuf::from("/"));
    // The kernel adds " (deleted)" to the last name, which is not examined.
    was.ancestors().skip(1).chain([Path::new("/")]).find_map(|directory| ragmaker_fs::canonicalize(directory).ok())
}

fn no_working_directory() -> Error {
    ROOT_NOT_USABLE
        .error("the working directory does not exist, and no project root is named")
        .remedy("Change to a directory that exists, or name the project root.")
}

fn named_root(path: &Path, cwd: Option<&Path>, environment: &Environment) -> Result<PathBuf, Error> {
    let named = cwd.map_or_else(|| path.to_path_buf(), |cwd| cwd.join(path));
    let fail = |reason: String| {
        ROOT_NOT_USABLE
            .error(format!("{} cannot be a root: {reason}", named.display()))
            .detail("path", named.to_string_lossy())
    };
    if named.is_relative() {
        return Err(fail("the working directory that it starts at does not exist".to_owned()));
    }
    let directory = ragmaker_fs::canonicalize(&named).map_err(|error| fail(error.to_string()))?;
    if !directory.is_dir() {
        return Err(fail("it is not a directory".to_owned()));
    }
    if is_broad(&directory, environment) {
        return Err(ROOT_TOO_BROAD
            .error(format!("{} is too broad to be a root", directory.display()))
            .detail("path", directory.to_string_lossy()));
    }
    Ok(directory)
}

fn is_broad(directory: &Path, environment: &Environment) -> bool {
    !environment.allows_broad_roots && broad_roots::is_broad(directory, environment.home.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    fn tree() -> (TempDir, PathBuf) {
        let temp = TempDir::new().unwrap();
        let path = ragmaker_fs::canonicalize(temp.path()).unwrap();
        (temp, path)
    }

    fn within(argument: Option<&str>, environment: &Environment, cwd: &Path) -> Result<Project, Error> {
        Project::from_environment(argument, environment.clone(), Some(cwd.to_path_buf()), true)
    }

    #[test]
    fn the_project_root_is_the_first_that_is_named_or_marked() {
        let (_temp, top) = tree();
        let inner = top.join("project/src");
        fs::create_dir_all(&inner).unwrap();
        let source = |argument, environment: &Environment| {
            let project = within(argument, environment, &inner).unwrap();
            (project.root().to_path_buf(), project.source())
        };
        let none = Environment::default();
        assert_eq!(source(None, &none), (inner.clone(), RootSource::Cwd));
        fs::write(top.join("project/Cargo.toml"), "").unwrap();
        assert_eq!(source(None, &none), (top.join("project"), RootSource::Marker));
        fs::create_dir(top.join("project/.git")).unwrap();
        assert_eq!(source(None, &none), (top.join("project"), RootSource::Git));
        let env = Environment { project_root: Some(top.clone().into()), ..none };
        assert_eq!(source(None, &env), (top.clone(), RootSource::Env));
        assert_eq!(source(Some("."), &env), (inner.clone(), RootSource::Argument));
        let project = within(Some("."), &env, &inner).unwrap();
        let reasons: Vec<_> = project.candidates().iter().map(|one| (one.source, one.chosen)).collect();
        assert_eq!(
            reasons,
            [
                (RootSource::Argument, true),
                (RootSource::Env, false),
                (RootSource::Git, false),
                (RootSource::Cwd, false)
            ]
        );
        let project = Project::from_environment(None, env, Some(inner), false).unwrap();
        assert_eq!(project.candidates().len(), 2);
    }

    #[test]
    fn broad_directories_are_refused_unless_forced() {
        let (_temp, top) = tree();
        let environment = Environment { home: Some(top.join("home/me")), ..Environment::default() };
        fs::create_dir_all(top.join("home/me/notes")).unwrap();
        let of_system = if cfg!(windows) { [r"C:\", r"C:\windows", r"C:\Users"] } else { ["/", "/etc", "/usr"] };
        for broad in of_system.into_iter().chain([top.to_str().unwrap(), top.join("home/me").to_str().unwrap()]) {
            assert!(within(Some(broad), &environment, &top).unwrap_err().is(ROOT_TOO_BROAD), "{broad}");
        }
        let forced = Environment { allows_broad_roots: true, ..environment.clone() };
        assert!(within(Some("/"), &forced, &top).unwrap().is_writable());
        let home = within(None, &environment, &top.join("home/me")).unwrap();
        assert!(!home.is_writable(), "a home as working directory is read only");
        assert!(within(None, &environment, &top.join("home/me/notes")).unwrap().is_writable());
    }

    #[test]
    fn a_working_directory_that_is_gone() {
        let (_temp, top) = tree();
        let none = Environment::default();
        let gone = |argument: Option<&str>, every| Project::from_environment(argument, none.clone(), None, every);
        let project = gone(top.to_str(), false).unwrap();
        assert_eq!((project.root(), project.cwd()), (top.as_path(), None));
        assert!(gone(Some("."), false).unwrap_err().is(ROOT_NOT_USABLE));
        assert!(gone(None, false).unwrap_err().is(ROOT_NOT_USABLE));
        assert_eq!(gone(None, true).unwrap().cwd(), None);
    }
}
