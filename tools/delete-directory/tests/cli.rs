//! `ragmaker-delete-directory` from outside.

use std::path::PathBuf;

use ragmaker_testkit::Tree;

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-delete-directory");

#[test]
fn with_all_that_is_in_it() {
    let tree = Tree::new(TOOL);
    tree.write("dir/a/b", "b");
    let outside = tree.write("../outside/kept", "kept");
    std::os::unix::fs::symlink(outside.parent().unwrap(), tree.root.join("dir/link")).unwrap();
    let answer = tree.run(&["--path", "dir"]);
    let there = PathBuf::from(answer["trashed_to"].as_str().unwrap());
    assert!(there.join("a/b").exists() && !tree.root.join("dir").exists());
    tree.write("dir/a/b", "b");
    std::os::unix::fs::symlink(outside.parent().unwrap(), tree.root.join("dir/link")).unwrap();
    assert_eq!(tree.run(&["--path", "dir", "--permanent"])["deleted"], 4);
    assert!(outside.exists() && !tree.root.join("dir").exists());
    tree.write("file", "");
    assert_eq!(tree.error(&["--path", "file"]).0, "NOT_A_DIRECTORY");
    for root in [".", "..", tree.root.to_str().unwrap()] {
        assert!(
            ["PATH_NOT_WRITABLE", "PATH_NOT_ALLOWED"].contains(&tree.error(&["--path", root]).0.as_str()),
            "{root}"
        );
    }
}

#[test]
fn a_tree_may_be_deeper_than_open_files() {
    let tree = Tree::new(TOOL);
    tree.write(&format!("deep/{}file", "d/".repeat(200)), "");
    let command = tree.command(&["--path", "deep", "--permanent"]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "ulimit -n 32 && exec \"$0\" \"$@\""]).arg(command.get_program()).args(command.get_args());
    let output = shell.current_dir(&tree.root).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["deleted"], 202);
    assert!(!tree.root.join("deep").exists());
}
