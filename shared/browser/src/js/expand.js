// Expands the main content: opens collapsed sections and tabs, clicks "show more", scrolls virtual lists. Follows
// document.js, page-state.js and text.js; arguments: the operation, its parameter, and the limits (a table in Rust).
//
// Content that is visible only temporarily (the panel of an earlier tab, a row of a virtual list) is copied and added
// to the page at the end. From "begin" to "end", no other document takes the place of this one. Where one does
// nevertheless, or the page shows another address, the answer is { left }.
const [action, argument, limits] = arguments;
// What is known of this document. Over WebDriver, each script has globals of its own, so the document keeps it.
const STATE = Symbol.for("ragmaker-expansion");
if (action === "begin") document[STATE] ??= { seen: new WeakSet(), mores: new WeakMap(), clicked: [], spent: new Set(), leading: new WeakSet(), shown: [], parts: new Map(), lists: new Map(), rowCopies: [], folds: new Map(), opened: [], exclusive: new WeakSet(), retried: new WeakSet(), sections: 0, tabs: 0, more: 0, missed: 0 };
const state = document[STATE];
if (state === undefined) return { left: true, by: [] };
const COPY = "data-ragmaker-copy";
const MAX_CLICKS = 200, MAX_ROWS = 50000;
const ASIDE = "nav,footer,aside,dialog,[role=navigation],[role=banner],[role=contentinfo],[role=complementary],[role=dialog],[role=menu],[role=menubar],[role=search],form[action]";
const main = doc.querySelector("main,[role=main]") ?? doc.querySelector("article")?.parentElement ?? doc.body;
// The header of the page, not that of an article or section.
const isPageHeader = (header) => (header.parentElement?.closest("article,aside,main,nav,section,[role=main],[role=article]") ?? null) === null;
const isAside = (element) => {
  const header = element.closest("header");
  const aside = element.closest(ASIDE) ?? (header !== null && isPageHeader(header) ? header : null);
  return aside !== null && aside !== main && main.contains(aside);
};
const shows = (element) => element.checkVisibility({ visibilityProperty: true });
const parts = (selector) => roots(main).flatMap((root) => [...root.querySelectorAll(selector)])
  .filter((element) => !isForm(element) && !isAside(element) && element.closest(`[${COPY}]`) === null);
const submits = (element) => element.localName === "button" && element.form !== null && element.type === "submit";
const nameOf = (element) => squeezed(element.textContent || element.getAttribute("aria-label"));
// What a control is called in another load of the page.
const keyOf = (element) => `${element.localName} ${nameOf(element).slice(0, 80).toWellFormed()}`;
const isUsable = (element) => shows(element) && isClickable(element) && !submits(element) && !state.leading.has(element) && !state.avoided.has(keyOf(element));
const withId = (element, id) => (id ? rootOf(element).getElementById?.(id) ?? null : null);
// The region that an element opens, by the id in its attributes.
const regionOf = (element) => withId(element, element.getAttribute("aria-controls")?.trim().split(/\s+/)[0])
  ?? withId(element, (element.getAttribute("data-target") ?? element.getAttribute("data-bs-target") ?? element.getAttribute("href") ?? "").replace(/^#/, ""));

// Controls that open a section: disclosure buttons, and Bootstrap's collapse.
const isOpen = (fold) => fold.getAttribute("aria-expanded") === "true" || (fold.matches("[data-toggle=collapse],[data-bs-toggle=collapse]") && !fold.matches(".collapsed"));
const opensMenu = (element) => !/^(false|null)$/.test(element.getAttribute("aria-haspopup")) || /^(combobox|menuitem)$/.test(element.getAttribute("role"));
const closedFolds = () => parts("[aria-expanded=false],.collapsed[data-toggle=collapse],.collapsed[data-bs-toggle=collapse]")
  .filter((element) => !state.seen.has(element) && !opensMenu(element) && !/^(input|select)$/.test(element.localName) && isUsable(element));

// What such a control opens, and where that is.
const groupOf = (fold) => fold.parentElement?.parentElement?.parentElement ?? main;
const captionOf = (fold) => fold.closest("h1,h2,h3,h4,h5,h6,dt") ?? fold;
const sectionOf = (fold) => regionOf(fold) ?? captionOf(fold).nextElementSibling;
// All such controls, each with its words and its place among those with the same ones: a sign may change with the state.
const namedFolds = () => {
  const counts = new Map();
  return parts("[aria-expanded],[data-toggle=collapse],[data-bs-toggle=collapse]").map((fold) => {
    const words = keyOf(fold).replace(/[^\p{L}\p{N}]+/gu, " ").trim(), place = counts.get(words) ?? 0;
    counts.set(words, place + 1);
    return [`${words} ${place}`, fold];
  });
};
// Where a click has made the page draw such controls anew, those of the same names take their places.
const followFolds = () => {
  if ([...state.folds.values()].every(({ fold }) => fold.isConnected)) return;
  const now = new Map(namedFolds());
  for (const [name, known] of state.folds) {
    const fold = now.get(name);
    if (known.fold.isConnected || fold === undefined) continue;
    const caption = captionOf(fold), section = sectionOf(fold), part = state.parts.get(known.section);
    for (const each of state.parts.values()) if (each.anchor === known.caption) each.anchor = caption;
    // What follows a control that shows nothing may be the next control.
    if (part !== undefined && !known.section.isConnected && section !== null && (regionOf(fold) !== null || !shows(section)) && !state.parts.has(section)) {
      state.parts.delete(known.section);
      state.parts.set(section, part);
      known.section = section;
    }
    for (const set of [state.seen, state.retried, state.leading]) if (set.has(known.fold)) set.add(fold);
    if (state.exclusive.has(known.group)) state.exclusive.add(groupOf(fold));
    Object.assign(known, { fold, caption, group: groupOf(fold) });
  }
};

// Controls that load more, by name in the languages of many sites.
const MORE = /^\W*(show|view|read|see|load|display|expand)\s+(\d+\s+)?(more|all|full|the rest|everything)\b|^more(…|\.\.\.)?$|^continue reading|^(mehr|alles?)\s+(\S+\s+)?(anzeigen|laden|lesen|zeigen)|^weiterlesen|^(voir|afficher|lire|charger)\s+(plus|tout|la suite)|^(ver|mostrar|leer|cargar)\s+(más|todo)|^(mostra|leggi|carica)\s+(altro|tutto|di più)|^(もっと|続きを|さらに)|^(显示|查看|加载|展开)(更多|全部|全文)|^더\s*보기/i;
const loadsMore = () => parts("button,[role=button],a[href^='#'],a:not([href])")
  .filter((element) => !element.hasAttribute("aria-expanded") && element.getAttribute("role") !== "tab" && nameOf(element).length <= 60 && MORE.test(nameOf(element)) && isUsable(element));
// How much shows in a part: characters of text, links, images.
const textIn = (part) => String((isForm(part) ? nativeGetter(HTMLElement.prototype, "innerText")(part) : part.innerText) ?? "").length;
const sizeOf = (part) => roots(part).reduce((sum, root) => sum + (root === part ? [part] : [...root.children]).reduce((sum, each) => sum + textIn(each), 0) + root.querySelectorAll("a[href],img,video,iframe").length, 0);
// What is known of a control that loads more. It is `done` if a click brings nothing, or hides what an earlier one has
// shown (then it is clicked once more); `alone` says that the effect of a click could not be told from others.
const noteOf = (more) => {
  if (!state.mores.has(more)) state.mores.set(more, { clicks: 0, done: false, alone: false, restores: false });
  return state.mores.get(more);
};
// What a control and the one in its place after the page has drawn it anew have in common.
const signatureOf = (more) => `${keyOf(more)} ${more.className} ${more.parentElement?.className ?? ""}`;
// Such controls that may still bring something. One that appears after one like it was drawn anew without bringing
// anything is that one.
const pendingMores = () => loadsMore().filter((more) => (state.mores.has(more) || !state.spent.has(signatureOf(more))) && !noteOf(more).done);
const isRedrawn = (more, { scope, signature }) => !more.isConnected && loadsMore().some((other) => scope.contains(other) && signatureOf(other) === signature);
// The largest part that has no other control of this kind.
const scopeOf = (more, all) => {
  let scope = more;
  for (let part = more.parentElement; part !== null && main.contains(part) && !all.some((other) => other !== more && part.contains(other)); part = part.parentElement) scope = part;
  return scope === more || scope.getRootNode() !== main.getRootNode() ? main : scope;
};
// Whether the clicks on such controls brought something. Returns how many may still do; `isLast` says that they had
// enough time.
const checkClicks = (isLast) => {
  if (state.clicked.length === 0) return 0;
  const total = sizeOf(main), waiting = [];
  for (const [more, note] of state.clicked) {
    const [size, before] = note.scope.isConnected ? [sizeOf(note.scope), note.before] : [total, note.total];
    if (note.restores) {
      note.done = true;
    } else if (size > before) {
      state.more += 1;
    } else if (size < before) {
      note.restores = true;
    } else if (!isLast) {
      waiting.push([more, note]);
    } else if (note.scope === main || total <= note.total || isRedrawn(more, note)) {
      note.done = true;
      if (!more.isConnected) state.spent.add(note.signature);
    } else {
      note.alone = true;
      if (!more.isConnected || !shows(more)) state.more += 1;
    }
  }
  state.clicked = waiting;
  return waiting.length;
};

// Tab strips, each with its tabs.
const tabsOf = (strip) => [...strip.querySelectorAll("[role=tab]")].filter((tab) => tab.closest("[role=tablist]") === strip);
const strips = () => parts("[role=tablist]").map((strip) => [strip, tabsOf(strip)]).filter(([, tabs]) => tabs.length > 1);
const isChosen = (tab) => tab.getAttribute("aria-selected") === "true" || tab.matches(".active,.selected");
// Whether the tab with this index is the selected one; true if the strip does not tell which one is.
const isShown = ({ strip, index }) => {
  const tabs = strip.isConnected ? tabsOf(strip) : [];
  return !tabs.some(isChosen) || chosenOf(tabs) === tabs[index];
};
// Where a click has made the page draw the tabs anew, they have been opened as far as those of the same names had, and
// what is inserted after it goes after the new one.
const followRedrawn = () => {
  const all = strips();
  for (const shown of state.shown) {
    const [strip, tabs] = all[shown.place] ?? [];
    if (shown.tab.isConnected || tabs?.map(nameOf).join("\n") !== shown.names.join("\n")) continue;
    for (const [index, tab] of tabs.entries()) if (shown.seen[index]) state.seen.add(tab);
    for (const part of state.parts.values()) if (part.anchor === shown.strip) part.anchor = strip;
    shown.strip = strip;
  }
};
// Some tabs react to the press of a button or to the focus, which a click by a script does not have.
const press = (tab) => {
  const tell = (kind, name, buttons) => tab.dispatchEvent(new kind(name, { bubbles: true, cancelable: true, composed: true, button: 0, buttons, detail: 1, pointerId: 1, pointerType: "mouse", isPrimary: true }));
  tell(PointerEvent, "pointerdown", 1);
  tell(MouseEvent, "mousedown", 1);
  tab.focus({ preventScroll: true });
  tell(PointerEvent, "pointerup", 0);
  tell(MouseEvent, "mouseup", 0);
  tell(MouseEvent, "click", 0);
};
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
// Whether an element is in a part, or in a shadow root in it.
const holds = (part, element) => part.contains(element) || (element.getRootNode().host !== undefined && holds(part, element.getRootNode().host));
// The next tab of each strip. A strip whose panel has something to open waits for it: what a hidden panel has is not
// copied. Decided before the first click, because the panel of a tab that a click has just shown is not copied yet.
const nextTabs = () => {
  const turns = [];
  for (const [place, [strip, tabs]] of strips().entries()) {
    const chosen = chosenOf(tabs);
    state.seen.add(chosen);
    const next = tabs.find((tab) => !state.seen.has(tab) && isUsable(tab));
    if (next !== undefined) turns.push({ strip, place, tabs, next, panel: panelOf(strip, chosen) });
  }
  const closed = [...parts("details:not([open])"), ...closedFolds(), ...pendingMores()];
  const waits = (panel) => closed.some((each) => holds(panel, each)) || turns.some(({ strip }) => holds(panel, strip));
  return turns.filter(({ panel, strip }) => panel === null || holds(panel, strip) || !waits(panel));
};

// Copies the current content of `region`. Later content is inserted after `anchor`. That of a tab is labelled with the
// tab's name: all tabs of a strip may share one region.
const copy = (region, anchor, tab = null) => {
  if (region === null || !shows(region) || region.contains(anchor)) return;
  const text = squeezed(region.textContent);
  if (!state.parts.has(region)) state.parts.set(region, { anchor, copies: new Map() });
  const { copies } = state.parts.get(region);
  if (!text || copies.has(text)) return;
  const part = region.cloneNode(true);
  if (tab !== null) {
    part.setAttribute("role", "tabpanel");
    part.setAttribute("aria-label", nameOf(tab));
    part.removeAttribute("aria-labelledby");
  }
  copies.set(text, part);
};
const copyTabs = () => {
  for (const [strip, tabs] of strips()) {
    const tab = chosenOf(tabs);
    copy(panelOf(strip, tab), strip, tab);
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
// Removes from a text of `region` those of the parts within it, which have copies of their own: a region that differs only
// in these is the same.
const ownText = (region) => {
  const inner = [...state.parts].filter(([part]) => part !== region && part.isConnected && region.contains(part)).flatMap(([, { copies }]) => [...copies.keys()]);
  if (inner.length === 0) return (text) => text;
  inner.sort((a, b) => b.length - a.length);
  return (text) => inner.reduce((rest, each) => rest.replaceAll(each, ""), text).replaceAll(" ", "");
};
const restoreParts = () => {
  // In the order of display: before and after the current content of a section, or after the control that opened it.
  const ends = new Map();
  for (const [region, { anchor, copies }] of state.parts) {
    const stays = region.isConnected, place = stays ? region : ends.get(anchor) ?? anchor;
    if (!place.isConnected) continue;
    if (stays && !shows(region)) reveal(region);
    const own = ownText(region), there = own(squeezed((stays ? region : anchor.parentElement ?? anchor).textContent));
    const isThere = (text) => there.includes(own(text));
    let after = place, isBefore = stays && [...copies.keys()].some(isThere);
    for (const [text, part] of copies) {
      if (isThere(text)) {
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
// The page that is expanded, by its path and its heading.
const headingOf = () => squeezed(doc.querySelector("main h1,[role=main] h1")?.textContent ?? doc.querySelector("h1")?.textContent) || doc.title;
// Clicks a control. A navigation to another document by this or an earlier click is refused.
const click = (element, act = () => element.click()) => {
  state.clicking = element;
  state.round.push(keyOf(element));
  try { act(); } finally { state.clicking = null; }
};
const refuse = (event) => {
  const { destination } = event, elsewhere = !destination.sameDocument;
  if (elsewhere && event.cancelable) event.preventDefault();
  if (!state.clicking || (!elsewhere && new URL(destination.url).pathname === state.at.path)) return;
  if (elsewhere) state.leading.add(state.clicking);
  else state.movers.push(keyOf(state.clicking));
};
if (action === "begin") {
  state.end?.();
  // Firefox has this since version 147.
  const navigation = globalThis.navigation;
  navigation?.addEventListener("navigate", refuse);
  state.end = () => navigation?.removeEventListener("navigate", refuse);
  Object.assign(state, { at: { path: location.pathname, heading: headingOf() }, avoided: new Set(argument), movers: [], round: [], clicking: null });
} else if (location.pathname !== state.at.path && headingOf() !== state.at.heading) {
  // Another page of an application, in the same document.
  state.end();
  return { left: true, by: state.movers };
}
switch (main === null ? null : action) {
  // Opens all collapsed sections and the next tab of each strip, and clicks controls that load more. Returns the number
  // of clicks, and what was clicked.
  case "open": {
    let done = 0;
    state.round = [];
    const turns = nextTabs();
    for (const details of parts("details:not([open])")) {
      // Of `details` elements with the same name, only one stays open.
      details.removeAttribute("name");
      details.open = true;
      state.sections += 1;
      done += 1;
    }
    for (const { strip, place, tabs, next } of turns) {
      // An earlier click made the page draw it anew.
      if (!next.isConnected) continue;
      state.seen.add(next);
      state.shown.push({ strip, place, index: tabs.indexOf(next), tab: next, names: tabs.map(nameOf), seen: tabs.map((tab) => state.seen.has(tab)) });
      done += 1;
      click(next);
    }
    const groups = new Set(), folds = closedFolds(), names = new Map(folds.length > 0 ? namedFolds().map(([name, fold]) => [fold, name]) : []);
    for (const fold of folds) {
      // An earlier click made the page draw it anew.
      if (!fold.isConnected) continue;
      // If opening one closes another, one is opened per round.
      const group = groupOf(fold);
      if (state.exclusive.has(group) && groups.has(group)) continue;
      groups.add(group);
      state.seen.add(fold);
      const known = { fold, group, caption: captionOf(fold), section: null };
      state.folds.set(names.get(fold), known);
      state.opened.push(known);
      done += 1;
      click(fold);
    }
    const all = pendingMores();
    const apart = all.filter((more) => !noteOf(more).alone);
    const mores = apart.length > 0 ? apart : done === 0 ? all.slice(0, 1) : [];
    const total = mores.length > 0 ? sizeOf(main) : 0;
    for (const more of mores) {
      const note = noteOf(more), scope = note.alone ? main : scopeOf(more, mores);
      Object.assign(note, { scope, signature: signatureOf(more), before: scope === main ? total : sizeOf(scope), total });
    }
    for (const more of mores) {
      const note = noteOf(more);
      if (note.clicks >= MAX_CLICKS) {
        note.done = true;
        state.missed += 1;
        continue;
      }
      note.clicks += 1;
      done += 1;
      click(more);
      if (!state.leading.has(more)) state.clicked.push([more, note]);
    }
    await afterRepaint();
    const unmoved = state.shown.filter((shown) => !isShown(shown) && !state.leading.has(shown.tab));
    for (const { tab } of unmoved) click(tab, () => press(tab));
    if (unmoved.length > 0) await afterRepaint();
    return { done, clicked: state.round };
  }
  // Copies the visible content, before the first round and after each round. A section that another one has closed is
  // opened again in a later round. Returns the number of controls whose clicks have brought nothing so far.
  case "copy": {
    followRedrawn();
    followFolds();
    copyTabs();
    for (const shown of state.shown.splice(0)) {
      if (state.leading.has(shown.tab)) continue;
      if (isShown(shown)) state.tabs += 1;
      else state.missed += 1;
    }
    for (const known of state.opened) {
      const { fold, group, caption } = known;
      if (!fold.isConnected || state.leading.has(fold)) continue;
      if (isOpen(fold)) {
        state.sections += 1;
        known.section = sectionOf(fold);
        copy(known.section, caption);
      } else if (!state.retried.has(fold)) {
        state.exclusive.add(group);
        state.retried.add(fold);
        state.seen.delete(fold);
      }
    }
    state.opened = [];
    return { waiting: checkClicks(false) };
  }
  // The same for these controls, at last.
  case "check": return { waiting: checkClicks(true) };
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
    state.end();
    return { sections: state.sections, tabs: state.tabs, more: state.more, rows, complete: state.missed === 0 };
  }
  default: return { done: 0, moved: false, size: [] };
}
