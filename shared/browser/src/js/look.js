// What watch.js has counted, which runs in the world of the page's own scripts: an event is how to ask.
// Null where the page may not run scripts. One look asks once.
let told;
const watched = () => {
  if (told !== undefined) return told;
  told = null;
  const listen = (event) => { told = event.detail; };
  doc.addEventListener("ragmaker-tell", listen);
  doc.dispatchEvent(new CustomEvent("ragmaker-ask"));
  doc.removeEventListener("ragmaker-tell", listen);
  return told;
};
// Is the page's own content there? Answers "wait", "idle", "selector" or "bad-selector".
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
  const quiet = now - watch.last;
  if (watch.leaving > 0 && now - watch.leaving < 5000) return "wait";
  // A page that sends the reader on in a moment is not the page that was asked for.
  const refresh = doc.querySelector('meta[http-equiv="refresh" i]');
  if (refresh) {
    const delay = parseFloat(refresh.content) * 1000;
    if (/url/i.test(refresh.content) && delay <= 5000 && now < delay + 2000) return "wait";
  }
  if (doc.readyState === "loading") return "wait";
  if (!complete) {
    // Everything is parsed; what still loads is an image or the like.
    return quiet > 1000 && watch.timers === 0 && now > 1500 ? "idle" : "wait";
  }
  const scripted = doc.scripts.length > 0 || watch.timers > 0 || watch.requests.length > 0 || doc.querySelector("iframe,frame");
  if (!scripted) return "idle";
  if (watch.timers > 0) return "wait";
  if (watch.requests.length > 0) {
    // A request that hangs while nothing else happens is one that is meant to hang.
    const oldest = now - Math.min(...watch.requests);
    return oldest > 2500 && quiet > 1000 ? "idle" : "wait";
  }
  return quiet >= 60 ? "idle" : "wait";
};
