//! `ragmaker-read-file` with a hostile tree, disk or reader.
#![cfg(unix)]

use std::{
    ffi::OsStr,
    fs,
    io::{Read, Write},
    os::unix::{ffi::OsStrExt, fs::symlink},
    path::PathBuf,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
};

use serde_json::Value;
use tempfile::TempDir;

fn tree() -> (TempDir, PathBuf) {
    let temp = TempDir::new().unwrap();
    let root = temp.path().canonicalize().unwrap().join("project");
    fs::create_dir_all(root.join(".ragmaker")).unwrap();
    (temp, root)
}

fn command(root: &PathBuf, path: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ragmaker-read-file"));
    command.args(["--path", path]).current_dir(root).stdin(Stdio::null()).env_remove("RAGMAKER_PROJECT_ROOT");
    command
}

fn answer(root: &PathBuf, path: &str) -> Value {
    let output = command(root, path).output().unwrap();
    let text = if output.status.success() { output.stdout } else { output.stderr };
    serde_json::from_slice(&text).unwrap()
}

#[test]
fn any_name_that_is_utf8() {
    let (_temp, root) = tree();
    for name in
        ["sp ace", "qu\"o'te", "new\nline", "-dash", "--limit", "が", "か\u{3099}", "a\\b", "[x]*?", "\u{202e}rtl"]
    {
        fs::write(root.join(name), name).unwrap();
        assert_eq!(answer(&root, name)["content"], name, "{name:?}");
    }
    // A model quotes what needs no quotes.
    assert_eq!(answer(&root, "\"sp ace\"")["content"], "sp ace");
    let mut bad = Command::new(env!("CARGO_BIN_EXE_ragmaker-read-file"));
    let output = bad.arg("--path").arg(OsStr::from_bytes(b"bad\xFF")).current_dir(&root).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_file_that_grows_or_shrinks_while_it_is_read() {
    let (_temp, root) = tree();
    let path = root.join("log");
    fs::write(&path, "line\n".repeat(1000)).unwrap();
    let done = AtomicBool::new(false);
    let mut outputs = vec![];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
            while !done.load(Ordering::Relaxed) {
                file.write_all(b"line\n").unwrap();
                if file.metadata().unwrap().len() > 1_000_000 {
                    file.set_len(5000).unwrap();
                }
            }
        });
        for _ in 0..50 {
            let mut all = command(&root, "log");
            outputs.push(all.args(["--limit", "100000000"]).output().unwrap());
        }
        done.store(true, Ordering::Relaxed);
    });
    for output in outputs {
        if !output.status.success() {
            let error: Value = serde_json::from_slice(&output.stderr).unwrap();
            assert!(error["message"].as_str().unwrap().contains("end of file"), "{error}");
            continue;
        }
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let content = answer["content"].as_str().unwrap();
        // Where it shrinks and grows again while it is read, zeros never come: they are appended lines.
        assert!(content.trim_end_matches(['l', 'i', 'n', 'e']).lines().all(|line| line == "line"));
    }
}

#[test]
fn a_file_that_is_cut_short_while_it_is_read_is_not_taken_for_whole() {
    let (_temp, root) = tree();
    fs::write(root.join("log"), "line\n".repeat(4_000_000)).unwrap();
    for arguments in [&["--limit", "100000000"][..], &["--as", "base64"]] {
        let mut tool =
            command(&root, "log").args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = tool.stdout.take().unwrap();
        // It has begun, and waits for its reader.
        out.read_exact(&mut [0; 1000]).unwrap();
        fs::OpenOptions::new().write(true).open(root.join("log")).unwrap().set_len(1000).unwrap();
        std::io::copy(&mut out, &mut std::io::sink()).unwrap();
        let output = tool.wait_with_output().unwrap();
        let error: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!((output.status.code(), &error["status"]), (Some(1), &"error".into()), "{error}");
        fs::write(root.join("log"), "line\n".repeat(4_000_000)).unwrap();
    }
}

#[test]
fn a_directory_that_is_swapped_for_a_link_is_never_read_through() {
    let (_temp, root) = tree();
    let outside = root.parent().unwrap().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "secret").unwrap();
    let inside = root.join("dir");
    fs::create_dir(&inside).unwrap();
    fs::write(inside.join("file"), "plain").unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let aside = root.join("aside");
            while !done.load(Ordering::Relaxed) {
                if fs::rename(&inside, &aside).is_ok() {
                    let _ = symlink(&outside, &inside);
                    let _ = fs::remove_file(&inside);
                    let _ = fs::rename(&aside, &inside);
                }
            }
        });
        for _ in 0..150 {
            let answer = answer(&root, "dir/file");
            assert_ne!(answer["content"], "secret");
            assert!(answer["content"] == "plain" || answer["error_code"].is_string());
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_reader_that_leaves_and_a_disk_that_is_full() {
    let (_temp, root) = tree();
    fs::write(root.join("large"), "line\n".repeat(200_000)).unwrap();
    let mut child = command(&root, "large").args(["--limit", "200000"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut start = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut start).unwrap();
    assert!(child.wait().unwrap().success());

    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output =
        command(&root, "large").stdout(full).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    let error: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!((output.status.code(), &error["error_code"]), (Some(1), &Value::from("OUTPUT_ERROR")));
}

#[test]
fn a_file_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let (_temp, root) = tree();
    fs::write(root.join("closed"), "x").unwrap();
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser reads it all the same.
    let may = fs::read(root.join("closed")).is_ok();
    let answer = answer(&root, "closed");
    assert!(if may { answer["content"] == "x" } else { answer["error_code"] == "PERMISSION_DENIED" }, "{answer}");
}
