//! A tree as GitHub-flavoured Markdown.
//!
//! `html2text`'s own renderer can not be told to escape text, fence code or write pipe tables, so
//! this one replaces it. One walk in document order; depth is bounded by [`crate::tree::MAX_DEPTH`], so recursion is safe.
//! Nothing is wrapped: a paragraph is a line. What GFM can not say degrades to what reads best.

mod code;
mod html;
mod inline;
mod lines;
mod notes;
mod table;

pub(crate) use inline::is_ideograph;

use std::ops::Range;

use url::Url;

use self::{
    inline::{Inline, Mark, Place, escape_plain},
    lines::{Container, Lines},
    notes::Notes,
};
use crate::{
    tag::{Attr, Tag},
    tree::{Id, ROOT, Tree},
    urls,
};

/// Renders the nodes of `tree` that `keep` holds; links are resolved against `base`. With
/// `everything`, blocks and links that have nothing in them are written too.
pub(crate) fn render(tree: &Tree, mut keep: Vec<bool>, base: Option<&Url>, everything: bool) -> String {
    let notes = Notes::find(tree, &mut keep);
    let keep = &*keep;
    let mut has_block = vec![false; tree.len()];
    for id in (1..tree.len()).rev() {
        if keep[id] && (has_block[id] || tree.tag(id).is_block()) {
            has_block[tree.parent(id)] = true;
        }
    }
    let mut renderer = Renderer {
        tree,
        keep,
        base,
        everything,
        has_block,
        notes,
        lines: Lines::new(tree.size()),
        link: None,
        last_list: None,
    };
    renderer.blocks(ROOT);
    renderer.lines.finish()
}

/// The most nodes of a paragraph: what is known of each, while it is written, takes more than the node.
const MAX_PARAGRAPH: usize = 1 << 16;

struct Renderer<'t> {
    tree: &'t Tree,
    keep: &'t [bool],
    base: Option<&'t Url>,
    /// Whether what is empty is written too.
    everything: bool,
    /// Whether a node has a block inside.
    has_block: Vec<bool>,
    notes: Notes,
    lines: Lines,
    /// A link around whole blocks: the first text in it becomes the link.
    link: Option<Id>,
    /// The list that was just written, and whether it used the second kind of marker.
    last_list: Option<(Id, bool)>,
}

impl<'t> Renderer<'t> {
    fn visible(&self, id: Id) -> bool {
        self.keep[id] && !self.tree.tag(id).is_silent()
    }

    fn children(&self, id: Id) -> impl Iterator<Item = Id> + use<'t> {
        self.siblings(self.tree.descendants(id))
    }

    /// The outermost nodes in a range, those that show.
    fn siblings(&self, range: Range<Id>) -> impl Iterator<Item = Id> + use<'t> {
        let (tree, keep) = (self.tree, self.keep);
        tree.siblings(range).filter(move |&child| keep[child] && !tree.tag(child).is_silent())
    }

    fn breaks_line(&self, id: Id) -> bool {
        self.tree.tag(id).is_block() || self.has_block[id]
    }

    /// Writes what is in a node, as blocks.
    fn blocks(&mut self, id: Id) {
        self.flow(self.tree.descendants(id));
    }

    fn flow(&mut self, nodes: Range<Id>) {
        let mut run = nodes.start..nodes.start;
        for child in self.siblings(nodes.clone()) {
            if child - run.start >= MAX_PARAGRAPH {
                run.end = child;
                self.paragraph(run);
                run = child..nodes.end;
            }
            if self.breaks_line(child) {
                run.end = child;
                self.paragraph(run);
                self.block(child);
                run = self.tree.subtree(child).end..nodes.end;
            }
        }
        run.end = nodes.end;
        self.paragraph(run);
    }

    /// Writes inline nodes as paragraphs.
    fn paragraph(&mut self, run: Range<Id>) {
        if let Some(html) = self.block_html(run.clone()) {
            return self.lines_of(&html);
        }
        let text = self.inline_text(run, Place::Paragraph);
        if !text.is_empty() {
            self.last_list = None;
            for paragraph in text.split("\n\n").filter(|text| !text.is_empty()) {
                self.lines.block(paragraph);
            }
        }
    }

    fn inline_text(&mut self, run: Range<Id>, place: Place) -> String {
        if self.siblings(run.clone()).next().is_none() {
            return String::new();
        }
        let mut inline = Inline::new();
        let link = self.link;
        if let Some(link) = link {
            inline.open(Mark::Link(link as u32));
        }
        for id in self.siblings(run) {
            self.inline(id, &mut inline, place);
        }
        if link.is_some() {
            inline.close();
            if !inline.is_empty() {
                self.link = None;
            }
        }
        self.write(inline, place)
    }

    fn write(&self, inline: Inline, place: Place) -> String {
        inline.write(place, |id, out| {
            let href = self.tree.attr(id, Attr::Href).unwrap_or_default();
            let url = urls::resolve(href, self.base).unwrap_or_default();
            self.lines.allow_address(&url, href);
            urls::write_destination(&url, place == Place::Cell, out);
            self.title(id, place, out);
        })
    }

    fn title(&self, id: Id, place: Place, out: &mut String) {
        let Some(title) = self.tree.attr(id, Attr::Title).filter(|title| !title.trim().is_empty()) else { return };
        // Browsers show the lines of a title; who wants the content alone does not.
        let lines = if self.everything { title.split('\n').collect() } else { vec![title] };
        let mut escaped = String::new();
        for (at, line) in lines.into_iter().enumerate() {
            escaped.push_str(if at > 0 { "&#10;" } else { "" });
            escape_plain(line, place, &mut escaped);
        }
        out.extend([" \"", &escaped.replace('"', "\\\""), "\""]);
    }

    fn block(&mut self, id: Id) {
        let tag = self.tree.tag(id);
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
            Tag::Hr => {
                self.lines.block(if self.lines.at_marker() { "___" } else { "---" });
                self.last_list = None;
            }
            Tag::Pre | Tag::Listing | Tag::Xmp | Tag::Plaintext => self.code_block(id),
            Tag::Blockquote => {
                self.last_list = None;
                self.contain(&Container::Quote, id);
            }
            Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir => self.list(id),
            // An item without a list.
            Tag::Li => self.contain(&Container::Item("- "), id),
            Tag::Dt | Tag::Summary => {
                let mut inline = Inline::new();
                inline.open(Mark::Strong);
                self.inline_children(id, &mut inline, Place::Heading);
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
            Tag::A if self.link.is_none() && self.is_link(id) => {
                self.link = Some(id);
                self.blocks(id);
                self.link = None;
            }
            _ => self.blocks(id),
        }
    }

    /// Writes what a reader can open and close, under its summary.
    fn details(&mut self, id: Id) {
        let summary = self.children(id).find(|&child| self.tree.tag(child) == Tag::Summary && self.has_content(child));
        let has_rest = self.children(id).any(|child| Some(child) != summary && self.shows(child));
        match summary {
            Some(summary) if has_rest => {
                // Text between tags is HTML until a blank line.
                let text = self.plain_text(summary).replace('&', "&amp;").replace('<', "&lt;");
                let (inside, summary) = (self.tree.descendants(id), self.tree.subtree(summary));
                self.lines_of(&format!("<details>\n<summary>{text}</summary>"));
                self.flow(inside.start..summary.start);
                self.flow(summary.end..inside.end);
                self.lines_of("</details>");
            }
            _ => self.blocks(id),
        }
    }

    /// The visible text in a node, on one line.
    fn plain_text(&self, id: Id) -> String {
        let mut words = vec![];
        let mut at = id + 1;
        while at < self.tree.subtree(id).end {
            if self.visible(at) {
                words.push(self.tree.text(at));
                at += 1;
            } else {
                at = self.tree.subtree(at).end;
            }
        }
        words.concat().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn lines_of(&mut self, text: &str) {
        if !text.is_empty() {
            self.last_list = None;
            self.lines.block(text);
        }
    }

    fn contain(&mut self, container: &Container<'_>, id: Id) {
        if self.everything || self.has_content(id) {
            self.lines.open(container);
            self.blocks(id);
            self.last_list = None;
            self.lines.close();
        }
    }

    /// Whether anything in the node shows.
    fn has_content(&self, id: Id) -> bool {
        self.shows_within(id + 1, self.tree.subtree(id).end)
    }

    /// Whether the node, or anything in it, shows.
    fn shows(&self, id: Id) -> bool {
        self.shows_within(id, self.tree.subtree(id).end)
    }

    fn shows_within(&self, mut at: Id, end: Id) -> bool {
        while at < end {
            if !self.visible(at) {
                at = self.tree.subtree(at).end;
                continue;
            }
            let shows = match self.tree.tag(at) {
                Tag::Text => !self.tree.text(at).trim().is_empty(),
                Tag::Img | Tag::Hr | Tag::Math | Tag::Pre => true,
                Tag::Input => self.is_task(at),
                _ => false,
            };
            if shows {
                return true;
            }
            at += 1;
        }
        false
    }

    fn heading(&mut self, id: Id, level: u8) {
        let text = self.inline_text(self.tree.descendants(id), Place::Heading);
        if self.everything || !text.is_empty() {
            let marks = "#".repeat(usize::from(level));
            self.lines_of(format!("{marks} {text}").trim_end());
        }
    }

    fn list(&mut self, id: Id) {
        let ordered = self.tree.tag(id) == Tag::Ol;
        let start = self.tree.attr(id, Attr::Start).and_then(|start| start.trim().parse().ok()).unwrap_or(1_u32);
        // Two lists in a row would run into one: the second takes the other marker.
        let second =
            matches!(self.last_list, Some((last, second)) if !second && (self.tree.tag(last) == Tag::Ol) == ordered);
        let mut number = start.min(999_999_999);
        let mut first = true;
        let mut spread = false;
        let mut ends = vec![];
        let mut rest = self.tree.descendants(id);
        while let Some(nodes) = self.next_item(rest.clone()) {
            rest.start = nodes.end;
            if !first {
                ends.push(self.lines.position());
                self.lines.tight();
            }
            let marker = match (ordered, second) {
                (true, false) => format!("{number}. "),
                (true, true) => format!("{number}) "),
                (false, false) => "- ".to_owned(),
                (false, true) => "* ".to_owned(),
            };
            let item = nodes.start;
            match self.tree.tag(item) {
                _ if self.notes.notes.contains_key(&item) => {
                    self.block(item);
                    spread = true;
                }
                // A list right inside a list belongs to the item before it.
                Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir => {
                    let indent = " ".repeat(marker.len());
                    self.lines.open(&Container::Item(if first { &marker } else { &indent }));
                    self.list(item);
                    spread |= self.lines.close();
                }
                tag => {
                    self.lines.open(&Container::Item(&marker));
                    self.last_list = None;
                    match tag {
                        Tag::Li => self.item(item),
                        _ => self.flow(nodes),
                    }
                    spread |= self.lines.close();
                    number = (number + 1).min(999_999_999);
                }
            }
            first = false;
        }
        if spread {
            self.lines.spread(&ends);
        }
        if !first {
            self.lines.blank();
            self.last_list = Some((id, second));
        }
    }

    /// The next item of a list: text that is in none makes one, together with what stands in its line.
    fn next_item(&self, range: Range<Id>) -> Option<Range<Id>> {
        let mut item: Option<Range<Id>> = None;
        for child in self.siblings(range) {
            let breaks = self.breaks_line(child);
            match &mut item {
                Some(_) if breaks => break,
                Some(item) => item.end = self.tree.subtree(child).end,
                None if self.tree.tag(child) == Tag::Li || self.shows(child) => {
                    item = Some(self.tree.subtree(child));
                    if breaks {
                        break;
                    }
                }
                None => {}
            }
        }
        item
    }

    /// Writes what is in a list item: a list follows its text without a gap.
    fn item(&mut self, id: Id) {
        let start = self.lines.position();
        let inside = self.tree.descendants(id);
        let mut run = inside.clone();
        for child in self.siblings(inside.clone()) {
            if !self.breaks_line(child) {
                continue;
            }
            run.end = child;
            self.paragraph(run);
            run = self.tree.subtree(child).end..inside.end;
            let starts_at_one = self.tree.attr(child, Attr::Start).is_none_or(|start| start.trim() == "1");
            let listing = matches!(self.tree.tag(child), Tag::Ul | Tag::Ol) && starts_at_one;
            if listing && self.lines.position() > start && self.last_list.is_none() && self.begins(child) {
                self.lines.tight();
            }
            self.block(child);
        }
        self.paragraph(run);
    }

    /// Whether the first item of a list has content; the mark of an empty one would underline the text above.
    fn begins(&self, list: Id) -> bool {
        self.children(list)
            .find(|&item| self.tree.tag(item) == Tag::Li || self.shows(item))
            .is_some_and(|item| self.shows(item))
    }

    fn is_link(&self, id: Id) -> bool {
        self.tree.attr(id, Attr::Href).is_some_and(|href| urls::resolve(href, None).is_some())
    }

    /// A link that only points at its own heading.
    fn is_anchor(&self, id: Id) -> bool {
        self.tree.attr(id, Attr::Href).is_some_and(|href| href.contains('#')) && {
            let text = self.tree.text_content(id);
            let text = text.trim();
            text.chars().count() <= 2 && !text.is_empty() && !text.chars().any(char::is_alphanumeric)
        }
    }

    fn inline_children(&mut self, id: Id, inline: &mut Inline, place: Place) {
        for child in self.children(id) {
            self.inline(child, inline, place);
        }
    }

    fn marked(&mut self, mark: Mark, id: Id, inline: &mut Inline, place: Place) {
        let nested = inline.open.contains(&mark) && !matches!(mark, Mark::Em | Mark::Strong);
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

    fn inline(&mut self, id: Id, inline: &mut Inline, place: Place) {
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
                let says_more = |id| self.visible(id) && matches!(self.tree.tag(id), Tag::A | Tag::Img);
                if self.tree.descendants(id).any(says_more) {
                    self.inline_children(id, inline, place);
                } else {
                    inline.code(&self.code_text(id), self.everything);
                }
            }
            Tag::A | Tag::Other if self.inline_html(id, inline, place) => {}
            Tag::A => {
                let in_link = inline.open.iter().any(|mark| matches!(mark, Mark::Link(_)));
                if self.is_anchor(id) && place == Place::Heading {
                } else if in_link || !self.is_link(id) {
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
            Tag::Math => {
                if let Some(tex) = self.mathematics(id) {
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

    /// Whether it is a box that a list item's text can begin with.
    fn is_task(&self, id: Id) -> bool {
        let mut around = self.tree.ancestors(id).map(|id| self.tree.tag(id));
        self.tree.attr(id, Attr::Type).is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox"))
            && around.find(|tag| tag.is_block() && !matches!(tag, Tag::P | Tag::Div)) == Some(Tag::Li)
    }

    fn image(&self, id: Id, place: Place) -> Option<String> {
        let attr = |name| self.tree.attr(id, name).map(str::trim).filter(|value| !value.is_empty());
        let usable = |source: &&str| !is_data(source);
        // What loads later stands behind a placeholder.
        let source = [Attr::DataSrc, Attr::DataLazySrc, Attr::DataOriginal, Attr::Src].into_iter();
        let source = source.filter_map(attr).find(usable).or_else(|| self.candidate(id));
        let alt = attr(Attr::Alt).unwrap_or_default();
        let source = match source {
            Some(source) => {
                let url = urls::resolve(source, self.base)?;
                self.lines.allow_address(&url, source);
                url
            }
            None if self.tree.attr(id, Attr::Src) == Some("") => "".into(),
            None => return None,
        };
        let mut out = String::from("![");
        escape_plain(alt, place, &mut out);
        out.push_str("](");
        urls::write_destination(&source, place == Place::Cell, &mut out);
        self.title(id, place, &mut out);
        out.push(')');
        Some(out)
    }

    /// The best of the sources that an image or the picture around it offers by size.
    fn candidate(&self, id: Id) -> Option<&'t str> {
        let tree = self.tree;
        let picture = Some(tree.parent(id)).filter(|&parent| tree.tag(parent) == Tag::Picture);
        let sources =
            picture.into_iter().flat_map(|id| tree.children(id).take(16).filter(|&id| tree.tag(id) == Tag::Source));
        let sets = std::iter::once(id)
            .chain(sources)
            .flat_map(|id| [tree.attr(id, Attr::DataSrcset), tree.attr(id, Attr::Srcset)]);
        sets.flatten().filter_map(urls::widest).find(|source| !is_data(source))
    }

    /// The TeX source of a formula, where the page has it.
    fn mathematics(&self, id: Id) -> Option<String> {
        let annotation = self.tree.descendants(id).find(|&id| {
            self.tree.tag(id) == Tag::Annotation
                && self.tree.attr(id, Attr::Encoding).is_some_and(|encoding| encoding.contains("tex"))
        });
        let script = self.tree.attr(id, Attr::Type);
        let tex = match (annotation, script, self.tree.attr(id, Attr::Alttext)) {
            (Some(annotation), ..) => self.tree.text_content(annotation),
            (None, Some(_), _) => self.tree.text_content(id),
            (None, None, Some(alternative)) => alternative.to_owned(),
            (None, None, None) => return None,
        };
        let tex = tex.split_whitespace().collect::<Vec<_>>().join(" ");
        let display =
            self.tree.attr(id, Attr::Display) == Some("block") || script.is_some_and(|kind| kind.contains("display"));
        let fence = if display { "$$" } else { "$" };
        (!tex.is_empty()).then(|| format!("{fence}{tex}{fence}"))
    }
}

fn is_data(url: &str) -> bool {
    url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}
