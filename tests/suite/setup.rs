//! `ragmaker setup`: what is there, and the browser that it downloads, from a server that answers as the publisher's does.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::{
    fs,
    io::{BufRead, BufReader, Cursor, Write},
    net::TcpListener,
    os::unix::fs::symlink,
    thread,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use md5::{Digest, Md5};
use ragmaker_tests::run::{Project, executable};
use serde_json::{Value, json};
use zip::{ZipWriter, write::SimpleFileOptions};

/// An archive with an executable that starts the program `to` of this machine.
fn archive(path: &str, to: &str) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(vec![]));
    archive.start_file(path, SimpleFileOptions::default().unix_permissions(0o755)).unwrap();
    write!(archive, "#!/bin/sh\nexec {to} \"$@\"\n").unwrap();
    archive.finish().unwrap().into_inner()
}

/// Serves the list of versions and the archives for Linux, and returns the address of the list.
fn publisher(chromium: &str, chromedriver: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let root = format!("http://{}", listener.local_addr().unwrap());
    let download =
        |name: &str| json!([{"platform": "linux64", "url": format!("{root}/151.0.1/linux64/{name}-linux64.zip")}]);
    let downloads = json!({"chrome": download("chrome"), "chromedriver": download("chromedriver")});
    let stable = json!({"channel": "Stable", "version": "151.0.1", "revision": "1", "downloads": downloads});
    let list = json!({"timestamp": "2026-11-20T10:00:00.000Z", "channels": {"Stable": stable}}).to_string();
    let archives =
        [archive("chrome-linux64/chrome", chromium), archive("chromedriver-linux64/chromedriver", chromedriver)];
    thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let mut lines = BufReader::new(connection.try_clone().unwrap()).lines().map_while(Result::ok);
            let request = lines.next().unwrap_or_default();
            lines.take_while(|line| !line.is_empty()).for_each(drop);
            let body = match request.split(' ').nth(1) {
                Some("/151.0.1/linux64/chrome-linux64.zip") => &archives[0][..],
                Some("/151.0.1/linux64/chromedriver-linux64.zip") => &archives[1],
                _ => list.as_bytes(),
            };
            let hash =
                format!("x-goog-hash: crc32c=AAAAAA==\r\nx-goog-hash: md5={}", STANDARD.encode(Md5::digest(body)));
            let head = format!("HTTP/1.1 200 OK\r\n{hash}\r\nContent-Length: {}\r\nConnection: close", body.len());
            let _ =
                connection.write_all(format!("{head}\r\n\r\n").as_bytes()).and_then(|()| connection.write_all(body));
        }
    });
    format!("{root}/last-known-good-versions-with-downloads.json")
}

#[test]
fn a_downloaded_browser_opens_pages() {
    let project = Project::new();
    let ragmaker = |words: &[&str]| project.program(&executable("ragmaker")).args(words);
    let there = ragmaker(&["setup", "--output", "json"]).run();
    let path = |name: &str| there.answer()[name].as_str().unwrap().to_owned();
    let list = publisher(&path("chromium"), &path("chromedriver"));

    let caches = project.path().join("caches");
    let of_user =
        |words: &[&str]| ragmaker(words).env("XDG_CACHE_HOME", &caches).env("RAGMAKER_CHROME_FOR_TESTING_URL", &list);
    let asked = of_user(&["setup", "--download", "--output", "json"]).run();
    let message = asked.error("NOT_CONFIRMED")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("151.0.1") && !caches.join("ragmaker").exists(), "{message}");
    let run = of_user(&["setup", "--download", "--yes", "--output", "json"]).run();
    let chromium = caches.join("ragmaker/chrome-for-testing/chrome-linux64/chrome");
    assert_eq!(run.answer()["chromium"], chromium.to_str().unwrap());
    assert_eq!(run.answer()["installed"], json!(["Chromium", "ChromeDriver"]));

    let checked = of_user(&["doctor", "--output", "json"]).run();
    let checks = checked.answer()["checks"].as_array().unwrap();
    let check = |name: &str| &checks.iter().find(|check| check["name"] == name).unwrap()["found"];
    assert!(check("Chromium").as_str().unwrap().contains("chrome-for-testing"), "{checks:?}");
    assert_eq!(check("browser"), "opens a page");
    assert_eq!(of_user(&["setup", "--output", "json"]).run().answer()["installed"], Value::Array(vec![]));
}

/// Package managers that do not read the package lists by themselves, without lists, as in a new container.
#[test]
fn missing_package_lists_are_fetched() {
    let (manager, install, update, package) = ("apk", "add", "update", "poppler-utils");
    let project = Project::new();
    let bin = project.path().join("bin");
    fs::create_dir(&bin).unwrap();
    symlink("/usr/bin/id", bin.join("id")).unwrap();
    let folder = project.path().display();
    let run = format!(
        "cd '{folder}'\necho \"$*\" >> calls\ncase \"$*\" in\n'{update}') : > lists ;;\n\
         *' {package}') [ -e lists ] || exit 1; /bin/ln -s /bin/true bin/pdftotext ;;\n*) exit 1 ;;\nesac"
    );
    ragmaker_testkit::script(&bin, manager, &run);
    ragmaker_testkit::script(&bin, "sudo", "[ \"$1\" = --non-interactive ] && shift\nexec \"$@\"");
    let setup = project.program(&executable("ragmaker")).args(["setup", "--yes", "--output", "json"]);
    let run = setup.env("PATH", &bin).run();
    assert_eq!(run.answer()["pdftotext"], bin.join("pdftotext").to_str().unwrap());
    assert_eq!(run.answer()["installed"], json!(["pdftotext"]));
    let calls = fs::read_to_string(project.path().join("calls")).unwrap();
    let installation = format!("{install} {package}");
    assert_eq!(calls.lines().collect::<Vec<_>>(), [&*installation, update, &*installation], "{manager}");
}
