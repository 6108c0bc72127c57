//! The facts about a page, as `js/facts.js` measures them in the page.
//!
//! Three more facts, `sparse`, `refreshes` and `hasCode`, are needed only during the wait for a page; `readiness` reads
//! them.

use ragmaker_document::FormFields;
use serde::Deserialize;
use url::Url;

/// The facts about a page, from the page script.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Facts {
    /// Its URL, after redirects.
    pub(crate) url: Url,
    /// The base URL of the page.
    pub(crate) base: String,
    /// The title, at most 500 characters.
    pub(crate) title: String,
    /// The HTTP status; 0 if the browser does not know it.
    pub(crate) status: u16,
    /// Its media type.
    #[serde(rename = "type")]
    pub(crate) media_type: String,
    /// The signs of bot challenges.
    pub(crate) marks: Vec<ChallengeSign>,
    /// The number of characters of visible text, if it is needed.
    pub(crate) words: Option<u64>,
    /// The number of input fields.
    pub(crate) fields: u64,
    /// The number of characters of prose beside a CAPTCHA widget.
    pub(crate) prose: u64,
    /// The sign-in form, if any.
    pub(crate) sign_in: Option<SignIn>,
    /// The number of links, visible or not.
    pub(crate) links: u64,
    /// The syntax error of an XML page, if any.
    pub(crate) broken: Option<String>,
}

/// A sign of a bot challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ChallengeSign {
    Cloudflare,
    CloudflareBlock,
    Datadome,
    Perimeterx,
    Akamai,
    AwsWaf,
    Anubis,
    /// Amazon's own CAPTCHA.
    Amazon,
    Vercel,
    DdosGuard,
    /// A visible CAPTCHA widget.
    Captcha,
}

/// The sign-in form of a page, measured by `js/sign-in.js`. Text is counted in characters, CJK characters
/// twice.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SignIn {
    /// What it asks for. Services that a sign-in leads to are counted only where there is no form.
    #[serde(flatten)]
    pub(crate) fields: FormFields,
    /// Whether the form is in a navigation, header, footer or sidebar.
    pub(crate) aside: bool,
    /// The amount of text beside the form, without those parts.
    pub(crate) beside: u32,
    /// The amount of text in the main element or an article that does not contain the form.
    pub(crate) article: u32,
    /// The first heading of the page, empty if it has none.
    #[serde(default)]
    pub(crate) heading: String,
    /// The targets of the first links outside of the form and those parts.
    #[serde(default)]
    pub(crate) links: Vec<String>,
}

impl Facts {
    /// The facts about a URL whose server sent only a status.
    pub(crate) fn of_status(url: Url, status: u16) -> Self {
        Self {
            base: url.as_str().to_owned(),
            url,
            title: String::new(),
            status,
            media_type: String::new(),
            marks: vec![],
            words: None,
            fields: 0,
            prose: 0,
            sign_in: None,
            links: 0,
            broken: None,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    /// A page of `words` characters with `status`, `marks` and `fields`.
    pub(crate) fn page(status: u16, marks: &[&str], words: u64, fields: u64) -> Facts {
        serde_json::from_value(json!({
            "url": "https://x.example/", "base": "https://x.example/", "title": "Just a moment...", "status": status,
            "type": "text/html", "marks": marks, "words": words, "fields": fields, "prose": 0, "signIn": null,
            "links": 3, "sparse": true, "refreshes": false, "hasCode": true, "broken": null,
        }))
        .unwrap()
    }

    #[test]
    fn facts_are_what_the_script_returns() {
        let script = include_str!("js/facts.js");
        let returned = script.rsplit_once("return {").unwrap().1;
        let facts = page(200, &["cloudflare-block", "aws-waf"], 10, 0);
        assert_eq!(facts.marks, [ChallengeSign::CloudflareBlock, ChallengeSign::AwsWaf]);
        for name in [
            "url",
            "base",
            "title",
            "status",
            "type",
            "marks",
            "words",
            "fields",
            "prose",
            "signIn",
            "links",
            "sparse",
            "broken",
            "refreshes",
            "hasCode",
        ] {
            assert!(returned.contains(name), "{name}");
        }
        for mark in script.split("marks.push(\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            assert!(serde_json::from_value::<ChallengeSign>(mark.into()).is_ok(), "{mark}");
        }
    }

    #[test]
    fn an_invalid_url_is_rejected() {
        let mut facts = serde_json::to_value(json!({"url": "", "base": ""})).unwrap();
        facts["title"] = "x".into();
        assert!(serde_json::from_value::<Facts>(facts).is_err());
    }
}
