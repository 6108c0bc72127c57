//! Code blocks: keeps white space, recognises the language, removes line numbers.

use super::Renderer;
use crate::{
    tag::{Attr, Tag},
    tree::{Id, ROOT},
};

impl Renderer<'_> {
    /// Writes a `<pre>` as a fenced block.
    pub(super) fn code_block(&mut self, id: Id) {
        // mdBook before 0.5 writes a `<pre>` around that of each example.
        if let Some(inner) = self.only(Tag::Pre, id) {
            return self.code_block(inner);
        }
        let code = self.only(Tag::Code, id).unwrap_or(id);
        let text = self.code_text(code);
        if text.trim().is_empty() && self.tree.descendants(id).any(|id| self.tree.tag(id) == Tag::Img) {
            return self.blocks(id);
        }
        // The line end right after `<pre>` is not part of it.
        let opens_with_text =
            code == id && self.children(id).next().is_some_and(|first| self.tree.tag(first) == Tag::Text);
        let text = if opens_with_text { text.strip_prefix('\n').unwrap_or(&text) } else { &text };
        let text = if self.everything { text } else { text.trim_end() };
        if is_gutter(text) || (!self.everything && text.trim().is_empty()) {
            return;
        }
        self.fenced(text, &self.language(id));
    }

    /// The element of a kind that is the whole content of a `<pre>`. Programs that indent XHTML, as those that make
    /// books do, put line ends and white space around it.
    fn only(&self, tag: Tag, pre: Id) -> Option<Id> {
        let is_blank = |id: &Id| self.tree.tag(*id) == Tag::Text && self.tree.text(*id).trim().is_empty();
        let mut content = self.children(pre).filter(|id| !is_blank(id));
        content.next().filter(|&first| self.tree.tag(first) == tag && content.next().is_none())
    }

    /// Writes lines of code between fences that are longer than any run of backticks in it. Empty code has no
    /// line, a line break alone is an empty one.
    pub(super) fn fenced(&mut self, text: &str, language: &str) {
        self.last_list = None;
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        self.lines.line(&format!("{fence}{language}"));
        let lines = text.strip_suffix('\n').unwrap_or(text);
        for line in lines.split('\n').filter(|_| !text.is_empty()) {
            self.lines.line(line);
        }
        self.lines.block(&fence);
    }

    /// The text of code as it is shown: line breaks for `<br>` and blocks, gutters left out.
    pub(super) fn code_text(&self, id: Id) -> String {
        let mut out = String::new();
        self.collect_code(id, &mut out);
        out
    }

    fn collect_code(&self, id: Id, out: &mut String) {
        let mut beside_code = false;
        for child in self.children(id) {
            let is_code = self.tree.tag(child) == Tag::Code;
            if is_code && beside_code && self.tree.tag(id) == Tag::Pre && !out.ends_with('\n') {
                out.push('\n');
            }
            beside_code = is_code;
            match self.tree.tag(child) {
                Tag::Text => out.push_str(self.tree.text(child)),
                Tag::Br => out.push('\n'),
                // What copies the code.
                Tag::Button if !self.everything => {}
                Tag::A if self.is_marked_anchor(child) => {}
                _ if self.is_line_number(child) => {}
                tag if tag.is_block() => {
                    if !out.is_empty() && !out.ends_with('\n') {
                        out.push('\n');
                    }
                    self.collect_code(child, out);
                    if !out.ends_with('\n') {
                        out.push('\n');
                    }
                }
                _ => self.collect_code(child, out),
            }
        }
    }

    /// Whether an element only numbers lines.
    pub(super) fn is_line_number(&self, id: Id) -> bool {
        self.tree.attr(id, Attr::Class).is_some_and(|class| {
            class.split_ascii_whitespace().any(|class| {
                matches!(
                    class.to_ascii_lowercase().as_str(),
                    "lineno"
                        | "linenos"
                        | "ln"
                        | "lnt"
                        | "line-number"
                        | "line-numbers"
                        | "line-numbers-rows"
                        | "line-numbers-wrapper"
                        | "gutter"
                        | "linenumber"
                        | "linenumbers"
                        | "blob-num"
                        | "rouge-gutter"
                        | "hljs-ln-numbers"
                )
            })
        }) && self.tree.text_content(id).chars().all(|c| c.is_ascii_digit() || c.is_whitespace() || c == '|')
    }

    /// Whether a block beside code numbers its lines, as `VitePress` writes it.
    pub(super) fn numbers_lines(&self, id: Id) -> bool {
        self.is_line_number(id) && !self.plain_text(id).is_empty()
    }

    /// The language that the code's classes, or those right around it, name.
    pub(super) fn language(&self, id: Id) -> String {
        let code = self.children(id).find(|&child| self.tree.tag(child) == Tag::Code);
        let around =
            self.tree.ancestors(id).take(3).filter(|&ancestor| ancestor != ROOT && self.is_nearly_all_of(ancestor, id));
        code.into_iter()
            .chain([id])
            .chain(around)
            .find_map(|id| {
                let attr = |name| self.tree.attr(id, name).filter(|name| is_language(name));
                attr(Attr::DataLang)
                    .or_else(|| attr(Attr::DataLanguage))
                    .map(str::to_owned)
                    .or_else(|| self.tree.attr(id, Attr::Class).and_then(language_in))
                    .or_else(|| self.plain_language(id))
                    .or_else(|| attr(Attr::Lang).filter(|_| self.tree.tag(id) == Tag::Pre).map(str::to_owned))
            })
            .or_else(|| self.language_of_tokens(id).map(str::to_owned))
            // The signatures of Javadoc before Java 9.
            .or_else(|| self.is_block_list(self.tree.parent(id)).then(|| "java".to_owned()))
            .unwrap_or_default()
    }

    /// The language that is a class of the code itself, without a prefix.
    fn plain_language(&self, id: Id) -> Option<String> {
        let classes = self.tree.attr(id, Attr::Class).filter(|_| matches!(self.tree.tag(id), Tag::Pre | Tag::Code))?;
        classes.split_ascii_whitespace().find(|class| PLAIN.contains(class)).map(str::to_owned)
    }

    /// The language of code that has no name, by how its tokens are marked: YARD names Ruby's identifiers, as in
    /// `rubyid_new`, and ocamldoc what a signature declares, as in `id="VALadd"`.
    fn language_of_tokens(&self, id: Id) -> Option<&'static str> {
        const DECLARED: [&str; 5] = ["VAL", "TYPE", "EXCEPTION", "MODULE", "CLASS"];
        let attr = |id, name| self.tree.attr(id, name).unwrap_or_default();
        let declares = |id: Id| DECLARED.iter().any(|kind| attr(id, Attr::Id).starts_with(kind));
        self.tree.descendants(id).take(64).find_map(|token| {
            let mut classes = attr(token, Attr::Class).split_ascii_whitespace();
            if self.tree.tag(token) != Tag::Span {
                None
            } else if classes.clone().any(|class| class.starts_with("rubyid_")) {
                Some("ruby")
            } else {
                (classes.any(|class| class == "keyword") && declares(self.tree.parent(token))).then_some("ocaml")
            }
        })
    }

    /// Whether `outer` has hardly more content than `inner`: at most one other piece of code, such as line numbers.
    fn is_nearly_all_of(&self, outer: Id, inner: Id) -> bool {
        let inside = self.tree.subtree(inner);
        let is_other_code = |&id: &Id| self.tree.tag(id) == Tag::Pre && !inside.contains(&id);
        self.tree.subtree(outer).len() <= inside.len() + 64
            && self.tree.descendants(outer).filter(is_other_code).count() <= 1
    }
}

/// The languages whose names are taken as classes of code, as rustdoc (`rust rust-example-rendered`) and older
/// highlighters write them.
const PLAIN: [&str; 30] = [
    "bash",
    "c",
    "clojure",
    "cpp",
    "csharp",
    "css",
    "dart",
    "elixir",
    "erlang",
    "go",
    "haskell",
    "html",
    "java",
    "javascript",
    "json",
    "kotlin",
    "lua",
    "perl",
    "php",
    "python",
    "r",
    "ruby",
    "rust",
    "scala",
    "sql",
    "swift",
    "toml",
    "typescript",
    "xml",
    "yaml",
];

/// Whether `text` is a column of line numbers.
pub(super) fn is_gutter(text: &str) -> bool {
    let mut lines = text.split_whitespace();
    let Some(Ok(first)) = lines.next().map(str::parse::<u32>) else { return false };
    let mut expected = first;
    let counted = lines.all(|line| {
        expected = expected.saturating_add(1);
        line.parse() == Ok(expected)
    });
    counted && expected > first + 1
}

fn is_language(name: &str) -> bool {
    !name.is_empty()
        && name.len() < 32
        && !matches!(name, "none" | "plaintext" | "default" | "text" | "nohighlight" | "notranslate")
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '+' | '#' | '-' | '_' | '.'))
}

fn language_in(class: &str) -> Option<String> {
    const PREFIXES: [&str; 5] = ["language-", "lang-", "highlight-source-", "highlight-text-", "highlight-"];
    let prefixed = class.split_ascii_whitespace().find_map(|class| {
        PREFIXES.iter().find_map(|prefix| class.strip_prefix(prefix)).filter(|name| !name.is_empty() && *name != "none")
    });
    // `brush: js; toolbar: false`, `sourceCode python`, `hljs rust`
    let classes: Vec<&str> = class.split([' ', '\t', '\n', ';']).filter(|class| !class.is_empty()).collect();
    let after = |word: &str| {
        let at = classes.iter().position(|class| *class == word)?;
        classes.get(at + 1).filter(|name| is_language(name)).copied()
    };
    let name = prefixed.or_else(|| after("brush:")).or_else(|| after("sourceCode")).or_else(|| after("hljs"))?;
    let plain = !name.contains(['`', '\n']) && !matches!(name, "plaintext" | "default" | "none");
    plain.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{
        super::{rendered, rendered_content},
        *,
    };

    #[test]
    fn an_empty_code_block_has_no_line() {
        assert_eq!(rendered("<pre></pre>"), "```\n```\n");
        assert_eq!(rendered("<pre>\n</pre>"), "```\n```\n");
        assert_eq!(rendered("<pre><code>\n</code></pre>"), "```\n\n```\n");
        assert_eq!(rendered("<ul><li>a<pre></pre></ul>"), "- a\n\n  ```\n  ```\n");
    }

    #[test]
    fn blanks_around_the_only_code_are_not_part_of_it() {
        let expected = "```\nif x:\n    y\n```\n";
        for html in ["<pre>\n      <code>if x:\n    y</code>\n    </pre>", "<pre> <code>if x:\n    y</code></pre>"] {
            assert_eq!((rendered(html), rendered_content(html)), (expected.to_owned(), expected.to_owned()), "{html}");
        }
        assert_eq!(rendered("<pre>  <code>a</code>\n  <code>b</code></pre>"), "```\n  a\n  b\n```\n");
        assert_eq!(rendered("<pre>  <code>a</code>b</pre>"), "```\n  ab\n```\n");
    }

    #[test]
    fn the_marks_of_tokens_tell_the_language() {
        let language = |html: &str| rendered(html).split('\n').next().unwrap().to_owned();
        assert_eq!(language("<pre class=code><span class='id identifier rubyid_new'>new</span></pre>"), "```ruby");
        assert_eq!(language("<pre><span id=VALadd><span class=keyword>val</span> add</span> : int</pre>"), "```ocaml");
        assert_eq!(language("<pre><span id=top><span class=keyword>val</span></span></pre>"), "```");
        assert_eq!(language("<pre id=VALUES><code class=rubyid_new>a</code></pre>"), "```");
    }

    #[test]
    fn code_in_code_is_one_block() {
        let page = "<pre><pre class=playground><code class='language-rust edition2021'>a\nb</code></pre></pre>";
        assert_eq!(rendered(page), "```rust\na\nb\n```\n");
        assert_eq!(rendered("<pre>a<pre>b</pre></pre>"), "```\na\nb\n```\n");
    }

    #[test]
    fn a_column_of_line_numbers_is_no_code() {
        let page = "<table><tr><td><pre><code><span class=lnt>1\n</span><span class=lnt>2\n</span></code></pre>\
            <td><pre><code class=language-go>a\nb</code></pre></table>";
        assert_eq!(rendered_content(page), "```go\na\nb\n```\n");
    }

    #[test]
    fn code_in_a_table_with_line_numbers_has_its_language() {
        let table = "<table class=rouge-table><tr><td class='rouge-gutter gl'><pre class=lineno>1\n2\n3\n</pre>\
            <td class=rouge-code><pre>a\nb\nc\n</pre></table>";
        for page in [
            // kramdown, and the tag `highlight` of Liquid.
            format!(
                "<div class='language-ruby highlighter-rouge'><div class=highlight><pre class=highlight><code>{table}</code></pre></div></div>"
            ),
            format!("<div class='language-ruby highlighter-rouge'><div class=highlight>{table}</div></div>"),
            format!(
                "<figure class=highlight><pre><code class=language-ruby data-lang=ruby>{table}</code></pre></figure>"
            ),
        ] {
            assert_eq!(rendered_content(&page), "```ruby\na\nb\nc\n```\n", "{page}");
        }
        let others = "<div class=language-ruby><pre>a</pre><pre>b</pre><pre>c</pre></div>";
        assert!(!rendered_content(others).contains("ruby"));
    }

    #[test]
    fn line_numbers_beside_code_are_no_text() {
        let page = "<div class=language-js><pre><code>a\nb</code></pre><div class=line-numbers-wrapper aria-hidden=true>\
            <span class=line-number>1</span><br><span class=line-number>2</span><br></div></div>";
        let expected = "```js\na\nb\n```\n";
        assert_eq!((rendered(page).as_str(), rendered_content(page).as_str()), (expected, expected));
        assert_eq!(rendered("<div class=gutter><img src=a alt=b></div><div class=gutter>c</div>"), "![b](a)\n\nc\n");
    }

    #[test]
    fn an_empty_code_block_is_no_content() {
        assert_eq!(rendered_content("a<blockquote><pre></pre></blockquote>b"), "a\n\nb\n");
        assert_eq!(rendered_content("<details><summary>a</summary><pre><code>\n</code></pre></details>"), "**a**\n");
        assert_eq!(rendered_content("<blockquote><pre>a</pre></blockquote>"), "> ```\n> a\n> ```\n");
    }

    #[test]
    fn languages_are_those_of_classes() {
        for (class, language) in
            [("language-rust", "rust"), ("brush: js; toolbar", "js"), ("hljs c++", "c++"), ("lang-none", "")]
        {
            assert_eq!(language_in(class).unwrap_or_default(), language, "{class}");
        }
    }

    #[test]
    fn a_class_may_be_the_language_itself() {
        assert_eq!(rendered("<pre class='rust rust-example-rendered'><code>x</code></pre>"), "```rust\nx\n```\n");
        assert_eq!(rendered("<pre class='code wide'>x</pre>"), "```\nx\n```\n");
        // A page may be called so.
        assert_eq!(rendered("<div class=python><pre>x</pre></div>"), "```\nx\n```\n");
    }

    #[test]
    fn a_button_is_no_code_and_code_beside_code_begins_a_line() {
        assert_eq!(rendered_content("<pre><code>a()</code><button>copy</button></pre>"), "```\na()\n```\n");
        assert_eq!(rendered("<pre><code class=mjs>a</code><code class=cjs>b</code></pre>"), "```\na\nb\n```\n");
        assert_eq!(rendered("<pre><code>a</code> <code>b</code></pre>"), "```\na b\n```\n");
    }

    #[test]
    fn a_column_of_numbers_is_a_gutter() {
        assert!(is_gutter("7\n8\n9") && !is_gutter("1") && !is_gutter("1\n3") && !is_gutter(""));
    }
}
