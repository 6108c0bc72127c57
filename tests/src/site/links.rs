//! Pages about links: their number, position, names and visibility.

use std::fmt::Write;

use super::{
    html,
    request::{PageRequest, number},
    server::Reply,
};

/// The maximum number of links that a page has.
const MAX_LINKS: usize = 20_000;

pub(super) fn reply(ask: &PageRequest<'_>) -> Option<Reply> {
    let response = match ask.rest()[..] {
        ["late", ms] => html::page("Links that come late", &late(number(ms)?)),
        ["hidden"] => html::text_page("Hidden links", HIDDEN),
        ["unstyled"] => html::text_page("Links without styles", UNSTYLED),
        ["names"] => html::text_page("Names of links", NAMES),
        ["rtl"] => html::page("From right to left", RTL),
        ["schemes"] => html::text_page("Schemes", SCHEMES),
        ["duplicates"] => html::text_page("Duplicates", DUPLICATES),
        ["base"] => super::http::Response::html(html::document("Base", "<base href=\"/page/below/\">\n", BASE)),
        ["shadow"] => html::text_page("Shadow roots", SHADOW),
        ["frames"] => html::text_page("Frames", &frames(ask)),
        ["frame", name] => html::page("In a frame", &format!("<a href=\"/page/{name}\">Link in the {name} frame</a>")),
        ["odd"] => html::text_page("Odd addresses", &odd()),
        ["windows"] => html::text_page("Windows", WINDOWS),
        [n] => html::page("Links", &plain(number(n).filter(|n| *n <= MAX_LINKS)?)),
        _ => return None,
    };
    Some(response.into())
}

fn plain(count: usize) -> String {
    let mut body = format!("<h1>{count} links</h1>\n{}<ul>\n", html::prose("links", 2));
    for n in 1..=count {
        let _ = writeln!(body, "<li><a href=\"/page/{n}\">Entry {n}: {}</a></li>", html::name(&n.to_string()));
    }
    body + "</ul>"
}

fn late(ms: u32) -> String {
    format!(
        "<h1>Links that come late</h1>\n<ul id=\"list\"></ul>\n<script>\nsetTimeout(() => {{\n  \
         for (let n = 1; n <= 20; n++) {{\n    const item = document.createElement('li');\n    \
         item.innerHTML = `<a href=\"/page/late-${{n}}\">Late entry ${{n}}</a>`;\n    \
         document.getElementById('list').append(item);\n  }}\n}}, {ms});\n</script>"
    )
}

fn frames(ask: &PageRequest<'_>) -> String {
    let other = ask.query().into_iter().find(|(name, _)| name == "other").map(|(_, origin)| origin);
    let other = other.unwrap_or_else(|| format!("http://localhost:{}", ask.port));
    format!(
        "<p><a href=\"/page/outside\">Link outside of the frames</a></p>\n\
         <iframe src=\"/links/frame/same\" title=\"same origin\"></iframe>\n\
         <iframe src=\"{}/links/frame/other\" title=\"other origin\"></iframe>\n\
         <iframe srcdoc=\"<a href='/page/srcdoc'>Link in a srcdoc frame</a>\" title=\"srcdoc\"></iframe>\n\
         <iframe src=\"/links/frame/hidden\" title=\"hidden\" style=\"display: none\"></iframe>\n\
         <iframe src=\"/links/frame/tiny\" title=\"tiny\" style=\"width: 1px; height: 1px; border: 0\"></iframe>\n\
         <iframe src=\"/links/frame/faded\" title=\"faded\" style=\"opacity: 0\"></iframe>\n\
         <object data=\"/links/frame/object\" type=\"text/html\"></object>",
        html::escaped(&other)
    )
}

fn odd() -> String {
    let long = "long-".repeat(800);
    format!(
        "<ul>\n<li><a href=\"/page/日本語のページ?q=東京&amp;x=%2F#節\">CJK as it is</a></li>\n\
         <li><a href=\"/page/%E6%97%A5%E6%9C%AC?q=%E6%9D%B1%E4%BA%AC\">CJK escaped</a></li>\n\
         <li><a href=\"/page/with space and 'quotes'\">Spaces</a></li>\n\
         <li><a href=\"/page/a%2Fb%3Fc%23d\">Escaped delimiters</a></li>\n\
         <li><a href=\"/page/query?a=1&amp;b=2&amp;a=3&amp;empty=\">A query</a></li>\n\
         <li><a href=\"../page/../page/dots/./here\">Dots</a></li>\n\
         <li><a href=\"/page/emoji-🌊\">Emoji</a></li>\n\
         <li><a href=\"  /page/padded  \">Padded</a></li>\n\
         <li><a href=\"/page/{long}\">Long</a></li>\n</ul>"
    )
}

/// A page without styles. Its visible links start with "Shown".
const UNSTYLED: &str = r#"<ul>
<li><a href="/page/shown-plain">Shown plainly</a></li>
<li><a href="/page/shown-bold"><b>Shown, in bold</b></a></li>
<li><a href="/page/shown-image"><img src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>" alt="Shown image"></a></li>
<li><a href="/page/attribute" hidden>hidden attribute</a></li>
<li><details><summary>Closed</summary><a href="/page/closed">in closed details</a></details></li>
<li><details open><summary>Open</summary><a href="/page/shown-open">Shown in open details</a></details></li>
<li><dialog><a href="/page/dialog">in a closed dialog</a></dialog></li>
<li><canvas width="9" height="9"><a href="/page/canvas">in place of a drawing</a></canvas></li>
<li><a href="/page/empty"></a><a href="/page/blank"> &#x200b; </a></li>
<li><b style="position: absolute; left: -9999px"><a href="/page/outside">outside of the page</a></b></li>
<li><b style="display: inline-block; width: 1px; height: 1px; overflow: hidden"><a href="/page/pixel">in a pixel</a></b></li>
</ul>"#;

/// Its visible links start with "Shown".
const HIDDEN: &str = r#"<style>.card::after { content: ""; position: absolute; inset: 0; }</style>
<ul>
<li><a href="/page/shown-plain">Shown plainly</a></li>
<li><a href="/page/none" style="display: none">display: none</a></li>
<li style="display: none"><a href="/page/none-parent">display: none above it</a></li>
<li><a href="/page/invisible" style="visibility: hidden">visibility: hidden</a></li>
<li style="visibility: hidden"><a href="/page/shown-visible-child" style="visibility: visible">Shown inside of a hidden item</a></li>
<li><a href="/page/attribute" hidden>hidden attribute</a></li>
<li><a href="/page/zero" style="display: inline-block; width: 0; height: 0; overflow: hidden">zero size</a></li>
<li><a href="/page/empty-box"></a></li>
<li><a href="/page/shown-off-screen" style="position: absolute; top: 9000px">Shown far below</a></li>
<li><a href="/page/shown-aria-hidden" aria-hidden="true">Shown, though not to screen readers</a></li>
<li><details><summary>Closed</summary><a href="/page/closed-details">in closed details</a></details></li>
<li><details open><summary>Open</summary><a href="/page/shown-details">Shown in open details</a></details></li>
<li><div style="height: 1em; overflow: hidden"><br><br><a href="/page/shown-clipped">Shown after scrolling its box</a></div></li>
<li><a href="/page/shown-contents" style="display: contents">Shown without a box of its own</a></li>
<li><b style="display: contents"><a href="/page/shown-contents-twice" style="display: contents">Shown, and neither has a box</a></b></li>
<li><a href="/page/shown-float"><span style="float: left">Shown beside the text</span></a></li>
<li style="position: relative"><a href="/page/shown-placed"><span style="position: absolute">Shown at a place of its own</span></a></li>
<li style="display: none"><a href="/page/none-contents" style="display: contents">no box in none</a></li>
<li><a href="/page/readers" style="position: absolute; width: 1px; height: 1px; overflow: hidden"><span>for screen readers</span></a></li>
<li><div style="height: 0; overflow: hidden"><ul><li><a href="/page/folded">in a folded menu</a></li></ul></div></li>
<li><div style="display: grid; grid-template-rows: 0fr"><div style="overflow: hidden"><a href="/page/no-row">in a row of no height</a></div></div></li>
<li><div style="height: 0; overflow: hidden"><a href="/page/shown-out-of-it" style="position: absolute">Shown out of a folded box</a></div></li>
<li><div style="height: 0"><a href="/page/shown-overflow">Shown outside of its box</a></div></li>
<li><span style="overflow: hidden"><a href="/page/shown-inline"><span style="float: left">Shown, for lines of text cut nothing off</span></a></span></li>
<li><a href="/page/clip" style="position: absolute; clip: rect(0 0 0 0)">clip</a></li>
<li><a href="/page/clip-path" style="clip-path: inset(50%)">clip-path</a></li>
<li><div style="filter: opacity(0)"><p><a href="/page/filter">filter</a></p></div></li>
<li><a href="/page/shown-path" style="clip-path: inset(1px)">Shown but for its edge</a></li>
<li style="opacity: 0; transition: opacity 0.4s"><a href="/page/faded">faded, where a person looks</a></li>
<li style="opacity: 0; transition: opacity 0.4s; position: absolute; top: 5000px"><a href="/page/shown-scrolled">Shown when a person scrolls to it</a></li>
<li style="position: absolute; top: 5000px"><div style="visibility: hidden"><a href="/page/shown-kept">Shown in the place that is kept for it</a></div></li>
<li style="position: absolute; top: 5000px"><ul style="visibility: hidden; position: absolute"><li><a href="/page/drop-down">in a menu that drops down</a></li></ul></li>
<li style="visibility: hidden"><a href="/page/invisible-here">visibility: hidden, where a person looks</a></li>
<li style="position: fixed; left: 100%; width: 9em"><p><a href="/page/drawer">in a drawer beyond the edge</a></p></li>
<li style="position: fixed; inset: 0; pointer-events: none"><p style="transform: translateX(100%)"><a href="/page/panel">in a panel beyond the edge</a></p></li>
<li style="position: fixed; right: 0; top: 0; height: 3em; overflow: auto"><p style="height: 2000px"></p><a href="/page/shown-bar">Shown after scrolling the bar</a></li>
<li><div style="transform: scale(1)"><p style="position: fixed; top: 5000px"><a href="/page/shown-unfixed">Shown, fixed to what scrolls</a></p></div></li>
<li style="opacity: 0; position: absolute; top: 5000px"><a href="/page/never">faded for ever</a></li>
<li><svg width="300" height="24"><svg width="300" height="24"><a href="/page/shown-drawing"><text y="18">Shown in a drawing within a drawing</text></a></svg></svg></li>
<li><div style="overflow-x: clip"><a href="/page/shown-floats" style="float: left">Shown in a box that floats give no height</a></div></li>
<li><a href="/page/shown-no-clip" style="clip: rect(0 0 0 0)">Shown, for clip needs a place of its own</a></li>
<li><a href="/page/shown-half" style="display: inline-block; clip-path: inset(50% 0 0 0)">Shown to the half</a></li>
<li><a href="/page/rolled-up" style="clip-path: inset(0 0 100% 0)">rolled up</a></li>
<li style="display: none"><b style="display: contents"><a href="/page/none-contents-twice" style="display: contents">no box in none</a></b></li>
<li><div style="clip-path: polygon(0 0, 100% 0, 100% 0, 0 0)"><a href="/page/shut">within a shape that is shut</a></div></li>
<li><div style="clip-path: polygon(0 0, 100% 0, 100% 100%, 0 100%)"><a href="/page/shown-shape">Shown in a shape</a></div></li>
<li style="position: relative"><div style="clip-path: inset(0 0 100% 0)"><a href="/page/shut-above" style="position: absolute">with a place above what is shut</a></div>.</li>
<li><div style="height: 0; contain: paint"><a href="/page/contained">in a box of no height that contains its paint</a></div></li>
<li><div style="height: 0; contain: layout"><a href="/page/shown-layout">Shown outside of a box that contains its layout</a></div></li>
<li style="position: relative">A card <a href="/page/shown-card" class="card" aria-label="Shown all over its card"></a></li>
<li><div style="max-height: 0; overflow: hidden; border: 1px solid"><a href="/page/bordered">folded with a border</a></div></li>
<li><div style="width: 9em; overflow: hidden; white-space: nowrap"><a href="/page/shown-slide">Shown in the first slide</a> <a href="/page/shown-next">Shown in the next one</a></div></li>
<li style="position: absolute; top: 20000px"><a href="/page/shown-lazy"><img src="/slow/first-byte" loading="lazy" alt="Shown when it is there"></a></li>
</ul>
<template><a href="/page/template">in a template</a></template>
<noscript><a href="/page/noscript">without scripts</a></noscript>"#;

const RTL: &str = r#"<script>document.documentElement.dir = "rtl";</script>
<p><a href="/page/plain">Shown</a></p>
<p><a href="/page/left" style="position: absolute; left: -600px">Shown after scrolling to the left</a></p>
<p><a href="/page/right" style="position: absolute; right: -600px">beyond the right</a></p>
<p><a href="/page/above" style="position: absolute; top: -600px">above</a></p>"#;

const NAMES: &str = r##"<style>
.rule::before { content: "Rule and "; }
.rule-attribute::after { content: " " attr(data-kind); }
.glyph::before { content: "\f015"; }
.ends-line::after { content: "\a"; white-space: pre; }
.rule-for-readers::before { content: "\2605" / "Star of a"; }
.later { position: absolute; top: 5000px; }
</style>
<ul>
<li><a href="/page/image"><img src="/wiki/station.svg" alt="Alternative text" width="48" height="32"></a></li>
<li><a href="/page/image-and-text"><img src="/wiki/station.svg" alt="Station" width="48" height="32"> map</a></li>
<li><a href="/page/label" aria-label="Label of the link">…</a></li>
<li><span id="first">Label from</span> <span id="second">two elements</span>
    <a href="/page/labelled" aria-labelledby="first second">…</a></li>
<li><a href="/page/title" title="Title of the link"><img src="/wiki/station.svg" alt="" width="48" height="32"></a></li>
<li><a href="/page/icon"><span aria-hidden="true">★</span> Icon</a></li>
<li><a href="/page/icon-alone"><img src="/wiki/station.svg" title="Title of the image" width="48" height="32"></a></li>
<li><a href="/page/decorated"><img src="/wiki/station.svg" alt="" title="nothing" width="48" height="32">Decorated</a></li>
<li><a href="/page/by-rule" class="rule">link</a></li>
<li><a href="/page/by-attribute" class="rule-attribute" data-kind="(a kind)">Rule</a></li>
<li><a href="/page/by-rule-for-readers" class="rule-for-readers">link</a></li>
<li><a href="/page/glyph"><i class="glyph"></i> Glyph</a></li>
<li><a href="/page/glyph-alone"><i class="glyph" title="Title of a glyph"></i></a></li>
<li><a href="/page/ends-line" class="ends-line">End of a line</a></li>
<li><a href="/page/lazy"><img alt="Lazy" width="48" height="32"><noscript><img alt="no script"></noscript></a></li>
<li><a href="/page/button"><input type="button" value="Button in a link"></a></li>
<li><a href="/page/own-label" id="own" aria-label="Own label and" aria-labelledby="own second">…</a></li>
<li><a href="/page/hidden-label" aria-labelledby="unseen">…</a><span id="unseen" hidden>Label <i hidden>that is hidden</i></span></li>
<li><a href="/page/blocks"><div>One block</div><div>another</div></a></li>
<li><a href="/page/break">Before<br>after</a></li>
<li><a href="/page/invisible-part">Seen<span style="visibility: hidden"> unseen <b style="visibility: visible">in part</b></span></a></li>
<li><a href="/page/vector"><svg width="24" height="24" role="img"><title>Title of the drawing</title><circle cx="12" cy="12" r="9"/></svg></a></li>
<li><a href="/page/spaces">  Text
    over   lines  </a></li>
<li><a href="/page/nested"><b>Bold</b> and <i>italic</i><span style="display: none"> and hidden</span></a></li>
<li><a href="/page/quotation">Said: <q>quoted</q></a></li>
<li class="later"><div style="visibility: hidden"><a href="/page/kept">Kept <b>for later</b></a></div></li>
<li><a href="/page/nameless"><svg width="24" height="24"><circle cx="12" cy="12" r="9"/></svg></a></li>
<li><svg width="160" height="24"><a href="/page/in-vector"><text y="18">Link in a drawing</text></a></svg></li>
<li><map name="map"><area shape="rect" coords="0,0,48,32" href="/page/area" alt="Area of a map"></map>
    <img usemap="#map" src="/wiki/station.svg" alt="" width="48" height="32"></li>
</ul>"##;

const SCHEMES: &str = r##"<ul>
<li><a href="/page/relative">Relative</a></li>
<li><a href="https://example.org/elsewhere">Elsewhere</a></li>
<li><a href="javascript:document.title='clicked'">Script</a></li>
<li><a href="mailto:keeper@example.org">Mail</a></li>
<li><a href="tel:+81312345678">Telephone</a></li>
<li><a href="data:text/html,<p>data</p>">Data</a></li>
<li><a href="file:///etc/hostname">File</a></li>
<li><a href="ftp://example.org/readme">FTP</a></li>
<li><a href="#section">Fragment of this page</a></li>
<li><a href="">Empty</a></li>
<li><a href="http://[broken">Broken</a></li>
<li><a>No address</a></li>
</ul>
<h2 id="section">Section</h2>"##;

const DUPLICATES: &str = r#"<ul>
<li><a href="/page/one">One</a></li>
<li><a href="/page/two"><img src="/wiki/station.svg" alt="" width="48" height="32"></a></li>
<li><a href="/page/one">One again</a></li>
<li><a href="/page/one#part">Part of one</a></li>
<li><a href="/page/two">Two</a></li>
<li><a href="../page/one">One, relatively</a></li>
</ul>"#;

const BASE: &str = r#"<h1>Base</h1>
<ul>
<li><a href="child">Below the base</a></li>
<li><a href="../sibling">Beside it</a></li>
<li><a href="/page/root">From the root</a></li>
<li><a href="?query">With a query</a></li>
</ul>"#;

const SHADOW: &str = r#"<p><a href="/page/light">Link outside of shadow roots</a></p>
<div id="open"></div>
<div id="closed"></div>
<div id="slots"><template shadowrootmode="open"><a href="/page/before">Before the slot</a>
  <p><slot name="named"></slot><slot></slot></p><a href="/page/after">After the <slot name="word"></slot></a></template>
  <a href="/page/slotted">Slotted</a> <a href="/page/no-slot" slot="none">without a slot</a>
  <b slot="named"><a href="/page/named">Slotted by name</a></b> <i slot="word">slot</i></div>
<div id="declared"><template shadowrootmode="open"><a href="/page/declared">Link in a declared shadow root</a></template></div>
<script>
  const open = document.getElementById('open').attachShadow({mode: 'open'});
  open.innerHTML = '<a href="/page/open">Link in an open shadow root</a><div id="inner"></div>';
  const inner = open.getElementById('inner').attachShadow({mode: 'open'});
  inner.innerHTML = '<a href="/page/nested">Link in a nested shadow root</a>';
  const closed = document.getElementById('closed').attachShadow({mode: 'closed'});
  closed.innerHTML = '<a href="/page/closed">Link in a closed shadow root</a>';
</script>"#;

const WINDOWS: &str = r#"<ul>
<li><a href="/page/blank" target="_blank">Opens a tab</a></li>
<li><a href="/page/named" target="other" rel="noopener">Opens a named tab</a></li>
<li><button onclick="window.open('/page/clicked')">Opens a window</button></li>
</ul>
<script>window.open('/page/opened', 'opened', 'width=300,height=200');</script>"#;
