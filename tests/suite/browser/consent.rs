//! `--dismiss-consent`: consent banners are declined by the structure of the common platforms, and never accepted.

use ragmaker_tests::{
    site::CONSENT_BANNERS,
    visitor::{Saved, Visitor},
};
use serde_json::{Value, json};

const DISMISS: &str = "--dismiss-consent";

/// Each page, the platform that is named, and the labels of what is clicked.
const DECLINED: [(&str, &str, &[&str]); 31] = [
    ("onetrust", "OneTrust", &["Reject All"]),
    ("onetrust-choices", "OneTrust", &["Cookie Settings", "Confirm My Choices"]),
    ("cookiebot", "Cookiebot", &["Deny"]),
    ("didomi", "Didomi", &["Continuer sans accepter →"]),
    ("usercentrics", "Usercentrics", &["Ablehnen"]),
    ("quantcast", "Quantcast", &["MORE OPTIONS", "REJECT ALL"]),
    ("trustarc", "TrustArc", &["Required Only"]),
    ("sourcepoint", "Sourcepoint", &["Reject all"]),
    ("cookieyes", "CookieYes", &["Reject All"]),
    ("complianz", "Complianz", &["Weigeren"]),
    ("klaro", "Klaro", &["I decline"]),
    ("osano", "Osano", &["Reject Non-Essential"]),
    ("iubenda", "iubenda", &["Rifiuta"]),
    ("consentmanager", "consentmanager", &["Alle ablehnen"]),
    ("borlabs", "Borlabs Cookie", &["Nur essenzielle Cookies akzeptieren"]),
    ("termly", "Termly", &["Decline"]),
    ("cookie-information", "Cookie Information", &["Afvis alle"]),
    ("cookiefirst", "CookieFirst", &["Reject"]),
    ("cookie-script", "Cookie-Script", &["Decline all"]),
    ("tarteaucitron", "tarteaucitron", &["Interdire tous les cookies"]),
    ("funding-choices", "Google Funding Choices", &["Manage options", "Confirm choices"]),
    ("axeptio", "Axeptio", &["Non merci"]),
    ("cookie-notice", "Cookie Notice", &["No"]),
    ("hubspot", "HubSpot", &["Decline"]),
    ("moove", "Moove GDPR", &["Reject"]),
    ("civic", "Civic", &["Reject"]),
    ("cookieconsent", "CookieConsent", &["Reject all"]),
    ("generic", "dialog", &["Nur notwendige Cookies"]),
    ("generic-dialog", "dialog", &["Continue without accepting"]),
    ("late", "OneTrust", &["Reject All"]),
    ("again", "dialog", &["Decline"]),
];

/// The text of the open page.
fn says(visitor: &Visitor) -> String {
    Saved::by(&visitor.extract_open().args(["--selector", "body"]).run()).markdown
}

#[test]
fn the_banners_of_the_common_platforms_are_declined() {
    let visitor = Visitor::with_browser();
    for (name, platform, clicked) in DECLINED {
        let run = visitor.navigate(&format!("/consent/{name}")).arg(DISMISS).run();
        let expected = json!({"outcome": "declined", "platform": platform, "clicked": clicked});
        assert_eq!(run.answer()["consent"], expected, "{name}: {}", run.answer());
        let text = says(&visitor);
        assert!(text.contains("Chosen: declined.") && !text.contains("accepted"), "{name}: {text}");
    }
    // Every page is declined, or is one of those below.
    assert_eq!(CONSENT_BANNERS.len(), DECLINED.len() + 8);
}

#[test]
fn banners_that_cannot_be_declined_are_reported() {
    let visitor = Visitor::with_browser();
    for (name, platform) in [("onetrust-accept", "OneTrust"), ("only-ok", "dialog")] {
        let run = visitor.navigate(&format!("/consent/{name}")).arg(DISMISS).run();
        assert_eq!(run.answer()["consent"], json!({"outcome": "no-refusal", "platform": platform}), "{name}");
        let text = says(&visitor);
        assert!(!text.contains("Chosen") && text.contains("cookies"), "{name}: {text}");
    }
    for name in ["onetrust-radio", "onetrust-unlisted"] {
        let run = visitor.navigate(&format!("/consent/{name}")).arg(DISMISS).run();
        let expected = json!({"outcome": "no-refusal", "platform": "OneTrust", "clicked": ["Cookie Settings"]});
        assert_eq!(run.answer()["consent"], expected, "{name}");
        assert!(!says(&visitor).contains("Chosen"), "{name}");
    }
    let run = visitor.navigate("/consent/stays").arg(DISMISS).run();
    assert_eq!(
        run.answer()["consent"],
        json!({"outcome": "still-shown", "platform": "dialog", "clicked": ["Decline"]})
    );
    let run = visitor.navigate("/consent/none").arg(DISMISS).run();
    assert_eq!(run.answer()["consent"], json!({"outcome": "none"}));
    assert!(!says(&visitor).contains("Chosen"));
    // A platform's banner that did not come in time is told apart from none, and from one that was answered earlier.
    let run = visitor.navigate("/consent/silent").arg(DISMISS).run();
    assert_eq!(run.answer()["consent"], json!({"outcome": "not-shown"}));
    let run = visitor.navigate("/consent/answered").arg(DISMISS).run();
    assert_eq!(run.answer()["consent"], json!({"outcome": "none"}));
    assert_eq!(visitor.navigate("/page/one").arg(DISMISS).run().answer()["consent"], json!({"outcome": "none"}));
}

#[test]
fn every_tool_that_visits_pages_declines() {
    let visitor = Visitor::with_browser();
    let declined = |answer: &Value| assert_eq!(answer["consent"]["outcome"], "declined", "{answer}");
    // Without the option, nothing is done.
    assert!(visitor.navigate("/consent/onetrust").run().answer()["consent"].is_null());
    assert!(!says(&visitor).contains("Chosen"));
    let url = visitor.site.url("/consent/onetrust");
    let look = visitor.look().args(["--url", &url, "--selector", "body"]).arg(DISMISS).run().answer().clone();
    declined(&look);
    assert!(!look["elements"].to_string().contains("Reject All"), "{look}");
    let act = visitor.act("/consent/cookiebot", r#"[{"scroll":"end"}]"#).args([DISMISS, "--reload"]).run();
    declined(act.answer());
    // The changes are those of the steps.
    assert_eq!(act.answer()["changes"]["added_characters"], 0, "{}", act.answer());
    let run = visitor.extract("/consent/klaro").arg(DISMISS).run();
    declined(run.answer());
    // A page that was declined in is loaded again as any other.
    let loads = visitor.site.count("/consent/klaro");
    visitor.navigate("/consent/klaro").run().answer();
    assert_eq!(visitor.site.count("/consent/klaro"), loads + 1);
    let urls = ["/consent/osano", "/consent/generic"].map(|page| visitor.site.url(page));
    let list = visitor.extract_open().args(["--urls", &urls[0], "--urls", &urls[1], "--jsonl"]).arg(DISMISS);
    let output = String::from_utf8(list.run_raw().stdout).unwrap();
    for line in output.lines() {
        declined(&serde_json::from_str(line).unwrap());
    }
    assert_eq!(output.lines().count(), 2);
}
