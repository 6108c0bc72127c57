//! Pages for readiness tests: late content, endless activity, and both.
//!
//! Each page has text of its own, unless it is thin. What comes late ends with [`LATE`]. Other sites are this
//! server by names that no other page uses, as `api-NAME.localhost`, which answers, and `dead-NAME.localhost`, which
//! accepts connections and never does.

use std::time::Duration;

use super::{
    html,
    http::Response,
    request::{PageRequest, number},
    server::{Peer, Reply},
};

/// The late content.
pub const LATE: &str = "These words came late.";

/// The initial content of every page that is not thin.
pub const END: &str = "The end of the page.";

/// A page, and what has to be said of it.
pub struct Fixture {
    /// Its name: `/ready/NAME` is the page.
    pub name: &'static str,
    /// The expected reason for the end of the wait.
    pub ready: &'static str,
    /// Whether it has little text until its content comes.
    pub thin: bool,
    /// Whether what is open is what text does not need.
    pub assets: bool,
    /// Elements of its body, or a script where it does not begin with `<`; `API`, `DEAD` and `OWN` stand for addresses.
    parts: &'static [&'static str],
}

impl Fixture {
    /// Whether content comes late.
    pub fn is_late(&self) -> bool {
        self.parts
            .iter()
            .any(|part| part.contains("show(") || ["/show", "/inner", "/tree"].iter().any(|late| part.contains(late)))
    }
}

const fn late(name: &'static str, part: &'static [&'static str]) -> Fixture {
    Fixture { name, ready: "idle", thin: false, assets: false, parts: part }
}

const fn thin(name: &'static str, part: &'static [&'static str]) -> Fixture {
    Fixture { name, ready: "idle", thin: true, assets: false, parts: part }
}

const fn noise(name: &'static str, ready: &'static str, part: &'static [&'static str]) -> Fixture {
    Fixture { name, ready, thin: false, assets: false, parts: part }
}

/// Noise of pictures, fonts and the like, beside which nothing is open where only text is loaded.
const fn assets(name: &'static str, part: &'static [&'static str]) -> Fixture {
    Fixture { name, ready: "content", thin: false, assets: true, parts: part }
}

/// All pages.
pub const FIXTURES: &[Fixture] = &[
    // Late content that must not be missed.
    late(
        "own-request",
        &["const r = new XMLHttpRequest(); r.onload = () => show(); r.open('GET', 'OWN/json/700'); r.send();"],
    ),
    thin("own-fetch", &["fetch('OWN/json/1500').then(() => show());"]),
    late("other-api", &["fetch('API/json/700').then(() => show());"]),
    thin("other-api-thin", &["fetch('API/json/2000').then(() => show());"]),
    thin("skeleton", &["<div class=\"card-skeleton\">&nbsp;</div>", "fetch('API/json/4000').then(() => show());"]),
    late(
        "chained",
        &["(async () => { for (const n of '123') await (await fetch(`OWN/json/300?${n}`)).text(); show(); })();"],
    ),
    late("chained-sites", &["fetch('OWN/json/300').then(() => fetch('API/json/500')).then(() => show());"]),
    late("both-sites", &["Promise.all([fetch('OWN/json/600'), fetch('API/json/400')]).then(() => show());"]),
    thin(
        "posted-queries",
        &[
            "(async () => { for (const body of 'abcde') await fetch('OWN/json/100', {method: 'POST', body}); show(); })();",
        ],
    ),
    late(
        "streamed",
        &[
            "(async () => { const body = (await fetch('OWN/stream')).body.getReader(); while (!(await body.read()).done); show(); })();",
        ],
    ),
    thin("hydrated", &["<div id=\"root\">Soon</div>", "<script defer src=\"OWN/show.js/400\"></script>"]),
    late("deferred-script", &["<script defer src=\"OWN/show.js/600\"></script>"]),
    late("other-script", &["<script async src=\"API/show.js/400\"></script>"]),
    late(
        "added-script",
        &[
            "onload = () => document.body.append(Object.assign(document.createElement('script'), {src: 'OWN/show.js/600'}));",
        ],
    ),
    late("lazy-chunk", &["onload = () => import('OWN/show.js/600');"]),
    late("other-chunk", &["onload = () => import('API/show.js/400');"]),
    late("module", &["<script type=\"module\">import 'OWN/show.js/500';</script>"]),
    late("module-tree", &["<script type=\"module\" src=\"OWN/tree.js/200\"></script>"]),
    thin(
        "component",
        &[
            "<late-words></late-words>",
            "customElements.define('late-words', class extends HTMLElement { async connectedCallback() {\n\
         await fetch('OWN/json/700'); this.attachShadow({mode: 'open'}).innerHTML = `<p>${WORDS}</p>`; show(); } });",
        ],
    ),
    late(
        "service-worker",
        &["(async () => { await navigator.serviceWorker.register('OWN/worker.js/0', {scope: '/ready/'});\n\
         await navigator.serviceWorker.ready; if (!navigator.serviceWorker.controller)\n\
         await new Promise(done => { navigator.serviceWorker.oncontrollerchange = done; });\n\
         await (await fetch('OWN/from-worker')).text(); show(); })();"],
    ),
    late("worker-fetch", &["new Worker('OWN/fetcher.js/0').onmessage = () => show();"]),
    late("inner-frame", &["<iframe src=\"OWN/inner/500\"></iframe>"]),
    late("inner-fetch", &["<iframe src=\"OWN/inner-fetch/0\"></iframe>"]),
    late("message", &["onmessage = () => show();", "<iframe src=\"API/message/300\"></iframe>"]),
    late(
        "in-view",
        &[
            "<div id=\"more\" style=\"position: fixed; top: 0\">More</div>",
            "new IntersectionObserver(([one]) => { if (one.isIntersecting) fetch('OWN/json/400').then(() => show()); }).observe(document.getElementById('more'));",
        ],
    ),
    late("polled", &["(async () => { for (const n of '12') await (await fetch('OWN/json/300')).text(); show(); })();"]),
    late("script-chain", &["document.write('<script src=\"OWN/show.js/300\"><\\/script>');"]),
    late(
        "first-event",
        &["new EventSource('/slow/events/stream').onmessage = event => { event.target.close(); show(); };"],
    ),
    late("timer", &["setTimeout(() => show(), 1200);"]),
    late("idle-time", &["fetch('OWN/json/300').then(() => requestIdleCallback(() => setTimeout(() => show(), 200)));"]),
    // Noise that must not hold; first none.
    noise("quiet", "idle", &["1;"]),
    noise("beacon", "content", &["navigator.sendBeacon('DEAD', 'seen');"]),
    noise("dead-fetch", "content", &["fetch('DEAD').catch(() => {});"]),
    noise("dead-request", "content", &["const r = new XMLHttpRequest(); r.open('POST', 'DEAD'); r.send('seen');"]),
    noise("dead-script", "content", &["<script async src=\"DEAD\"></script>"]),
    noise("dead-deferred", "content", &["<script defer src=\"DEAD\"></script>"]),
    noise("dead-module", "content", &["<script type=\"module\" src=\"DEAD\"></script>"]),
    noise("dead-blocking", "idle", &["<script src=\"DEAD\"></script>"]),
    noise(
        "dead-style",
        "content",
        &[
            "onload = () => document.head.append(Object.assign(document.createElement('link'), {rel: 'stylesheet', href: 'DEAD'}));",
        ],
    ),
    noise("ad-frame", "content", &["<iframe src=\"DEAD\"></iframe>"]),
    noise(
        "ad-frames",
        "content",
        &["<iframe src=\"DEAD?1\"></iframe>", "<iframe src=\"DEAD?2\"></iframe>", "<iframe src=\"DEAD?3\"></iframe>"],
    ),
    assets("dead-image", &["<img src=\"DEAD\" alt=\"\">", "1;"]),
    assets("own-image", &["<img src=\"/slow/first-byte\" alt=\"\">", "1;"]),
    assets(
        "dead-font",
        &["<style>@font-face { font-family: F; src: url('DEAD'); } p { font-family: F, serif; }</style>", "1;"],
    ),
    assets("dead-video", &["<video src=\"DEAD\" preload=\"auto\"></video>", "1;"]),
    noise("own-socket", "content", &["new WebSocket(`ws://${location.host}/slow/socket/open`);"]),
    noise("dead-socket", "content", &["new WebSocket('DEAD'.replace('http', 'ws'));"]),
    noise("events", "content", &["new EventSource('/slow/events/stream');"]),
    noise("dead-events", "content", &["new EventSource('DEAD');"]),
    noise(
        "retries",
        "content",
        &["(function send(n) { const stop = new AbortController(); setTimeout(() => stop.abort(), 300);\n\
         fetch('DEAD', {signal: stop.signal}).catch(() => setTimeout(send, 300, n + 1)); if (n === 0) navigator.sendBeacon('DEAD'); })(0);"],
    ),
    noise("polling", "idle", &["setInterval(() => fetch('/slow/poll').then(answer => answer.json()), 200);"]),
    noise(
        "clock",
        "idle",
        &[
            "const p = document.body.appendChild(document.createElement('p')); setInterval(() => { p.textContent = Date(); }, 100);",
        ],
    ),
    noise(
        "decoration",
        "idle",
        &["<style>@keyframes turn { to { rotate: 360deg; } } h1 { animation: turn 2s infinite; }</style>", "1;"],
    ),
    noise(
        "turning-sign",
        "idle",
        &[
            "<style>#sign { display: inline-block; transition: rotate 1.5s; } h1 { transition: color 1.5s; }</style><b id=\"sign\">›</b>",
            "const sign = document.getElementById('sign'); sign.offsetWidth; sign.style.rotate = '90deg'; document.querySelector('h1').style.color = 'navy';",
        ],
    ),
    // Both.
    noise("api-and-dead", "content", &["fetch('API/json/700').then(() => show());", "fetch('DEAD').catch(() => {});"]),
    assets("chunk-and-image", &["<img src=\"DEAD\" alt=\"\">", "import('OWN/show.js/500');"]),
    noise(
        "stream-and-beacon",
        "content",
        &[
            "navigator.sendBeacon('DEAD'); (async () => { const body = (await fetch('OWN/stream')).body.getReader(); while (!(await body.read()).done); show(); })();",
        ],
    ),
    noise(
        "frames-and-events",
        "content",
        &[
            "<iframe src=\"DEAD\"></iframe>",
            "new EventSource('/slow/events/stream'); fetch('OWN/json/600').then(() => show());",
        ],
    ),
    noise(
        "blocked-then-late",
        "idle",
        &["<script src=\"DEAD\"></script>", "fetch('OWN/json/600').then(() => show());"],
    ),
    Fixture {
        name: "thin-and-dead",
        ready: "content",
        thin: true,
        assets: false,
        parts: &["fetch('DEAD').catch(() => {});", "fetch('OWN/json/900').then(() => show());"],
    },
];

pub(super) fn reply(ask: &PageRequest<'_>) -> Option<Reply> {
    let script = |text: String| Response::new("text/javascript", text).header("Access-Control-Allow-Origin", "*");
    let (response, delay) = match ask.rest()[..] {
        ["silent"] => return Some(super::third_parties::hold()),
        ["part", "stream"] => return Some(Reply::bytes(stream)),
        ["part", kind, ms] => {
            let response = match kind {
                "json" => Response::new("application/json", "{}").header("Access-Control-Allow-Origin", "*"),
                "show.js" => script("window.show();".to_owned()),
                "tree.js" => script("import '/ready/part/show.js/400';".to_owned()),
                "worker.js" => script(WORKER.to_owned()).header("Service-Worker-Allowed", "/ready/"),
                "fetcher.js" => script("fetch('/ready/part/json/300').then(() => postMessage(''));".to_owned()),
                "inner" => html::page("Inner", &format!("<p>{LATE}</p>")),
                "inner-fetch" => html::page(
                    "Inner",
                    &format!(
                        "<p></p><script>fetch('/ready/part/json/600').then(() => {{ document.querySelector('p').textContent = '{LATE}'; }});</script>"
                    ),
                ),
                "message" => html::page("Message", "<script>parent.postMessage('', '*');</script>"),
                _ => return None,
            };
            (response, number(ms)?)
        }
        [name] => (page(FIXTURES.iter().find(|fixture| fixture.name == name)?, ask.port), 0),
        _ => return None,
    };
    Some(if delay == 0 { response.into() } else { Reply::after(Duration::from_millis(delay), response) })
}

/// A page, with the function that shows what comes late before all else.
fn page(fixture: &Fixture, port: u16) -> Response {
    let Fixture { name, thin, parts, .. } = fixture;
    let prose = html::prose(name, 20).replace('\n', "");
    let brought = if *thin { prose.as_str() } else { "" };
    let head = format!(
        "<script>const WORDS = '{LATE}'; function show() {{ const late = document.createElement('div');\n\
         late.innerHTML = `{brought}<p>${{WORDS}}</p>`; document.querySelector('main').append(late); }}</script>\n"
    );
    let text = if *thin { String::new() } else { format!("{prose}\n<p>{END}</p>\n") };
    let parts: String = parts
        .iter()
        .map(|part| if part.starts_with('<') { format!("{part}\n") } else { format!("<script>{part}</script>\n") })
        .collect();
    let parts = parts
        .replace("OWN", "/ready/part")
        .replace("API", &format!("http://api-{name}.localhost:{port}/ready/part"))
        .replace("DEAD", &format!("http://dead-{name}.localhost:{port}/ready/silent"));
    let body = format!("<main>\n<h1>{name}</h1>\n{text}</main>\n{parts}");
    Response::html(html::document(name, &head, &body))
}

/// Answers a request that only it knows.
const WORKER: &str = "addEventListener('install', () => skipWaiting());\n\
    addEventListener('activate', event => event.waitUntil(clients.claim()));\n\
    addEventListener('fetch', event => { if (event.request.url.endsWith('/from-worker'))\n\
    event.respondWith(new Promise(done => setTimeout(() => done(new Response('words')), 600))); });";

/// An answer in three parts.
fn stream(peer: &mut Peer<'_>) -> std::io::Result<()> {
    peer.write("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n")?;
    for _ in 0..3 {
        peer.write("a part\n")?;
        peer.pause(Duration::from_millis(400))?;
    }
    Ok(())
}
