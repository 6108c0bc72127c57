//! The paths of keys and logins.

use std::{
    fs,
    path::{Path, PathBuf},
};

use ragmaker_project::{BROWSER_PROFILE, BROWSER_PROFILES, MCP_TOKEN, secrets::is_secret_file};

/// Files and folders of a home directory.
#[cfg(target_os = "linux")]
const IN_HOME: [&str; 39] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker/config.json",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/git/credentials",
    ".config/op",
    // Copies of clients' settings.
    ".config/ragmaker/connect",
    ".config/doctl",
    ".config/containers/auth.json",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".mozilla",
    ".thunderbird",
    ".local/share/keyrings",
    ".password-store",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
];

/// Files and folders of the system, including sockets of services that run programs for others.
#[cfg(target_os = "linux")]
const OF_SYSTEM: [&str; 13] = [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/ssh",
    "/run/docker.sock",
    "/run/dbus",
    "/run/containerd",
    "/run/user",
    "/run/secrets",
];

/// The files with logins in the cache folder of a project: those of the browser and of the MCP server.
pub fn logins(cache: &Path) -> [PathBuf; 3] {
    [BROWSER_PROFILE, BROWSER_PROFILES, MCP_TOKEN].map(|name| cache.join(name))
}

/// The maximum number of directory entries that are searched for files with keys. `find` reads 200,000 in 0.13 s.
const MAX_ENTRIES: usize = 200_000;

/// The files below `folder` whose names are typical of keys, whatever is ignored there, and whether all were found: a
/// very large tree is not read to its end.
pub fn secret_files(folder: &Path) -> (Vec<PathBuf>, bool) {
    let (mut found, mut folders, mut left) = (vec![], vec![folder.to_path_buf()], MAX_ENTRIES);
    while let Some(folder) = folders.pop() {
        // Git's objects are compressed.
        let is_objects = folder.ends_with(".git/objects");
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten().take_while(|_| !is_objects) {
            let Some(fewer) = left.checked_sub(1) else { return (found, false) };
            left = fewer;
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                folders.push(entry.path());
            } else if entry.file_name().to_str().is_some_and(is_secret_file) {
                found.push(entry.path());
            }
        }
    }
    (found, true)
}

/// The files in `folder` itself whose names are typical of keys.
pub fn secret_files_at_top(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let secret = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_secret_file));
    secret.map(|entry| entry.path()).collect()
}

/// Those of them that exist, with symbolic links resolved.
#[cfg(target_os = "linux")]
pub(crate) fn all(home: Option<&Path>, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let in_home = home.into_iter().flat_map(|home| IN_HOME.map(|name| home.join(name)));
    let settings = std::env::var_os("XDG_CONFIG_HOME").map(|folder| Path::new(&folder).join("ragmaker/connect"));
    let all = in_home.chain(settings).chain(OF_SYSTEM.map(PathBuf::from)).chain(hidden.iter().cloned());
    let mut real: Vec<PathBuf> = all.filter_map(|path| ragmaker_fs::canonicalize(path).ok()).collect();
    real.sort();
    real.dedup();
    real
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_keys_are_found_at_any_depth() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["api/deep/.env", ".envrc", "a.md", ".git/objects/.env", ".hidden/id_rsa", ".gitignore"] {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), "api\n").unwrap();
        }
        let (mut found, is_complete) = secret_files(root);
        found.sort();
        assert_eq!(found, [".envrc", ".hidden/id_rsa", "api/deep/.env"].map(|name| root.join(name)));
        assert!(is_complete);
        assert_eq!(secret_files_at_top(root), [root.join(".envrc")]);
    }
}
