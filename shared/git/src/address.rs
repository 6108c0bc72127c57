//! The address of a repository, and the address of a file in it at a commit.

use std::{
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use ragmaker_address::URL_NOT_ALLOWED;
use ragmaker_tool::{ARGUMENT_ERROR, Error};
use url::Url;

use crate::{Storage, command::Network};

/// The characters that are escaped in the path of an address.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'|')
    .add(b'\\')
    .add(b'^')
    .add(b'[')
    .add(b']');

/// The address of a repository, and optionally of a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The address for Git.
    pub(crate) given: String,
    /// The address without a password.
    repository: String,
    /// The folder, of a local one.
    local: Option<PathBuf>,
    /// What Git reads there, if that was found out already.
    storage: Option<Arc<Storage>>,
    host: Option<String>,
    /// Whether Git follows an HTTP redirect to another address.
    redirects: bool,
    /// Whether the path starts at the home folder of the user on the host, as in `git@host:repository.git`.
    relative: bool,
    /// The page of the repository and how its site calls the page of a file.
    web: Option<(String, Site)>,
    /// `REF/PATH`, of the page of a file or folder.
    part: Option<String>,
}

/// The forms of a site's addresses of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Site {
    GitHub,
    GitLab,
    Bitbucket,
    Gitea,
    SourceHut,
}

impl Site {
    /// The site of `host`, by the names of the well-known ones.
    fn of(host: &str) -> Option<Self> {
        let host = host.to_ascii_lowercase();
        match host.as_str() {
            "github.com" => Some(Self::GitHub),
            "bitbucket.org" => Some(Self::Bitbucket),
            "codeberg.org" | "gitea.com" => Some(Self::Gitea),
            "git.sr.ht" => Some(Self::SourceHut),
            host if host.split('.').any(|label| label == "gitlab") => Some(Self::GitLab),
            _ => None,
        }
    }

    fn file(self, commit: &str) -> String {
        match self {
            Self::GitHub => format!("blob/{commit}"),
            Self::GitLab => format!("-/blob/{commit}"),
            Self::Bitbucket => format!("src/{commit}"),
            Self::Gitea => format!("src/commit/{commit}"),
            Self::SourceHut => format!("tree/{commit}/item"),
        }
    }
}

impl Address {
    /// Reads an argument `--repo-url`: an address that Git clones, the page of a file or folder of it, or the
    /// path of a local repository.
    ///
    /// # Errors
    ///
    /// [`ARGUMENT_ERROR`] and [`URL_NOT_ALLOWED`].
    pub fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let refuse = |reason: &str| {
            ARGUMENT_ERROR
                .error(format!("the repository address {text:?} cannot be used: {reason}"))
                .remedy("Give an address such as https://github.com/owner/repository, or the path of a repository.")
                .detail("argument", "--repo-url")
        };
        // It would be an option of git.
        if text.is_empty() || text.starts_with('-') || text.chars().any(char::is_control) {
            return Err(refuse("it names no repository"));
        }
        if let Some((scheme, _)) = text.split_once("://") {
            let url = text.strip_prefix("git+").unwrap_or(text);
            let url = Url::parse(url).map_err(|error| refuse(&error.to_string()))?;
            return match url.scheme() {
                "http" | "https" | "ssh" | "git" => Self::remote(&url).ok_or_else(|| refuse("it names no host")),
                "file" => {
                    let path = url.to_file_path().map_err(|()| refuse("it is not a path of this machine"))?;
                    Ok(Self::local(&path))
                }
                _ => Err(URL_NOT_ALLOWED
                    .error(format!("a repository cannot be fetched with {scheme}"))
                    .remedy("Give an https, http, ssh or git address, or a local path.")
                    .detail("url", text)),
            };
        }
        // Git's own way to name other programs as transports.
        let scp = scp(text);
        let start = text.split('/').next().unwrap_or_default();
        if start.contains("::") && !scp.is_some_and(|(host, _)| host.ends_with(']')) {
            return Err(URL_NOT_ALLOWED
                .error(format!("{text} names a program, which is not run"))
                .remedy("Give an https, http, ssh or git address, or a local path.")
                .detail("url", text));
        }
        if let Some((host, path)) = scp
            && !Path::new(text).exists()
        {
            let url = format!("ssh://{host}/{}", path.trim_start_matches('/'));
            let url = Url::parse(&url).map_err(|error| refuse(&error.to_string()))?;
            let mut address = Self::remote(&url).ok_or_else(|| refuse("it names no host"))?;
            if !path.starts_with('/') {
                // It starts at the home folder of the user there, which an ssh address cannot say. The well-known sites
                // have no such folders.
                text.clone_into(&mut address.given);
                address.relative = address.web.is_none();
            }
            return Ok(address);
        }
        Ok(Self::local(Path::new(text)))
    }

    fn local(path: &Path) -> Self {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        // One repository has one address, from whatever folder it is named.
        let leads_up = path.components().any(|component| component == Component::ParentDir);
        let path = if leads_up { ragmaker_fs::canonicalize(&path).unwrap_or(path) } else { path };
        let repository = path.to_string_lossy().into_owned();
        Self {
            given: repository.clone(),
            repository,
            local: Some(path),
            storage: None,
            host: None,
            redirects: true,
            relative: false,
            web: None,
            part: None,
        }
    }

    fn remote(url: &Url) -> Option<Self> {
        // What ssh would take for an option; and a user that is one.
        let host = url.host_str().filter(|host| !host.is_empty() && !host.starts_with('-'))?.to_owned();
        if url.username().starts_with('-') {
            return None;
        }
        let mut url = url.clone();
        url.set_query(None);
        url.set_fragment(None);
        let segments: Vec<&str> = url.path().split('/').filter(|segment| !segment.is_empty()).collect();
        let is_page = matches!(url.scheme(), "http" | "https");
        let site = Site::of(&host);
        let split = is_page.then(|| split(&segments, site)).flatten();
        let (own, part) = match split {
            Some((own, from)) => {
                let part = percent_decode_str(&segments[from..].join("/")).decode_utf8_lossy().into_owned();
                (own, Some(part).filter(|part| !part.is_empty()))
            }
            None => (segments.len(), None),
        };
        let path = segments[..own].join("/");
        let web = site.map(|site| (format!("https://{host}/{}", path.trim_end_matches(".git")), site));
        url.set_path(&path);
        let mut shown = url.clone();
        // No error: it has a host.
        let _ = shown.set_password(None);
        if is_page {
            let _ = shown.set_username("");
        }
        let (given, repository, host) = (url.into(), shown.into(), Some(host));
        let (local, storage) = (None, None);
        Some(Self { given, repository, local, storage, host, redirects: true, relative: false, web, part })
    }

    /// The repository, without a password: what is recorded, and read again by [`Address::parse`].
    pub fn repository(&self) -> &str {
        if self.relative { &self.given } else { &self.repository }
    }

    /// The same repository, whose server must not send Git on to another address.
    #[must_use]
    pub fn without_redirects(self) -> Self {
        Self { redirects: false, ..self }
    }

    pub(crate) fn network(&self) -> Network {
        if self.redirects { Network::Allowed } else { Network::WithoutRedirects }
    }

    /// The folder of a local repository.
    pub fn local_path(&self) -> Option<&Path> {
        self.local.as_deref()
    }

    /// The local repository at `path` with this storage, which the caller has checked.
    pub fn checked(path: &Path, storage: Storage) -> Self {
        Self { storage: Some(Arc::new(storage)), ..Self::local(path) }
    }

    /// What Git reads of a local repository; `None` for a remote one.
    pub(crate) fn storage(&self) -> Result<Option<Arc<Storage>>, Error> {
        match (&self.storage, &self.local) {
            (Some(storage), _) => Ok(Some(Arc::clone(storage))),
            (None, Some(path)) => Storage::of(path).map(|storage| Some(Arc::new(storage))),
            (None, None) => Ok(None),
        }
    }

    /// The host of a remote repository.
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// The part `REF/PATH` of the address of a file or folder; a ref may contain slashes.
    pub fn part(&self) -> Option<&str> {
        self.part.as_deref()
    }

    /// The address of the file `path` at `commit`: its page on the site, or `git+URL@COMMIT#PATH` for an unknown site.
    pub fn document(&self, commit: &str, path: &str) -> String {
        let path = utf8_percent_encode(path, ESCAPED);
        match &self.web {
            Some((page, site)) => format!("{page}/{}/{path}", site.file(commit)),
            None => format!("git+{}@{commit}#{path}", self.url()),
        }
    }

    /// The identity of the file `path`, independent of the commit. For a local repository it has only the name of the
    /// repository's folder, because its parents differ between machines.
    pub fn identity(&self, path: &str) -> String {
        if let Some(local) = &self.local {
            let name = local.file_name().map_or_else(|| "repository".into(), |name| name.to_string_lossy());
            return format!("{}/{path}", name.trim_end_matches(".git"));
        }
        let page = self.web.as_ref().map_or_else(|| self.url(), |(page, _)| page.clone());
        format!("{page}/{}", utf8_percent_encode(path, ESCAPED))
    }

    fn url(&self) -> String {
        let local = self.local.as_ref().and_then(|path| Url::from_file_path(path).ok());
        local.map_or_else(|| self.repository.clone(), String::from)
    }
}

/// Whether `host`, which is `user@host`, begins with a bracket, and nothing before it has a colon.
fn is_bracketed(host: &str) -> bool {
    let (user, host) = host.rsplit_once('@').unwrap_or(("", host));
    host.starts_with('[') && !user.contains([':', '['])
}

/// Host and path of an address as scp writes it: `user@host:path`.
fn scp(text: &str) -> Option<(&str, &str)> {
    let colon = match text.find("]:") {
        // A number in IPv6 has colons itself.
        Some(end) if is_bracketed(&text[..end]) => end + 1,
        _ => text.find(':')?,
    };
    let (host, path) = (&text[..colon], &text[colon + 1..]);
    (host.len() > 1 && !host.contains(['/', '\\']) && !path.is_empty()).then_some((host, path))
}

/// The parts of a page's path: the number of segments of the repository, and the index of the segment at which
/// `REF/PATH` starts.
fn split(segments: &[&str], site: Option<Site>) -> Option<(usize, usize)> {
    let is_part = |segment: &str| matches!(segment, "tree" | "blob" | "raw" | "blame" | "edit");
    let segment = |at: usize| segments.get(at).copied().unwrap_or_default();
    // GitLab's marker, however deep its groups are.
    if let Some(at) = (2..segments.len()).find(|at| segment(*at) == "-" && is_part(segment(at + 1))) {
        return Some((at, at + 2));
    }
    // The other known sites have repositories of two segments. Elsewhere, a name that ends in .git ends the repository.
    let is_of_two = site.is_some_and(|site| site != Site::GitLab);
    let named = segments.iter().position(|segment| segment.strip_suffix(".git").is_some()).filter(|_| !is_of_two);
    let at = named.map_or(2, |at| at + 1);
    match segment(at) {
        marker if is_part(marker) => Some((at, at + 1)),
        "src" if matches!(segment(at + 1), "branch" | "commit" | "tag") => Some((at, at + 2)),
        "src" => Some((at, at + 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_refusal_names_no_option_because_a_catalog_has_addresses_too() {
        for text in ["", "-x", "https://"] {
            let error = Address::parse(text).unwrap_err();
            assert!(error.message().starts_with("the repository address \"") && !error.message().contains("--repo"));
        }
    }

    fn parsed(text: &str) -> Address {
        Address::parse(text).unwrap()
    }

    #[test]
    fn pages_name_a_repository_and_a_part_of_it() {
        for (text, repository, part, document) in [
            ("https://github.com/o/r", "https://github.com/o/r", None, "https://github.com/o/r/blob/C/a%20b.md"),
            (
                "https://github.com/o/r.git/",
                "https://github.com/o/r.git",
                None,
                "https://github.com/o/r/blob/C/a%20b.md",
            ),
            (
                "https://github.com/o/r/tree/main/docs/",
                "https://github.com/o/r",
                Some("main/docs"),
                "https://github.com/o/r/blob/C/a%20b.md",
            ),
            (
                "https://github.com/o/r/blob/v1/a%20b.md?plain=1#L3",
                "https://github.com/o/r",
                Some("v1/a b.md"),
                "https://github.com/o/r/blob/C/a%20b.md",
            ),
            (
                "https://gitlab.com/g/s/r/-/tree/main/docs",
                "https://gitlab.com/g/s/r",
                Some("main/docs"),
                "https://gitlab.com/g/s/r/-/blob/C/a%20b.md",
            ),
            (
                "https://codeberg.org/o/r/src/branch/main/d",
                "https://codeberg.org/o/r",
                Some("main/d"),
                "https://codeberg.org/o/r/src/commit/C/a%20b.md",
            ),
            (
                "https://bitbucket.org/o/r/src/main/d",
                "https://bitbucket.org/o/r",
                Some("main/d"),
                "https://bitbucket.org/o/r/src/C/a%20b.md",
            ),
            ("git@github.com:o/r.git", "ssh://git@github.com/o/r.git", None, "https://github.com/o/r/blob/C/a%20b.md"),
            (
                "https://x.example/git/r.git",
                "https://x.example/git/r.git",
                None,
                "git+https://x.example/git/r.git@C#a%20b.md",
            ),
            ("git@x.example:t/r.git", "git@x.example:t/r.git", None, "git+ssh://git@x.example/t/r.git@C#a%20b.md"),
            ("git@[::1]:t/r.git", "git@[::1]:t/r.git", None, "git+ssh://git@[::1]/t/r.git@C#a%20b.md"),
            ("x.example:/srv/r", "ssh://x.example/srv/r", None, "git+ssh://x.example/srv/r@C#a%20b.md"),
            (
                "http://x.example/a/b/src/r.git",
                "http://x.example/a/b/src/r.git",
                None,
                "git+http://x.example/a/b/src/r.git@C#a%20b.md",
            ),
            (
                "http://x.example/a/b/tree/r.git/",
                "http://x.example/a/b/tree/r.git",
                None,
                "git+http://x.example/a/b/tree/r.git@C#a%20b.md",
            ),
            (
                "http://x.example/a/b/c/r.git/src/branch/main/d",
                "http://x.example/a/b/c/r.git",
                Some("main/d"),
                "git+http://x.example/a/b/c/r.git@C#a%20b.md",
            ),
            (
                "https://github.com/o/r/blob/main/x.git",
                "https://github.com/o/r",
                Some("main/x.git"),
                "https://github.com/o/r/blob/C/a%20b.md",
            ),
            ("https://u:p@x.example/r", "https://x.example/r", None, "git+https://x.example/r@C#a%20b.md"),
            ("git://127.0.0.1:9418/r", "git://127.0.0.1:9418/r", None, "git+git://127.0.0.1:9418/r@C#a%20b.md"),
            ("git+https://x.example/r", "https://x.example/r", None, "git+https://x.example/r@C#a%20b.md"),
            ("/srv/r", "/srv/r", None, "git+file:///srv/r@C#a%20b.md"),
            ("file:///srv/r", "/srv/r", None, "git+file:///srv/r@C#a%20b.md"),
        ] {
            let address = parsed(text);
            assert_eq!((address.repository(), address.part()), (repository, part), "{text}");
            assert_eq!(address.document("C", "a b.md"), document);
            // What is recorded is the same repository again.
            assert_eq!(parsed(address.repository()).document("C", "a b.md"), document);
        }
        assert_eq!(parsed("https://u:p@x.example/r").given, "https://u:p@x.example/r");
        // The server is asked for the path that was given.
        for text in ["git@x.example:t/r.git", "git@github.com:o/r.git", "git@[::1]:t/r.git"] {
            assert_eq!(parsed(text).given, text);
        }
        for (text, identity) in [
            ("/srv/me/r", "r/a b.md"),
            ("/srv/me/r.git", "r/a b.md"),
            ("https://github.com/o/r/tree/main/x", "https://github.com/o/r/a%20b.md"),
        ] {
            assert_eq!(parsed(text).identity("a b.md"), identity);
        }
    }

    #[test]
    fn a_local_repository_has_one_address() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("work/docs")).unwrap();
        let named = [top.join("work"), top.join("work/docs/.."), top.join("./work/docs/../../work")];
        let all = named.map(|path| parsed(path.to_str().unwrap()).document("C", "a.md"));
        assert!(all[0].ends_with("/work@C#a.md") && all.iter().all(|one| *one == all[0]), "{all:?}");
        assert_eq!(parsed(top.join("work/docs/..").to_str().unwrap()).identity("a.md"), "work/a.md");
    }

    #[test]
    fn addresses_that_git_would_run_are_rejected() {
        for (text, code) in [
            ("", "ARGUMENT_ERROR"),
            ("--upload-pack=touch x", "ARGUMENT_ERROR"),
            ("-oProxyCommand=x:y", "ARGUMENT_ERROR"),
            ("ssh://-oProxyCommand=x/y", "ARGUMENT_ERROR"),
            ("ssh://-oProxyCommand@h/y", "ARGUMENT_ERROR"),
            ("https://x.example/\n--upload-pack=x", "ARGUMENT_ERROR"),
            ("ext::sh -c touch% x", "URL_NOT_ALLOWED"),
            ("ext::https://x", "URL_NOT_ALLOWED"),
            ("fd::17", "URL_NOT_ALLOWED"),
            ("x@-oProxyCommand=x:y", "ARGUMENT_ERROR"),
            ("git@[x::y]:r", "ARGUMENT_ERROR"),
            ("ext::[a]:sh", "URL_NOT_ALLOWED"),
            ("ext::x@[::1]:sh", "URL_NOT_ALLOWED"),
            ("javascript://x/y", "URL_NOT_ALLOWED"),
            ("ftp://x.example/r", "URL_NOT_ALLOWED"),
        ] {
            let error = Address::parse(text).unwrap_err();
            assert_eq!(error.code(), code, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_is_parsed_is_an_option(text in r"(-|ssh://|https://|git@|ext::|)[a-z@:/.%\-]{0,20}") {
            if let Ok(address) = Address::parse(&text) {
                prop_assert!(!address.given.starts_with('-'), "{}", address.given);
                prop_assert!(address.host.as_ref().is_none_or(|host| !host.starts_with('-')));
                prop_assert!(!address.given.split('/').next().unwrap_or_default().contains("::"));
            }
        }
    }
}
