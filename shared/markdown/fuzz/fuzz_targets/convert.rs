//! Fuzz target: any bytes are converted or refused, and the size of the Markdown is bounded by that of the
//! input.
//!
//! Needs a nightly toolchain and `cargo install cargo-fuzz`. In `shared/markdown`:
//!
//! ```sh
//! mkdir -p fuzz/corpus
//! cargo +nightly fuzz run convert fuzz/corpus fuzz/seeds -- -max_total_time=600
//! ```
#![no_main]

use libfuzzer_sys::fuzz_target;
use ragmaker_markdown::{Options, Scope, convert, decode, plain_text};

fuzz_target!(|bytes: &[u8]| {
    let (html, _) = decode(bytes, None);
    for scope in [Scope::Main, Scope::Whole, Scope::Selector("p > a[href], li:nth-child(2)")] {
        if let Ok(page) = convert(&html, &Options { base_url: None, scope }) {
            assert!(page.markdown.ends_with('\n'));
            assert!(page.markdown.len() <= 4096 + bytes.len() * 400);
            plain_text(&page.markdown, 80);
        }
    }
});
