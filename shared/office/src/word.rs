//! A Word document (ECMA-376, WordprocessingML): its paragraphs, lists, tables and footnotes.

use std::{collections::HashMap, fmt::Write, mem};

use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};

use crate::{Damage, html::Html, package::Package};

/// What the parts beside the text say about it.
#[derive(Default)]
struct Context {
    /// The level of a heading, by the style of its paragraph.
    headings: HashMap<String, usize>,
    /// Whether a list counts, by its number and level.
    ordered: HashMap<(String, usize), bool>,
    /// Where links lead, by their names.
    links: HashMap<String, String>,
}

/// The document as a page.
pub(crate) fn html(package: &mut Package) -> Result<String, Damage> {
    let mut context = Context::default();
    if let Some(styles) = package.text("word/styles.xml")? {
        context.headings = headings(&styles)?;
    }
    if let Some(numbering) = package.text("word/numbering.xml")? {
        context.ordered = ordered(&numbering)?;
    }
    let mut html = Html::default();
    for (part, relations) in [
        ("word/document.xml", "word/_rels/document.xml.rels"),
        ("word/footnotes.xml", "word/_rels/footnotes.xml.rels"),
        ("word/endnotes.xml", "word/_rels/endnotes.xml.rels"),
    ] {
        let Some(xml) = package.text(part)? else { continue };
        context.links = package.text(relations)?.map_or(Ok(HashMap::new()), |xml| targets(&xml))?;
        body(&xml, &context, &mut html)?;
    }
    Ok(html.finish())
}

/// The value of an attribute, whatever the prefix of its name; escaped as it is in the document.
pub(crate) fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = element.attributes().filter_map(Result::ok);
    let found = attributes.find(|attribute| attribute.key.local_name().as_ref() == name)?;
    Some(found.value.as_ref().to_owned())
}

/// Each element of `xml` and its end, the empty ones too, and what is between them.
pub(crate) fn events(xml: &str, mut each: impl FnMut(Event<'_>)) -> Result<(), Damage> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    loop {
        match reader.read_event() {
            Ok(Event::Eof) => return Ok(()),
            Ok(event) => each(event),
            Err(error) => return Err(Damage::Xml { position: reader.error_position(), error }),
        }
    }
}

/// Where relationships lead, by their names (ECMA-376 part 2).
pub(crate) fn targets(xml: &str) -> Result<HashMap<String, String>, Damage> {
    let mut found = HashMap::new();
    events(xml, |event| {
        if let Event::Start(element) = event
            && element.local_name().as_ref() == "Relationship"
            && let (Some(id), Some(target)) = (attribute(&element, "Id"), attribute(&element, "Target"))
        {
            found.insert(id, target);
        }
    })?;
    Ok(found)
}

fn headings(xml: &str) -> Result<HashMap<String, usize>, Damage> {
    let (mut found, mut style) = (HashMap::new(), String::new());
    events(xml, |event| {
        let Event::Start(element) = event else { return };
        match element.local_name().as_ref() {
            "style" => style = attribute(&element, "styleId").unwrap_or_default(),
            "name" => {
                let name = attribute(&element, "val").unwrap_or_default().to_lowercase();
                let level = name.strip_prefix("heading ").and_then(|level| level.parse().ok());
                if let Some(level) = level.or((name == "title").then_some(1)) {
                    found.insert(style.clone(), level);
                }
            }
            "outlineLvl" => {
                if let Some(level) = attribute(&element, "val").and_then(|level| level.parse::<usize>().ok())
                    && level < 9
                {
                    found.entry(style.clone()).or_insert(level + 1);
                }
            }
            _ => {}
        }
    })?;
    Ok(found)
}

fn ordered(xml: &str) -> Result<HashMap<(String, usize), bool>, Damage> {
    let mut formats: HashMap<(String, usize), bool> = HashMap::new();
    let mut found = HashMap::new();
    let (mut kind, mut number, mut level) = (String::new(), String::new(), 0);
    events(xml, |event| {
        let Event::Start(element) = event else { return };
        let value = || attribute(&element, "val").unwrap_or_default();
        match element.local_name().as_ref() {
            "abstractNum" => kind = attribute(&element, "abstractNumId").unwrap_or_default(),
            "lvl" => level = attribute(&element, "ilvl").and_then(|level| level.parse().ok()).unwrap_or_default(),
            "numFmt" => _ = formats.insert((kind.clone(), level), value() != "bullet"),
            "num" => number = attribute(&element, "numId").unwrap_or_default(),
            "abstractNumId" => {
                let kind = value();
                for level in 0..9 {
                    if let Some(ordered) = formats.get(&(kind.clone(), level)) {
                        found.insert((number.clone(), level), *ordered);
                    }
                }
            }
            _ => {}
        }
    })?;
    Ok(found)
}

/// A paragraph that is being read.
#[derive(Default)]
struct Paragraph {
    html: String,
    heading: Option<usize>,
    list: Option<String>,
    level: usize,
    /// The marks of the current run.
    bold: bool,
    italic: bool,
    struck: bool,
}

impl Paragraph {
    fn text(&mut self, text: &str) {
        let marks = [(self.bold, "b"), (self.italic, "i"), (self.struck, "s")];
        let is_blank = text.trim().is_empty();
        let marks = marks.iter().filter(|(is_set, _)| *is_set && !is_blank);
        marks.clone().for_each(|(_, tag)| _ = write!(self.html, "<{tag}>"));
        self.html.push_str(text);
        marks.rev().for_each(|(_, tag)| _ = write!(self.html, "</{tag}>"));
    }
}

fn body(xml: &str, context: &Context, html: &mut Html) -> Result<(), Damage> {
    // A text box holds paragraphs in a paragraph.
    let mut around: Vec<Paragraph> = vec![];
    let mut paragraph = Paragraph::default();
    let (mut text, mut in_text, mut in_run, mut hidden) = (String::new(), false, false, 0_usize);
    events(xml, |event| match event {
        Event::Start(element) => {
            let value = || attribute(&element, "val").unwrap_or_default();
            let is_set = || !matches!(value().as_str(), "0" | "false" | "off");
            let name = element.local_name();
            match name.as_ref() {
                // What was moved away, and what stands for those who know no newer drawing.
                "moveFrom" | "Fallback" => hidden += 1,
                _ if hidden > 0 => {}
                "p" => around.push(mem::take(&mut paragraph)),
                "pStyle" => paragraph.heading = context.headings.get(&value()).copied(),
                "outlineLvl" => {
                    let level = value().parse::<usize>().ok().filter(|level| *level < 9);
                    paragraph.heading = level.map(|level| level + 1);
                }
                "numId" => paragraph.list = Some(value()).filter(|number| number != "0"),
                "ilvl" => paragraph.level = value().parse().unwrap_or_default(),
                "r" => {
                    in_run = true;
                    (paragraph.bold, paragraph.italic, paragraph.struck) = (false, false, false);
                }
                "b" if in_run => paragraph.bold = is_set(),
                "i" if in_run => paragraph.italic = is_set(),
                "strike" if in_run => paragraph.struck = is_set(),
                "t" => (in_text, text) = (true, String::new()),
                "tab" if in_run => paragraph.html.push(' '),
                "br" | "cr" if in_run => paragraph.html.push_str("<br>"),
                "hyperlink" => {
                    let target = attribute(&element, "id").and_then(|id| context.links.get(&id));
                    paragraph
                        .html
                        .push_str(&target.map_or("<a>".to_owned(), |target| format!("<a href=\"{target}\">")));
                }
                "footnoteReference" | "endnoteReference" => {
                    _ = write!(paragraph.html, "[{}]", attribute(&element, "id").unwrap_or_default());
                }
                "footnote" | "endnote" => {
                    let id = attribute(&element, "id").unwrap_or_default();
                    // Those below 1 are lines and not notes.
                    if id.parse::<u32>().is_ok_and(|id| id > 0) {
                        html.raw(&format!("<p>[{id}]</p>"));
                    }
                }
                "tbl" => html.raw("<table>"),
                "tr" => html.raw("<tr>"),
                "tc" => html.raw("<td>"),
                _ => {}
            }
        }
        Event::End(element) => match element.local_name().as_ref() {
            "moveFrom" | "Fallback" => hidden = hidden.saturating_sub(1),
            _ if hidden > 0 => {}
            "p" => {
                let ended = mem::replace(&mut paragraph, around.pop().unwrap_or_default());
                match (&ended.heading, &ended.list) {
                    (Some(level), _) => html.block(&format!("h{}", (*level).clamp(1, 6)), &ended.html),
                    (None, Some(number)) => {
                        let ordered = context.ordered.get(&(number.clone(), ended.level)).copied();
                        html.item(ended.level, ordered.unwrap_or_default(), &ended.html);
                    }
                    (None, None) => html.block("p", &ended.html),
                }
            }
            "r" => in_run = false,
            "t" => {
                in_text = false;
                paragraph.text(&text);
            }
            "hyperlink" => paragraph.html.push_str("</a>"),
            "tbl" => html.raw("</table>\n"),
            "tr" => html.raw("</tr>"),
            "tc" => html.raw("</td>"),
            _ => {}
        },
        // It is escaped for XML, and so for a page.
        Event::Text(said) if in_text => text.push_str(&said),
        Event::GeneralRef(reference) if in_text => _ = write!(text, "&{};", &*reference),
        _ => {}
    })
}
