//! Pages whose content comes as JSON.

use super::{html, http::Response, request::PageRequest, server::Reply};

pub(super) fn reply(ask: &PageRequest<'_>) -> Option<Reply> {
    let json = |text: String| Response::new("application/json", text);
    let response = match ask.rest()[..] {
        ["stations"] => {
            let other = format!("http://localhost:{}/data/other", ask.port);
            let script = STATIONS.replace("OTHER", &other);
            html::text_page("Stations", &script)
        }
        ["many"] => html::text_page("Many", MANY),
        ["list", page] => {
            json(format!("{{\"page\":{page},\"stations\":[\"Brest {page}\",\"Köln {page}\"],\"level\":1.50}}"))
        }
        ["feed"] => Response::new("application/feed+json", "{\"version\":\"1.1\"}"),
        ["other"] => json("{\"of\":\"another host\"}".to_owned()).header("Access-Control-Allow-Origin", "*"),
        ["broken"] => json("{\"a\":".to_owned()),
        ["missing"] => json("{\"error\":\"none\"}".to_owned()).status(404),
        ["plain"] => Response::new("text/plain", "{\"plain\":true}"),
        ["sent"] => json("{\"sent\":true}".to_owned()),
        ["huge"] => json(format!("\"{}\"", "x".repeat(2 << 20))),
        _ => return None,
    };
    Some(response.into())
}

/// Some answers while the page loads, and further ones on a click.
const STATIONS: &str = r#"<ul id="list"></ul><button id="more">Load more</button><script>
  let page = 0;
  const more = async () => {
    page += 1;
    const { stations } = await (await fetch(`/data/list/${page}?sort=name`)).json();
    for (const name of stations) document.getElementById('list').insertAdjacentHTML('beforeend', `<li>${name}</li>`);
    if (page === 3) document.getElementById('more').remove();
  };
  document.getElementById('more').onclick = more;
  more();
  const request = new XMLHttpRequest();
  request.open('GET', '/data/feed');
  request.send();
  for (const name of ['broken', 'missing', 'plain', 'huge']) fetch(`/data/${name}`).then(answer => answer.text());
  fetch('/data/sent', { method: 'POST', body: '{}' });
  fetch('OTHER').then(answer => answer.json());
</script>"#;

/// More answers than anybody saves.
const MANY: &str = r"<script>for (let page = 1; page <= 60; page += 1) fetch(`/data/list/${page}`).then(answer => answer.json());</script>";
