//! `ragmaker-read-file` from outside: the content of files, and the errors.

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use ragmaker_testkit::Tree;
use serde_json::{Value, json};

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-read-file");

/// All that paging by `next` gives.
fn pages(tree: &Tree, path: &str) -> (String, usize) {
    pages_of(tree, json!({"path": path}))
}

/// All that paging by `next` gives, from a call with `arguments` on.
fn pages_of(tree: &Tree, arguments: Value) -> (String, usize) {
    let (mut text, mut count) = (String::new(), 0);
    let Value::Object(mut arguments) = arguments else { panic!("an object") };
    loop {
        let page = tree.run(&["--arguments", &Value::Object(arguments.clone()).to_string()]);
        text += page["content"].as_str().unwrap();
        count += 1;
        assert_eq!(page["truncated"], !page["next"].is_null());
        let Value::Object(next) = page["next"].clone() else { return (text, count) };
        arguments.extend(next);
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
    let tree = Tree::new(TOOL);
    let path = tree.write("a b.md", "one\ntwo\nthree\n");
    let all = tree.run(&["--path", "a b.md"]);
    assert_eq!(all["status"], "success");
    assert_eq!(all["path"], text_of(&path));
    assert_eq!(all["content"], "one\ntwo\nthree\n");
    assert_eq!((&all["total"], &all["truncated"], &all["next"]), (&json!(3), &json!(false), &Value::Null));

    let page = tree.run(&["--path", text_of(&path), "--offset", "1", "--limit", "1"]);
    assert_eq!(page["content"], "two\n");
    assert_eq!(
        (&page["total"], &page["truncated"], &page["next"]),
        (&json!(3), &json!(true), &json!({"offset": 2, "column_offset": 0}))
    );
    assert_eq!(page["range"], json!({"start_line": 2, "end_line": 2}));
    assert_eq!(page["message"], "Line 2 of 3. Continue with --offset 2.");

    let last = tree.run(&["--path", "a b.md", "--offset", "2", "--limit", "9"]);
    assert_eq!((&last["content"], &last["truncated"], &last["next"]), (&json!("three\n"), &json!(false), &Value::Null));
    assert_eq!(last["message"], "Line 3 of 3: the last page.");

    assert_eq!(tree.run(&["--path", text_of(&tree.write("empty", ""))])["content"], "");
    assert_eq!(tree.error(&["--path", "a b.md", "--offset", "3"]).0, "OFFSET_BEYOND_END");
}

#[test]
fn standard_input() {
    let tree = Tree::new(TOOL);
    let mut child =
        tree.command(&["--path", "-", "--offset=1"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all("one\n二\n".as_bytes()).unwrap();
    let answer: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!((&answer["path"], &answer["content"]), (&json!("-"), &json!("二\n")));
}

#[test]
fn pages_are_bounded_and_give_back_the_text() {
    let tree = Tree::new(TOOL);
    for (name, text) in [
        ("lines.txt", "line \"quoted\" 日本\n".repeat(5000)),
        ("long.txt", "あ\\\t".repeat(30_000) + "\nend"),
        ("mixed.txt", format!("{}\r\n{}", "x".repeat(40_000), "y\u{1}".repeat(3000) + &"z".repeat(20_000))),
    ] {
        tree.write(name, &text);
        let output = tree.command(&["--path", name]).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap().chars().count();
        assert!((20_000..29_000).contains(&printed), "{name}: {printed}");
        let (paged, count) = pages(&tree, name);
        assert!(paged == text, "{name}");
        assert!(count > 2);
    }
}

#[test]
fn an_explicit_limit_is_honoured() {
    let tree = Tree::new(TOOL);
    let text = "0123456789abcdef日\n".repeat(300_000);
    tree.write("large.txt", &text);
    let answer = tree.run(&["--path", "large.txt", "--limit", "1000000"]);
    assert!(answer["content"] == text.as_str());
    assert_eq!((&answer["total"], &answer["truncated"]), (&json!(300_000), &json!(false)));
}

#[test]
fn unicode_encodings() {
    let tree = Tree::new(TOOL);
    let text = "日本語\r\nend";
    let units = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    for (encoding, bytes) in [
        ("UTF-8", text.as_bytes().to_vec()),
        ("UTF-8", [b"\xEF\xBB\xBF", text.as_bytes()].concat()),
        ("UTF-16LE", [b"\xFF\xFE".to_vec(), units(u16::to_le_bytes)].concat()),
        ("UTF-16BE", units(u16::to_be_bytes)),
    ] {
        tree.write("t", bytes);
        let answer = tree.run(&["--path", "t"]);
        assert_eq!(answer["content"], text, "{encoding}");
        assert_eq!(
            (&answer["encoding"], &answer["newline"], &answer["lossy"]),
            (&json!(encoding), &json!("crlf"), &json!(false))
        );
        assert_eq!(tree.run(&["--path", "t", "--offset", "1"])["content"], "end");
    }
}

#[test]
fn a_missing_file_has_neighbours() {
    let tree = Tree::new(TOOL);
    let path = tree.write("docs/Introduction.md", "x");
    let error = tree.error(&["--path", "docs/introducton.md"]).1;
    assert_eq!(code(&error), "FILE_NOT_FOUND");
    assert_eq!(error["details"]["near"], json!([text_of(&path)]));
    assert_eq!(error["remediation_suggestion"], format!("Did you mean {}?", path.display()));
    assert_eq!(tree.error(&["--path", "docs/Introduction.md/x"]).0, "FILE_NOT_FOUND");
    assert_eq!(tree.error(&["--path", &"x".repeat(5000)]).0, "FILE_NOT_FOUND");
    assert_eq!(tree.error(&["--path", ""]).0, "ARGUMENT_ERROR");
}

#[test]
fn reads_stay_in_their_roots() {
    let tree = Tree::new(TOOL);
    let outside = tree.write("../elsewhere/secret.txt", "secret").canonicalize().unwrap();
    let directory = text_of(outside.parent().unwrap());
    for path in [text_of(&outside), "../elsewhere/secret.txt"] {
        let error = tree.error(&["--path", path]).1;
        assert_eq!(code(&error), "PATH_NOT_ALLOWED");
        assert_eq!(error["details"]["resolved"], text_of(&outside));
    }
    assert_eq!(tree.run(&["--path", text_of(&outside), "--allow-root", directory])["content"], "secret");
    let output = tree.command(&["--path", text_of(&outside)]).env("RAGMAKER_ALLOWED_ROOTS", directory).output();
    assert!(output.unwrap().status.success());
    assert_eq!(tree.error(&["--path", text_of(&outside), "--kb-root", directory]).0, "ROOT_NOT_USABLE");
    assert_eq!(tree.error(&["--path", "/etc/passwd", "--allow-root", "/etc"]).0, "ROOT_TOO_BROAD");

    // A knowledge base says by its catalog that it is one, and opens the documents that it lists.
    tree.write("../elsewhere/catalog.json", "{\"documents\": []}");
    assert_eq!(code(&tree.error(&["--path", text_of(&outside)]).1), "PATH_NOT_ALLOWED");
    tree.write("../elsewhere/catalog.json", "{\"documents\": [{\"path\": \"secret.txt\"}]}");
    let answer = tree.run(&["--path", text_of(&outside)]);
    assert_eq!((&answer["content"], &answer["path"]), (&json!("secret"), &json!(text_of(&outside))));
    assert_eq!(tree.run(&["--path", text_of(&outside), "--kb-root", directory])["content"], "secret");
}

#[test]
fn relative_paths_start_at_the_project_root() {
    let tree = Tree::new(TOOL);
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
    let tree = Tree::new(TOOL);
    let text = "これは日本語の文章です。\r\n二行目もあります。文字コードを調べます。\r\n";
    for encoding in [encoding_rs::SHIFT_JIS, encoding_rs::EUC_JP, encoding_rs::ISO_2022_JP] {
        tree.write("t.txt", encoding.encode(text).0);
        let answer = tree.run(&["--path", "t.txt", "--start-line", "2", "--end-line", "2"]);
        assert_eq!(answer["content"], "二行目もあります。文字コードを調べます。\r\n");
        assert_eq!((&answer["encoding"], &answer["total"]), (&json!(encoding.name()), &json!(2)));
    }
    tree.write("late.txt", [b"ascii\n".repeat(20_000), encoding_rs::EUC_JP.encode(text).0.into_owned()].concat());
    assert_eq!(tree.run(&["--path", "late.txt", "--tail", "2"])["content"], text);
    // A page of a large one is read where it is; the first bytes that say anything are beyond the sample.
    let log = [b"\x1B[32mstarted\x1B[0m\n".repeat(8000), encoding_rs::SHIFT_JIS.encode(text).0.repeat(4000)].concat();
    tree.write("large.log", &log);
    let page = tree.run(&["--path", "large.log", "--offset", "15999", "--limit", "1"]);
    assert_eq!(
        (&page["content"], &page["encoding"]),
        (&json!("二行目もあります。文字コードを調べます。\r\n"), &json!("Shift_JIS"))
    );
    assert_eq!((&page["total"], &page["next"]), (&json!(16_000), &Value::Null));
    let iso = encoding_rs::ISO_2022_JP.encode(text).0;
    tree.write("large.jis", [b"ascii\n".repeat(20_000), iso.repeat(2000)].concat());
    let tail = tree.run(&["--path", "large.jis", "--tail", "2"]);
    assert_eq!((&tail["content"], &tail["encoding"]), (&json!(text), &json!("ISO-2022-JP")));
    tree.write("said.txt", b"caf\xE9");
    assert_eq!(tree.run(&["--path", "said.txt", "--encoding", "latin1"])["content"], "café");
    assert_eq!(tree.error(&["--path", "said.txt", "--encoding", "klingon"]).0, "ARGUMENT_ERROR");
    tree.write("spoiled.txt", ["日本語".repeat(20).as_bytes(), b"\xFF\xFE\x80"].concat());
    let spoiled = tree.run(&["--path", "spoiled.txt"]);
    assert_eq!((&spoiled["encoding"], &spoiled["lossy"]), (&json!("UTF-8"), &json!(true)));
    tree.write("colours.log", "\x1B[31mred\x1B[0m\n");
    assert_eq!(tree.run(&["--path", "colours.log"])["content"], "\u{1b}[31mred\u{1b}[0m\n");
}

#[test]
fn documents_keep_the_arguments() {
    let tree = Tree::new(TOOL);
    let name = "a \"b\" 日本.txt";
    let latin = [b"caf\xE9 cr\xE8me\n".repeat(3), b"na\xEFve\n".to_vec()].concat();
    tree.write(name, latin);
    // What came through standard input is not there a second time.
    let mut child = tree.command(&["--arguments", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let given = json!({"path": name, "offset": 3, "limit": 1, "encoding": "windows-1252", "ignore": false});
    child.stdin.take().unwrap().write_all(given.to_string().as_bytes()).unwrap();
    let answer: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(
        (&answer["content"], &answer["encoding"], &answer["size"]),
        (&json!("naïve\n"), &json!("windows-1252"), &json!(39))
    );
    let beyond = tree.command(&["--path", name, "--encoding=latin1", "--offset=9"]).output().unwrap();
    assert_eq!((beyond.status.code(), beyond.stdout.is_empty()), (Some(1), true));
}

#[test]
fn lines_from_the_end_and_counted_from_one() {
    let tree = Tree::new(TOOL);
    let lines: Vec<String> = (1..=9000).map(|n| format!("line {n} of a long log file\n")).collect();
    tree.write("log", lines.concat());
    let tail = tree.run(&["--path", "log", "--tail", "2"]);
    assert_eq!(tail["content"], lines[8998..].concat());
    assert_eq!((&tail["range"], &tail["next"]), (&json!({"start_line": 8999, "end_line": 9000}), &Value::Null));
    // A tail that is more than a page goes on where it stopped. As many as there are, where more are wanted.
    for (count, from) in [(5000, 4000), (u64::MAX, 0)] {
        let (text, pages) = pages_of(&tree, json!({"path": "log", "tail": count}));
        assert!(text == lines[from..].concat() && pages > 3, "{count}");
    }
    let (text, pages) = pages_of(&tree, json!({"path": "log", "tail": 50, "limit": 20}));
    assert_eq!((text, pages), (lines[8950..].concat(), 3));
    let (text, _) = pages_of(&tree, json!({"path": "log", "start_line": 101}));
    assert!(text == lines[100..].concat());
    let most = u64::MAX.to_string();
    let rest = tree.run(&["--path", "log", "--start-line", "8999", "--end-line", &most]);
    assert_eq!((&rest["content"], &rest["next"]), (&json!(lines[8998..].concat()), &Value::Null));
    let within = tree.run(&["--path", "log", "--offset", "8999", "--column-offset", "5"]);
    assert_eq!(within["content"], lines[8999][5..]);
    for beyond in ["29", "100", &most] {
        assert_eq!(
            tree.error(&["--path", "log", "--offset", "8998", "--column-offset", beyond]).0,
            "OFFSET_BEYOND_END"
        );
    }
    assert_eq!(tree.error(&["--path", "log", "--start-line", &most, "--end-line", &most]).0, "OFFSET_BEYOND_END");
    let page = tree.run(&["--path", "log", "--start-line", "3", "--end-line", "4"]);
    assert_eq!(page["content"], lines[2..4].concat());
    assert_eq!((&page["truncated"], &page["next"]), (&json!(false), &Value::Null));
    let (text, pages) = pages_of(&tree, json!({"path": "log", "start_line": 3, "end_line": 6, "limit": 3}));
    assert_eq!((text, pages), (lines[2..6].concat(), 2));
    for bad in [
        &["--offset", "2", "--end-line", "2"][..],
        &["--tail", "1", "--start-line", "2"],
        &["--start-line", "3", "--end-line", "2"],
        &["--start-line", "0"],
    ] {
        assert_eq!(tree.error(&[&["--path", "log"], bad].concat()).0, "ARGUMENT_ERROR", "{bad:?}");
    }
}

/// A PNG of 1 x 1 pixel.
const PNG: &[u8] =
    b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1F\x15\xC4\x89\0\0\0\0IEND\xAEB`\x82";

#[test]
fn binary_files_are_described() {
    let tree = Tree::new(TOOL);
    tree.write("picture.txt", PNG);
    let image = tree.run(&["--path", "picture.txt"]);
    assert_eq!((&image["kind"], &image["mime_type"]), (&json!("image"), &json!("image/png")));
    assert_eq!((&image["width"], &image["height"], &image["truncated"]), (&json!(1), &json!(1), &json!(false)));
    assert!(image["data"].as_str().unwrap().starts_with("iVBORw0KGgo"));

    tree.write("large.png", [PNG.to_vec(), vec![0; 40_000]].concat());
    let large = tree.run(&["--path", "large.png"]);
    assert_eq!((&large["truncated"], &large["next"], &large["data"]), (&json!(true), &Value::Null, &Value::Null));
    assert!(large["message"].as_str().unwrap().ends_with("set --as to base64 to get them."), "{large}");
    let whole = tree.run(&["--path", "large.png", "--as", "base64"]);
    assert_eq!(whole["data"].as_str().unwrap().len(), (PNG.len() + 40_000).div_ceil(3) * 4);

    for lines in ["--offset", "--limit", "--tail", "--column-offset"] {
        let error = tree.error(&["--path", "large.png", "--as", "base64", lines, "1"]).1;
        assert_eq!((code(&error), &error["details"]["argument"]), ("ARGUMENT_ERROR", &json!("--as")));
    }

    tree.write("program", b"\x7FELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3E\0");
    let error = tree.error(&["--path", "program"]).1;
    assert_eq!((code(&error), &error["details"]["mime_type"]), ("NOT_TEXT", &json!("application/x-elf")));
    assert_eq!(tree.run(&["--path", "program", "--as", "base64"])["kind"], "binary");

    tree.write("mixed", [b"a line of text\n".repeat(6000), b"\0\0\0\x01data\n".to_vec()].concat());
    let error = tree.error(&["--path", "mixed"]).1;
    assert_eq!(code(&error), "NOT_TEXT");
    assert!(error["message"].as_str().unwrap().ends_with("is not text: it is text with other data in it"), "{error}");
    assert!(error["remediation_suggestion"].as_str().unwrap().contains("--as to text"), "{error}");
    assert_eq!(tree.run(&["--path", "mixed", "--as", "text", "--tail", "1"])["content"], "\0\0\0\u{1}data\n");
    assert!(tree.run(&["--path", "program", "--as", "text"])["content"].as_str().unwrap().contains("ELF"));
    tree.write("a.zip", "plain text");
    assert_eq!(tree.run(&["--path", "a.zip"])["content"], "plain text");
}

#[test]
fn ignored_files_are_refused_with_the_pattern() {
    let tree = Tree::new(TOOL);
    tree.write("sub/.gitignore", "*.log\n!keep.log\n");
    tree.write("sub/x.log", "x");
    tree.write("sub/keep.log", "keep");
    let error = tree.error(&["--path", "sub/x.log"]).1;
    assert_eq!((code(&error), &error["details"]["pattern"]), ("PATH_IGNORED", &json!("*.log")));
    assert_eq!(error["details"]["ignore_file"], text_of(&tree.root.join("sub/.gitignore")));
    assert_eq!(tree.run(&["--path", "sub/x.log", "--no-ignore"])["content"], "x");
    assert_eq!(tree.run(&["--path", "sub/keep.log"])["content"], "keep");
    // A knowledge base is there to be read, wherever it lies.
    tree.write(".gitignore", "/kb\n");
    tree.write("kb/page.md", "page");
    assert_eq!(tree.error(&["--path", "kb/page.md"]).0, "PATH_IGNORED");
    tree.write("kb/catalog.json", "{\"documents\": []}");
    assert_eq!(tree.run(&["--path", "kb/page.md"])["content"], "page");
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::{fs::symlink, net::UnixListener};

    #[test]
    fn files_that_are_not_regular_are_rejected_at_once() {
        let tree = Tree::new(TOOL);
        let fifo = tree.root.join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let _socket = UnixListener::bind(tree.root.join("socket")).unwrap();
        for path in ["fifo", "socket"] {
            assert_eq!(tree.error(&["--path", path]).0, "NOT_A_REGULAR_FILE", "{path}");
        }
        for (root, path) in [("/dev", "/dev/zero"), ("/proc", "/proc/self/status"), ("/proc", "/proc/cpuinfo")] {
            let mut command = tree.command(&["--path", path, "--allow-root", root]);
            let output = command.env("RAGMAKER_ALLOW_BROAD_ROOTS", "1").output().unwrap();
            let error: Value = serde_json::from_slice(&output.stderr).unwrap();
            assert_eq!(code(&error), "NOT_A_REGULAR_FILE", "{path}");
        }
        assert_eq!(tree.error(&["--path", "."]).0, "IS_A_DIRECTORY");
    }

    #[test]
    fn links_are_followed_and_lead_nowhere_else() {
        let tree = Tree::new(TOOL);
        let target = tree.write("target.txt", "target");
        symlink("target.txt", tree.root.join("good")).unwrap();
        symlink("loop", tree.root.join("loop")).unwrap();
        symlink("a/../b", tree.root.join("b")).unwrap();
        symlink("/etc/passwd", tree.root.join("escape")).unwrap();
        symlink("/etc", tree.root.join("directory")).unwrap();
        symlink("nowhere", tree.root.join("dangling")).unwrap();
        assert_eq!(tree.run(&["--path", "good"])["path"], text_of(&target));
        for (path, expected) in [
            ("loop", "SYMLINK_LOOP"),
            ("loop/x", "SYMLINK_LOOP"),
            ("escape", "PATH_NOT_ALLOWED"),
            ("directory/passwd", "PATH_NOT_ALLOWED"),
            ("directory/no-such-file", "PATH_NOT_ALLOWED"),
            ("dangling", "FILE_NOT_FOUND"),
        ] {
            assert_eq!(tree.error(&["--path", path]).0, expected, "{path}");
        }
    }
}

#[test]
fn the_mime_type_tells_texts_apart() {
    let tree = Tree::new(TOOL);
    for (name, content, mime_type) in [
        ("a.json", "{\"a\": 1}\n", "application/json"),
        ("data", "{\"a\": 1}\n", "application/json"),
        ("page.txt", "<!DOCTYPE html>\n<html></html>\n", "text/html"),
        ("picture.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n", "image/svg+xml"),
        ("a.md", "# Title\n", "text/markdown"),
        ("a.rs", "fn main() {}\n", "text/x-rust"),
        ("a.py", "import os\n", "text/x-python"),
        ("a.csv", "a,b\n1,2\n", "text/csv"),
        ("a.yaml", "a: 1\n", "application/yaml"),
        ("a.toml", "a = 1\n", "application/toml"),
        ("notes", "text\n", "text/plain"),
    ] {
        tree.write(name, content);
        let answer = tree.run(&["--path", name]);
        assert_eq!((&answer["kind"], &answer["mime_type"]), (&json!("text"), &json!(mime_type)), "{name}");
    }
    tree.write(
        "wide.xml",
        [
            &b"\xFF\xFE"[..],
            &"<?xml version='1.0'?><rss/>".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>(),
        ]
        .concat(),
    );
    assert_eq!(tree.run(&["--path", "wide.xml"])["mime_type"], "application/rss+xml");
    let bytes = tree.run(&["--path", "picture.svg", "--as", "base64"]);
    assert_eq!((&bytes["mime_type"], bytes["data"].is_string()), (&json!("image/svg+xml"), true));
}

#[test]
fn an_office_document_is_shown_as_markdown() {
    let document = |parts: &[(&str, &str)]| {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(vec![]));
        for (name, content) in parts {
            zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            std::io::Write::write_all(&mut zip, content.as_bytes()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    };
    let tree = Tree::new(TOOL);
    let xml = "<w:document xmlns:w=\"w\"><w:body><w:p><w:r><w:t>Spring tide</w:t></w:r></w:p></w:body></w:document>";
    // The name says nothing.
    let bytes = document(&[("word/document.xml", xml)]);
    tree.write("letter.bin", &bytes);
    let answer = tree.run(&["--path", "letter.bin"]);
    let mime_type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    assert_eq!((&answer["kind"], &answer["mime_type"]), (&json!("document"), &json!(mime_type)));
    assert_eq!((text_of_answer(&answer), &answer["encoding"]), ("Spring tide", &json!("DOCX")));
    // Half of one is none, and another archive is not one at all.
    tree.write("half.docx", &bytes[..bytes.len() / 2]);
    tree.write("other.zip", document(&[("readme.txt", "text")]));
    tree.write("damaged.docx", document(&[("word/document.xml", "<w:document><w:body><w:p></w:document>")]));
    assert_eq!(tree.error(&["--path", "half.docx"]).0, "NOT_TEXT");
    assert_eq!(tree.error(&["--path", "other.zip"]).0, "NOT_TEXT");
    assert_eq!(tree.error(&["--path", "damaged.docx"]).0, "DOCUMENT_UNREADABLE");
}

fn text_of_answer(answer: &Value) -> &str {
    answer["content"].as_str().unwrap().trim()
}

#[test]
fn notebooks_are_read_as_markdown() {
    let tree = Tree::new(TOOL);
    let cells = json!([{"cell_type": "markdown", "source": "# Harmonics"}, {"cell_type": "code", "source": "x = 1", "outputs": []}]);
    let notebook = json!({"nbformat": 4, "metadata": {}, "cells": cells}).to_string();
    tree.write("a.ipynb", &notebook);
    let read = tree.run(&["--path", "a.ipynb"]);
    assert_eq!(read["content"], "# Harmonics\n\n```\nx = 1\n```\n");
    assert_eq!((&read["kind"], &read["mime_type"]), (&json!("document"), &json!("application/x-ipynb+json")));
    assert_eq!(tree.run(&["--path", "a.ipynb", "--as", "text"])["content"], notebook.as_str());
    // What is none is text, and so are rows: their lines are changed as lines.
    for (name, text) in [("c.ipynb", "{\"a\": 1}\n"), ("e.csv", "a,b\n1,2\n"), ("f.ipynb", "")] {
        tree.write(name, text);
        assert_eq!(tree.run(&["--path", name])["content"], text, "{name}");
    }
}
