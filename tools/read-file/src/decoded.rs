//! A file in another encoding than Unicode's, decoded into a nameless temporary file by the program
//! that has the tables.

use std::{
    env,
    fs::File,
    io::{self, Write},
    path::PathBuf,
    process::{Command, Stdio},
};

use ragmaker_text::Source;
use ragmaker_tool::{ARGUMENT_ERROR, Code, Error};

/// The program that decodes is not where this one is.
pub const DECODER_MISSING: Code = Code::new(
    "DECODER_MISSING",
    "Install ragmaker-read-file-decode beside ragmaker-read-file; cargo install ragmaker-read-file does.",
);

/// A text as UTF-8, and the encoding it was in.
pub(crate) struct Decoded {
    pub(crate) source: Source,
    pub(crate) encoding: String,
    pub(crate) lossy: bool,
}

/// Decodes `source` from `label`, or from what it is found to be; `None` if it is no text.
pub(crate) fn decode(source: &Source, label: Option<&str>) -> Result<Option<Decoded>, Error> {
    let fail = |error: io::Error| ragmaker_files::IO_ERROR.error(format!("the text can not be decoded: {error}"));
    let input = input_of(source).map_err(fail)?;
    let text = tempfile::tempfile().map_err(fail)?;
    let program = program()?;
    let output = Command::new(&program)
        .args(label)
        .stdin(input)
        .stdout(text.try_clone().map_err(fail)?)
        .stderr(Stdio::piped())
        .spawn()
        .and_then(std::process::Child::wait_with_output)
        .map_err(|error| DECODER_MISSING.error(format!("{} does not start: {error}", program.display())))?;
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => decoded(text, &said).map(Some).map_err(fail),
        Some(3) => Ok(None),
        Some(4) => Err(ARGUMENT_ERROR
            .error(format!("--encoding can not be {:?}: there is no such encoding", label.unwrap_or_default()))
            .remedy("Leave it out to have it found, or use a label of the web such as shift_jis.")
            .detail("argument", "--encoding")),
        _ => Err(fail(io::Error::other(said.into_owned()))),
    }
}

/// `source` as another program's standard input.
pub(crate) fn input_of(source: &Source) -> io::Result<File> {
    match source {
        Source::File(file, _) => file.try_clone(),
        Source::Memory(bytes) => {
            let mut file = tempfile::tempfile()?;
            file.write_all(bytes)?;
            Ok(file)
        }
    }
}

fn decoded(text: File, said: &str) -> io::Result<Decoded> {
    let (encoding, lossy) = said.rsplit_once(' ').unwrap_or((said, ""));
    Ok(Decoded { source: Source::file(text)?, encoding: encoding.to_owned(), lossy: lossy == "lossy" })
}

fn program() -> Result<PathBuf, Error> {
    let name = format!("ragmaker-read-file-decode{}", env::consts::EXE_SUFFIX);
    let beside = env::current_exe().map(|this| this.with_file_name(&name)).unwrap_or_default();
    if beside.is_file() {
        return Ok(beside);
    }
    Err(DECODER_MISSING.error(format!("{} does not exist", beside.display())))
}
