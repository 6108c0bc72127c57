//! Properties of the conversion, tested with generated pages.

use proptest::prelude::*;
use ragmaker_markdown::{Options, Scope, convert, decode};

fn whole(html: &str) -> String {
    convert(html, &Options { base_url: None, scope: Scope::Whole }).map(|page| page.markdown).unwrap_or_default()
}

fn hostile_text() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "word",
        " ",
        "*",
        "_",
        "`",
        "``",
        "[",
        "]",
        "](",
        "#",
        "# ",
        "- ",
        "1. ",
        ">",
        "&amp;",
        "&lt;b",
        "|",
        "~~",
        "\\",
        "!",
        "\n",
        "\n\n",
        "日本",
        "é",
        ".",
        "http://a.b",
        "---",
        "===",
        "\u{a0}",
        ":",
        "\0",
        "&#0;",
    ])
}

/// Text and markup within a line.
fn line() -> impl Strategy<Value = String> {
    let enclosed =
        |tag: &'static str, inner: &str| format!("<{tag}>{inner}</{}>", tag.split(' ').next().unwrap_or(tag));
    let part = hostile_text().prop_map(str::to_owned).prop_recursive(3, 12, 3, move |inner| {
        let tag = prop::sample::select(vec!["b", "i", "code", "a href=x", "del", "sup", "span"]);
        let several = prop::collection::vec(inner, 1..4).prop_map(|parts| parts.concat());
        prop_oneof![
            4 => (tag, several).prop_map(move |(tag, inner)| enclosed(tag, &inner)),
            1 => Just("<br>".to_owned()),
            1 => Just("<img src=s alt='a *'>".to_owned()),
        ]
    });
    prop::collection::vec(part, 1..6).prop_map(|parts| parts.concat())
}

/// A page with valid HTML and any text.
fn sound_page() -> impl Strategy<Value = String> {
    let block = prop_oneof![
        4 => line().prop_map(|line| format!("<p>{line}</p>")),
        1 => line().prop_map(|line| format!("<h2>{line}</h2>")),
        1 => line().prop_map(|line| format!("<pre>{line}</pre>")),
        1 => Just("<hr>".to_owned()),
        1 => prop::collection::vec(line(), 4).prop_map(|cells| {
            format!("<table><tr><th>{}<th>{}<tr><td>{}<td>{}</table>", cells[0], cells[1], cells[2], cells[3])
        }),
    ];
    let blocks = block.prop_recursive(3, 16, 3, |inner| {
        let item = (line(), prop::collection::vec(inner.clone(), 0..2))
            .prop_map(|(line, inner)| format!("<li>{line}{}</li>", inner.concat()));
        let items = prop::collection::vec(item, 1..4).prop_map(|items| items.concat());
        prop_oneof![
            (prop::sample::select(vec!["ul", "ol", "ol start=7"]), items)
                .prop_map(|(tag, items)| format!("<{tag}>{items}</{}>", &tag[..2])),
            prop::collection::vec(inner.clone(), 1..3)
                .prop_map(|inner| format!("<blockquote>{}</blockquote>", inner.concat())),
            prop::collection::vec(inner, 1..3)
                .prop_map(|inner| format!("<details><summary>s</summary>{}</details>", inner.concat())),
        ]
    });
    prop::collection::vec(blocks, 1..4).prop_map(|blocks| blocks.concat())
}

fn page() -> impl Strategy<Value = String> {
    let tag = prop::sample::select(vec![
        "p",
        "div",
        "b",
        "i",
        "a href=x",
        "code",
        "pre",
        "ul",
        "ol",
        "li",
        "table",
        "tr",
        "td",
        "th",
        "h1",
        "h3",
        "br",
        "hr",
        "img src=s alt='a'",
        "blockquote",
        "span",
        "svg",
        "math",
        "noscript",
        "template",
        "select",
        "option",
        "button",
        "input type=checkbox",
        "dl",
        "dt",
        "dd",
        "sup",
        "del",
        "section hidden",
        "body",
        "html",
        "title",
        "textarea",
    ]);
    let part = prop_oneof![
        6 => hostile_text().prop_map(str::to_owned),
        1 => prop::sample::select(vec!["<!--", "-->"]).prop_map(str::to_owned),
        4 => tag.clone().prop_map(|tag| format!("<{tag}>")),
        2 => tag.prop_map(|tag| format!("</{}>", tag.split(' ').next().unwrap_or(tag))),
    ];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

/// Markdown as GitHub renders it.
fn rendered(markdown: &str) -> String {
    let mut options = comrak::Options::default();
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.render.r#unsafe = true;
    comrak::markdown_to_html(markdown, &options)
}

/// The letters and digits of a page's text, in order.
fn letters(html: &str) -> String {
    let mut in_tag = false;
    let html =
        ["&lt;", "&gt;", "&amp;", "&#0;"].iter().fold(html.to_owned(), |html, reference| html.replace(reference, " "));
    let text = html.chars().filter(|&c| {
        let shown = !in_tag && c != '<';
        in_tag = c == '<' || (in_tag && c != '>');
        shown
    });
    text.filter(|c| c.is_alphanumeric()).collect()
}

/// Whether a following script could become raw text of another element.
fn has_raw_text(html: &str) -> bool {
    ["<title>", "<textarea>", "<!--", "<noscript"].iter().any(|raw| html.contains(raw))
}

proptest! {
    #[test]
    fn markdown_has_the_text_of_the_page(html in sound_page()) {
        prop_assert_eq!(letters(&rendered(&whole(&html))), letters(&html));
    }

    #[test]
    fn conversion_is_stable(html in sound_page()) {
        let once = whole(&html);
        prop_assume!(!once.is_empty());
        prop_assert_eq!(whole(&rendered(&once)), once);
    }

    #[test]
    fn any_bytes_are_converted_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let (html, _) = decode(&bytes, None);
        let _ = whole(&html);
        let _ = convert(&html, &Options::default());
    }

    #[test]
    fn any_markup_is_converted_or_refused(html in page()) {
        let _ = whole(&html);
        let _ = convert(&html, &Options::default());
    }

    #[test]
    fn scripts_and_styles_are_never_in_the_markdown(before in page().prop_filter("raw text", |page| !has_raw_text(page)), after in page()) {
        let html = format!("{before}<p><script>xyzzy</script><style>xyzzy</style></p>{after}");
        prop_assert!(!whole(&html).contains("xyzzy"));
        prop_assert!(!convert(&html, &Options::default()).is_ok_and(|page| page.markdown.contains("xyzzy")));
    }
}
