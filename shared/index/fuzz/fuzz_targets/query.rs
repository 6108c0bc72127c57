//! Any text is a query, and each hit stands verbatim at its lines.
//!
//!     cd shared/index && cargo +nightly fuzz run query
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use ragmaker_catalog::Catalog;
use ragmaker_index::{Filter, search};

const TEXT: &str = "# Tides\n\nThe moon pulls the sea.\n\n## 潮\n\n月が海を引く。税と弁護士。\n\n```\n# code\n```\n";

static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.md"), TEXT).unwrap();
    std::fs::write(folder.path().join("catalog.json"), r#"{"documents": [{"path": "a.md"}]}"#).unwrap();
    folder
});

fuzz_target!(|query: &str| {
    let catalog = Catalog::at(FOLDER.path().join("catalog.json")).unwrap();
    let Ok(found) = search(&[catalog], query, &Filter::default(), None, 10) else { return };
    for hit in found.hits {
        let lines: Vec<&str> = TEXT.lines().collect();
        assert_eq!(hit.text, lines[hit.start_line as usize - 1..hit.end_line as usize].join("\n"));
    }
});
