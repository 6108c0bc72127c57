// Runs in every document before its own scripts: keeps count of what the page still waits for, so
// that look.js can tell whether its content is there, and takes away what gives the driver away.
(() => {
  for (const name of Object.getOwnPropertyNames(window)) {
    if (name.startsWith("cdc_")) delete window[name];
  }
  // What takes the place of a function of the browser's own prints as that one does.
  const own = new WeakMap();
  const replace = (owner, name, handler) => {
    const replaced = owner[name];
    if (replaced) own.set(owner[name] = new Proxy(replaced, handler), replaced);
  };
  replace(Function.prototype, "toString", {
    apply: (target, self, args) => Reflect.apply(target, own.get(self) ?? self, args),
  });
  // A dialog would block the page, and every command to it, until somebody answers.
  const answer = (name, value) => replace(window, name, { apply: () => (bump(), value) });
  // When anything last happened, and when anything new did: neither a timer nor a request made again is.
  let last = performance.now(), news = last;
  const bump = () => { last = performance.now(); };
  const stir = () => { news = last = performance.now(); };
  answer("alert", undefined);
  answer("confirm", true);
  answer("prompt", null);
  answer("print", undefined);
  if (window !== window.top) return;

  const requests = new Map(), first = new Set(), seen = new Map(), timers = new Set(), tickers = new WeakMap();
  const SHORT = 2000, CHAIN = 3, REPEATS = 3;
  let nextId = 0, chain = 0, leaving = 0;

  // A request that the page makes again and again is polling: it says nothing about its content.
  const begin = (url) => {
    let key = String(url);
    try { const u = new URL(key, location.href); key = u.origin + u.pathname; } catch { }
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    if (times > REPEATS) return undefined;
    const id = ++nextId;
    if (times === 1) { stir(); first.add(id); } else bump();
    requests.set(id, last);
    return id;
  };
  const end = (id) => { if (requests.delete(id)) (first.delete(id) ? stir : bump)(); };
  // The same promise for the page, which alone says whether its failure is dealt with.
  const ending = (promise, ends) => promise.then(
    (value) => { ends(value); return value; },
    (error) => { ends(); throw error; },
  );
  const later = window.setTimeout.bind(window), counted = new WeakMap();
  // Counts as a request until `ended` is called.
  const pending = () => {
    const id = ++nextId;
    bump();
    requests.set(id, last);
    return () => end(id);
  };

  replace(window, "fetch", {
    apply(target, self, args) {
      const id = begin(args[0]?.url ?? args[0]);
      return ending(Reflect.apply(target, self, args), (response) => {
        if (id !== undefined && response) counted.set(response, first.has(id));
        end(id);
      });
    },
  });
  // The headers of an answer are not all of it: what the page takes out of it may come later.
  for (const name of ["arrayBuffer", "blob", "bytes", "formData", "json", "text"]) {
    replace(Response.prototype, name, {
      apply(target, self, args) {
        const promise = Reflect.apply(target, self, args);
        const isNew = counted.get(self);
        if (isNew === undefined) return promise;
        const ended = pending();
        return ending(promise, () => { ended(); if (isNew) stir(); });
      },
    });
  }
  // What speaks when it wants to is waited for until its first word, and not for long.
  const FIRST_WORD = 1000;
  for (const name of ["EventSource", "WebSocket", "Worker"]) {
    replace(window, name, {
      construct(target, args, self) {
        const made = Reflect.construct(target, args, self);
        const id = begin(args[0]);
        for (const event of ["message", "error", "close"]) made.addEventListener(event, () => end(id), { once: true });
        later(() => end(id), FIRST_WORD);
        return made;
      },
    });
  }
  // A script or a frame that the page adds when it is loaded brings content with it.
  const CODE = /^$|^module$|javascript/i;
  const added = (node) => {
    const loads = node.localName === "script" ? node.src && !node.noModule && CODE.test(node.type)
      : node.localName === "link" ? !node.disabled && /stylesheet|modulepreload/i.test(node.rel)
      : node.localName === "iframe" && node.src && node.loading !== "lazy";
    if (!loads) return;
    const ended = pending();
    for (const event of ["load", "error"]) node.addEventListener(event, ended, { once: true });
  };
  const urls = new WeakMap();
  replace(XMLHttpRequest.prototype, "open", {
    apply(target, self, args) { urls.set(self, args[1]); return Reflect.apply(target, self, args); },
  });
  replace(XMLHttpRequest.prototype, "send", {
    apply(target, self, args) {
      const id = begin(urls.get(self));
      self.addEventListener("loadend", () => end(id));
      try { return Reflect.apply(target, self, args); } catch (error) { end(id); throw error; }
    },
  });
  // A short timer is work to come, unless it is one of a chain that never ends, or of those that go on
  // when nothing new has come of them.
  replace(window, "setTimeout", {
    apply(target, self, args) {
      const [work, delay, ...rest] = args;
      // What a timer sets is counted by the chain; what is set by others, after all is loaded, by its time.
      const stale = chain === 0 && document.readyState === "complete" ? performance.now() - news : 0;
      if (stale + (delay > 0 ? delay : 0) > SHORT || chain > CHAIN) return Reflect.apply(target, self, args);
      if (typeof work !== "function") {
        // The browser runs a text as a script of the page's own.
        const id = Reflect.apply(target, self, args);
        timers.add(id);
        later(() => { if (timers.delete(id)) bump(); }, delay);
        return id;
      }
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
  // Either ends a timer, which may be named by a text.
  for (const name of ["clearTimeout", "clearInterval"]) {
    replace(window, name, {
      apply(target, self, args) {
        timers.delete(typeof args[0] === "string" ? Number(args[0]) : args[0]);
        return Reflect.apply(target, self, args);
      },
    });
  }
  // A node that changes again and again is a clock or a ticker. What the parser adds is no change:
  // it is over when the document is interactive, and costs too much to be told of.
  const changes = new MutationObserver((records) => {
    for (const { addedNodes } of records) addedNodes.forEach(added);
    for (const { target } of records) {
      const times = (tickers.get(target) ?? 0) + 1;
      tickers.set(target, times);
      if (times <= 20) { stir(); return; }
    }
  });
  document.addEventListener("readystatechange", () => {
    stir();
    changes.observe(document, { subtree: true, childList: true, characterData: true });
  });
  window.navigation?.addEventListener("navigate", (event) => {
    const { sameDocument, url } = event.destination;
    if (event.downloadRequest === null && !sameDocument && /^https?:/.test(url)) leaving = performance.now();
    bump();
  });
  window.navigation?.addEventListener("navigateerror", () => { leaving = 0; });
  // It was left, and come back to.
  addEventListener("pageshow", (event) => { if (event.persisted) leaving = 0; });

  // What the page has of these tells a bot challenge; its scripts can not be seen from where look.js runs.
  const globals = () => ["_cf_chl_opt", "gokuProps"].filter((name) => window[name]);
  const { dispatchEvent } = EventTarget.prototype, { apply } = Reflect, Told = CustomEvent;
  document.addEventListener("ragmaker-ask", () => {
    const detail = { last, leaving, timers: timers.size, requests: [...requests.values()], globals: globals() };
    apply(dispatchEvent, document, [new Told("ragmaker-tell", { detail })]);
  });
})();
