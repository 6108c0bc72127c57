// The changes by a step: the links and the text that have become visible. `chosen` is the phase: "before" records the
// current state at the document, in the isolated world; any other value compares with it.
// Returns null, or { fresh, text, links, first }: whether the document is a new one, the number of characters in new
// lines of text, the number of new links, and the first of these links as [text, URL].
const collectContent = (chosen) => {
  const LISTED = 8, MAX_NAME = 300, BEFORE = Symbol.for("ragmaker-before");
  const lines = new Map(), links = new Map(), visibility = { visibilityProperty: true };
  // An element without a box may have visible content.
  const shows = (element) => isForm(element) || element.checkVisibility(visibility) || getComputedStyle(element).display === "contents";
  const innerText = nativeGetter(HTMLElement.prototype, "innerText"), textContent = nativeGetter(Node.prototype, "textContent");
  // The browser collects the lines 10 times as fast as a walk over the text nodes.
  const readText = (element) => {
    // Elements of a frame are instances of the frame's own classes.
    const text = element.namespaceURI === "http://www.w3.org/1999/xhtml" ? innerText(element) : textContent(element);
    for (const part of text.split("\n")) {
      const line = part.trim();
      if (line !== "") lines.set(line, (lines.get(line) ?? 0) + 1);
    }
  };
  const read = (root) => {
    // A shadow root has no text of its own, and the text of what is not rendered is its source.
    for (const part of root.nodeType === Node.ELEMENT_NODE ? [root] : root.childNodes) {
      if (part.nodeType === Node.TEXT_NODE || (part.nodeType === Node.ELEMENT_NODE && shows(part))) readText(part);
    }
    for (const link of root.querySelectorAll("a[href],area[href]")) {
      const { href } = link;
      if (/^https?:/.test(href) && !links.has(href) && shows(link)) links.set(href, link);
    }
    for (const frame of root.querySelectorAll("iframe,frame")) {
      let inner = null;
      try { inner = frame.contentDocument?.documentElement ?? null; } catch {}
      if (inner !== null && shows(frame)) read(inner);
    }
    for (const host of root.querySelectorAll("*")) {
      const shadow = shadowOf(host);
      if (shadow && shows(host)) read(shadow);
    }
  };
  if (doc.documentElement !== null) read(doc.documentElement);
  if (chosen === "before") {
    document[BEFORE] = { lines, links: new Set(links.keys()) };
    return null;
  }
  const before = document[BEFORE], fresh = before === undefined;
  let text = 0;
  for (const [line, count] of lines) text += line.length * Math.max(0, count - (before?.lines.get(line) ?? 0));
  const added = [...links].filter(([href]) => !before?.links.has(href));
  const nameOf = (link) => String(link.getAttribute("aria-label") || link.textContent || link.title).replace(/\s+/g, " ").trim().slice(0, MAX_NAME).toWellFormed();
  const first = added.map(([href, link]) => [nameOf(link), href]).filter(([name]) => name).slice(0, LISTED);
  return JSON.stringify({ fresh, text, links: added.length, first });
};
