//! Files that are not text, recognised by their first bytes.

/// A signature and the MIME type of the files that start with it.
const SIGNATURES: [(&[u8], &str); 22] = [
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1F\x8B", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xFD7zXZ\0", "application/x-xz"),
    (b"\x28\xB5\x2F\xFD", "application/zstd"),
    (b"7z\xBC\xAF\x27\x1C", "application/x-7z-compressed"),
    (b"\x7FELF", "application/x-elf"),
    (b"MZ", "application/vnd.microsoft.portable-executable"),
    (b"\0asm", "application/wasm"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
    // Office documents before 2007, and later ones with a password.
    (b"\xD0\xCF\x11\xE0", "application/x-ole-storage"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"\x1A\x45\xDF\xA3", "video/webm"),
    (b"\x89PNG", "image/png"),
    (b"\xFF\xD8\xFF", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "application/x-riff"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
];

/// The MIME type of a binary file that starts with `head`, by the signature of its format. A text can also
/// start with a short signature of letters; see [`is_binary`].
pub fn binary_type(head: &[u8]) -> Option<&'static str> {
    found(head).map(|(_, mime_type)| mime_type)
}

/// Whether a file that starts with `head` is certainly not text.
pub fn is_binary(head: &[u8]) -> bool {
    found(head).is_some_and(|(signature, _)| {
        let may_start_text = signature.len() < 4 && signature.iter().all(u8::is_ascii_alphanumeric);
        !may_start_text || head.contains(&0)
    })
}

fn found(head: &[u8]) -> Option<(&'static [u8], &'static str)> {
    // In the Resource Interchange File Format, the type of the content follows the length.
    let contained = head.starts_with(b"RIFF").then(|| head.get(8..12)).flatten().and_then(|kind| match kind {
        b"WAVE" => Some("audio/wav"),
        b"AVI " => Some("video/x-msvideo"),
        b"WEBP" => Some("image/webp"),
        _ => None,
    });
    if let Some(mime_type) = contained {
        return Some((b"RIFF", mime_type));
    }
    let known = SIGNATURES.into_iter().find(|(signature, _)| head.starts_with(signature));
    // Video or image in the ISO base media format (ISO/IEC 14496-12): the length of the first box comes first.
    known.or_else(|| (head.get(4..8) == Some(b"ftyp")).then_some((b"\0\0\0\0ftyp", "video/mp4")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_files_are_recognised_by_their_signature() {
        for (head, mime_type) in [
            (&b"%PDF-1.7\n"[..], Some("application/pdf")),
            (b"\x1F\x8B\x08", Some("application/gzip")),
            (b"\0\0\0\x18ftypmp42", Some("video/mp4")),
            (b"RIFF\x24\0\0\0WAVEfmt ", Some("audio/wav")),
            (b"ID3\x04", Some("audio/mpeg")),
            (b"plain text", None),
            (b"", None),
        ] {
            assert_eq!(binary_type(head), mime_type, "{head:?}");
        }
    }

    #[test]
    fn text_may_start_with_a_short_signature() {
        for (head, is) in [(&b"MZ is short for"[..], false), (b"MZ\x90\0\x03", true), (b"BZh", false), (b"%PDF-", true)]
        {
            assert_eq!(is_binary(head), is, "{head:?}");
        }
    }
}
