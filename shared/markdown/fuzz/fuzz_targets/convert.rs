//! Any bytes become Markdown or are refused.
//!
//!     cargo +nightly fuzz run convert fuzz/corpus fuzz/seeds
#![no_main]

use libfuzzer_sys::fuzz_target;
use ragmaker_markdown::{Options, Scope, convert, decode};

fuzz_target!(|bytes: &[u8]| {
    let (html, _) = decode(bytes, None);
    for scope in [Scope::Main, Scope::Whole, Scope::Selector("p > a[href], li:nth-child(2)")] {
        if let Ok(page) = convert(&html, &Options { base_url: None, scope }) {
            assert!(page.markdown.ends_with('\n'));
            assert!(page.markdown.len() <= 4096 + bytes.len() * 400);
        }
    }
});
