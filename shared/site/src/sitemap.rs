//! Sitemaps: lists of pages, and lists of such lists (sitemaps.org), in XML or as text.

use quick_xml::{Reader, events::Event};

/// The maximum number of addresses of one file, as the protocol has it.
const MAX_ADDRESSES: usize = 50_000;

/// The entries of a sitemap, as they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sitemap {
    /// Pages.
    pub pages: Vec<String>,
    /// Other sitemaps.
    pub sitemaps: Vec<String>,
}

impl Sitemap {
    /// Reads a sitemap. Of incomplete XML, the entries before the error are used. A text that is neither XML nor a list
    /// of addresses has no entries.
    pub fn parse(text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}').trim_start();
        if text.starts_with('<') { Self::xml(text) } else { Self::lines(text) }
    }

    fn lines(text: &str) -> Self {
        let is_address = |line: &&str| line.starts_with("http://") || line.starts_with("https://");
        let pages = text.lines().map(str::trim).filter(is_address).take(MAX_ADDRESSES).map(str::to_owned).collect();
        Self { pages, sitemaps: vec![] }
    }

    fn xml(text: &str) -> Self {
        let (mut found, mut reader) = (Self::default(), Reader::from_str(text));
        reader.config_mut().check_end_names = false;
        let (mut is_index, mut location) = (false, None::<String>);
        loop {
            match reader.read_event() {
                Ok(Event::Start(element)) => match element.local_name().as_ref() {
                    "sitemap" => is_index = true,
                    "url" => is_index = false,
                    // Images and videos have their own, with another prefix.
                    "loc" if !element.name().as_ref().contains(':') => location = Some(String::new()),
                    _ => {}
                },
                Ok(Event::Text(part)) => {
                    if let Some(location) = &mut location {
                        location.push_str(&part);
                    }
                }
                Ok(Event::CData(part)) => {
                    if let Some(location) = &mut location {
                        location.push_str(&quick_xml::escape::escape(&*part));
                    }
                }
                Ok(Event::GeneralRef(reference)) => {
                    if let Some(location) = &mut location {
                        location.push('&');
                        location.push_str(&reference);
                        location.push(';');
                    }
                }
                Ok(Event::End(element)) if element.local_name().as_ref() == "loc" => {
                    let Some(text) = location.take() else { continue };
                    let text = quick_xml::escape::unescape(&text).map_or(text.clone(), std::borrow::Cow::into_owned);
                    let list = if is_index { &mut found.sitemaps } else { &mut found.pages };
                    if list.len() < MAX_ADDRESSES && !text.trim().is_empty() {
                        list.push(text.trim().to_owned());
                    }
                }
                Ok(Event::Eof) | Err(_) => return found,
                Ok(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pages_and_sitemaps_are_told_apart() {
        let text = "\u{feff}<?xml version='1.0'?><urlset xmlns:image='i'><url><loc> https://x.example/a?b&amp;c=&#68; </loc>\
            <image:image><image:loc>https://x.example/i.png</image:loc></image:image></url>\
            <url><loc><![CDATA[https://x.example/d&e]]></loc></url><url><loc></loc></url></urlset>";
        assert_eq!(Sitemap::parse(text).pages, ["https://x.example/a?b&c=D", "https://x.example/d&e"]);
        let index = "<sitemapindex><sitemap><loc>https://x.example/1.xml.gz</loc></sitemap><sitemap><loc>https://x.example/2.xml</loc>";
        assert_eq!(Sitemap::parse(index).sitemaps, ["https://x.example/1.xml.gz", "https://x.example/2.xml"]);
        assert_eq!(Sitemap::parse("https://x.example/a\r\n\r\nnothing\nhttp://x.example/b").pages.len(), 2);
        let bomb = "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><urlset><url><loc>&b;</loc></url></urlset>";
        assert_eq!(Sitemap::parse(bomb).pages, ["&b;"]);
        assert_eq!(Sitemap::parse("<html><p>not found"), Sitemap::default());
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(?s)(<(/?(url|loc|sitemap|urlset)|!\\[CDATA\\[|[a-z]{1,3})>?|&[a-z#0-9]{0,3};?|.{0,6}){0,12}") {
            Sitemap::parse(&text);
            Sitemap::parse(&format!("<{text}"));
        }
    }
}
