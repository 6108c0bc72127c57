//! Any bytes under any name of a document are converted or refused, and what is converted has a title.
//!
//!     cd shared/convert && cargo +nightly fuzz run convert -- -max_len=20000
#![no_main]

use libfuzzer_sys::fuzz_target;
use ragmaker_convert::{DocumentKind, convert};
use ragmaker_text::ByteSource;

const NAMES: [&str; 12] =
    ["a.html", "a.md", "a.mdx", "a.rst", "a.adoc", "a.ipynb", "a.csv", "a.eml", "a.docx", "a.odt", "a.txt", "README"];

// The first byte chooses the name, so that a file is a seed with one byte before it. Archives are recognised by their
// content, whatever they are called.
fuzz_target!(|input: &[u8]| {
    let Some((choice, bytes)) = input.split_first() else { return };
    let name = NAMES[usize::from(*choice) % NAMES.len()];
    let kind = DocumentKind::of(name).unwrap();
    if let Ok(document) = convert(name, kind, &ByteSource::Memory(bytes.to_vec()), None) {
        assert!(!document.markdown.trim().is_empty() && !document.metadata.title.is_empty());
    }
});
