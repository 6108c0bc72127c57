//! Conversion rules: one test for each.

use ragmaker_markdown::{Error, Options, PageType, Scope, convert};
use url::Url;

fn whole(html: &str) -> String {
    convert(html, &Options { base_url: None, scope: Scope::Whole }).map(|page| page.markdown).unwrap_or_default()
}

fn check(html: &str, markdown: &str) {
    assert_eq!(whole(html), markdown, "{html}");
}

#[test]
fn inline_markup() {
    check(
        "<p>a <b>b </b>c <i>d</i><i>e</i> <s>f</s> x<sup>2</sup> H<sub>2</sub>O</p>",
        "a **b** c *de* ~~f~~ x<sup>2</sup> H<sub>2</sub>O\n",
    );
    check("<p>one<br>two <code>a`b</code> <code>``</code></p>", "one\\\ntwo ``a`b`` ` `` `\n");
    check("<p>日本語の<b>「太字」</b>です。<em>强</em>\n调</p>", "日本語の<strong>「太字」</strong>です。*强*调\n");
    check("<p><em>a<strong>b</strong></em><strong><em>c</em></strong></p>", "*a**b***__*c*__\n");
    check("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>", "漢(kan)\n");
}

#[test]
fn words_in_different_styles_are_separated() {
    check(
        "<body><p><a href=/a>Survival</a><a href=/b>Co-op</a> <a href=/c>B</a><a href=/c>asil</a>",
        "[Survival](/a) [Co-op](/b) [B](/c)[asil](/c)\n",
    );
    check("<body><p><span class=brand>Merrell</span><span class=name>Moab 3</span>", "Merrell Moab 3\n");
    check("<body><p><span class=a><b>4.9</b></span><span class=b><i>120 reviews</i></span>", "**4.9** *120 reviews*\n");
    // An initial, one word in parts of one look, a punctuation mark, ideographs, code.
    check("<body><p><span class=cap>O</span><span class=rest>nce</span>", "Once\n");
    check("<body><p><span class=c1>low</span><span class=c1>er</span><b>ing</b>", "lower**ing**\n");
    check("<body><p><span class=name>Moab</span><span class=mark>, new</span>", "Moab, new\n");
    check("<body><p><span class=a>高</span><span class=b>潮</span>", "高潮\n");
    check("<body><p><code><span class=k>let</span><span class=n>x</span></code>", "`letx`\n");
}

#[test]
fn a_repeated_link_hidden_from_screen_readers_is_text() {
    check("<p><a href=/a aria-hidden=true>High water twice a day</a></p>", "[High water twice a day](/a)\n");
    check("<h2>High water twice a day<a href=#a aria-hidden=true>Link to this</a></h2>", "## High water twice a day\n");
    check("<p>High water twice <a href=/a aria-hidden=true>open_in_new</a></p>", "High water twice\n");
}

#[test]
fn text_is_escaped() {
    check(
        "<p># a</p><p>1. b</p><p>- c</p><p>+ d</p><p>&gt; e</p><p>===</p>",
        "\\# a\n\n1\\. b\n\n\\- c\n\n\\+ d\n\n\\> e\n\n===\n",
    );
    check(
        "<p>2*3*4 snake_case _x_ `t` [a](b) &lt;b&gt; &amp;amp; a\\*b ~~x~~</p>",
        "2\\*3\\*4 snake_case \\_x\\_ \\`t\\` [a\\](b) \\<b> \\&amp; a\\\\\\*b \\~\\~x\\~\\~\n",
    );
    check("<p>a<br># b<br>---</p>", "a\\\n\\# b\\\n\\---\n");
    check("<p>wow!<a href=/x>y</a></p>", "wow\\![y](/x)\n");
}

/// A no-break space is white space in Markdown, so the text after it could begin a list.
#[test]
fn text_after_a_no_break_space_begins_no_list() {
    for (text, escaped) in
        [("- a", "\\- a"), ("* a", "\\* a"), ("+ a", "\\+ a"), ("1. a", "1\\. a"), ("12) a", "12\\) a")]
    {
        for space in ["&nbsp;", "&nbsp; &nbsp;", " &nbsp;\n", "<b>&nbsp;</b>"] {
            check(&format!("<p>{space}{text}</p>"), &format!("{escaped}\n"));
            check(&format!("<p>x<br>{space}{text}</p>"), &format!("x\\\n{escaped}\n"));
            check(&format!("<ul><li>{space}{text}</ul>"), &format!("- {escaped}\n"));
        }
        let after = text.replace(' ', "&nbsp;");
        check(&format!("<p>{after}</p>"), &format!("{escaped}\n"));
    }
}

/// Text that is not markup by itself must not become markup together with the text after it.
#[test]
fn text_does_not_form_markup_with_the_text_after_it() {
    check("<p>[<code>]: x</code></p>", "[<code>\\]: x</code>\n");
    check("<p>a [<code>]: x</code></p>", "a [`]: x`\n");
    check("<p>a<br><br>[<code>]: x</code></p>", "a\n\n[<code>\\]: x</code>\n");
    check("<p>\\!<a href=/x>y</a></p>", "\\\\\\![y](/x)\n");
    check("<p>a *<br>b *<br><br>c</p>", "a \\*\\\nb *\n\nc\n");
    check("<p>----<br>a</p>", "----\\\na\n");
    check("<p><del>&lt;b</del><b><del>1. *</del>x</b></p>", "~~\\<b~~<strong><del>1. \\*</del>x</strong>\n");
}

#[test]
fn lists_nest_and_count() {
    check("<ol start=3><li>a<ul><li>b<li>c</ul><li>d</ol>", "3. a\n   - b\n   - c\n4. d\n");
    check("<ul><li><p>a</p><p>b</p></li><li>c</li></ul><ul><li>d</li></ul>", "- a\n\n  b\n\n- c\n\n* d\n");
    check("<ul><li><input type=checkbox checked> done<li><input type=checkbox> open</ul>", "- [x] done\n- [ ] open\n");
    check("<blockquote><p>a</p><blockquote>b</blockquote></blockquote>c", "> a\n>\n> > b\n\nc\n");
}

#[test]
fn a_long_list_of_links_is_a_list_to_its_end() {
    let base = Url::parse("https://example.com/a/long/way/down/to/the/sea/").unwrap();
    let page = format!("<ul>{}</ul>", "<li><a href=a>b</a>".repeat(10_000));
    let markdown = convert(&page, &Options { base_url: Some(&base), scope: Scope::Whole }).unwrap().markdown;
    assert!(markdown.len() > 2 * page.len());
    assert!(markdown.lines().all(|line| line.starts_with("- [b](https://example.com/a/")));
}

/// Each of these was once converted to Markdown that is parsed as something else.
#[test]
fn no_block_is_parsed_as_another_block() {
    check("<ul><li>a<ul><li></li><li>b</ul></ul>", "- a\n\n  -\n  - b\n");
    check("<p>a</p><ol start=7><li><ul><li>b</ul></ol>", "a\n\n7. - b\n");
    check("<ul><li>a</ul><ul><li><hr></ul>", "- a\n\n* ___\n");
    check("<p>---<br><br>x</p>", "\\---\n\nx\n");
    check("<table><tr><th>a<th><code>\\|</code></table>", "| a | <code>\\\\\\|</code> |\n| --- | --- |\n");
    check("<p><del>日本</del><b>*</b></p>", "~~日本~~<strong>\\*</strong>\n");
}

#[test]
fn code_keeps_every_space() {
    let code = "<div class='highlight highlight-source-rust'><pre><span class=k>fn</span> main() {\n\n    x\t= `a`;\n}\n</pre></div>";
    check(code, "```rust\nfn main() {\n\n    x\t= `a`;\n}\n```\n");
    check("<pre><code class=language-md>```\n* x\n```</code></pre>", "````md\n```\n* x\n```\n````\n");
    check("<ul><li>a<pre>b\n  c</pre></ul>", "- a\n\n  ```\n  b\n    c\n  ```\n");
    let gutter = "<table><tr><td><pre>1\n2\n3</pre></td><td><pre class='brush: js'>a\nb\nc</pre></td></tr></table>";
    check(gutter, "```js\na\nb\nc\n```\n");
    let one_line = "<table><tr><td class=gutter><pre>1</pre></td><td class=code><pre>a</pre></td></tr></table>";
    check(one_line, "```\na\n```\n");
    let numbered = "<table class=lang-c><tr><td class=blob-num data-line-number=1><td class=blob-code>a {<tr><td class=hljs-ln-numbers>2<td>  <b>b</b></table>";
    check(numbered, "```c\na {\n  b\n```\n");
    check("<pre><span class=lineno>1</span>a\n<span class=lineno>2</span>b</pre>", "```\na\nb\n```\n");
}

#[test]
fn tables() {
    check(
        "<table><thead><tr><th>A<th align=right>B<tbody><tr><td>a|b<td><p>x</p><p>y</p></table>",
        "| A | B |\n| --- | --: |\n| a\\|b | x<br>y |\n",
    );
    check(
        "<table><tr><td colspan=2>A<td rowspan=2>B<tr><td>c<td>d<tr><td>e</table>",
        "| A |  | B |\n| --- | --- | --- |\n| c | d |\n| e |\n",
    );
    check("<table><td>a<td>b<tr><td>c<td>d</table>", "| a | b |\n| --- | --- |\n| c | d |\n");
    check("<table><tr><td><h2>Layout</h2><p>text</td><td>more</td></tr></table>", "## Layout\n\ntext\n\nmore\n");
}

#[test]
fn links_and_images() {
    let base = Url::parse("https://example.com/a/").unwrap();
    let at = |html: &str| convert(html, &Options { base_url: Some(&base), scope: Scope::Whole }).unwrap().markdown;
    assert_eq!(
        at("<a href='b?utm_source=x&amp;c=1' title='t \"q\"'>d [e]</a>"),
        "[d \\[e\\]](https://example.com/a/b?c=1 \"t \\\"q\\\"\")\n"
    );
    assert_eq!(at("<base href=/z/><a href=b>x</a>"), "[x](https://example.com/z/b)\n");
    assert_eq!(
        at("<img src='data:image/gif;base64,R0' data-src=i.png alt='a ]'>"),
        "![a \\]](https://example.com/a/i.png)\n"
    );
    assert_eq!(
        at("<img srcset='s.png 1x, l.png 2x' alt=a>x<img src='data:,'>"),
        "![a](https://example.com/a/l.png)x\n"
    );
    assert_eq!(
        at(
            "<img src=placeholder.gif data-src=real.jpg><picture><source srcset='s.webp 1x, l.webp 2x'><img alt=p></picture>"
        ),
        "![](https://example.com/a/real.jpg)![p](https://example.com/a/l.webp)\n"
    );
    assert_eq!(at("<a href='https://e.org/x?a=1'>https://e.org/x?a=1</a>"), "<https://e.org/x?a=1>\n");
    assert_eq!(at("<a href='mailto:a@e.org'>a@e.org</a>"), "<a@e.org>\n");
    assert_eq!(
        at("<a href='javascript:x()'>no</a> <a href=/c><div><h3>Card</h3><p>text</p></div></a>"),
        "no\n\n### [Card](https://example.com/c)\n\ntext\n"
    );
    assert_eq!(at("<h2>Title<a class=headerlink href=#title>¶</a></h2>"), "## Title\n");
}

#[test]
fn formulas_become_tex() {
    let katex = "<span class=katex><span class=katex-mathml><math><semantics><mrow><mi>x</mi></mrow><annotation encoding='application/x-tex'>x^2</annotation></semantics></math></span><span class=katex-html aria-hidden=true>x2</span></span>";
    check(&format!("<p>so {katex}.</p>"), "so $x^2$.\n");
    check("<script type='math/tex; mode=display'>a_1</script>", "$$a_1$$\n");
    let drawn = "<span class=MathJax_Preview>x</span><span class=MathJax><nobr aria-hidden=true>x2</nobr><span><math><mi>x</mi><mn>2</mn></math></span></span>";
    check(&format!("<p>so {drawn}<script type='math/tex'>x^2</script>.</p>"), "so $x^2$.\n");
    check("<math alttext='\\pi r^2'><mi>π</mi></math>", "$\\pi r^2$\n");
    check("<math><mi>π</mi></math>", "π\n");
}

#[test]
fn footnotes_are_paired() {
    let github = "<p>High<sup><a href='#fn-1' id='fnref-1' data-footnote-ref>1</a></sup>: <i>twice</i>.</p><section data-footnotes>\
        <ol><li id='fn-1'><p>A day. <a href='#fnref-1' data-footnote-backref>↩</a></p><p>Mostly.</p></li></ol></section>";
    check(github, "High[^1]\\: *twice*.\n\n[^1]: A day.\n\n    Mostly.\n");
    let wiki = "<p>a<sup id=ref-a class=reference><a href='#note-a'><span>[</span>3<span>]</span></a></sup> b<sup id=ref-b><a href='#note-b'>[4]</a></sup></p>\
        <ol class=references><li id=note-a><span><b><a href='#ref-a'>^</a></b></span> <span>One.</span></li>\
        <li id=note-b><a href='#ref-b'>^</a> Two.</li></ol>";
    check(wiki, "a[^3] b[^4]\n\n[^3]: One.\n\n[^4]: Two.\n");
    // A mark that is not a label, and a paragraph as the note.
    check("<p>x<a href='#n' id=r>*</a> y</p><p id=n><a href='#r'>*</a> Note.</p>", "x[^1] y\n\n[^1]: Note.\n");
    check("<p>x<a href='#n' id=r>1</a>é y</p><p id=n><a href='#r'>1</a> Note.</p>", "x[^1]é y\n\n[^1]: Note.\n");
    // A link without a link back stays a link.
    check("<p>x<a href='#n'>1</a></p><ul><li id=n>Note.</ul>", "x[1](#n)\n\n- Note.\n");
}

#[test]
fn definitions_and_details() {
    check(
        "<dl><dt>ebb<dd>falling<dd><p>low</p><dt>flood<dd>rising</dl>",
        "**ebb**\n\nfalling\n\nlow\n\n**flood**\n\nrising\n",
    );
    check(
        "<details><summary><b>Why</b> a &lt; b?</summary>Because.<ul><li>x</ul></details><p>after",
        "<details>\n<summary>Why a &lt; b?</summary>\n\nBecause.\n\n- x\n\n</details>\n\nafter\n",
    );
    check("<details><summary>Alone</summary></details>", "**Alone**\n");
    check("<del><p>a</p><p>b</p></del>c", "<del>\n\na\n\nb\n\n</del>\n\nc\n");
}

/// Unknown elements of a page are layout; those of a fragment are content.
#[test]
fn elements_of_a_fragment_that_markdown_lacks_stay_html() {
    check("<p>see <my-map at='1 | 2'>the <b>map</b></my-map>", "see <my-map at=\"1 | 2\">the **map**</my-map>\n");
    check("<Warning>\n*bar* &lt;b\n</Warning>", "<Warning>\n*bar* &lt;b\n</Warning>\n");
    check("<p>foo <a href='/a?b&amp;c' title='d\ne'></a>", "foo <a href=\"/a?b&amp;c\" title=\"d&#10;e\"></a>\n");
    check("<p><a href='a\\b'>c</a>", "<a href=\"a\\b\">c</a>\n");
    check("<p><a href=b title='c\nd'>e</a>", "[e](b \"c&#10;d\")\n");
    // No scripts, and nothing that Markdown parses as the start of a block.
    check("<p>a <x-y onclick=z()>b</x-y> <x-y style=c>d</x-y> <x-y #source='<script>'>e</x-y>", "a b d e\n");
    check("<param>a</param>", "a\n");
    let page = "<html><body><p>see <my-map>the map</my-map> <a href=/x></a></p><x-card>a</x-card></body></html>";
    check(page, "see the map [](/x)\n\na\n");
    let main = convert("<p>A line of text that stands <my-map>here</my-map>, long enough.</p>", &Options::default());
    assert_eq!(main.unwrap().markdown, "A line of text that stands here, long enough.\n");
}

#[test]
fn invisible_content_is_omitted() {
    check(
        "<p>a</p><p hidden>b</p><p style='color:red; display : none'>c</p><template>d</template><svg><title>e</title></svg><script>f</script><style>g</style><p>and a line more</p>",
        "a\n\nand a line more\n",
    );
    check("<noscript><p>needs script</p></noscript>", "needs script\n");
    // In a page with scripts, the frame ends here; in the standard, it never ends.
    check("<noscript><iframe src=a /></noscript><p>a</p><noscript><iframe>b</iframe>c</noscript><p>d", "a\n\nd\n");
    // Content that a script shows after moving it into place.
    check("<p>a and b</p><div hidden id=S:0>c</div><div hidden id=0>d</div>", "a and b\n\nc\n");
    check(
        "<p>a<SCRIPT>'</b>' <x></ScRiPt >b<style>c</ style>d</style>e<script><!-- <script></script> f --></script>g",
        "abeg\n",
    );
    check("<!-- <script> --><p>a</p><script data-x='>'>b</script><title>c<script>d</title><p>e", "a\n\ne\n");
    check("<b>x<p>y</b>z</p>", "**x**\n\n**y**z\n");
}

#[test]
fn metadata_is_read() {
    let html = r#"<html lang="de-AT"><head><title>Ebbe | Meer</title><meta property="og:site_name" content="Meer">
        <link rel="canonical" href="/ebbe"><meta name="description" content=" Über  Ebbe ">
        <script type="application/ld+json">{"@graph":[{"@type":"NewsArticle","author":[{"name":"A"},{"name":"B"}],"datePublished":"2026-01-02"}]}</script></head><body><p>Text</p></body></html>"#;
    let base = Url::parse("https://example.at/x").unwrap();
    let page = convert(html, &Options { base_url: Some(&base), scope: Scope::Whole }).unwrap();
    assert_eq!(page.metadata.title, "Ebbe");
    assert_eq!(page.metadata.lang.as_deref(), Some("de-AT"));
    assert_eq!(page.metadata.site_name.as_deref(), Some("Meer"));
    assert_eq!(page.metadata.author.as_deref(), Some("A, B"));
    assert_eq!(page.metadata.published.as_deref(), Some("2026-01-02"));
    assert_eq!(page.metadata.description.as_deref(), Some("Über Ebbe"));
    assert_eq!(page.metadata.url.as_deref(), Some("https://example.at/ebbe"));
    assert_eq!(page.words, 1);
}

/// A page whose content is loaded by a script.
fn shell(head: &str) -> String {
    format!("<html><head><title>Tides</title>{head}</head><body><div id=app>Loading</div></body></html>")
}

const ANSWER: &str = "The moon pulls at the water on its side of the earth and at the earth itself, so that the sea \
    rises on both sides. As the earth turns, most coasts pass through both rises once a day, and the sun adds its share.";

#[test]
fn structured_data_is_used_for_a_page_without_text() {
    let main = |html: &str| convert(html, &Options::default()).map(|page| page.markdown);
    let forum = shell(&format!(
        r#"<script type="application/ld+json">{{"@graph":[{{"@type":"WebSite","name":"Sea","description":"{ANSWER}"}},
        {{"@type":"QAPage","mainEntity":{{"@type":"Question","name":"Why two tides?","text":"Is it <b>only</b> the moon? A &lt; B",
        "acceptedAnswer":{{"@type":"Answer","text":"{ANSWER}"}}}}}}]}}</script>"#
    ));
    assert_eq!(main(&forum).unwrap(), format!("## Why two tides?\n\nIs it **only** the moon? A < B\n\n{ANSWER}\n"));
    let state = format!(
        r#"{{"props":{{"id":7,"i18n":{{"a":"{ANSWER}"}},"post":{{"body":"<p>{ANSWER}</p><script>x<\/script>","title":"Why","ok":true}}}},"page":"/[id]"}}"#
    );
    for script in [
        format!("<script id=__NEXT_DATA__ type=application/json>{state}</script>"),
        format!("<script>window.__NUXT__ = {state};(function(){{}})()</script>"),
    ] {
        assert_eq!(main(&shell(&script)).unwrap(), format!("## Why\n\n{ANSWER}\n"));
    }
    let described = shell(&format!(
        r#"<meta property="og:title" content="Why"><meta property="og:description" content="{ANSWER}">"#
    ));
    assert_eq!(main(&described).unwrap(), format!("# Why\n\n{ANSWER}\n"));
    // Settings and code are not text, and existing content is not replaced.
    let settings = r#"<script type=application/json>{"a":"function() { return a.b.c.d(); } var x = 1; y();","b":["x-y.z"]}</script>"#;
    assert_eq!(main(&shell(settings)).unwrap(), "Loading\n");
    assert!(
        !main(&MANUAL.replace("<head>", &format!("<head><meta name=description content='{ANSWER}'>")))
            .unwrap()
            .contains("moon")
    );
}

const MANUAL: &str = "<html><head><title>Gauges - Manual</title></head><body><header><a href=/>Home</a><a href=/in>Log in</a></header>
    <nav class=sidebar><ul><li><a href=/a>Install</a><li><a href=/b>Configure</a><li><a href=/c>Gauges</a></ul></nav>
    <main><article><h1>Gauges</h1><p>A gauge measures the height of the water at a fixed place, several times an hour, and sends what it measures.</p>
    <h2>Units</h2><p>Heights are in metres above chart datum; times are in UTC, and every reading carries both of them.</p>
    <pre><code class=language-sh>gauge list --all</code></pre></article></main>
    <footer><p>© 2026 The Example Company. All rights reserved.</p><a href=/privacy>Privacy</a></footer></body></html>";

#[test]
fn metadata_is_bounded() {
    let long = "語".repeat(80_000);
    let meta = |name: &str| format!("<meta property=\"{name}\" content=\"{long}\">");
    let names = ["og:title", "og:site_name", "author", "date", "description", "og:locale"].map(meta).join("");
    let html = format!("{names}<meta property=og:url content=\"https://x.example/{long}\"><p>Text.");
    let page = convert(&html, &Options { scope: Scope::Whole, ..Options::default() }).unwrap();
    let texts = [
        page.metadata.site_name,
        page.metadata.author,
        page.metadata.published,
        page.metadata.description,
        page.metadata.lang,
    ];
    for text in texts.into_iter().map(Option::unwrap).chain([page.metadata.title]) {
        assert_eq!(text.chars().count(), 500);
    }
    assert_eq!(page.metadata.url, None);
    let heading = format!("<h1>a {long}</h1><p>Text.");
    let whole = Options { scope: Scope::Whole, ..Options::default() };
    assert_eq!(convert(&heading, &whole).unwrap().metadata.title.chars().count(), 500);
}

#[test]
fn the_main_content_is_found() {
    let page = convert(MANUAL, &Options::default()).unwrap();
    assert!(
        page.markdown.contains("# Gauges\n\nA gauge measures")
            && page.markdown.contains("```sh\ngauge list --all\n```")
    );
    for boilerplate in ["Log in", "Configure", "rights reserved", "Privacy"] {
        assert!(!page.markdown.contains(boilerplate), "{}", page.markdown);
    }
}

#[test]
fn each_failure_has_its_error() {
    let with = |html: &str, scope| convert(html, &Options { base_url: None, scope }).map(|page| page.markdown);
    assert_eq!(with("<script>x</script>", Scope::Whole), Err(Error::EmptyContent));
    assert_eq!(with("<p>x", Scope::Selector("b")), Err(Error::NothingSelected));
    assert!(matches!(with("<p>x", Scope::Selector("[")), Err(Error::BadSelector(_))));
    assert_eq!(with("<div><p class=a>x<p>y</div>", Scope::Selector("p.a")), Ok("x\n".into()));
    assert_eq!(with("<ul><li>x<li>y<li>z</ul>", Scope::Selector("li:nth-child(2)")), Ok("- y\n".into()));
    assert_eq!(PageType::default(), PageType::Article);
}

/// Deep, wide and broken pages. Any recursion over the depth of the page would overflow the stack of a test.
#[test]
fn deep_wide_and_broken_pages_are_converted() {
    // Browsers stop at depth 512, but a hostile page can be deeper.
    let deep = format!("{}x", "<div>".repeat(100_000));
    assert!(whole(&deep).contains('x') && convert(&deep, &Options::default()).is_ok());
    for (open, close) in [
        ("<div>", "</div>"),
        ("<b><i>", "</i></b>"),
        ("<ul><li>", "</ul>"),
        ("<blockquote>", ""),
        ("<table><tr><td>", ""),
        ("<a href=x>", "</p>"),
        ("<svg>", "</svg>"),
        ("<b><p>", "</b>"),
    ] {
        let html = format!("{}x{}", open.repeat(5_000), close.repeat(5_000));
        assert_eq!(whole(&html).contains('x'), open != "<svg>", "{open}");
        let _ = convert(&html, &Options::default());
    }
}

#[test]
fn the_end_tag_of_any_heading_ends_a_heading() {
    check("<h2>Documentation</h1><p>Lists</p>", "## Documentation\n\nLists\n");
    check("<body><div><h2>A</h3>b</div><h1>C</h2>d</body>", "## A\n\nb\n\n# C\n\nd\n");
}

/// The tokenizer restarts when thousands of elements are open, which must not change the result.
#[test]
fn unclosed_elements_do_not_change_the_text_around_them() {
    let many = "<i>".repeat(20_000);
    let page = format!("<div class=a><noscript><ul><li>{many}x<td>y</ul><p>z</noscript></div><p>after <b>it</b>");
    assert_eq!(whole(&page), "after **it**\n");
    let shown = whole(&page.replace("noscript", "section"));
    assert!(shown.starts_with("- ") && shown.ends_with("\n\nz\n\nafter **it**\n"), "{shown}");
    let selected =
        |css| convert(&page, &Options { base_url: None, scope: Scope::Selector(css) }).map(|page| page.markdown);
    assert_eq!(selected(".a p"), Ok("z\n".into()));
    assert_eq!(selected("p > b"), Ok("**it**\n".into()));
}
