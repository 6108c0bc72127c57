//! What in a page asks for a sign-in: fields, and buttons that lead to another service.
//!
//! The names are those of `js/sign-in.js` of the browser, which sees more: what is visible. A table of pages in the
//! tests goes through both.

use std::cell::{Cell, RefCell};

use lol_html::{element, html_content::Element, text};
use url::Url;

use crate::{
    entities,
    links::{attribute, lower, read},
};

/// What in a page asks for a sign-in, without menus, headers and footers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignIn {
    /// The number of password fields.
    pub passwords: usize,
    /// The number of password fields for a new password.
    pub new_passwords: usize,
    /// The number of password fields for the present password.
    pub current_passwords: usize,
    /// The number of fields of the form with the first password, else with the first identifier, else of the page.
    pub fields: usize,
    /// The number of fields of that form for an email address or a user name.
    pub identifiers: usize,
    /// Whether that form sends what is typed by POST.
    pub posts: bool,
    /// The number of links, buttons and forms that lead to a sign-in by another service.
    pub providers: usize,
    /// The first heading, empty if there is none.
    pub heading: String,
    /// The targets of the links outside of forms.
    pub links: Vec<Url>,
}

/// The fields of a form, or those outside of all forms.
#[derive(Clone, Copy, Default)]
struct Form {
    passwords: usize,
    new_passwords: usize,
    current_passwords: usize,
    fields: usize,
    identifiers: usize,
    posts: bool,
}

impl Form {
    /// Counts an `input`, `textarea` or `select`.
    fn add(&mut self, field: &Element<'_, '_>) {
        let kind = lower(field, "type");
        if NO_FIELDS.contains(&kind.trim()) {
            return;
        }
        self.fields += 1;
        if field.tag_name() != "input" {
            return;
        }
        if kind.trim() == "password" {
            let autocomplete = lower(field, "autocomplete");
            self.passwords += 1;
            self.new_passwords += usize::from(autocomplete.contains("new-password"));
            self.current_passwords += usize::from(autocomplete.contains("current-password"));
        } else if is_identifier(["type", "autocomplete", "name", "id"].map(|name| lower(field, name))) {
            self.identifiers += 1;
        }
    }
}

impl SignIn {
    /// Takes over what is known of the fields.
    fn describe(&mut self, forms: &[Form]) {
        let sum = |count: fn(&Form) -> usize| forms.iter().map(count).sum();
        self.passwords = sum(|form| form.passwords);
        self.new_passwords = sum(|form| form.new_passwords);
        self.current_passwords = sum(|form| form.current_passwords);
        let key = forms.iter().find(|form| form.passwords > 0).or(forms.iter().find(|form| form.identifiers > 0));
        match key {
            Some(form) => (self.fields, self.identifiers, self.posts) = (form.fields, form.identifiers, form.posts),
            None => self.fields = sum(|form| form.fields),
        }
    }
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
    // The first one has the fields outside of all forms.
    let forms = RefCell::new(vec![Form::default()]);
    // Whether this element, or this text, is in a menu, header or footer, and whether it is in a form. Handlers are
    // called in the order of this list.
    let (is_boilerplate, is_boilerplate_text, is_in_form) = (Cell::new(false), Cell::new(false), Cell::new(false));
    let is_boilerplate_heading = Cell::new(false);
    let (label, headings) = (RefCell::new(String::new()), Cell::new(0));
    let target = |value: Option<String>| value.and_then(|value| address.join(value.trim()).ok());
    let handlers = vec![
        element!(
            in_boilerplate(&[
                "a[href]",
                "area[href]",
                "form",
                "input",
                "textarea",
                "select",
                "h1",
                "h2",
                "h3",
                "legend"
            ]),
            |_| {
                is_boilerplate.set(true);
                Ok(())
            }
        ),
        text!(in_boilerplate(&["a[href]", "button", "[role=button]"]), |_| {
            is_boilerplate_text.set(true);
            Ok(())
        }),
        text!(in_boilerplate(&["h1", "h2", "h3", "legend"]), |_| {
            is_boilerplate_heading.set(true);
            Ok(())
        }),
        element!("h1, h2, h3, legend", |_| {
            headings.set(headings.get() + usize::from(!is_boilerplate.take()));
            Ok(())
        }),
        element!("form a[href], form input, form textarea, form select", |_| {
            is_in_form.set(true);
            Ok(())
        }),
        text!("h1, h2, h3, legend", |chunk| {
            // Only the text of the first heading in the content.
            if !is_boilerplate_heading.take() && headings.get() == 1 {
                found.borrow_mut().heading.push_str(chunk.as_str());
            }
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
            let (is_content, is_in_form) = (!is_boilerplate.take(), is_in_form.take());
            let Some(target) = target(attribute(link, "href")) else { return Ok(()) };
            let mut found = found.borrow_mut();
            found.providers += usize::from(is_content && is_provider(&target));
            if is_content && !is_in_form {
                found.links.push(target);
            }
            Ok(())
        }),
        element!("form", |form| {
            let is_content = !is_boilerplate.take();
            let leads_to_provider = target(attribute(form, "action")).is_some_and(|target| is_provider(&target));
            found.borrow_mut().providers += usize::from(is_content && leads_to_provider);
            let posts = lower(form, "method").trim() == "post";
            forms.borrow_mut().push(Form { posts, ..Form::default() });
            Ok(())
        }),
        element!("input, textarea, select", |field| {
            let (is_content, is_in_form) = (!is_boilerplate.take(), is_in_form.take());
            let mut forms = forms.borrow_mut();
            let own = if is_in_form { forms.len() - 1 } else { 0 };
            if is_content {
                forms[own].add(field);
            }
            Ok(())
        }),
    ];
    read(html, handlers);
    let mut found = found.into_inner();
    found.describe(&forms.into_inner());
    let heading = std::mem::take(&mut found.heading);
    entities::decode(&heading, false, &mut found.heading);
    found
}

/// The types of inputs that are no fields to write in.
const NO_FIELDS: [&str; 7] = ["hidden", "submit", "button", "image", "reset", "checkbox", "radio"];

/// The names and ids of fields for an email address or a user name, in lower case and without `-` and `_`: those of
/// `USER_FIELD` in `js/sign-in.js` of the browser.
const USER_FIELDS: [&str; 15] = [
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
    "log",
    "uid",
];

/// Words on buttons that lead to a sign-in by another service: those of `PROVIDER` in `js/sign-in.js`.
const PROVIDERS: [&str; 16] = [
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
    "openid",
    "passkey",
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

    #[test]
    fn the_form_with_the_password_is_described() {
        let page = Url::parse("https://x.example/members").unwrap();
        let html = "<header><h1>Tides</h1><a href=/menu>menu</a></header><h2>S&#39;identifier <b>ici</b></h2><h2>Fin</h2>
            <form><input name=q><input type=email></form>
            <form method=POST><input type=hidden name=t><input name=user><input type=password autocomplete='section-a current-password'>
            <select></select><input type=checkbox><a href=/lost>Lost?</a></form><a href=t/1>Gulls</a>";
        let found = sign_in(html, &page);
        assert_eq!((found.fields, found.identifiers, found.posts, found.current_passwords), (3, 1, true, 1));
        assert_eq!(found.heading, "S'identifier ici");
        assert_eq!(found.links, [page.join("/t/1").unwrap()]);
        // Without a password, the form with an identifier; fields may be in no form.
        let found = sign_in("<form><input name=q></form><input name=email><textarea></textarea>", &page);
        assert_eq!((found.fields, found.identifiers, found.posts), (2, 1, false));
    }
}
