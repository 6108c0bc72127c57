//! Browser profiles with cookies and logins: no tool shows or changes them, with any roots.
#![cfg(unix)]

use ragmaker_tests::run::Project;

/// No file tool reads or changes a browser profile, with any root.
#[test]
fn browser_profiles_are_closed() {
    let project = Project::new();
    let profile = ".tmp/cache/browser_profile";
    let cookies = format!("{profile}/Default/Cookies");
    let session = format!("{profile}/ragmaker/session.json");
    for path in [&cookies, &session, "copy/Local State", "copy/Default/Cookies", "open.md"] {
        project.write(path, "needle\n");
    }
    std::os::unix::fs::symlink(".tmp/cache/browser_profile/Default", project.path().join("link")).unwrap();
    let all = ["--no-ignore", "--project-root", profile];
    for path in [&cookies, &session, "copy/Default/Cookies", "link/Cookies"] {
        let path = project.path().join(path);
        let path = path.to_str().unwrap();
        project.tool("read-file").args(["--path", path]).run().error("PATH_NOT_ALLOWED");
        project.tool("read-file").args(["--path", path]).args(all).run().error("PATH_NOT_ALLOWED");
        project
            .tool("search-file-content")
            .args(["--pattern", "needle", "--path", path])
            .run()
            .error("PATH_NOT_ALLOWED");
        let many = project.tool("read-many-files").args(["--path", path, "--path", "open.md"]).run();
        assert_eq!(many.answer()["files"].as_array().unwrap().len(), 1);
        let reason = many.answer()["skipped"][0]["reason"].as_str().unwrap();
        assert!(reason.starts_with("PATH_NOT_ALLOWED"), "{reason}");
        project.tool("write-file").args(["--path", path, "--content", "x"]).run().error("PATH_NOT_ALLOWED");
        project.tool("delete-file").args(["--path", path, "--permanent"]).run().error("PATH_NOT_ALLOWED");
        let to = ["--source-path", path, "--destination-path", "out"];
        project.tool("move").args(to).run().error("PATH_NOT_ALLOWED");
    }
    for path in [profile, "copy", "link"] {
        project.tool("list-directory").args(["--path", path, "--all"]).run().error("PATH_NOT_ALLOWED");
        project.tool("find-files").args(["--path", path, "--glob", "*"]).run().error("PATH_NOT_ALLOWED");
        let away = ["--source-path", path, "--destination-path", "out"];
        if path != "link" {
            project.tool("move").args(away).run().error("PATH_NOT_ALLOWED");
            project.tool("delete-directory").args(["--path", path, "--permanent"]).run().error("PATH_NOT_ALLOWED");
        }
    }
    for (name, arguments) in [("search-file-content", &["--pattern", "needle"][..]), ("find-files", &["--glob", "*"])] {
        let found = project.tool(name).args(arguments).args(["--no-ignore", "--hidden"]).run();
        let paths = found.answer().to_string();
        assert!(!paths.contains("Cookies") && !paths.contains("session.json") && paths.contains("open.md"), "{paths}");
    }
    let list = project.tool("list-directory").args(["--all", "--depth", "9"]).run();
    assert!(!list.answer()["entries"].to_string().contains("Cookies"));
    assert!(project.path().join(&cookies).exists());
    project.tool("write-file").args(["--path", "Local State", "--content", "x"]).run().error("PATH_NOT_ALLOWED");
}

/// Nothing lets a model read a server's token, or lead the next call to another project root.
#[test]
fn protected_files_cannot_be_moved() {
    let holder = Project::new();
    holder.write(".git/config", "");
    holder.write("other/secret.txt", "needle");
    holder.write("project/.git/config", "");
    holder.write("project/.tmp/cache/mcp_token", "needle");
    holder.write("project/.tmp/cache/.gitignore", "*\n");
    holder.write("project/.tmp/cache/browser_profile/Default/Cookies", "needle");
    let project = holder.path().join("project");
    let call = |tool: &str, arguments: serde_json::Value| {
        let call = holder.tool("call").arg(tool).env("RAGMAKER_PROJECT_ROOT", "").directory(&project);
        call.stdin(arguments.to_string()).run()
    };
    let path = |path: &str| serde_json::json!({ "path": path });
    let from = |path: &str| serde_json::json!({"source_path": path, "destination_path": "moved"});
    for (tool, arguments) in
        [("read_file", path(".tmp/cache/mcp_token")), ("html_to_markdown", path(".tmp/cache/mcp_token"))]
    {
        call(tool, arguments).error("PATH_NOT_ALLOWED");
    }
    let found = call("search_file_content", serde_json::json!({"pattern": "needle", "ignore": false, "hidden": true}));
    found.error("NO_MATCHES");
    for name in [".git", ".tmp", ".tmp/cache", ".tmp/cache/.gitignore", ".git/config"] {
        call("move", from(name)).error("PATH_NOT_WRITABLE");
    }
    for name in [".git", ".tmp", ".tmp/cache"] {
        call("delete_directory", path(name)).error("PATH_NOT_WRITABLE");
    }
    for name in [".git/hooks/post-checkout", ".tmp/cache/.gitignore"] {
        call("write_file", serde_json::json!({"path": name, "content": "x"})).error("PATH_NOT_WRITABLE");
    }
    call("read_file", path("../other/secret.txt")).error("PATH_NOT_ALLOWED");
    // Another marker than Git's.
    let marked = Project::new();
    marked.write("package.json", "{}");
    let call = marked.tool("call").arg("delete_file").env("RAGMAKER_PROJECT_ROOT", "");
    call.stdin(path("package.json").to_string()).run().error("PATH_NOT_WRITABLE");
}

/// A catalog that a model can write opens nothing above the root that it is written in.
#[test]
fn a_catalog_opens_nothing_above_a_writable_root() {
    let holder = Project::new();
    holder.write("secret.txt", "needle");
    holder.write("cache/a.md", "a");
    let project = holder.path().join("cache");
    let call = |tool: &str, arguments: serde_json::Value| {
        holder.tool("call").arg(tool).env("RAGMAKER_PROJECT_ROOT", &project).stdin(arguments.to_string()).run()
    };
    call("write_file", serde_json::json!({"path": "catalog.json", "content": "{\"documents\": []}"})).answer();
    call("read_file", serde_json::json!({"path": "../secret.txt"})).error("PATH_NOT_ALLOWED");
}

/// Exported sign-ins are closed wherever they are and whatever they are called, and a session can still take them over.
#[test]
fn exported_sign_ins_are_closed() {
    let project = Project::new();
    let cookie = r#"{"name": "a", "value": "needle", "domain": ".x.example", "path": "/"}"#;
    project.write("notes/state.json", format!("{{\"cookies\": [{cookie}], \"origins\": []}}"));
    project.write("notes/cookies.txt", "# Netscape HTTP Cookie File\n.x.example\tTRUE\t/\tTRUE\t0\ta\tneedle\n");
    project.write("notes/open.md", "# Cookies\n\nA cookie holds a needle.\n");
    for path in ["notes/state.json", "notes/cookies.txt"] {
        let error = project.tool("read-file").args(["--path", path]).run();
        assert!(error.error("PATH_NOT_ALLOWED")["message"].as_str().unwrap().contains("cookies"), "{path}");
        project.tool("move").args(["--source-path", path, "--destination-path", "a"]).run().error("PATH_NOT_ALLOWED");
        let read =
            project.tool("call").arg("html_to_markdown").stdin(serde_json::json!({"path": path}).to_string()).run();
        read.error("PATH_NOT_ALLOWED");
    }
    let many = project.tool("read-many-files").args(["--path", "notes"]).run();
    assert!(!many.answer().to_string().contains(".x.example"), "{}", many.answer());
    let found = project.tool("search-file-content").args(["--pattern", "needle"]).run();
    assert!(found.answer()["matches"].to_string().contains("open.md"), "{}", found.answer());
    assert!(!found.answer()["matches"].to_string().contains("state.json"), "{}", found.answer());
    let synced = project.tool("file-sync").args(["--source-dir", "notes", "--kb-root", "kb", "--include", "*"]).run();
    assert_eq!((&synced.answer()["counts"]["added"], &synced.answer()["counts"]["failed"]), (&1.into(), &2.into()));
}

/// A catalog outside the project opens the documents that it lists, and nothing beside them.
#[test]
fn a_catalog_elsewhere_opens_its_documents_alone() {
    let (project, elsewhere) = (Project::new(), Project::new());
    let listed = r#"{"documents": [
        {"url": "https://x.example/a", "title": "A", "path": "documents/a.md"},
        {"url": "https://x.example/b", "title": "B", "path": "../pages/b.md"},
        {"url": "https://x.example/c", "title": "C", "path": "../../other/c.md"}]}"#;
    elsewhere.write("kb/cache/catalog.json", listed);
    for path in ["kb/cache/documents/a.md", "kb/pages/b.md", "kb/cache/reports/run.jsonl"] {
        elsewhere.write(path, "open needle\n");
    }
    let closed = ["kb/cache/documents/private.md", "kb/pages/private.md", "kb/notes/private.md", "other/c.md"];
    for path in closed {
        elsewhere.write(path, "closed needle\n");
    }
    let call = |tool: &str, arguments: serde_json::Value| {
        project.tool("call").arg(tool).env("RAGMAKER_PROJECT_ROOT", project.path()).stdin(arguments.to_string()).run()
    };
    let at = |path: &str| elsewhere.path().join(path).to_str().unwrap().to_owned();
    for path in ["kb/cache/documents/a.md", "kb/pages/b.md", "kb/cache/reports/run.jsonl", "kb/cache/catalog.json"] {
        call("read_file", serde_json::json!({"path": at(path)})).answer();
    }
    for path in closed.into_iter().chain(["kb/notes"]) {
        call("list_directory", serde_json::json!({"path": at(path)})).error("PATH_NOT_ALLOWED");
        call("read_file", serde_json::json!({"path": at(path)})).error("PATH_NOT_ALLOWED");
    }
    call("read_file", serde_json::json!({"path": at("kb/cache/documents/none.md")})).error("FILE_NOT_FOUND");
    let everything = [
        call("search_file_content", serde_json::json!({"pattern": "needle", "path": at("kb")})),
        call("find_files", serde_json::json!({"glob": "*", "path": at("kb")})),
        call("list_directory", serde_json::json!({"path": at("kb"), "depth": 9})),
        call("read_many_files", serde_json::json!({"path": [at("kb")]})),
    ];
    for output in &everything {
        let text = output.answer().to_string();
        assert!(text.contains("a.md") && !text.contains("private") && !text.contains("notes"), "{text}");
    }
    let exported =
        call("export_knowledge_base", serde_json::json!({"kb_root": at("kb"), "format": "jsonl", "output": "x.jsonl"}));
    assert_eq!(exported.answer()["documents"], 2);
    // The host may open all of it.
    let named = project.tool("read-file").args(["--path", &at("kb/notes/private.md"), "--kb-root", &at("kb")]).run();
    assert!(named.answer()["content"].as_str().unwrap().contains("closed"));
}
