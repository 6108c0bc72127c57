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
const leadsElsewhere = (element) => {
  const link = element.closest("a[href]");
  return link !== null && !/^(#|javascript:|$)/.test(link.getAttribute("href").trim());
};
const isClickable = (element) => !element.matches(":disabled,[aria-disabled=true]") && !leadsElsewhere(element);
