//! The notes of `think` and `work` over MCP: each server process has a conversation of its own, or the one that its
//! host names.

use ragmaker_tests::{mcp::Client, run::Project};
use serde_json::{Value, json};

use super::server;

fn count(client: &Client) -> Value {
    client.answer("think", json!({"reflection": "All is backed."}))["count"].clone()
}

#[test]
fn a_server_has_a_conversation_of_its_own() {
    let project = Project::new();
    let open = |arguments: &[&str]| Client::open(server(&project, arguments));
    let (one, two) = (open(&[]), open(&["--read-only"]));
    assert_eq!([count(&one), count(&two), count(&one)], [json!(1), json!(1), json!(2)]);
    let (named, again) = (open(&["--conversation", "tides"]), open(&["--conversation", "tides"]));
    assert_eq!([count(&named), count(&again)], [json!(1), json!(2)]);
    let list = json!([{"id": "1", "task": "Read", "status": "pending"}]);
    assert_eq!(named.answer("work", json!({"todo_list": list}))["work"]["todo_list"], list);
    project.tool("mcp").args(["--conversation", "../x"]).run().error("ARGUMENT_ERROR");
}
