// What a person could follow, in the page's order: rendered links to http and https addresses,
// through open shadow roots and frames of the same origin, each page once: the text of one on a
// line, its address on the next.
const take = () => {
  const LONGEST_TEXT = 200, LONGEST_ADDRESS = 4096;
  const here = location.href.split("#")[0];
  const found = new Map();
  const squeeze = (text) => String(text ?? "").replace(/\s+/g, " ").trim();
  const rendered = (part) => part.checkVisibility?.({ visibilityProperty: true, opacityProperty: true }) ?? true;
  const shows = (part) => {
    const box = part.getBoundingClientRect();
    // One pixel, or left of and above all that can be scrolled to, is hidden by custom.
    if (box.width <= 1 || box.height <= 1) return false;
    if (box.right > 0 && box.bottom > 0) return true;
    const { scrollX, scrollY } = (part.ownerDocument ?? part.startContainer.ownerDocument).defaultView;
    return box.right + scrollX > 0 && box.bottom + scrollY > 0;
  };
  const visible = (link) => {
    if (link.localName === "area") {
      // An area has no box of its own: it shows where an image uses its map.
      const map = link.closest("map")?.name;
      return !!map && [...link.getRootNode().querySelectorAll("img[usemap]")].some((image) => image.useMap === `#${map}` && visible(image));
    }
    // Of an element without a box of its own, what is inside may show.
    const parent = link.parentElement;
    const boxless = () => parent !== null && rendered(parent) && getComputedStyle(link).display === "contents";
    if (!rendered(link) && !boxless()) return false;
    if (shows(link)) return true;
    if (link.firstChild === null) return false;
    // What floats or has a place of its own is not in the box of a link around it.
    const { overflow, clip } = getComputedStyle(link);
    if (overflow !== "visible" || clip !== "auto") return false;
    if ([...link.querySelectorAll("*")].some((part) => rendered(part) && shows(part))) return true;
    const text = link.ownerDocument.createRange();
    text.selectNodeContents(link);
    return shows(text);
  };
  // The accessible name, after https://www.w3.org/TR/accname-1.2/ as far as links need it.
  const name = (link) => {
    // Most links are a short text and nothing else.
    if (link.firstElementChild === null && !link.hasAttribute("aria-labelledby") && !link.hasAttribute("aria-label")) {
      const text = squeeze(link.textContent);
      if (text && text.length <= LONGEST_TEXT) return text.toWellFormed();
    }
    const labels = (link.getAttribute("aria-labelledby") ?? "").split(/\s+/).filter(Boolean)
      .map((id) => link.getRootNode().getElementById?.(id)?.textContent ?? "");
    // The text as it is shown has to be asked for only where something inside may be hidden.
    const shown = (part) => (part.firstElementChild && part.innerText) ?? part.textContent;
    const content = (part) => {
      if (!part.querySelector("img,svg,[aria-label]")) return shown(part);
      return [...part.childNodes].map((child) => {
        if (child.nodeType === Node.TEXT_NODE) return child.data;
        if (child.nodeType !== Node.ELEMENT_NODE || !child.checkVisibility({ visibilityProperty: true })) return "";
        const own = child.getAttribute("aria-label") ?? child.getAttribute("alt");
        if (own !== null) return ` ${own} `;
        if (child.localName === "svg") return ` ${child.querySelector("title")?.textContent ?? ""} `;
        const apart = child.localName === "br" || getComputedStyle(child).display !== "inline" ? " " : "";
        return apart + content(child) + apart;
      }).join("");
    };
    for (const text of [labels.join(" "), link.getAttribute("aria-label"), content(link), link.getAttribute("alt"), link.title]) {
      const squeezed = squeeze(text);
      if (squeezed) return [...squeezed.slice(0, LONGEST_TEXT * 2).toWellFormed()].slice(0, LONGEST_TEXT).join("");
    }
    return "";
  };
  const address = (link) => {
    // An empty address is that of this very page: a button in the guise of a link.
    const written = link.getAttribute("href") ?? link.getAttribute("xlink:href");
    if (written.trim() === "") return null;
    let href = link.href;
    if (typeof href !== "string") {
      try { href = new URL(href.baseVal, link.baseURI).href; } catch { return null; }
    }
    if (!/^https?:/.test(href) || href.length > LONGEST_ADDRESS) return null;
    // What can not be parsed comes back as it was written.
    if (href === written && !URL.canParse(href)) return null;
    // A place on this very page is not somewhere to go, unless an application routes by it.
    if (href.startsWith(here) && href[here.length] === "#" && !/^[/!]/.test(href.slice(here.length + 1))) return null;
    return href.toWellFormed();
  };
  // Places on a page are one page.
  const page = (href) => !href.includes("#") || /#[/!]/.test(href) ? href : href.split("#", 1)[0];
  const walk = (root) => {
    // One pass in the page's order: a link, a shadow root and a frame each where it stands.
    const walker = Document.prototype.createTreeWalker.call(root.ownerDocument ?? root, root, NodeFilter.SHOW_ELEMENT);
    for (let element = walker.nextNode(); element; element = walker.nextNode()) {
      const kind = element.localName;
      if ((kind === "a" || kind === "area") && (element.hasAttribute("href") || element.hasAttribute("xlink:href"))) {
        const href = address(element);
        if (href === null) continue;
        const key = page(href), before = found.get(key);
        if (!before?.[0] && visible(element)) found.set(key, [name(element), before?.[1] ?? href]);
      }
      if (element.shadowRoot) walk(element.shadowRoot);
      if (kind === "iframe" || kind === "frame") {
        let inner = null;
        try { inner = element.contentDocument; } catch { }
        if (inner && (element.checkVisibility?.() ?? true)) walk(inner);
      }
    }
  };
  walk(document);
  // One string crosses to the tool in a fraction of the time that a thousand take.
  return [...found.values()].flat().join("\n");
};
