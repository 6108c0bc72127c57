// Which elements may have a role and an accessible name, and whether that is certain. Follows document.js and text.js.
const NATIVE = { link: "a,area", button: "button,input,select,summary", option: "option" };
// What the rules of a style sheet generate.
const contents = globalThis.generatedContents ??= new WeakMap();
const contentsOf = (rules) => [...rules].flatMap((rule) => [rule.style?.content, ...contentsOf(rule.styleSheet?.cssRules ?? rule.cssRules ?? [])]).filter(Boolean);
const mayGenerate = (sheet, words) => {
  try {
    const count = sheet.cssRules.length;
    if (contents.get(sheet)?.count !== count) contents.set(sheet, { count, text: contentsOf(sheet.cssRules).join(" ") });
    const { text } = contents.get(sheet);
    return /attr\(|var\(/.test(text) || words.some((word) => text.includes(word));
  } catch {
    // It is of another site.
    return true;
  }
};
const sheetsOf = (root) => root === document ? [...doc.styleSheets, ...doc.adoptedStyleSheets] : [...root.styleSheets, ...root.adoptedStyleSheets];
const generated = (element) => [element, ...element.querySelectorAll("*")]
  .flatMap((part) => ["::before", "::after"].map((where) => getComputedStyle(part, where).content))
  .filter((content) => !/^(none|normal|""|)$/.test(content)).join(" ");
const NAMING = ["aria-label", "alt", "title", "placeholder", "value", "label"];
const attributesOf = (element) => NAMING.map((name) => element.getAttribute(name) ?? "").join(" ");
// The label elements of each control. `labels` of a control goes through the whole page: with 20,000 buttons, that took 9 s.
const labelsIn = (root) => Map.groupBy(root.querySelectorAll("label"), (label) => label.control);
const labelsOf = (element, labels) => {
  const ids = (element.getAttribute("aria-labelledby") ?? "").split(/\s+/).filter(Boolean);
  return [...(labels.get(element) ?? []), ...ids.map((id) => rootOf(element).getElementById(id))].map((label) => label?.textContent ?? "").join(" ");
};

// The role of an element that has it by its kind alone; null for others.
const plainRole = (element) => {
  if (["role", "aria-label", "aria-labelledby", "aria-haspopup", "aria-pressed", "popovertarget", "list", "contenteditable"].some((name) => element.hasAttribute(name))) return null;
  switch (element.localName) {
    case "a": return element.hasAttribute("href") ? "link" : null;
    case "button": return "button";
    case "textarea": return "textbox";
    case "select": return element.multiple || element.size > 1 ? null : "combobox";
    case "input": return { text: "textbox", email: "textbox", tel: "textbox", url: "textbox", password: "textbox", search: "searchbox", number: "spinbutton", checkbox: "checkbox", radio: "radio" }[element.type] ?? null;
    default: return null;
  }
};
// The text of an element without that of `control`, if all of it is text as it stands and shows; else null.
const PLAIN = /^(b|code|em|i|label|mark|small|span|strong|sub|sup|u)$/;
const plainText = (element, control) => {
  const parts = [...element.querySelectorAll("*")].filter((part) => !(control?.contains(part) ?? false));
  const isPlain = (part) => PLAIN.test(part.localName) && part.shadowRoot === null && part.checkVisibility({ visibilityProperty: true })
    && getComputedStyle(part).display === "inline" && !["role", "aria-label", "aria-labelledby", "aria-hidden", "title"].some((name) => part.hasAttribute(name));
  const isTransformed = [element, ...parts].some((part) => getComputedStyle(part).textTransform !== "none");
  if (!parts.every(isPlain) || isTransformed || !element.checkVisibility({ visibilityProperty: true }) || generated(element) !== "") return null;
  const walker = doc.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let text = "";
  for (let node = walker.nextNode(); node; node = walker.nextNode()) if (!(control?.contains(node) ?? false)) text += node.data;
  return squeezed(text);
};
// What hides an element from the accessibility tree, or makes it a part of another one.
const HIDING = "[aria-hidden=true],[inert]";
const WHOLE = `button,summary,option,${["button", "img", "math", "meter", "option", "tab", "checkbox", "switch", "radio", "menuitemcheckbox", "menuitemradio", "slider", "progressbar", "scrollbar", "separator"].map((role) => `[role=${role}]`).join()}`;
// Whether an element has this role and name without doubt: the browser need not be asked, which computes the names of the
// whole page for that.
const isCertain = (element, { role, name }) => {
  if (plainRole(element) !== role || element.closest(HIDING) !== null || (element.parentElement?.closest(WHOLE) ?? null) !== null) return false;
  if (!element.checkVisibility({ visibilityProperty: true }) || element.getRootNode() !== document || doc.querySelector("dialog:modal") !== null) return false;
  const [label, more] = element.labels ?? [];
  if (/^(link|button)$/.test(role) ? label !== undefined : label === undefined || more !== undefined) return false;
  if (label !== undefined && (label.hasAttribute("aria-label") || label.closest(HIDING) !== null)) return false;
  return plainText(label ?? element, label === undefined ? null : element) === squeezed(name);
};

// Each word of the name is in the text of a candidate, in an attribute or a label that names it, or in what a rule
// generates. An element of a closed shadow root is none.
const candidates = (argument) => {
  const words = squeezed(argument.name).split(" "), found = [];
  const says = (text) => words.every((word) => text.includes(word));
  // The text of a region of the page is not its name.
  const text = (element) => element.textContent.length > argument.longest ? "" : element.textContent;
  for (const root of roots(document)) {
    const labels = labelsIn(root);
    const isRuled = sheetsOf(root).some((sheet) => mayGenerate(sheet, words));
    for (const element of root.querySelectorAll(`${NATIVE[argument.role] ?? "input,select,textarea,[contenteditable]"},[role]`)) {
      if (isForm(element)) continue;
      const own = `${text(element)} ${attributesOf(element)}`;
      const named = () => `${own} ${labelsOf(element, labels)} ${[...element.querySelectorAll("[aria-label],[alt],[title]")].map(attributesOf).join(" ")}`;
      if (!says(own) && !says(named()) && !(isRuled && says(`${named()} ${generated(element)}`))) continue;
      if (found.length === argument.most) return null;
      found.push(element);
    }
  }
  found.certain = found.length === 1 && isCertain(found[0], argument);
  return found;
};
