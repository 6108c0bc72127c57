//! Connections that fail half-way.

use std::time::Duration;

use super::{html, request::PageRequest, server::Reply};

pub(super) fn reply(ask: &PageRequest<'_>) -> Option<Reply> {
    let reply = match ask.rest()[..] {
        ["reset"] => Reply::bytes(|peer| {
            peer.write(beginning())?;
            // A reset overtakes what was not read yet.
            peer.pause(Duration::from_millis(300))?;
            peer.reset()
        }),
        ["short"] => Reply::bytes(|peer| peer.write(beginning())),
        ["nothing"] => Reply::bytes(|_| Ok(())),
        ["invalid"] => Reply::bytes(|peer| peer.write("\u{0}\u{1}this is not HTTP\r\n\r\n")),
        _ => return None,
    };
    Some(reply)
}

/// The head of a response and less of its body than the head says.
fn beginning() -> String {
    let text = html::prose("broken", 3);
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 100000\r\nConnection: close\r\n\r\n\
         <!doctype html><title>Broken page</title><h1>Broken page</h1>\n{text}"
    )
}
