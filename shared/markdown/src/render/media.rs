//! Images and formulas.

use foldhash::{HashMap, HashSet};

use super::{Renderer, escape::Place, inline::Inline};
use crate::{
    tag::{Attr, Tag},
    tree::{Id, Tree},
    urls,
};

/// The number of times that a page shows an icon, at least.
const MIN_ICONS: u32 = 3;

/// The sources of the images that a page repeats and whose authors say that they mean nothing, by `alt=""`.
pub(super) fn icons<'t>(tree: &'t Tree, keep: &[bool]) -> HashSet<&'t str> {
    let mut counts: HashMap<&str, u32> = HashMap::default();
    for id in (1..tree.len()).filter(|&id| keep[id] && tree.tag(id) == Tag::Img) {
        if let (Some(""), Some(source)) = (tree.attr(id, Attr::Alt), tree.attr(id, Attr::Src)) {
            *counts.entry(source).or_default() += 1;
        }
    }
    counts.into_iter().filter(|&(_, count)| count >= MIN_ICONS).map(|(source, _)| source).collect()
}

impl<'t> Renderer<'t> {
    /// An image as Markdown; none for one without a source, and for an icon.
    pub(super) fn image(&self, id: Id, place: Place) -> Option<String> {
        let is_icon = |source| self.icons.contains(source) && self.tree.attr(id, Attr::Alt) == Some("");
        if self.tree.attr(id, Attr::Src).is_some_and(is_icon) {
            return None;
        }
        let attr = |name| self.tree.attr(id, name).map(str::trim).filter(|value| !value.is_empty());
        let usable = |source: &&str| !is_data(source);
        // The source of an image that is loaded lazily is a placeholder.
        let source = [Attr::DataSrc, Attr::DataLazySrc, Attr::DataOriginal, Attr::Src].into_iter();
        let source = source.filter_map(attr).find(usable).or_else(|| self.candidate(id));
        let alt = attr(Attr::Alt).unwrap_or_default();
        let source = match source {
            Some(source) => {
                let url = urls::resolve(source, self.addresses.base)?;
                self.lines.allow_address(&url, source);
                url
            }
            None if self.tree.attr(id, Attr::Src) == Some("") => "".into(),
            None => return None,
        };
        let mut out = format!("![{}](", self.attribute_text(alt, place));
        urls::write_destination(&source, place == Place::Cell, &mut out);
        self.title(id, place, &mut out);
        out.push(')');
        Some(out)
    }

    /// Adds the texts that an SVG draws, on lines as there.
    pub(super) fn diagram(&self, id: Id, inline: &mut Inline, place: Place) {
        let Some(diagram) = self.tree.diagram(id) else { return };
        let is_block = diagram.text.contains('\n') && place != Place::Heading;
        let separate = |inline: &mut Inline| if is_block { inline.fresh_line() } else { inline.space() };
        for line in diagram.text.lines() {
            separate(inline);
            inline.text(line);
        }
        separate(inline);
    }

    /// The largest source in the `srcset`s of an image and of the `<picture>` around it.
    fn candidate(&self, id: Id) -> Option<&'t str> {
        let tree = self.tree;
        let picture = Some(tree.parent(id)).filter(|&parent| tree.tag(parent) == Tag::Picture);
        let sources =
            picture.into_iter().flat_map(|id| tree.children(id).take(16).filter(|&id| tree.tag(id) == Tag::Source));
        let sets = std::iter::once(id)
            .chain(sources)
            .flat_map(|id| [tree.attr(id, Attr::DataSrcset), tree.attr(id, Attr::Srcset)]);
        sets.flatten().filter_map(urls::widest).find(|source| !is_data(source))
    }
}

/// The TeX source of a formula, where the page has it.
pub(crate) fn formula(tree: &Tree, id: Id) -> Option<String> {
    let annotation = tree.descendants(id).find(|&id| {
        tree.tag(id) == Tag::Annotation
            && tree.attr(id, Attr::Encoding).is_some_and(|encoding| encoding.contains("tex"))
    });
    let script = tree.attr(id, Attr::Type);
    let tex = match (annotation, script, tree.attr(id, Attr::Alttext)) {
        (Some(annotation), ..) => tree.text_content(annotation),
        (None, Some(_), _) => tree.text_content(id),
        (None, None, Some(alternative)) => alternative.to_owned(),
        (None, None, None) => return None,
    };
    let tex = tex.split_whitespace().collect::<Vec<_>>().join(" ");
    let display = tree.attr(id, Attr::Display) == Some("block") || script.is_some_and(|kind| kind.contains("display"));
    let fence = if display { "$$" } else { "$" };
    (!tex.is_empty()).then(|| format!("{fence}{tex}{fence}"))
}

/// The classes of formulas that MathJax renders, as Sphinx, Pandoc, MkDocs and Haddock write them.
const FORMULAS: [&str; 3] = ["math", "arithmatex", "mathjax"];

impl Renderer<'_> {
    /// The TeX source of a formula that is text between TeX's own marks.
    pub(super) fn delimited_formula(&self, id: Id) -> Option<String> {
        if self.everything || !FORMULAS.iter().any(|class| self.has_class(id, class)) {
            return None;
        }
        let text = self.plain_text(id);
        let within = |open: &str, close: &str| text.strip_prefix(open)?.strip_suffix(close).map(str::trim);
        match (within("\\(", "\\)"), within("\\[", "\\]")) {
            (Some(tex), _) if !tex.is_empty() => Some(format!("${tex}$")),
            (_, Some(tex)) if !tex.is_empty() => Some(format!("$${tex}$$")),
            _ => None,
        }
    }
}

fn is_data(url: &str) -> bool {
    url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

#[cfg(test)]
mod tests {
    use super::super::{rendered, rendered_content};

    #[test]
    fn an_image_has_the_source_that_is_loaded() {
        assert_eq!(rendered("<img src=p.gif data-src=a.png>"), "![](a.png)\n");
        assert_eq!(rendered("<img src='data:,' srcset='s.png 1x, l.png 2x'>"), "![](l.png)\n");
        assert_eq!(rendered("a<img alt=b><img src='data:,' alt=c>"), "a\n");
    }

    #[test]
    fn an_icon_is_left_out() {
        let list = |icon: &str| format!("<ul><li>{icon}a<li>{icon}b<li>{icon}c</ul>");
        assert_eq!(rendered_content(&list("<img src=down.gif alt=''>")), "- a\n- b\n- c\n");
        assert!(rendered(&list("<img src=down.gif alt=''>")).starts_with("- ![](down.gif)"));
        assert!(rendered_content(&list("<img src=tide.png>")).starts_with("- ![](tide.png)"));
        assert_eq!(rendered_content("<p><img src=tide.png alt=''>a"), "![](tide.png)a\n");
    }

    #[test]
    fn line_breaks_in_alternative_text_are_kept_where_everything_is() {
        let image = "<p><img src=x alt='a&#10;b  *c*&#10;'>";
        assert_eq!(rendered(image), "![a&#10;b \\*c\\*](x)\n");
        assert_eq!(rendered_content(image), "![a b \\*c\\*](x)\n");
    }

    #[test]
    fn the_texts_of_a_diagram_are_lines() {
        let svg = "<svg><text y=1>BEGIN</text><text y=1>*</text><text y=2>END</text></svg>";
        assert_eq!(rendered(&format!("<p>a{svg}b")), "a\\\nBEGIN \\*\\\nEND\\\nb\n");
        assert_eq!(rendered(&format!("<h2>a{svg}</h2>")), "## a BEGIN * END\n");
        assert_eq!(rendered(&format!("<div>{svg}</div>c")), "BEGIN \\*\\\nEND\n\nc\n");
        assert_eq!(rendered("<a href=/><svg><text>Sea</text></svg></a>"), "[Sea](/)\n");
        assert_eq!(rendered("<p>a<svg><path/></svg>b"), "ab\n");
    }

    #[test]
    fn a_formula_is_its_source() {
        assert_eq!(rendered("<math display=block alttext='a  b'>c</math>"), "$$a b$$\n");
        assert_eq!(rendered("<math><mi>c</mi></math>"), "c\n");
        assert_eq!(rendered_content(r"<p>a <span class='math inline'>\(x_1 * y_1\)</span>"), "a $x_1 * y_1$\n");
        assert_eq!(rendered_content(r"<div class=math>\[a_1 = b_1\]</div><p>c"), "$$a_1 = b_1$$\n\nc\n");
        assert_eq!(rendered_content("<p class=math>a_1"), "a_1\n");
    }
}
