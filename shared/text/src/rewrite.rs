//! Rewriting a text file with the encoding and line endings of the old one.

use ragmaker_tool::{Code, Error};

use crate::{Decode, Encoding, Identified, Newline, Prior, Text, Unicode};

/// A character cannot be written in the encoding of the file.
pub const UNENCODABLE: Code = Code::new(
    "UNENCODABLE",
    "Nothing was changed. Use characters that the encoding has, or write a new file, which is UTF-8.",
);

/// The error for a character `c` that `encoding` lacks.
pub fn unencodable(c: char, encoding: &str) -> Error {
    UNENCODABLE
        .error(format!("{c:?} cannot be written in {encoding}, the encoding of the file"))
        .detail("character", c.to_string())
        .detail("encoding", encoding)
}

/// A text file that is about to be rewritten or created.
///
/// The new content keeps the encoding, the byte order mark, the line endings and the final newline of the old
/// one.
#[derive(Debug)]
pub struct Rewrite {
    /// The old text; `None` if there was no file or it was not text.
    old: Option<Text>,
    bytes: Vec<u8>,
}

impl Rewrite {
    /// Takes the bytes of the old file, which are empty for a new file. The `prior` is that of
    /// [`identify`](crate::identify).
    pub fn of(bytes: Vec<u8>, prior: &dyn Fn() -> Prior) -> Self {
        match Text::decode(bytes, prior) {
            Ok(text) if text.bytes.is_empty() => Self { old: None, bytes: vec![] },
            Ok(text) => Self { old: Some(text), bytes: vec![] },
            Err(bytes) => Self { old: None, bytes },
        }
    }

    /// The encoding of the new content.
    pub fn encoding(&self) -> &'static str {
        self.identified().encoding.name()
    }

    /// The bytes of a file with the text `content`.
    pub fn write(&self, content: &str) -> Result<Vec<u8>, Error> {
        let mut content = self.with_newlines(content);
        if let Some(old) = &self.old {
            let ended = old.text.ends_with('\n');
            if ended && !content.ends_with('\n') && !content.is_empty() {
                content.push_str(if Newline::of(&old.text) == Newline::CrLf { "\r\n" } else { "\n" });
            } else if !ended && !old.text.is_empty() {
                let open = content.strip_suffix("\r\n").or(content.strip_suffix('\n'));
                content = open.map(str::to_owned).unwrap_or(content);
            }
        }
        let mark = self.old.as_ref().map_or(&[][..], |old| &old.bytes[..old.identified.mark]);
        Ok([mark, &self.encode(&content)?].concat())
    }

    /// The bytes of the old file with `content` appended.
    pub fn append(&self, content: &str) -> Result<Vec<u8>, Error> {
        let old = self.old.as_ref().map_or(&self.bytes, |old| &old.bytes);
        Ok([old.as_slice(), &self.encode(&self.with_newlines(content))?].concat())
    }

    /// The line ending of `bytes`, which [`Self::write`] or [`Self::append`] returned.
    pub fn newline_of(&self, bytes: &[u8]) -> Newline {
        let mut text = String::new();
        let mark = self.identified().mark.min(bytes.len());
        self.identified().encoding.decoder().decode(&bytes[mark..], true, &mut text);
        Newline::of(&text)
    }

    fn identified(&self) -> Identified {
        let utf8 = Identified { encoding: Encoding::Unicode(Unicode::Utf8), mark: 0 };
        self.old.as_ref().map_or(utf8, |old| old.identified)
    }

    fn encode(&self, text: &str) -> Result<Vec<u8>, Error> {
        self.identified().encoding.encode(text).map_err(|c| unencodable(c, self.encoding()))
    }

    fn with_newlines(&self, content: &str) -> String {
        let unix = || content.replace("\r\n", "\n");
        match self.old.as_ref().map(|old| Newline::of(&old.text)) {
            Some(Newline::CrLf) => unix().replace('\n', "\r\n"),
            Some(Newline::Lf) => unix(),
            _ => content.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn legacy(label: &str) -> Encoding {
        Encoding::named(label).unwrap()
    }

    #[test]
    fn a_rewrite_keeps_encoding_and_line_endings() {
        let shift_jis = legacy("shift_jis");
        let old = shift_jis.encode("これは日本語の文章です。\r\n二行目もあります。\r\n").unwrap();
        let rewrite = Rewrite::of(old.clone(), &Prior::of_process);
        assert_eq!(rewrite.write("新しい\n文").unwrap(), shift_jis.encode("新しい\r\n文\r\n").unwrap());
        assert_eq!(rewrite.append("終\n").unwrap(), [old, shift_jis.encode("終\r\n").unwrap()].concat());
        assert!(rewrite.write("😀").unwrap_err().is(UNENCODABLE));
        let marked = Rewrite::of(b"\xEF\xBB\xBFno end".to_vec(), &Prior::of_process);
        assert_eq!(marked.write("new\n").unwrap(), b"\xEF\xBB\xBFnew");
        assert_eq!(Rewrite::of(vec![], &Prior::of_process).write("a\r\nb").unwrap(), b"a\r\nb");
        assert_eq!(Rewrite::of(b"a\nb\n".to_vec(), &Prior::of_process).write("c\r\nd\r\n").unwrap(), b"c\nd\n");
    }
}
