//! Whether a page asks for a sign-in, by its form, its title and its URL.
//!
//! The browser measures a page, and the fetcher reads its HTML. Both decide by this rule, so they refuse the same pages
//! as far as they know the same facts. How much text may be beside the form is for them to decide: only the browser
//! knows where the form is.

use std::collections::HashSet;

use serde::Deserialize;
use url::Url;

use crate::login::{is_login_title, is_registration_title};

/// The maximum number of fields of a sign-in form: name, password, organization, code.
const FIELDS: usize = 4;

/// With as many links to content, a page is an index with a box for members.
const CONTENT_LINKS: usize = 3;

/// What a form asks for.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct FormFields {
    /// The number of password fields on the page.
    pub passwords: usize,
    /// The number of fields for a new password.
    pub new_passwords: usize,
    /// The number of fields for the present password.
    pub current_passwords: usize,
    /// The number of fields of the form, whatever they are for.
    pub fields: usize,
    /// The number of its fields for an email address or a user name.
    pub identifiers: usize,
    /// Whether the form sends what is typed by POST.
    pub posts: bool,
    /// The number of buttons and links that lead to a sign-in by another service.
    pub providers: usize,
}

/// The form of a page, and what names the page.
#[derive(Clone, Debug)]
pub struct SignInForm<'a> {
    /// The URL of the page.
    pub url: &'a Url,
    /// The title of the page.
    pub title: &'a str,
    /// The first heading of its content.
    pub heading: &'a str,
    /// What the form asks for.
    pub fields: FormFields,
    /// The targets of the links outside of the form, menus, headers and footers.
    pub links: &'a [Url],
}

impl SignInForm<'_> {
    /// Whether the page asks for a sign-in.
    pub fn asks(&self) -> bool {
        // The first of two steps has no password field, so the URL, title or heading has to say that it is one.
        let is_named = self.is_titled() || is_login_title(self.heading);
        let form = &self.fields;
        let asks = match form.passwords {
            0 => is_named && (form.fields == 1 && form.identifiers > 0 || form.fields == 0 && form.providers > 0),
            // A page that only has a use for passwords, such as a test of their strength, asks for no user.
            1 => {
                form.new_passwords == 0
                    && form.fields <= FIELDS
                    && (is_named || form.identifiers > 0 || form.current_passwords > 0 || form.posts)
            }
            // Two password fields belong to a registration.
            _ => false,
        };
        asks && !self.is_registration() && (self.is_titled() || !self.has_content_links())
    }

    /// Whether the URL or the title says that the page is for signing in.
    pub fn is_titled(&self) -> bool {
        self.url_names_login() || is_login_title(self.title)
    }

    /// Whether the URL says that the page is for signing in.
    pub fn url_names_login(&self) -> bool {
        names_login(self.url)
    }

    /// A page for both is for signing in.
    fn is_registration(&self) -> bool {
        let names = [self.title, self.heading];
        names.iter().any(|name| is_registration_title(name)) && !names.iter().any(|name| is_login_title(name))
    }

    fn has_content_links(&self) -> bool {
        let content = self.links.iter().filter(|link| is_content(link, self.url));
        content.map(|link| (link.path(), link.query())).collect::<HashSet<_>>().len() >= CONTENT_LINKS
    }
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

/// Parts of words in the URLs that sign-in pages link to: for the account, the terms, the language. They are mostly
/// English in every language.
#[rustfmt::skip]
const ACCOUNT: &[&str] = &[
    "passw", "forgot", "reset", "recover", "recuper", "regist", "signup", "signin", "login", "logon", "account",
    "konto", "compte", "cuenta", "oubli", "inscri", "contrasena", "olvid", "senha", "esquec", "cadastr", "help",
    "hilfe", "support", "faq", "contact", "kontakt", "privacy", "terms", "legal", "imprint", "impressum",
    "datenschutz", "agb", "cookie", "polic", "about", "condition", "confirm", "unlock", "auth", "sso", "saml",
    "lang", "locale", "users", "join",
];

/// Whether a link of the page at `page` leads to content of the site.
fn is_content(link: &Url, page: &Url) -> bool {
    let is_page = matches!(link.scheme(), "http" | "https") && link.host_str() == page.host_str();
    let is_own = link.path() == page.path() && link.query().is_none_or(|query| Some(query) == page.query());
    let text = format!("{} {}", link.path(), link.query().unwrap_or_default()).to_ascii_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '%').filter(|word| !word.is_empty());
    // The home page has none, and a page in another language only the language.
    let is_language = |word: &str| word.len() == 2 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_page
        && !is_own
        && !words.clone().all(is_language)
        && !words.any(|word| word == "hl" || ACCOUNT.iter().any(|part| word.contains(part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a page with this title, heading and links asks for a sign-in, after `change` of its form, which has a
    /// name and a password.
    fn asks_with(title: &str, heading: &str, links: &[Url], change: impl FnOnce(&mut FormFields)) -> bool {
        let url = Url::parse(PAGE).unwrap();
        let mut fields = FormFields { passwords: 1, fields: 2, identifiers: 1, ..FormFields::default() };
        change(&mut fields);
        SignInForm { url: &url, title, heading, fields, links }.asks()
    }

    fn asks(title: &str, heading: &str, change: impl FnOnce(&mut FormFields)) -> bool {
        asks_with(title, heading, &[], change)
    }

    const PAGE: &str = "https://x.example/members";

    #[test]
    fn the_first_step_is_known_by_its_name() {
        let first = |form: &mut FormFields| (form.passwords, form.fields) = (0, 1);
        let buttons = |form: &mut FormFields| {
            (form.passwords, form.fields, form.identifiers, form.providers) = (0, 0, 0, 2);
        };
        for (title, heading) in [
            ("Connexion", "Connectez-vous"),
            ("Iniciar sesión | Mareas", ""),
            ("Mareas", "Acceder"),
            ("Entrar", ""),
            ("Вход — Приливы", "Приливы"),
            ("로그인", ""),
            ("Tidemark", "Melde dich an"),
        ] {
            assert!(asks(title, heading, first) && asks(title, heading, buttons), "{title}");
        }
        assert!(!asks("La lettre", "La lettre", first) && !asks("Tides", "Tides", buttons));
        // A dictionary with a search field.
        assert!(!asks("Вход", "Вход", |form| {
            (form.passwords, form.fields, form.identifiers) = (0, 1, 0);
        }));
    }

    #[test]
    fn a_registration_asks_for_no_sign_in() {
        for (title, heading) in [
            ("Sign up", "Create your account"),
            ("Tidemark", "Create your account"),
            ("Inscription - Marées", "Créez votre compte"),
            ("新規会員登録", "アカウントを作成"),
            ("Registrieren", ""),
        ] {
            assert!(!asks(title, heading, |form| form.fields = 3), "{title}");
        }
        // A page for both.
        assert!(asks("Log in or sign up", "Create an account", |_| {}));
        assert!(asks("登录/注册", "", |_| {}));
    }

    #[test]
    fn a_page_that_has_a_use_for_a_password_asks_for_no_sign_in() {
        let name = "Wi-Fi QR code generator";
        assert!(!asks(name, name, |form| form.identifiers = 0));
        assert!(!asks("How strong is your password?", "", |form| (form.identifiers, form.fields) = (0, 1)));
        // The second of two steps, and a form in a language that is not known.
        assert!(asks("Hi", "", |form| (form.identifiers, form.fields, form.current_passwords) = (0, 1, 1)));
        assert!(asks("ระบบสมาชิก", "", |form| (form.identifiers, form.posts) = (0, true)));
        assert!(asks("Sign in", "", |form| form.identifiers = 0));
    }

    #[test]
    fn an_index_with_a_box_for_members_is_a_page() {
        let links = |targets: &[&str]| -> Vec<Url> {
            targets.iter().map(|target| Url::parse(PAGE).unwrap().join(target).unwrap()).collect()
        };
        for threads in [
            ["/t/1", "/t/2", "/t/3"],
            ["/viewtopic.php?t=1", "/viewtopic.php?t=2", "/viewtopic.php?t=3"],
            ["?topic=1", "?topic=2", "?topic=3"],
        ] {
            let links = links(&threads);
            let page = |title, heading| asks_with(title, heading, &links, |form| form.posts = true);
            // The heading may be that of the box.
            assert!(!page("Harbour forum", "Harbour forum") && !page("Harbour forum", "Login"), "{threads:?}");
            assert!(page("Login – Harbour forum", ""), "{threads:?}");
        }
        let own =
            ["/", "/password/reset", "/register", "/terms", "/privacy", "/de/", "/pt-br", "?lang=fr", "/a", "/a#b"];
        let other = ["https://y.example/a", "https://y.example/b", "mailto:a@x.example", "#top", "/b"];
        let page = Url::parse(PAGE).unwrap();
        let content: Vec<_> = links(&[own.as_slice(), &other].concat());
        let content: Vec<_> = content.iter().filter(|link| is_content(link, &page)).map(Url::path).collect();
        assert_eq!(content, ["/a", "/a", "/b"]);
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
