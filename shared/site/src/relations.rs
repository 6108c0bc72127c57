//! Links to other forms of a page: `Link` headers (RFC 8288), links in Markdown, llms.txt.

use url::Url;

/// The maximum number of links of one text.
const MAX_LINKS: usize = 20_000;

/// A link of a `Link` header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its target, as it is written.
    pub target: String,
    /// Its relations, in lower case, with white space between several.
    pub rel: String,
    /// Its media type, in lower case and without parameters.
    pub media_type: String,
}

/// The links of a `Link` header. What cannot be read is left out, with what follows it.
pub fn link_header(value: &str) -> Vec<Link> {
    let (mut links, mut rest) = (vec![], value);
    while let Some((target, after)) =
        rest.trim_start_matches([' ', '\t', ',']).strip_prefix('<').and_then(|rest| rest.split_once('>'))
    {
        let mut link = Link { target: target.trim().to_owned(), rel: String::new(), media_type: String::new() };
        rest = after.trim_start();
        while let Some(parameter) = rest.strip_prefix(';') {
            let end = parameter.find(['=', ';', ',']).unwrap_or(parameter.len());
            let name = parameter[..end].trim().trim_end_matches('*').to_ascii_lowercase();
            rest = &parameter[end..];
            let mut value = String::new();
            if let Some(given) = rest.strip_prefix('=') {
                (value, rest) = value_of(given.trim_start());
            }
            let value = value.to_ascii_lowercase();
            match name.as_str() {
                // Only the first counts.
                "rel" if link.rel.is_empty() => link.rel = value,
                "type" if link.media_type.is_empty() => {
                    link.media_type = value.split(';').next().unwrap_or_default().trim().to_owned();
                }
                _ => {}
            }
            rest = rest.trim_start();
        }
        links.push(link);
        if links.len() == MAX_LINKS {
            break;
        }
    }
    links
}

/// The value that `text` starts with, quoted or not, and what follows it.
fn value_of(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([';', ',']).unwrap_or(text.len());
        return (text[..end].trim().to_owned(), &text[end..]);
    };
    let (mut value, mut is_escaped) = (String::new(), false);
    for (at, c) in quoted.char_indices() {
        match c {
            _ if is_escaped => {
                value.push(c);
                is_escaped = false;
            }
            '\\' => is_escaped = true,
            '"' => return (value, &quoted[at + 1..]),
            c => value.push(c),
        }
    }
    (value, "")
}

/// The links in Markdown at `base`, which llms.txt is as well: inline links, definitions and addresses in angle
/// brackets, code aside.
pub fn markdown_links(text: &str, base: &Url) -> Vec<Url> {
    let (mut links, mut fence) = (vec![], None);
    for line in text.lines() {
        let start = line.trim_start();
        let mark = start.chars().next().filter(|c| matches!(c, '`' | '~'));
        if let Some(mark) = mark.filter(|_| start.starts_with("```") || start.starts_with("~~~")) {
            match fence {
                None => fence = Some(mark),
                Some(open) if open == mark => fence = None,
                Some(_) => {}
            }
            continue;
        }
        if fence.is_some() {
            continue;
        }
        if let Some(target) = start.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target)
        {
            links.extend(target_of(target).and_then(|target| base.join(target).ok()));
            continue;
        }
        for (at, _) in line.match_indices("](") {
            links.extend(target_of(&line[at + 2..]).and_then(|target| base.join(target).ok()));
        }
        for (at, _) in line.match_indices("<http") {
            let end = line[at..].find('>').map(|end| &line[at + 1..at + end]);
            links.extend(end.and_then(|target| Url::parse(target).ok()));
        }
        if links.len() >= MAX_LINKS {
            break;
        }
    }
    links
}

/// The target of a link, which `text` starts with.
fn target_of(text: &str) -> Option<&str> {
    let text = text.trim_start();
    if let Some(rest) = text.strip_prefix('<') {
        return rest.split_once('>').map(|(target, _)| target);
    }
    let mut open = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' => open += 1,
            ')' if open == 0 => return Some(&text[..at]),
            ')' => open -= 1,
            c if c.is_whitespace() => return Some(&text[..at]),
            _ => {}
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn link_headers_are_read() {
        let value = "</a.md>; rel=\"alternate nofollow\"; type=\"text/markdown; charset=utf-8\", <b,c>;rel=Next;title=\"x, <y>; rel=\\\"z\\\"\" , \
                     <llms.txt>; rel = describedby; rel=no";
        let links = link_header(value);
        let shown: Vec<_> = links.iter().map(|link| (&*link.target, &*link.rel, &*link.media_type)).collect();
        assert_eq!(
            shown,
            [("/a.md", "alternate nofollow", "text/markdown"), ("b,c", "next", ""), ("llms.txt", "describedby", "")]
        );
        for bad in ["", "x", "<a", "<a>;", "<a>; rel=\"", ",,,", "<>;;;=;"] {
            link_header(bad);
        }
    }

    #[test]
    fn links_in_markdown_are_found() {
        let base = Url::parse("https://x.example/docs/llms.txt").unwrap();
        let text = "# T\n- [a](a.md): about\n* [b](/b_(c).md \"title\") [d](<d e.md>)\n```\n[no](no)\n```\n[r]: ../r\n<https://y.example/f>\n";
        let links = markdown_links(text, &base);
        let shown: Vec<_> = links.iter().map(Url::as_str).collect();
        let expected = [
            "https://x.example/docs/a.md",
            "https://x.example/b_(c).md",
            "https://x.example/docs/d%20e.md",
            "https://x.example/r",
            "https://y.example/f",
        ];
        assert_eq!(shown, expected);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(?s)([<>;,=\"\\\\ \\[\\]()`:]|rel|http|.){0,40}") {
            link_header(&text);
            markdown_links(&text, &Url::parse("https://x.example/").unwrap());
        }

        #[test]
        fn a_link_that_is_written_is_read(target in "[a-z/.]{1,9}", rel in "[a-z]{1,9}", title in "[ -~]{0,9}") {
            let title = title.replace(['\\', '"'], "");
            let links = link_header(&format!("<x>;rel=y, <{target}>; title=\"{title}\"; rel=\"{rel}\""));
            prop_assert_eq!((&links[1].target, &links[1].rel), (&target, &rel));
        }
    }
}
