//! What a release needs: one version everywhere, packages without files from outside, complete manifests.

use std::{fs, path::Path};

use ragmaker_tests::discovery::workspace;

fn read(path: impl AsRef<Path>) -> String {
    let path = workspace().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The version in `[workspace.package]`.
fn version() -> String {
    let manifest = read("Cargo.toml");
    let (_, package) = manifest.split_once("[workspace.package]").unwrap();
    package.lines().find_map(|line| line.strip_prefix("version = ")).unwrap().trim_matches('"').to_owned()
}

/// The folders of the crates that can be published.
fn published() -> Vec<String> {
    let mut folders = vec!["registry".to_owned(), "registry/clients".to_owned()];
    for group in ["shared", "tools"] {
        for entry in fs::read_dir(workspace().join(group)).unwrap() {
            let folder = format!("{group}/{}", entry.unwrap().file_name().to_string_lossy());
            if workspace().join(&folder).join("Cargo.toml").is_file() {
                folders.push(folder);
            }
        }
    }
    folders.retain(|folder| !read(format!("{folder}/Cargo.toml")).contains("\npublish = false\n"));
    assert!(folders.len() > 75, "{folders:?}");
    folders
}

#[test]
fn the_version_is_the_same_everywhere() {
    let version = version();
    let changelog = read("CHANGELOG.md");
    let newest = changelog.lines().find_map(|line| line.strip_prefix("## [")).unwrap();
    assert!(newest.starts_with(&format!("{version}] - ")), "CHANGELOG.md has {newest}, Cargo.toml {version}");
    let manifest = read("Cargo.toml");
    let mut found = 0;
    for line in manifest.lines().filter(|line| line.starts_with("ragmaker") && !line.starts_with("ragmaker-testkit")) {
        assert!(line.ends_with(&format!(", version = \"{version}\" }}")), "{line}");
        found += 1;
    }
    assert!(found > 75, "{found}");
}

#[test]
fn every_published_crate_is_described() {
    for folder in published() {
        let manifest = read(format!("{folder}/Cargo.toml"));
        let (package, _) = manifest.split_once("\n\n").unwrap();
        for member in ["description", "version", "license", "repository", "keywords", "categories", "rust-version"] {
            let is_there = package.lines().any(|line| line.starts_with(member));
            assert!(is_there, "{folder} has no {member}");
        }
        assert!(
            !manifest.contains("path = \"../"),
            "{folder}: take dependencies from the workspace, with their version"
        );
    }
}

/// A package has the files of its folder only: `include_str!` of another file compiles here and not from crates.io.
#[test]
fn no_published_crate_includes_a_file_from_outside() {
    for folder in published() {
        let source = workspace().join(&folder).join("src");
        let mut left = vec![source.clone()];
        while let Some(path) = left.pop() {
            if path.is_dir() {
                left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                continue;
            }
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let depth = path.parent().unwrap().strip_prefix(&source).unwrap().components().count();
            for (at, _) in text.match_indices("include_") {
                let Some(name) = text[at..].split_once("!(\"").and_then(|(_, rest)| rest.split('"').next()) else {
                    continue;
                };
                let up = name.split('/').take_while(|part| *part == "..").count();
                assert!(up <= depth + 1, "{}: {name} is outside of the crate", path.display());
            }
        }
    }
}

#[test]
fn workflows_run_the_commands_that_are_documented() {
    let test = read(".github/workflows/test.yml");
    assert!(
        test.contains("run: .ci/run") && ["ubuntu", "macos", "windows"].iter().all(|os| test.contains(os)),
        "{test}"
    );
    let release = read(".github/workflows/release.yml");
    assert!(release.contains("tags: [\"v*\"]") && release.contains("cargo xtask dist --twice --deb"), "{release}");
    // The installer knows the targets that are released.
    let installer = read("xtask/dist/install.sh");
    for line in release.lines().filter_map(|line| line.trim().strip_prefix("target: ")) {
        assert!(installer.contains(line), "{line}");
    }
}

/// What a workflow or the release runs has one version, so that the same commit gives the same result later.
#[test]
fn actions_toolchain_and_cargo_deb_are_pinned() {
    let manifest = read("Cargo.toml");
    let minimum = manifest.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap().trim_matches('"');
    let toolchain = format!("RUSTUP_TOOLCHAIN: \"{minimum}.0\"");
    for name in ["test", "release"] {
        let workflow = read(format!(".github/workflows/{name}.yml"));
        let actions: Vec<_> = workflow.lines().filter_map(|line| line.trim().strip_prefix("- uses: ")).collect();
        assert!(actions.len() >= 3, "{name}: {actions:?}");
        for action in actions {
            let (commit, release) = action.split_once('@').unwrap().1.split_once(" # v").unwrap();
            assert!(commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit()), "{action}");
            assert_eq!(release.split('.').count(), 3, "{action}");
        }
        assert!(workflow.contains(&toolchain), "{name}: {toolchain}");
    }
    let source = read("xtask/dist/src/executable.rs");
    let version = source.lines().find_map(|line| line.strip_prefix("const CARGO_DEB: &str = ")).unwrap();
    let install = format!("cargo install --locked cargo-deb@{}", version.trim_matches(['"', ';']));
    for path in [".github/workflows/release.yml", "CONTRIBUTING.md"] {
        assert!(read(path).contains(&install), "{path}: {install}");
    }
}

#[test]
fn the_container_has_what_the_tools_need_and_is_not_root() {
    let file = read("Containerfile");
    for part in ["chromium", "chromium-driver", "chromium-sandbox", "poppler-utils", "COPY target/dist/ragmaker/"] {
        assert!(file.contains(part), "{part}");
    }
    let lines: Vec<_> = file.lines().collect();
    let user = lines.iter().position(|line| *line == "USER ragmaker").unwrap();
    assert!(lines.iter().position(|line| line.starts_with("ENTRYPOINT")).unwrap() > user);
    assert!(!file.contains("--no-sandbox") && !file.contains("USER root"), "{file}");
}
