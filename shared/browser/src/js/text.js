// Text without the white space of its markup, the roots of a document (itself and its open shadow roots), and what may
// be clicked in a page that is not to be left. Follows document.js.
const squeezed = (text) => String(text ?? "").replace(/\s+/g, " ").trim();
const roots = (root, found = []) => {
  found.push(root);
  for (const element of root.querySelectorAll("*")) {
    const shadow = shadowOf(element);
    if (shadow) roots(shadow, found);
  }
  return found;
};
// An empty address is that of the page itself: without a script, it is loaded again.
const STAYS = /^(#|javascript:)/, STAYS_OR_EMPTY = /^(#|javascript:|$)/;
const leadsElsewhere = (element, stays) => {
  const link = element.closest("a[href]");
  return link !== null && !stays.test(link.getAttribute("href").trim());
};
const isClickable = (element, stays = STAYS) => !element.matches(":disabled,[aria-disabled=true]") && !leadsElsewhere(element, stays);
