//! Pages that never become idle, never finish loading, or load late.

use std::time::Duration;

use base64::{Engine, prelude::BASE64_STANDARD};

use super::{
    html,
    http::Response,
    request::{PageRequest, number},
    server::{Peer, Reply},
};

pub(super) fn reply(ask: &PageRequest<'_>) -> Option<Reply> {
    let response = match ask.rest()[..] {
        ["poll", ms] => with_script("Endless polling", &poll(number(ms)?)),
        ["poll"] => Response::new("application/json", "{\"news\": []}"),
        ["again", "slides"] => html::page("Slides", SLIDES),
        ["again", way] => with_script("Again and again", again(way)?),
        ["socket"] => with_script("WebSocket", SOCKET),
        ["socket", "open"] => return socket(ask),
        ["events"] => with_script("Event stream", "new EventSource('/slow/events/stream');"),
        ["events", "stream"] => return Some(Reply::bytes(events)),
        ["fetch"] => with_script("Hanging request", "fetch('/slow/first-byte');"),
        ["image", ms] => {
            let ms: u32 = number(ms)?;
            html::text_page(
                "Slow image",
                &format!("<img src=\"/slow/image/{ms}/file\" alt=\"Late image\" width=\"48\" height=\"32\">"),
            )
        }
        ["image", ms, "file"] => return Some(late(number(ms)?, super::wiki::drawing())),
        ["style", ms] => {
            let ms: u32 = number(ms)?;
            let head = format!("<link rel=\"stylesheet\" href=\"/slow/style/{ms}/file\">\n");
            let body =
                format!("<h1>Slow style sheet</h1>\n{}<a href=\"/page/styled\">A link</a>", html::prose("style", 3));
            Response::html(html::document("Slow style sheet", &head, &body))
        }
        ["style", ms, "file"] => return Some(late(number(ms)?, Response::new("text/css", "body { color: #222; }"))),
        ["answer", ms] => return Some(late(number(ms)?, html::article("Slow answer"))),
        ["body"] => return Some(Reply::bytes(trickle)),
        ["first-byte"] => return Some(Reply::bytes(silence)),
        ["clock", ms] => with_script("Clock", &clock(number(ms)?)),
        ["loop", ms] => with_script("Busy loop", &busy(number(ms)?)),
        _ => return None,
    };
    Some(response.into())
}

/// A page with text, a link, and a script below them.
fn with_script(title: &str, script: &str) -> Response {
    html::text_page(
        title,
        &format!("<p id=\"clock\"></p>\n<a href=\"/page/below\">A link below</a>\n<script>\n{script}\n</script>"),
    )
}

fn late(ms: u32, response: Response) -> Reply {
    Reply::after(Duration::from_millis(ms.into()), response)
}

/// More than a countdown has to say, and less than an article.
const SLIDES: &str = r#"<h1>Slides</h1>
<p>Three pictures of the northern station, one after the other: the slipway in winter, the float well with its lid
open, and the tower from the ferry. All were taken by the keeper, who has had the same camera since 1994, and has
never told anybody how he came by it. The prints hang in the hall of the ferry house, beside the tables of the tides.</p>
<div style="overflow: hidden"><p id="slides">Slipway, float well, tower</p></div>
<p><a href="/page/below">All pictures</a></p>
<script>
let shown = 0;
setInterval(() => { document.getElementById('slides').style.transform = `translateX(${-(++shown % 3) * 9}em)`; }, 1500);
</script>"#;

fn poll(ms: u32) -> String {
    format!("setInterval(() => fetch('/slow/poll').then(answer => answer.json()), {ms});")
}

/// Repeated work, each time when the previous one has ended.
fn again(way: &str) -> Option<&'static str> {
    Some(match way {
        "fetch" => "(function poll() { fetch('/slow/poll').then(() => setTimeout(poll, 1000)); })();",
        "request" => {
            "(function poll() { const request = new XMLHttpRequest(); request.onload = () => setTimeout(poll, 1000);\n\
             request.open('GET', '/slow/poll'); request.send(); })();"
        }
        "socket" => {
            "(function connect() { new WebSocket(`ws://${location.host}/slow/none`).onclose = () => setTimeout(connect, 1000); })();"
        }
        "list" => {
            "const list = document.body.appendChild(document.createElement('ul'));\n\
             setInterval(() => { const item = document.createElement('li'); item.append(document.createElement('b')); list.append(item);\n\
             item.animate([{opacity: 0}, {opacity: 1}], 900); if (list.children.length > 10) list.firstChild.remove(); }, 500);"
        }
        "sleep" => "(async () => { for (;;) await new Promise(done => setTimeout(done, 1000)); })();",
        "cleared" => "clearInterval(String(setTimeout(() => {}, 1900)));",
        _ => return None,
    })
}

fn clock(ms: u32) -> String {
    format!("setInterval(() => document.getElementById('clock').textContent = new Date().toISOString(), {ms});")
}

fn busy(ms: u32) -> String {
    match ms {
        0 => "while (true) {}".to_owned(),
        _ => format!("setTimeout(() => {{ while (true) {{}} }}, {ms});"),
    }
}

const SOCKET: &str = "const socket = new WebSocket(`ws://${location.host}/slow/socket/open`);
socket.onopen = () => document.getElementById('clock').textContent = 'connected';";

/// Accepts a WebSocket as RFC 6455, section 4.2.2 says, and keeps it open in silence.
fn socket(ask: &PageRequest<'_>) -> Option<Reply> {
    let key = ask.request.header("sec-websocket-key")?;
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {}\r\n\r\n",
        accept_key(key)
    );
    Some(Reply::bytes(move |peer| {
        peer.write(head)?;
        peer.hold()
    }))
}

/// The proof that the handshake was read: SHA-1 of the key and RFC 6455's own identifier, in Base64.
fn accept_key(key: &str) -> String {
    let text = format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    BASE64_STANDARD.encode(ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes()))
}

fn silence(peer: &mut Peer<'_>) -> std::io::Result<()> {
    peer.hold()
}

fn events(peer: &mut Peer<'_>) -> std::io::Result<()> {
    peer.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")?;
    loop {
        peer.write("data: still here\n\n")?;
        peer.pause(Duration::from_secs(1))?;
    }
}

fn trickle(peer: &mut Peer<'_>) -> std::io::Result<()> {
    let start = html::document("Trickled page", "", &format!("<h1>Trickled page</h1>\n{}", html::prose("trickle", 3)));
    let start = start.trim_end().trim_end_matches("</html>").trim_end().trim_end_matches("</body>");
    peer.write("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n\r\n")?;
    peer.write(start)?;
    for n in 0..1500 {
        peer.write(if n % 10 == 9 { "<br>\n" } else { "drop " })?;
        peer.pause(Duration::from_millis(200))?;
    }
    peer.write("</body></html>\n")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_handshake_of_the_rfc() {
        assert_eq!(super::accept_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }
}
