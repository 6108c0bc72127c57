//! A file in another encoding than Unicode's, decoded into a nameless temporary file.

use std::{
    fs::File,
    io::{self, Write},
};

use ragmaker_files::IO_ERROR;
use ragmaker_text::{
    Chunks, Source,
    legacy::{Encoding, Identified, identify},
};
use ragmaker_tool::{ARGUMENT_ERROR, Error};

/// A text as UTF-8, and the encoding it was in.
pub(crate) struct Decoded {
    pub(crate) source: Source,
    pub(crate) encoding: String,
    pub(crate) lossy: bool,
}

/// Decodes `source` from `label`, or from what it is found to be; `None` if it is no text.
pub(crate) fn decode(source: &Source, label: Option<&str>) -> Result<Option<Decoded>, Error> {
    let fail = |error: io::Error| IO_ERROR.error(format!("the text can not be decoded: {error}"));
    let identified = match label {
        None => identify(source).map_err(fail)?,
        Some(label) => {
            let encoding = Encoding::named(label).ok_or_else(|| {
                ARGUMENT_ERROR
                    .error(format!("--encoding can not be {label:?}: there is no such encoding"))
                    .remedy("Leave it out to have it found, or use a label of the web such as shift_jis.")
                    .detail("argument", "--encoding")
            })?;
            Some(Identified { encoding, mark: 0 })
        }
    };
    identified.map(|identified| write(source, identified)).transpose().map_err(fail)
}

fn write(source: &Source, Identified { encoding, mark }: Identified) -> io::Result<Decoded> {
    let mut chunks = Chunks::new(source, mark as u64, source.size(), 0, encoding.decoder());
    let mut text = tempfile::tempfile()?;
    while let Some(chunk) = chunks.next()? {
        text.write_all(chunk.as_bytes())?;
    }
    Ok(Decoded { lossy: chunks.lossy(), source: Source::file(text)?, encoding: encoding.name().to_owned() })
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
