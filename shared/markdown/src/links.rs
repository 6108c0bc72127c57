//! The links and link relations of a page, and the URLs of its scripts.

use std::{borrow::Cow, cell::RefCell};

use lol_html::{
    ElementContentHandlers, HtmlRewriter, MemorySettings, Selector, Settings, element, html_content::Element,
};
use url::Url;

use crate::entities;

/// The maximum memory of the parser beyond the page, in bytes.
const MEMORY: usize = 4 << 20;

/// The links of a page. URLs are absolute, in the order of the page, with their fragments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// The targets of its links.
    pub anchors: Vec<Url>,
    /// Its relations to other resources: `<link>` elements.
    pub relations: Vec<Relation>,
    /// The target of a `<meta>` refresh.
    pub refresh: Option<Url>,
    /// Whether a `<meta name=robots>` asks that the page be in no index.
    pub is_noindex: bool,
    /// The URLs of its external scripts.
    pub scripts: Vec<Url>,
    /// The number of inline scripts.
    pub inline_scripts: usize,
    /// The number of password fields.
    pub passwords: usize,
}

/// A relation to another resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// The types of the relation, in lower case, separated by white space.
    pub rel: String,
    /// The media type, in lower case and without parameters; empty if it is not given.
    pub media_type: String,
    /// The URL.
    pub href: Url,
}

/// The links of the page at `address`. If the page cannot be read completely, the links before that point are
/// returned.
///
/// ```
/// let page = url::Url::parse("https://x.example/docs/").unwrap();
/// let links = ragmaker_markdown::links("<a href='a?b&amp;c'>A</a><link rel=alternate href=a.md>", &page);
/// assert_eq!(links.anchors[0].as_str(), "https://x.example/docs/a?b&c");
/// assert_eq!(links.relations[0].rel, "alternate");
/// ```
pub fn links(html: &str, address: &Url) -> Links {
    let found = RefCell::new((Links::default(), address.clone(), false));
    let target = |element: &Element<'_, '_>, name: &str, base: &Url| base.join(attribute(element, name)?.trim()).ok();
    let handlers = vec![
        element!("base[href]", |base| {
            let mut found = found.borrow_mut();
            // Only the first refresh counts.
            if let (false, Some(to)) = (found.2, target(base, "href", address)) {
                (found.1, found.2) = (to, true);
            }
            Ok(())
        }),
        element!("a[href], area[href]", |link| {
            let mut found = found.borrow_mut();
            let to = target(link, "href", &found.1);
            found.0.anchors.extend(to);
            Ok(())
        }),
        element!("link[href]", |link| {
            let mut found = found.borrow_mut();
            if let Some(href) = target(link, "href", &found.1) {
                let media_type = lower(link, "type");
                let media_type = media_type.split(';').next().unwrap_or_default().trim().to_owned();
                found.0.relations.push(Relation { rel: lower(link, "rel"), media_type, href });
            }
            Ok(())
        }),
        element!("meta[http-equiv]", |meta| {
            let mut found = found.borrow_mut();
            if lower(meta, "http-equiv").trim() == "refresh" {
                let content = attribute(meta, "content").unwrap_or_default();
                let to = content.split_once(['=']).map(|(_, to)| to.trim().trim_matches(['\'', '"']));
                let to = to.and_then(|to| found.1.join(to).ok());
                found.0.refresh = found.0.refresh.take().or(to);
            }
            Ok(())
        }),
        element!("meta[name]", |meta| {
            let mut found = found.borrow_mut();
            found.0.is_noindex |= lower(meta, "name").trim() == "robots" && is_noindex(&lower(meta, "content"));
            Ok(())
        }),
        element!("script", |script| {
            let mut found = found.borrow_mut();
            match target(script, "src", &found.1) {
                Some(from) => found.0.scripts.push(from),
                None => found.0.inline_scripts += 1,
            }
            Ok(())
        }),
        element!("input[type]", |input| {
            found.borrow_mut().0.passwords += usize::from(lower(input, "type").trim() == "password");
            Ok(())
        }),
    ];
    read(html, handlers);
    std::mem::take(&mut found.borrow_mut().0)
}

/// Whether a list of directives for robots, in lower case, asks that the page be in no index.
pub fn is_noindex(directives: &str) -> bool {
    directives.split(',').any(|directive| matches!(directive.trim(), "noindex" | "none"))
}

/// The value of an attribute of `element`.
pub(crate) fn attribute(element: &Element<'_, '_>, name: &str) -> Option<String> {
    let raw = element.get_attribute(name)?;
    let mut text = String::with_capacity(raw.len());
    entities::decode(&raw, true, &mut text);
    Some(text)
}

/// The value of an attribute in lower case; empty without it.
pub(crate) fn lower(element: &Element<'_, '_>, name: &str) -> String {
    attribute(element, name).unwrap_or_default().to_ascii_lowercase()
}

/// Reads `html` with these handlers, up to the place where the memory limit is exceeded.
pub(crate) fn read<'h>(html: &str, handlers: Vec<(Cow<'h, Selector>, ElementContentHandlers<'h>)>) {
    let memory = MemorySettings::new().with_max_allowed_memory_usage(html.len() + MEMORY);
    let settings = handlers.into_iter().fold(
        Settings::new().with_strict(false).with_memory_settings(memory),
        Settings::append_element_content_handler,
    );
    let mut reader = HtmlRewriter::new(settings, |_: &[u8]| ());
    if reader.write(html.as_bytes()).is_ok() {
        let _ = reader.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_start_from_the_base() {
        let page = Url::parse("https://x.example/docs/a").unwrap();
        let html = "<base href=/b/><base href=/no/><a href=' c '>c</a><A HREF='#d'>d</A><a>no</a><a href='http://['>bad</a>
            <map><area href=e></map><link REL='Alternate nofollow' type='text/Markdown; charset=utf-8' href=f.md>
            <meta http-equiv=Refresh content=\"0; url='g'\"><script src=h.js></script><script>1</script><input type=Password autocomplete=new-password><META NAME=Robots CONTENT='nofollow, NoIndex'>";
        let links = links(html, &page);
        let anchors: Vec<_> = links.anchors.iter().map(Url::as_str).collect();
        assert_eq!(anchors, ["https://x.example/b/c", "https://x.example/b/#d", "https://x.example/b/e"]);
        let Relation { rel, media_type, href } = &links.relations[0];
        assert_eq!((rel.as_str(), media_type.as_str()), ("alternate nofollow", "text/markdown"));
        assert_eq!((href.path(), links.refresh.unwrap().path()), ("/b/f.md", "/b/g"));
        assert_eq!((links.scripts.len(), links.inline_scripts), (1, 1));
        assert!(links.passwords == 1 && links.is_noindex);
        for other in ["<meta name=robots content='index, follow'>", "<meta name=googlebot content=noindex>"] {
            assert!(!self::links(other, &page).is_noindex, "{other}");
        }
    }
}
