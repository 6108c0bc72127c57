//! The answer to check, read from a file or from standard input.

use std::path::Path;

use ragmaker_files::{InputError, read_standard_input, read_text_file};
use ragmaker_tool::{ARGUMENT_ERROR, Caller, Code, Error, Invocation};

/// The answer cannot be read as text.
pub const ANSWER_NOT_READABLE: Code =
    Code::new("ANSWER_NOT_READABLE", "Give a file of UTF-8 text of at most 4 MB as --answer, or - for standard input.");

/// The longest answer, in bytes.
const MAX_BYTES: u64 = 4 << 20;

/// Reads the answer in the file `path`; `-` is standard input, which only a person may use.
///
/// # Errors
///
/// [`ANSWER_NOT_READABLE`]; the codes of [`ragmaker_files::PATH_ERRORS`] if a model names a file that it may
/// not read.
pub fn read_answer(path: &Path, invocation: &Invocation) -> Result<String, Error> {
    let read = if path.as_os_str() == "-" {
        if invocation.caller == Caller::Model {
            return Err(ARGUMENT_ERROR
                .error("a call has no standard input")
                .remedy("Give the answer as --text.")
                .detail("argument", "--answer"));
        }
        read_standard_input(MAX_BYTES)
    } else {
        read_text_file(path, invocation, MAX_BYTES)
    };
    read.map_err(|reason| match reason {
        InputError::Refused(error) => error,
        reason => ANSWER_NOT_READABLE
            .error(format!("cannot read the answer {}: {reason}", path.display()))
            .detail("path", path.to_string_lossy()),
    })
}
