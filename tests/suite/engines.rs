//! Streams of pages within Spark, Ray, datatrove and GNU parallel, by the scripts of docs/pipelines.md as they
//! stand there.
//!
//! `cargo xtask test --engines` installs the engines, the Python ones under `target/engines`, and runs these tests;
//! a plain `cargo test` ignores them.

use std::{
    env, fs,
    path::Path,
    process::{Command, Output},
};

use ragmaker_tests::{
    discovery::workspace,
    run::{Project, executable},
};
use serde_json::{Value, json};

/// How many pages there are.
const PAGES: usize = 1000;

/// Every so many pages, one cannot be converted.
const EVERY: usize = 100;

/// The content of the pages that cannot be converted, and the code of the error.
const POISON: [(&str, &str); 10] = [
    ("\"title\": \"no page\"}", "INVALID_RECORD"),
    ("\"html\": 5}", "INVALID_RECORD"),
    ("\"html\": null}", "INVALID_RECORD"),
    ("\"html_base64\": \"!!!\"}", "INVALID_RECORD"),
    ("\"html_base64\": \"f0VMRgA=\"}", "NOT_TEXT"),
    ("\"html\": \"\"}", "EMPTY_CONTENT"),
    ("\"html\": \"<script>tide()</script>\"}", "EMPTY_CONTENT"),
    ("\"html\": \"50 MB\"}", "INPUT_TOO_LARGE"),
    ("\"html_base64\": \"50 MB\", \"charset\": \"no-such\"}", "INPUT_TOO_LARGE"),
    // No JSON: the line ends within a text.
    ("\"html\": \"<p>", "INVALID_RECORD"),
];

/// The error that the page with this number ends with.
fn poison(number: usize) -> Option<(&'static str, &'static str)> {
    number.is_multiple_of(EVERY).then(|| POISON[number / EVERY - 1])
}

/// The pages, each on a line; their numbers begin with 1.
fn pages() -> String {
    let line = |number: usize| {
        if let Some((rest, _)) = poison(number) {
            return format!("{{\"id\": {number}, {}\n", rest.replace("50 MB", &"AAAA".repeat(50 << 18)));
        }
        // U+2028 ends a line for some readers, and does not here.
        let html = format!(
            "<title>Tide {number}</title><nav><a href=/>Home</a></nav><main><h1>Tide {number}</h1>\
             <p>The tide is the rise and fall of the sea, caused by the pull of the moon\u{2028}and the sun.</p>\
             <p>高潮は <a href=two>twice a day</a>, a little later every day, as the moon moves on.</p></main>"
        );
        format!("{}\n", json!({"id": number, "url": format!("https://x.example/{number}/"), "html": html}))
    };
    (1..=PAGES).map(line).collect()
}

/// The `index`-th block of code of a section of docs/pipelines.md.
fn block(section: &str, index: usize) -> String {
    let document = fs::read_to_string(workspace().join("docs/pipelines.md")).unwrap();
    let (_, section) = document.split_once(&format!("\n## {section}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let block = section.split("\n```").skip(1).step_by(2).nth(index).unwrap();
    block.split_once('\n').unwrap().1.to_owned() + "\n"
}

/// Runs a program in the project, where the executables and the environment of Python are on its PATH.
fn run(project: &Project, program: &str, script: &str) -> Output {
    let tool = executable("ragmaker-html-to-markdown");
    let python = workspace().join("target/engines/bin");
    let folders = [tool.parent().unwrap().to_owned(), python];
    let path = env::join_paths(folders.into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap())));
    let path = path.unwrap();
    let output = Command::new("env")
        .arg(program)
        .args(["-c", script])
        .current_dir(project.path())
        .env("PATH", path)
        .envs([("SPARK_LOCAL_IP", "127.0.0.1"), ("RAY_USAGE_STATS_ENABLED", "0"), ("HF_HUB_OFFLINE", "1")])
        .env("RAY_TMPDIR", project.path())
        .output();
    output.unwrap_or_else(|error| panic!("{program}: {error}; run `cargo xtask test --engines`"))
}

/// The output of the script, which must succeed.
fn printed(project: &Project, program: &str, script: &str) -> String {
    let output = run(project, program, script);
    assert!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn records(text: &str) -> Vec<Value> {
    text.split_terminator('\n').map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The records of the files in a folder, in the order of their names.
fn records_in(folder: &Path) -> Vec<Value> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| !file.file_name().unwrap().to_str().unwrap().starts_with(['.', '_']));
    files.sort();
    files.iter().flat_map(|file| records(&fs::read_to_string(file).unwrap())).collect()
}

/// Every page has its record, in the order of the pages, and those that cannot be converted have their error.
fn all_came_out(records: &[Value]) {
    let numbers: Vec<usize> = records.iter().filter_map(|record| record["id"].as_u64()).map(|id| id as usize).collect();
    assert_eq!(numbers, (1..=PAGES).collect::<Vec<_>>());
    for (record, number) in records.iter().zip(1..) {
        match poison(number) {
            Some((_, code)) => assert_eq!(record["error"]["error_code"], code, "{record}"),
            None => converted(record, number),
        }
    }
    assert_eq!(records.iter().filter(|record| record.get("error").is_some()).count(), POISON.len());
}

fn converted(record: &Value, number: usize) {
    let text = record["text"].as_str().unwrap_or_else(|| panic!("{record}"));
    assert!(text.starts_with(&format!("# Tide {number}\n")) && !text.contains("Home"), "{record}");
    assert!(text.contains(&format!("高潮は [twice a day](https://x.example/{number}/two)")), "{record}");
}

#[test]
#[ignore = "needs GNU parallel, which `cargo xtask test --engines` installs"]
fn parallel_runs_it_for_each_core() {
    let project = Project::new();
    project.write("pages.jsonl", pages());
    printed(&project, "sh", &block("In a shell", 1));
    all_came_out(&records(&fs::read_to_string(project.path().join("documents.jsonl")).unwrap()));
}

#[test]
#[ignore = "needs Spark, which `cargo xtask test --engines` installs"]
fn spark_pipes_through_it() {
    let project = Project::new();
    project.write("pages.jsonl", pages());
    let script = block("Spark", 0);
    printed(&project, "python", &script);
    all_came_out(&records_in(&project.path().join("documents")));
    // A stream that is given up fails the job.
    let strict = script.replace("--jsonl", "--jsonl --max-failures 1").replace("\"documents\"", "\"strict\"");
    let output = run(&project, "python", &strict);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("TOO_MANY_FAILURES"), "{said}");
}

#[test]
#[ignore = "needs Ray, which `cargo xtask test --engines` installs"]
fn ray_maps_batches_through_it() {
    let project = Project::new();
    project.write("pages.jsonl", pages());
    printed(&project, "python", &block("Ray", 0));
    all_came_out(&records(&fs::read_to_string(project.path().join("documents.jsonl")).unwrap()));
}

#[test]
#[ignore = "needs datatrove, which `cargo xtask test --engines` installs"]
fn datatrove_reads_its_records() {
    let project = Project::new();
    project.write("pages.jsonl", pages());
    fs::create_dir(project.path().join("records")).unwrap();
    printed(&project, "sh", "ragmaker-html-to-markdown --jsonl < pages.jsonl > records/all.jsonl");
    let read = printed(&project, "python", &block("datatrove", 0));
    let expected = (1..=PAGES).filter(|number| poison(*number).is_none());
    let starts: Vec<String> = expected.map(|number| format!("{number} Tide {number} ")).collect();
    assert_eq!(read.lines().count(), starts.len(), "{read}");
    for (line, start) in read.lines().zip(starts) {
        assert!(line.starts_with(&start), "{line}");
    }
}

#[test]
#[ignore = "needs datatrove, which `cargo xtask test --engines` installs"]
fn datatrove_has_it_as_a_step() {
    let project = Project::new();
    // Its reader skips invalid JSON before any step sees it.
    let (no_json, code) = POISON[POISON.len() - 1];
    project.write("pages/all.jsonl", pages().replace(&format!("{no_json}\n"), "\"html\": []}\n"));
    printed(&project, "python", &block("datatrove", 1));
    let [documents, failed] = ["documents", "failed"].map(|name| records_in(&project.path().join(name)));
    let numbers = |records: &[Value]| -> Vec<usize> {
        records.iter().map(|record| record["id"].as_u64().unwrap() as usize).collect()
    };
    let (poisoned, good): (Vec<usize>, Vec<usize>) = (1..=PAGES).partition(|number| poison(*number).is_some());
    assert_eq!((numbers(&documents), numbers(&failed)), (good, poisoned));
    for (record, number) in documents.iter().zip(numbers(&documents)) {
        converted(record, number);
    }
    for (record, (_, expected)) in failed.iter().zip(POISON) {
        assert_eq!(record["metadata"]["error"]["error_code"], expected, "{record}");
    }
    assert_eq!(failed[failed.len() - 1]["metadata"]["error"]["error_code"], code);
}

#[test]
#[ignore = "needs the wheel, which `cargo xtask test --engines` installs"]
fn the_wheel_takes_the_calls_of_trafilatura() {
    let test = workspace().join("shared/markdown/python/tests/test_extract.py");
    let page = workspace().join("shared/markdown/fuzz/seeds/page.html");
    let output = Command::new(workspace().join("target/engines/bin/python")).arg(test).arg(page).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("3 pages"));
}
