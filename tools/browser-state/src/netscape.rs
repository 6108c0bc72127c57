//! The cookie file of Netscape, which curl and wget read: a cookie on each line, in seven fields with tabs.

use std::fmt::Write;

use ragmaker_browser::Cookie;

/// How the line of a cookie begins that scripts cannot read.
const HTTP_ONLY: &str = "#HttpOnly_";

/// The file with `cookies`. Cookies that the form cannot contain are left out: with a tab or a line break.
pub(crate) fn write(cookies: &[Cookie]) -> String {
    let mut text = "# Netscape HTTP Cookie File\n".to_owned();
    for cookie in cookies {
        let Cookie { name, value, domain, path, expires, http_only, secure, .. } = cookie;
        if [name, value, domain, path].into_iter().any(|field| field.contains(['\t', '\n', '\r'])) {
            continue;
        }
        let flag = |is_set: bool| if is_set { "TRUE" } else { "FALSE" };
        let prefix = if *http_only { HTTP_ONLY } else { "" };
        // A session cookie has no end.
        let (below, end) = (flag(domain.starts_with('.')), expires.max(0.0).floor());
        let secure = flag(*secure);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{prefix}{domain}\t{below}\t{path}\t{secure}\t{end}\t{name}\t{value}");
    }
    text
}

/// The cookies in `text`; the number of the first line that is none.
pub(crate) fn read(text: &str) -> Result<Vec<Cookie>, usize> {
    let mut cookies = vec![];
    for (index, line) in text.lines().enumerate() {
        let (line, http_only) = match line.strip_prefix(HTTP_ONLY) {
            Some(rest) => (rest, true),
            None => (line, false),
        };
        if !http_only && (line.trim().is_empty() || line.starts_with('#')) {
            continue;
        }
        let fields: Vec<&str> = line.split('\t').collect();
        let [domain, below, path, secure, end, name, value] = fields[..] else { return Err(index + 1) };
        let end: f64 = end.trim().parse().map_err(|_| index + 1)?;
        let domain = if below == "TRUE" && !domain.starts_with('.') { format!(".{domain}") } else { domain.to_owned() };
        cookies.push(Cookie {
            name: name.to_owned(),
            value: value.to_owned(),
            domain,
            path: path.to_owned(),
            expires: if end > 0.0 { end } else { -1.0 },
            http_only,
            secure: secure == "TRUE",
            same_site: None,
        });
    }
    Ok(cookies)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_cookies_are_read_back() {
        let cookie = |domain: &str, expires: f64, http_only: bool| Cookie {
            name: "a".into(),
            value: "b=c".into(),
            domain: domain.into(),
            path: "/".into(),
            expires,
            http_only,
            secure: !http_only,
            same_site: None,
        };
        let cookies = [cookie(".x.example", 99.0, true), cookie("y.example", -1.0, false)];
        let text = write(&cookies);
        assert!(text.contains("#HttpOnly_.x.example\tTRUE\t/\tFALSE\t99\ta\tb=c\n"), "{text}");
        assert!(read(&text).unwrap() == cookies);
        assert!(read("\r\n# note\n").unwrap().is_empty());
        assert_eq!(read("# note\nno cookie\n").err(), Some(2));
        let odd = Cookie { value: "a\tb".into(), ..cookie("z.example", 1.0, false) };
        assert!(read(&write(&[odd])).unwrap().is_empty());
    }
}
