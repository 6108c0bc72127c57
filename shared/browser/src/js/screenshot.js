// Preparations for a screenshot. Follows document.js, page-state.js and text.js; arguments: the operation, its parameter, and
// the limits.
const [action, argument, limits] = arguments;
const sleep = (time) => new Promise((go) => setTimeout(go, time));
const first = (selector) => {
  for (const root of roots(document)) {
    const found = [...root.querySelectorAll(selector)].find((element) => element.checkVisibility?.() ?? true);
    if (found) return found;
  }
  return null;
};
switch (action) {
  // Waits for the images and fonts of the captured area, at most `patience`; returns the area in the document: the
  // element that `selector` matches, or the viewport, or with `whole` nothing.
  case "prepare": {
    let element = null;
    if (argument.selector !== null) {
      try { element = first(argument.selector); } catch { return { bad: true }; }
      if (element === null) return { missing: true };
      element.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    }
    const within = element?.getBoundingClientRect();
    const isShown = (image) => {
      const box = image.getBoundingClientRect();
      if (argument.whole) return true;
      const { left, top, right, bottom } = within ?? { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
      return box.right > left && box.left < right && box.bottom > top && box.top < bottom;
    };
    const images = roots(document).flatMap((root) => [...root.querySelectorAll("img")]).filter(isShown);
    for (const image of images) {
      if (image.loading === "lazy") image.loading = "eager";
      // An earlier call replaced the image by one pixel.
      if (argument.refresh && image.complete && image.naturalWidth <= 1) {
        const name = image.hasAttribute("src") ? "src" : "srcset";
        image.setAttribute(name, image.getAttribute(name) ?? "");
      }
    }
    const decoded = images.map((image) => image.decode().catch(() => {}));
    await Promise.race([Promise.all([...decoded, doc.fonts?.ready]), sleep(argument.patience)]);
    if (element === null) return { x: scrollX, y: scrollY, width: innerWidth, height: innerHeight };
    const { left, top, width, height } = element.getBoundingClientRect();
    return { x: left + scrollX, y: top + scrollY, width, height };
  }
  case "element": return first(argument);
  // Draws numbers and boxes above everything else: [number, [x, y, width, height]] in the document.
  case "number": {
    const host = doc.createElement("div"), paint = (element, text) => { element.style.cssText = text; return element; };
    const base = "all:initial;display:block;position:absolute;margin:0;padding:0;pointer-events:none;box-sizing:border-box;";
    paint(host, `${base}left:0;top:0;width:0;height:0;overflow:visible;z-index:2147483647`);
    const shadow = host.attachShadow({ mode: "closed" });
    for (const [number, [x, y, width, height]] of argument) {
      const box = paint(doc.createElement("div"), `${base}left:${x}px;top:${y}px;width:${width}px;height:${height}px;border:2px solid #c00`);
      const label = paint(doc.createElement("div"), `${base}left:${x}px;top:${Math.max(0, y - 7)}px;padding:0 2px;background:#c00;color:#fff;font:bold 11px/13px sans-serif`);
      label.textContent = number;
      shadow.append(box, label);
    }
    doc.documentElement.append(host);
    // Above modal dialogs, too.
    try { host.setAttribute("popover", "manual"); host.showPopover(); } catch {}
    globalThis.numbers = host;
    return null;
  }
  case "clear": {
    globalThis.numbers?.remove();
    return null;
  }
  default: return null;
}
