//! `--json-responses`: the JSON answers of a page are documents with their own addresses.

use ragmaker_tests::visitor::{Saved, Visitor};
use serde_json::{Value, json};

const ALL: [&str; 2] = ["--json-responses", "/data/"];

/// The paths of the saved answers, in alphabetical order.
fn paths(answers: &Value) -> Vec<String> {
    let documents = answers["documents"].as_array().unwrap().iter();
    let mut paths: Vec<String> =
        documents.map(|one| one["url"].as_str().unwrap().split('/').skip(3).collect::<Vec<_>>().join("/")).collect();
    paths.sort();
    paths
}

#[test]
fn the_json_answers_of_a_page_are_documents_of_their_own() {
    let visitor = Visitor::with_browser();
    // The page is open already: its answers come only when it is loaded.
    visitor.navigate("/data/stations").run().answer();
    let run = visitor.extract("/data/stations").args(ALL).run();
    let answers = &run.answer()["json_responses"];
    assert_eq!(paths(answers), ["data/broken", "data/feed", "data/list/1?sort=name", "data/other"], "{answers}");
    // 2 MB, and one that was sent for.
    assert_eq!((&answers["saved"], &answers["left_out"]), (&json!(4), &json!(2)), "{answers}");
    assert!(Saved::by(&run).markdown.contains("# Stations"));
    let file = |path: &str| {
        let documents = answers["documents"].as_array().unwrap().iter();
        let found = documents.clone().find(|one| one["url"].as_str().unwrap().contains(path)).unwrap();
        Saved::read(std::path::Path::new(found["file_path"].as_str().unwrap()))
    };
    let list = file("/data/list/1");
    let block = "```json\n{\n  \"page\": 1,\n  \"stations\": [\n    \"Brest 1\",\n    \"Köln 1\"\n  ],\n  \"level\": 1.50\n}\n```\n";
    assert_eq!(list.markdown, block);
    assert_eq!(list.field("source_url"), visitor.site.url("/data/list/1?sort=name"));
    assert_eq!(file("/data/broken").markdown, "```json\n{\"a\":\n```\n");
    let listed: Vec<Value> = visitor.documents().iter().map(|document| document["url"].clone()).collect();
    assert_eq!(listed.len(), 5, "{listed:?}");
    assert!(listed.contains(&json!(visitor.site.url("/data/feed"))), "{listed:?}");

    // What comes on a click, of the page that is open; the pattern chooses.
    let run = visitor.extract_open().args(["--expand", "--json-responses", r"/list/[0-9]\?"]).run();
    let answers = &run.answer()["json_responses"];
    let wanted = ["data/list/1?sort=name", "data/list/2?sort=name", "data/list/3?sort=name"];
    assert_eq!((paths(answers), &answers["left_out"]), (wanted.map(str::to_owned).to_vec(), &json!(0)), "{answers}");
    // A refresh asks for an answer by its address, and finds the same.
    let url = visitor.site.url("/data/stations");
    let page = visitor.project.tool("browser-extract").args(["--url", &url, "--kb-root", "base"]).args(ALL);
    assert_eq!(page.run().answer()["json_responses"]["saved"], 4);
    let refresh = visitor.project.tool("refresh-knowledge-base").args(["--kb-root", "base", "--allow-private"]).run();
    assert_eq!(refresh.answer()["counts"]["unchanged"], 5, "{}", refresh.answer());
    // Without the option, nothing of it.
    assert!(visitor.extract("/data/stations").run().answer()["json_responses"].is_null());
}

#[test]
fn json_answers_are_bounded_and_restricted_as_pages_are() {
    let visitor = Visitor::with_browser();
    let run = visitor.extract("/data/many").args(ALL).run();
    let answers = &run.answer()["json_responses"];
    assert_eq!((&answers["saved"], &answers["left_out"]), (&json!(50), &json!(10)), "{answers}");
    assert!(answers["documents"].as_array().unwrap().len() == 20 && visitor.documents().len() == 51);
    let run = visitor.extract("/data/stations").args(ALL).args(["--allow-domain", "127.0.0.1"]).run();
    let answers = &run.answer()["json_responses"];
    assert!(!paths(answers).contains(&"data/other".to_owned()), "{answers}");
    assert_eq!(answers["left_out"], 3, "{answers}");
    let error = visitor.extract("/data/many").args(["--json-responses", "(", "--reload"]).run();
    assert_eq!(error.error("ARGUMENT_ERROR")["details"]["argument"], "--json-responses");
}

#[test]
fn lists_save_json_answers_as_well() {
    let visitor = Visitor::with_browser();
    let urls = ["/data/stations", "/page/one"].map(|page| visitor.site.url(page));
    let list = || visitor.extract_open().args(["--urls", &urls[0], "--urls", &urls[1]]).args(ALL);
    let answer = list().run().answer().clone();
    assert_eq!((&answer["counts"]["added"], &answer["json_saved"]), (&json!(2), &json!(4)), "{answer}");
    assert_eq!(visitor.documents().len(), 6);
    let output = list().args(["--jsonl", "--reload"]).run_raw();
    let lines = String::from_utf8(output.stdout).unwrap();
    let records: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |url: &str| records.iter().find(|record| record["requested_url"] == url).unwrap();
    assert_eq!(of(&urls[0])["json_responses"]["saved"], 4, "{lines}");
    assert_eq!(of(&urls[1])["json_responses"], json!({"saved": 0, "documents": [], "left_out": 0}), "{lines}");
}
