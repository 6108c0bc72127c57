//! The links and link relations of a page, and the URLs of its scripts.

use std::cell::{Cell, RefCell};

use lol_html::{HtmlRewriter, MemorySettings, Settings, element, html_content::Element, text};
use url::Url;

use crate::entities;

/// The maximum memory of the parser beyond the page, in bytes.
const MEMORY: usize = 4 << 20;

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

/// The links of a page. URLs are absolute, in the order of the page, with their fragments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// The targets of its links.
    pub anchors: Vec<Url>,
    /// Its relations to other resources: `<link>` elements.
    pub relations: Vec<Relation>,
    /// The target of a `<meta>` refresh.
    pub refresh: Option<Url>,
    /// The URLs of its external scripts.
    pub scripts: Vec<Url>,
    /// The number of inline scripts.
    pub inline_scripts: usize,
    /// The number of password fields, without those of menus, headers and footers, as the two below.
    pub passwords: usize,
    /// The number of password fields for a new password.
    pub new_passwords: usize,
    /// The number of fields for an email address or a user name.
    pub identifiers: usize,
    /// The number of links and forms that lead to a sign-in by another service, without those of menus, headers and
    /// footers.
    pub providers: usize,
    /// Whether it is a page of Cloudflare that refuses the visitor: it has an element `cf-error-details`.
    pub blocks: bool,
}

/// A relation to another resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// The types of the relation, in lower case, separated by white space.
    pub rel: String,
    /// The media type, in lower case and without parameters; empty if it is not given.
    pub media_type: String,
    /// The URL.
    pub href: Url,
}

/// The links of the page at `address`. If the page cannot be read completely, the links before that point are
/// returned.
///
/// ```
/// let page = url::Url::parse("https://x.example/docs/").unwrap();
/// let links = ragmaker_markdown::links("<a href='a?b&amp;c'>A</a><link rel=alternate href=a.md>", &page);
/// assert_eq!(links.anchors[0].as_str(), "https://x.example/docs/a?b&c");
/// assert_eq!(links.relations[0].rel, "alternate");
/// ```
#[expect(clippy::too_many_lines, reason = "one handler for each kind of element")]
pub fn links(html: &str, address: &Url) -> Links {
    let found = RefCell::new((Links::default(), address.clone(), false));
    let attribute = |element: &Element<'_, '_>, name: &str| {
        let raw = element.get_attribute(name)?;
        let mut text = String::with_capacity(raw.len());
        entities::decode(&raw, true, &mut text);
        Some(text)
    };
    let target = |element: &Element<'_, '_>, name: &str, base: &Url| base.join(attribute(element, name)?.trim()).ok();
    let lower =
        |element: &Element<'_, '_>, name: &str| attribute(element, name).unwrap_or_default().to_ascii_lowercase();
    // Whether this element, or this text, is in a menu, header or footer. Handlers are called in the order of this list.
    let (is_boilerplate, is_boilerplate_text) = (Cell::new(false), Cell::new(false));
    let label = RefCell::new(String::new());
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
                found.borrow_mut().0.providers += usize::from(is_content && names_provider(&label));
                label.clear();
            }
            Ok(())
        }),
        element!("base[href]", |base| {
            let mut found = found.borrow_mut();
            // Only the first refresh counts.
            if let (false, Some(to)) = (found.2, target(base, "href", address)) {
                (found.1, found.2) = (to, true);
            }
            Ok(())
        }),
        element!("a[href], area[href]", |link| {
            let mut found = found.borrow_mut();
            let to = target(link, "href", &found.1);
            let is_content = !is_boilerplate.take();
            found.0.providers += usize::from(is_content && to.as_ref().is_some_and(is_provider));
            found.0.anchors.extend(to);
            Ok(())
        }),
        element!("#cf-error-details, .cf-error-details", |_| {
            found.borrow_mut().0.blocks = true;
            Ok(())
        }),
        element!("link[href]", |link| {
            let mut found = found.borrow_mut();
            if let Some(href) = target(link, "href", &found.1) {
                let media_type = lower(link, "type");
                let media_type = media_type.split(';').next().unwrap_or_default().trim().to_owned();
                found.0.relations.push(Relation { rel: lower(link, "rel"), media_type, href });
            }
            Ok(())
        }),
        element!("meta[http-equiv]", |meta| {
            let mut found = found.borrow_mut();
            if lower(meta, "http-equiv").trim() == "refresh" {
                let content = attribute(meta, "content").unwrap_or_default();
                let to = content.split_once(['=']).map(|(_, to)| to.trim().trim_matches(['\'', '"']));
                let to = to.and_then(|to| found.1.join(to).ok());
                found.0.refresh = found.0.refresh.take().or(to);
            }
            Ok(())
        }),
        element!("script", |script| {
            let mut found = found.borrow_mut();
            match target(script, "src", &found.1) {
                Some(from) => found.0.scripts.push(from),
                None => found.0.inline_scripts += 1,
            }
            Ok(())
        }),
        element!("input", |input| {
            let mut found = found.borrow_mut();
            if is_boilerplate.take() {
                return Ok(());
            }
            if lower(input, "type").trim() == "password" {
                found.0.passwords += 1;
                found.0.new_passwords += usize::from(lower(input, "autocomplete").contains("new-password"));
            } else if is_identifier(["type", "autocomplete", "name", "id"].map(|name| lower(input, name))) {
                found.0.identifiers += 1;
            }
            Ok(())
        }),
        element!("form[action]", |form| {
            let mut found = found.borrow_mut();
            let is_content = !is_boilerplate.take();
            let to = target(form, "action", &found.1);
            found.0.providers += usize::from(is_content && to.as_ref().is_some_and(is_provider));
            Ok(())
        }),
    ];
    let memory = MemorySettings::new().with_max_allowed_memory_usage(html.len() + MEMORY);
    let settings = handlers.into_iter().fold(
        Settings::new().with_strict(false).with_memory_settings(memory),
        Settings::append_element_content_handler,
    );
    let mut reader = HtmlRewriter::new(settings, |_: &[u8]| ());
    // If the memory limit is exceeded, the links found before are returned.
    if reader.write(html.as_bytes()).is_ok() {
        let _ = reader.end();
    }
    std::mem::take(&mut found.borrow_mut().0)
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
    fn links_start_from_the_base() {
        let page = Url::parse("https://x.example/docs/a").unwrap();
        let html = "<base href=/b/><base href=/no/><a href=' c '>c</a><A HREF='#d'>d</A><a>no</a><a href='http://['>bad</a>
            <map><area href=e></map><link REL='Alternate nofollow' type='text/Markdown; charset=utf-8' href=f.md>
            <meta http-equiv=Refresh content=\"0; url='g'\"><script src=h.js></script><script>1</script><input type=Password autocomplete=new-password>";
        let links = links(html, &page);
        let anchors: Vec<_> = links.anchors.iter().map(Url::as_str).collect();
        assert_eq!(anchors, ["https://x.example/b/c", "https://x.example/b/#d", "https://x.example/b/e"]);
        let Relation { rel, media_type, href } = &links.relations[0];
        assert_eq!((rel.as_str(), media_type.as_str()), ("alternate nofollow", "text/markdown"));
        assert_eq!((href.path(), links.refresh.unwrap().path()), ("/b/f.md", "/b/g"));
        assert_eq!((links.scripts.len(), links.inline_scripts), (1, 1));
        assert_eq!((links.passwords, links.new_passwords), (1, 1));
        assert_eq!((links.identifiers, links.providers), (0, 0));
    }

    #[test]
    fn what_leads_to_a_sign_in_is_counted() {
        let page = Url::parse("https://x.example/members").unwrap();
        let html = "<a href=/auth/saml/start>A</a><a href=/oauthor>no</a><form action=/users/omniauth/github></form>
            <nav><ul><a href=/sso>menu</a></ul></nav><div role=banner><form action=/oauth2/x></form></div>
            <input type=email><input name=login><input autocomplete='username webauthn'><input type=search name=user><input name=q>";
        let links = links(html, &page);
        assert_eq!((links.identifiers, links.providers), (3, 2));
        let html = "<input name=loginfmt><input id=os_username><input name=j-username><input name=log_in_hours>
            <button>Continue with <b>Google</b></button><header><button>GitHub</button></header><p>Google</p>
            <a href=/x>Weiter mit GitHub</a><button>Googlers</button>";
        let links = super::links(html, &page);
        assert_eq!((links.identifiers, links.providers), (3, 2));
    }
}
