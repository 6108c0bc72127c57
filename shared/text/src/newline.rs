//! The line endings of a text.

use std::fmt;

/// The line ending of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newline {
    /// U+000A, as on Unix.
    Lf,
    /// U+000D U+000A, as on Windows.
    CrLf,
    /// U+000D, as on old Macs.
    Cr,
    /// Different line endings.
    Mixed,
    /// No line ending.
    None,
}

impl Newline {
    /// The line ending of `text`.
    pub fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let (mut lf, mut crlf, mut cr) = (false, false, false);
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            match (bytes[at], at.checked_sub(1).map(|before| bytes[before]), bytes.get(at + 1)) {
                (b'\n', Some(b'\r'), _) => crlf = true,
                (b'\n', ..) => lf = true,
                (_, _, Some(b'\n')) => {}
                _ => cr = true,
            }
        }
        match (lf, crlf, cr) {
            (false, false, false) => Self::None,
            (true, false, false) => Self::Lf,
            (false, true, false) => Self::CrLf,
            (false, false, true) => Self::Cr,
            _ => Self::Mixed,
        }
    }

    /// The name in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lf => "lf",
            Self::CrLf => "crlf",
            Self::Cr => "cr",
            Self::Mixed => "mixed",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Newline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_ending_is_detected() {
        for (text, newline) in [
            ("", Newline::None),
            ("a", Newline::None),
            ("a\nb\n", Newline::Lf),
            ("a\r\nb\r\n", Newline::CrLf),
            ("a\rb\r", Newline::Cr),
            ("a\nb\r\n", Newline::Mixed),
            ("\r\r\n", Newline::Mixed),
            ("\n\r", Newline::Mixed),
        ] {
            assert_eq!(Newline::of(text), newline, "{text:?}");
        }
    }
}
