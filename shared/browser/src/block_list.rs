//! Filter lists in the syntax of Adblock Plus, such as `EasyList`: they block requests of a page.
//!
//! The crate `adblock` interprets the lists. Only network rules are used. Rules that hide parts of a page are ignored,
//! because such a part may be content. Compiled lists are kept in the cache folder: 92,678 lines (`EasyList` and
//! `EasyPrivacy`) take 63 ms to compile and 2 ms to read compiled; a warm call for a plain page takes about 150 ms.

use std::{
    collections::hash_map::DefaultHasher,
    fmt, fs,
    hash::{Hash, Hasher},
    io::{self, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

use adblock::{
    Engine,
    lists::{FilterSet, ParseOptions, RuleTypes},
    request::Request,
    url_parser::{ResolvesDomain, set_domain_resolver},
};
use ragmaker_project::{create_cache_folder, create_private, variables::BLOCK_LISTS};
use ragmaker_tool::{Code, Error};

/// A filter list cannot be used.
pub const BLOCK_LIST_NOT_READABLE: Code = Code::new(
    "BLOCK_LIST_NOT_READABLE",
    "Check the files of --block-list and RAGMAKER_BLOCK_LISTS: text of at most 32 MB with one filter rule per line.",
);

/// The largest list, in bytes; the largest published lists have 6 MB.
const MAX_BYTES: u64 = 32 << 20;

/// Compiled filter lists.
pub struct BlockList {
    engine: Engine,
}

impl fmt::Debug for BlockList {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("BlockList").finish_non_exhaustive()
    }
}

impl BlockList {
    /// The lists in `files` and in the environment; `None` if there are none. `cache` is the cache folder.
    ///
    /// # Errors
    /// [`BLOCK_LIST_NOT_READABLE`] for a file that cannot be read.
    pub fn of(files: &[String], cache: &Path) -> Result<Option<Self>, Error> {
        let named = std::env::var_os(BLOCK_LISTS).unwrap_or_default();
        let named = std::env::split_paths(&named).filter(|path| !path.as_os_str().is_empty());
        let files: Vec<_> = files.iter().map(PathBuf::from).chain(named).collect();
        if files.is_empty() {
            return Ok(None);
        }
        // If a resolver is set already, it is this one.
        let _ = set_domain_resolver(Box::new(Registrable));
        let compiled = cache.join("block-lists").join(format!("{:016x}", fingerprint(&files)?));
        if let Some(engine) = read(&compiled) {
            return Ok(Some(Self { engine }));
        }
        let mut set = FilterSet::new(false);
        for file in &files {
            let bytes = fs::read(file).map_err(|error| unreadable(file, &error.to_string()))?;
            let options = ParseOptions { rule_types: RuleTypes::NetworkOnly, ..ParseOptions::default() };
            set.add_filter_list(String::from_utf8_lossy(&bytes).into_owned(), options);
        }
        let engine = Engine::new_with_filter_set(set);
        // Without the file, the next call compiles the lists again.
        let _ = create_cache_folder(cache).and_then(|()| write(&compiled, &engine.serialize()));
        Ok(Some(Self { engine }))
    }

    /// Whether the lists block a request for `url` by the page at `page`. `kind` is the resource type of the
    /// DevTools protocol.
    pub(crate) fn blocks(&self, url: &str, page: &str, kind: &str, method: &str) -> bool {
        let kind = match kind {
            "Document" => "sub_frame",
            "Stylesheet" => "stylesheet",
            "XHR" | "Fetch" | "EventSource" => "xmlhttprequest",
            "Ping" => "ping",
            "Script" => "script",
            "Image" => "image",
            "Media" | "TextTrack" => "media",
            "Font" => "font",
            _ => "other",
        };
        let request = Request::new(url, page, kind, method);
        request.is_ok_and(|request| self.engine.check_network_request(&request).should_block())
    }
}

/// The registrable domain of a host, by which rules distinguish the page's own site from third parties.
///
/// It is the last two labels, or three where the second is one that registries use, as in `example.co.uk`. The
/// public suffix list would be 0.7 MB of each tool; what it knows beyond this are sites of one owner each below a
/// common name, such as `github.io`, which then count as one site, so that fewer rules apply.
struct Registrable;

impl ResolvesDomain for Registrable {
    fn get_host_domain(&self, host: &str) -> (usize, usize) {
        const SECOND: [&str; 12] = ["ac", "co", "com", "ed", "edu", "go", "gob", "gov", "ne", "net", "or", "org"];
        let mut starts = host.rmatch_indices('.').map(|(at, _)| at + 1);
        let (Some(top), second) = (starts.next(), starts.next()) else { return (0, host.len()) };
        let is_number = host[top..].bytes().all(|byte| byte.is_ascii_digit());
        let label = &host[second.unwrap_or(0)..top - 1];
        let wanted = if host.len() - top == 2 && SECOND.contains(&label) { starts.next() } else { second };
        (if is_number { 0 } else { wanted.unwrap_or(0) }, host.len())
    }
}

/// A fingerprint of a set of lists, which changes with any of the files.
fn fingerprint(files: &[PathBuf]) -> Result<u64, Error> {
    let mut hasher = DefaultHasher::new();
    (env!("CARGO_PKG_VERSION"), FORMAT).hash(&mut hasher);
    for file in files {
        let file = ragmaker_fs::canonicalize(file).map_err(|error| unreadable(file, &error.to_string()))?;
        let data = fs::metadata(&file).map_err(|error| unreadable(&file, &error.to_string()))?;
        if !data.is_file() {
            return Err(unreadable(&file, "it is not a regular file"));
        }
        if data.len() > MAX_BYTES {
            return Err(unreadable(&file, "it is too long"));
        }
        let changed = data.modified().ok().and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        (file, data.len(), changed).hash(&mut hasher);
    }
    Ok(hasher.finish())
}

/// The version of the format of compiled lists. The crate rejects files of other versions of itself.
const FORMAT: u32 = 1;

fn read(compiled: &Path) -> Option<Engine> {
    let mut engine = Engine::default();
    engine.deserialize(&fs::read(compiled).ok()?).ok()?;
    Some(engine)
}

fn write(compiled: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = compiled.parent().ok_or(io::ErrorKind::InvalidInput)?;
    create_private(folder)?;
    // Most of the other files were compiled from lists that have changed.
    let others: Vec<_> = fs::read_dir(folder)?.flatten().collect();
    for other in others.iter().filter(|_| others.len() >= MAX_COMPILED_LISTS) {
        let _ = fs::remove_file(other.path());
    }
    ragmaker_fs::write_atomically(compiled, ragmaker_fs::Replace::default(), |file| file.write_all(bytes)).map(drop)
}

/// The number of compiled sets of lists that are kept.
const MAX_COMPILED_LISTS: usize = 8;

fn unreadable(file: &Path, why: &str) -> Error {
    let message = format!("cannot read the filter list {}: {why}", file.display());
    BLOCK_LIST_NOT_READABLE.error(message).detail("path", file.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "[Adblock Plus 2.0]\n! Title: test\n||ads.example^\n/banner/*$image\n\
        ||cdn.example^$third-party\n@@||ads.example/needed.js\n||shop.example^$domain=news.example\nx.example##.ad\n";

    fn list(folder: &Path) -> String {
        let file = folder.join("list.txt");
        fs::write(&file, LIST).unwrap();
        file.to_str().unwrap().to_owned()
    }

    #[test]
    fn filter_lists_are_parsed_compiled_and_reloaded() {
        let folder = tempfile::tempdir().unwrap();
        let files = [list(folder.path())];
        assert!(BlockList::of(&[], folder.path()).unwrap().is_none());
        for _ in 0..2 {
            let list = BlockList::of(&files, folder.path()).unwrap().unwrap();
            for (url, page, kind, blocked) in [
                ("https://ads.example/a.js", "https://x.example/", "Script", true),
                ("https://sub.ads.example/a.js", "https://x.example/", "Script", true),
                ("https://ads.example/needed.js", "https://x.example/", "Script", false),
                ("https://notads.example/a.js", "https://x.example/", "Script", false),
                ("https://x.example/banner/a.png", "https://x.example/", "Image", true),
                ("https://x.example/banner/a.js", "https://x.example/", "Script", false),
                ("https://cdn.example/a.js", "https://x.example/", "Script", true),
                ("https://a.cdn.example/a.js", "https://www.cdn.example/", "Script", false),
                ("https://shop.example/a.js", "https://www.news.example/", "Fetch", true),
                ("https://shop.example/a.js", "https://x.example/", "Fetch", false),
                ("not a URL", "https://x.example/", "Fetch", false),
            ] {
                assert_eq!(list.blocks(url, page, kind, "GET"), blocked, "{url} on {page}");
            }
            assert_eq!(fs::read_dir(folder.path().join("block-lists")).unwrap().count(), 1);
        }
    }

    #[test]
    fn a_changed_list_and_a_damaged_cache_are_read_anew() {
        let folder = tempfile::tempdir().unwrap();
        let files = [list(folder.path())];
        let blocks = |url: &str| {
            let list = BlockList::of(&files, folder.path()).unwrap().unwrap();
            list.blocks(url, "https://x.example/", "Script", "GET")
        };
        assert!(blocks("https://ads.example/a.js"));
        for compiled in fs::read_dir(folder.path().join("block-lists")).unwrap().flatten() {
            fs::write(compiled.path(), b"damaged").unwrap();
        }
        assert!(blocks("https://ads.example/a.js"));
        fs::write(&files[0], "||other.example^\n").unwrap();
        assert!(!blocks("https://ads.example/a.js") && blocks("https://other.example/"));
    }

    #[test]
    fn the_registrable_domain_is_the_end_of_a_host() {
        for (host, domain) in [
            ("example.com", "example.com"),
            ("a.b.example.com", "example.com"),
            ("www.example.co.uk", "example.co.uk"),
            ("example.co.uk", "example.co.uk"),
            ("co.uk", "co.uk"),
            ("a.example.de", "example.de"),
            ("localhost", "localhost"),
            ("127.0.0.1", "127.0.0.1"),
            ("", ""),
            ("com.", "com."),
        ] {
            let (from, to) = Registrable.get_host_domain(host);
            assert_eq!(&host[from..to], domain);
        }
    }

    #[test]
    fn an_unreadable_list_is_an_error_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().join("none"), folder.path().to_owned()] {
            let path = path.to_str().unwrap().to_owned();
            let error = BlockList::of(&[path], folder.path()).unwrap_err();
            assert!(error.is(BLOCK_LIST_NOT_READABLE), "{error}");
        }
        // Lines that are not rules are ignored, as by every reader of such lists.
        let file = folder.path().join("noise");
        fs::write(&file, [0xff, 0xfe, b'\n', b'|', b'|', 0]).unwrap();
        let list = BlockList::of(&[file.to_str().unwrap().to_owned()], folder.path()).unwrap().unwrap();
        assert!(!list.blocks("https://a.example/", "https://x.example/", "Script", "GET"));
    }
}
