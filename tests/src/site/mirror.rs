//! Pages of other authors, as a site on loopback whose other hosts accept connections and never answer.
//!
//! Every other host that a page, a script or a style sheet names becomes a loopback address of its own,
//! such as `http://127.45.3.9:40123`, on which a socket listens that nobody accepts from: the system
//! completes the connection, and no answer comes. A browser then sees as many silent hosts as the page
//! names, without a name being resolved. Only systems that route all of 127.0.0.0/8 to themselves, as
//! Linux does, can have them; elsewhere the names stay as they are.

use std::{
    collections::HashMap,
    fs, io,
    net::{Ipv4Addr, TcpListener},
    path::{Component, Path, PathBuf},
    process::Command,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU16, Ordering},
    },
};

use super::{
    http::Response,
    server::{Reply, Server},
};

/// The last two numbers of the next silent host's address.
static NEXT_HOST: AtomicU16 = AtomicU16::new(1);

/// The host of XML namespaces, which name no address.
const NAMESPACES: &str = "www.w3.org";

/// A running site; dropping it stops it.
pub struct Mirror {
    server: Server,
}

impl Mirror {
    /// Serves the files of `folder`.
    ///
    /// # Errors
    ///
    /// Where nothing can listen on loopback.
    pub fn of_folder(folder: PathBuf) -> io::Result<Self> {
        Self::start(move |path| fs::read(below(&folder, path)?).ok(), None)
    }

    /// Serves one page at `/`, whatever it is called; the rest of its host `own` is not found.
    ///
    /// # Errors
    ///
    /// Where nothing can listen on loopback.
    pub fn of_page(html: Vec<u8>, own: &str) -> io::Result<Self> {
        Self::start(move |path| (path == "/").then(|| html.clone()), Some(own.to_owned()))
    }

    fn start(read: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static, own: Option<String>) -> io::Result<Self> {
        let server = Server::start(None, move |port| {
            let mut hosts = SilentHosts::default();
            if let Some(own) = own {
                hosts.origins.insert(own.to_ascii_lowercase(), Some(format!("http://127.0.0.1:{port}")));
            }
            let hosts = Mutex::new(hosts);
            Box::new(move |request| {
                let path = request.path.split(['?', '#']).next().unwrap_or_default();
                let Some(bytes) = read(path) else {
                    return Reply::from(Response::of_others("text/plain", "not here").status(404));
                };
                let media_type = media_type(path);
                let named = matches!(media_type, "text/html" | "text/css" | "text/javascript");
                let mut hosts = hosts.lock().unwrap_or_else(PoisonError::into_inner);
                let bytes = if named { hosts.renamed_in(&bytes) } else { bytes };
                Response::of_others(media_type, bytes).into()
            })
        })?;
        Ok(Self { server })
    }

    /// The address of a file of the folder, or of the page at `/`.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.server.port())
    }
}

/// One of the manuals in the toolchain's documentation.
pub struct Manual {
    /// Its name there.
    pub name: &'static str,
    /// The folder of the whole documentation.
    pub folder: PathBuf,
    /// The paths of its pages below that folder, each with a slash at its beginning, in their order.
    pub pages: Vec<String>,
}

/// The manuals that a Rust toolchain brings: the book, the module `std::vec`, the reference and Cargo's. None
/// where the component `rust-docs` is not installed. Pages that only lead to another one, lists for printing
/// and the pages of earlier editions are left out.
#[must_use]
pub fn toolchain_documentation() -> Vec<Manual> {
    let root = Command::new("rustc").args(["--print", "sysroot"]).output();
    let Some(root) = root.ok().and_then(|output| String::from_utf8(output.stdout).ok()) else { return vec![] };
    let folder = Path::new(root.trim()).join("share/doc/rust/html");
    let manuals = ["book", "std/vec", "reference", "cargo"].map(|name| {
        let mut pages = vec![];
        pages_below(&folder.join(name), name != "book", &mut pages);
        let relative = |path: &PathBuf| Some(format!("/{}", path.strip_prefix(&folder).ok()?.to_str()?));
        let mut pages: Vec<_> = pages.iter().filter_map(relative).collect();
        pages.sort();
        Manual { name, folder: folder.clone(), pages }
    });
    manuals.into_iter().filter(|manual| !manual.pages.is_empty()).collect()
}

fn pages_below(folder: &Path, nested: bool, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            if nested {
                pages_below(&path, nested, pages);
            }
            continue;
        }
        let is_html = path.extension().is_some_and(|extension| extension == "html");
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let is_list = matches!(stem, "print" | "toc" | "404" | "all");
        // The pages of earlier editions are a few words on where they went, and not for search engines.
        let is_stub = |html: &str| html.contains("http-equiv=\"refresh\"") || html.contains("\"noindex,follow\"");
        if is_html && !is_list && fs::read_to_string(&path).is_ok_and(|html| !is_stub(&html)) {
            pages.push(path);
        }
    }
}

/// The file that `path` of a URL names below `folder`; the index of a folder.
fn below(folder: &Path, path: &str) -> Option<PathBuf> {
    let relative = Path::new(path.trim_start_matches('/'));
    let plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
    let index = if path.ends_with('/') { "index.html" } else { "" };
    plain.then(|| folder.join(relative)).map(|file| if index.is_empty() { file } else { file.join(index) })
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("html", |(_, extension)| extension) {
        "css" => "text/css",
        "js" | "mjs" => "text/javascript",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "woff" => "font/woff",
        "txt" | "md" => "text/plain",
        _ => "text/html",
    }
}

/// The origins that stand for other hosts.
#[derive(Default)]
struct SilentHosts {
    /// By the host's name; nothing where a host keeps its name.
    origins: HashMap<String, Option<String>>,
    listeners: Vec<TcpListener>,
}

impl SilentHosts {
    /// The bytes of a text with every origin in it renamed. The text is of any encoding that has ASCII in it.
    fn renamed_in(&mut self, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = find(rest, b"//") {
            let (before, from) = rest.split_at(at);
            let scheme = [&b"https:"[..], b"http:"].into_iter().find(|scheme| before.ends_with(scheme));
            // Without a scheme it is an address only as the whole value of an attribute.
            let quoted = before.last().is_some_and(|byte| matches!(byte, b'"' | b'\''));
            let length = from[2..].iter().take_while(|&&byte| is_of_host(byte)).count();
            let host = String::from_utf8_lossy(&from[2..2 + length]).to_ascii_lowercase();
            let is_host = host.contains('.') && !host.starts_with('.') && !host.ends_with('.');
            let origin = Some(host).filter(|_| is_host && (scheme.is_some() || quoted));
            match origin.and_then(|host| self.origin(&host)) {
                Some(origin) => {
                    out.extend_from_slice(&before[..before.len() - scheme.map_or(0, <[u8]>::len)]);
                    out.extend_from_slice(origin.as_bytes());
                }
                None => out.extend_from_slice(&rest[..at + 2 + length]),
            }
            rest = &from[2 + length..];
        }
        out.extend_from_slice(rest);
        out
    }

    fn origin(&mut self, host: &str) -> Option<String> {
        if host == NAMESPACES || host.parse::<Ipv4Addr>().is_ok() {
            return None;
        }
        if let Some(known) = self.origins.get(host) {
            return known.clone();
        }
        // No two mirrors share one: a browser remembers which hosts are silent.
        let [high, low] = NEXT_HOST.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let listener = TcpListener::bind((Ipv4Addr::new(127, 45, high, low), 0)).ok();
        let address = listener.as_ref().and_then(|listener| listener.local_addr().ok());
        let origin = address.map(|address| format!("http://{address}"));
        self.listeners.extend(listener);
        self.origins.insert(host.to_owned(), origin.clone());
        origin
    }
}

fn is_of_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::{Read, Write},
        net::TcpStream,
        time::Duration,
    };

    fn renamed(text: &str) -> String {
        let mut hosts = SilentHosts::default();
        hosts.origins.insert("own.example".into(), Some("OWN".into()));
        for (host, origin) in [("a.example", "A"), ("b.example", "B")] {
            hosts.origins.insert(host.into(), Some(origin.into()));
        }
        String::from_utf8(hosts.renamed_in(text.as_bytes())).unwrap()
    }

    #[test]
    fn only_hosts_are_renamed() {
        for (text, wanted) in [
            (r#"<a href="https://a.example/x">"#, r#"<a href="A/x">"#),
            (r#"<script src="//B.example/x.js">"#, r#"<script src="B/x.js">"#),
            ("fetch('http://a.example')", "fetch('A')"),
            ("url(https://own.example/a.png)", "url(OWN/a.png)"),
            ("// a.example", "// a.example"),
            ("x //a.example/", "x //a.example/"),
            ("http://localhost/ https://", "http://localhost/ https://"),
            ("http://www.w3.org/2000/svg", "http://www.w3.org/2000/svg"),
            ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/"),
            ("", ""),
        ] {
            assert_eq!(renamed(text), wanted);
        }
    }

    #[test]
    fn a_file_is_found_below_the_folder_and_nowhere_else() {
        let folder = Path::new("/docs");
        assert_eq!(below(folder, "/book/"), Some("/docs/book/index.html".into()));
        assert_eq!(below(folder, "/book/a.html"), Some("/docs/book/a.html".into()));
        assert_eq!(below(folder, "/../etc/passwd"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn another_host_accepts_and_does_not_answer() {
        let page = b"<script src=https://a.example/x.js></script><img src='https://own.example/a.png'>".to_vec();
        let mirror = Mirror::of_page(page, "own.example").unwrap();
        let asked = |url: &str| {
            let address = url.strip_prefix("http://").unwrap();
            let mut stream = TcpStream::connect(address.split('/').next().unwrap()).unwrap();
            stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).map(|_| text)
        };
        let html = asked(&mirror.url("/")).unwrap();
        assert!(html.contains(&mirror.url("/a.png")), "{html}");
        let other = html.split("src=").nth(1).unwrap().split('>').next().unwrap();
        assert!(other.starts_with("http://127.45."), "{other}");
        assert!(asked(other).is_err());
    }
}
