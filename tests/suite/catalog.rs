//! A knowledge base that several tools build and check.

use std::fs;

use ragmaker_tests::visitor::{Saved, Visitor, at_once};
use serde_json::{Value, json};

fn catalog(visitor: &Visitor) -> Value {
    serde_json::from_slice(&fs::read(visitor.catalog_file()).unwrap()).unwrap()
}

#[test]
fn pages_saved_at_once_are_all_in_the_catalog() {
    let visitor = Visitor::with_browser();
    let pages: Vec<_> = (0..8).map(|n| format!("/page/entry {n}?q=\"{n}\"&日本=語")).collect();
    let saved = at_once(8, &pages, |page| Saved::by(&visitor.extract(page).args(["--timeout", "90"]).run()));
    let documents = visitor.documents();
    assert_eq!(documents.len(), pages.len());
    let folder = visitor.catalog_file().parent().unwrap().to_owned();
    for (n, saved) in saved.iter().enumerate() {
        let title = format!("entry {n}");
        let entry = documents.iter().find(|document| document["title"] == title.as_str()).unwrap();
        assert_eq!(entry["url"], saved.field("source_url"));
        assert_eq!(entry["fetched_at"], saved.field("fetched_at"));
        // Relative to the catalog, so that the folder can be moved.
        let path = entry["path"].as_str().unwrap();
        assert!(path.starts_with("../../saved/"), "{path}");
        assert_eq!(folder.join(path).canonicalize().unwrap(), saved.path.canonicalize().unwrap());
        assert_eq!(saved.field("title"), title);
    }
}

#[test]
fn a_page_saved_again_is_one_entry_and_keeps_what_others_added() {
    let visitor = Visitor::with_browser();
    visitor.save("/page/one");
    visitor.save("/page/two");
    let mut catalog = catalog(&visitor);
    catalog["documents"][0]["summary"] = "Written by hand.".into();
    catalog["note"] = json!({"kept": true});
    fs::write(visitor.catalog_file(), serde_json::to_vec_pretty(&catalog).unwrap()).unwrap();

    let again = visitor.save("/page/one#place");
    let after = self::catalog(&visitor);
    let documents = after["documents"].as_array().unwrap();
    assert_eq!(documents.iter().map(|entry| entry["title"].as_str().unwrap()).collect::<Vec<_>>(), ["one", "two"]);
    assert_eq!(documents[0]["summary"], "Written by hand.");
    assert_eq!(documents[0]["fetched_at"], again.field("fetched_at"));
    assert_eq!((&documents[1], &after["note"]), (&catalog["documents"][1], &catalog["note"]));
    assert_eq!(visitor.saved().len(), 2);
}

#[test]
fn a_page_has_one_entry_however_its_address_is_spelled() {
    let visitor = Visitor::with_browser();
    for address in ["/page/%7e%c3%a9%2f", "/page/~%C3%A9%2F", "/page/~é%2f#place", "/page/./%7Eé%2F"] {
        let saved = visitor.save(address);
        assert!(saved.field("source_url").ends_with("/page/~%C3%A9%2F"), "{}", saved.field("source_url"));
    }
    assert_eq!((visitor.documents().len(), visitor.saved().len()), (1, 1));
}

#[test]
fn a_damaged_catalog_is_reported_and_left_as_it_is() {
    let visitor = Visitor::with_browser();
    for damaged in ["{\"documents\": [{\"url\":", "", "[]", "{\"documents\": {}}", "not JSON"] {
        visitor.project.write("kb/cache/catalog.json", damaged);
        let run = visitor.extract("/page/one").run();
        let error = run.error("CATALOG_CORRUPT");
        // The page is not lost.
        let file = error["details"]["file_path"].as_str().unwrap_or_else(|| panic!("{damaged:?}: {error}"));
        assert_eq!(Saved::read(file.as_ref()).field("title"), "one", "{damaged:?}");
        assert_eq!(fs::read_to_string(visitor.catalog_file()).unwrap(), damaged);
        let describe = visitor.project.tool("entry-discovery").args(["--kb-root", "kb", "--title", "T"]).run();
        describe.error("CATALOG_CORRUPT");
        assert_eq!(fs::read_to_string(visitor.catalog_file()).unwrap(), damaged);
    }
}

#[test]
fn the_header_describes_what_was_saved() {
    let visitor = Visitor::with_browser();
    visitor.save("/page/one");
    let site = visitor.site.url("/wiki/");
    let described = visitor
        .project
        .tool("entry-discovery")
        .args(["--kb-root", "kb", "--title", "潮汐", "--summary", "About tides."])
        .args(["--source-url", &site, "--src-type", "web"])
        .run();
    let answer = described.answer();
    assert_eq!(answer["documents"], 1);
    assert_eq!(answer["catalog_file"], visitor.catalog_file().to_str().unwrap());
    visitor.save("/page/two");
    let catalog = catalog(&visitor);
    for (name, value) in [("title", "潮汐"), ("summary", "About tides."), ("source_url", &site), ("src_type", "web")]
    {
        assert_eq!((&answer["header"][name], &catalog[name]), (&value.into(), &value.into()), "{name}");
    }
    assert!(catalog["fetched_at"].is_string());
    assert_eq!(catalog["documents"].as_array().unwrap().len(), 2);
}

#[test]
fn a_knowledge_base_is_where_it_was_asked_for() {
    let visitor = Visitor::with_browser();
    let save = |arguments: &[&str]| {
        let url = visitor.site.url("/page/one");
        let run = visitor.project.tool("browser-extract").args(["--url", &url]).args(arguments).run();
        assert_eq!(run.answer()["catalog_updated"], true);
        run.answer()["catalog_file"].as_str().unwrap().to_owned()
    };
    let at = |path: &str| visitor.project.path().join(path).to_str().unwrap().to_owned();
    assert_eq!(save(&["--output-dir", "a"]), at(".tmp/cache/catalog.json"));
    assert_eq!(save(&["--output-dir", "b", "--catalog-path", "b/list.json"]), at("b/list.json"));
    assert_eq!(save(&["--kb-root", "c"]), at("c/cache/catalog.json"));
    assert_eq!(fs::read_dir(at("c/cache/documents")).unwrap().count(), 1);
    let list: Value = serde_json::from_slice(&fs::read(at("b/list.json")).unwrap()).unwrap();
    assert!(!list["documents"][0]["path"].as_str().unwrap().contains('/'), "{list}");
}

#[test]
fn verify_passes_gathered_pages_and_finds_stray_files() {
    let visitor = Visitor::with_browser();
    for page in ["/page/one", "/innocent/article", "/innocent/badge", "/content/shift-jis", "/content/json"] {
        let url = visitor.url(page);
        let arguments = ["--url", &url, "--kb-root", "kb"];
        visitor.project.tool("browser-extract").args(arguments).run().answer();
    }
    let verify = || visitor.project.tool("verify").args(["--kb-root", "kb"]).run();
    assert_eq!(verify().error("VERIFICATION_FAILED")["details"]["counts"], json!({"title_missing": 1}));
    let described = ["--kb-root", "kb", "--title", "T", "--summary", "S"];
    visitor.project.tool("entry-discovery").args(described).run().answer();
    assert_eq!(verify().answer()["documents"], 5);

    // A page that was saved and, its tool killed, not recorded.
    let stray = visitor.project.path().join("kb/cache/documents/stray.md");
    fs::write(&stray, "---\ntitle: \"S\"\nsource_url: \"https://x.example/s\"\n---\n\nText.\n").unwrap();
    assert_eq!(verify().error("VERIFICATION_FAILED")["details"]["findings"][0]["path"], "documents/stray.md");
    let updates = json!([{"path": "documents/stray.md", "summary": "Stray."}]).to_string();
    let enriched = visitor.project.tool("enrich-discovery").args(["--kb-root", "kb", "--updates", &updates]).run();
    assert_eq!(enriched.answer()["added_paths"], json!(["documents/stray.md"]));
    assert_eq!(verify().answer()["total"], 5);
}
