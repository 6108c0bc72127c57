//! Recognising a bot challenge: by HTTP status, headers and structure of the page.
//!
//! The words of the page are not used, because an article about challenges has the same words.

use serde_json::Value;

use crate::facts::{ChallengeSign, Facts};

/// The maximum length, in characters, of the text of a page that is nothing but a challenge.
const SPARSE: u64 = 1500;

/// The maximum length, in characters, of prose beside a CAPTCHA widget. More prose is the content of the page.
const PROSE: u64 = 300;

/// The maximum number of links beside a CAPTCHA widget.
const LINKS: u64 = 15;

/// The signs of pages with little text that are challenges with any status.
const SPARSE_PAGES: [(ChallengeSign, &str); 4] = [
    (ChallengeSign::Anubis, "anubis"),
    (ChallengeSign::Amazon, "amazon"),
    (ChallengeSign::Vercel, "vercel"),
    (ChallengeSign::DdosGuard, "ddos-guard"),
];

/// Statuses of challenge pages: 202 and 405 of AWS WAF; 403, 429 and 503 of all vendors.
pub(crate) fn suspicious(status: u16) -> bool {
    matches!(status, 202 | 403 | 405 | 428 | 429 | 503)
}

/// A page of a bot protection, shown instead of the page that was requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// The vendor of the protection, such as `cloudflare`.
    pub vendor: &'static str,
    /// Whether it can be solved, or clears itself. If not, the visitor is blocked.
    pub is_solvable: bool,
}

impl Challenge {
    /// The challenge that is shown instead of the page, if there is one. `headers` are those of the document's
    /// response, in lower case, if they are known.
    pub(crate) fn of(facts: &Facts, headers: &Value) -> Option<Self> {
        let header = |name: &str| headers[name].as_str().unwrap_or_default().to_ascii_lowercase();
        let marked = |mark| facts.marks.contains(&mark);
        let refused = suspicious(facts.status);
        let sparse = facts.words.is_some_and(|words| words < SPARSE);
        let (mitigated, block) = (header("cf-mitigated") == "challenge", marked(ChallengeSign::CloudflareBlock));
        let cloudflare = mitigated || marked(ChallengeSign::Cloudflare);
        let vendor = if mitigated || ((cloudflare || block) && (refused || sparse)) {
            "cloudflare"
        } else if matches!(header("x-amzn-waf-action").as_str(), "challenge" | "captcha")
            || (marked(ChallengeSign::AwsWaf) && refused)
        {
            "aws-waf"
        } else if marked(ChallengeSign::Datadome) && (refused || sparse)
            || facts.status == 403 && !header("x-dd-b").is_empty()
        {
            "datadome"
        } else if marked(ChallengeSign::Perimeterx) && (refused || sparse) {
            "perimeterx"
        } else if sparse
            && (marked(ChallengeSign::Akamai) || (facts.status == 403 && header("server").starts_with("akamai")))
        {
            "akamai"
        } else if let Some((_, vendor)) = SPARSE_PAGES.iter().find(|(mark, _)| marked(*mark) && sparse) {
            vendor
        } else if marked(ChallengeSign::Captcha) && (refused || (sparse && is_nothing_but_a_widget(facts))) {
            "captcha"
        } else {
            return None;
        };
        Some(Self { vendor, is_solvable: !block || cloudflare || marked(ChallengeSign::Captcha) })
    }
}

/// Whether a page has no content that the CAPTCHA widget protects, such as a form or an article with comments.
fn is_nothing_but_a_widget(facts: &Facts) -> bool {
    facts.fields == 0 && facts.links < LINKS && facts.prose < PROSE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::tests::page;
    use serde_json::json;

    fn vendor(facts: &Facts, headers: &Value) -> Option<&'static str> {
        Challenge::of(facts, headers).map(|challenge| challenge.vendor)
    }

    #[test]
    fn challenges_are_recognised_by_structure_and_status() {
        let none = json!({});
        assert_eq!(vendor(&page(200, &[], 400, 0), &none), None);
        assert_eq!(vendor(&page(403, &["cloudflare"], 100, 0), &none), Some("cloudflare"));
        assert_eq!(vendor(&page(403, &[], 100, 0), &json!({"cf-mitigated": "challenge"})), Some("cloudflare"));
        assert_eq!(vendor(&page(403, &["datadome"], 10, 0), &none), Some("datadome"));
        assert_eq!(vendor(&page(403, &[], 10, 0), &json!({"x-dd-b": "1"})), Some("datadome"));
        // DataDome sends this header with accepted pages as well.
        assert_eq!(vendor(&page(403, &[], 10, 0), &json!({"x-datadome": "protected"})), None);
        assert_eq!(vendor(&page(403, &["perimeterx"], 200, 0), &none), Some("perimeterx"));
        assert_eq!(vendor(&page(403, &[], 200, 0), &json!({"server": "AkamaiGHost"})), Some("akamai"));
        assert_eq!(vendor(&page(202, &[], 0, 0), &json!({"x-amzn-waf-action": "challenge"})), Some("aws-waf"));
        assert_eq!(vendor(&page(200, &["captcha"], 100, 0), &none), Some("captcha"));
        // A contact form with a widget, an article with a badge, a plain 403 page.
        assert_eq!(vendor(&page(200, &["captcha"], 300, 3), &none), None);
        assert_eq!(vendor(&page(200, &["captcha", "cloudflare"], 9000, 0), &none), None);
        assert_eq!(vendor(&page(403, &[], 100, 0), &none), None);
    }

    #[test]
    fn a_challenge_with_status_200_is_recognised_by_its_structure() {
        for vendor_name in ["anubis", "amazon", "vercel", "ddos-guard"] {
            assert_eq!(vendor(&page(200, &[vendor_name], 300, 1), &json!({})), Some(vendor_name));
            assert_eq!(vendor(&page(200, &[vendor_name], 4000, 1), &json!({})), None);
        }
    }

    #[test]
    fn a_block_page_is_recognised_with_any_status() {
        assert_eq!(vendor(&page(200, &["cloudflare-block"], 700, 0), &json!({})), Some("cloudflare"));
        assert_eq!(vendor(&page(403, &["cloudflare-block"], 2000, 0), &json!({})), Some("cloudflare"));
        assert_eq!(vendor(&page(200, &["cloudflare-block"], 4000, 0), &json!({})), None);
    }

    #[test]
    fn a_block_page_without_a_challenge_cannot_be_solved() {
        let is_solvable =
            |signs: &[&str], headers: Value| Challenge::of(&page(403, signs, 700, 0), &headers).unwrap().is_solvable;
        assert!(!is_solvable(&["cloudflare-block"], json!({})));
        assert!(is_solvable(&["cloudflare"], json!({})));
        assert!(is_solvable(&["cloudflare-block", "cloudflare"], json!({})));
        assert!(is_solvable(&["cloudflare-block", "captcha"], json!({})));
        assert!(is_solvable(&["cloudflare-block"], json!({"cf-mitigated": "challenge"})));
    }

    #[test]
    fn a_widget_below_a_short_article_guards_its_comments() {
        let mut article = page(200, &["captcha"], 700, 0);
        article.prose = 500;
        assert_eq!(vendor(&article, &json!({})), None);
        article.prose = 100;
        assert_eq!(vendor(&article, &json!({})), Some("captcha"));
    }
}
