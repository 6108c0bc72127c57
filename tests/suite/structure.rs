//! The layout of the workspace, by its manifests and files: what depends on what, and how long files are.

mod imports;

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use ragmaker_tests::discovery::workspace;

/// The longest source file, in lines.
const MAX_LINES: usize = 500;

/// The crates in `group`, such as `tools`: folder and manifest.
fn crates(group: &str) -> Vec<(PathBuf, String)> {
    let folders = fs::read_dir(workspace().join(group)).unwrap().map(|entry| entry.unwrap().path());
    folders.filter_map(|folder| Some((folder.clone(), fs::read_to_string(folder.join("Cargo.toml")).ok()?))).collect()
}

/// The crates of this workspace that a manifest names as dependencies, also those of its tests.
fn needed(manifest: &str) -> impl Iterator<Item = &str> {
    let (_, dependencies) = manifest.split_once("dependencies]").unwrap_or_default();
    dependencies.lines().filter_map(|line| line.strip_prefix("ragmaker-")?.split(['.', ' ', '=']).next())
}

#[test]
fn nothing_below_the_registry_depends_on_a_tool() {
    let name = |folder: &Path| folder.file_name().unwrap().to_str().unwrap().to_owned();
    let tools: BTreeSet<String> = crates("tools").iter().map(|(folder, _)| name(folder)).collect();
    assert!(tools.len() > 35, "{}", tools.len());
    let mut found = vec![];
    for (folder, manifest) in crates("tools").into_iter().chain(crates("shared")) {
        let hosts = manifest.contains("ragmaker-registry");
        let others = needed(&manifest).filter(|needed| tools.contains(*needed) || *needed == "registry");
        found.extend(others.filter(|_| !hosts).map(|other| format!("{} needs {other}", folder.display())));
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn source_files_are_short() {
    let groups = ["shared", "tools", "registry", "xtask", "tests"];
    let mut folders: Vec<PathBuf> = groups.map(|group| workspace().join(group)).to_vec();
    let (mut files, mut long) = (0, vec![]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir()
                && !["target", "node_modules"].map(Path::new).contains(&Path::new(path.file_name().unwrap()))
            {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| ["rs", "py", "js"].map(OsStr::new).contains(&extension))
            {
                files += 1;
                let lines = fs::read_to_string(&path).unwrap().lines().count();
                long.extend((lines > MAX_LINES).then(|| format!("{}: {lines} lines", path.display())));
            }
        }
    }
    assert!(files > 300, "{files}");
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn no_files_import_each_other() {
    let groups = ["tools", "shared", ".", "registry", "xtask"]
        .into_iter()
        .flat_map(crates)
        .map(|(folder, _)| folder.join("src"));
    let sources: Vec<PathBuf> = groups.filter(|source| source.is_dir()).collect();
    assert!(sources.len() > 70, "{}", sources.len());
    let cycles: Vec<String> = sources.iter().flat_map(|source| imports::cycles(source)).collect();
    assert!(cycles.is_empty(), "{cycles:#?}");
}

/// The fuzz targets are in no workspace, so nothing else compiles them.
#[test]
fn the_fuzz_targets_have_the_crates_that_they_use() {
    let (mut targets, mut missing) = (0, vec![]);
    for (folder, _) in crates("shared").into_iter().chain(crates("tools")) {
        let fuzz = folder.join("fuzz");
        let Ok(manifest) = fs::read_to_string(fuzz.join("Cargo.toml")) else { continue };
        let own: BTreeSet<&str> = needed(&manifest).collect();
        for path in fs::read_dir(fuzz.join("fuzz_targets")).unwrap().map(|entry| entry.unwrap().path()) {
            targets += 1;
            let source = fs::read_to_string(&path).unwrap();
            for (at, _) in source.match_indices("ragmaker_") {
                let name = source[at + "ragmaker_".len()..].split(|c: char| !c.is_alphanumeric() && c != '_').next();
                let name = name.unwrap_or_default().replace('_', "-");
                if !own.contains(name.as_str()) {
                    missing.push(format!("{}: {name}", path.display()));
                }
            }
        }
    }
    assert!(targets >= 9, "{targets}");
    assert!(missing.is_empty(), "{missing:#?}");
}
