//! Any bytes under any name of a document are converted or refused, and what is converted has a title.
//!
//!     cd shared/convert && cargo +nightly fuzz run convert -- -max_len=20000
#![no_main]

use libfuzzer_sys::fuzz_target;
use ragmaker_convert::{Kind, convert};
use ragmaker_text::Source;

const NAMES: [&str; 12] =
    ["a.html", "a.md", "a.mdx", "a.rst", "a.adoc", "a.ipynb", "a.csv", "a.eml", "a.docx", "a.odt", "a.txt", "README"];

fuzz_target!(|input: (u8, Vec<u8>)| {
    let (choice, bytes) = input;
    let name = NAMES[usize::from(choice) % NAMES.len()];
    let kind = Kind::of(name).unwrap();
    if let Ok(document) = convert(name, kind, &Source::Memory(bytes), None) {
        assert!(!document.markdown.trim().is_empty() && !document.metadata.title.is_empty());
    }
});
