//! The encodings before Unicode, for `ragmaker-read-file`: bytes on standard input, UTF-8 on
//! standard output, and on standard error the encoding's name and whether anything was lost.
//!
//! It is a program of its own because its tables are as large as all of `ragmaker-read-file`, which
//! starts once for every file that an agent reads and needs them for few of these.
//!
//! Exit status 3: the input is no text. 4: there is no such encoding.

use std::{
    fs::File,
    io::{self, Write},
    os::fd::AsFd,
    process::ExitCode,
};

use ragmaker_text::{
    Chunks, Source,
    legacy::{Encoding, Identified, identify},
};

fn main() -> ExitCode {
    match decode(std::env::args().nth(1).as_deref()) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn decode(label: Option<&str>) -> io::Result<u8> {
    let source = Source::file(File::from(io::stdin().as_fd().try_clone_to_owned()?))?;
    let identified = match label.map(Encoding::named) {
        Some(None) => return Ok(4),
        Some(Some(encoding)) => Some(Identified { encoding, mark: 0 }),
        None => identify(&source, u64::MAX)?,
    };
    let Some(Identified { encoding, mark }) = identified else { return Ok(3) };
    let mut chunks = Chunks::new(&source, mark as u64, source.size(), 0, encoding.decoder());
    let mut out = io::stdout().lock();
    while let Some(text) = chunks.next()? {
        out.write_all(text.as_bytes())?;
    }
    out.flush()?;
    eprint!("{} {}", encoding.name(), if chunks.lossy() { "lossy" } else { "exact" });
    Ok(0)
}
