//! A page's HTML to clean Markdown: its main content, and what the page says about itself.
//!
//! Bytes go in, text comes out; nothing here does I/O. [`decode`] makes text of bytes, [`convert`]
//! Markdown of text: the page becomes a flat tree ([`tree`]), [`extract`] chooses what of it is
//! content, [`render`] writes that as GitHub-flavoured Markdown. Where the page shows next to nothing,
//! [`structured`] has what it tells machines.

mod decode;
mod entities;
mod extract;
mod metadata;
mod render;
mod structured;
mod tag;
mod tree;
mod urls;

use std::fmt;

use url::Url;

use crate::tree::Tree;
pub use crate::{decode::decode, metadata::PageType};

/// How a page is converted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// The address of the page; relative links are resolved against it, or the page's own `<base>`.
    pub base_url: Option<&'a Url>,
    /// What of the page is converted.
    pub scope: Scope<'a>,
}

/// What of a page is converted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope<'a> {
    /// The main content, found by structure and text.
    #[default]
    Main,
    /// All that a reader can see.
    Whole,
    /// The elements that a CSS selector matches, as far as [`lol_html::Selector`] knows CSS.
    Selector(&'a str),
}

/// A converted page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The title: that of the content, without the site's name, where the page tells them apart.
    pub title: String,
    /// The content as GitHub-flavoured Markdown; it ends with a line end.
    pub markdown: String,
    /// The language, as a BCP 47 tag.
    pub lang: Option<String>,
    /// The name of the site.
    pub site_name: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// When it was published, as the page writes it; ISO 8601 nearly always.
    pub published: Option<String>,
    /// A sentence or two about the content.
    pub description: Option<String>,
    /// What kind of page it is.
    pub page_type: PageType,
    /// The page's canonical address.
    pub url: Option<String>,
    /// How many words the Markdown has: what white space separates, and each CJK character.
    pub words: usize,
}

/// Why a page could not be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no text in what was to be converted, or none that is content.
    EmptyContent,
    /// The selector is not CSS, or CSS that is not known here; with the reason.
    BadSelector(String),
    /// The selector matches nothing.
    NothingSelected,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyContent => f.write_str("the page has no content"),
            Self::BadSelector(reason) => write!(f, "the selector can not be used: {reason}"),
            Self::NothingSelected => f.write_str("the selector matches nothing on the page"),
        }
    }
}

impl std::error::Error for Error {}

/// Converts a page as somebody wrote it, with whatever mistakes.
pub fn convert(html: &str, options: &Options<'_>) -> Result<Document, Error> {
    converted(html, options, |selector| Tree::parse(html, selector))
}

/// Converts a page as a browser writes it (`outerHTML`): its tags never overlap, so what is needed to
/// repair those, a whole second parser, is no part of an executable that calls only this.
pub fn convert_serialized(html: &str, options: &Options<'_>) -> Result<Document, Error> {
    converted(html, options, |selector| Tree::read(html, selector).0)
}

fn converted(
    html: &str,
    options: &Options<'_>,
    read: impl FnOnce(Option<&lol_html::Selector>) -> Tree,
) -> Result<Document, Error> {
    let selector = match options.scope {
        Scope::Selector(css) => {
            Some(css.parse().map_err(|error: lol_html::errors::SelectorError| Error::BadSelector(error.to_string()))?)
        }
        Scope::Main | Scope::Whole => None,
    };
    let tree = read(selector.as_ref());
    let base = metadata::base_url(&tree.head, options.base_url);
    let address = metadata::address(&tree, options.base_url);
    let (keep, page_type) = match options.scope {
        Scope::Main => extract::main_content(&tree, address.as_ref()),
        Scope::Whole => (extract::visible(&tree), extract::kind(&tree, address.as_ref())),
        Scope::Selector(_) => {
            (extract::selected(&tree).ok_or(Error::NothingSelected)?, extract::kind(&tree, address.as_ref()))
        }
    };
    let everything = options.scope != Scope::Main;
    let mut markdown = render::render(&tree, keep, base.as_ref(), everything);
    let mut words = count_words(&markdown);
    if !everything && let Some(told) = structured::instead(&tree.head, html, words, || extract::words_shown(&tree)) {
        let told = Tree::read(&told, None).0;
        markdown = render::render(&told, extract::visible(&told), base.as_ref(), false);
        words = count_words(&markdown);
    }
    if markdown.is_empty() {
        return Err(Error::EmptyContent);
    }
    let metadata = metadata::read(&tree, base.as_ref());
    Ok(Document {
        title: metadata.title,
        lang: metadata.lang,
        site_name: metadata.site_name,
        author: metadata.author,
        published: metadata.published,
        description: metadata.description,
        page_type,
        url: metadata.url,
        words,
        markdown,
    })
}

/// How many words `text` has: what white space separates, and each ideograph.
fn count_words(text: &str) -> usize {
    let mut words = 0;
    let mut in_word = false;
    for c in text.chars() {
        // Most text is ASCII, and so is told apart fast.
        if c.is_ascii_alphanumeric() {
            words += usize::from(!in_word);
            in_word = true;
        } else if c.is_whitespace() {
            in_word = false;
        } else if !c.is_ascii() && c.is_alphanumeric() {
            let is_ideograph = render::is_ideograph(c);
            words += usize::from(is_ideograph || !in_word);
            in_word = !is_ideograph;
        }
    }
    words
}

/// The blocks of a page as the model that chooses the main content sees them.
#[cfg(feature = "training")]
#[derive(Debug, Default)]
pub struct Examples {
    /// The text of each.
    pub texts: Vec<String>,
    /// The hashes of the words in and around each, place by place.
    pub words: Vec<[Vec<u32>; 5]>,
    /// The features of all, row by row.
    pub features: Vec<f32>,
    /// How many of them, at the end of every row, are about the page.
    pub of_page: usize,
    /// The first block inside and the first after each of the elements around each block.
    pub reach: Vec<u32>,
    /// The group of similar blocks that each belongs to.
    pub kin: Vec<u32>,
    /// The chance of each to be content, as the model has it.
    pub chances: Vec<f32>,
}

/// Shows a page to training.
#[cfg(feature = "training")]
pub fn training_examples(html: &str, address: Option<&Url>) -> Examples {
    let tree = Tree::parse(html, None);
    let address = metadata::address(&tree, address);
    extract::examples(&tree, address.as_ref())
}
