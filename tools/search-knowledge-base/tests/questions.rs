//! Questions about documentation, in English and Japanese, and the section that answers each.
//!
//! The documents are the pages of the tests' site. The questions were written before the search was tuned and
//! are graded as docs-mcp-server's search evaluation does: its published figures, on other pages, are a Hit@5
//! of 0.881 and an MRR of 0.747.

use std::{fs, path::Path};

use ragmaker_markdown::{Options, Scope, convert};
use ragmaker_testkit::Tree;
use serde_json::json;

const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-search-knowledge-base");
const QUESTIONS: &str = include_str!("questions.tsv");

/// The files in `folder` whose names end with `end`, in order.
fn files(folder: &Path, end: &str) -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.to_string_lossy().ends_with(end));
    files.sort();
    files
}

#[test]
fn questions_find_their_sections() {
    let tree = Tree::new(TOOL);
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut documents = vec![];
    let mut add = |name: &str, text: &str| {
        tree.write(&format!("kb/{name}.md"), text);
        documents.push(json!({"url": format!("https://x.example/{name}"), "path": format!("../{name}.md")}));
    };
    for file in files(&repository.join("tests/site/wiki"), ".html") {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let options = Options { scope: Scope::Whole, ..Options::default() };
        if name != "layout" {
            add(&name, &convert(&fs::read_to_string(&file).unwrap(), &options).unwrap().markdown);
        }
    }
    tree.write("kb/cache/catalog.json", json!({"title": "Documentation", "documents": documents}).to_string());

    let (mut hits, mut ranks, mut missed) = (0, 0.0, vec![]);
    let questions: Vec<(&str, &str)> = QUESTIONS.lines().map(|line| line.split_once('\t').unwrap()).collect();
    assert!(questions.len() >= 60);
    for (question, wanted) in &questions {
        let answer = tree.run(&["--query", question, "--kb-root", "kb", "--limit", "10"]);
        let is_wanted = |citation: &str| {
            wanted.split(' ').any(|wanted| match wanted.split_once('#') {
                Some((page, slug)) => citation == format!("{page}.md#{slug}"),
                None => citation.starts_with(&format!("{wanted}.md#")),
            })
        };
        let found = answer["hits"].as_array().unwrap();
        let rank = found.iter().position(|hit| is_wanted(hit["citation"].as_str().unwrap()));
        hits += usize::from(rank.is_some_and(|rank| rank < 5));
        ranks += rank.map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
        if rank.is_none_or(|rank| rank > 1) {
            let best: Vec<&str> = found.iter().take(3).filter_map(|hit| hit["citation"].as_str()).collect();
            missed.push(format!("{question} -> {wanted}, at {rank:?}: {best:?}"));
        }
    }
    let count = questions.len() as f64;
    let (hit, rank) = (hits as f64 / count, ranks / count);
    println!("Hit@5 {hit:.3}, MRR {rank:.3}");
    assert!(hit >= 0.88 && rank >= 0.75, "Hit@5 {hit:.3}, MRR {rank:.3}\n{}", missed.join("\n"));
}
