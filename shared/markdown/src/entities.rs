//! Character references, decoded as the HTML standard says.
//!
//! The table of names is the one that `html2text`'s parser brings along.

use web_atoms::{C1_REPLACEMENTS, NAMED_ENTITIES};

/// The longest name of a reference, with its semicolon.
const LONGEST: usize = 32;

/// Appends `text` to `out` with its character references replaced; NULs are dropped and line
/// ends become `\n`. In an attribute, a name without a semicolon before `=` or a letter or digit stays as it is.
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

/// Decodes the reference that follows an ampersand; what is left after it.
fn reference<'t>(tail: &'t str, in_attribute: bool, out: &mut String) -> Option<&'t str> {
    if let Some(number) = tail.strip_prefix('#') {
        return numeric(number, out);
    }
    let name = tail.bytes().take(LONGEST).take_while(u8::is_ascii_alphanumeric).count();
    let mut end = if tail.as_bytes().get(name) == Some(&b';') { name + 1 } else { name };
    while end > 1 {
        if let Some(&(first, second)) = NAMED_ENTITIES.get(&tail[..end])
            && first != 0
        {
            let rest = &tail[end..];
            let ended = tail.as_bytes()[end - 1] == b';';
            if in_attribute && !ended && rest.starts_with(|c: char| c == '=' || c.is_ascii_alphanumeric()) {
                return None;
            }
            out.extend([first, second].into_iter().filter(|&code| code != 0).filter_map(char::from_u32));
            return Some(rest);
        }
        end -= 1;
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
        0x80..=0x9F => C1_REPLACEMENTS[code as usize - 0x80],
        0x0D => Some('\n'),
        _ => char::from_u32(code).filter(|&c| c != '\0'),
    };
    let only_zeros = digits[..length].bytes().all(|b| b == b'0');
    out.push(if only_zeros { '\u{FFFD}' } else { c.unwrap_or('\u{FFFD}') });
    let rest = &digits[length..];
    Some(rest.strip_prefix(';').unwrap_or(rest))
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
    fn an_address_keeps_its_parameters() {
        let mut out = String::new();
        decode("/?a=1&copy=2&amp;b&lt", true, &mut out);
        assert_eq!(out, "/?a=1&copy=2&b<");
    }
}
