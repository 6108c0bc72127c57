//! Pages with late content, and pages that interfere with a reader's scripts.

use std::time::Duration;

use super::{html, http::Response, request::PageRequest, server::Reply};

/// How long after the page its content comes.
const LATE: Duration = Duration::from_millis(700);

/// How long an answer takes that takes long.
const SLOW: Duration = Duration::from_millis(4500);

pub(super) fn reply(ask: &PageRequest<'_>) -> Option<Reply> {
    let response = match (ask.topic, &ask.rest()[..]) {
        ("late", ["content.js"]) => return Some(late(Response::new("text/javascript", RENDER))),
        ("late", ["content.html"]) => {
            return Some(late(html::page("Inner", "<a href=\"/page/late\">What came late</a>")));
        }
        ("late", ["content.json"]) => return Some(json()),
        ("late", ["slow.json"]) => {
            return Some(Reply::after(SLOW, Response::new("application/json", "{}")));
        }
        ("late", ["teller.js"]) => Response::new(
            "text/javascript",
            "postMessage('ready'); onmessage = () => setTimeout(() => postMessage(''), 700);",
        ),
        ("late", ["worker.js"]) => Response::new("text/javascript", "setTimeout(() => postMessage(''), 700);"),
        ("late", [way]) => html::page("Late", &format!("<script>{}</script>", script(way)?)),
        ("hostile", ["forged"]) => Response::redirect(302, &format!("http://localhost:{}/hostile/forger", ask.port)),
        ("hostile", ["forger"]) => html::text_page("Forger", &format!("<script>{}</script>", forge(ask.port))),
        ("hostile", ["clobbered"]) => html::text_page("Clobbered", CLOBBERED),
        ("hostile", ["sandboxed"]) => {
            html::text_page("Sandboxed", "<a href=\"/page/out\">Out</a><script src=\"/x\"></script>")
                .header("Content-Security-Policy", "default-src 'none'; sandbox")
        }
        ("hostile", ["farewell"]) => {
            html::text_page("Farewell", "<script>addEventListener('pagehide', () => { for (;;); });</script>")
        }
        ("hostile", ["closing"]) => {
            html::text_page("Closing", "<script>setTimeout(() => window.close(), 300);</script>")
        }
        ("hostile", ["talkative"]) => html::text_page("Talkative", &format!("<script>{TALK}</script>")),
        ("hostile", ["rootless"]) => {
            html::text_page("Rootless", "<script>onload = () => document.documentElement.remove();</script>")
        }
        ("hostile", ["usher"]) => html::text_page("Usher", &format!("<script>{USHER}</script>")),
        ("hostile", ["password"]) => {
            html::page("Members", "").status(401).header("WWW-Authenticate", "Basic realm=\"members\"")
        }
        ("hostile", ["failed"]) => Response::html("").status(500),
        _ => return None,
    };
    Some(response.into())
}

fn late(response: Response) -> Reply {
    Reply::after(LATE, response)
}

/// An answer whose head comes at once, and whose body does not.
fn json() -> Reply {
    Reply::bytes(|peer| {
        peer.write(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n",
        )?;
        peer.pause(LATE)?;
        peer.write("{}")
    })
}

/// Says so much that a driver which is told of all of it does nothing else, and looks whether somebody reads it.
const TALK: &str = "const long = 'x'.repeat(1e6); for (let i = 0; i < 300; i++) console.log(long, {i});\n\
    setInterval(() => { for (let i = 0; i < 2000; i++) console.log({i, list: [1, 2, 3]}); }, 0);\n\
    const trap = new Error('trap'); Object.defineProperty(trap, 'stack', { get() { document.title = 'Read'; } });\n\
    console.debug(trap);";

/// Leads elsewhere just when another page takes its place: it is at work then, and says so when it is done.
const USHER: &str = "addEventListener('beforeunload', () => setInterval(() => {\n\
    const end = performance.now() + 120; while (performance.now() < end);\n\
    location.href = '/page/elsewhere'; }, 125));";

/// The script that shows the content.
const RENDER: &str = "document.body.innerHTML = '<main><a href=\"/page/late\">What came late</a></main>';";

/// How the content is brought.
fn script(way: &str) -> Option<String> {
    let loaded = |what: &str| format!("addEventListener('load', () => setTimeout(() => {{ {what} }}));");
    Some(match way {
        "import" => loaded("import('/late/content.js');"),
        "script" => {
            loaded("document.head.append(Object.assign(document.createElement('script'), {src: '/late/content.js'}));")
        }
        "body" => format!("fetch('/late/content.json').then(answer => answer.json()).then(() => {{ {RENDER} }});"),
        "stream" => format!(
            "(async () => {{ const reader = (await fetch('/late/content.json')).body.getReader();\n\
             while (!(await reader.read()).done); {RENDER} }})();"
        ),
        "slow" => format!("fetch('/late/slow.json').then(() => {{ {RENDER} }});"),
        "many" => format!(
            "Promise.all([...'12345678'].map(part => fetch(`/late/content.json?${{part}}`).then(answer => answer.text())))\n\
             .then(() => {{ {RENDER} }});"
        ),
        "reopened" => loaded(&format!(
            "document.open(); document.write(`<body><script>setTimeout(() => {{ {RENDER} }}, 1200)<\\/script>`); document.close();"
        )),
        "parts" => format!(
            "(async () => {{ for (const part of '12345') await (await fetch(`/late/content.json?${{part}}`)).text(); {RENDER} }})();"
        ),
        "again" => format!(
            "(async () => {{ for (const body of 'abc') await (await fetch('/late/content.json', {{method: 'POST', body}})).text();\n\
             setTimeout(() => {{ {RENDER} }}, 700); }})();"
        ),
        "animation" => {
            format!("document.documentElement.animate([{{}}, {{}}], 1200).finished.then(() => {{ {RENDER} }});")
        }
        "database" => format!(
            "const asked = indexedDB.open('late', 1);\n\
             asked.onupgradeneeded = () => asked.result.createObjectStore('pages').put(1, 'page');\n\
             asked.onsuccess = () => {{ const read = asked.result.transaction('pages').objectStore('pages').get('page');\n\
             read.onsuccess = () => setTimeout(() => {{ {RENDER} }}, 300); }};"
        ),
        "shadow" => format!(
            "const host = document.createElement('div'), root = host.attachShadow({{mode: 'open'}});\n\
             root.innerHTML = '<p>Soon</p>'; document.documentElement.append(host);\n\
             root.firstChild.animate([{{}}, {{}}], 1200).finished.then(() => {{ {RENDER} }});"
        ),
        "transition" => format!(
            "const root = document.documentElement; root.style.cssText = 'transition: opacity 1.2s; opacity: 0.5'; root.offsetWidth;\n\
             root.style.opacity = 1; root.addEventListener('transitionend', () => {{ {RENDER} }});"
        ),
        "slide" => "document.write('<main style=\"overflow: hidden; height: 0\"><a href=\"/page/late\">What came late</a></main>');\n\
             const box = document.querySelector('main'); let height = 0;\n\
             addEventListener('load', () => { (function slide() { if (++height <= 25) requestAnimationFrame(slide);\n\
             if (height > 20) box.style.height = `${height}px`; else box.style.opacity = height / 20; })(); });"
            .to_owned(),
        "looked-for" => format!(
            "let data; fetch('/late/content.json').then(answer => answer.json()).then(json => data = json);\n\
             (function look() {{ if (data) {{ {RENDER} }} else setTimeout(look, 150); }})();"
        ),
        "slices" => format!(
            "const {{port1, port2}} = new MessageChannel(); let left = 100;\n\
             port1.onmessage = () => {{ const end = performance.now() + 5; while (performance.now() < end);\n\
             if (--left) port2.postMessage(0); else {{ {RENDER} }} }}; port2.postMessage(0);"
        ),
        "request" => format!(
            "const request = new XMLHttpRequest(); request.onload = () => {{ {RENDER} }}; request.open('GET', '/late/content.json'); request.send();"
        ),
        "frame" => loaded(
            "document.body.append(Object.assign(document.createElement('iframe'), {src: '/late/content.html'}));",
        ),
        "inner" => {
            loaded("document.body.append(Object.assign(document.createElement('iframe'), {src: '/late/interval'}));")
        }
        "picture" => format!(
            "addEventListener('load', () => {{ {RENDER} }}); document.write('<img src=\"/slow/image/2000/file\">');"
        ),
        "interval" => format!("const once = setInterval(() => {{ clearInterval(once); {RENDER} }}, 1500);"),
        "countdown" => "let left = 4; setInterval(() => { document.body.textContent = `${--left}`;\n\
             if (left === 0) location.href = '/links/1'; }, 1000);"
            .to_owned(),
        "pause" => "setTimeout(() => location.replace('/links/1'), 3000);".to_owned(),
        "told" => format!(
            "const worker = new Worker('/late/teller.js'); worker.onmessage = ({{data}}) => {{\n\
             if (data) worker.postMessage(''); else {{ {RENDER} }} }};"
        ),
        "cipher" => format!(
            "(async () => {{ const bytes = new Uint8Array(16), hash = 'SHA-512', name = 'PBKDF2';\n\
             const key = await crypto.subtle.importKey('raw', bytes, name, false, ['deriveBits']);\n\
             await crypto.subtle.deriveBits({{name, hash, salt: bytes, iterations: 1e6}}, key, 256); {RENDER} }})();"
        ),
        "task" => format!("scheduler.postTask(() => {{ {RENDER} }}, {{delay: 700}});"),
        "worker" => format!("new Worker('/late/worker.js').onmessage = () => {{ {RENDER} }};"),
        "rejection" => format!("addEventListener('unhandledrejection', () => {{ {RENDER} }}); fetch('http://[');"),
        "text" => "setTimeout(\"location.href = '/links/1'\", 700);".to_owned(),
        _ => return None,
    })
}

/// Says of a page that it is another one, to scripts that believe what the page has changed.
fn forge(port: u16) -> String {
    format!(
        "String.prototype.toWellFormed = function () {{ return this.startsWith('http') ? 'http://127.0.0.1:{port}/page/true' : String(this); }};\n\
         Array.prototype.flat = undefined; performance.getEntriesByType = () => [];\n\
         document.querySelectorAll = document.createTreeWalker = () => {{ throw new Error('no'); }};"
    )
}

/// Elements that stand in the place of what a document is asked for.
const CLOBBERED: &str = "<a href=\"/page/seen\" aria-labelledby=\"seen\">…</a><b id=\"seen\">Seen</b>\n\
    <map name=\"map\"><area href=\"/page/area\" alt=\"Area\"></map><img usemap=\"#map\" width=\"9\" height=\"9\" alt=\"\">\n\
    <form><input name=\"parentElement\"><input name=\"ownerDocument\"><input name=\"localName\"><input name=\"shadowRoot\"><input name=\"getBoundingClientRect\"><a href=\"/page/field\">Field</a></form>\n\
    <form name=\"getElementById\"></form><form name=\"styleSheets\"></form>\n\
    <form name=\"title\"></form><form name=\"querySelector\"></form><form name=\"querySelectorAll\"></form>\n\
    <form name=\"contentType\"></form><form name=\"createTreeWalker\"></form><form name=\"readyState\"></form>\n\
    <form name=\"body\"></form><form name=\"scripts\"></form><form name=\"addEventListener\"></form>";
