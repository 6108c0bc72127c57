//! `ragmaker-refresh-knowledge-base` from outside: against folders, repositories, and sites that the tests serve.
#![cfg(unix)]

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::Command,
    sync::{Arc, Mutex},
    thread,
};

use ragmaker_catalog::{Catalog, DocumentSource};
use ragmaker_git::Repository;
use ragmaker_ingest::{Run, Skips, Store};
use ragmaker_knowledge::{Body, ContentFormat, Fetched};
use ragmaker_sources::Folder;
use ragmaker_testkit::Tree;
use ragmaker_tool::Invocation;
use serde_json::{Value, json};
use url::Url;

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-refresh-knowledge-base");

const REFRESH: [&str; 3] = ["--kb-root", "kb", "--allow-private"];

/// The answer of a server for a path.
#[derive(Clone)]
enum Reply {
    /// A page, with an optional `ETag`.
    Page(String, Option<String>),
    /// A permanent redirect.
    Moved(String),
    /// Nothing, with this status.
    Status(u16),
}

/// A site on loopback, whose pages a test changes.
struct Site {
    pages: Arc<Mutex<BTreeMap<String, Reply>>>,
    /// The number of bytes of bodies that were sent.
    sent: Arc<Mutex<usize>>,
    address: String,
}

impl Site {
    fn new() -> Self {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", server.local_addr().unwrap());
        let (pages, sent) = (Arc::new(Mutex::new(BTreeMap::new())), Arc::new(Mutex::new(0)));
        let (own, counter) = (Arc::clone(&pages), Arc::clone(&sent));
        thread::spawn(move || {
            for stream in server.incoming().flatten() {
                let (pages, sent) = (Arc::clone(&own), Arc::clone(&counter));
                thread::spawn(move || answer(stream, &pages, &sent));
            }
        });
        Self { pages, sent, address }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    fn set(&self, path: &str, reply: Reply) {
        self.pages.lock().unwrap().insert(path.to_owned(), reply);
    }
}

fn answer(stream: TcpStream, pages: &Mutex<BTreeMap<String, Reply>>, sent: &Mutex<usize>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut out = stream;
    loop {
        let (mut path, mut known) = (String::new(), String::new());
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            if let Some(rest) = line.strip_prefix("GET ") {
                path = rest.split(' ').next().unwrap().to_owned();
            }
            if let Some((name, value)) = line.split_once(": ")
                && name.eq_ignore_ascii_case("if-none-match")
            {
                known = value.to_owned();
            }
        }
        let reply = pages.lock().unwrap().get(&path).cloned().unwrap_or(Reply::Status(404));
        let (status, headers, body) = match reply {
            Reply::Page(_, Some(etag)) if etag == known => (304, format!("ETag: {etag}\r\n"), String::new()),
            Reply::Page(body, etag) => {
                let etag = etag.map_or_else(String::new, |etag| format!("ETag: {etag}\r\n"));
                (200, format!("{etag}Content-Type: text/html; charset=utf-8\r\n"), body)
            }
            Reply::Moved(to) => (301, format!("Location: {to}\r\n"), String::new()),
            Reply::Status(status) => {
                (status, "Content-Type: text/html\r\n".to_owned(), "<h1>No such page here</h1>".to_owned())
            }
        };
        *sent.lock().unwrap() += body.len();
        let length = if status == 304 { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        if out.write_all(format!("HTTP/1.1 {status} x\r\n{headers}{length}\r\n{body}").as_bytes()).is_err() {
            return;
        }
    }
}

/// A page with a frame around its content, as sites have it.
fn page(number: usize, text: &str, frame: &str) -> String {
    let sentences: String =
        (0..12).map(|at| format!("<p>The gauge of station {number} reads the tide at hour {at}, {text}, and logs what it reads in metres above the datum.</p>")).collect::<Vec<_>>().concat();
    format!(
        "<!doctype html><html lang=en><head><title>Station {number}</title></head><body><header><nav><ul><li><a href=/>Home</a></li><li><a href=/about>{frame}</a></li></ul></nav></header><main><article><h1>Station {number}</h1>{sentences}</article></main><footer><p>{frame}, all rights reserved</p></footer></body></html>"
    )
}

/// Saves what the site has at `path` as a page that was fetched from there.
fn gather(tree: &Tree, site: &Site, paths: &[String]) {
    let catalog = Catalog::at(tree.root.join("kb/cache/catalog.json")).unwrap();
    let mut store = Store::open(&catalog, tree.root.join("kb/cache/documents")).unwrap();
    for path in paths {
        let Some(Reply::Page(body, etag)) = site.pages.lock().unwrap().get(path).cloned() else { panic!("no {path}") };
        let url = Url::parse(&site.url(path)).unwrap();
        let fetched = Fetched {
            url: url.as_str(),
            base_url: Some(&url),
            format: ContentFormat::Html,
            body: Body::Text(&body),
            title: "",
            selected: false,
            fetched_at: "",
            source: None,
        };
        let source = DocumentSource::Http { section: None, from: None, etag, last_modified: None };
        store.save(fetched.convert().unwrap(), url.as_str(), &source).unwrap();
    }
    store.finish().unwrap();
    let text = fs::read_to_string(catalog.file()).unwrap().replace("{\"url\": ", "{\"summary\": \"s\", \"url\": ");
    fs::write(catalog.file(), text).unwrap();
}

fn count(answer: &Value, verdict: &str) -> u64 {
    answer["counts"][verdict].as_u64().unwrap()
}

/// Every document's file with its text and the time it was written at.
fn files(root: &Path) -> Vec<(String, String, std::time::SystemTime)> {
    let entries = fs::read_dir(root.join("kb/cache/documents")).unwrap().map(Result::unwrap);
    let mut files: Vec<_> = entries
        .map(|entry| {
            let written = entry.metadata().unwrap().modified().unwrap();
            (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap(), written)
        })
        .collect();
    files.sort();
    files
}

fn listed(tree: &Tree) -> Vec<Value> {
    let catalog = fs::read(tree.root.join("kb/cache/catalog.json")).unwrap();
    serde_json::from_slice::<Value>(&catalog).unwrap()["documents"].as_array().unwrap().clone()
}

/// The verdict of each page of the run, by address.
fn verdicts(answer: &Value) -> BTreeMap<String, String> {
    let report = fs::read_to_string(answer["report_file"].as_str().unwrap()).unwrap();
    let pages = report.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    pages.map(|page| (page["url"].as_str().unwrap().to_owned(), page["verdict"].as_str().unwrap().to_owned())).collect()
}

#[test]
fn changes_of_a_site_are_detected_exactly() {
    let tree = Tree::new(TOOL);
    let site = Site::new();
    let paths: Vec<String> = (0..100).map(|number| format!("/docs/station-{number}")).collect();
    let etag = |number: usize, state: &str| number.is_multiple_of(2).then(|| format!("\"{number}-{state}\""));
    for (number, path) in paths.iter().enumerate() {
        site.set(path, Reply::Page(page(number, "as ever", "Tidemark 2025"), etag(number, "a")));
    }
    gather(&tree, &site, &paths);

    // Nothing has changed: no document is written, and half of the pages are not sent.
    let (before, whole) = (files(&tree.root), paths.len() * page(10, "as ever", "Tidemark 2025").len());
    *site.sent.lock().unwrap() = 0;
    let answer = tree.run(&REFRESH);
    assert_eq!((count(&answer, "unchanged"), answer["pages"].as_array().unwrap().len()), (100, 0), "{answer:#}");
    assert_eq!(files(&tree.root), before);
    let sent = *site.sent.lock().unwrap();
    assert!(sent < whole * 6 / 10, "{sent} of {whole} bytes");

    // 20 are edited, 5 deleted, 5 moved, 30 have another frame, 40 stay as they are.
    let mut expected = BTreeMap::new();
    for (number, path) in paths.iter().enumerate() {
        let verdict = match number {
            0..20 => {
                site.set(path, Reply::Page(page(number, "a foot higher now", "Tidemark 2025"), etag(number, "b")));
                "changed"
            }
            20..25 => {
                site.set(path, Reply::Status(if number == 20 { 410 } else { 404 }));
                "gone"
            }
            25..30 => {
                let to = format!("/docs/harbour-{number}");
                site.set(&to, Reply::Page(page(number, "as ever", "Tidemark 2025"), None));
                site.set(path, Reply::Moved(to));
                "moved"
            }
            30..60 => {
                site.set(path, Reply::Page(page(number, "as ever", "Tidemark 2026 and partners"), etag(number, "c")));
                "unchanged"
            }
            _ => "unchanged",
        };
        expected.insert(site.url(path), verdict.to_owned());
    }
    // A trial tells the same and changes nothing.
    let trial = tree.run(&[&REFRESH[..], &["--dry-run"]].concat());
    assert_eq!(
        (&trial["counts"], verdicts(&trial) == expected),
        (&json!({"added": 0, "changed": 20, "unchanged": 70, "moved": 5, "gone": 5, "refused": 0, "failed": 0}), true)
    );
    assert_eq!((files(&tree.root), listed(&tree).len()), (before.clone(), 100));

    let answer = tree.run(&REFRESH);
    assert_eq!(verdicts(&answer), expected);
    let documents = listed(&tree);
    assert_eq!((documents.len(), answer["stale_summaries"].as_u64()), (95, Some(20)));
    let stale = documents.iter().filter(|one| one["status"] == "changed").count();
    let kept = documents.iter().filter(|one| one["summary"] == "s").count();
    assert_eq!((stale, kept), (20, 95));
    assert!(documents.iter().any(|one| one["url"] == site.url("/docs/harbour-27")));
    assert_eq!(fs::read_dir(tree.root.join("kb/cache/gone")).unwrap().count(), 5);
    // Only what changed or moved was written.
    let after = files(&tree.root);
    let same = before.iter().filter(|file| after.contains(file)).count();
    assert_eq!((after.len(), same), (95, 70));
    assert_eq!(count(&tree.run(&REFRESH), "unchanged"), 95);
}

#[test]
fn a_site_that_cannot_be_asked_takes_nothing_out() {
    let tree = Tree::new(TOOL);
    let site = Site::new();
    site.set("/a", Reply::Page(page(1, "as ever", "f"), None));
    site.set("/b", Reply::Page(page(2, "as ever", "f"), None));
    gather(&tree, &site, &["/a".to_owned(), "/b".to_owned()]);
    site.set("/a", Reply::Status(403));
    // A page that says that there is none, with the status of one that is there.
    site.set(
        "/b",
        Reply::Page("<title>Oops</title><h1>Oops</h1><p>Nothing is here, go back to the start.".into(), None),
    );
    let catalog = fs::read_to_string(tree.root.join("kb/cache/catalog.json")).unwrap();
    let answer = tree.run(&REFRESH);
    assert_eq!((count(&answer, "gone"), listed(&tree).len()), (0, 2), "{answer:#}");
    assert_eq!(verdicts(&answer)[&site.url("/a")], "failed");
    // A machine that does not answer.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    fs::write(
        tree.root.join("kb/cache/catalog.json"),
        catalog.replace(&site.address, &format!("http://127.0.0.1:{port}")),
    )
    .unwrap();
    let answer = tree.run(&REFRESH);
    assert_eq!((count(&answer, "failed"), listed(&tree).len()), (2, 2), "{answer:#}");
    // A model does not reach machines of this network by way of a catalog.
    let answer = tree.run(&["--arguments", &json!({"kb_root": "kb"}).to_string()]);
    let reason = answer["pages"][0]["reason"].as_str().unwrap();
    assert!(reason.starts_with("ADDRESS_NOT_ALLOWED"), "{reason}");
}

fn git(folder: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@x.example", "-c", "commit.gpgSign=false"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .status()
        .expect("git is installed");
    assert!(status.success(), "git {arguments:?}");
}

/// Saves documents as the tools do: `save` lists and saves those of one source.
fn saved_by(tree: &Tree, save: impl FnOnce(&mut Store<'_>, &mut Run)) {
    let catalog = Catalog::at(tree.root.join("kb/cache/catalog.json")).unwrap();
    let mut store = Store::open(&catalog, tree.root.join("kb/cache/documents")).unwrap();
    let mut run = Run::start(&catalog, "test", "", false).unwrap();
    save(&mut store, &mut run);
    store.finish().unwrap();
    run.finish().unwrap();
}

fn sync(tree: &Tree) {
    let path = tree.root.join("docs").canonicalize().unwrap();
    let place = ragmaker_sources::place(&path, None);
    let folder = Folder { place, path, include: &[], exclude: &[], no_ignore: false };
    saved_by(tree, |store, run| {
        let found = folder.files(&mut Skips::default(), store).unwrap();
        folder.sync(&found, store, run).unwrap();
    });
}

#[test]
fn files_are_compared_with_their_folder() {
    let tree = Tree::new(TOOL);
    for name in ["keep", "edit", "delete", "move"] {
        tree.write(&format!("docs/{name}.md"), format!("# {name}\n\nOf the tide.\n"));
    }
    sync(&tree);
    let before = files(&tree.root);
    assert_eq!(count(&tree.run(&REFRESH), "unchanged"), 4);
    assert_eq!(files(&tree.root), before);
    tree.write("docs/edit.md", "# edit\n\nOf the moon.\n");
    tree.write("docs/new.md", "# new\n");
    fs::remove_file(tree.root.join("docs/delete.md")).unwrap();
    fs::create_dir(tree.root.join("docs/sub")).unwrap();
    fs::rename(tree.root.join("docs/move.md"), tree.root.join("docs/sub/moved.md")).unwrap();
    let answer = tree.run(&REFRESH);
    let counts = ["changed", "gone", "moved", "unchanged", "added"].map(|verdict| count(&answer, verdict));
    assert_eq!(counts, [1, 1, 1, 1, 0], "{answer:#}");
    assert_eq!((listed(&tree).len(), fs::read_dir(tree.root.join("kb/cache/gone")).unwrap().count()), (3, 1));
    // A folder that became a file holds nothing any more.
    fs::rename(tree.root.join("docs/sub"), tree.root.join("sub.x")).unwrap();
    tree.write("docs/sub", "");
    let answer = tree.run(&[&REFRESH[..], &["--dry-run"]].concat());
    assert_eq!((count(&answer, "gone"), count(&answer, "failed")), (1, 0), "{answer:#}");
    fs::remove_file(tree.root.join("docs/sub")).unwrap();
    fs::rename(tree.root.join("sub.x"), tree.root.join("docs/sub")).unwrap();
    // The folder is not there: a disk that was taken out, say.
    fs::rename(tree.root.join("docs"), tree.root.join("elsewhere")).unwrap();
    let answer = tree.run(&REFRESH);
    assert_eq!((count(&answer, "failed"), listed(&tree).len()), (3, 3), "{answer:#}");
    // A catalog that was made to read other files gets a model nothing.
    let catalog = tree.root.join("kb/cache/catalog.json");
    let docs = tree.root.join("docs");
    let text = fs::read_to_string(&catalog)
        .unwrap()
        .replace(&format!("\"folder\":\"{}\"", docs.display()), "\"folder\":\"/etc\"");
    fs::write(&catalog, text).unwrap();
    let model = json!({"kb_root": "kb"}).to_string();
    let answer = tree.run(&["--arguments", &model]);
    assert!(answer["pages"][0]["reason"].as_str().unwrap().starts_with("PATH_NOT_ALLOWED"), "{answer:#}");
    // Nor does a link in the place of the documents lead it elsewhere.
    let (_holder, outside) = ragmaker_testkit::folder("outside");
    let documents = tree.root.join("kb/cache/documents");
    fs::remove_dir_all(&documents).unwrap();
    std::os::unix::fs::symlink(outside, documents).unwrap();
    assert_eq!(tree.error(&["--arguments", &model]).0, "PATH_NOT_ALLOWED");
}

#[test]
fn a_catalog_gives_no_access() {
    let tree = Tree::new(TOOL);
    let (_holder, outside) = ragmaker_testkit::folder("outside");
    ragmaker_testkit::write(&outside, "a.md", "Of the tide.");
    git(&outside, &["init", "--quiet"]);
    git(&outside, &["add", "."]);
    git(&outside, &["commit", "--quiet", "--message", "x"]);
    tree.write("docs/.env", "KEY=secret");
    let file = |url: &str, folder: &Path, path: &str| {
        let source = json!({"kind": "file", "folder": folder, "path": path, "sha256": "0"});
        json!({"url": url, "title": "T", "path": "documents/none.md", "source": source})
    };
    let repository = json!({"kind": "git", "repository": outside, "commit": "0", "path": "a.md", "blob": "0"});
    let remote =
        json!({"kind": "git", "repository": "git://127.0.0.1:1/r", "commit": "0", "path": "a.md", "blob": "0"});
    let documents = json!([
        file("file:///outside/a.md", &outside, "a.md"),
        file("file:///docs/.env", &tree.root.join("docs"), ".env"),
        file("file:///docs/up.md", &tree.root.join("docs"), "../../outside/a.md"),
        {"url": "git+file:///outside@0#a.md", "source": repository},
        {"url": "git+git://127.0.0.1:1/r@0#a.md", "source": remote},
        {"url": "http://127.0.0.1:1/a", "source": {"kind": "http"}},
    ]);
    tree.write("kb/cache/catalog.json", json!({"documents": documents}).to_string());
    let answer = tree.run(&["--kb-root", "kb"]);
    assert_eq!(count(&answer, "failed"), 6, "{answer:#}");
    let reasons: BTreeMap<&str, &str> = answer["pages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|page| (page["url"].as_str().unwrap(), page["reason"].as_str().unwrap()))
        .collect();
    for (url, reason) in &reasons {
        let expected = if url.contains("127.0.0.1") { "ADDRESS_NOT_ALLOWED" } else { "PATH_NOT_ALLOWED" };
        assert!(
            reason.starts_with(expected) || (*url == "file:///docs/up.md" && !reason.is_empty()),
            "{url}: {reason}"
        );
    }
    let advice = format!("a person can allow it with --allow-root {}", outside.display());
    assert!(reasons["file:///outside/a.md"].contains(&advice), "{reasons:?}");
    assert!(!tree.root.join("kb/cache/documents").exists());
    let told = tree.run(&["--arguments", &json!({"kb_root": "kb"}).to_string()])["pages"].to_string();
    assert!(told.contains("a person can allow it with the host option allow-root /") && !told.contains("--"), "{told}");
    // Whoever trusts the catalog says so.
    let answer = tree.run(&["--kb-root", "kb", "--allow-root", outside.to_str().unwrap()]);
    assert_eq!(count(&answer, "changed"), 2, "{answer:#}");
}

#[test]
fn files_of_a_repository_are_compared_with_its_branch() {
    let tree = Tree::new(TOOL);
    let source = tree.root.join("source");
    fs::create_dir_all(source.join("docs")).unwrap();
    for name in ["keep", "edit", "delete", "move"] {
        fs::write(source.join(format!("docs/{name}.md")), format!("# {name}\n\nOf the tide.\n")).unwrap();
    }
    git(&source, &["init", "--quiet"]);
    git(&source, &["add", "."]);
    git(&source, &["commit", "--quiet", "--message", "x"]);
    let address = ragmaker_sources::address(source.to_str().unwrap(), &Invocation::default()).unwrap();
    let repository = Repository::open(&address, None).unwrap();
    saved_by(&tree, |store, run| {
        let tree = ragmaker_sources::Tree { address: &address, repository: &repository, path: "" };
        let found = tree.files(&[], &[], &mut Skips::default()).unwrap();
        tree.sync(&found, store, run).unwrap();
    });
    let before = files(&tree.root);
    assert_eq!(count(&tree.run(&REFRESH), "unchanged"), 4);
    fs::write(source.join("docs/edit.md"), "# edit\n\nOf the moon.\n").unwrap();
    git(&source, &["mv", "docs/move.md", "moved.md"]);
    git(&source, &["rm", "--quiet", "docs/delete.md"]);
    git(&source, &["commit", "--quiet", "--all", "--message", "x"]);
    let answer = tree.run(&REFRESH);
    let counts = ["changed", "gone", "moved", "unchanged", "added"].map(|verdict| count(&answer, verdict));
    assert_eq!(counts, [1, 1, 1, 1, 0], "{answer:#}");
    let same = files(&tree.root).iter().filter(|file| before.contains(file)).count();
    assert_eq!((listed(&tree).len(), same), (3, 1));
    fs::remove_dir_all(&source).unwrap();
    let answer = tree.run(&REFRESH);
    assert_eq!((count(&answer, "failed"), listed(&tree).len()), (3, 3), "{answer:#}");
}

#[test]
fn wrong_arguments_are_errors() {
    let tree = Tree::new(TOOL);
    assert_eq!(tree.error(&REFRESH).0, "CATALOG_NOT_FOUND");
    assert!(!tree.root.join("kb").exists());
    assert_eq!(tree.error(&["--arguments", &json!({"kb_root": "/tmp/kb"}).to_string()]).0, "PATH_NOT_ALLOWED");
    tree.write("kb/cache/catalog.json", "{\"documents\": [{\"url\": \"mailto:a@x.example\"}, {\"path\": \"a.md\"}]}");
    let answer = tree.run(&REFRESH);
    assert_eq!((count(&answer, "refused"), answer["total"].as_u64()), (2, Some(2)), "{answer:#}");
    tree.write("kb/cache/catalog.json", "{");
    assert_eq!(tree.error(&REFRESH).0, "CATALOG_CORRUPT");
}

/// The browser is signed in: a catalog that may come from somebody else does not choose what it opens.
#[test]
fn pages_of_a_knowledge_base_elsewhere_are_not_opened_in_the_browser() {
    let tree = Tree::new(TOOL);
    let site = Site::new();
    site.set("/a", Reply::Page("<title>A</title><script>1</script>".into(), None));
    let other = tree.root.join("../other");
    fs::create_dir_all(other.join("kb/cache/documents")).unwrap();
    let entry = |name: &str, kind: &str| {
        let url = site.url(&format!("/{name}"));
        json!({"url": url, "title": name, "path": format!("documents/{name}.md"), "source": {"kind": kind}})
    };
    let catalog = json!({"documents": [entry("a", "http"), entry("b", "browser")]});
    fs::write(other.join("kb/cache/catalog.json"), catalog.to_string()).unwrap();
    let kb = other.join("kb");
    let answer = tree.run(&["--kb-root", kb.to_str().unwrap(), "--allow-private", "--dry-run"]);
    let reason = |name: &str| {
        let page = answer["pages"].as_array().unwrap().iter().find(|page| page["url"] == site.url(&format!("/{name}")));
        page.unwrap()["reason"].as_str().unwrap().to_owned()
    };
    assert!(reason("b").contains("PATH_NOT_ALLOWED") && reason("b").contains("--allow-root"), "{answer:#}");
    assert!(!reason("a").contains("browser"), "{answer:#}");
    assert!(!tree.root.join(".tmp/cache/browser_profile").exists());
    // The report of a trial is beside no knowledge base, and those of earlier days are removed.
    let report = std::path::PathBuf::from(answer["report_file"].as_str().unwrap());
    let folder = report.parent().unwrap().parent().unwrap();
    assert!(folder.file_name().unwrap().to_str().unwrap().starts_with("ragmaker-refresh-"));
    let yesterday = std::time::SystemTime::now() - std::time::Duration::from_hours(25);
    fs::File::open(folder).unwrap().set_modified(yesterday).unwrap();
    tree.run(&["--kb-root", kb.to_str().unwrap(), "--allow-private", "--dry-run"]);
    assert!(!folder.exists());
}
