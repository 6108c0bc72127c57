//! `ragmaker`, the executable with all tools: as a command and by links, it does what each executable does.

use std::{fs, process::Output};

use ragmaker_tests::{
    discovery::entries,
    run::{Project, executable},
    site::Site,
};
use serde_json::{Value, json};

const HOSTS: [&str; 4] = ["agent", "call", "discover", "mcp"];

fn said(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn every_tool_behaves_as_its_own_executable() {
    let project = Project::new();
    let ragmaker = executable("ragmaker");
    let commands: Vec<String> = entries().into_iter().map(|entry| entry.command).collect();
    let tools = commands.iter().map(|command| command.trim_start_matches("ragmaker-"));
    for name in tools.chain(HOSTS) {
        for words in [
            &["--help"][..],
            &["-h"],
            &["--version"],
            &["-V"],
            &["--describe"],
            &["--no-such-option"],
            &["--arguments", "[]"],
        ] {
            let alone = project.tool(name).args(words).run_raw();
            let inside = project.program(&ragmaker).arg(name).args(words).run_raw();
            assert!(said(&inside) == said(&alone), "{name} {words:?} differs");
        }
        // The short options are the long ones.
        for [short, long] in [["-h", "--help"], ["-V", "--version"]] {
            let output = |option| said(&project.program(&ragmaker).args([name, option]).run_raw());
            assert_eq!(output(short), output(long), "{name} {short}");
        }
        let helped = project.program(&ragmaker).args(["help", name]).run_raw();
        assert_eq!(said(&helped), said(&project.tool(name).arg("--help").run_raw()), "{name}");
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

    let again = link(&[]);
    assert_eq!(again.answer()["unchanged"], links);
    // A file that is not such a link is neither replaced nor removed.
    fs::remove_file(bin.join("ragmaker-move")).unwrap();
    fs::write(bin.join("ragmaker-move"), "mine").unwrap();
    assert_eq!(link(&[]).answer()["kept"], json!(["ragmaker-move"]));
    let removed = link(&["--remove"]);
    assert_eq!(removed.answer()["links"].as_array().unwrap().len(), links - 1);
    let left: Vec<_> = fs::read_dir(&bin).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["ragmaker-move"]);
}

#[test]
fn a_browser_stays_open_between_its_commands() {
    let (project, site) = (Project::new(), Site::start());
    let ragmaker = |words: &[&str]| project.program(&executable("ragmaker")).args(words).run();
    ragmaker(&["browser-open"]);
    let url = site.url("/wiki/tides");
    let extracted = ragmaker(&["browser-extract", "--url", &url, "--kb-root", "kb"]);
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
