//! OpenDocument 1.3 (ISO/IEC 26300): texts, presentations and spreadsheets.
//!
//! All three have one `content.xml` with the same paragraphs, lists and tables.

use std::{collections::HashMap, fmt::Write, mem};

use quick_xml::events::{BytesStart, Event};

use crate::{
    Damage,
    grid::{Grid, LimitExceeded, escaped, heading},
    html::{Html, Shift, push_marked},
    package::Package,
    word::{attribute, for_each_event, is_monospaced},
};

/// The part that contains the document.
const CONTENT: &str = "content.xml";

/// The maximum number of cells of a spreadsheet: a repeated cell can stand for billions.
const MAX_CELLS: u32 = 4_000_000;

/// The styles of the document and the common ones.
#[derive(Default)]
struct Styles {
    named: HashMap<String, Style>,
    /// Whether a list is ordered, by its style and level (from 1).
    ordered: HashMap<(String, usize), bool>,
}

/// A style of paragraphs or text.
#[derive(Default)]
struct Style {
    parent: Option<String>,
    bold: Option<bool>,
    italic: Option<bool>,
    struck: Option<bool>,
    monospaced: Option<bool>,
    shift: Option<Shift>,
}

/// The character formatting of a piece of text.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is one of the marks that a text has or not")]
struct Marks {
    bold: bool,
    italic: bool,
    struck: bool,
    monospaced: bool,
    shift: Shift,
}

impl Styles {
    fn read(package: &mut Package) -> Result<Self, Damage> {
        let mut styles = Self::default();
        for part in ["styles.xml", CONTENT] {
            if let Some(xml) = package.text(part)? {
                styles.add(&xml)?;
            }
        }
        Ok(styles)
    }

    fn add(&mut self, xml: &str) -> Result<(), Damage> {
        let (mut style, mut list) = (String::new(), String::new());
        for_each_event(xml, |event| {
            let Event::Start(element) = event else { return };
            match element.local_name().as_ref() {
                "style" => {
                    style = attribute(&element, "name").unwrap_or_default();
                    let parent = attribute(&element, "parent-style-name");
                    self.named.insert(style.clone(), Style { parent, ..Style::default() });
                }
                "text-properties" => {
                    let Some(style) = self.named.get_mut(&style) else { return };
                    let value = |name| attribute(&element, name);
                    let weight = value("font-weight");
                    style.bold = weight.map(|weight| weight == "bold" || weight.parse().is_ok_and(|n: u32| n >= 600));
                    style.italic = value("font-style").map(|slant| matches!(slant.as_str(), "italic" | "oblique"));
                    style.struck = value("text-line-through-style").map(|line| line != "none");
                    style.monospaced = value("font-name").or(value("font-family")).map(|font| is_monospaced(&font));
                    style.shift = value("text-position").map(|position| shift(&position));
                }
                "list-style" => list = attribute(&element, "name").unwrap_or_default(),
                kind @ ("list-level-style-number" | "list-level-style-bullet" | "list-level-style-image") => {
                    self.ordered.insert((list.clone(), level(&element)), kind == "list-level-style-number");
                }
                _ => {}
            }
        })
    }

    /// The style `name` and its ancestors.
    fn chain<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a str, Option<&'a Style>)> {
        let first = Some((name, self.named.get(name)));
        // Inheritance may be circular.
        std::iter::successors(first, |(_, style)| {
            let parent = style.as_ref()?.parent.as_deref()?;
            Some((parent, self.named.get(parent)))
        })
        .take(16)
    }

    fn marks(&self, name: &str, around: Marks) -> Marks {
        let said = |of: fn(&Style) -> Option<bool>| self.chain(name).find_map(|(_, style)| of(style?));
        Marks {
            bold: said(|style| style.bold).unwrap_or(around.bold),
            italic: said(|style| style.italic).unwrap_or(around.italic),
            struck: said(|style| style.struck).unwrap_or(around.struck),
            monospaced: said(|style| style.monospaced).unwrap_or(around.monospaced),
            shift: self.chain(name).find_map(|(_, style)| style?.shift).unwrap_or(around.shift),
        }
    }

    fn is(&self, name: &str, known: &[&str]) -> bool {
        self.chain(name).any(|(name, _)| known.contains(&name))
    }
}

/// The value of `text-position`: `super`, `sub` or a share of the height, and then the size.
fn shift(position: &str) -> Shift {
    let place = position.split(' ').next().unwrap_or_default();
    match place.trim_end_matches('%').parse::<f32>() {
        Ok(share) if share > 0.0 => Shift::Above,
        Ok(share) if share < 0.0 => Shift::Below,
        Err(_) if place == "super" => Shift::Above,
        Err(_) if place == "sub" => Shift::Below,
        _ => Shift::None,
    }
}

/// The level of a heading or list, from 1.
fn level(element: &BytesStart<'_>) -> usize {
    let level = attribute(element, "outline-level").or_else(|| attribute(element, "level"));
    level.and_then(|level| level.parse().ok()).unwrap_or(1)
}

/// The repetition count of an element.
fn times(element: &BytesStart<'_>, name: &str) -> u32 {
    attribute(element, name).and_then(|times| times.parse().ok()).unwrap_or(1)
}

/// The paragraph that is being read.
#[derive(Default)]
struct Paragraph {
    html: String,
    heading: Option<usize>,
    code: bool,
    /// The formatting of each open span, the innermost last.
    marks: Vec<Marks>,
    /// Whether the last character was white space, which is written once.
    spaced: bool,
}

impl Paragraph {
    fn text(&mut self, text: &str) {
        let text = if self.code { text.to_owned() } else { self.collapsed(text) };
        let marks = self.marks.last().copied().unwrap_or_default();
        let [above, below] = marks.shift.marks();
        let marks = [
            (marks.monospaced && !self.code, "code"),
            (marks.bold && !self.code && self.heading.is_none(), "b"),
            (marks.italic && !self.code, "i"),
            (marks.struck, "s"),
            above,
            below,
        ];
        push_marked(&mut self.html, &text, &marks);
    }

    /// `text` with each run of white space replaced by one space, as in OpenDocument (part 3, 6.1.2).
    fn collapsed(&mut self, text: &str) -> String {
        let mut kept = String::with_capacity(text.len());
        for c in text.chars() {
            let is_space = matches!(c, ' ' | '\t' | '\r' | '\n');
            if !(is_space && self.spaced) {
                kept.push(if is_space { ' ' } else { c });
            }
            self.spaced = is_space;
        }
        kept
    }
}

/// The state of reading a text or a presentation.
struct Reader<'a> {
    styles: &'a Styles,
    html: Html,
    paragraph: Paragraph,
    /// The enclosing paragraphs: a text box contains paragraphs inside a paragraph.
    around: Vec<Paragraph>,
    /// The style of each open list; an inner list without a style inherits that of the outer one.
    lists: Vec<String>,
    /// Whether the next paragraph starts a list item; otherwise it continues the previous item.
    begins_item: bool,
    /// The number of open elements that are not part of the text.
    hidden: usize,
    /// The presentation class of each open frame.
    frames: Vec<String>,
    in_cell: usize,
    /// The number of the note that is being read.
    note: Option<String>,
    in_citation: bool,
    notes: Vec<String>,
    /// The page so far, while the notes of its slide are read.
    slide: Option<Html>,
}

/// Elements that are not part of the text: deleted text, comments, generated indexes, form fields.
const HIDDEN: [&str; 8] = [
    "tracked-changes",
    "annotation",
    "table-of-content",
    "alphabetical-index",
    "illustration-index",
    "forms",
    "sequence-decls",
    "desc",
];

/// Converts the text or the presentation to HTML.
pub(crate) fn html(package: &mut Package) -> Result<String, Damage> {
    let styles = Styles::read(package)?;
    let mut reader = Reader {
        styles: &styles,
        html: Html::default(),
        paragraph: Paragraph::default(),
        around: vec![],
        lists: vec![],
        begins_item: false,
        hidden: 0,
        frames: vec![],
        in_cell: 0,
        note: None,
        in_citation: false,
        notes: vec![],
        slide: None,
    };
    let mut in_body = false;
    for_each_event(&package.needed(CONTENT)?, |event| match event {
        Event::Start(element) => {
            let name = element.local_name();
            let name = name.as_ref();
            in_body |= name == "body";
            if HIDDEN.contains(&name) {
                reader.hidden += 1;
            } else if in_body && reader.hidden == 0 {
                reader.start(name, &element);
            }
        }
        Event::End(element) => {
            let name = element.local_name();
            let name = name.as_ref();
            if HIDDEN.contains(&name) {
                reader.hidden = reader.hidden.saturating_sub(1);
            } else if in_body && reader.hidden == 0 {
                reader.end(name);
            }
        }
        // The text is escaped for XML, which is valid in HTML.
        Event::Text(text) if in_body => reader.text(&text),
        Event::GeneralRef(reference) if in_body => reader.text(&format!("&{};", &*reference)),
        _ => {}
    })?;
    for note in mem::take(&mut reader.notes) {
        reader.html.block("p", &note);
    }
    Ok(reader.html.finish())
}

impl Reader<'_> {
    fn start(&mut self, name: &str, element: &BytesStart<'_>) {
        let style = || attribute(element, "style-name").unwrap_or_default();
        match name {
            "h" | "p" => {
                let style = style();
                let is_title = self.styles.is(&style, &["Title"]) || self.frames.last().is_some_and(|c| c == "title");
                let heading = match name {
                    "h" => Some(level(element)),
                    _ if is_title && self.frames.is_empty() => Some(1),
                    _ => is_title.then_some(2),
                };
                let code = self.styles.is(&style, &["Preformatted_20_Text", "Source_20_Code", "Code"]);
                // How all headings look says nothing of this one.
                let is_plain = heading.is_some() || self.styles.is(&style, &["Table_20_Heading"]);
                let marks = if is_plain { Marks::default() } else { self.styles.marks(&style, Marks::default()) };
                let marks = vec![marks];
                let new = Paragraph { heading, code, marks, spaced: true, ..Paragraph::default() };
                self.around.push(mem::replace(&mut self.paragraph, new));
            }
            "span" => {
                let around = self.paragraph.marks.last().copied().unwrap_or_default();
                self.paragraph.marks.push(self.styles.marks(&style(), around));
            }
            "s" => {
                let spaces = times(element, "c").min(1000);
                self.paragraph.html.push_str(&" ".repeat(spaces as usize));
                self.paragraph.spaced = true;
            }
            "tab" => self.paragraph.html.push(if self.paragraph.code { '\t' } else { ' ' }),
            "line-break" => self.paragraph.html.push_str(if self.paragraph.code { "\n" } else { "<br>" }),
            "a" => {
                let target = attribute(element, "href").unwrap_or_default();
                // Quotation marks are valid in XML attributes with single quotes, so they are escaped.
                _ = write!(self.paragraph.html, "<a href=\"{}\">", target.replace('"', "%22"));
            }
            "list" => {
                let own = attribute(element, "style-name");
                self.lists.push(own.or_else(|| self.lists.last().cloned()).unwrap_or_default());
            }
            "list-item" | "list-header" => self.begins_item = true,
            "note-citation" => self.in_citation = true,
            "note" => self.note = Some(String::new()),
            "frame" | "custom-shape" => self.frames.push(attribute(element, "class").unwrap_or_default()),
            "notes" => self.slide = Some(mem::take(&mut self.html)),
            // Nested tables are read as one table.
            "table" => self.html.raw("<table>"),
            "table-row" => self.html.raw("<tr>"),
            "table-cell" => {
                self.in_cell += 1;
                self.html.raw("<td>");
            }
            "covered-table-cell" => self.html.raw("<td></td>"),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "h" | "p" => self.end_paragraph(),
            "span" if self.paragraph.marks.len() > 1 => _ = self.paragraph.marks.pop(),
            "a" => self.paragraph.html.push_str("</a>"),
            "list" => _ = self.lists.pop(),
            "note-citation" => {
                self.in_citation = false;
                if let Some(number) = &self.note {
                    _ = write!(self.paragraph.html, "[{number}]");
                }
            }
            "note" => self.note = None,
            "frame" | "custom-shape" => _ = self.frames.pop(),
            "notes" => {
                if let Some(slide) = self.slide.take() {
                    let notes = mem::replace(&mut self.html, slide);
                    self.html.notes(notes);
                }
            }
            "table" => self.html.raw("</table>\n"),
            "table-row" => self.html.raw("</tr>"),
            "table-cell" => {
                self.in_cell = self.in_cell.saturating_sub(1);
                self.html.raw("</td>");
            }
            _ => {}
        }
    }

    fn end_paragraph(&mut self) {
        let ended = mem::replace(&mut self.paragraph, self.around.pop().unwrap_or_default());
        // Slide number, date or footer.
        if self
            .frames
            .last()
            .is_some_and(|class| matches!(class.as_str(), "page-number" | "date-time" | "footer" | "header"))
        {
            return;
        }
        if let Some(number) = &self.note {
            self.notes.push(format!("[{number}] {}", ended.html));
            return;
        }
        match ended.heading {
            Some(level) => self.html.block(&format!("h{}", level.clamp(1, 6)), &ended.html),
            None if ended.code && self.lists.is_empty() && self.in_cell == 0 => self.html.code(&ended.html),
            None if self.in_cell > 0 || self.lists.is_empty() => self.html.block("p", &ended.html),
            None if ended.html.trim().is_empty() => {}
            None => {
                let depth = self.lists.len();
                let style = self.lists.last().cloned().unwrap_or_default();
                if mem::take(&mut self.begins_item) {
                    let ordered = self.styles.ordered.get(&(style, depth)).copied();
                    self.html.item(depth - 1, ordered.unwrap_or_default(), &ended.html);
                } else {
                    self.html.more(&ended.html);
                }
            }
        }
    }

    fn text(&mut self, text: &str) {
        if self.hidden > 0 {
        } else if self.in_citation {
            self.note.get_or_insert_default().push_str(text.trim());
        } else if !self.around.is_empty() {
            self.paragraph.text(text);
        }
    }
}

/// Converts the spreadsheet to Markdown: one table for each sheet with content.
pub(crate) fn sheets(package: &mut Package) -> Result<String, Damage> {
    let xml = package.needed(CONTENT)?;
    let (mut out, mut grid, mut name) = (String::new(), Grid::default(), String::new());
    let (mut row, mut column, mut rows, mut columns) = (0_u32, 0_u32, 1_u32, 1_u32);
    let (mut cell, mut value, mut in_text, mut hidden) = (String::new(), None, false, 0_usize);
    // The cells of the current row, which may be repeated.
    let mut cells: Vec<(u32, String)> = vec![];
    let (mut refused, mut shown) = (None, 0_u32);
    for_each_event(&xml, |event| match event {
        Event::Start(element) => match element.local_name().as_ref() {
            "annotation" | "shapes" | "forms" | "tracked-changes" => hidden += 1,
            _ if hidden > 0 => {}
            "table" => {
                name = attribute(&element, "name").unwrap_or_default();
                (grid, row) = (Grid::after(&out), 0);
            }
            "table-row" => (rows, column, cells) = (times(&element, "number-rows-repeated"), 0, vec![]),
            "table-cell" | "covered-table-cell" => {
                columns = times(&element, "number-columns-repeated");
                cell = String::new();
                let kind = attribute(&element, "value-type").unwrap_or_default();
                value = match kind.as_str() {
                    "date" => attribute(&element, "date-value"),
                    "float" => attribute(&element, "value"),
                    _ => None,
                };
            }
            "p" => {
                in_text = true;
                if !cell.is_empty() {
                    cell.push('\n');
                }
            }
            "s" if in_text => cell.push_str(&" ".repeat(times(&element, "c").min(1000) as usize)),
            "tab" if in_text => cell.push(' '),
            "line-break" if in_text => cell.push('\n'),
            _ => {}
        },
        Event::End(element) => match element.local_name().as_ref() {
            "annotation" | "shapes" | "forms" | "tracked-changes" => hidden = hidden.saturating_sub(1),
            _ if hidden > 0 => {}
            "p" => in_text = false,
            "table-cell" | "covered-table-cell" => {
                let text = escaped(&value.take().unwrap_or_else(|| unescaped(&cell)));
                let repeated = if text.is_empty() { 0 } else { columns };
                shown = shown.saturating_add(repeated);
                if shown > MAX_CELLS {
                    refused = refused.take().or(Some(name.clone()));
                } else {
                    cells.extend((0..repeated).map(|at| (column.saturating_add(at), text.clone())));
                }
                column = column.saturating_add(columns);
            }
            "table-row" => {
                let repeated = if cells.is_empty() { 0 } else { rows };
                shown = shown.saturating_add(rows.saturating_mul(u32::try_from(cells.len()).unwrap_or(u32::MAX)));
                let set = (0..repeated).flat_map(|at| cells.iter().map(move |cell| (row.saturating_add(at), cell)));
                let mut set = set.map(|(row, (column, text))| grid.set(row, *column, text.clone()));
                if shown > MAX_CELLS || set.any(|set| matches!(set, Err(LimitExceeded))) {
                    refused = refused.take().or(Some(name.clone()));
                }
                row = row.saturating_add(rows);
            }
            "table" => {
                heading(&unescaped(&name), &mut out);
                mem::take(&mut grid).write(&mut out);
            }
            _ => {}
        },
        Event::Text(text) if in_text && hidden == 0 => cell.push_str(&text),
        Event::GeneralRef(reference) if in_text && hidden == 0 => _ = write!(cell, "&{};", &*reference),
        _ => {}
    })?;
    match refused {
        Some(sheet) => Err(Damage::TooManyCells { sheet: unescaped(&sheet) }),
        None => Ok(out),
    }
}

/// Resolves the predefined XML entities in `xml`; all other text stays as it is.
fn unescaped(xml: &str) -> String {
    quick_xml::escape::unescape(xml).map_or_else(|_| xml.to_owned(), Into::into)
}

#[cfg(test)]
mod tests;
