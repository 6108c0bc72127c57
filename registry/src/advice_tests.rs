//! Tests that remedies, findings and messages only mention options that exist, and that they have neither options nor
//! executables in the spelling for a caller who writes JSON.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use ragmaker_tool::Caller;

use crate::list::codes_and_options;

/// The options that every program has.
const COMMON: [&str; 4] = ["--help", "--version", "--describe", "--arguments"];

/// Options of other programs, which advice may mention.
const FOREIGN: [&str; 2] = ["--no-local", "--cask"];

/// Crates whose texts contain options of other programs: Git's, and those of the commands that `guard` knows.
const SKIPPED: [&str; 2] = ["shared/git/src/command.rs", "shared/guard/src/programs"];

/// The options in `text` that do not exist: of the program that is named before them, or else none of `options`.
fn lacking<'a>(text: &'a str, options: &BTreeSet<&str>) -> Vec<&'a str> {
    let of_tools = codes_and_options();
    let mut program = None;
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    let mut lacking = vec![];
    for word in words {
        if !word.strip_prefix("--").is_some_and(|name| name.starts_with(char::is_alphanumeric)) {
            // An option directly after `ragmaker-NAME`, or after another such option, belongs to that program.
            program = word.starts_with("ragmaker-").then_some(word);
            continue;
        }
        let is_known = match program {
            Some(program) => of_tools.iter().any(|(tool, _, known)| *tool == program && known.contains(&word)),
            None => options.contains(word) || FOREIGN.contains(&word),
        };
        let is_program = program.is_none_or(|program| of_tools.iter().any(|(tool, ..)| *tool == program));
        let is_common = is_program && COMMON.contains(&word);
        if !is_known && !is_common {
            lacking.push(word);
        }
    }
    lacking
}

/// The string literals in `source`, without those of tests and documentation.
fn literals(source: TokenStream, found: &mut Vec<String>) {
    let mut is_attribute = false;
    for token in source {
        match &token {
            TokenTree::Group(group) if !(is_attribute && group.delimiter() == Delimiter::Bracket) => {
                literals(group.stream(), found);
            }
            TokenTree::Literal(literal) => found.push(literal.to_string()),
            _ => {}
        }
        is_attribute = matches!(&token, TokenTree::Punct(punct) if matches!(punct.as_char(), '#' | '!'));
    }
}

/// The texts with options in the sources below `folder`, each with its file.
fn texts(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if SKIPPED.iter().any(|skipped| path.ends_with(skipped)) {
            continue;
        }
        if path.is_dir() {
            texts(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.to_str().unwrap().ends_with("tests.rs") {
            let source = fs::read_to_string(&path).unwrap();
            let source = source.split("#[cfg(test)]\nmod ").next().unwrap();
            let mut own = vec![];
            literals(source.parse().unwrap(), &mut own);
            // A text without a space is an option itself; one with `--name=` is an argument of another program.
            own.retain(|text| text.contains("--") && text.contains(' ') && !text.contains('='));
            found.extend(own.into_iter().map(|text| (path.clone(), text)));
        }
    }
}

/// The folder of a crate, and of those that it depends on.
fn with_dependencies(folder: PathBuf, root: &Path, found: &mut BTreeSet<PathBuf>) {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    if found.insert(folder) {
        let lines = manifest.lines().take_while(|line| *line != "[dev-dependencies]");
        for name in lines.filter_map(|line| line.strip_prefix("ragmaker-")?.split(['.', ' ']).next()) {
            with_dependencies(root.join("shared").join(name), root, found);
        }
    }
}

/// The options and the executables in what a model reads of `text`, for a tool with these `options`.
fn left_for_a_model(text: &str, options: &BTreeSet<&str>) -> Vec<String> {
    let text = Caller::Model.advice(text, &|option| options.contains(option));
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.')));
    let words = words.map(|word| word.trim_end_matches('.'));
    let is_option = |word: &str| {
        word.strip_prefix("--").is_some_and(|name| name.starts_with(char::is_alphanumeric)) && !FOREIGN.contains(&word)
    };
    let is_executable = |word: &str| word.starts_with("ragmaker-") && !word.contains('.');
    words.filter(|word| is_option(word) || is_executable(word)).map(str::to_owned).collect()
}

#[test]
fn errors_advise_no_option_that_a_tool_lacks() {
    let mut advised = 0;
    for (tool, codes, options) in codes_and_options() {
        let options = options.into_iter().collect();
        for code in codes {
            let lacking = lacking(code.remedy(), &options);
            assert!(lacking.is_empty(), "{tool}: {} advises {lacking:?}", code.name());
            advised += usize::from(code.remedy().contains("--"));
            // Its remedy is another one for a model.
            if code != ragmaker_tool::ARGUMENT_ERROR {
                let left = left_for_a_model(code.remedy(), &options);
                assert!(left.is_empty(), "{tool}: {} advises a model {left:?}", code.name());
            }
        }
    }
    assert!(advised > 50, "{advised}");
}

/// A text of a shared crate may mention an option that at least one of the tools with this crate has.
#[test]
fn findings_and_messages_mention_no_option_that_a_tool_lacks() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let tools: Vec<_> = codes_and_options()
        .into_iter()
        .map(|(tool, _, options)| {
            let mut crates = BTreeSet::new();
            with_dependencies(root.join("tools").join(tool.trim_start_matches("ragmaker-")), root, &mut crates);
            (crates, options)
        })
        .collect();
    let crates: BTreeSet<_> = tools.iter().flat_map(|(crates, _)| crates).collect();
    let mut wrong = vec![];
    for folder in crates {
        let users = tools.iter().filter(|(crates, _)| crates.contains(folder));
        let options: BTreeSet<_> = users.flat_map(|(_, options)| options).chain(&COMMON).copied().collect();
        let mut found = vec![];
        texts(&folder.join("src"), &mut found);
        for (file, text) in found {
            let file = file.strip_prefix(root).unwrap().display();
            let lacking = lacking(&text, &options);
            if !lacking.is_empty() {
                wrong.push(format!("{file}: {lacking:?} in {text}"));
            }
            let left = left_for_a_model(text.trim_matches('"'), &options);
            if !left.is_empty() {
                wrong.push(format!("{file}: {left:?} is left for a model of {text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A model calls tools by the names that a host offers, and has no options.
#[test]
fn advice_for_a_model_names_no_executable_of_a_tool() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let tools = codes_and_options();
    let mut advice: Vec<String> =
        tools.iter().flat_map(|(_, codes, _)| codes).map(|code| code.remedy().to_owned()).collect();
    // The remedies and messages in the sources, findings of `verify` included.
    let mut found = vec![];
    for group in ["shared", "tools"] {
        all_texts(&root.join(group), &mut found);
    }
    advice.extend(found.into_iter().filter(|text| text.contains("ragmaker-") && text.contains(' ')));
    assert!(advice.len() > 500, "{}", advice.len());
    let mut renamed = 0;
    for text in advice {
        // A literal as it is written has quotes around it.
        let text = text.trim_matches('"');
        let respelled = Caller::Model.advice(text, &|_| false);
        renamed += usize::from(respelled != text);
        // `OfferedTools` does not look for names that are ordinary words.
        for word in ["cite", "move", "think", "verify", "work"] {
            assert!(!text.contains(&format!("ragmaker-{word}")), "{text}");
        }
        for (executable, ..) in &tools {
            let names = respelled.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/')));
            assert!(names.into_iter().all(|name| name != *executable), "{text}: {respelled}");
        }
    }
    assert!(renamed > 30, "{renamed}");
}

/// The string literals in the sources below `folder`, without those of tests.
fn all_texts(folder: &Path, found: &mut Vec<String>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !["tests", "fuzz", "examples", "target"].contains(&name) {
                all_texts(&path, found);
            }
        } else if path.extension().is_some_and(|end| end == "rs") && !name.ends_with("tests.rs") {
            let source = fs::read_to_string(&path).unwrap();
            let source = source.split("#[cfg(test)]\nmod ").next().unwrap();
            literals(source.parse().unwrap(), found);
        }
    }
}

#[test]
fn options_belong_to_the_program_before_them() {
    let none = BTreeSet::new();
    assert_eq!(
        lacking("Run ragmaker-browser-open --no-headless --session x, or ragmaker-cite --url.", &none),
        ["--url"]
    );
    assert_eq!(lacking("ragmaker-nothing --help; with ragmaker-cite, --session", &none), ["--help", "--session"]);
}
