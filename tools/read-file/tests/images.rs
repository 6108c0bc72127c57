//! `ragmaker-read-file` and images: their type by content, and their size.

use std::{fs, path::Path, process::Command};

use serde_json::{Value, json};
use tempfile::TempDir;

fn read(root: &Path, name: &str) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ragmaker-read-file"));
    let output = command.args(["--path", name, "--project-root"]).arg(root).output().unwrap();
    let text = if output.status.success() { output.stdout } else { output.stderr };
    serde_json::from_slice(&text).unwrap()
}

/// A box of the ISO base media format.
fn iso_box(kind: [u8; 4], content: &[u8]) -> Vec<u8> {
    let size = u32::try_from(content.len() + 8).unwrap();
    [&size.to_be_bytes(), &kind[..], content].concat()
}

/// An image of 40 x 30 pixels as HEIF (ISO/IEC 23008-12) has it, without the pixels.
fn heif(brand: [u8; 4]) -> Vec<u8> {
    let size = [[0; 4], 40_u32.to_be_bytes(), 30_u32.to_be_bytes()].concat();
    let properties = iso_box(*b"iprp", &iso_box(*b"ipco", &iso_box(*b"ispe", &size)));
    let handler = iso_box(*b"hdlr", b"\0\0\0\0\0\0\0\0pict\0\0\0\0\0\0\0\0\0\0\0\0\0");
    let meta = iso_box(*b"meta", &[&[0; 4][..], &handler, &properties].concat());
    [iso_box(*b"ftyp", &[&brand[..], &[0; 4], &b"mif1"[..], &brand[..]].concat()), meta, iso_box(*b"mdat", b"")]
        .concat()
}

/// The same image in every format, as far as a reader goes that wants its size.
fn images() -> Vec<(&'static str, Vec<u8>)> {
    let le = |number: u16| number.to_le_bytes();
    let tag = |tag: u16, value: u16| [le(tag), le(3), le(1), le(0), le(value), le(0)].concat();
    vec![
        ("image/png", b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\x28\0\0\0\x1E\x08\x06\0\0\0".to_vec()),
        ("image/gif", [&b"GIF89a"[..], &le(40), &le(30), b"\x80\0\0\0\0\0\xFF\xFF\xFF,"].concat()),
        (
            "image/jpeg",
            [
                &b"\xFF\xD8\xFF\xE0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0"[..],
                b"\xFF\xC0\0\x0B\x08\0\x1E\0\x28\x01\x01\x11\0\xFF\xDA\0\x08\x01\x01\0\0\x3F\0\xFF\xD9",
            ]
            .concat(),
        ),
        ("image/webp", b"RIFF\x16\0\0\0WEBPVP8X\x0A\0\0\0\0\0\0\0\x27\0\0\x1D\0\0".to_vec()),
        ("image/webp", [b"RIFF\x16\0\0\0WEBPVP8 \x0A\0\0\0\0\0\0\x9D\x01\x2A", &le(40)[..], &le(30)].concat()),
        (
            "image/bmp",
            [
                b"BM\x3A\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0",
                &[le(40), le(0), le(30), le(0), le(1), le(24)].concat()[..],
                &[0; 24],
            ]
            .concat(),
        ),
        ("image/avif", heif(*b"avif")),
        ("image/heic", heif(*b"heic")),
        ("image/tiff", [b"II\x2A\0\x08\0\0\0\x02\0", &tag(256, 40)[..], &tag(257, 30), &[0; 4]].concat()),
        (
            "image/vnd.microsoft.icon",
            [b"\0\0\x01\0\x01\0\x28\x1E\0\0\x01\0\x20\0\x04\0\0\0\x16\0\0\0".to_vec(), vec![0; 4]].concat(),
        ),
    ]
}

#[test]
fn type_and_size_of_images() {
    let temp = TempDir::new().unwrap();
    for (mime_type, bytes) in images() {
        // The name says nothing.
        fs::write(temp.path().join("picture.txt"), &bytes).unwrap();
        let answer = read(temp.path(), "picture.txt");
        assert_eq!((&answer["kind"], &answer["mime_type"]), (&json!("image"), &json!(mime_type)), "{answer}");
        assert_eq!((&answer["width"], &answer["height"]), (&json!(40), &json!(30)), "{answer}");
        let digits = bytes.len().div_ceil(3) * 4;
        assert_eq!(answer["data"].as_str().map(str::len), Some(digits), "{mime_type}");
        // One that ends early is still what it is; and nothing falls over.
        for end in [4, 8, 12, 16, 20, bytes.len() - 1] {
            fs::write(temp.path().join("cut"), &bytes[..end.min(bytes.len())]).unwrap();
            let cut = read(temp.path(), "cut");
            assert_ne!(cut["error_code"], "INTERNAL_ERROR", "{mime_type} {end}: {cut}");
        }
    }
}

#[test]
fn files_that_are_no_images_are_rejected() {
    let temp = TempDir::new().unwrap();
    let error = |name: &str, bytes: &[u8]| {
        fs::write(temp.path().join(name), bytes).unwrap();
        let answer = read(temp.path(), name);
        assert_eq!(answer["error_code"], "NOT_TEXT", "{answer}");
        answer["details"]["mime_type"].as_str().unwrap().to_owned()
    };
    assert_eq!(error("zeros.avif", &[0; 40]), "application/octet-stream");
    let film = [iso_box(*b"ftyp", b"isom\0\0\x02\0isomiso2avc1mp41"), iso_box(*b"mdat", &[0; 64])].concat();
    assert_eq!(error("film.heic", &film), "video/mp4");
}

#[test]
fn a_drawing_is_text() {
    let temp = TempDir::new().unwrap();
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"30\"><text>図</text></svg>\n";
    fs::write(temp.path().join("drawing.svg"), svg).unwrap();
    let answer = read(temp.path(), "drawing.svg");
    assert_eq!((&answer["kind"], &answer["content"]), (&json!("text"), &json!(svg)));
}
