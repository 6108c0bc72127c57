//! The HTML parser: a page as a flat tree, built from the events of `lol_html`.
//!
//! `lol_html` is a streaming rewriter: it reports start tags, end tags and text, but builds no tree. This module builds
//! the tree by the HTML standard's rules for implied end tags and table scopes. The reasons against html5ever's tree,
//! measured on 181 news pages:
//!
//! - Speed: 228 MB/s for this tree, 107 MB/s for html5ever's `RcDom`.
//! - Memory: a node takes 16 bytes ([`node::Node`]), and about 200 with html5ever. A page can have a tag in every third
//!   byte, and a conversion may use ten times the memory of the page (`tests/memory.rs`).
//! - Bounds: at most [`MAX_DEPTH`] elements are open, so every walk of a tree is bounded, recursive or not.
//!
//! The disadvantage: a page whose tags overlap, such as `<b><p></b>`, needs the complete tree construction of the
//! standard. html5ever parses and serializes such a page, and this module reads the result ([`repair`]).
//!
//! Two properties of `lol_html` need a workaround. It reads the content of some elements as raw text, like a browser
//! with scripts, so these elements are renamed before ([`source::renames`]). It keeps about 160 bytes for each element
//! without an end tag, so it is restarted when there are too many of them ([`build::MAX_UNCLOSED`]).
//!
//! | file | content |
//! |---|---|
//! | [`node`] | the tree itself, and its queries |
//! | [`source`] | start tags as text: names, renamed elements, hiding styles |
//! | [`build`] | conversion of the events of `lol_html` to nodes and attributes |
//! | [`diagram`] | the texts that an SVG draws |
//! | [`space`] | where a page leaves a space to its layout |
//! | [`nesting`] | which elements a tag opens and closes |
//! | [`repair`] | when and how html5ever takes over |

mod build;
mod diagram;
mod nesting;
mod node;
mod repair;
mod source;
mod space;

use std::{borrow::Cow, cell::RefCell, rc::Rc};

use lol_html::{
    DocumentContentHandlers, ElementContentHandlers, HtmlRewriter, MemorySettings, Selector, Settings,
    html_content::{Element, TextChunk},
};

use self::{
    build::Builder,
    source::{Rename, renames},
};

pub(crate) use node::{Head, Id, ROOT, Tree};

/// The maximum memory that `lol_html` may take beyond the size of the page: for the attributes of one element,
/// and for the elements that are open.
const READER_MEMORY: usize = 4 << 20;

/// The maximum number of bytes of a page that are read: positions are 32 bits wide.
const MAX_PAGE: usize = 1 << 30;

impl Tree {
    /// Parses a page and repairs it where its tags overlap; `selector` marks the nodes that it matches.
    pub(crate) fn parse(html: &str, selector: Option<&Selector>) -> Self {
        let (tree, is_broken) = read(html, selector);
        if !is_broken || !repair::is_affordable(&tree) {
            return tree;
        }
        // Two trees and their sources take more memory than the page may.
        drop(tree);
        let repaired = repair::repaired(html);
        read(repaired.as_deref().unwrap_or(html), selector).0
    }

    /// Parses HTML that this crate wrote.
    pub(crate) fn parse_generated(html: &str) -> Self {
        read(html, None).0
    }
}

/// Reads a page as it is. The second result says whether it must and can be repaired.
fn read(html: &str, selector: Option<&Selector>) -> (Tree, bool) {
    let html = &html[..html.floor_char_boundary(MAX_PAGE)];
    let builder = Rc::new(RefCell::new(Builder::new(html.len())));
    let renames = renames(html);
    let mut from = Some(0);
    while let Some(start) = from {
        read_from(html, start, &renames, selector, &builder);
        from = builder.borrow_mut().restart.take();
    }
    let mut builder = builder.take();
    // Selectors depend on siblings, which only the standard's tree construction places correctly for
    // overlapping tags.
    let is_broken = (builder.overlaps || builder.is_heading_open() || selector.is_some())
        && builder.lost_formatting <= repair::MAX_LOST_FORMATTING
        && !builder.too_deep
        && html.len() <= repair::MAX_PAGE;
    builder.finish();
    (builder.tree, is_broken)
}

/// Reads the page from `from` on, inside the open elements. If reading stops before the end, the builder has
/// the position to restart from.
fn read_from(html: &str, from: usize, renames: &[Rename], selector: Option<&Selector>, builder: &Rc<RefCell<Builder>>) {
    let before: String = builder.borrow_mut().reopen(html, from);
    let (on_element, on_text, on_match) = (Rc::clone(builder), Rc::clone(builder), Rc::clone(builder));
    let mut settings = Settings::new()
        .with_strict(false)
        .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(html.len() + READER_MEMORY))
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
    // The only errors are the builder's requests to restart and the memory limit. The nodes read before stay
    // valid.
    let mut read = || {
        write(&before)?;
        let mut at = from;
        for &(start, name) in &renames[renames.partition_point(|&(start, _)| start < from)..] {
            if start >= at {
                write(&html[at..start])?;
                // The rest of the tag in one write: `lol_html` copies a tag that two writes bring.
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

/// The texts of a page's text nodes.
#[cfg(test)]
fn texts(html: &str) -> Vec<String> {
    let tree = Tree::parse(html, None);
    let texts = (1..tree.len()).filter(|&id| tree.tag(id) == crate::tag::Tag::Text);
    texts.map(|id| tree.text(id).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tag::Tag;

    /// The elements of a page, each with its children in brackets.
    fn outline(tree: &Tree, id: Id) -> String {
        let children: Vec<String> = tree.children(id).map(|child| outline(tree, child)).collect();
        match tree.tag(id) {
            Tag::Text => format!("{:?}", tree.text(id)),
            tag => format!("{tag:?}[{}]", children.join(" ")),
        }
    }

    fn parsed(html: &str) -> String {
        outline(&Tree::parse(html, None), ROOT)
    }

    #[test]
    fn overlapping_tags_nest_as_the_standard_says() {
        assert_eq!(parsed("<b>x<p>y</b>z</p>"), r#"Root[B["x"] P[B["y"] "z"]]"#);
        assert_eq!(outline(&Tree::parse_generated("<b>x<p>y</b>z</p>"), ROOT), r#"Root[B["x" P["y"]] "z"]"#);
    }

    #[test]
    fn a_page_with_more_open_elements_than_lol_html_may_hold_is_read_on() {
        let page = format!("<div>{}<p>x</p></div>y", "<i>".repeat(build::MAX_UNCLOSED + 10));
        let tree = Tree::parse(&page, None);
        let text = |text: &str| (1..tree.len()).find(|&id| tree.text(id) == text).unwrap();
        assert_eq!(tree.parent(text("y")), ROOT);
        assert!(tree.descendants(1).contains(&text("x")));
    }

    #[test]
    fn a_selector_marks_what_it_matches_after_repair() {
        let selector = "p > b".parse().unwrap();
        let tree = Tree::parse("<b>x<p>y</b>z</p>", Some(&selector));
        assert_eq!(tree.selected.len(), 1);
        assert_eq!(tree.text_content(tree.selected[0]), "y");
    }
}
