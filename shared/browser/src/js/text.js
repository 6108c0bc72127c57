// Text with collapsed white space, the roots of a document (itself and its open shadow roots), the labels of hidden
// controls, and the elements that can be clicked without a navigation. Follows document.js.
const squeezed = (text) => String(text ?? "").replace(/\s+/g, " ").trim();
const roots = (root, found = []) => {
  found.push(root);
  for (const element of root.querySelectorAll("*")) {
    const shadow = shadowOf(element);
    if (shadow) roots(shadow, found);
  }
  return found;
};
// The checkbox, radio button or field for files that does not show and that this label, which shows, represents; or null.
const representedBy = (label) => {
  const shows = (element) => element.checkVisibility({ visibilityProperty: true }), control = label.control ?? null;
  return control?.localName === "input" && /^(checkbox|radio|file)$/.test(control.type) && !shows(control) && shows(label) ? control : null;
};
const isDisabled = (element) => element.matches(":disabled") || element.closest("[aria-disabled=true],[inert]") !== null;
const labelName = (label) => [label.textContent, label.getAttribute("aria-label"), label.getAttribute("title")].map(squeezed).find(Boolean)?.slice(0, 2000).toWellFormed() ?? "";
// An empty href is the URL of the page itself: without a script, a click reloads the page.
const STAYS = /^(#|javascript:)/, STAYS_OR_EMPTY = /^(#|javascript:|$)/;
const leadsElsewhere = (element, stays) => {
  const link = element.closest("a[href]");
  return link !== null && !stays.test(link.getAttribute("href").trim());
};
const isClickable = (element, stays = STAYS) => !element.matches(":disabled,[aria-disabled=true]") && !leadsElsewhere(element, stays);
