//! The text formats: an index for models, one Markdown file, JSON lines.

use std::io::{self, Write};

use serde_json::json;

use crate::documents::{ExportedKnowledgeBase, line};

/// An index in the form of <https://llmstxt.org>: a title, a summary in a quotation, a list of links with notes.
pub(crate) fn llms_txt(source: &ExportedKnowledgeBase, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "# {}", source.title())?;
    if let Some(summary) = &source.header.summary {
        writeln!(out, "\n> {}", line(summary))?;
    }
    writeln!(out, "\n## Documents\n")?;
    for document in &source.documents {
        let title = document.title().replace('[', "\\[").replace(']', "\\]");
        write!(out, "- [{title}]({})", link(document.address()))?;
        match &document.listed.summary {
            Some(summary) => writeln!(out, ": {}", line(summary))?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

/// An address as the target of a link, which neither a space nor a bracket ends.
fn link(address: &str) -> String {
    let mut out = String::new();
    for c in address.chars() {
        match c {
            ' ' => out += "%20",
            '(' => out += "%28",
            ')' => out += "%29",
            '<' => out += "%3C",
            '>' => out += "%3E",
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// One object a line: what the catalog says of a document, and its Markdown.
pub(crate) fn jsonl(source: &ExportedKnowledgeBase, out: &mut impl Write) -> io::Result<()> {
    for document in &source.documents {
        let listed = &document.listed;
        let object = json!({
            "url": listed.url,
            "title": document.title(),
            "summary": listed.summary,
            "fetched_at": listed.fetched_at,
            "path": listed.path,
            "text": document.body()?,
        });
        writeln!(out, "{object}")?;
    }
    Ok(())
}

/// All documents in one, under the title of the knowledge base: each a section whose headings are below its own.
pub(crate) fn markdown(source: &ExportedKnowledgeBase, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "# {}", source.title())?;
    if let Some(summary) = &source.header.summary {
        writeln!(out, "\n{}", summary.trim())?;
    }
    for document in &source.documents {
        let (title, body) = (document.title(), document.body()?);
        writeln!(out, "\n## {title}\n")?;
        if let Some(url) = &document.listed.url {
            writeln!(out, "Source: <{}>\n", link(url))?;
        }
        let body = without_title(&body, &title);
        writeln!(out, "{}", lowered(body))?;
    }
    Ok(())
}

/// `body` without a first heading that says what the title says.
fn without_title<'a>(body: &'a str, title: &str) -> &'a str {
    let (first, rest) = body.split_once('\n').unwrap_or((body, ""));
    let heading = first.strip_prefix("# ").map(str::trim);
    if heading == Some(title) { rest.trim_start_matches(['\r', '\n']) } else { body }
}

/// The number of levels by which headings are moved down.
const LOWER: usize = 2;
/// The deepest heading level.
const MAX_LEVEL: usize = 6;

/// `markdown` with its headings moved down. Lines in code blocks are not headings.
fn lowered(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len() + 64);
    let mut fence: Option<(char, usize)> = None;
    for text in markdown.split_inclusive('\n') {
        let bare = text.trim_start_matches(' ');
        let is_indented = text.len() - bare.len() > 3;
        let mark = bare.chars().next().filter(|c| matches!(c, '`' | '~'));
        let run = mark.map_or(0, |mark| bare.chars().take_while(|c| *c == mark).count());
        match (fence, mark) {
            (Some((open, length)), Some(mark)) if mark == open && run >= length && bare[run..].trim().is_empty() => {
                fence = None;
            }
            (None, Some(mark)) if run >= 3 && !is_indented => fence = Some((mark, run)),
            (None, _) if !is_indented => {
                let level = bare.chars().take_while(|c| *c == '#').count();
                if (1..=MAX_LEVEL).contains(&level) && bare[level..].starts_with([' ', '\t', '\n', '\r']) {
                    out.extend(std::iter::repeat_n('#', LOWER.min(MAX_LEVEL - level)));
                }
            }
            _ => {}
        }
        out += text;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_moved_down_and_code_is_not() {
        let text = "# A\n\n##### B\n#not\n```sh\n# comment\n```\n~~~~\n```\n# x\n~~~\n~~~~\n## C\n    # code\n";
        let expected =
            "### A\n\n###### B\n#not\n```sh\n# comment\n```\n~~~~\n```\n# x\n~~~\n~~~~\n#### C\n    # code\n";
        assert_eq!(lowered(text), expected);
    }

    #[test]
    fn a_title_is_not_said_twice() {
        assert_eq!(without_title("# Tides\n\nText", "Tides"), "Text");
        assert_eq!(without_title("# Other\n\nText", "Tides"), "# Other\n\nText");
        assert_eq!(without_title("# Tides", "Tides"), "");
    }

    #[test]
    fn an_address_ends_where_it_ends() {
        assert_eq!(link("https://x.example/a (b)\n<c>"), "https://x.example/a%20%28b%29%3Cc%3E");
    }
}
