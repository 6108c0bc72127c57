//! The toolchain's documentation: real sites of two generators, beside other sites that never answer.

use std::{collections::HashMap, path::Path};

use ragmaker_tests::{
    site::{Mirror, toolchain_documentation},
    visitor::{Saved, Visitor, at_once},
};

/// How often each word stands in a Markdown text. Addresses are left out: those of other sites are renamed.
fn words(markdown: &str) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for part in markdown.split("](").enumerate().map(|(at, part)| match part.split_once(')') {
        Some((_, text)) if at > 0 => text,
        _ => part,
    }) {
        let shown = part.split_whitespace().filter(|word| !word.contains("//"));
        for word in shown.flat_map(|shown| shown.split(|c: char| !c.is_alphanumeric())).filter(|word| !word.is_empty())
        {
            *counts.entry(word).or_insert(0) += 1;
        }
    }
    counts
}

#[test]
fn every_page_of_the_toolchain_s_documentation_is_read_whole() {
    let manuals = toolchain_documentation();
    if manuals.is_empty() {
        eprintln!("not run: the toolchain has no component rust-docs");
        return;
    }
    let visitor = Visitor::with_browser();
    for manual in manuals {
        assert!(manual.pages.len() >= 5, "{}: {:?}", manual.name, manual.pages);
        let mirror = Mirror::of_folder(manual.folder.clone()).unwrap();
        // The benchmark loads all of them.
        let pages: Vec<_> = manual.pages.iter().step_by(3).collect();
        let faults = at_once(3, &pages, |page| fault(&visitor, &mirror, &manual.folder, page));
        let faults: Vec<_> = faults.into_iter().flatten().collect();
        assert!(faults.is_empty(), "{} of {} pages: {faults:#?}", faults.len(), pages.len());
    }
}

/// The problems of the saved page. These pages need no script: their files have the whole content.
fn fault(visitor: &Visitor, mirror: &Mirror, folder: &Path, page: &str) -> Option<String> {
    let run = visitor.extract(&mirror.url(page)).args(["--selector", "body"]).run();
    let ready = run.answer()["ready"].as_str().unwrap();
    if !matches!(ready, "idle" | "content") {
        return Some(format!("{page}: {ready}"));
    }
    let saved = Saved::by(&run);
    let file = format!("{}{page}", folder.display());
    let url = mirror.url(page);
    let whole = visitor
        .project
        .tool("html-to-markdown")
        .args(["--raw", "--selector", "body", "--path", &file, "--base-url", &url])
        .run_raw();
    let whole = String::from_utf8(whole.stdout).unwrap();
    let (own, wanted) = (words(&saved.markdown), words(&whole));
    let lost = |(word, count): (&&str, &usize)| count.saturating_sub(own.get(word).copied().unwrap_or(0));
    let missing: Vec<_> = wanted.iter().filter(|&entry| lost(entry) > 0).map(|(word, _)| *word).collect();
    let (lost, all): (usize, usize) = (wanted.iter().map(lost).sum(), wanted.values().sum());
    // Scripts of the reference add a switch to the head of a grammar, which changes a few words.
    (all >= 100 && lost > 5 + all / 100)
        .then(|| format!("{page}: {lost} of {all} words are missing, such as {missing:.20?}"))
}
