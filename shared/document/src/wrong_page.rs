//! Pages that were saved by mistake: bot challenges, error pages and sign-in forms.
//!
//! The browser tools refuse such pages by HTTP status and structure. A saved text has neither, so it is recognised by
//! its words: it is short, and its title or first line consists of a typical phrase of such a page. An article that
//! quotes the phrase is longer, has more words in its title, or explains the phrase in sentences.

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

/// Sentences with which only challenges begin, in lower case; `*` at the end matches any rest.
const SENTENCES: &[&str] = &[
    "checking your browser before*",
    "checking if the site connection is secure*",
    "verifying you are human*",
    "let's confirm you are human*",
    "pardon our interruption",
    "enable javascript and cookies to continue*",
    "you have been blocked*",
    "sorry, you have been blocked*",
    "access to this page has been denied*",
    "making sure you're not a bot*",
    "enter the characters you see below",
    "vercel security checkpoint",
];

/// Titles or first lines of challenges that an article may have as well. An article explains them in some sentences.
const CHALLENGES: &[&str] = &[
    "just a moment",
    "attention required! | cloudflare*",
    "checking your browser*",
    "verify you are human*",
    "verify that you are human*",
    "are you a robot*",
    "i'm not a robot*",
    "human verification",
    "security check",
    "security verification",
    "please enable cookies*",
    "please enable javascript*",
    "robot check",
    "captcha",
    "ddos protection by*",
    "ロボットではありません*",
];

/// The maximum length of the prose of such a challenge, in characters; a CJK character counts twice.
const PROSE: usize = 120;

/// A line of fewer characters is a label or a request, such as "Complete the security check to continue."
const SENTENCE: usize = 60;

/// What a challenge calls the number by which its server finds the visit, in lower case.
const INCIDENTS: &[&str] = &["ray id", "reference id", "incident id"];

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
        let is_challenge =
            lines.iter().any(|line| SENTENCES.iter().any(|phrase| matches(line, phrase)) && !has_subtitle(line));
        if is_challenge || (has(SENTENCES) || has(CHALLENGES)) && !explains(body) {
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

/// Whether a title goes on after a question or a colon: `Are you a robot? How such tests work`.
fn has_subtitle(line: &str) -> bool {
    line.split_once(": ").or_else(|| line.split_once("? ")).is_some_and(|(_, rest)| rest.contains(char::is_alphabetic))
}

/// Whether a text has the sentences of an article, and no number of a visit.
fn explains(body: &str) -> bool {
    let width = |line: &str| line.chars().map(|c| if c >= '\u{1100}' { 2 } else { 1 }).sum::<usize>();
    let is_prose = |line: &&str| !line.starts_with('#') && line.ends_with(['.', '!', '?', '。']);
    let lines = body.lines().map(str::trim_end).filter(is_prose).map(width).filter(|width| *width > SENTENCE);
    let text = body.to_lowercase();
    lines.sum::<usize>() > PROSE && !INCIDENTS.iter().any(|name| text.contains(name))
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

    #[test]
    fn a_short_article_about_challenges_is_no_challenge() {
        let article = "A CAPTCHA is a test that tells people and programs apart. The name was coined in 2003. Most show \
            distorted letters, and ask the visitor to type them.";
        let japanese = "CAPTCHAは、応答者がコンピュータでないことを確認するために使われるテストである。文字や画像を見せて、\
            答えを入力させるものが多く、二〇〇三年に名づけられた。";
        for (title, body) in [
            ("CAPTCHA", article),
            ("CAPTCHA | Wiki", article),
            ("Captcha", japanese),
            ("Attention Required! | Cloudflare explained", article),
            ("Attention Required! | Cloudflare – explained", article),
            ("Are you a robot? How such tests work", article),
            ("Sorry, you have been blocked: what it means", article),
            ("Security check", article),
        ] {
            assert_eq!(WrongPage::recognize(title, body), None, "{title}");
        }
        let aws = "# Let's confirm you are human\n\nComplete the security check before continuing. This step verifies that \
            you are not a bot, which helps to protect your account and prevent spam.\n\nBegin";
        let cloudflare = format!("# Why have I been blocked?\n\n{article}\n\nCloudflare Ray ID: 8f2c");
        let anubis = "Making sure you're not a bot!\n\nYou are seeing this because the administrator of this website has set \
            up Anubis to protect the server against the scourge of companies that aggressively scrape websites.";
        for (title, body) in [
            ("Human Verification", aws),
            ("Attention Required! | Cloudflare", cloudflare.as_str()),
            ("Sorry, you have been blocked", article),
            ("Making sure you're not a bot!", anubis),
            ("Captcha", "Please solve the captcha to continue."),
            (
                "Robot Check",
                "# Enter the characters you see below\n\nSorry, we just need to make sure you're not a robot.",
            ),
            ("Just a moment...", "Verify you are human by completing the action below."),
        ] {
            assert_eq!(WrongPage::recognize(title, body), Some(WrongPage::Challenge), "{title}");
        }
    }
}
