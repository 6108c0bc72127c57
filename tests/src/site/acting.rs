//! Pages to act in: a plain one with a control of every kind, and hostile ones.

use super::{html, http::Response, request::PageRequest, server::Reply};

pub(super) fn reply(ask: &PageRequest<'_>) -> Option<Reply> {
    let other = format!("http://localhost:{}/act", ask.port);
    let body = match ask.rest()[..] {
        ["page"] => return Some(html::page("Controls", &CONTROLS.replace("OTHER", &other)).into()),
        ["rows", first] => {
            let first: usize = first.parse().ok()?;
            let rows: Vec<String> = (first..first + 3).map(|row| format!("\"Row {row}\"")).collect();
            return Some(Response::new("application/json", format!("[{}]", rows.join(","))).into());
        }
        ["kinds", name] => return super::kinds::page(name, &other).map(Into::into),
        ["picture"] => "<img src=\"/content/image\" width=\"300\" height=\"200\" id=\"drawing\"><button id=\"b\">Press</button><button disabled>Off</button><div style=\"height:2000px\"></div><img src=\"/slow/image/300/file\" loading=\"lazy\" width=\"300\" height=\"200\">".to_owned(),
        ["tall"] => "<div style=\"height:30000px;width:10px\"></div><p id=\"none\" hidden>None</p>".to_owned(),
        ["result"] => {
            let fields = ask.query();
            let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name} is {value}.")).collect();
            return Some(html::page("Result", &format!("<main><p>{}</p></main>", html::escaped(&fields.join(" ")))).into());
        }
        ["links", count] => {
            let count: usize = count.parse().ok()?;
            let link = |n| format!("<li><a href=\"/page/{n}\">Link {n}</a> and some words</li>");
            let links = (0..count).map(link).collect::<Vec<_>>().join("\n");
            return Some(html::page("Links", &format!("<main>{MORE}<ul>{links}</ul></main>")).into());
        }
        ["steps", count] => {
            let count: usize = count.parse().ok()?;
            let link = |n| format!("<li><a href=\"#{n}\">Link {n}</a> and some words</li>");
            let links = (0..count).map(link).collect::<Vec<_>>().join("\n");
            return Some(html::page("Steps", &format!("<main>{NEXT}<ul>{links}</ul></main>")).into());
        }
        ["buttons", count] => {
            let count: usize = count.parse().ok()?;
            let button = |n| format!("<button onclick=\"show('Pressed {n}')\">Button {n}</button>");
            (0..count).map(button).collect::<Vec<_>>().join("\n")
        }
        ["never"] => "<a href=\"/slow/first-byte\">Never</a> <button id=\"b\">Press</button>".to_owned(),
        ["repeats"] => REPEATS.to_owned(),
        ["same-names"] => SAME_NAMES.to_owned(),
        ["leads-to-a-pdf"] => LEADS_TO_A_PDF.to_owned(),
        ["attachments"] => ATTACHMENTS.to_owned(),
        ["redirect-to-a-pdf"] => return Some(Response::redirect(302, "/content/pdf").into()),
        ["hidden-roots"] => HIDDEN_ROOTS.to_owned(),
        ["framed"] => return Some(html::page("Framed", FRAMED).into()),
        ["framed-dialog"] => return Some(html::page("Framed", FRAMED_DIALOG).into()),
        ["framed-window"] => return Some(html::page("Framed", FRAMED_WINDOW).into()),
        ["lists"] => LISTS.to_owned(),
        ["formats"] => FORMATS.to_owned(),
        ["labels"] => LABELS.to_owned(),
        ["modal"] => MODAL.to_owned(),
        ["numbers"] => NUMBERS.to_owned(),
        ["words"] => WORDS.to_owned(),
        ["grows"] => format!("{GROWS}<iframe src=\"{other}/grows-framed\" height=\"300\"></iframe>"),
        ["grows-framed"] => return Some(html::page("Framed", GROWS_FRAMED).into()),
        ["moves"] => MOVES.to_owned(),
        ["jumps"] => JUMPS.to_owned(),
        ["covered"] => COVERED.to_owned(),
        ["uncovers"] => format!("{COVERED}<script>setTimeout(() => document.getElementById('cover').remove(), 900);</script>"),
        ["sticky"] => format!("{STICKY}{}<button id=\"b\">Press</button>{}", html::prose("sticky", 40), html::prose("below", 40)),
        ["replaced"] => REPLACED.to_owned(),
        ["generated"] => "<style>#g::before { content: 'Press'; }</style><button id=\"b\">Press</button> <button id=\"g\"></button>".to_owned(),
        ["single-keys"] => "<label>Code <input onbeforeinput=\"if (event.data?.length > 1) event.preventDefault()\" onkeyup=\"if (value.length === 4) show(value)\"></label>".to_owned(),
        ["vanishes"] => VANISHES.to_owned(),
        ["disabled"] => "<button disabled>Press</button>".to_owned(),
        ["enables"] => ENABLES.to_owned(),
        ["hidden"] => "<button id=\"b\" style=\"display:none\">Press</button>".to_owned(),
        ["dialogs"] => "<button onclick=\"alert('First'); show(confirm('Second?')); show(String(prompt('Third?', 'x')))\">Press</button>".to_owned(),
        ["frame-dialog"] => format!("<iframe src=\"{other}/framed-dialog\"></iframe>"),
        ["frame-window"] => format!("<iframe src=\"{other}/framed-window\"></iframe>"),
        ["unload"] => UNLOAD.to_owned(),
        ["navigates"] => "<button onmousedown=\"location.href='/page/after'\">Press</button>".to_owned(),
        ["leads-away"] => format!("<a href=\"{}\">Press</a>", other.replace("/act", "/page/elsewhere")),
        ["detaches"] => DETACHES.to_owned(),
        ["detaches-other"] => format!("<script>addEventListener('message', () => {{ document.querySelector('iframe').remove(); show('detached'); }});</script><iframe src=\"{other}/framed\"></iframe>"),
        ["shadows"] => SHADOWS.to_owned(),
        ["hangs"] => "<button onclick=\"while (true);\">Press</button>".to_owned(),
        ["windows"] => "<a href=\"/page/blank\" target=\"_blank\">A link of its own</a> <button onclick=\"window.open('/page/window')\">Press</button>".to_owned(),
        ["tampers"] => TAMPERS.to_owned(),
        ["clobbers"] => CLOBBERS.to_owned(),
        _ => return None,
    };
    let script = "<p id=\"shown\"></p><script>var show = text => document.getElementById('shown').append(` Shown: ${text}.`);\
                  addEventListener('click', event => { if (event.target.id === 'b') show(event.isTrusted ? 'pressed' : 'forged'); });</script>";
    Some(
        html::page("Acting", &format!("{script}<main><h1>Acting</h1>{}{body}</main>", html::prose("acting", 2))).into(),
    )
}

/// A field for files, which tells what it has received. A file from the first minutes of 1970 is the test's own.
const ATTACHMENTS: &str = r#"<label>Attachments <input type="file" multiple></label><script>
  document.querySelector('input').onchange = async event => {
    for (const file of event.target.files) {
      show(`${file.lastModified < 1e6 ? 'original' : 'copy'} of ${file.name}, which says ${await file.text()}`);
    }
  };
</script>"#;

/// Ways to a PDF, and what is there besides.
const LEADS_TO_A_PDF: &str = r#"<a href="/content/pdf">Press</a> <a href="/content/pdf" target="_blank">Tab</a>
<a href="/act/redirect-to-a-pdf">Redirect</a> <button onclick="location = '/content/pdf'">Script</button>
<form action="/content/pdf"><button>Form</button></form> <label>Note <input></label> <a href="/page/one">Page</a>
<button onclick="const frame = document.createElement('iframe'); frame.src = '/content/pdf'; this.after(frame)">Frame</button>"#;

/// A button that brings three rows, four times.
const MORE: &str = r"<ul id='rows'></ul><button id='more'>Load more</button><script>
  let rows = 0;
  more.onclick = async () => {
    const answer = await fetch(`/act/rows/${rows}`);
    for (const text of await answer.json()) {
      const item = document.createElement('li');
      item.innerHTML = `<a href='/page/row-${rows}'>${text}</a>`;
      document.getElementById('rows').append(item);
      rows += 1;
    }
    if (rows === 12) more.remove();
  };
</script>";

/// Buttons that do the same with each click, some time later: what each click finds tells whether the one before was waited
/// for. The page polls meanwhile.
const REPEATS: &str = r"<button id='request'>Request</button> <button id='timer'>Timer</button><script>
  setInterval(() => fetch('/slow/poll'), 700);
  const counts = { request: [0, 0], timer: [0, 0] };
  const begin = (way) => show(`${way} ${++counts[way][0]} after ${counts[way][1]}`), end = (way) => { counts[way][1] += 1; };
  request.onclick = () => { begin('request'); fetch('/slow/answer/300').then(answer => answer.text()).then(() => end('request')); };
  timer.onclick = () => { begin('timer'); setTimeout(() => end('timer'), 300); };
</script>";

/// A button that brings other rows, as often as it is clicked, and controls that do nothing.
const NEXT: &str = r"<ul id='rows'></ul><button id='next'>Next</button> <label>Filter <input></label> <label><input type='checkbox'> All</label>
<select aria-label='Order'><option>Oldest</option><option>Newest</option></select><script>
  let rows = 0;
  document.getElementById('next').onclick = async () => {
    rows += 3;
    const texts = await (await fetch(`/act/rows/${rows}`)).json();
    document.getElementById('rows').innerHTML = texts.map(text => `<li><a href='/page/${text.replace(' ', '-')}'>${text}</a></li>`).join('');
  };
</script>";

const CONTROLS: &str = r#"<header><a href="/">Home</a> <input type="search" aria-label="Site search"></header>
<main>
<h1>Controls</h1>
<ul id="rows"></ul><button id="more">Load more</button>
<form action="/act/result">
  <label>Search <input name="q" id="search"></label>
  <label>Day <input type="date" name="day"></label>
  <label>Count <input type="number" name="count"></label>
  <label>Notes <textarea name="notes"></textarea></label>
  <label>Version <select name="version"><option>3.1</option><option>3.2</option><option disabled>4.0</option></select></label>
  <label>Topics <select name="topic" multiple><option>Tides</option><option>Winds</option><option>Ice</option></select></label>
  <label><input type="checkbox" name="all"> All</label>
  <label><input type="checkbox" name="styled" style="position:absolute;opacity:0;width:0;height:0"> Styled</label>
  <label><input type="radio" name="unit" value="metre" checked> Metres</label> <label><input type="radio" name="unit" value="foot"> Feet</label>
  <input name="fixed" aria-label="Fixed" value="never" readonly>
  <button>Go</button>
</form>
<label for="file">Attachment</label> <input type="file" id="file"> <button id="choose">Choose a file</button>
<div contenteditable role="textbox" aria-label="Editor" id="editor">Old text</div>
<div role="combobox" aria-label="Station" tabindex="0" id="station">None</div>
<div role="listbox" id="stations" hidden><div role="option">Amber</div><div role="option">Basalt</div></div>
<div role="switch" aria-checked="false" aria-label="Alarm" tabindex="0" id="alarm">o</div>
<div id="menu"><a href="/page/guides">Guides</a><div id="below" hidden>A menu that opens</div></div>
<details><summary>More about it</summary><p>What was folded.</p></details>
<h2>First part</h2><button class="edit">Edit</button>
<h2>Second part</h2><button class="edit">Edit</button>
<a href="/content/download">Archive</a>
<p id="shown"></p>
<div id="scroller" style="height:60px;overflow:auto" tabindex="0" role="listbox" aria-label="Long list"><div style="height:900px" role="option">Long</div></div>
<div style="height:3000px"></div><p id="end">The end</p>
</main>
<iframe src="OTHER/framed" width="300" height="80"></iframe> <iframe src="/act/framed" width="300" height="80"></iframe>
<script>
  const show = text => document.getElementById('shown').append(` Shown: ${text}.`);
  const by = id => document.getElementById(id);
  let rows = 0;
  by('more').onclick = async () => {
    const answer = await fetch(`/act/rows/${rows}`);
    for (const text of await answer.json()) {
      const item = document.createElement('li');
      item.innerHTML = `<a href="/page/row-${rows}">${text}</a>`;
      by('rows').append(item);
      rows += 1;
    }
    if (rows === 12) by('more').remove();
  };
  by('file').onchange = () => [...by('file').files].forEach(async file => show(`${file.name} with ${await file.text()}`));
  by('choose').onclick = () => by('file').click();
  by('station').onclick = () => { by('stations').hidden = false; };
  for (const option of by('stations').children) option.onclick = () => { by('station').textContent = option.textContent; by('stations').hidden = true; show(`station ${option.textContent}`); };
  by('alarm').onclick = () => { by('alarm').setAttribute('aria-checked', by('alarm').getAttribute('aria-checked') === 'false'); show('alarm'); };
  by('menu').onmouseenter = () => { by('below').hidden = false; };
  [...document.querySelectorAll('.edit')].forEach((button, index) => { button.onclick = () => show(`edit ${index + 1}`); });
  by('search').addEventListener('keydown', event => { if (event.key === 'ArrowDown') show('down'); });
  by('search').addEventListener('input', event => { document.title = `Searching ${event.target.value}`; });
  addEventListener('scroll', () => { if (scrollY + innerHeight > document.documentElement.scrollHeight - 50 && !by('shown').textContent.includes('bottom')) show('bottom'); });
</script>"#;

const FRAMED: &str = r#"<button id="b">Inside</button> <input aria-label="Inner field"><p id="o"></p>
<script>
  document.getElementById('b').textContent = `Inside ${location.hostname}`;
  document.querySelector('input').setAttribute('aria-label', `Field ${location.hostname}`);
  document.getElementById('b').onclick = event => { document.getElementById('b').textContent = event.isTrusted ? `Hit ${location.hostname}` : 'Forged'; parent.postMessage('hit', '*'); };
  document.querySelector('input').oninput = event => { document.getElementById('o').textContent = event.target.value; };
</script>"#;

/// Buttons of one name in the page and in a frame between them; and a name that is a part of another one.
const SAME_NAMES: &str = r#"<button onclick="show('first')">Save</button> <button onclick="show('later')">Pay later</button>
<iframe srcdoc="<button onclick=&quot;document.querySelector('p').hidden = false&quot;>Save</button> <button onclick=&quot;parent.show('paid')&quot;>Pay</button>
<p hidden>The gauge at the pier has recorded every high water since the harbour was built, and the tables of each year come from it.</p>"></iframe>
<button onclick="show('last')">Save</button>"#;

const FRAMED_DIALOG: &str =
    r#"<button onclick="alert('Framed'); this.textContent = String(confirm('Sure?'))">Inside</button>"#;

const FRAMED_WINDOW: &str =
    r#"<button onclick="window.open('/page/from-frame'); this.textContent = 'Opened'">Inside</button>"#;

/// Lists with options of one name: of the browser, that the page made itself, that are named by what opens them or not, and
/// that close after each choice.
const LISTS: &str = r#"<label>Country <select size="3" onchange="show(`country ${value}`)"><option>Apple</option><option>Germany</option></select></label>
<div role="listbox" aria-label="From"><div role="option">Red</div><div role="option">Blue</div></div>
<div role="listbox" aria-label="To"><div role="option">Red</div><div role="option">Blue</div></div>
<div role="combobox" aria-label="Fruit" aria-expanded="false" aria-controls="fruits" tabindex="0">None</div>
<div role="combobox" aria-label="Tags" aria-expanded="false" aria-controls="tags" tabindex="0">None</div>
<div role="combobox" aria-label="Port" aria-expanded="false" tabindex="0">None</div>
<ul role="listbox" id="fruits" aria-label="Fruits" hidden><li role="option">Apple</li><li role="option">Pear</li></ul>
<ul role="listbox" id="tags" aria-label="All tags" hidden><li role="option">T1</li><li role="option">T2</li><li role="option">T3</li></ul>
<ul role="listbox" id="ports" aria-label="Ports" hidden><li role="option">Red</li><li role="option">Green</li></ul>
<script>
  const boxes = { Fruit: 'fruits', Tags: 'tags', Port: 'ports' };
  for (const [name, id] of Object.entries(boxes)) {
    const list = document.getElementById(id), box = document.querySelector(`[aria-label=${name}]`);
    box.onclick = () => setTimeout(() => { list.hidden = !list.hidden; }, 50);
    for (const option of list.children) option.onclick = () => { list.hidden = true; show(`${name} ${option.textContent}`); };
  }
  for (const option of document.querySelectorAll('div[role=option]')) option.onclick = () => show(`${option.parentElement.getAttribute('aria-label')} ${option.textContent}`);
</script>"#;

/// Fields that write their values in formats of their own.
const FORMATS: &str = r#"<form action="/act/result"><label>Colour <input type="color" name="colour"></label>
<label>When <input type="datetime-local" name="when"></label> <label>Share <input type="range" name="share" min="0" max="100"></label>
<label>Day <input type="date" name="day" value="2026-01-01"></label> <button>Go</button></form>"#;

/// Controls that do not show, with labels that do; and an editor without a role.
const LABELS: &str = r#"<input type="checkbox" id="drawn" style="display:none" onchange="show(`drawn ${checked}`)"><label for="drawn">Styled switch</label>
<input type="file" id="notes" hidden onchange="show(`file ${files[0].name}`)"><label for="notes">Upload notes</label>
<label><input type="radio" name="side" style="display:none" onchange="show('far')"> Far <b>side</b></label>
<div contenteditable oninput="show(textContent)">Old text</div>"#;

/// A dialog over a page.
const MODAL: &str = r#"<button id="b">Press</button><dialog id="question"><p>Keep the draft?</p><button>Keep</button></dialog>
<script>document.getElementById('question').showModal();</script>"#;

/// A name that ends as the list numbers equal ones.
const NUMBERS: &str = r#"<button onclick="show('named')">Item [2]</button> <button onclick="show('first')">Item</button> <button onclick="show('second')">Item</button>"#;

/// Names that are a part of the names of what does the opposite.
const WORDS: &str = r#"<button onclick="show('undeleted')">Undelete</button>
<button onclick="textContent = textContent === 'Subscribe' ? 'Unsubscribe' : 'Subscribe'; show('toggled')">Subscribe</button>
<button onclick="show('saved')">Save as text</button>"#;

/// Rows that come on clicks in a closed shadow root and, beside it, in a frame of another site.
const GROWS: &str = r#"<div id="host"></div><script>
  const root = document.getElementById('host').attachShadow({ mode: 'closed' });
  root.innerHTML = '<p>The closed part has a text of its own, which was there before.</p><div></div><button>More closed</button>';
  let rows = 0;
  root.querySelector('button').onclick = () => { if (rows < 3) root.querySelector('div').append(Object.assign(document.createElement('p'), { textContent: `Closed row ${rows += 1}` })); };
</script>"#;

/// A text that comes late in a closed shadow root in another one, and goes again.
const HIDDEN_ROOTS: &str = r#"<div id="host"></div><p>Outside.</p><script>
  const outer = document.getElementById('host').attachShadow({ mode: 'closed' });
  outer.innerHTML = 'The gate is closed.<p>The outer part.</p><div></div>';
  setTimeout(() => {
    const inner = outer.querySelector('div').attachShadow({ mode: 'closed' });
    inner.innerHTML = '<p>The lock is <b>open</b> now.</p>';
    setTimeout(() => { inner.innerHTML = '<p class="later">The lock is shut again.</p>'; }, 3000);
  }, 600);
</script>"#;

const GROWS_FRAMED: &str = r"<p>The frame has a text of its own.</p><div></div><button>More framed</button><script>
  let rows = 0;
  document.querySelector('button').onclick = () => { if (rows < 3) document.querySelector('div').append(Object.assign(document.createElement('p'), { textContent: `Framed row ${rows += 1}` })); };
</script>";

/// It never stands still.
const MOVES: &str = r#"<button id="b" style="position:relative">Press</button><script>
  const step = time => { document.getElementById('b').style.left = `${100 + 80 * Math.sin(time / 300)}px`; requestAnimationFrame(step); };
  requestAnimationFrame(step);
</script>"#;

/// It goes away from every mouse.
const JUMPS: &str = r#"<button id="b" style="position:fixed;left:100px;top:400px">Press</button><script>
  let at = 100;
  addEventListener('mousemove', () => { at = at === 100 ? 600 : 100; document.getElementById('b').style.left = `${at}px`; }, true);
</script>"#;

const COVERED: &str = r#"<div style="position:relative;height:60px"><button id="b">Press</button><div id="cover" style="position:absolute;inset:0;background:#fff">A notice</div></div>"#;

const STICKY: &str = r#"<div style="position:fixed;top:0;left:0;right:0;height:45%;background:#eee" id="top">A header</div><div style="position:fixed;bottom:0;left:0;right:0;height:30%;background:#eee">A footer</div>"#;

/// A framework draws it anew again and again.
const REPLACED: &str = r#"<div id="place"></div><script>
  const draw = () => { document.getElementById('place').innerHTML = '<button id="b">Press</button>'; };
  draw();
  setInterval(draw, 150);
</script>"#;

const VANISHES: &str = r#"<button id="b" onmouseover="this.remove()">Press</button>"#;

const ENABLES: &str = r#"<button id="b" disabled>Press</button><script>setTimeout(() => { document.getElementById('b').disabled = false; }, 900);</script>"#;

const UNLOAD: &str = r#"<a href="/page/after">Press</a><script>addEventListener('beforeunload', event => { event.preventDefault(); event.returnValue = 'Stay?'; });</script>"#;

/// The click takes its own frame away.
const DETACHES: &str = r#"<iframe srcdoc="<button onclick='parent.show(&quot;detached&quot;); frameElement.remove()'>Press</button>"></iframe>"#;

const SHADOWS: &str = r#"<div id="open"></div><div id="closed"></div><script>
  for (const mode of ['open', 'closed']) {
    const root = document.getElementById(mode).attachShadow({ mode });
    root.innerHTML = `<button>Press the ${mode} one</button><input aria-label="Field in the ${mode} one">`;
    root.querySelector('button').onclick = () => show(`${mode} pressed`);
    root.querySelector('input').oninput = event => show(`${mode} has ${event.target.value}`);
  }
</script>"#;

/// Its scripts change what they can reach.
const TAMPERS: &str = r#"<button id="b">Press</button><input aria-label="Field"><script>
  Element.prototype.scrollIntoView = () => { throw new Error('no'); };
  Element.prototype.getBoundingClientRect = () => ({ left: 0, top: 0, width: 0, height: 0 });
  Node.prototype.contains = Element.prototype.matches = Element.prototype.closest = () => { throw new Error('no'); };
  HTMLElement.prototype.focus = () => { throw new Error('no'); };
  EventTarget.prototype.addEventListener = () => { throw new Error('no'); };
  window.MessageChannel = window.Map = window.Set = undefined;
  JSON.stringify = JSON.parse = () => 'no';
</script>"#;

/// A form whose fields have the names of what is asked of an element.
const CLOBBERS: &str = r#"<form id="f"><input name="isConnected"><input name="ownerDocument"><input name="parentElement"><input name="nodeType"><input name="matches">
<input name="getRootNode"><input name="textContent"><input name="checkVisibility"><button id="b" type="button">Press</button></form>
<form name="body"></form><img name="documentElement"><embed name="querySelectorAll">"#;
