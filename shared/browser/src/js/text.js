// Text with collapsed white space, the roots of a document (itself and its open shadow roots), and the elements that
// can be clicked without a navigation. Follows document.js.
const squeezed = (text) => String(text ?? "").replace(/\s+/g, " ").trim();
const roots = (root, found = []) => {
  found.push(root);
  for (const element of root.querySelectorAll("*")) {
    const shadow = shadowOf(element);
    if (shadow) roots(shadow, found);
  }
  return found;
};
// An empty href is the URL of the page itself: without a script, a click reloads the page.
const STAYS = /^(#|javascript:)/, STAYS_OR_EMPTY = /^(#|javascript:|$)/;
const leadsElsewhere = (element, stays) => {
  const link = element.closest("a[href]");
  return link !== null && !stays.test(link.getAttribute("href").trim());
};
const isClickable = (element, stays = STAYS) => !element.matches(":disabled,[aria-disabled=true]") && !leadsElsewhere(element, stays);
