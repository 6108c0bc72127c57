//! A book (EPUB 3): its chapters in the order they are read in.

use std::collections::HashMap;

use quick_xml::events::Event;

use super::{
    package::Package,
    word::{attribute, events},
};

/// The book as Markdown.
pub(super) fn markdown(package: &mut Package) -> Result<String, String> {
    let mut root = None;
    events(&package.needed("META-INF/container.xml")?, |event| {
        if let Event::Start(element) = event
            && element.local_name().as_ref() == "rootfile"
        {
            root = root.take().or(attribute(&element, "full-path"));
        }
    })?;
    let root = root.ok_or("META-INF/container.xml names no book")?;
    let (mut files, mut order) = (HashMap::new(), vec![]);
    events(&package.needed(&root)?, |event| {
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
        let path = folder.clone() + &unescaped(path);
        let bytes = package.bytes(&path)?.ok_or_else(|| format!("{path} is missing"))?;
        chapters.push(super::markdown(&ragmaker_markdown::decode(&bytes, None).0)?);
    }
    chapters.retain(|chapter| !chapter.trim().is_empty());
    Ok(chapters.join("\n"))
}

/// A path as an address has it, with `%20` for a space.
fn unescaped(address: &str) -> String {
    let mut bytes = vec![];
    let mut rest = address.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *byte == b'%').and_then(|digits| str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(code.unwrap_or(*byte));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
