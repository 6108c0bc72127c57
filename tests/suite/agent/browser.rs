//! End to end: the agent reads a site in the real browser and writes a note with sources.

use ragmaker_tests::visitor::Visitor;

use super::*;

#[test]
fn a_note_with_sources_is_written_from_a_site() {
    let visitor = Visitor::new();
    let (from, page) = (visitor.site.url("/wiki/"), visitor.site.url("/wiki/tides"));
    let tides = page.clone();
    let endpoint = Scripted::with_script(move |got| {
        let results = results(&got.body);
        let last: Value = results.last().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let call = |name: &str, arguments: Value| says(WireFormat::OpenAi, "", &[("", name, &arguments.to_string())]);
        match answers(&got.body) {
            0 => call("browser_navigate", json!({"url": from, "same_site": true})),
            1 => {
                let links = last["links"].as_array().unwrap();
                assert!(links.iter().any(|link| link["href"] == *tides), "{last}");
                call("browser_extract", json!({"url": tides, "output_dir": "kb", "kb_root": "kb"}))
            }
            2 => call("read_file", json!({"path": last["file_path"]})),
            3 => {
                assert!(last["notice"].is_string(), "text from the web is marked: {last}");
                let text = last["content"].as_str().unwrap();
                let said = text.lines().find(|line| line.len() > 60 && !line.contains("://")).unwrap();
                let note = format!("# Tides\n\n{said}\n\nSource: {tides}\n");
                call("write_file", json!({"path": "notes/tides.md", "content": note}))
            }
            4 => call("browser_close", json!({})),
            5 => call("think", json!({"reflection": "The note has what the page says, and its address."})),
            _ => says(WireFormat::OpenAi, &format!("notes/tides.md says what {tides} says."), &[]),
        }
    });
    let request = "Gather what the sample site says about tides and write notes/tides.md with sources.";
    let run = agent(&visitor.project, &endpoint, WireFormat::OpenAi)
        .args([request, "--approve", "all", "--output", "json"])
        .run();
    let answer = run.answer();
    let failed: Vec<_> =
        answer["tool_calls"].as_array().unwrap().iter().filter(|call| !call["error_code"].is_null()).collect();
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!(answer["citations"], json!([{"url": page, "found": true}]));
    let note = std::fs::read_to_string(visitor.project.path().join("notes/tides.md")).unwrap();
    let saved = std::fs::read_dir(visitor.project.path().join("kb")).unwrap().flatten().map(|entry| entry.path());
    let saved = saved.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let saved = std::fs::read_to_string(saved.last().unwrap()).unwrap();
    let quoted = note.lines().nth(2).unwrap();
    assert!(note.contains(&page) && saved.contains(quoted), "{note}");
    assert_eq!(visitor.project.left_running(std::time::Duration::from_secs(20)).len(), 0);
}
