//! Recognising a saved sign-in page by its words.
//!
//! The browser recognises such a page by its form (`login.rs` of `shared/browser`), but a saved page has only words. So
//! the rule is narrow: the title or the first line is "sign in" and nothing else, and the text is short and has the
//! label of a password field.

use crate::sections::plain;

/// The maximum number of characters of a page that is only a form.
const SPARSE: usize = 800;

/// The maximum length in characters of a field's label.
const LABEL: usize = 60;

/// Titles of sign-in pages in English, German, Japanese and Chinese, in lower case; a `*` matches any text.
const TITLES: &[&str] = &[
    "sign in",
    "sign in to *",
    "sign in with *",
    "sign-in",
    "signin",
    "log in",
    "log in to *",
    "log on",
    "login",
    "member login",
    "customer login",
    "please sign in*",
    "please log in*",
    "anmelden",
    "anmeldung",
    "einloggen",
    "bitte anmelden*",
    "bitte melden sie sich*",
    "ログイン",
    "ログイン画面",
    "ログインページ",
    "会員ログイン",
    "サインイン",
    "登录",
    "登入",
    "用户登录",
    "账号登录",
    "帐号登录",
    "会员登录",
    "统一身份认证",
    "用戶登入",
    "會員登入",
    "帳號登入",
];

/// Labels of password fields.
const PASSWORDS: &[&str] = &["password", "passwort", "kennwort", "パスワード", "密码", "密碼"];

/// Whether a saved page with this title and Markdown body is only a sign-in form.
///
/// ```
/// use ragmaker_document::looks_like_login;
///
/// assert!(looks_like_login("Sign in · Example", "# Sign in\n\nEmail\n\nPassword"));
/// assert!(!looks_like_login("Sign in", "The command asks for your password and stores a token."));
/// ```
pub fn looks_like_login(title: &str, body: &str) -> bool {
    let has_field = |line: String| is_label(&line) && PASSWORDS.iter().any(|word| line.contains(word));
    is_headed_login(title, body) && body.lines().map(normalized).any(has_field)
}

/// Whether a page is short, and its title or its first line is "sign in" and nothing else.
pub fn is_headed_login(title: &str, body: &str) -> bool {
    if body.chars().nth(SPARSE).is_some() {
        return false;
    }
    // The description of a login command or endpoint has code.
    if body.lines().any(|line| line.starts_with("```")) {
        return false;
    }
    let first = body.lines().map(normalized).find(|line| !line.is_empty()).unwrap_or_default();
    is_login_title(title) || is_login_title(&first)
}

/// Whether a title, or the name of a site beside it, is "sign in" in English, German, Japanese or Chinese, and nothing
/// else.
pub fn is_login_title(title: &str) -> bool {
    let title = normalized(title);
    let parts = title.split(['|', '–', '—', '·', '｜', ':', '：', '«', '»']).flat_map(|part| part.split(" - "));
    parts.map(str::trim).any(|part| TITLES.iter().any(|known| is(part, known)))
}

/// A line in lower case, without the marks of a heading, a list, links or emphasis.
fn normalized(line: &str) -> String {
    let is_mark = |c: char| c.is_whitespace() || matches!(c, '#' | '*' | '-' | '_' | '|');
    plain(line).trim_matches(is_mark).to_lowercase()
}

fn is(part: &str, known: &str) -> bool {
    known.strip_suffix('*').map_or(part == known, |start| part.starts_with(start))
}

/// Whether a line is short and no sentence.
fn is_label(line: &str) -> bool {
    line.chars().nth(LABEL).is_none() && !line.ends_with(['.', '。', '!', '！'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_known_in_four_languages() {
        for (title, body) in [
            (
                "Sign in · Tidemark Cloud",
                "# Welcome back\n\nEmail address\n\nPassword\n\n[Forgot your password?](/reset)",
            ),
            ("Example", "# Log in to Example\n\nUser name Password Remember me"),
            ("会員ログイン｜潮位記録", "# 会員ログイン\n\n- メールアドレス\n- パスワード"),
            ("Kundenkonto – Anmelden", "Benutzername Passwort\n\n[Passwort vergessen?](/reset)"),
            ("用户登录 - 潮汐记录", "## 账号登录\n\n手机号\n\n密码\n\n[忘记密码](/reset)"),
            ("會員登入", "帳號\n\n密碼"),
            ("Sign in", "[Forgot your password?](https://accounts.tidemark.example/users/password/new?locale=en)"),
        ] {
            assert!(looks_like_login(title, body), "{title}");
        }
    }

    #[test]
    fn text_about_signing_in_is_no_form() {
        let long = "Password\n\n".to_owned() + &"The station log records the height of the water. ".repeat(40);
        for (title, body) in [
            ("Login", "The command asks for the password of the account and stores a token."),
            ("Sign in", long.as_str()),
            ("How to sign in", "Email\n\nPassword"),
            ("Passwords", "# Passwords\n\nA password"),
            ("ログインの仕組み", "パスワード"),
            ("Anmelden", "# Anmelden\n\nZum Kurs kann man sich bis Freitag anmelden."),
            ("登录日志", "密码"),
            ("Login", "Logs a user in.\n\n```\nPOST /login\n```\n\nThe password"),
        ] {
            assert!(!looks_like_login(title, body), "{title}");
        }
    }
}
