//! `AsciiDoc` as Markdown.

mod inline;
mod line;

use std::collections::HashMap;

use inline::{anchor, code, link, marked, reference};
use line::{Style, attribute, bullet, delimiter, heading, is_specifier, item, split_cells, style_of, term};

use crate::lines::{Blocks, MAX_DEPTH, MAX_MARKUP, expanded, prefixed, start};

/// Converts the `AsciiDoc` in `text` to Markdown.
///
/// Sections, lists, tables, code, links and admonitions are converted. Include directives are ignored.
/// Conditional directives are removed; their content stays.
pub fn asciidoc(text: &str) -> String {
    let text = expanded(text);
    let lines: Vec<&str> = text.lines().collect();
    let mut out = Blocks::default();
    Reader { attributes: HashMap::new() }.blocks(&lines, 0, &mut out);
    out.finish()
}

struct Reader {
    /// The values of attributes, which `{name}` refers to.
    attributes: HashMap<String, String>,
}

/// The labels of admonitions.
const ADMONITIONS: [(&str, &str); 5] =
    [("NOTE", "Note"), ("TIP", "Tip"), ("IMPORTANT", "Important"), ("WARNING", "Warning"), ("CAUTION", "Caution")];

impl Reader {
    fn blocks(&mut self, lines: &[&str], depth: usize, out: &mut Blocks) {
        if depth > MAX_DEPTH {
            return out.code(lines, "");
        }
        let mut at = 0;
        let mut style = Style::default();
        while at < lines.len() {
            let line = lines[at];
            let start = at;
            if line.is_empty() {
                at += 1;
                continue;
            }
            if let Some(words) = style_of(line) {
                style = words;
                at += 1;
                continue;
            }
            at = self.block(lines, at, std::mem::take(&mut style), depth, out).max(start + 1);
        }
    }

    fn block(&mut self, lines: &[&str], at: usize, style: Style, depth: usize, out: &mut Blocks) -> usize {
        let line = lines[at];
        if let Some(end) = self.silent(lines, at) {
            return end;
        }
        if let Some((level, text)) = heading(line) {
            let text = self.inline(text);
            out.push(&format!("{} {text}", "#".repeat(level)));
            return at + 1;
        }
        if let Some(title) = line
            .strip_prefix('.')
            .filter(|title| title.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '`' | '_' | '*' | '"')))
        {
            out.push(&format!("**{}**", self.inline(title).replace("**", "")));
            // The style line of a block may also precede its title.
            return match lines.get(at + 1) {
                Some(next) if !next.is_empty() && style_of(next).is_none() => {
                    self.block(lines, at + 1, style, depth, out)
                }
                _ => at + 1,
            };
        }
        if let Some((fence, language)) = delimiter(line) {
            let end = (at + 1..lines.len()).find(|end| lines[*end] == fence).unwrap_or(lines.len());
            let inner = &lines[at + 1..end];
            self.delimited(fence, language, inner, &style, depth, out);
            return end + 1;
        }
        if matches!(line, "|===" | ",===" | ":===" | "!===") {
            let end = (at + 1..lines.len()).find(|end| lines[*end] == line).unwrap_or(lines.len());
            let rows = self.table(&lines[at + 1..end], &style);
            out.push(&crate::table::table(&rows));
            return end + 1;
        }
        if let Some(image) = line.strip_prefix("image::") {
            if let Some((target, alt)) = image.strip_suffix(']').and_then(|image| image.split_once('[')) {
                out.push(&format!("![{}]({})", alt.split(',').next().unwrap_or_default(), self.attribute(target)));
            }
            return at + 1;
        }
        if let Some(end) = self.list(lines, at, depth, out) {
            return end;
        }
        if let Some((term, rest)) = term(line) {
            return self.definition(lines, at, term, rest, depth, out);
        }
        let ends = |line: &&str| line.is_empty() || delimiter(line).is_some() || attribute(line).is_some();
        let end = lines[at..].iter().position(ends).map_or(lines.len(), |end| at + end);
        let end = end.max(at + 1);
        let part = &lines[at..end];
        let name = style.name();
        if matches!(name.as_str(), "source" | "listing" | "literal") || line.starts_with(' ') {
            out.code(part, if name == "source" { style.language() } else { "" });
            return end;
        }
        let kept: Vec<&str> = part.iter().copied().filter(|line| !line.starts_with("//")).collect();
        let text = self.inline(&kept.join("\n"));
        // A space and a plus sign at the end of a line are a line break.
        let text = text.replace(" +\n", "\\\n");
        let said =
            ADMONITIONS.iter().find_map(|(mark, word)| Some((word, text.strip_prefix(mark)?.strip_prefix(": ")?)));
        let styled = ADMONITIONS.iter().find(|(mark, _)| mark.eq_ignore_ascii_case(&name));
        match (said, styled) {
            (Some((word, text)), _) => out.prefixed("> ", "> ", &format!("**{word}:** {text}")),
            (None, Some((_, word))) => out.prefixed("> ", "> ", &format!("**{word}:** {text}")),
            (None, None) if matches!(name.as_str(), "quote" | "verse") => out.prefixed("> ", "> ", &text),
            (None, None) => out.push(&text),
        }
        end
    }

    /// Lines without output: comments, attributes, anchors, conditions, includes. Returns where they end.
    fn silent(&mut self, lines: &[&str], at: usize) -> Option<usize> {
        let line = lines[at];
        if line.len() > 3 && line.chars().all(|c| c == '/') {
            return Some((at + 1..lines.len()).find(|end| lines[*end] == line).map_or(lines.len(), |end| end + 1));
        }
        if let Some((name, value)) = attribute(line) {
            self.attributes.insert(name.to_lowercase(), value.trim().to_owned());
            return Some(at + 1);
        }
        let condition = ["ifdef::", "ifndef::", "ifeval::", "endif::"].iter().any(|start| line.starts_with(start));
        let is_silent = condition && line.ends_with(']')
            || line.starts_with("//")
            || line.starts_with("include::")
            || line.starts_with("toc::")
            || matches!(line, "'''" | "<<<" | "---" | "+");
        is_silent.then_some(at + 1)
    }

    fn delimited(
        &mut self,
        fence: &str,
        language: &str,
        inner: &[&str],
        style: &Style,
        depth: usize,
        out: &mut Blocks,
    ) {
        let name = style.name();
        let first = fence.chars().next();
        let is_code =
            matches!(first, Some('-' | '.' | '`')) && fence != "--" || matches!(name.as_str(), "source" | "listing");
        if is_code {
            let language = if language.is_empty() && name == "source" { style.language() } else { language };
            return out.code(inner, language);
        }
        if first == Some('+') {
            // Passed through to another format.
            return out.code(inner, if name == "stem" || name == "latexmath" { "latex" } else { "" });
        }
        let mut body = Blocks::default();
        self.blocks(inner, depth + 1, &mut body);
        let body = body.finish();
        match ADMONITIONS.iter().find(|(mark, _)| mark.eq_ignore_ascii_case(&name)) {
            Some((_, word)) => out.prefixed("> ", "> ", &format!("**{word}:** {body}")),
            None if first == Some('_') => out.prefixed("> ", "> ", &body),
            None => out.push(&body),
        }
    }

    /// Converts a list with its nested lists.
    fn list(&mut self, lines: &[&str], start: usize, depth: usize, out: &mut Blocks) -> Option<usize> {
        item(lines[start])?;
        let mut markdown = String::new();
        // The markers of the open lists, the outermost first.
        let mut open: Vec<(&str, usize)> = vec![];
        let mut at = start;
        while at < lines.len() {
            let Some((mark, text)) = item(lines[at]) else {
                // Blank lines separate items; they end the list if no item follows.
                let next = lines[at..].iter().position(|line| !line.is_empty()).map(|blank| at + blank);
                match next.filter(|next| *next > at && item(lines[*next]).is_some()) {
                    Some(next) => at = next,
                    None => break,
                }
                continue;
            };
            if let Some(level) = open.iter().position(|(known, _)| *known == mark) {
                open.truncate(level + 1);
            } else {
                let column = open.last().map_or(0, |(mark, column)| column + bullet(mark).len());
                open.push((mark, column.min(60)));
            }
            let column = open.last().map_or(0, |(_, column)| *column);
            at += 1;
            let mut said = vec![text];
            while lines.get(at).is_some_and(|line| {
                !line.is_empty()
                    && item(line).is_none()
                    && *line != "+"
                    && delimiter(line).is_none()
                    && style_of(line).is_none()
            }) {
                said.push(lines[at].trim());
                at += 1;
            }
            let mut body = Blocks::default();
            body.push(&self.inline(&said.join("\n")));
            // Blocks that are attached with a plus sign.
            while lines.get(at) == Some(&"+") {
                let mut style = Style::default();
                at += 1;
                while let Some(words) = lines.get(at).and_then(|line| style_of(line)) {
                    style = words;
                    at += 1;
                }
                if at < lines.len() && !lines[at].is_empty() && depth < MAX_DEPTH {
                    at = self.block(lines, at, style, depth + 1, &mut body).max(at + 1);
                }
            }
            let indent = " ".repeat(column);
            let rest = " ".repeat(column + bullet(mark).len());
            markdown.push_str(&prefixed(&(indent + bullet(mark)), &rest, &body.finish()));
        }
        out.push(&markdown);
        Some(at)
    }

    fn definition(
        &mut self,
        lines: &[&str],
        at: usize,
        term: &str,
        rest: &str,
        depth: usize,
        out: &mut Blocks,
    ) -> usize {
        let term = self.inline(term);
        let mut at = at + 1;
        let mut body = Blocks::default();
        if rest.is_empty() {
            // The definition may follow below, after a blank line.
            while lines.get(at).is_some_and(|line| line.is_empty()) {
                at += 1;
            }
        }
        let mut said = vec![rest];
        while lines.get(at).is_some_and(|line| {
            !line.is_empty()
                && item(line).is_none()
                && *line != "+"
                && self::term(line).is_none()
                && heading(line).is_none()
                && delimiter(line).is_none()
                && style_of(line).is_none()
        }) {
            said.push(lines[at].trim());
            at += 1;
        }
        body.push(&self.inline(said.join("\n").trim()));
        while lines.get(at) == Some(&"+") && at + 1 < lines.len() && depth < MAX_DEPTH {
            let mut style = Style::default();
            at += 1;
            while let Some(words) = lines.get(at).and_then(|line| style_of(line)) {
                style = words;
                at += 1;
            }
            if at < lines.len() && !lines[at].is_empty() {
                at = self.block(lines, at, style, depth + 1, &mut body).max(at + 1);
            }
        }
        out.push(&prefixed("- ", "  ", &format!("**{}**\n\n{}", term.replace("**", ""), body.finish())));
        at
    }

    /// The rows of a table. Each cell starts with a bar. A row is one line, or as many cells as there are
    /// columns.
    fn table(&mut self, lines: &[&str], style: &Style) -> Vec<Vec<String>> {
        let columns = style.words.iter().find_map(|word| word.strip_prefix("cols=")).map(|columns| {
            let columns = columns.trim_matches('"');
            let each =
                |part: &str| part.split_once('*').and_then(|(times, _)| times.trim().parse().ok()).unwrap_or(1_usize);
            columns.split([',', ';']).map(each).sum::<usize>()
        });
        let mut first = None;
        let mut cells: Vec<String> = vec![];
        for line in lines {
            if line.is_empty() {
                continue;
            }
            let mut parts = split_cells(line).into_iter();
            // Text before the first bar continues the previous cell, or is the format of the next one.
            if let (Some(more), Some(last)) = (parts.next(), cells.last_mut())
                && !more.trim().is_empty()
                && !is_specifier(&more)
            {
                last.push(' ');
                last.push_str(more.trim());
            }
            let before = cells.len();
            cells.extend(parts);
            if first.is_none() && cells.len() > before {
                first = Some(cells.len());
            }
        }
        let columns = columns.or(first).unwrap_or(1).max(1);
        let cells: Vec<String> = cells.iter().map(|cell| self.inline(cell.trim())).collect();
        cells.chunks(columns).map(<[String]>::to_vec).collect()
    }

    /// Replaces attribute references in `text` by their values.
    fn attribute(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        // A limit, because a short reference to a long value can be repeated often.
        let most = text.len() * 4 + MAX_MARKUP;
        while let Some(at) = rest.find('{') {
            out.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            let found = start(after, 100).find('}').and_then(|end| Some((end, self.known(&after[..end])?)));
            if let Some((end, value)) = found.filter(|(_, value)| out.len() + value.len() < most) {
                out.push_str(value);
                rest = &after[end + 1..];
            } else {
                out.push('{');
                rest = after;
            }
        }
        out + rest
    }

    fn known(&self, name: &str) -> Option<&str> {
        let own = self.attributes.get(&name.to_lowercase()).map(String::as_str);
        own.or(match name {
            "nbsp" | "sp" => Some(" "),
            "empty" | "blank" | "zwsp" => Some(""),
            "plus" => Some("+"),
            "vbar" => Some("|"),
            "apos" => Some("'"),
            "startsb" => Some("["),
            "endsb" => Some("]"),
            _ => None,
        })
    }

    /// Converts the inline markup of `text` to Markdown.
    fn inline(&mut self, text: &str) -> String {
        let text = self.attribute(text);
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        let mut before = ' ';
        while let Some(c) = rest.chars().next() {
            let starts_word = !before.is_alphanumeric();
            let near = start(rest, MAX_MARKUP);
            let taken = match c {
                '`' | '+' => code(near, c, &mut out),
                '*' => marked(near, "**", '*', starts_word, &mut out),
                '_' => marked(near, "*", '_', starts_word, &mut out),
                '<' => reference(near, &mut out),
                '[' => anchor(near),
                'a'..='z' if starts_word => link(near, &mut out),
                _ => None,
            };
            let taken = taken.unwrap_or_else(|| {
                out.push(c);
                c.len_utf8()
            });
            before = rest[..taken].chars().next_back().unwrap_or(' ');
            rest = &rest[taken..];
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::asciidoc as read;
    use proptest::prelude::*;

    #[test]
    fn asciidoc_documents_are_converted() {
        let text = "= Tides\nAda <ada@x.example>\n:version: 3\n// comment\n\n[[high]]\n== High water {version}\n\nTwo *a* _day_, `code` and https://x.example[a link^].\nSee <<low,low water>> or xref:a.adoc[A].\n\n[source,rust]\n----\nfn a() {}\n----\n\n....\nplain\n....\n\nNOTE: Take care.\n\n[WARNING]\n====\nTwice.\n====\n\ninclude::/etc/passwd[]\n\nimage::a.png[A tide,300]\n";
        let expected = "# Tides\n\nAda <ada@x.example>\n\n## High water 3\n\nTwo **a** *day*, `code` and [a link](https://x.example).\nSee low water or [A](a.adoc).\n\n```rust\nfn a() {}\n```\n\n```\nplain\n```\n\n> **Note:** Take care.\n\n> **Warning:** Twice.\n\n![A tide](a.png)\n";
        assert_eq!(read(text), expected);
    }

    #[test]
    fn lists_and_definitions() {
        let text = "* one\nmore\n** inner\n* two\n+\n----\ncode\n----\n\n//-\n. first\n. second\n\nterm:: What it is.\nother::\n  And this.\n";
        let expected = "- one\n  more\n  - inner\n- two\n\n  ```\n  code\n  ```\n\n1. first\n1. second\n\n- **term**\n\n  What it is.\n\n- **other**\n\n  And this.\n";
        assert_eq!(read(text), expected);
    }

    #[test]
    fn tables() {
        let expected = "| a | b\\|c |\n| --- | --- |\n| 1 | x y |\n";
        for table in [
            "|===\n|a |b\\|c\n\n|1 |x\ny\n|===\n",
            "[cols=\"1,2\",options=\"header\"]\n|===\n|a\n|b\\|c\n|1\n|x y\n|===\n",
            "[cols=2*]\n|===\n|a |b\\|c |1 a|x y\n|===\n",
        ] {
            assert_eq!(read(table), expected, "{table}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_converted(text in "([-=+|.:*_`\\[\\]{} a-c<>/\n]|\n|::|https://a|====\n){0,60}") {
            let _ = read(&text);
        }

        #[test]
        fn no_word_is_lost(words in proptest::collection::vec("[b-z]{1,8}", 1..20), width in 1_usize..6) {
            let text = words.chunks(width).map(|line| line.join(" ")).collect::<Vec<_>>().join("\n\n");
            let markdown = read(&text);
            prop_assert_eq!(markdown.split_whitespace().collect::<Vec<_>>(), words);
        }
    }
}
