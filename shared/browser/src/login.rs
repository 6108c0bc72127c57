//! Recognising a sign-in page: by its form and its URL, which works in every language, and by its title or heading.
//!
//! A page is a sign-in page only if the form is its main content. A wiki with a login box in its sidebar, or an article
//! above a form for members, is not a sign-in page.

use ragmaker_document::is_login_title;
use url::Url;

use crate::facts::SignIn;

/// The maximum length, in characters, of text beside a sign-in form without further signs.
const BESIDE: u32 = 300;

/// The same if the tab was redirected to the form.
const BESIDE_AFTER_REDIRECT: u32 = 600;

/// The same if the URL or the title names a sign-in page; such pages may describe the service.
const BESIDE_WITH_NAME: u32 = 1500;

/// A longer article is the content of the page.
const ARTICLE: u32 = 80;

/// The maximum number of fields of a sign-in form: name, password, organization, code.
const FIELDS: u32 = 4;

/// Whether the page at `url` with this form and title is only a sign-in page; `requested` is the URL of the navigation.
pub(crate) fn looks_like_login(form: &SignIn, title: &str, requested: &Url, url: &Url) -> bool {
    let url_says_so = names_login(url);
    let says_so = url_says_so || is_login_title(title);
    // The first of two steps has no password field, so its URL, title or heading has to say that it is one.
    let is_named = says_so || is_login_title(&form.heading);
    // Two password fields, or one for a new password, belong to a registration.
    let asks = match form.passwords {
        0 => is_named && (form.fields == 1 || form.fields == 0 && form.providers > 0),
        1 => form.new_passwords == 0 && form.fields <= FIELDS,
        _ => false,
    };
    let beside = if form.providers > 0 {
        // Buttons are a weaker sign than a form.
        BESIDE
    } else if says_so {
        BESIDE_WITH_NAME
    } else if leads_elsewhere(requested, url) {
        BESIDE_AFTER_REDIRECT
    } else {
        BESIDE
    };
    asks && !form.aside && form.beside <= beside && (url_says_so || form.article <= ARTICLE)
}

/// Whether the host, the path or the route of a URL names a sign-in page.
fn names_login(url: &Url) -> bool {
    let route = url.fragment().filter(|fragment| fragment.starts_with(['/', '!'])).unwrap_or_default();
    let text = format!("{}/{}/{route}", url.host_str().unwrap_or_default(), url.path()).to_ascii_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let word = |word: &&str| {
        ["login", "signin", "logon"].iter().any(|end| word.ends_with(end))
            || matches!(*word, "sso" | "saml" | "saml2" | "oauth" | "oauth2" | "anmelden" | "anmeldung" | "einloggen")
    };
    words.iter().any(word) || words.windows(2).any(|pair| matches!(pair, ["sign" | "log", "in"] | ["log", "on"]))
}

fn leads_elsewhere(requested: &Url, url: &Url) -> bool {
    let place = |url: &Url| {
        let host = url.host_str().unwrap_or_default().trim_start_matches("www.").to_owned();
        (host, url.path().trim_end_matches('/').to_owned())
    };
    place(requested) != place(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: SignIn = SignIn {
        passwords: 1,
        new_passwords: 0,
        fields: 2,
        providers: 0,
        aside: false,
        beside: 80,
        article: 0,
        heading: String::new(),
    };

    fn is_login(form: &SignIn, requested: &str, url: &str) -> bool {
        looks_like_login(form, "Tides", &Url::parse(requested).unwrap(), &Url::parse(url).unwrap())
    }

    fn here(form: &SignIn, url: &str) -> bool {
        is_login(form, url, url)
    }

    #[test]
    fn a_form_with_little_other_text_is_a_sign_in_page() {
        assert!(here(&FORM, "https://x.example/members"));
        assert!(here(&SignIn { beside: 1200, article: 400, ..FORM }, "https://x.example/login"));
        assert!(is_login(&SignIn { beside: 500, ..FORM }, "https://x.example/report", "https://id.example/start"));
        // The first of two steps has no password field.
        let first = SignIn { passwords: 0, fields: 1, ..FORM };
        assert!(here(&first, "https://accounts.x.example/v3/signin/identifier"));
    }

    #[test]
    fn a_form_beside_content_is_not_a_sign_in_page() {
        let page = "https://x.example/wiki/Tides";
        assert!(!here(&SignIn { beside: 2000, ..FORM }, page));
        assert!(!here(&SignIn { article: 200, ..FORM }, page));
        assert!(!here(&SignIn { aside: true, ..FORM }, page));
        assert!(!is_login(
            &SignIn { beside: 500, ..FORM },
            "http://x.example/wiki/Tides/",
            "https://www.x.example/wiki/Tides"
        ));
        // A newsletter, a registration, a change of the password.
        assert!(!here(&SignIn { passwords: 0, fields: 1, ..FORM }, page));
        assert!(!here(&SignIn { passwords: 1, new_passwords: 1, fields: 3, ..FORM }, "https://x.example/join"));
        assert!(!here(&SignIn { passwords: 2, fields: 3, ..FORM }, "https://x.example/join"));
    }

    #[test]
    fn a_title_names_a_sign_in_page() {
        let page = Url::parse("https://x.example/members").unwrap();
        let is = |form: &SignIn, title: &str| looks_like_login(form, title, &page, &page);
        assert!(is(&SignIn { beside: 500, ..FORM }, "Sign in | Example"));
        assert!(!is(&SignIn { beside: 500, ..FORM }, "Signing in at the harbour"));
        // The first of two steps has no password field.
        assert!(is(&SignIn { passwords: 0, fields: 1, ..FORM }, "ログイン"));
        // An article about the form beside it.
        assert!(!is(&SignIn { article: 200, ..FORM }, "Log in"));
    }

    #[test]
    fn a_heading_names_the_first_of_two_steps() {
        let page = "https://x.example/members";
        for heading in ["Anmelden", "ログイン", "登录", "Sign in to Tidemark"] {
            let first = SignIn { passwords: 0, fields: 1, heading: heading.to_owned(), ..FORM };
            assert!(here(&first, page), "{heading}");
            // A field beside text about signing in.
            assert!(!here(&SignIn { beside: 400, ..first.clone() }, page), "{heading}");
            assert!(!here(&SignIn { fields: 3, ..first }, page), "{heading}");
        }
        let newsletter = SignIn { passwords: 0, fields: 1, heading: "The newsletter".to_owned(), ..FORM };
        assert!(!here(&newsletter, page));
    }

    #[test]
    fn buttons_of_other_services_are_a_sign_in_page_where_it_is_called_so() {
        let buttons = SignIn { passwords: 0, fields: 0, providers: 3, ..FORM };
        assert!(here(&buttons, "https://x.example/login"));
        assert!(!here(&buttons, "https://x.example/members"));
        assert!(!here(&SignIn { beside: 400, ..buttons.clone() }, "https://x.example/docs/login"));
        assert!(!here(&SignIn { providers: 0, ..buttons.clone() }, "https://x.example/login"));
        let page = Url::parse("https://x.example/start").unwrap();
        assert!(looks_like_login(&buttons, "Log in - Example", &page, &page));
    }

    #[test]
    fn urls_that_name_a_login() {
        for url in [
            "https://login.x.example/",
            "https://x.example/wp-login.php",
            "https://x.example/users/sign_in",
            "https://x.example/Special:UserLogin",
            "https://x.example/app#/login",
            "https://x.example/log-in?next=/",
            "https://x.example/anmelden",
            "https://x.example/oauth2/authorize",
        ] {
            assert!(names_login(&Url::parse(url).unwrap()), "{url}");
        }
        for url in [
            "https://x.example/",
            "https://x.example/blogs/in-depth",
            "https://x.example/design/inside",
            "https://x.example/docs?ref=login",
            "https://x.example/a#login",
            "https://x.example/catalog/in",
        ] {
            assert!(!names_login(&Url::parse(url).unwrap()), "{url}");
        }
    }
}
