//! Books (EPUB 3): the chapters in reading order.

use percent_encoding::percent_decode_str;
use std::collections::HashMap;

use quick_xml::events::Event;

use crate::{
    Damage,
    package::Package,
    slides::resolve,
    word::{attribute, for_each_event},
};

/// Converts the book to Markdown.
pub(crate) fn markdown(package: &mut Package) -> Result<String, Damage> {
    let mut root = None;
    for_each_event(&package.needed("META-INF/container.xml")?, |event| {
        if let Event::Start(element) = event
            && element.local_name().as_ref() == "rootfile"
        {
            root = root.take().or(attribute(&element, "full-path"));
        }
    })?;
    let root = root.ok_or(Damage::NoBook)?;
    let (mut files, mut order) = (HashMap::new(), vec![]);
    for_each_event(&package.needed(&root)?, |event| {
        let Event::Start(element) = event else { return };
        match element.local_name().as_ref() {
            "item" => {
                if let (Some(id), Some(path)) = (attribute(&element, "id"), attribute(&element, "href")) {
                    files.insert(id, path);
                }
            }
            "itemref" => order.extend(attribute(&element, "idref")),
            _ => {}
        }
    })?;
    let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut chapters = vec![];
    for id in order {
        let Some(path) = files.get(&id) else { continue };
        let path = resolve(folder, &percent_decode_str(path).decode_utf8_lossy());
        let bytes = package.bytes(&path)?.ok_or_else(|| Damage::Missing { part: path.clone() })?;
        chapters.push(crate::markdown::from_html(&ragmaker_markdown::decode(&bytes, None).0)?);
    }
    chapters.retain(|chapter| !chapter.trim().is_empty());
    Ok(chapters.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::tests::archive;

    /// The Markdown of a book with this list of contents in `OPS/content/`, and chapters that say their names.
    fn book(contents: &str) -> Result<String, Damage> {
        let chapter = |name: &str| format!("<html><body><p>{name}</p></body></html>").into_bytes();
        let (one, two, empty) = (chapter("One."), chapter("Two."), chapter(""));
        let source = archive(&[
            ("META-INF/container.xml", b"<c><rootfile full-path='OPS/content/b.opf'/><rootfile full-path='x'/></c>"),
            ("OPS/content/b.opf", contents.as_bytes()),
            ("OPS/content/one 1.xhtml", &one),
            ("OPS/text/two.xhtml", &two),
            ("OPS/content/empty.xhtml", &empty),
        ]);
        markdown(&mut Package::open(&source).unwrap().unwrap())
    }

    #[test]
    fn chapters_are_in_reading_order_wherever_their_files_are() {
        let items = "<item id='1' href='one%201.xhtml'/><item id='2' href='../text/two.xhtml'/>\
            <item id='3' href='empty.xhtml'/><item id='4'/>";
        let order = "<itemref idref='2'/><itemref idref='3'/><itemref idref='unknown'/><itemref/><itemref idref='1'/>";
        assert_eq!(book(&format!("<p>{items}{order}</p>")).unwrap(), "Two.\n\nOne.\n");
        assert_eq!(book(&format!("<p>{items}</p>")).unwrap(), "");
    }

    #[test]
    fn what_a_book_lacks_is_named() {
        let missing = book("<p><item id='1' href='../../a.xhtml'/><itemref idref='1'/></p>").unwrap_err();
        assert_eq!(missing.to_string(), "a.xhtml is missing");
        assert!(matches!(book("<p><item></p>"), Err(Damage::Xml { .. })));
        assert!(matches!(book("<!DOCTYPE p [<!ENTITY a SYSTEM '/etc/passwd'>]><p/>"), Err(Damage::Entities)));
        let nameless = archive(&[("META-INF/container.xml", b"<c><rootfile/></c>")]);
        assert!(matches!(markdown(&mut Package::open(&nameless).unwrap().unwrap()), Err(Damage::NoBook)));
    }
}
