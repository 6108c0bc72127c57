//! Texts of search engines as plain text; some engines mark words with HTML.

/// The maximum length in characters of a title or a date.
pub(crate) const TITLE: usize = 300;
/// The maximum length in characters of a snippet.
pub(crate) const SNIPPET: usize = 800;

/// `text` without tags, entities, control characters and runs of white space, at most `most` characters long.
pub(crate) fn plain(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['<', '&']) {
        out += &rest[..at];
        rest = &rest[at..];
        if let Some(end) = tag(rest) {
            rest = &rest[end..];
        } else if let Some((c, end)) = entity(rest) {
            out.push(c);
            rest = &rest[end..];
        } else {
            out += &rest[..1];
            rest = &rest[1..];
        }
    }
    out += rest;
    let is_space = |c: char| c.is_whitespace() || c.is_control();
    let words: Vec<_> = out.split(is_space).filter(|word| !word.is_empty()).collect();
    let joined = words.join(" ");
    match joined.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", joined[..at].trim_end()),
        None => joined,
    }
}

/// The length of the tag that `text` begins with: a letter or a slash follows the bracket, unlike in `a < b`.
fn tag(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('<')?;
    let name = inner.strip_prefix('/').unwrap_or(inner);
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let end = text.find('>')?;
    // A generic type in a snippet, `Vec<String>`, is not one of the few tags that engines use.
    let tag = name.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    let known = ["b", "br", "em", "i", "mark", "span", "strong", "p", "u", "a", "wbr"];
    known.contains(&tag).then_some(end + 1)
}

/// The character for the entity at the start of `text`, and the entity's length.
fn entity(text: &str) -> Option<(char, usize)> {
    let end = text.bytes().take(12).position(|byte| byte == b';')?;
    let name = text.get(1..end)?;
    let c = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        _ => {
            let number = name.strip_prefix('#')?;
            let hex = number.strip_prefix(['x', 'X']).map(|hex| u32::from_str_radix(hex, 16));
            char::from_u32(hex.unwrap_or_else(|| number.parse()).ok()?)?
        }
    };
    Some((c, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_entities_become_text() {
        for (text, expected) in [
            ("A <strong>tide</strong> &amp; its\n\n moon&#x27;s&nbsp;pull", "A tide & its moon's pull"),
            ("Vec<String> & a < b, 1 <2", "Vec<String> & a < b, 1 <2"),
            ("潮\u{1b}[31m汐 &unknown; &#xFFFFFFFF; &", "潮 [31m汐 &unknown; &#xFFFFFFFF; &"),
            ("<", "<"),
            ("&#", "&#"),
        ] {
            assert_eq!(plain(text, 100), expected);
        }
        assert_eq!(plain(&"潮".repeat(20), 10), format!("{}…", "潮".repeat(10)));
    }
}
