//! Folders as sources of a knowledge base: saved, described, refreshed, searched and verified by the executables.

use std::fs;

use ragmaker_tests::run::Project;
use serde_json::{Value, json};

/// Runs a tool on the knowledge base `kb`, which has to succeed.
fn call(project: &Project, tool: &str, arguments: &[&str]) -> Value {
    project.tool(tool).args(arguments).args(["--kb-root", "kb"]).run().answer().clone()
}

#[test]
fn a_summary_of_an_older_text_is_marked_until_there_is_a_new_one() {
    let project = Project::new();
    project.write("docs/gauges.md", "# Gauges\n\nA float gauge reads the tide.\n");
    project.write("docs/moon.md", "# Moon\n\nThe moon raises the tide.\n");
    let synced = call(&project, "file-sync", &["--source-dir", "docs"]);
    assert_eq!(synced["counts"]["added"], 2);
    let catalog = project.path().join("kb/cache/catalog.json");
    let listed: Value = serde_json::from_slice(&fs::read(&catalog).unwrap()).unwrap();
    let describe = |summary: &str| {
        let updates: Vec<Value> = listed["documents"]
            .as_array()
            .unwrap()
            .iter()
            .map(|document| json!({"path": document["path"], "summary": summary}))
            .collect();
        call(&project, "enrich-discovery", &["--updates", &json!(updates).to_string()]);
    };
    let stale = || -> Vec<(String, bool)> {
        let found = call(&project, "search-knowledge-base", &["--query", "tide"]);
        let hit = |hit: &Value| (hit["title"].as_str().unwrap().to_owned(), hit["stale"].as_bool().unwrap());
        let mut hits: Vec<_> = found["hits"].as_array().unwrap().iter().map(hit).collect();
        hits.sort();
        hits
    };
    let marks = |gauges: bool| vec![("Gauges".to_owned(), gauges), ("Moon".to_owned(), false)];
    describe("of the tide");
    assert_eq!(stale(), marks(false));

    project.write("docs/gauges.md", "# Gauges\n\nA radar gauge reads the tide from above.\n");
    let refreshed = call(&project, "refresh-knowledge-base", &[]);
    assert_eq!((&refreshed["counts"]["changed"], &refreshed["stale_summaries"]), (&json!(1), &json!(1)));
    assert_eq!(stale(), marks(true));
    // It stays so while nothing changes, and ends with a new summary.
    assert_eq!(call(&project, "refresh-knowledge-base", &[])["counts"]["unchanged"], 2);
    assert_eq!(stale(), marks(true));
    describe("of radar and the moon");
    assert_eq!(stale(), marks(false));
    assert_eq!(call(&project, "refresh-knowledge-base", &[])["stale_summaries"], 0);
}

#[test]
fn a_synced_knowledge_base_stays_valid_after_deletions() {
    let project = Project::new();
    for number in 0..3 {
        project.write(&format!("docs/{number}.rst"), format!("Station {number}\n=========\n\nIt reads the tide.\n"));
    }
    call(&project, "file-sync", &["--source-dir", "docs"]);
    call(&project, "entry-discovery", &["--title", "Stations", "--summary", "of the tide", "--src-type", "local"]);
    assert_eq!(call(&project, "verify", &[])["documents"], 3);
    fs::remove_file(project.path().join("docs/1.rst")).unwrap();
    assert_eq!(call(&project, "refresh-knowledge-base", &[])["counts"]["gone"], 1);
    let verified = project.tool("verify").args(["--kb-root", "kb"]).run();
    assert_eq!(verified.answer()["documents"], 2);
    let found = call(&project, "search-knowledge-base", &["--query", "station"]);
    assert_eq!(found["hits"].as_array().unwrap().len(), 2);
}
