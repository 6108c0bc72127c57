//! `ragmaker-github-fetch` from outside, against repositories that the tests make and serve.
#![cfg(unix)]

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use ragmaker_testkit::Tree;
use serde_json::{Value, json};

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-github-fetch");

/// Runs Git as a developer would, whatever the configuration of who runs the tests.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@x.example",
            "-c",
            "init.defaultBranch=main",
            "-c",
            "commit.gpgSign=false",
            "-c",
            "protocol.file.allow=always",
        ])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git is installed");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A repository with documents, in the project at `source`.
fn repository(tree: &Tree) -> PathBuf {
    let source = tree.root.join("source");
    for (name, content) in [
        ("README.md", "# Tidemark\n\nA repository."),
        ("docs/a.md", "# Tides\n\nTwo a day."),
        ("docs/b.rst", "Gauges\n======\n\nThey float."),
        (
            "docs/deep/c.html",
            "<title>Charts</title><main><h1>Charts</h1><p>Of the sea, see <a href=../a.md>tides</a> and so on.",
        ),
        ("docs/logo.png", "\u{89}PNG"),
        ("src/main.rs", "fn main() {}"),
    ] {
        fs::create_dir_all(source.join(name).parent().unwrap()).unwrap();
        fs::write(source.join(name), content).unwrap();
    }
    git(&source, &["init", "--quiet"]);
    commit(&source);
    source
}

fn commit(source: &Path) -> String {
    git(source, &["add", "--all"]);
    git(source, &["commit", "--quiet", "--allow-empty", "--message", "x"]);
    git(source, &["rev-parse", "HEAD"])
}

/// A server of all repositories in a folder, over Git's own protocol.
struct Daemon {
    child: Child,
    port: u16,
}

impl Daemon {
    fn new(folder: &Path) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = Command::new("git")
            .args(["daemon", "--reuseaddr", "--export-all", "--listen=127.0.0.1"])
            .arg(format!("--port={port}"))
            .arg(format!("--base-path={}", folder.display()))
            .env("GIT_CONFIG_COUNT", "2")
            .env("GIT_CONFIG_KEY_0", "uploadpack.allowFilter")
            .env("GIT_CONFIG_VALUE_0", "true")
            .env("GIT_CONFIG_KEY_1", "safe.directory")
            .env("GIT_CONFIG_VALUE_1", "*")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let started = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(started.elapsed() < Duration::from_secs(20), "git daemon does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        Self { child, port }
    }

    fn url(&self, name: &str) -> String {
        format!("git://127.0.0.1:{}/{name}", self.port)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It is a wrapper of the program that listens, which ends with it.
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}

fn fetch(tree: &Tree, arguments: &[&str]) -> Value {
    tree.run(&[arguments, &["--kb-root", "kb"]].concat())
}

fn count(answer: &Value, verdict: &str) -> u64 {
    answer["counts"][verdict].as_u64().unwrap()
}

fn listed(tree: &Tree) -> Vec<Value> {
    let catalog = fs::read(tree.root.join("kb/cache/catalog.json")).unwrap();
    serde_json::from_slice::<Value>(&catalog).unwrap()["documents"].as_array().unwrap().clone()
}

#[test]
fn documents_of_a_local_repository_are_saved_at_their_commit() {
    let tree = Tree::new(TOOL);
    let source = repository(&tree);
    let head = git(&source, &["rev-parse", "HEAD"]);
    let answer = fetch(&tree, &["--repo-url", "source"]);
    assert_eq!((count(&answer, "added"), answer["commit"].as_str()), (4, Some(head.as_str())), "{answer:#}");
    assert_eq!(answer["bytes_fetched"], 0);
    let listed = listed(&tree);
    let urls: Vec<&str> = listed.iter().filter_map(|one| one["url"].as_str()).collect();
    assert!(urls.contains(&format!("git+file://{}@{head}#docs/a.md", source.display()).as_str()), "{urls:?}");
    assert_eq!((&listed[0]["source"]["kind"], &listed[0]["source"]["commit"]), (&json!("git"), &json!(head)));
    let titles: Vec<&str> = listed.iter().filter_map(|one| one["title"].as_str()).collect();
    assert_eq!(titles, ["Tidemark", "Tides", "Gauges", "Charts"]);
    let catalog = fs::read_to_string(tree.root.join("kb/cache/catalog.json")).unwrap();
    assert!(catalog.contains("\"src_type\": \"github\"") && catalog.contains("\"title\": \"source\""), "{catalog}");
    // A work tree that was not committed is none of the repository.
    fs::write(source.join("docs/a.md"), "not committed").unwrap();
    assert_eq!(count(&fetch(&tree, &["--repo-url", "source"]), "unchanged"), 4);
    // Source files are code where they are asked for.
    let answer = fetch(&tree, &["--repo-url", "source", "--include", "*.rs"]);
    assert_eq!((count(&answer, "added"), count(&answer, "gone")), (1, 0), "{answer:#}");
    let path = answer["pages"][0]["file_path"].as_str().unwrap();
    assert!(fs::read_to_string(path).unwrap().contains("```rust\nfn main() {}\n```"));
}

#[test]
fn a_later_commit_changes_what_changed() {
    let tree = Tree::new(TOOL);
    let source = repository(&tree);
    let first = fetch(&tree, &["--repo-url", "source", "--path-in-repo", "docs"]);
    assert_eq!(count(&first, "added"), 3);
    let files = fs::read_dir(tree.root.join("kb/cache/documents")).unwrap().count();
    fs::write(source.join("docs/a.md"), "# Tides\n\nThree a day.").unwrap();
    git(&source, &["mv", "docs/b.rst", "docs/gauges.rst"]);
    git(&source, &["rm", "--quiet", "docs/deep/c.html"]);
    let head = commit(&source);
    let answer = fetch(&tree, &["--repo-url", "source", "--path-in-repo", "docs"]);
    let verdicts = ["changed", "moved", "gone", "unchanged", "added"].map(|verdict| count(&answer, verdict));
    assert_eq!(verdicts, [1, 1, 1, 0, 0], "{answer:#}");
    let listed = listed(&tree);
    assert_eq!(listed.len(), 3);
    assert!(listed.iter().filter(|one| one["url"].as_str().unwrap().contains(&head)).count() == 2, "{listed:#?}");
    // Neither has left a file of the old commit.
    assert_eq!(fs::read_dir(tree.root.join("kb/cache/documents")).unwrap().count(), files);
}

#[test]
fn of_a_remote_repository_only_what_is_wanted_is_fetched() {
    let tree = Tree::new(TOOL);
    let source = repository(&tree);
    // Bytes that cannot be compressed, beside the documents and in their history.
    for round in 0..3_u64 {
        let noise: Vec<u8> =
            (0..700_000_u64).map(|n| ((n + round * 7919).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as u8).collect();
        fs::write(source.join("src/noise.bin"), noise).unwrap();
        commit(&source);
    }
    git(&source, &["branch", "feature/x"]);
    git(&source, &["tag", "--annotate", "--message", "x", "v1"]);
    let head = git(&source, &["rev-parse", "HEAD"]);
    let daemon = Daemon::new(&tree.root);
    let url = daemon.url("source");
    let answer = fetch(&tree, &["--repo-url", &url, "--path-in-repo", "docs"]);
    assert_eq!((count(&answer, "added"), answer["commit"].as_str()), (3, Some(head.as_str())), "{answer:#}");
    let fetched = answer["bytes_fetched"].as_u64().unwrap();
    assert!(fetched > 0 && fetched < 105_000, "{fetched} of 2,100,000");
    assert_eq!(listed(&tree)[0]["url"], format!("git+{url}@{head}#docs/a.md"));
    for reference in ["feature/x", "v1", "main", &head] {
        let answer = fetch(&tree, &["--repo-url", &url, "--ref", reference, "--path-in-repo", "README.md"]);
        assert_eq!((answer["commit"].as_str(), &answer["ref"]), (Some(head.as_str()), &json!(reference)), "{answer:#}");
    }
    assert_eq!(count(&fetch(&tree, &["--repo-url", &url, "--path-in-repo", "docs"]), "unchanged"), 3);
}

#[test]
fn missing_repositories_refs_and_paths_have_their_own_codes() {
    let tree = Tree::new(TOOL);
    repository(&tree);
    fs::create_dir(tree.root.join("plain")).unwrap();
    let daemon = Daemon::new(&tree.root);
    let remote = daemon.url("source");
    let error = |arguments: &[&str]| tree.error(&[arguments, &["--kb-root", "kb"]].concat()).0;
    for repository in ["source", &remote] {
        assert_eq!(error(&["--repo-url", repository, "--ref", "none"]), "REF_NOT_FOUND");
        assert_eq!(error(&["--repo-url", repository, "--ref", &"0".repeat(40)]), "REF_NOT_FOUND");
        assert_eq!(error(&["--repo-url", repository, "--ref", "--upload-pack=x"]), "REF_NOT_FOUND");
        for path in ["none", "../outside", "docs/none.md"] {
            assert_eq!(error(&["--repo-url", repository, "--path-in-repo", path]), "PATH_NOT_FOUND", "{path}");
        }
    }
    assert_eq!(error(&["--repo-url", &daemon.url("none")]), "REPO_NOT_FOUND");
    assert_eq!(error(&["--repo-url", "plain"]), "REPO_NOT_FOUND");
    assert_eq!(error(&["--repo-url", "none"]), "REPO_NOT_FOUND");
    // A folder within a repository is none.
    assert_eq!(error(&["--repo-url", "source/docs"]), "REPO_NOT_FOUND");
    assert_eq!(error(&["--repo-url", "ext::sh -c x"]), "URL_NOT_ALLOWED");
    assert_eq!(error(&["--repo-url", &remote, "--allow-domain", "x.example"]), "DOMAIN_NOT_ALLOWED");
    let mut command = tree.command(&["--repo-url", "source", "--kb-root", "kb"]);
    let output = command.env("PATH", "/none").output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("GIT_NOT_FOUND"));
    // A server that asks who one is.
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/private", server.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in server.incoming().take(4) {
            use std::io::{Read, Write};
            let Ok(mut stream) = stream else { return };
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    assert_eq!(error(&["--repo-url", &address]), "AUTH_REQUIRED");
    assert!(!tree.root.join("kb/cache/documents").exists());
}

#[test]
#[allow(clippy::too_many_lines, reason = "one trap for each place that could run a program")]
fn nothing_of_a_repository_or_of_a_configuration_runs() {
    let tree = Tree::new(TOOL);
    let source = repository(&tree);
    let traps = tree.root.join("../traps");
    fs::create_dir(&traps).unwrap();
    // A program for each place that could run one; it leaves its name behind.
    let trap = |name: &str| {
        let lines = format!("touch '{}'\ncat", traps.join(name).display());
        let path = ragmaker_testkit::script(&traps, &format!("run-{name}"), &lines);
        path.to_str().unwrap().to_owned()
    };
    // Of the repository: hooks, a submodule, filters and a monitor in its own configuration.
    let hooks = source.join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in [
        "post-checkout",
        "pre-commit",
        "post-merge",
        "reference-transaction",
        "post-index-change",
        "fsmonitor-watchman",
        "pre-auto-gc",
        "proc-receive",
    ] {
        fs::copy(trap(&format!("hook-{hook}")), hooks.join(hook)).unwrap();
    }
    fs::write(source.join(".gitattributes"), "*.md filter=evil diff=evil merge=evil\n*.rst filter=lfs\n*.html ident\n")
        .unwrap();
    fs::write(source.join(".gitmodules"), "[submodule \"s\"]\n\tpath = s\n\turl = ext::sh -c touch% submodule\n")
        .unwrap();
    fs::write(source.join("docs/--upload-pack=touch x.md"), "# An option\n").unwrap();
    fs::write(source.join("docs/$(touch y).md"), "# A command\n").unwrap();
    fs::write(source.join("docs/lfs.md"), "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n")
        .unwrap();
    symlink("/etc/passwd", source.join("docs/passwd.md")).unwrap();
    let head = git(&source, &["rev-parse", "HEAD"]);
    git(&source, &["add", "--all"]);
    git(&source, &["update-index", "--add", "--cacheinfo", &format!("160000,{head},s")]);
    git(&source, &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--message", "x"]);
    let evil = |prefix: &str| {
        [
            ("filter.evil.smudge", "filter"),
            ("filter.evil.process", "process"),
            ("filter.lfs.smudge", "lfs"),
            ("filter.lfs.process", "lfs-process"),
            ("core.fsmonitor", "fsmonitor"),
            ("core.sshCommand", "ssh"),
            ("core.gitProxy", "proxy"),
            ("core.alternateRefsCommand", "alternates"),
            ("core.pager", "pager"),
            ("core.askPass", "askpass"),
            ("credential.helper", "credential"),
            ("diff.evil.textconv", "textconv"),
            ("diff.external", "diff"),
            ("uploadpack.packObjectsHook", "pack-objects"),
            ("alias.fetch", "alias"),
            ("gpg.program", "gpg"),
        ]
        .map(|(key, name)| (key, trap(&format!("{prefix}-{name}"))))
    };
    for (key, program) in evil("repository") {
        git(&source, &["config", key, &program]);
    }
    git(&source, &["config", "core.hooksPath", hooks.to_str().unwrap()]);
    // Of the user: the same in the configuration, in variables, and attributes for all repositories.
    let home = traps.join("home");
    fs::create_dir_all(home.join(".config/git")).unwrap();
    let section = |(key, program): (&str, String)| {
        let (section, name) = key.rsplit_once('.').unwrap();
        let section =
            section.split_once('.').map_or(section.to_owned(), |(section, sub)| format!("{section} \"{sub}\""));
        format!("[{section}]\n\t{name} = {program}\n")
    };
    let mut configuration: Vec<String> = evil("user").into_iter().map(section).collect();
    configuration.push(format!(
        "[core]\n\thooksPath = {}\n[url \"ext::sh -c \"]\n\tinsteadOf = git://\n[protocol]\n\tallow = always\n",
        hooks.display()
    ));
    fs::write(home.join(".gitconfig"), configuration.concat()).unwrap();
    fs::write(home.join(".config/git/attributes"), "* filter=evil\n").unwrap();
    // Git ran some of them while the repository was made.
    let sprung = || {
        let names = fs::read_dir(&traps).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| !name.starts_with("run-") && name != "home").collect::<Vec<_>>()
    };
    for name in sprung() {
        fs::remove_file(traps.join(name)).unwrap();
    }
    let ssh = trap("variable-ssh");
    let external = trap("variable-diff");
    let daemon = Daemon::new(&tree.root);
    let remote = daemon.url("source");
    for (number, repository) in ["source", &remote].into_iter().enumerate() {
        let kb = format!("kb{number}");
        let output = tree
            .command(&["--repo-url", repository, "--kb-root", &kb])
            .env("HOME", &home)
            .env("GIT_SSH_COMMAND", &ssh)
            .env("GIT_EXTERNAL_DIFF", &external)
            .env("GIT_ASKPASS", &ssh)
            .env("GIT_PROXY_COMMAND", &ssh)
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "core.fsmonitor")
            .env("GIT_CONFIG_VALUE_0", &ssh)
            .env("GIT_TEMPLATE_DIR", &traps)
            .env("GIT_DIR", "/none")
            .output()
            .unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        // The four documents and two with odd names; the pointer of LFS is not content.
        assert_eq!((count(&answer, "added"), count(&answer, "failed")), (6, 1), "{answer:#}");
        let skipped = answer["skipped"].to_string();
        assert!(skipped.contains("it is a link") && skipped.contains("it is a submodule"), "{skipped}");
        // Content as it was committed, which a filter would have changed.
        let files = fs::read_dir(tree.root.join(&kb).join("cache/documents")).unwrap();
        let texts: Vec<String> = files.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
        assert!(
            texts.iter().any(|text| text.contains("Two a day.")) && !texts.iter().any(|text| text.contains("root:"))
        );
    }
    assert_eq!(sprung(), Vec::<String>::new());
    assert!(!tree.root.join("x.md").exists() && !tree.root.join("y").exists() && !tree.root.join("submodule").exists());
    // The traps do work where Git is not kept from them.
    let checkout = traps.join("checkout");
    let status = Command::new("git")
        .args(["clone", "--quiet"])
        .arg(&source)
        .arg(&checkout)
        .env("HOME", &home)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stderr(Stdio::null())
        .status();
    let _ = status;
    assert!(traps.join("user-process").exists() || traps.join("user-filter").exists(), "no trap was sprung");
}

#[test]
fn a_pipe_among_the_files_of_a_repository_does_not_block() {
    let tree = Tree::new(TOOL);
    let source = repository(&tree);
    let pipe = tree.root.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let config = source.join(".git/config");
    let before = fs::read_to_string(&config).unwrap();
    // What the configuration includes is not opened.
    fs::write(&config, format!("{before}[include]\n\tpath = {}\n", pipe.display())).unwrap();
    let borrowed = source.join(".git/refs/heads/pipe");
    symlink(&pipe, &borrowed).unwrap();
    let (code, error) = tree.error(&["--repo-url", "source", "--kb-root", "kb"]);
    assert!(code == "GIT_FAILED" && error["message"].as_str().unwrap().contains("pipe"), "{error}");
    fs::remove_file(&borrowed).unwrap();
    assert_eq!(count(&fetch(&tree, &["--repo-url", "source"]), "added"), 4);
}

/// A server that sends every request on to `to`, and the number of its port.
fn redirecting(to: String) -> u16 {
    use std::io::{BufRead, BufReader, Write};
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            let path = line.split(' ').nth(1).unwrap_or_default();
            let head = "HTTP/1.1 301 Moved Permanently\r\nContent-Length: 0\r\nConnection: close\r\n";
            let _ = write!(stream, "{head}Location: {to}{path}\r\n\r\n");
        }
    });
    port
}

#[test]
fn a_redirect_does_not_lead_past_the_allowed_domains() {
    let tree = Tree::new(TOOL);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let elsewhere = listener.local_addr().unwrap().port();
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = std::sync::Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            drop(stream);
        }
    });
    let port = redirecting(format!("http://localhost:{elsewhere}"));
    let address = format!("http://127.0.0.1:{port}/r.git");
    let call = ["--repo-url", &address, "--kb-root", "kb"];
    let (code, error) = tree.error(&[&call[..], &["--allow-domain", "127.0.0.1"]].concat());
    assert!(code == "GIT_FAILED" && error["message"].as_str().unwrap().contains("redirects"), "{error}");
    assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 0);
    // Otherwise it is followed, as forges expect.
    tree.error(&call);
    assert!(asked.load(std::sync::atomic::Ordering::SeqCst) > 0);
}

#[test]
fn a_model_reads_repositories_of_the_project_alone() {
    let tree = Tree::new(TOOL);
    let source = repository(&tree);
    let call = |repository: &str| json!({"repo_url": repository, "kb_root": "kb"}).to_string();
    assert_eq!(count(&tree.run(&["--arguments", &call("source")]), "added"), 4);
    let outside = tree.root.join("../outside");
    git(&tree.root, &["clone", "--quiet", "--bare", source.to_str().unwrap(), outside.to_str().unwrap()]);
    let outside = outside.canonicalize().unwrap();
    assert_eq!(tree.error(&["--arguments", &call(outside.to_str().unwrap())]).0, "PATH_NOT_ALLOWED");
    assert_eq!(tree.error(&["--arguments", &call(&format!("file://{}", outside.display()))]).0, "PATH_NOT_ALLOWED");
    // Nor through a repository of the project that keeps its content outside.
    tree.write("work/.git", format!("gitdir: {}\n", outside.display()));
    assert_eq!(tree.error(&["--arguments", &call("work")]).0, "PATH_NOT_ALLOWED");
    git(&tree.root, &["init", "--quiet", "borrow"]);
    tree.write("borrow/.git/objects/info/alternates", format!("{}/objects\n", outside.display()));
    assert_eq!(tree.error(&["--arguments", &call("borrow")]).0, "PATH_NOT_ALLOWED");
    git(&tree.root, &["init", "--quiet", "linked"]);
    fs::remove_dir_all(tree.root.join("linked/.git/objects/pack")).unwrap();
    symlink(outside.join("objects/pack"), tree.root.join("linked/.git/objects/pack")).unwrap();
    assert_eq!(tree.error(&["--arguments", &call("linked")]).0, "PATH_NOT_ALLOWED");
    // Nor through the sixty-fifth of a chain of repositories, or a list that is too long to be read.
    for number in 0..70 {
        let next = if number < 69 {
            format!("../../chain-{}/objects", number + 1)
        } else {
            format!("{}/objects", outside.display())
        };
        tree.write(&format!("chain-{number}/objects/info/alternates"), format!("{next}\n"));
    }
    tree.write("borrow/.git/objects/info/alternates", "../../../chain-0/objects\n");
    assert_eq!(tree.error(&["--arguments", &call("borrow")]).0, "GIT_FAILED");
    let long = format!("#{}\n{}/objects\n", "x".repeat(1 << 20), outside.display());
    tree.write("borrow/.git/objects/info/alternates", long);
    assert_eq!(tree.error(&["--arguments", &call("borrow")]).0, "GIT_FAILED");
    tree.write("borrow/.git/objects/info/alternates", format!("\"{}/objects\"\n", outside.display()));
    assert_eq!(tree.error(&["--arguments", &call("borrow")]).0, "GIT_FAILED");
    symlink(&outside, tree.root.join("link")).unwrap();
    assert_eq!(tree.error(&["--arguments", &call("link")]).0, "PATH_NOT_ALLOWED");
    // A person may.
    assert_eq!(count(&tree.run(&["--repo-url", outside.to_str().unwrap(), "--kb-root", "other"]), "added"), 4);
}
