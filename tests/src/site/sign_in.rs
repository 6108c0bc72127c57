//! Sign-in pages, and pages with a sign-in form beside their content.
//!
//! Their URLs do not reveal the kind: a page must be recognised by its structure.

use super::{http::Response, request::PageRequest, server::Reply};

/// The pages, as files in `tests/site/members/`.
macro_rules! file {
    ($name:literal) => {
        include_str!(concat!("../../site/members/", $name))
    };
}

pub(super) fn reply(ask: &PageRequest<'_>) -> Option<Reply> {
    let page = match ask.rest()[..] {
        ["en"] => file!("en.html"),
        ["ja"] => file!("ja.html"),
        ["de"] => file!("de.html"),
        ["zh"] => file!("zh.html"),
        ["wiki"] => file!("wiki.html"),
        ["reference"] => file!("reference.html"),
        ["note"] => file!("note.html"),
        ["article"] => file!("article.html"),
        ["join"] => file!("join.html"),
        ["newsletter"] => file!("newsletter.html"),
        ["buttons"] => file!("buttons.html"),
        ["link"] => file!("link.html"),
        ["providers"] => file!("providers.html"),
        ["loginfmt"] => file!("loginfmt.html"),
        ["described"] => file!("described.html"),
        ["username"] => file!("username.html"),
        ["services"] => file!("services.html"),
        ["first-step"] => file!("first-step.html"),
        ["console-manual"] => file!("console-manual.html"),
        ["connexion"] => file!("connexion.html"),
        ["forum"] => file!("forum.html"),
        ["sign-up"] => file!("sign-up.html"),
        ["wifi"] => file!("wifi.html"),
        ["blocked"] => file!("blocked.html"),
        ["refused"] => return Some(Response::html(file!("de.html")).status(401).into()),
        ["report"] => return Some(Response::redirect(302, "/members/en").into()),
        _ => return None,
    };
    Some(Response::html(page).into())
}
