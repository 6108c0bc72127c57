//! Plain text for a terminal or a log, by the renderer of `html2text`.

use url::Url;

use crate::{
    entities::escaped,
    extract::Labels,
    render::formula,
    tag::{Attr, Tag},
    tree::{Id, ROOT, Tree},
    urls,
};

/// The nodes of `tree` that `keep` marks, wrapped to `width` columns; links become numbers, and their addresses,
/// resolved against `base`, follow the text.
pub(crate) fn text(tree: &Tree, keep: &[bool], labels: &Labels, base: Option<&Url>, width: usize) -> String {
    let mut html = String::with_capacity(tree.size());
    write(tree, keep, labels, base, ROOT, &mut html);
    let config = html2text::config::plain().allow_width_overflow();
    config.string_from_read(html.as_bytes(), width.max(1)).unwrap_or_default()
}

/// Writes the kept nodes in a node as HTML of the elements that `html2text` knows. The depth of a tree is bounded.
fn write(tree: &Tree, keep: &[bool], labels: &Labels, base: Option<&Url>, id: Id, html: &mut String) {
    for child in tree.children(id).filter(|&child| keep[child] && !tree.is_silent(child)) {
        if let Some(label) = labels.get(&child) {
            html.extend(["<p><b>", &escaped(label), "</b></p>"]);
        }
        let content = |html: &mut String| write(tree, keep, labels, base, child, html);
        match tree.tag(child) {
            Tag::Text => html.push_str(&escaped(tree.text(child))),
            Tag::Svg => {
                let text = tree.diagram(child).map_or("", |diagram| diagram.text);
                html.extend(["<p>", &escaped(text).replace('\n', "<br>"), "</p>"]);
            }
            Tag::Hr => html.push_str("<p>---</p>"),
            Tag::Input if is_checkbox(tree, child) => {
                html.push_str(if tree.attr(child, Attr::Checked).is_some() { "[x] " } else { "[ ] " });
            }
            Tag::Math => match formula(tree, child) {
                Some(tex) => html.push_str(&escaped(&tex)),
                None => content(html),
            },
            Tag::Q => around(html, ["“", "”"], content),
            Tag::Rt => around(html, ["(", ")"], content),
            // It marks code, as a block is.
            Tag::Code if tree.ancestors(child).any(|id| tree.tag(id) == Tag::Pre) => content(html),
            Tag::Caption => {}
            Tag::Table => {
                let captions = tree.children(child).filter(|&id| keep[id] && tree.tag(id) == Tag::Caption);
                for caption in captions {
                    around(html, ["<p>", "</p>"], |html| write(tree, keep, labels, base, caption, html));
                }
                around(html, ["<table>", "</table>"], content);
            }
            tag => {
                let name = known(tag);
                html.extend(["<", name]);
                write_attributes(tree, child, base, html);
                html.push('>');
                if !tag.is_void() {
                    content(html);
                    html.extend(["</", name, ">"]);
                }
            }
        }
    }
}

fn around(html: &mut String, [before, after]: [&str; 2], content: impl FnOnce(&mut String)) {
    html.push_str(before);
    content(html);
    html.push_str(after);
}

/// The name under which `html2text` shows an element as a browser does: others, it takes for inline ones.
fn known(tag: Tag) -> &'static str {
    match tag {
        Tag::Menu | Tag::Dir => "ul",
        Tag::Listing | Tag::Xmp | Tag::Plaintext => "pre",
        Tag::Tfoot => "tbody",
        Tag::Blockquote | Tag::Dd | Tag::Dl | Tag::Dt | Tag::Li | Tag::Ol | Tag::P | Tag::Pre | Tag::Ul => tag.name(),
        tag if tag.is_block() && !tag.is_table_part() && tag.heading_level().is_none() => "div",
        tag => tag.name(),
    }
}

fn write_attributes(tree: &Tree, id: Id, base: Option<&Url>, html: &mut String) {
    for name in [Attr::Href, Attr::Src, Attr::Alt, Attr::Start, Attr::Colspan] {
        // A link to a place on the same page leads nowhere from a terminal.
        let is_useless = |value: &&str| name == Attr::Href && value.trim_start().starts_with('#');
        let Some(value) = tree.attr(id, name).filter(|value| !is_useless(value)) else { continue };
        let address = matches!(name, Attr::Href | Attr::Src).then(|| urls::resolve(value, base));
        let Some(value) = address.unwrap_or_else(|| Some(value.into())) else { continue };
        html.extend([" ", name.name(), "=\"", &escaped(&value), "\""]);
    }
}

fn is_checkbox(tree: &Tree, id: Id) -> bool {
    tree.attr(id, Attr::Type).is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_and_its_links_are_numbered() {
        let page = "<h1><a href=#a>Tides</a> &amp; times</h1><p>High water comes <b>twice</b> a day at the <a href=pier>pier</a>.<ul><li>ebb</ul>";
        let tree = Tree::parse(page, None);
        let base = Url::parse("https://sea.example/a").unwrap();
        let text = text(&tree, &vec![true; tree.len()], &Labels::default(), Some(&base), 30);
        assert!(text.starts_with("# Tides & times\n"), "{text}");
        assert!(
            text.contains("* ebb") && text.contains("[pier][1]") && text.contains("[1]: https://sea.example/pier"),
            "{text}"
        );
        assert!(text.lines().all(|line| line.chars().count() <= 30), "{text}");
    }

    /// A page as text.
    fn shown(html: &str) -> String {
        let tree = Tree::parse(html, None);
        let text = text(&tree, &vec![true; tree.len()], &Labels::default(), None, 80);
        text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim().to_owned()
    }

    #[test]
    fn blocks_are_lines_of_their_own() {
        let names =
            ["article", "details", "fieldset", "figcaption", "figure", "footer", "header", "section", "summary"];
        for name in names {
            assert_eq!(shown(&format!("a<{name}>b</{name}><{name}>c</{name}>d")), "a\nb\nc\nd", "{name}");
        }
        assert_eq!(shown("<menu><li>a</menu>"), "* a");
        assert_eq!(shown("<p>a<hr><p>b"), "a\n\n---\n\nb");
        assert!(shown("<table><caption>Tides</caption><tr><td>a<td>b</table>").starts_with("Tides\n"));
    }

    #[test]
    fn what_has_no_text_of_its_own_is_written() {
        assert_eq!(shown("<p><q>a</q> <ruby>漢<rt>b</rt></ruby>"), "“a” 漢(b)");
        assert_eq!(
            shown("<ul><li><input type=checkbox checked> a<li><input type=checkbox> b</ul>"),
            "* [x] a\n* [ ] b"
        );
        assert_eq!(shown("<p><math alttext='x^2'><mi>x</mi></math>"), "$x^2$");
        assert_eq!(shown("<pre><code>a\n  b</code></pre><p><code>c</code>"), "a\n  b\n\n`c`");
    }

    #[test]
    fn the_texts_of_a_diagram_are_lines() {
        let tree = Tree::parse("<p>a<svg><text>x &lt;</text><text>y</text></svg>", None);
        assert_eq!(text(&tree, &vec![true; tree.len()], &Labels::default(), None, 80).trim(), "a\n\nx <\ny");
    }

    #[test]
    fn only_kept_nodes_are_written() {
        let tree = Tree::parse("<p>a &lt; b<script>c</script></p><p>d</p>", None);
        let keep: Vec<bool> = (0..tree.len()).map(|id| id == ROOT || tree.subtree(1).contains(&id)).collect();
        assert_eq!(text(&tree, &keep, &Labels::default(), None, 80).trim(), "a < b");
    }
}
