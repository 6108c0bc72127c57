// What a person could follow, in the page's order: rendered links to http and https addresses,
// through open shadow roots and frames of the same origin, each address once, as [text, href].
const links = () => {
  const LONGEST_TEXT = 200, LONGEST_ADDRESS = 4096;
  const here = location.href.split("#")[0];
  const found = new Map();
  const squeeze = (text) => String(text ?? "").replace(/\s+/g, " ").trim();
  const visible = (link) => {
    if (!(link.checkVisibility?.({ visibilityProperty: true, opacityProperty: true }) ?? true)) return false;
    const view = link.ownerDocument.defaultView;
    for (const part of [link, ...link.querySelectorAll("img,svg,picture")]) {
      for (const box of part.getClientRects()) {
        // One pixel, or left of and above all that can be scrolled to, is hidden by custom.
        if (box.width > 1 && box.height > 1 && box.right + view.scrollX > 0 && box.bottom + view.scrollY > 0) return true;
      }
    }
    return link.localName === "area";
  };
  // The accessible name, after https://www.w3.org/TR/accname-1.2/ as far as links need it.
  const name = (link) => {
    const root = link.getRootNode();
    const labels = (link.getAttribute("aria-labelledby") ?? "").split(/\s+/).filter(Boolean)
      .map((id) => root.getElementById?.(id)?.textContent ?? "");
    const picture = () => [...link.querySelectorAll("img[alt],svg>title,[aria-label]")]
      .map((part) => part.getAttribute("alt") ?? part.getAttribute("aria-label") ?? part.textContent).join(" ");
    for (const text of [labels.join(" "), link.getAttribute("aria-label"), link.innerText ?? link.textContent, picture(), link.getAttribute("alt"), link.title]) {
      const squeezed = squeeze(text);
      if (squeezed) return [...squeezed.slice(0, LONGEST_TEXT * 2).toWellFormed()].slice(0, LONGEST_TEXT).join("");
    }
    return "";
  };
  const address = (link) => {
    let href = link.href;
    if (typeof href !== "string") {
      try { href = new URL(href.baseVal, link.baseURI).href; } catch { return null; }
    }
    if (!/^https?:/.test(href) || href.length > LONGEST_ADDRESS) return null;
    const [page, fragment] = href.split(/#(.*)/s);
    // A place on this very page is not somewhere to go, unless an application routes by it.
    if (page === here && fragment !== undefined && !/^[/!]/.test(fragment)) return null;
    return href.toWellFormed();
  };
  const walk = (root) => {
    // One pass in the page's order: a link, a shadow root and a frame each where it stands.
    const walker = (root.ownerDocument ?? root).createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    for (let element = walker.currentNode; element; element = walker.nextNode()) {
      if (element.nodeType !== Node.ELEMENT_NODE) continue;
      if ((element.localName === "a" || element.localName === "area") && (element.hasAttribute("href") || element.hasAttribute("xlink:href"))) {
        const href = address(element);
        if (href !== null && !(found.get(href)) && visible(element)) found.set(href, name(element));
      }
      if (element.shadowRoot) walk(element.shadowRoot);
      if (element.localName === "iframe" || element.localName === "frame") {
        let inner = null;
        try { inner = element.contentDocument; } catch { }
        if (inner && (element.checkVisibility?.() ?? true)) walk(inner);
      }
    }
  };
  walk(document);
  return [...found].map(([href, text]) => [text, href]);
};
