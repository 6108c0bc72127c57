//! Any robots.txt is read, and what it says of a path does not depend on how that is escaped.
//!
//!     cd shared/site && cargo +nightly fuzz run robots
#![no_main]

use libfuzzer_sys::fuzz_target;
use ragmaker_site::robots::Robots;

fuzz_target!(|input: (&[u8], &str)| {
    let (text, path) = input;
    let robots = Robots::parse(text, "ragmaker");
    let escaped: String = path.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let encoded = url::Url::parse("https://x.example/").unwrap().join(path);
    // An escape of `/`, `?` or `*` is not the same character.
    if path.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        assert_eq!(robots.allows(&format!("/{path}")), robots.allows(&format!("/{escaped}")));
    }
    if let Ok(url) = encoded {
        robots.allows(url.path());
    }
});
