//! Many processes search a knowledge base while others add documents to it and are killed.

use std::{
    fs,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use ragmaker_catalog::{Catalog, Entry};
use ragmaker_testkit::Tree;
use serde_json::{Value, json};

const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-search-knowledge-base");
const SEARCHING: usize = 50;
const ADDING: usize = 4;
/// The number of documents that each writer adds.
const ADDED: usize = 15;

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

#[test]
fn nobody_is_disturbed_by_writers_and_kills() {
    let tree = Tree::new(TOOL);
    tree.write("kb/cache/first.md", "# First\n\nThe moon pulls the sea.\n");
    let listed = json!({"documents": [{"url": "https://x.example/", "title": "First", "path": "first.md"}]});
    tree.write("kb/cache/catalog.json", listed.to_string());
    let (writing, searches) = (AtomicBool::new(true), AtomicUsize::new(0));
    let search = |word: &str| {
        let output = tree.command(&["--query", word, "--kb-root", "kb", "--limit", "5"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    thread::scope(|scope| {
        let writers: Vec<_> = (0..ADDING)
            .map(|writer| {
                let tree = &tree;
                scope.spawn(move || {
                    let catalog = Catalog::at(tree.root.join("kb/cache/catalog.json")).unwrap();
                    for n in 0..ADDED {
                        let name = format!("w{writer}-{n}.md");
                        let text = format!("# Page {n}\n\nThe moon and writer{writer}number{n} pull.\n");
                        let file = tree.write(&format!("kb/cache/{name}"), text);
                        catalog.record(&Entry::new(format!("https://x.example/{name}"), name, file)).unwrap();
                    }
                })
            })
            .collect();
        for _ in 0..SEARCHING {
            scope.spawn(|| {
                while writing.load(Ordering::Relaxed) {
                    check(&search("moon"), "moon");
                    searches.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        // Those who are killed, at any moment of their work.
        scope.spawn(|| {
            let mut pause = 0;
            while writing.load(Ordering::Relaxed) {
                let mut command: Command = tree.command(&["--query", "moon", "--kb-root", "kb"]);
                let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
                pause = (pause + 1) % 8;
                thread::sleep(Duration::from_millis(pause));
                let _ = child.kill();
                let _ = child.wait();
            }
        });
        let until = Instant::now() + Duration::from_mins(2);
        for writer in writers {
            writer.join().unwrap();
        }
        assert!(Instant::now() < until);
        writing.store(false, Ordering::Relaxed);
    });
    assert!(searches.load(Ordering::Relaxed) >= SEARCHING);
    // What was acknowledged is found, every one, and nothing was left behind.
    for writer in 0..ADDING {
        for n in [0, ADDED / 2, ADDED - 1] {
            let word = format!("writer{writer}number{n}");
            let answer = search(&word);
            assert_eq!(answer["total"], 1, "{word}");
            check(&answer, &word);
        }
    }
    assert_eq!(search("moon")["total"], 1 + ADDING * ADDED);
}
