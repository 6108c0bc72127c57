//! Blocks: headings, code, quotes, lists, tables, details.

use super::{
    Renderer,
    escape::Place,
    inline::{Inline, Mark},
    lines::Container,
};
use crate::{tag::Tag, tree::Id};

impl Renderer<'_> {
    /// Writes a block element.
    pub(super) fn block(&mut self, id: Id) {
        let tag = self.tree.tag(id);
        if let Some(label) = self.labels.get(&id) {
            self.label(label);
        }
        if let Some(label) = self.notes.notes.remove(&id) {
            self.lines.open(&Container::Note(&label));
            self.last_list = None;
            self.item(id);
            self.lines.close();
            return;
        }
        if let Some(level) = tag.heading_level() {
            return self.heading(id, level);
        }
        match tag {
            // At the start of the content, and after another one, it separates nothing.
            Tag::Hr if !self.everything && self.lines.is_separated() => {}
            Tag::Hr => {
                self.lines.block(if self.lines.at_marker() { "___" } else { "---" });
                self.last_list = None;
            }
            Tag::Pre | Tag::Listing | Tag::Xmp | Tag::Plaintext => self.code_block(id),
            Tag::Blockquote if self.is_indented(id) => self.blocks(id),
            Tag::Blockquote => {
                self.last_list = None;
                self.contain(&Container::Quote, id);
            }
            Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir => self.list(id),
            // An item without a list.
            Tag::Li => self.contain(&Container::Item("- "), id),
            Tag::Div | Tag::Dt | Tag::P if let Some(language) = self.language_of_signature(id) => {
                let text = self.code_text(id).replace('\u{A0}', " ");
                let text = text.trim_end().trim_end_matches("[source]");
                let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
                let indent = lines.iter().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
                let lines: Vec<&str> = lines.into_iter().map(|line| line.get(indent..).unwrap_or(line)).collect();
                self.fenced(&lines.join("\n"), language);
            }
            Tag::Div | Tag::P | Tag::Table if let Some((code, language)) = self.boxed_code(id) => {
                self.fenced(&code, language);
            }
            Tag::Div if self.numbers_lines(id) => {}
            Tag::Div if self.is_title(id) => self.heading(id, 1),
            Tag::Div | Tag::P if let Some(tex) = self.delimited_formula(id) => self.lines_of(&tex),
            Tag::Div if let Some(lines) = self.fragment(id) => self.fenced(&lines.join("\n"), ""),
            Tag::Div if self.is_grid(id) => self.grid(id),
            Tag::Div if self.html_block(id) => {}
            // Nim writes signatures as code blocks.
            Tag::Dt if !self.everything && self.holds_code_block(id) => self.blocks(id),
            // gi-docgen writes summaries of nothing.
            Tag::Summary if !self.everything && self.tree.tag(self.tree.parent(id)) != Tag::Details => self.blocks(id),
            Tag::Dt | Tag::Summary => {
                let mut inline = Inline::new();
                inline.open(Mark::Strong);
                if self.is_signature(id) {
                    inline.code(&self.signature(id), false);
                } else {
                    self.inline_children(id, &mut inline, Place::Heading);
                }
                inline.close();
                let text = self.write(inline, Place::Paragraph);
                self.lines_of(&text);
            }
            Tag::Table => self.table(id),
            Tag::Details => self.details(id),
            Tag::Del | Tag::S | Tag::Strike if self.has_content(id) => {
                self.lines_of("<del>");
                self.blocks(id);
                self.lines_of("</del>");
            }
            Tag::A if self.link.is_none() && self.leads_away(id) => {
                self.link = Some(id);
                self.blocks(id);
                self.link = None;
            }
            _ => self.blocks(id),
        }
    }

    /// Writes the label of a tab before what it shows.
    pub(super) fn label(&mut self, label: &str) {
        let mut inline = Inline::new();
        inline.open(Mark::Strong);
        inline.text(label);
        inline.close();
        let text = self.write(inline, Place::Paragraph);
        self.lines_of(&text);
    }

    /// Writes a disclosure element as HTML around Markdown; one without a summary or content as blocks, and one
    /// whose summary is a heading as a section.
    fn details(&mut self, id: Id) {
        let summary = self.children(id).find(|&child| self.tree.tag(child) == Tag::Summary && self.has_content(child));
        let has_rest = self.children(id).any(|child| Some(child) != summary && self.shows(child));
        match summary {
            Some(summary) if !self.everything && self.holds_heading(summary) => {
                let (inside, summary_nodes) = (self.tree.descendants(id), self.tree.subtree(summary));
                self.flow(inside.start..summary_nodes.start);
                self.blocks(summary);
                self.flow(summary_nodes.end..inside.end);
            }
            Some(summary) if has_rest => {
                // Text between tags is HTML until a blank line.
                let text = self.html_text(summary);
                let (inside, summary) = (self.tree.descendants(id), self.tree.subtree(summary));
                self.lines_of(&format!("<details>\n<summary>{text}</summary>"));
                self.flow(inside.start..summary.start);
                self.flow(summary.end..inside.end);
                self.lines_of("</details>");
            }
            _ => self.blocks(id),
        }
    }

    fn holds_code_block(&self, id: Id) -> bool {
        self.children(id).any(|child| self.tree.tag(child) == Tag::Pre)
    }

    fn holds_heading(&self, id: Id) -> bool {
        self.tree.descendants(id).any(|id| self.visible(id) && self.tree.tag(id).heading_level().is_some())
    }

    /// Writes the content of a node in a container.
    fn contain(&mut self, container: &Container<'_>, id: Id) {
        if self.everything || self.has_content(id) {
            self.lines.open(container);
            self.blocks(id);
            self.last_list = None;
            self.lines.close();
        }
    }

    fn heading(&mut self, id: Id, level: u8) {
        let text = if self.is_signature(id) {
            let mut inline = Inline::new();
            inline.code(&self.signature(id), false);
            self.write(inline, Place::Heading)
        } else {
            self.inline_text(self.tree.descendants(id), Place::Heading)
        };
        if self.everything || !text.is_empty() {
            let marks = "#".repeat(usize::from(level));
            self.lines_of(format!("{marks} {text}").trim_end());
        }
    }

    /// The language of a signature that is a block, as Javadoc, Haddock, Sphinx, pydoctor and `TypeDoc` mark it.
    fn language_of_signature(&self, id: Id) -> Option<&'static str> {
        if self.everything {
            return None;
        }
        let has = |names: &[&str]| names.iter().any(|name| self.has_class(id, name));
        let language = match self.tree.tag(id) {
            Tag::Div if has(&["member-signature", "type-signature"]) => Some("java"),
            Tag::Div if has(&["tsd-signature"]) => Some("typescript"),
            Tag::Div if has(&["functionHeader"]) => Some("python"),
            Tag::P if has(&["src"]) && self.defines(id) => Some("haskell"),
            Tag::Dt if has(&["sig", "sig-object"]) && has(&["py"]) => Some("python"),
            Tag::Dt if has(&["sig", "sig-object"]) && has(&["js"]) => Some("javascript"),
            Tag::Dt if has(&["sig", "sig-object"]) && has(&["c"]) => Some("c"),
            Tag::Dt if has(&["sig", "sig-object"]) && has(&["cpp"]) => Some("cpp"),
            _ => None,
        };
        // Names are compared first: most elements have none of these, and their content may be long.
        language.filter(|_| self.has_content(id))
    }

    /// Whether a block has the name that Haddock defines in it.
    fn defines(&self, id: Id) -> bool {
        self.children(id).any(|child| self.tree.tag(child) == Tag::A && self.has_class(child, "def"))
    }

    /// The lines of a piece of code of which each line is a block, as Doxygen writes it.
    fn fragment(&self, id: Id) -> Option<Vec<String>> {
        if self.everything || !self.has_class(id, "fragment") {
            return None;
        }
        let is_line = |line: Id| self.has_class(line, "line").then(|| self.code_text(line).trim_end().to_owned());
        let lines = self.children(id).filter(|&child| self.tree.tag(child) != Tag::Text).map(is_line);
        lines.collect::<Option<Vec<_>>>().filter(|lines| !lines.is_empty())
    }

    /// Whether a link around blocks leads to another place: not to its own one, and around a heading not to its page.
    fn leads_away(&self, id: Id) -> bool {
        let is_own = || self.leads_to_own_place(id) || (self.leads_to_own_page(id) && self.holds_heading(id));
        self.is_link(id) && !is_own()
    }

    /// Whether a heading or a term is the signature of what is documented, as rustdoc, YARD, Scaladoc and Texinfo mark
    /// it. With the links and the emphasis in it, it would be several times as long and hardly readable.
    fn is_signature(&self, id: Id) -> bool {
        let is_marked = match self.tree.tag(id) {
            Tag::Dt => ["def", "def-block"].iter().any(|name| self.has_class(self.tree.parent(id), name)),
            _ => ["code-header", "signature"].iter().any(|name| self.has_class(id, name)),
        };
        !self.everything && is_marked && self.has_content(id)
    }

    /// The visible text of a signature, on one line; blocks in it are separate words.
    pub(super) fn signature(&self, id: Id) -> String {
        let is_left_out = |id: Id| match self.tree.tag(id) {
            Tag::Button => true,
            Tag::A => self.is_anchor(id),
            _ => false,
        };
        let mut text = String::new();
        let mut at = id + 1;
        while at < self.tree.subtree(id).end {
            if self.visible(at) && !is_left_out(at) {
                if self.tree.tag(at).is_block() || self.tree.tag(at) == Tag::Br {
                    text.push(' ');
                }
                text.push_str(self.tree.text(at));
                at += 1;
            } else {
                at = self.tree.subtree(at).end;
            }
        }
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        // Texinfo writes the kind of what is defined before it, which may be empty.
        text.strip_prefix(": ").unwrap_or(&text).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{rendered, rendered_content};

    #[test]
    fn headings_have_levels_and_no_line_breaks() {
        assert_eq!(rendered("<h1>a<br>b</h1><h6>c #</h6>"), "# a b\n\n###### c \\#\n");
        assert_eq!((rendered("<h2></h2>").as_str(), rendered_content("<h2></h2>").as_str()), ("##\n", ""));
    }

    #[test]
    fn details_have_a_summary_and_content() {
        assert_eq!(
            rendered("<details><summary>a &amp; b</summary>c</details>"),
            "<details>\n<summary>a &amp; b</summary>\n\nc\n\n</details>\n"
        );
        assert_eq!(rendered("<details>c</details>"), "c\n");
    }

    #[test]
    fn a_signature_is_code() {
        let page =
            "<h4 class=code-header>fn <a href=x>a</a>&lt;T&gt;()<div class=where>where T: <a href=y>B</a></div></h4>";
        assert_eq!(rendered_content(page), "#### `fn a<T>() where T: B`\n");
        assert!(rendered(page).contains("[a](x)"));
        let page = "<h3 class='signature first'>#<strong>a</strong>(b) ⇒ <tt><a href=x>C</a></tt></h3>";
        assert_eq!(rendered_content(page), "### `#a(b) ⇒ C`\n");
    }

    #[test]
    fn a_signature_that_is_a_block_is_code_with_its_language() {
        let page =
            "<div class=member-signature><span>public</span>&nbsp;<a href=x>T</a>&nbsp;of(T&nbsp;a,\n  T&nbsp;b)</div>";
        assert_eq!(rendered_content(page), "```java\npublic T of(T a,\n  T b)\n```\n");
        let page =
            "<dl><dt class='sig sig-object py'><code>a</code>(<em>b</em>)<a class=headerlink href=#a>¶</a><dd>c</dl>";
        assert_eq!(rendered_content(page), "```python\na(b)\n```\n\nc\n");
        let page = "<div class=functionHeader>\n    @classmethod<br>\n    <span>def</span> a(cls):\n</div>";
        assert_eq!(rendered_content(page), "```python\n@classmethod\ndef a(cls):\n```\n");
        let page = "<div class=tsd-signature>a<span>(</span><br>    <span>b</span>: <a href=x>C</a>,<br>)</div>";
        assert_eq!(rendered_content(page), "```typescript\na(\n    b: C,\n)\n```\n");
    }

    #[test]
    fn the_signature_of_a_definition_is_code() {
        let page = "<dl class=def><dt><span>: </span><strong>idivide</strong> <em>(<var>x</var>)</em><a href=#i class=\
            copiable-anchor> &para;</a><dd>a</dl>";
        assert_eq!(rendered_content(page), "**`idivide (x)`**\n\na\n");
        let page = "<div class=top><p class=src><a class=def>head</a> :: [a] -&gt; a</p><div class=doc>b</div></div>";
        assert_eq!(rendered_content(page), "```haskell\nhead :: [a] -> a\n```\n\nb\n");
        assert_eq!(rendered_content("<p class=src>a"), "a\n");
        assert_eq!(
            rendered_content("<dl><dt><pre>proc a(b:  int)</pre><dd>c</dl>"),
            "```\nproc a(b:  int)\n```\n\nc\n"
        );
        let page =
            "<dl><dt class='sig py'>a(b)<a class=reference href=x><span class=viewcode-link>[source]</span></a></dl>";
        assert_eq!(rendered_content(page), "```python\na(b)\n```\n");
    }

    #[test]
    fn lines_that_are_blocks_are_code() {
        let page =
            "<div class=fragment><div class=line><span>int</span> a[9];</div>\n<div class=line>  a[0] = 1;</div></div>";
        assert_eq!(rendered_content(page), "```\nint a[9];\n  a[0] = 1;\n```\n");
        assert_eq!(rendered_content("<div class=fragment><p>a<p>b</div>"), "a\n\nb\n");
    }

    #[test]
    fn a_summary_of_nothing_is_a_block() {
        assert_eq!(rendered_content("<section><summary><h4>a</h4><p>b</summary>c</section>"), "#### a\n\nb\n\nc\n");
    }

    #[test]
    fn a_rule_around_the_content_is_left_out() {
        assert_eq!(rendered_content("<hr><p>a<hr><hr><p>b<hr>"), "a\n\n---\n\nb\n");
        assert_eq!(rendered("<hr><p>a<hr>"), "---\n\na\n\n---\n");
    }

    #[test]
    fn details_under_a_heading_are_a_section() {
        let page = "<details><summary><section><a href=x>1.0</a><h4>fn a()</h4></section></summary><p>b</details>";
        assert_eq!(rendered_content(page), "[1.0](x)\n\n#### fn a()\n\nb\n");
        assert!(rendered(page).starts_with("<details>\n<summary>"));
    }

    #[test]
    fn quotes_nest() {
        assert_eq!(rendered("<blockquote>a<blockquote>b</blockquote></blockquote>"), "> a\n>\n> > b\n");
        assert_eq!(rendered_content("a<blockquote> </blockquote>"), "a\n");
    }
}
