//! What is no text: images with their size, everything else as bytes, both in base64.

use std::{fmt, io};

use imagesize::ImageType;
use ragmaker_text::{SAMPLE, Source};
use ragmaker_tool::{Code, Error, OUTPUT_LIMIT};
use serde_json::{Map, json};

use crate::answer::{Answer, Data, Kind};

/// The file is no text, and text was wanted.
pub const NOT_TEXT: Code =
    Code::new("NOT_TEXT", "Add --as base64 to get its bytes, or use a program for files of this kind.");

/// Characters that are kept for everything but the data.
const AROUND: usize = 1500;

/// What the first bytes of a file say that it is.
struct Media {
    kind: Kind,
    mime_type: &'static str,
    size: Option<imagesize::ImageSize>,
}

/// Answers with the bytes of `source`; `asked` says that they were asked for, whatever they are.
pub(crate) fn read(source: Source, asked: bool, answer: Answer) -> Result<Answer, Error> {
    let media = recognize(&source)
        .map_err(|error: io::Error| ragmaker_files::io_error(&error, std::path::Path::new(&answer.path)))?;
    if !asked && media.kind != Kind::Image {
        let error = NOT_TEXT
            .error(format!("{} is no text: it is {}", answer.path, media.mime_type))
            .detail("path", answer.path)
            .detail("mime_type", media.mime_type)
            .detail("size", answer.size);
        return Err(error);
    }
    let printed = source.size().div_ceil(3) * 4;
    let fits = asked || printed < (OUTPUT_LIMIT - AROUND) as u64;
    let what = media.size.map_or(String::new(), |size| format!(", {} x {} pixels", size.width, size.height));
    let message = if fits {
        format!("{}{what}: all of it.", media.mime_type)
    } else {
        format!("{}{what}. It takes {printed} characters: continue with --as base64.", media.mime_type)
    };
    Ok(Answer {
        data: fits.then_some(Data(source)),
        kind: media.kind,
        mime_type: media.mime_type,
        width: media.size.map(|size| size.width),
        height: media.size.map(|size| size.height),
        truncated: !fits,
        next: (!fits).then(|| Map::from_iter([("as".to_owned(), json!("base64"))])),
        message,
        ..answer
    })
}

/// Kinds of files that are no text, by their first bytes.
const KNOWN: [(&[u8], &str); 13] = [
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1F\x8B", "application/gzip"),
    (b"\x7FELF", "application/x-elf"),
    (b"MZ", "application/vnd.microsoft.portable-executable"),
    (b"\0asm", "application/wasm"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"\x1A\x45\xDF\xA3", "video/webm"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
    // Office documents before 2007, and later ones with a password.
    (b"\xD0\xCF\x11\xE0", "application/x-ole-storage"),
    (b"7z\xBC\xAF\x27\x1C", "application/x-7z-compressed"),
];

fn recognize(source: &Source) -> io::Result<Media> {
    let mut head = vec![0; SAMPLE.min(usize::try_from(source.size()).unwrap_or(SAMPLE))];
    let read = source.read_at(0, &mut head)?;
    head.truncate(read);
    let image = imagesize::image_type(&head).ok().and_then(|kind| image_mime(kind, &head));
    if let Some(mime_type) = image {
        // The size of some is far into the file.
        let mut whole = vec![0; usize::try_from(source.size()).unwrap_or(usize::MAX).min(8 << 20)];
        let read = source.read_at(0, &mut whole)?;
        return Ok(Media { kind: Kind::Image, mime_type, size: imagesize::blob_size(&whole[..read]).ok() });
    }
    let known = KNOWN.iter().find(|(signature, _)| head.starts_with(signature));
    let mime_type = match known {
        Some((_, mime_type)) => mime_type,
        None if brand(&head).is_some() => "video/mp4",
        None => "application/octet-stream",
    };
    let kind = if mime_type == "application/pdf" { Kind::Pdf } else { Kind::Binary };
    Ok(Media { kind, mime_type, size: None })
}

/// What a file of the ISO base media format (ISO/IEC 14496-12), which holds films as well as pictures,
/// says that it is first of all.
fn brand(head: &[u8]) -> Option<&[u8]> {
    (head.get(4..8)? == b"ftyp").then(|| head.get(8..12))?
}

fn image_mime(kind: ImageType, head: &[u8]) -> Option<&'static str> {
    use imagesize::Compression;
    Some(match kind {
        ImageType::Png => "image/png",
        ImageType::Jpeg => "image/jpeg",
        ImageType::Gif => "image/gif",
        ImageType::Webp => "image/webp",
        ImageType::Bmp => "image/bmp",
        ImageType::Heif(Compression::Av1) => "image/avif",
        ImageType::Heif(Compression::Hevc) => "image/heic",
        ImageType::Heif(_) if matches!(brand(head)?, b"mif1" | b"mif2" | b"msf1" | b"miaf") => "image/heif",
        ImageType::Tiff => "image/tiff",
        ImageType::Ico => "image/vnd.microsoft.icon",
        ImageType::Jxl => "image/jxl",
        ImageType::Psd => "image/vnd.adobe.photoshop",
        _ => return None,
    })
}

/// Bytes as base64 (RFC 4648, section 4), read as they are printed.
pub(crate) struct Base64<'a> {
    pub(crate) source: &'a Source,
    pub(crate) failure: &'a std::cell::Cell<Option<io::Error>>,
}

impl fmt::Display for Base64<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// A multiple of three, so that blocks join without padding.
        const BLOCK: usize = 48 * 1024;
        let mut block = vec![0; BLOCK];
        let (mut at, mut text) = (0, String::new());
        loop {
            match self.source.read_at(at, &mut block) {
                Ok(0) => return Ok(()),
                Ok(read) => {
                    text.clear();
                    encode(&block[..read], &mut text);
                    f.write_str(&text)?;
                    at += read as u64;
                }
                Err(error) => {
                    self.failure.set(Some(error));
                    return Ok(());
                }
            }
        }
    }
}

fn encode(bytes: &[u8], out: &mut String) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            if digit <= chunk.len() {
                out.push(char::from(DIGITS[(bits >> (18 - 6 * digit)) as usize & 63]));
            } else {
                out.push('=');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_rfc() {
        for (plain, expected) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")]
        {
            let mut out = String::new();
            encode(plain.as_bytes(), &mut out);
            assert_eq!(out, expected);
        }
    }
}
