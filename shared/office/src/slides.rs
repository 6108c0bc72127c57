//! Presentations (ECMA-376, PresentationML): title, points, tables and speaker's notes of each slide.

use std::{collections::HashMap, fmt::Write, mem};

use quick_xml::events::{BytesStart, Event};

use crate::{
    Damage,
    html::{Html, Shift, push_marked},
    package::Package,
    word::{attribute, for_each_event, is_monospaced, targets},
};

/// Converts the presentation to HTML.
pub(crate) fn html(package: &mut Package) -> Result<String, Damage> {
    let relations = package.needed("ppt/_rels/presentation.xml.rels")?;
    let targets = targets(&relations)?;
    let mut order = vec![];
    for_each_event(&package.needed("ppt/presentation.xml")?, |event| {
        if let Event::Start(element) = event
            && element.local_name().as_ref() == "sldId"
        {
            // Each slide has a relationship id beside its own id.
            let ids = element.attributes().filter_map(Result::ok).map(|attribute| attribute.value.as_ref().to_owned());
            order.extend(ids.filter_map(|id| targets.get(&id).cloned()));
        }
    })?;
    let mut html = Html::default();
    for target in order {
        let path = resolve("ppt", &target);
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let relations = package.text(&resolve(folder, &format!("_rels/{name}.rels")))?;
        let links = relations.map_or(Ok(HashMap::new()), |xml| self::targets(&xml))?;
        slide(&package.needed(&path)?, &links, Shape::Points, &mut html)?;
        if let Some(notes) = links.values().find(|target| target.contains("notesSlide"))
            && let Some(xml) = package.text(&resolve(folder, notes))?
        {
            let mut said = Html::default();
            slide(&xml, &HashMap::new(), Shape::Other, &mut said)?;
            html.notes(said);
        }
    }
    Ok(html.finish())
}

/// Resolves `target` relative to a part in `folder`.
pub(crate) fn resolve(folder: &str, target: &str) -> String {
    if let Some(absolute) = target.strip_prefix('/') {
        return absolute.to_owned();
    }
    let mut names: Vec<&str> = folder.split('/').filter(|name| !name.is_empty()).collect();
    for name in target.split('/') {
        match name {
            ".." => _ = names.pop(),
            "." => {}
            name => names.push(name),
        }
    }
    names.join("/")
}

/// The role of a shape.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Title,
    Points,
    /// Slide number, date, header or footer.
    Margin,
    Other,
}

/// The list marker of a paragraph.
enum Bullet {
    None,
    Number,
    Sign,
}

/// The formatting of a run of text.
#[derive(Default)]
struct Run<'a> {
    link: Option<&'a String>,
    bold: bool,
    italic: bool,
    monospaced: bool,
    shift: Shift,
}

impl Run<'_> {
    /// The properties that are attributes of `rPr`.
    fn with(element: &BytesStart<'_>) -> Self {
        let is_on = |name| attribute(element, name).is_some_and(|value| matches!(value.as_str(), "1" | "true"));
        // Thousandths of a percent of the height.
        let baseline = attribute(element, "baseline").and_then(|share| share.parse::<i32>().ok()).unwrap_or_default();
        let shift = match baseline.signum() {
            1 => Shift::Above,
            -1 => Shift::Below,
            _ => Shift::None,
        };
        Self { bold: is_on("b"), italic: is_on("i"), shift, ..Self::default() }
    }
}

/// A paragraph that is being read.
#[derive(Default)]
struct Paragraph {
    html: String,
    /// Its text alone, as lines of code.
    code: String,
    /// Whether something in it is not monospaced.
    is_prose: bool,
    level: usize,
    bullet: Option<Bullet>,
}

impl Paragraph {
    fn add(&mut self, text: &str, run: &Run<'_>, is_title: bool) {
        self.is_prose |= !run.monospaced && !text.trim().is_empty();
        self.code.push_str(text);
        if let Some(link) = run.link {
            _ = write!(self.html, "<a href=\"{link}\">");
        }
        let [above, below] = run.shift.marks();
        let marks = [
            (run.monospaced, "code"),
            (run.bold && !is_title && !run.monospaced, "b"),
            (run.italic && !is_title && !run.monospaced, "i"),
            above,
            below,
        ];
        push_marked(&mut self.html, text, &marks);
        if run.link.is_some() {
            self.html.push_str("</a>");
        }
    }

    /// Adds the paragraph to `html`. One whose whole text is monospaced is code, unless it is an item.
    fn end(self, shape: Shape, in_cell: bool, html: &mut Html) {
        if self.code.trim().is_empty() || shape == Shape::Margin {
            return;
        }
        let is_ordered = matches!(self.bullet, Some(Bullet::Number));
        let is_item = match self.bullet {
            Some(Bullet::None) => false,
            Some(Bullet::Number | Bullet::Sign) => true,
            None => shape == Shape::Points,
        };
        if in_cell {
            html.block("p", &self.html);
        } else if shape == Shape::Title {
            html.block("h2", &self.html);
        } else if is_item {
            html.item(self.level, is_ordered, &self.html);
        } else if self.is_prose {
            html.block("p", &self.html);
        } else {
            html.code(&self.code);
        }
    }
}

/// Adds the shapes of a slide or of its notes. Paragraphs of its `body` placeholders are list items on a slide
/// ([`Shape::Points`]), because its master gives them bullets, and paragraphs in notes ([`Shape::Other`]).
fn slide(xml: &str, links: &HashMap<String, String>, body: Shape, html: &mut Html) -> Result<(), Damage> {
    let (mut shape, mut in_cell, mut in_text) = (Shape::Other, false, false);
    let (mut paragraph, mut run, mut text) = (Paragraph::default(), Run::default(), String::new());
    for_each_event(xml, |event| match event {
        Event::Start(element) => match element.local_name().as_ref() {
            "sp" => shape = Shape::Other,
            "ph" => {
                shape = match attribute(&element, "type").as_deref() {
                    Some("title" | "ctrTitle") => Shape::Title,
                    Some("sldNum" | "dt" | "ftr" | "hdr" | "sldImg") => Shape::Margin,
                    Some("subTitle") => Shape::Other,
                    _ => body,
                }
            }
            "p" => paragraph = Paragraph::default(),
            "buNone" => paragraph.bullet = Some(Bullet::None),
            "buAutoNum" => paragraph.bullet = Some(Bullet::Number),
            "buChar" => paragraph.bullet = Some(Bullet::Sign),
            "pPr" => {
                let level = attribute(&element, "lvl").and_then(|level| level.parse().ok());
                paragraph.level = level.unwrap_or_default();
            }
            "r" | "fld" => run = Run::default(),
            "rPr" => run = Run::with(&element),
            "latin" => {
                run.monospaced |= attribute(&element, "typeface").is_some_and(|font| is_monospaced(&font));
            }
            "hlinkClick" => run.link = attribute(&element, "id").and_then(|id| links.get(&id)),
            "t" => (in_text, text) = (true, String::new()),
            "br" => {
                paragraph.html.push_str("<br>");
                paragraph.code.push('\n');
            }
            "tbl" => html.raw("<table>"),
            "tr" => html.raw("<tr>"),
            "tc" => {
                in_cell = true;
                html.raw("<td>");
            }
            _ => {}
        },
        Event::End(element) => match element.local_name().as_ref() {
            "t" => {
                in_text = false;
                paragraph.add(&text, &run, shape == Shape::Title);
            }
            "p" => mem::take(&mut paragraph).end(shape, in_cell, html),
            "tc" => {
                in_cell = false;
                html.raw("</td>");
            }
            "tr" => html.raw("</tr>"),
            "tbl" => html.raw("</table>\n"),
            _ => {}
        },
        // The text is escaped for XML, which is valid in HTML.
        Event::Text(content) if in_text => text.push_str(&content),
        Event::GeneralRef(reference) if in_text => _ = write!(text, "&{};", &*reference),
        _ => {}
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html_of(shapes: &str) -> String {
        let mut html = Html::default();
        slide(&format!("<p:sld>{shapes}</p:sld>"), &HashMap::new(), Shape::Points, &mut html).unwrap();
        html.finish()
    }

    /// A shape for a placeholder with paragraphs.
    fn shape(kind: &str, paragraphs: &str) -> String {
        format!("<p:sp><p:nvPr><p:ph type=\"{kind}\"/></p:nvPr><p:txBody>{paragraphs}</p:txBody></p:sp>")
    }

    #[test]
    fn targets_are_relative_to_the_folder_of_their_part() {
        for (folder, target, expected) in [
            ("ppt", "slides/slide1.xml", "ppt/slides/slide1.xml"),
            ("ppt/slides", "../notesSlides/n1.xml", "ppt/notesSlides/n1.xml"),
            ("ppt/slides", "./a.xml", "ppt/slides/a.xml"),
            ("ppt", "/ppt/slides/a.xml", "ppt/slides/a.xml"),
            ("ppt", "../../../a.xml", "a.xml"),
            ("", "_rels/a.xml.rels", "_rels/a.xml.rels"),
        ] {
            assert_eq!(resolve(folder, target), expected, "{folder} {target}");
        }
    }

    #[test]
    fn the_placeholder_says_what_a_paragraph_is() {
        let text = |text: &str| format!("<a:p><a:r><a:t>{text}</a:t></a:r></a:p>");
        assert_eq!(html_of(&shape("ctrTitle", &text("Tides &amp; \u{6f6e}"))), "<h2>Tides &amp; \u{6f6e}</h2>\n");
        assert_eq!(html_of(&shape("body", &text("One"))), "<ul><li>One</li></ul>\n");
        assert_eq!(html_of(&shape("subTitle", "<a:p><a:r><a:t>By me</a:t></a:r></a:p>")), "<p>By me</p>\n");
        for margin in ["sldNum", "dt", "ftr", "hdr", "sldImg"] {
            assert_eq!(html_of(&shape(margin, &text("7"))), "", "{margin}");
        }
        assert_eq!(html_of(&shape("title", "<a:p/>")), "");
    }

    #[test]
    fn bullets_levels_and_marks_are_kept() {
        let paragraphs = "<a:p><a:pPr><a:buAutoNum/></a:pPr><a:r><a:rPr b=\"1\"/><a:t>one</a:t></a:r></a:p>\
             <a:p><a:pPr lvl=\"1\"><a:buChar/></a:pPr><a:r><a:rPr baseline=\"30000\"/><a:t>2</a:t></a:r></a:p>\
             <a:p><a:pPr><a:buNone/></a:pPr><a:r><a:rPr><a:latin typeface=\"Courier New\"/></a:rPr><a:t>x = 1</a:t></a:r></a:p>";
        let expected =
            "<ol><li><b>one</b><ul><li><sup>2</sup></li></ul>\n</li></ol>\n<pre><code>x = 1\n</code></pre>\n";
        assert_eq!(html_of(&shape("body", paragraphs)), expected);
    }

    #[test]
    fn a_slide_that_is_not_xml_is_an_error() {
        let damage = slide("<a:p></b>", &HashMap::new(), Shape::Points, &mut Html::default());
        assert!(matches!(damage, Err(Damage::Xml { .. })), "{damage:?}");
    }
}
