//! Any text is an answer, and its claims can be checked against a document that is the same text.
//!
//!     cd shared/citation && cargo +nightly fuzz run answer
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use ragmaker_catalog::Catalog;
use ragmaker_citation::{Claim, ClaimVerdict, check, claims};

static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());

fuzz_target!(|text: &str| {
    let mut found = claims(text).claims;
    let stated = found.len();
    // Whatever it is, it says what it says.
    found.push(Claim { quote: text.to_owned(), citation: None });
    let (document, file) = (FOLDER.path().join("a.md"), FOLDER.path().join("catalog.json"));
    std::fs::write(document, text).unwrap();
    std::fs::write(&file, r#"{"documents": [{"path": "a.md", "url": "https://x.example/"}]}"#).unwrap();
    let checked = check(&[Catalog::at(file).unwrap()], found).unwrap();
    assert_eq!(checked.len(), stated + 1);
    for one in checked {
        let place = one.place.map(|place| place.text);
        assert_eq!(place.is_some(), matches!(one.verdict, ClaimVerdict::Found | ClaimVerdict::Elsewhere));
        assert!(place.is_none_or(|place| text.contains(&place)));
    }
});
