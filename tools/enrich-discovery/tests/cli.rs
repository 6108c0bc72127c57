//! `ragmaker-enrich-discovery` from outside.

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};

/// A knowledge base `kb` with two documents, one of which the catalog lists.
fn knowledge_base() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let documents = folder.path().join("kb/cache/documents");
    fs::create_dir_all(&documents).unwrap();
    for name in ["a", "b"] {
        let text = format!("---\ntitle: \"{name}\"\nsource_url: \"https://x.example/{name}\"\n---\n\n# {name}\n");
        fs::write(documents.join(format!("{name}.md")), text).unwrap();
    }
    let catalog = json!({"title": "T", "documents": [{"url": "https://x.example/a", "title": "a", "path": "documents/a.md", "k": 1}]});
    fs::write(folder.path().join("kb/cache/catalog.json"), format!("{catalog:#}\n")).unwrap();
    folder
}

fn run(folder: &Path, updates: &str, stdin: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ragmaker-enrich-discovery"));
    command.args(["--kb-root", "kb", "--updates", updates]).current_dir(folder).env_remove("RAGMAKER_PROJECT_ROOT");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn answer(folder: &Path, updates: &str, stdin: &str) -> Value {
    let output = run(folder, updates, stdin);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refusal(folder: &Path, updates: &str) -> Value {
    let output = run(folder, updates, "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    serde_json::from_slice(&output.stderr).unwrap()
}

fn documents(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("kb/cache/catalog.json")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["documents"].take()
}

#[test]
fn updates_come_as_text_from_a_file_or_from_standard_input() {
    let folder = knowledge_base();
    let update = |summary: &str| json!([{"path": "kb/cache/documents/a.md", "summary": summary}]).to_string();
    fs::write(folder.path().join("updates.json"), update("from a file")).unwrap();
    for (argument, stdin, summary) in [
        (update("as text").as_str(), "", "as text"),
        ("@updates.json", "", "from a file"),
        ("-", update("from standard input").as_str(), "from standard input"),
    ] {
        let answer = answer(folder.path(), argument, stdin);
        assert_eq!(answer["updated_paths"], json!(["documents/a.md"]));
        let expected =
            json!([{"url": "https://x.example/a", "title": "a", "path": "documents/a.md", "k": 1, "summary": summary}]);
        assert_eq!(documents(folder.path()), expected);
    }
}

#[test]
fn updates_may_stand_as_they_are_among_arguments_in_json() {
    let folder = knowledge_base();
    let arguments = json!({"kb_root": "kb", "updates": [{"url": "https://x.example/a", "title": "A"}]});
    let mut command = Command::new(env!("CARGO_BIN_EXE_ragmaker-enrich-discovery"));
    let output = command.args(["--arguments", &arguments.to_string()]).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(documents(folder.path())[0]["title"], "A");
}

#[test]
fn each_name_ends_in_one_of_three_lists() {
    let folder = knowledge_base();
    fs::write(folder.path().join("outside.md"), "---\nsource_url: https://x.example/o\n---\n").unwrap();
    fs::write(folder.path().join("kb/note.md"), "no page\n").unwrap();
    let updates = json!([
        {"url": "https://x.example/a", "title": "A"},
        {"path": "documents/b.md", "summary": "B."},
        {"path": "../../outside.md", "title": "outside the knowledge base"},
        {"path": "kb/note.md", "title": "no saved page"},
        {"url": "https://x.example/none", "title": "nowhere"},
    ]);
    let answer = answer(folder.path(), &updates.to_string(), "");
    assert_eq!(answer["updated_paths"], json!(["documents/a.md"]));
    assert_eq!(answer["added_paths"], json!(["documents/b.md"]));
    assert_eq!(answer["unmatched"], json!(["../../outside.md", "kb/note.md", "https://x.example/none"]));
    assert_eq!((&answer["updated"], &answer["added"], &answer["truncated"]), (&json!(1), &json!(1), &json!(false)));
    let added = json!({"url": "https://x.example/b", "title": "b", "path": "documents/b.md", "summary": "B."});
    assert_eq!(documents(folder.path())[1], added);
}

#[test]
fn a_saved_page_is_found_by_the_url_of_its_front_matter() {
    let folder = knowledge_base();
    let write = |name: &str, url: &str| {
        let text = format!("---\nsource_url: \"{url}\"\ntitle: \"{name}\"\n---\n\n# {name}\n");
        let file = folder.path().join("kb").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    // Listed without a URL, with an older one, not at all, beside a listed file outside the cache, and
    // where no document belongs.
    write("cache/documents/bare.md", "https://x.example/bare");
    write("cache/documents/moved.md", "https://x.example/moved");
    write("cache/documents/deep/new.MD", "https://x.example/new");
    write("pages/listed.md", "https://x.example/listed");
    write("pages/beside.md", "https://x.example/beside");
    write("cache/.hidden/page.md", "https://x.example/hidden");
    write("notes/page.md", "https://x.example/notes");
    let listed = json!([
        {"title": "bare", "path": "documents/bare.md"},
        {"url": "https://x.example/old", "title": "moved", "path": "documents/moved.md"},
        {"url": "https://x.example/listed", "title": "listed", "path": "../pages/listed.md"},
    ]);
    fs::write(folder.path().join("kb/cache/catalog.json"), json!({"documents": listed}).to_string()).unwrap();
    let names = ["bare", "moved", "new", "listed", "beside", "hidden", "notes"];
    let updates: Vec<Value> =
        names.iter().map(|name| json!({"url": format!("https://x.example/{name}"), "summary": name})).collect();
    let answer = answer(folder.path(), &Value::from(updates).to_string(), "");
    let known = ["documents/bare.md", "documents/moved.md", "../pages/listed.md"];
    assert_eq!(answer["updated_paths"], json!(known));
    assert_eq!(answer["added_paths"], json!(["documents/deep/new.MD", "../pages/beside.md"]));
    assert_eq!(answer["unmatched"], json!(["https://x.example/hidden", "https://x.example/notes"]));
    let documents = documents(folder.path());
    assert_eq!(documents[0], json!({"title": "bare", "path": "documents/bare.md", "summary": "bare"}));
    assert_eq!((&documents[1]["url"], &documents[1]["summary"]), (&json!("https://x.example/old"), &json!("moved")));
    let added = json!({"url": "https://x.example/new", "title": "cache/documents/deep/new.MD", "path": "documents/deep/new.MD", "summary": "new"});
    assert_eq!(documents[3], added);
}

#[test]
fn nothing_done_is_no_success_and_changes_nothing() {
    let folder = knowledge_base();
    let file = folder.path().join("kb/cache/catalog.json");
    let before = fs::read(&file).unwrap();
    for (updates, code) in [
        (r#"[{"path": "none.md", "title": "x"}]"#, "NO_DOCUMENT_MATCHED"),
        ("@none.json", "UPDATES_NOT_READABLE"),
        ("@kb", "UPDATES_NOT_READABLE"),
        ("[{}]", "ARGUMENT_ERROR"),
    ] {
        assert_eq!(refusal(folder.path(), updates)["error_code"], code, "{updates}");
    }
    assert_eq!(fs::read(&file).unwrap(), before);
    fs::write(&file, "{}").unwrap();
    assert_eq!(refusal(folder.path(), r#"[{"path": "a", "title": "x"}]"#)["error_code"], "CATALOG_CORRUPT");
    fs::remove_dir_all(folder.path().join("kb")).unwrap();
    assert_eq!(refusal(folder.path(), r#"[{"path": "a", "title": "x"}]"#)["error_code"], "CATALOG_NOT_FOUND");
    assert!(!folder.path().join("kb").exists());
}

#[test]
fn thousands_of_updates_are_one_step_and_a_bounded_answer() {
    let folder = knowledge_base();
    let listed: Vec<Value> = (0..5000)
        .map(|n| json!({"url": format!("https://x.example/{n}"), "path": format!("documents/{n}.md")}))
        .collect();
    fs::write(folder.path().join("kb/cache/catalog.json"), json!({"documents": listed}).to_string()).unwrap();
    let updates: Vec<Value> = (0..5000)
        .flat_map(|n| {
            [
                json!({"url": format!("https://x.example/{n}"), "summary": format!("s{n}")}),
                json!({"path": format!("none{n}\u{7}"), "title": "t"}),
            ]
        })
        .collect();
    let output = run(folder.path(), "-", &Value::from(updates).to_string());
    assert!(output.stdout.len() < 29_000 && output.status.success(), "{}", output.stdout.len());
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["updated"], &answer["truncated"]), (&json!(5000), &json!(true)));
    assert_eq!(documents(folder.path())[4999]["summary"], "s4999");
}
