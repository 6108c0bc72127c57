// The last part of the script that is run again and again until the page's content is there: what
// the page is and what is wanted of it come with the answer that it is.
const [selector, now, chosen] = arguments;
if (selector === null && !now && doc.readyState !== "complete") {
  // The load event comes here first: the content is taken before the page is painted, and the page
  // is not held up by questions meanwhile. Asked again at times, for some pages never load.
  await new Promise((go) => {
    addEventListener("load", () => go(), { once: true });
    // A timer that neither the page nor watch.js has its hand on.
    AbortSignal.timeout(200).addEventListener("abort", () => go());
  });
}
let state = look(selector);
if (selector === null && !now && state === "idle" && doc.scripts.length > 0) {
  // What works in small steps leaves no time for this until it is done.
  const { didTimeout } = await new Promise((go) => requestIdleCallback(go, { timeout: 200 }));
  told = undefined;
  state = didTimeout && doc.visibilityState === "visible" ? "wait" : look(selector);
}
if (state === "bad-selector" || (!now && state === "wait")) return [state];
let content = null;
try {
  content = take(chosen);
} catch (error) {
  if (chosen !== null && error.name === "SyntaxError") return ["bad-choice"];
  throw error;
}
return [state, facts(), content];
