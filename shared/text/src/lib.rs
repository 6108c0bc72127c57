//! Text files of any size and encoding: their kind, their lines, their text.
//!
//! A [`ByteSource`] is read at offsets, never as a whole. [`Unicode`] detects and decodes Unicode encodings without
//! tables.
//! [`identify`] and [`Encoding`] also handle the legacy encodings of the web. [`Reader`] and [`Text`] read all
//! encodings. [`lines`] finds lines at memory speed, forwards and from the end.

mod chunks;
mod decode;
mod detect;
mod encoding;
mod error;
pub mod lines;
mod newline;
mod reader;
mod rewrite;
mod source;
mod text;
mod unicode;

pub use chunks::Chunks;
pub use decode::{Decode, UnicodeDecoder};
pub use detect::{Prior, identify, identify_bytes};
pub use encoding::{Decoder, Encoding, Identified};
pub use error::{FILE_TOO_LARGE, INPUT_TOO_LARGE, NOT_TEXT};
pub use newline::Newline;
pub use reader::Reader;
pub use rewrite::{Rewrite, UNENCODABLE, unencodable};
pub use source::ByteSource;
pub use text::Text;
pub use unicode::{Sniffed, Unicode, first_decisive_byte, sniff, sniff_within};

/// The number of bytes that are examined to detect an encoding.
pub const SAMPLE: usize = 64 * 1024;
