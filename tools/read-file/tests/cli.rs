//! `ragmaker-read-file` from outside: what agents read of files, and what they are told otherwise.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

struct Tree {
    _temp: TempDir,
    root: PathBuf,
}

impl Tree {
    fn new() -> Self {
        let temp = TempDir::new().unwrap();
        let root = temp.path().canonicalize().unwrap().join("project");
        fs::create_dir_all(root.join(".ragmaker")).unwrap();
        Self { _temp: temp, root }
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ragmaker-read-file"));
        command.args(arguments).current_dir(&self.root).stdin(Stdio::null());
        for variable in ["PROJECT_ROOT", "ALLOWED_ROOTS", "KB_ROOTS", "ALLOW_BROAD_ROOTS", "ASCII_JSON"] {
            command.env_remove(format!("RAGMAKER_{variable}"));
        }
        command
    }

    fn read(&self, arguments: &[&str]) -> Value {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stderr.is_empty());
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn error(&self, arguments: &[&str]) -> Value {
        let output = self.command(arguments).output().unwrap();
        assert!(output.stdout.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
        assert!(!output.status.success());
        serde_json::from_slice(&output.stderr).unwrap()
    }

    /// All that paging by `next` gives.
    fn pages(&self, path: &str) -> (String, usize) {
        let (mut text, mut count) = (String::new(), 0);
        let mut arguments = serde_json::Map::from_iter([("path".to_owned(), path.into())]);
        loop {
            let page = self.read(&["--arguments", &Value::Object(arguments.clone()).to_string()]);
            text += page["content"].as_str().unwrap();
            count += 1;
            assert_eq!(page["truncated"], !page["next"].is_null());
            let Value::Object(next) = page["next"].clone() else { return (text, count) };
            arguments.extend(next);
        }
    }
}

fn code(error: &Value) -> &str {
    error["error_code"].as_str().unwrap()
}

fn text_of(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn the_first_contract() {
    let tree = Tree::new();
    let path = tree.write("a b.md", "one\ntwo\nthree\n");
    let all = tree.read(&["--path", "a b.md"]);
    assert_eq!(all["status"], "success");
    assert_eq!(all["path"], text_of(&path));
    assert_eq!(all["content"], "one\ntwo\nthree\n");
    assert_eq!((&all["total_lines"], &all["truncated"], &all["next"]), (&json!(3), &json!(false), &Value::Null));

    let page = tree.read(&["--path", text_of(&path), "--offset", "1", "--limit", "1"]);
    assert_eq!(page["content"], "two\n");
    assert_eq!(
        (&page["total_lines"], &page["truncated"], &page["next"]),
        (&json!(3), &json!(true), &json!({"offset": 2}))
    );
    assert_eq!(page["range"], json!({"start_line": 2, "end_line": 2}));
    assert_eq!(page["message"], "Line 2 of 3. Continue with --offset 2.");

    let last = tree.read(&["--path", "a b.md", "--offset", "2", "--limit", "9"]);
    assert_eq!((&last["content"], &last["truncated"], &last["next"]), (&json!("three\n"), &json!(false), &Value::Null));
    assert_eq!(last["message"], "Line 3 of 3: the last page.");

    assert_eq!(tree.read(&["--path", text_of(&tree.write("empty", ""))])["content"], "");
    assert_eq!(code(&tree.error(&["--path", "a b.md", "--offset", "3"])), "OFFSET_BEYOND_END");
}

#[test]
fn standard_input() {
    let tree = Tree::new();
    let mut child =
        tree.command(&["--path", "-", "--offset=1"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all("one\n二\n".as_bytes()).unwrap();
    let answer: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!((&answer["path"], &answer["content"]), (&json!("-"), &json!("二\n")));
}

#[test]
fn pages_are_bounded_and_give_back_the_text() {
    let tree = Tree::new();
    for (name, text) in [
        ("lines.txt", "line \"quoted\" 日本\n".repeat(5000)),
        ("long.txt", "あ\\\t".repeat(30_000) + "\nend"),
        ("mixed.txt", format!("{}\r\n{}", "x".repeat(40_000), "y\u{1}".repeat(3000) + &"z".repeat(20_000))),
    ] {
        tree.write(name, &text);
        let output = tree.command(&["--path", name]).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap().chars().count();
        assert!((20_000..29_000).contains(&printed), "{name}: {printed}");
        let (paged, count) = tree.pages(name);
        assert!(paged == text, "{name}");
        assert!(count > 2);
    }
}

#[test]
fn an_explicit_limit_is_honoured() {
    let tree = Tree::new();
    let text = "0123456789abcdef日\n".repeat(300_000);
    tree.write("large.txt", &text);
    let answer = tree.read(&["--path", "large.txt", "--limit", "1000000"]);
    assert!(answer["content"] == text.as_str());
    assert_eq!((&answer["total_lines"], &answer["truncated"]), (&json!(300_000), &json!(false)));
}

#[test]
fn unicode_encodings() {
    let tree = Tree::new();
    let text = "日本語\r\nend";
    let units = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    for (encoding, bytes) in [
        ("UTF-8", text.as_bytes().to_vec()),
        ("UTF-8", [b"\xEF\xBB\xBF", text.as_bytes()].concat()),
        ("UTF-16LE", [b"\xFF\xFE".to_vec(), units(u16::to_le_bytes)].concat()),
        ("UTF-16BE", units(u16::to_be_bytes)),
    ] {
        tree.write("t", bytes);
        let answer = tree.read(&["--path", "t"]);
        assert_eq!(answer["content"], text, "{encoding}");
        assert_eq!(
            (&answer["encoding"], &answer["newline"], &answer["lossy"]),
            (&json!(encoding), &json!("crlf"), &json!(false))
        );
        assert_eq!(tree.read(&["--path", "t", "--offset", "1"])["content"], "end");
    }
}

#[test]
fn a_missing_file_has_neighbours() {
    let tree = Tree::new();
    let path = tree.write("docs/Introduction.md", "x");
    let error = tree.error(&["--path", "docs/introducton.md"]);
    assert_eq!(code(&error), "FILE_NOT_FOUND");
    assert_eq!(error["details"]["near"], json!([text_of(&path)]));
    assert_eq!(error["remediation_suggestion"], format!("Did you mean {}?", path.display()));
    assert_eq!(code(&tree.error(&["--path", "docs/Introduction.md/x"])), "FILE_NOT_FOUND");
    assert_eq!(code(&tree.error(&["--path", &"x".repeat(5000)])), "FILE_NOT_FOUND");
    assert_eq!(code(&tree.error(&["--path", ""])), "ARGUMENT_ERROR");
}

#[test]
fn reads_stay_in_their_roots() {
    let tree = Tree::new();
    let outside = tree.write("../elsewhere/secret.txt", "secret").canonicalize().unwrap();
    let directory = text_of(outside.parent().unwrap());
    for path in [text_of(&outside), "../elsewhere/secret.txt"] {
        let error = tree.error(&["--path", path]);
        assert_eq!(code(&error), "PATH_NOT_ALLOWED");
        assert_eq!(error["details"]["resolved"], text_of(&outside));
    }
    assert_eq!(tree.read(&["--path", text_of(&outside), "--allow-root", directory])["content"], "secret");
    let output = tree.command(&["--path", text_of(&outside)]).env("RAGMAKER_ALLOWED_ROOTS", directory).output();
    assert!(output.unwrap().status.success());
    assert_eq!(code(&tree.error(&["--path", text_of(&outside), "--kb-root", directory])), "ROOT_NOT_USABLE");
    assert_eq!(code(&tree.error(&["--path", "/etc/passwd", "--allow-root", "/etc"])), "ROOT_TOO_BROAD");

    // A knowledge base says by its catalog that it is one.
    tree.write("../elsewhere/catalog.json", "{\"documents\": []}");
    let answer = tree.read(&["--path", text_of(&outside)]);
    assert_eq!((&answer["content"], &answer["path"]), (&json!("secret"), &json!(text_of(&outside))));
    assert_eq!(tree.read(&["--path", text_of(&outside), "--kb-root", directory])["content"], "secret");
}

#[test]
fn relative_paths_start_at_the_project_root() {
    let tree = Tree::new();
    tree.write("top.txt", "top");
    tree.write("sub/near.txt", "near");
    let read = |path: &str| {
        let output = tree.command(&["--path", path]).current_dir(tree.root.join("sub")).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["content"].clone()
    };
    assert_eq!(read("top.txt"), "top");
    assert_eq!(read("sub/near.txt"), "near");
    assert_eq!(read("near.txt"), "near");
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::{fs::symlink, net::UnixListener};

    #[test]
    fn what_is_not_a_regular_file_is_refused_at_once() {
        let tree = Tree::new();
        let fifo = tree.root.join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let _socket = UnixListener::bind(tree.root.join("socket")).unwrap();
        for path in ["fifo", "socket"] {
            assert_eq!(code(&tree.error(&["--path", path])), "NOT_A_REGULAR_FILE", "{path}");
        }
        for (root, path) in [("/dev", "/dev/zero"), ("/proc", "/proc/self/status"), ("/proc", "/proc/cpuinfo")] {
            let mut command = tree.command(&["--path", path, "--allow-root", root]);
            let output = command.env("RAGMAKER_ALLOW_BROAD_ROOTS", "1").output().unwrap();
            let error: Value = serde_json::from_slice(&output.stderr).unwrap();
            assert_eq!(code(&error), "NOT_A_REGULAR_FILE", "{path}");
        }
        assert_eq!(code(&tree.error(&["--path", "."])), "IS_A_DIRECTORY");
    }

    #[test]
    fn links_are_followed_and_lead_nowhere_else() {
        let tree = Tree::new();
        let target = tree.write("target.txt", "target");
        symlink("target.txt", tree.root.join("good")).unwrap();
        symlink("loop", tree.root.join("loop")).unwrap();
        symlink("a/../b", tree.root.join("b")).unwrap();
        symlink("/etc/passwd", tree.root.join("escape")).unwrap();
        symlink("/etc", tree.root.join("directory")).unwrap();
        symlink("nowhere", tree.root.join("dangling")).unwrap();
        assert_eq!(tree.read(&["--path", "good"])["path"], text_of(&target));
        for (path, expected) in [
            ("loop", "SYMLINK_LOOP"),
            ("loop/x", "SYMLINK_LOOP"),
            ("escape", "PATH_NOT_ALLOWED"),
            ("directory/passwd", "PATH_NOT_ALLOWED"),
            ("directory/no-such-file", "PATH_NOT_ALLOWED"),
            ("dangling", "FILE_NOT_FOUND"),
        ] {
            assert_eq!(code(&tree.error(&["--path", path])), expected, "{path}");
        }
    }
}
