//! Bytes as base64, encoded during printing, so a file of any size is never in memory as text.

use std::{fmt, io};

use ::base64::{Engine, engine::general_purpose::STANDARD};
use ragmaker_text::ByteSource;

/// Bytes as base64 (RFC 4648, section 4), read as they are printed.
pub(crate) struct Base64<'a> {
    pub(crate) source: &'a ByteSource,
    pub(crate) failure: &'a std::cell::Cell<Option<io::Error>>,
}

impl fmt::Display for Base64<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// A multiple of three, so that blocks join without padding.
        const BLOCK: usize = 48 * 1024;
        let mut block = vec![0; BLOCK];
        let (mut at, mut text) = (0, String::new());
        loop {
            match self.source.read_at(at, &mut block) {
                Ok(0) => return Ok(()),
                Ok(read) => {
                    text.clear();
                    STANDARD.encode_string(&block[..read], &mut text);
                    f.write_str(&text)?;
                    at += read as u64;
                }
                Err(error) => {
                    self.failure.set(Some(error));
                    return Ok(());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_examples_of_the_rfc() {
        for (plain, expected) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(printed(plain.as_bytes()), expected);
        }
    }

    #[test]
    fn blocks_join_without_padding() {
        let bytes: Vec<u8> = (0..=250).cycle().take(150_000).collect();
        assert_eq!(printed(&bytes), STANDARD.encode(&bytes));
    }

    fn printed(bytes: &[u8]) -> String {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let (source, failure) = (ByteSource::file(file).unwrap(), std::cell::Cell::new(None));
        let printed = Base64 { source: &source, failure: &failure }.to_string();
        assert!(failure.take().is_none());
        printed
    }
}
