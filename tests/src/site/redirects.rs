//! Redirects: by status, by header, by script, also broken ones.

use super::{
    html,
    http::Response,
    request::{PageRequest, number},
    server::Reply,
};

/// The maximum number of redirects in a chain; browsers give up after 20.
const MAX_REDIRECTS: u32 = 100;

pub(super) fn reply(ask: &PageRequest<'_>) -> Option<Reply> {
    let response = match ask.rest()[..] {
        ["chain", n] => match number::<u32>(n).filter(|n| *n <= MAX_REDIRECTS)? {
            0 => Response::redirect(302, "/page/the end of the chain"),
            n => Response::redirect([301, 302, 303, 307, 308][n as usize % 5], &format!("/redirect/chain/{}", n - 1)),
        },
        ["loop"] => Response::redirect(302, "/redirect/loop/back"),
        ["loop", "back"] => Response::redirect(302, "/redirect/loop"),
        ["meta"] => refreshing("/page/after the refresh"),
        ["meta", n] => match number::<u32>(n).filter(|n| *n <= MAX_REDIRECTS)? {
            0 => refreshing("/redirect/meta"),
            n => refreshing(&format!("/redirect/meta/{}", n - 1)),
        },
        ["header"] => html::page("Moved", "<p>Please wait.</p>").header("Refresh", "0; url=/page/refreshed"),
        ["header-later"] => html::article("Moving soon").header("Refresh", "1; url=/page/refreshed"),
        ["onload"] => Response::html(
            html::document("Moved", "", "<p>Wait.</p>")
                .replace("<body>", "<body onload=\"location = '/page/loaded'\">"),
        ),
        ["script-nothing"] => leaving("location.href = '/status/204';"),
        ["script-hang"] => leaving("location.href = '/slow/first-byte';"),
        ["script-refused"] => leaving("location.href = 'http://127.0.0.1:1/';"),
        ["script-back"] => leaving("setTimeout(() => history.back(), 200);"),
        ["script-back-at-once"] => leaving("history.back();"),
        ["script-download"] => leaving("location.href = '/content/download';"),
        ["script", ms] => {
            let ms: u32 = number(ms)?;
            leaving(&format!("setTimeout(() => location.replace('/page/after the script'), {ms});"))
        }
        ["host"] => Response::redirect(302, &format!("http://localhost:{}/page/elsewhere", ask.port)),
        ["file"] => Response::redirect(302, "file:///etc/hostname"),
        ["javascript"] => Response::redirect(302, "javascript:document.title='redirected'"),
        ["data"] => Response::redirect(302, "data:text/html,<p>redirected</p>"),
        ["chrome"] => Response::redirect(302, "chrome://version"),
        // Longer than any answer.
        ["long"] => Response::redirect(302, &format!("/page/far?{}", "a".repeat(60_000))),
        ["script-long"] => html::page(
            "Grown",
            "<h1>Grown</h1>\n<p>The address grew.</p>\n<script>history.replaceState(0, '', '?' + 'a'.repeat(60000))</script>",
        ),
        ["script-file"] => leaving("location.replace('file:///etc/hostname');"),
        ["script-data"] => leaving("location.replace('data:text/html,<p>redirected</p>');"),
        ["script-blank"] => leaving("location.replace('about:blank');"),
        _ => return None,
    };
    Some(response.into())
}

fn refreshing(to: &str) -> Response {
    let head = format!("<meta http-equiv=\"refresh\" content=\"0; url={to}\">\n");
    Response::html(html::document("Moved", &head, "<p>This page has moved.</p>"))
}

fn leaving(script: &str) -> Response {
    html::page(
        "Moving",
        &format!("<h1>Moving</h1>\n<p>One moment: this page leads elsewhere.</p>\n<script>{script}</script>"),
    )
}
