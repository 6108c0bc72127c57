//! Plain text for a terminal or a log: the Markdown, by the renderer of `html2text`.

use comrak::{
    Arena, Options, format_html,
    nodes::{Node, NodeHtmlBlock, NodeValue},
    parse_document,
};

use crate::entities::escaped;

/// A document's Markdown as text, wrapped to `width` columns. Links become numbers, and their addresses follow the
/// text.
#[must_use]
pub fn plain_text(markdown: &str, width: usize) -> String {
    let mut options = Options::default();
    let extension = &mut options.extension;
    (extension.table, extension.strikethrough, extension.footnotes, extension.math_dollars) = (true, true, true, true);
    // Of no use to an attacker: the HTML becomes text at once.
    options.render.r#unsafe = true;
    let arena = Arena::new();
    let root = parse_document(&arena, markdown, &options);
    let nodes: Vec<Node<'_>> = root.descendants().collect();
    for node in nodes {
        show_as_text(&arena, node);
    }
    let mut html = String::new();
    let is_written = format_html(root, &options, &mut html).is_ok();
    debug_assert!(is_written, "a string takes everything");
    let config = html2text::config::plain().allow_width_overflow();
    config.string_from_read(html.as_bytes(), width.max(1)).unwrap_or_default()
}

/// Replaces a node that `html2text` does not show, or marks as what it is not.
fn show_as_text<'a>(arena: &'a Arena<'a>, node: Node<'a>) {
    let text = |text: String| NodeValue::Text(text.into());
    let value = match &node.data().value {
        // A link to a place on the same page leads nowhere from a terminal.
        NodeValue::Link(link) if link.url.starts_with('#') => return replace_by_children(node),
        NodeValue::FootnoteDefinition(footnote) => {
            let first = node.first_child().filter(|child| matches!(child.data().value, NodeValue::Paragraph));
            // A footnote may begin with a list or with HTML.
            let paragraph = first.unwrap_or_else(|| arena.alloc(NodeValue::Paragraph.into()));
            node.prepend(paragraph);
            paragraph.prepend(arena.alloc(text(format!("[^{}]: ", footnote.name)).into()));
            return replace_by_children(node);
        }
        NodeValue::FootnoteReference(footnote) => text(format!("[^{}]", footnote.name)),
        // As an element of its own, it would get the marks of code in a line.
        NodeValue::CodeBlock(code) => {
            let literal = ["<pre>", &escaped(&code.literal), "</pre>"].concat();
            NodeValue::HtmlBlock(NodeHtmlBlock { literal, ..NodeHtmlBlock::default() })
        }
        NodeValue::Math(math) => {
            let mark = if math.display_math { "$$" } else { "$" };
            text(format!("{mark}{}{mark}", math.literal))
        }
        NodeValue::ThematicBreak => {
            node.append(arena.alloc(text("---".into()).into()));
            NodeValue::Paragraph
        }
        _ => return,
    };
    node.data_mut().value = value;
}

/// Puts what is in a node in its place.
fn replace_by_children(node: Node<'_>) {
    while let Some(child) = node.first_child() {
        node.insert_before(child);
    }
    node.detach();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Scope, convert};

    /// A page as text.
    fn shown(html: &str) -> String {
        let base = "https://sea.example/a".parse().unwrap();
        let page = convert(html, &Options { base_url: Some(&base), scope: Scope::Main }).unwrap();
        plain_text(&page.markdown, 40)
    }

    #[test]
    fn text_is_wrapped_and_its_links_are_numbered() {
        let text = shown(
            "<h1>Tides &amp; times</h1><p>High water comes <b>twice</b> a <a href=#b>day</a> at the pier, and the <a \
             href=boats>boats</a> leave with the ebb.",
        );
        let expected = "# Tides & times\n\nHigh water comes **twice** a day at the\npier, and the [boats][1] leave with the\nebb.\n\n\
                        [1]: https://sea.example/boats\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn what_the_markdown_leaves_out_is_not_in_the_text() {
        let text = shown(
            "<main><h1>Tides <button>Copy path</button><a class=headerlink href=#a>¶</a></h1><p>High water comes \
             twice a day at the pier.<div class=highlight><pre><code class=language-c><span class=linenos>1</span>tide \
             = high_water(pier);<button>Copy</button></code></pre></div><p>The boats leave with the ebb.</main>",
        );
        let expected = "# Tides\n\nHigh water comes twice a day at the\npier.\n\ntide = high_water(pier);\n\n\
                        The boats leave with the ebb.\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn what_html2text_does_not_know_is_written() {
        assert_eq!(plain_text("a\n\n---\n\nb *c*", 80), "a\n\n---\n\nb *c*\n");
        assert_eq!(plain_text("- [x] a\n- [ ] b\n", 80), "* [x] a\n* [ ] b\n");
        assert_eq!(plain_text("$x_1 * y * z_1$ of `a_b`, $$a*b*c$$\n", 80), "$x_1 * y * z_1$ of `a_b`, $$a*b*c$$\n");
        assert_eq!(
            plain_text("a[^1] b[^n]\n\n[^1]: c\n\n    d\n[^n]: e\n", 80),
            "a[^1] b[^n]\n\n[^1]: c\n\nd\n\n[^n]: e\n"
        );
        assert_eq!(
            plain_text("a[^1] b[^2]\n\n[^1]: - c\n[^2]:\n    <del>\n\n    d\n", 80),
            "a[^1] b[^2]\n\n[^1]:\n* c\n\n[^2]:\n\nd\u{336}\n"
        );
        assert_eq!(plain_text("H<sub>2</sub>O, x<sup>2</sup>, a\\<b&amp;c\n", 80), "H2O, x², a<b&c\n");
        assert_eq!(plain_text("| A | B |\n| --- | --- |\n| 1 | 2 |\n", 80), "─┬─\nA│B\n─┼─\n1│2\n─┴─\n");
    }
}
