//! `ragmaker-write-file` from outside.

use std::{
    fs,
    process::{Command, Stdio},
};

use ragmaker_testkit::Tree;
use serde_json::{Value, json};

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-write-file");

#[test]
fn a_new_file_and_one_that_exists() {
    use std::os::unix::fs::PermissionsExt;
    let tree = Tree::new(TOOL);
    let path = tree.root.join("new/dir/a.md");
    let answer = tree.run(&["--path", "new/dir/a.md", "--content", "日本\n"]);
    assert_eq!(
        answer,
        json!({"status": "success", "path": path, "bytes": 7, "created": true, "encoding": "UTF-8", "newline": "lf"})
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "日本\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
    assert_eq!(tree.run(&["--path", "new/dir/a.md", "--content", "two\n"])["created"], false);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o751);
    let (code, error) = tree.error(&["--path", "new/dir/a.md", "--content", "x", "--create-only"]);
    assert!(
        code == "ALREADY_EXISTS" && error["remediation_suggestion"].as_str().unwrap().contains("--create-only"),
        "{error}"
    );
    let (code, error) = tree.error(&["--path", &"a".repeat(300), "--content", "x"]);
    assert!(
        code == "ARGUMENT_ERROR" && error["remediation_suggestion"].as_str().unwrap().contains("255 bytes"),
        "{error}"
    );
    tree.run(&["--path", "new/dir/a.md", "--content", "three\n", "--append"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "two\nthree\n");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no temporary file is left");
    assert_eq!(tree.error(&["--path", "new/dir", "--content", "x"]).0, "IS_A_DIRECTORY");
}

#[test]
fn encoding_mark_and_newlines_are_kept() {
    let tree = Tree::new(TOOL);
    let (old, new) = ("これは日本語の文章です。\r\n二行目もあります。\r\n", "新しい文\n");
    let path = tree.write("s.txt", encoding_rs::SHIFT_JIS.encode(old).0);
    let answer = tree.run(&["--path", "s.txt", "--content", new]);
    assert_eq!((&answer["encoding"], &answer["newline"]), (&json!("Shift_JIS"), &json!("crlf")));
    assert_eq!(fs::read(&path).unwrap(), *encoding_rs::SHIFT_JIS.encode("新しい文\r\n").0);
    tree.write("s.txt", encoding_rs::SHIFT_JIS.encode(old).0);
    assert_eq!(tree.error(&["--path", "s.txt", "--content", "😀"]).0, "UNENCODABLE");
    assert_eq!(fs::read(&path).unwrap(), *encoding_rs::SHIFT_JIS.encode(old).0, "nothing was changed");
    let path = tree.write("m.txt", "\u{feff}no end");
    tree.run(&["--path", "m.txt", "--content", "new\n"]);
    assert_eq!(fs::read_to_string(path).unwrap(), "\u{feff}new");
}

#[test]
fn standard_input_is_the_content() {
    use std::io::Write;
    let tree = Tree::new(TOOL);
    let mut child = tree.command(&["--path", "in.md"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&b"x".repeat(300_000)).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(fs::read(tree.root.join("in.md")).unwrap().len(), 300_000);
}

#[test]
fn writes_stay_in_the_project() {
    use std::os::unix::fs::symlink;
    let tree = Tree::new(TOOL);
    let outside = tree.root.parent().unwrap().join("outside");
    fs::create_dir(&outside).unwrap();
    symlink(&outside, tree.root.join("link")).unwrap();
    symlink(outside.join("made"), tree.root.join("dangling")).unwrap();
    symlink("loop", tree.root.join("loop")).unwrap();
    for path in ["link/new.txt", "link/a/b.txt", "dangling", "../outside/x", outside.join("x").to_str().unwrap()] {
        assert_eq!(tree.error(&["--path", path, "--content", "x"]).0, "PATH_NOT_ALLOWED", "{path}");
    }
    assert_eq!(tree.error(&["--path", "loop", "--content", "x"]).0, "SYMLINK_LOOP");
    assert_eq!(tree.error(&["--path", ".", "--content", "x"]).0, "PATH_NOT_WRITABLE");
    assert_eq!(tree.error(&["--path", "no/../../x", "--content", "x"]).0, "FILE_NOT_FOUND");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    let root = outside.to_str().unwrap();
    let path = outside.join("x");
    let path = path.to_str().unwrap();
    assert_eq!(tree.error(&["--path", path, "--content", "x", "--allow-root", root]).0, "PATH_NOT_WRITABLE");
    tree.run(&["--path", path, "--content", "x", "--allow-root", &format!("rw={root}")]);
    assert_eq!(fs::read(path).unwrap(), b"x");
}

#[test]
fn a_directory_that_is_swapped_for_a_link_is_never_written_through() {
    use std::{
        os::unix::fs::symlink,
        sync::atomic::{AtomicBool, Ordering},
    };
    let tree = Tree::new(TOOL);
    let (outside, inside) = (tree.root.parent().unwrap().join("outside"), tree.root.join("dir"));
    fs::create_dir(&outside).unwrap();
    fs::create_dir(&inside).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let aside = tree.root.join("aside");
                if fs::rename(&inside, &aside).is_ok() {
                    let _ = symlink(&outside, &inside);
                    let _ = fs::remove_file(&inside);
                    let _ = fs::rename(&aside, &inside);
                }
            }
        });
        for _ in 0..100 {
            let output = tree.command(&["--path", "dir/file", "--content", "x"]).output().unwrap();
            assert!(output.status.success() || !output.stderr.is_empty());
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn concurrent_appends_are_all_there() {
    let tree = Tree::new(TOOL);
    tree.write("log", "start\n");
    let children: Vec<_> = (0..16)
        .map(|n| {
            tree.command(&["--path", "log", "--append", "--content", &format!("{n}\n")])
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(fs::read_to_string(tree.root.join("log")).unwrap().lines().count(), 17);
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    let tree = Tree::new(TOOL);
    let path = tree.write("a.txt", "old\n");
    let content = "x".repeat(100_000);
    // A limit on the size of files fails as a full disk does, in the middle of the write.
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$@\"";
    let mut command = Command::new("bash");
    command.args(["-c", script, "bash", TOOL, "--path", "a.txt", "--content", &content]);
    let output = command.current_dir(&tree.root).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["error_code"], "IO_ERROR");
    assert_eq!(fs::read_to_string(path).unwrap(), "old\n");
    assert_eq!(fs::read_dir(&tree.root).unwrap().count(), 2, "no temporary file is left");
}

#[test]
fn a_directory_that_somebody_else_has_locked() {
    let tree = Tree::new(TOOL);
    let directory = fs::File::open(&tree.root).unwrap();
    directory.lock().unwrap();
    let start = std::time::Instant::now();
    assert_eq!(tree.error(&["--path", "a.md", "--content", "x"]).0, "FILE_LOCKED");
    assert!(start.elapsed() < std::time::Duration::from_mins(1));
    drop(directory);
    tree.run(&["--path", "a.md", "--content", "x"]);
}
