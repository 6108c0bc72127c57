//! Every tool keeps the contract: each argument that discovery.json lists, on the command line and as JSON.
//!
//! Except in `words`, no tool does its work here: each command line is answered, or refused, before that.

mod words;

use std::{
    io,
    process::{Command, Stdio},
};

use ragmaker_tests::{
    discovery::{Entry, entries, option},
    run::{Output, Project, Tool},
};
use serde_json::{Value, json};

use words::too_many;

/// The maximum number of characters that clients take without cutting.
const OUTPUT_LIMIT: usize = 29_000;

/// Runs `check` for every tool, with a way to call it.
fn every_tool(check: impl Fn(&Entry, &dyn Fn() -> Tool)) {
    let project = Project::new();
    for entry in entries() {
        let name = entry.command.trim_start_matches("ragmaker-").to_owned();
        check(&entry, &|| project.tool(&name));
    }
}

/// Runs `check` for every argument of every tool, with its long option and its schema.
fn every_argument(check: impl Fn(&Entry, &dyn Fn() -> Tool, &str, &Value)) {
    every_tool(|entry, tool| {
        for (name, schema) in &entry.arguments {
            check(entry, tool, &option(name, schema), schema);
        }
    });
}

fn is_switch(schema: &Value) -> bool {
    schema["type"] == "boolean"
}

/// A value that the schema allows.
fn sample(schema: &Value) -> String {
    let choice = schema["enum"][0].as_str().map(str::to_owned);
    choice.or_else(|| schema["minimum"].as_u64().map(|least| least.to_string())).unwrap_or_else(|| "x".to_owned())
}

/// Values for what the tool cannot do without, `except` one argument.
fn needed(entry: &Entry, except: &str) -> Vec<String> {
    let names = entry.required.iter().map(|name| (option(name, &entry.arguments[name]), name));
    names
        .filter(|(option, _)| option != except)
        .flat_map(|(option, name)| [option, sample(&entry.arguments[name])])
        .collect()
}

/// Asserts that the arguments were refused because of `argument`.
fn refused(run: &Output, argument: &str) {
    let error = run.error("ARGUMENT_ERROR");
    assert_eq!(error["details"]["argument"], argument, "{error}");
}

/// The output of a run that must succeed without output on standard error.
fn printed(tool: Tool) -> String {
    let output = tool.run_raw();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{}: {stderr}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn entries_are_whole() {
    for entry in entries() {
        let json = &entry.json;
        let name = entry.command.strip_prefix("ragmaker-").unwrap().replace('-', "_");
        assert_eq!(json["name"], name);
        assert!(!json["description"].as_str().unwrap().is_empty(), "{name}");
        assert_eq!(json["parameters"]["type"], "object", "{name}");
        assert_eq!(json["parameters"]["additionalProperties"], false, "{name}");
        assert_eq!(json["output"]["properties"]["status"]["const"], "success", "{name}");
        for code in ["ARGUMENT_ERROR", "OUTPUT_ERROR", "INTERNAL_ERROR"] {
            assert!(json["errors"].as_array().unwrap().contains(&code.into()), "{name}: {code}");
        }
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(json["annotations"][hint].is_boolean(), "{name}: {hint}");
        }
        for (argument, schema) in &entry.arguments {
            assert!(!schema["description"].as_str().unwrap().is_empty(), "{name}: {argument}");
        }
    }
}

#[test]
fn help_names_every_argument() {
    every_tool(|entry, tool| {
        let help = printed(tool().arg("--help"));
        let own = entry.arguments.iter().map(|(name, schema)| option(name, schema));
        for option in own.chain(["--help", "--version", "--describe", "--arguments"].map(str::to_owned)) {
            assert!(help.contains(&option), "{}: {option}\n{help}", entry.command);
        }
        assert_eq!(printed(tool().arg("-h")), help);
        assert!(help.chars().count() < OUTPUT_LIMIT);
    });
}

#[test]
fn help_names_tools_as_a_person_calls_them() {
    let entries = entries();
    let names: Vec<_> = entries.iter().map(|entry| entry.json["name"].as_str().unwrap()).collect();
    every_tool(|entry, tool| {
        let help = printed(tool().arg("--help"));
        let own = entry.arguments.keys().map(String::as_str);
        let in_json = names.iter().copied().chain(own).filter(|name| name.contains('_'));
        let quoted: Vec<_> = in_json.filter(|name| help.contains(&format!("`{name}`"))).collect();
        assert!(quoted.is_empty(), "{}: {quoted:?}\n{help}", entry.command);
    });
}

#[test]
fn version_is_the_executable_and_a_number() {
    every_tool(|entry, tool| {
        let version = printed(tool().arg("--version"));
        let number = version.strip_prefix(&format!("{} ", entry.command)).and_then(|rest| rest.strip_suffix('\n'));
        assert!(number.is_some_and(|number| number.split('.').all(|part| part.parse::<u32>().is_ok())), "{version:?}");
        assert_eq!(printed(tool().arg("-V")), version);
    });
}

#[test]
fn describe_is_the_entry() {
    every_tool(|entry, tool| {
        let described = printed(tool().arg("--describe"));
        assert_eq!(serde_json::from_str::<Value>(&described).unwrap(), entry.json);
        assert!(described.chars().count() < OUTPUT_LIMIT, "{}", entry.command);
    });
}

#[test]
fn help_names_every_profile() {
    let project = Project::new();
    let refused = project.tool("mcp").args(["--profile", "none"]).run();
    let remedy = refused.error("ARGUMENT_ERROR")["remediation_suggestion"].as_str().unwrap().to_owned();
    let names = remedy.trim_start_matches("Choose one of ").trim_end_matches('.').replace(" and ", " or ");
    assert!(names.starts_with("gather, "), "{remedy}");
    for host in ["discover", "mcp"] {
        let help = printed(project.tool(host).arg("--help")).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(&names), "{host}: {names}\n{help}");
    }
}

#[test]
fn help_does_not_hide_an_invalid_argument() {
    every_tool(|_, tool| {
        for question in ["--help", "--version", "--describe"] {
            refused(&tool().args([question, "--quite-unlike-anything"]).run(), "--quite-unlike-anything");
            if let Some(words) = too_many(tool(), "stray") {
                refused(&tool().arg(question).args(words).run(), "stray");
            }
            let run = tool().arg(format!("{question}=1")).run();
            refused(&run, question);
            let message = run.error("ARGUMENT_ERROR")["message"].as_str().unwrap().to_owned();
            assert!(message.contains("takes no value"), "{message}");
        }
        assert_eq!(printed(tool().args(["--version", "--help"])), printed(tool().arg("--version")));
    });
}

#[test]
fn a_mistyped_argument_is_answered_with_the_right_one() {
    every_argument(|_, tool, option, _| {
        let run = tool().args([&format!("{option}x"), "value"]).run();
        refused(&run, &format!("{option}x"));
        let error = run.error("ARGUMENT_ERROR");
        assert_eq!(error["details"]["nearest"], option, "{error}");
        assert!(error["remediation_suggestion"].as_str().unwrap().contains(option), "{error}");
    });
    every_tool(|entry, tool| {
        refused(&tool().arg("--quite-unlike-anything").run(), "--quite-unlike-anything");
        if entry.arguments.contains_key("url") {
            let run = tool().args(["-u", "x"]).run();
            refused(&run, "-u");
            assert_eq!(run.error("ARGUMENT_ERROR")["details"]["nearest"], "--url");
        }
    });
}

#[test]
fn a_stray_word_is_refused() {
    every_tool(|_, tool| {
        if let Some(words) = too_many(tool(), "stray") {
            refused(&tool().args(&words).run(), "stray");
            refused(&tool().arg("--").args(&words).run(), "stray");
        }
    });
}

#[test]
fn an_option_without_its_value_is_refused() {
    every_argument(|_, tool, option, schema| {
        if !is_switch(schema) {
            refused(&tool().arg(option).run(), option);
        }
    });
}

#[test]
fn a_missing_argument_is_named() {
    every_tool(|entry, tool| {
        if !entry.required.is_empty() {
            let run = tool().run();
            let missing: Vec<_> = entry.required.iter().map(|name| option(name, &entry.arguments[name])).collect();
            assert_eq!(run.error("ARGUMENT_ERROR")["details"]["missing"], json!(missing));
        }
    });
}

#[test]
fn a_repeated_argument_is_refused() {
    every_argument(|_, tool, option, schema| {
        let once = if is_switch(schema) { vec![option.to_owned()] } else { vec![option.to_owned(), sample(schema)] };
        if schema["type"] != "array" {
            refused(&tool().args(&once).args(&once).run(), option);
        }
    });
}

#[test]
fn numbers_keep_their_bounds() {
    every_argument(|entry, tool, option, schema| {
        if !matches!(schema["type"].as_str(), Some("integer" | "number")) {
            return;
        }
        let least = schema["minimum"].as_i64().map(|least| (least - 1).to_string());
        let most = schema["maximum"].as_u64().map(|most| (most + 1).to_string());
        let never = ["", "x", "1e999", "99999999999999999999999999"].map(str::to_owned);
        for value in never.into_iter().chain(least).chain(most) {
            let run = tool().args(needed(entry, option)).args([option, &value]).run();
            refused(&run, option);
            let error = run.error("ARGUMENT_ERROR");
            assert_eq!(error["details"]["value"], value);
            let least = schema["minimum"].as_u64().unwrap();
            let bounds = match schema["maximum"].as_u64() {
                Some(most) => format!("from {least} to {most}"),
                None => format!("of at least {least}"),
            };
            let message = error["message"].as_str().unwrap();
            assert!(message.ends_with(&bounds), "{message}");
        }
    });
}

#[test]
fn choices_are_named_when_none_of_them_was_made() {
    every_argument(|entry, tool, option, schema| {
        let Some(choices) = schema["enum"].as_array() else { return };
        let run = tool().args(needed(entry, option)).args([option, "none-of-them"]).run();
        refused(&run, option);
        let message = run.error("ARGUMENT_ERROR")["message"].as_str().unwrap().to_owned();
        assert!(choices.iter().all(|choice| message.contains(choice.as_str().unwrap())), "{message}");
        for choice in choices.iter().filter_map(Value::as_str) {
            let near = format!("{choice}x");
            let run = tool().args(needed(entry, option)).args([option, &near]).run();
            assert_eq!(run.error("ARGUMENT_ERROR")["details"]["nearest"], choice, "{near}");
        }
    });
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_not_utf8_is_refused() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    every_tool(|_, tool| {
        let error = tool().arg(OsStr::from_bytes(b"--caf\xE9")).run();
        assert!(error.error("ARGUMENT_ERROR")["message"].as_str().unwrap().contains("UTF-8"));
        for object in [&b"{\"path\": \"caf\xE9\"}"[..], b"\xEF\xBB\xBF{\"\xFF\": 1}", b"\xFF\xFE{\0\x00\xD8}\0"] {
            let run = tool().args(["--arguments", "-"]).stdin(object).run();
            refused(&run, "--arguments");
            assert!(run.error("ARGUMENT_ERROR")["message"].as_str().unwrap().contains("UTF-8"));
        }
    });
}

#[test]
fn arguments_as_json_are_the_same_arguments() {
    every_argument(|_, tool, option, schema| {
        // One key twice, and under both of its spellings: neither may win in silence.
        let name = &option[2..];
        let key = name.replace('-', "_");
        for again in [name.to_owned(), key.clone()] {
            let object = format!(r#"{{"{name}": null, "{again}": {}}}"#, json!(sample(schema)));
            refused(&tool().args(["--arguments", &object]).run(), &key);
        }
        // Given once in JSON, with an underscore, it may not be given again as an option.
        let value = if is_switch(schema) { json!(true) } else { json!(sample(schema)) };
        let object = json!({"wait_for_previous": true, key: value}).to_string();
        let again = if is_switch(schema) { vec![option.to_owned()] } else { vec![option.to_owned(), sample(schema)] };
        if schema["type"] != "array" {
            refused(&tool().args(["--arguments", &object]).args(&again).run(), option);
            refused(&tool().args(["--arguments", "-"]).stdin(object.as_bytes()).args(&again).run(), option);
        }
    });
    every_tool(|_, tool| {
        for object in ["[]", "7", "{\"a\"", "not JSON", "{} {}"] {
            refused(&tool().args(["--arguments", object]).run(), "--arguments");
        }
        let unknown = r#"{"wait_for_previous": true, "quite_unlike_anything": null}"#;
        refused(&tool().args(["--arguments", unknown]).run(), "quite_unlike_anything");
    });
}

/// `total`, `truncated`, `next`, `offset` and `limit` mean the same in every tool.
#[test]
fn lists_are_paged_alike() {
    let mut paged = 0;
    for entry in entries() {
        let (name, output) = (&entry.command, &entry.json["output"]["properties"]);
        let required = entry.json["output"]["required"].as_array().unwrap();
        // What a run lacks is in its report: it is not made again for more of it.
        let is_run = output["report_file"].is_object();
        // browser-extract answers for one page, or for a list with these members.
        let has_forms = is_run && !required.contains(&"report_file".into());
        // The lines of a file over 256 MiB are not counted: that would read all of it for each page.
        let is_uncounted = name == "ragmaker-read-file";
        let count = if is_uncounted { json!(["integer", "null"]) } else { json!("integer") };
        for (member, kind) in [("total", count), ("truncated", json!("boolean"))] {
            let schema = &output[member];
            assert!(schema.is_null() || schema["type"] == kind, "{name}: {member}");
            assert!(schema.is_null() || has_forms || required.contains(&member.into()), "{name}: {member}");
        }
        if !output["next"].is_null() {
            paged += 1;
            for member in ["total", "truncated"] {
                assert!(
                    output[member].is_object() && (is_run || required.contains(&member.into())),
                    "{name}: {member}"
                );
            }
            assert!(is_run || required.contains(&"next".into()), "{name}");
            let members: Vec<&String> = output["next"]["properties"].as_object().unwrap().keys().collect();
            for argument in &members {
                assert!(entry.arguments.contains_key(*argument), "{name}: {argument}");
            }
            let is_known = |member: &&String| ["offset", "column_offset"].contains(&member.as_str());
            assert!(members.iter().all(is_known), "{name}: {members:?}");
            assert_eq!(output["next"]["required"], json!(members), "{name}");
            assert!(members.contains(&&"offset".into()), "{name}");
        }
        if let Some(offset) = entry.arguments.get("offset") {
            assert!(output["next"].is_object() && offset["minimum"] == 0, "{name}");
            assert!(entry.arguments.contains_key("limit"), "{name}: offset without limit");
        }
        // Where an element can be longer than an answer, the page after it starts within it.
        let column = entry.arguments.get("column_offset");
        assert_eq!(column.is_some(), output["next"]["properties"]["column_offset"].is_object(), "{name}");
        assert!(column.is_none_or(|column| column["minimum"] == 0), "{name}");
        // A search engine decides how many results there are; they are not paged.
        if let Some(limit) = entry.arguments.get("limit").filter(|_| name != "ragmaker-web-search") {
            assert!(entry.arguments.contains_key("offset") && limit["minimum"] == 1, "{name}");
            assert!(limit["default"].is_null(), "{name}: without it, as much as an answer holds is returned");
        }
        for other in [
            "max_matches",
            "max_results",
            "count_total",
            "links_total",
            "total_lines",
            "pages_left",
            "has_more",
            "is_truncated",
        ] {
            assert!(output[other].is_null() && !entry.arguments.contains_key(other), "{name}: {other}");
        }
    }
    assert!(paged > 11, "{paged} tools are paged");
}

#[test]
fn json_can_be_plain_ascii() {
    every_tool(|_, tool| {
        let run = tool().args(["--日本😀"]).env("RAGMAKER_ASCII_JSON", "1").run();
        refused(&run, "--日本😀");
        assert!(run.raw.stderr.is_ascii());
        let run = tool().args(["--日本😀"]).env("RAGMAKER_ASCII_JSON", "0").run();
        assert!(String::from_utf8_lossy(&run.raw.stderr).contains("--日本😀"));
    });
}

#[test]
fn an_error_is_bounded_whatever_was_asked() {
    let long = "長い".repeat(20_000);
    let bounded = |run: &Output| {
        run.error("ARGUMENT_ERROR");
        assert!(String::from_utf8_lossy(&run.raw.stderr).chars().count() < OUTPUT_LIMIT);
    };
    every_tool(|entry, tool| {
        bounded(&tool().arg(format!("--{long}")).run());
        if let Some(words) = too_many(tool(), &long) {
            bounded(&tool().args(&words).run());
            // As both a word and an option.
            if let [name, ..] = entry.words.as_slice() {
                let option = option(name, &entry.arguments[name]);
                bounded(&tool().args([&option, &long, &long]).run());
            }
        }
        bounded(&tool().args(["--arguments", &long]).run());
    });
    every_argument(|entry, tool, option, schema| {
        if matches!(schema["type"].as_str(), Some("integer" | "number")) {
            bounded(&tool().args(needed(entry, option)).args([option, &long]).run());
        }
    });
}

/// Runs `tool` with what is made for its standard output.
fn into(tool: Tool, argument: &str, stdout: impl Into<Stdio>) -> (Option<i32>, String) {
    let mut command: Command = tool.arg(argument).into_command();
    let output = command.stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped()).spawn().unwrap();
    let output = output.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    every_tool(|_, tool| {
        for argument in ["--help", "--version", "--describe"] {
            let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
            let (code, stderr) = into(tool(), argument, full);
            let error: Value = serde_json::from_str(&stderr).unwrap();
            assert_eq!((code, &error["error_code"]), (Some(1), &json!("OUTPUT_ERROR")), "{argument}");
        }
    });
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    every_tool(|_, tool| {
        for argument in ["--help", "--version", "--describe"] {
            let (reader, writer) = io::pipe().unwrap();
            drop(reader);
            assert_eq!(into(tool(), argument, writer), (Some(0), String::new()), "{argument}");
        }
    });
}
