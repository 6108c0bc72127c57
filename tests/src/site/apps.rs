//! Applications of one page: routes rendered by script, scrolling without end, a service worker.

use super::{html, http::Response, request::PageRequest, server::Reply};

pub(super) fn reply(ask: &PageRequest<'_>) -> Option<Reply> {
    let response = match (ask.topic, &ask.rest()[..]) {
        ("app", _) => html::page("App", &(SHELL.to_owned() + PUSH_STATE)),
        ("hash", []) => html::page("App", &(SHELL.to_owned() + HASH)),
        ("endless", []) => html::page("Endless", ENDLESS),
        ("worker", []) => html::text_page("Service worker", REGISTER),
        ("worker", ["from-server"]) => html::article("From the server"),
        ("worker", ["script.js"]) => {
            Response::new("text/javascript", WORKER).header("Service-Worker-Allowed", "/worker")
        }
        _ => return None,
    };
    Some(response.into())
}

/// Renders a route; each way to keep routes adds how it learns of them.
const SHELL: &str = r#"<nav id="nav"></nav>
<main id="view"></main>
<script>
  const routes = {
    overview: 'What the application shows when it starts.',
    stations: 'Eleven stations along the northern coast.',
    reports: 'Monthly reports, newest first.',
  };
  function render(name) {
    const text = routes[name] ?? 'Choose a view.';
    document.title = `App: ${name || 'start'}`;
    document.getElementById('view').innerHTML = `<h1>${name || 'Start'}</h1><p>${text}</p>`;
  }
</script>
"#;

const PUSH_STATE: &str = r"<script>
  const current = () => location.pathname.split('/')[2];
  for (const name of Object.keys(routes)) {
    const link = document.createElement('a');
    link.href = `/app/${name}`;
    link.textContent = name;
    link.onclick = event => {
      event.preventDefault();
      history.pushState({}, '', link.href);
      render(name);
    };
    document.getElementById('nav').append(link, ' ');
  }
  addEventListener('popstate', () => render(current()));
  render(current());
</script>";

const HASH: &str = r"<script>
  const current = () => location.hash.slice(2);
  for (const name of Object.keys(routes)) {
    const link = document.createElement('a');
    link.href = `#/${name}`;
    link.textContent = name;
    document.getElementById('nav').append(link, ' ');
  }
  addEventListener('hashchange', () => render(current()));
  render(current());
</script>";

const ENDLESS: &str = r#"<h1>Endless</h1>
<ul id="list"></ul>
<p id="end">Loading more…</p>
<script>
  const list = document.getElementById('list');
  const end = document.getElementById('end');
  const watch = () => end.getBoundingClientRect().top < innerHeight && setTimeout(more, 100);
  function more() {
    for (let n = 0; n < 10; n++) {
      const item = document.createElement('li');
      item.style.height = '3em';
      item.innerHTML = `<a href="/page/endless-${list.children.length + 1}">Entry ${list.children.length + 1}</a>`;
      list.append(item);
    }
    watch();
  }
  addEventListener('scroll', watch);
  watch();
</script>"#;

const REGISTER: &str = r#"<p id="state">Registering…</p>
<ul>
<li><a href="/worker/from-cache">A page that only the worker knows</a></li>
<li><a href="/worker/from-server">A page that the server knows</a></li>
</ul>
<script>
  navigator.serviceWorker.register('/worker/script.js', {scope: '/worker'}).then(() => navigator.serviceWorker.ready)
    .then(() => document.getElementById('state').textContent = 'Registered.');
</script>"#;

const WORKER: &str = r"addEventListener('activate', event => event.waitUntil(clients.claim()));
addEventListener('fetch', event => {
  if (new URL(event.request.url).pathname === '/worker/from-cache') {
    const page = '<!doctype html><title>From the worker</title><h1>From the worker</h1><p>No server sent this page.</p>';
    event.respondWith(new Response(page, {headers: {'Content-Type': 'text/html; charset=utf-8'}}));
  }
});
";
