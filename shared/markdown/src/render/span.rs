//! Elements within a line: emphasis, code, links, task boxes.

use url::Url;

use super::{
    Renderer,
    escape::{Place, escape_plain},
    inline::{Inline, Mark},
    media::formula,
};
use crate::{
    tag::{Attr, Tag},
    tree::Id,
    urls,
};

/// What the titles of links in documentation say about their targets: `class in java.util`, `struct std::vec::Vec`.
const KINDS: [&str; 28] = [
    "annotation",
    "attribute",
    "class",
    "constant",
    "derive",
    "enum",
    "exception",
    "field",
    "fn",
    "function",
    "in",
    "interface",
    "keyword",
    "macro",
    "member",
    "method",
    "mod",
    "module",
    "parameter",
    "primitive",
    "record",
    "static",
    "struct",
    "trait",
    "type",
    "union",
    "variant",
    "variable",
];

/// What documentation writes as a link to the place where it stands; the last one is a chain in the icons of Sphinx's theme.
const ANCHOR_SIGNS: [char; 6] = ['#', '§', '¶', '⚓', '🔗', '\u{F0C1}'];

/// How many nodes before an anchor sign may separate it from the element whose place it shows.
const MAX_APART: usize = 64;

/// The words of a text: runs of letters and digits.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// The URL without its fragment.
fn page_of(url: &str) -> &str {
    url.split_once('#').map_or(url, |(page, _)| page)
}

/// The text with each run of white space as one blank.
fn collapsed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for part in text.split_inclusive(|c: char| c.is_ascii_whitespace()) {
        let word = part.trim_end_matches(|c: char| c.is_ascii_whitespace());
        out.push_str(word);
        if word.len() < part.len() && !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out
}

fn is_anchor_sign(text: &str) -> bool {
    let mut chars = text.chars();
    // A sign may be followed by a variation selector.
    chars.next().is_some_and(|first| ANCHOR_SIGNS.contains(&first))
        && matches!(chars.as_str(), "" | "\u{FE0E}" | "\u{FE0F}")
}

impl Renderer<'_> {
    /// Whether an element is a link that leads somewhere.
    pub(super) fn is_link(&self, id: Id) -> bool {
        self.tree.attr(id, Attr::Href).is_some_and(|href| urls::resolve(href, None).is_some())
    }

    /// Whether a link is the anchor of its own heading.
    pub(super) fn is_anchor(&self, id: Id) -> bool {
        self.tree.attr(id, Attr::Href).is_some_and(|href| href.contains('#')) && {
            let text = self.tree.text_content(id);
            let text = text.trim();
            let is_short = text.chars().count() <= 2 && !text.is_empty() && !text.chars().any(char::is_alphanumeric);
            is_short && (is_anchor_sign(text) || self.is_on_own_page(id))
        }
    }

    /// Whether it is such an anchor by its class, which stands beside its heading.
    pub(super) fn is_marked_anchor(&self, id: Id) -> bool {
        let class = self.tree.attr(id, Attr::Class).unwrap_or_default();
        let marked = class.split_ascii_whitespace().any(|class| matches!(class, "anchor" | "headerlink" | "permalink"));
        !self.everything && marked && self.is_anchor(id)
    }

    /// Whether a link leads to its own page. In a heading, that is the heading as a rule.
    pub(super) fn leads_to_own_page(&self, id: Id) -> bool {
        !self.everything && self.is_on_own_page(id)
    }

    fn is_on_own_page(&self, id: Id) -> bool {
        let Some(href) = self.tree.attr(id, Attr::Href) else { return false };
        let url = || urls::resolve(href, self.addresses.base);
        let is_own = |page: &Url| url().is_some_and(|url| page_of(&url) == page_of(page.as_str()));
        href.trim_start().starts_with('#') || self.addresses.page.is_some_and(is_own)
    }

    /// Whether a link only leads to the place where it stands: to its page without a place on it, or to the closest
    /// element with an id around it. An anchor sign may also stand behind the element.
    pub(super) fn leads_to_own_place(&self, id: Id) -> bool {
        let Some(href) = self.tree.attr(id, Attr::Href).filter(|_| !self.everything) else { return false };
        match href.trim().split_once('#') {
            None => href.trim().is_empty() && (self.addresses.base.is_none() || self.leads_to_own_page(id)),
            Some(_) if !self.leads_to_own_page(id) => false,
            Some((_, "")) => true,
            Some((_, name)) => {
                let name_of = |id: Id| self.tree.attr(id, Attr::Id);
                let around = std::iter::once(id).chain(self.tree.ancestors(id)).find_map(name_of);
                let before = || (1..id).rev().take(MAX_APART).find_map(name_of);
                around == Some(name) || (self.is_sign(id) && before() == Some(name))
            }
        }
    }

    /// Whether the text of a link is an anchor sign.
    fn is_sign(&self, id: Id) -> bool {
        is_anchor_sign(&self.plain_text(id))
    }

    /// The part of an absolute URL that names a place on its own page.
    pub(super) fn place_on_own_page<'u>(&self, url: &'u str) -> Option<&'u str> {
        let page = page_of(self.addresses.page.filter(|_| !self.everything)?.as_str());
        url.strip_prefix(page).filter(|place| place.starts_with('#') && place.len() > 1)
    }

    /// Whether a link is a picture that leads to a place on its own page, such as an arrow to its top.
    fn is_arrow(&self, id: Id) -> bool {
        self.children(id).any(|child| self.tree.tag(child) == Tag::Img)
            && self.plain_text(id).is_empty()
            && self.leads_to_own_page(id)
    }

    /// Whether a button stands beside the text of its heading, such as "Copy link". One that is all of a heading
    /// unfolds what follows.
    fn is_beside_heading(&self, button: Id) -> bool {
        let heading = self.tree.ancestors(button).find(|&id| self.tree.tag(id).heading_level().is_some());
        !self.everything && heading.is_some_and(|heading| self.plain_text(heading) != self.plain_text(button))
    }

    pub(super) fn inline_children(&mut self, id: Id, inline: &mut Inline, place: Place) {
        for child in self.children(id) {
            self.inline(child, inline, place);
        }
    }

    /// Adds an element within a mark.
    fn marked(&mut self, mark: Mark, id: Id, inline: &mut Inline, place: Place) {
        let may_nest = self.everything && matches!(mark, Mark::Em | Mark::Strong);
        let nested = inline.open.contains(&mark) && !may_nest;
        if nested || inline.open.len() > 16 {
            return self.inline_children(id, inline, place);
        }
        inline.open(mark);
        self.inline_children(id, inline, place);
        if self.everything && matches!(mark, Mark::Link(_)) {
            inline.begin_marks();
        }
        inline.close();
    }

    /// Adds a node to the inline content of a block.
    pub(super) fn inline(&mut self, id: Id, inline: &mut Inline, place: Place) {
        if !self.visible(id) {
            return;
        }
        if let Some(label) = self.notes.references.get(&id) {
            return inline.done(&format!("[^{label}]"));
        }
        match self.tree.tag(id) {
            Tag::Text => inline.text(self.tree.text(id)),
            Tag::Br => match place {
                Place::Heading => inline.space(),
                _ => inline.line_break(),
            },
            Tag::Strong | Tag::B => self.marked(Mark::Strong, id, inline, place),
            Tag::Em | Tag::I | Tag::Dfn | Tag::Var | Tag::Cite => self.marked(Mark::Em, id, inline, place),
            Tag::Del | Tag::S | Tag::Strike => self.marked(Mark::Del, id, inline, place),
            Tag::Sub => self.marked(Mark::Sub, id, inline, place),
            Tag::Sup => self.marked(Mark::Sup, id, inline, place),
            Tag::Code | Tag::Kbd | Tag::Samp | Tag::Tt => {
                let has_more = |id| self.visible(id) && matches!(self.tree.tag(id), Tag::A | Tag::Img);
                if self.tree.descendants(id).any(has_more) {
                    self.inline_children(id, inline, place);
                } else {
                    let code = self.code_text(id);
                    // Browsers show a run of white space as one blank.
                    let shown = if self.everything { code } else { collapsed(&code) };
                    inline.code(&shown, self.everything);
                }
            }
            Tag::A | Tag::Other if self.inline_html(id, inline, place) => {}
            Tag::A => {
                let in_link = inline.open.iter().any(|mark| matches!(mark, Mark::Link(_)));
                let is_at_place = self.leads_to_own_place(id);
                if (self.is_anchor(id) && place == Place::Heading)
                    || self.is_marked_anchor(id)
                    || self.is_arrow(id)
                    || (is_at_place && self.is_sign(id))
                {
                } else if in_link
                    || is_at_place
                    || !self.is_link(id)
                    || (place == Place::Heading && self.leads_to_own_page(id))
                {
                    self.inline_children(id, inline, place);
                } else {
                    self.marked(Mark::Link(id as u32), id, inline, place);
                }
            }
            Tag::Img => {
                if let Some(image) = self.image(id, place) {
                    inline.done(&image);
                }
            }
            Tag::Svg => self.diagram(id, inline, place),
            Tag::Math => {
                if let Some(tex) = formula(self.tree, id) {
                    inline.done(&tex);
                } else {
                    self.inline_children(id, inline, place);
                }
            }
            Tag::Input if inline.is_empty() && self.is_task(id) => {
                let checked = self.tree.attr(id, Attr::Checked).is_some();
                inline.done(if checked { "[x]" } else { "[ ]" });
                inline.space();
            }
            Tag::Span | Tag::Div | Tag::P if let Some(tex) = self.delimited_formula(id) => inline.done(&tex),
            Tag::Q => {
                inline.text("“");
                self.inline_children(id, inline, place);
                inline.text("”");
            }
            Tag::Rt => {
                inline.text("(");
                self.inline_children(id, inline, place);
                inline.text(")");
            }
            Tag::Wbr | Tag::Input => {}
            Tag::Button if place == Place::Heading && self.is_beside_heading(id) => {}
            Tag::Li if place == Place::Cell => {
                inline.fresh_line();
                inline.text("- ");
                self.inline_children(id, inline, place);
            }
            tag if tag.is_block() => {
                let separate = |inline: &mut Inline| match place {
                    Place::Heading => inline.space(),
                    _ => inline.fresh_line(),
                };
                separate(inline);
                self.inline_children(id, inline, place);
                separate(inline);
            }
            _ => self.inline_children(id, inline, place),
        }
    }

    /// Whether it is a check box in a list item.
    pub(super) fn is_task(&self, id: Id) -> bool {
        let mut around = self.tree.ancestors(id).map(|id| self.tree.tag(id));
        self.tree.attr(id, Attr::Type).is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox"))
            && around.find(|tag| tag.is_block() && !matches!(tag, Tag::P | Tag::Div)) == Some(Tag::Li)
    }

    /// Writes the title of a link or an image, if it says something that the text and the address do not.
    pub(super) fn title(&self, id: Id, place: Place, out: &mut String) {
        let Some(title) = self.tree.attr(id, Attr::Title).filter(|title| !title.trim().is_empty()) else { return };
        if !self.everything && !self.says_more(title, id) {
            return;
        }
        out.extend([" \"", &self.attribute_text(title, place).replace('"', "\\\""), "\""]);
    }

    /// Whether a title has a word that is in neither the text nor the address, and is not the kind of what
    /// documentation links to.
    fn says_more(&self, title: &str, id: Id) -> bool {
        let alternative = self.tree.attr(id, Attr::Alt).unwrap_or_default();
        let address = self
            .tree
            .attr(id, Attr::Href)
            .and_then(|href| urls::resolve(href, self.addresses.base))
            .unwrap_or_default();
        let known = [self.plain_text(id).as_str(), alternative, &address].join(" ").to_lowercase();
        let known: Vec<&str> = words(&known).collect();
        words(&title.to_lowercase()).any(|word| !known.contains(&word) && !KINDS.contains(&word))
    }

    /// The text of a title or of an image. Its line breaks, which browsers show, are kept where everything is.
    pub(super) fn attribute_text(&self, text: &str, place: Place) -> String {
        let lines = if self.everything { text.split('\n').collect() } else { vec![text] };
        let mut escaped = String::new();
        for (at, line) in lines.into_iter().enumerate() {
            escaped.push_str(if at > 0 { "&#10;" } else { "" });
            escape_plain(line, place, &mut escaped);
        }
        escaped
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Addresses, render, rendered, rendered_content},
        *,
    };
    use crate::{extract::Labels, tree::Tree};

    #[test]
    fn elements_within_a_line_are_marked() {
        assert_eq!(rendered("<p><b>a</b> <i>b</i> <s>c</s> <code>d</code> <q>e</q>"), "**a** *b* ~~c~~ `d` “e”\n");
        assert_eq!(rendered("<p><a href=x>a</a> <a class=y>b</a> <a href='javascript:x'>c</a>"), "[a](x) b c\n");
    }

    #[test]
    fn the_anchor_of_a_heading_is_left_out() {
        assert_eq!(rendered("<h2>a<a href=#a>#</a></h2><p><a href=#a>#</a>"), "## a\n\n[#](#a)\n");
    }

    #[test]
    fn an_anchor_beside_its_heading_is_left_out() {
        let page = "<section><a class=src href=x>Source</a><a class=anchor href=#a>§</a><h4>a</h4></section>";
        assert_eq!(rendered_content(page), "[Source](x)\n\n#### a\n");
    }

    #[test]
    fn a_heading_is_not_linked_to_itself() {
        let page = "<h2 id=a><a href=#a>Tides <b>of</b> a bay</a></h2><p><a href=#a>a</a>";
        assert_eq!(rendered_content(page), "## Tides **of** a bay\n\n[a](#a)\n");
        assert_eq!(rendered(page), "## [Tides **of** a bay](#a)\n\n[a](#a)\n");
        assert_eq!(rendered_content("<h2><a href=/b#a>Tides</a></h2>"), "## [Tides](/b#a)\n");
    }

    #[test]
    fn a_link_to_its_own_page_is_short_and_that_of_a_heading_is_text() {
        let page = Url::parse("https://example.com/faq.html").unwrap();
        let addresses = Addresses { base: Some(&page), page: Some(&page) };
        let tree = Tree::parse("<h2><a href=faq.html#a>Tides</a></h2><h2><a href=other.html#a>Ebb</a></h2>", None);
        let markdown = render(&tree, &vec![true; tree.len()], &Labels::default(), addresses, false);
        assert_eq!(markdown, "## Tides\n\n## [Ebb](https://example.com/other.html#a)\n");
        assert_eq!(rendered_content("<a href=#a><h2>Tides</h2></a><p>a"), "## Tides\n\na\n");
        let tree = Tree::parse("<p><a href=#a>a</a> <a href='/faq.html'>b</a> <a href='?c#a'>c</a>", None);
        let markdown = render(&tree, &vec![true; tree.len()], &Labels::default(), addresses, false);
        let others = "[b](https://example.com/faq.html) [c](https://example.com/faq.html?c#a)";
        assert_eq!(markdown, format!("[a](#a) {others}\n"));
    }

    #[test]
    fn a_link_to_its_own_place_is_text() {
        assert_eq!(rendered_content("<p>a <a href=#>top</a> <a href=' '>b</a> <a href='# '>c</a>"), "a top b c\n");
        assert_eq!(rendered_content("<p>a <a href=# title='This example panics'>ⓘ</a>"), "a ⓘ\n");
        assert_eq!(rendered_content("<div id=x><p><a href=#x>a</a> <a href=#y>b</a></div>"), "a [b](#y)\n");
        assert_eq!(rendered_content("<p><a id=l1 href=#l1>1</a>"), "1\n");
        assert_eq!(rendered_content("<a href=#><p>a</p></a>"), "a\n");
        let page = Url::parse("https://example.com/faq.html").unwrap();
        let addresses = Addresses { base: Some(&page), page: Some(&page) };
        let links = "<p id=x><a href=''>a</a> <a href=faq.html#>b</a> <a href=/faq.html#x>c</a> <a href=b.html#x>d</a>";
        let tree = Tree::parse(links, None);
        let markdown = render(&tree, &vec![true; tree.len()], &Labels::default(), addresses, false);
        assert_eq!(markdown, "a b c [d](https://example.com/b.html#x)\n");
        // The base of the links is another page.
        let addresses = Addresses { base: Some(&page), page: None };
        let markdown = render(&tree, &vec![true; tree.len()], &Labels::default(), addresses, false);
        assert!(markdown.starts_with("[a](https://example.com/faq.html) "), "{markdown}");
    }

    #[test]
    fn an_anchor_sign_at_its_place_is_left_out() {
        assert_eq!(rendered_content("<p id=x>a <a href=#x>¶</a>"), "a\n");
        assert_eq!(rendered_content("<p id=x>a</p><a href=#x>🔗\u{FE0F}</a><p>b"), "a\n\nb\n");
        let table = "<table><tr><th>a<th>b<tr id=x><td>c <a href=#x>§</a><td>d</table>";
        assert_eq!(rendered_content(table), "| a | b |\n| --- | --- |\n| c | d |\n");
        // Of another place: a section, a footnote, the letters of an index.
        let others = "<p id=x>a <a href=#y>§</a> <a href=#z>†</a> <a href=#signs>#</a> <a href=#a>A</a>";
        assert_eq!(rendered_content(others), "a [§](#y) [†](#z) [#](#signs) [A](#a)\n");
    }

    #[test]
    fn a_sign_in_a_heading_that_leads_to_another_page_is_a_link() {
        assert_eq!(rendered_content("<h2>a <a href=/b#c>→</a></h2>"), "## a [→](/b#c)\n");
        assert_eq!(rendered_content("<h2>a <a href=#c>→</a> <a href=/b#c>#</a></h2>"), "## a\n");
    }

    #[test]
    fn a_picture_that_leads_to_the_top_is_left_out() {
        assert_eq!(rendered_content("<p>a <a href=#top><img src=up.gif alt=top></a>"), "a\n");
        assert_eq!(rendered_content("<p><a href=b><img src=up.gif alt=top></a>"), "[![top](up.gif)](b)\n");
    }

    #[test]
    fn code_in_a_line_has_no_runs_of_white_space() {
        assert_eq!(
            rendered_content("<p><code>void* align(size_t a,\n      size_t  b)</code>"),
            "`void* align(size_t a, size_t b)`\n"
        );
        assert_eq!(rendered_content("<p>a<code> b </code>c"), rendered("<p>a<code> b </code>c"));
    }

    #[test]
    fn emphasis_within_the_same_emphasis_is_not_marked_again() {
        assert_eq!(rendered_content("<p><b>a <strong>b</strong></b> <i>c <var>d</var></i>"), "**a b** *c d*\n");
    }

    #[test]
    fn a_button_is_no_part_of_a_heading_unless_it_is_all_of_it() {
        assert_eq!(rendered_content("<h1>Struct Vec <button>Copy item path</button></h1>"), "# Struct Vec\n");
        assert_eq!(rendered_content("<h3><button>Why?</button></h3>"), "### Why?\n");
    }

    #[test]
    fn check_boxes_are_tasks_only_in_items() {
        assert_eq!(rendered("<ul><li><input type=checkbox checked>a</ul>"), "- [x] a\n");
        assert_eq!(rendered("<p><input type=checkbox>a"), "a\n");
    }

    #[test]
    fn a_title_that_says_nothing_more_is_left_out() {
        let link = "<p><a href=../vec/struct.Vec.html title='struct std::vec::Vec'>Vec in std</a>";
        assert_eq!(rendered_content(link), "[Vec in std](../vec/struct.Vec.html)\n");
        assert!(rendered(link).contains("std::vec::Vec"));
        let link = "<p><a href=a title='Tides of the bay'>Tides</a>";
        assert_eq!(rendered_content(link), "[Tides](a \"Tides of the bay\")\n");
    }

    #[test]
    fn line_breaks_in_a_title_are_kept_where_everything_is() {
        let link = "<p><a href=x title='b&#10;&#10;c &quot;d&quot;'>a</a>";
        assert_eq!(rendered(link), "[a](x \"b&#10;&#10;c \\\"d\\\"\")\n");
        assert_eq!(rendered_content(link), "[a](x \"b c \\\"d\\\"\")\n");
    }
}
