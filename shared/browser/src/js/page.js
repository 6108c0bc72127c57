// Queries to a frame during browser-act. Follows document.js, page-state.js and text.js; arguments: the query, its parameter,
// and the limits.
const [action, argument, limits] = arguments;
const shownTexts = () => roots(document).map((root) => squeezed(root === document ? doc.body?.innerText : [...root.childNodes].map((part) => part.innerText ?? (part.nodeType === Node.TEXT_NODE ? part.data : "")).join(" ")));
// Whether the page's own documents note dialogs and windows.
const act = () => {
  const tell = (told) => {
    told.dispatchEvent(new CustomEvent("ragmaker-act", { detail: argument }));
    for (const { contentDocument: inner } of told.querySelectorAll("iframe,frame")) if (inner) tell(nativeView(inner));
  };
  tell(doc);
};
switch (action) {
  // Whether the page is idle after the step. `argument` is as for "acting".
  case "rest": {
    if (argument !== null) act();
    await new Promise((go) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = go; port2.postMessage(null); });
    counts = undefined;
    const watch = watched();
    return { ready: doc.readyState, quiet: watch ? Math.min(watch.quiet, 1e9) : 1e9, timers: watch?.timers ?? 0, redirects: watch?.redirects ?? 0, sparse: sparse(), noted: watch?.noted ?? [] };
  }
  // Starts or stops recording of dialogs and new windows. Returns whether they are being recorded.
  case "acting": {
    act();
    counts = undefined;
    return watched() !== null;
  }
  case "text": return shownTexts().some((text) => text.includes(squeezed(argument)));
  case "selector": {
    try { return roots(document).some((root) => root.querySelector(argument) !== null); } catch { return "bad"; }
  }
  case "length": return shownTexts().reduce((sum, text) => sum + text.length, 0);
  // The same in a frame that the page itself cannot read.
  case "foreign-length": {
    try { if (top.document !== null) return 0; } catch {}
    return shownTexts().reduce((sum, text) => sum + text.length, 0);
  }
  // Elements by their text, the innermost ones; or by CSS selector.
  case "by-text": {
    const wanted = squeezed(argument).toLowerCase(), found = [];
    for (const root of roots(document)) {
      const walker = document.createTreeWalker(root === document ? doc.documentElement ?? document : root, NodeFilter.SHOW_ELEMENT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (isForm(node) || /^(script|style|noscript|template|html|head|title)$/.test(node.localName)) continue;
        if (squeezed(node.textContent).toLowerCase() === wanted || (node.localName === "input" && /^(button|submit|reset)$/.test(node.type) && squeezed(node.value).toLowerCase() === wanted)) {
          if (node.checkVisibility({ visibilityProperty: true }) && !found.some((other) => node.contains(other))) {
            found.splice(0, found.length, ...found.filter((other) => !other.contains(node)), node);
          }
        }
      }
    }
    return found.slice(0, 20);
  }
  // Elements of the role `argument.role` whose accessible name may be `argument.name`; null if there are many. `certain` says
  // that there is one, which has this role and name.
  case "by-words": return candidates(argument);
  case "by-css": {
    try { return roots(document).flatMap((root) => [...root.querySelectorAll(argument)]).slice(0, 20); } catch { return null; }
  }
  // The controls that do not show and whose label does: each label, and its control after it; null if there are none.
  // `facts` says of each control what it is, as JSON.
  case "hidden-controls": {
    const found = new Map();
    for (const label of roots(document).flatMap((root) => [...root.querySelectorAll("label")])) {
      const control = representedBy(label);
      if (control !== null && !found.has(control)) found.set(control, label);
    }
    if (found.size === 0) return null;
    const factsOf = ([control, label]) => ({
      type: control.type, role: control.getAttribute("role"), name: labelName(label),
      disabled: isDisabled(control),
      checked: control.type === "file" ? null : control.checked,
    });
    const pairs = [...found].slice(0, argument);
    return Object.assign(pairs.flatMap(([control, label]) => [label, control]), { facts: JSON.stringify(pairs.map(factsOf)) });
  }
  // The elements of the frames that are shown.
  case "frames": {
    const shows = (frame) => { const { width, height } = frame.getBoundingClientRect(); return width > 1 && height > 1 && frame.checkVisibility({ visibilityProperty: true }); };
    return roots(document).flatMap((root) => [...root.querySelectorAll("iframe,frame")]).filter(shows).slice(0, argument);
  }
  // The element that has the focus, where it is that of a frame.
  case "focused-frame": {
    let focused = doc.activeElement;
    for (let inner = focused && shadowOf(focused); inner?.activeElement; inner = shadowOf(focused)) focused = inner.activeElement;
    return /^i?frame$/.test(focused?.localName) ? focused : null;
  }
  case "scroll": {
    // The page itself, or the element that scrolls instead.
    const page = doc.scrollingElement;
    let part = page;
    if (page === null || page.scrollHeight <= innerHeight + 1) {
      const scrolls = (each) => each.scrollHeight > each.clientHeight + 1 && each.clientHeight > innerHeight / 3 && /auto|scroll/.test(getComputedStyle(each).overflowY);
      part = [...doc.querySelectorAll("*")].filter((each) => !isForm(each) && scrolls(each)).sort((a, b) => b.clientHeight * b.clientWidth - a.clientHeight * a.clientWidth)[0] ?? page;
    }
    if (part === null) return 0;
    const before = part.scrollTop, screen = part === page ? innerHeight : part.clientHeight;
    const top = { end: 1e9, top: 0, down: before + screen * 0.9, up: before - screen * 0.9 }[argument] ?? before + Number(argument);
    part.scrollTo({ top, behavior: "instant" });
    return Math.round(part.scrollTop - before);
  }
  default: return null;
}
