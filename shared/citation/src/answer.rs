//! The answer to check, read from a file or from standard input.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use ragmaker_tool::{ARGUMENT_ERROR, Caller, Code, Error, Invocation};

/// The answer cannot be read as text.
pub const ANSWER_NOT_READABLE: Code =
    Code::new("ANSWER_NOT_READABLE", "Give a file of UTF-8 text of at most 4 MB as --answer, or - for standard input.");

/// The most bytes of an answer.
const MAX_BYTES: u64 = 4 << 20;

/// The text of the file that `--answer` names; `-` is standard input, for a person.
///
/// # Errors
///
/// [`ANSWER_NOT_READABLE`]; the codes of [`ragmaker_files::PATH_ERRORS`] where a model names a place that it
/// may not read.
pub fn read_answer(path: &Path, invocation: &Invocation) -> Result<String, Error> {
    let failed = |reason: &str| {
        ANSWER_NOT_READABLE
            .error(format!("cannot read the answer {}: {reason}", path.display()))
            .detail("path", path.to_string_lossy())
    };
    let mut bytes = vec![];
    let read = if path.as_os_str() == "-" {
        if invocation.caller == Caller::Model {
            return Err(ARGUMENT_ERROR
                .error("there is no standard input to read here")
                .remedy("Give the answer as --text.")
                .detail("argument", "--answer"));
        }
        io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes)
    } else {
        let file = ragmaker_files::input_file(path, invocation)?;
        // Opening a pipe would wait for its other end, so the kind of file is asked first.
        match std::fs::metadata(&file) {
            Ok(metadata) if metadata.is_dir() => return Err(failed("it is a directory")),
            Ok(metadata) if !metadata.is_file() => return Err(failed("it is not a regular file")),
            _ => {}
        }
        File::open(&file).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| failed(&error.to_string()))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(failed("it is larger than 4 MB"));
    }
    String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8"))
}
