//! URLs: made absolute, without tracking parameters, valid in Markdown.

use std::borrow::Cow;

use url::Url;

/// Query parameters that only serve to track readers.
fn is_tracking(name: &str) -> bool {
    name.starts_with("utm_")
        || matches!(
            name,
            "gclid"
                | "dclid"
                | "gbraid"
                | "wbraid"
                | "fbclid"
                | "msclkid"
                | "yclid"
                | "twclid"
                | "ttclid"
                | "igshid"
                | "mc_cid"
                | "mc_eid"
                | "_ga"
                | "_gl"
                | "_hsenc"
                | "_hsmi"
                | "mkt_tok"
                | "oly_enc_id"
                | "oly_anon_id"
                | "vero_id"
                | "ref_src"
                | "ref_url"
                | "srsltid"
                | "spm"
                | "s_kwcid"
                | "wickedid"
        )
}

/// The absolute URL of `href` on a page at `base`; `None` for scripts and inline data.
pub(crate) fn resolve<'h>(href: &'h str, base: Option<&Url>) -> Option<Cow<'h, str>> {
    let href = href.trim_matches(|c: char| c <= ' ');
    let scheme = href.split(':').next().unwrap_or_default();
    if ["javascript", "data", "blob", "vbscript", "about"].iter().any(|dead| scheme.eq_ignore_ascii_case(dead))
        && href.len() > scheme.len()
    {
        return None;
    }
    let absolute = href.starts_with("http://") || href.starts_with("https://");
    let href = match base {
        Some(base) if !absolute => base.join(href).map_or(Cow::Borrowed(href), |url| Cow::Owned(url.into())),
        _ => Cow::Borrowed(href),
    };
    Some(match without_tracking(&href) {
        Some(clean) => Cow::Owned(clean),
        None => href,
    })
}

/// The URL without tracking parameters; `None` if it has none.
fn without_tracking(url: &str) -> Option<String> {
    let (path, rest) = url.split_once('?')?;
    let (query, fragment) = match rest.split_once('#') {
        Some((query, fragment)) => (query, Some(fragment)),
        None => (rest, None),
    };
    let name = |pair: &str| pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
    if !query.split('&').any(|pair| is_tracking(&name(pair))) {
        return None;
    }
    let kept: Vec<_> = query.split('&').filter(|pair| !is_tracking(&name(pair))).collect();
    let mut clean = path.to_owned();
    for (mark, part) in
        [('?', Some(kept.join("&")).filter(|kept| !kept.is_empty())), ('#', fragment.map(str::to_owned))]
    {
        if let Some(part) = part {
            clean.push(mark);
            clean.push_str(&part);
        }
    }
    Some(clean)
}

/// The best candidate of a `srcset`: the widest, or the densest.
pub(crate) fn widest(srcset: &str) -> Option<&str> {
    let mut best: Option<(f32, &str)> = None;
    let mut rest = srcset;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (url, tail) = rest.split_at(end);
        let bare = url.trim_end_matches(',');
        if bare.is_empty() {
            return best.map(|(_, url)| url);
        }
        let (descriptor, after) =
            if bare.len() < url.len() { ("", tail) } else { tail.split_once(',').unwrap_or((tail, "")) };
        let size = descriptor.trim().trim_end_matches(['w', 'x']).parse().unwrap_or(1.0);
        if best.is_none_or(|(widest, _)| size > widest) {
            best = Some((size, bare));
        }
        rest = after;
    }
}

/// Appends `url` as a Markdown destination.
pub(crate) fn write_destination(url: &str, in_cell: bool, out: &mut String) {
    let bare =
        !url.is_empty() && !url.starts_with('<') && !url.bytes().any(|b| b <= b' ' || b == 0x7F) && balanced(url);
    if !bare {
        out.push('<');
    }
    // Most URLs contain no characters with a meaning in Markdown.
    if bare && memchr::memchr3(b'\\', b'|', b'&', url.as_bytes()).is_none() {
        return out.push_str(url);
    }
    for (at, c) in url.char_indices() {
        match c {
            '\n' | '\r' | '\t' => {}
            '<' | '>' if !bare => out.extend(['\\', c]),
            '\\' if url[at + 1..].starts_with(|next: char| next.is_ascii_punctuation()) => out.push_str("\\\\"),
            '|' if in_cell => out.push_str("\\|"),
            '&' if looks_like_reference(&url[at + 1..]) => out.push_str("\\&"),
            _ => out.push(c),
        }
    }
    if !bare {
        out.push('>');
    }
}

fn balanced(url: &str) -> bool {
    let mut depth = 0_i32;
    for b in url.bytes() {
        depth += i32::from(b == b'(') - i32::from(b == b')');
        if !(0..=30).contains(&depth) {
            return false;
        }
    }
    depth == 0
}

/// Whether text after an ampersand would be read as a character reference.
pub(crate) fn looks_like_reference(tail: &str) -> bool {
    let name = tail.strip_prefix('#').unwrap_or(tail);
    let length = name.bytes().take(33).take_while(u8::is_ascii_alphanumeric).count();
    length > 0 && name.as_bytes().get(length) == Some(&b';')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn destination(url: &str) -> String {
        let mut out = String::new();
        write_destination(url, false, &mut out);
        out
    }

    #[test]
    fn links_become_absolute_and_lose_their_trackers() {
        let base = Url::parse("https://example.com/a/b?c").unwrap();
        let resolved = |href| resolve(href, Some(&base)).unwrap().into_owned();
        assert_eq!(resolved("../d"), "https://example.com/d");
        assert_eq!(resolved(" #top\n"), "https://example.com/a/b?c#top");
        assert_eq!(resolved("https://e.org/?utm_source=x&q=1&FBCLID=2#f"), "https://e.org/?q=1#f");
        assert_eq!(resolved("https://e.org/?utm_source=x"), "https://e.org/");
        assert_eq!(resolved("mailto:a@b.c"), "mailto:a@b.c");
        assert_eq!(resolve("javascript:void(0)", Some(&base)), None);
        assert_eq!(resolve("data:text/plain,x", None), None);
        assert_eq!(resolve("x y", None).unwrap(), "x y");
    }

    #[test]
    fn the_widest_candidate_wins() {
        assert_eq!(widest("a.png 320w, b.png 1024w, c.png 640w"), Some("b.png"));
        assert_eq!(widest("a.png, b.png 2x"), Some("b.png"));
        assert_eq!(widest("a,b.png"), Some("a,b.png"));
        assert_eq!(widest(" , "), None);
    }

    #[test]
    fn a_destination_stays_one() {
        assert_eq!(destination("/a(b)"), "/a(b)");
        assert_eq!(destination("/a)b"), "</a)b>");
        assert_eq!(destination("/a b<c>"), "</a b\\<c\\>>");
        assert_eq!(destination(""), "<>");
        assert_eq!(destination("/?a&copy;"), "/?a\\&copy;");
    }
}
