//! The texts that an SVG draws. They are not nodes: the model was trained without them, and most are labels of logos and
//! of axes. What shows an SVG reads them with [`Tree::diagram`](super::node::Tree::diagram).

use lol_html::html_content::Element;

use super::{
    build::{Builder, Drawing, Open},
    node::{Drawn, Id},
    source::{hides, lower},
};
use crate::entities;

/// An element in an SVG that matters for its texts.
enum Part {
    Label,
    Piece,
    Group,
    Undrawn,
}

impl Part {
    fn of(name: &str) -> Option<Self> {
        lower(name, |name| match name {
            "text" => Some(Self::Label),
            "tspan" | "textpath" => Some(Self::Piece),
            "g" | "a" | "switch" | "svg" => Some(Self::Group),
            "clippath" | "defs" | "desc" | "marker" | "mask" | "metadata" | "pattern" | "symbol" | "title" => {
                Some(Self::Undrawn)
            }
            _ => None,
        })
    }
}

impl Builder {
    /// Handles the start tag of an element in an SVG that has no node. `name` is its name.
    pub(super) fn draw(&mut self, name: &str, element: &Element<'_, '_>) -> Option<Open> {
        let part = Part::of(name).filter(|_| element.can_have_content())?;
        let drawing = &mut self.drawing;
        let is = |name: &str, value: &str| element.get_attribute(name).is_some_and(|found| found.trim() == value);
        if matches!(part, Part::Undrawn)
            || element.get_attribute("style").is_some_and(|style| hides(&style))
            || is("display", "none")
            || is("visibility", "hidden")
        {
            drawing.undrawn += 1;
            return Some(Open::Undrawn);
        }
        match part {
            Part::Label => {
                let height = element.get_attribute("y");
                let is_beside = height.is_some() && drawing.height == height;
                drawing.gap = Some(if is_beside { ' ' } else { '\n' });
                drawing.height = height;
                drawing.open_labels += 1;
                drawing.is_begun = false;
                Some(Open::Label)
            }
            // It begins at a place of its own, so it is another word.
            Part::Piece => {
                if drawing.gap.is_none() && (element.has_attribute("x") || element.has_attribute("y")) {
                    drawing.gap = Some(' ');
                }
                None
            }
            // The positions in a group start from its own.
            Part::Group | Part::Undrawn => {
                drawing.height = None;
                None
            }
        }
    }

    /// Adds text in an SVG, its references not yet decoded.
    pub(super) fn draw_text(&mut self, source: &str) {
        let drawing = &mut self.drawing;
        if drawing.open_labels == 0 || drawing.undrawn > 0 {
            return;
        }
        let mut text = String::new();
        entities::decode(source, false, &mut text);
        let mut rest = text.as_str();
        loop {
            let word = rest.trim_start();
            if word.len() < rest.len() {
                drawing.gap = drawing.gap.or(Some(' '));
            }
            if word.is_empty() {
                return;
            }
            let end = word.find(char::is_whitespace).unwrap_or(word.len());
            if let Some(gap) = drawing.gap.take().filter(|_| !drawing.text.is_empty()) {
                drawing.text.push(gap);
            }
            drawing.text.push_str(&word[..end]);
            drawing.labels += u32::from(!drawing.is_begun);
            drawing.is_begun = true;
            drawing.has_word = drawing.has_word || word[..end].contains(char::is_alphanumeric);
            rest = &word[end..];
        }
    }

    /// Handles the end of an element in an SVG.
    pub(super) fn end_drawn(&mut self, open: Open) {
        match open {
            Open::Label => self.drawing.open_labels = self.drawing.open_labels.saturating_sub(1),
            Open::Undrawn => self.drawing.undrawn = self.drawing.undrawn.saturating_sub(1),
            _ => {}
        }
    }

    /// Forgets the elements that are open in an SVG: their ends will not be reported.
    pub(super) fn forget_drawn(&mut self) {
        (self.drawing.open_labels, self.drawing.undrawn) = (0, 0);
    }

    /// Ends the SVG `id`.
    pub(super) fn end_drawing(&mut self, id: Id) {
        let Drawing { text, labels, has_word, .. } = std::mem::take(&mut self.drawing);
        if has_word {
            let start = self.tree.strings.len() as u32;
            self.tree.strings.push_str(&text);
            let text = (start, self.tree.strings.len() as u32);
            self.tree.drawn.push(Drawn { svg: id as u32, labels, text });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::node::Tree;

    /// The texts of every SVG, and how many there are.
    fn drawn(html: &str) -> Vec<(String, usize)> {
        let tree = Tree::parse(html, None);
        tree.diagrams().map(|(_, diagram)| (diagram.text.to_owned(), diagram.labels)).collect()
    }

    fn one(html: &str) -> String {
        drawn(&format!("<p>a<svg>{html}</svg>b")).into_iter().map(|(text, _)| text).collect()
    }

    #[test]
    fn the_texts_of_one_height_are_a_line() {
        let svg = "<text x=1 y=5>BEGIN</text><path d=''/><text x=3 y=5>(</text>\n<text y=9>a &amp;\n b</text>";
        assert_eq!(drawn(&format!("<svg>{svg}</svg><svg></svg>")), [("BEGIN (\na & b".to_owned(), 3)]);
        // In groups, positions are relative.
        assert_eq!(one("<g><text y=5>a</text></g><g><text y=5>b</text></g>"), "a\nb");
        assert_eq!(one("<text>a</text><text>b</text>"), "a\nb");
    }

    #[test]
    fn the_pieces_of_a_text_are_joined() {
        assert_eq!(one("<text><tspan x=1>low</tspan><tspan x=1>water</tspan></text>"), "low water");
        assert_eq!(one("<text>H<tspan dy=3>2</tspan>O</text>"), "H2O");
    }

    #[test]
    fn what_is_not_drawn_is_no_text() {
        for hidden in [
            "<title>a</title><desc>a</desc><style>a</style><script>a</script>",
            "<defs><text>a</text></defs>",
            "<text style='display: none'>a</text>",
            "<g visibility=hidden><text>a</text></g>",
            "<text>→</text>",
        ] {
            assert_eq!(one(hidden), "", "{hidden}");
        }
        assert_eq!(one("<text>a<title>b</title></text><text>c"), "a\nc");
        assert_eq!(one("<defs/><text/>a<text>b</text><g display=none /><text>c</text>"), "b\nc");
    }

    #[test]
    fn an_svg_without_an_end_tag_ends_before_the_next_block() {
        let page = "<svg><text>a<p>b</p><svg><text>c</text></svg>";
        assert_eq!(drawn(page), [("a".to_owned(), 1), ("c".to_owned(), 1)]);
        assert!(drawn("<text>a</text>").is_empty());
    }
}
