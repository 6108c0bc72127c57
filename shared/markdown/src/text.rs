//! Plain text for a terminal or a log, by the renderer of `html2text`.

use url::Url;

use crate::{
    entities::escaped,
    extract::Labels,
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

/// Writes the kept nodes in a node as HTML. The depth of a tree is bounded.
fn write(tree: &Tree, keep: &[bool], labels: &Labels, base: Option<&Url>, id: Id, html: &mut String) {
    for child in tree.children(id).filter(|&child| keep[child] && !tree.tag(child).is_silent()) {
        let tag = tree.tag(child);
        if tag == Tag::Text {
            html.push_str(&escaped(tree.text(child)));
            continue;
        }
        if let Some(label) = labels.get(&child) {
            html.extend(["<p><b>", &escaped(label), "</b></p>"]);
        }
        html.extend(["<", tag.name()]);
        for name in [Attr::Href, Attr::Src, Attr::Alt, Attr::Start, Attr::Colspan] {
            // A link to a place on the same page leads nowhere from a terminal.
            let is_useless = |value: &&str| name == Attr::Href && value.trim_start().starts_with('#');
            let Some(value) = tree.attr(child, name).filter(|value| !is_useless(value)) else { continue };
            let address = matches!(name, Attr::Href | Attr::Src).then(|| urls::resolve(value, base));
            let Some(value) = address.unwrap_or_else(|| Some(value.into())) else { continue };
            html.extend([" ", name.name(), "=\"", &escaped(&value), "\""]);
        }
        html.push('>');
        if !tag.is_void() {
            write(tree, keep, labels, base, child, html);
            html.extend(["</", tag.name(), ">"]);
        }
    }
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

    #[test]
    fn only_kept_nodes_are_written() {
        let tree = Tree::parse("<p>a &lt; b<script>c</script></p><p>d</p>", None);
        let keep: Vec<bool> = (0..tree.len()).map(|id| id == ROOT || tree.subtree(1).contains(&id)).collect();
        assert_eq!(text(&tree, &keep, &Labels::default(), None, 80).trim(), "a < b");
    }
}
