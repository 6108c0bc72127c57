//! Any `Link` header and any llms.txt is read, and its links are addresses.
//!
//!     cd shared/site && cargo +nightly fuzz run relations
#![no_main]

use libfuzzer_sys::fuzz_target;
use ragmaker_site::relations::{link_header, markdown_links};
use url::Url;

fuzz_target!(|text: &str| {
    for link in link_header(text) {
        assert!(link.target.len() <= text.len() && link.rel.to_ascii_lowercase() == link.rel);
    }
    let base = Url::parse("https://x.example/docs/llms.txt").unwrap();
    for link in markdown_links(text, &base) {
        assert!(Url::parse(link.as_str()).is_ok());
    }
});
