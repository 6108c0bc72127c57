// The page as HTML, with open shadow roots and same-origin frames at their positions; with a selector, only the
// matching elements, or null if there are none. Of a very large page, the beginning.
const collectContent = (selector) => {
  const html = whole(selector);
  // A page without an end, or with all of a database on it, would take the memory of the reader.
  if (html === null || html.length * 3 <= limits.html) return html;
  const bytes = new TextEncoder().encode(html);
  return bytes.length <= limits.html ? html : new TextDecoder().decode(bytes.subarray(0, limits.html)).replace(/\ufffd$/, "");
};
const whole = (selector) => {
  const inner = (frame) => { try { return (frame.checkVisibility?.() ?? true) ? frame.contentDocument?.body : null; } catch { return null; } };
  const hosts = (root) => [...root.querySelectorAll("*")].filter((element) => shadowOf(element) || (/^i?frame$/.test(element.localName) && inner(element)));
  // The browser shows XML without a style sheet as a generated tree, which contains the source.
  const source = /xml$/.test(doc.contentType) ? doc.getElementById("webkit-xml-viewer-source-xml") : null;
  if (source !== null) {
    const write = new XMLSerializer();
    return [...source.childNodes].map((node) => write.serializeToString(node)).join("").toWellFormed();
  }
  if (!/html|xml/.test(doc.contentType) || /(^text|\/)xml$/.test(doc.contentType)) {
    return String(doc.body?.innerText ?? doc.documentElement?.textContent ?? "").toWellFormed();
  }
  const flat = (root) => {
    const pairs = (a, b) => {
      const left = a.children, right = b.children;
      for (let i = right.length - 1; i >= 0; i--) {
        const element = left[i], shadow = shadowOf(element);
        if (shadow) {
          const slots = flat(shadow);
          // A component with slots keeps its children; otherwise only its shadow tree is visible.
          for (const slot of slots.querySelectorAll("slot")) slot.replaceWith(...(slot.name ? element.querySelectorAll(`:scope > [slot="${CSS.escape(slot.name)}"]`) : [...element.childNodes].filter((node) => !node.slot)).values().map((node) => node.cloneNode(true)));
          right[i].replaceChildren(slots);
        } else if (/^i?frame$/.test(element.localName) && inner(element)) {
          const box = doc.createElement("div");
          box.append(...flat(inner(element)).childNodes);
          right[i].replaceWith(box);
        } else {
          pairs(element, right[i]);
        }
      }
    };
    if (root.nodeType === Node.DOCUMENT_FRAGMENT_NODE) {
      // A shadow root cannot be cloned; its children can.
      const fragment = doc.createDocumentFragment();
      fragment.append(...[...root.childNodes].map((node) => node.cloneNode(true)));
      pairs(root, fragment);
      return fragment;
    }
    const copy = root.cloneNode(true);
    pairs(root, copy);
    return copy;
  };
  const markup = (root) => (hosts(root).length > 0 ? flat(root) : root).outerHTML;
  // A script may have removed everything.
  if (doc.documentElement === null) return "";
  if (selector === null) return markup(doc.documentElement).toWellFormed();
  const chosen = [...doc.querySelectorAll(selector)];
  // Elements inside another selected one are already included.
  const outer = chosen.filter((element) => !chosen.some((other) => other !== element && other.contains(element)));
  return outer.length === 0 ? null : outer.map(markup).join("\n").toWellFormed();
};
