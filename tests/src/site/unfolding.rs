//! Pages whose controls do more or less than to show what is hidden: they lead elsewhere, bring nothing, hide again, react
//! to other events than a click, or are not of the main content.

use super::{html, http::Response};

pub(super) fn page(name: &str) -> Option<Response> {
    let body = match name {
        "navigates" => NAVIGATES,
        "app" => APP,
        "toggles" => TOGGLES,
        "pressed-tabs" => PRESSED_TABS,
        "dead-tabs" => DEAD_TABS,
        "nested-tabs" => NESTED_TABS,
        "redrawn" => REDRAWN,
        "redrawn-sections" => REDRAWN_SECTIONS,
        "header" => {
            let body = format!("{HEADER}<div><h1>header</h1>\n{}{FOLD}</div>", html::prose("header", 3));
            return Some(html::page("header", &body));
        }
        _ => return None,
    };
    let body = format!("<main>\n<h1>{name}</h1>\n{}{body}{FOLD}\n</main>", html::prose(name, 3));
    Some(html::page(name, &body))
}

/// A section that opens.
const FOLD: &str = r"<h2>Soundings</h2><details><summary>Where is the lead line kept?</summary><p>The lead line hangs in the wheelhouse of the pilot boat, beside the chart of the bar.</p></details>";

/// Buttons that lead to other pages: at once, later, and in place of what they unfold.
const NAVIGATES: &str = r#"<p><button onclick="location.href = '/page/all'">Show all news</button>
<button onclick="setTimeout(() => { location.href = '/page/late'; }, 50)">Read more</button></p>
<h3><button aria-expanded="false" onclick="location = '/page/station'">Station</button></h3>
<h3><button aria-expanded="false" onclick="this.setAttribute('aria-expanded', true); document.getElementById('ferry').hidden = false">Ferry</button></h3>
<div id="ferry" hidden><p>The ferry leaves from the northern pier two hours before high water.</p></div>"#;

/// A button that shows another page of an application in the same document.
const APP: &str = r#"<button onclick="history.pushState(null, '', '/folded/other'); document.querySelector('main').innerHTML = '<h1>All news</h1><p>This is another page.</p>'">Show all news</button>"#;

/// Buttons of one name: one shows and hides a text, one brings nothing, one brings three rows one by one and then nothing.
const TOGGLES: &str = r#"<section><p id="bore" hidden>The bore of the river is highest two days after the full moon of March.</p><button onclick="const bore = document.getElementById('bore'); bore.hidden = !bore.hidden">Show more</button></section>
<section><p>Dredging</p><button onclick="fetch('/folded/part/dead/1')">Show more</button></section>
<section><ul id="rows"></ul><button onclick="load()">Show more</button></section>
<script>
  let row = 0;
  const load = async () => {
    const answer = await fetch(`/folded/part/row/${row}`);
    if (row < 3) document.getElementById('rows').append(Object.assign(document.createElement('li'), { textContent: await answer.text() }));
    row += 1;
  };
</script>"#;

/// Tabs that react to the press of the mouse and to the focus alone.
const PRESSED_TABS: &str = r#"<div><div role="tablist"><button role="tab" aria-selected="true">Spring</button><button role="tab" aria-selected="false">Neap</button><button role="tab" aria-selected="false">Storm</button></div>
<div role="tabpanel"></div></div>
<script>
  const tabs = [...document.querySelectorAll('[role=tab]')];
  const choose = tab => {
    for (const other of tabs) other.setAttribute('aria-selected', other === tab);
    document.querySelector('[role=tabpanel]').innerHTML = `<p>The ${tab.textContent} tide is drawn in the chart on the wall.</p>`;
  };
  for (const tab of tabs) tab.onmousedown = event => { if (event.button === 0) choose(tab); };
  tabs[2].onmousedown = null;
  tabs[2].onfocus = () => choose(tabs[2]);
  choose(tabs[0]);
</script>"#;

/// Tabs that do nothing.
const DEAD_TABS: &str = r#"<div><div role="tablist"><button role="tab" aria-selected="true">Spring</button><button role="tab" aria-selected="false">Neap</button></div>
<div role="tabpanel"><p>The spring tide is drawn in the chart on the wall.</p></div></div>"#;

/// Tabs whose hidden panels stay in the page, and in these: tabs in `details`, tabs in a section, and sections in tabs in a
/// shadow root. The inner tabs share a panel, which the page fills some time after the click.
const NESTED_TABS: &str = r#"<div id="outer"><div role="tablist"><button role="tab" aria-selected="true">Harbour</button><button role="tab" aria-selected="false">River</button><button role="tab" aria-selected="false">Coast</button></div>
<div role="tabpanel"><p>Harbour gauges</p><details><summary>Gates</summary><div data-names="Ebb,Flood"></div></details></div>
<div role="tabpanel" hidden><p>River gauges</p><h4><button aria-expanded="false" onclick="this.setAttribute('aria-expanded', true); this.parentElement.nextElementSibling.hidden = false">Locks</button></h4><div hidden data-names="Rise,Slack,Fall"></div></div>
<div role="tabpanel" hidden><p>Coast gauges</p><tide-tabs></tide-tabs></div></div>
<script>
  const strip = (root, choose) => {
    const tabs = [...root.querySelector('[role=tablist]').children];
    for (const [index, tab] of tabs.entries()) tab.onclick = () => setTimeout(() => {
      for (const other of tabs) other.setAttribute('aria-selected', other === tab);
      choose(index);
    }, 20);
  };
  const gauge = name => `<p>The ${name} gauge is read at the lower gate.</p>`;
  const fill = (box, names, text) => {
    box.innerHTML = `<div role="tablist">${names.map((name, index) => `<button role="tab" aria-selected="${index === 0}">${name}</button>`).join('')}</div><div role="tabpanel">${text(names[0])}</div>`;
    strip(box, index => { box.lastChild.innerHTML = text(names[index]); });
  };
  for (const box of document.querySelectorAll('[data-names]')) fill(box, box.dataset.names.split(','), gauge);
  const shadow = document.querySelector('tide-tabs').attachShadow({ mode: 'open' });
  fill(shadow.appendChild(document.createElement('div')), ['North', 'South'], name => `<h4><button aria-expanded="false" onclick="this.setAttribute('aria-expanded', true); this.parentElement.nextElementSibling.hidden = false">${name} side</button></h4><div hidden>${gauge(name)}</div>`);
  const panels = [...document.querySelectorAll('#outer > [role=tabpanel]')];
  strip(document.getElementById('outer'), chosen => { for (const [index, panel] of panels.entries()) panel.hidden = index !== chosen; });
</script>"#;

/// Tabs that are drawn anew on each click, with their panel; and buttons of one name, of which the first is drawn anew and
/// brings nothing.
const REDRAWN: &str = r#"<div id="strip"></div>
<section id="idle"></section>
<section><p id="lock" hidden>The lock opens at every full hour from six in the morning.</p><button onclick="document.getElementById('lock').hidden = false">Show more</button></section>
<script>
  const names = ['Spring', 'Neap', 'Storm'];
  const draw = chosen => {
    const tabs = names.map((name, index) => `<button role="tab" aria-selected="${index === chosen}" onclick="draw(${index})">${name}</button>`);
    document.getElementById('strip').innerHTML = `<div role="tablist">${tabs.join('')}</div><div role="tabpanel"><p>The ${names[chosen]} tide is drawn in the chart on the wall.</p></div>`;
  };
  const idle = () => { document.getElementById('idle').innerHTML = '<p>Dredging</p><button onclick="idle()">Show more</button>'; };
  draw(0);
  idle();
</script>"#;

/// Sections that are drawn anew on each click, of which one is open: their texts are there while they are, or hidden, or they
/// are drawn some time after the click. The sign of a button shows its state.
const REDRAWN_SECTIONS: &str = r#"<div id="given"></div><div id="hidden"></div><div id="later"></div>
<script>
  const sections = (box, names, panel, soon) => {
    const draw = open => {
      const part = (name, index) => `<div><h3><button data-index="${index}" aria-expanded="${index === open}">${name} ${index === open ? '−' : '+'}</button></h3>${panel(`The ${name} gauge is read at the lower gate.`, index === open)}</div>`;
      box.innerHTML = names.map(part).join('');
    };
    box.onclick = event => {
      const button = event.target.closest('button');
      if (button) soon(() => draw(button.getAttribute('aria-expanded') === 'true' ? -1 : Number(button.dataset.index)));
    };
    draw(0);
  };
  const now = draw => draw();
  sections(document.getElementById('given'), ['Ebb', 'Flood', 'Slack', 'Rise'], (text, open) => open ? `<p>${text}</p>` : '', now);
  sections(document.getElementById('hidden'), ['North', 'South', 'East'], (text, open) => `<p ${open ? '' : 'hidden'}>${text}</p>`, now);
  sections(document.getElementById('later'), ['First', 'Second', 'Third'], (text, open) => open ? `<p>${text}</p>` : '', draw => setTimeout(draw, 20));
</script>"#;

/// A header of the page, with a control that covers the page.
const HEADER: &str = r#"<header><button aria-expanded="false" onclick="this.setAttribute('aria-expanded', true); document.getElementById('cover').hidden = false">Sign in</button></header>
<div id="cover" hidden style="position:fixed;inset:0;background:#fff">A form to sign in covers the page.</div>"#;
