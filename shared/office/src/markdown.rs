//! Conversion of the HTML that the document readers make to Markdown.

use crate::Damage;

/// Converts a page to Markdown; an empty page becomes an empty text.
pub(crate) fn from_html(html: &str) -> Result<String, Damage> {
    match ragmaker_markdown::convert_generated(html) {
        Ok(markdown) => Ok(markdown),
        Err(ragmaker_markdown::Error::EmptyContent) => Ok(String::new()),
        Err(error) => Err(Damage::Markdown(error)),
    }
}
