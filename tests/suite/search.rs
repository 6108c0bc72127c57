//! Ranked search while the knowledge base changes: many processes search it, others add documents, and all of them may
//! be killed.

use std::{
    collections::BTreeSet,
    fs,
    process::{Child, Stdio},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use ragmaker_tests::run::Project;
use serde_json::Value;

const SEARCHING: usize = 50;
const ADDING: usize = 4;
/// The number of documents of each adder; every third run is killed.
const RUNS: usize = 16;

fn spawn(project: &Project, tool: &str, arguments: &[&str]) -> Child {
    let mut command = project.tool(tool).args(arguments).args(["--kb-root", "kb"]).into_command();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn search(project: &Project, word: &str, limit: &str) -> Value {
    let output =
        spawn(project, "search-knowledge-base", &["--query", word, "--limit", limit]).wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Checks that every hit is verbatim at its lines of a file that has the word.
fn check(answer: &Value, word: &str) {
    for hit in answer["hits"].as_array().unwrap() {
        let text = fs::read_to_string(hit["path"].as_str().unwrap()).unwrap();
        let line = |name: &str| hit[name].as_u64().unwrap() as usize;
        let lines: Vec<&str> = text.lines().collect();
        let stands = lines[line("start_line") - 1..line("end_line")].join("\n");
        assert_eq!(hit["text"], stands);
        assert!(stands.to_lowercase().contains(word), "{hit}");
    }
}

fn text(word: &str) -> String {
    format!("The moon and {word} pull the water of the sea twice a day.")
}

fn adding(project: &Project, name: &str, text: &str) -> Child {
    project.write(&format!("{name}.html"), format!("<html><body><h1>{name}</h1><p>{text}</p></body></html>"));
    let url = format!("https://x.example/{name}");
    spawn(project, "html-to-markdown", &["--path", &format!("{name}.html"), "--base-url", &url, "--whole"])
}

/// Adds a document to the knowledge base.
fn save(project: &Project, name: &str, text: &str) {
    let output = adding(project, name, text).wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn kill_after(mut child: Child, pause: Duration) {
    thread::sleep(pause);
    let _ = child.kill();
    let _ = child.wait();
}

#[test]
fn concurrent_search_and_writes_survive_kills() {
    let project = Project::new();
    save(&project, "first", "The moon pulls the sea.");
    let (changing, searches) = (AtomicBool::new(true), AtomicUsize::new(0));
    let until = Instant::now() + Duration::from_mins(4);
    thread::scope(|scope| {
        let project = &project;
        let adders: Vec<_> = (0..ADDING)
            .map(|adder| {
                scope.spawn(move || {
                    let mut known = vec![];
                    for run in 0..RUNS {
                        let word = format!("adder{adder}run{run}");
                        if run % 3 == 2 {
                            kill_after(adding(project, &word, &text(&word)), Duration::from_millis((run * 3) as u64));
                            continue;
                        }
                        save(project, &word, &text(&word));
                        known.push(word);
                        // What was acknowledged is found at once.
                        for word in &known {
                            let answer = search(project, word, "5");
                            assert_eq!(answer["total"], 1, "{word}");
                            check(&answer, word);
                        }
                    }
                })
            })
            .collect();
        let (changing, searches) = (&changing, &searches);
        for _ in 0..SEARCHING {
            scope.spawn(move || {
                while changing.load(Ordering::Relaxed) && Instant::now() < until {
                    check(&search(project, "moon", "5"), "moon");
                    searches.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        scope.spawn(move || {
            let mut pause = 0;
            while changing.load(Ordering::Relaxed) && Instant::now() < until {
                pause = (pause + 1) % 8;
                kill_after(spawn(project, "search-knowledge-base", &["--query", "moon"]), Duration::from_millis(pause));
            }
        });
        let ended: Vec<_> = adders.into_iter().map(thread::ScopedJoinHandle::join).collect();
        changing.store(false, Ordering::Relaxed);
        assert!(ended.iter().all(Result::is_ok));
    });
    assert!(Instant::now() < until && searches.load(Ordering::Relaxed) >= SEARCHING);
    // What killed runs did not save is saved, and what they saved is not there twice.
    for word in (0..ADDING).flat_map(|adder| (0..RUNS).map(move |run| format!("adder{adder}run{run}"))) {
        save(&project, &word, &text(&word));
    }
    let answer = search(&project, "moon", "200");
    check(&answer, "moon");
    let hits = answer["hits"].as_array().unwrap();
    let paths: BTreeSet<&str> = hits.iter().map(|hit| hit["path"].as_str().unwrap()).collect();
    assert_eq!((hits.len(), paths.len()), (1 + ADDING * RUNS, 1 + ADDING * RUNS));
}
