//! Text files of any size in any encoding: what they are, where their lines are, what they say.
//!
//! A [`Source`] is read at offsets and never whole. [`Unicode`] is found and decoded without
//! tables, so that a tool that reads it stays small; [`legacy`] holds the encodings of the web
//! before it. [`lines`] finds lines at memory speed, forwards and from the end.

mod chunks;
mod decode;
mod fitting;
pub mod legacy;
pub mod lines;
mod newline;
mod source;
mod unicode;

pub use chunks::Chunks;
pub use decode::{Decode, UnicodeDecoder};
pub use fitting::{fitting, printed};
pub use newline::Newline;
pub use source::Source;
pub use unicode::{Sniffed, Unicode, says_at, sniff, sniff_within};

/// How much of a text is looked at to find out its encoding.
pub const SAMPLE: usize = 64 * 1024;
