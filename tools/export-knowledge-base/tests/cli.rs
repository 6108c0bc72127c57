//! `ragmaker-export-knowledge-base` from outside.

use std::{
    fs,
    io::{Cursor, Read},
};

use flate2::read::GzDecoder;
use ragmaker_testkit::Tree;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use zip::{CompressionMethod, ZipArchive};

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-export-knowledge-base");

fn tree() -> Tree {
    let tree = Tree::new(TOOL);
    let tides = "---\nsource_url: \"https://www.sea.example/b/tides\"\ntitle: \"T\"\n---\n\n# Tides [1]\n\n## High\n\n```\n# no heading\n```\n";
    tree.write("kb/cache/documents/tides.md", tides);
    tree.write("kb/cache/documents/日本 語.md", "\u{feff}Zwei.\n");
    tree.write("kb/b.md", "# Own\n");
    let documents = json!([
        {"url": "https://www.sea.example/b/tides", "title": "Tides [1]", "summary": "Two\na day.", "path": "documents/tides.md", "fetched_at": "2026-01-02T03:04:05Z"},
        {"title": "", "path": "documents/日本 語.md"},
        {"url": "https://a.example/", "title": "Own", "path": "../b.md"},
        {"url": "https://a.example/gone", "title": "Gone", "path": "documents/gone.md"},
    ]);
    tree.write(
        "kb/cache/catalog.json",
        json!({"title": "The sea", "summary": "All of it.", "documents": documents}).to_string(),
    );
    tree
}

fn export(tree: &Tree, format: &str, output: &str) -> Value {
    tree.run(&["--kb-root", "kb", "--format", format, "--output", output])
}

#[test]
fn an_index_for_models() {
    let tree = tree();
    let answer = export(&tree, "llms-txt", "out/llms.txt");
    let text = fs::read_to_string(tree.root.join("out/llms.txt")).unwrap();
    let expected = "# The sea\n\n> All of it.\n\n## Documents\n\n\
        - [Tides \\[1\\]](https://www.sea.example/b/tides): Two a day.\n\
        - [日本 語](documents/日本%20語.md)\n- [Own](https://a.example/)\n";
    assert_eq!(text, expected);
    assert_eq!((&answer["documents"], &answer["bytes"], &answer["total"]), (&json!(3), &json!(text.len()), &json!(1)));
    assert_eq!(answer["left_out"][0]["path"], "documents/gone.md");
    assert_eq!(answer["path"], json!(tree.root.join("out/llms.txt")));
}

#[test]
fn one_markdown_file() {
    let tree = tree();
    export(&tree, "markdown", "all.md");
    let expected = "# The sea\n\nAll of it.\n\n## Tides [1]\n\nSource: <https://www.sea.example/b/tides>\n\n\
        #### High\n\n```\n# no heading\n```\n\n## 日本 語\n\nZwei.\n\n## Own\n\nSource: <https://a.example/>\n\n\n";
    assert_eq!(fs::read_to_string(tree.root.join("all.md")).unwrap(), expected);
}

#[test]
fn lines_of_json() {
    let tree = tree();
    export(&tree, "jsonl", "all.jsonl");
    let text = fs::read_to_string(tree.root.join("all.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(
        (&lines[0]["summary"], &lines[0]["fetched_at"]),
        (&json!("Two\na day."), &json!("2026-01-02T03:04:05Z"))
    );
    assert!(lines[0]["text"].as_str().unwrap().starts_with("# Tides [1]\n"));
    assert_eq!((&lines[1]["url"], &lines[1]["text"]), (&Value::Null, &json!("Zwei.")));
}

/// By the rules of the specification, as a reader meets them: parts stored, hashes right, each record where the index
/// says. The reference implementation, `wacz validate` of py-wacz 0.6.0, finds such an archive valid.
#[test]
fn a_web_archive() {
    let tree = tree();
    export(&tree, "wacz", "sea.wacz");
    let mut zip = ZipArchive::new(Cursor::new(fs::read(tree.root.join("sea.wacz")).unwrap())).unwrap();
    let mut part = |name: &str| {
        let mut file = zip.by_name(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (mut bytes, method) = (vec![], file.compression());
        file.read_to_end(&mut bytes).unwrap();
        (bytes, method)
    };
    let hash = |bytes: &[u8]| {
        let digest = Sha256::digest(bytes);
        format!("sha256:{}", digest.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat())
    };
    let (package, _) = part("datapackage.json");
    let (digest, _) = part("datapackage-digest.json");
    let digest: Value = serde_json::from_slice(&digest).unwrap();
    assert_eq!(digest, json!({"path": "datapackage.json", "hash": hash(&package)}));
    let package: Value = serde_json::from_slice(&package).unwrap();
    assert_eq!((&package["wacz_version"], &package["profile"]), (&json!("1.1.1"), &json!("data-package")));
    let resources = package["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 3);
    for resource in resources {
        let (bytes, _) = part(resource["path"].as_str().unwrap());
        assert_eq!((&resource["hash"], &resource["bytes"]), (&json!(hash(&bytes)), &json!(bytes.len())));
    }
    let (warc, method) = part("archive/data.warc.gz");
    assert_eq!(method, CompressionMethod::Stored);
    let (index, _) = part("indexes/index.cdx");
    let index = String::from_utf8(index).unwrap();
    let keys: Vec<_> = index.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(keys.len(), 3);
    assert!(keys.is_sorted() && keys[1] == "example,sea)/b/tides", "{keys:?}");
    for line in index.lines() {
        let (key, rest) = line.split_once(' ').unwrap();
        let (timestamp, facts) = rest.split_once(' ').unwrap();
        assert!(timestamp.len() == 14 && timestamp.bytes().all(|byte| byte.is_ascii_digit()), "{line}");
        let facts: Value = serde_json::from_str(facts).unwrap();
        let number = |name: &str| facts[name].as_str().unwrap().parse::<usize>().unwrap();
        let member = &warc[number("offset")..number("offset") + number("length")];
        let mut record = String::new();
        GzDecoder::new(member).read_to_string(&mut record).unwrap();
        let (head, block) = record.split_once("\r\n\r\n").unwrap();
        let block = block.strip_suffix("\r\n\r\n").unwrap();
        let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        assert!(head.starts_with("WARC/1.1\r\nWARC-Type: resource\r\n"), "{head}");
        assert_eq!(header("WARC-Target-URI"), facts["url"].as_str(), "{key}");
        assert_eq!(header("Content-Length"), Some(block.len().to_string().as_str()));
        assert_eq!(facts["digest"], json!(hash(block.as_bytes())));
    }
    let (pages, _) = part("pages/pages.jsonl");
    let pages: Vec<Value> =
        String::from_utf8(pages).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&pages[0]["format"], pages.len()), (&json!("json-pages-1.0"), 4));
    assert_eq!(pages[1]["ts"], "2026-01-02T03:04:05Z");
}

#[test]
fn unwritable_outputs_are_rejected() {
    let tree = tree();
    let wanted = ["--kb-root", "kb", "--format", "jsonl", "--output", "out"];
    tree.write("out", "mine");
    assert_eq!(tree.error(&wanted).0, "ALREADY_EXISTS");
    assert_eq!(fs::read_to_string(tree.root.join("out")).unwrap(), "mine");
    tree.run(&[&wanted[..], &["--overwrite"]].concat());
    assert!(fs::read_to_string(tree.root.join("out")).unwrap().starts_with('{'));
    tree.write("empty/cache/catalog.json", r#"{"documents": []}"#);
    for (arguments, code) in [
        (&["--kb-root", "kb", "--format", "pdf", "--output", "x"][..], "ARGUMENT_ERROR"),
        (&["--kb-root", "kb", "--format", "jsonl", "--output", ".."], "ARGUMENT_ERROR"),
        (&["--kb-root", "kb", "--format", "jsonl", "--output", "kb"], "IS_A_DIRECTORY"),
        (
            &["--kb-root", "kb", "--format", "jsonl", "--output", "kb/cache/catalog.json", "--overwrite"],
            "ARGUMENT_ERROR",
        ),
        (&["--kb-root", "kb", "--format", "jsonl", "--output", "kb/b.md", "--overwrite"], "ARGUMENT_ERROR"),
        (&["--kb-root", "none", "--format", "jsonl", "--output", "x"], "CATALOG_NOT_FOUND"),
        (&["--kb-root", "empty", "--format", "jsonl", "--output", "x"], "NO_DOCUMENTS"),
        (&["--arguments", r#"{"kb_root": "kb", "format": "jsonl", "output": "../x"}"#], "PATH_NOT_ALLOWED"),
    ] {
        assert_eq!(tree.error(arguments).0, code, "{arguments:?}");
    }
    assert!(!tree.root.join("x").exists());
}
