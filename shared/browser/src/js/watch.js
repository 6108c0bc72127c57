// Runs in every document before its own scripts, with the limits as argument: counts pending work, from which
// page-state.js decides whether the content is complete, answers dialogs, and hides signs of automation (`cdc_`
// globals).
(limits) => {
  for (const name of Object.getOwnPropertyNames(window)) {
    if (name.startsWith("cdc_")) delete window[name];
  }
  // A replaced function has the `toString()` of the original.
  const originals = new WeakMap();
  const replace = (owner, name, handler) => {
    const replaced = owner?.[name];
    if (replaced) originals.set(owner[name] = new Proxy(replaced, handler), replaced);
  };
  replace(Function.prototype, "toString", {
    apply: (target, self, args) => Reflect.apply(target, originals.get(self) ?? self, args),
  });
  // While a call acts, dialogs and new windows are recorded; windows are not opened, because the call uses one tab.
  let acting = false;
  const noted = [];
  const note = (kind, text) => {
    if (!acting || noted.length >= limits.maxRecordedEvents) return;
    try { noted.push([kind, `${text ?? ""}`.slice(0, limits.maxEventText).toWellFormed()]); } catch {}
  };
  // An open dialog would block the page and every command to it.
  const answer = (name, value) => replace(window, name, { apply: (target, self, args) => (recordActivity(), note(name, args[0]), value) });
  // Times of the last activity, the last new activity (no repeated timer or request), the last DOM progress and the
  // last new response.
  let last = performance.now(), news = last, begun = last, answeredAt = -Infinity;
  const recordActivity = () => { last = performance.now(); };
  const recordNewActivity = () => { news = last = performance.now(); };
  // The time of the last DOM progress or new response.
  const lastContentTime = () => Math.max(begun, answeredAt);
  answer("alert", undefined);
  answer("confirm", true);
  answer("prompt", null);
  answer("print", undefined);
  // Pages cannot close the tab.
  answer("close", undefined);
  replace(window, "open", {
    apply(target, self, args) {
      if (!acting || /^_(self|parent|top)$/i.test(args[1])) return Reflect.apply(target, self, args);
      let url = "";
      try { url = new URL(args[0] ?? "", document.baseURI).href; } catch {}
      note("window", url);
      return null;
    },
  });
  // Console methods are disabled: logging is slow under DevTools, and getters of logged objects reveal an observer.
  for (const name of ["assert", "debug", "dir", "dirxml", "error", "group", "groupCollapsed", "info", "log", "table", "trace", "warn"]) {
    replace(console, name, { apply() {} });
  }

  // Timers that may add content: short ones that are not polling, chained or repeated ones up to a limit, and those
  // that may have waited for a new response. Timers that only abort a request are ignored. Timers that repeat a request
  // without a new result are waited for only on a page with little text.
  const timers = new Map(), works = new Map();
  let tickers = new WeakMap();
  let chain = 0, chainBegun = 0;
  const isAwaited = ({ due, begun, repeat, mayNavigate, fresh, ends }) => !mayNavigate && !ends && (due - answeredAt <= limits.afterAnswer
    || (repeat === 0 ? fresh || due - news <= limits.shortTimer : repeat <= limits.timerChain && due - begun <= limits.shortTimer));
  const delayOf = (delay) => delay > 0 ? Number(delay) : 0;
  const text = Function.prototype.toString;
  const source = (work) => typeof work === "function" ? Reflect.apply(text, work, []) : String(work);
  const navigates = (work) => /\blocation\b|\.submit\(/.test(source(work));
  const aborts = (work) => /\.abort\(/.test(source(work));
  // Counts a key and returns the count.
  const count = (map, key) => map.set(key, (map.get(key) ?? 0) + 1).get(key);
  const later = window.setTimeout.bind(window);
  replace(window, "setTimeout", {
    apply(target, self, args) {
      const [work, given, ...rest] = args, delay = delayOf(given), now = performance.now();
      const mayNavigate = delay > limits.shortTimer && delay <= limits.longTimer && chain === 0 && navigates(work);
      if (delay > limits.shortTimer && !mayNavigate) return Reflect.apply(target, self, args);
      const fresh = chain === 0 && count(works, source(work).slice(0, 500)) <= limits.repeats;
      const timer = { due: now + delay, begun: chain > 0 ? chainBegun : now, repeat: chain, mayNavigate, fresh, set: now, ends: aborts(work), leading: isRepetition(chain) && navigates(work) };
      const done = () => { if (timers.delete(id)) recordActivity(); };
      let id;
      if (typeof work === "function") {
        id = Reflect.apply(target, self, [function (...values) {
          timers.delete(id);
          const before = [chain, chainBegun];
          [chain, chainBegun] = [timer.repeat + 1, timer.begun];
          try { return work.apply(this, values); } finally {
            [chain, chainBegun] = before;
            if (timer.repeat <= limits.countdown) recordActivity();
          }
        }, given, ...rest]);
      } else {
        // A string argument is evaluated by the browser.
        id = Reflect.apply(target, self, args);
        later(done, delay);
      }
      timers.set(id, timer);
      return id;
    },
  });
  replace(window, "setInterval", {
    apply(target, self, args) {
      const [work, given, ...rest] = args, delay = delayOf(given), now = performance.now();
      if (delay > limits.shortTimer || typeof work !== "function") return Reflect.apply(target, self, args);
      const timer = { due: now + delay, begun: now, repeat: 0, leading: navigates(work) };
      const id = Reflect.apply(target, self, [function (...values) {
        timer.ran = performance.now();
        timer.due = timer.ran + delay;
        timer.repeat += 1;
        if (timer.repeat <= limits.countdown) recordActivity();
        return work.apply(this, values);
      }, given, ...rest]);
      timers.set(id, timer);
      return id;
    },
  });
  // Both functions end timers and intervals; the id may be a string.
  for (const name of ["clearTimeout", "clearInterval"]) {
    replace(window, name, {
      apply(target, self, args) {
        timers.delete(typeof args[0] === "string" ? Number(args[0]) : args[0]);
        return Reflect.apply(target, self, args);
      },
    });
  }
  // Workers, IndexedDB, WebAssembly compilation, WebCrypto and idle callbacks are awaited, the first times and within
  // `workerAnswer`.
  const asked = new WeakMap();
  const awaitExternal = (patience = limits.workerAnswer) => {
    const timer = { due: performance.now(), repeat: 0, mayNavigate: false };
    const done = () => { if (timers.delete(timer)) recordNewActivity(); };
    timers.set(timer, timer);
    later(() => { timer.mayNavigate = true; }, patience);
    later(done, limits.longTimer);
    return done;
  };
  const hear = (source, events) => {
    if (count(asked, source) > limits.repeats) return source;
    const done = awaitExternal();
    for (const event of events) source.addEventListener(event, done, { once: true });
    return source;
  };
  const WORD = ["message", "error"], { then } = Promise.prototype;
  replace(window, "Worker", { construct: (target, args, self) => hear(Reflect.construct(target, args, self), WORD) });
  replace(window.Worker?.prototype, "postMessage", {
    apply(target, self, args) {
      Reflect.apply(target, self, args);
      hear(self, WORD);
    },
  });
  replace(IDBFactory.prototype, "open", { apply: (target, self, args) => hear(Reflect.apply(target, self, args), ["success", "error"]) });
  for (const [owner, ...names] of [
    [window.SubtleCrypto?.prototype, "decrypt", "deriveBits", "deriveKey", "digest", "importKey", "unwrapKey", "verify"],
    [window.WebAssembly, "compile", "compileStreaming", "instantiate", "instantiateStreaming"],
    [window.Scheduler?.prototype, "postTask"],
  ]) {
    for (const name of names) {
      replace(owner, name, {
        apply(target, self, args) {
          const promise = Reflect.apply(target, self, args);
          if (args[1]?.delay > limits.shortTimer || count(asked, target) > limits.repeats) return promise;
          const done = awaitExternal();
          return Reflect.apply(then, promise, [(value) => (done(), value), (error) => { done(); throw error; }]);
        },
      });
    }
  }
  // A page may wait until its service worker is activated. Until then a process starts and loads scripts, which the
  // network events of the page do not include.
  replace(window.ServiceWorkerContainer?.prototype, "register", {
    apply(target, self, args) {
      const promise = Reflect.apply(target, self, args);
      if (count(asked, target) > limits.repeats) return promise;
      const done = awaitExternal(limits.shortTimer);
      const proceed = ({ active }) => {
        const settle = () => { if (/^(activated|redundant)$/.test(active.state)) done(); };
        active.addEventListener("statechange", settle);
        settle();
      };
      const registered = ({ scope }) => { if (location.href.startsWith(scope)) Reflect.apply(then, self.ready, [proceed, done]); else done(); };
      Reflect.apply(then, promise, [registered, done]);
      return promise;
    },
  });
  // Frequently changing nodes (clocks, tickers) and parser insertions are ignored: the observer starts when the
  // document is interactive. Changes of style attributes count as activity, but not as new activity.
  const moved = new WeakMap();
  const changes = new MutationObserver((records) => {
    for (const { type, target, addedNodes, removedNodes } of records) {
      if (type === "attributes") {
        if (count(moved, target) <= limits.maxMovesPerNode && performance.now() - lastContentTime() <= limits.shortTimer) recordActivity();
        continue;
      }
      if (count(tickers, target) <= (addedNodes.length > removedNodes.length ? limits.maxGrowthsPerNode : limits.maxChangesPerNode)) { recordNewActivity(); return; }
    }
  });
  const proceeds = () => {
    recordNewActivity();
    begun = last;
    changes.observe(document, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["class", "hidden", "style"] });
  };
  // A response to a script is new activity; a repeated request is polling. A request that failed at another host or
  // returned the same length had no result, and neither had the timers before and after it.
  const answered = new Map(), lengths = new Map();
  const follows = (time, before) => time - before >= -1 && time - before <= limits.reaction;
  new PerformanceObserver((list) => {
    for (const { name, initiatorType, responseStatus, decodedBodySize, startTime, responseEnd } of list.getEntries()) {
      if (!/^(fetch|xmlhttprequest)$/.test(initiatorType)) continue;
      const failed = responseStatus === 0 && !name.startsWith(`${location.origin}/`);
      const same = decodedBodySize > 0 && lengths.get(name) === decodedBodySize;
      lengths.set(name, decodedBodySize);
      if (failed || same) {
        for (const timer of timers.values()) {
          timer.fruitless ||= follows(timer.set, responseEnd) || follows(startTime, timer.ran);
        }
      }
      if (failed || count(answered, name.split(/[?#]/, 1)[0]) > limits.repeats) continue;
      recordNewActivity();
      answeredAt = last;
    }
  }).observe({ type: "resource", buffered: true });

  // Global variables that identify bot challenges; the isolated world of page-state.js cannot read them.
  const globals = () => ["_cf_chl_opt", "gokuProps"].filter((name) => window[name]);
  const { dispatchEvent } = EventTarget.prototype, { getAnimations } = Document.prototype, { apply } = Reflect, Report = CustomEvent;
  // Running transitions and animations delay readiness, except endless ones, decorative ones and large numbers of them.
  // The query is expensive, so it runs only if nothing else is pending.
  const timelineOf = Object.getOwnPropertyDescriptor(Document.prototype, "timeline").get;
  // `document.getAnimations()` does not include shadow roots.
  const shadows = new Set(), { getAnimations: within } = ShadowRoot.prototype, { deref } = WeakRef.prototype;
  replace(Element.prototype, "attachShadow", {
    apply(target, self, args) {
      const root = Reflect.apply(target, self, args);
      if (shadows.size < limits.animations) shadows.add(new WeakRef(root));
      return root;
    },
  });
  // Decorative: transitions of colours, and of the position of a symbol without text. In mdBook, an arrow turns for
  // half a second.
  const COLOURS = /color$|^(box|text)-shadow$|^(fill|stroke)$/, PLACES = /^(transform|rotate|scale|translate)$/;
  const decorates = ({ transitionProperty, effect: { target } }) => COLOURS.test(transitionProperty)
    || (PLACES.test(transitionProperty) && target.textContent.trim().length < 3 && target.querySelector("a[href]") === null && !target.matches("a[href] *"));
  let crowded = false;
  const moves = () => {
    if (crowded) return false;
    const now = performance.now(), timeline = apply(timelineOf, document, []);
    try {
      const roots = [...shadows].map((root) => apply(deref, root, [])).filter((root) => root?.isConnected);
      const all = [...apply(getAnimations, document, []), ...roots.flatMap((root) => apply(within, root, []))];
      crowded = all.length > limits.animations;
      return !crowded && all.some((animation) => animation.playState === "running" && animation.timeline === timeline && animation.playbackRate > 0
        && now + (animation.effect.getComputedTiming().endTime - animation.currentTime) / animation.playbackRate - lastContentTime() <= limits.shortTimer && !decorates(animation));
    } catch { return false; }
  };
  const isRepetition = (repeat) => repeat > 0 && repeat <= limits.countdown;
  const report = () => {
    const set = [...timers.values()];
    const counted = (which) => set.filter(which).length;
    const pending = counted((timer) => !timer.fruitless && isAwaited(timer));
    const detail = {
      quiet: performance.now() - last,
      timers: pending === 0 && moves() ? 1 : pending,
      fruitless: counted((timer) => timer.fruitless && isAwaited(timer)),
      // A page with little text may redirect, and one with almost no text may count down before it shows content.
      redirects: counted(({ mayNavigate, leading, repeat }) => mayNavigate || (leading && isRepetition(repeat))),
      countdowns: counted(({ repeat }) => isRepetition(repeat)),
      globals: globals(),
      noted,
    };
    apply(dispatchEvent, document, [new Report("ragmaker-report", { detail })]);
  };
  // What a step of the call causes is new, also if it was repeated before.
  const stepped = () => {
    if (!acting) return;
    news = performance.now();
    tickers = new WeakMap();
    for (const counted of [answered, works]) {
      for (const [key, times] of counted) counted.set(key, Math.min(times, limits.repeats - 1));
    }
  };
  const listen = () => {
    for (const kind of ["change", "input", "keydown", "mousedown"]) window.addEventListener(kind, stepped, { capture: true, passive: true });
    document.addEventListener("readystatechange", proceeds);
    document.addEventListener("ragmaker-ask", report);
    document.addEventListener("ragmaker-act", ({ detail }) => { acting = detail === true; if (!acting) noted.length = 0; });
  };
  listen();
  // document.open(), and writing to a loaded document, removes event listeners.
  for (const name of ["open", "write", "writeln"]) {
    replace(Document.prototype, name, {
      apply(target, self, args) {
        const result = Reflect.apply(target, self, args);
        if (self === document) listen();
        return result;
      },
    });
  }
}
