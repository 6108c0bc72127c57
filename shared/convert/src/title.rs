//! The title of a document: from its front matter, its first heading, or its file name.

use crate::file_name;

/// The fields of the front matter of `text`, and what follows it. That of other programs may be TOML between
/// lines of `+++`, of which simple fields are read.
pub(crate) fn front_matter(text: &str) -> (Vec<(String, String)>, &str) {
    if let Ok(parsed) = ragmaker_document::parse(text) {
        return (parsed.fields, parsed.body);
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some((front, body)) = text.strip_prefix("+++\n").and_then(|rest| rest.split_once("\n+++")) else {
        return (vec![], text);
    };
    let field = |line: &str| {
        let (name, value) = line.split_once('=')?;
        Some((name.trim().to_owned(), value.trim().trim_matches(['"', '\'']).to_owned()))
    };
    (front.lines().filter_map(field).collect(), body)
}

/// The first heading of `markdown` without markup, if no other text is before it.
pub(crate) fn of_markdown(markdown: &str) -> Option<String> {
    let mut fence = None::<String>;
    let mut before: &str = "";
    for line in markdown.lines() {
        let mark: String = line.trim_start().chars().take_while(|c| matches!(c, '`' | '~')).collect();
        match &fence {
            Some(open) if mark.starts_with(open.as_str()) => fence = None,
            Some(_) => {}
            None if mark.len() >= 3 => fence = Some(mark),
            None => {
                if let Some(title) = line.strip_prefix("# ").or_else(|| line.strip_prefix("## ")) {
                    return Some(plain(title.trim_end_matches('#'))).filter(|title| !title.is_empty());
                }
                let is_underline = line.len() > 2 && line.chars().all(|c| c == '=');
                if is_underline && !before.trim().is_empty() {
                    return Some(plain(before));
                }
            }
        }
        before = line;
    }
    None
}

/// The first line of a PDF's text, if it may be a title.
pub(crate) fn of_pdf(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let letters = line.chars().filter(|c| c.is_alphabetic()).count();
    let is_title = letters >= 3 && line.chars().count() <= 120;
    is_title.then(|| line.to_owned())
}

/// A heading without the marks of Markdown: links are their text.
fn plain(heading: &str) -> String {
    // An anchor of Docusaurus or pandoc.
    let heading = heading.trim();
    let heading = heading.strip_suffix('}').and_then(|rest| rest.rsplit_once(" {#")).map_or(heading, |(text, _)| text);
    let mut out = String::new();
    let mut rest = heading;
    while let Some(at) = rest.find("](") {
        let (before, after) = rest.split_at(at);
        out.push_str(&before.replacen('[', "", 1));
        rest = after[2..].split_once(')').map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    let marks = ['*', '`', '\\'];
    out.chars().filter(|c| !marks.contains(c)).collect::<String>().trim().to_owned()
}

/// The name of a file without its ending.
pub(crate) fn of_name(name: &str) -> String {
    let name = file_name(name);
    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem }).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_found_where_it_stands() {
        for (markdown, title) in [
            ("text\n\n# A `b` *c* #\n", Some("A b c")),
            ("```sh\n# no\n```\n## [Tides](x.md) of {#tides}\n", Some("Tides of")),
            ("Tides\n=====\n", Some("Tides")),
            ("#hash\ntext", None),
            ("", None),
        ] {
            assert_eq!(of_markdown(markdown).as_deref(), title, "{markdown}");
        }
        assert_eq!((of_name("a/b.tar.gz").as_str(), of_name(".md").as_str()), ("b.tar", ".md"));
    }

    #[test]
    fn front_matter_is_yaml_or_toml() {
        let (fields, body) = front_matter("+++\ntitle = \"T\"\nweight = 1\n+++\nText\n");
        assert_eq!((fields[0].1.as_str(), body), ("T", "\nText\n"));
        assert_eq!(front_matter("---\ntitle: T\n---\nText\n").1, "Text\n");
        assert_eq!(front_matter("text\n---\n"), (vec![], "text\n---\n"));
    }
}
