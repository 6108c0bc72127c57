//! reStructuredText (docutils, and the directives and roles of Sphinx) as Markdown.

mod directive;
mod inline;
mod tables;

use std::collections::HashMap;

use crate::lines::{Blocks, MAX_DEPTH, dedented, expanded, indent, indented, prefixed};

/// Converts the reStructuredText in `text` to Markdown.
///
/// Sections, lists, tables, code, links, notes and signatures are converted. Directives that include or compute
/// something are removed. The content of an unknown directive stays.
pub fn restructured_text(text: &str) -> String {
    let text = expanded(text);
    let lines: Vec<&str> = text.lines().collect();
    let mut reader = Reader { left: text.len() * 4, ..Reader::default() };
    reader.collect(&lines);
    let mut out = Blocks::default();
    reader.blocks(&lines, 0, &mut out);
    out.finish()
}

/// The state for the whole text.
#[derive(Default)]
pub(crate) struct Reader {
    /// The targets of references, by their names in lower case.
    targets: HashMap<String, String>,
    /// The targets of anonymous references, in order.
    anonymous: Vec<String>,
    /// The values of substitutions.
    substitutions: HashMap<String, String>,
    /// The adornment styles of headings, the outermost first.
    levels: Vec<(char, bool)>,
    /// How many bytes substitutions may still add: a short reference to a long value can be repeated often.
    left: usize,
}

impl Reader {
    /// Collects definitions, because references may precede them.
    fn collect(&mut self, lines: &[&str]) {
        for line in lines {
            let line = line.trim();
            let Some(rest) = line.strip_prefix(".. ").or_else(|| line.starts_with("__ ").then_some(line)) else {
                continue;
            };
            if let Some(url) = rest.strip_prefix("__: ").or_else(|| rest.strip_prefix("__ ")) {
                self.anonymous.push(url.trim().to_owned());
            } else if let Some(rest) = rest.strip_prefix('_') {
                let (name, url) = match rest.strip_prefix('`').and_then(|rest| rest.split_once("`:")) {
                    Some(split) => split,
                    None => rest.split_once(": ").unwrap_or_default(),
                };
                if !url.trim().is_empty() {
                    self.targets.insert(name.to_lowercase(), url.trim().to_owned());
                }
            } else if let Some((name, rest)) = rest.strip_prefix('|').and_then(|rest| rest.split_once("| "))
                && let Some(text) = rest.trim().strip_prefix("replace::")
            {
                self.substitutions.insert(name.to_owned(), text.trim().to_owned());
            }
        }
        // `pop` takes the last one, which must be the first.
        self.anonymous.reverse();
    }

    /// Converts `lines`, which are nested `depth` blocks deep.
    pub(crate) fn blocks(&mut self, lines: &[&str], depth: usize, out: &mut Blocks) {
        if depth > MAX_DEPTH {
            return out.code(lines, "");
        }
        let mut at = 0;
        while at < lines.len() {
            at = self.block(lines, at, depth, out).max(at + 1);
        }
    }

    fn markdown(&mut self, lines: &[&str], depth: usize) -> String {
        let mut out = Blocks::default();
        self.blocks(&dedented(lines), depth + 1, &mut out);
        out.finish()
    }

    /// Converts the block at line `at`, and returns the line after it.
    fn block(&mut self, lines: &[&str], at: usize, depth: usize, out: &mut Blocks) -> usize {
        let line = lines[at];
        let Some(columns) = indent(line) else { return at + 1 };
        if columns > 0 {
            let (quoted, end) = indented(lines, at, 0);
            let said = self.markdown(quoted, depth);
            out.prefixed("> ", "> ", &said);
            return end;
        }
        if line == ".." || line.starts_with(".. ") || line.starts_with("__ ") {
            return self.explicit(lines, at, depth, out);
        }
        if let Some(end) = self.heading(lines, at, out) {
            return end;
        }
        if let Some((rows, end)) = tables::table(lines, at) {
            let rows: Vec<Vec<String>> =
                rows.iter().map(|row| row.iter().map(|cell| self.inline(cell.trim())).collect()).collect();
            out.push(&crate::table::table(&rows));
            return end;
        }
        if adornment(line).is_some_and(|_| line.len() > 3) {
            return at + 1;
        }
        if let Some((mark, content)) = item(line, lines.get(at + 1)) {
            return self.item(lines, at, mark, content, depth, out);
        }
        if let Some((name, value)) = field(line) {
            let (body, end) = indented(lines, at + 1, 0);
            let mut said = vec![value];
            let body = dedented(body);
            said.extend(&body);
            let said = self.markdown_of(&said, depth);
            let name = self.inline(name);
            out.push(
                &prefixed(&format!("- **{name}**: "), "  ", if said.is_empty() { "\u{200b}" } else { &said })
                    .replace('\u{200b}', ""),
            );
            return end;
        }
        if line.starts_with(">>> ") {
            let end =
                lines[at..].iter().position(|line| line.trim().is_empty()).map_or(lines.len(), |blank| at + blank);
            out.code(&lines[at..end], "python");
            return end;
        }
        if line == "|" || line.starts_with("| ") {
            let rest = &lines[at..];
            let count = rest.iter().take_while(|line| line.starts_with('|') || line.starts_with("  ")).count();
            let said: Vec<String> =
                rest[..count].iter().map(|line| self.inline(line.trim_start_matches('|').trim())).collect();
            out.push(&said.join("\\\n"));
            return at + count;
        }
        self.paragraph(lines, at, depth, out)
    }

    /// Converts `lines`, whose first line is indented differently.
    fn markdown_of(&mut self, lines: &[&str], depth: usize) -> String {
        let mut out = Blocks::default();
        self.blocks(lines, depth + 1, &mut out);
        out.finish()
    }

    fn item(&mut self, lines: &[&str], at: usize, mark: &str, content: usize, depth: usize, out: &mut Blocks) -> usize {
        let (rest, end) = indented(lines, at + 1, 0);
        let mut inner = vec![lines[at].get(content..).unwrap_or_default()];
        inner.extend(dedented(rest));
        let said = self.markdown_of(&inner, depth);
        let mark = if matches!(mark, "-" | "*" | "+") {
            "- ".to_owned()
        } else {
            format!("{} ", mark.trim_start_matches('(').replace(['#', ')'], if mark.contains('#') { "1" } else { "." }))
        };
        let mark = if mark.ends_with(". ") || mark == "- " {
            mark
        } else {
            format!("{}. ", mark.trim_end().trim_end_matches('.'))
        };
        let rest = " ".repeat(mark.len());
        // Like the source: items without blank lines between them form a tight list.
        let apart = at == 0 || indent(lines[at - 1]).is_none();
        out.add(&prefixed(&mark, &rest, &said), apart);
        end
    }

    /// Converts a paragraph with the code block or definition that it introduces.
    fn paragraph(&mut self, lines: &[&str], at: usize, depth: usize, out: &mut Blocks) -> usize {
        let is_definition = lines.get(at + 1).is_some_and(|next| indent(next).is_some_and(|columns| columns > 0));
        if is_definition && !lines[at].ends_with("::") {
            let (body, end) = indented(lines, at + 1, 0);
            let term = self.inline(lines[at]);
            let said = self.markdown(body, depth);
            out.push(&prefixed("- ", "  ", &format!("**{}**\n\n{said}", term.replace("**", ""))));
            return end;
        }
        let mut end = at;
        while end < lines.len() && indent(lines[end]) == Some(0) && (end == at || !lines[end].starts_with(".. ")) {
            end += 1;
        }
        let text = lines[at..end].join("\n");
        let Some(text) = text.strip_suffix("::") else {
            out.push(&self.inline(&text));
            return end;
        };
        // The code block that follows. Of `::`, one colon is text.
        let text = text.trim_end();
        if !text.is_empty() {
            out.push(&(self.inline(text) + ":"));
        }
        let (code, end) = indented(lines, end, 0);
        out.code(code, "");
        end
    }

    /// Converts a heading with an underline and an optional overline.
    fn heading(&mut self, lines: &[&str], at: usize, out: &mut Blocks) -> Option<usize> {
        let next = lines.get(at + 1)?;
        let (text, mark, over, end) = match (adornment(lines[at]), adornment(next)) {
            (Some(above), _)
                if lines.get(at + 2).is_some_and(|below| adornment(below) == Some(above))
                    && !next.trim().is_empty() =>
            {
                (next.trim(), above, true, at + 3)
            }
            (None, Some(below)) if next.len() > 2 && next.len() * 2 >= lines[at].chars().count() => {
                (lines[at].trim(), below, false, at + 2)
            }
            _ => return None,
        };
        let known = self.levels.iter().position(|known| *known == (mark, over));
        let level = known.unwrap_or_else(|| {
            self.levels.push((mark, over));
            self.levels.len() - 1
        });
        let text = self.inline(text);
        out.push(&format!("{} {text}", "#".repeat((level + 1).min(6))));
        Some(end)
    }
}

/// The only character of an adornment line.
fn adornment(line: &str) -> Option<char> {
    let first = line.chars().next().filter(char::is_ascii_punctuation)?;
    (line.len() > 1 && line.chars().all(|c| c == first)).then_some(first)
}

/// The marker of a list item, and the column of its text.
fn item<'a>(line: &'a str, next: Option<&&str>) -> Option<(&'a str, usize)> {
    let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
    let content = line.len() - rest.trim_start().len();
    if matches!(mark, "-" | "*" | "+" | "\u{2022}") {
        return (!rest.is_empty() || mark != "*").then_some((mark, content));
    }
    let inner = mark.strip_prefix('(').unwrap_or(mark);
    let name = inner.strip_suffix('.').or_else(|| inner.strip_suffix(')'))?;
    let is_number = !name.is_empty() && name.len() < 5 && name.bytes().all(|byte| byte.is_ascii_digit());
    // A letter may be an initial.
    let is_letter = name.len() == 1
        && name.bytes().all(|byte| byte.is_ascii_alphabetic())
        && next.is_none_or(|next| {
            indent(next) != Some(0)
                || next.starts_with(|c: char| c.is_ascii_alphabetic()) && next[1..].starts_with(['.', ')'])
        });
    (!rest.is_empty() && (name == "#" || is_number || is_letter)).then_some((mark, content))
}

/// The name of a field, and the start of its value.
pub(crate) fn field(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix(':').filter(|rest| !rest.starts_with([':', ' ']))?;
    let end = rest
        .match_indices(':')
        .map(|(at, _)| at)
        .find(|at| matches!(rest.as_bytes().get(at + 1), None | Some(b' ')))?;
    (!rest[..end].contains('`')).then(|| (&rest[..end], rest[end + 1..].trim()))
}

#[cfg(test)]
mod tests {
    use super::restructured_text as read;
    use proptest::prelude::*;

    #[test]
    fn sections_nest_by_the_order_of_their_adornments() {
        let text = "=====\nTides\n=====\n\nOne\n===\n\nTwo\n---\n\nThree\n===\n\n----\n\nText.\n";
        assert_eq!(read(text), "# Tides\n\n## One\n\n### Two\n\n## Three\n\nText.\n");
    }

    #[test]
    fn inline_markup() {
        for (text, expected) in [
            ("``a`b`` and *i* **b**", "`` a`b `` and *i* **b**"),
            (
                "See `the docs <https://x.example/>`_, `Tides`_ and Tides_.\n\n.. _Tides: https://t.example",
                "See [the docs](https://x.example/), [Tides](https://t.example) and [Tides](https://t.example).\n",
            ),
            (":py:func:`~os.path.join` :ref:`Text <label>` :pep:`8` :math:`x^2`", "`join` Text PEP 8 $x^2$"),
            ("|v| is [1]_ out\n\n.. |v| replace:: 3.0\n.. [1] Now.", "3.0 is [^1] out\n\n[^1]: Now.\n"),
            ("a\\ b \\*c\\* snake_case_ name_", "ab \\*c\\* snake_case_ name_"),
            ("`anonymous`__\n\n__ https://a.example", "[anonymous](https://a.example)\n"),
        ] {
            assert_eq!(read(text).trim_end(), expected.trim_end(), "{text}");
        }
    }

    #[test]
    fn lists_definitions_and_fields() {
        let text = "- one\n  more\n\n  - inner\n- two\n\n1. first\n#. second\n\nterm\n  What it is.\n\n:Author: Ada\n:param x: the x\n   of it\n\nA. Person wrote this\nand that.\n";
        let expected = "- one\n  more\n\n  - inner\n- two\n\n1. first\n1. second\n\n- **term**\n\n  What it is.\n\n- **Author**: Ada\n\n- **param x**: the x\n  of it\n\nA. Person wrote this\nand that.\n";
        assert_eq!(read(text), expected);
    }

    #[test]
    fn every_form_of_code_is_converted() {
        let text =
            "Run::\n\n    a\n      b\n\n.. code-block:: python\n   :linenos:\n\n   x = 1\n\n>>> 1\n1\n\n::\n\n  c\n";
        assert_eq!(
            read(text),
            "Run:\n\n```\na\n  b\n```\n\n```python\nx = 1\n```\n\n```python\n>>> 1\n1\n```\n\n```\nc\n```\n"
        );
    }

    #[test]
    fn directives() {
        let text = ".. note:: Take\n   care.\n\n   Twice.\n\n.. image:: a.png\n   :alt: A tide\n\n.. include:: /etc/passwd\n\n.. py:function:: f(x)\n   g(x)\n\n   Does it.\n\n.. unknown:: arg\n\n   Kept.\n\n.. a comment\n   goes\n\n.. versionadded:: 3.2\n";
        assert_eq!(
            read(text),
            "> **Note:** Take\n> care.\n>\n> Twice.\n\n![A tide](a.png)\n\n**`f(x)`**\n\n**`g(x)`**\n\nDoes it.\n\narg\n\nKept.\n\n> **Added in version 3.2**\n"
        );
    }

    #[test]
    fn every_form_of_table_is_converted() {
        let grid = "+-----+-----+\n| a   | b|c |\n+=====+=====+\n| 1   | x   |\n|     | y   |\n+-----+-----+\n";
        let simple = "===  ===\na    b|c\n===  ===\n1    x\n     y\n===  ===\n";
        let list = ".. list-table::\n   :header-rows: 1\n\n   * - a\n     - b|c\n   * - 1\n     - x\n       y\n";
        let csv = ".. csv-table::\n   :header: \"a\", \"b|c\"\n\n   1, \"x y\"\n";
        for table in [grid, simple, list, csv] {
            assert_eq!(read(table), "| a | b\\|c |\n| --- | --- |\n| 1 | x y |\n", "{table}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_converted(text in "([-=+|.:*_` a-c\\\\<>#\n]|\n  |\\.\\. |::){0,80}") {
            let _ = read(&text);
        }

        #[test]
        fn no_word_is_lost(words in proptest::collection::vec("[a-z]{1,8}", 1..20), width in 1_usize..6) {
            let text = words.chunks(width).map(|line| line.join(" ")).collect::<Vec<_>>().join("\n\n");
            let markdown = read(&text);
            prop_assert_eq!(markdown.split_whitespace().collect::<Vec<_>>(), words);
        }
    }
}
