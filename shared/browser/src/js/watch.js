// Runs in every document before its own scripts, with the limits as argument: counts what the page still
// waits for, so that look.js can tell whether its content is there, answers dialogs, and removes what gives
// the driver away.
(limits) => {
  for (const name of Object.getOwnPropertyNames(window)) {
    if (name.startsWith("cdc_")) delete window[name];
  }
  // What takes the place of a function of the browser's own prints as that one does.
  const own = new WeakMap();
  const replace = (owner, name, handler) => {
    const replaced = owner?.[name];
    if (replaced) own.set(owner[name] = new Proxy(replaced, handler), replaced);
  };
  replace(Function.prototype, "toString", {
    apply: (target, self, args) => Reflect.apply(target, own.get(self) ?? self, args),
  });
  // While a call acts in the page, what it opens is noted: dialogs, and windows, which then are not opened. A click
  // would let it open some, and the tab is all that the call looks after.
  let acting = false;
  const noted = [];
  const note = (kind, text) => {
    if (!acting || noted.length >= limits.noted) return;
    try { noted.push([kind, `${text ?? ""}`.slice(0, limits.notedText).toWellFormed()]); } catch {}
  };
  // A dialog would block the page, and every command to it, until somebody answers.
  const answer = (name, value) => replace(window, name, { apply: (target, self, args) => (bump(), note(name, args[0]), value) });
  // When anything last happened; when anything new did, which neither a timer nor a request made again is;
  // when the document came further; and when the last answer to something new came.
  let last = performance.now(), news = last, begun = last, answeredAt = -Infinity;
  const bump = () => { last = performance.now(); };
  const stir = () => { news = last = performance.now(); };
  // When the page itself, or what it asked for, last came.
  const brought = () => Math.max(begun, answeredAt);
  answer("alert", undefined);
  answer("confirm", true);
  answer("prompt", null);
  answer("print", undefined);
  // The tab is the call's.
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
  // The browser hands everything that is logged to the driver, whether that wants it or not: it takes long, and
  // a page can tell by what is read of an object that it logs that somebody listens.
  for (const name of ["assert", "debug", "dir", "dirxml", "error", "group", "groupCollapsed", "info", "log", "table", "trace", "warn"]) {
    replace(console, name, { apply() {} });
  }

  // A timer is work to come: a short one, unless the same work goes on and on when nothing new has come
  // of it; and one that follows another, or comes again, for a while, or if it may have waited for what
  // has just come. One that ends a request brings nothing: the request is waited for, or it is not. One that
  // asks again what was asked in vain is for a page with little to read to wait for.
  const timers = new Map(), tickers = new WeakMap(), works = new Map();
  let chain = 0, chainBegun = 0;
  const waits = ({ due, begun, repeat, hoped, fresh, ends }) => !hoped && !ends && (due - answeredAt <= limits.afterAnswer
    || (repeat === 0 ? fresh || due - news <= limits.shortTimer : repeat <= limits.timerChain && due - begun <= limits.shortTimer));
  const delayOf = (delay) => delay > 0 ? Number(delay) : 0;
  const text = Function.prototype.toString;
  const source = (work) => typeof work === "function" ? Reflect.apply(text, work, []) : String(work);
  const leads = (work) => /\blocation\b|\.submit\(/.test(source(work));
  const aborts = (work) => /\.abort\(/.test(source(work));
  // How many times a key has come by now.
  const count = (map, key) => map.set(key, (map.get(key) ?? 0) + 1).get(key);
  const later = window.setTimeout.bind(window);
  replace(window, "setTimeout", {
    apply(target, self, args) {
      const [work, given, ...rest] = args, delay = delayOf(given), now = performance.now();
      const hoped = delay > limits.shortTimer && delay <= limits.longTimer && chain === 0 && leads(work);
      if (delay > limits.shortTimer && !hoped) return Reflect.apply(target, self, args);
      const fresh = chain === 0 && count(works, source(work).slice(0, 500)) <= limits.repeats;
      const timer = { due: now + delay, begun: chain > 0 ? chainBegun : now, repeat: chain, hoped, fresh, set: now, ends: aborts(work), leading: goesOn(chain) && leads(work) };
      const done = () => { if (timers.delete(id)) bump(); };
      let id;
      if (typeof work === "function") {
        id = Reflect.apply(target, self, [function (...values) {
          timers.delete(id);
          const before = [chain, chainBegun];
          [chain, chainBegun] = [timer.repeat + 1, timer.begun];
          try { return work.apply(this, values); } finally {
            [chain, chainBegun] = before;
            if (timer.repeat <= limits.countdown) bump();
          }
        }, given, ...rest]);
      } else {
        // The browser runs a text as a script of the page's own.
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
      const timer = { due: now + delay, begun: now, repeat: 0, leading: leads(work) };
      const id = Reflect.apply(target, self, [function (...values) {
        timer.ran = performance.now();
        timer.due = timer.ran + delay;
        timer.repeat += 1;
        if (timer.repeat <= limits.countdown) bump();
        return work.apply(this, values);
      }, given, ...rest]);
      timers.set(id, timer);
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
  // What is at work elsewhere is waited for until it answers, the first times, and not for long where there is
  // something to read: a worker that starts or has been told something, a database that is opened, what is
  // compiled or deciphered, a task put off.
  const asked = new WeakMap();
  const outwait = (patience = limits.workerAnswer) => {
    const timer = { due: performance.now(), repeat: 0, hoped: false };
    const done = () => { if (timers.delete(timer)) stir(); };
    timers.set(timer, timer);
    later(() => { timer.hoped = true; }, patience);
    later(done, limits.longTimer);
    return done;
  };
  const hear = (source, events) => {
    if (count(asked, source) > limits.repeats) return source;
    const done = outwait();
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
          const done = outwait();
          return Reflect.apply(then, promise, [(value) => (done(), value), (error) => { done(); throw error; }]);
        },
      });
    }
  }
  // A service worker answers for the pages of its scope once it is activated, which they may wait for. Until then
  // a process starts, and scripts are loaded that the page's network does not show.
  replace(window.ServiceWorkerContainer?.prototype, "register", {
    apply(target, self, args) {
      const promise = Reflect.apply(target, self, args);
      if (count(asked, target) > limits.repeats) return promise;
      const done = outwait(limits.shortTimer);
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
  // A node that changes again and again is a clock or a ticker. What the parser adds is no change:
  // it is over when the document is interactive, and costs too much to be told of.
  // What a script moves it moves in steps, which are no news.
  const moved = new WeakMap();
  const changes = new MutationObserver((records) => {
    for (const { type, target, addedNodes, removedNodes } of records) {
      if (type === "attributes") {
        if (count(moved, target) <= limits.movesOfNode && performance.now() - brought() <= limits.shortTimer) bump();
        continue;
      }
      if (count(tickers, target) <= (addedNodes.length > removedNodes.length ? limits.growthsOfNode : limits.changesOfNode)) { stir(); return; }
    }
  });
  const proceeds = () => {
    stir();
    begun = last;
    changes.observe(document, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["class", "hidden", "style"] });
  };
  // What a script asks for is news when it is there, unless it was asked for again and again: that is polling.
  // What failed at another host, or is as long as it was before, was asked for in vain; so were the timers that led
  // to that or follow on it.
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
          timer.vain ||= follows(timer.set, responseEnd) || follows(startTime, timer.ran);
        }
      }
      if (failed || count(answered, name.split(/[?#]/, 1)[0]) > limits.repeats) continue;
      stir();
      answeredAt = last;
    }
  }).observe({ type: "resource", buffered: true });

  // What the page has of these tells a bot challenge; its scripts cannot be seen from where look.js runs.
  const globals = () => ["_cf_chl_opt", "gokuProps"].filter((name) => window[name]);
  const { dispatchEvent } = EventTarget.prototype, { getAnimations } = Document.prototype, { apply } = Reflect, Report = CustomEvent;
  // What fades in or moves to its place is not there before. What goes on and on is decoration, as are crowds. They
  // are many to ask: it is done when there is nothing else to wait for.
  const timelineOf = Object.getOwnPropertyDescriptor(Document.prototype, "timeline").get;
  // The document does not count what moves in its shadow roots.
  const shadows = new Set(), { getAnimations: within } = ShadowRoot.prototype, { deref } = WeakRef.prototype;
  replace(Element.prototype, "attachShadow", {
    apply(target, self, args) {
      const root = Reflect.apply(target, self, args);
      if (shadows.size < limits.animations) shadows.add(new WeakRef(root));
      return root;
    },
  });
  // So are transitions of colours, and of the place of a sign without text: in mdBook, an arrow turns for half a second.
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
        && now + (animation.effect.getComputedTiming().endTime - animation.currentTime) / animation.playbackRate - brought() <= limits.shortTimer && !decorates(animation));
    } catch { return false; }
  };
  const goesOn = (repeat) => repeat > 0 && repeat <= limits.countdown;
  const report = () => {
    const set = [...timers.values()];
    const counted = (which) => set.filter(which).length;
    const pending = counted((timer) => !timer.vain && waits(timer));
    const detail = {
      quiet: performance.now() - last,
      timers: pending === 0 && moves() ? 1 : pending,
      vain: counted((timer) => timer.vain && waits(timer)),
      // A page with little to read may lead on, and one with next to nothing count down before it shows something.
      redirects: counted(({ hoped, leading, repeat }) => hoped || (leading && goesOn(repeat))),
      countdowns: counted(({ repeat }) => goesOn(repeat)),
      globals: globals(),
      noted,
    };
    apply(dispatchEvent, document, [new Report("ragmaker-report", { detail })]);
  };
  const listen = () => {
    document.addEventListener("readystatechange", proceeds);
    document.addEventListener("ragmaker-ask", report);
    document.addEventListener("ragmaker-act", ({ detail }) => { acting = detail === true; if (!acting) noted.length = 0; });
  };
  listen();
  // A document that is opened again, which writing does as well, forgets who listens to it.
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
