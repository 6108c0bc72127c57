// The accessible name of a link, after https://www.w3.org/TR/accname-1.2/#computation-steps.
const MAX_TEXT = 200, MAX_DEPTH = 200;
const squeeze = (text) => String(text ?? "").replace(/\s+/g, " ").trim();
// Whether style rules of the page may apply to an element: computing its style costs more than everything else.
const sheets = new Map();
const ruled = (element) => {
  if (isForm(element)) return true;
  const root = element.ownerDocument;
  if (!sheets.has(root)) sheets.set(root, nativeView(root).styleSheets.length + nativeView(root).adoptedStyleSheets.length > 0);
  return sheets.get(root) || element.getRootNode() !== root;
};
// The text that a rule puts before or after an element: `"★ "`, `"★" / "Star"`, `attr(title)`.
const generated = (element, where) => {
  if (!ruled(element)) return "";
  const { content, display, visibility } = getComputedStyle(element, where);
  if (content === "none" || content === "normal" || display === "none" || visibility !== "visible") return "";
  let text = "", apart = display === "inline" ? "" : " ";
  for (const [token, string, attribute] of content.matchAll(/"((?:[^"\\]|\\.)*)"|attr\(\s*([^\s,)]+)[^)]*\)|[\w-]+\([^)]*\)|open-quote|close-quote|\//g)) {
    if (token === "/") [text, apart] = ["", " "];
    if (token.endsWith("-quote")) text += token.startsWith("open") ? "“" : "”";
    text += string?.replace(/\\(?:([0-9a-f]{1,6}) ?|(.))/gi, (_, code, character) => character ?? String.fromCodePoint(parseInt(code, 16)))
      ?? (attribute ? element.getAttribute(attribute) ?? "" : "");
  }
  // The glyphs of icon fonts are not text.
  text = text.replace(/\p{Private_Use}/gu, "");
  return apart + text + apart;
};
// What a control of a form says in the midst of a text.
const valueOf = (control) => {
  switch (control.localName) {
    case "select": return [...control.selectedOptions].map((option) => option.label).join(" ");
    case "textarea": return control.value;
    case "input": break;
    default: return null;
  }
  if (/^(hidden|checkbox|radio|file|color|password)$/.test(control.type)) return "";
  if (control.type === "image") return control.alt;
  return control.value || ({ submit: "Submit", reset: "Reset" }[control.type] ?? "");
};
// The texts of the elements that label links (cached, because one may label all).
const referredTo = new Map();
const accessibleName = (link) => {
  // Most links are a short text and nothing else.
  if (link.firstElementChild === null && !link.hasAttribute("aria-labelledby") && !link.hasAttribute("aria-label") && !ruled(link)) {
    const text = squeeze(link.textContent);
    if (text && text.length <= MAX_TEXT) return text.toWellFormed();
  }
  // `how` the text was reached: `referred` by aria-labelledby, which is not followed twice; `hidden`, where hidden text
  // counts too; and the link's own `visibility`.
  const labels = (element, how) => {
    if (how.referred || !element.hasAttribute("aria-labelledby")) return "";
    return element.getAttribute("aria-labelledby").split(/\s+/).filter(Boolean).map((id) => {
      const other = rootOf(element).getElementById(id);
      if (other !== null && !referredTo.has(other)) {
        const hidden = isForm(other) || !other.checkVisibility() || other.closest("[aria-hidden=true]") !== null;
        referredTo.set(other, textOf(other, { referred: true, hidden }, 1));
      }
      return referredTo.get(other) ?? "";
    }).join(" ");
  };
  const contents = (element, how, depth) => {
    if (depth > MAX_DEPTH) return element.textContent;
    const assigned = element.localName === "slot" ? element.assignedNodes() : [];
    const nodes = assigned.length > 0 ? assigned : (shadowOf(element) ?? element).childNodes;
    // The text of a link that becomes visible on scrolling is hidden like the link.
    const { visibility } = getComputedStyle(element), visible = how.hidden || visibility === "visible" || visibility === how.visibility;
    const texts = [...nodes].map((node) => {
      if (node.nodeType === Node.TEXT_NODE) return visible ? node.data : "";
      return node.nodeType === Node.ELEMENT_NODE ? within(node, how, depth) : "";
    });
    return generated(element, "::before") + texts.join("") + generated(element, "::after");
  };
  const within = (element, how, depth) => {
    if (element.localName === "br") return " ";
    const { display } = getComputedStyle(element);
    if (!how.hidden && !isForm(element) && ((display !== "contents" && !element.checkVisibility()) || element.getAttribute("aria-hidden") === "true")) return "";
    const text = textOf(element, how, depth + 1);
    return /^(inline|contents)$/.test(display) && element.localName !== "img" ? text : ` ${text} `;
  };
  const textOf = (element, how, depth) => {
    if (isForm(element)) return nativeGetter(Node.prototype, "textContent")(element);
    const kind = element.localName;
    const native = () => {
      if (/^(img|area)$/.test(kind)) return element.getAttribute("alt");
      if (kind === "svg") return squeeze(element.querySelector("title")?.textContent) || contents(element, how, depth);
      if (/^(script|noscript|style|title|desc|template|iframe|video|audio|canvas|object|rt|rp)$/.test(kind)) return "";
      return valueOf(element) ?? contents(element, how, depth);
    };
    if (kind === "img" && (element.getAttribute("alt") === "" || /^(none|presentation)$/.test(element.getAttribute("role")))) return "";
    const tooltip = () => depth === 0 || /^(img|svg|iframe|input|select|textarea|button)$/.test(kind) ? element.getAttribute("title") : "";
    for (const text of [labels, () => element.getAttribute("aria-label"), native, tooltip]) {
      const found = text(element, how);
      if (squeeze(found)) return found;
    }
    return "";
  };
  const text = squeeze(textOf(link, { referred: false, hidden: false, visibility: getComputedStyle(link).visibility }, 0));
  const name = text || squeeze(link.querySelector("[title]")?.getAttribute("title"));
  return [...name.slice(0, MAX_TEXT * 2).toWellFormed()].slice(0, MAX_TEXT).join("");
};
