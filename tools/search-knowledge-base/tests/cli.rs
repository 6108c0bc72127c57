//! Tests of the executable.

use std::fs;

use ragmaker_testkit::Tree;
use serde_json::{Value, json};

/// The path of the executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-search-knowledge-base");

fn tree() -> Tree {
    let tree = Tree::new(TOOL);
    for (kb, text) in [("one", "# Tides\n\nThe moon pulls the sea.\n"), ("two", "# 潮\n\n月が海を引く。\n")] {
        tree.write(&format!("kb/{kb}/cache/doc.md"), text);
        let catalog = json!({"title": kb, "documents": [{"url": format!("https://{kb}.example/"), "title": kb,
            "path": "doc.md", "fetched_at": "2026-03-04T00:00:00Z", "status": "changed"}]});
        tree.write(&format!("kb/{kb}/cache/catalog.json"), catalog.to_string());
    }
    tree
}

#[test]
fn all_knowledge_bases_are_searched() {
    let tree = tree();
    let answer = tree.run(&["--query", "moon 月", "--explain"]);
    assert_eq!((&answer["total"], &answer["coverage"]), (&json!(2), &json!(1.0)));
    assert_eq!(answer["ranking"]["knowledge_bases"], 2);
    let one = tree.run(&["--query", "moon", "--kb-root", "kb/one"]);
    let hit = &one["hits"][0];
    assert_eq!((&hit["citation"], &hit["stale"]), (&json!("cache/doc.md#tides"), &json!(true)));
    assert_eq!((&hit["start_line"], &hit["end_line"]), (&json!(1), &json!(3)));
    assert_eq!(hit["knowledge_base"]["title"], "one");
    assert_eq!(tree.run(&["--query", "moon", "--kb-root", "kb/two"])["hits"], json!([]));
}

#[test]
fn documents_outside_are_counted() {
    let tree = tree();
    tree.write("elsewhere/doc.md", "# Tides\n\nThe moon pulls the sea.\n");
    let path = "../../../elsewhere/doc.md";
    let catalog = json!({"title": "three", "documents": [{"url": "https://three.example/", "path": path}]});
    tree.write("kb/three/cache/catalog.json", catalog.to_string());
    let answer = tree.run(&["--query", "moon"]);
    let skipped = answer["skipped"].as_array().unwrap();
    assert_eq!((&answer["total"], skipped.len(), &skipped[0]["documents"]), (&json!(1), 1, &json!(1)), "{answer}");
    assert!(skipped[0]["root"].as_str().unwrap().ends_with("kb/three"), "{answer}");
    assert!(tree.run(&["--query", "moon", "--kb-root", "kb/one"]).get("skipped").is_none());
}

#[test]
fn pages_of_hits_end_after_the_last_that_is_no_copy() {
    let tree = tree();
    for copy in 0..20 {
        tree.write(&format!("kb/copy-{copy}/cache/doc.md"), "# Tides\n\nThe moon pulls the sea.\n");
        let catalog =
            json!({"title": "copy", "documents": [{"url": format!("https://{copy}.example/"), "path": "doc.md"}]});
        tree.write(&format!("kb/copy-{copy}/cache/catalog.json"), catalog.to_string());
    }
    tree.write("kb/two/cache/doc.md", "# Neap tides\n\nmoon and sun\n\n# Spring tides\n\nmoon, sun and sea\n");
    let (mut offset, mut citations) = (json!(0), vec![]);
    while !offset.is_null() {
        let page = tree.run(&["--query", "moon", "--limit", "1", "--offset", &offset.to_string()]);
        citations.extend(page["hits"].as_array().unwrap().iter().map(|hit| hit["citation"].clone()));
        assert_eq!(page["truncated"], !page["next"].is_null());
        offset = page["next"]["offset"].clone();
        assert!(citations.len() < 9, "{citations:?}");
    }
    citations.sort_by_key(Value::to_string);
    assert_eq!(citations, ["cache/doc.md#neap-tides", "cache/doc.md#spring-tides", "cache/doc.md#tides"]);
}

#[test]
fn filters_leave_out() {
    let tree = tree();
    let total = |arguments: &[&str]| tree.run(&[&["--query", "moon 月"], arguments].concat())["total"].clone();
    assert_eq!(total(&["--match", "two\\.example"]), 1);
    assert_eq!((total(&["--since", "2026-03-04"]), total(&["--since", "2026-04"])), (json!(2), json!(0)));
    let second = tree.run(&["--query", "moon 月", "--limit", "1", "--offset", "1"]);
    assert_eq!((second["hits"].as_array().unwrap().len(), &second["next"]), (1, &json!(null)));
}

#[test]
fn a_knowledge_base_that_cannot_be_written_is_searched_with_an_index_elsewhere() {
    let tree = tree();
    // Not by its permissions: the superuser writes in any folder.
    tree.write("kb/one/cache/.search", "");
    let cache = tree.root.join("../user");
    let search = || {
        let mut command = tree.command(&["--query", "moon", "--kb-root", "kb/one"]);
        let output = command.env("XDG_CACHE_HOME", &cache).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["total"].clone()
    };
    let indexes = || -> Vec<_> {
        let folders = fs::read_dir(cache.join("ragmaker/search")).unwrap();
        folders.map(|folder| fs::metadata(folder.unwrap().path().join("index")).unwrap().modified().unwrap()).collect()
    };
    assert_eq!(search(), 1);
    let made = indexes();
    assert_eq!((search(), made.len(), indexes()), (json!(1), 1, made));
    // It follows changes there, too; and without any place the search succeeds as well.
    tree.write("kb/one/cache/doc.md", "# Tides\n\nThe sun pulls the sea.\n");
    assert_eq!(search(), 0);
    fs::remove_dir_all(&cache).unwrap();
    fs::write(&cache, "").unwrap();
    tree.write("kb/one/cache/doc.md", "# Tides\n\nThe moon pulls the sea again.\n");
    assert_eq!(search(), 1);
}

#[test]
fn invalid_searches_are_errors() {
    let tree = tree();
    for (arguments, code) in [
        (&["--query", " !"][..], "QUERY_EMPTY"),
        (&["--query", "a", "--match", "("], "ARGUMENT_ERROR"),
        (&["--query", "a", "--since", "soon"], "ARGUMENT_ERROR"),
        (&["--query", "a", "--kb-root", "none"], "CATALOG_NOT_FOUND"),
        (&["--query", "moon", "--offset", "9"], "OFFSET_BEYOND_END"),
    ] {
        assert_eq!(tree.error(arguments).0, code, "{arguments:?}");
    }
}
