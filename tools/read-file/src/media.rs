//! Files that are not text: images with their size, and other bytes, both in base64.

use std::{io, path::Path};

use imagesize::ImageType;
use ragmaker_text::{ByteSource, NOT_TEXT, Prior, SAMPLE, Text};
use ragmaker_tool::{Budget, Error};

use crate::answer::{Answer, Data, FileKind};

/// The media type by the first bytes of a file.
struct Media {
    kind: FileKind,
    mime_type: &'static str,
    size: Option<imagesize::ImageSize>,
}

/// Answers with the bytes of `source`; `asked` is set if the caller requested bytes for any kind of file.
pub(crate) fn read(source: ByteSource, asked: bool, answer: Answer) -> Result<Answer, Error> {
    let media = recognize(&source, &answer.path)
        .map_err(|error: io::Error| ragmaker_files::io_error(&error, Path::new(&answer.path)))?;
    if !asked && media.kind != FileKind::Image {
        // Only the start of the file tells its type.
        let (what, remedy) = if media.mime_type.starts_with("text/") {
            ("text with other data in it", "Set --as to text to read it with the other data as characters.")
        } else {
            (media.mime_type, "Set --as to base64 to get its bytes, or use a program for files of this kind.")
        };
        let error = NOT_TEXT
            .error(format!("{} is not text: it is {what}", answer.path))
            .remedy(remedy)
            .detail("path", answer.path)
            .detail("mime_type", media.mime_type)
            .detail("size", answer.size);
        return Err(error);
    }
    let printed = source.size().div_ceil(3) * 4;
    let fits = asked || printed < Budget::for_frame(&Answer::widest(&answer)).left() as u64;
    let what = media.size.map_or(String::new(), |size| format!(", {} x {} pixels", size.width, size.height));
    let message = if fits {
        format!("{}{what}: all of it.", media.mime_type)
    } else {
        format!("{}{what}. Its bytes take {printed} characters: set --as to base64 to get them.", media.mime_type)
    };
    Ok(Answer {
        data: fits.then_some(Data(source)),
        kind: media.kind,
        mime_type: media.mime_type,
        width: media.size.map(|size| size.width),
        height: media.size.map(|size| size.height),
        truncated: !fits,
        message,
        ..answer
    })
}

fn recognize(source: &ByteSource, path: &str) -> io::Result<Media> {
    let mut head = source.buffer(SAMPLE);
    let read = source.read_at(0, &mut head)?;
    head.truncate(read);
    let image = imagesize::image_type(&head).ok().and_then(|kind| image_mime(kind, &head));
    if let Some(mime_type) = image {
        // The size of some is far into the file.
        let mut whole = source.buffer(8 << 20);
        let read = source.read_at(0, &mut whole)?;
        return Ok(Media { kind: FileKind::Image, mime_type, size: imagesize::blob_size(&whole[..read]).ok() });
    }
    let mime_type =
        ragmaker_media::binary_type(&head).unwrap_or_else(|| match Text::decode(head, &Prior::of_process) {
            // A text of which the bytes were asked for.
            Ok(text) => ragmaker_media::text_type(text.text.as_bytes(), read as u64 == source.size(), Path::new(path)),
            Err(_) => "application/octet-stream",
        });
    let kind = if mime_type == "application/pdf" { FileKind::Pdf } else { FileKind::Binary };
    Ok(Media { kind, mime_type, size: None })
}

/// The major brand of a file in the ISO base media format (ISO/IEC 14496-12), which is used for videos and images.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_brand_of_a_container_tells_images_from_others() {
        let heif = |brand: &[u8; 4]| [b"\0\0\0\x18ftyp".as_slice(), brand, b"\0\0\0\0"].concat();
        assert_eq!(brand(&heif(b"mif1")), Some(b"mif1".as_slice()));
        assert_eq!((brand(b"\0\0\0\x18moov1234"), brand(b"\0\0\0")), (None, None));
        let unknown = ImageType::Heif(imagesize::Compression::Unknown);
        assert_eq!(image_mime(unknown, &heif(b"mif1")), Some("image/heif"));
        assert_eq!(image_mime(unknown, &heif(b"qt  ")), None);
        assert_eq!(image_mime(ImageType::Heif(imagesize::Compression::Av1), b""), Some("image/avif"));
        assert_eq!(image_mime(ImageType::Png, b""), Some("image/png"));
    }
}
