//! Paths that are written as a `file:` URL, as some clients write every path.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// The path that the `file:` URL `text` names; `None` for other texts.
///
/// # Errors
///
/// Why it names no path of this machine.
pub(crate) fn path(text: &str) -> Option<Result<String, &'static str>> {
    let (scheme, rest) = text.split_once(':')?;
    // `file:a.md` is the name of a file.
    if !scheme.eq_ignore_ascii_case("file") || !rest.starts_with('/') {
        return None;
    }
    Some(named(rest))
}

fn named(rest: &str) -> Result<String, &'static str> {
    let path = match rest.strip_prefix("//") {
        None => rest,
        Some(authority) => {
            let (host, _) = authority.split_once('/').ok_or("the URL has no path")?;
            if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
                return Err("the URL names another machine");
            }
            &authority[host.len()..]
        }
    };
    if path.contains(['?', '#']) {
        return Err("the URL has a query or a fragment: write ? as %3F and # as %23 in a name");
    }
    let path = percent_decode_str(path).decode_utf8().map_err(|_| "the URL is not UTF-8")?;
    // `/C:/a` on Windows.
    let drive = |path: &str| cfg!(windows) && path.as_bytes().get(2) == Some(&b':');
    Ok(if drive(&path) { path[1..].to_owned() } else { Cow::into_owned(path) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_the_path_that_it_names() {
        for (url, expected) in [
            ("file:///a/b%20c%23.md", "/a/b c#.md"),
            ("FILE://localhost/a", "/a"),
            ("file:/a/%E6%BD%AE", "/a/\u{6f6e}"),
            ("file:///", "/"),
        ] {
            assert_eq!(path(url), Some(Ok(expected.to_owned())), "{url}");
        }
        for url in ["file://server/a", "file://server", "file:///a#b", "file:///a?b", "file:///%ff"] {
            assert!(path(url).unwrap().is_err(), "{url}");
        }
        for name in ["a.md", "file", "file:a.md", "/file:/a", "https://a.example/", "a:b"] {
            assert_eq!(path(name), None, "{name}");
        }
    }
}
