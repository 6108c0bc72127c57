//! Secrets: files that no file tool reads, lists or changes.
//!
//! These are browser profiles with their cookies and passwords, files with the sign-ins of a session, the token of an
//! MCP server, and `.env` files with their keys. The file tools also do not change three things that protect them: the
//! `.gitignore` of the cache folder, `ragmaker.toml`, which decides where keys are sent and which programs are started,
//! and Git's own directory, whose hooks and configuration run programs.
//!
//! A profile is recognised by its place in a cache folder, `.tmp/cache/browser_profile`, and a copy of a profile by its
//! content. Exported sign-ins and databases of cookies and passwords may have any name, and are recognised by how the
//! file begins. So the rule holds for every root, and for hard links.

use std::{
    ffi::OsStr,
    fs::File,
    path::{Component, Path},
};

use ragmaker_fs::{is_same_name, starts_with_name};
use ragmaker_project::{BROWSER_PROFILE, CONFIGURATION, MCP_TOKEN, knowledge_base};
use ragmaker_tool::Error;

use crate::{PATH_NOT_ALLOWED, PATH_NOT_WRITABLE};

/// Names that occur only in the folder of a browser profile.
const CONTENT: [&str; 4] = [
    // The data directory of Chromium and browsers based on it, with all its profiles.
    "Local State",
    // One of the profiles in it, copied by itself.
    "Login Data",
    // A profile of Firefox.
    "cookies.sqlite",
    // What the browser tools keep about a session: how to reach its browser.
    "ragmaker/start.lock",
];

/// The number of bytes of a file by which exported sign-ins are recognised.
const HEAD: usize = 4096;

/// The tables in which Chromium and Firefox keep cookies and passwords, as their databases define them.
const SIGN_IN_TABLES: [&str; 3] = ["CREATE TABLE cookies", "CREATE TABLE logins", "CREATE TABLE moz_cookies"];

/// The number of bytes of a database that are searched for these tables. They are defined when the file is made: in
/// Chromium's databases they are among the first 40 kB, in Firefox's among the first 64 kB.
const DATABASE_HEAD: usize = 256 << 10;

/// The reason why a file with sign-ins is not read.
pub(crate) const SIGN_INS: &str =
    "it contains the cookies of a browser session, so the file tools do not read or change it";

/// Whether `directory` is the folder of a browser profile, or of those of named sessions.
pub(crate) fn is_profile(directory: &Path) -> bool {
    let holds = |name: &&str| directory.join(name).symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    has_profile_path(directory) || CONTENT.iter().any(holds)
}

/// Whether `directory` has the path of a profile in a cache folder.
fn has_profile_path(directory: &Path) -> bool {
    in_cache_folder(directory, |name| starts_with_name(name, BROWSER_PROFILE))
}

/// Whether `path` is that of a file with keys: a server's token, or a `.env`.
pub(crate) fn is_key_file(path: &Path) -> bool {
    is_token(path) || is_dotenv(path)
}

/// Whether `path` is that of a server's token, in any folder: the cache folder may be behind a symbolic link.
fn is_token(path: &Path) -> bool {
    path.file_name().is_some_and(|name| is_named(name, MCP_TOKEN))
}

/// Whether `path` is that of a `.env`.
fn is_dotenv(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(ragmaker_project::secrets::is_dotenv)
}

/// Whether the system takes the name `found` as `name`.
fn is_named(found: &OsStr, name: &str) -> bool {
    found.to_str().is_some_and(|found| is_same_name(found, name))
}

/// Whether `path` is that of an entry of a cache folder whose name `is_it`.
fn in_cache_folder(path: &Path, is_it: impl Fn(&str) -> bool) -> bool {
    let mut names = path.components().rev().map(|component| match component {
        Component::Normal(name) => name.to_str().unwrap_or_default(),
        _ => "",
    });
    names.next().is_some_and(is_it)
        && names.next().is_some_and(|name| is_same_name(name, knowledge_base::CACHE))
        && names.next().is_some_and(|name| is_same_name(name, knowledge_base::IN_PROJECT))
}

/// Whether `path` is that of the `.gitignore` of a cache folder, which may be behind a symbolic link.
fn guards_cache(path: &Path) -> bool {
    let holds = |name: &&str| path.with_file_name(name).symlink_metadata().is_ok();
    path.file_name().is_some_and(|name| is_named(name, ".gitignore"))
        && (in_cache_folder(path, |_| true) || [BROWSER_PROFILE, MCP_TOKEN].iter().any(holds))
}

/// Whether the regular file `file` contains the sign-ins of a browser session.
pub(crate) fn holds_sign_ins(file: &File) -> bool {
    let head = head(file, HEAD);
    if !head.starts_with(b"SQLite format 3\0") {
        return begins_with_sign_ins(&head);
    }
    let pages = self::head(file, DATABASE_HEAD);
    SIGN_IN_TABLES.iter().any(|table| contains(&pages, table))
}

fn contains(bytes: &[u8], part: &str) -> bool {
    bytes.windows(part.len()).any(|window| window == part.as_bytes())
}

/// The first `length` bytes of `file`, or all of it.
pub(crate) fn head(file: &File, length: usize) -> Vec<u8> {
    let mut head = vec![0; length];
    let mut read = 0;
    while read < length
        && let Ok(count @ 1..) = ragmaker_fs::read_at(file, &mut head[read..], read as u64)
    {
        read += count;
    }
    head.truncate(read);
    head
}

/// Whether a file that begins with `head` is a cookie file of curl and wget, a `storageState` of Playwright, or a list
/// of cookies as browser extensions export it.
fn begins_with_sign_ins(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    if !matches!(head.first(), Some(b'#' | b'{' | b'[')) {
        return false;
    }
    if head[0] == b'#' {
        let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default().to_ascii_lowercase();
        return ["# netscape http cookie file", "# http cookie file", "#httponly_"]
            .iter()
            .any(|start| line.starts_with(start.as_bytes()))
            // Each cookie is a line with tabs; an article may have such a heading.
            && head.contains(&b'\t');
    }
    let dense: Vec<u8> = head.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let has = |part: &str| contains(&dense, part);
    let starts = |part: &str| dense.starts_with(part.as_bytes());
    let is_cookie = || has("\"value\":") && (has("\"domain\":") || starts("{\"cookies\":[{\"name\":"));
    (starts("{\"cookies\":[{") && is_cookie())
        || starts("{\"cookies\":[],\"origins\":[")
        || (starts("{\"origins\":[{") && has("\"localStorage\":"))
        || (starts("[{") && is_cookie() && has("\"httpOnly\":"))
}

/// Refuses `path`, which is absolute and without links, if it is a browser profile or inside one, or a file with
/// sign-ins.
pub(crate) fn check(path: &Path) -> Result<(), Error> {
    check_path(path)?;
    // Nothing but a regular file is opened: a FIFO would wait.
    let is_file = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    if is_file && File::open(path).is_ok_and(|file| holds_sign_ins(&file)) {
        return Err(PATH_NOT_ALLOWED
            .error(format!("{}: {SIGN_INS}", path.display()))
            .remedy("Import it into a session with ragmaker-browser-state; choose another path to read.")
            .detail("path", path.to_string_lossy())
            .detail("rule", "exported sign-ins are neither read nor changed, whatever root they are beneath"));
    }
    Ok(())
}

/// Like [`check`], by the path alone.
pub(crate) fn check_path(path: &Path) -> Result<(), Error> {
    if is_key_file(path) {
        let what = if is_dotenv(path) { "may contain keys" } else { "is the token of an MCP server" };
        return Err(PATH_NOT_ALLOWED
            .error(format!("{} {what}: the file tools do not read or change it", path.display()))
            .remedy("Choose another path.")
            .detail("path", path.to_string_lossy()));
    }
    let Some(profile) = path.ancestors().find(|directory| is_profile(directory)) else { return Ok(()) };
    Err(PATH_NOT_ALLOWED
        .error(format!(
            "{} is in the browser profile {}: the file tools do not read or change cookies, passwords and session files",
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
    if path.iter().any(|name| is_named(name, ".git")) {
        return Err(guarded(path, "it belongs to Git, whose hooks and configuration run programs"));
    }
    // A directory of that name would take the place of the file.
    if path.iter().any(|name| is_named(name, CONFIGURATION)) {
        return Err(guarded(
            path,
            "it defines where keys are sent and which programs are started: only the user may edit it",
        ));
    }
    if path.ancestors().any(guards_cache) {
        return Err(guarded(path, "it keeps cookies and tokens out of the repository"));
    }
    if path.ancestors().any(is_token) {
        return Err(guarded(path, "it is where an MCP server keeps its token"));
    }
    let ends = |end: &str| {
        let (mut names, mut end) = (path.iter().rev(), end.rsplit('/'));
        end.all(|name| names.next().is_some_and(|found| is_named(found, name)))
    };
    let Some(name) = CONTENT.iter().find(|name| ends(name)) else { return Ok(()) };
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
    fn exported_sign_ins_are_recognised_by_how_they_begin() {
        let temp = tempfile::tempdir().unwrap();
        let file = ragmaker_fs::canonicalize(temp.path()).unwrap().join("notes.md");
        let cookie = r#"{"name": "a", "value": "b", "domain": ".x.example", "path": "/", "httpOnly": true}"#;
        for (text, is_secret) in [
            (format!("{{\n  \"cookies\": [\n    {cookie}\n  ],\n  \"origins\": []\n}}"), true),
            (format!(r#"{{"cookies": [{{"name": "a", "value": "{}"}}]}}"#, "x".repeat(9_000)), true),
            (r#"{"cookies":[],"origins":[{"origin":"https://x.example","localStorage":[]}]}"#.to_owned(), true),
            (r#"{"origins":[{"origin":"https://x.example","localStorage":[]}],"cookies":[]}"#.to_owned(), true),
            (format!("\u{feff}[{cookie}]"), true),
            ("# Netscape HTTP Cookie File\n.x.example\tTRUE\t/\tTRUE\t0\ta\tb\n".to_owned(), true),
            ("#HttpOnly_.x.example\tTRUE\t/\tTRUE\t0\ta\tb\n".to_owned(), true),
            (r#"{"cookies": [{"name": "chocolate chip", "sugar": 200}]}"#.to_owned(), false),
            (r#"{"cookies": "are small texts that a site stores"}"#.to_owned(), false),
            (r#"[{"domain": "x.example", "value": 3}]"#.to_owned(), false),
            ("# HTTP cookie files\n\nHow browsers keep them.\n".to_owned(), false),
            ("# Netscape\n\nThe first browser with cookies.\n".to_owned(), false),
            ("# Cookies\n\n{\"cookies\": [{\"name\": \"a\", \"value\": \"b\"}]}\n".to_owned(), false),
            (String::new(), false),
        ] {
            fs::write(&file, &text).unwrap();
            assert_eq!(check(&file).is_err(), is_secret, "{text}");
            assert_eq!(check_write(&file).is_err(), is_secret, "{text}");
            check_path(&file).unwrap();
        }
    }

    #[test]
    fn databases_of_cookies_and_passwords_are_recognised_by_their_tables() {
        let temp = tempfile::tempdir().unwrap();
        let file = ragmaker_fs::canonicalize(temp.path()).unwrap().join("a.db");
        for (schema, is_secret) in [
            ("CREATE TABLE cookies(creation_utc INTEGER NOT NULL", true),
            ("CREATE TABLE logins (origin_url VARCHAR NOT NULL", true),
            ("CREATE TABLE moz_cookies (id INTEGER PRIMARY KEY", true),
            ("CREATE TABLE recipes(cookies TEXT)", false),
        ] {
            // Larger than what is read of other files.
            fs::write(&file, [b"SQLite format 3\0", &[0; 2 * HEAD][..], schema.as_bytes()].concat()).unwrap();
            assert_eq!(check(&file).is_err(), is_secret, "{schema}");
        }
    }

    #[test]
    fn no_directory_takes_the_place_of_a_guarded_file() {
        let temp = tempfile::tempdir().unwrap();
        let top = ragmaker_fs::canonicalize(temp.path()).unwrap();
        // As with a symbolic link `.tmp` to this folder.
        fs::create_dir_all(top.join("data/cache")).unwrap();
        fs::write(top.join("data/cache/mcp_token"), "x").unwrap();
        for (path, is_guarded) in [
            ("ragmaker.toml/cache/catalog.json", true),
            ("kb/ragmaker.toml", true),
            (".tmp/cache/mcp_token/_", true),
            (".tmp/cache/.gitignore/_", true),
            ("data/cache/mcp_token", true),
            ("data/cache/.gitignore", true),
            ("data/.gitignore", false),
            ("kb/cache/.gitignore", false),
            (".env/lib/a.py", false),
        ] {
            assert_eq!(check_write(&top.join(path)).is_err(), is_guarded, "{path}");
        }
        assert!(check(&top.join("data/cache/mcp_token")).is_err());
    }

    #[test]
    fn profiles_are_recognised_by_path_and_content() {
        let temp = tempfile::tempdir().unwrap();
        let top = ragmaker_fs::canonicalize(temp.path()).unwrap();
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
