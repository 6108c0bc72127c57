//! Character references, decoded by the HTML standard.
//!
//! The tables of the HTML parsers have a quarter of a million bytes of pointers, in the executable of every tool that
//! reads a page. The names of the standard as sorted text take a tenth of that.

use std::cmp::Ordering;

use encoding_rs::WINDOWS_1252;

/// The standard's names (<https://html.spec.whatwg.org/entities.json>) in the order of their bytes, one
/// to a line, each with its one or two code points in hexadecimal.
const NAMES: &str = include_str!("entities.txt");

/// The longest name of a reference, with its semicolon.
const MAX_NAME: usize = 32;

/// The longest name that needs no semicolon.
const MAX_UNTERMINATED: usize = 6;

/// Appends `text` to `out` with its character references replaced. NULs are removed and line endings become `
/// `. In an attribute, a name without a semicolon before `=`, a letter or a digit stays as it is.
pub(crate) fn decode(text: &str, in_attribute: bool, out: &mut String) {
    let mut rest = text;
    while let Some(at) = memchr::memchr3(b'&', 0, b'\r', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        rest = match rest.as_bytes()[at] {
            b'&' => reference(tail, in_attribute, out).unwrap_or_else(|| {
                out.push('&');
                tail
            }),
            b'\r' => {
                out.push('\n');
                tail.strip_prefix('\n').unwrap_or(tail)
            }
            _ => tail,
        };
    }
    out.push_str(rest);
}

/// Decodes the reference after an ampersand, and returns the rest of the text.
fn reference<'t>(tail: &'t str, in_attribute: bool, out: &mut String) -> Option<&'t str> {
    if let Some(number) = tail.strip_prefix('#') {
        return numeric(number, out);
    }
    // Most references are one of these.
    for (name, character) in [("amp;", '&'), ("nbsp;", '\u{A0}'), ("quot;", '"'), ("lt;", '<'), ("gt;", '>')] {
        if let Some(rest) = tail.strip_prefix(name) {
            out.push(character);
            return Some(rest);
        }
    }
    let name = tail.bytes().take(MAX_NAME).take_while(u8::is_ascii_alphanumeric).count();
    if tail.as_bytes().get(name) == Some(&b';')
        && let Some(characters) = named(&tail[..=name])
    {
        out.extend(characters);
        return Some(&tail[name + 1..]);
    }
    let end = (2..=name.min(MAX_UNTERMINATED)).rev().find(|&end| named(&tail[..end]).is_some())?;
    let rest = &tail[end..];
    if in_attribute && rest.starts_with(|c: char| c == '=' || c.is_ascii_alphanumeric()) {
        return None;
    }
    out.extend(named(&tail[..end])?);
    Some(rest)
}

/// The characters of the reference `name`, by binary search over the lines.
fn named(name: &str) -> Option<impl Iterator<Item = char> + use<>> {
    let (mut from, mut to) = (0, NAMES.len());
    while from < to {
        let middle = from.midpoint(to);
        let start = memchr::memrchr(b'\n', &NAMES.as_bytes()[..middle]).map_or(0, |at| at + 1);
        let end = middle + memchr::memchr(b'\n', &NAMES.as_bytes()[middle..])?;
        let (known, codes) = NAMES[start..end].split_once(' ')?;
        match name.cmp(known) {
            Ordering::Less => to = start,
            Ordering::Greater => from = end + 1,
            Ordering::Equal => {
                return Some(codes.split(' ').filter_map(|code| char::from_u32(u32::from_str_radix(code, 16).ok()?)));
            }
        }
    }
    None
}

fn numeric<'t>(number: &'t str, out: &mut String) -> Option<&'t str> {
    let (digits, radix) = match number.strip_prefix(['x', 'X']) {
        Some(hex) => (hex, 16),
        None => (number, 10),
    };
    let length = digits.bytes().take_while(|b| char::from(*b).is_digit(radix)).count();
    if length == 0 {
        return None;
    }
    let code = u32::from_str_radix(digits[..length].trim_start_matches('0'), radix).unwrap_or(u32::MAX);
    let c = match code {
        // Numbers that are not Unicode characters are interpreted as windows-1252.
        0x80..=0x9F => WINDOWS_1252.decode(&[code as u8]).0.chars().next(),
        0x0D => Some('\n'),
        _ => char::from_u32(code).filter(|&c| c != '\0'),
    };
    let only_zeros = digits[..length].bytes().all(|b| b == b'0');
    out.push(if only_zeros { '\u{FFFD}' } else { c.unwrap_or('\u{FFFD}') });
    let rest = &digits[length..];
    Some(rest.strip_prefix(';').unwrap_or(rest))
}

/// `text` as it is written in HTML, between tags or in double quotes.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> String {
        let mut out = String::new();
        decode(source, false, &mut out);
        out
    }

    #[test]
    fn references_as_the_standard_has_them() {
        assert_eq!(
            text("a &amp; b &lt;c&gt; &copy2024 &notit; &noone; & &#; &#x; &"),
            "a & b <c> ©2024 ¬it; &noone; & &#; &#x; &"
        );
        assert_eq!(text("&#72;&#x69;&#150;&#0;&#xD800;&#99999999999;"), "Hi–\u{FFFD}\u{FFFD}\u{FFFD}");
        assert_eq!(text("a\r\nb\rc\0d"), "a\nb\ncd");
        assert_eq!(text("&NotEqualTilde;&ngE;"), "≂̸≧̸");
    }

    #[test]
    fn every_name_of_the_parser_s_table_is_known() {
        let mut count = 0;
        for (name, &(first, second)) in web_atoms::NAMED_ENTITIES.entries().filter(|(_, codes)| codes.0 != 0) {
            let characters: String =
                [first, second].into_iter().filter(|&c| c != 0).filter_map(char::from_u32).collect();
            assert_eq!(text(&format!("&{name}")), characters, "{name}");
            count += 1;
        }
        assert_eq!((count, NAMES.lines().count()), (2231, 2231));
    }

    #[test]
    fn an_address_keeps_its_parameters() {
        let mut out = String::new();
        decode("/?a=1&copy=2&amp;b&lt", true, &mut out);
        assert_eq!(out, "/?a=1&copy=2&b<");
    }
}
