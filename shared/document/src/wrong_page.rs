//! Pages that were saved by mistake: bot challenges, error pages and sign-in forms.
//!
//! The browser tools refuse such pages by HTTP status and structure. A saved text has neither, so it is recognised by
//! its words: it is short, and its title or first line consists of a typical phrase of such a page. An article that
//! quotes the phrase is longer, or has more words in its title.

use crate::looks_like_login;

/// The maximum length in characters of such a page.
const MAX_CHARACTERS: usize = 1_500;

/// A kind of page that is saved by mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongPage {
    /// A bot challenge.
    Challenge,
    /// An error page.
    Error,
    /// A form to sign in.
    Login,
}

/// Titles or first lines of challenges, in lower case; `*` at the end matches any rest.
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
    "making sure you're not a bot*",
    "enter the characters you see below",
    "vercel security checkpoint",
    "ロボットではありません*",
];

/// The same of error pages.
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

impl WrongPage {
    /// The kind of wrong page that a page with `title` and the Markdown `body` is; `None` for an ordinary page.
    pub fn recognize(title: &str, body: &str) -> Option<Self> {
        if body.chars().nth(MAX_CHARACTERS).is_some() {
            return None;
        }
        let first = body.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let lines = [title, first].map(|line| line.trim_start_matches(['#', '*', ' ']).to_lowercase());
        let has = |phrases: &[&str]| lines.iter().any(|line| phrases.iter().any(|phrase| matches(line, phrase)));
        if has(CHALLENGES) {
            Some(Self::Challenge)
        } else if has(ERRORS) {
            Some(Self::Error)
        } else {
            looks_like_login(title, body).then_some(Self::Login)
        }
    }

    /// Its name in messages, such as `a bot challenge`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Challenge => "a bot challenge",
            Self::Error => "an error page",
            Self::Login => "a form to sign in",
        }
    }
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

    #[test]
    fn challenges_and_error_pages_are_recognized() {
        for title in [
            "Just a moment...",
            "Attention Required! | Cloudflare",
            "Access to this page has been denied.",
            "Checking your browser before accessing x.example",
        ] {
            assert_eq!(WrongPage::recognize(title, "Ray ID: 8f2c"), Some(WrongPage::Challenge), "{title}");
        }
        for title in [
            "404 Not Found",
            "Error 404: Page not found | Example",
            "Page Not Found – Docs",
            "HTTP 503 Service Unavailable",
            "403 - Forbidden",
            "Not found",
        ] {
            assert_eq!(WrongPage::recognize(title, "Nothing here."), Some(WrongPage::Error), "{title}");
        }
        assert_eq!(WrongPage::recognize("Anmelden | Example", "Name\n\nPasswort"), Some(WrongPage::Login));
        assert_eq!(WrongPage::recognize("Example", "# Page not found\n\nTry the search."), Some(WrongPage::Error));
        assert_eq!(WrongPage::recognize("Example", "ページが見つかりませんでした"), Some(WrongPage::Error));
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
            assert_eq!(WrongPage::recognize(title, "A short article."), None, "{title}");
        }
        assert_eq!(
            WrongPage::recognize("404 Not Found", &"The status code of a page that is missing. ".repeat(60)),
            None
        );
    }
}
