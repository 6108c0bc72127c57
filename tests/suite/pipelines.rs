//! The tools in shell pipelines.

#![cfg(unix)]

use std::process::Command;

use ragmaker_tests::{
    run::executable,
    visitor::{Saved, Visitor},
};

/// A shell with the tools on its PATH, that fails where any part of a pipeline does.
fn shell(visitor: &Visitor, script: &str) -> String {
    let jq = Command::new("jq").arg("--version").output();
    assert!(jq.is_ok(), "jq is not on this machine: install the package jq");
    let tools = executable("ragmaker-browser-navigate");
    let path = std::env::join_paths(
        std::iter::once(tools.parent().unwrap().to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let output = Command::new("sh")
        .args(["-c", script])
        .current_dir(visitor.project.path())
        .env("RAGMAKER_PROJECT_ROOT", visitor.project.path())
        .env("PATH", path.unwrap())
        .env("SITE", visitor.site.url(""))
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}\n{stderr}\n{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stdout).unwrap()
}

/// The links of a page, the first of them saved, four at a time.
const GATHER: &str = "ragmaker-browser-navigate --url $SITE/links/50 --timeout 60 |
    jq -r '.links[].href' |
    head -5 |
    xargs -P 4 -I{} ragmaker-browser-extract --url {} --output-dir saved --kb-root kb --timeout 90";

fn gathered(visitor: &Visitor) {
    let mut titles: Vec<_> = visitor.saved().iter().map(|file| Saved::read(file).field("title").to_owned()).collect();
    titles.sort();
    assert_eq!(titles, ["1", "2", "3", "4", "5"]);
    assert_eq!(visitor.documents().len(), 5);
}

#[test]
fn links_are_gathered_by_a_pipeline_over_an_open_browser() {
    let visitor = Visitor::with_browser();
    let answers = shell(&visitor, GATHER);
    assert_eq!(answers.matches("\"success\"").count(), 5, "{answers}");
    gathered(&visitor);
}

#[test]
fn links_are_gathered_by_a_pipeline_without_an_open_browser() {
    let visitor = Visitor::new();
    shell(&visitor, GATHER);
    gathered(&visitor);
    assert!(visitor.project.left_running(std::time::Duration::from_secs(20)).is_empty());
}

#[test]
fn a_list_is_paged_by_what_each_answer_says_comes_next() {
    let visitor = Visitor::with_browser();
    let script = "offset=0
        while [ \"$offset\" != null ]; do
            ragmaker-browser-navigate --url $SITE/links/1500 --offset $offset --timeout 60 > page.json
            jq -r '.links[].href' page.json
            offset=$(jq .next.offset page.json)
        done";
    let hrefs = shell(&visitor, script);
    let expected: String = (1..=1500).map(|n| visitor.site.url(&format!("/page/{n}")) + "\n").collect();
    assert!(hrefs == expected, "{} lines", hrefs.lines().count());
}

#[test]
fn a_catalog_is_plain_json_to_its_readers() {
    let visitor = Visitor::with_browser();
    visitor.save("/page/日本");
    visitor.save("/page/two");
    let titles = shell(&visitor, "jq -r '.documents[] | [.title, .url] | @tsv' kb/cache/catalog.json");
    let expected = ["日本", "two"].map(|title| {
        let url = visitor.site.url(&format!("/page/{title}")).replace("日本", "%E6%97%A5%E6%9C%AC");
        format!("{title}\t{url}\n")
    });
    assert_eq!(titles, expected.concat());
    let first = shell(&visitor, "jq -r '.documents[0].path' kb/cache/catalog.json | (cd kb/cache && xargs head -1)");
    assert_eq!(first, "---\n");
}
