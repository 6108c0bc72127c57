//! Any text is read as a sitemap, within the limits of one.
//!
//!     cd shared/site && cargo +nightly fuzz run sitemap
#![no_main]

use libfuzzer_sys::fuzz_target;
use ragmaker_site::sitemap::Sitemap;

fuzz_target!(|text: &str| {
    let Sitemap { pages, sitemaps } = Sitemap::parse(text);
    for address in pages.iter().chain(&sitemaps) {
        assert!(!address.is_empty() && address.trim() == address && address.len() <= text.len());
    }
});
