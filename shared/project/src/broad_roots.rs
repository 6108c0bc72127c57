//! Directories that are too broad to be a root.

use std::path::{Component, Path};

use ragmaker_fs::is_same_name;

/// The names of system directories in the root directory.
const SYSTEM: [&str; 18] = [
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
    "Program Files (x86)",
];

/// Directories at the top in which the files of all users and programs are side by side.
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

/// Whether `directory`, which is absolute and without links, contains much that does not belong to one
/// project: the root of the file system, what the system keeps there, and the homes of users.
pub(crate) fn is_broad(directory: &Path, home: Option<&Path>) -> bool {
    let home = home.and_then(|home| ragmaker_fs::canonicalize(home).ok());
    if home.is_some_and(|home| home.starts_with(directory)) {
        return true;
    }
    let mut names = directory.components().filter_map(|component| match component {
        Component::Normal(name) => name.to_str().or(Some("")),
        _ => None,
    });
    // Windows has `Users`, and Wine `users`.
    let is_among = |name: &str, list: &[&str]| list.iter().any(|other| is_same_name(name, other));
    match (names.next(), names.next(), names.next()) {
        (None, ..) | (Some("var" | "private"), Some("tmp" | "log" | "lib" | "run" | "etc" | "var"), None) => true,
        (Some(top), Some(_), None) if is_among(top, &["home", "Users"]) => true,
        (Some(top), None, _) => is_among(top, &SYSTEM) || is_among(top, &SHARED),
        (Some(top), ..) => is_among(top, &SYSTEM) && top != "usr" && top != "run",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_and_homes_are_broad() {
        for broad in ["/", "/etc", "/etc/ssh", "/usr", "/home", "/home/me", "/Users/me", "/var/log", "/tmp"] {
            assert!(is_broad(Path::new(broad), None), "{broad}");
        }
        for narrow in ["/usr/src/project", "/home/me/project", "/var/www", "/tmp/x", "/srv/site", "/data"] {
            assert!(!is_broad(Path::new(narrow), None), "{narrow}");
        }
    }
}
