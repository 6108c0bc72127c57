//! robots.txt by RFC 9309.
//!
//! The implementation is part of this project, with about 100 lines. The maintained crates lack the longest match
//! (`robotparser`) or add
//! 49 crates (`texting_robots`); `robotstxt` has not changed since 2020.

/// The maximum number of bytes of a file that are read, as the RFC demands.
const MAX_BYTES: usize = 500 * 1024;

/// The rules of a robots.txt for one product.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Robots {
    rules: Vec<Rule>,
    /// The seconds between two requests that the site asks for.
    pub crawl_delay: Option<f64>,
    /// The sitemaps that it names, as they are written.
    pub sitemaps: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
struct Rule {
    allows: bool,
    pattern: Vec<u8>,
}

/// The rules of one user agent while the file is read.
#[derive(Default)]
struct Group {
    rules: Vec<Rule>,
    crawl_delay: Option<f64>,
    exists: bool,
}

impl Robots {
    /// The rules in `text` for the product token `product`, or for `*` if there are none for this token.
    pub fn parse(text: &[u8], product: &str) -> Self {
        let text = String::from_utf8_lossy(&text[..text.len().min(MAX_BYTES)]);
        let (mut own, mut all) = (Group::default(), Group::default());
        let mut sitemaps = vec![];
        let (mut is_own, mut is_all, mut names_agents) = (false, false, false);
        for line in text.trim_start_matches('\u{feff}').split(['\n', '\r']) {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            match key.as_str() {
                "user-agent" => {
                    if !names_agents {
                        (is_own, is_all, names_agents) = (false, false, true);
                    }
                    let token = value.split(|c: char| !(c.is_ascii_alphabetic() || matches!(c, '-' | '_'))).next();
                    let names_us = token.is_some_and(|token| token.eq_ignore_ascii_case(product));
                    is_own |= names_us;
                    is_all |= value.starts_with('*');
                    own.exists |= names_us;
                }
                "allow" | "disallow" => {
                    names_agents = false;
                    // An empty rule says nothing.
                    if !value.is_empty() {
                        let rule = Rule { allows: key == "allow", pattern: normal(value.as_bytes()) };
                        if is_own {
                            own.rules.push(rule.clone());
                        }
                        if is_all {
                            all.rules.push(rule);
                        }
                    }
                }
                "crawl-delay" => {
                    names_agents = false;
                    let delay = value.parse().ok().filter(|delay: &f64| delay.is_finite() && *delay >= 0.0);
                    if is_own {
                        own.crawl_delay = delay;
                    }
                    if is_all {
                        all.crawl_delay = delay;
                    }
                }
                // It stands for itself, between groups or within one.
                "sitemap" => sitemaps.push(value.to_owned()),
                _ => {}
            }
        }
        let group = if own.exists { own } else { all };
        Self { rules: group.rules, crawl_delay: group.crawl_delay, sitemaps }
    }

    /// Disallows everything, for a server that fails to return its robots.txt.
    pub fn none() -> Self {
        Self { rules: vec![Rule { allows: false, pattern: b"/".to_vec() }], ..Self::default() }
    }

    /// Whether `target`, the path and the query of a URL, may be fetched: the longest rule that matches decides,
    /// and of two that are as long the one that allows.
    pub fn allows(&self, target: &str) -> bool {
        let path = target.split('?').next().unwrap_or_default();
        if path == "/robots.txt" {
            return true;
        }
        let target = normal(target.as_bytes());
        let matching = self.rules.iter().filter(|rule| matches(&rule.pattern, &target));
        matching.max_by_key(|rule| (rule.pattern.len(), rule.allows)).is_none_or(|rule| rule.allows)
    }
}

/// Whether `pattern` matches the start of `path`; `*` matches any text, and `$` at the end matches the end.
///
/// It backtracks only to the last `*`, which is sufficient, so the time is at most the product of both lengths.
fn matches(pattern: &[u8], path: &[u8]) -> bool {
    let (pattern, is_whole) = match pattern.strip_suffix(b"$") {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let (mut at, mut in_path, mut back) = (0, 0, None);
    loop {
        if at == pattern.len() {
            if !is_whole || in_path == path.len() {
                return true;
            }
        } else if pattern[at] == b'*' {
            back = Some((at + 1, in_path));
            at += 1;
            continue;
        } else if in_path < path.len() && pattern[at] == path[in_path] {
            (at, in_path) = (at + 1, in_path + 1);
            continue;
        }
        match back {
            Some((after, from)) if from < path.len() => {
                back = Some((after, from + 1));
                (at, in_path) = (after, from + 1);
            }
            _ => return false,
        }
    }
}

/// A path in canonical spelling: escapes in capitals, no escapes of unreserved characters, all other characters outside
/// ASCII escaped.
fn normal(path: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let escaped = |byte: u8| [b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16)).map(|digit| digit as u8);
    let (mut out, mut at) = (Vec::with_capacity(path.len()), 0);
    while at < path.len() {
        let byte = path[at];
        at += 1;
        if byte == b'%'
            && let (Some(high), Some(low)) = (digit(path.get(at)), digit(path.get(at + 1)))
        {
            let value = high << 4 | low;
            at += 2;
            if value.is_ascii_alphanumeric() || matches!(value, b'-' | b'.' | b'_' | b'~') {
                out.push(value);
            } else {
                out.extend(escaped(value));
            }
        } else if byte.is_ascii() {
            out.push(byte);
        } else {
            out.extend(escaped(byte));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn allows(text: &str, target: &str) -> bool {
        Robots::parse(text.as_bytes(), "ragmaker").allows(target)
    }

    #[test]
    fn the_longest_rule_decides_and_allow_wins_ties() {
        let text = "User-agent: *\nAllow: /p\nDisallow: /\n";
        assert!(allows(text, "/page") && !allows(text, "/other"));
        let tie = "User-agent: *\nDisallow: /folder\nAllow: /folder\n";
        assert!(allows(tie, "/folder/page"));
        let longer = "User-agent: *\nAllow: /page\nDisallow: /*.htm\n";
        assert!(!allows(longer, "/page.htm"));
        assert!(allows("User-agent: *\nAllow: /page\nDisallow: /*.ph\n", "/page.php5"));
        assert!(allows("User-agent: *\nAllow: /$\nDisallow: /\n", "/"));
        assert!(!allows("User-agent: *\nAllow: /$\nDisallow: /\n", "/page.htm"));
        assert!(!allows("User-agent: *\nDisallow: /docs\n", "/docs-old") && allows("", "/x"));
        assert!(allows("User-agent: *\nDisallow:\n", "/x") && !Robots::none().allows("/x"));
        assert!(Robots::none().allows("/robots.txt"));
    }

    #[test]
    fn groups_are_those_of_the_product_or_of_all() {
        let text = "user-agent: other\ndisallow: /a\n\nUSER-AGENT: Ragmaker/1.0\nuser-agent: x\ndisallow: /b # why\n\n\
                    user-agent: *\ndisallow: /c\ncrawl-delay: 3\nSitemap: https://x.example/s.xml\n\nuser-agent: ragmaker\ndisallow: /d\ncrawl-delay: 2";
        for (target, allowed) in [("/a", true), ("/b", false), ("/c", true), ("/d", false)] {
            assert_eq!(allows(text, target), allowed, "{target}");
        }
        let robots = Robots::parse(text.as_bytes(), "ragmaker");
        assert_eq!(
            (robots.crawl_delay, robots.sitemaps.as_slice()),
            (Some(2.0), &["https://x.example/s.xml".to_owned()][..])
        );
        assert!(!Robots::parse(text.as_bytes(), "another").allows("/c"));
        // A product whose name begins like ours is another one.
        assert!(allows("user-agent: ragmaker-news\ndisallow: /\n", "/x"));
        assert!(!allows("user-agent: ragmaker\n\nuser-agent: y\ndisallow: /\n", "/x"));
    }

    #[test]
    fn escapes_are_compared_by_what_they_stand_for() {
        let text = "user-agent: *\ndisallow: /a%3cd\ndisallow: /%7Eb\ndisallow: /日本\ndisallow: /x%2Fy\n";
        for target in ["/a%3Cd.html", "/~b", "/%7eb", "/%E6%97%A5%E6%9C%AC", "/x%2fy"] {
            assert!(!allows(text, target), "{target}");
        }
        assert!(allows(text, "/x/y"));
    }

    /// Whether a pattern matches, by its definition, for comparison.
    fn means(pattern: &[u8], path: &[u8]) -> bool {
        match pattern {
            [] => true,
            b"$" => path.is_empty(),
            [b'*', rest @ ..] => (0..=path.len()).any(|from| means(rest, &path[from..])),
            [first, rest @ ..] => path.split_first().is_some_and(|(byte, path)| byte == first && means(rest, path)),
        }
    }

    proptest! {
        #[test]
        fn a_pattern_matches_what_it_means(pattern in "/[ab*]{0,6}\\$?", path in "/[ab]{0,8}") {
            prop_assert_eq!(matches(pattern.as_bytes(), path.as_bytes()), means(pattern.as_bytes(), path.as_bytes()));
        }

        #[test]
        fn any_file_is_read(text in "(?s)(user-agent: ?[*a-z]{0,8}\n|(dis)?allow: ?.{0,9}\n|.{0,12}\n){0,8}", target in "/.{0,12}") {
            Robots::parse(text.as_bytes(), "ragmaker").allows(&target);
        }

        #[test]
        fn one_spelling_is_a_fixed_point(path in "(?s).{0,20}") {
            let once = normal(path.as_bytes());
            prop_assert_eq!(normal(&once), once.clone());
        }
    }
}
