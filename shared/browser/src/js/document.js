// The document by its own names. Elements of the page may bear any of them (`<form name="title">`), and
// the page's scripts may change what they find: these scripts run in a world of their own, where
// they find what the browser made, and never ask the document by a name that an element can have.
const own = (document) => new Proxy(document, {
  get(_, name) {
    const value = Reflect.get(Document.prototype, name, document);
    return typeof value === "function" ? value.bind(document) : value;
  },
});
const doc = own(document);
// What an element stands in: a shadow root, which has no such names, or its document.
const rootOf = (element) => {
  const root = element.getRootNode();
  return root.nodeType === Node.DOCUMENT_NODE ? own(root) : root;
};
// A form bears the names of its fields as well, whatever else of that name it would have.
const isForm = ({ localName }) => localName === "form" || typeof localName !== "string";
const ask = (prototype, name) => (node) => Reflect.get(prototype, name, node);
// What an element shows in place of its children; Chromium's own complaint on a page made by XSLT is no
// part of it.
const shadowOf = (element) => isForm(element) || element.localName === "xslt-warning-banner" ? null : element.shadowRoot;
