//! The download of Chrome for Testing: the current stable browser and the driver of its version.
//!
//! Its publisher lists the archives as JSON, without checksums (chrome-for-testing issue 70). The server of the archives,
//! Google Cloud Storage, sends the MD5 of each in the header `x-goog-hash`. An archive without it, or with another one, is
//! refused. The checksum shows damage; TLS identifies the sender.

use std::{
    env, fs,
    io::{self, Seek, Write},
    path::Path,
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use md5::{Digest, Md5};
use ragmaker_http::{Client, GetRequest, Limits, Response};
use ragmaker_project::{
    chrome_for_testing::{folder, platform},
    create_private,
    programs::Program,
    variables,
};
use ragmaker_tool::Error;
use serde_json::Value;
use url::Url;
use zip::ZipArchive;

use crate::{INSTALL_FAILED, Installer, NOT_CONFIRMED};

/// The list of the current versions, with the addresses of their archives.
const LIST: &str = "https://googlechromelabs.github.io/chrome-for-testing/last-known-good-versions-with-downloads.json";

/// The limits of an archive. That of the browser has about 180 MB.
const ARCHIVE: Limits = Limits {
    body: 1_000_000_000,
    decompressed: 0,
    ratio: 1,
    headers: 64 * 1024,
    connect: Duration::from_secs(20),
    whole: Duration::from_mins(20),
};

/// The beginning of the name of a folder into which archives are unpacked.
const UNFINISHED: &str = ".chrome-for-testing-";

/// The programs, and what the list calls them.
const PROGRAMS: [(Program, &str); 2] = [(Program::Chromium, "chrome"), (Program::ChromeDriver, "chromedriver")];

/// Downloads browser and driver for this user, after a confirmation. What was downloaded before is replaced.
pub(crate) fn install(installer: Installer<'_>) -> Result<(), Error> {
    let named = env::var(variables::CHROME_FOR_TESTING_URL).ok().filter(|url| !url.trim().is_empty());
    let list = named.as_deref().unwrap_or(LIST);
    let list = Url::parse(list).map_err(|error| {
        let error = format!("{} is not an address: {error}", variables::CHROME_FOR_TESTING_URL);
        INSTALL_FAILED.error(error).remedy("Set it to the address of a list, or unset it.")
    })?;
    let platform =
        platform().ok_or_else(|| INSTALL_FAILED.error("Chrome for Testing has no builds for this system"))?;
    let folder = folder().ok_or_else(|| INSTALL_FAILED.error("there is no folder for the caches of this user"))?;
    install_into(&folder, &list, platform, installer)
}

fn install_into(folder: &Path, list: &Url, platform: &str, installer: Installer<'_>) -> Result<(), Error> {
    let release = Release::of_list(list, platform)?;
    let what = format!("download Chrome for Testing {} to {}", release.version, folder.display());
    if !(installer.confirm)(&what) {
        let error = NOT_CONFIRMED.error(format!("not done: {what}")).remedy("Add --yes to download it.");
        return Err(error.detail("archives", release.archives.iter().map(Url::as_str).collect::<Vec<_>>()));
    }
    let unusable = |error: io::Error| INSTALL_FAILED.error(format!("cannot write {}: {error}", folder.display()));
    let parent = folder.parent().unwrap_or(folder);
    create_private(parent).map_err(unusable)?;
    // Beside its place, so that it can be moved there. An unfinished download is deleted.
    remove_leftovers(parent);
    let new = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(parent).map_err(unusable)?;
    for archive in &release.archives {
        if list.scheme() == "https" && archive.scheme() != "https" {
            return Err(INSTALL_FAILED.error(format!("{list} names an archive that is not sent by https: {archive}")));
        }
        installer.tell(&format!("downloading {archive}"));
        unpack(archive, new.path())?;
    }
    for (program, _) in PROGRAMS {
        let path = program.in_chrome_for_testing(platform).map(|path| new.path().join(path));
        if !path.is_some_and(|path| path.is_file()) {
            return Err(INSTALL_FAILED.error(format!("the archive of {} does not contain it", program.name())));
        }
    }
    if folder.exists() {
        // The old version is deleted in its new place. On Windows, the files of a running browser stay.
        ragmaker_fs::exchange(new.path(), folder).map_err(unusable)
    } else {
        fs::rename(new.keep(), folder).map_err(unusable)
    }
}

/// Deletes what downloads that were killed have left: folders that have not changed for a day.
fn remove_leftovers(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(UNFINISHED);
        let age = entry.metadata().and_then(|data| data.modified()).ok().and_then(|changed| changed.elapsed().ok());
        if is_ours && age.is_some_and(|age| age > Duration::from_hours(24)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The current stable version for one system.
struct Release {
    version: String,
    /// The archives of browser and driver.
    archives: Vec<Url>,
}

impl Release {
    fn of_list(list: &Url, platform: &str) -> Result<Self, Error> {
        let request = GetRequest { url: list, accept: "application/json", headers: &[] };
        let response = Client::of_service(Limits::default()).get(&request).and_then(successful).map_err(unreachable)?;
        let odd = || INSTALL_FAILED.error(format!("{list} is not a list of Chrome for Testing"));
        let json: Value = serde_json::from_slice(&response.body).map_err(|_| odd())?;
        let stable = &json["channels"]["Stable"];
        let version = stable["version"].as_str().ok_or_else(odd)?.to_owned();
        let archive = |name: &str| {
            let downloads = stable["downloads"][name].as_array().ok_or_else(odd)?;
            let own = downloads.iter().find(|download| download["platform"] == platform);
            let own = own.ok_or_else(|| {
                INSTALL_FAILED.error(format!("Chrome for Testing {version} has no {name} for {platform}"))
            })?;
            own["url"].as_str().and_then(|url| Url::parse(url).ok()).ok_or_else(odd)
        };
        let archives = PROGRAMS.iter().map(|(_, name)| archive(name)).collect::<Result<_, _>>()?;
        Ok(Self { version, archives })
    }
}

/// Downloads `archive`, compares its checksum, and unpacks it into `folder`.
fn unpack(archive: &Url, folder: &Path) -> Result<(), Error> {
    let broken = |what: &dyn std::fmt::Display| INSTALL_FAILED.error(format!("{archive}: {what}"));
    let mut file = tempfile::tempfile_in(folder).map_err(|error| broken(&error))?;
    let mut hashed = Hashed { hash: Md5::new(), to: &mut file };
    let request = GetRequest { url: archive, accept: "application/zip", headers: &[] };
    let response = Client::of_service(ARCHIVE).download(&request, &mut hashed);
    let response = response.and_then(successful).map_err(unreachable)?;
    if archive.scheme() == "https" && response.url.scheme() != "https" {
        return Err(broken(&format!("it is redirected to {}, which is not https", response.url)));
    }
    let found = STANDARD.encode(hashed.hash.finalize());
    match checksum(&response) {
        None => return Err(broken(&"the server sends no checksum (x-goog-hash)")),
        Some(told) if told != found => {
            return Err(broken(&format!("its checksum is {found}, the server sent {told}")));
        }
        Some(_) => {}
    }
    file.rewind().map_err(|error| broken(&error))?;
    let unpacked = ZipArchive::new(file).and_then(|mut archive| archive.extract(folder));
    unpacked.map_err(|error| broken(&error))
}

/// The MD5 that the server sends, in base64: `x-goog-hash: crc32c=…, md5=…`, in one header or several.
fn checksum(response: &Response) -> Option<String> {
    let parts: Vec<String> = response
        .headers("x-goog-hash")
        .flat_map(|value| value.split(',').map(str::to_owned).collect::<Vec<_>>())
        .collect();
    parts.iter().find_map(|part| part.trim().strip_prefix("md5=")).map(str::to_owned)
}

fn successful(response: Response) -> Result<Response, Error> {
    match response.status {
        200 => Ok(response),
        status => Err(INSTALL_FAILED.error(format!("{} answers with status {status}", response.url))),
    }
}

fn unreachable(error: Error) -> Error {
    if error.is(INSTALL_FAILED) { error } else { INSTALL_FAILED.error(error.message()) }
}

/// Passes bytes on, and hashes them.
struct Hashed<W> {
    hash: Md5,
    to: W,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader, Cursor},
        net::TcpListener,
        thread,
    };

    use serde_json::json;
    use zip::{ZipWriter, write::SimpleFileOptions};

    use super::*;

    const INSTALLER: Installer<'_> = Installer { confirm: &|_| true, is_shown: false };

    fn archive(path: &str, text: &str) -> Vec<u8> {
        let mut archive = ZipWriter::new(Cursor::new(vec![]));
        archive.start_file(path, SimpleFileOptions::default().unix_permissions(0o755)).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
        archive.finish().unwrap().into_inner()
    }

    /// A server with the list and the archives of `version`, as the publisher has them. `hash` is the header of an
    /// archive with these bytes.
    fn serve(version: &'static str, hash: fn(&[u8]) -> String) -> Url {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let root = format!("http://{}", listener.local_addr().unwrap());
        let url = |name: &str| {
            json!([
                {"platform": "mac-arm64", "url": format!("{root}/mac-arm64/{name}-mac-arm64.zip")},
                {"platform": "linux64", "url": format!("{root}/linux64/{name}-linux64.zip")},
            ])
        };
        let downloads =
            json!({"chrome": url("chrome"), "chromedriver": url("chromedriver"), "chrome-headless-shell": []});
        let stable = json!({"channel": "Stable", "version": version, "revision": "1", "downloads": downloads});
        let list = json!({"timestamp": "2026-11-20T10:00:00.000Z", "channels": {"Stable": stable}}).to_string();
        thread::spawn(move || {
            for mut connection in listener.incoming().flatten() {
                let mut lines = BufReader::new(connection.try_clone().unwrap()).lines().map_while(Result::ok);
                let request = lines.next().unwrap_or_default();
                lines.take_while(|line| !line.is_empty()).for_each(drop);
                let (header, body) = match request.split(' ').nth(1).unwrap_or_default() {
                    "/list.json" => (String::new(), list.clone().into_bytes()),
                    path => {
                        let name = if path.contains("chromedriver") { "chromedriver" } else { "chrome" };
                        let bytes = archive(&format!("{name}-linux64/{name}"), version);
                        (hash(&bytes), bytes)
                    }
                };
                let head = format!("HTTP/1.1 200 OK\r\n{header}Content-Length: {}\r\nConnection: close", body.len());
                let _ = connection
                    .write_all(format!("{head}\r\n\r\n").as_bytes())
                    .and_then(|()| connection.write_all(&body));
            }
        });
        Url::parse(&format!("{root}/list.json")).unwrap()
    }

    fn right(bytes: &[u8]) -> String {
        let md5 = STANDARD.encode(Md5::digest(bytes));
        format!("x-goog-hash: crc32c=AAAAAA==\r\nx-goog-hash: md5={md5}\r\n")
    }

    #[test]
    fn browser_and_driver_are_downloaded_and_replaced() {
        let caches = tempfile::tempdir().unwrap();
        let folder = caches.path().join("ragmaker/chrome-for-testing");
        for version in ["150.0.1", "151.0.2"] {
            install_into(&folder, &serve(version, right), "linux64", INSTALLER).unwrap();
            for name in ["chrome-linux64/chrome", "chromedriver-linux64/chromedriver"] {
                assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), version);
            }
        }
        // Nothing is left of the download and of the old version.
        assert_eq!(fs::read_dir(folder.parent().unwrap()).unwrap().count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(folder.join("chrome-linux64/chrome")).unwrap().permissions().mode();
            assert_eq!(mode & 0o111, 0o111);
        }
    }

    #[test]
    fn what_cannot_be_verified_is_refused() {
        let caches = tempfile::tempdir().unwrap();
        let folder = caches.path().join("chrome-for-testing");
        let wrong: [fn(&[u8]) -> String; 2] =
            [|_| String::new(), |_| "x-goog-hash: crc32c=AAAAAA==,md5=1B2M2Y8AsgTpgAmY7PhCfg==\r\n".to_owned()];
        for hash in wrong {
            let error = install_into(&folder, &serve("150.0.1", hash), "linux64", INSTALLER).unwrap_err();
            assert!(error.is(INSTALL_FAILED) && error.message().contains("checksum"), "{error}");
        }
        let other = install_into(&folder, &serve("150.0.1", right), "win64", INSTALLER).unwrap_err();
        assert!(other.message().contains("no chrome for win64"), "{other}");
        let refused = Installer { confirm: &|_| false, is_shown: false };
        let error = install_into(&folder, &serve("150.0.1", right), "linux64", refused).unwrap_err();
        assert!(error.is(NOT_CONFIRMED) && error.message().contains("150.0.1"), "{error}");
        assert_eq!(fs::read_dir(caches.path()).unwrap().count(), 0);
    }
}
