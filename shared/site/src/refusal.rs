//! The reasons why a response has no content to save.
//!
//! They are those of browser-extract, as far as they can be recognised without running scripts.

use ragmaker_address::codes::{BOT_DETECTED, HTTP_ERROR, LOGIN_REQUIRED, blocked};
use ragmaker_http::Response;
use ragmaker_markdown::Links;
use ragmaker_tool::Error;
use url::Url;

/// The status of a response with a part of the content, which was not asked for.
pub(crate) const PART: u16 = 206;

/// The error for `response`, whose page has `links`; `None` if it may have content.
pub(crate) fn refusal(response: &Response, links: &Links) -> Option<Error> {
    let (url, status) = (response.url.as_str(), response.status);
    if let Some(vendor) = challenge(response, links) {
        return Some(challenge_error(response, Some(vendor)));
    }
    let error = if status == 401 || (status == 403 && links.passwords > 0) {
        LOGIN_REQUIRED.error(format!("the server asks for a login at {url}"))
    } else if status == PART {
        HTTP_ERROR.error(format!("the server answered {status} with a part of {url}"))
    } else if !(200..300).contains(&status) {
        HTTP_ERROR.error(format!("the server answered {status} for {url}"))
    } else {
        return None;
    };
    Some(with_response(error, response))
}

/// The error for a bot challenge of `vendor`, if it is known, that is sent instead of the page.
pub(crate) fn challenge_error(response: &Response, vendor: Option<&str>) -> Error {
    let by = vendor.map(|vendor| format!(" ({vendor})")).unwrap_or_default();
    let error = BOT_DETECTED.error(format!("a bot challenge{by} is shown instead of {}", response.url)).remedy(
        "Use ragmaker-browser-extract; with ragmaker-browser-extract --no-headless, a person can solve the challenge.",
    );
    with_response(vendor.into_iter().fold(error, |error, vendor| error.detail("vendor", vendor)), response)
}

/// The error for Cloudflare's page that blocks the visitor.
pub(crate) fn block_error(response: &Response) -> Error {
    with_response(blocked("cloudflare", response.url.as_str()), response)
}

/// `error` with the address and the status of the response, and the time after which it may be asked again.
fn with_response(error: Error, response: &Response) -> Error {
    let error = error.detail("url", response.url.as_str()).detail("http_status", response.status);
    match response.retry_after() {
        Some(wait) => error.detail("retry_after_s", wait.as_secs()),
        None => error,
    }
}

/// The vendor of the bot challenge that is sent instead of the page, by headers and by what it loads.
fn challenge(response: &Response, links: &Links) -> Option<&'static str> {
    let header = |name: &str| response.header(name).unwrap_or_default().to_ascii_lowercase();
    let loads = |part: &str| links.scripts.iter().any(|script| script.as_str().contains(part));
    let refused = matches!(response.status, 202 | 403 | 405 | 428 | 429 | 503);
    let is_cloudflare = |script: &Url| {
        let path = script.path();
        path.starts_with("/cdn-cgi/challenge-platform/h/") && !path.contains("/scripts/jsd/")
    };
    if header("cf-mitigated") == "challenge" || (refused && links.scripts.iter().any(is_cloudflare)) {
        Some("cloudflare")
    } else if matches!(header("x-amzn-waf-action").as_str(), "challenge" | "captcha")
        || (refused && loads(".awswaf.com/"))
    {
        Some("aws-waf")
    } else if refused && loads("captcha-delivery.com") || response.status == 403 && !header("x-dd-b").is_empty() {
        Some("datadome")
    } else if response.status == 403 && header("server").starts_with("akamai") || loads("/_sec/cp_challenge/") {
        Some("akamai")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_server::response;

    fn scripts(scripts: &[&str]) -> Links {
        let scripts = scripts.iter().map(|script| Url::parse(script).unwrap()).collect();
        Links { scripts, ..Links::default() }
    }

    #[test]
    fn a_challenge_is_known_by_its_headers_and_by_the_scripts_that_it_loads() {
        let cloudflare = "https://x.example/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1";
        let beacon = "https://x.example/cdn-cgi/challenge-platform/h/b/scripts/jsd/main.js";
        let aws = "https://a.b.awswaf.com/challenge.js";
        for (head, loads, vendor) in [
            ("200 x\ncf-mitigated: Challenge", "", Some("cloudflare")),
            ("403 x", cloudflare, Some("cloudflare")),
            ("200 x", cloudflare, None),
            ("403 x", beacon, None),
            ("202 x\nx-amzn-waf-action: captcha", "", Some("aws-waf")),
            ("200 x\nx-amzn-waf-action: allow", "", None),
            ("405 x", aws, Some("aws-waf")),
            ("404 x", aws, None),
            ("403 x\nx-dd-b: 1", "", Some("datadome")),
            ("200 x\nx-dd-b: 1", "", None),
            ("429 x", "https://ct.captcha-delivery.com/c.js", Some("datadome")),
            ("403 x\nserver: AkamaiGHost", "", Some("akamai")),
            ("404 x\nserver: AkamaiGHost", "", None),
            ("200 x", "https://x.example/_sec/cp_challenge/1.js", Some("akamai")),
        ] {
            let links = if loads.is_empty() { Links::default() } else { scripts(&[beacon, loads]) };
            let response = response(head, "x");
            assert_eq!(challenge(&response, &links), vendor, "{head} {loads}");
            let error = refusal(&response, &links);
            assert_eq!(error.is_some_and(|error| error.is(BOT_DETECTED)), vendor.is_some(), "{head} {loads}");
        }
    }

    #[test]
    fn a_status_without_content_is_refused_with_its_reason() {
        let form = Links { passwords: 1, ..Links::default() };
        for (head, links, code) in [
            ("200 x", &form, None),
            ("204 x", &Links::default(), None),
            ("401 x", &Links::default(), Some(LOGIN_REQUIRED)),
            ("403 x", &form, Some(LOGIN_REQUIRED)),
            ("403 x", &Links::default(), Some(HTTP_ERROR)),
            ("404 x", &form, Some(HTTP_ERROR)),
            ("206 x", &Links::default(), Some(HTTP_ERROR)),
            ("503 x", &Links::default(), Some(HTTP_ERROR)),
        ] {
            let error = refusal(&response(head, ""), links);
            assert_eq!(error.as_ref().map(Error::code), code.map(ragmaker_tool::Code::name), "{head}");
        }
        let response = response("503 x\nretry-after: 7", "");
        let error = refusal(&response, &Links::default()).unwrap();
        assert_eq!(error.details()["url"], response.url.as_str());
        assert!(error.details()["http_status"] == 503 && error.details()["retry_after_s"] == 7);
    }
}
