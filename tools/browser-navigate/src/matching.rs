//! `--match`: keeps the links whose text or URL a pattern matches.

use std::time::{Duration, Instant};

use ragmaker_address::Pattern;
use ragmaker_browser::{Link, codes::TIMEOUT};
use ragmaker_tool::Error;

/// Removes the links that do not match. The time depends on the sizes of the pattern and of the links;
/// `time_limit` bounds it.
pub(crate) fn keep_matching(links: &mut Vec<Link>, pattern: &Pattern, time_limit: Duration) -> Result<(), Error> {
    let until = Instant::now() + time_limit;
    let mut is_late = false;
    links.retain(|link| {
        is_late = is_late || Instant::now() > until;
        !is_late && [&link.text, &link.href].into_iter().any(|text| pattern.is_in(text))
    });
    if is_late {
        return Err(TIMEOUT
            .error("matching --match against the page's links took too long")
            .remedy("Give a pattern with fewer or smaller repetitions.")
            .detail("argument", "--match"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_text_or_url_within_a_time() {
        let link = Link { text: "a long text ".repeat(20), href: "https://a.example/Docs/7".into() };
        let mut links = vec![link; 5000];
        let pattern = |text| Pattern::new("--match", text).unwrap();
        let slow = pattern(r"([\x20-\x7e]{0,90}){100}Q");
        let error = keep_matching(&mut links.clone(), &slow, Duration::from_millis(20)).unwrap_err();
        assert!(error.is(TIMEOUT), "{error}");
        for (text, kept) in [("long", 5000), ("Docs/[0-9]$", 5000), ("elsewhere", 0)] {
            keep_matching(&mut links, &pattern(text), Duration::from_hours(1)).unwrap();
            assert_eq!(links.len(), kept, "{text}");
        }
    }
}
