//! Error codes for bytes that are not valid text.

use ragmaker_tool::Code;

/// The bytes are not text.
pub const NOT_TEXT: Code =
    Code::new("NOT_TEXT", "Use a program for files of this kind; ragmaker-read-file can give the bytes as base64.");
/// The file exceeds, or would exceed, the limit for changes.
pub const FILE_TOO_LARGE: Code = Code::new(
    "FILE_TOO_LARGE",
    "Write another file, or change this one with a program that edits streams, such as sed.",
);
/// The input exceeds the limit.
pub const INPUT_TOO_LARGE: Code =
    Code::new("INPUT_TOO_LARGE", "Save it to a file and read that: a file may have any size.");
