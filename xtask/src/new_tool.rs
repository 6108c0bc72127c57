//! `new-tool`: writes the files of a new tool and adds it to the list of tools. The new tool compiles and passes its
//! test without changes.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use argh::FromArgs;

use crate::{
    cargo::cargo,
    process::{root, run_visibly},
};

/// Write the files of a new tool and add it to the list of tools.
#[derive(FromArgs)]
#[argh(subcommand, name = "new-tool", help_triggers("-h", "--help"))]
pub(crate) struct Arguments {
    /// name of the tool and of its folder in tools/, such as read-file
    #[argh(positional)]
    name: String,
}

/// The crate that lists all tools.
const REGISTRY: &str = "registry";

/// The files of a tool in its folder. `__NAME__` is replaced by a name such as read-file, `__CRATE__` by `read_file`.
const FILES: [(&str, &str); 5] = [
    ("Cargo.toml", include_str!("new_tool/Cargo.toml.template")),
    ("src/lib.rs", include_str!("new_tool/lib.rs.template")),
    ("src/main.rs", include_str!("new_tool/main.rs.template")),
    ("tests/cli.rs", include_str!("new_tool/cli.rs.template")),
    ("examples.md", include_str!("new_tool/examples.md.template")),
];

pub(crate) fn run(Arguments { name }: &Arguments) -> anyhow::Result<()> {
    let folder = write(root(), name)?;
    // This program was built without the tool; the next build of it knows it.
    for task in ["discovery", "docs"] {
        run_visibly(&mut cargo(&["run", "--quiet", "--package", "xtask", "--", task]))?;
    }
    run_visibly(&mut cargo(&["test", "--quiet", "--package", &format!("ragmaker-{name}")]))?;
    println!("{} contains a sample tool that counts characters; replace its code.", folder.display());
    println!(
        "Add it to a group in registry/src/groups.rs. Run `cargo xtask discovery` and `cargo xtask docs` after each change."
    );
    Ok(())
}

/// Writes the tool `name` below the repository's `root`, and returns its folder.
fn write(root: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.split('-').all(is_word);
    ensure!(is_name, "{name:?} is not a name such as read-file: lower-case words with a hyphen between them");
    ensure!(!name.starts_with("ragmaker-"), "omit the prefix ragmaker-");
    let folder = root.join("tools").join(name);
    ensure!(!folder.exists(), "{} exists", folder.display());
    add_to_registry(root, name)?;
    for (path, template) in FILES {
        let path = folder.join(path);
        let text = template.replace("__NAME__", name).replace("__CRATE__", &name.replace('-', "_"));
        fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(folder)
}

/// Adds the tool to the manifests of the workspace and the registry, and to the list of the registry, in the order of
/// the folders.
fn add_to_registry(root: &Path, name: &str) -> anyhow::Result<()> {
    let registry = root.join(REGISTRY);
    let manifest = root.join("Cargo.toml");
    let workspace = fs::read_to_string(&manifest).with_context(|| format!("cannot read {}", manifest.display()))?;
    insert(&manifest, name, |line| {
        let (tool, rest) = line.strip_prefix("ragmaker-")?.split_once(" = { path = \"tools/")?;
        let rest = rest.strip_prefix(tool)?;
        Some((tool.to_owned(), format!("ragmaker-{name} = {{ path = \"tools/{name}{rest}")))
    })?;
    insert(&registry.join("Cargo.toml"), name, |line| {
        let tool = line.strip_prefix("ragmaker-")?.strip_suffix(".workspace = true")?;
        // Other lines are of libraries.
        let is_tool = workspace.contains(&format!("\nragmaker-{tool} = {{ path = \"tools/"));
        is_tool.then(|| (tool.to_owned(), format!("ragmaker-{name}.workspace = true")))
    })?;
    insert(&registry.join("src/list.rs"), name, |line| {
        // What may follow the name says more of a tool: `ragmaker_read_file.apart(),`.
        let listed = line.strip_prefix("    ragmaker_")?.strip_suffix(',')?;
        let tool = listed.split('.').next()?.replace('_', "-");
        Some((tool, format!("    ragmaker_{},", name.replace('-', "_"))))
    })
}

/// Inserts a line for the tool `name` in the file at `path` where the alphabet has it among those lines
/// of which `listed` makes the name of their tool and the line that the new tool gets.
fn insert(path: &Path, name: &str, listed: impl Fn(&str) -> Option<(String, String)>) -> anyhow::Result<()> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut lines: Vec<&str> = text.lines().collect();
    let tools: Vec<(usize, (String, String))> =
        lines.iter().enumerate().filter_map(|(at, line)| Some((at, listed(line)?))).collect();
    let (last, (_, new)) = tools.last().with_context(|| format!("{} lists no tools", path.display()))?;
    ensure!(tools.iter().all(|(_, (tool, _))| tool != name), "{} already lists {name}", path.display());
    let after = tools.iter().find(|(_, (tool, _))| tool.as_str() > name);
    lines.insert(after.map_or(last + 1, |(at, _)| *at), new);
    fs::write(path, lines.join("\n") + "\n").with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// A copy of what Git knows of the repository, or would add to it.
    fn copy(to: &Path) {
        let mut list = Command::new("git");
        list.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root());
        let files = String::from_utf8(list.output().unwrap().stdout).unwrap();
        // A file that was deleted and not yet committed is listed, too.
        for file in files.split_terminator('\0').filter(|file| root().join(file).is_file()) {
            fs::create_dir_all(to.join(file).parent().unwrap()).unwrap();
            fs::copy(root().join(file), to.join(file)).unwrap();
        }
    }

    fn registry(root: &Path) -> (String, String) {
        let read = |file: &str| fs::read_to_string(root.join(REGISTRY).join(file)).unwrap();
        (read("Cargo.toml"), read("src/list.rs"))
    }

    #[test]
    fn tools_are_listed_in_the_order_of_their_folders() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["Cargo.toml", "registry/Cargo.toml", "registry/src/list.rs"] {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::copy(root().join(file), path).unwrap();
        }
        let (manifest, list) = registry(folder.path());
        // Before all, between two of which one is the beginning of the other, after all.
        for name in ["a", "move-files", "zip-3"] {
            write(folder.path(), name).unwrap();
        }
        let (new_manifest, new_list) = registry(folder.path());
        let at = |text: &str, name: &str| text.find(name).unwrap_or_else(|| panic!("{name} is not in {text}"));
        for (text, names) in [
            (
                &new_manifest,
                [
                    "ragmaker-a.workspace",
                    "ragmaker-browser-close.workspace",
                    "ragmaker-move.workspace",
                    "ragmaker-move-files.workspace",
                    "ragmaker-write-file.workspace",
                    "ragmaker-zip-3.workspace",
                ],
            ),
            (
                &new_list,
                [
                    "ragmaker_a,",
                    "ragmaker_browser_close",
                    "ragmaker_move,",
                    "ragmaker_move_files,",
                    "ragmaker_write_file",
                    "ragmaker_zip_3,",
                ],
            ),
        ] {
            assert!(names.is_sorted_by_key(|name| at(text, name)), "{text}");
        }
        let workspace = fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
        assert!(workspace.contains("\nragmaker-move-files = { path = \"tools/move-files\", version"), "{workspace}");
        // Nothing else is changed.
        assert_eq!(new_manifest.lines().count(), manifest.lines().count() + 3);
        assert_eq!(new_list.lines().count(), list.lines().count() + 3);
        assert!(write(folder.path(), "a").is_err());
    }

    #[test]
    fn only_names_of_lower_case_words_are_taken() {
        for name in ["", "Read", "read_file", "read--file", "-read", "read-", "9", "ragmaker-x", "a/b", "lésen"] {
            assert!(write(Path::new("/nonexistent"), name).is_err(), "{name:?}");
        }
    }

    #[test]
    #[ignore = "compiles a tool in a copy of the repository; `cargo xtask test` runs it"]
    fn a_new_tool_compiles_and_passes_its_test_and_lints() {
        // In the same place each time, so that what it builds replaces what it built.
        let target = root().join("target/new-tool");
        let copied = target.join("copy");
        if copied.exists() {
            fs::remove_dir_all(&copied).unwrap();
        }
        copy(&copied);
        let tool = write(&copied, "new-tool").unwrap();
        // What `cargo xtask discovery` would write, without building all tools for it.
        fs::create_dir(tool.join("examples")).unwrap();
        let entry = "//! Prints the entry.\nfn main() {\n    \
            println!(\"{:#}\", ragmaker_tool::describe::entry::<ragmaker_new_tool::Args>());\n}\n";
        fs::write(tool.join("examples/entry.rs"), entry).unwrap();
        let run = |subcommand: &[&str], rest: &[&str]| {
            let mut command = cargo(subcommand);
            command.args(["--package", "ragmaker-new-tool"]).args(rest);
            let output = command.current_dir(&copied).env("CARGO_TARGET_DIR", &target).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        fs::write(tool.join("discovery.json"), run(&["run", "--offline"], &["--example", "entry"])).unwrap();
        fs::remove_dir_all(tool.join("examples")).unwrap();
        let tested = run(&["test", "--offline"], &[]);
        assert!(tested.contains("1 passed"), "{tested}");
        run(&["clippy", "--offline"], &["--all-targets", "--", "--deny", "warnings"]);
        run(&["fmt"], &["--check"]);
    }
}
