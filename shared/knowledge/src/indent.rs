//! JSON with a line for each member, so that a document of it can be read, cited and compared line by line.

use serde::de::IgnoredAny;

/// How many times longer than the text its indented form may be. Deeply nested lists grow with their depth.
const MAX_GROWTH: usize = 8;

/// `text` indented by two spaces. Only white space between its tokens is changed: the order of members and the digits
/// of numbers stay. `None` if it is not JSON, or would become much longer.
pub(crate) fn indented(text: &str) -> Option<String> {
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let most = text.len() * MAX_GROWTH + 1024;
    let mut out = String::with_capacity(text.len() * 2);
    let (mut depth, mut in_string, mut escaped, mut after_open) = (0, false, false, false);
    for character in text.chars() {
        if in_string {
            out.push(character);
            in_string = escaped || character != '"';
            escaped = !escaped && character == '\\';
            continue;
        }
        if character.is_ascii_whitespace() {
            continue;
        }
        let closes = matches!(character, '}' | ']');
        if closes {
            depth -= 1;
        }
        // An empty list or object stays on its line.
        if after_open != closes {
            line_break(&mut out, depth);
        }
        out.push(character);
        after_open = matches!(character, '{' | '[');
        match character {
            '{' | '[' => depth += 1,
            ',' => line_break(&mut out, depth),
            ':' => out.push(' '),
            '"' => in_string = true,
            _ => {}
        }
        if out.len() > most {
            return None;
        }
    }
    Some(out)
}

fn line_break(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_white_space_changes() {
        let text = r#" {"b":[1.50,{"a" : "x, \"[y]\" \\"}],
            "a":{},"c":[ ],"d":null}"#;
        let expected = r#"{
  "b": [
    1.50,
    {
      "a": "x, \"[y]\" \\"
    }
  ],
  "a": {},
  "c": [],
  "d": null
}"#;
        assert_eq!(indented(text).as_deref(), Some(expected));
        assert_eq!(indented(expected).as_deref(), Some(expected));
        for text in ["7", "\"a\"", "{}", "[]"] {
            assert_eq!(indented(text).as_deref(), Some(text));
        }
    }

    #[test]
    fn invalid_or_deep_json_is_unchanged() {
        for text in ["", "{", ")]}',\n{}", "{\"a\":1}x"] {
            assert_eq!(indented(text), None);
        }
        let deep = format!("{}{}{}", "[".repeat(100), "1,".repeat(5000) + "1", "]".repeat(100));
        assert_eq!(indented(&deep), None);
    }
}
