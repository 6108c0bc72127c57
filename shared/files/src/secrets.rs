//! Secrets: files that no file tool reads, lists or changes.
//!
//! These are browser profiles with their cookies and passwords, the token of an MCP server, and `.env` files with their
//! keys. The file tools also do not change three things that protect them: the `.gitignore` of the cache folder,
//! `ragmaker.toml`, which decides where keys are sent and which programs are started, and Git's own directory, whose
//! hooks and configuration run programs.
//!
//! A profile is recognised by its place in a cache folder, `.tmp/cache/browser_profile`, and a copy of a profile by its
//! content. So the rule holds for every root.

use std::path::{Component, Path};

use ragmaker_project::{BROWSER_PROFILE, CONFIGURATION, MCP_TOKEN, knowledge_base};
use ragmaker_tool::Error;

use crate::{PATH_NOT_ALLOWED, PATH_NOT_WRITABLE};

/// Names that occur only in the folder of a browser profile.
const CONTENT: [&str; 4] = [
    // The data directory of Chromium and its kin, with all its profiles.
    "Local State",
    // One of the profiles in it, copied by itself.
    "Login Data",
    // A profile of Firefox.
    "cookies.sqlite",
    // What the browser tools keep about a session: how to reach its browser.
    "ragmaker/start.lock",
];

/// Whether `directory` is the folder of a browser profile, or of those of named sessions.
pub(crate) fn is_profile(directory: &Path) -> bool {
    let holds = |name: &&str| directory.join(name).symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    has_profile_path(directory) || CONTENT.iter().any(holds)
}

/// Whether `directory` has the path of a profile in a cache folder.
fn has_profile_path(directory: &Path) -> bool {
    in_cache_folder(directory, |name| name.starts_with(BROWSER_PROFILE))
}

/// Whether `path` is that of a file with keys: a server's token, or a `.env`.
pub(crate) fn is_key_file(path: &Path) -> bool {
    in_cache_folder(path, |name| name == MCP_TOKEN) || is_dotenv(path)
}

/// Whether `path` is named `.env`, or `.env.local` and similar for one of several environments. Examples such as
/// `.env.example` have no keys and do not count.
fn is_dotenv(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let examples = ["example", "sample", "template", "dist"];
    name == ".env" || name.strip_prefix(".env.").is_some_and(|rest| !examples.contains(&rest))
}

/// Whether `path` is that of an entry of a cache folder whose name `is_it`.
fn in_cache_folder(path: &Path, is_it: impl Fn(&str) -> bool) -> bool {
    let mut names = path.components().rev().map(|component| match component {
        Component::Normal(name) => name.to_str().unwrap_or_default(),
        _ => "",
    });
    names.next().is_some_and(is_it)
        && names.next() == Some(knowledge_base::CACHE)
        && names.next() == Some(knowledge_base::IN_PROJECT)
}

/// Refuses `path`, which is absolute and without links, if it is a browser profile or inside one.
pub(crate) fn check(path: &Path) -> Result<(), Error> {
    if is_key_file(path) {
        let what = if is_dotenv(path) { "may hold keys" } else { "is the token of an MCP server" };
        return Err(PATH_NOT_ALLOWED
            .error(format!("{} {what}: it is closed to the file tools", path.display()))
            .remedy("Choose another path.")
            .detail("path", path.to_string_lossy()));
    }
    let Some(profile) = path.ancestors().find(|directory| is_profile(directory)) else { return Ok(()) };
    Err(PATH_NOT_ALLOWED
        .error(format!(
            "{} is in the browser profile {}: cookies, passwords and session files are closed to the file tools",
            path.display(),
            profile.display()
        ))
        .remedy("Use the browser tools to work with pages; choose a path outside the profile.")
        .detail("path", path.to_string_lossy())
        .detail("profile", profile.to_string_lossy())
        .detail("rule", "browser profiles are neither read nor changed, whatever root they are beneath"))
}

/// Like [`check`], for a path that is to be written. It also refuses a file that would turn its directory into a
/// profile, which would make the whole directory inaccessible.
pub(crate) fn check_write(path: &Path) -> Result<(), Error> {
    check(path)?;
    if path.components().any(|component| component.as_os_str() == ".git") {
        return Err(guarded(path, "it belongs to Git, whose hooks and configuration run programs"));
    }
    if path.file_name().is_some_and(|name| name == CONFIGURATION) {
        return Err(guarded(path, "it says where keys are sent and which programs are started: the user edits it"));
    }
    if in_cache_folder(path, |name| name == ".gitignore") {
        return Err(guarded(path, "it keeps cookies and tokens out of the repository"));
    }
    let Some(name) = CONTENT.iter().find(|name| path.ends_with(name)) else { return Ok(()) };
    Err(PATH_NOT_ALLOWED
        .error(format!("{}: a file called {name} marks a browser profile", path.display()))
        .remedy("Choose another name.")
        .detail("path", path.to_string_lossy()))
}

/// Like [`check_write`], for an entry that is to be moved or deleted. It also refuses a directory that contains the
/// profiles of a cache folder, because their path protects them.
pub(crate) fn check_entry(path: &Path) -> Result<(), Error> {
    check_write(path)?;
    let profiles = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).any(|entry| has_profile_path(&entry) || is_key_file(&entry))
    };
    let inner = [knowledge_base::IN_PROJECT, knowledge_base::CACHE].map(|name| path.join(name));
    let folders = [path.to_owned(), inner[1].clone(), inner[0].join(knowledge_base::CACHE)];
    if folders.iter().any(|folder| profiles(folder)) {
        return Err(guarded(path, "it contains browser profiles, a token or a .env"));
    }
    Ok(())
}

fn guarded(path: &Path, reason: &str) -> Error {
    PATH_NOT_WRITABLE
        .error(format!("{} cannot be changed: {reason}", path.display()))
        .remedy("Choose another path.")
        .detail("path", path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn profiles_are_recognised_by_path_and_content() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap();
        for (file, is_secret) in [
            (".tmp/cache/browser_profile/Default/Cookies", true),
            (".tmp/cache/browser_profiles/docs/ragmaker/session.json", true),
            (".tmp/cache/browser_profile", true),
            (".tmp/cache/pages/browser_profile.md", false),
            (".tmp/cache/catalog.json", false),
            ("docs/browser_profile/a.md", false),
            ("src/Login Data.md", false),
            (".env", true),
            ("web/.env.local", true),
            (".env.example", false),
            ("a.env", false),
        ] {
            assert_eq!(check(&top.join(file)).is_err(), is_secret, "{file}");
        }
        let error = check_write(&top.join("ragmaker.toml")).unwrap_err();
        assert!(error.is(PATH_NOT_WRITABLE) && check(&top.join("ragmaker.toml")).is_ok(), "{error}");
        for (name, marker) in [("a", "Local State"), ("b", "Login Data"), ("c", "ragmaker/start.lock")] {
            let marker = top.join(name).join(marker);
            assert!(check_write(&marker).is_err());
            fs::create_dir_all(marker.parent().unwrap()).unwrap();
            assert!(check(&top.join(name).join("Default/Cookies")).is_ok());
            fs::write(&marker, "").unwrap();
            let error = check(&top.join(name).join("Default/Cookies")).unwrap_err();
            assert!(error.is(PATH_NOT_ALLOWED) && error.message().contains("browser profile"), "{error}");
        }
    }
}
