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

#[test]
fn encodings_before_unicode() {
    let tree = Tree::new();
    let text = "これは日本語の文章です。\r\n二行目もあります。文字コードを調べます。\r\n";
    for encoding in [encoding_rs::SHIFT_JIS, encoding_rs::EUC_JP, encoding_rs::ISO_2022_JP] {
        tree.write("t.txt", encoding.encode(text).0);
        let answer = tree.read(&["--path", "t.txt", "--start-line", "2", "--end-line", "2"]);
        assert_eq!(answer["content"], "二行目もあります。文字コードを調べます。\r\n");
        assert_eq!((&answer["encoding"], &answer["total_lines"]), (&json!(encoding.name()), &json!(2)));
    }
    tree.write("late.txt", [b"ascii\n".repeat(20_000), encoding_rs::EUC_JP.encode(text).0.into_owned()].concat());
    assert_eq!(tree.read(&["--path", "late.txt", "--tail", "2"])["content"], text);
    // A page of a large one is read where it is; the first bytes that say anything are beyond the sample.
    let log = [b"\x1B[32mstarted\x1B[0m\n".repeat(8000), encoding_rs::SHIFT_JIS.encode(text).0.repeat(4000)].concat();
    tree.write("large.log", &log);
    let page = tree.read(&["--path", "large.log", "--offset", "15999", "--limit", "1"]);
    assert_eq!(
        (&page["content"], &page["encoding"]),
        (&json!("二行目もあります。文字コードを調べます。\r\n"), &json!("Shift_JIS"))
    );
    assert_eq!((&page["total_lines"], &page["next"]), (&json!(16_000), &Value::Null));
    let iso = encoding_rs::ISO_2022_JP.encode(text).0;
    tree.write("large.jis", [b"ascii\n".repeat(20_000), iso.repeat(2000)].concat());
    let tail = tree.read(&["--path", "large.jis", "--tail", "2"]);
    assert_eq!((&tail["content"], &tail["encoding"]), (&json!(text), &json!("ISO-2022-JP")));
    tree.write("said.txt", b"caf\xE9");
    assert_eq!(tree.read(&["--path", "said.txt", "--encoding", "latin1"])["content"], "café");
    assert_eq!(code(&tree.error(&["--path", "said.txt", "--encoding", "klingon"])), "ARGUMENT_ERROR");
    tree.write("spoiled.txt", ["日本語".repeat(20).as_bytes(), b"\xFF\xFE\x80"].concat());
    let spoiled = tree.read(&["--path", "spoiled.txt"]);
    assert_eq!((&spoiled["encoding"], &spoiled["lossy"]), (&json!("UTF-8"), &json!(true)));
    tree.write("colours.log", "\x1B[31mred\x1B[0m\n");
    assert_eq!(tree.read(&["--path", "colours.log"])["content"], "\u{1b}[31mred\u{1b}[0m\n");
}

#[test]
fn what_is_handed_over_keeps_its_arguments() {
    let tree = Tree::new();
    let name = "a \"b\" 日本.txt";
    let latin = [b"caf\xE9 cr\xE8me\n".repeat(3), b"na\xEFve\n".to_vec()].concat();
    tree.write(name, latin);
    // What came through standard input is not there a second time.
    let mut child = tree.command(&["--arguments", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let given = json!({"path": name, "offset": 3, "limit": 1, "encoding": "windows-1252", "no-ignore": true});
    child.stdin.take().unwrap().write_all(given.to_string().as_bytes()).unwrap();
    let answer: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(
        (&answer["content"], &answer["encoding"], &answer["size"]),
        (&json!("naïve\n"), &json!("windows-1252"), &json!(39))
    );
    let beyond = tree.command(&["--path", name, "--encoding=latin1", "--offset=9"]).output().unwrap();
    assert_eq!((beyond.status.code(), beyond.stdout.is_empty()), (Some(1), true));

    let alone = tree.root.join("ragmaker-read-file");
    // Not by this process: what another test starts meanwhile would hold it open for writing.
    assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_ragmaker-read-file")).arg(&alone).status().unwrap().success());
    let alone = |name: &str| Command::new(&alone).current_dir(&tree.root).args(["--path", name]).output().unwrap();
    let error: Value = serde_json::from_slice(&alone(name).stderr).unwrap();
    assert_eq!(code(&error), "DECODER_MISSING");
    tree.write("plain.txt", "plain");
    assert!(alone("plain.txt").status.success());
}

#[test]
fn lines_from_the_end_and_counted_from_one() {
    let tree = Tree::new();
    let lines: Vec<String> = (1..=9000).map(|n| format!("line {n} of a long log file\n")).collect();
    tree.write("log", lines.concat());
    let tail = tree.read(&["--path", "log", "--tail", "2"]);
    assert_eq!(tail["content"], lines[8998..].concat());
    assert_eq!((&tail["range"], &tail["next"]), (&json!({"start_line": 8999, "end_line": 9000}), &Value::Null));
    // A tail that is more than a page goes on where it stopped.
    let (mut count, mut text) = (5000, String::new());
    loop {
        let page = tree.read(&["--path", "log", "--tail", &count.to_string()]);
        text += page["content"].as_str().unwrap();
        let Some(left) = page["next"]["tail"].as_u64() else { break };
        count = left;
    }
    assert_eq!(text, lines[4000..].concat());
    // As many as there are, where more are wanted; and it comes to an end.
    let (mut count, mut text) = (u64::MAX, String::new());
    loop {
        let page = tree.read(&["--path", "log", "--tail", &count.to_string()]);
        text += page["content"].as_str().unwrap();
        let Some(left) = page["next"]["tail"].as_u64() else { break };
        assert!(left < 9000);
        count = left;
    }
    assert!(text == lines.concat());
    let most = u64::MAX.to_string();
    let rest = tree.read(&["--path", "log", "--start-line", "8999", "--end-line", &most]);
    assert_eq!((&rest["content"], &rest["next"]), (&json!(lines[8998..].concat()), &Value::Null));
    let within = tree.read(&["--path", "log", "--offset", "8999", "--column-offset", "5"]);
    assert_eq!(within["content"], lines[8999][5..]);
    for beyond in ["29", "100", &most] {
        assert_eq!(
            code(&tree.error(&["--path", "log", "--offset", "8998", "--column-offset", beyond])),
            "OFFSET_BEYOND_END"
        );
    }
    assert_eq!(code(&tree.error(&["--path", "log", "--start-line", &most, "--end-line", &most])), "OFFSET_BEYOND_END");
    let page = tree.read(&["--path", "log", "--start-line", "3", "--end-line", "4"]);
    assert_eq!(page["content"], lines[2..4].concat());
    assert_eq!(page["next"], json!({"start-line": 5, "end-line": 6}));
    for bad in [
        &["--offset", "1", "--start-line", "2"][..],
        &["--tail", "1", "--limit", "2"],
        &["--start-line", "3", "--end-line", "2"],
        &["--start-line", "0"],
    ] {
        assert_eq!(code(&tree.error(&[&["--path", "log"], bad].concat())), "ARGUMENT_ERROR", "{bad:?}");
    }
}

/// A PNG of 1 x 1 pixel.
const PNG: &[u8] =
    b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1F\x15\xC4\x89\0\0\0\0IEND\xAEB`\x82";

#[test]
fn what_is_no_text() {
    let tree = Tree::new();
    tree.write("picture.txt", PNG);
    let image = tree.read(&["--path", "picture.txt"]);
    assert_eq!((&image["kind"], &image["mime_type"]), (&json!("image"), &json!("image/png")));
    assert_eq!((&image["width"], &image["height"], &image["truncated"]), (&json!(1), &json!(1), &json!(false)));
    assert!(image["data"].as_str().unwrap().starts_with("iVBORw0KGgo"));

    tree.write("large.png", [PNG.to_vec(), vec![0; 40_000]].concat());
    let large = tree.read(&["--path", "large.png"]);
    assert_eq!(
        (&large["truncated"], &large["next"], &large["data"]),
        (&json!(true), &json!({"as": "base64"}), &Value::Null)
    );
    let whole = tree.read(&["--path", "large.png", "--as", "base64"]);
    assert_eq!(whole["data"].as_str().unwrap().len(), (PNG.len() + 40_000).div_ceil(3) * 4);

    for lines in ["--offset", "--limit", "--tail", "--column-offset"] {
        let error = tree.error(&["--path", "large.png", "--as", "base64", lines, "1"]);
        assert_eq!((code(&error), &error["details"]["argument"]), ("ARGUMENT_ERROR", &json!("--as")));
    }

    tree.write("program", b"\x7FELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3E\0");
    let error = tree.error(&["--path", "program"]);
    assert_eq!((code(&error), &error["details"]["mime_type"]), ("NOT_TEXT", &json!("application/x-elf")));
    assert_eq!(tree.read(&["--path", "program", "--as", "base64"])["kind"], "binary");
    assert!(tree.read(&["--path", "program", "--as", "text"])["content"].as_str().unwrap().contains("ELF"));
    tree.write("a.zip", "plain text");
    assert_eq!(tree.read(&["--path", "a.zip"])["content"], "plain text");
}

#[test]
fn ignored_files_are_refused_with_the_pattern() {
    let tree = Tree::new();
    tree.write("sub/.gitignore", "*.log\n!keep.log\n");
    tree.write("sub/x.log", "x");
    tree.write("sub/keep.log", "keep");
    let error = tree.error(&["--path", "sub/x.log"]);
    assert_eq!((code(&error), &error["details"]["pattern"]), ("PATH_IGNORED", &json!("*.log")));
    assert_eq!(error["details"]["ignore_file"], text_of(&tree.root.join("sub/.gitignore")));
    assert_eq!(tree.read(&["--path", "sub/x.log", "--no-ignore"])["content"], "x");
    assert_eq!(tree.read(&["--path", "sub/keep.log"])["content"], "keep");
    // A knowledge base is there to be read, wherever it lies.
    tree.write(".gitignore", "/kb\n");
    tree.write("kb/page.md", "page");
    assert_eq!(code(&tree.error(&["--path", "kb/page.md"])), "PATH_IGNORED");
    tree.write("kb/catalog.json", "{\"documents\": []}");
    assert_eq!(tree.read(&["--path", "kb/page.md"])["content"], "page");
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
