//! A control for every kind of step, on pages that are hostile to all of them.

use super::{html, http::Response};

/// The action of each page on its controls.
const SITUATIONS: [(&str, &str); 8] = [
    // They never stand still.
    (
        "moves",
        "<script>const step = time => { box.style.cssText = `position:relative;left:${100 + 80 * Math.sin(time / 300)}px`; requestAnimationFrame(step); }; requestAnimationFrame(step);</script>",
    ),
    ("covered", "<div style='position:fixed;inset:0;background:#eee;opacity:.5'>A notice</div>"),
    // They go when anything happens to them.
    ("vanishes", "<script>any(() => box.remove());</script>"),
    ("dialog", "<script>any(() => { if (!window.asked) { window.asked = true; alert('Hey'); } });</script>"),
    ("navigates", "<script>any(() => { location.href = '/page/after'; });</script>"),
    // A framework draws them anew again and again.
    ("redraws", "<script>const drawn = box.innerHTML; setInterval(() => { box.innerHTML = drawn; }, 400);</script>"),
    ("hangs", "<script>any(() => { while (true); });</script>"),
    (
        "disabled",
        "<script>for (const each of box.querySelectorAll('button,input,select')) each.disabled = true;</script>",
    ),
];

/// The page called `name`, whose controls are `where` it says; `other` is this site under another name.
pub(super) fn page(name: &str, other: &str) -> Option<Response> {
    let text = "<p>Acting</p><p id=\"did\" style=\"min-height:4em\"></p><script>AbortSignal.timeout(400).addEventListener('abort', () => document.getElementById('did').append(' Ready now.'));</script>";
    let body = match name {
        "framed" => return Some(html::page("Framed", &controls(""))),
        "framed-detaches" => {
            return Some(html::page(
                "Framed",
                &controls("<script>any(() => parent.postMessage('detach', '*'));</script>"),
            ));
        }
        "other-site" => format!("<iframe src=\"{other}/kinds/framed\" width=\"600\" height=\"300\"></iframe>"),
        "other-site-detaches" => format!(
            "<script>addEventListener('message', () => document.querySelector('iframe').remove());</script>\
             <iframe src=\"{other}/kinds/framed-detaches\" width=\"600\" height=\"300\"></iframe>"
        ),
        "detaches" => format!(
            "<iframe srcdoc=\"{}\" width=\"600\" height=\"300\"></iframe>",
            html::escaped(&controls("<script>any(() => frameElement.remove());</script>"))
        ),
        "open" | "closed" => format!(
            "<div id=\"host\"></div><template>{CONTROLS}</template>{DID}<script>{{\n\
             const root = document.getElementById('host').attachShadow({{ mode: '{name}' }});\n\
             root.append(document.querySelector('template').content);\nlisten(root);\n}}</script>"
        ),
        name => controls(SITUATIONS.iter().find(|(known, _)| *known == name)?.1),
    };
    Some(html::page("Kinds", &format!("<main><h1>Kinds</h1>{text}{body}</main>")))
}

/// The controls in a box, and a script.
fn controls(script: &str) -> String {
    format!(
        "<div id=\"box\">{CONTROLS}</div>{DID}<script>const box = document.getElementById('box'); listen(box);</script>{script}"
    )
}

const CONTROLS: &str = "<button>Press</button> <input aria-label='Field'> <select aria-label='Choice'><option>One</option><option>Two</option></select> <label><input type='checkbox'> Box</label> <input type='file' aria-label='File'>";

/// Says what was done. `any` calls `work` for whatever is done to the controls.
const DID: &str = "<script>
  if (!document.getElementById('did')) document.body.insertAdjacentHTML('beforeend', '<p id=\"did\"></p>');
  const did = text => document.getElementById('did').append(` Did: ${text}.`);
  const listen = part => {
    part.addEventListener('click', ({ target }) => { if (target.localName === 'button') did('click'); });
    part.addEventListener('input', ({ target }) => { if (target.localName === 'input' && target.type === 'text') did(`fill ${target.value}`); });
    part.addEventListener('change', ({ target }) => {
      if (target.localName === 'select') did(`select ${target.value}`);
      if (target.type === 'checkbox') did(`check ${target.checked}`);
      if (target.type === 'file') did(`upload ${target.files[0].name}`);
    });
    part.addEventListener('keydown', ({ key }) => { if (key === 'Enter') did('press Enter'); });
    part.addEventListener('mouseover', ({ target }) => { if (target.localName === 'button') did('hover'); });
  };
  const any = work => { for (const name of ['mouseover', 'focusin', 'input', 'change', 'keydown', 'click']) box.addEventListener(name, work); };
</script>";
