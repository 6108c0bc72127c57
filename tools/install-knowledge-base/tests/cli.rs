//! `ragmaker-install-knowledge-base` from outside.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use ragmaker_testkit::Tree;
use serde_json::{Value, json};

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-install-knowledge-base");

/// Writes a knowledge base with these documents: their URL, and their path as seen from the catalog.
fn knowledge_base(tree: &Tree, root: &str, title: &str, documents: &[(&str, &str)]) {
    let mut listed = vec![];
    for (url, path) in documents {
        tree.write(&format!("{root}/cache/{path}"), format!("{title}: {url}"));
        listed.push(json!({"url": url, "title": url, "path": path, "summary": title, "mine": 1.50}));
    }
    let catalog = json!({"title": title, "own": {"kept": true}, "documents": listed});
    tree.write(&format!("{root}/cache/catalog.json"), catalog.to_string());
}

fn catalog(tree: &Tree, root: &str) -> Value {
    serde_json::from_slice(&fs::read(tree.root.join(root).join("cache/catalog.json")).unwrap()).unwrap()
}

/// The text of each document of a knowledge base, by its URL; every one has a file.
fn documents(tree: &Tree, root: &str) -> BTreeMap<String, String> {
    let listed = catalog(tree, root);
    let text = |document: &Value| {
        let path = tree.root.join(root).join("cache").join(document["path"].as_str().unwrap());
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let listed = listed["documents"].as_array().unwrap();
    listed.iter().map(|document| (document["url"].as_str().unwrap().to_owned(), text(document))).collect()
}

/// Every file below a folder, with its content.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if entry.is_dir() && !entry.is_symlink() {
            found.extend(files(&entry));
        } else {
            found.insert(entry.clone(), fs::read(&entry).unwrap_or_default());
        }
    }
    found
}

#[test]
fn each_gets_a_folder_of_its_own() {
    let tree = Tree::new(TOOL);
    knowledge_base(&tree, "there/sea", "Sea", &[("u:a", "documents/a.md"), ("u:b", "../b.md")]);
    knowledge_base(&tree, "there/land", "Land", &[("u:c", "documents/a.md")]);
    let answer = tree.run(&["--source", "there/sea", "--source", "there/land", "--target-kb-root", "kb"]);
    let installed = answer["installed"].as_array().unwrap();
    assert_eq!(installed[0]["kb_root"], json!(tree.root.join("kb/sea")));
    assert_eq!(
        (&installed[0]["documents"], &installed[0]["added"], &installed[1]["added"]),
        (&json!(2), &json!(2), &json!(1))
    );
    assert_eq!(
        documents(&tree, "kb/sea"),
        [("u:a", "Sea: u:a"), ("u:b", "Sea: u:b")].map(|(a, b)| (a.into(), b.into())).into()
    );
    assert_eq!(documents(&tree, "kb/land")["u:c"], "Land: u:c");
    let sea = catalog(&tree, "kb/sea");
    assert_eq!(
        (&sea["title"], &sea["own"]["kept"], &sea["documents"][0]["mine"]),
        (&json!("Sea"), &json!(true), &json!(1.5))
    );
    // What was beside the cache is with the other documents now.
    assert_eq!(sea["documents"][1]["path"], "documents/b.md");
    assert_eq!(fs::read_dir(tree.root.join("kb")).unwrap().count(), 2, "nothing else is left");
    let twice = ["--source", "there/sea", "--target-kb-root", "kb"];
    let before = files(&tree.root);
    assert_eq!(tree.error(&twice).0, "TARGET_NOT_EMPTY");
    assert_eq!(files(&tree.root), before);
}

#[test]
fn existing_documents_are_kept() {
    let tree = Tree::new(TOOL);
    knowledge_base(&tree, "kb/sea", "Old", &[("u:a", "documents/a.md"), ("u:old", "documents/old.md")]);
    tree.write("kb/sea/notes.txt", "mine");
    knowledge_base(&tree, "new/sea", "New", &[("u:a", "documents/x.md"), ("u:b", "documents/old.md")]);
    let answer = tree.run(&["--source", "new/sea", "--target-kb-root", "kb", "--force"]);
    let done = &answer["installed"][0];
    assert_eq!((&done["documents"], &done["added"], &done["replaced"]), (&json!(3), &json!(1), &json!(1)));
    let expected = [("u:a", "New: u:a"), ("u:b", "New: u:b"), ("u:old", "Old: u:old")];
    assert_eq!(documents(&tree, "kb/sea"), expected.map(|(a, b)| (a.into(), b.into())).into());
    let listed = catalog(&tree, "kb/sea");
    assert_eq!((&listed["title"], &listed["documents"][0]["path"]), (&json!("Old"), &json!("documents/a.md")));
    assert_eq!(listed["documents"][2]["path"], "documents/old-2.md");
    assert_eq!(fs::read_to_string(tree.root.join("kb/sea/notes.txt")).unwrap(), "mine");
    // The source is as it was.
    assert_eq!(documents(&tree, "new/sea")["u:b"], "New: u:b");
    assert_eq!(fs::read_dir(tree.root.join("kb")).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn folders_are_kept_with_their_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let tree = Tree::new(TOOL);
    knowledge_base(&tree, "sea", "Sea", &[("u:a", "documents/a.md")]);
    tree.write("kb/.git/HEAD", "ref: refs/heads/main\n");
    for folder in ["refs/heads", "refs/tags", "objects"] {
        fs::create_dir_all(tree.root.join("kb/.git").join(folder)).unwrap();
    }
    let set = |path: &str, mode| fs::set_permissions(tree.root.join(path), fs::Permissions::from_mode(mode)).unwrap();
    set("kb", 0o750);
    set("kb/.git", 0o700);
    set("kb/.git/refs/tags", 0o500);
    tree.run(&["--source", "sea", "--target-kb-root", "kb", "--merge", "--force"]);
    let mode = |path: &str| fs::metadata(tree.root.join(path)).unwrap().permissions().mode() & 0o777;
    let paths = ["kb", "kb/.git", "kb/.git/refs/tags"];
    assert_eq!(paths.map(mode), [0o750, 0o700, 0o500]);
    assert!(["refs/heads", "objects"].iter().all(|folder| tree.root.join("kb/.git").join(folder).is_dir()));
    assert_eq!(documents(&tree, "kb").len(), 1);
    assert_eq!(
        fs::read_dir(&tree.root).unwrap().filter(|entry| entry.as_ref().unwrap().path().ends_with("kb")).count(),
        1
    );
}

#[test]
fn several_become_one() {
    let tree = Tree::new(TOOL);
    knowledge_base(&tree, "one", "One", &[("u:a", "documents/a.md")]);
    knowledge_base(&tree, "two", "Two", &[("u:b", "documents/a.md"), ("u:a", "documents/c.md")]);
    let answer = tree.run(&["--source", "one", "--source", "two/cache", "--target-kb-root", "all", "--merge"]);
    assert_eq!(answer["installed"].as_array().unwrap().len(), 1);
    assert_eq!(answer["installed"][0]["documents"], 2);
    assert_eq!(
        documents(&tree, "all"),
        [("u:a", "Two: u:a"), ("u:b", "Two: u:b")].map(|(a, b)| (a.into(), b.into())).into()
    );
    assert_eq!(catalog(&tree, "all")["title"], "One");
}

#[test]
fn knowledge_bases_of_the_original_are_accepted() {
    let tree = Tree::new(TOOL);
    knowledge_base(&tree, "one", "One", &[("u:a", "documents/a.md")]);
    let catalog_file = tree.root.join("one/cache/catalog.json");
    fs::rename(&catalog_file, tree.root.join("one/cache/discovery.json")).unwrap();
    knowledge_base(&tree, "two", "Two", &[("u:b", "documents/b.md")]);
    let catalog_file = tree.root.join("two/cache/catalog.json");
    fs::write(&catalog_file, format!("\u{feff}{}", fs::read_to_string(&catalog_file).unwrap())).unwrap();
    tree.run(&["--source", "one", "--source", "two", "--target-kb-root", "all", "--merge"]);
    assert_eq!(
        documents(&tree, "all"),
        [("u:a", "One: u:a"), ("u:b", "Two: u:b")].map(|(a, b)| (a.into(), b.into())).into()
    );
    // A target with a byte order mark keeps its documents.
    tree.run(&["--source", "all", "--target-kb-root", "two", "--merge", "--force"]);
    assert_eq!(documents(&tree, "two").len(), 2);
    let (code, error) = tree.error(&["--source", "all", "two", "--target-kb-root", "x"]);
    assert!(
        code == "ARGUMENT_ERROR" && error["remediation_suggestion"].as_str().unwrap().contains("add --source two"),
        "{error}"
    );
}

#[test]
fn documents_that_cannot_be_copied_are_listed() {
    let tree = Tree::new(TOOL);
    knowledge_base(
        &tree,
        "kb",
        "K",
        &[("u:a", "documents/a.md"), ("u:gone", "documents/gone.md"), ("u:out", "../../out.md")],
    );
    fs::remove_file(tree.root.join("kb/cache/documents/gone.md")).unwrap();
    let answer = tree.run(&["--source", "kb", "--target-kb-root", "new"]);
    assert_eq!((&answer["total"], &answer["installed"][0]["documents"]), (&json!(2), &json!(1)));
    assert_eq!(answer["left_out"][0]["path"], "documents/gone.md");
    for (arguments, code) in [
        (&["--target-kb-root", "x"][..], "ARGUMENT_ERROR"),
        (&["--source", "none", "--target-kb-root", "x"], "CATALOG_NOT_FOUND"),
        (&["--source", "kb", "--target-kb-root", ""], "ARGUMENT_ERROR"),
        (&["--source", "kb", "--target-kb-root", "kb", "--merge", "--force"], "ARGUMENT_ERROR"),
        (&["--source", "kb", "--source", "new/kb", "--target-kb-root", "x"], "ARGUMENT_ERROR"),
        (&["--source", "kb", "--target-kb-root", "kb/cache/catalog.json", "--merge"], "NOT_A_DIRECTORY"),
        (&["--arguments", r#"{"source": ["kb"], "target_kb_root": "../x"}"#], "PATH_NOT_ALLOWED"),
        (&["--arguments", r#"{"source": ["../x"], "target_kb_root": "x"}"#], "PATH_NOT_ALLOWED"),
    ] {
        let before = files(&tree.root);
        assert_eq!(tree.error(arguments).0, code, "{arguments:?}");
        assert_eq!(files(&tree.root), before, "{arguments:?}");
    }
    tree.write(".tmp/cache/browser_profile/Cookies", "c");
    assert_eq!(tree.error(&["--source", "kb", "--target-kb-root", ".tmp", "--merge", "--force"]).0, "ARGUMENT_ERROR");
    tree.write("bad/cache/catalog.json", "{");
    assert_eq!(tree.error(&["--source", "bad", "--target-kb-root", "x"]).0, "CATALOG_CORRUPT");
}

#[cfg(unix)]
#[test]
fn a_link_leads_nowhere_else() {
    let tree = Tree::new(TOOL);
    let outside = tempfile::tempdir().unwrap();
    knowledge_base(&tree, "kb", "K", &[("u:a", "documents/a.md")]);
    knowledge_base(&tree, "old", "O", &[]);
    std::os::unix::fs::symlink(outside.path(), tree.root.join("old/cache/documents")).unwrap();
    let merge = ["--source", "kb", "--target-kb-root", "old", "--merge", "--force"];
    assert_eq!(tree.error(&merge).0, "PATH_NOT_WRITABLE");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    assert!(tree.root.join("old/cache/documents").is_symlink());
    // A target that is a link stays one.
    fs::create_dir(tree.root.join("real")).unwrap();
    std::os::unix::fs::symlink("real", tree.root.join("led")).unwrap();
    tree.run(&["--source", "kb", "--target-kb-root", "led", "--merge"]);
    assert!(tree.root.join("led").is_symlink() && tree.root.join("real/cache/documents/a.md").is_file());
}

#[test]
fn a_kill_leaves_the_old_or_the_new() {
    let tree = Tree::new(TOOL);
    for (root, title, numbers) in [("kb", "Old", 0..300), ("new", "New", 200..500)] {
        let named: Vec<_> = numbers.map(|n| (format!("u:{n}"), format!("documents/{n}.md"))).collect();
        let named: Vec<_> = named.iter().map(|(url, path)| (url.as_str(), path.as_str())).collect();
        knowledge_base(&tree, root, title, &named);
    }
    let arguments = ["--source", "new", "--target-kb-root", "kb", "--merge", "--force"];
    let mut ended = 0;
    for delay in 0..25 {
        let mut child = tree.command(&arguments).spawn().unwrap();
        thread::sleep(Duration::from_millis(delay * 2));
        ended += usize::from(child.try_wait().unwrap().is_some());
        let _ = child.kill();
        let _ = child.wait();
        let found = documents(&tree, "kb");
        assert!([300, 500].contains(&found.len()), "{}", found.len());
        let new = found.values().filter(|text| text.starts_with("New")).count();
        assert!([0, 300].contains(&new), "{new}");
    }
    assert!(ended < 25, "none was killed");
    tree.run(&arguments);
    assert_eq!(documents(&tree, "kb").len(), 500);
    assert!(
        fs::read_dir(&tree.root).unwrap().all(|entry| !entry
            .unwrap()
            .file_name()
            .to_string_lossy()
            .contains("installing"))
    );
}

#[test]
fn two_at_once_take_turns() {
    let tree = Tree::new(TOOL);
    knowledge_base(&tree, "one", "One", &[("u:a", "documents/a.md")]);
    knowledge_base(&tree, "two", "Two", &[("u:b", "documents/a.md")]);
    let mut running = vec![];
    for source in ["one", "two", "one", "two"] {
        running.push(
            tree.command(&["--source", source, "--target-kb-root", "all", "--merge", "--force"]).spawn().unwrap(),
        );
    }
    for mut child in running {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(
        documents(&tree, "all"),
        [("u:a", "One: u:a"), ("u:b", "Two: u:b")].map(|(a, b)| (a.into(), b.into())).into()
    );
}
