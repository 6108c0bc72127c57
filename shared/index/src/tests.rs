//! Searching small knowledge bases.

use std::fs;

use ragmaker_catalog::Entry;
use tempfile::TempDir;

use super::*;

struct Base {
    folder: TempDir,
    catalog: Catalog,
}

impl Base {
    fn new(documents: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::at(folder.path().join("catalog.json")).unwrap();
        let base = Self { folder, catalog };
        for (name, text) in documents {
            base.add(name, text);
        }
        base
    }

    fn add(&self, name: &str, text: &str) {
        let file = self.folder.path().join(name);
        fs::write(&file, text).unwrap();
        let entry =
            Entry::new(format!("https://x.example/{name}"), name, file).with("fetched_at", "2026-01-02T00:00:00Z");
        self.catalog.record(&entry).unwrap();
    }

    fn find(&self, query: &str) -> Vec<String> {
        self.found(query).hits.into_iter().map(|hit| hit.citation).collect()
    }

    fn found(&self, query: &str) -> Found {
        search(std::slice::from_ref(&self.catalog), query, &Filter::default(), 10).unwrap()
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
fn phrases_and_exclusions_hold() {
    let base = Base::new(&[("tides.md", TIDES)]);
    assert_eq!(base.find("\"moon pull\""), ["tides.md#spring-tide"]);
    assert!(base.find("\"pull moon\"").is_empty());
    assert_eq!(base.find("tide -moon"), ["tides.md#neap-tide"]);
    assert!(search(&[base.catalog], "-moon", &Filter::default(), 1).unwrap_err().is(QUERY_EMPTY));
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

#[cfg(unix)]
#[test]
fn a_document_outside_is_not_searched() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.md"), "# Secret\n").unwrap();
    let base = Base::new(&[("tides.md", TIDES)]);
    std::os::unix::fs::symlink(outside.path().join("secret.md"), base.folder.path().join("link.md")).unwrap();
    base.catalog.record(&Entry::new("https://x.example/s", "S", base.folder.path().join("link.md"))).unwrap();
    assert!(base.find("secret").is_empty());
}
