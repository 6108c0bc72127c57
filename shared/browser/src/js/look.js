// What watch.js has counted, which runs in the world of the page's own scripts: an event is how to ask.
// All that the page and its frames of the same origin have; null where the page may not run scripts.
// Asked once, until it is forgotten.
let told;
const watched = () => {
  if (told !== undefined) return told;
  told = null;
  const listen = ({ detail }) => {
    told ??= { quiet: Infinity, timers: 0, hopes: 0, counts: 0, globals: detail.globals };
    told.quiet = Math.min(told.quiet, detail.quiet);
    told.timers += detail.timers;
    told.hopes += detail.hopes;
    told.counts += detail.counts;
  };
  const ask = (asked) => {
    asked.addEventListener("ragmaker-tell", listen);
    asked.dispatchEvent(new CustomEvent("ragmaker-ask"));
    asked.removeEventListener("ragmaker-tell", listen);
    for (const frame of asked.querySelectorAll("iframe,frame")) {
      const inner = frame.contentDocument;
      if (inner !== null) ask(own(inner));
    }
  };
  ask(doc);
  return told;
};
// Whether there is little to read, in characters, or next to nothing.
const LITTLE = 1000, NOTHING = 300;
const sparse = (much = LITTLE) => {
  let length = 0;
  const walker = doc.createTreeWalker(doc.documentElement ?? document, NodeFilter.SHOW_TEXT);
  while (length < much && walker.nextNode()) {
    if (!/^(script|style|noscript|template)$/.test(walker.currentNode.parentNode?.localName)) length += walker.currentNode.data.trim().length;
  }
  return length < much;
};
// Whether it has been drawn: what a page brings when it comes into view, it asks for after that.
const drawn = () => {
  // Kept in this world of the document's, where all of these scripts run.
  if (globalThis.wasDrawn === undefined) {
    globalThis.wasDrawn = false;
    const draws = () => { globalThis.wasDrawn = true; };
    requestAnimationFrame(() => requestAnimationFrame(draws));
    AbortSignal.timeout(1000).addEventListener("abort", draws);
  }
  return globalThis.wasDrawn || doc.visibilityState !== "visible";
};
// Is the page's own content there? Answers "wait", "idle", "hangs", "selector" or "bad-selector".
const look = (selector) => {
  const now = performance.now();
  if (selector !== null) {
    try {
      // What is still coming in after this long may never end: what is there is there.
      const parsed = doc.readyState !== "loading" || now > 3000;
      if (parsed && doc.querySelector(selector)) return "selector";
    } catch { return "bad-selector"; }
    return "wait";
  }
  const watch = watched();
  const complete = doc.readyState === "complete";
  if (!watch) return complete ? "idle" : "wait";
  if (doc.readyState === "loading") return "wait";
  if (!complete) {
    // Everything is parsed; what still loads is an image or the like, which the page may be at work without.
    return watch.quiet > 1000 && watch.timers === 0 && now > (sparse() ? 5000 : 2500) ? "hangs" : "wait";
  }
  const scripted = doc.scripts.length > 0 || doc.querySelector("iframe,frame") !== null || watch.timers + watch.hopes + watch.counts > 0;
  if (!scripted) return "idle";
  const shows = drawn();
  if (watch.timers > 0 || (watch.hopes > 0 && sparse()) || (watch.counts > 0 && sparse(NOTHING))) return "wait";
  return shows && watch.quiet >= 60 ? "idle" : "wait";
};
