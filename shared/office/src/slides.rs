//! Presentations (ECMA-376, PresentationML): title, points, tables and speaker's notes of each slide.

use std::{collections::HashMap, fmt::Write};

use quick_xml::events::Event;

use crate::{
    Damage,
    html::Html,
    package::Package,
    word::{attribute, for_each_event, targets},
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
        let relations = package.text(&format!("{folder}/_rels/{name}.rels"))?;
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
fn resolve(folder: &str, target: &str) -> String {
    if let Some(absolute) = target.strip_prefix('/') {
        return absolute.to_owned();
    }
    let mut names: Vec<&str> = folder.split('/').collect();
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

/// Adds the shapes of a slide or of its notes. Paragraphs of its `body` placeholders are list items on a slide
/// ([`Shape::Points`]), because its master gives them bullets, and paragraphs in notes ([`Shape::Other`]).
fn slide(xml: &str, links: &HashMap<String, String>, body: Shape, html: &mut Html) -> Result<(), Damage> {
    let (mut shape, mut level, mut in_text, mut in_cell) = (Shape::Other, 0, false, false);
    let (mut paragraph, mut link, mut bullet) = (String::new(), None, None);
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
            "p" => (paragraph, level, bullet) = (String::new(), 0, None),
            "buNone" => bullet = Some(Bullet::None),
            "buAutoNum" => bullet = Some(Bullet::Number),
            "buChar" => bullet = Some(Bullet::Sign),
            "r" => link = None,
            "hlinkClick" => link = attribute(&element, "id").and_then(|id| links.get(&id)),
            "pPr" => level = attribute(&element, "lvl").and_then(|level| level.parse().ok()).unwrap_or_default(),
            "t" => {
                in_text = true;
                if let Some(link) = link {
                    _ = write!(paragraph, "<a href=\"{link}\">");
                }
            }
            "br" => paragraph.push_str("<br>"),
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
                if link.take().is_some() {
                    paragraph.push_str("</a>");
                }
            }
            "p" if paragraph.trim().is_empty() => {}
            "p" => match shape {
                _ if in_cell => html.block("p", &paragraph),
                Shape::Title => html.block("h2", &paragraph),
                Shape::Margin => {}
                Shape::Points if !matches!(bullet, Some(Bullet::None)) => {
                    html.item(level, matches!(bullet, Some(Bullet::Number)), &paragraph);
                }
                Shape::Other if matches!(bullet, Some(Bullet::Number | Bullet::Sign)) => {
                    html.item(level, matches!(bullet, Some(Bullet::Number)), &paragraph);
                }
                Shape::Points | Shape::Other => html.block("p", &paragraph),
            },
            "tc" => {
                in_cell = false;
                html.raw("</td>");
            }
            "tr" => html.raw("</tr>"),
            "tbl" => html.raw("</table>\n"),
            _ => {}
        },
        // The text is escaped for XML, which is valid in HTML.
        Event::Text(content) if in_text => paragraph.push_str(&content),
        Event::GeneralRef(reference) if in_text => _ = write!(paragraph, "&{};", &*reference),
        _ => {}
    })
}
