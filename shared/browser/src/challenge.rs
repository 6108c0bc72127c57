//! Recognizing a bot challenge: by the status, the headers and what the page is made of, never by
//! its words, which an article about challenges has as well.

use serde_json::Value;

use crate::visit::Facts;

/// How much text a page may have, in characters, and still be nothing but a challenge.
const SPARSE: u64 = 1500;

/// Statuses that challenges come with: 202 and 405 from AWS WAF, 403, 429 and 503 from all.
pub(crate) fn suspicious(status: u16) -> bool {
    matches!(status, 202 | 403 | 405 | 428 | 429 | 503)
}

/// The vendor of the challenge that stands in the place of the page, if one does. `headers` are
/// those of the document's response, in lower case, where they are known.
pub(crate) fn vendor(facts: &Facts, headers: &Value) -> Option<&'static str> {
    let header = |name: &str| headers[name].as_str().unwrap_or_default().to_ascii_lowercase();
    let marked = |name: &str| facts.marks.iter().any(|mark| mark == name);
    let refused = suspicious(facts.status);
    let sparse = facts.words.is_some_and(|words| words < SPARSE);
    if header("cf-mitigated") == "challenge" || (marked("cloudflare") && (refused || sparse)) {
        Some("cloudflare")
    } else if matches!(header("x-amzn-waf-action").as_str(), "challenge" | "captcha") || (marked("aws-waf") && refused)
    {
        Some("aws-waf")
    } else if marked("datadome") && (refused || sparse) || facts.status == 403 && !header("x-dd-b").is_empty() {
        Some("datadome")
    } else if marked("perimeterx") && (refused || sparse) {
        Some("perimeterx")
    } else if (marked("akamai") && sparse) || (facts.status == 403 && header("server").starts_with("akamai") && sparse)
    {
        Some("akamai")
    } else if marked("captcha") && (refused || sparse && facts.fields == 0 && facts.links < 15) {
        // Where there is something to fill in, or to read, the widget guards a form of the page.
        Some("captcha")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn page(status: u16, marks: &[&str], words: u64, fields: u64) -> Facts {
        serde_json::from_value(json!({
            "url": "https://x.example/", "base": "https://x.example/", "title": "Just a moment...", "status": status,
            "type": "text/html", "marks": marks, "words": words, "fields": fields, "links": 3,
        }))
        .unwrap()
    }

    #[test]
    fn structure_and_status_tell_and_words_do_not() {
        let none = json!({});
        assert_eq!(vendor(&page(200, &[], 400, 0), &none), None);
        assert_eq!(vendor(&page(403, &["cloudflare"], 100, 0), &none), Some("cloudflare"));
        assert_eq!(vendor(&page(403, &[], 100, 0), &json!({"cf-mitigated": "challenge"})), Some("cloudflare"));
        assert_eq!(vendor(&page(403, &["datadome"], 10, 0), &none), Some("datadome"));
        assert_eq!(vendor(&page(403, &[], 10, 0), &json!({"x-dd-b": "1"})), Some("datadome"));
        // It says that it protects whatever it lets through as well.
        assert_eq!(vendor(&page(403, &[], 10, 0), &json!({"x-datadome": "protected"})), None);
        assert_eq!(vendor(&page(403, &["perimeterx"], 200, 0), &none), Some("perimeterx"));
        assert_eq!(vendor(&page(403, &[], 200, 0), &json!({"server": "AkamaiGHost"})), Some("akamai"));
        assert_eq!(vendor(&page(202, &[], 0, 0), &json!({"x-amzn-waf-action": "challenge"})), Some("aws-waf"));
        assert_eq!(vendor(&page(200, &["captcha"], 100, 0), &none), Some("captcha"));
        // A contact form with a widget, an article with a badge, a plain refusal.
        assert_eq!(vendor(&page(200, &["captcha"], 300, 3), &none), None);
        assert_eq!(vendor(&page(200, &["captcha", "cloudflare"], 9000, 0), &none), None);
        assert_eq!(vendor(&page(403, &[], 100, 0), &none), None);
    }
}
