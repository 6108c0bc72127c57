"use strict";
// The page of a knowledge base: a list with filters and search, charts, and a reader.

(() => {
  const $ = (id) => document.getElementById(id);
  const base = JSON.parse($("base").textContent);
  const docs = base.documents.map((doc, number) => ({ ...doc, number }));
  const PAGE = 100;
  const SCREEN = 20;
  const count = new Intl.NumberFormat("en");
  const state = { query: "", chosen: {}, order: "catalog", wanted: [], shown: PAGE, open: null, found: [] };

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "class") made.className = value;
      else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value !== undefined && value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  }

  function outside(href, label) {
    let url = null;
    try { url = new URL(href); } catch { /* shown as text */ }
    if (!url || !/^https?:$/.test(url.protocol)) return element("span", {}, label ?? href);
    return element("a", { href: url.href, target: "_blank", rel: "noopener noreferrer" }, label ?? href);
  }

  // Texts: parsed and folded in pieces after the page is there, so that the first key is as fast as others.
  const fold = (text) => (/^[\x00-\x7f]*$/.test(text) ? text : text.normalize("NFKC")).toLowerCase();
  const texts = [];
  const folded = [];
  const parts = [...document.querySelectorAll("script.texts")];
  function text(number) {
    if (texts[number] === undefined) {
      const part = parts.findLast((one) => Number(one.dataset.first) <= number);
      JSON.parse(part.textContent).forEach((one, at) => { texts[Number(part.dataset.first) + at] = one; });
      part.remove();
    }
    return texts[number];
  }
  function foldedText(number) {
    return (folded[number] ??= fold(text(number)));
  }
  const heads = docs.map((doc) => ({
    title: fold(doc.title), summary: fold(doc.summary ?? ""), place: fold(`${doc.path} ${doc.url ?? ""}`),
  }));
  function prepare(number = 0) {
    const until = performance.now() + 12;
    while (number < docs.length && performance.now() < until) foldedText(number++);
    if (number < docs.length) setTimeout(prepare, 0, number);
    else document.documentElement.dataset.ready = "true";
  }
  setTimeout(prepare, 30);

  // Filters: each chart is one, and a document belongs to one of its bars.
  const steps = [[0, "empty"], [1, "under 100"], [100, "100–499"], [500, "500–1,999"], [2000, "2,000–9,999"], [10000, "10,000 and more"]];
  const month = (doc) => (/^\d{4}-\d{2}/.test(doc.fetched_at ?? "") ? doc.fetched_at.slice(0, 7) : "no date");
  const host = (doc) => { try { return new URL(doc.url).host || "no source"; } catch { return "no source"; } };
  const kinds = {
    size: { title: "Size in words", of: (doc) => steps.findLast(([least]) => doc.words >= least)[1], order: steps.map(([, name]) => name) },
    age: { title: "Fetched in", of: month },
    host: { title: "Hosts", of: host, most: 8 },
    state: {
      title: "State", of: (doc) => (doc.findings.length ? "findings" : doc.stale ? "source changed" : "no findings"),
      order: ["findings", "source changed", "no findings"],
    },
  };
  for (const doc of docs) doc.of = Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [name, kind.of(doc)]));

  function chart(name, kind) {
    const counts = new Map();
    for (const doc of docs) counts.set(doc.of[name], (counts.get(doc.of[name]) ?? 0) + 1);
    let bars = [...counts.entries()];
    if (kind.order) bars.sort((a, b) => kind.order.indexOf(a[0]) - kind.order.indexOf(b[0]));
    else if (kind.most) bars.sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    else bars.sort((a, b) => (a[0] === "no date" ? 1 : b[0] === "no date" ? -1 : a[0] < b[0] ? 1 : -1));
    const left = bars.length - (kind.most ?? 12);
    bars = bars.slice(0, kind.most ?? 12);
    const most = Math.max(1, ...bars.map(([, n]) => n));
    const list = element("ul", { class: "bars" });
    for (const [label, n] of bars) {
      const bar = element("span", { class: "bar", "aria-hidden": "true" });
      bar.style.width = `${Math.max(2, (n / most) * 100)}%`;
      const button = element("button", {
        type: "button", "aria-pressed": "false", "aria-label": `${kind.title}: ${label}, ${n} ${n === 1 ? "document" : "documents"}`,
        onclick: () => {
          state.chosen[name] = state.chosen[name] === label ? undefined : label;
          for (const one of list.querySelectorAll("button")) one.setAttribute("aria-pressed", String(one === button && state.chosen[name] === label));
          update();
        },
      }, element("span", { class: "label", title: label }, label), element("span", { class: "track" }, bar), element("span", { class: "n" }, count.format(n)));
      list.append(element("li", {}, button));
    }
    return element("section", { class: "chart", "aria-label": kind.title },
      element("h2", {}, kind.title), list, left > 0 ? element("p", { class: "more" }, `and ${left} more`) : null);
  }

  // Search: all words, in titles, summaries, places and texts.
  function words(query) {
    return [...fold(query).matchAll(/"([^"]+)"|[^\s"]+/g)].map((match) => match[1] ?? match[0]).filter(Boolean);
  }

  // What a document is worth, and where in its text the first of the words stands; null without one of them.
  function score(doc, wanted) {
    const head = heads[doc.number];
    let points = 0, first = -1;
    for (const word of wanted) {
      let own = (head.title.includes(word) ? 20 : 0) + (head.summary.includes(word) ? 8 : 0) + (head.place.includes(word) ? 4 : 0);
      const body = foldedText(doc.number);
      let at = body.indexOf(word);
      if (at >= 0 && (first < 0 || at < first)) first = at;
      for (let n = 0; at >= 0 && n < 5; n++) {
        own += n ? 1 : 3;
        at = body.indexOf(word, at + word.length);
      }
      if (!own) return null;
      points += own;
    }
    return { doc, points, first };
  }

  const orders = {
    catalog: (a, b) => a.number - b.number,
    title: (a, b) => a.title.localeCompare(b.title),
    longest: (a, b) => b.words - a.words,
    newest: (a, b) => (b.fetched_at ?? "").localeCompare(a.fetched_at ?? ""),
    oldest: (a, b) => (a.fetched_at ?? "~").localeCompare(b.fetched_at ?? "~"),
  };

  // A search goes on in slices, so that no key waits for it; the next one takes its place. Where every word of the
  // last one is a part of a word of this one, only what that one found is looked through.
  const SLICE = 8;
  const turn = new MessageChannel();
  let search = null;
  let last = null;
  turn.port1.onmessage = () => { if (search) advance(performance.now() + SLICE); };

  function update() {
    const wanted = words(state.query);
    const chosen = Object.entries(state.chosen).filter(([, label]) => label !== undefined);
    const filters = JSON.stringify(chosen);
    $("order").disabled = wanted.length > 0;
    $("clear").hidden = !wanted.length && !chosen.length;
    search = null;
    if (!wanted.length) {
      last = null;
      finish(wanted, docs.filter((doc) => fits(doc, chosen)).sort(orders[state.order]).map((doc) => ({ doc, first: -1 })));
      return;
    }
    const narrows = last?.filters === filters && last.wanted.every((before) => wanted.some((word) => word.includes(before)));
    const among = narrows ? last.found : docs.filter((doc) => fits(doc, chosen));
    search = { wanted, filters, among, next: 0, scored: [] };
    $("list").setAttribute("aria-busy", "true");
    advance(performance.now() + SLICE);
  }

  const fits = (doc, chosen) => chosen.every(([name, label]) => doc.of[name] === label);

  function advance(until) {
    const { wanted, filters, among, scored } = search;
    while (search.next < among.length) {
      const one = score(among[search.next++], wanted);
      if (one) scored.push(one);
      if (performance.now() > until) {
        turn.port2.postMessage(null);
        return;
      }
    }
    search = null;
    last = { wanted, filters, found: scored.map(({ doc }) => doc) };
    finish(wanted, scored.sort((a, b) => b.points - a.points || a.doc.number - b.doc.number));
  }

  function finish(wanted, found) {
    state.wanted = wanted;
    state.found = found;
    state.shown = PAGE;
    $("list").removeAttribute("aria-busy");
    draw();
  }

  // What stands around the first word that is found in the text, on one line.
  function snippet({ doc, first }) {
    if (first < 0) return doc.summary ?? "";
    const original = text(doc.number);
    // Folding may change lengths, by little: the passage is found about there.
    const start = Math.max(0, Math.floor(first * (original.length / Math.max(1, foldedText(doc.number).length))) - 60);
    const part = original.slice(start, start + 220).replace(/\]\([^)\s]*\)/g, "").replace(/[#*`|>[\]]+/g, " ").replace(/\s+/g, " ");
    return `${start > 0 ? "…" : ""}${part.trim()}…`;
  }

  function marked(line, wanted) {
    const lower = line.toLowerCase();
    // Where each word stands next.
    const next = wanted.map((word) => ({ word, at: lower.indexOf(word), length: word.length })).filter(({ at }) => at >= 0);
    const parts = [];
    let done = 0;
    while (next.length) {
      const { at, length } = next.reduce((best, one) => (one.at < best.at || (one.at === best.at && one.length > best.length) ? one : best));
      parts.push(line.slice(done, at), element("mark", {}, line.slice(at, at + length)));
      done = at + length;
      for (let n = next.length; n--;) {
        if (next[n].at >= done) continue;
        next[n].at = lower.indexOf(next[n].word, done);
        if (next[n].at < 0) next.splice(n, 1);
      }
    }
    return [...parts, line.slice(done)];
  }

  function card(one, wanted) {
    const { doc } = one;
    const flags = [];
    if (doc.stale) flags.push(element("span", { class: "flag warn" }, "source changed"));
    for (const finding of doc.findings.slice(0, 2)) flags.push(element("span", { class: "flag bad", title: finding.message }, finding.kind.replaceAll("_", " ")));
    const line = snippet(one);
    const facts = [`${count.format(doc.words)} words`, doc.of.host, (doc.fetched_at ?? "").slice(0, 10)].filter(Boolean).join(" · ");
    return element("li", {}, element("button", {
      type: "button", class: "card", "data-number": doc.number, "aria-current": state.open === doc.number ? "true" : undefined,
      onclick: () => open(doc.number),
    }, element("span", { class: "title" }, ...marked(doc.title, wanted)), line ? element("span", { class: "line" }, ...marked(line, wanted)) : null,
    element("span", { class: "facts" }, facts, ...flags)));
  }

  // The cards that a window shows are drawn at once, the others when those are painted: drawing 100 cards was most of
  // the time of the first key.
  function draw() {
    const { found } = state;
    $("list").replaceChildren();
    extend(SCREEN);
    requestAnimationFrame(() => setTimeout(() => { if (state.found === found) extend(state.shown); }));
    $("status").textContent = found.length === docs.length ? `${count.format(docs.length)} documents`
      : `${count.format(found.length)} of ${count.format(docs.length)} documents`;
    $("none").hidden = found.length > 0;
  }

  // Draws the cards that are missing among the first `end`. Those that are there stay, and with them what is in sight.
  function extend(end) {
    const { found, shown, wanted } = state;
    $("list").append(...found.slice($("list").children.length, end).map((one) => card(one, wanted)));
    $("more").hidden = shown >= found.length;
    $("more").textContent = `Show ${Math.min(PAGE, found.length - shown)} more`;
  }

  // The reader: a frame without scripts, whose elements are made here. Before its own document is there, it
  // has an empty one, which is thrown away.
  const frame = () => $("frame").contentDocument;
  const framed = new Promise((resolve) => {
    if (frame()?.URL === "about:srcdoc" && frame().readyState === "complete") resolve();
    else $("frame").addEventListener("load", () => resolve(), { once: true });
  });

  function open(number, keepFocus = false) {
    const doc = docs[number];
    state.open = number;
    for (const one of document.querySelectorAll(".card")) {
      if (Number(one.dataset.number) === number) one.setAttribute("aria-current", "true");
      else one.removeAttribute("aria-current");
    }
    $("name").textContent = doc.title;
    const facts = [outsideOrNull(doc.url, "Open the source ↗"), `${count.format(doc.words)} words`,
      doc.fetched_at ? `fetched ${doc.fetched_at.slice(0, 10)}` : null, doc.stale ? "the source has changed since" : null,
      element("code", {}, doc.path)].filter(Boolean);
    $("facts").replaceChildren(...facts.map((fact) => element("li", {}, fact)));
    $("findings").replaceChildren(...doc.findings.map((finding) => element("li", {}, `${finding.message}. ${finding.remedy}`)));
    $("findings").hidden = !doc.findings.length;
    $("reader").hidden = false;
    document.body.classList.add("reading");
    if (!keepFocus) $("name").focus({ preventScroll: true });
    history.replaceState(null, "", `#${encodeURIComponent(doc.path)}`);
    framed.then(() => { if (state.open === number) show(doc); });
  }

  function show(doc) {
    const inner = frame();
    inner.documentElement.lang = doc.lang ?? "";
    inner.title = doc.title;
    const main = inner.createElement("main");
    Markdown.render(inner, text(doc.number), main);
    inner.body.replaceChildren(main);
    const hits = highlight(inner, main, words(state.query));
    inner.defaultView.scrollTo(0, 0);
    hits[0]?.scrollIntoView({ block: "center" });
  }

  const outsideOrNull = (url, label) => (url ? outside(url, label) : null);

  function highlight(inner, root, wanted) {
    if (!wanted.length) return [];
    const walker = inner.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walker.nextNode()) nodes.push(walker.currentNode);
    const hits = [];
    for (const node of nodes) {
      if (hits.length > 500) break;
      const parts = marked(node.data, wanted);
      if (parts.length < 2) continue;
      const made = parts.filter((part) => part !== "").map((part) => {
        if (typeof part === "string") return inner.createTextNode(part);
        const mark = inner.createElement("mark");
        mark.textContent = part.textContent;
        hits.push(mark);
        return mark;
      });
      node.replaceWith(...made);
    }
    return hits;
  }

  function close() {
    document.body.classList.remove("reading");
    $("reader").hidden = true;
    const number = state.open;
    state.open = null;
    history.replaceState(null, "", "#");
    const card = document.querySelector(`.card[data-number="${number}"]`);
    card?.removeAttribute("aria-current");
    card?.focus();
  }

  function step(by) {
    const at = state.found.findIndex(({ doc }) => doc.number === state.open);
    const next = state.found[at < 0 ? 0 : at + by]?.doc;
    if (!next) return;
    open(next.number, true);
    const card = document.querySelector(`.card[data-number="${next.number}"]`);
    card?.scrollIntoView({ block: "nearest" });
  }

  function keys(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.closest?.("input, select, textarea");
    if (event.key === "Escape") {
      if (state.open !== null) close();
      else if (typing) { $("query").value = state.query = ""; update(); }
    } else if (typing && event.key === "Enter") {
      // Of what is searched for now.
      if (search) advance(Infinity);
      if (state.found.length) open(state.found[0].doc.number);
    } else if (typing) {
      return;
    } else if (event.key === "/") {
      $("query").focus();
      $("query").select();
    } else if (event.key === "j" || event.key === "n") {
      step(1);
    } else if (event.key === "k" || event.key === "p") {
      step(-1);
    } else {
      return;
    }
    event.preventDefault();
  }

  function theme(name) {
    const apply = (root) => {
      if (name === "auto") delete root.dataset.theme;
      else root.dataset.theme = name;
    };
    apply(document.documentElement);
    framed.then(() => apply(frame().documentElement));
    try { localStorage.setItem("ragmaker-theme", name); } catch { /* a page from a file may have no storage */ }
    $("theme").value = name;
  }

  function start() {
    document.title = base.title;
    $("title").textContent = base.title;
    $("summary").textContent = base.summary ?? "";
    $("summary").hidden = !base.summary;
    const total = docs.reduce((sum, doc) => sum + doc.words, 0);
    const dates = docs.map((doc) => (doc.fetched_at ?? "").slice(0, 10)).filter(Boolean).sort();
    const flagged = docs.filter((doc) => doc.findings.length).length;
    const facts = [
      `${count.format(docs.length)} ${docs.length === 1 ? "document" : "documents"}`, `${count.format(total)} words`,
      dates.length ? (dates[0] === dates.at(-1) ? `fetched ${dates[0]}` : `fetched ${dates[0]} to ${dates.at(-1)}`) : null,
      flagged ? `${count.format(flagged)} with findings` : "no findings", outsideOrNull(base.source_url, base.source_url),
    ].filter(Boolean);
    $("about").replaceChildren(...facts.map((fact) => element("li", {}, fact)));
    $("general").replaceChildren(...base.findings.map((finding) => element("li", {}, `${finding.path ? `${finding.path}: ` : ""}${finding.message}. ${finding.remedy}`)));
    $("general-box").hidden = !base.findings.length;
    $("general-count").textContent = `${base.findings.length} ${base.findings.length === 1 ? "finding" : "findings"} about the whole`;
    const shown = Object.entries(kinds).filter(([name]) => name !== "state" || docs.some((doc) => doc.stale || doc.findings.length));
    $("charts").replaceChildren(...shown.map(([name, kind]) => chart(name, kind)));
    $("query").addEventListener("input", (event) => { state.query = event.target.value; update(); });
    $("order").addEventListener("change", (event) => { state.order = event.target.value; update(); });
    $("theme").addEventListener("change", (event) => theme(event.target.value));
    $("more").addEventListener("click", () => { state.shown += PAGE; extend(state.shown); });
    $("back").addEventListener("click", close);
    $("clear").addEventListener("click", () => {
      state.chosen = {};
      $("query").value = state.query = "";
      for (const one of document.querySelectorAll(".chart button")) one.setAttribute("aria-pressed", "false");
      update();
      $("query").focus();
    });
    document.addEventListener("keydown", keys);
    framed.then(() => frame().addEventListener("keydown", keys));
    if (matchMedia("(max-width: 999px)").matches) document.querySelector(".overview").open = false;
    try { theme(localStorage.getItem("ragmaker-theme") ?? "auto"); } catch { theme("auto"); }
    update();
    const path = decodeURIComponent(location.hash.slice(1));
    const named = docs.find((doc) => doc.path === path);
    if (named) open(named.number, true);
    document.documentElement.dataset.loaded = String(Math.round(performance.now()));
  }

  start();
})();
