//! A page as a flat tree: nodes in document order, every subtree a contiguous range.
//!
//! `lol_html` reads the page and reports elements and text in one pass; this module nests them. It
//! follows the HTML standard's rules for implied end tags and table scopes, and keeps no more than
//! [`MAX_DEPTH`] elements open, as browsers do: what is deeper becomes a sibling. So every walk of
//! a tree, recursive or not, is bounded, and building one takes linear time.
//!
//! A page can hold a tag in every third byte, so a node is sixteen bytes, what nobody can see is no node,
//! and `lol_html` is told to forget the elements that nobody closes ([`MAX_UNCLOSED`]).
//!
//! A page whose tags overlap, such as `<b><p></b>`, needs the whole of the standard's tree
//! construction. Such a page, where it is not built to make that slow, goes through `html2text`'s
//! parser (html5ever) first, and `lol_html` reads what that writes.

use std::{borrow::Cow, cell::RefCell, error::Error, ops::Range, rc::Rc};

use lol_html::{
    DocumentContentHandlers, ElementContentHandlers, HtmlRewriter, MemorySettings, Selector, Settings,
    html_content::{Element, SourceLocation, TextChunk, TextType},
};

use crate::{
    entities,
    render::is_ideograph,
    tag::{Attr, Tag},
};

/// The most elements that are open at once.
pub(crate) const MAX_DEPTH: usize = 255;

/// The most elements that `lol_html` waits for the end of: each is ten times a node. Where there are more,
/// it starts anew, with the elements that are open here.
const MAX_UNCLOSED: usize = 8192;

/// The longest start tag that it is told of again with its attributes, which only a selector needs.
const MAX_REOPENED: usize = 256;

/// The index of a node.
pub(crate) type Id = usize;

/// The page's own node.
pub(crate) const ROOT: Id = 0;

/// A range of [`Tree::strings`].
type Span = (u32, u32);

/// An element, or a run of text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) tag: Tag,
    /// The author hides it: `hidden`, `display: none`, a template.
    pub(crate) hidden: bool,
    /// It is hidden from screen readers.
    pub(crate) aria_hidden: bool,
    pub(crate) depth: u8,
    pub(crate) parent: u32,
    /// Of text, where it begins; of an element, its first attribute, or [`NONE`].
    first: u32,
    /// Of text, where it ends; of an element, the node after its subtree.
    end: u32,
}

/// The first attribute of an element that has none.
const NONE: u32 = u32::MAX;

/// An attribute of an element; its others follow it.
#[derive(Clone, Copy, Debug)]
struct Attribute {
    name: Attr,
    is_last: bool,
    value: Span,
}

/// What a page says about itself outside its text.
#[derive(Debug, Default)]
pub(crate) struct Head {
    pub(crate) title: String,
    pub(crate) lang: Option<String>,
    pub(crate) base: Option<String>,
    pub(crate) canonical: Option<String>,
    /// `<meta>`: lower-case name, property or itemprop, and content.
    pub(crate) metas: Vec<(String, String)>,
    /// The sources of `application/ld+json` scripts.
    pub(crate) json_ld: Vec<String>,
    /// The classes and the id of `<body>`.
    pub(crate) body_names: String,
}

/// A parsed page.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    strings: String,
    attrs: Vec<Attribute>,
    /// The nodes that the caller's selector matches, in order.
    pub(crate) selected: Vec<Id>,
    pub(crate) head: Head,
    size: usize,
    /// Whether anything says that this is a page, not a part of one.
    is_page: bool,
}

impl Tree {
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The length of the page, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    pub(crate) fn tag(&self, id: Id) -> Tag {
        self.nodes[id].tag
    }

    pub(crate) fn parent(&self, id: Id) -> Id {
        self.nodes[id].parent as Id
    }

    /// The node and everything in it.
    pub(crate) fn subtree(&self, id: Id) -> Range<Id> {
        let node = &self.nodes[id];
        id..if node.tag == Tag::Text { id + 1 } else { node.end as Id }
    }

    /// Everything in the node.
    pub(crate) fn descendants(&self, id: Id) -> Range<Id> {
        id + 1..self.subtree(id).end
    }

    pub(crate) fn children(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        self.siblings(self.descendants(id))
    }

    /// The outermost nodes in a range.
    pub(crate) fn siblings(&self, Range { start, end }: Range<Id>) -> impl Iterator<Item = Id> + '_ {
        let mut next = start;
        std::iter::from_fn(move || {
            let child = (next < end).then_some(next)?;
            next = self.subtree(child).end;
            Some(child)
        })
    }

    /// The node's ancestors, its parent first, the page itself last.
    pub(crate) fn ancestors(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        let mut at = id;
        std::iter::from_fn(move || {
            (at != ROOT).then(|| {
                at = self.parent(at);
                at
            })
        })
    }

    /// The text of a text node; nothing for an element.
    pub(crate) fn text(&self, id: Id) -> &str {
        let node = &self.nodes[id];
        if node.tag == Tag::Text { self.string((node.first, node.end)) } else { "" }
    }

    /// The value of an element's attribute.
    pub(crate) fn attr(&self, id: Id, name: Attr) -> Option<&str> {
        let node = &self.nodes[id];
        let mut at = (node.tag != Tag::Text && node.first != NONE).then_some(node.first as usize)?;
        loop {
            let attribute = &self.attrs[at];
            if attribute.name == name {
                return Some(self.string(attribute.value));
            }
            if attribute.is_last {
                return None;
            }
            at += 1;
        }
    }

    fn string(&self, (start, end): Span) -> &str {
        &self.strings[start as usize..end as usize]
    }

    /// The text inside a node, as it stands in the source.
    pub(crate) fn text_content(&self, id: Id) -> String {
        self.subtree(id).map(|id| self.text(id)).collect()
    }

    /// Reads a page; `selector` marks the nodes it matches.
    pub(crate) fn parse(html: &str, selector: Option<&Selector>) -> Self {
        let (tree, is_broken) = Self::read(html, selector);
        if !is_broken || tree.is_dense(REPAIRED) {
            return tree;
        }
        // Two trees and their sources take more than the page may.
        drop(tree);
        let repaired = repaired(html);
        Self::read(repaired.as_deref().unwrap_or(html), selector).0
    }

    /// Whether this is a part of a page, such as what becomes of Markdown.
    pub(crate) fn is_fragment(&self) -> bool {
        !self.is_page && self.size <= MAX_FRAGMENT
    }

    /// Whether the page has more nodes than one in so many bytes, and than any page of usual size: what
    /// takes memory for every node would take too much for its size.
    pub(crate) fn is_dense(&self, bytes_a_node: usize) -> bool {
        self.len() > FEW + self.size / bytes_a_node
    }

    /// Reads a page as it is; whether it has to be repaired, and can.
    pub(crate) fn read(html: &str, selector: Option<&Selector>) -> (Self, bool) {
        // Positions are 32 bits wide; nobody reads a page of four gigabytes.
        let html = &html[..html.floor_char_boundary(1 << 30)];
        let builder = Rc::new(RefCell::new(Builder::new(html.len())));
        let renamed = renamed(html);
        let mut from = Some(0);
        while let Some(start) = from {
            read_on(html, start, &renamed, selector, &builder);
            from = builder.borrow_mut().stopped.take();
        }
        let mut builder = builder.take();
        // What a selector says of siblings needs them to be siblings.
        let is_broken = (builder.overlaps || selector.is_some())
            && builder.lost_formatting <= MAX_LOST
            && !builder.too_deep
            && html.len() <= MAX_REPAIRED;
        builder.finish();
        (builder.tree, is_broken)
    }
}

/// Reads the page from `from` on, inside of the elements that are open; where it is left again, the
/// builder knows.
fn read_on(html: &str, from: usize, renamed: &[Renamed], selector: Option<&Selector>, builder: &Rc<RefCell<Builder>>) {
    let before: String = builder.borrow_mut().reopen(html, from);
    let (on_element, on_text, on_match) = (Rc::clone(builder), Rc::clone(builder), Rc::clone(builder));
    let mut settings = Settings::new()
        .with_strict(false)
        .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(html.len() + READING))
        .append_document_content_handler(DocumentContentHandlers::default().text(move |chunk: &mut TextChunk<'_>| {
            on_text.borrow_mut().text(chunk);
            Ok(())
        }))
        .append_element_content_handler(lol_html::element!("*", move |element: &mut Element<'_, '_>| {
            let opened = on_element.borrow_mut().begin(html, element)?;
            if let Some(handlers) = element.end_tag_handlers() {
                let builder = Rc::clone(&on_element);
                builder.borrow_mut().unclosed += 1;
                handlers.push(Box::new(move |end| {
                    builder.borrow_mut().end(opened, || end.name());
                    Ok(())
                }));
            }
            Ok(())
        }));
    if let Some(selector) = selector {
        let mark = ElementContentHandlers::default().element(move |_: &mut Element<'_, '_>| {
            on_match.borrow_mut().select();
            Ok(())
        });
        settings = settings.append_element_content_handler((Cow::Borrowed(selector), mark));
    }
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| ());
    let mut write = |part: &str| rewriter.write(part.as_bytes());
    // What can fail here is what leaves the page to go on anew; if more did, what was read would stand.
    let mut read = || {
        write(&before)?;
        let mut at = from;
        for &(start, name) in &renamed[renamed.partition_point(|&(start, _)| start < from)..] {
            if start >= at {
                write(&html[at..start])?;
                // The whole tag: what `lol_html` has to put together from two writes, it copies.
                let end = start + name.len();
                let near = &html.as_bytes()[end..html.len().min(end + 256)];
                at = memchr::memchr(b'>', near).map_or(end, |length| end + length + 1);
                write(&format!("{name}{}", &html[end..at]))?;
            }
        }
        write(&html[at..])
    };
    if read().is_ok() {
        let _ = rewriter.end();
    }
}

/// What an end tag closes.
#[derive(Clone, Copy)]
enum Open {
    Node(Id),
    Title,
    Script,
    /// Nothing that is kept.
    Nothing,
}

/// Where text that is no part of the page's text goes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Sink {
    #[default]
    None,
    Title,
    JsonLd,
    Tex,
}

#[derive(Default)]
struct Builder {
    tree: Tree,
    /// The nodes whose end has not come, outermost first.
    open: Vec<Id>,
    /// The source of each one's start tag.
    start_tags: Vec<Range<usize>>,
    /// How many of them are paragraphs.
    open_paragraphs: usize,
    /// Text read since the last tag, its references not yet decoded.
    pending: String,
    sink: Sink,
    /// The elements whose end `lol_html` waits for.
    unclosed: usize,
    /// Those of `open` that `lol_html` is to be told of again, innermost first.
    reopened: Vec<Id>,
    /// What has to be added to a position in what `lol_html` reads, to have the one in the page.
    shift: usize,
    /// Where `lol_html` is to start anew.
    stopped: Option<usize>,
    /// The node that the last start tag made.
    latest: Option<Id>,
    /// Whether an end tag closed across what a simple nesting allows.
    overlaps: bool,
    /// How many formatting elements ended without an end tag; the standard reopens them.
    lost_formatting: usize,
    /// Whether more elements were open than are kept.
    too_deep: bool,
}

impl Builder {
    fn new(size: usize) -> Self {
        let mut builder = Self::default();
        builder.tree.strings.reserve(size / 3);
        builder.tree.nodes.reserve(size / 48);
        builder.tree.size = size;
        builder.push(Tag::Root, NONE);
        builder.open.push(ROOT);
        builder.start_tags.push(0..0);
        builder
    }

    /// The start tags of what is open, before `lol_html` reads the page from `from` on.
    fn reopen(&mut self, html: &str, from: usize) -> String {
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
        self.shift = from.wrapping_sub(before.len());
        before
    }

    /// Takes a start tag, or one that `lol_html` is told of again.
    fn begin(&mut self, html: &str, element: &Element<'_, '_>) -> Result<Open, Box<dyn Error + Send + Sync>> {
        if let Some(id) = self.reopened.pop() {
            self.latest = None;
            return Ok(Open::Node(id));
        }
        if self.unclosed >= MAX_UNCLOSED {
            self.stopped = Some(element.source_location().bytes().start.wrapping_add(self.shift));
            return Err("more elements are open than are waited for".into());
        }
        if self.tree.is_dense(KEPT) {
            self.pending.push(' ');
            return Ok(Open::Nothing);
        }
        Ok(self.start(html, element).unwrap_or(Open::Nothing))
    }

    fn top(&self) -> Id {
        *self.open.last().unwrap_or(&ROOT)
    }

    fn push(&mut self, tag: Tag, first: u32) -> Id {
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

    fn text(&mut self, chunk: &TextChunk<'_>) {
        match (chunk.text_type(), self.sink) {
            (TextType::Data | TextType::PlainText | TextType::CDataSection, _)
            | (TextType::RCData, Sink::Title)
            | (TextType::ScriptData, Sink::JsonLd | Sink::Tex) => self.pending.push_str(chunk.as_str()),
            _ => {}
        }
    }

    fn flush(&mut self) {
        if self.pending.is_empty() {
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
                if !self.in_svg() {
                    let start = self.tree.strings.len() as u32;
                    if self.stands_apart(&pending) {
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

    /// Whether the text that begins here follows right upon another that a reader sees apart from it, though no
    /// white space parts their elements: two links, or elements that their classes give two looks.
    fn stands_apart(&self, text: &str) -> bool {
        let tree = &self.tree;
        let Some(first) = text.chars().next().filter(|c| c.is_alphanumeric()) else { return false };
        // The outermost of the elements that have begun since the text before, and of those that have ended.
        let since = |&depth: &usize| self.open[depth] == tree.len() + depth - self.open.len();
        let Some(begun) = (1..self.open.len()).rev().take_while(since).last() else { return false };
        let (next, around) = (self.open[begun], self.open[begun - 1]);
        let before = next - 1;
        let Some(last) = tree.text(before).chars().next_back().filter(|c| c.is_alphanumeric()) else { return false };
        let ended: Vec<Id> = tree.ancestors(before).take_while(|&id| id != around).collect();
        let Some(&former) = ended.last() else { return false };
        let is_code = |&id: &Id| matches!(tree.tag(id), Tag::Code | Tag::Pre | Tag::Math);
        if tree.is_fragment() || self.open.iter().any(is_code) {
            return false;
        }
        let link = |ids: &[Id]| ids.iter().find_map(|&id| tree.attr(id, Attr::Href));
        if let (Some(former), Some(next)) = (link(&ended), link(&self.open[begun..])) {
            return former != next;
        }
        let [former, next] = [former, next].map(|id| {
            let is_raised = matches!(tree.tag(id), Tag::Sub | Tag::Sup);
            tree.attr(id, Attr::Class).filter(|class| !is_raised && !class.trim().is_empty())
        });
        // An initial stands apart from its word only in looks, and no white space parts ideographs.
        let is_initial = tree.text(before).trim_start().len() == last.len_utf8() && first.is_lowercase();
        former.is_some()
            && next.is_some()
            && former != next
            && !is_initial
            && !is_ideograph(last)
            && !is_ideograph(first)
    }

    fn in_svg(&self) -> bool {
        self.tree.tag(self.top()) == Tag::Svg
    }

    fn select(&mut self) {
        if let Some(id) = self.latest {
            self.tree.selected.push(id);
        }
    }

    /// Takes a start tag; what its end tag will close.
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
                self.tree.head.base = self.tree.head.base.take().or_else(|| value("href").as_deref().map(decoded));
                return None;
            }
            Tag::Meta => {
                let name = value("property").or_else(|| value("name")).or_else(|| value("itemprop"));
                if let (Some(name), Some(content)) = (name, value("content")) {
                    self.tree.head.metas.push((name.trim().to_ascii_lowercase(), decoded(&content)));
                }
                return None;
            }
            Tag::Link => {
                if value("rel").is_some_and(|rel| rel.eq_ignore_ascii_case("canonical")) {
                    self.tree.head.canonical = value("href").as_deref().map(decoded);
                }
                return None;
            }
            Tag::Title if !self.in_svg() => {
                self.sink = Sink::Title;
                return Some(Open::Title);
            }
            // In a drawing, what they hold is read as markup.
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
                    self.silence_pictures();
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
            // Only an element of a page's text ends a drawing that is still open.
            if !tag.is_block() && !matches!(tag, Tag::Span | Tag::Img | Tag::Br) {
                return None;
            }
            self.close_top();
        }
        self.imply_ends(tag);
        let in_row = !matches!(self.tree.tag(self.top()), Tag::Table | Tag::Tbody | Tag::Thead | Tag::Tfoot);
        if matches!(tag, Tag::Td | Tag::Th) && !in_row {
            let row = self.push(Tag::Tr, NONE);
            self.open(row, 0..0);
        }
        // Nothing could be in it.
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

    /// Where in the page what `lol_html` has read stands.
    fn in_page(&self, location: &SourceLocation) -> Range<usize> {
        let Range { start, end } = location.bytes();
        start.wrapping_add(self.shift)..end.wrapping_add(self.shift)
    }

    /// Silences what `MathJax` has drawn before the source of a formula.
    fn silence_pictures(&mut self) {
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
        let mut streamed = false;
        for attribute in element.attributes() {
            let Some(name) = attribute.name_source_location() else { continue };
            let name = lower(&html[self.in_page(&name)], Attr::from_name);
            let is_known = |known: &Attribute| known.name == name;
            if matches!(name, Attr::Other | Attr::Source) || self.tree.attrs[first..].iter().any(is_known) {
                continue;
            }
            let value = attribute.value_source_location().map_or("", |at| &html[self.in_page(&at)]);
            match name {
                Attr::Hidden => hidden |= !value.eq_ignore_ascii_case("until-found"),
                Attr::AriaHidden => aria_hidden = value.eq_ignore_ascii_case("true"),
                Attr::Style => hidden |= hides(value),
                // A browser's open shadow tree, written out.
                Attr::Shadowrootmode => hidden = false,
                Attr::Id => streamed = value.starts_with(STREAMED),
                _ => {}
            }
            let value = self.store(value, true);
            self.tree.attrs.push(Attribute { name, is_last: false, value });
        }
        let bare = tag == Tag::Other || self.tree.attrs.len() == first;
        let in_formula = || self.open.iter().any(|&id| self.tree.tag(id) == Tag::Math);
        if bare
            && self.tree.is_fragment()
            && matches!(tag, Tag::Other | Tag::A)
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

    fn open(&mut self, id: Id, start_tag: Range<usize>) {
        self.too_deep |= self.open.len() >= MAX_DEPTH;
        if self.open.len() < MAX_DEPTH {
            self.open.push(id);
            self.start_tags.push(start_tag);
            self.open_paragraphs += usize::from(self.tree.tag(id) == Tag::P);
        }
    }

    fn close_top(&mut self) {
        if self.open.len() > 1
            && let Some(id) = self.open.pop()
        {
            self.start_tags.pop();
            self.tree.nodes[id].end = self.tree.nodes.len() as u32;
            self.open_paragraphs -= usize::from(self.tree.tag(id) == Tag::P);
            self.lost_formatting += usize::from(self.tree.tag(id).is_formatting());
        }
    }

    fn close_to(&mut self, depth: usize) {
        while self.open.len() > depth.max(1) {
            self.close_top();
        }
    }

    /// Ends the elements whose end tag may be left out before a start tag of this kind.
    fn imply_ends(&mut self, tag: Tag) {
        if tag.ends_paragraph() && self.open_paragraphs > 0 {
            self.close_in_scope(|open| open == Tag::P, |open| open.is_table_part() || open == Tag::Button);
        }
        let list = |open: Tag| matches!(open, Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dl) || open.is_table_part();
        let rows = |open: Tag| matches!(open, Tag::Table);
        match tag {
            Tag::Li => self.close_in_scope(|open| open == Tag::Li, list),
            Tag::Dt | Tag::Dd => self.close_in_scope(|open| matches!(open, Tag::Dt | Tag::Dd), list),
            Tag::Td | Tag::Th => {
                self.close_in_scope(
                    |open| matches!(open, Tag::Td | Tag::Th | Tag::Caption),
                    |open| matches!(open, Tag::Table | Tag::Tr),
                );
            }
            Tag::Tr => self.close_in_scope(|open| matches!(open, Tag::Tr | Tag::Caption), rows),
            Tag::Tbody | Tag::Thead | Tag::Tfoot => {
                let section = |open: Tag| matches!(open, Tag::Tbody | Tag::Thead | Tag::Tfoot | Tag::Caption);
                self.close_in_scope(section, rows);
            }
            Tag::Option | Tag::Optgroup => {
                self.close_in_scope(|open| open == Tag::Option, |open| open == Tag::Select || open.is_block());
            }
            Tag::A => self.close_in_scope(|open| open == Tag::A, Tag::is_block),
            Tag::Button => self.close_in_scope(|open| open == Tag::Button, Tag::is_table_part),
            Tag::Rt | Tag::Rp => {
                self.close_in_scope(
                    |open| matches!(open, Tag::Rt | Tag::Rp),
                    |open| open == Tag::Ruby || open.is_block(),
                );
            }
            _ if tag.heading_level().is_some() && self.tree.tag(self.top()).heading_level().is_some() => {
                self.close_top();
            }
            _ => {}
        }
    }

    /// Closes the innermost open element that is `wanted`, unless one that is a `boundary` is
    /// inside it.
    fn close_in_scope(&mut self, wanted: impl Fn(Tag) -> bool, boundary: impl Fn(Tag) -> bool) {
        for depth in (1..self.open.len()).rev() {
            let tag = self.tree.tag(self.open[depth]);
            if wanted(tag) {
                return self.close_to(depth);
            }
            if boundary(tag) {
                return;
            }
        }
    }

    /// Takes the end tag called `name`, which ends the element that was opened with `open`; every
    /// element that it ends is reported, innermost first.
    fn end(&mut self, open: Open, name: impl FnOnce() -> String) {
        self.unclosed -= 1;
        if matches!(open, Open::Nothing) {
            return;
        }
        self.flush();
        self.sink = Sink::None;
        let Open::Node(id) = open else { return };
        let (tag, ended_by) = (self.tree.tag(id), Tag::from_name(&name()));
        // An end tag in a cell ends nothing outside of the table.
        if tag.is_table_part() && !ended_by.is_table_part() {
            self.overlaps = true;
            return;
        }
        self.overlaps |= tag.is_block() && ended_by.is_formatting();
        for depth in (1..self.open.len()).rev() {
            let at = self.open[depth];
            if at == id {
                self.close_to(depth);
                self.lost_formatting -= usize::from(tag.is_formatting() && tag == ended_by);
                return;
            }
            let in_cell = matches!(self.tree.tag(at), Tag::Td | Tag::Th | Tag::Table | Tag::Caption);
            if at < id || (in_cell && !tag.is_table_part()) {
                return;
            }
        }
    }

    fn finish(&mut self) {
        self.flush();
        self.close_to(1);
        self.tree.nodes[ROOT].end = self.tree.nodes.len() as u32;
    }
}

/// The longest part of a page that somebody wrote, in bytes.
const MAX_FRAGMENT: usize = 256 << 10;

/// How many nodes are few, however small the page.
const FEW: usize = 20_000;

/// A page of more nodes than one in so many bytes is not repaired: html5ever takes 200 bytes for each.
const REPAIRED: usize = 48;

/// Of a page of more nodes than one in so many bytes only the text is read on.
const KEPT: usize = 3;

/// What `lol_html` may take beyond the size of the page: for the attributes of one element, and for those
/// that are open.
const READING: usize = 4 << 20;

/// The largest page that is repaired, in bytes.
const MAX_REPAIRED: usize = 4 << 20;

/// The most formatting elements without an end tag in a page that is repaired: the standard reopens
/// all of them in every block that follows.
const MAX_LOST: usize = 48;

/// The page as the standard's tree construction nests it.
fn repaired(html: &str) -> Option<String> {
    let mut readable = html.to_owned();
    for (at, name) in renamed(html) {
        readable.replace_range(at..at + name.len(), name);
    }
    let html = readable;
    let page = html2text::config::plain().parse_html(html.as_bytes()).ok()?;
    let mut out = Vec::with_capacity(html.len() + html.len() / 8);
    page.serialize(&mut out).ok()?;
    String::from_utf8(out).ok()
}

/// How the id of an element begins that React hides only until its script has put it in place: what a server
/// sends late of a page (`pushStartSegment` in `ReactFizzConfigDOM`).
const STREAMED: &str = "S:";

/// A name for `<noscript>` that is as long and has no rules of its own: browsers that run scripts take
/// its content for text, but an application's page that nobody ran has all it says in there.
const NOSCRIPT: &str = "no-scrpt";

/// A name for `<iframe>` that is as long and has no rules of its own.
const IFRAME: &str = "i-fram";

/// Where a page has the name of a tag, and what it is read as instead.
type Renamed = (usize, &'static str);

/// The names of a page's `<noscript>` tags, and of the `<iframe>` in one that nothing ends: of the whole page
/// behind it the standard makes that frame's text, browsers that run scripts only what the `<noscript>` holds.
fn renamed(html: &str) -> Vec<Renamed> {
    let find = |name: &'static str| memchr::memmem::find_iter(html.as_bytes(), name);
    let mut places: Vec<usize> = find("noscript").chain(find("NOSCRIPT")).collect();
    places.retain(|&at| html[..at].ends_with('<') || html[..at].ends_with("</"));
    places.sort_unstable();
    let mut renamed = Vec::with_capacity(places.len());
    for (&at, next) in places.iter().zip(places.iter().skip(1).copied().chain([html.len()])) {
        renamed.push((at, NOSCRIPT));
        let held = if html[..at].ends_with('/') { "" } else { &html[at..next] };
        let opened = memchr::memmem::rfind(held.as_bytes(), b"<iframe");
        if let Some(opened) = opened.filter(|&opened| !held[opened..].contains("</iframe")) {
            renamed.push((at + opened + 1, IFRAME));
        }
    }
    renamed
}

/// The kind of element that a start tag's source opens.
fn tag_of(source: &str) -> Tag {
    let name = source[1..].split(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>')).next();
    lower(name.unwrap_or_default(), |name| match name {
        NOSCRIPT => Tag::Noscript,
        IFRAME => Tag::Iframe,
        "amp-img" => Tag::Img,
        _ => Tag::from_name(name),
    })
}

/// A start tag as Markdown takes it for HTML within a line; none for what runs, or begins a block, or is
/// refused there.
fn start_tag(element: &Element<'_, '_>) -> Option<String> {
    const REFUSED: [&str; 7] = ["basefont", "frame", "menuitem", "noembed", "noframes", "param", "track"];
    // HTML's own, whose text says it all.
    const PLAIN: [&str; 9] = ["acronym", "area", "bdi", "bdo", "data", "map", "output", "rb", "rtc"];
    let name = element.tag_name_preserve_case();
    let is_name = |name: &str, others: &[char]| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || others.contains(&c))
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || others.contains(&c))
    };
    let is = |other: &&str| name.eq_ignore_ascii_case(other);
    // The last are those that `MathJax` draws with.
    if !is_name(&name, &[]) || REFUSED.iter().any(is) || PLAIN.iter().any(is) || name.starts_with("mjx-") {
        return None;
    }
    let mut tag = format!("<{name}");
    for attribute in element.attributes() {
        let (name, value) = (attribute.name(), attribute.value());
        if !is_name(&name, &['_', ':', '.']) || name.starts_with("on") || name == "style" {
            return None;
        }
        let value = value.replace('"', "&quot;").replace('<', "&lt;").replace('\n', "&#10;");
        tag.extend([" ", &name, "=\"", &value, "\""]);
    }
    tag.push_str(if element.is_self_closing() { " />" } else { ">" });
    Some(tag)
}

/// Looks a name up in lower case, without allocating.
fn lower<T>(name: &str, look_up: impl Fn(&str) -> T) -> T {
    let mut buffer = [0; 16];
    match buffer.get_mut(..name.len()) {
        Some(buffer) => {
            buffer.copy_from_slice(name.as_bytes());
            buffer.make_ascii_lowercase();
            look_up(std::str::from_utf8(buffer).unwrap_or_default())
        }
        None => look_up(""),
    }
}

fn decoded(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    entities::decode(source, true, &mut out);
    out
}

/// Whether an inline style takes the element off the page.
fn hides(style: &str) -> bool {
    style.split(';').any(|rule| {
        rule.split_once(':').is_some_and(|(name, value)| {
            let (name, value) = (name.trim(), value.trim());
            (name.eq_ignore_ascii_case("display") && value.get(..4).is_some_and(|v| v.eq_ignore_ascii_case("none")))
                || (name.eq_ignore_ascii_case("visibility")
                    && value.get(..6).is_some_and(|v| v.eq_ignore_ascii_case("hidden")))
        })
    })
}
