//! Fuzz target: any bytes as a stream of JSON lines or as an archive are processed to their end, and the output
//! consists of whole lines of UTF-8.
//!
//! Needs a nightly toolchain and `cargo install cargo-fuzz`. In `tools/html-to-markdown`:
//!
//! ```sh
//! mkdir -p fuzz/corpus
//! cargo +nightly fuzz run stream fuzz/corpus fuzz/seeds -- -max_total_time=600 -detect_leaks=0
//! ```
//!
//! Threads of a stream may end after it, which is reported as a leak.
#![no_main]

use std::{io::Cursor, time::Duration};

use libfuzzer_sys::fuzz_target;
use ragmaker_html_to_markdown::stream::{Content, InputFormat, Jobs, Settings, convert};

fuzz_target!(|bytes: &[u8]| {
    for form in [InputFormat::JsonLines, InputFormat::Warc { any_status: true }] {
        let settings = Settings {
            form,
            content: Content::Main,
            jobs: Jobs::new(1),
            timeout: Duration::from_secs(60),
            max_bytes: 1 << 20,
            max_failures: None,
        };
        let mut out = vec![];
        let _ = convert(Cursor::new(bytes.to_vec()), &mut out, settings);
        assert!(out.is_empty() || out.ends_with(b"}\n"));
        assert!(str::from_utf8(&out).is_ok());
        if form == InputFormat::JsonLines && !is_compressed(bytes) {
            let lines =
                bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).split_inclusive(|&byte| byte == b'\n').count();
            assert_eq!(out.iter().filter(|&&byte| byte == b'\n').count(), lines);
        }
    }
});

/// Whether `bytes` begin as gzip, a zstd frame or a skippable zstd frame do.
fn is_compressed(bytes: &[u8]) -> bool {
    matches!(bytes, [0x1F, 0x8B, ..] | [0x28, 0xB5, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..])
}
