//! `ragmaker-mcp` as a server whose tools a host of ours offers: [`ragmaker_external_tools`] against the real
//! executable.

use ragmaker_config::{Config, Environment, Options};
use ragmaker_external_tools::{Loaded, RunContext, load};
use ragmaker_tests::run::Project;
use serde_json::{Value, json};

fn loaded(project: &Project, more: &str) -> Loaded {
    let command = project.tool("mcp").into_command();
    let program = command.get_program().to_str().unwrap().to_owned();
    let text = format!("[mcp.servers.ours]\ncommand = '{program}'\nargs = ['--tools', 'read_file,think'{more}]\n");
    project.write("ragmaker.toml", &text);
    let options = Options { environment: Environment::default(), ..Options::default() };
    let config = Config::load(project.path(), &options).unwrap();
    let place = RunContext { root: project.path().to_owned(), ..RunContext::default() };
    load(&config, &place, &|_| false, &|_, _| (), &|| false).unwrap()
}

#[test]
fn the_tools_of_a_server_are_called() {
    let project = Project::new();
    project.write("tides.md", "High water.\n");
    let loaded = loaded(&project, "");
    let names: Vec<_> = loaded.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["ours_read_file", "ours_think"], "{:?}", loaded.warnings);
    let read = &loaded.tools[0];
    assert!(read.annotations.read_only_hint && read.parameters["properties"]["path"].is_object());
    let call = |arguments: Value| read.call(arguments.as_object().unwrap().clone(), &|| false);
    assert_eq!(call(json!({"path": "tides.md"})).unwrap()["content"], "High water.\n");
    assert_eq!(call(json!({"path": "none.md"})).unwrap()["error_code"], "FILE_NOT_FOUND");
    assert_eq!(call(json!({"paths": "tides.md"})).unwrap_err().code(), "ARGUMENT_ERROR");
}

#[test]
fn a_server_that_does_not_start_is_a_warning() {
    let project = Project::new();
    let loaded = loaded(&project, ", '--no-such-option'");
    assert!(loaded.tools.is_empty());
    assert!(loaded.warnings[0].starts_with("MCP server ours: "), "{:?}", loaded.warnings);
}
