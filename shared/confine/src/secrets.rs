//! The paths of keys and logins.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use ragmaker_project::{BROWSER_PROFILE, BROWSER_PROFILES, MCP_TOKEN};

/// Files and folders of a home directory.
const IN_HOME: [&str; 38] = [
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

/// The files of `folder` that contain keys by convention: `.env` and similar names, except examples.
pub fn dotenv_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| is_dotenv(&entry.file_name())).map(|entry| entry.path()).collect()
}

fn is_dotenv(name: &OsStr) -> bool {
    let name = name.to_str().unwrap_or_default();
    name == ".env" || (name.starts_with(".env.") && !name.ends_with(".example"))
}

/// Those of them that exist, with symbolic links resolved.
pub(crate) fn all(home: Option<&Path>, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let in_home = home.into_iter().flat_map(|home| IN_HOME.map(|name| home.join(name)));
    let all = in_home.chain(OF_SYSTEM.map(PathBuf::from)).chain(hidden.iter().cloned());
    let mut real: Vec<PathBuf> = all.filter_map(|path| path.canonicalize().ok()).collect();
    real.sort();
    real.dedup();
    real
}
