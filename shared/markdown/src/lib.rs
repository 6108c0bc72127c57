//! HTML to Markdown: the main content of a page as GitHub-flavoured Markdown, and its metadata.
//!
//! The input is bytes and the output is text; this crate does no I/O.
//!
//! ```
//! use ragmaker_markdown::{Options, Scope, convert, decode};
//!
//! let bytes = b"<html lang=en><title>Tides</title><h1>Tides</h1><p>High water comes <b>twice</b> a day.";
//! let (html, charset) = decode(bytes, Some("text/html"));
//! let page = convert(&html, &Options { scope: Scope::Whole, ..Options::default() })?;
//! assert_eq!(charset.name(), "UTF-8");
//! assert_eq!(page.metadata.title, "Tides");
//! assert_eq!(page.markdown, "# Tides\n\nHigh water comes **twice** a day.\n");
//! # Ok::<(), ragmaker_markdown::Error>(())
//! ```
//!
//! [`decode`] decodes the bytes with the right charset. [`convert`] parses the page into a flat tree (`tree`), selects
//! the nodes that are content (`extract`), and writes them as Markdown (`render`). If a page has almost no text, the
//! text of its JSON-LD or of its application state is used instead (`structured`).

mod chars;
mod decode;
mod entities;
mod extract;
mod links;
mod metadata;
mod render;
mod sign_in;
mod structured;
mod tag;
mod text;
mod tree;
mod urls;

use std::fmt;

use url::Url;

/// The example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(feature = "training")]
pub use crate::extract::Examples;
pub use crate::{
    chars::count_words,
    decode::decode,
    links::{Links, Relation, is_noindex, links},
    metadata::{Metadata, PageType},
    sign_in::{SignIn, sign_in},
    text::plain_text,
};
use crate::{
    extract::{Labels, Tabs},
    render::Addresses,
    tree::Tree,
};

/// The options of a conversion.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// The URL of the page; relative links are resolved against it, or against the page's own `<base>`.
    pub base_url: Option<&'a Url>,
    /// The part of the page to convert.
    pub scope: Scope<'a>,
}

/// The part of a page to convert.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope<'a> {
    /// The main content, without boilerplate such as navigation and footers.
    #[default]
    Main,
    /// All visible content.
    Whole,
    /// The elements that match a CSS selector, as supported by [`lol_html::Selector`].
    Selector(&'a str),
}

/// A converted page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// The metadata of the page.
    pub metadata: Metadata,
    /// The content as GitHub-flavoured Markdown, with a newline at the end.
    pub markdown: String,
    /// The number of words in the Markdown: separated by white space, and each CJK character.
    pub words: usize,
}

/// The reason why a page could not be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The part to convert has no text, or no main content was found.
    EmptyContent,
    /// The selector is invalid or not supported; with the reason.
    BadSelector(String),
    /// The selector matches nothing.
    NothingSelected,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyContent => f.write_str("the page has no content"),
            Self::BadSelector(reason) => write!(f, "the selector is invalid: {reason}"),
            Self::NothingSelected => f.write_str("the selector matches nothing on the page"),
        }
    }
}

impl std::error::Error for Error {}

/// Converts a page; its HTML may have any errors.
///
/// # Errors
///
/// - [`Error::EmptyContent`] if the page, or its main content, has no text.
/// - [`Error::BadSelector`] if [`Scope::Selector`] is not a selector that [`lol_html`] supports.
/// - [`Error::NothingSelected`] if the selector matches no element.
pub fn convert(html: &str, options: &Options<'_>) -> Result<Document, Error> {
    let selector = match options.scope {
        Scope::Selector(css) => Some(parse_selector(css)?),
        Scope::Main | Scope::Whole => None,
    };
    let tree = Tree::parse(html, selector.as_ref());
    let base = metadata::base_url(&tree.head, options.base_url);
    let address = metadata::address(&tree, options.base_url);
    let tabs = Tabs::new(&tree);
    let kind = || extract::kind(&tree, address.as_ref());
    let (mut keep, page_type, mut confidence) = match options.scope {
        Scope::Main => {
            let content = extract::main_content(&tree, &tabs, address.as_ref());
            (content.keep, content.kind, Some(hundredths(content.confidence)))
        }
        Scope::Whole => (extract::visible(&tree), kind(), None),
        Scope::Selector(_) => (extract::selected(&tree).ok_or(Error::NothingSelected)?, kind(), None),
    };
    let everything = options.scope != Scope::Main;
    let addresses = Addresses { base: base.as_ref(), page: address.as_ref() };
    let labels = tabs.label(&tree, &mut keep);
    let mut markdown = render::render(&tree, &keep, &labels, addresses, everything);
    let mut words = count_words(&markdown);
    let metadata = metadata::read(&tree, base.as_ref());
    if !everything && let Some(html) = structured::fallback(&tree.head, html, words, || extract::words_shown(&tree)) {
        let tree = Tree::parse_generated(&html);
        markdown = render::render(&tree, &extract::visible(&tree), &Labels::default(), addresses, false);
        words = count_words(&markdown);
        confidence = None;
    }
    if markdown.is_empty() {
        return Err(Error::EmptyContent);
    }
    Ok(Document { metadata: Metadata { page_type, confidence, ..metadata }, markdown, words })
}

/// A number rounded to two decimal places.
fn hundredths(number: f32) -> f64 {
    (f64::from(number) * 100.0).round() / 100.0
}

/// Checks a selector before there is a page.
///
/// # Errors
///
/// [`Error::BadSelector`] if [`lol_html`] does not support it.
pub fn check_selector(css: &str) -> Result<(), Error> {
    parse_selector(css).map(drop)
}

fn parse_selector(css: &str) -> Result<lol_html::Selector, Error> {
    css.parse().map_err(|error: lol_html::errors::SelectorError| Error::BadSelector(error.to_string()))
}

/// Converts all visible content of HTML with correctly nested tags, for example generated HTML.
///
/// Does not link html5ever, with which [`convert`] repairs overlapping tags, nor the model that selects the
/// main content. They are a third of the size of a tool that converts generated documents.
///
/// # Errors
///
/// [`Error::EmptyContent`] if there is no text.
pub fn convert_generated(html: &str) -> Result<String, Error> {
    let tree = Tree::parse_generated(html);
    let markdown = render::render(&tree, &extract::visible(&tree), &Labels::default(), Addresses::default(), true);
    if markdown.is_empty() { Err(Error::EmptyContent) } else { Ok(markdown) }
}

/// The blocks of a page, for training.
#[cfg(feature = "training")]
pub fn training_examples(html: &str, address: Option<&Url>) -> Examples {
    let tree = Tree::parse(html, None);
    let address = metadata::address(&tree, address);
    extract::examples(&tree, address.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_not_linked_to_the_page_that_it_is_on_by_its_metadata() {
        let of_page = |url: &str| {
            let html = format!(
                "<link rel=canonical href={url}><h3 id=z><a href=https://d.example/a#z>Zed</a></h3><p>High water."
            );
            convert(&html, &Options::default()).unwrap().markdown
        };
        assert_eq!(of_page("https://d.example/a"), "### Zed\n\nHigh water.\n");
        assert_eq!(of_page("https://d.example/b"), "### [Zed](https://d.example/a#z)\n\nHigh water.\n");
    }
}
