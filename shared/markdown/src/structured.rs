//! Structured data as content, for pages that are empty until a script has run.
//!
//! Such a page has its text in JSON-LD (<https://schema.org>), in the initial state of its application, or at least in
//! its description. This module makes plain HTML of it, which is converted like every page. JSON-LD has known members.
//! An application state has no known shape, so all strings that are sentences are used, below the title beside them.

use std::{borrow::Cow, fmt};

use foldhash::HashSet;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::{
    chars::{count_words, is_ideograph},
    metadata::{MAX_JSON, kinds},
    tree::Head,
};

/// A page with fewer words has no content.
const MIN_WORDS: usize = 40;

/// The maximum number of bytes of a script that are read, and of the HTML made of all scripts.
const MAX_BYTES: usize = 2 << 20;

/// The members with the title of a thing, in order of preference.
const NAMES: [&str; 3] = ["headline", "name", "title"];
const TEXTS: [&str; 5] = ["articleBody", "text", "reviewBody", "description", "abstract"];

/// Members with the parts of a thing.
const PARTS: [&str; 13] = [
    "mainEntity",
    "acceptedAnswer",
    "suggestedAnswer",
    "comment",
    "recipeIngredient",
    "recipeInstructions",
    "step",
    "itemListElement",
    "item",
    "hasPart",
    "review",
    "subjectOf",
    "@graph",
];

/// Types of things that describe the site, not the page.
const SITE_WIDE: [&str; 8] = [
    "WebSite",
    "Organization",
    "NewsMediaOrganization",
    "BreadcrumbList",
    "SiteNavigationElement",
    "SearchAction",
    "ImageObject",
    "Person",
];

/// The structured data of a page as HTML, if the extracted content has few `words` and this has more.
/// `shown` counts all words that the page shows: a description is only taken where these are few, too.
pub(crate) fn fallback(head: &Head, page: &str, words: usize, shown: impl FnOnce() -> usize) -> Option<String> {
    if words >= MIN_WORDS {
        return None;
    }
    let enough = 2 * words + MIN_WORDS;
    let title = meta(head, "og:title").unwrap_or(&head.title).trim();
    let mut json_ld = Found::default();
    for source in head.json_ld.iter().filter(|source| source.len() <= MAX_JSON) {
        if let Ok(value) = serde_json::from_str(source.trim()) {
            json_ld.thing(&value, 1);
        }
    }
    if json_ld.words >= enough {
        return Some(json_ld.under(title));
    }
    let mut state = Found::default();
    for source in states(page) {
        let mut json = serde_json::Deserializer::from_str(source);
        // The texts before a syntax error are kept.
        let _ = Sentences { found: &mut state, key: "" }.deserialize(&mut json);
    }
    if state.words >= enough {
        return Some(state.under(title));
    }
    let described = ["articlebody", "og:description", "description"].into_iter().find_map(|name| meta(head, name))?;
    let mut description = Found::default();
    description.text(described);
    (words * 4 < MIN_WORDS && description.words > words + 8 && shown() < MIN_WORDS).then(|| description.under(title))
}

fn meta<'h>(head: &'h Head, name: &str) -> Option<&'h str> {
    head.metas.iter().find(|(key, value)| key == name && !value.trim().is_empty()).map(|(_, value)| value.as_str())
}

/// The JSON in a page's scripts: in JSON scripts, and in the first assignment of a program.
fn states(page: &str) -> impl Iterator<Item = &str> {
    let mut rest = page;
    std::iter::from_fn(move || {
        let start = memchr::memmem::find(rest.as_bytes(), b"<script")?;
        let (tag, text) = rest[start..].split_once('>')?;
        let end = memchr::memmem::find(text.as_bytes(), b"</script")?;
        rest = &text[end..];
        Some(state(tag, text[..end].trim()).unwrap_or_default())
    })
    .filter(|state| !state.is_empty() && state.len() <= MAX_BYTES)
}

/// The JSON in a script with this tag and source.
fn state<'s>(tag: &str, source: &'s str) -> Option<&'s str> {
    if tag.contains("application/json") {
        return Some(source);
    }
    let start = &source[..source.floor_char_boundary(200)];
    let assigned = start.find('=')? + 1;
    Some(source[assigned..].trim_start()).filter(|json| json.starts_with('{') && !tag.contains("ld+json"))
}

/// The collected texts, as HTML.
#[derive(Default)]
struct Found {
    html: String,
    words: usize,
    /// The texts that were collected already, because the same text is often in several places.
    seen: HashSet<String>,
}

impl Found {
    fn under(self, title: &str) -> String {
        if self.html.starts_with("<h") || title.is_empty() {
            return self.html;
        }
        format!("<h1>{}</h1>{}", title.replace('<', "&lt;"), self.html)
    }

    /// Adds a text, which may be HTML.
    fn text(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() || self.html.len() + text.len() > MAX_BYTES || !self.seen.insert(text.to_owned()) {
            return;
        }
        let text = if text.contains("&lt;") { Cow::Owned(decoded(text)) } else { Cow::Borrowed(text) };
        if is_html(&text) {
            self.html.extend(["<div>", &text, "</div>"]);
        } else {
            for paragraph in text.split("\n\n") {
                let lines = paragraph.trim().replace('<', "&lt;").replace('\n', "<br>");
                self.html.extend(["<p>", &lines, "</p>"]);
            }
        }
        self.words += count_words(&text);
    }

    fn heading(&mut self, at: usize, level: usize, title: &str) {
        let level = level.min(6);
        let title = title.trim().replace('<', "&lt;");
        self.words += count_words(&title);
        self.html.insert_str(at, &format!("<h{level}>{title}</h{level}>"));
    }

    /// Adds a JSON-LD thing and its parts.
    fn thing(&mut self, value: &Value, level: usize) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| self.thing(value, level)),
            Value::String(text) => self.text(text),
            Value::Object(members) => {
                if kinds(value).iter().any(|kind| SITE_WIDE.contains(kind)) {
                    return;
                }
                let of = |names: &[&str]| names.iter().find_map(|name| members.get(*name)?.as_str());
                let start = self.html.len();
                if let Some(text) = of(&TEXTS) {
                    self.text(text);
                }
                let is_graph = members.contains_key("@graph");
                for part in PARTS.iter().filter_map(|part| members.get(*part)) {
                    self.thing(part, if is_graph { level } else { level + 1 });
                }
                match of(&NAMES).filter(|name| !name.trim().is_empty() && Some(*name) != of(&TEXTS)) {
                    Some(name) if self.html.len() > start => self.heading(start, level, name),
                    Some(name) if level > 1 => self.text(name),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

fn is_html(text: &str) -> bool {
    ["</", "<br", "<p>", "<li>"].iter().any(|mark| text.contains(mark))
}

fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    crate::entities::decode(text, false, &mut out);
    out
}

/// Whether a string of an application's state consists of sentences, not code or settings.
fn is_prose(text: &str) -> bool {
    let words = count_words(text);
    let (mut letters, mut all, mut stops) = (0, 0, 0);
    for c in text.chars().take(2000) {
        all += 1;
        letters += usize::from(c.is_alphanumeric() || c == ' ');
        stops += usize::from(matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '।' | '؟'));
    }
    let is_code =
        || ["{", "};", "()", "=>", "==", "://"].iter().any(|mark| text.starts_with(mark) || text.ends_with(mark));
    words >= 8 && stops > 0 && text.contains(|c: char| c.is_whitespace() || is_ideograph(c)) && {
        let html = is_html(text);
        html || (letters * 10 >= all * 8 && !is_code())
    }
}

/// Deserializes JSON of any shape and collects the strings that are sentences.
struct Sentences<'f, 'k> {
    found: &'f mut Found,
    /// The name of the current member.
    key: &'k str,
}

impl<'de> DeserializeSeed<'de> for Sentences<'_, '_> {
    /// The text, if it is a title.
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        // Texts of the application's user interface, often in several languages.
        const NOT_READ: [&str; 8] = ["i18n", "translation", "locale", "messages", "cookie", "consent", "style", "css"];
        let key = self.key.to_ascii_lowercase();
        if NOT_READ.iter().any(|word| key.contains(word)) {
            return json.deserialize_ignored_any(IgnoredAny).map(|_| None);
        }
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Sentences<'_, '_> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        if NAMES.contains(&self.key) && text.len() <= 300 && !is_html(text) {
            return Ok(Some(text.trim().to_owned()).filter(|title| !title.is_empty()));
        }
        if is_prose(text) {
            self.found.text(text);
        }
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let start = self.found.html.len();
        let mut title = None;
        while let Some(key) = map.next_key::<String>()? {
            let text = map.next_value_seed(Sentences { found: self.found, key: &key })?;
            title = title.or(text);
        }
        if let Some(title) = title.filter(|_| self.found.html.len() > start)
            && self.found.seen.insert(title.clone())
        {
            self.found.heading(start, 2, &title);
        }
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element_seed(Sentences { found: self.found, key: self.key })?.is_some() {}
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn a_description_replaces_missing_text() {
        let described = "Twice a day the moon and the sun raise the sea, and the land turns through it";
        let head = Tree::parse(&format!("<meta name=description content='{described}'>"), None).head;
        assert_eq!(fallback(&head, "", 0, || 3), Some(format!("<p>{described}</p>")));
        assert_eq!(fallback(&head, "", 0, || MIN_WORDS), None);
    }
}
