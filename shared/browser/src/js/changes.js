// The changes by a step: the links and the text that have become visible. `chosen` is the phase: "before" records the
// current state at the document, in the isolated world; any other value compares with it.
// Returns null, or { fresh, text, links, first }: whether the document is a new one, the number of new characters and
// links, and the first of these links as [text, URL].
const collectContent = (chosen) => {
  const LISTED = 8, MAX_NAME = 300, BEFORE = Symbol.for("ragmaker-before");
  const texts = [], links = new Map(), visible = new Map();
  const shows = (element) => {
    if (!visible.has(element)) visible.set(element, isForm(element) || element.checkVisibility({ visibilityProperty: true }));
    return visible.get(element);
  };
  const read = (root) => {
    const walker = root.ownerDocument.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.nodeType === Node.TEXT_NODE) {
        const text = node.data.trim(), parent = node.parentElement ?? root.host;
        if (text && parent && !/^(script|style|noscript|template)$/.test(parent.localName) && shows(parent)) texts.push(text);
        continue;
      }
      if (/^(a|area)$/.test(node.localName) && /^https?:/.test(node.href) && !links.has(node.href) && shows(node)) {
        links.set(node.href, String(node.getAttribute("aria-label") || node.textContent || node.title).replace(/\s+/g, " ").trim().slice(0, MAX_NAME).toWellFormed());
      }
      const shadow = shadowOf(node);
      if (shadow) read(shadow);
      if (/^i?frame$/.test(node.localName)) {
        let inner = null;
        try { inner = node.contentDocument?.documentElement ?? null; } catch {}
        if (inner !== null && shows(node)) read(inner);
      }
    }
  };
  if (doc.documentElement !== null) read(doc.documentElement);
  const counted = new Map();
  for (const text of texts) counted.set(text, (counted.get(text) ?? 0) + 1);
  if (chosen === "before") {
    document[BEFORE] = { counted, links: new Set(links.keys()) };
    return null;
  }
  const before = document[BEFORE], fresh = before === undefined;
  let text = 0;
  for (const [line, count] of counted) text += line.length * Math.max(0, count - (before?.counted.get(line) ?? 0));
  const added = [...links].filter(([href]) => !before?.links.has(href));
  const first = added.filter(([, name]) => name).slice(0, LISTED).map(([href, name]) => [name, href]);
  return JSON.stringify({ fresh, text, links: added.length, first });
};
