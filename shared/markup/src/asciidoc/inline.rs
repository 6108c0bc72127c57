//! Markup within a paragraph: code, marks, links, references.
//!
//! Each function reads the markup at the start of `text`, writes it as Markdown, and returns the number of bytes that
//! it read.

use std::fmt::Write;

pub(super) fn code(text: &str, mark: char, out: &mut String) -> Option<usize> {
    let count = text.chars().take_while(|c| *c == mark).count();
    if count > 3 || mark == '+' && count == 1 {
        return None;
    }
    let fence = &text[..count];
    let end = text[count..].find(fence).filter(|end| *end > 0)? + count;
    let inner = &text[count..end];
    if inner.contains('\n') && inner.contains("\n\n") {
        return None;
    }
    if mark == '+' {
        out.push_str(inner);
    } else {
        // Within code, plus signs mark literal text.
        let inner = inner.strip_prefix('+').and_then(|inner| inner.strip_suffix('+')).unwrap_or(inner);
        let fence = "`".repeat(inner.split(|c| c != '`').map(str::len).max().unwrap_or_default() + 1);
        _ = write!(out, "{fence}{inner}{fence}");
    }
    Some(end + count)
}

pub(super) fn marked(text: &str, mark: &str, sign: char, starts_word: bool, out: &mut String) -> Option<usize> {
    let count = text.chars().take_while(|c| *c == sign).count();
    let inner = &text[count..];
    if count > 2 || (count == 1 && !starts_word) || inner.starts_with(char::is_whitespace) {
        return None;
    }
    let fence = &text[..count];
    let ends = inner.match_indices(fence).map(|(at, _)| at).find(|at| {
        let after = inner[at + count..].chars().next();
        *at > 0
            && !inner[..*at].ends_with(char::is_whitespace)
            && (count == 2 || after.is_none_or(|c| !c.is_alphanumeric()))
    });
    let end = ends.filter(|end| !inner[..*end].contains("\n\n") && !inner[..*end].contains('`'))?;
    _ = write!(out, "{mark}{}{mark}", &inner[..end]);
    Some(count * 2 + end)
}

/// `<<id,text>>`.
pub(super) fn reference(text: &str, out: &mut String) -> Option<usize> {
    let inner = &text.strip_prefix("<<")?[..text.find(">>")?.checked_sub(2)?];
    let (id, said) = inner.split_once(',').unwrap_or((inner, inner));
    if id.contains('\n') || id.is_empty() {
        return None;
    }
    out.push_str(said.trim().trim_start_matches('_'));
    Some(inner.len() + 4)
}

/// `[[id]]`, and a role before marked text.
pub(super) fn anchor(text: &str) -> Option<usize> {
    if text.starts_with("[[") {
        return text.find("]]").filter(|end| !text[..*end].contains(['\n', ' '])).map(|end| end + 2);
    }
    let end = text.find(']').filter(|_| text.starts_with("[."))?;
    text[end + 1..].starts_with(['#', '*', '_', '`']).then_some(end + 1)
}

/// Macros and URLs, each with its text in brackets.
pub(super) fn link(text: &str, out: &mut String) -> Option<usize> {
    let word = text.find(|c: char| c.is_whitespace() || matches!(c, '[' | '<' | '>' | '"' | '`')).unwrap_or(text.len());
    let target = &text[..word];
    let (name, rest) = target.split_once(':')?;
    let said = text[word..].strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(said, _)| said);
    let taken = word + said.map_or(0, |said| said.len() + 2);
    let clean = |said: &str| {
        said.split(",window=").next().unwrap_or_default().trim_end_matches('^').trim_matches('"').to_owned()
    };
    match (name, said) {
        ("http" | "https" | "mailto", Some(said)) if !said.is_empty() => _ = write!(out, "[{}]({target})", clean(said)),
        ("http" | "https", None) if rest.starts_with("//") => {
            let url = target.trim_end_matches(['.', ',', ';', ')', ':']);
            _ = write!(out, "<{url}>");
            return Some(url.len());
        }
        ("http" | "https", Some(_)) => _ = write!(out, "<{target}>"),
        ("link" | "xref", Some(said)) => {
            let said = if said.is_empty() { rest.to_owned() } else { clean(said) };
            _ = write!(out, "[{said}]({})", rest.trim_start_matches("++").trim_end_matches("++"));
        }
        ("image", Some(said)) => _ = write!(out, "![{}]({rest})", said.split(',').next().unwrap_or_default()),
        ("kbd" | "btn" | "menu", Some(said)) => {
            _ = write!(out, "`{}`", if rest.is_empty() { said.to_owned() } else { format!("{rest} > {said}") });
        }
        ("footnote", Some(said)) => _ = write!(out, " ({said})"),
        ("pass", Some(said)) => out.push_str(said),
        ("stem" | "latexmath" | "asciimath", Some(said)) => _ = write!(out, "${said}$"),
        _ => return None,
    }
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(read: impl Fn(&mut String) -> Option<usize>) -> Option<(String, usize)> {
        let mut out = String::new();
        read(&mut out).map(|length| (out, length))
    }

    #[test]
    fn code_is_fenced_by_more_ticks_than_it_has() {
        assert_eq!(of(|out| code("`a` b", '`', out)), Some(("`a`".into(), 3)));
        assert_eq!(of(|out| code("``a`b``", '`', out)), Some(("``a`b``".into(), 7)));
        assert_eq!(of(|out| code("`+{a}+`", '`', out)), Some(("`{a}`".into(), 7)));
        assert_eq!(of(|out| code("++a++", '+', out)), Some(("a".into(), 5)));
        assert_eq!(of(|out| code("`a\n\nb`", '`', out)), None);
    }

    #[test]
    fn one_sign_marks_words_and_two_mark_parts() {
        assert_eq!(of(|out| marked("*bold* x", "**", '*', true, out)), Some(("**bold**".into(), 6)));
        assert_eq!(of(|out| marked("**b**old", "**", '*', false, out)), Some(("**b**".into(), 5)));
        assert_eq!(of(|out| marked("*a*b", "**", '*', true, out)), None);
        assert_eq!(of(|out| marked("* a*", "**", '*', true, out)), None);
    }

    #[test]
    fn links_have_their_text_in_brackets() {
        for (text, expected, rest) in [
            ("https://a.example[Site^] b", "[Site](https://a.example)", " b"),
            ("https://a.example/x. End", "<https://a.example/x>", ". End"),
            ("link:b.html[B,window=_blank]", "[B](b.html)", ""),
            ("xref:c.adoc[]", "[c.adoc](c.adoc)", ""),
            ("image:d.png[Alt,200]", "![Alt](d.png)", ""),
            ("menu:File[Save]", "`File > Save`", ""),
            ("footnote:[why]", " (why)", ""),
        ] {
            let (out, length) = of(|out| link(text, out)).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((out.as_str(), &text[length..]), (expected, rest), "{text}");
        }
        assert_eq!(of(|out| link("note: text", out)), None);
    }

    #[test]
    fn references_and_anchors_are_read() {
        assert_eq!(of(|out| reference("<<a,The _part_>> x", out)), Some(("The _part_".into(), 16)));
        assert_eq!(of(|out| reference("<<_tides>>", out)), Some(("tides".into(), 10)));
        assert_eq!(of(|out| reference("<<>>", out)), None);
        assert_eq!((anchor("[[a]] b"), anchor("[.role]#b#"), anchor("[.role] b")), (Some(5), Some(7), None));
    }
}
