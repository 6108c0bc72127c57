//! The argument names of the Python original, accepted so that its callers still work.

use ragmaker_tool::arguments::Members;
use serde_json::Value;

use crate::{Tool, find};

/// The original's names of arguments and the names here, by tool.
const RENAMED: &[(&str, &[(&str, &str)])] = &[
    // It wrote its catalog into the folder of the documents; here a knowledge base contains both.
    ("ragmaker-file-sync", &[("dest_dir", "kb_root")]),
    ("ragmaker-github-fetch", &[("temp_dir", "kb_root"), ("branch", "ref")]),
    ("ragmaker-http-fetch", &[("base_url", "prefix")]),
    ("ragmaker-entry-discovery", &[("uri", "source_url")]),
    ("ragmaker-move", &[("source", "source_path"), ("destination", "destination_path")]),
    ("ragmaker-project-info", &[("path", "resolve")]),
];

/// Further arguments of its crawlers, which have no effect here.
const WITHOUT_EFFECT: [&str; 4] = ["verbose", "log_level", "headless", "no_headless"];

/// The tool and the arguments of a call of `tool` with `arguments` that may be the original's.
pub fn translated(tool: &'static Tool, mut arguments: Members) -> (&'static Tool, Members) {
    let is_crawl = tool.command == "ragmaker-http-fetch" && has(&arguments, "base_url");
    let renamed = RENAMED.iter().find(|(command, _)| *command == tool.command).map_or(&[][..], |(_, names)| names);
    for (old, new) in renamed {
        if !has(&arguments, new) {
            rename(&mut arguments, old, new);
        }
    }
    if is_crawl {
        crawl(&mut arguments);
    }
    // The original reads several files by the tool that reads one.
    let is_list = |(key, value): &(String, Value)| key == "path" && value.is_array();
    if tool.command == "ragmaker-read-file" && arguments.iter().any(is_list) {
        return (find("read-many-files").unwrap_or(tool), arguments);
    }
    (tool, arguments)
}

/// A crawl of everything below an address, saved in a folder.
fn crawl(arguments: &mut Members) {
    if !has(arguments, "kb_root") {
        rename(arguments, "output_dir", "kb_root");
    }
    arguments.retain(|(key, _)| !WITHOUT_EFFECT.contains(&snake(key).as_str()));
    let flag = |arguments: &Members, name: &str| {
        arguments.iter().any(|(key, value)| snake(key) == name && value.as_bool() == Some(true))
    };
    let is_one_page = flag(arguments, "no_recursive")
        || arguments.iter().any(|(key, value)| snake(key) == "recursive" && value.as_bool() == Some(false));
    arguments.retain(|(key, _)| !matches!(snake(key).as_str(), "recursive" | "no_recursive"));
    if is_one_page {
        arguments.retain(|(key, _)| key != "depth");
        arguments.push(("depth".to_owned(), 0.into()));
    }
    if !has(arguments, "section") {
        arguments.push(("section".to_owned(), true.into()));
    }
}

fn has(arguments: &Members, name: &str) -> bool {
    arguments.iter().any(|(key, _)| snake(key) == name)
}

fn rename(arguments: &mut Members, old: &str, new: &str) {
    for (key, _) in arguments.iter_mut().filter(|(key, _)| snake(key) == old) {
        new.clone_into(key);
    }
}

fn snake(key: &str) -> String {
    key.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragmaker_tool::HostOptions;
    use serde_json::json;

    fn translated_json(name: &str, arguments: &Value) -> (String, Value) {
        let members = arguments.as_object().cloned().unwrap().into_iter().collect();
        let (tool, members) = translated(find(name).unwrap(), members);
        (tool.name(), Value::Object(members.into_iter().collect()))
    }

    #[test]
    fn calls_of_the_original_name_what_is_meant_here() {
        let crawl = json!({"url": "https://x.example/d/", "base-url": "https://x.example/", "output-dir": "kb", "verbose": true});
        let section =
            json!({"url": "https://x.example/d/", "prefix": "https://x.example/", "kb_root": "kb", "section": true});
        let one = json!({"url": "u", "base_url": "u", "output_dir": "kb", "recursive": false, "depth": 5});
        let page = json!({"url": "u", "prefix": "u", "kb_root": "kb", "section": true, "depth": 0});
        for (name, arguments, tool, expected) in [
            ("ragmaker-http-fetch", &crawl, "http_fetch", section.clone()),
            ("browser-fetch", &crawl, "http_fetch", section),
            ("http_fetch", &one, "http_fetch", page),
            (
                "file_sync",
                &json!({"source-dir": "a", "dest-dir": "b"}),
                "file_sync",
                json!({"source-dir": "a", "kb_root": "b"}),
            ),
            (
                "github_fetch",
                &json!({"repo-url": "r", "path-in-repo": ".", "temp-dir": "b", "branch": "main"}),
                "github_fetch",
                json!({"repo-url": "r", "path-in-repo": ".", "kb_root": "b", "ref": "main"}),
            ),
            (
                "move-file",
                &json!({"source": "a", "destination": "b", "merge": true}),
                "move",
                json!({"source_path": "a", "destination_path": "b", "merge": true}),
            ),
            ("path-normalizer", &json!({"path": "a"}), "project_info", json!({"resolve": "a"})),
            ("read_file", &json!({"path": ["a", "b"]}), "read_many_files", json!({"path": ["a", "b"]})),
            (
                "install-kb",
                &json!({"source": ["a"], "target-kb-root": "t", "force": true}),
                "install_knowledge_base",
                json!({"source": ["a"], "target-kb-root": "t", "force": true}),
            ),
            (
                "ask-dir",
                &json!({"initial-dir": "a", "multiple": true}),
                "ask_directory",
                json!({"initial-dir": "a", "multiple": true}),
            ),
        ] {
            assert_eq!(translated_json(name, arguments), (tool.to_owned(), expected), "{name}");
        }
    }

    #[test]
    fn own_arguments_are_unchanged() {
        for (name, arguments) in [
            ("http_fetch", json!({"url": "u", "output_dir": "o", "section": true, "depth": 2})),
            ("move", json!({"source_path": "a", "destination_path": "b"})),
            ("read_file", json!({"path": "a"})),
            // Both names are an error of the tool.
            ("move", json!({"source": "a", "source_path": "b", "destination_path": "c"})),
        ] {
            assert_eq!(translated_json(name, &arguments).1, arguments, "{name}");
        }
    }

    #[test]
    fn every_name_is_an_argument_of_its_tool() {
        for (command, names) in RENAMED {
            let tool = find(command).unwrap();
            for (_, new) in *names {
                let error = tool
                    .call(vec![((*new).to_owned(), json!({})), ("none".to_owned(), json!(1))], &HostOptions::default());
                let message = error.unwrap_err().message().to_owned();
                assert!(message.contains(new), "{command}: {message}");
            }
        }
    }
}
