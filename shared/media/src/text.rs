//! MIME types of text, by content.

use std::path::Path;

use serde::de::IgnoredAny;

use crate::names;

/// The type of text without further information.
const PLAIN: &str = "text/plain";

/// Extensions of files that embed other languages, so their first characters do not determine the type.
const EMBEDDING: [&str; 12] =
    ["md", "markdown", "mdx", "php", "vue", "svelte", "astro", "erb", "ejs", "hbs", "j2", "jinja"];

/// The MIME type of a text that starts with `head`, in a file named `path`. `is_whole` says that `head` is the
/// complete text. For UTF-16 and UTF-32, only the name determines the type.
pub fn text_type(head: &[u8], is_whole: bool, path: &Path) -> &'static str {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default().to_ascii_lowercase();
    let named = names::mime_type(path);
    if EMBEDDING.contains(&extension.as_str()) {
        return named.unwrap_or(PLAIN);
    }
    let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    markup(text, named)
        .or_else(|| interpreter(text))
        .or(named)
        .or_else(|| is_json(text, is_whole).then_some("application/json"))
        .unwrap_or(PLAIN)
}

/// The type of a text that starts like HTML or XML.
fn markup(text: &[u8], named: Option<&'static str>) -> Option<&'static str> {
    let start = text[..text.len().min(2048)].to_ascii_lowercase();
    if !start.starts_with(b"<") {
        return None;
    }
    if start.starts_with(b"<!doctype html") || starts_with_tag(&start, b"<html") {
        return Some("text/html");
    }
    if starts_with_tag(&start, b"<svg") {
        return Some("image/svg+xml");
    }
    if !start.starts_with(b"<?xml") {
        return None;
    }
    let roots: [(&[u8], _); 5] = [
        (b"<svg", "image/svg+xml"),
        (b"<html", "application/xhtml+xml"),
        (b"<rss", "application/rss+xml"),
        (b"<feed", "application/atom+xml"),
        (b"<xsl:stylesheet", "application/xslt+xml"),
    ];
    let root = root_tag(&start);
    let known = root.and_then(|root| roots.into_iter().find(|(tag, _)| starts_with_tag(root, tag)));
    let by_name = named.filter(|named| named.ends_with("xml"));
    Some(known.map(|(_, mime_type)| mime_type).or(by_name).unwrap_or("application/xml"))
}

/// The text from the first tag on, without the declarations and comments before it.
fn root_tag(text: &[u8]) -> Option<&[u8]> {
    let mut rest = text;
    loop {
        rest = &rest[rest.iter().position(|byte| *byte == b'<')?..];
        if rest.get(1)?.is_ascii_alphabetic() {
            return Some(rest);
        }
        let end: &[u8] = if rest.starts_with(b"<!--") { b"-->" } else { b">" };
        rest = &rest[rest.windows(end.len()).position(|bytes| bytes == end)?..];
    }
}

fn starts_with_tag(text: &[u8], tag: &[u8]) -> bool {
    text.starts_with(tag) && text.get(tag.len()).is_none_or(|next| !next.is_ascii_alphanumeric() && *next != b'-')
}

/// The type of a script, by the program that its first line names.
fn interpreter(text: &[u8]) -> Option<&'static str> {
    let line = text.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = str::from_utf8(line).ok()?;
    let mut words = line.split_ascii_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let program = words.find(|word| *word != "env" && !word.starts_with('-') && !word.contains('='))?;
    Some(match program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish" => "text/x-shellscript",
        "python" | "pypy" => "text/x-python",
        "node" | "deno" | "bun" => "text/javascript",
        "perl" => "text/x-perl",
        "ruby" => "text/x-ruby",
        "lua" => "text/x-lua",
        "php" => "text/x-php",
        _ => return None,
    })
}

/// Whether `text` is a JSON object or array, or the start of one if it is not whole.
fn is_json(text: &[u8], is_whole: bool) -> bool {
    let Some((first @ (b'{' | b'['), rest)) = text.split_first() else { return false };
    if is_whole {
        return serde_json::from_slice::<IgnoredAny>(text).is_ok();
    }
    let next = rest.trim_ascii_start().first();
    if *first == b'{' { next == Some(&b'"') } else { matches!(next, Some(b'{' | b'"' | b'[')) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_has_precedence_over_the_name() {
        for (name, content, mime_type) in [
            ("a.json", "{\"a\": 1}", "application/json"),
            ("a", "{\"a\": 1}\n", "application/json"),
            ("a", "{a: 1}", "text/plain"),
            ("a.txt", "[1]", "text/plain"),
            ("data.json", "<!DOCTYPE html><html>", "text/html"),
            ("a.svg", "<svg xmlns=\"x\"/>", "image/svg+xml"),
            ("a.xml", "<?xml version=\"1.0\"?>\n<!-- <html> --><svg/>", "image/svg+xml"),
            ("a.xml", "<?xml version=\"1.0\"?><rss version=\"2.0\">", "application/rss+xml"),
            ("a.xml", "<?xml version=\"1.0\"?><project/>", "application/xml"),
            ("page.html", "<div>part of a page</div>", "text/html"),
            ("README.md", "<svg/>\n# Title", "text/markdown"),
            ("lib.rs", "//! Docs.", "text/x-rust"),
            ("a.py", "import os", "text/x-python"),
            ("run", "#!/usr/bin/env -S python3 -u\n", "text/x-python"),
            ("run", "#!/bin/bash -e\n", "text/x-shellscript"),
            ("a.ts", "let a: number;", "text/x-typescript"),
            ("a.CSV", "a,b\n", "text/csv"),
            ("a.yml", "a: 1\n", "application/yaml"),
            ("a.toml", "[a]\n", "application/toml"),
            ("Makefile", "all:\n", "text/x-makefile"),
            ("Dockerfile", "FROM x\n", "text/x-dockerfile"),
            ("notes", "text", "text/plain"),
            ("日本.unknown", "text", "text/plain"),
        ] {
            assert_eq!(text_type(content.as_bytes(), true, Path::new(name)), mime_type, "{name}: {content}");
        }
        assert_eq!(text_type(b"{\"a\": [1, ", false, Path::new("-")), "application/json");
    }
}
