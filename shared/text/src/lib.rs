//! Text files of any size in any encoding: what they are, where their lines are, what they say.
//!
//! A [`Source`] is read at offsets and never whole. [`Unicode`] is found and decoded without tables;
//! [`identify`] and [`Encoding`] know the encodings of the web before it as well, and [`Reader`] and [`Text`] read
//! any of them. [`lines`] finds lines at memory speed, forwards and from the end.

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
pub use source::Source;
pub use text::Text;
pub use unicode::{Sniffed, Unicode, says_at, sniff, sniff_within};

/// How much of a text is looked at to find out its encoding.
pub const SAMPLE: usize = 64 * 1024;
