//! Texts in legacy encodings that must be decoded as a whole: they are decoded to an unnamed temporary file.

use std::io::{self, Write};

use ragmaker_files::IO_ERROR;
use ragmaker_text::{ByteSource, Chunks, Encoding, INPUT_TOO_LARGE, Identified, Prior, identify};
use ragmaker_tool::{ARGUMENT_ERROR, Error};

/// The maximum size of a text that is decoded as a whole (256 MiB).
const MAX: u64 = 256 << 20;

/// A text as UTF-8, and the encoding it was in.
pub(crate) struct Decoded {
    pub(crate) source: ByteSource,
    pub(crate) encoding: String,
    pub(crate) lossy: bool,
}

/// The encoding of `source`: what `label` names, or what it is found to be; `None` if it is not text.
pub(crate) fn encoding_of(
    source: &ByteSource,
    label: Option<&str>,
    prior: &dyn Fn() -> Prior,
) -> Result<Option<Identified>, Error> {
    let fail = |error: io::Error| IO_ERROR.error(format!("the text cannot be decoded: {error}"));
    let Some(label) = label else { return identify(source, prior).map_err(fail) };
    let encoding = Encoding::named(label).ok_or_else(|| {
        ARGUMENT_ERROR
            .error(format!("--encoding cannot be {label:?}: there is no such encoding"))
            .remedy("Omit it to detect the encoding, or use a WHATWG label such as shift_jis.")
            .detail("argument", "--encoding")
    })?;
    let Encoding::Unicode(unicode) = encoding else { return Ok(Some(Identified { encoding, mark: 0 })) };
    let mut head = [0; 4];
    let read = source.read_at(0, &mut head).map_err(fail)?;
    let mark = if head[..read].starts_with(unicode.mark()) { unicode.mark().len() } else { 0 };
    Ok(Some(Identified { encoding, mark }))
}

/// Decodes all of `source`, for an encoding whose lines cannot be decoded separately.
pub(crate) fn decode(source: &ByteSource, identified: Identified) -> Result<Decoded, Error> {
    if source.size() > MAX {
        let name = identified.encoding.name();
        return Err(INPUT_TOO_LARGE
            .error(format!("a text in {name} can only be read as a whole, and this one has more than {MAX} bytes"))
            .remedy(format!("Convert it: iconv -f {name} -t UTF-8 FILE > COPY, and read the copy.")));
    }
    write(source, identified).map_err(|error| IO_ERROR.error(format!("the text cannot be decoded: {error}")))
}

fn write(source: &ByteSource, Identified { encoding, mark }: Identified) -> io::Result<Decoded> {
    let mut chunks = Chunks::new(source, mark as u64, source.size(), 0, encoding.decoder());
    let mut text = tempfile::tempfile()?;
    while let Some(chunk) = chunks.next()? {
        text.write_all(chunk.as_bytes())?;
    }
    Ok(Decoded { lossy: chunks.lossy(), source: ByteSource::file(text)?, encoding: encoding.name().to_owned() })
}

#[cfg(test)]
mod tests {
    use ragmaker_text::Unicode;

    use super::*;

    fn encoding(bytes: &[u8], label: Option<&str>) -> Option<Identified> {
        encoding_of(&ByteSource::Memory(bytes.to_vec()), label, &Prior::of_process).unwrap()
    }

    #[test]
    fn the_named_encoding_is_used_and_its_mark_is_no_text() {
        for (bytes, label, expected, mark) in [
            (&b"\xff\xfea\0"[..], "utf-16le", Encoding::Unicode(Unicode::Utf16Le), 2),
            (b"a\0", "UTF-16LE", Encoding::Unicode(Unicode::Utf16Le), 0),
            // The mark of another encoding is text.
            (b"\xff\xfea\0", "utf-16be", Encoding::Unicode(Unicode::Utf16Be), 0),
            (b"", "utf-8", Encoding::Unicode(Unicode::Utf8), 0),
        ] {
            let found = encoding(bytes, Some(label)).unwrap();
            assert_eq!((found.encoding, found.mark), (expected, mark), "{label}");
        }
        assert_eq!(encoding(b"plain", Some("shift_jis")).unwrap().encoding.name(), "Shift_JIS");
        let error = encoding_of(&ByteSource::Memory(vec![]), Some("klingon\n"), &Prior::of_process).unwrap_err();
        assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == "--encoding", "{error:?}");
    }

    #[test]
    fn a_text_with_states_is_decoded_as_a_whole() {
        // The escape before the last line selects its characters.
        let bytes = b"one\n\x1b$B$\"$$\n$&\x1b(B\n";
        let identified = encoding(bytes, Some("iso-2022-jp")).unwrap();
        let decoded = decode(&ByteSource::Memory(bytes.to_vec()), identified).unwrap();
        let mut text = vec![0; 100];
        let read = decoded.source.read_at(0, &mut text).unwrap();
        let text = String::from_utf8(text[..read].to_vec()).unwrap();
        assert!(text.starts_with("one\n\u{3042}\u{3044}"), "{text}");
        assert_eq!(decoded.encoding, "ISO-2022-JP");
        let broken = decode(&ByteSource::Memory(b"\x1b$B\xff".to_vec()), identified).unwrap();
        assert!(broken.lossy);
    }
}
