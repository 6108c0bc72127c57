//! `ragmaker-verify` from outside.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use serde_json::{Value, json};

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ragmaker-verify"));
    command.args(arguments).current_dir(folder).env_remove("RAGMAKER_PROJECT_ROOT").output().unwrap()
}

fn answer(folder: &Path) -> Value {
    let output = run(folder, &["--kb-root", "kb"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn error(folder: &Path) -> Value {
    let output = run(folder, &["--kb-root", "kb"]);
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stdout).as_ref()), (Some(1), ""));
    // The contract counts characters, not bytes.
    let characters = String::from_utf8_lossy(&output.stderr).chars().count();
    assert!(characters < 29_000, "{characters}");
    serde_json::from_slice(&output.stderr).unwrap()
}

/// The kinds and paths of what is wrong, in order; every finding says what to do.
fn findings(folder: &Path) -> Vec<(String, String)> {
    let error = error(folder);
    assert_eq!(error["error_code"], "VERIFICATION_FAILED", "{error}");
    let findings = error["details"]["findings"].as_array().unwrap();
    assert_eq!(error["details"]["total"], findings.len());
    assert!(findings.iter().all(|one| one["remedy"].as_str().is_some_and(|remedy| remedy.len() > 20)), "{error}");
    let text = |one: &Value, name: &str| one[name].as_str().unwrap_or_default().to_owned();
    findings.iter().map(|one| (text(one, "kind"), text(one, "path"))).collect()
}

fn found(folder: &Path) -> Vec<String> {
    findings(folder).into_iter().map(|(kind, path)| format!("{kind} {path}").trim_end().to_owned()).collect()
}

fn document(name: &str) -> String {
    format!(
        "---\ntitle: \"{name}\"\nsource_url: \"https://x.example/{name}\"\n---\n\n# {name}\n\nThis is about {name}.\n"
    )
}

fn entry(name: &str) -> Value {
    json!({"url": format!("https://x.example/{name}"), "title": name, "path": format!("documents/{name}.md")})
}

fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>) {
    let path = folder.join("kb/cache").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn catalog(folder: &Path, documents: &[Value]) {
    let text = json!({"title": "T", "summary": "S", "documents": documents}).to_string();
    write(folder, "catalog.json", text);
}

/// A knowledge base with two documents, `a` and `b`, in which all is well.
fn knowledge_base() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        write(folder.path(), &format!("documents/{name}.md"), document(name));
    }
    catalog(folder.path(), &[entry("a"), entry("b")]);
    folder
}

#[test]
fn nothing_is_wrong_and_nothing_is_changed() {
    let folder = knowledge_base();
    let mut summarized = entry("b");
    summarized["summary"] = "B.".into();
    catalog(folder.path(), &[entry("a"), summarized]);
    // What is not the catalog's business: notes beside it, a browser's profile, the lock.
    fs::write(folder.path().join("kb/README.md"), "# Notes\n").unwrap();
    write(folder.path(), "browser_profile/x.md", "x");
    write(folder.path(), "browser_profiles/second/Default/x.md", "x");
    write(folder.path(), ".catalog.json.lock", "");
    let before = fs::read_dir(folder.path().join("kb/cache")).unwrap().count();
    let answer = answer(folder.path());
    assert_eq!((&answer["documents"], &answer["total"]), (&json!(2), &json!(1)));
    assert_eq!((&answer["advice"][0]["path"], &answer["advice"][1]), (&json!("documents/a.md"), &json!(null)));
    assert_eq!(fs::read_dir(folder.path().join("kb/cache")).unwrap().count(), before);
    let by_path = run(folder.path(), &["--catalog-path", "kb/cache/catalog.json"]);
    assert!(by_path.status.success());
}

#[test]
fn a_document_whose_extraction_was_not_sure_is_named_first() {
    let folder = knowledge_base();
    for (name, confidence) in [("a", "0.94"), ("b", "0.31")] {
        let text = document(name).replacen("\n---\n", &format!("\nconfidence: \"{confidence}\"\n---\n"), 1);
        write(folder.path(), &format!("documents/{name}.md"), text);
    }
    let answer = answer(folder.path());
    let advice: Vec<_> = answer["advice"].as_array().unwrap().iter().map(|one| (&one["kind"], &one["path"])).collect();
    let [a, b] = ["documents/a.md", "documents/b.md"].map(Value::from);
    let [doubtful, missing] = ["doubtful_content", "document_summary_missing"].map(Value::from);
    assert_eq!(advice, [(&doubtful, &b), (&missing, &a), (&missing, &b)]);
    assert!(answer["advice"][0]["message"].as_str().unwrap().contains("0.31"), "{answer}");
}

#[test]
fn a_document_of_headings_is_doubtful_and_one_of_code_is_not() {
    let folder = knowledge_base();
    write(folder.path(), "documents/a.md", document("a").replace("This is about a.", "## More"));
    write(folder.path(), "documents/b.md", document("b").replace("This is about b.", "```c\n# define B\n```"));
    let answer = answer(folder.path());
    let advice = answer["advice"].as_array().unwrap();
    let doubtful: Vec<_> = advice.iter().filter(|one| one["kind"] == "doubtful_content").collect();
    assert_eq!((doubtful.len(), &doubtful[0]["path"]), (1, &json!("documents/a.md")), "{answer}");
    assert_eq!(doubtful[0]["message"], "the document has no text except its headings");
}

#[test]
fn a_knowledge_base_that_says_nothing_is_wrong() {
    let folder = knowledge_base();
    write(folder.path(), "catalog.json", "{\"title\": \" \", \"documents\": []}");
    let expected = ["no_documents", "title_missing", "orphan documents/a.md", "orphan documents/b.md"];
    assert_eq!(found(folder.path()), expected);
}

#[test]
fn a_missing_summary_is_advice() {
    let folder = knowledge_base();
    let documents = ["a", "b"].map(|name| {
        let mut entry = entry(name);
        entry["summary"] = "About it.".into();
        entry
    });
    write(folder.path(), "catalog.json", json!({"title": "Tides", "documents": documents}).to_string());
    let answer = answer(folder.path());
    assert_eq!((&answer["total"], &answer["advice"][0]["kind"]), (&json!(1), &json!("summary_missing")), "{answer}");
    assert!(answer["advice"][0]["remedy"].as_str().unwrap().contains("ragmaker-entry-discovery --summary"), "{answer}");
}

#[test]
fn entries_that_lead_nowhere_are_found() {
    let folder = knowledge_base();
    fs::write(folder.path().join("outside.md"), document("outside")).unwrap();
    fs::create_dir(folder.path().join("kb/cache/documents/folder.md")).unwrap();
    let with = |name: &str, path: &str| {
        let mut entry = entry(name);
        entry["path"] = path.into();
        entry
    };
    catalog(
        folder.path(),
        &[
            entry("a"),
            entry("b"),
            with("gone", "documents/gone.md"),
            with("outside", "../../outside.md"),
            with("passwd", "/etc/passwd"),
            with("folder", "documents/folder.md"),
            json!({"url": "https://x.example/none", "title": "none"}),
            json!({"path": "documents/a.md"}),
        ],
    );
    let expected = [
        "file_missing documents/gone.md",
        "path_outside ../../outside.md",
        "path_outside /etc/passwd",
        "not_readable documents/folder.md",
        "path_missing",
        "url_missing documents/a.md",
        "document_title_missing documents/a.md",
        "duplicate_path documents/a.md",
    ];
    assert_eq!(found(folder.path()), expected);
}

#[cfg(unix)]
#[test]
fn links_and_pipes_do_not_mislead() {
    let folder = knowledge_base();
    fs::write(folder.path().join("secret.md"), document("secret")).unwrap();
    let documents = folder.path().join("kb/cache/documents");
    std::os::unix::fs::symlink(folder.path().join("secret.md"), documents.join("secret.md")).unwrap();
    assert!(Command::new("mkfifo").arg(documents.join("pipe.md")).status().unwrap().success());
    catalog(folder.path(), &[entry("a"), entry("b"), entry("secret"), entry("pipe")]);
    assert_eq!(found(folder.path()), ["path_outside documents/secret.md", "not_readable documents/pipe.md"]);
}

#[test]
fn documents_that_are_no_documents_are_found() {
    let folder = knowledge_base();
    let cases = [
        ("bare", "# No front matter\n\nText.\n".to_owned(), "front_matter_invalid"),
        ("open", "---\ntitle: x\n".to_owned(), "front_matter_invalid"),
        ("yaml", document("yaml").replace("\"yaml\"", "a: \"b"), "front_matter_invalid"),
        ("source", document("source").replace("source_url", "source"), "front_matter_invalid"),
        ("other", document("elsewhere"), "source_mismatch"),
        ("empty", document("empty").replace("# empty\n\nThis is about empty.", "---"), "empty_document"),
        ("challenge", document("challenge").replace("\"challenge\"", "\"Just a moment...\""), "challenge_page"),
        ("login", document("login").replace("# login", "# ログイン\n\nメールアドレス\n\nパスワード"), "login_page"),
        ("error", document("error").replace("# error", "# 404 - Page not found"), "error_page"),
    ];
    let mut documents = vec![entry("a"), entry("b")];
    for (name, text, _) in &cases {
        write(folder.path(), &format!("documents/{name}.md"), text);
        documents.push(entry(name));
    }
    write(folder.path(), "documents/latin1.md", b"---\ntitle: \xe9\n---\n");
    documents.push(entry("latin1"));
    catalog(folder.path(), &documents);
    let mut expected: Vec<String> = cases.iter().map(|(name, _, kind)| format!("{kind} documents/{name}.md")).collect();
    expected.push("not_readable documents/latin1.md".to_owned());
    assert_eq!(found(folder.path()), expected);
}

#[test]
fn duplicates_and_unlisted_files_are_found() {
    let folder = knowledge_base();
    write(folder.path(), "documents/copy.md", document("a").replace("https://x.example/a", "https://x.example/copy"));
    write(folder.path(), "documents/deep/stray.MD", document("stray"));
    write(folder.path(), "documents/.ragmaker-x.tmp", "half");
    write(folder.path(), ".catalog.json.tmp", "half");
    let mut again = entry("b");
    again["path"] = "documents/a.md".into();
    catalog(folder.path(), &[entry("a"), entry("b"), entry("copy"), again]);
    let expected = [
        "duplicate_content documents/copy.md",
        "source_mismatch documents/a.md",
        "duplicate_url documents/a.md",
        "duplicate_path documents/a.md",
        "leftover .catalog.json.tmp",
        "leftover documents/.ragmaker-x.tmp",
        "orphan documents/deep/stray.MD",
    ];
    assert_eq!(found(folder.path()), expected);
}

#[test]
fn a_catalog_that_is_none_is_told_as_such() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(error(folder.path())["error_code"], "CATALOG_NOT_FOUND");
    assert!(!folder.path().join("kb").exists());
    write(folder.path(), "catalog.json", "{\"documents\": [");
    assert_eq!(error(folder.path())["error_code"], "CATALOG_CORRUPT");
}

#[test]
fn a_long_list_is_cut_and_counted() {
    let folder = knowledge_base();
    let odd = "\u{7}日本".repeat(2_000);
    let listed: Vec<Value> =
        (0..300).map(|n| json!({"url": format!("{odd}{n}"), "title": "t", "path": format!("{n}{odd}")})).collect();
    catalog(folder.path(), &listed);
    let error = error(folder.path());
    let details = &error["details"];
    assert_eq!((&details["total"], &details["truncated"]), (&json!(302), &json!(true)));
    assert_eq!(details["counts"], json!({"file_missing": 300, "orphan": 2}));
    let text = serde_json::to_string(&details["findings"][0]).unwrap();
    assert!(!details["findings"].as_array().unwrap().is_empty() && text.len() < 4_000, "{text}");
}

#[test]
fn each_finding_stands_on_a_line_of_its_own() {
    let folder = knowledge_base();
    catalog(folder.path(), &[entry("gone"), entry("away")]);
    let output = run(folder.path(), &["--kb-root", "kb"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.lines().filter(|line| line.contains("\"kind\": ")).count(), 4, "{text}");
}

#[test]
fn the_citations_of_an_answer_are_checked_in_place_of_the_knowledge_base() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("kb/cache")).unwrap();
    fs::create_dir(root.join(".ragmaker")).unwrap();
    fs::write(root.join("kb/cache/a.md"), "# Tides\n\nThe moon pulls the sea and the land.\n").unwrap();
    // Neither titles nor front matter: the audit would find much.
    fs::write(root.join("kb/cache/catalog.json"), r#"{"documents": [{"path": "a.md"}]}"#).unwrap();
    let claim = "\"The moon pulls the sea\" [cache/a.md#tides]";
    for (text, verdict) in [(claim.to_owned(), "found"), (claim.replace("moon", "mood"), "not_found")] {
        fs::write(root.join("answer.md"), text).unwrap();
        for arguments in [&["--answer", "answer.md"][..], &["--answer", "answer.md", "--kb-root", "kb"]] {
            let output = run(root, arguments);
            let (json, is_found) =
                (if verdict == "found" { &output.stdout } else { &output.stderr }, verdict == "found");
            let json: Value = serde_json::from_slice(json).unwrap();
            let claims = if is_found { &json["claims"] } else { &json["details"]["claims"] };
            assert_eq!(claims[0]["verdict"], verdict);
            assert!(is_found || json["error_code"] == "CITATION_FAILED");
        }
    }
}
