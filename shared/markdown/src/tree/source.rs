//! Start tags as text: the names under which they are read, their source as inline HTML, and styles that hide them.

use lol_html::html_content::Element;

use crate::tag::Tag;

/// The name that `<noscript>` is read under: as long, and without rules of its own. Browsers that run scripts
/// read its content as raw text, and so does `lol_html`; the page of an application that was not run may have
/// all of its content in there.
pub(super) const NOSCRIPT: &str = "no-scrpt";

/// The name that an `<iframe>` without an end tag is read under.
const IFRAME: &str = "i-fram";

/// The position of a tag's name in the page, and the name that is read instead.
pub(super) type Rename = (usize, &'static str);

/// The tags that are read under another name: `<noscript>`, and the `<iframe>` in one that has no end tag. The
/// standard takes the whole rest of the page for the text of that frame; browsers that run scripts only take
/// the rest of the `<noscript>`.
pub(super) fn renames(html: &str) -> Vec<Rename> {
    let find = |name: &'static str| memchr::memmem::find_iter(html.as_bytes(), name);
    let mut places: Vec<usize> = find("noscript").chain(find("NOSCRIPT")).collect();
    places.retain(|&at| html[..at].ends_with('<') || html[..at].ends_with("</"));
    places.sort_unstable();
    let mut renames = Vec::with_capacity(places.len());
    for (&at, next) in places.iter().zip(places.iter().skip(1).copied().chain([html.len()])) {
        renames.push((at, NOSCRIPT));
        let held = if html[..at].ends_with('/') { "" } else { &html[at..next] };
        let opened = memchr::memmem::rfind(held.as_bytes(), b"<iframe");
        if let Some(opened) = opened.filter(|&opened| !held[opened..].contains("</iframe")) {
            renames.push((at + opened + 1, IFRAME));
        }
    }
    renames
}

/// The name in a start tag's source.
pub(super) fn name_of(source: &str) -> &str {
    source[1..].split(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>')).next().unwrap_or_default()
}

/// The kind of element that a start tag's source opens.
pub(super) fn tag_of(source: &str) -> Tag {
    lower(name_of(source), |name| match name {
        NOSCRIPT => Tag::Noscript,
        IFRAME => Tag::Iframe,
        "amp-img" => Tag::Img,
        _ => Tag::from_name(name),
    })
}

/// A start tag that is valid as inline HTML in Markdown; none for what runs scripts, begins a block, or is
/// filtered by Markdown renderers.
pub(super) fn start_tag(element: &Element<'_, '_>) -> Option<String> {
    const REFUSED: [&str; 7] = ["basefont", "frame", "menuitem", "noembed", "noframes", "param", "track"];
    // HTML's own, without a meaning beyond their text.
    const PLAIN: [&str; 9] = ["acronym", "area", "bdi", "bdo", "data", "map", "output", "rb", "rtc"];
    let name = element.tag_name_preserve_case();
    let is_name = |name: &str, others: &[char]| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || others.contains(&c))
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || others.contains(&c))
    };
    let is = |other: &&str| name.eq_ignore_ascii_case(other);
    // `mjx-` elements are those that `MathJax` draws with.
    if !is_name(&name, &[]) || REFUSED.iter().any(is) || PLAIN.iter().any(is) || name.starts_with("mjx-") {
        return None;
    }
    let mut tag = format!("<{name}");
    for attribute in element.attributes() {
        let (name, value) = (attribute.name(), attribute.value());
        if !is_name(&name, &['_', ':', '.']) || name.starts_with("on") || name == "style" {
            return None;
        }
        let value = value.replace('"', "&quot;").replace('<', "&lt;").replace('\n', "&#10;");
        tag.extend([" ", &name, "=\"", &value, "\""]);
    }
    tag.push_str(if element.is_self_closing() { " />" } else { ">" });
    Some(tag)
}

/// Looks up a name in lower case, without allocating.
pub(super) fn lower<T>(name: &str, look_up: impl Fn(&str) -> T) -> T {
    let mut buffer = [0; 16];
    match buffer.get_mut(..name.len()) {
        Some(buffer) => {
            buffer.copy_from_slice(name.as_bytes());
            buffer.make_ascii_lowercase();
            look_up(std::str::from_utf8(buffer).unwrap_or_default())
        }
        None => look_up(""),
    }
}

/// The names and values of an inline style.
pub(super) fn rules(style: &str) -> impl Iterator<Item = (&str, &str)> {
    style.split(';').filter_map(|rule| rule.split_once(':')).map(|(name, value)| (name.trim(), value.trim()))
}

/// Whether an inline style takes the element off the page.
pub(super) fn hides(style: &str) -> bool {
    let begins = |value: &str, with: &str| value.get(..with.len()).is_some_and(|v| v.eq_ignore_ascii_case(with));
    rules(style).any(|(name, value)| {
        (name.eq_ignore_ascii_case("display") && begins(value, "none"))
            || (name.eq_ignore_ascii_case("visibility") && begins(value, "hidden"))
    })
}

/// Sets the side of an image, its width or height, that an attribute or a rule of its style makes at most one pixel long.
pub(super) fn mark_thin(name: &str, value: &str, sides: &mut [bool; 2]) {
    let length = value.split('!').next().unwrap_or_default().trim().trim_end_matches("px");
    for (side, is_thin) in ["width", "height"].into_iter().zip(sides) {
        *is_thin |= name.eq_ignore_ascii_case(side) && matches!(length, "0" | "1");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noscript_and_its_open_frame_are_renamed() {
        let page = "<noscript><iframe src=a></noscript><NOSCRIPT>b</NOSCRIPT> noscript";
        let names: Vec<&str> = renames(page).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, [NOSCRIPT, IFRAME, NOSCRIPT, NOSCRIPT, NOSCRIPT]);
        assert_eq!(renames("<noscript><iframe></iframe></noscript>").len(), 2);
        assert_eq!((NOSCRIPT.len(), IFRAME.len()), ("noscript".len(), "iframe".len()));
        assert!([NOSCRIPT, IFRAME].map(|name| tag_of(&format!("<{name}>"))) == [Tag::Noscript, Tag::Iframe]);
    }

    #[test]
    fn names_are_known_in_any_case() {
        assert_eq!(tag_of("<DIV class=a>"), Tag::Div);
        assert_eq!(tag_of("<br/>"), Tag::Br);
        assert_eq!(tag_of("<amp-img src=a>"), Tag::Img);
        assert_eq!(tag_of("<a-name-longer-than-any-known>"), Tag::Other);
    }

    #[test]
    fn an_image_of_one_pixel_is_thin_on_both_sides() {
        for (style, thin) in [
            ("width:1px; HEIGHT: 0 !important", [true; 2]),
            ("width: 1px", [true, false]),
            ("max-width:1px;height:10px;width:1em", [false; 2]),
        ] {
            let mut sides = [false; 2];
            rules(style).for_each(|(name, value)| mark_thin(name, value, &mut sides));
            assert_eq!(sides, thin, "{style}");
        }
    }

    #[test]
    fn styles_that_hide_are_known() {
        for style in ["display:none", "color: red; DISPLAY : None !important", "visibility:hidden"] {
            assert!(hides(style), "{style}");
        }
        for style in ["", "display:block", "display", "overflow:hidden", "visibility:visible"] {
            assert!(!hides(style), "{style}");
        }
    }
}
