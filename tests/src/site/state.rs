//! Pages about browser state: logins, cookies, storage; and a page that shows the browser's properties.

use std::fmt::Write;

use super::{
    html,
    http::Response,
    request::{PageRequest, number},
    server::Reply,
};

pub(super) fn reply(ask: &PageRequest<'_>) -> Option<Reply> {
    let response = match (ask.topic, &ask.rest()[..]) {
        ("busy", [times, name]) if ask.visit.refuses(&ask.request.path, number(times)?) => {
            html::text_page("Too many requests", "").status(429).header("Retry-After", "1")
        }
        ("busy", [_, name]) => html::article(name),
        ("login", []) if ask.request.method == "POST" => sign_in(ask),
        ("login", []) => html::page("Sign in", LOGIN),
        ("account", []) => match ask.visit.visitor(ask.request) {
            Some(name) => html::text_page(
                "Account",
                &format!("<p>Signed in as {}.</p>\n<a href=\"/logout\">Sign out</a>", html::escaped(name)),
            ),
            None => Response::redirect(302, "/login"),
        },
        ("account", ["report.pdf"]) => match ask.visit.visitor(ask.request) {
            Some(_) => Response::new("application/pdf", super::wiki::HANDBOOK),
            None => Response::redirect(302, "/login"),
        },
        ("logout", []) => Response::redirect(302, "/login").header("Set-Cookie", "session=; Path=/; Max-Age=0"),
        ("cookie", ["set"]) => set(ask, "; Max-Age=31536000"),
        ("cookie", ["session"]) => set(ask, ""),
        ("cookie", ["echo"]) => {
            let cookies = ask.request.header("cookie").unwrap_or("none");
            html::text_page("Cookies", &format!("<p id=\"cookies\">Cookies: {}</p>", html::escaped(cookies)))
        }
        ("storage", ["set"]) => html::text_page("Stored", STORE),
        ("storage", ["show"]) => html::text_page("Storage", SHOW),
        ("headers", []) => headers(ask),
        ("fingerprint", []) => html::text_page("Fingerprint", FINGERPRINT),
        _ => return None,
    };
    Some(response.into())
}

fn sign_in(ask: &PageRequest<'_>) -> Response {
    let name = ask.form().into_iter().find(|(field, _)| field == "name").map(|(_, name)| name);
    let is_plain = |name: &String| !name.is_empty() && name.chars().all(char::is_alphanumeric) && name.is_ascii();
    match name.filter(is_plain) {
        Some(name) => Response::redirect(303, "/account")
            .header("Set-Cookie", format!("session={}-{name}; Path=/; HttpOnly; SameSite=Lax", ask.visit.token)),
        None => html::page("Sign in", LOGIN).status(401),
    }
}

fn set(ask: &PageRequest<'_>, lifetime: &str) -> Response {
    let mut list = String::new();
    let mut cookies = vec![];
    for (name, value) in ask.query() {
        let _ = writeln!(list, "<li>{}={}</li>", html::escaped(&name), html::escaped(&value));
        // A line break would begin another header.
        cookies.push(format!("{name}={value}; Path=/{lifetime}").replace(['\r', '\n'], " "));
    }
    let page = html::text_page("Cookies set", &format!("<ul>\n{list}</ul>"));
    cookies.into_iter().fold(page, |page, cookie| page.header("Set-Cookie", cookie))
}

fn headers(ask: &PageRequest<'_>) -> Response {
    let mut list = String::new();
    for (name, value) in &ask.request.headers {
        let _ = writeln!(list, "<dt>{}</dt><dd>{}</dd>", html::escaped(name), html::escaped(value));
    }
    html::text_page("Headers", &format!("<dl>\n{list}</dl>"))
}

const LOGIN: &str = r#"<h1>Sign in</h1>
<form method="post" action="/login">
<label>Name <input name="name" autocomplete="username" required></label>
<label>Password <input name="password" type="password" autocomplete="current-password"></label>
<button>Sign in</button>
</form>"#;

const STORE: &str = r#"<p id="stored"></p>
<script>
  for (const [name, value] of new URLSearchParams(location.search)) {
    localStorage.setItem(name, value);
    document.getElementById('stored').append(`Stored ${name}=${value}. `);
  }
</script>"#;

const SHOW: &str = r#"<p id="stored"></p>
<script>
  const entries = Object.entries(localStorage).map(([name, value]) => `${name}=${value}`);
  document.getElementById('stored').textContent = `Stored: ${entries.join('; ') || 'nothing'}`;
</script>"#;

const FINGERPRINT: &str = r#"<pre id="fingerprint"></pre>
<script>
  const seen = {
    userAgent: navigator.userAgent,
    webdriver: navigator.webdriver,
    webdriverIsOwn: Object.getOwnPropertyNames(navigator).includes('webdriver'),
    languages: navigator.languages,
    plugins: navigator.plugins.length,
    pluginsType: Object.prototype.toString.call(navigator.plugins),
    chrome: typeof window.chrome,
    brands: navigator.userAgentData?.brands,
    driverVariables: Object.keys(window).concat(Object.keys(document)).filter(key => /^\$?cdc_|selenium|webdriver/.test(key)),
    outerSize: [outerWidth, outerHeight],
    notifications: typeof Notification === 'undefined' ? null : Notification.permission,
    touchPoints: navigator.maxTouchPoints,
    cores: navigator.hardwareConcurrency,
    functions: [fetch, alert, setTimeout, Response.prototype.json, Function.prototype.toString].map(String),
  };
  document.getElementById('fingerprint').textContent = JSON.stringify(seen, null, 2);
</script>"#;
