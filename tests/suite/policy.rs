//! Policy of the host: settings that no model can change, in any form of arguments.

use std::{collections::BTreeMap, fs, path::Path};

use ragmaker_tests::{
    discovery::{Entry, entries},
    mcp::Client,
    run::{Output, Project},
    site::Site,
};
use ragmaker_tool::host;
use serde_json::{Map, Value, json};

/// The keys of all host options.
fn host_options() -> impl Iterator<Item = String> {
    host::ALL.iter().map(|flag| flag.trim_start_matches("--").replace('-', "_"))
}

const SECRET: &str = "the-secret-outside";

/// Arguments that let the tool work.
fn needed(entry: &Entry, url: &str) -> Map<String, Value> {
    let value = |name: &String| match name.as_str() {
        "url" => url.into(),
        "updates" => json!([{"url": url, "summary": "s"}]),
        "output_dir" => "kb".into(),
        _ => "x".into(),
    };
    // What an executable can read from standard input is required here.
    let stdin = ["path", "content", "updates"].map(str::to_owned);
    let stdin = stdin.iter().filter(|name| entry.arguments.get(*name).is_some_and(|schema| schema["type"] == "string"));
    entry.required.iter().chain(stdin).map(|name| (name.clone(), value(name))).collect()
}

fn called(project: &Project, entry: &Entry, arguments: &Map<String, Value>) -> Output {
    let name = entry.json["name"].as_str().unwrap();
    project.tool("call").arg(name).stdin(json!(arguments).to_string()).run()
}

#[test]
fn host_options_are_not_arguments() {
    let project = Project::new();
    for entry in entries() {
        let own = |option: &str| entry.arguments.contains_key(option);
        for option in host_options().filter(|option| option != "kb_root") {
            assert!(!own(&option), "{}: {option}", entry.command);
        }
        // As an argument it is a place to save to, or places to read from.
        let is_place = |schema: &Value| schema["type"] == "string" || schema["items"]["type"] == "string";
        assert!(entry.arguments.get("kb_root").is_none_or(is_place), "{}", entry.command);
        let tool = entry.command.trim_start_matches("ragmaker-");
        for option in host_options().filter(|option| !own(option.as_str())) {
            for key in [option.clone(), option.replace('_', "-")] {
                let mut arguments = needed(&entry, "http://127.0.0.1:9/");
                arguments.insert(key.clone(), json!(["/"]));
                let own = project.tool(tool).args(["--arguments", &json!(arguments).to_string()]).run();
                for run in [own, called(&project, &entry, &arguments)] {
                    let error = run.error("NOT_ALLOWED_IN_ARGUMENTS");
                    assert_eq!((run.code, &error["details"]["argument"]), (2, &json!(key)), "{}", entry.command);
                }
            }
        }
    }
}

#[test]
fn a_search_writes_nothing_outside() {
    let (project, outside) = (Project::new(), Project::new());
    outside.write("cache/a.md", "# Tides\n\nThe moon pulls the sea.\n");
    outside.write(
        "cache/catalog.json",
        r#"{"documents": [{"url": "https://x.example/", "title": "Tides", "path": "a.md"}]}"#,
    );
    let files = || -> Vec<_> {
        let entries = fs::read_dir(outside.path().join("cache")).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = files();
    let arguments = json!({"query": "moon", "kb_root": [outside.path()]});
    let caches = project.path().join("caches");
    let call = || project.tool("call").env("XDG_CACHE_HOME", &caches).arg("search_knowledge_base");
    assert_eq!(call().stdin(arguments.to_string()).run().answer()["total"], 1);
    assert_eq!(files(), before);
    assert!(caches.join("ragmaker/search").is_dir());
    // A person may search with an index beside the catalog.
    let root = outside.path().to_str().unwrap();
    assert_eq!(
        project.tool("search-knowledge-base").args(["--query", "moon", "--kb-root", root]).run().answer()["total"],
        1
    );
    assert!(files().len() > before.len());
}

#[test]
fn a_server_refuses_host_options() {
    let (project, outside) = (Project::new(), Project::new());
    outside.write("secret.txt", SECRET);
    let root = outside.path().to_str().unwrap();
    let client = Client::open(project.tool("mcp").arg("--read-only").into_command());
    let path = format!("{root}/secret.txt");
    client.error("read_file", json!({"path": path, "allow-root": [root]}), "NOT_ALLOWED_IN_ARGUMENTS");
    client.error("read_file", json!({"path": path}), "PATH_NOT_ALLOWED");
    assert!(client.close().success());
    // Its own options are the host's word.
    let client = Client::open(project.tool("mcp").args(["--allow-root", root]).into_command());
    assert_eq!(client.answer("read_file", json!({"path": path}))["content"], SECRET);
    let written = json!({"path": format!("{root}/new.txt"), "content": "x"});
    client.error("write_file", written.clone(), "PATH_NOT_WRITABLE");
    assert!(client.close().success());
    let client = Client::open(project.tool("mcp").args(["--allow-root", &format!("rw={root}")]).into_command());
    client.answer("write_file", written);
    assert!(client.close().success());
    assert!(outside.path().join("new.txt").is_file());
}

/// Every file below `folder` with its content.
fn snapshot(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let bytes = if path.is_dir() { vec![] } else { fs::read(&path).unwrap() };
            if path.is_dir() {
                folders.push(path.clone());
            }
            files.insert(path.to_string_lossy().into_owned(), bytes);
        }
    }
    files
}

/// Whatever text a model gives as any argument of any tool, nothing outside of the project is read or changed.
#[test]
fn places_that_a_model_names_are_confined() {
    let site = Site::start();
    let url = site.url("/wiki/tides");
    let outside = Project::new();
    outside.write("secret.txt", SECRET);
    outside.write("page.html", format!("<main><h1>{SECRET}</h1><p>{SECRET} and more words</p></main>"));
    outside.write("page.md", format!("---\nsource_url: \"{url}\"\ntitle: \"{SECRET}\"\n---\n\n{SECRET}\n"));
    let before = snapshot(outside.path());
    let root = outside.path().to_str().unwrap();
    let places = [
        root.to_owned(),
        format!("{root}/secret.txt"),
        format!("{root}/page.html"),
        format!("{root}/page.md"),
        format!("{root}/new/cache/catalog.json"),
        format!("../{}/page.html", outside.path().file_name().unwrap().to_str().unwrap()),
        "link/secret.txt".to_owned(),
        "link".to_owned(),
    ];
    for entry in entries() {
        let texts = entry.arguments.iter().filter(|(_, schema)| {
            schema["enum"].is_null() && (schema["type"] == "string" || schema["items"]["type"] == "string")
        });
        // The address of a page is not a path, and each call with one starts a browser.
        for (name, schema) in texts.filter(|(name, _)| *name != "url" && *name != "selector" && *name != "wait_for") {
            let project = Project::new();
            #[cfg(unix)]
            std::os::unix::fs::symlink(outside.path(), project.path().join("link")).unwrap();
            for place in &places {
                let mut arguments = needed(&entry, &url);
                let value = if schema["type"] == "array" { json!([place]) } else { json!(place) };
                arguments.insert(name.clone(), value);
                let run = called(&project, &entry, &arguments);
                let printed =
                    String::from_utf8_lossy(&run.raw.stdout).into_owned() + &String::from_utf8_lossy(&run.raw.stderr);
                assert!(!printed.contains(SECRET), "{} {name}={place}: {printed}", entry.command);
                assert_eq!(snapshot(outside.path()), before, "{} {name}={place}", entry.command);
            }
        }
    }
}
