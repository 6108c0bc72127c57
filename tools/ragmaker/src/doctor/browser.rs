//! The browser and its driver: whether they are there, belong together, and open a page.

use std::{
    env,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use ragmaker_packages::MATCH_VERSIONS;
use ragmaker_project::programs::{Program, has_display, mismatch, on_path};
use ragmaker_tool::{Error, HostOptions};
use serde_json::json;

use super::Check;

pub(super) fn checks(host: &HostOptions, quick: bool) -> Vec<Check> {
    let mut checks = vec![];
    let is_firefox = ragmaker_browser::is_firefox();
    if let Err(error) = &is_firefox {
        checks.push(Check::failed("browser", error));
    }
    let is_firefox = is_firefox.unwrap_or_default();
    let programs =
        if is_firefox { [Program::Firefox, Program::GeckoDriver] } else { [Program::Chromium, Program::ChromeDriver] };
    // An address that cannot be used is reported with the services.
    if !matches!(ragmaker_browser::endpoint(host), Ok(None)) {
        checks.push(Check::ok("browser", "remote: the browsers of a WebDriver server are used"));
    } else if checks.is_empty() {
        let found = programs.map(|program| program.find().map(|path| (program.version(&path), path)));
        checks.extend(programs.iter().zip(&found).map(|(program, found)| installed(*program, found)));
        if let [Ok((Some(browser), _)), Ok((Some(driver), _))] = &found {
            if !is_firefox {
                checks.extend(versions(browser, driver));
            }
            if !quick {
                checks.push(page(host));
            }
        }
        checks.push(sandbox());
    }
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

/// A browser or its driver, with its version.
fn installed(program: Program, found: &Result<(Option<String>, PathBuf), Error>) -> Check {
    match found {
        Ok((Some(version), path)) => Check::ok(program.name(), format!("{version} ({})", path.display())),
        Ok((None, path)) => Check::problem(
            program.name(),
            format!("{} does not print its version", path.display()),
            format!("Run {} --version to see why.", path.display()),
        ),
        // A path from the environment is for the person to correct.
        Err(error) if env::var_os(program.variable()).is_some_and(|path| !path.is_empty()) => {
            Check::failed(program.name(), error)
        }
        Err(error) if matches!(program, Program::Firefox | Program::GeckoDriver) => {
            Check::failed(program.name(), error)
        }
        Err(error) => Check::problem(program.name(), error.message(), "Run ragmaker setup."),
    }
}

/// Whether Chromium can keep pages in its sandbox.
fn sandbox() -> Check {
    const NAME: &str = "sandbox";
    if ragmaker_packages::is_root() {
        return Check::note(
            NAME,
            "Chromium has no sandbox for root: a page that escapes its process has the rights of root",
            "Run the tools as another user.",
        );
    }
    // The sandbox needs the namespaces that run-command uses too, or a helper with special rights.
    let helpers = ["/usr/lib/chromium/chrome-sandbox", "/opt/google/chrome/chrome-sandbox"];
    let has_helper = helpers.iter().any(|helper| Path::new(helper).is_file());
    let layers = ragmaker_confine::probe(&ragmaker_confine::Policy::default()).unwrap_or_default();
    if layers.namespaces || has_helper {
        Check::ok(NAME, "Chromium can use its sandbox")
    } else {
        Check::note(
            NAME,
            "user namespaces are not available, so Chromium may run without its sandbox",
            "Allow them (sysctl kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu), or install chromium-sandbox.",
        )
    }
}

fn versions(browser: &str, driver: &str) -> Option<Check> {
    mismatch(browser, driver).map(|mismatch| Check::problem("versions", mismatch, MATCH_VERSIONS))
}

/// Opens a page of this process in the browser, in a project of its own.
fn page(host: &HostOptions) -> Check {
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
    let project_root = folder.path().to_str().map(str::to_owned);
    // The policy for the web does not concern this page.
    let host = HostOptions { project_root, allow_domain: vec![], public_only: false, ..host.clone() };
    let Some(tool) = ragmaker_registry::find("browser-navigate") else { return failed(&"there is no such tool") };
    match tool.call([("url".to_owned(), json!(url))].into_iter().collect(), &host) {
        Ok(answer) if answer["title"] == TITLE => Check::ok(NAME, "opens a page"),
        Ok(answer) => failed(&format!("it shows a wrong page: {}", answer["title"])),
        Err(error) if error.code() == "DOMAIN_NOT_ALLOWED" => Check::note(
            NAME,
            "not tried: RAGMAKER_ALLOWED_DOMAINS excludes this machine",
            "Unset it to try the browser.",
        ),
        Err(error) => Check::failed(NAME, &error),
    }
}

const TITLE: &str = "ragmaker doctor";

/// Answers every request with a page.
fn serve(listener: &TcpListener) {
    let page = format!("<!doctype html><title>{TITLE}</title><p>This page is opened by a check.");
    for connection in listener.incoming().flatten() {
        // A browser opens connections that it does not use.
        let _ = connection.set_read_timeout(Some(Duration::from_secs(1)));
        let mut lines = BufReader::new(&connection).lines();
        while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n", page.len());
        let _ = write!(&connection, "{head}Connection: close\r\n\r\n{page}");
    }
}

/// Whether screenshots show the letters of Chinese, Japanese and Korean.
fn fonts() -> Check {
    const NAME: &str = "fonts";
    if on_path("fc-list").is_none() {
        return Check::note(
            NAME,
            "fc-list is not installed, so the fonts are not known",
            "Install fontconfig to check them.",
        );
    }
    let is_missing = |code: &str| {
        let list = std::process::Command::new("fc-list").arg(format!(":lang={code}")).output();
        list.map_or(true, |list| list.stdout.trim_ascii().is_empty())
    };
    let languages = [("zh-cn", "Chinese"), ("ja", "Japanese"), ("ko", "Korean")];
    let missing: Vec<_> = languages.iter().filter(|(code, _)| is_missing(code)).map(|(_, name)| *name).collect();
    if missing.is_empty() {
        return Check::ok(NAME, "Chinese, Japanese and Korean letters can be shown");
    }
    Check::note(
        NAME,
        format!("no font has {} letters: screenshots show boxes instead; text is not affected", missing.join(" or ")),
        "Install a font such as fonts-noto-cjk (Debian) or google-noto-sans-cjk-fonts (Fedora).",
    )
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::doctor::Status;

    #[test]
    fn a_driver_fits_the_browser_of_its_major_version() {
        assert!(versions("131.0.6778.85", "131.0.1.2").is_none() && versions("131", "131.0").is_none());
        let check = versions("132.0.6834.83", "131.0.6778.85").unwrap();
        assert_eq!(check.status, Status::Problem);
        assert!(check.found.contains("131") && check.found.contains("132"), "{}", check.found);
        assert_eq!(check.advice.as_deref(), Some(MATCH_VERSIONS));
    }

    #[test]
    fn a_program_that_is_there_has_a_version() {
        let at = PathBuf::from("/usr/bin/x");
        assert_eq!(
            installed(Program::Chromium, &Ok((Some("131.0".to_owned()), at.clone()))).found,
            "131.0 (/usr/bin/x)"
        );
        let silent = installed(Program::ChromeDriver, &Ok((None, at)));
        assert!(silent.status == Status::Problem && silent.advice.unwrap().contains("/usr/bin/x --version"));
    }

    #[test]
    fn the_page_of_the_check_is_served() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || serve(&listener));
        for _ in 0..2 {
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(&format!("Content-Length: {}", body.len())) && body.contains(TITLE), "{answer}");
        }
    }
}
