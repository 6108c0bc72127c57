//! The page: one HTML file with its styles, its script and the documents as JSON.
//!
//! The text of documents is in JSON elements, which are not executed, and is inserted as text nodes. There are two more
//! barriers: the content security policy allows only the page's own script, by its hash, and the frame of the reader
//! allows no script. The page loads nothing from elsewhere.

use std::{collections::HashMap, fmt::Write as _, fs, path::Path};

use base64::{Engine, prelude::BASE64_STANDARD};
use ragmaker_audit::{Audit, Finding, FindingKind, audit};
use ragmaker_catalog::{Catalog, Listed};
use ragmaker_markdown::count_words;
use ragmaker_tool::Error;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::TOO_MUCH_TEXT;

const PAGE: &str = include_str!("../page/page.html");
const COLOURS: &str = include_str!("../page/colours.css");
const STYLE: &str = include_str!("../page/page.css");
const READER: &str = include_str!("../page/reader.css");
const SCRIPTS: [&str; 2] = [include_str!("../page/markdown.js"), include_str!("../page/app.js")];

/// The maximum size in bytes of all documents; a browser needs about three times as much memory.
const MAX_TEXT: usize = 256 << 20;
/// The maximum size in bytes of texts in one JSON element, unless a single text is longer: parsing takes 5 ms.
const PART: usize = 1 << 20;
/// The largest document, in bytes.
const MAX_DOCUMENT: u64 = 64 << 20;

/// The page.
pub(crate) struct KnowledgeBasePage {
    pub(crate) html: String,
    pub(crate) documents: usize,
    pub(crate) findings: usize,
}

#[derive(Serialize)]
struct Base<'a> {
    title: &'a str,
    summary: Option<&'a str>,
    source_url: Option<&'a str>,
    /// Findings that belong to no listed document.
    findings: Vec<&'a Finding>,
    documents: Vec<ShownDocument<'a>>,
}

#[derive(Serialize)]
struct ShownDocument<'a> {
    path: &'a str,
    title: String,
    summary: Option<&'a str>,
    url: Option<&'a str>,
    fetched_at: Option<String>,
    lang: Option<String>,
    stale: bool,
    words: usize,
    findings: Vec<&'a Finding>,
}

/// Makes the page of the knowledge base of `catalog`.
///
/// # Errors
///
/// The errors of reading the catalog, and [`TOO_MUCH_TEXT`].
pub(crate) fn page(catalog: &Catalog) -> Result<KnowledgeBasePage, Error> {
    let contents = catalog.read()?;
    let (root, folder) = (catalog.root().unwrap_or_default(), catalog.folder().unwrap_or_default());
    let Audit { mut findings, advice } = audit(catalog, &contents);
    findings.extend(advice.into_iter().filter(|finding| finding.kind == FindingKind::DoubtfulContent));
    let mut by_path: HashMap<&str, Vec<&Finding>> = HashMap::new();
    let mut general = vec![];
    let paths: std::collections::HashSet<&str> =
        contents.documents.iter().filter_map(|listed| listed.path.as_deref()).collect();
    for finding in &findings {
        match finding.path.as_deref().filter(|path| paths.contains(path)) {
            Some(path) => by_path.entry(path).or_default().push(finding),
            None => general.push(finding),
        }
    }
    let (mut texts, mut documents, mut total) = (vec![], vec![], 0);
    for listed in &contents.documents {
        let (document, text) = document(listed, &root, &folder, &mut by_path);
        total += text.len();
        if total > MAX_TEXT {
            return Err(TOO_MUCH_TEXT
                .error(format!("the documents have more than {MAX_TEXT} bytes"))
                .detail("documents", contents.documents.len()));
        }
        documents.push(document);
        texts.push(text);
    }
    let title = contents.header.title.clone().unwrap_or_else(|| {
        root.file_name().map_or_else(|| "Knowledge base".into(), |name| name.to_string_lossy().into_owned())
    });
    let base = Base {
        title: &title,
        summary: contents.header.summary.as_deref(),
        source_url: contents.header.source_url.as_deref(),
        findings: general,
        documents,
    };
    let script = SCRIPTS.concat();
    let (style, reader_style) = ([COLOURS, STYLE].concat(), [COLOURS, READER].concat());
    let reader = format!(
        "<!doctype html><html><head><meta charset=\"utf-8\"><style>{reader_style}</style></head><body></body></html>"
    );
    let html = filled(&[
        ("policy", &policy(&script, &[&style, &reader_style])),
        ("title", &escaped(&title)),
        ("style", &style),
        ("reader", &escaped(&reader)),
        ("base", &json(&base)),
        ("texts", &in_parts(&texts)),
        ("script", &script),
    ]);
    Ok(KnowledgeBasePage { html, documents: base.documents.len(), findings: findings.len() })
}

/// The texts in JSON elements that a browser can parse between two frames, each with the index of its first
/// text.
fn in_parts(texts: &[String]) -> String {
    let mut html = String::new();
    let mut first = 0;
    while first < texts.len() {
        let mut length = 0;
        let fits = |text: &&String| {
            length += text.len();
            length <= PART
        };
        let count = texts[first..].iter().take_while(fits).count().max(1);
        let part = json(&&texts[first..first + count]);
        let _ =
            writeln!(html, "<script type=\"application/json\" class=\"texts\" data-first=\"{first}\">{part}</script>");
        first += count;
    }
    html
}

fn document<'a>(
    listed: &'a Listed,
    root: &Path,
    folder: &Path,
    findings: &mut HashMap<&str, Vec<&'a Finding>>,
) -> (ShownDocument<'a>, String) {
    let path = listed.path.as_deref().unwrap_or_default();
    let text = read(&folder.join(path), root).unwrap_or_default();
    let parsed = ragmaker_document::parse(&text).ok();
    let field = |name| parsed.as_ref().and_then(|parsed| parsed.field(name)).map(str::to_owned);
    let title = listed.title.clone().or_else(|| field("title")).unwrap_or_else(|| path.to_owned());
    let (fetched_at, lang) = (listed.fetched_at.clone().or_else(|| field("fetched_at")), field("lang"));
    let body = parsed.map_or(text.as_str(), |parsed| parsed.body).trim_start_matches('\n').to_owned();
    let document = ShownDocument {
        path,
        title,
        summary: listed.summary.as_deref(),
        url: listed.url.as_deref(),
        fetched_at,
        lang,
        stale: listed.is_stale(),
        words: count_words(&body),
        findings: findings.remove(path).unwrap_or_default(),
    };
    (document, body)
}

/// The text of a document, if its file is in the knowledge base.
fn read(given: &Path, root: &Path) -> Option<String> {
    let file = ragmaker_fs::canonicalize(given).ok().filter(|file| file.starts_with(root))?;
    fs::metadata(&file).ok().filter(|metadata| metadata.is_file() && metadata.len() <= MAX_DOCUMENT)?;
    String::from_utf8(fs::read(file).ok()?).ok()
}

/// The page with each `{{name}}` replaced. Replaced text is not searched again.
fn filled(parts: &[(&str, &str)]) -> String {
    let mut html = String::with_capacity(parts.iter().map(|(_, text)| text.len()).sum::<usize>() + PAGE.len());
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        html += before;
        html += parts.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text);
        rest = after;
    }
    html + rest
}

/// The content security policy: allows the page's own script and styles only.
pub(crate) fn policy(script: &str, styles: &[&str]) -> String {
    let hash = |text: &str| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text.as_bytes())));
    let styles: Vec<String> = styles.iter().map(|style| hash(style)).collect();
    format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
        hash(script),
        styles.join(" ")
    )
}

/// Escapes text for HTML content and attributes.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// JSON that cannot end its element: `</script` and `<!--` are escaped.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".into()).replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_text_cannot_end_an_element() {
        let folder = tempfile::tempdir().unwrap();
        let hostile = "</script><script>alert(1)</script><!-- {{script}} \u{2028}";
        fs::write(folder.path().join("a.md"), format!("# {hostile}\n")).unwrap();
        let listed = serde_json::json!({"title": hostile, "summary": hostile,
            "documents": [{"url": "https://x.example/\"><b>", "title": hostile, "path": "a.md"}]});
        fs::write(folder.path().join("catalog.json"), listed.to_string()).unwrap();
        let page = page(&Catalog::at(folder.path().join("catalog.json")).unwrap()).unwrap();
        let count = |text: &str| page.html.matches(text).count();
        assert_eq!((count("<script"), count("</script"), count("<!--"), count("<b>")), (3, 3, 0, 0));
        assert_eq!(count("{{script}}"), 5);
        assert!(page.html.contains("\\u003c/script>\\u003cscript>alert(1)"));
    }

    #[test]
    fn every_placeholder_of_the_template_is_filled() {
        for name in ["policy", "title", "style", "reader", "base", "texts", "script"] {
            assert_eq!(PAGE.matches(&format!("{{{{{name}}}}}")).count(), 1, "{name}");
        }
        assert!(SCRIPTS.iter().all(|script| !script.contains("innerHTML") && !script.contains("</script")));
    }
}
