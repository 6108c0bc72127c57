// Runs in every document before its own scripts: keeps count of what the page still waits for, so
// that look.js can tell whether its content is there, and takes away what gives the driver away.
(() => {
  for (const name of Object.getOwnPropertyNames(window)) {
    if (name.startsWith("cdc_")) delete window[name];
  }
  // A dialog would block the page, and every command to it, until somebody answers.
  const answer = (name, value) => {
    window[name] = new Proxy(window[name], { apply: () => (bump(), value) });
  };
  let last = performance.now();
  const bump = () => { last = performance.now(); };
  answer("alert", undefined);
  answer("confirm", true);
  answer("prompt", null);
  answer("print", undefined);
  if (window !== window.top) return;

  const requests = new Map(), seen = new Map(), timers = new Set(), tickers = new WeakMap();
  const SHORT = 2000, CHAIN = 3, REPEATS = 3;
  let nextId = 0, chain = 0, leaving = 0;

  // A request that the page makes again and again is polling: it says nothing about its content.
  const begin = (url) => {
    let key = String(url);
    try { const u = new URL(key, location.href); key = u.origin + u.pathname; } catch { }
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    if (times > REPEATS) return undefined;
    bump();
    const id = ++nextId;
    requests.set(id, last);
    return id;
  };
  const end = (id) => { if (requests.delete(id)) bump(); };

  window.fetch = new Proxy(window.fetch, {
    apply(target, self, args) {
      const id = begin(args[0]?.url ?? args[0]);
      const promise = Reflect.apply(target, self, args);
      promise.then(() => end(id), () => end(id));
      return promise;
    },
  });
  const urls = new WeakMap();
  XMLHttpRequest.prototype.open = new Proxy(XMLHttpRequest.prototype.open, {
    apply(target, self, args) { urls.set(self, args[1]); return Reflect.apply(target, self, args); },
  });
  XMLHttpRequest.prototype.send = new Proxy(XMLHttpRequest.prototype.send, {
    apply(target, self, args) {
      const id = begin(urls.get(self));
      self.addEventListener("loadend", () => end(id));
      return Reflect.apply(target, self, args);
    },
  });
  // A short timer is work to come, unless it is one of a chain that never ends.
  window.setTimeout = new Proxy(window.setTimeout, {
    apply(target, self, args) {
      const [work, delay, ...rest] = args;
      if (typeof work !== "function" || delay > SHORT || chain > CHAIN) return Reflect.apply(target, self, args);
      const depth = chain + 1;
      const id = Reflect.apply(target, self, [function (...values) {
        timers.delete(id);
        const before = chain;
        chain = depth;
        try { return work.apply(this, values); } finally { chain = before; bump(); }
      }, delay, ...rest]);
      timers.add(id);
      return id;
    },
  });
  window.clearTimeout = new Proxy(window.clearTimeout, {
    apply(target, self, args) { timers.delete(args[0]); return Reflect.apply(target, self, args); },
  });
  // A node that changes again and again is a clock or a ticker. What the parser adds is no change:
  // it is over when the document is interactive, and costs too much to be told of.
  const changes = new MutationObserver((records) => {
    for (const { target } of records) {
      const times = (tickers.get(target) ?? 0) + 1;
      tickers.set(target, times);
      if (times <= 20) { bump(); return; }
    }
  });
  document.addEventListener("readystatechange", () => {
    bump();
    changes.observe(document, { subtree: true, childList: true, characterData: true });
  });
  window.navigation?.addEventListener("navigate", (event) => {
    if (event.downloadRequest === null && !event.destination.sameDocument) leaving = performance.now();
    bump();
  });
  window.navigation?.addEventListener("navigateerror", () => { leaving = 0; });

  Object.defineProperty(window, Symbol.for("ragmaker"), {
    value: () => ({ last, leaving, timers: timers.size, requests: [...requests.values()] }),
  });
})();
