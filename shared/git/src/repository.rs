//! One commit of a repository: its files by name, and their content.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::Stdio,
    thread,
};

use ragmaker_tool::Error;
use tempfile::TempDir;

use crate::{
    Address, GIT_FAILED, PATH_NOT_FOUND, REF_NOT_FOUND,
    command::{Network, git, run, start, temporary},
};

/// The maximum size in bytes of a file that is read (64 MiB).
const MAX_FILE: u64 = 64 << 20;

/// The name that the fetched commit has.
const FETCHED: &str = "refs/ragmaker/fetched";

/// A commit of a repository.
#[derive(Debug)]
pub struct Repository {
    /// The Git directory, which is removed at the end: a clone of a remote repository, or a view of a local one.
    folder: TempDir,
    is_fetched: bool,
    network: Network,
    reference: Option<String>,
    path: String,
    commit: String,
}

/// A file of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path, from the top of the repository.
    pub path: String,
    /// The name of its content.
    pub blob: String,
    /// The kind of an entry that is not a regular file: `link` or `submodule`.
    pub other: Option<&'static str>,
}

/// The commit that `reference` of the repository at `address` is now, the default branch without one; and how
/// the part that the address names is split, if it names one.
///
/// # Errors
///
/// The codes of [`crate::ERRORS`].
pub fn resolve(address: &Address, reference: Option<&str>) -> Result<Resolved, Error> {
    if let Some(reference) = reference {
        check(reference)?;
    }
    match address.storage()? {
        Some(storage) => resolve_local(storage.view()?.path(), reference),
        None => resolve_remote(address, reference),
    }
}

/// A resolved reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The commit, in full.
    pub commit: String,
    /// The reference; `None` is the default branch.
    pub reference: Option<String>,
    /// The path that the address names; empty for all of the repository.
    pub path: String,
    /// The reference to request from the server.
    wanted: String,
}

impl Repository {
    /// The commit that `reference` of the repository at `address` is, or the one that the address names.
    ///
    /// # Errors
    ///
    /// The codes of [`crate::ERRORS`].
    pub fn open(address: &Address, reference: Option<&str>) -> Result<Self, Error> {
        if let Some(storage) = address.storage()? {
            if let Some(reference) = reference {
                check(reference)?;
            }
            let folder = storage.view()?;
            let Resolved { commit, reference, path, .. } = resolve_local(folder.path(), reference)?;
            return Ok(Self { folder, is_fetched: false, network: Network::Refused, reference, path, commit });
        }
        let Resolved { commit, reference, path, wanted } = resolve(address, reference)?;
        let folder = temporary();
        let folder =
            folder.map_err(|error| GIT_FAILED.error(format!("cannot create a folder for the repository: {error}")))?;
        let network = address.network();
        let call = |arguments: &[&str]| run(git(Some(folder.path()), network, arguments), &[]);
        // Without a template, which may have hooks.
        call(&["init", "--quiet", "--bare", "--template="])?;
        for (name, value) in [
            ("remote.origin.url", address.given.as_str()),
            ("remote.origin.promisor", "true"),
            ("remote.origin.partialclonefilter", "blob:none"),
        ] {
            call(&["config", name, value])?;
        }
        let wanted = format!("+{wanted}:{FETCHED}");
        call(&[
            "fetch",
            "--quiet",
            "--depth=1",
            "--filter=blob:none",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            "origin",
            &wanted,
        ])?;
        let named = run(
            git(Some(folder.path()), Network::Refused, &["rev-parse", "--verify", &format!("{FETCHED}^{{commit}}")]),
            &[],
        )?;
        // A branch may have moved since it was asked for.
        let commit = first_line(&named).unwrap_or(commit);
        Ok(Self { folder, is_fetched: true, network, reference, path, commit })
    }

    /// The commit, in full.
    pub fn commit(&self) -> &str {
        &self.commit
    }

    /// The requested branch, tag or commit.
    pub fn reference(&self) -> Option<&str> {
        self.reference.as_deref()
    }

    /// The path that the address names; empty for all of the repository.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The files beneath `path`, or the one that it is, in the order of their names.
    ///
    /// # Errors
    ///
    /// [`PATH_NOT_FOUND`]; [`GIT_FAILED`].
    pub fn list(&self, path: &str) -> Result<Vec<File>, Error> {
        let path = path.trim_matches('/');
        let path = path.strip_prefix("./").unwrap_or(path);
        let missing = || {
            PATH_NOT_FOUND
                .error(format!("there is no {path} in the repository at {}", self.commit))
                .detail("path", path)
                .detail("commit", self.commit.as_str())
        };
        if path.split('/').any(|name| name == "..") || path.contains('\0') {
            return Err(missing());
        }
        let mut arguments = vec!["ls-tree", "-r", "-z", "--full-tree", self.commit.as_str(), "--"];
        if !matches!(path, "" | ".") {
            arguments.push(path);
        }
        let listed = run(git(Some(self.folder.path()), Network::Refused, &arguments), &[])?;
        let files: Vec<File> = listed.split(|byte| *byte == 0).filter_map(file).collect();
        if files.is_empty() { Err(missing()) } else { Ok(files) }
    }

    /// Fetches the missing content of `blobs` and calls `each` for each of them, with `None` for content that does not
    /// exist or is larger than 64 MiB.
    ///
    /// # Errors
    ///
    /// The codes of [`crate::ERRORS`].
    pub fn read(&self, blobs: &[&str], mut each: impl FnMut(&str, Option<Vec<u8>>)) -> Result<(), Error> {
        if blobs.is_empty() {
            return Ok(());
        }
        let names: Vec<u8> = blobs.iter().flat_map(|blob| blob.bytes().chain([b'\n'])).collect();
        if self.is_fetched {
            // As Git fetches what a partial clone lacks, but all in one request.
            let mut command = git(
                Some(self.folder.path()),
                self.network,
                &["-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", "--no-tags"],
            );
            command.args([
                "--no-recurse-submodules",
                "--no-write-fetch-head",
                "--filter=blob:none",
                "--stdin",
                "origin",
            ]);
            run(command, &names)?;
        }
        let mut command = git(Some(self.folder.path()), Network::Refused, &["cat-file", "--batch"]);
        let mut child = start(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        // Written in a thread of its own: git stops reading names while its answer is not read.
        let writer = thread::spawn(move || input.map(|mut input| input.write_all(&names)));
        let mut output =
            BufReader::new(output.into_iter().next().ok_or_else(|| GIT_FAILED.error("git has no output"))?);
        let mut read = || -> std::io::Result<()> {
            for blob in blobs {
                let mut line = String::new();
                output.read_line(&mut line)?;
                let mut words = line.split_whitespace().skip(1);
                let size = match (words.next(), words.next().map(str::parse::<u64>)) {
                    (Some("blob"), Some(Ok(size))) => size,
                    (Some("missing"), _) => {
                        each(blob, None);
                        continue;
                    }
                    _ => return Err(std::io::Error::other(format!("unexpected output of git for {blob}: {line:?}"))),
                };
                let mut content = vec![];
                let mut part = output.by_ref().take(size);
                if size > MAX_FILE {
                    std::io::copy(&mut part, &mut std::io::sink())?;
                } else {
                    part.read_to_end(&mut content)?;
                }
                // A line break follows the content.
                std::io::copy(&mut output.by_ref().take(1), &mut std::io::sink())?;
                each(blob, (size <= MAX_FILE).then_some(content));
            }
            Ok(())
        };
        let done = read();
        let _ = child.kill();
        let _ = child.wait();
        let _ = writer.join();
        done.map_err(|error| GIT_FAILED.error(format!("cannot read the repository: {error}")))
    }

    /// The number of bytes that were fetched from a remote repository, as stored on the disk; 0 for a local one.
    pub fn bytes_fetched(&self) -> u64 {
        let packs = self.is_fetched.then(|| fs::read_dir(self.folder.path().join("objects/pack")).ok()).flatten();
        packs.into_iter().flatten().filter_map(|entry| entry.ok()?.metadata().ok()).map(|metadata| metadata.len()).sum()
    }
}

/// Refuses an invalid name of a branch, tag or commit (git-check-ref-format), such as an option.
fn check(reference: &str) -> Result<(), Error> {
    let is_bad = reference.is_empty()
        || reference.starts_with(['-', '/', '+'])
        || reference.ends_with(['/', '.'])
        || reference.contains("..")
        || reference.contains("@{")
        || reference.chars().any(|c| c.is_control() || matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\'));
    if is_bad { Err(no_reference(reference)) } else { Ok(()) }
}

fn no_reference(reference: &str) -> Error {
    REF_NOT_FOUND.error(format!("the repository has no branch, tag or commit {reference:?}")).detail("ref", reference)
}

fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn first_line(bytes: &[u8]) -> Option<String> {
    let line = std::str::from_utf8(bytes).ok()?.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

fn resolve_local(folder: &Path, reference: Option<&str>) -> Result<Resolved, Error> {
    let named = format!("{}^{{commit}}", reference.unwrap_or("HEAD"));
    let found = run(git(Some(folder), Network::Refused, &["rev-parse", "--verify", "--quiet", &named]), &[]);
    let commit = match (found, reference) {
        (Ok(found), _) => first_line(&found),
        (Err(error), _) if !error.is(GIT_FAILED) => return Err(error),
        (Err(_), _) => None,
    };
    let commit = commit.ok_or_else(|| match reference {
        Some(reference) => no_reference(reference),
        None => REF_NOT_FOUND.error("the repository has no commit yet").remedy("Give a repository with commits."),
    })?;
    Ok(Resolved { wanted: commit.clone(), commit, reference: reference.map(str::to_owned), path: String::new() })
}

fn resolve_remote(address: &Address, reference: Option<&str>) -> Result<Resolved, Error> {
    let list = |patterns: &[&str]| {
        let mut arguments = vec!["ls-remote", "--quiet"];
        arguments.extend(patterns.iter().copied().filter(|pattern| pattern.starts_with("--")));
        arguments.extend(["--", address.given.as_str()]);
        arguments.extend(patterns.iter().copied().filter(|pattern| !pattern.starts_with("--")));
        let listed = run(git(None, address.network(), &arguments), &[])?;
        Ok(references(&String::from_utf8_lossy(&listed)))
    };
    let path = |part: &str| part.trim_matches('/').to_owned();
    let Some(part) = address.part().filter(|_| reference.is_none()) else {
        // With a reference of its own, the path of the address begins after as many names as that has.
        let rest = address.part().and_then(|part| part.strip_prefix(reference?)).map(path).unwrap_or_default();
        let Some(reference) = reference else {
            let found = list(&["HEAD"])?;
            let (_, commit) = found.into_iter().find(|(name, _)| name == "HEAD").ok_or_else(|| {
                REF_NOT_FOUND.error("the repository has no commit yet").remedy("Give a repository with commits.")
            })?;
            return Ok(Resolved { commit, reference: None, path: rest, wanted: "HEAD".to_owned() });
        };
        return named(reference, rest, &list);
    };
    // The page of a folder: where the name of the branch ends, only the repository knows.
    let (first, after) = part.split_once('/').unwrap_or((part, ""));
    if is_hash(first) {
        return named(first, path(after), &list);
    }
    let all = list(&["--heads", "--tags"])?;
    let names =
        all.iter().filter_map(|(name, _)| name.strip_prefix("refs/heads/").or_else(|| name.strip_prefix("refs/tags/")));
    let fits = |name: &&str| part == *name || part.strip_prefix(*name).is_some_and(|rest| rest.starts_with('/'));
    let longest = names.filter(fits).max_by_key(|name| name.len()).map(str::to_owned);
    let longest = longest.ok_or_else(|| no_reference(first))?;
    named(&longest, path(&part[longest.len()..]), &|_| Ok(all.clone()))
}

/// References and the commits that they are, of `ls-remote`.
type References = Vec<(String, String)>;

fn references(listed: &str) -> References {
    let lines = listed.lines().filter_map(|line| line.split_once('\t'));
    lines.map(|(commit, name)| (name.to_owned(), commit.to_owned())).collect()
}

/// The branch, tag or commit `reference`, a branch before a tag of the same name.
fn named(
    reference: &str,
    path: String,
    list: &dyn Fn(&[&str]) -> Result<References, Error>,
) -> Result<Resolved, Error> {
    check(reference)?;
    let of = |commit: String, wanted: String| Resolved { commit, reference: Some(reference.to_owned()), path, wanted };
    if is_hash(reference) {
        return Ok(of(reference.to_ascii_lowercase(), reference.to_ascii_lowercase()));
    }
    let full = reference.strip_prefix("refs/").map(|_| reference.to_owned());
    let names = [format!("refs/heads/{reference}"), format!("refs/tags/{reference}")];
    let names: Vec<String> = full.into_iter().chain(names).collect();
    let peeled: Vec<String> = names.iter().map(|name| format!("{name}^{{}}")).collect();
    let patterns: Vec<&str> = names.iter().chain(&peeled).map(String::as_str).collect();
    let found = list(&patterns)?;
    let commit = |name: &str| found.iter().find(|(known, _)| known == name).map(|(_, commit)| commit.clone());
    for name in names {
        // An annotated tag is an object of its own.
        if let Some(commit) = commit(&format!("{name}^{{}}")).or_else(|| commit(&name)) {
            return Ok(of(commit, name));
        }
    }
    Err(no_reference(reference))
}

/// A line of `ls-tree`: mode, kind and name of the content, a tab, the path.
fn file(line: &[u8]) -> Option<File> {
    // A path that is not UTF-8 has no address.
    let (facts, path) = std::str::from_utf8(line).ok()?.split_once('\t')?;
    let mut facts = facts.split(' ');
    let (mode, kind, blob) = (facts.next()?, facts.next()?, facts.next()?);
    let other = match (mode, kind) {
        ("120000", _) => Some("link"),
        (_, "commit") => Some("submodule"),
        _ => None,
    };
    Some(File { path: path.to_owned(), blob: blob.to_owned(), other })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_commits_are_no_options() {
        for good in ["main", "feature/x", "v1.0", "0123abc", "refs/tags/v1"] {
            assert!(check(good).is_ok(), "{good}");
        }
        for bad in ["", "-q", "--upload-pack=x", "a..b", "a b", "HEAD~1", "a:b", "+x", "a\n", "x^{tree}", "@{-1}"] {
            assert!(check(bad).unwrap_err().is(REF_NOT_FOUND), "{bad}");
        }
    }

    #[test]
    fn lines_of_a_tree_are_files() {
        let parsed = |line: &str| file(line.as_bytes()).map(|file| (file.path, file.other));
        assert_eq!(parsed("100644 blob abc\ta b\tc.md"), Some(("a b\tc.md".into(), None)));
        assert_eq!(parsed("120000 blob abc\tl"), Some(("l".into(), Some("link"))));
        assert_eq!(parsed("160000 commit abc\ts"), Some(("s".into(), Some("submodule"))));
        assert_eq!((parsed(""), file(b"100644 blob a\t\xff")), (None, None));
    }
}
