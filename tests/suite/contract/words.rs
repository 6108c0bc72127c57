//! Words of a command line that are not options: each gives the option that the usage of the tool names.

use std::fs;

use ragmaker_tests::run::{Project, Tool, executable};

use super::{every_tool, printed, refused};

/// The names of the words that a tool takes, as the first line of its help has them, and whether the last may be
/// repeated.
fn words_of(tool: Tool) -> (Vec<String>, bool) {
    let help = printed(tool.arg("--help"));
    let (usage, _) = help.split_once('\n').unwrap();
    let (_, words) = usage.split_once(" [OPTION]...").unwrap_or_else(|| panic!("{usage}"));
    let name = |word: &str| word.trim_end_matches('.').trim_matches(['[', ']']).to_owned();
    (words.split_whitespace().map(name).collect(), words.ends_with("..."))
}

/// The words that a tool takes and one more, `last`; `None` if it takes any number.
pub(super) fn too_many(tool: Tool, last: &str) -> Option<Vec<&str>> {
    let (words, is_repeatable) = words_of(tool);
    (!is_repeatable).then(|| words.iter().map(|_| "word").chain([last]).collect())
}

#[test]
fn a_word_gives_the_option_of_its_name() {
    every_tool(|entry, tool| {
        let (words, is_repeatable) = words_of(tool());
        let keys: Vec<_> = words.iter().map(|word| word.to_lowercase()).collect();
        assert_eq!(keys, entry.words, "{}: its page differs from its help", entry.command);
        for (place, word) in words.iter().enumerate() {
            let schema = &entry.arguments[&word.to_lowercase()];
            let may_repeat = schema["type"] == "array";
            assert!(schema["type"] == "string" || may_repeat, "{}: {word} {schema}", entry.command);
            assert_eq!(may_repeat, is_repeatable && place + 1 == words.len(), "{}: {word}", entry.command);
            // Refused before any work: the value of the option is there twice.
            let option = format!("--{}", word.to_lowercase().replace('_', "-"));
            let line: Vec<&str> = words[..=place].iter().map(|_| "a word").collect();
            for run in [tool().args(&line).args([&option, "b"]), tool().args([&option, "b"]).args(&line)] {
                if may_repeat {
                    continue;
                }
                let run = run.run();
                refused(&run, &option);
                let message = run.error("ARGUMENT_ERROR")["message"].as_str().unwrap();
                assert!(message.contains(&format!("{option} \"b\"")) && message.contains("\"a word\""), "{message}");
            }
        }
        let is_known = words.iter().map(|_| "word").chain(is_repeatable.then_some("more"));
        printed(tool().arg("--version").args(is_known));
    });
}

#[test]
fn a_json_object_is_no_word() {
    every_tool(|_, tool| {
        for object in ["{\"path\": \"a\"}", " { \"x\": 1}"] {
            let run = tool().arg(object).run();
            refused(&run, object);
            let remedy = run.error("ARGUMENT_ERROR")["remediation_suggestion"].as_str().unwrap();
            assert_eq!(remedy, "Give a JSON object with the arguments as --arguments '{…}'.");
        }
    });
}

#[test]
fn several_pages_are_given_by_the_option_for_several() {
    let run = Project::new().tool("browser-extract").args(["https://a.example/", "https://b.example/"]).run();
    let remedy = run.error("ARGUMENT_ERROR")["remediation_suggestion"].as_str().unwrap();
    assert_eq!(remedy, "URL is the only word: quote values with spaces, or give each of several after --urls.");
}

#[test]
fn words_do_what_their_options_do() {
    let project = Project::new();
    project.write("notes.md", "# Notes\n\nA tide.\n");
    project.write("src/sea.rs", "// A tide.\n");
    project.write("src/{a,b}.md", "braces\n");
    project.write("--odd.md", "odd\n");
    for (name, words, options) in [
        ("read-file", &["notes.md"][..], &["--path", "notes.md"][..]),
        ("read-file", &["--limit", "1", "notes.md"], &["--limit", "1", "--path", "notes.md"]),
        ("read-file", &["--no-ignore", "--", "--odd.md"], &["--no-ignore", "--path=--odd.md"]),
        ("read-file", &["src/{a,b}.md"], &["--path", "src/{a,b}.md"]),
        ("find-files", &["{notes,sea}.*"], &["--glob", "{notes,sea}.*"]),
        ("find-files", &["*.rs", "src"], &["--glob", "*.rs", "--path", "src"]),
        ("search-file-content", &["tide", "src"], &["--pattern", "tide", "--path", "src"]),
        ("search-file-content", &["tide", "--path=src"], &["--pattern", "tide", "--path", "src"]),
        ("read-many-files", &["notes.md", "src"], &["--path", "notes.md", "--path", "src"]),
        ("read-many-files", &["--path", "notes.md", "src"], &["--path", "notes.md", "--path", "src"]),
        ("list-directory", &["src"], &["--path", "src"]),
        ("list-directory", &[], &["--path", "."]),
        ("run-command", &["echo a tide"], &["--command", "echo a tide"]),
    ] {
        let by_words = project.tool(name).args(words).run().answer().clone();
        let (mut by_words, mut by_options) = (by_words, project.tool(name).args(options).run().answer().clone());
        for answer in [&mut by_words, &mut by_options] {
            answer.as_object_mut().unwrap().remove("duration_ms");
        }
        assert_eq!(by_words, by_options, "{name} {words:?}");
        let inside = project.program(&executable("ragmaker")).arg(name).args(words).run();
        assert_eq!(inside.answer()["status"], "success", "{name} {words:?}");
    }
    let piped = project.tool("read-file").arg("-").stdin("from a pipe\n").run();
    assert_eq!(piped.answer()["content"], "from a pipe\n");
    let written = project.tool("write-file").arg("new.md").stdin("# New\n").run();
    assert_eq!(written.answer()["status"], "success");
    assert_eq!(fs::read_to_string(project.path().join("new.md")).unwrap(), "# New\n");
}

#[test]
fn one_word_is_deleted_and_two_are_refused() {
    let project = Project::new();
    let (a, b) = (project.write("a.md", "a\n"), project.write("b.md", "b\n"));
    for line in [&["a.md", "b.md"][..], &["--permanent", "a.md", "b.md"], &["--path", "a.md", "b.md"]] {
        project.tool("delete-file").args(line).run().error("ARGUMENT_ERROR");
        assert!(a.exists() && b.exists(), "{line:?}");
    }
    project.tool("delete-file").args(["--permanent", "a.md"]).run().answer();
    assert!(!a.exists() && b.exists());
}

#[test]
fn a_tool_that_can_destroy_takes_at_most_one_word() {
    every_tool(|entry, tool| {
        if entry.json["annotations"]["destructiveHint"] == true {
            let (words, is_repeatable) = words_of(tool());
            assert!(words.len() < 2 && !is_repeatable, "{}: {words:?}", entry.command);
        }
    });
    // As of `mv a b`, `cp a b` and `rm a b`, nothing is done.
    let project = Project::new();
    let (a, b) = (project.write("a.md", "a\n"), project.write("b.md", "b\n"));
    for tool in ["move", "install-knowledge-base", "delete-directory", "write-file", "modify-file-content"] {
        project.tool(tool).args(["a.md", "b.md"]).stdin("").run().error("ARGUMENT_ERROR");
        assert_eq!([&a, &b].map(|file| fs::read_to_string(file).unwrap()), ["a\n", "b\n"], "{tool}");
    }
}

#[cfg(unix)]
#[test]
fn a_word_that_is_not_utf8_is_refused() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let project = Project::new();
    let odd = OsStr::from_bytes(b"caf\xE9.md");
    for before in [&[][..], &["--"], &["--no-ignore"]] {
        let run = project.tool("read-file").args(before).arg(odd).run();
        refused(&run, "caf\u{fffd}.md");
        let message = run.error("ARGUMENT_ERROR")["message"].as_str().unwrap();
        assert_eq!(message, "the argument \"caf\u{fffd}.md\" is not UTF-8", "{before:?}");
    }
}

#[cfg(unix)]
#[test]
fn xargs_gives_words() {
    let project = Project::new();
    project.write("notes/a.md", "one\n");
    project.write("notes/b c.md", "two\n");
    let script = "find notes -name '*.md' -print0 | sort -z | xargs -0 \"$0\"";
    let many =
        project.program(std::path::Path::new("sh")).args(["-c", script]).arg(executable("ragmaker-read-many-files"));
    let run = many.run();
    assert_eq!(run.answer()["files"].as_array().map(Vec::len), Some(2), "{}", run.answer());
}
