//! `ragmaker`, the executable with all tools: as a command and by links, it does what each executable does.

use std::{fs, process::Output};

use ragmaker_tests::{
    discovery::entries,
    run::{Project, executable},
    site::Site,
};
use ragmaker_tool::HOSTS;
use serde_json::{Value, json};

fn said(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// The output of an executable, with the names of executables as `ragmaker` has them as commands.
fn as_commands((status, stdout, stderr): (Option<i32>, String, String)) -> (Option<i32>, String, String) {
    let respelled = |text: String| text.replace("ragmaker-", "ragmaker ");
    (status, respelled(stdout), respelled(stderr))
}

/// An installation of `ragmaker` alone has no executables of the tools.
#[test]
fn advice_names_the_commands_that_the_caller_has() {
    let project = Project::new();
    project.write("docs/a.md", "# A\n\nText.\n");
    project.tool("file-sync").args(["--source-dir", "docs", "--kb-root", "kb"]).run().answer();
    project.write("kb/cache/documents/stray.md", "# B\n");
    let read = ["--path", "kb"];
    let alone = project.tool("read-file").args(read).run();
    let inside = project.program(&executable("ragmaker")).arg("read-file").args(read).run();
    let remedy = |run: &ragmaker_tests::run::Output| {
        run.error("IS_A_DIRECTORY")["remediation_suggestion"].as_str().unwrap().to_owned()
    };
    assert!(remedy(&alone).contains("ragmaker-list-directory"), "{}", remedy(&alone));
    assert!(remedy(&inside).contains("ragmaker list-directory"), "{}", remedy(&inside));
    // Also in the findings of an answer, and in the errors of the agent.
    let verify =
        |tool: ragmaker_tests::run::Tool| tool.args(["--kb-root", "kb"]).run().stderr_json.unwrap().to_string();
    let found = verify(project.tool("verify"));
    assert!(found.contains("ragmaker-enrich-discovery"), "{found}");
    let found = verify(project.program(&executable("ragmaker")).arg("verify"));
    assert!(!found.contains("ragmaker-enrich") && found.contains("ragmaker enrich-discovery"), "{found}");
    let workflow = project.program(&executable("ragmaker")).args(["rag", "https://example.com/"]);
    let workflow = workflow.env("RAGMAKER_PROVIDER", "").env("RAGMAKER_MODEL", "").run();
    let remedy = workflow.error("MODEL_NOT_CONFIGURED")["remediation_suggestion"].as_str().unwrap();
    assert!(remedy.contains("ragmaker http-fetch"), "{remedy}");
    // To a model, a tool has the name with which the model calls it.
    let called = project.program(&executable("ragmaker")).args(["call", "read_file"]).stdin(r#"{"path": "kb"}"#).run();
    let remedy = called.error("IS_A_DIRECTORY")["remediation_suggestion"].as_str().unwrap();
    assert!(remedy.contains("list_directory"), "{remedy}");
}

#[test]
fn every_tool_behaves_as_its_own_executable() {
    let project = Project::new();
    let ragmaker = executable("ragmaker");
    let commands: Vec<String> = entries().into_iter().map(|entry| entry.command).collect();
    let executables = commands.iter().map(String::as_str).chain(HOSTS);
    for name in executables.map(|executable| executable.trim_start_matches("ragmaker-")) {
        for words in [
            &["--help"][..],
            &["-h"],
            &["--version"],
            &["-V"],
            &["--describe"],
            &["--no-such-option"],
            &["--arguments", "[]"],
        ] {
            let alone = said(&project.tool(name).args(words).run_raw());
            let inside = said(&project.program(&ragmaker).arg(name).args(words).run_raw());
            let expected = if words == ["--describe"] { alone } else { as_commands(alone) };
            assert!(inside == expected, "{name} {words:?} differs: {inside:?}");
        }
        // The short options are the long ones.
        for [short, long] in [["-h", "--help"], ["-V", "--version"]] {
            let output = |option| said(&project.program(&ragmaker).args([name, option]).run_raw());
            assert_eq!(output(short), output(long), "{name} {short}");
        }
        let helped = said(&project.program(&ragmaker).args(["help", name]).run_raw());
        assert_eq!(helped, as_commands(said(&project.tool(name).arg("--help").run_raw())), "{name}");
        assert!(helped.1.starts_with(&format!("Usage: ragmaker {name}")), "{name}: {}", helped.1);
    }
}

#[test]
fn a_link_is_the_tool_of_its_name() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let bin = project.path().join("bin");
    let link = |words: &[&str]| {
        let run = project.program(&executable("ragmaker")).args(["link", "--output", "json", "--dir"]).arg(&bin);
        run.args(words).run()
    };
    let made = link(&[]);
    let links = made.answer()["links"].as_array().unwrap().len();
    assert_eq!((links, &made.answer()["unchanged"]), (entries().len() + HOSTS.len(), &Value::from(0)));
    let read = project.program(&bin.join("ragmaker-read-file")).args(["--path", "a.txt"]).run();
    assert_eq!(read.answer(), project.tool("read-file").args(["--path", "a.txt"]).run().answer());
    let called = project.program(&bin.join("ragmaker-call")).arg("read_file").stdin(r#"{"path": "a.txt"}"#).run();
    assert_eq!(called.answer(), read.answer());

    // A tool that was started by its own name speaks of such names.
    let failed = project.program(&bin.join("ragmaker-read-file")).args(["--path", "bin"]).run();
    assert!(failed.error("IS_A_DIRECTORY").to_string().contains("ragmaker-list-directory"));

    let again = link(&[]);
    assert_eq!(again.answer()["unchanged"], links);
    // A file that is not such a link is neither replaced nor removed.
    fs::remove_file(bin.join("ragmaker-move")).unwrap();
    fs::write(bin.join("ragmaker-move"), "mine").unwrap();
    // Where there are no links, it is a copy.
    fs::remove_file(bin.join("ragmaker-cite")).unwrap();
    fs::copy(executable("ragmaker"), bin.join("ragmaker-cite")).unwrap();
    assert_eq!(link(&[]).answer()["kept"], json!(["ragmaker-move"]));
    let removed = link(&["--remove"]);
    assert_eq!(removed.answer()["links"].as_array().unwrap().len(), links - 1);
    let left: Vec<_> = fs::read_dir(&bin).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["ragmaker-move"]);
}

#[test]
fn a_folder_that_has_no_links_is_named_or_accepted() {
    let project = Project::new();
    project.write("file", "");
    let link = |words: &[&str]| project.program(&executable("ragmaker")).arg("link").args(words);
    let removed = link(&["--remove", "--dir", "none", "--output", "json"]).run();
    assert_eq!(removed.answer()["links"], json!([]));
    for words in [&["--dir", "file"][..], &["--remove", "--dir", "file"]] {
        let run = link(words).args(["--output", "json"]).run();
        assert!(run.error("CANNOT_LINK")["message"].as_str().unwrap().contains("file"), "{words:?}");
    }
    let text = said(&link(&["x"]).run_raw());
    assert!(text.0 == Some(2) && text.2.starts_with("error: unexpected argument \"x\""), "{text:?}");
    link(&["x", "--output", "json"]).run().error("ARGUMENT_ERROR");
}

#[test]
#[cfg(unix)]
fn a_folder_that_is_not_utf8_is_answered_as_text() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let project = Project::new();
    let folder = project.path().join(OsStr::from_bytes(b"x\xff"));
    fs::create_dir(&folder).unwrap();
    // The folder of the executable is the default.
    let program = folder.join("ragmaker");
    if fs::hard_link(executable("ragmaker"), &program).is_err() {
        fs::copy(executable("ragmaker"), &program).unwrap();
    }
    let run = project.program(&program).args(["link", "--output", "json"]).run();
    assert!(run.answer()["dir"].as_str().unwrap().ends_with("x\u{fffd}"), "{:?}", run.answer());
}

#[test]
fn a_browser_stays_open_between_its_commands() {
    let (project, site) = (Project::new(), Site::start());
    let ragmaker = |words: &[&str]| project.program(&executable("ragmaker")).args(words).run();
    ragmaker(&["browser-open"]);
    let url = site.url("/wiki/tides");
    let extracted = ragmaker(&["browser-extract", &url, "--kb-root", "kb"]);
    assert_eq!(extracted.answer()["title"], "How tides work | Tidemark");
    let closed = ragmaker(&["browser-close"]);
    assert_eq!(closed.answer()["closed"].as_array().unwrap().len(), 1, "{:?}", closed.answer());
}

#[test]
fn a_command_that_does_not_exist_is_an_error() {
    let project = Project::new();
    let ragmaker = |words: &[&str]| project.program(&executable("ragmaker")).args(words);
    let run = ragmaker(&["read_fil"]).run();
    assert_eq!(run.error("ARGUMENT_ERROR")["details"]["nearest"], "read-file");
    for words in [&[][..], &["--help"], &["help"]] {
        let text = String::from_utf8(ragmaker(words).run_raw().stdout).unwrap();
        assert!(entries().iter().all(|entry| text.contains(entry.command.trim_start_matches("ragmaker-"))), "{text}");
    }
    let refused = ragmaker(&["rag"]).run();
    refused.error("ARGUMENT_ERROR");
}
