// What is asked of a frame of the page while a call acts in it. Follows document.js, look.js and text.js; arguments: what
// is asked, what belongs to it, and the limits.
const [what, given, limits] = arguments;
const shownTexts = () => roots(document).map((root) => squeezed(root === document ? doc.body?.innerText : [...root.children].map((part) => part.innerText).join(" ")));
switch (what) {
  // Whether the page is at rest after what was done.
  case "rest": {
    await new Promise((go) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = go; port2.postMessage(null); });
    counts = undefined;
    const watch = watched();
    return { ready: doc.readyState, quiet: watch ? Math.min(watch.quiet, 1e9) : 1e9, timers: watch?.timers ?? 0, redirects: watch?.redirects ?? 0, sparse: sparse(), noted: watch?.noted ?? [] };
  }
  // From now on dialogs and windows that the page opens are noted; or not any more. Returns whether somebody does.
  case "acting": {
    const tell = (told) => {
      told.dispatchEvent(new CustomEvent("ragmaker-act", { detail: given }));
      for (const { contentDocument: inner } of told.querySelectorAll("iframe,frame")) if (inner) tell(own(inner));
    };
    tell(doc);
    counts = undefined;
    return watched() !== null;
  }
  case "text": return shownTexts().some((text) => text.includes(squeezed(given)));
  case "selector": {
    try { return roots(document).some((root) => root.querySelector(given) !== null); } catch { return "bad"; }
  }
  case "length": return shownTexts().reduce((sum, text) => sum + text.length, 0);
  // Elements by what they show, the innermost; or by CSS. Returned as they are.
  case "by-text": {
    const wanted = squeezed(given).toLowerCase(), found = [];
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
  // Elements whose accessible name may be `given.name`: each of its words is in their text, or in an attribute or a label that
  // names them. The browser, which knows the names, is asked about these few. null if there are many.
  case "by-words": {
    const words = squeezed(given.name).split(" "), found = [];
    const says = (text) => words.every((word) => text.includes(word));
    const attributes = (element) => ["aria-label", "alt", "title", "placeholder", "value", "label"].map((name) => element.getAttribute(name) ?? "").join(" ");
    const labels = (element) => {
      const ids = (element.getAttribute("aria-labelledby") ?? "").split(/\s+/).filter(Boolean);
      const labelling = [...(element.labels ?? []), ...ids.map((id) => rootOf(element).getElementById(id))];
      return labelling.map((label) => label?.textContent ?? "").join(" ");
    };
    // The text of a region of the page is not its name.
    const text = (element) => element.textContent.length > given.longest ? "" : element.textContent;
    for (const root of roots(document)) {
      for (const element of root.querySelectorAll("a,area,button,input,select,textarea,summary,option,[role],[contenteditable]")) {
        if (isForm(element)) continue;
        const own = `${text(element)} ${attributes(element)}`;
        if (!says(own) && !says(`${own} ${labels(element)} ${[...element.querySelectorAll("[aria-label],[alt],[title]")].map(attributes).join(" ")}`)) continue;
        if (found.length === given.most) return null;
        found.push(element);
      }
    }
    return found;
  }
  case "by-css": {
    try { return roots(document).flatMap((root) => [...root.querySelectorAll(given)]).slice(0, 20); } catch { return null; }
  }
  case "scroll": {
    // The page itself, or what scrolls in its place.
    const page = doc.scrollingElement;
    let part = page;
    if (page === null || page.scrollHeight <= innerHeight + 1) {
      const scrolls = (each) => each.scrollHeight > each.clientHeight + 1 && each.clientHeight > innerHeight / 3 && /auto|scroll/.test(getComputedStyle(each).overflowY);
      part = [...doc.querySelectorAll("*")].filter((each) => !isForm(each) && scrolls(each)).sort((a, b) => b.clientHeight * b.clientWidth - a.clientHeight * a.clientWidth)[0] ?? page;
    }
    if (part === null) return 0;
    const before = part.scrollTop, screen = part === page ? innerHeight : part.clientHeight;
    const top = { end: 1e9, top: 0, down: before + screen * 0.9, up: before - screen * 0.9 }[given] ?? before + Number(given);
    part.scrollTo({ top, behavior: "instant" });
    return Math.round(part.scrollTop - before);
  }
  default: return null;
}
