// The links that a person could follow, in document order: rendered links to http and https URLs,
// in open shadow roots and same-origin frames too, each page once.
// Returns a JSON text: a list of [accessible name, address].
const collectContent = () => {
  const MAX_ADDRESS = 4096, XHTML = "http://www.w3.org/1999/xhtml";
  const here = location.href.split("#")[0];
  const found = new Map();
  const slotOf = nativeGetter(Element.prototype, "assignedSlot"), parentOf = nativeGetter(Node.prototype, "parentElement"), nodeAbove = nativeGetter(Node.prototype, "parentNode");
  const rendered = (part) => !part.checkVisibility || part.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    || (part.checkVisibility() && appears(part));
  // Whether it becomes visible on scrolling (fade-in, lazy layout).
  const appears = (part) => {
    const { scrollY, innerHeight } = part.ownerDocument.defaultView;
    if (Element.prototype.getBoundingClientRect.call(part).top + scrollY < innerHeight) return false;
    let hidden = null, kept = false;
    for (let above = part; above; above = parentOf(above)) {
      const style = getComputedStyle(above);
      if (hidden !== null && style.visibility === "visible") {
        if (!/^(static|relative)$/.test(hidden.position) || /^(inline|contents)/.test(hidden.display)) return false;
        [hidden, kept] = [null, true];
      }
      if (style.opacity === "0") return /[1-9]/.test(style.transitionDuration) || style.animationName !== "none";
      if (style.visibility !== "visible") hidden = style;
    }
    return kept && hidden === null;
  };
  const [widthOf, heightOf] = ["clientWidth", "clientHeight"].map((name) => nativeGetter(Element.prototype, name));
  // The horizontal scroll range of a page, relative to its initial position.
  const scrollRanges = new Map();
  const scrollRangeOf = ({ document, innerWidth }) => {
    if (!scrollRanges.has(document)) {
      const root = nativeView(document).documentElement, backwards = getComputedStyle(root).direction === "rtl";
      scrollRanges.set(document, backwards ? [innerWidth - root.scrollWidth, widthOf(root)] : [0, Infinity]);
    }
    return scrollRanges.get(document);
  };
  const shows = (part) => {
    // An image that is still loading has no size.
    const awaited = part.localName === "img" && !part.complete;
    const box = part.getBoundingClientRect();
    // 1x1 elements and those outside the scrollable area count as hidden.
    if (!awaited && (box.width <= 1 || box.height <= 1)) return false;
    const view = (part.ownerDocument ?? part.startContainer.ownerDocument).defaultView, [leftmost, rightmost] = scrollRangeOf(view);
    if (box.right > 0 && box.bottom > 0 && rightmost === Infinity) return true;
    const { scrollX, scrollY } = view;
    return box.right + scrollX > leftmost && box.left + scrollX < rightmost && box.bottom + scrollY > 0;
  };
  // Whether the insets (lengths, percentages or `auto`) clip the whole box.
  const clipsAll = (part, sides) => {
    const box = Element.prototype.getBoundingClientRect.call(part);
    const [top, right, bottom, left] = sides.map((side, at) =>
      parseFloat(side) * (side.endsWith("%") ? (at % 2 === 0 ? box.height : box.width) / 100 : 1) || 0);
    return box.height - top - bottom <= 1 || box.width - left - right <= 1;
  };
  // Whether the clip-path is empty. It clips all descendants, positioned ones too.
  const isClipped = (part, { clipPath }) => {
    if (clipPath === "none") return false;
    if (/^circle\(0(px|%)/.test(clipPath)) return true;
    const corners = /^polygon\((?:\w+, *)?([^()]*)\)/.exec(clipPath)?.[1].split(/, */).map((corner) => corner.split(" "));
    if (corners && [0, 1].some((axis) => new Set(corners.map((corner) => corner[axis])).size === 1)) return true;
    const inset = /^inset\(([^()]*?)( round [^()]*)?\)/.exec(clipPath)?.[1].split(" ");
    if (!inset) return false;
    const [top, right = top, bottom = top, left = right] = inset;
    return clipsAll(part, [top, right, bottom, left]);
  };
  const isClippedBetween = (part, above) => {
    for (let each = parentOf(part); each !== above && each !== null; each = parentOf(each)) {
      if (isClipped(each, getComputedStyle(each))) return true;
    }
    return false;
  };
  // Elements that clip or hide their content, such as collapsed menus. The slides of carousels are visible.
  const hidesContent = (part, style) => {
    const { clip, contain, display, filter, overflowClipMargin, overflowX, overflowY, position } = style;
    if (filter.includes("opacity(0)") || isClipped(part, style)) return true;
    if (clip !== "auto" && /^(absolute|fixed)$/.test(position)) {
      const [top, right, bottom, left] = clip.slice(5, -1).split(/[ ,]+/).map((edge) => edge === "auto" ? NaN : parseFloat(edge));
      if (right - (left || 0) <= 1 || bottom - (top || 0) <= 1) return true;
    }
    // The overflow of the body clips at the viewport, not at the body.
    if (/^(inline|contents)$/.test(display) || part === part.ownerDocument?.body || part === part.ownerDocument?.documentElement) return false;
    // Elements inside an SVG have no CSS box.
    if (part.namespaceURI !== XHTML && part.ownerSVGElement !== null) return false;
    const painted = /paint|content|strict/.test(contain);
    const cuts = (overflow) => painted || (overflow !== "visible" && !(overflow === "clip" && overflowClipMargin !== "0px"));
    return (cuts(overflowX) && widthOf(part) <= 1) || (cuts(overflowY) && heightOf(part) <= 1);
  };
  // The containing block of an element, which may clip it.
  const placed = (part, { position }) => /^(absolute|fixed)$/.test(position) && part.namespaceURI === XHTML;
  const around = (part, style) => {
    if (placed(part, style)) return nativeGetter(HTMLElement.prototype, "offsetParent")(part);
    return slotOf(part) ?? parentOf(part) ?? nodeAbove(part)?.host ?? null;
  };
  // Off-canvas drawers: fixed elements outside the window, which scrolling does not reveal.
  const beyond = (part) => {
    const { left, top } = Element.prototype.getBoundingClientRect.call(part), page = nativeView(part.ownerDocument).scrollingElement;
    return page !== null && (left >= widthOf(page) || top >= heightOf(page));
  };
  // Unstyled: neither the element nor one that contains it has styles of the page.
  const UNSTYLED = -1, SHOWN = 0, FIXED = 1, CONCEALED = 2;
  const visibilityOf = (part, style, above, visibility) => {
    if (visibility === UNSTYLED && style === null && part.shadowRoot === null) return UNSTYLED;
    if (visibility === CONCEALED || (style !== null && hidesContent(part, style))) return CONCEALED;
    if (style !== null && placed(part, style) && isClippedBetween(part, above)) return CONCEALED;
    if (visibility !== FIXED && !(style?.position === "fixed" && above === null)) return SHOWN;
    if (beyond(part)) return CONCEALED;
    return style !== null && /auto|scroll/.test(style.overflow) ? SHOWN : FIXED;
  };
  const known = new Map(), has = Element.prototype.hasAttribute;
  const visibilityWithin = (element) => {
    const chain = [];
    let part = element;
    while (part && !known.has(part)) {
      // The attributes of a drawing are its styles.
      const plain = part.namespaceURI === XHTML && !ruled(part) && !has.call(part, "style");
      const style = plain ? null : getComputedStyle(part), above = plain ? parentOf(part) : around(part, style);
      chain.push([part, style, above]);
      part = above;
    }
    let visibility = part ? known.get(part) : UNSTYLED;
    for (const [each, style, above] of chain.reverse()) known.set(each, visibility = visibilityOf(each, style, above, visibility));
    return visibility;
  };
  const hasText = ({ firstChild }) => firstChild !== null && firstChild.nodeType === Node.TEXT_NODE && /[\p{L}\p{N}]/u.test(firstChild.data);
  const visible = (link) => {
    if (link.localName === "area") {
      // An area has no box: it is visible if an image uses its map.
      const map = link.closest("map")?.name;
      return !!map && [...rootOf(link).querySelectorAll("img[usemap]")].some((image) => image.useMap === `#${map}` && visible(image));
    }
    // The content of an element without a box (`display: contents`) may be visible.
    const boxless = () => {
      let part = link;
      while (part && getComputedStyle(part).display === "contents") part = slotOf(part) ?? parentOf(part);
      return part && part !== link && rendered(part);
    };
    if (!rendered(link) && !boxless()) return false;
    const visibility = visibilityWithin(link);
    if (visibility === CONCEALED) return false;
    // Its box needs a layout of the page: of 500 links without styles, half of the time of this script.
    if ((visibility === UNSTYLED && hasText(link)) || shows(link)) return true;
    // Floats and positioned descendants or pseudo-elements are outside the box of the link, such as a link that covers
    // a whole card.
    if (getComputedStyle(link).overflow !== "visible") return false;
    if (ruled(link) && ["::before", "::after"].some((where) => {
      const { content, display, position, width, height } = getComputedStyle(link, where);
      return !/^(none|normal)$/.test(content) && display !== "none" && /^(absolute|fixed)$/.test(position) && parseFloat(width) > 1 && parseFloat(height) > 1;
    })) return true;
    if (link.firstChild === null) return false;
    if ([...link.querySelectorAll("*")].some((part) => rendered(part) && shows(part))) return true;
    const text = link.ownerDocument.createRange();
    text.selectNodeContents(link);
    return shows(text);
  };
  const address = (link) => {
    // An empty href acts as a button.
    const written = link.getAttribute("href") ?? link.getAttribute("xlink:href");
    if (written.trim() === "") return null;
    let href = link.href;
    if (typeof href !== "string") {
      try { href = new URL(href.baseVal, link.baseURI).href; } catch { return null; }
    }
    if (!/^https?:/.test(href) || href.length > MAX_ADDRESS) return null;
    // An invalid URL is returned unchanged.
    if (href === written && !URL.canParse(href)) return null;
    // A fragment of this page is not a destination, except in an application that routes by fragments.
    if (href.startsWith(here) && href[here.length] === "#" && !/^[/!]/.test(href.slice(here.length + 1))) return null;
    return href.toWellFormed();
  };
  // The fragments of a page count as one page.
  const page = (href) => !href.includes("#") || /#[/!]/.test(href) ? href : href.split("#", 1)[0];
  const walk = (root) => {
    // One pass in the order of the flat tree: shadow roots, slotted elements and frames at their positions.
    const walker = Document.prototype.createTreeWalker.call(root.ownerDocument ?? root, root, NodeFilter.SHOW_ELEMENT);
    let element = root.nodeType === Node.ELEMENT_NODE ? root : walker.nextNode();
    while (element) {
      if (isForm(element)) {
        element = walker.nextNode();
        continue;
      }
      const kind = element.localName;
      if ((kind === "a" || kind === "area") && (element.hasAttribute("href") || element.hasAttribute("xlink:href"))) {
        const href = address(element), key = href && page(href), before = found.get(key);
        if (href !== null && !before?.[0] && visible(element)) found.set(key, [accessibleName(element), before?.[1] ?? href]);
      }
      if (/^(i?frame|object)$/.test(kind)) {
        let inner = null;
        try { inner = element.contentDocument; } catch { }
        if (inner && element.clientWidth > 1 && element.clientHeight > 1 && visible(element)) walk(inner);
      }
      if (kind === "slot") element.assignedElements().forEach(walk);
      const shadow = shadowOf(element);
      if (shadow) {
        walk(shadow);
        // Content without a slot is not rendered.
        const host = element;
        do { element = walker.nextNode(); } while (element && host.contains(element));
      } else {
        element = walker.nextNode();
      }
    }
  };
  walk(document);
  // One JSON string is much faster to transfer than an array.
  return JSON.stringify([...found.values()]);
};
