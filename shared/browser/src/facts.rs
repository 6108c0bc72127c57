//! The facts about a page, as `js/facts.js` measures them in the page.
//!
//! Two more facts, `sparse` and `refreshes`, are needed only during the wait for a page; `readiness` reads them.

use serde::Deserialize;
use url::Url;

/// What a page says of itself.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Facts {
    /// Its URL, after redirects.
    pub(crate) url: Url,
    /// What relative URLs on it are relative to.
    pub(crate) base: String,
    /// Its title, of 500 characters at most.
    pub(crate) title: String,
    /// The HTTP status; 0 where the browser does not know it.
    pub(crate) status: u16,
    /// Its media type.
    #[serde(rename = "type")]
    pub(crate) media_type: String,
    /// The marks of bot challenges in it.
    pub(crate) marks: Vec<Mark>,
    /// How many characters of text it shows, where that matters.
    pub(crate) words: Option<u64>,
    /// How many fields it has to fill in.
    pub(crate) fields: u64,
    /// How many characters of prose it has beside a CAPTCHA widget.
    pub(crate) prose: u64,
    /// Its sign-in form.
    pub(crate) sign_in: Option<SignIn>,
    /// How many links it has, shown or not.
    pub(crate) links: u64,
    /// What is wrong with a page of XML, if anything is.
    pub(crate) broken: Option<String>,
}

/// A part of a page that bot challenges are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mark {
    Cloudflare,
    CloudflareBlock,
    Datadome,
    Perimeterx,
    Akamai,
    AwsWaf,
    /// A CAPTCHA widget that shows.
    Captcha,
}

/// The sign-in form of a page, as `js/sign-in.js` measures it. Text is counted in characters, CJK
/// characters twice.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SignIn {
    /// How many fields for passwords show on the page.
    pub(crate) passwords: u32,
    /// How many of those are for a password to be chosen.
    pub(crate) new_passwords: u32,
    /// How many fields the form has.
    pub(crate) fields: u32,
    /// Whether the form stands in a navigation, header, footer or sidebar.
    pub(crate) aside: bool,
    /// How much text stands beside the form and outside of those.
    pub(crate) beside: u32,
    /// How much text the page's main element or an article has, where the form is not in it.
    pub(crate) article: u32,
}

impl Facts {
    /// The facts about a URL whose server sent nothing but `status`.
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
            "links": 3, "sparse": true, "refreshes": false, "broken": null,
        }))
        .unwrap()
    }

    #[test]
    fn facts_are_what_the_script_returns() {
        let script = include_str!("js/facts.js");
        let returned = script.rsplit_once("return {").unwrap().1;
        let facts = page(200, &["cloudflare-block", "aws-waf"], 10, 0);
        assert_eq!(facts.marks, [Mark::CloudflareBlock, Mark::AwsWaf]);
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
        ] {
            assert!(returned.contains(name), "{name}");
        }
        for mark in script.split("marks.push(\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            assert!(serde_json::from_value::<Mark>(mark.into()).is_ok(), "{mark}");
        }
    }

    #[test]
    fn a_url_that_is_none_is_no_fact() {
        let mut facts = serde_json::to_value(json!({"url": "", "base": ""})).unwrap();
        facts["title"] = "x".into();
        assert!(serde_json::from_value::<Facts>(facts).is_err());
    }
}
