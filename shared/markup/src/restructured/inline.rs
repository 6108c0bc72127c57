//! Markup within a paragraph: code, links, roles, references.

use std::fmt::Write;

use super::Reader;
use crate::lines::{MAX_MARKUP, start};

/// Roles whose text is code.
const CODE: [&str; 34] = [
    "class",
    "func",
    "meth",
    "mod",
    "attr",
    "data",
    "exc",
    "obj",
    "code",
    "file",
    "command",
    "option",
    "envvar",
    "keyword",
    "kbd",
    "samp",
    "program",
    "token",
    "const",
    "macro",
    "type",
    "member",
    "function",
    "method",
    "struct",
    "var",
    "literal",
    "source",
    "deco",
    "attribute",
    "module",
    "exception",
    "setting",
    "djadmin",
];

impl Reader {
    /// Converts the inline markup of `text` to Markdown.
    pub(crate) fn inline(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let near = start(rest, MAX_MARKUP);
            let taken = match c {
                '`' => self.quoted(near, &mut out),
                ':' => role(near, &mut out),
                '|' => self.substitution(near, &mut out),
                '[' => footnote(near, &mut out),
                '_' => self.reference(rest, &mut out),
                '\\' => escape(rest, &mut out),
                _ => None,
            };
            let taken = taken.unwrap_or_else(|| {
                out.push(c);
                c.len_utf8()
            });
            rest = &rest[taken..];
        }
        out
    }

    /// Inline code, a link, or text in the default role.
    fn quoted(&mut self, text: &str, out: &mut String) -> Option<usize> {
        if let Some(rest) = text.strip_prefix("``") {
            let end = rest.find("``").filter(|end| *end > 0)?;
            // With three backticks, the last two are the end.
            let end = end + usize::from(rest[end..].starts_with("```"));
            out.push_str(&code(&rest[..end]));
            return Some(end + 4);
        }
        let rest = &text[1..];
        let end = rest.find('`').filter(|end| *end > 0)?;
        let content = &rest[..end];
        let after = &rest[end + 1..];
        let underscores = after.len() - after.trim_start_matches('_').len();
        match underscores {
            0 => out.push_str(&code(content)),
            count => {
                let link = self.link(content, count > 1);
                out.push_str(&link);
            }
        }
        Some(end + 2 + underscores.min(2))
    }

    /// A reference to `content`: a name, or a text with a target.
    fn link(&mut self, content: &str, is_anonymous: bool) -> String {
        let content = content.split_whitespace().collect::<Vec<_>>().join(" ");
        let (text, target) = match content.strip_suffix('>').and_then(|rest| rest.rsplit_once('<')) {
            Some((text, target)) => (text.trim(), Some(target.trim())),
            None => (content.as_str(), None),
        };
        let url = match target {
            Some(target) => target.strip_suffix('_').map_or(Some(target.to_owned()), |name| self.target(name)),
            None if is_anonymous => self.anonymous.pop(),
            None => self.target(text),
        };
        let text = if text.is_empty() { target.unwrap_or_default() } else { text };
        let url = url.filter(|url| self.spend(url.len()).is_some());
        url.map_or_else(|| text.to_owned(), |url| format!("[{text}]({})", url.replace(' ', "%20")))
    }

    /// Reserves `bytes` of the limit for substitutions; `None` if the limit is exceeded.
    fn spend(&mut self, bytes: usize) -> Option<()> {
        self.left = self.left.checked_sub(bytes)?;
        Some(())
    }

    /// The URL of a target, also through targets that refer to other targets.
    fn target(&self, name: &str) -> Option<String> {
        let mut url = self.targets.get(&name.to_lowercase())?;
        for _ in 0..8 {
            let Some(name) = url.strip_suffix('_') else { break };
            url = self.targets.get(&name.trim_matches('`').to_lowercase())?;
        }
        Some(url.clone())
    }

    fn substitution(&mut self, text: &str, out: &mut String) -> Option<usize> {
        let end = text[1..].find('|')?;
        let said = self.substitutions.get(&text[1..=end])?.clone();
        self.spend(said.len())?;
        out.push_str(&said);
        let after = &text[end + 2..];
        Some(end + 2 + (after.len() - after.trim_start_matches('_').len()).min(2))
    }

    /// A reference of one word, marked by an underscore.
    fn reference(&mut self, text: &str, out: &mut String) -> Option<usize> {
        let underscores = text.len() - text.trim_start_matches('_').len();
        if text[underscores..].starts_with(|c: char| c.is_alphanumeric()) || underscores > 2 {
            return None;
        }
        let start = out
            .rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+')))
            .map_or(0, |at| at + out[at..].chars().next().map_or(1, char::len_utf8));
        let word = out[start..].to_owned();
        let url = if word.is_empty() {
            None
        } else if underscores == 2 {
            self.anonymous.pop()
        } else {
            self.target(&word)
        };
        let url = url?;
        self.spend(url.len())?;
        out.truncate(start);
        _ = write!(out, "[{word}]({url})");
        Some(underscores)
    }
}

/// `:role:` and a text in backticks.
fn role(text: &str, out: &mut String) -> Option<usize> {
    let name = text[1..].find(":`").map(|end| &text[1..=end])?;
    let is_name = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'-' | b'_' | b'.' | b'+'));
    if !is_name {
        return None;
    }
    let start = name.len() + 3;
    let content = &text[start..text[start..].find('`').map(|end| start + end)?];
    let name = name.rsplit(':').next().unwrap_or(name);
    let (said, target) = match content.strip_suffix('>').and_then(|rest| rest.rsplit_once('<')) {
        Some((said, target)) if !said.is_empty() => (said.trim(), Some(target)),
        _ => (content, None),
    };
    let shown = said.trim_start_matches('!');
    // With `~`, only the last part of a qualified name is shown.
    let short = shown.strip_prefix('~').map_or(shown, |whole| whole.rsplit('.').next().unwrap_or(whole));
    let said = match name {
        "math" => format!("${said}$"),
        "pep" => format!("PEP {said}"),
        "rfc" => format!("RFC {said}"),
        "sub" | "sup" | "subscript" | "superscript" => said.to_owned(),
        "strong" => format!("**{said}**"),
        "emphasis" => format!("*{said}*"),
        name if CODE.contains(&name) => code(short),
        _ => match target.filter(|target| target.contains("://")) {
            Some(url) => format!("[{said}]({url})"),
            None => short.to_owned(),
        },
    };
    out.push_str(&said);
    Some(start + content.len() + 1)
}

/// `text` as inline code, whatever backticks it contains.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let space = if longest > 0 { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// `[1]_`, `[#name]_`, `[CIT2002]_`.
fn footnote(text: &str, out: &mut String) -> Option<usize> {
    let end = text.find("]_").filter(|end| *end > 1 && *end < 60)?;
    let name = &text[1..end];
    if name.contains(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '(' | '`')) {
        return None;
    }
    _ = write!(out, "[^{name}]");
    Some(end + 2)
}

/// A backslash: before white space, it is removed together with it; otherwise, it makes the next character
/// literal.
fn escape(text: &str, out: &mut String) -> Option<usize> {
    let next = text[1..].chars().next()?;
    if next.is_whitespace() {
        return Some(1 + next.len_utf8());
    }
    if next.is_ascii_punctuation() {
        out.push('\\');
    }
    out.push(next);
    Some(1 + next.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::restructured_text as read;

    #[test]
    fn code_may_have_backticks_in_it() {
        for (text, expected) in [("x", "`x`"), ("a`b", "`` a`b ``"), ("```", "```` ``` ````"), ("", "``")] {
            assert_eq!(code(text), expected, "{text}");
        }
    }

    #[test]
    fn markup_that_is_not_closed_or_has_no_name_is_text() {
        for text in
            ["`open", "``open", ":role:`open", ":no role:`x", "|open", "[1] _", "[a b]_ x", "__", "a_b", "|none|"]
        {
            assert_eq!(read(text), format!("{text}\n"), "{text}");
        }
    }

    #[test]
    fn roles_and_references_show_what_a_reader_of_the_page_sees() {
        for (text, expected) in [
            (":meth:`~a.b.C.run`, :ref:`the \u{6f6e} <label>`", "`run`, the \u{6f6e}"),
            (":rfc:`2616` :sup:`2` :strong:`s` :emphasis:`e`", "RFC 2616 2 **s** *e*"),
            (":doc:`Here <https://x.example/a>` :class:`!Tide`", "[Here](https://x.example/a) `Tide`"),
            ("`a b <https://x.example/a b>`_", "[a b](https://x.example/a%20b)"),
            ("`<https://x.example>`_", "[https://x.example](https://x.example)"),
            ("[CIT2002]_ and [#f]_", "[^CIT2002] and [^#f]"),
            ("re\\ ``x``\\ s", "re`x`s"),
            ("``a```", "`` a` ``"),
        ] {
            assert_eq!(read(text).trim_end(), expected, "{text}");
        }
    }

    #[test]
    fn targets_that_refer_to_each_other_end() {
        assert_eq!(read("A_\n\n.. _a: b_\n.. _b: https://x.example\n"), "[A](https://x.example)\n");
        let circle = read("A_\n\n.. _a: b_\n.. _b: a_\n");
        assert!(circle.contains('A') && !circle.contains("https"), "{circle}");
        // A short text cannot ask for gigabytes.
        let many = format!("{}\n\n.. |a| replace:: {}\n", "|a| ".repeat(20_000), "x".repeat(20_000));
        assert!(read(&many).len() < 100 << 20);
    }
}
