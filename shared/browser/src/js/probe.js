// The load state of the document, for a visit by WebDriver commands. Arguments: the selector to wait for, or null; the
// limits (a table in Rust).
//
// In Chromium these scripts run in the main world, so the document is read by names that page elements cannot shadow.
const [selector, limits] = arguments;
const get = (name) => Reflect.get(Document.prototype, name, document);
const at = String(get("documentURI"));
if (at.startsWith("chrome-error:")) {
  return { at, error: Document.prototype.querySelector.call(document, ".error-code")?.textContent.trim() ?? "" };
}
// Firefox's error page has the cause in its URL.
if (/^about:(net|cert)error\?/.test(at)) return { at, error: at };
let matches = false;
try {
  matches = selector !== null && Document.prototype.querySelector.call(document, selector) !== null;
} catch {
  matches = null;
}
const state = get("readyState");
const text = get("body")?.textContent.length ?? 0;
const size = [text, performance.getEntriesByType("resource").length];
return { at, error: null, parsed: state !== "loading", complete: state === "complete", sparse: text < limits.littleText, size, matches };
