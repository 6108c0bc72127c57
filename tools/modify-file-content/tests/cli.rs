//! `ragmaker-modify-file-content` from outside.

use std::fs;

use ragmaker_testkit::Tree;
use serde_json::json;

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-modify-file-content");

#[test]
fn text_in_place_of_another() {
    let tree = Tree::new(TOOL);
    let path = tree.write("a.md", "one\ntwo\nthree\n");
    let answer = tree.run(&["--path", "a.md", "--old-text", "two", "--new-text", "2"]);
    assert_eq!((&answer["replacements"], &answer["truncated"]), (&json!(1), &json!(false)));
    assert_eq!(answer["diff"], "--- a.md\n+++ a.md\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\n2\nthree\n");
    tree.write("a.md", "x x x");
    let (code, error) = tree.error(&["--path", "a.md", "--old-text", "x", "--new-text", "y"]);
    assert_eq!((code.as_str(), &error["details"]["count"]), ("WRONG_COUNT", &json!(3)));
    assert_eq!(fs::read_to_string(&path).unwrap(), "x x x");
    tree.run(&["--path", "a.md", "--old-text", "x", "--new-text", "y", "--count", "3"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "y y y");
}

#[test]
fn mistakes() {
    let tree = Tree::new(TOOL);
    tree.write("a.md", "fn  main() {\n}\n");
    let (code, error) = tree.error(&["--path", "a.md", "--old-text", "fn main() {", "--new-text", "x"]);
    assert_eq!((code.as_str(), &error["details"]["near_line"]), ("TEXT_NOT_FOUND", &json!(1)));
    assert_eq!(tree.error(&["--path", "a.md", "--old-text", "", "--new-text", "x"]).0, "ARGUMENT_ERROR");
    assert_eq!(tree.error(&["--path", "a.md", "--old-text", "x", "--new-text", "x"]).0, "ARGUMENT_ERROR");
    assert_eq!(tree.error(&["--path", "none.md", "--old-text", "x", "--new-text", "y"]).0, "FILE_NOT_FOUND");
    assert_eq!(tree.error(&["--path", "no/none.md", "--old-text", "x", "--new-text", "y"]).0, "FILE_NOT_FOUND");
    tree.write("binary", [0; 64]);
    assert_eq!(tree.error(&["--path", "binary", "--old-text", "x", "--new-text", "y"]).0, "NOT_TEXT");
    assert!(!tree.root.join("no").exists());
}

#[test]
fn every_encoding_keeps_what_is_around() {
    let tree = Tree::new(TOOL);
    let old = "これは日本語の文章です。\r\n目標を二行目に書きました。";
    let new = old.replace("目標", "新しい\r\n行");
    for encoding in [encoding_rs::SHIFT_JIS, encoding_rs::EUC_JP, encoding_rs::UTF_8] {
        let path = tree.write("t", encoding.encode(old).0);
        let answer = tree.run(&["--path", "t", "--old-text", "目標", "--new-text", "新しい\n行"]);
        assert_eq!(answer["encoding"], encoding.name());
        assert_eq!(fs::read(&path).unwrap(), *encoding.encode(&new).0);
    }
    let path = tree.write("t", encoding_rs::SHIFT_JIS.encode(old).0);
    assert_eq!(tree.error(&["--path", "t", "--old-text", "目標", "--new-text", "😀"]).0, "UNENCODABLE");
    assert_eq!(fs::read(&path).unwrap(), *encoding_rs::SHIFT_JIS.encode(old).0);
    // Lines as a model sends them are found among lines as Windows writes them.
    tree.run(&["--path", "t", "--old-text", "です。\n目標", "--new-text", "だ。\n的"]);
    assert_eq!(
        fs::read(&path).unwrap(),
        *encoding_rs::SHIFT_JIS.encode("これは日本語の文章だ。\r\n的を二行目に書きました。").0
    );
    let path = tree.write("bad", ["日本語の文章です。".repeat(5).as_bytes(), b" \xFF old \xFE"].concat());
    tree.run(&["--path", "bad", "--old-text", "old", "--new-text", "new"]);
    assert!(fs::read(path).unwrap().ends_with(b" \xFF new \xFE"));
}

/// One line is all that there is to tell `Shift_JIS` by: `変数 old_value 終わり`.
#[test]
fn a_line_of_shift_jis() {
    let tree = Tree::new(TOOL);
    let path = tree.write("a.txt", b"\x95\xCF\x90\x94 old_value \x8FI\x82\xED\x82\xE8\r\n");
    let answer = tree.run(&["--path", "a.txt", "--old-text", "変数 old_value", "--new-text", "変数 new_value"]);
    assert_eq!(answer["encoding"], "Shift_JIS");
    assert_eq!(fs::read(path).unwrap(), b"\x95\xCF\x90\x94 new_value \x8FI\x82\xED\x82\xE8\r\n");
}
