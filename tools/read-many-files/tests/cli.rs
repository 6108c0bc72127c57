//! `ragmaker-read-many-files` from outside.

use ragmaker_testkit::{HANDBOOK, LETTER, Tree};
use serde_json::{Value, json};

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-read-many-files");

#[test]
fn files_folders_and_globs() {
    let tree = Tree::new(TOOL);
    let a = tree.write("a.md", "a\n");
    let b = tree.write("docs/b.md", "b\n");
    let c = tree
        .write("docs/deep/c.txt", encoding_rs::SHIFT_JIS.encode("これは日本語の文章です。文字コードを調べます。\n").0);
    tree.write("docs/node_modules/d.md", "d");
    tree.write("docs/e.bin", [0; 100]);
    let answer = tree.run(&["--path", "docs", "--path", "*.md", "--path", "a.md", "--path", "none.md"]);
    let paths: Vec<_> = answer["files"].as_array().unwrap().iter().map(|file| file["path"].clone()).collect();
    assert_eq!(paths, [json!(b), json!(c), json!(a)]);
    assert_eq!((&answer["files"][1]["encoding"], &answer["files"][0]["content"]), (&json!("Shift_JIS"), &json!("b\n")));
    let reasons: Vec<_> =
        answer["skipped"].as_array().unwrap().iter().map(|one| one["reason"].as_str().unwrap()).collect();
    assert!(reasons[0].starts_with("FILE_NOT_FOUND") && reasons[1].starts_with("NOT_TEXT"), "{reasons:?}");
    let count = |arguments: &[&str]| tree.run(arguments)["total"].clone();
    assert_eq!(count(&["--path", "docs", "--include", "*.md"]), 1);
    assert_eq!(count(&["--path", "docs", "--exclude", "*.bin", "--no-default-excludes"]), 3);
    assert_eq!(count(&["--path", "docs", "--no-recursive"]), 2);
    assert_eq!(count(&["--path", "docs/**/*.txt"]), 1);
    let (code, error) = tree.error(&["--path", "none"]);
    assert_eq!((code.as_str(), &error["details"]["skipped"][0]["path"]), ("NO_FILES", &json!("none")), "{error}");
    assert_eq!(tree.error(&[]).0, "ARGUMENT_ERROR");
    for (arguments, advice) in
        [(&[][..], "Add --path VALUE"), (&["--arguments", "{}"], "Add \"path\" to the arguments")]
    {
        let (_, error) = tree.error(arguments);
        assert!(error["remediation_suggestion"].as_str().unwrap().starts_with(advice), "{error}");
    }
    assert_eq!(tree.run(&["--path", "docs", "--offset", "1"])["files"].as_array().map(Vec::len), Some(1));
    let (code, beyond) = tree.error(&["--path", "docs", "--offset", "3"]);
    assert_eq!((code.as_str(), &beyond["details"]["total"]), ("OFFSET_BEYOND_END", &json!(3)), "{beyond}");
}

#[test]
fn pages_join_to_the_texts() {
    let tree = Tree::new(TOOL);
    let texts: Vec<String> = (1..30).map(|n| format!("file {n} \"日本\"\t\n").repeat(n * 40)).collect();
    for (index, text) in texts.iter().enumerate() {
        tree.write(&format!("many/{index:02}.txt"), text);
    }
    let (mut joined, mut arguments) = (String::new(), json!({"path": ["many"]}));
    let mut pages = 0;
    loop {
        let output = tree.command(&["--arguments", &arguments.to_string()]).output().unwrap();
        assert!(String::from_utf8(output.stdout.clone()).unwrap().chars().count() < 29_000);
        let page: Value = serde_json::from_slice(&output.stdout).unwrap();
        joined.extend(page["files"].as_array().unwrap().iter().map(|file| file["content"].as_str().unwrap()));
        pages += 1;
        let Value::Object(next) = page["next"].clone() else { break };
        arguments.as_object_mut().unwrap().extend(next);
    }
    assert!(joined == texts.concat());
    assert!(pages > 5);
}

#[test]
fn a_limit_counts_whole_files_and_what_cannot_be_read_takes_none_of_it() {
    let tree = Tree::new(TOOL);
    let long = "line\n".repeat(20_000);
    for (name, text) in [("1.txt", "one"), ("3.txt", &long), ("4.txt", "four")] {
        tree.write(&format!("many/{name}"), text);
    }
    tree.write("many/2.bin", [0; 100]);
    tree.write("many/5.bin", [0; 100]);
    let texts =
        |page: &Value| page["files"].as_array().unwrap().iter().map(|file| file["content"].clone()).collect::<Vec<_>>();
    let first = tree.run(&["--path", "many", "--limit", "2"]);
    assert_eq!(texts(&first), [json!("one"), json!(long)]);
    assert_eq!((&first["total"], &first["next"]), (&json!(5), &json!({"offset": 3, "column_offset": 0})));
    let second = tree.run(&["--path", "many", "--limit", "1", "--offset", "2", "--column-offset", "99995"]);
    assert_eq!((texts(&second), &second["next"]["offset"]), (vec![json!("line\n")], &json!(3)));
    let (code, beyond) = tree.error(&["--path", "many", "--offset", "2", "--column-offset", "100000"]);
    assert_eq!((code.as_str(), &beyond["details"]["total"]), ("OFFSET_BEYOND_END", &json!(100_000)), "{beyond}");
    // Nothing that is left can be read.
    let last = tree.run(&["--path", "many", "--offset", "4"]);
    assert_eq!((texts(&last), &last["next"], &last["truncated"]), (vec![], &Value::Null, &json!(false)));
    assert!(last["skipped"][0]["reason"].as_str().unwrap().starts_with("NOT_TEXT"), "{last}");
}

#[test]
fn documents_are_converted_and_never_shown_as_bytes() {
    let tree = Tree::new(TOOL);
    tree.write("docs/handbook.pdf", HANDBOOK);
    tree.write("docs/letter.docx", LETTER);
    tree.write("docs/archive.zip", [&b"PK\x03\x04"[..], &[0; 60]].concat());
    let answer = tree.run(&["--path", "docs"]);
    let file = |index: usize, key: &str| answer["files"][index][key].as_str().unwrap().to_owned();
    assert_eq!((file(0, "encoding"), file(1, "encoding")), ("PDF".into(), "DOCX".into()));
    assert!(file(0, "content").contains("Tidemark") && !file(0, "content").contains("%PDF"), "{answer}");
    assert_eq!(file(1, "content").trim(), "Spring tide at Brest");
    assert_eq!(answer["skipped"][0]["reason"], "NOT_TEXT: it is not text: it is application/zip");
    // Without the program that reads PDFs.
    let output = tree.command(&["--path", "docs"]).env("PATH", &tree.root).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let reasons = answer["skipped"].to_string();
    assert!(reasons.contains("PDF_READER_MISSING") && !answer.to_string().contains("%PDF"), "{answer}");
    assert_eq!(answer["files"].as_array().unwrap().len(), 1);
}
