//! Word documents (ECMA-376, WordprocessingML): paragraphs, lists, tables and footnotes.

use std::{collections::HashMap, fmt::Write, mem};

use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};

use crate::{
    Damage,
    html::{Html, Shift, push_marked},
    package::Package,
};

/// Information from the other parts of the document.
#[derive(Default)]
struct Context {
    styles: HashMap<String, Style>,
    /// Whether a list is ordered, by its number and level.
    ordered: HashMap<(String, usize), bool>,
    /// Link targets by relationship id.
    links: HashMap<String, String>,
}

/// A style of paragraphs or text, including inherited properties.
#[derive(Clone, Default)]
struct Style {
    parent: Option<String>,
    /// The heading level.
    heading: Option<usize>,
    /// The number of the list that the paragraphs belong to.
    list: Option<String>,
    level: Option<usize>,
    bold: Option<bool>,
    italic: Option<bool>,
    monospaced: Option<bool>,
    shift: Option<Shift>,
    /// Whether the style's name denotes code.
    code: bool,
}

/// Whether a font name denotes a monospaced font.
pub(crate) fn is_monospaced(font: &str) -> bool {
    let font = font.to_lowercase();
    ["courier", "consolas", "menlo", "monaco", "mono"].iter().any(|known| font.contains(known))
}

/// Converts the document to HTML.
pub(crate) fn html(package: &mut Package) -> Result<String, Damage> {
    let mut context = Context::default();
    if let Some(styles) = package.text("word/styles.xml")? {
        context.styles = self::styles(&styles)?;
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

/// The value of an attribute regardless of its namespace prefix, still escaped as in the document.
pub(crate) fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = element.attributes().filter_map(Result::ok);
    let found = attributes.find(|attribute| attribute.key.local_name().as_ref() == name)?;
    Some(found.value.as_ref().to_owned())
}

/// Calls `each` for each start, end and empty element of `xml` and the text between them.
pub(crate) fn for_each_event(xml: &str, mut each: impl FnMut(Event<'_>)) -> Result<(), Damage> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    loop {
        match reader.read_event() {
            Ok(Event::Eof) => return Ok(()),
            // Entities are not resolved here. A document that declares some is an attempt to read other files.
            Ok(Event::DocType(declared)) if declared.contains("<!ENTITY") => return Err(Damage::Entities),
            Ok(event) => each(event),
            Err(error) => return Err(Damage::Xml { position: reader.error_position(), error }),
        }
    }
}

/// The targets of relationships by id (ECMA-376 part 2).
pub(crate) fn targets(xml: &str) -> Result<HashMap<String, String>, Damage> {
    let mut found = HashMap::new();
    for_each_event(xml, |event| {
        if let Event::Start(element) = event
            && element.local_name().as_ref() == "Relationship"
            && let (Some(id), Some(target)) = (attribute(&element, "Id"), attribute(&element, "Target"))
        {
            // Within single quotes, XML allows the sign that ends an attribute of HTML.
            found.insert(id, target.replace('"', "%22"));
        }
    })?;
    Ok(found)
}

fn styles(xml: &str) -> Result<HashMap<String, Style>, Damage> {
    let (mut own, mut id) = (HashMap::<String, Style>::new(), None);
    for_each_event(xml, |event| {
        let element = match &event {
            Event::Start(element) => element,
            Event::End(element) if element.local_name().as_ref() == "style" => {
                id = None;
                return;
            }
            _ => return,
        };
        let value = || attribute(element, "val").unwrap_or_default();
        if element.local_name().as_ref() == "style" {
            id = attribute(element, "styleId");
        }
        // Properties outside a style apply to all text.
        let Some(style) = id.as_ref().map(|id| own.entry(id.clone()).or_default()) else { return };
        match element.local_name().as_ref() {
            "name" => {
                let name = value().to_lowercase();
                let level = name.strip_prefix("heading ").and_then(|level| level.parse().ok());
                style.heading = level.or((name == "title").then_some(1)).or(style.heading);
                style.code = name.contains("preformatted") || name.split(' ').any(|word| word == "code");
            }
            "basedOn" => style.parent = Some(value()),
            "outlineLvl" => {
                let level = value().parse::<usize>().ok().filter(|level| *level < 9);
                style.heading = style.heading.or(level.map(|level| level + 1));
            }
            "numId" => style.list = Some(value()),
            "ilvl" => style.level = value().parse().ok(),
            "b" => style.bold = Some(is_on(element)),
            "i" => style.italic = Some(is_on(element)),
            "rFonts" => style.monospaced = attribute(element, "ascii").map(|font| is_monospaced(&font)),
            "vertAlign" => style.shift = Some(shift(&value())),
            _ => {}
        }
    })?;
    let whole = own.keys().map(|id| (id.clone(), inherited(&own, id))).collect();
    Ok(whole)
}

/// The style `id` with its inherited properties.
fn inherited(own: &HashMap<String, Style>, id: &str) -> Style {
    let mut style = own.get(id).cloned().unwrap_or_default();
    let mut parent = style.parent.clone();
    // Inheritance may be circular.
    for _ in 0..16 {
        let Some(from) = parent.and_then(|id| own.get(&id)) else { break };
        style.heading = style.heading.or(from.heading);
        style.list = style.list.or_else(|| from.list.clone());
        style.level = style.level.or(from.level);
        style.bold = style.bold.or(from.bold);
        style.italic = style.italic.or(from.italic);
        style.monospaced = style.monospaced.or(from.monospaced);
        style.shift = style.shift.or(from.shift);
        style.code |= from.code;
        parent = from.parent.clone();
    }
    style
}

/// The value of `vertAlign`.
fn shift(value: &str) -> Shift {
    match value {
        "superscript" => Shift::Above,
        "subscript" => Shift::Below,
        _ => Shift::None,
    }
}

/// Whether a boolean property is on.
fn is_on(element: &BytesStart<'_>) -> bool {
    !matches!(attribute(element, "val").as_deref(), Some("0" | "false" | "off"))
}

fn ordered(xml: &str) -> Result<HashMap<(String, usize), bool>, Damage> {
    let mut formats: HashMap<(String, usize), bool> = HashMap::new();
    let mut found = HashMap::new();
    let (mut kind, mut number, mut level) = (String::new(), String::new(), 0);
    for_each_event(xml, |event| {
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

/// The paragraph that is being read.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is one of the marks that a text has or not")]
struct Paragraph {
    html: String,
    style: Style,
    /// The formatting of the current run.
    bold: bool,
    italic: bool,
    struck: bool,
    monospaced: bool,
    shift: Shift,
}

impl Paragraph {
    /// Sets the style. Properties of the paragraph itself prevail; programs write them after its style and before it.
    fn set_style(&mut self, style: Style) {
        let own = mem::take(&mut self.style);
        self.style = Style {
            heading: own.heading.or(style.heading),
            list: own.list.or(style.list),
            level: own.level.or(style.level),
            ..style
        };
    }

    /// Sets the formatting of a run: from `style`, or else from the paragraph's style.
    fn marked(&mut self, style: &Style) {
        let said = |of: fn(&Style) -> Option<bool>| of(style).or_else(|| of(&self.style)).unwrap_or_default();
        (self.bold, self.italic) = (said(|style| style.bold), said(|style| style.italic));
        self.monospaced = said(|style| style.monospaced);
        self.shift = style.shift.or(self.style.shift).unwrap_or_default();
    }

    fn text(&mut self, text: &str) {
        let (is_code, is_heading) = (self.style.code, self.style.heading.is_some());
        let [above, below] = self.shift.marks();
        let marks = [
            (self.monospaced && !is_code, "code"),
            (self.bold && !is_code && !is_heading, "b"),
            // Not where all headings of this style are in italics.
            (self.italic && !is_code && !(is_heading && self.style.italic == Some(true)), "i"),
            (self.struck, "s"),
            above,
            below,
        ];
        push_marked(&mut self.html, text, &marks);
    }
}

fn body(xml: &str, context: &Context, html: &mut Html) -> Result<(), Damage> {
    // A text box contains paragraphs inside a paragraph.
    let mut around: Vec<Paragraph> = vec![];
    let mut paragraph = Paragraph::default();
    let (mut text, mut in_text, mut in_run, mut hidden, mut cells) = (String::new(), false, false, 0_usize, 0_usize);
    for_each_event(xml, |event| match event {
        Event::Start(element) => {
            let value = || attribute(&element, "val").unwrap_or_default();
            let name = element.local_name();
            match name.as_ref() {
                // Moved text at its old place, and the alternative for readers without newer drawings.
                "moveFrom" | "Fallback" => hidden += 1,
                _ if hidden > 0 => {}
                "p" => around.push(mem::take(&mut paragraph)),
                "pStyle" => paragraph.set_style(context.styles.get(&value()).cloned().unwrap_or_default()),
                "outlineLvl" => {
                    let level = value().parse::<usize>().ok().filter(|level| *level < 9);
                    paragraph.style.heading = level.map(|level| level + 1);
                }
                "numId" => paragraph.style.list = Some(value()),
                "ilvl" => paragraph.style.level = value().parse().ok(),
                "r" => {
                    in_run = true;
                    paragraph.marked(&Style::default());
                    paragraph.struck = false;
                }
                "rStyle" if in_run => {
                    if let Some(style) = context.styles.get(&value()) {
                        let code = Style { monospaced: style.monospaced.or(Some(style.code)), ..style.clone() };
                        paragraph.marked(&code);
                    }
                }
                "rFonts" if in_run => {
                    if let Some(font) = attribute(&element, "ascii") {
                        paragraph.monospaced = is_monospaced(&font);
                    }
                }
                "b" if in_run => paragraph.bold = is_on(&element),
                "i" if in_run => paragraph.italic = is_on(&element),
                "strike" if in_run => paragraph.struck = is_on(&element),
                "vertAlign" if in_run => paragraph.shift = shift(&value()),
                "t" => (in_text, text) = (true, String::new()),
                "tab" if in_run => paragraph.html.push(if paragraph.style.code { '\t' } else { ' ' }),
                "noBreakHyphen" if in_run => paragraph.html.push('\u{2011}'),
                "br" | "cr" if in_run => paragraph.html.push_str(if paragraph.style.code { "\n" } else { "<br>" }),
                "hyperlink" => {
                    let target = attribute(&element, "id").and_then(|id| context.links.get(&id));
                    let link = target.map(|target| format!(" href=\"{target}\""));
                    _ = write!(paragraph.html, "<a{}>", link.unwrap_or_default());
                }
                "footnoteReference" | "endnoteReference" => {
                    _ = write!(paragraph.html, "[{}]", attribute(&element, "id").unwrap_or_default());
                }
                "footnote" | "endnote" => {
                    let id = attribute(&element, "id").unwrap_or_default();
                    // Ids below 1 are separator lines, not notes.
                    if id.parse::<u32>().is_ok_and(|id| id > 0) {
                        html.raw(&format!("<p>[{id}]</p>"));
                    }
                }
                "tbl" => html.raw("<table>"),
                "tr" => html.raw("<tr>"),
                "tc" => {
                    cells += 1;
                    html.raw("<td>");
                }
                _ => {}
            }
        }
        Event::End(element) => match element.local_name().as_ref() {
            "moveFrom" | "Fallback" => hidden = hidden.saturating_sub(1),
            _ if hidden > 0 => {}
            "p" => {
                let ended = mem::replace(&mut paragraph, around.pop().unwrap_or_default());
                let Style { heading, list, level, code, .. } = ended.style;
                // Number 0 removes a paragraph from the list of its style.
                match (heading, list.filter(|number| number != "0")) {
                    (Some(level), _) => html.block(&format!("h{}", level.clamp(1, 6)), &ended.html),
                    (None, Some(number)) => {
                        let level = level.unwrap_or_default();
                        let ordered = context.ordered.get(&(number, level)).copied();
                        html.item(level, ordered.unwrap_or_default(), &ended.html);
                    }
                    (None, None) if code && cells == 0 => html.code(&ended.html),
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
            "tc" => {
                cells = cells.saturating_sub(1);
                html.raw("</td>");
            }
            _ => {}
        },
        // The text is escaped for XML, which is valid in HTML.
        Event::Text(said) if in_text => text.push_str(&said),
        Event::GeneralRef(reference) if in_text => _ = write!(text, "&{};", &*reference),
        _ => {}
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html_of(content: &str) -> String {
        let mut html = Html::default();
        body(&format!("<w:body>{content}</w:body>"), &Context::default(), &mut html).unwrap();
        html.finish()
    }

    #[test]
    fn styles_inherit_and_a_circle_ends() {
        let style = |id: &str, inside: &str| format!("<w:style w:styleId=\"{id}\">{inside}</w:style>");
        let xml = [
            "<w:styles><w:docDefaults><w:b/></w:docDefaults>".to_owned(),
            style("Base", "<w:name w:val=\"Heading 3\"/><w:b/><w:rFonts w:ascii=\"Consolas\"/>"),
            style("Own", "<w:basedOn w:val=\"Base\"/><w:b w:val=\"off\"/><w:outlineLvl w:val=\"0\"/>"),
            style("A", "<w:basedOn w:val=\"B\"/>"),
            style("B", "<w:basedOn w:val=\"A\"/><w:numId w:val=\"4\"/>"),
            style("Listing", "<w:name w:val=\"Source Code\"/><w:outlineLvl w:val=\"9\"/>"),
            "</w:styles>".to_owned(),
        ];
        let styles = styles(&xml.concat()).unwrap();
        let own = &styles["Own"];
        assert_eq!((own.heading, own.bold, own.monospaced), (Some(1), Some(false), Some(true)));
        assert_eq!((styles["Base"].heading, styles["Base"].bold), (Some(3), Some(true)));
        assert_eq!((styles["A"].list.as_deref(), styles["A"].bold), (Some("4"), None));
        assert_eq!((styles["Listing"].code, styles["Listing"].heading), (true, None));
    }

    #[test]
    fn the_number_format_of_each_level_is_that_of_its_list() {
        let xml = "<w:numbering><w:abstractNum w:abstractNumId=\"7\"><w:lvl w:ilvl=\"0\"><w:numFmt w:val=\"decimal\"/></w:lvl>\
             <w:lvl w:ilvl=\"1\"><w:numFmt w:val=\"bullet\"/></w:lvl></w:abstractNum>\
             <w:num w:numId=\"1\"><w:abstractNumId w:val=\"7\"/></w:num><w:num w:numId=\"2\"><w:abstractNumId w:val=\"8\"/></w:num>\
             </w:numbering>";
        let ordered = ordered(xml).unwrap();
        let of = |number: &str, level| ordered.get(&(number.to_owned(), level)).copied();
        assert_eq!((of("1", 0), of("1", 1), of("1", 2), of("2", 0)), (Some(true), Some(false), None, None));
    }

    #[test]
    fn text_that_is_not_shown_is_left_out_and_signs_are_kept() {
        let run = |inside: &str| format!("<w:p><w:r>{inside}</w:r></w:p>");
        assert_eq!(html_of(&run("<w:t>e</w:t><w:noBreakHyphen/><w:t>mail</w:t>")), "<p>e\u{2011}mail</p>\n");
        assert_eq!(html_of(&run("<w:t>a</w:t><w:tab/><w:t>b &lt; c</w:t><w:br/>")), "<p>a b &lt; c<br></p>\n");
        assert_eq!(html_of(&run("<w:delText>gone</w:delText><w:instrText>PAGE</w:instrText>")), "");
        let moved = "<w:p><w:moveFrom><w:r><w:t>old</w:t></w:r></w:moveFrom><w:r><w:t>new</w:t></w:r></w:p>";
        assert_eq!(html_of(moved), "<p>new</p>\n");
        let boxed = "<w:p><w:r><w:t>around</w:t></w:r><w:txbxContent><w:p><w:r><w:t>inside</w:t></w:r></w:p></w:txbxContent></w:p>";
        assert_eq!(html_of(boxed), "<p>inside</p>\n<p>around</p>\n");
        assert_eq!(html_of(""), "");
    }

    #[test]
    fn a_document_with_entities_or_damage_is_refused() {
        let declared = "<!DOCTYPE x [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><x>&a;</x>";
        assert!(matches!(for_each_event(declared, |_| ()), Err(Damage::Entities)));
        assert!(matches!(for_each_event("<a></b>", |_| ()), Err(Damage::Xml { .. })));
        assert!(for_each_event("", |_| ()).is_ok() && for_each_event("<!DOCTYPE html><a/>", |_| ()).is_ok());
    }

    #[test]
    fn a_target_cannot_leave_its_attribute() {
        let xml = "<Relationships><Relationship Id='r1' Target='https://x.example/\"a&amp;b'/><Relationship Id='r2'/></Relationships>";
        let found = targets(xml).unwrap();
        assert_eq!((found.len(), found["r1"].as_str()), (1, "https://x.example/%22a&amp;b"));
    }
}
