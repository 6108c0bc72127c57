// The main part of the page script: looks whether the page is ready and, where it is, returns the facts and
// the content. Run again and again until then. Arguments: the selector to wait for or null; whether the
// content is taken as it is now; the selector of the content or null; the limits (a table in Rust); whether the page was
// ready before. Returns [state] or [state, facts, content].
const [selector, takeNow, contentSelector, limits, known] = arguments;
// After the usual load time the page is checked often: it may have stalled.
const overdue = performance.now() > limits.stalledDense;
if (selector === null && !takeNow && doc.readyState !== "complete" && !(overdue && pageState(selector, known) === "stalled")) {
  counts = undefined;
  // The script waits for the load event here, so the content is read before the page is painted, and no polling delays
  // the page. It also checks periodically, because some pages never fire the event.
  await new Promise((go) => {
    addEventListener("load", () => go(), { once: true });
    // The native timer, which neither the page nor watch.js has replaced.
    AbortSignal.timeout(overdue ? limits.overdueRecheck : limits.loadRecheck).addEventListener("abort", () => go());
  });
}
let state = pageState(selector, known);
if (selector === null && !takeNow && state === "wait" && restsIn < Infinity) {
  // The wait is in the script: polling from outside would notice the quiet page later.
  await new Promise((go) => AbortSignal.timeout(Math.ceil(restsIn)).addEventListener("abort", () => go()));
  counts = undefined;
  state = pageState(selector, known);
}
if (selector === null && !takeNow && state === "idle" && doc.scripts.length > 0) {
  // A page that works in small tasks has no idle time until they are done. One that was ready before has been drawn, and
  // works on what a step has caused: a task of the lowest priority waits for that, and not for the next frame.
  const idle = (go) => known && globalThis.scheduler?.postTask
    ? scheduler.postTask(() => go({ didTimeout: false }), { priority: "background", signal: AbortSignal.timeout(limits.idleCallback) }).catch(() => go({ didTimeout: true }))
    : requestIdleCallback(go, { timeout: limits.idleCallback });
  const { didTimeout } = await new Promise(idle);
  counts = undefined;
  // Nor has a browser that renders no frames, such as Chromium after a WebDriver click on a checkbox.
  const draws = () => Promise.race([
    new Promise((go) => requestAnimationFrame(() => go(true))),
    new Promise((go) => AbortSignal.timeout(limits.idleCallback).addEventListener("abort", () => go(false))),
  ]);
  state = didTimeout && doc.visibilityState === "visible" && await draws() ? "wait" : pageState(selector, known);
}
if (state === "bad-selector" || (!takeNow && (state === "wait" || state === "parsing"))) return [state];
let content = null;
try {
  content = collectContent(contentSelector);
} catch (error) {
  if (contentSelector !== null && error.name === "SyntaxError") return ["bad-content-selector"];
  throw error;
}
return [state, facts(), content];
