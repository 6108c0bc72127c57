//! Any bytes are decoded the same in one piece, in many, and as they are read; and what is replaced
//! changes nothing around it.
//!
//!     cd shared/text && cargo +nightly fuzz run decode -- -max_len=200000
#![no_main]

use std::io::Read;

use libfuzzer_sys::fuzz_target;
use ragmaker_text::{ByteSource, Decode, Encoding, Prior, Reader, SAMPLE, Text, Unicode};

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (step, plain, bytes) = input;
    let step = usize::from(step).max(1);
    // What says nothing comes first, more of it than a sample takes.
    let bytes = [b"plain text\n".repeat(usize::from(plain % 3) * 6000), bytes.to_vec()].concat();

    let source = ByteSource::Memory(bytes.clone());
    let mut reader = Reader::new(&source, &bytes[..bytes.len().min(SAMPLE)], &Prior::of_process);
    let mut read = vec![];
    let mut block = vec![0; step * 257];
    loop {
        match reader.read(&mut block).unwrap() {
            0 => break,
            count => read.extend_from_slice(&block[..count]),
        }
    }
    let Ok(text) = Text::decode(bytes.clone(), &Prior::of_process) else {
        assert!(reader.is_not_text());
        return;
    };
    assert!(!reader.is_not_text());
    let rest = &bytes[text.identified.mark..];
    let passes = text.identified.encoding == Encoding::Unicode(Unicode::Utf8);
    assert!(if passes { read == rest } else { read == text.text.as_bytes() });

    let mut decoder = text.identified.encoding.decoder();
    let mut pieces = String::new();
    for piece in rest.chunks(step) {
        decoder.decode(piece, false, &mut pieces);
    }
    decoder.decode(&[], true, &mut pieces);
    assert!(pieces == text.text);
    assert!(text.replace(&[], "x").unwrap() == bytes);
});
