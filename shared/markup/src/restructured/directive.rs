//! Explicit markup: directives, comments, footnotes, targets.

use super::{Reader, field, tables};
use crate::lines::{Blocks, dedented, indented, prefixed};

/// Directives that include, compute or arrange content and have no text of their own.
const SILENT: [&str; 38] = [
    "toctree",
    "contents",
    "index",
    "include",
    "raw",
    "meta",
    "highlight",
    "currentmodule",
    "default-domain",
    "role",
    "tabularcolumns",
    "sectionauthor",
    "moduleauthor",
    "codeauthor",
    "literalinclude",
    "plot",
    "graphviz",
    "uml",
    "title",
    "autosummary",
    "automodule",
    "autoclass",
    "autofunction",
    "automethod",
    "module",
    "py:module",
    "py:currentmodule",
    "sectnum",
    "section-numbering",
    "header",
    "footer",
    "target-notes",
    "default-role",
    "program",
    "highlightlang",
    "date",
    "digraph",
    "mermaid",
];

/// Directives that contain code, with the default language.
const CODE: [(&str, &str); 14] = [
    ("code-block", ""),
    ("code", ""),
    ("sourcecode", ""),
    ("parsed-literal", ""),
    ("ipython", "python"),
    ("prompt", "sh"),
    ("doctest", "python"),
    ("testcode", "python"),
    ("testoutput", ""),
    ("productionlist", ""),
    ("console", "console"),
    ("jupyter-execute", "python"),
    ("testsetup", "python"),
    ("literal", ""),
];

/// Admonitions, with their labels.
const NOTES: [(&str, &str); 17] = [
    ("note", "Note:"),
    ("warning", "Warning:"),
    ("tip", "Tip:"),
    ("important", "Important:"),
    ("caution", "Caution:"),
    ("danger", "Danger:"),
    ("attention", "Attention:"),
    ("hint", "Hint:"),
    ("error", "Error:"),
    ("seealso", "See also:"),
    ("todo", "To do:"),
    ("impl-detail", "Implementation detail:"),
    ("versionadded", "Added in version"),
    ("versionchanged", "Changed in version"),
    ("deprecated", "Deprecated since version"),
    ("versionremoved", "Removed in version"),
    ("deprecated-removed", "Deprecated since version"),
];

/// Directives whose argument is a signature, in addition to those with a domain prefix.
const OBJECTS: [&str; 20] = [
    "function",
    "class",
    "method",
    "attribute",
    "data",
    "exception",
    "decorator",
    "classmethod",
    "staticmethod",
    "describe",
    "object",
    "envvar",
    "option",
    "cmdoption",
    "confval",
    "setting",
    "macro",
    "type",
    "property",
    "opcode",
];

impl Reader {
    /// Converts explicit markup, which starts with two dots, and returns the line after it.
    pub(crate) fn explicit(&mut self, lines: &[&str], at: usize, depth: usize, out: &mut Blocks) -> usize {
        let rest = lines[at].strip_prefix("..").unwrap_or_default().trim_start();
        let (body, end) = indented(lines, at + 1, 0);
        let body = dedented(body);
        // The text of a footnote may begin on the next line.
        let footnote = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        if let Some((label, text)) = footnote.filter(|(_, text)| text.is_empty() || text.starts_with(' ')) {
            let mut said: Vec<&str> = Some(text.trim_start()).filter(|text| !text.is_empty()).into_iter().collect();
            said.extend(&body);
            let said = self.markdown_of(&said, depth);
            out.push(&prefixed(&format!("[^{label}]: "), "    ", &said));
            return end;
        }
        // Targets and substitutions were collected before. Markup without a name is a comment.
        let Some((name, argument)) = directive(rest) else { return end };
        self.directive(name, argument, &body, depth, out);
        end
    }

    fn directive(&mut self, name: &str, argument: &str, body: &[&str], depth: usize, out: &mut Blocks) {
        if SILENT.contains(&name) {
            return;
        }
        let (argument, options, content) = parts(argument, body);
        let option = |wanted: &str| options.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value);
        if let Some((_, language)) = CODE.iter().find(|(known, _)| *known == name) {
            let language = if argument.is_empty() { language } else { argument.lines().next().unwrap_or_default() };
            return out.code(content, language);
        }
        if let Some((_, word)) = NOTES.iter().find(|(known, _)| *known == name) {
            return self.note(name, word, &argument, content, depth, out);
        }
        match name {
            "image" | "figure" => {
                let alt = option("alt").unwrap_or_default();
                out.push(&format!("![{alt}]({})", argument.replace(['\n', ' '], "")));
                self.blocks(content, depth + 1, out);
            }
            "math" => {
                let mut lines: Vec<&str> = argument.lines().collect();
                lines.extend(content);
                out.push(&format!("$$\n{}\n$$", lines.join("\n").trim()));
            }
            "list-table" => {
                self.caption(&argument, out);
                let rows = tables::list(content);
                self.rows(&rows, out);
            }
            "csv-table" => {
                self.caption(&argument, out);
                let header = option("header").map(|header| vec![tables::fields(header)]);
                let rows: Vec<Vec<String>> =
                    content.iter().filter(|line| !line.trim().is_empty()).map(|line| tables::fields(line)).collect();
                let rows = [header.unwrap_or_default(), rows].concat();
                self.rows(&rows, out);
            }
            "admonition" => self.note(name, &format!("{argument}:"), "", content, depth, out),
            "rubric" | "topic" | "sidebar" | "table" | "glossary" | "dropdown" | "tab" | "tab-item" | "card"
            | "grid-item-card" => {
                self.caption(&argument, out);
                self.blocks(content, depth + 1, out);
            }
            name if name.contains(':') || OBJECTS.contains(&name) => {
                for signature in argument.lines().map(|line| line.trim().trim_end_matches('\\').trim()) {
                    out.push(&format!("**`{}`**", signature.replace('`', "'")));
                }
                self.blocks(content, depth + 1, out);
            }
            _ => {
                let arranges = matches!(
                    name,
                    "only"
                        | "container"
                        | "class"
                        | "rst-class"
                        | "compound"
                        | "epigraph"
                        | "highlights"
                        | "hlist"
                        | "tabs"
                        | "tab-set"
                        | "grid"
                        | "line-block"
                );
                if !arranges {
                    out.push(&self.inline(&argument));
                }
                self.blocks(content, depth + 1, out);
            }
        }
    }

    fn caption(&mut self, text: &str, out: &mut Blocks) {
        if !text.trim().is_empty() {
            out.push(&format!("**{}**", self.inline(text.trim()).replace("**", "")));
        }
    }

    fn rows(&mut self, rows: &[Vec<String>], out: &mut Blocks) {
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|cell| self.inline(cell)).collect()).collect();
        out.push(&crate::table::table(&rows));
    }

    fn note(&mut self, name: &str, word: &str, argument: &str, content: &[&str], depth: usize, out: &mut Blocks) {
        let mut said = String::new();
        let first;
        if word.ends_with(':') {
            first = format!("**{word}** ");
            said.push_str(&self.inline(argument));
        } else {
            // A version, and the text about it.
            let (version, text) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
            let (version, text) = match (name, text.trim().split_once(char::is_whitespace)) {
                ("deprecated-removed", Some((removed, text))) => {
                    (format!("{version}, to be removed in {removed}"), text)
                }
                ("deprecated-removed", None) => (format!("{version}, to be removed in {}", text.trim()), ""),
                _ => (version.to_owned(), text),
            };
            first = format!("**{word} {version}**");
            if !text.trim().is_empty() {
                said = format!(": {}", self.inline(text.trim()));
            }
        }
        let mut body = Blocks::default();
        self.blocks(content, depth + 1, &mut body);
        let body = body.finish();
        let whole = match (said.is_empty(), body.is_empty()) {
            (_, true) => format!("{first}{said}"),
            // The label precedes the first paragraph.
            (true, false)
                if first.ends_with(' ')
                    && body.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '*' | '[' | '`'))
                    && !body.starts_with("```") =>
            {
                format!("{first}{body}")
            }
            (_, false) => format!("{first}{said}\n\n{body}"),
        };
        out.prefixed("> ", "> ", &whole);
    }
}

/// The name of a directive and its argument.
fn directive(text: &str) -> Option<(&str, &str)> {
    let (name, argument) = text.split_once("::")?;
    // A substitution definition contains a directive.
    let name = name.trim();
    let is_name = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.' | b'+'));
    (is_name && !argument.starts_with(':')).then(|| (name, argument.trim()))
}

/// The complete argument of a directive, its options, and its content.
fn parts<'l, 'a>(argument: &'a str, body: &'l [&'a str]) -> (String, Vec<(&'a str, &'a str)>, &'l [&'a str]) {
    let mut whole = argument.to_owned();
    let (mut options, mut at) = (vec![], 0);
    while let Some(line) = body.get(at) {
        if let Some(option) = field(line.trim()).filter(|(name, _)| !name.contains(' ')) {
            options.push(option);
        } else if line.trim().is_empty() {
            at += 1;
            break;
        } else if options.is_empty() {
            if !whole.is_empty() {
                whole.push('\n');
            }
            whole.push_str(line.trim());
        }
        at += 1;
    }
    (whole, options, &body[at..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::restructured_text as read;

    #[test]
    fn a_directive_has_a_name_of_letters_and_two_colons() {
        for (text, expected) in [
            ("note:: Text", Some(("note", "Text"))),
            ("py:function:: f(a::b)", Some(("py:function", "f(a::b)"))),
            ("note ::", Some(("note", ""))),
            ("note: Text", None),
            (":: Text", None),
            ("a b:: Text", None),
            ("note::: Text", None),
            ("\u{6f6e}:: Text", None),
            ("", None),
        ] {
            assert_eq!(directive(text), expected, "{text}");
        }
    }

    #[test]
    fn the_argument_ends_at_the_options_and_the_options_at_a_blank_line() {
        let body = ["more", ":width: 5 em", ":alt:", "", ":not: an option", "text"];
        let (argument, options, content) = parts("first", &body);
        assert_eq!((argument.as_str(), content), ("first\nmore", &body[4..]));
        assert_eq!(options, [("width", "5 em"), ("alt", "")]);
        assert_eq!(parts("", &[]), (String::new(), vec![], &[][..]));
    }

    #[test]
    fn each_kind_of_directive_keeps_its_text() {
        for (text, expected) in [
            (".. note:: Mind the tide.\n\n   - one", "> **Note:** Mind the tide.\n>\n> - one\n"),
            (".. note::\n\n   Mind the tide.", "> **Note:** Mind the tide.\n"),
            (".. versionadded:: 3.2 The tide.", "> **Added in version 3.2**: The tide.\n"),
            (".. deprecated-removed:: 3.2 4.0", "> **Deprecated since version 3.2, to be removed in 4.0**\n"),
            (".. admonition:: Tides\n\n   High.", "> **Tides:** High.\n"),
            (".. image:: a b.png\n   :alt: The \u{6f6e}", "![The \u{6f6e}](ab.png)\n"),
            (".. math:: x^2\n\n   y", "$$\nx^2\ny\n$$\n"),
            (
                ".. csv-table:: Days\n   :header: day, m\n\n   \"a, b\", 5",
                "**Days**\n\n| day | m |\n| --- | --- |\n| a, b | 5 |\n",
            ),
            (".. py:function:: f(a, \\\n      `b`)\n\n   What it does.", "**`f(a,`**\n\n**`'b')`**\n\nWhat it does.\n"),
            (".. only:: html\n\n   Text.", "Text.\n"),
            (".. unknown:: *Argument*\n\n   Text.", "*Argument*\n\nText.\n"),
            (".. toctree::\n\n   a\n   b", ""),
            (".. a remark\n   of two lines", ""),
            (".. code-block:: py \u{e9}\n   :linenos:\n\n   ```\n     x", "````py\n```\n  x\n````\n"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn the_text_of_a_footnote_may_begin_on_the_next_line() {
        for text in [".. [#a] The \u{6f6e}.\n   More.", ".. [#a]\n   The \u{6f6e}.\n   More."] {
            assert_eq!(read(text), "[^#a]: The \u{6f6e}.\n    More.\n", "{text}");
        }
        assert_eq!(read(".. [a]b"), "");
    }
}
