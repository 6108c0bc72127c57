//! What in a page asks for a sign-in: fields, and buttons that lead to another service.
//!
//! The names are those of `js/sign-in.js` of the browser, which sees more: what is visible. A table of pages in the
//! tests goes through both.

use std::cell::{Cell, RefCell};

use lol_html::{element, text};
use url::Url;

use crate::links::{attribute, lower, read};

/// What in a page asks for a sign-in, without menus, headers and footers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignIn {
    /// The number of password fields.
    pub passwords: usize,
    /// The number of password fields for a new password.
    pub new_passwords: usize,
    /// The number of fields for an email address or a user name.
    pub identifiers: usize,
    /// The number of links, buttons and forms that lead to a sign-in by another service.
    pub providers: usize,
}

/// The menus, headers and footers of a page, whose links say nothing about its content: most of `BOILERPLATE` in
/// `js/sign-in.js` of the browser.
const BOILERPLATE: [&str; 9] = [
    "nav",
    "header",
    "footer",
    "aside",
    "dialog",
    "[role=navigation]",
    "[role=banner]",
    "[role=contentinfo]",
    "[role=complementary]",
];

/// The selector of `elements` in a menu, header or footer.
fn in_boilerplate(elements: &[&str]) -> String {
    let selectors = BOILERPLATE.iter().flat_map(|part| elements.iter().map(move |element| format!("{part} {element}")));
    selectors.collect::<Vec<_>>().join(", ")
}

/// What in the page at `address` asks for a sign-in. Reading it takes as long as [`links`](crate::links).
///
/// ```
/// let page = url::Url::parse("https://x.example/members").unwrap();
/// let found = ragmaker_markdown::sign_in("<input type=email><button>Continue with GitHub</button>", &page);
/// assert_eq!((found.identifiers, found.providers), (1, 1));
/// ```
pub fn sign_in(html: &str, address: &Url) -> SignIn {
    let found = RefCell::new(SignIn::default());
    // Whether this element, or this text, is in a menu, header or footer. Handlers are called in the order of this
    // list.
    let (is_boilerplate, is_boilerplate_text) = (Cell::new(false), Cell::new(false));
    let label = RefCell::new(String::new());
    let leads_to_provider = |value: Option<String>| {
        value.and_then(|value| address.join(value.trim()).ok()).is_some_and(|target| is_provider(&target))
    };
    let handlers = vec![
        element!(in_boilerplate(&["a[href]", "area[href]", "form[action]", "input"]), |_| {
            is_boilerplate.set(true);
            Ok(())
        }),
        text!(in_boilerplate(&["a[href]", "button", "[role=button]"]), |_| {
            is_boilerplate_text.set(true);
            Ok(())
        }),
        text!("a[href], button, [role=button]", |chunk| {
            let is_content = !is_boilerplate_text.take();
            let mut label = label.borrow_mut();
            label.push_str(chunk.as_str());
            if chunk.last_in_text_node() {
                found.borrow_mut().providers += usize::from(is_content && names_provider(&label));
                label.clear();
            }
            Ok(())
        }),
        element!("a[href], area[href]", |link| {
            let is_content = !is_boilerplate.take();
            found.borrow_mut().providers += usize::from(is_content && leads_to_provider(attribute(link, "href")));
            Ok(())
        }),
        element!("form[action]", |form| {
            let is_content = !is_boilerplate.take();
            found.borrow_mut().providers += usize::from(is_content && leads_to_provider(attribute(form, "action")));
            Ok(())
        }),
        element!("input", |input| {
            if is_boilerplate.take() {
                return Ok(());
            }
            let mut found = found.borrow_mut();
            if lower(input, "type").trim() == "password" {
                found.passwords += 1;
                found.new_passwords += usize::from(lower(input, "autocomplete").contains("new-password"));
            } else if is_identifier(["type", "autocomplete", "name", "id"].map(|name| lower(input, name))) {
                found.identifiers += 1;
            }
            Ok(())
        }),
    ];
    read(html, handlers);
    found.into_inner()
}

/// The names and ids of fields for an email address or a user name, in lower case and without `-` and `_`: those of
/// `USER_FIELD` in `js/sign-in.js` of the browser.
const USER_FIELDS: [&str; 14] = [
    "user",
    "username",
    "userid",
    "login",
    "loginid",
    "loginname",
    "loginfmt",
    "identifier",
    "email",
    "mail",
    "account",
    "jusername",
    "osusername",
    "uid",
];

/// Words on buttons that lead to a sign-in by another service: those of `PROVIDER` in `js/sign-in.js`.
const PROVIDERS: [&str; 14] = [
    "google",
    "microsoft",
    "github",
    "gitlab",
    "bitbucket",
    "apple",
    "facebook",
    "linkedin",
    "slack",
    "okta",
    "auth0",
    "azure",
    "saml",
    "sso",
];

/// The maximum number of characters on such a button.
const BUTTON: usize = 60;

/// Whether an input with this type, autocomplete, name and id takes an email address or a user name.
fn is_identifier([kind, autocomplete, name, id]: [String; 4]) -> bool {
    let takes_text = matches!(kind.trim(), "" | "text" | "email" | "tel");
    let is_user = |name: &str| USER_FIELDS.contains(&&*name.trim().replace(['-', '_'], ""));
    takes_text && (kind.trim() == "email" || autocomplete.contains("username") || is_user(&name) || is_user(&id))
}

/// Whether a button or link with this text leads to a sign-in by another service.
fn names_provider(text: &str) -> bool {
    let text = text.trim().to_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    text.chars().nth(BUTTON).is_none() && words.any(|word| PROVIDERS.contains(&word))
}

/// Whether `url` leads to a sign-in by another service, by a part of its path.
fn is_provider(url: &Url) -> bool {
    let mut parts = url.path().split('/').map(str::to_ascii_lowercase);
    parts.any(|part| matches!(&*part, "oauth" | "oauth2" | "omniauth" | "openid" | "saml" | "saml2" | "sso"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_a_sign_in_are_counted() {
        let page = Url::parse("https://x.example/members").unwrap();
        let html = "<a href=/auth/saml/start>A</a><a href=/oauthor>no</a><form action=/users/omniauth/github></form>
            <nav><ul><a href=/sso>menu</a></ul></nav><div role=banner><form action=/oauth2/x></form></div>
            <input type=email><input name=login><input autocomplete='username webauthn'><input type=search name=user><input name=q>";
        let found = sign_in(html, &page);
        assert_eq!((found.identifiers, found.providers), (3, 2));
        let html = "<input name=loginfmt><input id=os_username><input name=j-username><input name=log_in_hours>
            <button>Continue with <b>Google</b></button><header><button>GitHub</button></header><p>Google</p>
            <a href=/x>Weiter mit GitHub</a><button>Googlers</button>";
        let found = sign_in(html, &page);
        assert_eq!((found.identifiers, found.providers), (3, 2));
        let html = "<input type=Password autocomplete=new-password><header><input type=password></header>";
        let found = sign_in(html, &page);
        assert_eq!((found.passwords, found.new_passwords), (1, 1));
    }
}
