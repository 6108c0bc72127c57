//! The commands of the pages in docs/, README and CONTRIBUTING: each is run, or says why it is not.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use ragmaker_tests::{
    console,
    discovery::workspace,
    pages::{Block, BlockTest, Reader, blocks},
    visitor::at_once,
};

use super::{documents, text};

/// How many blocks may be without a test.
const NOT_RUN: usize = 10;

/// The languages of blocks. A block without a language could hide commands.
const LANGUAGES: [&str; 7] = ["sh", "python", "console", "text", "json", "toml", "markdown"];

/// The pages that people read, those of the tools excepted.
pub(super) fn pages() -> Vec<PathBuf> {
    let root = workspace();
    let is_page = |path: &PathBuf| {
        let is_top = path.parent() == Some(&root) && !path.ends_with("CHANGELOG.md");
        path.extension().is_some_and(|extension| extension == "md") && (is_top || path.starts_with(root.join("docs")))
    };
    documents().into_iter().filter(is_page).collect()
}

pub(super) fn read(page: &Path) -> Vec<Block> {
    blocks(&text(page)).unwrap_or_else(|reason| panic!("{}: {reason}", page.display()))
}

/// With `UPDATE_EXAMPLES=1`, the pages get what their `console` blocks print now.
#[test]
fn the_commands_of_every_page_work() {
    let is_update = env::var_os("UPDATE_EXAMPLES").is_some();
    // A translation has the same commands.
    let pages: Vec<PathBuf> = pages().into_iter().filter(|page| original(page).is_none()).collect();
    let failures: Vec<String> = at_once(2, &pages, |page| failures(page, is_update)).into_iter().flatten().collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

fn failures(page: &Path, is_update: bool) -> Vec<String> {
    let (reader, document) = (Reader::new(), text(page));
    let (mut failures, mut outputs, mut is_stale) = (vec![], vec![], false);
    for block in read(page).into_iter().filter(Block::has_commands) {
        let place = format!("{}:{}", page.display(), block.line);
        let shown = console::blocks(&format!("```{}\n{}\n```\n", block.language, block.text));
        let mut shown: Vec<String> = shown.into_iter().flatten().map(|step| step.output).collect();
        match reader.run(&block) {
            Err(reason) => failures.push(format!("{place}: {reason}")),
            Ok(printed) => {
                for (shown, printed) in shown.iter_mut().zip(printed) {
                    if !console::same(shown, &printed) {
                        is_stale = true;
                        if !is_update {
                            failures.push(format!("{place}: prints now (UPDATE_EXAMPLES=1):\n{printed}"));
                        }
                        *shown = printed;
                    }
                }
            }
        }
        outputs.extend(shown);
    }
    if is_update && is_stale {
        fs::write(page, console::with_outputs(&document, &outputs)).unwrap();
    }
    failures
}

/// The page of which this one is the translation.
fn original(page: &Path) -> Option<PathBuf> {
    let path = page.strip_prefix(workspace()).unwrap().to_str().unwrap();
    let english = match path {
        "README.ja.md" => "README.md".to_owned(),
        _ => format!("docs/{}", path.strip_prefix("docs/ja/")?),
    };
    Some(workspace().join(english))
}

#[test]
fn a_translation_has_the_same_commands() {
    let mut translations = 0;
    for (page, original) in pages().into_iter().filter_map(|page| Some((original(&page)?, page))) {
        let of = |page: &Path| {
            let blocks = read(page).into_iter();
            blocks.map(|block| (block.language, block.text, block.test, block.before, block.after)).collect::<Vec<_>>()
        };
        assert_eq!(of(&page), of(&original), "{} and {}", page.display(), original.display());
        translations += 1;
    }
    assert_eq!(translations, 2);
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let summary = workspace().join("docs/SUMMARY.md");
    let text = text(&summary);
    let listed: Vec<PathBuf> = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .map(|link| summary.with_file_name(link).canonicalize().unwrap_or_else(|error| panic!("{link}: {error}")))
        .collect();
    let tools = documents().into_iter().filter(|page| page.starts_with(workspace().join("tools")));
    for page in pages().into_iter().chain(tools).filter(|page| *page != summary) {
        let times = listed.iter().filter(|one| **one == page.canonicalize().unwrap()).count();
        assert_eq!(times, 1, "{} is there {times} times", page.display());
    }
}

#[test]
fn the_pictures_are_small() {
    for entry in fs::read_dir(workspace().join("docs/pictures")).unwrap().map(Result::unwrap) {
        let size = entry.metadata().unwrap().len();
        assert!((1_000..100_000).contains(&size), "{}: {size} bytes", entry.path().display());
    }
}

#[test]
fn few_blocks_are_not_run_and_each_says_why() {
    let mut reasons = BTreeMap::new();
    for page in pages() {
        for block in read(&page) {
            let place = format!("{}:{}", page.display(), block.line);
            assert!(LANGUAGES.contains(&block.language.as_str()), "{place}: the language {:?}", block.language);
            match &block.test {
                BlockTest::Run | BlockTest::Server => {}
                BlockTest::Not(reason) => {
                    assert!(block.has_commands() && reason.split(' ').count() >= 3, "{place}: {reason}");
                    reasons.insert(place, reason.clone());
                }
                BlockTest::By(file) => {
                    // The other test takes the block from this page.
                    let name = page.file_name().unwrap().to_str().unwrap();
                    assert!(text(&workspace().join(file)).contains(name), "{place}: {file} does not read {name}");
                }
            }
        }
    }
    assert!(reasons.len() <= NOT_RUN, "{} blocks are not run: {reasons:#?}", reasons.len());
}
