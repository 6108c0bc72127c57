//! Two executables for one tool: a small one that reads most files, and one for all.
//!
//! An agent starts `ragmaker-read-file` once for every file it reads, and nearly all of them are
//! plain text. What the others take (the tables of older encodings, the formats of images, archives and
//! office documents, running `pdftotext`) would be four fifths of it. So that executable reads Unicode
//! text and hands every other file over to `ragmaker-read-file-full`, which is the whole tool.

use std::{env, io, path::PathBuf, process::Command};

use ragmaker_tool::{Code, Error, Tool};

use crate::{Answer, Args, wanted::Wanted};

/// The executable for what is not plain text is not where this one is.
pub const DECODER_MISSING: Code = Code::new(
    "DECODER_MISSING",
    "Install ragmaker-read-file-full beside ragmaker-read-file; cargo install ragmaker-read-file does.",
);

/// Reads a file that is Unicode text; becomes `ragmaker-read-file-full` for any other.
pub fn read_here_or_there(args: &Args) -> Result<Answer, Error> {
    // Standard input can be read only once: by the one that can read all of it.
    if args.path != "-" {
        let wanted = Wanted::new(args)?;
        let (source, answer) = args.open()?;
        if let Ok(answer) = args.plain_text(source, &wanted, answer)? {
            return Ok(answer);
        }
    }
    Err(hand_over(args))
}

/// Ends this process in the place of the other; where it returns, with the reason that it did not.
fn hand_over(args: &Args) -> Error {
    let name = format!("{}-full{}", Args::NAME, env::consts::EXE_SUFFIX);
    let program = env::current_exe().map_or_else(|_| PathBuf::from(&name), |this| this.with_file_name(&name));
    // Not the command line as it is: arguments that came through standard input are not there again.
    let arguments = serde_json::to_string(args).unwrap_or_default();
    let error = become_it(Command::new(&program).args(["--arguments", &arguments]));
    DECODER_MISSING.error(format!("{} does not start: {error}", program.display()))
}

#[cfg(unix)]
fn become_it(command: &mut Command) -> io::Error {
    std::os::unix::process::CommandExt::exec(command)
}

#[cfg(not(unix))]
fn become_it(command: &mut Command) -> io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}
