//! Any bytes are decoded the same in one piece and in many, and what is replaced changes nothing
//! around it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ragmaker_text::{Decode, legacy::Text};

fuzz_target!(|input: (u8, &[u8])| {
    let (step, bytes) = input;
    let Ok(text) = Text::decode(bytes.to_vec()) else { return };
    let mut decoder = text.identified.encoding.decoder();
    let mut pieces = String::new();
    let rest = &bytes[text.identified.mark..];
    for piece in rest.chunks(usize::from(step).max(1)) {
        decoder.decode(piece, false, &mut pieces);
    }
    decoder.decode(&[], true, &mut pieces);
    assert_eq!(pieces, text.text);
    assert_eq!(text.replace(&[], "x").unwrap(), bytes);
});
