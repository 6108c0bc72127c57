//! Recognising a sign-in page by its form, its URL and its title ([`SignInForm`]), and by the text beside the form.
//!
//! A page is a sign-in page only if the form is its main content. A wiki with a login box in its sidebar, or an article
//! above a form for members, is not a sign-in page.

use ragmaker_document::SignInForm;
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

/// Whether the page at `url` with this form and title is only a sign-in page; `requested` is the URL of the navigation.
pub(crate) fn looks_like_login(form: &SignIn, title: &str, requested: &Url, url: &Url) -> bool {
    let links: Vec<Url> = form.links.iter().filter_map(|link| Url::parse(link).ok()).collect();
    let asked = SignInForm { url, title, heading: &form.heading, fields: form.fields, links: &links };
    let beside = if form.fields.providers > 0 {
        // Buttons are a weaker sign than a form.
        BESIDE
    } else if asked.is_titled() {
        BESIDE_WITH_NAME
    } else if leads_elsewhere(requested, url) {
        BESIDE_AFTER_REDIRECT
    } else {
        BESIDE
    };
    let is_main = !form.aside && form.beside <= beside && (asked.url_names_login() || form.article <= ARTICLE);
    is_main && asked.asks()
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
    use ragmaker_document::FormFields;

    use super::*;

    const FIELDS: FormFields = FormFields {
        passwords: 1,
        new_passwords: 0,
        current_passwords: 0,
        fields: 2,
        identifiers: 1,
        posts: false,
        providers: 0,
    };

    const FORM: SignIn =
        SignIn { fields: FIELDS, aside: false, beside: 80, article: 0, heading: String::new(), links: vec![] };

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
        let first = SignIn { fields: FormFields { passwords: 0, fields: 1, ..FIELDS }, ..FORM };
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
        assert!(!here(&SignIn { fields: FormFields { passwords: 0, fields: 1, ..FIELDS }, ..FORM }, page));
        assert!(!here(
            &SignIn { fields: FormFields { passwords: 1, new_passwords: 1, fields: 3, ..FIELDS }, ..FORM },
            "https://x.example/join"
        ));
        assert!(!here(
            &SignIn { fields: FormFields { passwords: 2, fields: 3, ..FIELDS }, ..FORM },
            "https://x.example/join"
        ));
    }

    #[test]
    fn a_title_names_a_sign_in_page() {
        let page = Url::parse("https://x.example/members").unwrap();
        let is = |form: &SignIn, title: &str| looks_like_login(form, title, &page, &page);
        assert!(is(&SignIn { beside: 500, ..FORM }, "Sign in | Example"));
        assert!(!is(&SignIn { beside: 500, ..FORM }, "Signing in at the harbour"));
        // The first of two steps has no password field.
        assert!(is(&SignIn { fields: FormFields { passwords: 0, fields: 1, ..FIELDS }, ..FORM }, "ログイン"));
        // An article about the form beside it.
        assert!(!is(&SignIn { article: 200, ..FORM }, "Log in"));
    }

    #[test]
    fn a_heading_names_the_first_of_two_steps() {
        let page = "https://x.example/members";
        for heading in ["Anmelden", "ログイン", "登录", "Sign in to Tidemark"] {
            let first = SignIn {
                fields: FormFields { passwords: 0, fields: 1, ..FIELDS },
                heading: heading.to_owned(),
                ..FORM
            };
            assert!(here(&first, page), "{heading}");
            // A field beside text about signing in.
            assert!(!here(&SignIn { beside: 400, ..first.clone() }, page), "{heading}");
            assert!(!here(&SignIn { fields: FormFields { fields: 3, ..first.fields }, ..first }, page), "{heading}");
        }
        let newsletter = SignIn {
            fields: FormFields { passwords: 0, fields: 1, ..FIELDS },
            heading: "The newsletter".to_owned(),
            ..FORM
        };
        assert!(!here(&newsletter, page));
    }

    #[test]
    fn buttons_of_other_services_are_a_sign_in_page_where_it_is_called_so() {
        let buttons = SignIn { fields: FormFields { passwords: 0, fields: 0, providers: 3, ..FIELDS }, ..FORM };
        assert!(here(&buttons, "https://x.example/login"));
        assert!(!here(&buttons, "https://x.example/members"));
        assert!(!here(&SignIn { beside: 400, ..buttons.clone() }, "https://x.example/docs/login"));
        assert!(!here(
            &SignIn { fields: FormFields { providers: 0, ..buttons.fields }, ..buttons.clone() },
            "https://x.example/login"
        ));
        let page = Url::parse("https://x.example/start").unwrap();
        assert!(looks_like_login(&buttons, "Log in - Example", &page, &page));
    }
}
