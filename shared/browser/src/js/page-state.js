// `pageState`: the state of the page, from its content and the counts of watch.js; `sparse`:
// whether it has little text; `watched`: those counts. `limits` comes from collect.js.
//
// watch.js runs in the main world of the page, so it is queried by an event. The counts are those of the page and its
// same-origin frames; null if the page may not run scripts. They are cached until `counts` is reset.
let counts;
const watched = () => {
  if (counts !== undefined) return counts;
  counts = null;
  const listen = ({ detail }) => {
    counts ??= { quiet: Infinity, timers: 0, fruitless: 0, redirects: 0, countdowns: 0, globals: detail.globals, noted: [] };
    counts.quiet = Math.min(counts.quiet, detail.quiet);
    counts.timers += detail.timers;
    counts.fruitless += detail.fruitless;
    counts.redirects += detail.redirects;
    counts.countdowns += detail.countdowns;
    counts.noted.push(...detail.noted);
  };
  const queryWatch = (asked) => {
    asked.addEventListener("ragmaker-report", listen);
    asked.dispatchEvent(new CustomEvent("ragmaker-ask"));
    asked.removeEventListener("ragmaker-report", listen);
    for (const frame of asked.querySelectorAll("iframe,frame")) {
      const inner = frame.contentDocument;
      if (inner !== null) queryWatch(nativeView(inner));
    }
  };
  queryWatch(doc);
  return counts;
};
// Whether there is less text than `much`, in characters.
const sparse = (much = limits.littleText) => {
  let length = 0;
  const walker = doc.createTreeWalker(doc.documentElement ?? document, NodeFilter.SHOW_TEXT);
  while (length < much && walker.nextNode()) {
    if (!/^(script|style|noscript|template)$/.test(walker.currentNode.parentNode?.localName)) length += walker.currentNode.data.trim().length;
  }
  return length < much;
};
// Whether the page has been painted: content that loads when it becomes visible is requested after that.
const drawn = () => {
  // Stored in the isolated world of the document, where all of these scripts run.
  if (globalThis.wasDrawn === undefined) {
    globalThis.wasDrawn = false;
    const draws = () => { globalThis.wasDrawn = true; };
    requestAnimationFrame(() => requestAnimationFrame(draws));
    AbortSignal.timeout(limits.firstPaint).addEventListener("abort", draws);
  }
  return globalThis.wasDrawn || doc.visibilityState !== "visible";
};
// Whether the page has code that may run without a person: scripts, also removed ones that were loaded, open shadow roots,
// frames, and attributes such as `onload`.
const hasCode = () => doc.scripts.length > 0 || performance.getEntriesByType("resource").some(({ initiatorType }) => initiatorType === "script")
  || [...doc.querySelectorAll("*")].some((element) => shadowOf(element)) || doc.querySelector("iframe,frame,object,embed") !== null
  || doc.evaluate('//@*[starts-with(name(), "on")]', document, null, XPathResult.ANY_UNORDERED_NODE_TYPE, null).singleNodeValue !== null;
// How long the page must be quiet, in milliseconds: a part of its load time, within bounds. Less is enough for a page that
// was ready before, because it is loaded.
const rest = (known) => {
  const loaded = performance.getEntriesByType("navigation")[0]?.loadEventStart ?? Infinity;
  const [least, most] = known ? [limits.quietAfterStep, limits.quiet] : [limits.quiet, limits.quietMost];
  return Math.min(most, Math.max(least, loaded / limits.quietShare));
};
// The milliseconds after which a page will have been quiet for long enough without further activity; known if nothing
// else is pending.
let restsIn = Infinity;
// The readiness of the page's own content: "wait", "parsing", "idle", "stalled", "selector" or "bad-selector".
const pageState = (selector, known) => {
  const now = performance.now();
  if (selector !== null) {
    try {
      // A response that is incomplete after this time may never end, so the content is used as it is.
      const parsed = doc.readyState !== "loading" || now > limits.selectorParsing;
      if (parsed && doc.querySelector(selector)) return "selector";
    } catch { return "bad-selector"; }
    return doc.readyState === "loading" ? "parsing" : "wait";
  }
  const watch = watched();
  const complete = doc.readyState === "complete";
  if (!watch) return complete ? "idle" : "wait";
  if (doc.readyState === "loading") return "parsing";
  if (!complete) {
    // Everything is parsed; only images and the like are still loading, and the text may be complete without them.
    return watch.quiet > limits.stalledQuiet && watch.timers === 0 && now > (sparse() ? limits.stalledSparse : limits.stalledDense) ? "stalled" : "wait";
  }
  const scripted = doc.scripts.length > 0 || doc.querySelector("iframe,frame") !== null || watch.timers + watch.fruitless + watch.redirects + watch.countdowns > 0;
  if (!scripted) return "idle";
  const shows = drawn();
  if (watch.timers > 0 || (watch.fruitless + watch.redirects > 0 && sparse()) || (watch.countdowns > 0 && sparse(limits.hardlyAnyText))) return "wait";
  if (!shows) return "wait";
  restsIn = rest(known) - watch.quiet;
  return restsIn <= 0 ? "idle" : "wait";
};
