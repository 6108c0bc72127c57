//! The metadata of a page: `<meta>`, Open Graph, JSON-LD.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use url::Url;

use crate::{
    tag::{Attr, Tag},
    tree::{Head, Tree},
    urls,
};

/// The largest JSON-LD script that is parsed, in bytes: the parsed form can take thirty times as much memory.
pub(crate) const MAX_JSON: usize = 256 << 10;

/// The longest title, name or other text, in characters. Lists of pages show them, and a page can contain any
/// text.
const MAX_TEXT: usize = 500;

/// The longest URL of a page's metadata, in bytes.
const MAX_URL: usize = 8000;

/// The type of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PageType {
    /// A single text: news, a post, an essay.
    #[default]
    Article,
    /// Reference, a manual, a wiki.
    Documentation,
    /// A discussion: a thread, questions and answers.
    Forum,
    /// A product for sale.
    Product,
    /// Several products for sale.
    Collection,
    /// Links to several texts.
    Listing,
    /// The services of an organisation.
    Service,
}

impl PageType {
    /// All types, in the order of the model's classes.
    pub(crate) const ALL: [Self; 7] = [
        Self::Article,
        Self::Documentation,
        Self::Forum,
        Self::Product,
        Self::Collection,
        Self::Listing,
        Self::Service,
    ];
}

/// The metadata of a page, from the page and from the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Metadata {
    /// The title, without the site's name.
    pub title: String,
    /// The page's URL: the canonical one if the page has it.
    pub url: Option<String>,
    /// The language, as a BCP 47 tag.
    pub lang: Option<String>,
    /// The name of the site.
    pub site_name: Option<String>,
    /// The author.
    pub author: Option<String>,
    /// The date of publication, as the page writes it.
    pub published: Option<String>,
    /// A short description of the content.
    pub description: Option<String>,
    /// The type of the page.
    pub page_type: PageType,
    /// The probability that the right content was selected, from 0 to 1. If it is low, convert the whole page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
}

/// The base URL of the page's links.
pub(crate) fn base_url(head: &Head, given: Option<&Url>) -> Option<Url> {
    match (&head.base, given) {
        (Some(base), Some(given)) => given.join(base).ok().or_else(|| Some(given.clone())),
        (Some(base), None) => Url::parse(base).ok(),
        (None, given) => given.cloned(),
    }
}

/// The URL of the page: `given`, or else the one in its metadata.
pub(crate) fn address(tree: &Tree, given: Option<&Url>) -> Option<Url> {
    let stated = || {
        tree.head
            .canonical
            .as_deref()
            .or_else(|| tree.head.metas.iter().find(|(name, _)| name == "og:url").map(|(_, url)| url.as_str()))
    };
    given.cloned().or_else(|| Url::parse(stated()?).ok())
}

/// Reads the metadata of a page.
pub(crate) fn read(tree: &Tree, base: Option<&Url>) -> Metadata {
    let head = &tree.head;
    let meta = |names: &[&str]| {
        let found = names
            .iter()
            .find_map(|name| head.metas.iter().find(|(key, content)| key == name && !content.trim().is_empty()));
        found.map(|(_, content)| squeeze(content))
    };
    let mut json_ld = JsonLd::default();
    for source in &head.json_ld {
        json_ld.read(source);
    }
    let site_name = meta(&["og:site_name", "application-name"]).or(json_ld.site_name);
    let title = meta(&["og:title"]).or(json_ld.headline).or_else(|| meta(&["twitter:title", "dc.title"]));
    let title =
        title.or_else(|| Some(squeeze(&head.title)).filter(|title| !title.is_empty())).or_else(|| heading(tree));
    let lang = head.lang.clone().or_else(|| meta(&["og:locale", "content-language", "dc.language"]));
    let absolute = |url: &String| url.len() <= MAX_URL && Url::parse(url).is_ok();
    let url = head.canonical.as_deref().and_then(|href| urls::resolve(href, base)).map(Into::into).filter(absolute);
    let bounded = |text: Option<String>| text.map(cut);
    Metadata {
        title: cut(without_site(title.unwrap_or_default(), site_name.as_deref())),
        lang: bounded(lang.map(|lang| lang.trim().replace('_', "-")).filter(|lang| !lang.is_empty())),
        author: bounded(
            meta(&["author", "article:author", "dc.creator", "parsely-author"])
                .filter(|author| !author.starts_with("http"))
                .or(json_ld.author),
        ),
        published: bounded(
            meta(&["article:published_time", "datepublished", "date", "dc.date", "parsely-pub-date"])
                .or(json_ld.published)
                .or_else(|| time(tree)),
        ),
        description: bounded(meta(&["description", "og:description", "twitter:description"])),
        url: url.or_else(|| meta(&["og:url"]).filter(absolute)),
        site_name: bounded(site_name),
        ..Metadata::default()
    }
}

/// The first [`MAX_TEXT`] characters of `text`.
fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_TEXT) {
        text.truncate(text[..end].trim_end().len());
    }
    text
}

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn heading(tree: &Tree) -> Option<String> {
    let heading = (0..tree.len()).find(|&id| tree.tag(id) == Tag::H1)?;
    Some(squeeze(&tree.text_content(heading))).filter(|title| !title.is_empty())
}

fn time(tree: &Tree) -> Option<String> {
    let first = (0..tree.len()).find(|&id| tree.tag(id) == Tag::Time)?;
    tree.attr(first, Attr::Datetime).map(str::trim).filter(|time| !time.is_empty()).map(str::to_owned)
}

/// The title without the site's name at its end.
fn without_site(title: String, site: Option<&str>) -> String {
    let Some(site) = site else { return title };
    let Some(rest) = title.strip_suffix(site) else { return title };
    let bare = rest.trim_end();
    match bare.strip_suffix(['|', '-', '–', '—', '·', '•', ':', '«', '»']) {
        Some(bare) if !bare.trim().is_empty() => bare.trim_end().to_owned(),
        _ => title,
    }
}

/// The metadata in JSON-LD.
#[derive(Debug, Default)]
struct JsonLd {
    headline: Option<String>,
    author: Option<String>,
    published: Option<String>,
    site_name: Option<String>,
}

impl JsonLd {
    fn read(&mut self, source: &str) {
        if source.len() > MAX_JSON {
            return;
        }
        // serde_json limits the nesting depth, so the recursion is bounded.
        if let Ok(value) = serde_json::from_str::<Value>(source.trim()) {
            self.walk(&value);
        }
    }

    fn walk(&mut self, value: &Value) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| self.walk(value)),
            Value::Object(object) => {
                if let Some(graph) = object.get("@graph") {
                    self.walk(graph);
                }
                let kinds = kinds(value);
                let is_text = kinds
                    .iter()
                    .any(|kind| kind.ends_with("Article") || kind.ends_with("Posting") || *kind == "Report");
                let is_site = kinds.iter().any(|kind| *kind == "WebSite" || kind.ends_with("Organization"));
                let text = |name: &str| object.get(name).and_then(name_of);
                if is_text {
                    self.headline = self.headline.take().or_else(|| text("headline"));
                    self.author = self.author.take().or_else(|| text("author"));
                    self.published = self.published.take().or_else(|| text("datePublished"));
                    self.site_name = self.site_name.take().or_else(|| text("publisher"));
                } else if is_site {
                    self.site_name = self.site_name.take().or_else(|| text("name"));
                }
            }
            _ => {}
        }
    }
}

/// The types of a JSON-LD node.
pub(crate) fn kinds(value: &Value) -> Vec<&str> {
    match &value["@type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    }
}

/// A text, the name of a thing, or the names of several.
fn name_of(value: &Value) -> Option<String> {
    let name = match value {
        Value::String(text) => squeeze(text),
        Value::Object(object) => squeeze(object.get("name")?.as_str()?),
        Value::Array(values) => values.iter().filter_map(name_of).collect::<Vec<_>>().join(", "),
        _ => return None,
    };
    Some(name).filter(|name| !name.is_empty() && !name.starts_with("http"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(html: &str) -> Metadata {
        let base = Url::parse("https://sea.example/a/b").unwrap();
        let tree = Tree::parse(html, None);
        read(&tree, base_url(&tree.head, Some(&base)).as_ref())
    }

    #[test]
    fn the_title_is_the_first_that_is_stated() {
        let title = |html: &str| metadata(html).title;
        assert_eq!(title("<h1> A  b </h1>"), "A b");
        assert_eq!(title("<title>T</title><h1>a</h1>"), "T");
        assert_eq!(title("<meta property=og:title content=O><title>T</title>"), "O");
        let json_ld = r#"<script type="application/ld+json">[{"@type":"BlogPosting","headline":"J"}]</script>"#;
        assert_eq!(title(&format!("<title>T</title>{json_ld}")), "J");
    }

    #[test]
    fn the_name_of_the_site_is_no_part_of_the_title() {
        for (title, bare) in
            [("Ebb | Sea", "Ebb"), ("Ebb – Sea", "Ebb"), ("Sea", "Sea"), (" | Sea", "| Sea"), ("The Sea", "The Sea")]
        {
            assert_eq!(without_site(squeeze(title), Some("Sea")), bare, "{title}");
        }
    }

    #[test]
    fn addresses_are_absolute() {
        assert_eq!(metadata("<link rel=canonical href=../c>").url.as_deref(), Some("https://sea.example/c"));
        assert_eq!(
            metadata("<base href=https://x.example/><link rel=canonical href=c>").url.as_deref(),
            Some("https://x.example/c")
        );
        assert_eq!(metadata("<meta property=og:url content=relative>").url, None);
    }

    #[test]
    fn authors_are_names() {
        assert_eq!(metadata("<meta name=author content='A  B'>").author.as_deref(), Some("A B"));
        assert_eq!(metadata("<meta name=author content='https://x.example/a'>").author, None);
        assert_eq!(name_of(&serde_json::json!([{"name": "A"}, "B", 3])).as_deref(), Some("A, B"));
    }

    #[test]
    fn broken_and_huge_json_is_ignored() {
        for json in ["{", "[[[[", &format!("[{}]", "1,".repeat(MAX_JSON))] {
            let page = format!("<title>T</title><script type=application/ld+json>{json}</script>");
            assert_eq!(metadata(&page).title, "T");
        }
    }
}
