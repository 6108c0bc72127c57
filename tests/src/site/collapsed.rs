//! A page with initially hidden content: collapsed sections, tabs, rows that load on scrolling, and a virtual list.
//! Each of its sentences is unique.

use std::fmt::Write;

use super::{html, http::Response, request::PageRequest, server::Reply};

/// The number of folded sections, six of each kind.
const SECTIONS: usize = 30;
/// The number of tab strips, with three tabs each.
const STRIPS: usize = 5;
/// The number of rows that come on scrolling.
const LAZY_ROWS: usize = 200;
/// The number of rows of the list that contains only the rows in sight.
const VIRTUAL_ROWS: usize = 1_000;

/// A sentence of the page.
fn sentence(kind: &str, number: usize) -> String {
    format!("The {kind} number {number} tells how high the water stood on day {number} of the year.")
}

/// All sentences that a person finds on the page at `/folded`.
pub fn folded_sentences() -> Vec<String> {
    let of = |kind: &'static str, count: usize| (0..count).map(move |number| sentence(kind, number));
    let tabs = (0..STRIPS * 3).map(|number| sentence("tab", number));
    let all = of("section", SECTIONS).chain(tabs).chain(of("rest", 1));
    all.chain(of("lazy row", LAZY_ROWS)).chain(of("virtual row", VIRTUAL_ROWS)).collect()
}

pub(super) fn reply(ask: &PageRequest<'_>) -> Option<Reply> {
    match ask.rest()[..] {
        [] => Some(html::page("Folded", &page()).into()),
        ["part", kind, number] => {
            let text = sentence(kind, number.parse().ok()?);
            Some(Response::new("text/plain", text).into())
        }
        ["rows", first] => {
            let first: usize = first.parse().ok()?;
            let rows: Vec<String> =
                (first..LAZY_ROWS.min(first + 20)).map(|row| format!("\"{}\"", sentence("lazy row", row))).collect();
            Some(Response::new("application/json", format!("[{}]", rows.join(","))).into())
        }
        [name] => super::unfolding::page(name).map(Into::into),
        _ => None,
    }
}

fn page() -> String {
    let mut sections = String::new();
    for number in 0..SECTIONS {
        let text = sentence("section", number);
        let heading = format!("<h3>Station {number}</h3>");
        let _ = match number % 5 {
            // Of those with one name, only one is open. Each second one is in the one before.
            0 if number % 10 == 0 => {
                write!(sections, "<details name=\"one\"><summary>Station {number}</summary><p>{text}</p></details>")
            }
            0 => write!(
                sections,
                "<details><summary>Stations</summary><details><summary>Station {number}</summary><p>{text}</p></details></details>"
            ),
            1 => write!(
                sections,
                "<h3><button aria-expanded=\"false\" aria-controls=\"region-{number}\" onclick=\"toggle(this)\">Station {number}</button></h3>\
                 <div id=\"region-{number}\" hidden><p>{text}</p></div>"
            ),
            // Another that is open closes, and what is closed is not in the document.
            2 => write!(
                sections,
                "<div class=\"item\"><h3><button class=\"alone\" aria-expanded=\"false\" data-text=\"{text}\">Station {number}</button></h3></div>"
            ),
            3 => write!(
                sections,
                "{heading}<div><button aria-expanded=\"false\" onclick=\"fetchPart(this, 'section', {number})\">Details</button></div>"
            ),
            _ => write!(
                sections,
                "<h3><a href=\"#fold-{number}\" class=\"collapsed\" data-bs-toggle=\"collapse\" onclick=\"collapse(event, this)\">Station {number}</a></h3>\
                 <div id=\"fold-{number}\" class=\"collapse\"><p>{text}</p></div>"
            ),
        };
        sections.push('\n');
    }
    let mut strips = String::new();
    for strip in 0..STRIPS {
        let tab = |tab: usize| {
            let chosen = tab == 0;
            format!(
                "<button role=\"tab\" aria-selected=\"{chosen}\" data-number=\"{}\" aria-controls=\"{}\">Gauge {strip}{tab}</button>",
                strip * 3 + tab,
                if strip < 2 { format!("panel-{strip}-{tab}") } else { String::new() },
            )
        };
        let tabs: String = (0..3).map(tab).collect();
        let panels: String = if strip < 2 {
            let hide = if strip == 0 { " hidden" } else { " class=\"off\"" };
            let panel = |tab: usize| {
                let hidden = if tab == 0 { "" } else { hide };
                let text = sentence("tab", strip * 3 + tab);
                format!("<div role=\"tabpanel\" id=\"panel-{strip}-{tab}\"{hidden}><p>{text}</p></div>")
            };
            (0..3).map(panel).collect()
        } else {
            format!("<div role=\"tabpanel\"><p>{}</p></div>", sentence("tab", strip * 3))
        };
        let _ = writeln!(
            strips,
            "<h3>Gauges {strip}</h3><div class=\"tabs\" data-kind=\"{strip}\"><div role=\"tablist\">{tabs}</div>{panels}</div>"
        );
    }
    format!(
        "<style>.collapse, .off {{ display: none }} .collapse.show {{ display: block }}\
         #list {{ height: 400px; overflow-y: auto; position: relative }} #list div {{ position: absolute; height: 30px }}</style>\n\
         <header><nav><button aria-expanded=\"false\" aria-haspopup=\"true\">Menu</button></nav></header>\n\
         <main>\n<h1>Water levels</h1>\n{}<h2>Stations</h2>\n{sections}\
         <p>{}<span id=\"rest\"></span> <button id=\"more\">Show more</button></p>\n\
         <h2>Gauges</h2>\n{strips}\
         <h2>Days</h2>\n<div id=\"list\" tabindex=\"0\"><div id=\"all\"></div></div>\n\
         <h2>Years</h2>\n<ul id=\"lazy\"></ul><div id=\"end\">&nbsp;</div>\n</main>\n\
         <script>const VIRTUAL = {VIRTUAL_ROWS}, LAZY = {LAZY_ROWS}, sentence = n => `{}`;\n{SCRIPT}</script>",
        html::prose("water", 3),
        html::prose("more water", 1),
        sentence("virtual row", 7).replace('7', "${n}"),
    )
}

const SCRIPT: &str = r"
const by = id => document.getElementById(id);
const toggle = button => {
  const open = button.getAttribute('aria-expanded') !== 'true';
  button.setAttribute('aria-expanded', open);
  by(button.getAttribute('aria-controls')).hidden = !open;
};
const paragraph = text => Object.assign(document.createElement('p'), { textContent: text });
for (const button of document.querySelectorAll('.alone')) {
  button.onclick = () => setTimeout(() => {
    for (const other of document.querySelectorAll('.alone')) {
      other.setAttribute('aria-expanded', other === button);
      other.closest('.item').querySelector('p')?.remove();
    }
    button.closest('.item').append(paragraph(button.dataset.text));
  }, 30);
}
const fetchPart = async (button, kind, number) => {
  button.setAttribute('aria-expanded', true);
  const answer = await fetch(`/folded/part/${kind}/${number}`);
  button.after(paragraph(await answer.text()));
};
const collapse = (event, link) => {
  event.preventDefault();
  link.classList.toggle('collapsed');
  by(link.getAttribute('href').slice(1)).classList.toggle('show');
};
for (const strip of document.querySelectorAll('.tabs')) {
  const tabs = [...strip.querySelectorAll('[role=tab]')], kind = Number(strip.dataset.kind);
  for (const tab of tabs) tab.onclick = async () => {
    for (const other of tabs) other.setAttribute('aria-selected', other === tab);
    const panels = [...strip.querySelectorAll('[role=tabpanel]')];
    if (kind === 0) panels.forEach((panel, n) => { panel.hidden = n !== tabs.indexOf(tab); });
    else if (kind === 1) panels.forEach((panel, n) => panel.classList.toggle('off', n !== tabs.indexOf(tab)));
    else {
      const text = `The tab number ${tab.dataset.number} tells how high the water stood on day ${tab.dataset.number} of the year.`;
      const shown = kind === 4 ? await (await fetch(`/folded/part/tab/${tab.dataset.number}`)).text() : text;
      // The same panel with another text, or another panel.
      if (kind === 2) panels[0].replaceChildren(paragraph(shown));
      else panels[0].replaceWith(Object.assign(panels[0].cloneNode(), { innerHTML: `<p>${shown}</p>` }));
    }
  };
}
by('more').onclick = async () => {
  by('rest').textContent = await (await fetch('/folded/part/rest/0')).text();
  by('more').remove();
};
const list = by('list'), all = by('all');
all.style.height = `${VIRTUAL * 30}px`;
const draw = () => {
  const first = Math.max(0, Math.floor(list.scrollTop / 30) - 3), rows = [];
  for (let n = first; n < Math.min(VIRTUAL, first + 20); n++) {
    const row = document.createElement('div');
    row.style.top = `${n * 30}px`;
    row.textContent = sentence(n);
    rows.push(row);
  }
  all.replaceChildren(...rows);
};
list.addEventListener('scroll', () => requestAnimationFrame(draw));
draw();
let rows = 0, busy = false;
const load = async () => {
  if (busy || rows >= LAZY) return;
  busy = true;
  const texts = await (await fetch(`/folded/rows/${rows}`)).json();
  for (const text of texts) by('lazy').append(Object.assign(document.createElement('li'), { textContent: text }));
  rows += texts.length;
  busy = false;
};
new IntersectionObserver(entries => { if (entries.some(entry => entry.isIntersecting)) load(); }, { rootMargin: '50px' }).observe(by('end'));
";
