//! Books (EPUB 3): the chapters in reading order.

use percent_encoding::percent_decode_str;
use std::collections::HashMap;

use quick_xml::events::Event;

use crate::{
    Damage,
    package::Package,
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
    let folder = root.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    let mut chapters = vec![];
    for id in order {
        let Some(path) = files.get(&id) else { continue };
        let path = folder.clone() + &percent_decode_str(path).decode_utf8_lossy();
        let bytes = package.bytes(&path)?.ok_or_else(|| Damage::Missing { part: path.clone() })?;
        chapters.push(crate::markdown::from_html(&ragmaker_markdown::decode(&bytes, None).0)?);
    }
    chapters.retain(|chapter| !chapter.trim().is_empty());
    Ok(chapters.join("\n"))
}
