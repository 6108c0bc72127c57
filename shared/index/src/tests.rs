//! Searching small knowledge bases.

use std::fs;

use ragmaker_catalog::Entry;
use tempfile::TempDir;

use super::*;

pub(crate) struct Base {
    pub(crate) folder: TempDir,
    pub(crate) catalog: Catalog,
}

impl Base {
    pub(crate) fn new(documents: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::at(folder.path().join("catalog.json")).unwrap();
        let base = Self { folder, catalog };
        for (name, text) in documents {
            base.add(name, text);
        }
        base
    }

    pub(crate) fn add(&self, name: &str, text: &str) {
        let file = self.folder.path().join(name);
        fs::write(&file, text).unwrap();
        let entry =
            Entry::new(format!("https://x.example/{name}"), name, file).with("fetched_at", "2026-01-02T00:00:00Z");
        self.catalog.record(&entry).unwrap();
    }

    pub(crate) fn find(&self, query: &str) -> Vec<String> {
        self.found(query).hits.into_iter().map(|hit| hit.citation).collect()
    }

    pub(crate) fn found(&self, query: &str) -> SearchResult {
        search(std::slice::from_ref(&self.catalog), query, &Filter::default(), None, 10).unwrap()
    }
}

const TIDES: &str =
    "# Tides\n\n## Spring tide\n\nSun and moon pull together.\n\n## Neap tide\n\nThe sun pulls across.\n";
const TAX: &str = "# 税の話\n\n弁護士は税の申告を助けます。\n";

#[test]
fn the_best_section_comes_first_and_is_verbatim() {
    let base = Base::new(&[("tides.md", TIDES), ("tax.md", TAX)]);
    assert_eq!(base.find("spring moon")[0], "tides.md#spring-tide");
    for query in ["弁", "税", "弁護士", "申告とは何か"] {
        assert_eq!(base.find(query), ["tax.md#税の話"], "{query}");
    }
    let hit = &base.found("neap").hits[0];
    assert_eq!((hit.text.as_str(), hit.start_line, hit.end_line), ("## Neap tide\n\nThe sun pulls across.", 7, 9));
    let nothing = base.found("zebra");
    assert_eq!((nothing.hits.len(), nothing.total), (0, 0));
    assert!(nothing.coverage < f32::EPSILON);
    assert!((base.found("spring zebra").coverage - 0.5).abs() < f32::EPSILON);
}

#[test]
fn phrases_and_exclusions_are_applied() {
    let base = Base::new(&[("tides.md", TIDES)]);
    assert_eq!(base.find("\"moon pull\""), ["tides.md#spring-tide"]);
    assert!(base.find("\"pull moon\"").is_empty());
    assert_eq!(base.find("tide -moon"), ["tides.md#neap-tide"]);
    assert!(search(&[base.catalog], "-moon", &Filter::default(), None, 1).unwrap_err().is(QUERY_EMPTY));
}

#[test]
fn changes_are_seen_at_once() {
    let base = Base::new(&[("tides.md", TIDES)]);
    assert!(base.find("harbour").is_empty());
    base.add("harbour.md", "# Harbour\n\nShips.\n");
    assert_eq!(base.find("harbour"), ["harbour.md#harbour"]);
    fs::write(base.folder.path().join("harbour.md"), "# Lighthouse\n\nA lamp for ships.\n").unwrap();
    assert_eq!(base.find("lamp"), ["harbour.md#lighthouse"]);
    fs::remove_file(base.folder.path().join("harbour.md")).unwrap();
    assert!(base.find("lamp").is_empty());
}

#[test]
fn a_damaged_index_is_made_again() {
    let base = Base::new(&[("tides.md", TIDES)]);
    base.find("moon");
    let index = base.folder.path().join(".search/index");
    let whole = fs::read(&index).unwrap();
    for damaged in [&b""[..], b"RMINDX00", &whole[..whole.len() / 2]] {
        fs::write(&index, damaged).unwrap();
        assert_eq!(base.find("moon"), ["tides.md#spring-tide"]);
        assert_eq!(fs::read(&index).unwrap().len(), whole.len());
    }
}

/// A rebuilt index gives the same results as one that was updated with every change.
#[test]
fn an_updated_index_answers_like_a_new_one() {
    let base = Base::new(&[("tides.md", TIDES), ("tax.md", TAX)]);
    for n in 0..12 {
        base.add(&format!("more{n}.md"), &format!("# More {n}\n\nThe moon and number{n}.\n"));
    }
    let queries = ["moon", "number3", "税", "tide -moon", "\"the moon\"", "lamp", "sun number11"];
    base.found("moon");
    let index = base.folder.path().join(".search");
    let first = fs::read(index.join("index")).unwrap();
    let change = |step: usize| match step {
        0 => base.add("tides.md", "# Tides\n\nA lamp by the moon.\n"),
        1 => fs::remove_file(base.folder.path().join("more3.md")).unwrap(),
        2 => base.add("more4.md", "# 税\n\n税と月\n"),
        3 => fs::write(base.folder.path().join("catalog.json"), "{\"title\": \"T\", \"documents\": []}").unwrap(),
        _ => base.add("tax.md", TAX),
    };
    for step in 0..5 {
        change(step);
        let followed = queries.map(|query| base.found(query));
        let small = fs::read(index.join("index")).unwrap() == first;
        assert_eq!(small, step < 3, "{step}");
        fs::remove_dir_all(&index).unwrap();
        for (query, followed) in queries.into_iter().zip(followed) {
            let new = base.found(query);
            let citations = |found: &SearchResult| {
                let mut all: Vec<_> = found.hits.iter().map(|hit| (hit.citation.clone(), hit.text.clone())).collect();
                all.sort();
                (all, found.total, found.documents)
            };
            assert_eq!(citations(&new), citations(&followed), "{step} {query}");
        }
        fs::remove_dir_all(&index).unwrap();
        fs::create_dir(&index).unwrap();
        if step < 3 {
            fs::write(index.join("index"), &first).unwrap();
        }
    }
}

#[test]
fn files_of_killed_writers_are_removed() {
    let base = Base::new(&[("tides.md", TIDES)]);
    base.find("moon");
    let folder = base.folder.path().join(".search");
    for (name, age) in
        [(".index.1-0-2.tmp", 600), (".recent.1-0-2.tmp", 600), (".index.3-0-4.tmp", 1), ("notes.tmp", 600)]
    {
        let file = fs::File::create(folder.join(name)).unwrap();
        file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(age)).unwrap();
    }
    base.add("later.md", "# Later\n\nMoon.\n");
    base.find("moon");
    let mut left: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, [".gitignore", ".index.3-0-4.tmp", "index", "notes.tmp", "recent"]);
}

#[test]
fn a_damaged_byte_never_changes_an_answer() {
    let base = Base::new(&[("tides.md", TIDES), ("tax.md", TAX)]);
    base.add("later.md", "# Later\n\nMoon.\n");
    let answer = base.found("moon 税");
    base.add("latest.md", "# Latest\n\nStars.\n");
    assert_eq!(base.find("stars"), ["latest.md#latest"]);
    let folder = base.folder.path().join(".search");
    let files = ["index", "recent"].map(|name| (folder.join(name), fs::read(folder.join(name)).unwrap()));
    for (file, whole) in &files {
        for at in (0..whole.len()).step_by(7) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x55;
            for (file, whole) in &files {
                fs::write(file, whole).unwrap();
            }
            fs::write(file, damaged).unwrap();
            let found = base.found("moon 税");
            assert_eq!((&found.hits[0].text, found.total), (&answer.hits[0].text, answer.total), "{file:?} {at}");
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]

    #[test]
    fn every_text_stands_verbatim_at_its_lines(text in "(# |## |```\\n|moon |税|、|潮の|\\n|\\r\\n|\\n\\n|a\\t|é){0,60}") {
        let base = Base::new(&[("a.md", &format!("---\ntitle: x\n---\n{text}"))]);
        let whole = fs::read_to_string(base.folder.path().join("a.md")).unwrap();
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        for query in ["moon", "税 潮", "a é", "moon -税", "\"潮の\""] {
            for hit in base.found(query).hits {
                let span = lines[hit.start_line as usize - 1..hit.end_line as usize].concat();
                proptest::prop_assert_eq!(span.trim_end_matches(['\n', '\r']), &hit.text);
            }
        }
    }
}

#[test]
fn phrases_are_words_in_order_in_any_language() {
    let base = Base::new(&[("tax.md", "# 税\n\n所得税の申告。\n\n# 税率\n\n申告の所得、税。\n")]);
    assert_eq!(base.find("\"所得税の申告\""), ["tax.md#税"]);
    assert_eq!(base.found("\"得、税\"").total, 2);
    assert!(base.find("\"税得\"").is_empty());
    assert_eq!(base.find("申告 -所得税の"), ["tax.md#税率"]);
    assert_eq!(base.found("\"税\"").total, 2);
    assert_eq!(base.find("の -率"), ["tax.md#税"]);
}

#[cfg(unix)]
#[test]
fn a_document_outside_is_not_searched() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.md"), "# Secret\n").unwrap();
    let base = Base::new(&[("tides.md", TIDES)]);
    std::os::unix::fs::symlink(outside.path().join("secret.md"), base.folder.path().join("link.md")).unwrap();
    base.catalog.record(&Entry::new("https://x.example/s", "S", base.folder.path().join("link.md"))).unwrap();
    for _ in 0..2 {
        let found = base.found("secret");
        assert_eq!((found.total, found.documents, found.outside), (0, 1, vec![1]));
    }
    // It is inside, so its file is read.
    fs::remove_file(base.folder.path().join("link.md")).unwrap();
    fs::write(base.folder.path().join("link.md"), "# No secret\n").unwrap();
    base.catalog.record(&Entry::new("https://x.example/s", "T", base.folder.path().join("link.md"))).unwrap();
    let found = base.found("secret");
    assert_eq!((found.total, found.documents, found.outside), (1, 2, vec![0]));
}
