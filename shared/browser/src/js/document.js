// Access to the document through its prototype: page elements can shadow its properties (`<form name="title">`). These
// scripts run in an isolated world, so the page's scripts cannot change the prototypes.
const nativeView = (document) => new Proxy(document, {
  get(_, name) {
    const value = Reflect.get(Document.prototype, name, document);
    return typeof value === "function" ? value.bind(document) : value;
  },
});
const doc = nativeView(document);
// The root of an element: a shadow root, whose properties cannot be shadowed, or its document.
const rootOf = (element) => {
  const root = element.getRootNode();
  return root.nodeType === Node.DOCUMENT_NODE ? nativeView(root) : root;
};
// The fields of a form shadow its properties, too.
const isForm = ({ localName }) => localName === "form" || typeof localName !== "string";
const nativeGetter = (prototype, name) => (node) => Reflect.get(prototype, name, node);
// The content that an element shows instead of its children, without Chromium's notice on pages made by XSLT. Closed
// roots in which a call has acted are known (element.js).
const shadowOf = (element) => isForm(element) || element.localName === "xslt-warning-banner" ? null : element.shadowRoot ?? element.ownerDocument[Symbol.for("ragmaker-closed")]?.get(element) ?? null;
