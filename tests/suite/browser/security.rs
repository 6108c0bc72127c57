//! The protections of the browser tools: schemes other than http and https, listening beyond loopback,
//! the session file, writes outside the folder; and the properties of the browser that a page can detect.

#![cfg(unix)]

use std::{
    collections::HashSet,
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use ragmaker_tests::{
    run::Tool,
    visitor::{Saved, Visitor},
};
use serde_json::{Value, json};

fn session_file(visitor: &Visitor) -> PathBuf {
    visitor.project.path().join(".tmp/cache/browser_profile/ragmaker/session.json")
}

fn parsed(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn other_schemes_are_refused_before_a_browser_starts() {
    let visitor = Visitor::new();
    for url in [
        "file:///etc/hostname",
        "FILE:///etc/hostname",
        "chrome://version",
        "chrome-extension://abc/x.html",
        "javascript:alert(1)",
        "data:text/html,<p>data</p>",
        "about:blank",
        "blob:http://127.0.0.1/1",
        "view-source:http://127.0.0.1/",
        "ftp://127.0.0.1/",
        "devtools://devtools/bundled/inspector.html",
    ] {
        visitor.navigate(url).run().error("URL_NOT_ALLOWED");
        visitor.refuse(url, "URL_NOT_ALLOWED");
    }
    for url in ["", "example.com", "http://", "//example.com/"] {
        visitor.project.tool("browser-navigate").args(["--url", url]).run().error("ARGUMENT_ERROR");
    }
    assert!(!visitor.project.path().join(".tmp").exists());
}

#[test]
fn a_page_cannot_pretend_to_have_another_url() {
    let visitor = Visitor::with_browser();
    let answer = visitor.navigate("/hostile/forged").run();
    let true_url = visitor.site.url("/hostile/forger").replace("127.0.0.1", "localhost");
    assert_eq!((&answer.answer()["url"], &answer.answer()["http_status"]), (&json!(true_url), &json!(200)));
    assert_eq!(visitor.save("/hostile/forged").field("source_url"), true_url);
    for tool in [visitor.navigate("/hostile/forged"), visitor.extract("/hostile/forged")] {
        tool.args(["--allow-domain", "127.0.0.1"]).run().error("DOMAIN_NOT_ALLOWED");
    }
}

#[test]
fn a_page_outside_the_allowed_domains_is_not_opened() {
    let visitor = Visitor::new();
    let refused = visitor.navigate("/page/1").args(["--allow-domain", "example.com"]).run();
    assert_eq!(refused.error("DOMAIN_NOT_ALLOWED")["details"]["allowed"], json!(["example.com"]));
    let narrowed = visitor.extract("/page/1").args(["--allow-domain", "127.0.0.1"]);
    narrowed.env("RAGMAKER_ALLOWED_DOMAINS", "example.com, example.org").run().error("DOMAIN_NOT_ALLOWED");
    assert!(visitor.site.requests().is_empty() && !visitor.project.path().join(".tmp").exists());

    visitor.open().run().answer();
    let here = ["--allow-domain", "example.com", "--allow-domain", "127.0.0.1"];
    assert_eq!(visitor.navigate("/page/1").args(here).run().answer()["http_status"], 200);
    // What a redirect leads to is not told of, nor saved; not as the page that is open either.
    visitor.navigate("/redirect/host").args(here).run().error("DOMAIN_NOT_ALLOWED");
    visitor.extract("/redirect/host").args(here).run().error("DOMAIN_NOT_ALLOWED");
    assert_eq!(visitor.navigate("/redirect/host").run().answer()["title"], "elsewhere");
    visitor.extract_open().args(here).run().error("DOMAIN_NOT_ALLOWED");
    assert!(visitor.saved().is_empty());
}

#[test]
fn an_invalid_list_of_domains_allows_nothing() {
    let visitor = Visitor::new();
    let list = std::ffi::OsStr::from_bytes(b"example.com\xFF");
    let error = visitor.navigate("/page/1").env("RAGMAKER_ALLOWED_DOMAINS", list).run().error("ARGUMENT_ERROR").clone();
    assert_eq!(error["details"]["argument"], "RAGMAKER_ALLOWED_DOMAINS");
    assert!(visitor.site.requests().is_empty());
}

#[test]
fn a_url_longer_than_an_answer_is_refused() {
    let visitor = Visitor::with_browser();
    let long = format!("/page/x?{}", "a".repeat(9000));
    for page in [&long, "/redirect/long", "/redirect/script-long"] {
        let error = visitor.navigate(page).run().error("URL_NOT_ALLOWED").clone();
        assert!(error.to_string().len() < 2000, "{error}");
        visitor.refuse(page, "URL_NOT_ALLOWED");
    }
    assert_eq!(visitor.site.count(&long), 0);
    // An address that can just be held, and a title as long as the address.
    let page = format!("/page/{}", "b".repeat(7000));
    let answer = visitor.navigate(&page).run();
    assert_eq!(answer.answer()["title"].as_str().unwrap().len(), 500);
    let run = visitor.extract(&page).run();
    assert!(run.raw.stdout.len() < 29_000 && run.answer()["title"].as_str().unwrap().len() == 500);
    assert_eq!(visitor.documents()[0]["title"].as_str().unwrap().len(), 500);
}

#[test]
fn session_files_are_readable_by_their_owner_only() {
    let visitor = Visitor::with_browser();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let file = session_file(&visitor);
    visitor.navigate("/page/one").run().answer();
    assert_eq!(mode(&file), 0o600);
    let own = file.parent().unwrap();
    assert_eq!((mode(own), mode(own.parent().unwrap())), (0o700, 0o700));
    assert_eq!(mode(&own.join("tabs")), 0o700);
    for bad in ["../other", "a/b", "/tmp/x", "..", ".hidden", ""] {
        visitor.open().args(["--session", bad]).run().error("ARGUMENT_ERROR");
    }
}

/// The local addresses, as `/proc/net` writes them, on which the processes of a project listen.
#[cfg(target_os = "linux")]
fn listening(visitor: &Visitor) -> Vec<String> {
    let mut inodes = HashSet::new();
    for process in visitor.project.processes() {
        let files = fs::read_dir(format!("/proc/{}/fd", process.pid)).into_iter().flatten().flatten();
        let targets = files.filter_map(|file| fs::read_link(file.path()).ok());
        inodes.extend(
            targets.filter_map(|target| Some(target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())),
        );
    }
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).unwrap_or_default());
    let sockets = tables.iter().flat_map(|table| table.lines().skip(1)).map(|line| line.split_whitespace().collect());
    let ours = sockets.filter(|fields: &Vec<&str>| fields[3] == "0A" && inodes.contains(fields[9]));
    ours.map(|fields| fields[1].to_owned()).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn driver_and_browser_listen_on_loopback_only() {
    let visitor = Visitor::with_browser();
    visitor.navigate("/page/one").run().answer();
    let sockets = listening(&visitor);
    let session = parsed(&session_file(&visitor));
    for name in ["webdriver", "devtools"] {
        let url = session["endpoint"][name].as_str().unwrap();
        let port: u16 = url.rsplit(':').next().unwrap().split('/').next().unwrap().parse().unwrap();
        let port = format!(":{port:04X}");
        assert!(sockets.iter().any(|socket| socket.ends_with(&port)), "{name} {port}: {sockets:?}");
    }
    for socket in &sockets {
        let address = socket.split(':').next().unwrap();
        // 127.0.0.1 and ::1, each word with its bytes turned round.
        let loopback = ["0100007F", "00000000000000000000000001000000"];
        assert!(loopback.contains(&address), "{socket}: {sockets:?}");
    }
}

#[test]
fn git_does_not_see_cookies_and_logins() {
    let visitor = Visitor::new();
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(visitor.project.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "--quiet"]);
    visitor.project.write("notes.md", "mine");
    visitor.save("/cookie/set?name=secret");
    git(&["add", "."]);
    let added = git(&["ls-files"]);
    assert!(added.lines().any(|file| file == "notes.md") && !added.contains(".tmp"), "{added}");
}

#[test]
fn the_state_of_the_sandbox_is_reported() {
    let visitor = Visitor::new();
    let opened = visitor.open().run().answer().clone();
    let browser =
        visitor.project.processes().into_iter().find(|process| Some(u64::from(process.pid)) == opened["pid"].as_u64());
    let without = browser.unwrap().command.contains("--no-sandbox");
    assert_eq!(opened["sandbox"], !without, "{opened}");
    // For anybody but root it stays on where the system allows it.
    if fs::metadata("/proc/self").is_ok_and(|data| std::os::unix::fs::MetadataExt::uid(&data) == 0) {
        assert_eq!(opened["sandbox"], false);
    }
}

#[test]
fn no_url_writes_outside_the_folder() {
    let visitor = Visitor::with_browser();
    for page in [
        "/page/..%2f..%2f..%2fescape",
        "/page/..%5c..%5cescape",
        "/page/%2fetc%2fpasswd",
        "/page/%00null",
        "/page/.hidden",
        "/page/-rf",
        "/page/x?a=../../../escape",
        "/page/con",
    ] {
        let saved = visitor.save(page);
        assert_eq!(saved.path.parent(), Some(visitor.project.path().join("saved").as_path()), "{page}");
        let name = saved.path.file_name().unwrap().to_str().unwrap();
        assert!(!name.starts_with(['.', '-']), "{page}: {name}");
        assert_eq!(saved.path.extension(), Some("md".as_ref()), "{page}: {name}");
    }
    assert_eq!(visitor.saved().len(), 8);
}

#[test]
fn pages_cannot_detect_the_automation() {
    let visitor = Visitor::with_browser();
    let saved = Saved::by(&visitor.extract("/fingerprint").args(["--selector", "#fingerprint"]).run());
    let text = &saved.markdown[saved.markdown.find('{').unwrap()..=saved.markdown.rfind('}').unwrap()];
    let seen: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let agent = seen["userAgent"].as_str().unwrap();
    assert!(agent.starts_with("Mozilla/5.0 (") && agent.contains(" Chrome/") && !agent.contains("Headless"), "{agent}");
    assert_eq!((&seen["webdriver"], &seen["webdriverIsOwn"]), (&false.into(), &false.into()));
    assert_eq!(seen["driverVariables"], Value::Array(vec![]));
    assert!(seen["plugins"].as_u64() > Some(0) && seen["pluginsType"] == "[object PluginArray]", "{seen}");
    assert!(!seen["languages"].as_array().unwrap().is_empty());
    assert_eq!(seen["chrome"], "object");
    for (function, name) in ["fetch", "alert", "setTimeout", "json", "toString"].iter().enumerate() {
        assert_eq!(seen["functions"][function], format!("function {name}() {{ [native code] }}"));
    }
    assert!(!seen["brands"].to_string().contains("Headless"), "{}", seen["brands"]);

    let headers = visitor.save("/headers").markdown;
    assert!(headers.to_lowercase().contains("user-agent") && !headers.contains("Headless"), "{headers}");
    let request = visitor.site.requests().into_iter().find(|request| request.path == "/headers").unwrap();
    assert_eq!(request.header("user-agent"), Some(agent));
    assert!(request.header("accept-language").is_some());
    assert!(!request.header("sec-ch-ua").unwrap_or_default().contains("Headless"));
}

/// A server on a port of its own that is a proxy for names which nobody else knows: it answers each request by
/// `answer`, which gets the whole address. Requests for itself are counted apart.
fn proxy(answer: impl Fn(&str) -> String + Send + 'static) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, direct) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let count = direct.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut line = String::new();
            let _ = BufReader::new(&stream).read_line(&mut line);
            let address = line.split(' ').nth(1).unwrap_or_default();
            if address.starts_with('/') {
                count.fetch_add(1, Ordering::SeqCst);
            }
            let _ = stream.write_all(answer(address).as_bytes());
        }
    });
    (port, direct)
}

#[test]
fn private_machines_are_refused_where_the_host_says_so() {
    let visitor = Visitor::new();
    for url in [visitor.site.url("/wiki/tides"), visitor.site.url("/wiki/").replace("127.0.0.1", "localhost")] {
        visitor.navigate(&url).arg("--public-only").run().error("ADDRESS_NOT_ALLOWED");
        visitor.extract(&url).arg("--public-only").run().error("ADDRESS_NOT_ALLOWED");
        let fetch = visitor.project.tool("http-fetch").args(["--url", &url, "--public-only"]);
        fetch.run().error("ADDRESS_NOT_ALLOWED");
    }
    assert!(visitor.site.requests().is_empty());

    let port = Arc::new(AtomicUsize::new(0));
    let own = port.clone();
    let (found, direct) = proxy(move |address| {
        let port = own.load(Ordering::SeqCst);
        let page = |body: &str| {
            format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )
        };
        if let Some(host) = address.strip_prefix("http://public.invalid/to/") {
            return format!(
                "HTTP/1.1 302 Found\r\nLocation: http://{host}:{port}/secret\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            );
        }
        if address.ends_with("/secret") {
            return page("<title>Secret</title><p>Secret of a machine.</p>");
        }
        let secret = format!("http://127.0.0.1:{port}/secret");
        page(&format!(
            "<title>Public</title><h1>Public</h1><p id=said>Words for everyone.</p><iframe src={secret}></iframe>\
             <script>fetch('{secret}', {{mode: 'no-cors'}}).then(() => said.textContent = 'Secret', () => said.textContent += ' Refused.')</script>"
        ))
    });
    port.store(found.into(), Ordering::SeqCst);
    let proxied = |tool: Tool| tool.arg("--public-only").env("http_proxy", format!("http://127.0.0.1:{found}"));
    let page = proxied(visitor.extract("http://public.invalid/page")).run();
    assert_eq!(page.answer()["title"], "Public");
    let text = fs::read_to_string(page.answer()["file_path"].as_str().unwrap()).unwrap();
    assert!(text.contains("Words for everyone. Refused.") && !text.contains("Secret"), "{text}");
    for host in ["127.0.0.1", "localhost", "[::1]", "0x7f.1"] {
        let url = format!("http://public.invalid/to/{host}");
        let refused = proxied(visitor.navigate(&url)).run();
        assert!(refused.error("ADDRESS_NOT_ALLOWED")["details"]["url"].as_str().unwrap().contains("/secret"));
    }
    assert_eq!(direct.load(Ordering::SeqCst), 0);
}
