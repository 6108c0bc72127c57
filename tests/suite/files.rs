//! The file tools under adverse conditions: permissions, full disks, links, concurrent programs.
#![cfg(unix)]

use std::{
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use ragmaker_tests::run::{Output, Project, Tool, executable};
use serde_json::{Value, json};

/// Longer than any of these calls takes, and not so long that a hang is not noticed.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

fn run(project: &Project, name: &str, arguments: &[&str]) -> Output {
    project.tool(name).args(arguments).within(WAIT_TIMEOUT).run()
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().map(|list| list.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
}

fn fields<'a>(list: &'a Value, name: &str) -> Vec<&'a str> {
    list.as_array().map(|list| list.iter().filter_map(|one| one[name].as_str()).collect()).unwrap_or_default()
}

/// Does `work` while `disturb` is done again and again.
fn while_disturbed(disturb: impl Fn() + Sync, work: impl FnOnce()) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                disturb();
            }
        });
        // Also where an assertion fails, or the scope would wait for the thread for ever.
        let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        done.store(true, Ordering::Relaxed);
        worked.unwrap_or_else(|cause| std::panic::resume_unwind(cause));
    });
}

/// Tools that run as somebody who owns nothing: where the tests run as the superuser, who may do all.
struct UnprivilegedUser<'a> {
    project: &'a Project,
    programs: PathBuf,
}

impl<'a> UnprivilegedUser<'a> {
    /// The numbers of the user `nobody`, by an old custom.
    const ID: u32 = 65_534;

    fn new(project: &'a Project) -> Self {
        let programs = project.path().parent().unwrap().join("programs");
        fs::create_dir(&programs).unwrap();
        fs::set_permissions(project.path().parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
        Self { project, programs }
    }

    fn run(&self, name: &str, arguments: &[&str]) -> Output {
        // Where only the superuser can go, nobody can run nothing; so the programs come here.
        let mut command = self.project.tool(name).args(arguments).into_command();
        if fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0) {
            let original = executable(&format!("ragmaker-{name}"));
            let copy = self.programs.join(original.file_name().unwrap());
            if !copy.exists() {
                // Not by this process, which forks: a child would hold the copy open for writing.
                assert!(Command::new("cp").arg(&original).arg(&copy).status().unwrap().success());
            }
            let mut other = Command::new(copy);
            other.args(command.get_args()).current_dir(self.project.path()).uid(Self::ID).gid(Self::ID);
            other.env("RAGMAKER_PROJECT_ROOT", self.project.path()).env("HOME", "/nonexistent");
            other.env_remove("XDG_DATA_HOME");
            command = other;
        }
        Tool::from(command).within(WAIT_TIMEOUT).run()
    }
}

#[test]
fn files_of_other_users() {
    let project = Project::new();
    let closed = project.write("closed/inside.md", "needle");
    let secret = project.write("secret.md", "needle");
    let open = project.write("open.md", "a needle\n");
    project.write("folder/kept.md", "kept");
    let mode = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let nobody = UnprivilegedUser::new(&project);
    mode(&secret, 0o000);
    mode(closed.parent().unwrap(), 0o000);
    mode(&project.path().join("folder"), 0o555);
    mode(project.path(), 0o555);

    for path in ["secret.md", "closed/inside.md"] {
        nobody.run("read-file", &["--path", path]).error("PERMISSION_DENIED");
    }
    let many =
        nobody.run("read-many-files", &["--path", "secret.md", "--path", "open.md", "--path", "closed/inside.md"]);
    assert_eq!(fields(&many.answer()["files"], "path"), [open.to_str().unwrap()]);
    let reasons = fields(&many.answer()["skipped"], "reason");
    assert!(reasons.len() == 2 && reasons.iter().all(|reason| reason.starts_with("PERMISSION_DENIED")), "{reasons:?}");
    let found = nobody.run("search-file-content", &["--pattern", "needle"]);
    assert_eq!((&found.answer()["total"], &found.answer()["files_searched"]), (&json!(1), &json!(2)));
    let unreadable = strings(&found.answer()["unreadable"]).join("\n");
    assert!(unreadable.contains("secret.md") && unreadable.contains("closed"), "{unreadable}");
    let list = nobody.run("list-directory", &["--depth", "3"]);
    assert!(fields(&list.answer()["entries"], "name").contains(&"closed"));
    assert!(strings(&list.answer()["unreadable"]).join("\n").contains("closed"));
    nobody.run("list-directory", &["--path", "closed"]).error("PERMISSION_DENIED");
    nobody.run("find-files", &["--path", "closed", "--glob", "*"]).error("PERMISSION_DENIED");
    let paths = nobody.run("find-files", &["--glob", "open.md"]);
    assert!(strings(&paths.answer()["unreadable"]).join("\n").contains("closed"));

    for (name, arguments) in [
        ("write-file", &["--path", "new.md", "--content", "x"][..]),
        ("write-file", &["--path", "open.md", "--content", "x"]),
        ("modify-file-content", &["--path", "open.md", "--old-text", "needle", "--new-text", "x"]),
        ("create-directory", &["--path", "new"]),
        ("move", &["--source-path", "open.md", "--destination-path", "moved.md"]),
        ("delete-file", &["--path", "open.md", "--permanent"]),
        ("delete-directory", &["--path", "folder", "--permanent"]),
    ] {
        nobody.run(name, arguments).error("PERMISSION_DENIED");
    }
    assert!(nobody.run("delete-file", &["--path", "open.md"]).stderr_json.is_some());
    mode(project.path(), 0o755);
    assert_eq!(fs::read_to_string(&open).unwrap(), "a needle\n");
    let mut left: Vec<_> = fs::read_dir(project.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["closed", "folder", "open.md", "secret.md"]);
    assert_eq!(fs::read_to_string(project.path().join("folder/kept.md")).unwrap(), "kept");
    // For those who remove it.
    mode(closed.parent().unwrap(), 0o755);
    mode(&project.path().join("folder"), 0o755);
}

#[test]
fn a_disk_that_is_full_and_one_that_is_read_only() {
    let project = Project::new();
    let disk = project.path().join("disk");
    fs::create_dir(&disk).unwrap();
    // A small disk that only these processes see.
    let script = "mount -t tmpfs -o size=64k tmpfs disk && printf old > disk/a.md && \"$1\" --path disk/a.md <large 2>full; \
                  \"$1\" --path disk/new/b.md <large 2>new; mount -o remount,ro disk && \"$1\" --path disk/a.md --content x 2>only; \
                  cat disk/a.md; ls -A disk; ls -A disk/new";
    project.write("large", "x".repeat(1 << 20));
    let mut shell = Command::new("unshare");
    shell.args(["--mount", "--map-root-user", "sh", "-c", script, "sh"]).arg(executable("ragmaker-write-file"));
    let output = shell.current_dir(project.path()).env("RAGMAKER_PROJECT_ROOT", project.path()).output();
    let Some(output) = output.ok().filter(|output| !output.stdout.is_empty()) else {
        return ragmaker_testkit::not_run("this machine lets nobody mount a disk");
    };
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "olda.md\nnew\n", "the old file, and no part of a new one");
    let error = |name: &str| -> Value {
        serde_json::from_slice(&fs::read(project.path().join(name)).unwrap()).unwrap_or_else(|_| panic!("{name}"))
    };
    for name in ["full", "new"] {
        let error = error(name);
        assert_eq!(error["error_code"], "IO_ERROR", "{error}");
        assert!(error["message"].as_str().unwrap().contains("space"), "{error}");
    }
    assert_eq!(error("only")["error_code"], "PERMISSION_DENIED");
}

#[test]
fn any_name_that_a_file_may_have() {
    let project = Project::with_odd_name();
    let names = [
        "sp ace.md",
        "qu\"o'te.md",
        "new\nline.md",
        "-dash.md",
        "--path.md",
        "が.md",
        "か\u{3099}.md",
        "[x]*?.md",
        "a\\b.md",
    ];
    for name in names {
        project.write(&format!("all/{name}"), format!("needle {name}"));
    }
    let bad = project.path().join("all").join(OsStr::from_bytes(b"bad\xFF.md"));
    fs::write(&bad, "needle").unwrap();
    let shown = bad.to_string_lossy();

    let list = run(&project, "list-directory", &["--path", "all"]);
    let entries = list.answer()["entries"].as_array().unwrap();
    assert_eq!(entries.len(), names.len() + 1);
    for entry in entries {
        let name = entry["name"].as_str().unwrap();
        assert!(names.contains(&name) != (entry["name_is_lossy"] == true), "{entry}");
    }
    let found = run(&project, "find-files", &["--glob", "*.md", "--path", "all"]);
    assert_eq!(strings(&found.answer()["lossy_paths"]), [shown.as_ref()]);
    for path in strings(&found.answer()["paths"]).into_iter().filter(|path| *path != shown) {
        let read = run(&project, "read-file", &["--path", path]);
        assert!(path.ends_with(read.answer()["content"].as_str().unwrap().trim_start_matches("needle ")));
    }
    let search = run(&project, "search-file-content", &["--pattern", "needle", "--path", "all"]);
    for found in search.answer()["matches"].as_array().unwrap() {
        assert_eq!(found["path"] == shown.as_ref(), found["path_is_lossy"] == true, "{found}");
    }
    assert_eq!(search.answer()["total"], names.len() + 1);
    let many = run(&project, "read-many-files", &["--path", "all"]);
    assert_eq!(many.answer()["files"].as_array().map(Vec::len), Some(names.len()));
    assert_eq!(fields(&many.answer()["skipped"], "path"), [shown.as_ref()]);

    // A name as another system writes it is not opened, but told.
    for (there, asked) in [("ガイド.md", "カ\u{3099}イト\u{3099}.md"), ("re\u{301}sume\u{301}.md", "résumé.md")]
    {
        let path = project.write(there, "x");
        let missing = run(&project, "read-file", &["--path", asked]);
        assert_eq!(missing.error("FILE_NOT_FOUND")["details"]["near"][0], path.to_str().unwrap());
    }
    for name in names {
        let (path, moved) = (format!("all/{name}"), format!("moved/{name}"));
        run(&project, "write-file", &["--path", &path, "--content", "one"]).answer();
        run(&project, "modify-file-content", &["--path", &path, "--old-text", "one", "--new-text", "two"]).answer();
        run(&project, "move", &["--source-path", &path, "--destination-path", &moved]).answer();
        assert_eq!(fs::read_to_string(project.path().join(&moved)).unwrap(), "two");
        run(&project, "delete-file", &["--path", &moved, "--permanent"]).answer();
    }
    assert_eq!(fs::read_dir(project.path().join("moved")).unwrap().count(), 0);
}

#[test]
fn circular_and_escaping_links() {
    let project = Project::new();
    let outside = project.path().parent().unwrap().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.md"), "needle").unwrap();
    let inside = project.write("a/b/inside.md", "needle");
    for (target, link) in [("../..", "a/b/up"), ("loop", "a/loop"), ("b", "a/again"), ("nowhere", "dangling")] {
        symlink(target, project.path().join(link)).unwrap();
    }
    symlink(&outside, project.path().join("out")).unwrap();
    symlink(outside.join("secret.md"), project.path().join("secret-link.md")).unwrap();
    let inside = inside.to_str().unwrap();

    let list = run(&project, "list-directory", &["--depth", "20"]);
    let mut names = fields(&list.answer()["entries"], "name");
    names.sort_unstable();
    assert_eq!(
        names,
        ["a", "a/again", "a/b", "a/b/inside.md", "a/b/up", "a/loop", "dangling", "out", "secret-link.md"]
    );
    assert_eq!(strings(&run(&project, "find-files", &["--glob", "**/*.md"]).answer()["paths"]), [inside]);
    let found = run(&project, "search-file-content", &["--pattern", "needle"]);
    assert_eq!(fields(&found.answer()["matches"], "path"), [inside]);
    let many = run(&project, "read-many-files", &["--path", ".", "--path", "out/secret.md", "--path", "out/*.md"]);
    assert_eq!(fields(&many.answer()["files"], "path"), [inside]);
    assert_eq!(many.answer()["skipped"].as_array().map(Vec::len), Some(2));
    for name in ["list-directory", "search-file-content", "find-files"] {
        let arguments = match name {
            "search-file-content" => &["--path", "out", "--pattern", "needle"][..],
            "find-files" => &["--path", "out", "--glob", "*"],
            _ => &["--path", "out"],
        };
        run(&project, name, arguments).error("PATH_NOT_ALLOWED");
    }
}

#[test]
fn a_directory_that_is_swapped_for_a_link_during_the_call() {
    let project = Project::new();
    let outside = project.path().parent().unwrap().join("outside");
    fs::create_dir_all(outside.join("folder")).unwrap();
    let secrets = ["secret.md", "folder/secret.md", "a.md"];
    for secret in secrets {
        fs::write(outside.join(secret), "old secret").unwrap();
    }
    let (inside, aside) = (project.path().join("sub/dir"), project.path().join("aside"));
    let swap = || {
        if fs::rename(&inside, &aside).is_ok() {
            let _ = symlink(&outside, &inside);
            let _ = fs::remove_file(&inside);
            let _ = fs::rename(&aside, &inside);
        }
    };
    project.write("sub/dir/a.md", "old");
    project.write("sub/other.md", "old");
    while_disturbed(swap, || {
        for round in 0..12 {
            for (name, arguments) in [
                ("list-directory", &["--path", "sub", "--depth", "5"][..]),
                ("list-directory", &["--path", "sub/dir", "--depth", "5"]),
                ("find-files", &["--path", "sub", "--glob", "**"]),
                ("find-files", &["--path", "sub/dir", "--glob", "**", "--sort", "name"]),
                ("search-file-content", &["--path", "sub", "--pattern", "old"]),
                ("search-file-content", &["--path", "sub/dir", "--pattern", "old"]),
                ("read-many-files", &["--path", "sub"]),
                ("modify-file-content", &["--path", "sub/dir/a.md", "--old-text", "old", "--new-text", "old new"]),
                ("create-directory", &["--path", "sub/dir/made/here"]),
                ("write-file", &["--path", "sub/dir/folder/written.md", "--content", "x"]),
                ("move", &["--source-path", "sub/dir/secret.md", "--destination-path", "stolen.md"]),
                ("move", &["--source-path", "sub/other.md", "--destination-path", "sub/dir/other.md", "--overwrite"]),
                ("delete-file", &["--path", "sub/dir/secret.md", "--permanent"]),
                ("delete-directory", &["--path", "sub/dir/folder", "--permanent"]),
            ] {
                let output = run(&project, name, arguments);
                let said = String::from_utf8_lossy(&output.raw.stdout);
                assert!(!said.contains("secret"), "round {round}: {name}: {said}");
            }
            let _ = fs::write(project.path().join("sub/other.md"), "old");
        }
    });
    for secret in secrets {
        assert_eq!(fs::read_to_string(outside.join(secret)).unwrap(), "old secret");
    }
    let mut left: Vec<_> = fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a.md", "folder", "secret.md"]);
    assert_eq!(fs::read_dir(outside.join("folder")).unwrap().count(), 1);
    assert!(!project.path().join("stolen.md").exists());
}

#[test]
fn files_that_vanish_grow_and_change_while_they_are_read() {
    let project = Project::new();
    let (first, second) = (project.write("tree/a.md", "old needle\n"), project.path().join("tree/b.md"));
    project.write("tree/still.md", "needle\n");
    let disturb = || {
        let _ = fs::rename(&first, &second);
        let _ = fs::write(&second, "needle\n".repeat(40_000));
        let _ = fs::write(&second, "");
        let _ = fs::remove_file(&second);
        let _ = fs::write(&first, "old needle\n");
    };
    while_disturbed(disturb, || {
        for _ in 0..40 {
            let read = run(&project, "read-file", &["--path", "tree/a.md"]);
            match &read.stdout_json {
                Some(answer) => {
                    let content = answer["content"].as_str().unwrap();
                    assert!("old needle\n".starts_with(content) || content.lines().all(|line| line == "needle"));
                }
                None => _ = read.error("FILE_NOT_FOUND"),
            }
            let found = run(&project, "search-file-content", &["--pattern", "needle", "--path", "tree"]);
            assert!(found.answer()["total"].as_u64().unwrap() >= 1);
            let many = run(&project, "read-many-files", &["--path", "tree"]);
            let contents = fields(&many.answer()["files"], "content");
            assert!(contents.contains(&"needle\n") || many.answer()["truncated"] == true, "{contents:?}");
            run(&project, "list-directory", &["--path", "tree"]).answer();
            run(&project, "find-files", &["--glob", "*.md", "--path", "tree"]).answer();
        }
    });
}

#[test]
fn many_writers_at_once() {
    let project = Project::new();
    let words: Vec<String> = (0..16).map(|n| format!("<word {n}>")).collect();
    project.write("shared.md", words.join("\n"));
    thread::scope(|scope| {
        for word in &words {
            let project = &project;
            scope.spawn(move || {
                let arguments = ["--path", "shared.md", "--old-text", word, "--new-text", "done"];
                assert_eq!(run(project, "modify-file-content", &arguments).answer()["replacements"], 1);
                run(project, "write-file", &["--path", "shared.md", "--append", "--content", "\nadded"]).answer();
                // Of those who write the whole, one is the last; nobody sees a part.
                run(project, "write-file", &["--path", "whole.md", "--content", &word.repeat(9000)]).answer();
                let whole = fs::read_to_string(project.path().join("whole.md")).unwrap();
                assert!(whole.len() >= 9000 * 8 && whole == whole[..=whole.find('>').unwrap()].repeat(9000));
            });
        }
    });
    let text = fs::read_to_string(project.path().join("shared.md")).unwrap();
    assert_eq!((text.matches("done").count(), text.matches("added").count(), text.contains("word")), (16, 16, false));
    let mut left: Vec<_> = fs::read_dir(project.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["shared.md", "whole.md"]);
    let created = thread::scope(|scope| {
        let make = || run(&project, "write-file", &["--path", "one.md", "--content", "x", "--create-only"]).code == 0;
        let callers: Vec<_> = (0..8).map(|_| scope.spawn(make)).collect();
        callers.into_iter().filter_map(|caller| caller.join().ok()).filter(|made| *made).count()
    });
    assert_eq!(created, 1);
}

#[test]
fn files_ignored_by_git_are_omitted_everywhere() {
    let project = Project::new();
    for (path, text) in [
        (".git/info/exclude", "*.excluded\n"),
        (".gitignore", "*.log\nbuild/\n"),
        ("config/git", "[core]\n\texcludesFile = ~/everywhere\n"),
        ("../home/everywhere", "*.bak\n"),
        ("a.md", "needle"),
        ("a.log", "needle"),
        ("a.bak", "needle"),
        ("a.excluded", "needle"),
        ("build/made.md", "needle"),
    ] {
        project.write(path, text);
    }
    let home = project.path().parent().unwrap().join("home");
    let tool = |name: &str, arguments: &[&str]| {
        let tool = project.tool(name).args(arguments).env("HOME", &home);
        tool.env("GIT_CONFIG_GLOBAL", project.path().join("config/git")).within(WAIT_TIMEOUT).run()
    };
    for (path, file, pattern) in [
        ("a.log", ".gitignore", "*.log"),
        ("build/made.md", ".gitignore", "build/"),
        ("a.excluded", ".git/info/exclude", "*.excluded"),
        ("a.bak", "../home/everywhere", "*.bak"),
    ] {
        let refused = tool("read-file", &["--path", path]);
        let details = &refused.error("PATH_IGNORED")["details"];
        assert_eq!(details["ignore_file"], project.path().join(file).canonicalize().unwrap().to_str().unwrap());
        assert_eq!(details["pattern"], pattern);
        assert_eq!(tool("read-file", &["--path", path, "--no-ignore"]).answer()["content"], "needle");
        // What a walk leaves out, and a glob does not bring back.
        let name = path.rsplit('/').next().unwrap();
        tool("search-file-content", &["--pattern", "needle", "--include", name]).error("NO_MATCHES");
        tool("find-files", &["--glob", name]).error("NO_FILES");
        tool("read-many-files", &["--path", path]).error("NO_FILES");
    }
    let list = tool("list-directory", &[]);
    assert_eq!(fields(&list.answer()["entries"], "name"), ["a.md", "config"]);
    for (name, arguments) in [
        ("list-directory", &["--path", "build"][..]),
        ("find-files", &["--path", "build", "--glob", "*"]),
        ("search-file-content", &["--path", "build", "--pattern", "needle"]),
    ] {
        tool(name, arguments).error("PATH_IGNORED");
    }
    assert_eq!(fields(&tool("list-directory", &["--path", "build", "--all"]).answer()["entries"], "name"), ["made.md"]);
}

#[test]
fn invalid_ignore_files_have_no_effect() {
    let project = Project::new();
    project.write("a/b.md", "needle");
    assert!(Command::new("mkfifo").arg(project.path().join(".gitignore")).status().unwrap().success());
    symlink("/dev/zero", project.path().join("a/.ignore")).unwrap();
    fs::create_dir(project.path().join("a/.geminiignore")).unwrap();
    run(&project, "read-file", &["--path", "a/b.md"]).answer();
    run(&project, "list-directory", &["--depth", "3"]).answer();
    run(&project, "find-files", &["--glob", "*.md"]).answer();
    run(&project, "search-file-content", &["--pattern", "needle"]).answer();
    run(&project, "read-many-files", &["--path", "."]).answer();
    run(&project, "project-info", &["--resolve", "a/b.md"]).answer();
}

/// One rule for the formats: a notebook is Markdown, mail and rich text are text as they are.
#[test]
fn formats_are_read_alike_by_all_tools() {
    let project = Project::new();
    let notebook = json!({"cells": [{"cell_type": "markdown", "source": ["needle of *a notebook*"]}], "nbformat": 4});
    project.write("a.ipynb", notebook.to_string());
    project.write("b.eml", "Subject: tides\r\n\r\nneedle of a message\r\n");
    project.write("c.rtf", "{\\rtf1 needle of rich text}\n");
    for (name, line) in [
        ("a.ipynb", "needle of *a notebook*"),
        ("b.eml", "needle of a message"),
        ("c.rtf", "{\\rtf1 needle of rich text}"),
    ] {
        let read = run(&project, "read-file", &["--path", name]);
        let many = run(&project, "read-many-files", &["--path", name]);
        let found = run(&project, "search-file-content", &["--pattern", "needle", "--path", name]);
        let text = read.answer()["content"].as_str().unwrap().to_owned();
        assert!(text.lines().any(|read| read == line), "{name}: {text}");
        assert!(many.answer().to_string().contains(&json!(line).to_string().trim_matches('"').to_owned()), "{name}");
        assert_eq!(found.answer()["matches"][0]["text"], line, "{name}");
    }
}
