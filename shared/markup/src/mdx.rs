//! MDX: Markdown with imports, exports and component tags, which are removed.

use crate::lines::{MAX_MARKUP, start};

/// Converts the MDX in `text` to Markdown.
///
/// Imports, exports, comments and component tags are removed. Text between tags stays. The `title` of a
/// component becomes a line in bold.
pub fn mdx(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut fence, mut blank, mut statement) = (None::<String>, true, 0_i32);
    let mut lines = text.trim_start_matches('\u{feff}').lines().peekable();
    let mut comment = false;
    // The beginning of a tag that spans several lines.
    let mut tag = String::new();
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        let mark: String = trimmed.chars().take_while(|c| matches!(c, '`' | '~')).collect();
        if let Some(open) = &fence {
            if mark.starts_with(open.as_str()) && mark.len() == trimmed.len() {
                fence = None;
            }
            push(&mut out, line, &mut blank);
            continue;
        }
        if statement > 0 {
            statement += balance(line);
            continue;
        }
        if comment || trimmed.starts_with("{/*") {
            comment = !trimmed.contains("*/}");
            continue;
        }
        if !tag.is_empty() || starts_tag(trimmed) {
            if !tag.is_empty() {
                tag.push(' ');
            }
            tag.push_str(trimmed);
            if tag_end(&tag).is_none()
                && tag.len() < MAX_MARKUP
                && lines.peek().is_some_and(|next| !next.trim().is_empty())
            {
                continue;
            }
            let whole = std::mem::take(&mut tag);
            let said = without_tags(&whole);
            if let Some(title) = title(&whole) {
                push(&mut out, &format!("**{title}**"), &mut blank);
                push(&mut out, "", &mut blank);
            }
            if !said.trim().is_empty() {
                push(&mut out, said.trim(), &mut blank);
            }
            continue;
        }
        if mark.len() >= 3 {
            fence = Some(mark);
            push(&mut out, line, &mut blank);
            continue;
        }
        let is_statement = line.starts_with("import ")
            && (line.contains(" from ") || line.contains(['\'', '"']) || line.ends_with('{'))
            || ["export const ", "export let ", "export function ", "export default ", "export {", "export * "]
                .iter()
                .any(|start| line.starts_with(start));
        if is_statement {
            statement = balance(line).max(0);
            continue;
        }
        push(&mut out, &without_tags(line), &mut blank);
    }
    let end = out.trim_end().len();
    out.truncate(end);
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// Adds a line, but no two blank lines in a row.
fn push(out: &mut String, line: &str, blank: &mut bool) {
    let is_blank = line.trim().is_empty();
    if !(is_blank && *blank) {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    *blank = is_blank;
}

/// The number of brackets that a line of JavaScript opens, minus those that it closes.
fn balance(line: &str) -> i32 {
    let text = outside_quotes(line);
    let count = |brackets: [char; 3]| i32::try_from(text.matches(brackets).count()).unwrap_or(i32::MAX);
    count(['{', '[', '(']).saturating_sub(count(['}', ']', ')']))
}

fn outside_quotes(text: &str) -> String {
    let mut quote = None;
    text.chars()
        .filter(|c| match quote {
            Some(open) => {
                if *c == open {
                    quote = None;
                }
                false
            }
            None if matches!(c, '"' | '\'' | '`') => {
                quote = Some(*c);
                false
            }
            None => true,
        })
        .collect()
}

/// Whether a line starts with a component tag: its name is capitalised, unlike those of HTML elements.
fn starts_tag(line: &str) -> bool {
    let name = line.strip_prefix("</").or_else(|| line.strip_prefix('<'));
    name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_uppercase() || c == '>'))
}

/// `line` without component tags, except inside backticks.
fn without_tags(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let (mut rest, mut in_code) = (line, false);
    while let Some(c) = rest.chars().next() {
        if c == '`' {
            in_code = !in_code;
        }
        if !in_code
            && starts_tag(rest)
            && let Some(end) = tag_end(rest)
        {
            rest = &rest[end..];
            continue;
        }
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// The end of the tag that `text` starts with.
fn tag_end(text: &str) -> Option<usize> {
    let (mut quote, mut depth, mut before) = (None, 0_usize, ' ');
    for (at, c) in start(text, MAX_MARKUP).char_indices() {
        match quote {
            Some(open) => {
                if c == open {
                    quote = None;
                }
            }
            None => match c {
                '"' | '\'' => quote = Some(c),
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                '>' if depth == 0 && before != '=' => return Some(at + 1),
                _ => {}
            },
        }
        before = c;
    }
    None
}

/// The `title` attribute of a tag.
fn title(tag: &str) -> Option<&str> {
    let tag = tag.trim();
    let tag = &tag[..tag_end(tag)?];
    let found = ["title=", "label=", "header=", "summary="].iter().find_map(|name| {
        let at = tag.find(&format!(" {name}"))?;
        let value = tag[at + 1 + name.len()..].trim_start_matches('{');
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
        value[1..].split(quote).next()
    });
    found.map(str::trim).filter(|title| !title.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn imports_exports_and_tags_are_removed() {
        let text = "import Tabs from '@theme/Tabs';\nimport {\n  A,\n  B,\n} from 'x';\nexport const meta = {\n  a: 1\n};\n\n# Tides\n\n{/* a\n comment */}\n<Tabs>\n  <TabItem value=\"a\" label=\"High water\">\n\n  Two a day, <Term>see</Term> `<B>`.\n\n  </TabItem>\n</Tabs>\n\n```jsx\nimport X from 'y'\n<A/>\n```\n<Note\n  title='Spring'\n  onClick={() => go(1 > 0)}\n>\nA tide.\n</Note>\nexports are left\n";
        let expected = "# Tides\n\n**High water**\n\n  Two a day, see `<B>`.\n\n```jsx\nimport X from 'y'\n<A/>\n```\n**Spring**\n\nA tide.\nexports are left\n";
        assert_eq!(mdx(text), expected);
    }

    proptest! {
        #[test]
        fn any_text_is_converted(text in "[<>A-Ba/{}`'\"=* \nimport]{0,80}") {
            let _ = mdx(&text);
        }

        #[test]
        fn plain_text_stays(text in "([a-hj-z]{1,6} ?){1,6}") {
            let markdown = mdx(&text);
            prop_assert_eq!(markdown.trim_end(), text.trim_end());
        }
    }
}
