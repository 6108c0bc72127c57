//! Error codes, by the source text: each is declared once, and listed by the tools that can fail with it.
//!
//! The text says which crate makes errors of a code, not which function a tool calls: a code that a tool
//! cannot return passes where another user of the same crate can. What a tool makes itself is found exactly.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use ragmaker_tests::discovery::{entries, workspace};

/// The source of the crate in `folder`, one text for each file, without its tests.
fn sources(folder: &Path) -> Vec<String> {
    let (mut texts, mut folders) = (vec![], vec![folder.join("src")]);
    while let Some(folder) = folders.pop() {
        let read = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in read.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                texts.push(text.split("mod tests {").next().unwrap_or_default().to_owned());
            }
        }
    }
    texts
}

/// The folders of the crates in `group`, such as `tools`.
fn crates(group: &str) -> Vec<PathBuf> {
    let folders = fs::read_dir(workspace().join(group)).unwrap().map(|entry| entry.unwrap().path());
    folders.filter(|folder| folder.join("Cargo.toml").is_file()).collect()
}

/// The crate in `folder`, and those that it needs, directly or not.
fn with_dependencies(folder: PathBuf) -> BTreeSet<PathBuf> {
    let (mut found, mut left) = (BTreeSet::new(), vec![folder]);
    while let Some(folder) = left.pop() {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let (_, needed) = manifest.split_once("[dependencies]").expect("it needs ragmaker-tool");
        let names = needed.split("\n[").next().into_iter().flat_map(str::lines);
        let names = names.filter_map(|line| line.strip_prefix("ragmaker-")?.split(['.', ' ', '=']).next());
        left.extend(names.map(|name| workspace().join("shared").join(name)));
        found.insert(folder);
    }
    found
}

/// The codes that `text` declares: the name of the constant, and the name that clients see.
fn declared(text: &str) -> Vec<(String, String)> {
    let declaration = |(before, after): (&str, &str)| {
        let constant = before.rsplit_once("const ")?.1.split(':').next()?;
        Some((constant.to_owned(), after.trim_start().strip_prefix('"')?.split('"').next()?.to_owned()))
    };
    let places = text.match_indices("Code::new(").map(|(at, found)| (&text[..at], &text[at + found.len()..]));
    places.filter_map(declaration).collect()
}

/// `text` without comments, imports, and the declarations and lists of codes.
fn statements(text: &str) -> String {
    let (mut kept, mut within) = (String::new(), false);
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
        let item = line.trim_start_matches("pub(crate) ").trim_start_matches("pub ");
        let lists = item.starts_with("const ") && (item.contains(": Code =") || item.contains("[Code]"));
        within |= lists || item.starts_with("use ");
        if !within {
            kept += line;
            kept.push('\n');
        }
        within &= !line.ends_with(';');
    }
    kept
}

/// The places where the code `name` is written in `text`: what stands before it, and after it.
fn uses<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let places = text.match_indices(name).map(|(at, _)| (&text[..at], &text[at + name.len()..]));
    places.filter(move |(before, after)| !before.ends_with(part) && !after.starts_with(part))
}

/// Whether `text` makes errors of the code `name`: it does more than ask for it.
fn makes(text: &str, name: &str) -> bool {
    let path = |c: char| c.is_lowercase() || matches!(c, '_' | ':');
    uses(text, name).any(|(before, _)| !before.trim_end_matches(path).ends_with(".is("))
}

#[test]
fn codes_are_declared_once() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let hosts = [workspace().join("registry")];
    for folder in [crates("shared"), crates("tools"), hosts.to_vec()].into_iter().flatten() {
        for (constant, name) in sources(&folder).iter().flat_map(|text| declared(text)) {
            assert_eq!(constant, name, "a code and its constant have one name");
            places.entry(name).or_default().push(folder.display().to_string());
        }
    }
    assert!(places.len() > 40, "{}", places.len());
    places.retain(|_, places| places.len() > 1);
    assert!(places.is_empty(), "declared more than once: {places:#?}");
}

#[test]
fn tools_list_the_codes_that_they_can_fail_with() {
    let known: BTreeSet<String> = [crates("shared"), crates("tools")]
        .into_iter()
        .flatten()
        .flat_map(|folder| sources(&folder))
        .flat_map(|text| declared(&text))
        .map(|(constant, _)| constant)
        .collect();
    for entry in entries() {
        let folder = workspace().join("tools").join(entry.command.trim_start_matches("ragmaker-"));
        let listed: BTreeSet<&str> =
            entry.json["errors"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        let text_of = |folder: &PathBuf| sources(folder).iter().map(|text| statements(text)).collect::<String>();
        let own = text_of(&folder);
        let all: String = with_dependencies(folder).iter().map(text_of).collect();
        for name in &listed {
            assert!(makes(&all, name), "{} lists {name}, which nothing that it is made of fails with", entry.command);
        }
        for name in &known {
            let fails = uses(&own, name).any(|(_, after)| after.trim_start().starts_with(".error("));
            assert!(!fails || listed.contains(name.as_str()), "{} does not list {name}", entry.command);
        }
    }
}

#[test]
fn mere_mentions_of_a_code_are_not_uses() {
    let text = "
        use crate::{GONE,
            LOST};
        /// GONE.
        pub const GONE: Code =
            Code::new(\"GONE\", \"Wait; look.\");
        const ERRORS: &[&[Code]] = &[
            &[GONE, LOST],
        ];
        fn run() {
            if error.is(codes::GONE) || NOT_GONE.is_some() { return Err(codes::LOST
                .error(\"x\")); }
        }";
    assert_eq!(declared(text), [("GONE".to_owned(), "GONE".to_owned())]);
    let text = statements(text);
    assert!(!makes(&text, "GONE") && makes(&text, "LOST"), "{text}");
    assert!(uses(&text, "LOST").all(|(_, after)| after.trim_start().starts_with(".error(")));
}
