//! The cache folder of a project: browser profiles and the project's own knowledge base.

use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::{Project, knowledge_base};

/// The browser profile of the default session, in the cache folder.
pub const BROWSER_PROFILE: &str = "browser_profile";
/// The folder of the profiles of named sessions, in the cache folder.
pub const BROWSER_PROFILES: &str = "browser_profiles";

/// The configuration in the project root, and in the user's configuration folder.
pub const CONFIGURATION: &str = "ragmaker.toml";

/// The file with the bearer token of an MCP server, in the cache folder.
pub const MCP_TOKEN: &str = "mcp_token";

/// The folder of an agent's conversations, in the cache folder.
pub const CONVERSATIONS: &str = "conversations";
/// The folder of the output of commands, in the cache folder.
pub const COMMANDS: &str = "commands";

/// Whether an entry `name` of the cache folder belongs to the project and its sessions, not to a knowledge base.
pub fn is_of_sessions(name: &str) -> bool {
    [BROWSER_PROFILE, BROWSER_PROFILES, MCP_TOKEN, CONVERSATIONS, COMMANDS].contains(&name)
}

/// The folder of this user's caches that belong to no project: `$XDG_CACHE_HOME/ragmaker` or `~/.cache/ragmaker`.
/// `None` if neither has an absolute path.
pub fn user_cache_folder() -> Option<PathBuf> {
    let is_absolute = |path: &PathBuf| path.is_absolute();
    let named = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(is_absolute);
    let caches = named.or_else(|| env::home_dir().filter(is_absolute).map(|home| home.join(".cache")));
    caches.map(|caches| caches.join("ragmaker"))
}

impl Project {
    /// The path of the cache folder, which need not exist. The path is absolute and, except for links inside the cache,
    /// canonical.
    pub fn cache_folder(&self) -> PathBuf {
        self.root().join(knowledge_base::IN_PROJECT).join(knowledge_base::CACHE)
    }

    /// Creates the cache folder if necessary, accessible only to its owner.
    ///
    /// It contains the cookies of browser profiles, so a `.gitignore` excludes all of it from the repository. An
    /// existing `.gitignore` is not changed.
    ///
    /// # Errors
    /// The system's error if a folder or the file cannot be made.
    pub fn create_cache_folder(&self) -> io::Result<PathBuf> {
        let folder = self.cache_folder();
        create_cache_folder(&folder)?;
        Ok(folder)
    }
}

/// Makes the cache folder `folder` as [`Project::create_cache_folder`] does.
///
/// # Errors
/// The system's error if a folder or the file cannot be made.
pub fn create_cache_folder(folder: &Path) -> io::Result<()> {
    create_private(folder)?;
    exclude_from_git(folder)
}

/// Creates a folder and its missing parents, accessible only to their owner.
///
/// # Errors
/// The system's error if a folder cannot be made.
pub fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn exclude_from_git(folder: &Path) -> io::Result<()> {
    let path = folder.join(".gitignore");
    match fs::File::create_new(&path) {
        // Half a file would never be completed: it counts as the user's own.
        Ok(mut file) => file
            .write_all(b"# Made by ragmaker: browser profiles hold cookies.\n*\n")
            .inspect_err(|_| drop(fs::remove_file(&path))),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Environment;

    #[test]
    fn the_cache_is_private_and_ignored_by_git() {
        let temp = tempfile::tempdir().unwrap();
        let root = ragmaker_fs::canonicalize(temp.path()).unwrap();
        let project = Project::from_environment(root.to_str(), Environment::default(), None, false).unwrap();
        assert!(!project.cache_folder().exists());
        let folder = project.create_cache_folder().unwrap();
        assert_eq!(folder, root.join(".tmp/cache"));
        let ignore = fs::read_to_string(folder.join(".gitignore")).unwrap();
        assert!(ignore.lines().any(|line| line == "*"), "{ignore}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
        fs::write(folder.join(".gitignore"), "mine\n").unwrap();
        project.create_cache_folder().unwrap();
        assert_eq!(fs::read_to_string(folder.join(".gitignore")).unwrap(), "mine\n");
    }
}
