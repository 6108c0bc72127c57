//! Pages that open dialogs: alert, confirm, prompt, beforeunload.

use super::{html, request::PageRequest, server::Reply};

pub(super) fn reply(ask: &PageRequest<'_>) -> Option<Reply> {
    let script = match ask.rest()[..] {
        ["alert"] => "alert('An alert');",
        ["confirm"] => "show(confirm('A question?'));",
        ["prompt"] => "show(prompt('A question?', 'an answer'));",
        ["chain"] => "alert('First'); show(confirm('Second?')); show(prompt('Third?', 'third'));",
        ["unload"] => UNLOAD,
        ["frame"] => return Some(around(&format!("src=\"http://localhost:{}/dialog/framed\"", ask.port))),
        ["sandbox"] => {
            return Some(around("sandbox=\"allow-scripts allow-modals\" srcdoc=\"<script>alert('Boxed')</script>\""));
        }
        ["framed"] => "alert('Framed'); show(confirm('Second?')); show(prompt('Third?'));",
        _ => return None,
    };
    let body = format!(
        "<p id=\"shown\"></p>\n<a href=\"/page/after\">A link after the dialogs</a>\n<script>\n\
         const show = answer => document.getElementById('shown').append(` Answer: ${{answer}}.`);\n{script}\n</script>"
    );
    Some(html::text_page("Dialogs", &body).into())
}

/// A page around a frame that has a process of its own.
fn around(frame: &str) -> Reply {
    let body = format!("<a href=\"/page/after\">A link after the dialogs</a>\n<iframe {frame}></iframe>");
    html::text_page("Dialogs", &body).into()
}

/// Browsers ask only where the person has touched the page.
const UNLOAD: &str =
    "addEventListener('beforeunload', event => { event.preventDefault(); event.returnValue = 'Stay?'; });";
