// Text without the white space of its markup, and the roots of a document: itself and its open shadow roots. Follows
// document.js.
const squeezed = (text) => String(text ?? "").replace(/\s+/g, " ").trim();
const roots = (root, found = []) => {
  found.push(root);
  for (const element of root.querySelectorAll("*")) {
    const shadow = shadowOf(element);
    if (shadow) roots(shadow, found);
  }
  return found;
};
