// Expands the main content: opens collapsed sections and tabs, clicks "show more", scrolls virtual lists. Follows
// document.js, page-state.js and text.js; arguments: the operation, nothing, and the limits (a table in Rust).
//
// Content that is visible only temporarily (the panel of an earlier tab, a row of a virtual list) is copied and added
// to the page at the end.
const [action, , limits] = arguments;
// What is known of this document. Over WebDriver, each script has globals of its own, so the document keeps it.
const state = document[Symbol.for("ragmaker-expansion")] ??= { seen: new WeakSet(), clicks: new WeakMap(), parts: new Map(), lists: new Map(), rowCopies: [], opened: [], exclusive: new WeakSet(), retried: new WeakSet(), sections: 0, tabs: 0, more: 0 };
const COPY = "data-ragmaker-copy";
const MAX_CLICKS = 200, MAX_ROWS = 50000;
const ASIDE = "nav,footer,aside,dialog,[role=navigation],[role=banner],[role=contentinfo],[role=complementary],[role=dialog],[role=menu],[role=menubar],[role=search],form[action]";
const main = doc.querySelector("main,[role=main]") ?? doc.querySelector("article")?.parentElement ?? doc.body;
const isAside = (element) => {
  const aside = element.closest(ASIDE);
  return aside !== null && aside !== main && main.contains(aside);
};
const shows = (element) => element.checkVisibility({ visibilityProperty: true });
const parts = (selector) => roots(main).flatMap((root) => [...root.querySelectorAll(selector)])
  .filter((element) => !isForm(element) && !isAside(element) && element.closest(`[${COPY}]`) === null);
const submits = (element) => element.localName === "button" && element.form !== null && element.type === "submit";
const isUsable = (element) => shows(element) && isClickable(element) && !submits(element);
const withId = (element, id) => (id ? rootOf(element).getElementById?.(id) ?? null : null);
// The region that an element opens, by the id in its attributes.
const regionOf = (element) => withId(element, element.getAttribute("aria-controls")?.trim().split(/\s+/)[0])
  ?? withId(element, (element.getAttribute("data-target") ?? element.getAttribute("data-bs-target") ?? element.getAttribute("href") ?? "").replace(/^#/, ""));

// Controls that open a section: disclosure buttons, and Bootstrap's collapse.
const isOpen = (fold) => fold.getAttribute("aria-expanded") === "true" || (fold.matches("[data-toggle=collapse],[data-bs-toggle=collapse]") && !fold.matches(".collapsed"));
const opensMenu = (element) => !/^(false|null)$/.test(element.getAttribute("aria-haspopup")) || /^(combobox|menuitem)$/.test(element.getAttribute("role"));
const closedFolds = () => parts("[aria-expanded=false],.collapsed[data-toggle=collapse],.collapsed[data-bs-toggle=collapse]")
  .filter((element) => !state.seen.has(element) && !opensMenu(element) && !/^(input|select)$/.test(element.localName) && isUsable(element));

// Controls that load more, by name in the languages of many sites.
const MORE = /^\W*(show|view|read|see|load|display|expand)\s+(\d+\s+)?(more|all|full|the rest|everything)\b|^more(…|\.\.\.)?$|^continue reading|^(mehr|alles?)\s+(\S+\s+)?(anzeigen|laden|lesen|zeigen)|^weiterlesen|^(voir|afficher|lire|charger)\s+(plus|tout|la suite)|^(ver|mostrar|leer|cargar)\s+(más|todo)|^(mostra|leggi|carica)\s+(altro|tutto|di più)|^(もっと|続きを|さらに)|^(显示|查看|加载|展开)(更多|全部|全文)|^더\s*보기/i;
const nameOf = (element) => squeezed(element.textContent || element.getAttribute("aria-label"));
const loadsMore = () => parts("button,[role=button],a[href^='#'],a:not([href])")
  .filter((element) => !element.hasAttribute("aria-expanded") && element.getAttribute("role") !== "tab" && nameOf(element).length <= 60 && MORE.test(nameOf(element)) && isUsable(element));

// Tab strips, each with its tabs.
const strips = () => parts("[role=tablist]").map((strip) => [strip, [...strip.querySelectorAll("[role=tab]")].filter((tab) => tab.closest("[role=tablist]") === strip)])
  .filter(([, tabs]) => tabs.length > 1);
const chosenOf = (tabs) => tabs.find((tab) => tab.getAttribute("aria-selected") === "true") ?? tabs.find((tab) => tab.matches(".active,.selected")) ?? tabs[0];
// The panel of the selected tab: the one that the tab names, else the visible one near its strip.
const panelOf = (strip, tab) => {
  const named = regionOf(tab);
  if (named !== null) return named;
  for (let box = strip.parentElement, steps = 0; box !== null && steps < 4; box = box.parentElement, steps += 1) {
    const panel = [...box.querySelectorAll("[role=tabpanel]")].find((panel) => shows(panel) && !panel.contains(strip));
    if (panel !== undefined) return panel;
    const next = strip.nextElementSibling;
    if (steps === 0 && next !== null && shows(next)) return next;
  }
  return null;
};

// Copies the current content of `region`. Later content is inserted after `anchor`.
const copy = (region, anchor) => {
  if (region === null || !shows(region) || region.contains(anchor)) return;
  const text = squeezed(region.textContent);
  if (!state.parts.has(region)) state.parts.set(region, { anchor, copies: new Map() });
  const { copies } = state.parts.get(region);
  if (text && !copies.has(text)) copies.set(text, region.cloneNode(true));
};
const copyTabs = () => {
  for (const [strip, tabs] of strips()) {
    const tab = chosenOf(tabs);
    copy(panelOf(strip, tab), strip);
  }
};

// A virtual list: each row is identified by its number, or by its position.
const NUMBERS = ["aria-rowindex", "aria-posinset", "data-index", "data-item-index", "data-row-index", "data-known-index"];
const scrollers = () => {
  const page = doc.scrollingElement;
  const inner = parts("*").filter((part) => part.scrollHeight > part.clientHeight + 20 && part.clientHeight > 60 && /auto|scroll/.test(getComputedStyle(part).overflowY));
  return page !== null && page.scrollHeight > innerHeight + 1 ? [page, ...inner] : inner;
};
// The container of the rows: the element whose children take most of the height.
const holderOf = (scroller) => {
  let holder = null, height = 0;
  for (const box of [scroller, ...scroller.querySelectorAll("*")]) {
    if (box.childElementCount < 3 || box.closest("tr,p,svg,pre") !== null) continue;
    const rows = [...box.children].filter((child) => child.offsetHeight > 4 && child.textContent.trim());
    const sum = rows.reduce((sum, row) => sum + row.offsetHeight, 0);
    if (rows.length >= 3 && sum > height) [holder, height] = [box, sum];
  }
  return holder;
};
const copyRows = (scroller) => {
  let list = state.lists.get(scroller);
  if (list === undefined || !list.holder.isConnected) {
    const holder = holderOf(scroller);
    if (holder === null) return;
    list = { holder, rows: list?.rows ?? new Map(), known: new WeakMap() };
    state.lists.set(scroller, list);
  }
  const shift = (scroller === doc.scrollingElement ? 0 : scroller.getBoundingClientRect().top) - scroller.scrollTop;
  for (const row of list.holder.children) {
    const text = squeezed(row.textContent);
    if (!text || list.known.get(row) === text || row.offsetHeight === 0 || row.hasAttribute(COPY)) continue;
    list.known.set(row, text);
    const number = NUMBERS.map((name) => row.getAttribute(name)).find((value) => /^\d+$/.test(value));
    const { top, left } = row.getBoundingClientRect();
    const place = number === undefined ? Math.round(top - shift) + left / 1e5 : Number(number);
    if (list.rows.size < MAX_ROWS) list.rows.set(place, { row, text, copy: row.cloneNode(true) });
  }
};
const isAttached = ({ row, text }) => row.isConnected && squeezed(row.textContent) === text;
// Inserts the removed rows at their positions among the present ones.
const restoreRows = ({ holder, rows }) => {
  const sorted = [...rows].sort(([a], [b]) => a - b).map(([, row]) => row);
  const there = new Set(sorted.filter(isAttached).map(({ text }) => text));
  const gone = sorted.filter((row) => !isAttached(row) && !there.has(row.text));
  // A row whose position has changed is the same row.
  const texts = new Set(), missing = new Set(gone.filter(({ text }) => !texts.has(text) && texts.add(text)));
  let before = null, put = 0;
  const first = [...holder.children].find((child) => sorted.some((row) => row.row === child && isAttached(row))) ?? null;
  for (const row of sorted) {
    if (isAttached(row)) {
      before = row.row;
    } else if (missing.has(row)) {
      row.copy.setAttribute(COPY, "");
      state.rowCopies.push(row.copy);
      if (before === null) holder.insertBefore(row.copy, first);
      else before.after(row.copy);
      before = row.copy;
      put += 1;
    }
  }
  return put > 0 ? sorted.length : 0;
};
// Opens a section again that another one has collapsed.
const reveal = (region) => {
  region.hidden = false;
  region.removeAttribute("aria-hidden");
  if (!shows(region)) for (const [name, value] of [["display", "block"], ["visibility", "visible"], ["height", "auto"]]) region.style.setProperty(name, value, "important");
};
const restoreParts = () => {
  // In the order of display: before and after the current content of a section, or after the control that opened it.
  const ends = new Map();
  for (const [region, { anchor, copies }] of state.parts) {
    const stays = region.isConnected, place = stays ? region : ends.get(anchor) ?? anchor;
    if (!place.isConnected) continue;
    if (stays && !shows(region)) reveal(region);
    const there = squeezed((stays ? region : anchor.parentElement ?? anchor).textContent);
    let after = place, isBefore = stays && [...copies.keys()].some((text) => there.includes(text));
    for (const [text, part] of copies) {
      if (there.includes(text)) {
        isBefore = false;
        continue;
      }
      part.hidden = false;
      part.removeAttribute("id");
      part.setAttribute(COPY, "");
      if (isBefore) {
        region.before(part);
      } else {
        after.after(part);
        after = part;
      }
    }
    if (!stays) ends.set(anchor, after);
  }
};

// Waits until the page has rendered; a background tab renders no frames.
const afterRepaint = () => new Promise((go) => {
  AbortSignal.timeout(doc.visibilityState === "visible" ? limits.repaint : limits.reaction).addEventListener("abort", go);
  requestAnimationFrame(() => requestAnimationFrame(go));
});
switch (main === null ? null : action) {
  // Opens all collapsed sections and the next tab of each strip, and clicks controls that load more. Returns the number
  // of clicks.
  case "open": {
    let done = 0;
    for (const details of parts("details:not([open])")) {
      // Of `details` elements with the same name, only one stays open.
      details.removeAttribute("name");
      details.open = true;
      state.sections += 1;
      done += 1;
    }
    for (const [, tabs] of strips()) {
      state.seen.add(chosenOf(tabs));
      const next = tabs.find((tab) => !state.seen.has(tab) && isUsable(tab));
      if (next === undefined) continue;
      state.seen.add(next);
      state.tabs += 1;
      done += 1;
      next.click();
    }
    const groups = new Set();
    for (const fold of closedFolds()) {
      // If opening one closes another, one is opened per round.
      const group = fold.parentElement?.parentElement?.parentElement ?? main;
      if (state.exclusive.has(group) && groups.has(group)) continue;
      groups.add(group);
      state.seen.add(fold);
      state.opened.push([fold, group]);
      done += 1;
      fold.click();
    }
    for (const more of loadsMore()) {
      const clicks = state.clicks.get(more) ?? 0;
      if (clicks >= MAX_CLICKS) continue;
      state.clicks.set(more, clicks + 1);
      state.more += 1;
      done += 1;
      more.click();
    }
    await afterRepaint();
    return { done };
  }
  // Copies the visible content, before the first round and after each round. A section that another one has closed is
  // opened again in a later round.
  case "copy": {
    copyTabs();
    for (const [fold, group] of state.opened) {
      if (!fold.isConnected) continue;
      if (isOpen(fold)) {
        state.sections += 1;
        const heading = fold.closest("h1,h2,h3,h4,h5,h6,dt") ?? fold;
        copy(regionOf(fold) ?? heading.nextElementSibling, heading);
      } else if (!state.retried.has(fold)) {
        state.exclusive.add(group);
        state.retried.add(fold);
        state.seen.delete(fold);
      }
    }
    state.opened = [];
    return null;
  }
  // Scrolls back to the beginning and removes the copies of rows, which would duplicate the rows.
  case "top": {
    for (const copy of state.rowCopies.splice(0)) copy.remove();
    for (const scroller of scrollers()) scroller.scrollTo({ top: 0, behavior: "instant" });
    await afterRepaint();
    return null;
  }
  // Copies the visible rows and scrolls by most of a screen; returns whether anything moved, and the size of the
  // content.
  case "scroll": {
    let moved = false;
    const all = scrollers();
    for (const scroller of all) {
      copyRows(scroller);
      const before = scroller.scrollTop, screen = scroller === doc.scrollingElement ? innerHeight : scroller.clientHeight;
      scroller.scrollTo({ top: before + screen * 0.8, behavior: "instant" });
      moved ||= scroller.scrollTop > before + 1;
    }
    if (!moved) {
      // Content that loads when its end becomes visible may need this event again.
      for (const scroller of all) scroller.scrollBy({ top: -scroller.clientHeight / 2, behavior: "instant" });
      await afterRepaint();
      for (const scroller of all) scroller.scrollBy({ top: scroller.clientHeight, behavior: "instant" });
    }
    await afterRepaint();
    for (const scroller of all) copyRows(scroller);
    const rows = [...state.lists.values()].reduce((sum, { rows }) => sum + rows.size, 0);
    return { moved, size: [rows, doc.scrollingElement?.scrollHeight ?? 0, main.textContent.length] };
  }
  // Inserts the removed content, and returns the counts.
  case "end": {
    const rows = [...state.lists.values()].reduce((sum, list) => sum + restoreRows(list), 0);
    state.lists.clear();
    restoreParts();
    state.parts.clear();
    return { sections: state.sections, tabs: state.tabs, more: state.more, rows };
  }
  default: return { done: 0, moved: false, size: [] };
}
