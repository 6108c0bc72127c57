//! The roots of the tools, which are the same for all of them.

use std::fs;

use ragmaker_tests::{mcp::Client, run::Project};
use serde_json::json;

#[test]
fn every_tool_reads_a_knowledge_base_outside_the_project() {
    let holder = Project::new();
    for layout in ["cache/catalog.json", "catalog.json"] {
        let path = if layout.contains('/') { "../pages/tide.md" } else { "pages/tide.md" };
        holder.write(&format!("kb/{layout}"), json!({"documents": [{"path": path}]}).to_string());
        let page = holder.write("kb/pages/tide.md", "Spring tide\n");
        let hidden = holder.write("other/secret.md", "Spring tide\n");
        holder.write("project/.ragmaker/x", "");
        let project = holder.path().join("project");
        let run = |name: &str, arguments: &[&str]| {
            let tool = holder.tool(name).args(arguments).env("RAGMAKER_PROJECT_ROOT", &project).directory(&project);
            tool.run()
        };
        let page = page.to_str().unwrap();
        assert_eq!(run("read-file", &["--path", "../kb/pages/tide.md"]).answer()["path"], page);
        let listed = run("list-directory", &["--path", "../kb/pages"]);
        assert!(listed.answer().to_string().contains("tide.md"), "{}", listed.answer());
        assert!(run("find-files", &["--glob", "*.md", "--path", "../kb"]).answer().to_string().contains("tide.md"));
        let found = run("search-file-content", &["--pattern", "Spring", "--path", "../kb"]);
        assert_eq!(found.answer()["matches"][0]["path"], page);
        assert_eq!(run("read-many-files", &["--path", "../kb/**/*.md"]).answer()["files"][0]["path"], page);
        let info = run("project-info", &["--resolve", "../kb", "--resolve", page, "--resolve", "../other/secret.md"]);
        let readable = |index: usize| info.answer()["resolved"][index]["readable"].clone();
        assert_eq!([readable(0), readable(1), readable(2)], [json!(true), json!(true), json!(false)]);
        // Read, and not changed; and nothing beside it is read.
        run("write-file", &["--path", page, "--content", "x"]).error("PATH_NOT_ALLOWED");
        for tool in ["read-file", "list-directory"] {
            run(tool, &["--path", hidden.to_str().unwrap()]).error("PATH_NOT_ALLOWED");
        }
        run("search-file-content", &["--pattern", "x", "--path", "../other"]).error("PATH_NOT_ALLOWED");
        fs::remove_dir_all(holder.path().join("kb")).unwrap();
    }
}

#[test]
fn a_project_root_of_the_server_is_an_argument() {
    let (project, other) = (Project::new(), Project::new());
    let server = project.tool("mcp").arg("--project-root").arg(other.path()).into_command();
    let client = Client::open(server);
    let info = client.answer("project_info", json!({}));
    assert_eq!((&info["project_root"], &info["project_root_source"]), (&json!(other.path()), &json!("argument")));
    assert_eq!(info["relative_cwd"], ".");
    assert!(client.close().success());
}
