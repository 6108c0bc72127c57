//! Pages that were saved by mistake: bot challenges, error pages and sign-in forms.
//!
//! The browser tools refuse such pages by HTTP status and structure. A saved text has neither, so it is recognised by
//! its words: it is short, and its title or first line consists of a typical phrase of such a page. An article that
//! quotes the phrase is longer, or has more words in its title.

use crate::finding::Kind;

/// The most characters of such a page.
const MAX_CHARACTERS: usize = 1_500;

/// A kind of page that is saved by mistake.
pub(crate) struct WrongPage {
    pub(crate) kind: Kind,
    /// The name of such a page in messages.
    pub(crate) name: &'static str,
    /// Its titles or first lines, in lower case; `*` at the end matches any rest.
    phrases: &'static [&'static str],
}

/// All kinds; the first match counts.
const WRONG_PAGES: &[WrongPage] = &[
    WrongPage { kind: Kind::ChallengePage, name: "a bot challenge", phrases: CHALLENGES },
    WrongPage { kind: Kind::ErrorPage, name: "an error page", phrases: ERRORS },
];

/// A sign-in form. It is recognised by more than its first line.
const LOGIN_PAGE: WrongPage = WrongPage { kind: Kind::LoginPage, name: "a form to sign in", phrases: &[] };

const CHALLENGES: &[&str] = &[
    "just a moment",
    "attention required! | cloudflare",
    "checking your browser*",
    "checking if the site connection is secure*",
    "verify you are human*",
    "verifying you are human*",
    "verify that you are human*",
    "are you a robot*",
    "i'm not a robot*",
    "human verification",
    "security check",
    "security verification",
    "pardon our interruption",
    "please enable cookies*",
    "please enable javascript*",
    "enable javascript and cookies to continue*",
    "you have been blocked*",
    "sorry, you have been blocked*",
    "access to this page has been denied*",
    "robot check",
    "captcha",
    "ddos protection by*",
    "ロボットではありません*",
];

const ERRORS: &[&str] = &[
    "page not found",
    "not found",
    "the page you requested*",
    "the page you are looking for*",
    "this page does not exist*",
    "this page doesn't exist*",
    "this page could not be found*",
    "file or directory not found",
    "access denied",
    "forbidden",
    "unauthorized",
    "bad request",
    "bad gateway",
    "gateway timeout",
    "gateway time-out",
    "service unavailable",
    "service temporarily unavailable",
    "internal server error",
    "too many requests",
    "oops! that page*",
    "ページが見つかりません*",
    "お探しのページ*",
];

/// The kind of wrong page that a page with `title` and `body` is; `None` for an ordinary page.
pub(crate) fn recognize(title: &str, body: &str) -> Option<&'static WrongPage> {
    if body.chars().nth(MAX_CHARACTERS).is_some() {
        return None;
    }
    let first = body.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let lines = [title, first].map(|line| line.trim_start_matches(['#', '*', ' ']).to_lowercase());
    let matches = |page: &&WrongPage| lines.iter().any(|line| page.phrases.iter().any(|phrase| matches(line, phrase)));
    let login = || ragmaker_document::looks_like_login(title, body).then_some(&LOGIN_PAGE);
    WRONG_PAGES.iter().find(matches).or_else(login)
}

/// Whether `line` is `phrase`, with an optional status before it (`404 - `, `Error 404:`) and an optional site
/// name after it. `Not found in translation` does not match `not found`.
fn matches(line: &str, phrase: &str) -> bool {
    let line = line.trim_start_matches("http").trim_start_matches("error").trim_start();
    let digits = line.find(|c: char| !c.is_ascii_digit()).unwrap_or(line.len());
    let line = if digits == 3 && line.starts_with(['4', '5']) { &line[3..] } else { line };
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    match phrase.strip_suffix('*') {
        Some(start) => line.starts_with(start),
        None => line.strip_prefix(phrase).is_some_and(|rest| {
            let words = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
            words.is_empty() || rest[..rest.len() - words.len()].contains(['|', '-', '–', '—', '·'])
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(title: &str, body: &str) -> Option<Kind> {
        recognize(title, body).map(|page| page.kind)
    }

    #[test]
    fn challenges_and_error_pages_are_recognized() {
        for title in [
            "Just a moment...",
            "Attention Required! | Cloudflare",
            "Access to this page has been denied.",
            "Checking your browser before accessing x.example",
        ] {
            assert_eq!(kind(title, "Ray ID: 8f2c"), Some(Kind::ChallengePage), "{title}");
        }
        for title in [
            "404 Not Found",
            "Error 404: Page not found | Example",
            "Page Not Found – Docs",
            "HTTP 503 Service Unavailable",
            "403 - Forbidden",
            "Not found",
        ] {
            assert_eq!(kind(title, "Nothing here."), Some(Kind::ErrorPage), "{title}");
        }
        assert_eq!(kind("Anmelden | Example", "Name\n\nPasswort"), Some(Kind::LoginPage));
        assert_eq!(kind("Example", "# Page not found\n\nTry the search."), Some(Kind::ErrorPage));
        assert_eq!(kind("Example", "ページが見つかりませんでした"), Some(Kind::ErrorPage));
    }

    #[test]
    fn articles_about_such_pages_are_not_recognized() {
        for title in [
            "Not found in translation",
            "Captchas: how they work",
            "Security checklist",
            "404 ways to cook rice",
            "Handling 404 Not Found",
            "Forbidden City",
            "Just a moment... How challenge pages work",
        ] {
            assert_eq!(kind(title, "A short article."), None, "{title}");
        }
        assert_eq!(kind("404 Not Found", &"The status code of a page that is missing. ".repeat(60)), None);
    }
}
