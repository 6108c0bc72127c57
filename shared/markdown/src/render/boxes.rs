//! Code that is laid out with tables and blocks, as Doxygen and Scribble (Racket) write it.

use super::Renderer;
use crate::{tag::Tag, tree::Id};

impl Renderer<'_> {
    /// The code, and its language, of a box that has a signature or a listing.
    pub(super) fn boxed_code(&self, id: Id) -> Option<(String, &'static str)> {
        if self.everything {
            return None;
        }
        let has = |name: &str| self.has_class(id, name);
        let line = || self.signature(id);
        let member = || {
            let inside = || self.tree.descendants(id);
            let labels =
                inside().filter(|&id| self.has_class(id, "mlabel")).map(|id| format!(" [{}]", self.signature(id)));
            let table = inside().find(|&id| self.tree.tag(id) == Tag::Table && self.has_class(id, "memname"));
            let text = self.signature(table.unwrap_or(id)).replace("( ", "(").replace(" )", ")").replace(" ,", ",");
            if table.is_some() { text + &labels.collect::<String>() } else { text }
        };
        let lines = || {
            let text = self.code_text(id).replace('\u{A0}', " ");
            text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_matches('\n').to_owned()
        };
        let (code, language) = match self.tree.tag(id) {
            Tag::Div if has("memproto") => (member(), ""),
            Tag::P | Tag::Table if has("RForeground") => (line(), "racket"),
            Tag::Table if has("RktBlk") && !self.holds_image(id) => (lines(), "racket"),
            Tag::Table if has("SVerbatim") && !self.holds_image(id) => (lines(), ""),
            _ => return None,
        };
        (!code.trim().is_empty()).then_some((code, language))
    }

    fn holds_image(&self, id: Id) -> bool {
        self.tree.descendants(id).any(|id| matches!(self.tree.tag(id), Tag::Img | Tag::Svg))
    }

    /// Whether a quotation only indents what is in it, as Scribble writes code and signatures.
    pub(super) fn is_indented(&self, id: Id) -> bool {
        let names = ["SVInsetFlow", "SInsetFlow", "SCodeFlow", "SubFlow"];
        !self.everything && names.iter().any(|name| self.has_class(id, name))
    }

    /// Whether a block is the title of one of Doxygen's pages.
    pub(super) fn is_title(&self, id: Id) -> bool {
        !self.everything && self.has_class(id, "title") && self.has_class(self.tree.parent(id), "headertitle")
    }
}

#[cfg(test)]
mod tests {
    use super::super::{rendered, rendered_content};

    #[test]
    fn the_parameters_of_a_signature_are_on_one_line() {
        let page = "<div class=memproto><table class=mlabels><tr><td><table class=memname><tr><td class=memname>void a \
            <td>(<td>poly&#160;<td><em>p</em>, <tr><td><td><td>int&#160;<td><em>n</em>&#160;<tr><td><td>)<td><td></table>\
            <td><span class=mlabels><span class=mlabel>static</span></span></table></div>";
        assert_eq!(rendered_content(page), "```\nvoid a (poly p, int n) [static]\n```\n");
        assert!(!rendered(page).contains("```"));
    }

    #[test]
    fn the_rows_of_a_listing_are_lines() {
        let page = "<p>a<blockquote class=SCodeFlow><table class=RktBlk><tr><td>(define&nbsp;<a href=x>b</a><tr><td>\
            <span>&nbsp;&nbsp;</span>1)<tr><td>&nbsp;<tr><td><p>c</table></blockquote>";
        assert_eq!(rendered_content(page), "a\n\n```racket\n(define b\n  1)\n\nc\n```\n");
        let page = "<blockquote class=SVInsetFlow><table class=RBoxed><tr><td><blockquote class=SubFlow><div><p>procedure\
            </div><p class=RForeground>(<a href=x>b</a>&nbsp;v)&nbsp;&rarr;&nbsp;c</blockquote></table></blockquote>";
        assert_eq!(rendered_content(page), "procedure\n\n```racket\n(b v) → c\n```\n");
        assert_eq!(rendered_content("<table class=RktBlk><tr><td><img src=x></table>"), "![](x)\n");
    }

    #[test]
    fn the_title_of_a_page_is_a_heading() {
        let page = "<div class=header><div class=headertitle><div class=title>a Class Reference</div></div></div><p>b";
        assert_eq!(rendered_content(page), "# a Class Reference\n\nb\n");
        assert_eq!(rendered_content("<div><div class=title>a</div></div>"), "a\n");
    }
}
