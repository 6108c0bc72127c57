// How far the document is, for a visit by WebDriver commands. Arguments: the selector that is waited for, or null;
// the limits (a table in Rust).
//
// Chromium has no world of its own for this: the document is asked by the names that no element can take.
const [selector, limits] = arguments;
const get = (name) => Reflect.get(Document.prototype, name, document);
const at = String(get("documentURI"));
if (at.startsWith("chrome-error:")) {
  return { at, error: Document.prototype.querySelector.call(document, ".error-code")?.textContent.trim() ?? "" };
}
// Firefox's page for an error names the cause in its address.
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
