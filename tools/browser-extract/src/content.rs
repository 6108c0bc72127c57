//! From what the browser shows to Markdown, by the kind of document it is.

use std::path::Path;

use ragmaker_browser::{Page, codes::NOT_A_PAGE};
use ragmaker_markdown::{Document, Error as Conversion, Options, PageType, Scope, convert_serialized};
use ragmaker_tool::{Code, Error};
use url::Url;

/// There is nothing to save.
pub const EMPTY_CONTENT: Code = Code::new(
    "EMPTY_CONTENT",
    "Look at the page with ragmaker-browser-navigate; name its content with --selector or wait for it with --wait-for.",
);

/// Converts `content`, which is what `page` shows: HTML, or the text of what is no HTML.
pub(crate) fn markdown(page: &Page, content: &str, selected: bool) -> Result<Document, Error> {
    let empty = || EMPTY_CONTENT.error(format!("there is no text on {}", page.url)).detail("url", page.url.as_str());
    let language = match page.content_type.as_str() {
        "text/html" | "application/xhtml+xml" => None,
        "text/markdown" | "text/x-markdown" => Some(""),
        "text/plain" if is_markdown(&page.url) => Some(""),
        kind if kind.starts_with("image/") => return Err(no_page(page)),
        "application/json" | "text/json" => Some("json"),
        kind if kind.ends_with("+json") => Some("json"),
        kind if kind.ends_with("/xml") || kind.ends_with("+xml") => Some("xml"),
        kind if kind.starts_with("text/") => Some("text"),
        _ => return Err(no_page(page)),
    };
    let Some(language) = language else {
        let base_url = Url::parse(&page.base).ok();
        let within = |scope| convert_serialized(content, &Options { base_url: base_url.as_ref(), scope });
        // A page of a few words may have no main content that can be told from the rest: it is saved
        // as it is.
        let main = if selected { Err(Conversion::EmptyContent) } else { within(Scope::Main) };
        return main.or_else(|_| within(Scope::Whole)).map_err(|error| match error {
            Conversion::EmptyContent | Conversion::NothingSelected | Conversion::BadSelector(_) => empty(),
        });
    };
    if content.trim().is_empty() {
        return Err(empty());
    }
    let markdown = if language.is_empty() { content.to_owned() } else { fenced(content, language) };
    Ok(Document {
        title: String::new(),
        words: content.split_whitespace().count(),
        markdown,
        lang: None,
        site_name: None,
        author: None,
        published: None,
        description: None,
        page_type: PageType::default(),
        url: None,
    })
}

fn no_page(page: &Page) -> Error {
    NOT_A_PAGE
        .error(format!("the URL leads to a file of type {}, not a page", page.content_type))
        .detail("url", page.url.as_str())
        .detail("content_type", page.content_type.as_str())
}

fn is_markdown(url: &str) -> bool {
    let url = Url::parse(url).ok();
    let extension = url.as_ref().and_then(|url| Path::new(url.path()).extension()?.to_str());
    extension.is_some_and(|extension| ["md", "markdown"].iter().any(|known| extension.eq_ignore_ascii_case(known)))
}

/// `text` as a code block that no run of backticks in it can end.
fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_outlasts_the_text() {
        assert_eq!(fenced("a\n", "text"), "```text\na\n```\n");
        assert_eq!(fenced("```\nx\n````", "json"), "`````json\n```\nx\n````\n`````\n");
    }

    #[test]
    fn markdown_is_known_by_its_name() {
        assert!(is_markdown("https://x.example/README.md?raw=1") && !is_markdown("https://x.example/readme.txt"));
    }
}
