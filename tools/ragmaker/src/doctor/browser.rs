//! The browser and its driver: whether they are there, belong together, and open a page.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::Path,
    thread,
};

use ragmaker_project::programs::{Program, has_display, on_path};
use ragmaker_tool::HostOptions;
use serde_json::json;

use super::Check;

pub(super) fn checks(quick: bool) -> Vec<Check> {
    let (chromium, driver) = (Program::Chromium.find(), Program::ChromeDriver.find());
    let mut checks: Vec<Check> = [(Program::Chromium, &chromium), (Program::ChromeDriver, &driver)]
        .into_iter()
        .map(|(program, found)| match found {
            Ok(path) => match program.version(path) {
                Some(version) => Check::ok(program.name(), format!("{version} ({})", path.display())),
                None => Check::problem(
                    program.name(),
                    format!("{} does not print its version", path.display()),
                    format!("Run {} --version to see why. ragmaker setup installs a browser.", path.display()),
                ),
            },
            Err(error) => Check::problem(program.name(), error.message(), "Run ragmaker setup."),
        })
        .collect();
    if let (Ok(chromium), Ok(driver)) = (&chromium, &driver) {
        checks.extend(versions(chromium, driver));
        if !quick {
            checks.push(page());
        }
    }
    checks.push(if ragmaker_packages::is_root() {
        Check::note(
            "sandbox",
            "root has no sandbox in Chromium: a page that breaks out of its process can do everything",
            "Run the tools as another user.",
        )
    } else {
        Check::ok("sandbox", "Chromium uses its sandbox where the system allows it")
    });
    checks.push(if has_display() {
        Check::ok("display", "windows can be shown")
    } else {
        Check::note(
            "display",
            "there is no display, so no window can be shown",
            "Only sign-ins and challenges need one: set DISPLAY, or import a sign-in with browser-state --import.",
        )
    });
    checks.push(fonts());
    checks
}

/// ChromeDriver drives only the browser of its own major version.
fn versions(chromium: &Path, driver: &Path) -> Option<Check> {
    let major = |version: String| version.split('.').next().map(str::to_owned);
    let browser = Program::Chromium.version(chromium).and_then(major)?;
    let driver = Program::ChromeDriver.version(driver).and_then(major)?;
    (browser != driver).then(|| {
        Check::problem(
            "versions",
            format!("ChromeDriver {driver} does not drive Chromium {browser}"),
            format!("Install both from one source, or set RAGMAKER_CHROMEDRIVER to a ChromeDriver {browser}."),
        )
    })
}

/// Opens a page of this process in the browser, in a project of its own.
fn page() -> Check {
    const NAME: &str = "browser";
    let failed = |what: &dyn std::fmt::Display| {
        Check::problem(NAME, what.to_string(), "Run ragmaker browser-navigate --url ADDRESS to see the whole error.")
    };
    let (folder, listener) = match (tempfile::tempdir(), TcpListener::bind("127.0.0.1:0")) {
        (Ok(folder), Ok(listener)) => (folder, listener),
        (Err(error), _) | (_, Err(error)) => return failed(&error),
    };
    let url = match listener.local_addr() {
        Ok(address) => format!("http://{address}/"),
        Err(error) => return failed(&error),
    };
    thread::spawn(move || serve(&listener));
    let host = HostOptions { project_root: folder.path().to_str().map(str::to_owned), ..HostOptions::default() };
    let Some(tool) = ragmaker_registry::find("browser-navigate") else { return failed(&"there is no such tool") };
    match tool.call([("url".to_owned(), json!(url))].into_iter().collect(), &host) {
        Ok(answer) if answer.json["title"] == TITLE => Check::ok(NAME, "opens a page"),
        Ok(answer) => failed(&format!("it shows another page: {}", answer.json["title"])),
        Err(error) => Check::failed(NAME, &error),
    }
}

const TITLE: &str = "ragmaker doctor";

/// Answers every request with a page.
fn serve(listener: &TcpListener) {
    let page = format!("<!doctype html><title>{TITLE}</title><p>This page is opened by a check.");
    for connection in listener.incoming().flatten() {
        let mut lines = BufReader::new(&connection).lines();
        while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n", page.len());
        let _ = write!(&connection, "{head}Connection: close\r\n\r\n{page}");
    }
}

/// Whether pictures of pages show Chinese, Japanese and Korean letters.
fn fonts() -> Check {
    const NAME: &str = "fonts";
    if on_path("fc-list").is_none() {
        return Check::note(
            NAME,
            "fc-list is not installed, so the fonts are not known",
            "Install fontconfig to check them.",
        );
    }
    let list = std::process::Command::new("fc-list").arg(":lang=ja").output();
    match list {
        Ok(list) if !list.stdout.trim_ascii().is_empty() => Check::ok(NAME, "Japanese letters can be shown"),
        _ => Check::note(
            NAME,
            "no font has Chinese and Japanese letters, so screenshots show boxes instead; text is not affected",
            "Install a font such as fonts-noto-cjk (Debian) or google-noto-sans-cjk-fonts (Fedora).",
        ),
    }
}
