//! `ragmaker-search-file-content` from outside.

use ragmaker_testkit::{HANDBOOK, LETTER, Tree};
use serde_json::{Value, json};

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-search-file-content");

fn lines(answer: &Value) -> Vec<(u64, u64, &str)> {
    let matches = answer["matches"].as_array().unwrap().iter();
    matches.map(|m| (m["line"].as_u64().unwrap(), m["column"].as_u64().unwrap(), m["text"].as_str().unwrap())).collect()
}

#[test]
fn lines_that_match() {
    let tree = Tree::new(TOOL);
    let a = tree.write("a.md", "one\nTwo two\r\nthree\n");
    tree.write("sub/b.txt", "日本 two\n");
    tree.write("ignored.log", "two\n");
    tree.write(".gitignore", "*.log\n");
    let found = tree.run(&["--pattern", "two"]);
    assert_eq!(lines(&found), [(2, 5, "Two two"), (1, 4, "日本 two")]);
    assert_eq!((&found["total"], &found["files_searched"], &found["truncated"]), (&json!(2), &json!(2), &json!(false)));
    assert_eq!(found["matches"][0]["path"], json!(a));
    assert_eq!(lines(&tree.run(&["--pattern", "TWO", "--ignore-case", "--include", "*.md"])), [(2, 1, "Two two")]);
    assert_eq!(tree.run(&["--pattern", "two", "--no-ignore"])["total"], 3);
    let context = tree.run(&["--pattern", "Two", "--context", "1", "--path", "a.md"]);
    assert_eq!(
        (&context["matches"][0]["before"], &context["matches"][0]["after"]),
        (&json!(["one"]), &json!(["three"]))
    );
    let first = tree.run(&["--pattern", "two", "--limit", "1"]);
    assert_eq!(
        (&first["truncated"], &first["next"], &first["total"]),
        (&json!(true), &json!({"offset": 1}), &json!(2))
    );
    assert_eq!(tree.error(&["--pattern", "absent"]).0, "NO_MATCHES");
    assert_eq!(tree.error(&["--pattern", "("]).0, "ARGUMENT_ERROR");
    assert_eq!(tree.error(&["--pattern", "(", "--fixed"]).0, "NO_MATCHES");
    assert_eq!(tree.error(&["--pattern", "two", "--path", "ignored.log"]).0, "PATH_IGNORED");
}

#[test]
fn it_sees_what_read_file_sees() {
    let tree = Tree::new(TOOL);
    let text = "これは日本語の文章です。文字コードを調べます。\n二行目に目標があります。\n";
    for (name, encoding) in [("s", encoding_rs::SHIFT_JIS), ("e", encoding_rs::EUC_JP), ("j", encoding_rs::ISO_2022_JP)]
    {
        tree.write(name, encoding.encode(text).0);
    }
    tree.write("u", text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    tree.write("late", [b"ascii\n".repeat(20_000), encoding_rs::EUC_JP.encode(text).0.into_owned()].concat());
    let found = tree.run(&["--pattern", "目標"]);
    let expected = (2, 5, "二行目に目標があります。");
    assert_eq!(lines(&found), [expected, expected, (20_002, 5, expected.2), expected, expected]);
    tree.write("binary", [&b"\x7FELF\0\0\0\0\x01\x02\x03\x04"[..], text.as_bytes()].concat());
    tree.write("dirty", [text.repeat(3).as_bytes(), b"\xFF\0\n"].concat());
    assert_eq!(tree.run(&["--pattern", "目標", "--path", "dirty"])["total"], 3);
}

#[test]
fn long_lines_and_many_matches_are_bounded() {
    let tree = Tree::new(TOOL);
    tree.write("long", "x".repeat(100_000) + "needle" + &"y".repeat(100_000));
    let found = tree.run(&["--pattern", "needle"]);
    assert_eq!(found["matches"][0]["column"], 100_001);
    let text = found["matches"][0]["text"].as_str().unwrap();
    assert!(text.len() <= 500 && text.contains("needle"));
    tree.write("many", "needle\n".repeat(5000));
    let output = tree.command(&["--pattern", "needle"]).output().unwrap();
    assert!(output.stdout.len() < 29_000);
    let page: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&page["total"], &page["truncated"]), (&json!(5001), &json!(true)));
}

#[test]
fn pages_join_to_all_matches() {
    let tree = Tree::new(TOOL);
    for name in ["a", "b", "c"] {
        tree.write(name, (0..700).map(|n| format!("{n} needle in {name}\n")).collect::<Vec<_>>().concat());
    }
    let (mut joined, mut offset) = (vec![], 0);
    loop {
        let page = tree.run(&["--pattern", "needle", "--context", "1", "--offset", &offset.to_string()]);
        assert_eq!(page["total"], 2100);
        for found in page["matches"].as_array().unwrap() {
            let (name, line) = (found["path"].as_str().unwrap().to_owned(), found["line"].as_u64().unwrap());
            let around =
                if line == 700 { json!([]) } else { json!([format!("{line} needle in {}", &name[name.len() - 1..])]) };
            // A matching line is not shown as the context of another one.
            assert!(found.get("after").is_none_or(|after| *after == around), "{found}");
            joined.push((name, line));
        }
        let Some(next) = page["next"]["offset"].as_u64() else { break };
        offset = next;
    }
    assert!(joined.len() == 2100 && joined.is_sorted());
}

#[test]
fn a_file_of_any_size_is_searched_as_it_is_read() {
    let tree = Tree::new(TOOL);
    let log = b"plain line with a needle\n".repeat(6000);
    let late = encoding_rs::SHIFT_JIS.encode("これは日本語の文章です。目標があります。\n").0.into_owned();
    tree.write("late.log", [log.clone(), late].concat());
    let found = tree.run(&["--pattern", "目標"]);
    assert_eq!(lines(&found), [(6001, 13, "これは日本語の文章です。目標があります。")]);
    // A file that is not text is not searched, even if its beginning is text.
    tree.write("late.bin", [log, [0, 1, 2, 3, 0xFF].repeat(20_000)].concat());
    let found = tree.run(&["--pattern", "needle"]);
    assert_eq!((&found["total"], &found["files_searched"]), (&json!(6000), &json!(1)));
}

#[test]
fn documents_are_searched_by_their_text() {
    let tree = Tree::new(TOOL);
    let pdf = tree.write("handbook.pdf", HANDBOOK);
    let letter = tree.write("letter.docx", LETTER);
    tree.write("archive.zip", [&b"PK\x03\x04"[..], b"Brest", &[0; 60]].concat());
    let found = tree.run(&["--pattern", "Brest"]);
    let paths: Vec<_> = found["matches"].as_array().unwrap().iter().map(|one| &one["path"]).collect();
    assert!(paths.contains(&&json!(letter)) && !found.to_string().contains("archive.zip"), "{found}");
    assert_eq!(tree.run(&["--pattern", "Tidemark", "--path", "handbook.pdf"])["matches"][0]["path"], json!(pdf));
    // A single file that cannot be searched is named with the reason.
    tree.write("broken.docx", b"PK\x03\x04\x14\0\0\0\x08\0\xFF\xFE\x80\0\0");
    let (code, error) = tree.error(&["--pattern", "zebrafish", "--path", "broken.docx"]);
    assert!(code == "NOT_TEXT" && error["message"].as_str().unwrap().contains("broken.docx"), "{error}");
    // What only the source of a PDF says.
    assert_eq!(tree.error(&["--pattern", "endobj|%PDF"]).0, "NO_MATCHES");
    // Without the program that reads PDFs.
    let output = tree.command(&["--pattern", "Spring|endobj"]).env("PATH", &tree.root).output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["total"], &found["matches"][0]["path"]), (&json!(1), &json!(letter)));
    assert!(found["unreadable"][0].as_str().unwrap().starts_with("PDF_READER_MISSING"), "{found}");
}
