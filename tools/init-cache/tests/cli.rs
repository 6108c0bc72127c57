//! `ragmaker-init-cache` from outside.

use std::fs;

use ragmaker_testkit::Tree;
use serde_json::json;

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-init-cache");

#[test]
fn the_cache_is_emptied_and_the_profile_kept() {
    let tree = Tree::new(TOOL);
    let cache = tree.root.join(".tmp/cache");
    // Made where it is missing.
    let answer = tree.run(&[]);
    assert_eq!((&answer["cache_directory"], &answer["trashed"]), (&json!(cache), &json!([])));
    assert!(cache.join(".gitignore").is_file());
    for file in [
        "catalog.json",
        "documents/a.md",
        "old.md",
        "browser_profile/Default/Cookies",
        "browser_profiles/work/x",
        "mcp_token",
        "other/b",
    ] {
        tree.write(&format!(".tmp/cache/{file}"), file);
    }
    let answer = tree.run(&[]);
    let names: Vec<_> = answer["trashed"].as_array().unwrap().iter().map(|entry| entry["name"].clone()).collect();
    assert_eq!(names, ["catalog.json", "documents", "old.md"]);
    assert_eq!(answer["total"], 3);
    assert_eq!(answer["kept"], json!([".gitignore", "browser_profile", "browser_profiles", "mcp_token", "other"]));
    for kept in ["browser_profile/Default/Cookies", "browser_profiles/work/x", "mcp_token", "other/b"] {
        assert_eq!(fs::read_to_string(cache.join(kept)).unwrap(), kept);
    }
    assert!(!cache.join("catalog.json").exists() && !cache.join("documents").exists());
    let trashed = answer["trashed"][1]["trashed_to"].as_str().unwrap();
    assert_eq!(fs::read_to_string(std::path::Path::new(trashed).join("a.md")).unwrap(), "documents/a.md");
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_project_is_not_followed() {
    let tree = Tree::new(TOOL);
    let other = Tree::new(TOOL);
    other.write("folder/catalog.json", "{}");
    let outside = other.root.join("folder");
    std::os::unix::fs::symlink(&outside, tree.root.join(".tmp")).unwrap();
    assert_eq!(tree.error(&[]).0, "PATH_NOT_ALLOWED");
    fs::remove_file(tree.root.join(".tmp")).unwrap();
    fs::create_dir(tree.root.join(".tmp")).unwrap();
    std::os::unix::fs::symlink(&outside, tree.root.join(".tmp/cache")).unwrap();
    assert_eq!(tree.error(&[]).0, "PATH_NOT_ALLOWED");
    let left: Vec<_> = outside.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["catalog.json"]);
}
