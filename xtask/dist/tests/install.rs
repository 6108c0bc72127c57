//! The installer, with an archive that is served on loopback.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::{Command, Output},
};

use xtask_dist::{archive, release::Release};

fn release() -> Release {
    Release {
        root: env!("CARGO_MANIFEST_DIR").into(),
        version: "1.2.3".into(),
        repository: "https://example.org/ragmaker".into(),
        target: "x86_64-unknown-linux-musl".into(),
        time: 1_000_000_000,
    }
}

/// Writes an archive with a program and a link to it, and its checksum, to `folder`.
fn build(folder: &Path, time: u64) {
    let release = release();
    let stage = folder.join("stage");
    fs::create_dir_all(stage.join("bin")).unwrap();
    fs::create_dir_all(stage.join("share/man/man1")).unwrap();
    fs::write(stage.join("bin/ragmaker"), "#!/bin/sh\necho \"$(basename \"$0\") 1.2.3\"\n").unwrap();
    fs::write(stage.join("share/man/man1/ragmaker.1"), ".TH ragmaker 1\n").unwrap();
    symlink("ragmaker", stage.join("bin/ragmaker-read-file")).unwrap();
    let path = folder.join(format!("{}.tar.gz", release.name()));
    archive::write(&stage, &release.name(), time, &path).unwrap();
    fs::write(path.with_added_extension("sha256"), archive::checksum(&path).unwrap()).unwrap();
}

/// Serves the files in `folder`, and returns the address.
fn serve(folder: &Path) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let folder = folder.to_owned();
    std::thread::spawn(move || {
        for mut connection in listener.incoming().map_while(Result::ok) {
            let mut lines = BufReader::new(connection.try_clone().unwrap()).lines().map_while(Result::ok);
            let request = lines.next().unwrap_or_default();
            lines.take_while(|line| !line.is_empty()).for_each(drop);
            let name = request.split(' ').nth(1).unwrap_or("/").trim_start_matches('/').to_owned();
            let (status, body) = match fs::read(folder.join(name)) {
                Ok(body) => ("200 OK", body),
                Err(_) => ("404 Not Found", vec![]),
            };
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _ = connection.write_all(head.as_bytes()).and_then(|()| connection.write_all(&body));
        }
    });
    address
}

/// Runs shell commands beside the installer, with the user's folder `home` in `folder`.
fn shell(commands: &str, downloads: &str, folder: &Path) -> Output {
    fs::write(folder.join("install.sh"), release().installer()).unwrap();
    let mut command = Command::new("sh");
    command.args(["-e", "-c", commands]).current_dir(folder).env("HOME", folder.join("home"));
    command.env_remove("PREFIX").env("RAGMAKER_DOWNLOADS", downloads);
    command.env_remove("http_proxy").env_remove("https_proxy").env("no_proxy", "127.0.0.1").output().unwrap()
}

fn install(downloads: &str, folder: &Path) -> Output {
    shell("PREFIX=prefix sh install.sh", downloads, folder)
}

#[test]
fn the_commands_of_the_page_install_an_archive() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/install.md")).unwrap();
    let (_, block) = page.rsplit_once("<!-- run by: xtask/dist/tests/install.rs -->\n```sh\n").unwrap();
    let (commands, _) = block.split_once("```").unwrap();
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), 1);
    let commands = commands.replace("/usr/local", "prefix");
    let output = shell(&commands, &serve(folder.path()), folder.path());
    assert!(output.status.success(), "{output:?}");
    for prefix in ["home/.local", "prefix"] {
        let prefix = folder.path().join(prefix);
        let run = Command::new(prefix.join("bin/ragmaker-read-file")).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&run.stdout), "ragmaker-read-file 1.2.3\n");
        assert!(prefix.join("bin/ragmaker-read-file").is_symlink());
        let mode = fs::metadata(prefix.join("share/man/man1/ragmaker.1")).unwrap().permissions().mode();
        assert_eq!(mode & 0o111, 0);
    }
}

/// The command of the installer in README, with the server of the test in place of the address of the repository.
#[test]
fn the_readme_installs_the_newest_release() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let (_, repository) = manifest.split_once("\nrepository = \"").unwrap();
    let address = format!("{}/releases/latest/download", repository.split_once('"').unwrap().0);
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), 1);
    fs::write(folder.path().join("install.sh"), release().installer()).unwrap();
    let downloads = serve(folder.path());
    for page in ["README.md", "README.ja.md", "docs/install.md"] {
        let page = fs::read_to_string(root.join(page)).unwrap();
        let (_, block) = page.split_once("<!-- run by: xtask/dist/tests/install.rs -->\n```sh\n").unwrap();
        let command = block.lines().next().unwrap();
        assert!(command.contains(&address), "{command}");
        let output = shell(&command.replace(&address, &downloads), &downloads, folder.path());
        assert!(output.status.success(), "{output:?}");
        let program = folder.path().join("home/.local/bin/ragmaker");
        assert_eq!(Command::new(&program).output().unwrap().stdout, b"ragmaker 1.2.3\n");
        fs::remove_dir_all(folder.path().join("home")).unwrap();
    }
}

/// A disk that is full while the executable is copied, as an interruption would end the copy.
#[test]
fn an_interrupted_installation_leaves_the_old_executable() {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), 1);
    let downloads = serve(folder.path());
    assert!(install(&downloads, folder.path()).status.success());
    let bin = folder.path().join("prefix/bin");
    fs::write(bin.join("ragmaker"), "#!/bin/sh\necho old\n").unwrap();
    let copy = folder.path().join("full/cp");
    fs::create_dir(copy.parent().unwrap()).unwrap();
    let script = "#!/bin/sh\nPATH=${PATH#*:}\ncase $1 in -R) exec cp \"$@\" ;; esac\necho half > \"$2\"\nexit 1\n";
    fs::write(&copy, script).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    let output = shell("PATH=$PWD/full:$PATH PREFIX=prefix sh install.sh", &downloads, folder.path());
    assert!(!output.status.success(), "{output:?}");
    let old = Command::new(bin.join("ragmaker-read-file")).output().unwrap();
    assert_eq!(old.stdout, b"old\n");
    let mut names: Vec<_> = fs::read_dir(&bin).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["ragmaker", "ragmaker-read-file"]);
    assert!(install(&downloads, folder.path()).status.success());
    let new = Command::new(bin.join("ragmaker-read-file")).output().unwrap();
    assert_eq!(new.stdout, b"ragmaker-read-file 1.2.3\n");
}

#[test]
fn a_changed_archive_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), 1);
    let archive = folder.path().join(format!("{}.tar.gz", release().name()));
    let mut bytes = fs::read(&archive).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    fs::write(&archive, bytes).unwrap();
    let downloads = serve(folder.path());
    let output = install(&downloads, folder.path());
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("checksum"), "{output:?}");
    // A checksum of another file, which is right, says nothing of the archive.
    fs::write(folder.path().join("other"), "x").unwrap();
    let other = archive::checksum(&folder.path().join("other")).unwrap();
    fs::write(archive.with_added_extension("sha256"), other).unwrap();
    assert!(!install(&downloads, folder.path()).status.success());
    fs::remove_file(&archive).unwrap();
    let output = install(&downloads, folder.path());
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot download"), "{output:?}");
    assert!(!folder.path().join("prefix").exists());
}

#[test]
fn the_same_files_make_the_same_archive() {
    let archive = |time| {
        let folder = tempfile::tempdir().unwrap();
        build(folder.path(), time);
        fs::read(folder.path().join(format!("{}.tar.gz", release().name()))).unwrap()
    };
    assert_eq!(archive(1), archive(1));
    assert_ne!(archive(1), archive(2));
}
