//! The tree builder: start tags, end tags and text become nodes and attributes.
//!
//! Invisible elements become no node or a hidden node. The metadata of the page goes to the tree's
//! [`Head`](super::node::Head).

use std::{error::Error, ops::Range};

use lol_html::html_content::{Element, SourceLocation, TextChunk, TextType};

use super::{
    node::{Attribute, Id, MAX_DEPTH, NONE, Node, ROOT, Span, Tree},
    source::{NOSCRIPT, hides, lower, mark_thin, name_of, rules, start_tag, tag_of},
    space::lacks_space,
};
use crate::{
    entities,
    tag::{Attr, Tag},
};

/// The maximum number of elements that `lol_html` waits for the end tags of: each takes ten times the memory of a node.
/// Where there are more, it is restarted inside of the elements that are open in the tree.
pub(super) const MAX_UNCLOSED: usize = 8192;

/// The longest start tag that `lol_html` is given again with its attributes, which only selectors need.
const MAX_REOPENED: usize = 256;

/// Of a page with more than one node in so many bytes only the text is read on.
const BYTES_A_KEPT_NODE: usize = 3;

/// The prefix of the ids that React gives to elements which its script moves into place and shows: the parts of
/// a page that a server streams late (`pushStartSegment` in `ReactFizzConfigDOM`).
const STREAMED: &str = "S:";

/// The value of an attribute whose source this is.
fn decode_value(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    entities::decode(source, true, &mut out);
    out
}

/// The elements that an end tag closes.
#[derive(Clone, Copy)]
pub(super) enum Open {
    Node(Id),
    Title,
    Script,
    /// A text in an SVG.
    Label,
    /// What an SVG does not draw.
    Undrawn,
    /// No node.
    Nothing,
}

/// Where the text of the open element goes, if not into a text node of its own.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Sink {
    #[default]
    None,
    Title,
    JsonLd,
    Tex,
}

/// The texts of the SVG that is open.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    pub(super) text: String,
    pub(super) labels: u32,
    /// The vertical position of the last label.
    pub(super) height: Option<String>,
    /// What the next word is preceded by.
    pub(super) gap: Option<char>,
    /// How many `<text>` are open.
    pub(super) open_labels: usize,
    /// How many elements are open whose content is not drawn.
    pub(super) undrawn: usize,
    /// Whether the open label has text.
    pub(super) is_begun: bool,
    /// Whether there is a word.
    pub(super) has_word: bool,
}

/// Builds a tree from start tags, end tags and text.
#[derive(Default)]
pub(super) struct Builder {
    pub(super) tree: Tree,
    /// The nodes whose end has not come, outermost first.
    pub(super) open: Vec<Id>,
    /// The source of each one's start tag.
    pub(super) start_tags: Vec<Range<usize>>,
    /// How many of them are paragraphs.
    pub(super) open_paragraphs: usize,
    /// Text read since the last tag, its references not yet decoded.
    pending: String,
    pub(super) sink: Sink,
    /// How many elements `lol_html` waits for the end tags of.
    pub(super) unclosed: usize,
    /// Those of `open` whose start tags `lol_html` is given again after a restart, innermost first.
    reopened: Vec<Id>,
    /// The offset from a position in what `lol_html` reads to the position in the page.
    shift: usize,
    /// The position in the page where `lol_html` has to be restarted.
    pub(super) restart: Option<usize>,
    /// The node of the last start tag.
    latest: Option<Id>,
    /// Whether an end tag closed elements across each other.
    pub(super) overlaps: bool,
    /// How many formatting elements ended without an end tag; the standard reopens them.
    pub(super) lost_formatting: usize,
    /// Whether more than [`MAX_DEPTH`] elements were open.
    pub(super) too_deep: bool,
    /// The texts of the SVG that is open.
    pub(super) drawing: Drawing,
}

impl Builder {
    pub(super) fn new(size: usize) -> Self {
        let mut builder = Self::default();
        builder.tree.strings.reserve(size / 3);
        builder.tree.nodes.reserve(size / 48);
        builder.tree.size = size;
        builder.push(Tag::Root, NONE);
        builder.open.push(ROOT);
        builder.start_tags.push(0..0);
        builder
    }

    /// The start tags of the open elements, which `lol_html` is given before the page from `from` on.
    pub(super) fn reopen(&mut self, html: &str, from: usize) -> String {
        let mut before = String::new();
        self.reopened.clear();
        for (&id, source) in self.open.iter().zip(&self.start_tags).filter(|(_, source)| !source.is_empty()) {
            let tag = &html[source.clone()];
            let name = tag[1..].split(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>')).next();
            match name.unwrap_or_default() {
                _ if self.tree.tag(id) == Tag::Noscript => before.extend(["<", NOSCRIPT, ">"]),
                _ if tag.len() <= MAX_REOPENED => before.push_str(tag),
                name if name.len() <= MAX_REOPENED => before.extend(["<", name, ">"]),
                _ => continue,
            }
            self.reopened.push(id);
        }
        self.reopened.reverse();
        self.unclosed = 0;
        self.forget_drawn();
        self.shift = from.wrapping_sub(before.len());
        before
    }

    /// Handles a start tag, or one that `lol_html` is given again after a restart.
    pub(super) fn begin(
        &mut self,
        html: &str,
        element: &Element<'_, '_>,
    ) -> Result<Open, Box<dyn Error + Send + Sync>> {
        if let Some(id) = self.reopened.pop() {
            self.latest = None;
            return Ok(Open::Node(id));
        }
        if self.unclosed >= MAX_UNCLOSED {
            self.restart = Some(element.source_location().bytes().start.wrapping_add(self.shift));
            return Err("too many elements are open".into());
        }
        if self.tree.is_dense(BYTES_A_KEPT_NODE) {
            self.pending.push(' ');
            return Ok(Open::Nothing);
        }
        Ok(self.start(html, element).unwrap_or(Open::Nothing))
    }

    pub(super) fn top(&self) -> Id {
        *self.open.last().unwrap_or(&ROOT)
    }

    pub(super) fn push(&mut self, tag: Tag, first: u32) -> Id {
        let id = self.tree.nodes.len();
        let parent = self.top() as u32;
        let depth = self.open.len() as u8;
        let end = id as u32 + 1;
        self.tree.nodes.push(Node { tag, hidden: false, aria_hidden: false, depth, parent, first, end });
        id
    }

    fn store(&mut self, source: &str, in_attribute: bool) -> Span {
        let start = self.tree.strings.len() as u32;
        entities::decode(source, in_attribute, &mut self.tree.strings);
        (start, self.tree.strings.len() as u32)
    }

    pub(super) fn text(&mut self, chunk: &TextChunk<'_>) {
        match (chunk.text_type(), self.sink) {
            (TextType::Data | TextType::PlainText | TextType::CDataSection, _)
            | (TextType::RCData, Sink::Title)
            | (TextType::ScriptData, Sink::JsonLd | Sink::Tex) => self.pending.push_str(chunk.as_str()),
            _ => {}
        }
    }

    pub(super) fn flush(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        if self.in_noscript() && self.pending.trim_ascii_start().starts_with("&lt;") {
            // A browser that ran scripts had read this as text, and wrote its tags as text when it saved the page.
            self.pending.clear();
            return;
        }
        let pending = std::mem::take(&mut self.pending);
        match self.sink {
            Sink::Title => {
                if self.tree.head.title.is_empty() {
                    entities::decode(&pending, false, &mut self.tree.head.title);
                }
            }
            Sink::JsonLd => self.tree.head.json_ld.push(pending.clone()),
            Sink::Tex | Sink::None => {
                if self.in_svg() {
                    self.draw_text(&pending);
                } else {
                    let start = self.tree.strings.len() as u32;
                    if lacks_space(&self.tree, &self.open, &pending) {
                        self.tree.strings.push(' ');
                    }
                    let (_, end) = self.store(&pending, false);
                    let id = self.push(Tag::Text, start);
                    self.tree.nodes[id].end = end;
                }
            }
        }
        self.pending = pending;
        self.pending.clear();
    }

    fn in_noscript(&self) -> bool {
        self.tree.tag(self.top()) == Tag::Noscript
    }

    fn in_svg(&self) -> bool {
        self.tree.tag(self.top()) == Tag::Svg
    }

    pub(super) fn select(&mut self) {
        if let Some(id) = self.latest {
            self.tree.selected.push(id);
        }
    }

    /// Handles a start tag; returns what its end tag will close.
    fn start(&mut self, html: &str, element: &Element<'_, '_>) -> Option<Open> {
        self.flush();
        self.sink = Sink::None;
        self.latest = None;
        let source = self.in_page(&element.source_location());
        let tag = tag_of(&html[source.clone()]);
        let value = |name: &str| element.get_attribute(name);
        self.tree.is_page |= matches!(tag, Tag::Html | Tag::Head | Tag::Body | Tag::Meta | Tag::Title);
        match tag {
            Tag::Html => {
                self.tree.head.lang =
                    self.tree.head.lang.take().or_else(|| value("lang")).or_else(|| value("xml:lang"));
                self.latest = Some(ROOT);
                return None;
            }
            Tag::Body => {
                let names = [value("class"), value("id")];
                self.tree.head.body_names = names.into_iter().flatten().collect::<Vec<_>>().join(" ");
                self.latest = Some(ROOT);
                return None;
            }
            Tag::Base => {
                self.tree.head.base = self.tree.head.base.take().or_else(|| value("href").as_deref().map(decode_value));
                return None;
            }
            Tag::Meta => {
                let name = value("property").or_else(|| value("name")).or_else(|| value("itemprop"));
                if let (Some(name), Some(content)) = (name, value("content")) {
                    self.tree.head.metas.push((name.trim().to_ascii_lowercase(), decode_value(&content)));
                }
                return None;
            }
            Tag::Link => {
                if value("rel").is_some_and(|rel| rel.eq_ignore_ascii_case("canonical")) {
                    self.tree.head.canonical = value("href").as_deref().map(decode_value);
                }
                return None;
            }
            Tag::Title if !self.in_svg() => {
                self.sink = Sink::Title;
                return Some(Open::Title);
            }
            // In SVG, their content is markup.
            Tag::Script | Tag::Style if element.namespace_uri() != "http://www.w3.org/1999/xhtml" => {
                let id = self.element(html, tag, element);
                self.open(id, source);
                return Some(Open::Node(id));
            }
            Tag::Script => {
                let kind = value("type").unwrap_or_default().to_ascii_lowercase();
                if kind == "application/ld+json" {
                    self.sink = Sink::JsonLd;
                } else if kind.starts_with("math/tex") {
                    self.imply_ends(Tag::Script);
                    self.hide_rendered_formula();
                    let id = self.element(html, Tag::Math, element);
                    self.open(id, source);
                    self.sink = Sink::Tex;
                    return Some(Open::Node(id));
                }
                return Some(Open::Script);
            }
            Tag::Head | Tag::Frameset | Tag::Style => return None,
            _ => {}
        }
        if self.in_svg() {
            // Only an element of a page's text ends an SVG that is still open.
            if !tag.is_block() && !matches!(tag, Tag::Span | Tag::Img | Tag::Br) {
                return self.draw(name_of(&html[source]), element);
            }
            self.close_top();
        }
        self.imply_ends(tag);
        let in_row = !matches!(self.tree.tag(self.top()), Tag::Table | Tag::Tbody | Tag::Thead | Tag::Tfoot);
        if matches!(tag, Tag::Td | Tag::Th) && !in_row {
            let row = self.push(Tag::Tr, NONE);
            self.open(row, 0..0);
        }
        // At the depth limit an element could not contain anything: inline ones are left out.
        if self.open.len() >= MAX_DEPTH && !tag.is_block() && !tag.is_void() {
            self.too_deep = true;
            return None;
        }
        let id = self.element(html, tag, element);
        self.latest = Some(id);
        if tag.is_void() {
            return None;
        }
        self.open(id, source);
        Some(Open::Node(id))
    }

    /// The range in the page of a range in what `lol_html` has read.
    fn in_page(&self, location: &SourceLocation) -> Range<usize> {
        let Range { start, end } = location.bytes();
        start.wrapping_add(self.shift)..end.wrapping_add(self.shift)
    }

    /// Hides what `MathJax` has rendered before the source of a formula.
    fn hide_rendered_formula(&mut self) {
        let parent = self.top();
        let mut end = self.tree.len();
        while end > parent + 1 {
            let last = end - 1;
            let sibling =
                std::iter::once(last).chain(self.tree.ancestors(last)).find(|&id| self.tree.parent(id) == parent);
            let Some(sibling) = sibling else { return };
            let class = self.tree.attr(sibling, Attr::Class).unwrap_or_default();
            if !class.split_ascii_whitespace().any(|class| class.starts_with("MathJax")) {
                return;
            }
            self.tree.nodes[sibling].tag = Tag::Script;
            end = sibling;
        }
    }

    fn element(&mut self, html: &str, tag: Tag, element: &Element<'_, '_>) -> Id {
        let first = self.tree.attrs.len();
        let (mut hidden, mut aria_hidden) = (matches!(tag, Tag::Template | Tag::Noscript), false);
        let (mut streamed, mut closed) = (false, tag == Tag::Dialog);
        let mut thin = [false; 2];
        for attribute in element.attributes() {
            let Some(name) = attribute.name_source_location() else { continue };
            let source = &html[self.in_page(&name)];
            let name = lower(source, Attr::from_name);
            if tag == Tag::Img && name == Attr::Other {
                mark_thin(source, &attribute.value(), &mut thin);
            }
            let is_known = |known: &Attribute| known.name == name;
            if matches!(name, Attr::Other | Attr::Source) || self.tree.attrs[first..].iter().any(is_known) {
                continue;
            }
            let value = attribute.value_source_location().map_or("", |at| &html[self.in_page(&at)]);
            match name {
                Attr::Hidden => hidden |= !value.eq_ignore_ascii_case("until-found"),
                Attr::Popover => hidden = true,
                Attr::Open => closed = false,
                Attr::AriaHidden => aria_hidden = value.eq_ignore_ascii_case("true"),
                Attr::Style => {
                    hidden |= hides(value);
                    if tag == Tag::Img {
                        rules(value).for_each(|(side, value)| mark_thin(side, value, &mut thin));
                    }
                }
                // A serialized open shadow root.
                Attr::Shadowrootmode => hidden = false,
                Attr::Id => streamed = value.starts_with(STREAMED),
                _ => {}
            }
            let value = self.store(value, true);
            self.tree.attrs.push(Attribute { name, is_last: false, value });
        }
        // A dialog that a script opens, and a pixel that counts visits.
        hidden |= closed || thin == [true; 2];
        let bare = tag == Tag::Other || self.tree.attrs.len() == first;
        let in_formula = || self.open.iter().any(|&id| self.tree.tag(id) == Tag::Math);
        if bare
            && self.tree.is_fragment()
            && matches!(tag, Tag::Other | Tag::A | Tag::Div)
            && !in_formula()
            && let Some(source) = start_tag(element)
        {
            let start = self.tree.strings.len() as u32;
            self.tree.strings.push_str(&source);
            let value = (start, self.tree.strings.len() as u32);
            self.tree.attrs.push(Attribute { name: Attr::Source, is_last: false, value });
        }
        let last = self.tree.attrs[first..].last_mut();
        let first = last.map_or(NONE, |last| {
            last.is_last = true;
            first as u32
        });
        let id = self.push(tag, first);
        self.tree.nodes[id].hidden = hidden && !streamed;
        self.tree.nodes[id].aria_hidden = aria_hidden;
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::texts;

    #[test]
    fn the_head_is_read() {
        let page = "<html lang=de><title>A &amp; B</title><base href=/b/><link rel=canonical href='/c?a&amp;b'>\
            <meta property=OG:Title content='C'><script type=application/ld+json>{}</script><body id=i class=c>x";
        let head = Tree::parse(page, None).head;
        assert_eq!(
            (head.title.as_str(), head.lang.as_deref(), head.base.as_deref()),
            ("A & B", Some("de"), Some("/b/"))
        );
        assert_eq!(head.canonical.as_deref(), Some("/c?a&b"));
        assert_eq!(head.metas, [("og:title".to_owned(), "C".to_owned())]);
        assert_eq!((head.json_ld, head.body_names.as_str()), (vec!["{}".to_owned()], "c i"));
    }

    #[test]
    fn scripts_and_svg_have_no_text() {
        assert_eq!(texts("a<script>b</script><style>c</style><svg><text>d</text></svg>e"), ["a", "e"]);
        assert_eq!(texts("<script type='math/tex'>x^2</script>"), ["x^2"]);
    }

    #[test]
    fn tags_that_were_saved_as_text_of_noscript_are_no_text() {
        assert_eq!(texts("<noscript> &lt;img src=a&gt;</noscript>b"), ["b"]);
        assert_eq!(texts("<noscript>a &lt; b</noscript><p>&lt;p&gt;"), ["a < b", "<p>"]);
    }

    #[test]
    fn hidden_elements_are_marked() {
        let hidden = |html: &str| Tree::parse(html, None).node(1).hidden;
        assert!(hidden("<p hidden>x") && hidden("<p style='display:none'>x") && hidden("<template>x"));
        assert!(!hidden("<p hidden=until-found>x") && !hidden("<div hidden id=S:1>x"));
        assert!(hidden("<dialog>x") && hidden("<div popover>x") && hidden("<dialog open popover=manual>x"));
        assert!(!hidden("<dialog open>x") && !hidden("<button popovertarget=y>x"));
        assert!(Tree::parse("<p aria-hidden=true>x", None).node(1).aria_hidden);
    }
}
