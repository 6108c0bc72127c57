// The interactive elements with role and accessible name, for browsers whose accessibility tree is not available.
// Follows document.js, page-state.js, text.js and names.js; arguments: the roles, a selector or null, and the limits.
// Returns, in document order, [element, role, name, value, states, URL, heading before it, whether it is in the main
// content, whether the selector matches it or an ancestor]; null if the selector is invalid. A frame has its place in the
// list too, with the role "frame": the session has to be switched to it to list what is in it.
const [roleNames, selector, limits] = arguments;
const MAX_CONTROLS = 5000, MAX_NAME = 300, MAIN = "main,dialog,[role=main],[role=dialog],[role=alertdialog]";
const ROLES = new Set(roleNames);
const inputRole = (input) => {
  if (/^(button|submit|reset|image)$/.test(input.type)) return "button";
  if (/^(date|time|month|week|datetime-local)$/.test(input.type)) return "date";
  if (input.type === "hidden") return "";
  const roles = { checkbox: "checkbox", radio: "radio", range: "slider", number: "spinbutton", file: "file", color: "color" };
  return roles[input.type] ?? (input.list ? "combobox" : input.type === "search" ? "searchbox" : "textbox");
};
const roleOf = (element) => {
  const named = element.getAttribute("role")?.trim().split(/\s+/)[0].toLowerCase();
  if (named) return ROLES.has(named) ? named : "";
  switch (element.localName) {
    case "a": case "area": return element.hasAttribute("href") ? "link" : "";
    case "button": case "summary": return "button";
    case "textarea": return "textbox";
    case "select": return element.multiple || element.size > 1 ? "listbox" : "combobox";
    case "option": return element.closest("select")?.matches("[multiple],[size]") ? "option" : "";
    case "input": return inputRole(element);
    default: return element.isContentEditable && !element.parentElement?.isContentEditable ? "textbox" : "";
  }
};
// The text of an element without the text of its control.
const textBeside = (element, control) => {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let text = "";
  for (let node = walker.nextNode(); node; node = walker.nextNode()) if (!control.contains(node)) text += ` ${node.data}`;
  return text;
};
const isField = (element) => /^(input|select|textarea)$/.test(element.localName) && roleOf(element) !== "button";
const nameOf = (element) => {
  if (!isField(element) && !element.isContentEditable) return accessibleName(element);
  const named = (element.getAttribute("aria-labelledby") ?? "").split(/\s+/).map((id) => (id && rootOf(element).getElementById?.(id)?.textContent) || "").join(" ");
  const labels = [...(element.labels ?? [])].map((label) => textBeside(label, element)).join(" ");
  return [named, element.getAttribute("aria-label"), labels, element.getAttribute("title"), element.getAttribute("placeholder")].map(squeezed).find(Boolean) ?? "";
};
const shownValue = (element) => {
  if (element.localName === "select") return [...element.selectedOptions].map((option) => option.label).join(", ");
  if (!isField(element)) return element.isContentEditable ? element.innerText : roleOf(element) === "combobox" ? element.textContent : element.getAttribute("aria-valuetext") ?? element.getAttribute("aria-valuenow") ?? "";
  if (/^(checkbox|radio|file)$/.test(element.type)) return "";
  return element.type === "password" ? "•".repeat(element.value.length) : element.value;
};
const statesOf = (element, role) => {
  const states = [], is = (name) => element.getAttribute(`aria-${name}`);
  if (isDisabled(element)) states.push("disabled");
  if (/^(checkbox|radio|switch|menuitemcheckbox|menuitemradio)$/.test(role)) {
    states.push(element.indeterminate === true || is("checked") === "mixed" ? "mixed" : (element.checked ?? is("checked") === "true") ? "checked" : "unchecked");
  } else if (/^(option|tab|treeitem)$/.test(role) && (element.selected === true || is("selected") === "true")) {
    states.push("selected");
  }
  if (is("pressed") === "true") states.push("pressed");
  const opens = element.localName === "summary" ? String(element.parentElement?.open === true) : element.localName === "select" && role === "combobox" ? "false" : is("expanded");
  if (opens === "true") states.push("expanded");
  if (opens === "false") states.push("collapsed");
  if (element.readOnly === true || is("readonly") === "true") states.push("readonly");
  return states;
};
const found = [], represented = new Set();
let under = "";
const visit = (element, inherited) => {
  if (found.length >= MAX_CONTROLS || /^(script|style|template|noscript|head)$/.test(element.localName)) return;
  const here = { ...inherited };
  if (!isForm(element)) {
    if (element.getAttribute("aria-hidden") === "true" || element.hasAttribute("inert") || getComputedStyle(element).display === "none") return;
    if (element.matches(MAIN)) here.isMain = true;
    if (selector !== null && element.matches(selector)) here.isChosen = true;
    if (/^h[1-6]$/.test(element.localName) || element.getAttribute("role") === "heading") under = squeezed(element.textContent).slice(0, MAX_NAME);
    const role = /^i?frame$/.test(element.localName) ? "frame" : roleOf(element);
    if (role !== "" && element.checkVisibility({ visibilityProperty: true })) {
      if (role === "frame" && element.getBoundingClientRect().width <= 1) return;
      const name = squeezed(nameOf(element)).slice(0, MAX_NAME).toWellFormed(), value = squeezed(shownValue(element)).slice(0, MAX_NAME).toWellFormed();
      found.push([element, role, name, value, statesOf(element, role), role === "link" ? String(element.href) : null, under.toWellFormed(), here.isMain, here.isChosen]);
    }
    // A control that does not show is represented by its label.
    const control = element.localName === "label" ? representedBy(element) : null;
    if (control !== null && !represented.has(control)) {
      represented.add(control);
      const kind = roleOf(control), name = labelName(element).slice(0, MAX_NAME).toWellFormed();
      if (kind !== "") found.push([control, kind, name, "", statesOf(control, kind), null, under.toWellFormed(), here.isMain, here.isChosen]);
    }
  }
  const assigned = element.localName === "slot" ? element.assignedElements() : [];
  const shadow = shadowOf(element);
  const inner = assigned.length > 0 ? assigned : shadow !== null ? shadow.children : nativeGetter(Element.prototype, "children")(element);
  for (const child of [...inner]) visit(child, here);
};
try {
  if (selector !== null) doc.querySelector(selector);
} catch { return null; }
if (doc.documentElement !== null) visit(doc.documentElement, { isMain: false, isChosen: false });
return found;
