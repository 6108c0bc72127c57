//! Tests of the executable.

use std::fs;

use ragmaker_testkit::Tree;

/// The path of the executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-show-knowledge-base");

fn tree() -> Tree {
    let tree = Tree::new(TOOL);
    tree.write(
        "kb/cache/a.md",
        "---\nsource_url: \"https://x.example/\"\ntitle: \"A\"\n---\n\n# A\n\nThe moon pulls 潮.\n",
    );
    let catalog =
        r#"{"title": "T", "summary": "S", "documents": [{"url": "https://x.example/", "title": "A", "path": "a.md"}]}"#;
    tree.write("kb/cache/catalog.json", catalog);
    tree
}

#[test]
fn the_page_is_one_file() {
    let tree = tree();
    let answer = tree.run(&["--kb-root", "kb", "--output", "page.html"]);
    assert_eq!((&answer["documents"], &answer["findings"]), (&1.into(), &0.into()));
    let page = fs::read_to_string(tree.root.join("page.html")).unwrap();
    assert_eq!(answer["bytes"], page.len());
    assert!(page.contains("The moon pulls 潮.") && !page.contains("src=") && !page.contains("@import"));
    // Without --output, the page is in the project's cache, and a second one replaces it.
    for _ in 0..2 {
        let path = tree.run(&["--kb-root", "kb"])["file_path"].as_str().unwrap().to_owned();
        assert!(path.ends_with(".tmp/cache/pages/kb.html") && fs::read_to_string(path).unwrap() == page);
    }
}

#[test]
fn findings_are_shown_and_a_missing_document_is_one() {
    let tree = tree();
    fs::remove_file(tree.root.join("kb/cache/a.md")).unwrap();
    let answer = tree.run(&["--kb-root", "kb", "--output", "page.html"]);
    assert_eq!((&answer["documents"], &answer["findings"]), (&1.into(), &1.into()));
    assert!(fs::read_to_string(tree.root.join("page.html")).unwrap().contains("file_missing"));
}

#[test]
fn an_unreadable_knowledge_base_is_an_error() {
    let tree = tree();
    for (arguments, code) in [
        (&["--kb-root", "none"][..], "CATALOG_NOT_FOUND"),
        (&["--kb-root", "kb", "--output", "kb"], "PAGE_NOT_WRITABLE"),
        (&["--kb-root", "kb", "--output", "none/page.html"], "PAGE_NOT_WRITABLE"),
        (&["--kb-root", "kb", "--output", "page.html", "--serve"], "ARGUMENT_ERROR"),
        (&["--arguments", r#"{"kb_root": "kb", "serve": true}"#], "ARGUMENT_ERROR"),
        (&["--arguments", r#"{"kb_root": "kb", "output": "kb/cache/a.md"}"#], "ARGUMENT_ERROR"),
        (&["--arguments", r#"{"kb_root": "kb", "output": "/tmp/x.html"}"#], "PATH_NOT_ALLOWED"),
    ] {
        assert_eq!(tree.error(arguments).0, code, "{arguments:?}");
    }
    assert!(!tree.root.join(".tmp").exists());
}
