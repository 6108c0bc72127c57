//! Pages that ask another site: this server by other names of this machine, `NAME.localhost`. Each page asks a
//! host of its own: a tab remembers the ones that did not answer.

use std::time::Duration;

use super::{
    html,
    http::Response,
    request::PageRequest,
    server::{Peer, Reply},
};

/// The answer of the other site's API.
const LATE: &str = "Words that another site brings";

/// Whether another site is asked that answers nothing: any `NAME.localhost` but `api-NAME.localhost`.
pub(super) fn is_dead(ask: &PageRequest<'_>) -> bool {
    let host = ask.request.header("host").unwrap_or_default();
    host.contains(".localhost") && !host.starts_with("api-")
}

/// No answer, for as long as somebody waits for one.
pub(super) fn hold() -> Reply {
    Reply::bytes(|peer: &mut Peer<'_>| peer.hold())
}

pub(super) fn reply(ask: &PageRequest<'_>) -> Option<Reply> {
    let name = ask.rest.first().map_or("", String::as_str);
    let other = format!("http://{name}.localhost:{}/other-site", ask.port);
    let api = format!("http://api-{name}.localhost:{}/other-site/api", ask.port);
    let silent = format!("{other}/silent");
    let (head, body) = match ask.rest()[..] {
        ["silent"] => return Some(hold()),
        ["api"] => {
            let answer = Response::new("application/json", format!("\"{LATE}\""));
            return Some(Reply::after(Duration::from_millis(500), answer.header("Access-Control-Allow-Origin", "*")));
        }
        ["framed"] => (
            String::new(),
            format!("<iframe src=\"http://api-{name}.localhost:{}/other-site/inner\"></iframe>", ask.port),
        ),
        ["inner"] => {
            let parts =
                "<img src=\"/other-site/inner/picture\" alt=\"\"><script src=\"/other-site/inner/script\"></script>";
            return Some(html::page("Inner", parts).into());
        }
        ["inner", "picture"] => return Some(super::wiki::drawing().into()),
        ["inner", "script"] => return Some(Response::new("text/javascript", "1;").into()),
        ["worker", kind @ ("dedicated" | "shared" | "service")] => (String::new(), worker(kind)),
        ["worker", kind, "script"] => return Some(Response::new("text/javascript", worker_script(kind)).into()),
        ["worker", _, part @ ("text" | "tracker")] => return Some(Response::new("text/plain", part).into()),
        ["fetch"] => (String::new(), format!("<script>fetch('{silent}').catch(() => {{}});</script>")),
        ["script"] => (String::new(), format!("<script async src=\"{silent}\"></script>")),
        ["frame"] => (String::new(), format!("<iframe src=\"{silent}\"></iframe><script>1</script>")),
        ["image"] => (String::new(), format!("<img src=\"{silent}\" alt=\"\"><script>1</script>")),
        ["thin"] => {
            let thin =
                format!("<h1>Thin</h1>\n<p>A few words.</p>\n<script>fetch('{silent}').catch(() => {{}});</script>");
            return Some(html::page("Thin", &thin).into());
        }
        ["blocking"] => (format!("<script src=\"{silent}\"></script>\n"), String::new()),
        ["style"] => (format!("<link rel=\"stylesheet\" href=\"{silent}\">\n"), "<script>1</script>".to_owned()),
        ["late"] => (
            String::new(),
            format!(
                "<p id=\"late\"></p><script>fetch('{api}').then(answer => answer.json())\
                 .then(text => {{ document.getElementById('late').textContent = text; }});</script>"
            ),
        ),
        _ => return None,
    };
    let text = html::prose("other site", 20);
    let body = format!("<main>\n<h1>Other site</h1>\n{text}<p>The end of the page.</p>\n{body}\n</main>");
    Some(Response::html(html::document("Other site", &head, &body)).into())
}

/// The content of a page that starts a worker of this `kind` and shows its messages.
fn worker(kind: &str) -> String {
    let start = match kind {
        "dedicated" => "new Worker(script).onmessage = show;",
        "shared" => {
            "if (globalThis.SharedWorker) new SharedWorker(script).port.onmessage = show;\n\
             else show({data: 'no shared workers'});"
        }
        _ => "navigator.serviceWorker.onmessage = show; navigator.serviceWorker.register(script);",
    };
    format!(
        "<p id=\"said\"></p>\n<script>\nconst script = '/other-site/worker/{kind}/script';\n\
         const show = event => {{ document.getElementById('said').textContent = event.data; }};\n{start}\n</script>"
    )
}

/// Its script: it asks for a text and for a tracker, and says what came of that.
fn worker_script(kind: &str) -> String {
    let run = match kind {
        "dedicated" => "ask().then(postMessage);",
        "shared" => "onconnect = event => ask().then(text => event.ports[0].postMessage(text));",
        _ => {
            "oninstall = event => event.waitUntil(Promise.all([ask(), clients.matchAll({includeUncontrolled: true})])\
             .then(([text, pages]) => pages.forEach(page => page.postMessage(text))));"
        }
    };
    format!(
        "const get = part => fetch('/other-site/worker/{kind}/' + part, {{cache: 'no-store'}})\
         .then(answer => answer.text(), () => 'no ' + part);\n\
         const ask = () => Promise.all(['text', 'tracker'].map(get)).then(said => said.join(', '));\n{run}"
    )
}
