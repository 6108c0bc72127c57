//! Any text is read as a sitemap, within the limits of one.
//!
//!     cd tools/http-fetch && cargo +nightly fuzz run sitemap
#![no_main]

use libfuzzer_sys::fuzz_target;
use ragmaker_http_fetch::sitemap::Sitemap;

fuzz_target!(|text: &str| {
    let Sitemap { pages, sitemaps } = Sitemap::parse(text);
    for address in pages.iter().chain(&sitemaps) {
        assert!(!address.is_empty() && address.trim() == address && address.len() <= text.len());
    }
});
